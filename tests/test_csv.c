/* CSV files: RFC 4180 in and out, and records that are not well-formed. */
#include "support/check.h"
#include "support/random.h"
#include "support/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/csv.h"

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

/* A file with these bytes; its path. */
static const char *made(const char *bytes, size_t size)
{
    const char *path = scratch_path(dir, "made.csv");
    FILE *to = fopen(path, "wb");

    assert_non_null(to);
    assert_int_equal(fwrite(bytes, 1, size, to), size);
    assert_int_equal(fclose(to), 0);
    return path;
}

static struct gbose__csv *open_csv(const char *text)
{
    struct gbose__csv *c = NULL;
    gbose_error err;

    assert_that(!gbose__csv_open(&c, made(text, strlen(text)), 1000, &err), "%s", err.text);
    return c;
}

static void expect_record(struct gbose__csv *c, uint64_t line, const char *a, const char *b)
{
    gbose_error err = {0, ""};
    int rc = gbose__csv_next(c, &err);

    assert_that(rc == 1, "%d %s", rc, err.text);
    assert_string_equal(gbose__csv_field(c, 0), a);
    if (b)
        assert_string_equal(gbose__csv_field(c, 1), b);
    assert_null(gbose__csv_field(c, b ? 2 : 1));
    assert_int_equal(gbose__csv_line(c), line);
}

static void expect_bad(struct gbose__csv *c, const char *part)
{
    gbose_error err = {0, ""};
    int rc = gbose__csv_next(c, &err);

    assert_int_equal(rc, GBOSE_EINVAL);
    assert_int_equal(err.code, GBOSE_EINVAL);
    assert_that(strstr(err.text, part), "%s", err.text);
    assert_null(gbose__csv_field(c, 0));
}

static void records_of_the_standard(void **state)
{
    struct gbose__csv *c =
        open_csv("name,\"the \"\"text\"\"\"\r\na,b\r\n\n\"x,1\",\"two\r\nlines\n\"\n,\n\"\",\"\"\nlast, y ");

    (void)state;
    assert_int_equal(gbose__csv_columns(c), 2);
    assert_string_equal(gbose__csv_name(c, 1), "the \"text\"");
    assert_null(gbose__csv_name(c, 2));
    assert_int_equal(gbose__csv_find(c, "name"), 0);
    assert_int_equal(gbose__csv_find(c, "the \"text\""), 1);
    assert_int_equal(gbose__csv_find(c, "Name"), -1);
    expect_record(c, 2, "a", "b");
    expect_record(c, 4, "x,1", "two\r\nlines\n");
    expect_record(c, 7, "", "");
    expect_record(c, 8, "", "");
    expect_record(c, 9, "last", " y ");
    assert_int_equal(gbose__csv_next(c, NULL), 0);
    assert_int_equal(gbose__csv_next(c, NULL), 0);
    gbose__csv_close(c);
}

static void nonsense_is_told_with_its_line(void **state)
{
    struct gbose__csv *c = open_csv("a,b\n1,2,3\n1\n1,x\"y\n\"1\"x,2\n\"1\" ,2\n3,4\n");

    (void)state;
    expect_bad(c, "line 2: 3 fields, where the header has 2");
    expect_bad(c, "line 3: 1 fields");
    expect_bad(c, "line 4: a quote inside a field");
    expect_bad(c, "line 5: text behind a closing quote");
    expect_bad(c, "line 6: text behind a closing quote");
    expect_record(c, 7, "3", "4");
    assert_int_equal(gbose__csv_next(c, NULL), 0);
    gbose__csv_close(c);
    c = open_csv("a,b\n1,2\n3,\"never\nclosed\n5,6\n");
    expect_record(c, 2, "1", "2");
    expect_bad(c, "line 3: a quote that is never closed");
    assert_int_equal(gbose__csv_next(c, NULL), 0);
    gbose__csv_close(c);
}

static void zero_bytes_and_huge_records(void **state)
{
    struct gbose__csv *c;
    gbose_error err;
    char *big = malloc(100000);

    (void)state;
    assert_int_equal(gbose__csv_open(&c, made("a,b\n1,\0002\n3,4\n", 13), 1000, &err), GBOSE_OK);
    expect_bad(c, "line 2: a zero byte");
    expect_record(c, 3, "3", "4");
    gbose__csv_close(c);

    memset(big, 'x', 100000);
    memcpy(big, "a,b\n1,", 6);
    memcpy(big + 50000, "\n3,4\n", 5);
    assert_int_equal(gbose__csv_open(&c, made(big, 50005), 1000, &err), GBOSE_OK);
    expect_bad(c, "line 2 is longer than 1000 bytes");
    expect_record(c, 3, "3", "4");
    gbose__csv_close(c);

    /* an open quote over many short lines cannot eat all memory either */
    for (size_t i = 6; i < 100000; i++)
        big[i] = i % 10 ? 'y' : '\n';
    big[6] = '"';
    assert_int_equal(gbose__csv_open(&c, made(big, 100000), 1000, &err), GBOSE_OK);
    expect_bad(c, "line 2: a quote that is not closed for too long");
    gbose__csv_close(c);
    free(big);
}

