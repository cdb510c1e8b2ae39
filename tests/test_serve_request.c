/* Heads of HTTP requests and bodies in chunks: what is read, and what is refused because two programs could read it in two
 * ways. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/request.h"
#include "support/random.h"

static char text[GBOSE__MAX_HEAD + 1];

/* Read a head that stands alone. The status of a refusal, or 0. */
static int read_head(struct gbose__request *r, const char *head)
{
    const char *message = NULL;
    size_t size = strlen(head);
    int status;

    strcpy(text, head);
    assert_int_equal(gbose__request_end(text, size, 0), size);
    for (size_t i = 0; i < size; i++)
        assert_int_equal(gbose__request_end(text, i, i ? i - 1 : 0), 0);
    status = gbose__request_read(r, text, size, &message);
    assert_true(!status || strlen(message) > 10);
    return status;
}

static void a_head_is_read(void **state)
{
    struct gbose__request r;

    (void)state;
    assert_int_equal(
        read_head(&r, "POST /v1/b%20c?x=1&y HTTP/1.1\r\nHost: a\r\ncontent-length:  12 \r\nX-Empty:\r\n"
                      "Expect: 100-Continue\r\nAuthorization: Bearer a b\t c\r\n\r\n"),
        0);
    assert_string_equal(r.method, "POST");
    assert_string_equal(r.path, "/v1/b%20c");
    assert_string_equal(r.query, "x=1&y");
    assert_int_equal(r.length, 12);
    assert_true(r.keeps && r.expects && !r.chunked && !r.is_1_0);
    assert_string_equal(gbose__request_header(&r, "AUTHORIZATION"), "Bearer a b\t c");
    assert_string_equal(gbose__request_header(&r, "x-empty"), "");
    assert_null(gbose__request_header(&r, "x-emp"));
    assert_int_equal(read_head(&r, "\r\n\r\nGET / HTTP/1.0\r\n\r\n"),
                     0); /* empty lines in front are passed over */
    assert_true(r.is_1_0 && !r.keeps && !r.query && !r.n_headers);
    assert_int_equal(read_head(&r, "GET / HTTP/1.0\r\nConnection: x, Keep-Alive\r\n\r\n"), 0);
    assert_true(r.keeps);
    assert_int_equal(read_head(&r, "GET / HTTP/1.1\r\nHost: \r\nConnection: CLOSE , keep-alive\r\n\r\n"), 0);
    assert_false(r.keeps);
    assert_int_equal(read_head(&r, "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n"), 0);
    assert_true(r.chunked);
}

