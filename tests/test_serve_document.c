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

/* Rows of numbers of all kinds, in memory that ends where the text ends: what is read together must be what is read one by
 * one, wherever a row begins and whatever is in it. */
static void lists_are_those_of_strtod(void **state)
{
    static const char *const formats[] = {"%.6f", "%.0f", "%.3f", "%.7f", "%.9g", "%.17g", "%.1f"};
    struct gbose__document d = {0};
    struct random rng = {29};
    int plain = 0, other = 0;

    (void)state;
    for (int i = 0; i < 4000; i++) {
        size_t n = 1 + (size_t)(40 * random_uniform(&rng)), used = 0, first = 3;
        int mixed = i % 4 == 3, kind = i % 7;
        char text[2048], *exact;
        const char *message;
        double x[64];
        size_t at;

        used += (size_t)snprintf(text, sizeof text, "[\"%.*s\",[", i % 64,
                                 "................................................................");
        for (size_t k = 0; k < n; k++) {
            char number[64];

            if (mixed)
                kind = (int)(7 * random_uniform(&rng));
            snprintf(number, sizeof number, formats[kind],
                     (random_uniform(&rng) - 0.5) * pow(10, floor((mixed ? 9 : 2) * random_uniform(&rng))));
            x[k] = strtod(number, NULL);
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", k ? (i % 5 ? "," : ", ") : "",
                                     number);
        }
        used += (size_t)snprintf(text + used, sizeof text - used, i % 3 ? "]]" : "],[1,\"1\"]]");
        exact = malloc(used);
        assert_non_null(exact);
        memcpy(exact, text, used);
        if (gbose__document_read(&d, exact, used, &message, &at))
            fail_msg("%s: %s", text, message);
        assert_int_equal(d.value[2].count, n);
        assert_int_equal(d.value[2].next, first + n);
        plain += d.value[2].plain;
        other += !d.value[2].plain;
        for (size_t k = 0; k < n; k++) {
            double y = NAN;

            assert_int_equal(gbose__document_number(&d, (uint32_t)(first + k), &y), 0);
            if (memcmp(&x[k], &y, sizeof y))
                fail_msg("%s: %.17g is read as %.17g", text, x[k], y);
            if (d.value[2].plain)
                assert_memory_equal(&x[k], &d.number[first + k], sizeof y);
        }
        if (i % 3 == 0) {
            assert_int_equal(d.value[first + n].count, 2);
            assert_false(d.value[first + n].plain);
        }
        free(exact);
    }
    assert_true(plain > 1000 && other > 400);
    gbose__document_clear(&d);
}

static void what_is_no_number_in_a_list_is_refused(void **state)
{
    static const char *const wrong[] = {"01",     "-",  ".5",  "5.", "-.5", "0.1.2", "1.2-", "1:2",
                                        "0.12/4", "+1", "1 2", "",   "--1", "00.5",  "1e",   "1.5\xb0"};
    struct gbose__document d = {0};

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        for (int before = 0; before < 20; before++) {
            char text[400] = "[", *end = text + 1;
            const char *message = NULL;

            for (int k = 0; k < before; k++)
                end += sprintf(end, "0.%d,", 100 + k);
            sprintf(end, "%s,0.25,1.5,2.5,3.5,4.5,5.5,6.5,7.5,8.5,9.5,0.5,0.25,0.125,1,2,3,4,5,6,7]",
                    wrong[i]);
            if (read_document(&d, text, &message) != -1 || !message)
                fail_msg("%s was accepted", text);
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
        cmocka_unit_test(lists_are_those_of_strtod),
        cmocka_unit_test(what_is_no_number_in_a_list_is_refused),
        cmocka_unit_test(numbers_are_written_as_short_as_they_can_be),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