static void headers_that_are_none(void **state)
{
    static const char *const text[] = {"", "\n\n", "a,b,a\n1,2,3\n", "\"a\n1,2\n"};
    static const char *const say[] = {"no header", "no header", "two columns are called 'a'", "never closed"};
    struct gbose__csv *c = NULL;

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        gbose_error err = {0, ""};

        assert_int_equal(gbose__csv_open(&c, made(text[i], strlen(text[i])), 100, &err), GBOSE__EREAD);
        assert_int_equal(err.code, GBOSE__EREAD);
        assert_that(strstr(err.text, say[i]), "%s", err.text);
        assert_null(c);
    }
    assert_int_equal(gbose__csv_open(&c, scratch_path(dir, "none.csv"), 100, NULL), GBOSE__EREAD);
}

/* Fields of the nastiest characters, written and read, plain and packed. */
static void what_is_written_comes_back(void **state)
{
    static const char letters[] = ",\"\n\r ab;\t'";
    struct random r = {8};
    static char field[500][3][12];
    static const char *const names[] = {"out.csv", "out.csv.gz"};
    const char *header[] = {"first", "second, with \"quotes\"", "third\nline"};

    (void)state;
    for (size_t i = 0; i < 500; i++)
        for (size_t k = 0; k < 3; k++) {
            size_t n = (size_t)(12 * random_uniform(&r));
            for (size_t j = 0; j < n; j++)
                field[i][k][j] = letters[(size_t)(10 * random_uniform(&r))];
            field[i][k][n] = 0;
        }
    for (size_t f = 0; f < 2; f++) {
        struct gbose__lines_writer *w;
        struct gbose__csv *c;
        gbose_error err;

        assert_int_equal(gbose__lines_create(&w, scratch_path(dir, names[f]), &err), GBOSE_OK);
        assert_int_equal(gbose__csv_put_record(w, header, 3, &err), GBOSE_OK);
        for (size_t i = 0; i < 500; i++) {
            const char *row[] = {field[i][0], field[i][1], field[i][2]};
            assert_int_equal(gbose__csv_put_record(w, row, 3, &err), GBOSE_OK);
        }
        assert_int_equal(gbose__lines_finish(w, &err), GBOSE_OK);
        assert_that(!gbose__csv_open(&c, scratch_path(dir, names[f]), 1000, &err), "%s", err.text);
        assert_int_equal(gbose__csv_find(c, "third\nline"), 2);
        for (size_t i = 0; i < 500; i++) {
            assert_that(gbose__csv_next(c, &err) == 1, "record %zu: %s", i, err.text);
            for (size_t k = 0; k < 3; k++)
                assert_string_equal(gbose__csv_field(c, k), field[i][k]);
        }
        assert_int_equal(gbose__csv_next(c, &err), 0);
        gbose__csv_close(c);
    }
}

/* A single column: an empty field is not a blank line. */
static void a_single_column(void **state)
{
    struct gbose__lines_writer *w;
    struct gbose__csv *c;
    const char *row[] = {"", "only"};

    (void)state;
    assert_int_equal(gbose__lines_create(&w, scratch_path(dir, "one.csv"), NULL), GBOSE_OK);
    gbose__csv_put_record(w, row + 1, 1, NULL);
    gbose__csv_put_record(w, row, 1, NULL);
    gbose__csv_put_record(w, row + 1, 1, NULL);
    assert_int_equal(gbose__lines_finish(w, NULL), GBOSE_OK);
    assert_int_equal(gbose__csv_open(&c, scratch_path(dir, "one.csv"), 100, NULL), GBOSE_OK);
    expect_record(c, 2, "", NULL);
    expect_record(c, 3, "only", NULL);
    assert_int_equal(gbose__csv_next(c, NULL), 0);
    gbose__csv_close(c);
}

static void a_full_disk_is_told(void **state)
{
    struct gbose__lines_writer *w;
    const char *row[] = {"a", "b"};
    gbose_error err = {0, ""};
    int rc = GBOSE_OK;

    (void)state;
    if (access("/dev/full", W_OK))
        skip();
    assert_int_equal(gbose__lines_create(&w, "/dev/full", &err), GBOSE_OK);
    for (int i = 0; i < 100000 && !rc; i++)
        rc = gbose__csv_put_record(w, row, 2, &err);
    assert_int_equal(rc, GBOSE__EWRITE);
    assert_non_null(strstr(err.text, "No space left"));
    gbose__lines_abandon(w);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(records_of_the_standard),     TEST(nonsense_is_told_with_its_line),
        TEST(zero_bytes_and_huge_records), TEST(headers_that_are_none),
        TEST(what_is_written_comes_back),  TEST(a_single_column),
        TEST(a_full_disk_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
