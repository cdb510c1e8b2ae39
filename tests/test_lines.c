/* Line files: what is written comes back, plain and packed, and nonsense is told from the end of a file. */
#include "support/check.h"
#include "support/random.h"
#include "support/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/lines.h"

static char *dir;

static int begin(void **state)
{
    (void)state;
    dir = scratch_new();
    return 0;
}

static int end(void **state)
{
    (void)state;
    scratch_remove(dir);
    return 0;
}

static void put_bytes(const char *name, const void *bytes, size_t size)
{
    FILE *to = fopen(scratch_path(dir, name), "wb");

    assert_non_null(to);
    assert_int_equal(fwrite(bytes, 1, size, to), size);
    assert_int_equal(fclose(to), 0);
}

static struct gbose__lines *open_lines(const char *name, size_t most)
{
    struct gbose__lines *r = NULL;
    gbose_error err;

    assert_that(!gbose__lines_open(&r, scratch_path(dir, name), most, &err), "%s", err.text);
    return r;
}

static void expect_line(struct gbose__lines *r, const char *text, size_t length, uint64_t number)
{
    char *line;
    size_t n;
    gbose_error err = {0, ""};
    int rc = gbose__lines_next(r, &line, &n, &err);

    assert_that(rc == 1, "%d %s", rc, err.text);
    assert_int_equal(n, length);
    assert_memory_equal(line, text, length + 1);
    assert_int_equal(gbose__lines_number(r), number);
}

static void expect_end(struct gbose__lines *r)
{
    char *line;
    size_t n;

    for (int i = 0; i < 2; i++)
        assert_int_equal(gbose__lines_next(r, &line, &n, NULL), 0);
}

static void expect_failure(struct gbose__lines *r, int code, const char *part)
{
    char *line;
    size_t n;
    gbose_error err = {0, ""};

    assert_int_equal(gbose__lines_next(r, &line, &n, &err), code);
    assert_int_equal(err.code, code);
    assert_that(strstr(err.text, part), "%s", err.text);
}

/* Lines of all lengths around the size of a chunk, in a plain file and in a packed one. */
static char *make_line(size_t i, size_t *length)
{
    static const size_t lengths[] = {0, 1, 7, 65534, 65535, 65536, 65537, 200000, 3, 131072};
    size_t n = lengths[i % 10];
    char *line = malloc(n + 2);

    for (size_t k = 0; k < n; k++)
        line[k] = (char)(' ' + (i * 31 + k * 7 + k / 13) % 90);
    line[n] = '\n';
    line[n + 1] = 0;
    *length = n;
    return line;
}

static void what_is_written_comes_back(void **state)
{
    static const char *const names[] = {"plain.txt", "packed.gz"};

    (void)state;
    for (size_t f = 0; f < 2; f++) {
        struct gbose__lines_writer *w;
        struct gbose__lines *r;
        gbose_error err;

        assert_that(!gbose__lines_create(&w, scratch_path(dir, names[f]), &err), "%s", err.text);
        for (size_t i = 0; i < 25; i++) {
            size_t n;
            char *line = make_line(i, &n);
            assert_int_equal(gbose__lines_put(w, line, n + 1, &err), GBOSE_OK);
            free(line);
        }
        assert_false(scratch_exists(dir, names[f])); /* not before it is whole */
        assert_that(!gbose__lines_finish(w, &err), "%s", err.text);
        assert_int_equal(scratch_count(dir, ".tmp"), 0);
        r = open_lines(names[f], 200000);
        for (size_t i = 0; i < 25; i++) {
            size_t n;
            char *line = make_line(i, &n);
            line[n] = 0;
            expect_line(r, line, n, i + 1);
            assert_false(gbose__lines_torn(r));
            free(line);
        }
        expect_end(r);
        gbose__lines_close(r);
    }
}

