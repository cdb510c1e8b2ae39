/* Requests as JSON, and numbers in answers: against strtod() and printf(), which share nothing with them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/document.h"
#include "serve/text.h"
#include "support/random.h"

static int read_document(struct gbose__document *d, const char *text, const char **message)
{
    size_t at;

    return gbose__document_read(d, text, strlen(text), message, &at);
}

static void values_know_where_they_are(void **state)
{
    struct gbose__document d = {0};
    const char *message;
    char text[32];

    (void)state;
    assert_int_equal(read_document(&d, " {\"a\": [1, {\"b\": []}, \"x\\u00e9\\n\"], \"c\": null} ", &message),
                     0);
    assert_int_equal(d.value[0].kind, GBOSE__OBJECT);
    assert_int_equal(d.value[0].count, 2);
    assert_int_equal(d.value[0].next, d.n);
    assert_true(gbose__document_is(&d, 1, "a"));
    assert_int_equal(d.value[2].count, 3);
    assert_int_equal(d.value[4].kind, GBOSE__OBJECT);
    assert_int_equal(d.value[6].count, 0);
    assert_int_equal(gbose__document_text(&d, 7, text), 4);
    assert_string_equal(text, "x\xc3\xa9\n");
    assert_true(gbose__document_is(&d, 7, "x\xc3\xa9\n"));
    assert_int_equal(d.value[d.n - 1].kind, GBOSE__NULL);
    gbose__document_clear(&d);
}

static void what_is_wrong_is_refused(void **state)
{
    static const char *const wrong[] = {
        "",
        " ",
        "{",
        "}",
        "[1,]",
        "[1 2]",
        "{\"a\"}",
        "{\"a\":}",
        "{a:1}",
        "01",
        "-",
        "1.",
        ".5",
        "1e",
        "+1",
        "0x1",
        "NaN",
        "tru",
        "\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\ud800\"",
        "\"\\udc00\"",
        "\"\n\"",
        "\"\xff\"",
        "\"\xc0\x80\"",
        "\"\xed\xa0\x80\"",
        "1 1",
        "[1]]",
        "{\"a\":1,}",
        "\"\\u0000\"",
    };
    struct gbose__document d = {0};
    const char *message;
    char deep[2 * GBOSE__MAX_DEPTH + 3];

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        message = NULL;
        if (read_document(&d, wrong[i], &message) != -1 || !message)
            fail_msg("%s was accepted", wrong[i]);
    }
    for (int depth = GBOSE__MAX_DEPTH; depth <= GBOSE__MAX_DEPTH + 1; depth++) {
        memset(deep, '[', (size_t)depth);
        memset(deep + depth, ']', (size_t)depth);
        deep[2 * depth] = 0;
        assert_int_equal(read_document(&d, deep, &message), depth > GBOSE__MAX_DEPTH ? -1 : 0);
    }
    gbose__document_clear(&d);
}

static void check_number(struct gbose__document *d, const char *text)
{
    const char *message;
    double x = NAN, y = strtod(text, NULL);

    if (read_document(d, text, &message))
        fail_msg("%s: %s", text, message);
    assert_int_equal(gbose__document_number(d, 0, &x), isfinite(y) ? 0 : -1);
    if (isfinite(y) && memcmp(&x, &y, sizeof x))
        fail_msg("%s is read as %.17g", text, x);
}

static void numbers_are_those_of_strtod(void **state)
{
    static const char *const odd[] = {"0",
                                      "-0",
                                      "-0.0",
                                      "0.1",
                                      "123456789012345678901234567890",
                                      "9007199254740993",
                                      "1e400",
                                      "1e-400",
                                      "4.9e-324",
                                      "1.7976931348623157e308",
                                      "0.000000000000000000000001",
                                      "1E5",
                                      "9007199254740992",
                                      "9007199254740991.5",
                                      "0.30000000000000004",
                                      "100000000000000000000"};
    struct gbose__document d = {0};
    struct random rng = {17};
    char text[64];

    (void)state;
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        check_number(&d, odd[i]);
    for (int i = 0; i < 20000; i++) {
        double x = (random_uniform(&rng) - 0.5) * pow(10, floor(40 * random_uniform(&rng)) - 20);

        snprintf(text, sizeof text, "%.*g", 1 + i % 18, x);
        if (strchr("-0123456789", text[0]) && !strstr(text, "e+"))
            check_number(&d, text);
        snprintf(text, sizeof text, "%.*f", i % 12, x);
        check_number(&d, text);
    }
    gbose__document_clear(&d);
}

static void numbers_are_written_as_short_as_they_can_be(void **state)
{
    struct gbose__text t = {0};
    struct random rng = {23};

    (void)state;
    for (int i = 0; i < 20000; i++) {
        double u = random_uniform(&rng), x = i % 3 == 0   ? u
                                             : i % 3 == 1 ? floor(1e4 * u) / 1e4
                                                          : (u - 0.5) * 1e9;
        double y;
        char shortest[40];

        for (int digits = 1; digits <= 17; digits++) {
            snprintf(shortest, sizeof shortest, "%.*g", digits, x);
            if (strtod(shortest, NULL) == x)
                break;
        }
        gbose__text_reset(&t);
        gbose__text_number(&t, x);
        y = strtod(t.at, NULL);
        assert_memory_equal(&x, &y, sizeof x);
        if (!strchr(shortest, 'e') && x > 1e-4)
            assert_true(t.size <= strlen(shortest));
    }
    gbose__text_reset(&t);
    gbose__text_number(&t, NAN);
    gbose__text_quoted(&t, "a\"b\\\n\x01\xc3\xa9");
    gbose__text_time(&t, INT64_C(1794832562123));
    assert_string_equal(t.at, "null\"a\\\"b\\\\\\u000a\\u0001\xc3\xa9\"\"2026-11-16T12:36:02.123Z\"");
    gbose__text_clear(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_know_where_they_are),
        cmocka_unit_test(what_is_wrong_is_refused),
        cmocka_unit_test(numbers_are_those_of_strtod),
        cmocka_unit_test(numbers_are_written_as_short_as_they_can_be),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
