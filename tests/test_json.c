/* JSON documents: errors say where and what would be right. */
#include "support/check.h"

#include <string.h>

#include "io/json.h"

static void expect(const gbose_error *err, const char *text)
{
    assert_int_equal(err->code, GBOSE_EINVAL);
    assert_string_equal(err->text, text);
}

static void documents_that_are_none(void **state)
{
    static const char *const text[] = {"",         "{",       "{\"a\": 1,}", "{\"a\": 1, \"a\": 2}",
                                       "[1, 2] x", "\"\xff\""};
    static const char *const place[] = {"line 1", "line 1, column 1", "line 1, column 9",
                                        "line 1", "line 1, column 8", "line 1"};
    gbose_error err;
    json_t *root;

    (void)state;
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        err = (gbose_error){0, ""};
        assert_null(gbose__json_parse(text[i], strlen(text[i]), &err));
        assert_int_equal(err.code, GBOSE_EINVAL);
        assert_that(strstr(err.text, place[i]) == err.text, "%s", err.text);
    }
    assert_null(gbose__json_parse("{\"a\": \0}", 8, &err)); /* a zero byte */
    root = gbose__json_parse("{\"a\": 1}xyz", 8, &err);     /* only so many bytes */
    assert_non_null(root);
    json_decref(root);
}

static void values_of_another_kind(void **state)
{
    static const char text[] = "{\"text\": \"word\", \"count\": 7, \"x\": 0.5, \"list\": [1], \"no\": null}";
    gbose_error err;
    json_t *root = gbose__json_parse(text, sizeof text - 1, &err);
    const char *word = NULL;
    const json_t *list = NULL;
    int64_t n = 0;

    (void)state;
    assert_non_null(root);
    assert_int_equal(gbose__json_text(&word, root, "text", "", &err), GBOSE_OK);
    assert_string_equal(word, "word");
    assert_int_equal(gbose__json_integer(&n, root, "count", 7, 9, "", &err), GBOSE_OK);
    assert_int_equal(n, 7);
    assert_int_equal(gbose__json_list(&list, root, "list", 1, "", &err), GBOSE_OK);
    assert_int_equal(json_array_size(list), 1);

    assert_int_equal(gbose__json_text(&word, root, "count", "", &err), GBOSE_EINVAL);
    expect(&err, "'count' must be a text, not a number");
    assert_int_equal(gbose__json_text(&word, root, "nothing", "arms[3]", &err), GBOSE_EINVAL);
    expect(&err, "arms[3]: 'nothing' is missing; it must be a text");
    assert_int_equal(gbose__json_integer(&n, root, "count", 8, 9, "", &err), GBOSE_EINVAL);
    expect(&err, "'count' must be a whole number from 8 to 9; got 7");
    assert_int_equal(gbose__json_integer(&n, root, "x", 0, 9, "", &err), GBOSE_EINVAL);
    assert_int_equal(gbose__json_list(&list, root, "list", 2, "", &err), GBOSE_EINVAL);
    expect(&err, "'list' must have at least 2 entries");
    assert_int_equal(gbose__json_text(&word, json_array_get(list, 0), "a", "list[0]", &err), GBOSE_EINVAL);
    expect(&err, "list[0]: must be an object, not a number");
    assert_string_equal(word, "word"); /* written only on success */
    assert_int_equal(n, 7);
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents_that_are_none),
        cmocka_unit_test(values_of_another_kind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