/* The magic decides, not the name; and gzip(1) agrees with what was written. */
static void gzip_is_recognised_by_its_magic(void **state)
{
    struct gbose__lines_writer *w;
    struct gbose__lines *r;
    char command[9000];

    (void)state;
    assert_int_equal(gbose__lines_create(&w, scratch_path(dir, "a.gz"), NULL), GBOSE_OK);
    assert_int_equal(gbose__lines_put(w, "one\ntwo\n", 8, NULL), GBOSE_OK);
    assert_int_equal(gbose__lines_finish(w, NULL), GBOSE_OK);
    snprintf(command, sizeof command,
             "cd '%s' && gzip -t a.gz && mv a.gz a.txt && (cat a.txt; printf 'three\\n' | gzip -c) >b.txt",
             dir);
    assert_int_equal(system(command), 0);
    r = open_lines("b.txt", 100); /* two members */
    expect_line(r, "one", 3, 1);
    expect_line(r, "two", 3, 2);
    expect_line(r, "three", 5, 3);
    expect_end(r);
    gbose__lines_close(r);
    put_bytes("plain.gz", "not packed\n", 11);
    r = open_lines("plain.gz", 100);
    expect_line(r, "not packed", 10, 1);
    expect_end(r);
    gbose__lines_close(r);
    put_bytes("one", "\x1f", 1); /* half a magic is a plain file */
    r = open_lines("one", 100);
    expect_line(r, "\x1f", 1, 1);
    expect_end(r);
    gbose__lines_close(r);
}

static void small_and_odd_files(void **state)
{
    struct gbose__lines *r;

    (void)state;
    put_bytes("empty", "", 0);
    r = open_lines("empty", 10);
    expect_end(r);
    gbose__lines_close(r);
    put_bytes("odd",
              "\xef\xbb\xbf"
              "a\r\n\n\0b\0\nlast",
              15);
    r = open_lines("odd", 10);
    expect_line(r, "a\r", 2, 1);
    expect_line(r, "", 0, 2);
    expect_line(r, "\0b\0", 3, 3);
    assert_false(gbose__lines_torn(r));
    expect_line(r, "last", 4, 4);
    assert_true(gbose__lines_torn(r));
    expect_end(r);
    gbose__lines_close(r);
}

static void a_line_that_is_too_long_is_passed_over(void **state)
{
    char *text = malloc(300100);
    struct gbose__lines *r;

    (void)state;
    memset(text, 'x', 300100);
    memcpy(text, "first\n12345678\n123456789\n", 25);
    memcpy(text + 300000, "\nnext\n", 6);
    put_bytes("long", text, 300006);
    r = open_lines("long", 8);
    expect_line(r, "first", 5, 1);
    expect_line(r, "12345678", 8, 2);
    expect_failure(r, GBOSE_ESIZE, "line 3 is longer than 8 bytes");
    expect_failure(r, GBOSE_ESIZE, "line 4 is longer");
    expect_line(r, "next", 4, 5);
    expect_end(r);
    gbose__lines_close(r);
    free(text);
}

/* Cut anywhere, a packed file is never taken for a whole one. */
static void truncated_gzip_is_told(void **state)
{
    struct gbose__lines_writer *w;
    size_t size;
    char *bytes;

    (void)state;
    assert_int_equal(gbose__lines_create(&w, scratch_path(dir, "whole.gz"), NULL), GBOSE_OK);
    for (int i = 0; i < 40; i++)
        assert_int_equal(gbose__lines_put(w, "a line of some text\n", 20, NULL), GBOSE_OK);
    assert_int_equal(gbose__lines_finish(w, NULL), GBOSE_OK);
    bytes = scratch_read(dir, "whole.gz", &size);
    for (size_t cut = 2; cut < size; cut++) {
        struct gbose__lines *r;
        gbose_error err = {0, ""};
        char *line;
        size_t n;
        int rc;

        put_bytes("cut.gz", bytes, cut);
        r = open_lines("cut.gz", 100);
        while ((rc = gbose__lines_next(r, &line, &n, &err)) == 1)
            assert_string_equal(line, "a line of some text");
        assert_that(rc == GBOSE__EREAD && strstr(err.text, "cut off"), "cut at %zu: %d %s", cut, rc,
                    err.text);
        expect_failure(r, GBOSE__EREAD, "cut off"); /* again */
        gbose__lines_close(r);
    }
    /* and a damaged one is told from both; its checksum sees what its codes do not */
    for (size_t at = 2; at < size; at++) {
        struct gbose__lines *r;
        char *line;
        size_t n;
        int rc;

        if (at >= 3 && at < 10)
            continue; /* flags, time and system: they may change what the header holds, not the text */
        bytes[at] = (char)(bytes[at] ^ 0xff);
        put_bytes("damaged.gz", bytes, size);
        bytes[at] = (char)(bytes[at] ^ 0xff);
        r = open_lines("damaged.gz", 100);
        while ((rc = gbose__lines_next(r, &line, &n, NULL)) == 1 || rc == GBOSE_ESIZE)
            ;
        assert_that(rc == GBOSE__EREAD, "byte %zu: %d", at, rc);
        gbose__lines_close(r);
    }
    bytes = realloc(bytes, size + 3); /* rubbish behind a whole file */
    memcpy(bytes + size, "abc", 3);
    put_bytes("more.gz", bytes, size + 3);
    {
        struct gbose__lines *r = open_lines("more.gz", 100);
        for (uint64_t i = 1; i <= 40; i++)
            expect_line(r, "a line of some text", 19, i);
        expect_failure(r, GBOSE__EREAD, "damaged");
        gbose__lines_close(r);
    }
    free(bytes);
}

