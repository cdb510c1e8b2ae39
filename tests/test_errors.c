/* Status codes, their texts, and the version. */
#include "support/players.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static const int codes[] = {
#define CODE(name, value, text) GBOSE_##name,
    GBOSE_STATUS_MAP(CODE)
#undef CODE
};

static void success_is_zero_and_errors_are_negative(void **state)
{
    (void)state;
    assert_int_equal(GBOSE_OK, 0);
    for (size_t i = 1; i < COUNT(codes); i++)
        assert_true(codes[i] < 0);
}

static void codes_never_change_their_value(void **state)
{
    (void)state;
    assert_int_equal(COUNT(codes), 19);
    for (size_t i = 0; i < COUNT(codes); i++)
        assert_int_equal(codes[i], -(int)i);
    assert_int_equal(GBOSE_EINVAL, -1);
    assert_int_equal(GBOSE_ETICKET, -6);
    assert_int_equal(GBOSE_EHISTORY, -13);
    assert_int_equal(GBOSE_ELEARNER, -14);
    assert_int_equal(GBOSE_EVALUE, -16);
    assert_int_equal(GBOSE_EPMF, -17);
    assert_int_equal(GBOSE_EUNSEEN, -18);
}

static void each_code_has_a_text_of_its_own(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(codes); i++) {
        const char *text = gbose_strerror(codes[i]);

        assert_non_null(text);
        assert_true(strlen(text) > 0);
        assert_true(strlen(text) < sizeof((gbose_error *)0)->text);
        assert_null(strchr(text, '\n'));
        assert_ptr_equal(text, gbose_strerror(codes[i]));
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(text, gbose_strerror(codes[k]));
    }
    assert_string_equal(gbose_strerror(GBOSE_ENOMEM), "out of memory");
}

static void any_int_has_a_text(void **state)
{
    const int others[] = {1, 2, 100, INT_MAX, INT_MIN, -19, -20, -1000};

    (void)state;
    for (size_t i = 0; i < COUNT(others); i++) {
        const char *text = gbose_strerror(others[i]);

        assert_non_null(text);
        assert_true(strlen(text) > 0);
        for (size_t k = 0; k < COUNT(codes); k++)
            assert_string_not_equal(text, gbose_strerror(codes[k]));
    }
}

static void version_is_that_of_the_header(void **state)
{
    char expected[64];

    (void)state;
    snprintf(expected, sizeof expected, "%d.%d.%d", GBOSE_VERSION_MAJOR, GBOSE_VERSION_MINOR,
             GBOSE_VERSION_PATCH);
    assert_string_equal(gbose_version(), expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(success_is_zero_and_errors_are_negative),
        cmocka_unit_test(codes_never_change_their_value),
        cmocka_unit_test(each_code_has_a_text_of_its_own),
        cmocka_unit_test(any_int_has_a_text),
        cmocka_unit_test(version_is_that_of_the_header),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