static void what_could_be_read_in_two_ways_is_refused(void **state)
{
    static const struct {
        int status;
        const char *head;
    } bad[] = {
        {400, "GET / HTTP/1.1\r\n\r\n"},                       /* no host */
        {400, "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"}, /* two */
        {400, "GET /  HTTP/1.1\r\nHost: a\r\n\r\n"},           /* spaces */
        {400, " GET / HTTP/1.1\r\nHost: a\r\n\r\n"},
        {400, "GET / HTTP/1.1 \r\nHost: a\r\n\r\n"},
        {400, "GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n"},
        {400, "GET / HTTP/11\r\nHost: a\r\n\r\n"},
        {400, "GET /\xc3\xa9 HTTP/1.1\r\nHost: a\r\n\r\n"},
        {400, "G@T / HTTP/1.1\r\nHost: a\r\n\r\n"},
        {400, "GET /\r\nHost: a\r\n\r\n"},
        {505, "GET / HTTP/2.0\r\nHost: a\r\n\r\n"},
        {505, "GET / HTTP/1.2\r\nHost: a\r\n\r\n"},
        {400, "GET / HTTP/1.1\r\nHost : a\r\n\r\n"},         /* a space before the colon */
        {400, "GET / HTTP/1.1\r\nHost: a\r\n b: c\r\n\r\n"}, /* a header on two lines */
        {400, "GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n"},    /* a line feed alone */
        {400, "GET / HTTP/1.1\r\nHost: a\rX: b\r\n\r\n"},    /* a carriage return alone */
        {400, "GET / HTTP/1.1\r\nHost: a\x01\r\n\r\n"},
        {400, "GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n"},
        {400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n"},
        {400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\n"},
        {400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\n"},
        {400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \r\n\r\n"},
        {400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x10\r\n\r\n"},
        {400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9999999999999999999\r\n\r\n"},
        {400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"},
        {400, "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"},
        {501, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"},
        {501,
         "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"},
        {501, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n"},
        {417, "POST / HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n\r\n"},
    };
    struct gbose__request r;
    char many[4096] = "GET / HTTP/1.1\r\nHost: a\r\n";

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (read_head(&r, bad[i].head) != bad[i].status)
            fail_msg("%s", bad[i].head);
    for (int i = 1; i < GBOSE__MAX_HEADERS; i++)
        strcat(many, "A: b\r\n");
    strcat(many, "\r\n");
    assert_int_equal(read_head(&r, many), 0);
    strcpy(many + strlen(many) - 2, "A: b\r\n\r\n");
    assert_int_equal(read_head(&r, many), 431);
}

static void a_zero_in_a_head_is_refused(void **state)
{
    char head[] = "GET / HTTP/1.1\r\nHost: a?b\r\n\r\n";
    struct gbose__request r;
    const char *message;

    (void)state;
    *strchr(head, '?') = 0;
    assert_int_equal(gbose__request_read(&r, head, sizeof head - 1, &message), 400);
}

/* A body in pieces, with whatever the system brings at once. */
static int read_chunks(const char *from, size_t size, struct random *rng, char *body, size_t *body_size)
{
    struct gbose__chunks c = {0};
    char buffer[4096];
    size_t have = 0, at = 0;

    while (at < size) {
        size_t n = 1 + random_below(rng, 9);
        int rc;

        n = n < size - at ? n : size - at;
        memcpy(buffer + have, from + at, n);
        at += n;
        have += n;
        rc = gbose__chunks_read(&c, buffer, have);
        if (rc) {
            *body_size = c.to;
            memcpy(body, buffer, c.to);
            return rc < 0 ? -1 : (int)(at - (have - c.from));
        }
        assert_int_equal(c.from, have);
        have = c.from = c.to;
    }
    return 0;
}

static void chunks_are_put_together(void **state)
{
    static const char good[] = "5\r\nhello\r\n00B;a=b\r\n, world\r\n!!\r\n0\r\nTrailer: x\r\n\r\nGET";
    static const char *const bad[] = {
        "\r\n",        "g\r\n",  "5\nhello",      "5\r\nhelloX",     "5\r\nhello\rX",
        "5 \r\nhello", "-1\r\n", "123456789\r\n", "0\r\nA: b\n\r\n", "5;a\nhello"};
    struct random rng = {7};
    char body[4096];
    size_t size;

    (void)state;
    for (int i = 0; i < 200; i++) {
        int used = read_chunks(good, sizeof good - 1, &rng, body, &size);

        assert_int_equal(used, sizeof good - 1 - 3);
        assert_int_equal(size, 16);
        assert_memory_equal(body, "hello, world\r\n!!", 16);
        for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
            assert_int_equal(read_chunks(bad[k], strlen(bad[k]), &rng, body, &size), -1);
    }
}

static void lines_between_chunks_are_short(void **state)
{
    static char endless[8192];
    struct gbose__chunks c = {0};

    (void)state;
    memset(endless, 'x', sizeof endless);
    endless[0] = '5';
    endless[1] = ';';
    assert_int_equal(gbose__chunks_read(&c, endless, sizeof endless), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_head_is_read),
        cmocka_unit_test(what_could_be_read_in_two_ways_is_refused),
        cmocka_unit_test(a_zero_in_a_head_is_refused),
        cmocka_unit_test(chunks_are_put_together),
        cmocka_unit_test(lines_between_chunks_are_short),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