static void what_cannot_be_opened(void **state)
{
    struct gbose__lines *r;
    struct gbose__lines_writer *w;
    gbose_error err;

    (void)state;
    assert_int_equal(gbose__lines_open(&r, scratch_path(dir, "nothing"), 10, &err), GBOSE__EREAD);
    assert_non_null(strstr(err.text, "nothing: No such file"));
    assert_int_equal(gbose__lines_open(&r, dir, 10, &err), GBOSE__EREAD);
    assert_non_null(strstr(err.text, "directory"));
    assert_int_equal(gbose__lines_create(&w, scratch_path(dir, "no/such/dir"), &err), GBOSE__EWRITE);
    assert_non_null(strstr(err.text, "cannot write"));
}

static void a_full_disk_is_told(void **state)
{
    struct gbose__lines_writer *w;
    gbose_error err = {0, ""};
    char text[1000];

    (void)state;
    if (access("/dev/full", W_OK))
        skip();
    memset(text, 'x', sizeof text);
    assert_int_equal(gbose__lines_create(&w, "/dev/full", &err), GBOSE_OK);
    assert_int_equal(gbose__lines_put(w, text, 10, &err), GBOSE_OK); /* in memory */
    assert_int_equal(gbose__lines_finish(w, &err), GBOSE__EWRITE);
    assert_string_equal(err.text, "cannot write /dev/full: No space left on device");
    assert_int_equal(gbose__lines_create(&w, "/dev/full", &err), GBOSE_OK);
    for (int i = 0; i < 100; i++)
        gbose__lines_put(w, text, sizeof text, NULL);
    assert_int_equal(gbose__lines_put(w, text, 1, &err), GBOSE__EWRITE); /* and still */
    assert_int_equal(gbose__lines_finish(w, &err), GBOSE__EWRITE);
    assert_int_equal(access("/dev/full.tmp", F_OK), -1);
}

static void an_abandoned_file_leaves_the_old_one(void **state)
{
    struct gbose__lines_writer *w;
    char *text;

    (void)state;
    put_bytes("kept", "old\n", 4);
    assert_int_equal(gbose__lines_create(&w, scratch_path(dir, "kept"), NULL), GBOSE_OK);
    assert_int_equal(gbose__lines_put(w, "new\n", 4, NULL), GBOSE_OK);
    gbose__lines_abandon(w);
    text = scratch_read(dir, "kept", NULL);
    assert_string_equal(text, "old\n");
    assert_int_equal(scratch_count(dir, ".tmp"), 0);
    free(text);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_written_comes_back), TEST(gzip_is_recognised_by_its_magic),
        TEST(small_and_odd_files),        TEST(a_line_that_is_too_long_is_passed_over),
        TEST(truncated_gzip_is_told),     TEST(what_cannot_be_opened),
        TEST(a_full_disk_is_told),        TEST(an_abandoned_file_leaves_the_old_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
