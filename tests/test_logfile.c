/* Logs as files: numbers are read as strtod() reads them, every format comes back as it was written, and
 * broken lines are named. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/logfile.h"
#include "io/scan.h"
#include "support/check.h"
#include "support/random.h"
#include "support/scratch.h"

/* ---- numbers ---- */

static void same_as_strtod(const char *text)
{
    char copy[500];
    struct gbose__scan s = {copy, NULL};
    double x, y = strtod(text, NULL);

    snprintf(copy, sizeof copy, "%s", text);
    assert_that(gbose__scan_number(&s, &x) == 1, "%s", text);
    assert_that(memcmp(&x, &y, sizeof x) == 0, "%s is %.17g, not %.17g", text, y, x);
    assert_true(*s.at == 0);
}

static void numbers_are_those_of_strtod(void **state)
{
    static const char *const fixed[] = {"0",
                                        "-0",
                                        "1",
                                        "-1.5",
                                        "0.1",
                                        "1e22",
                                        "1e23",
                                        "123456789012345678901234567890",
                                        "4.9e-324",
                                        "1e-400",
                                        "0.000",
                                        "9007199254740993",
                                        "9007199254740992.5",
                                        "1.7976931348623157e308",
                                        "5e-1",
                                        "2.2250738585072011e-308",
                                        "0.1000000000000000055511151231257827021181583404541015625"};
    struct random random = {.state = 1};
    char text[64];

    (void)state;
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        same_as_strtod(fixed[i]);
    for (int i = 0; i < 300000; i++) {
        double scale = i % 3 ? 1 : exp(60 * random_normal(&random)), x = scale * random_normal(&random);

        snprintf(text, sizeof text, "%.*g", 1 + i % 19, x);
        same_as_strtod(text);
        snprintf(text, sizeof text, "%.*f", i % 18, random_normal(&random));
        same_as_strtod(text);
        /* halfway between two doubles, where rounding twice goes wrong */
        snprintf(text, sizeof text, "%llu.5", (1ull << 52) + random_u64(&random) % (1ull << 52));
        same_as_strtod(text);
    }
}

static void what_is_no_json_is_refused(void **state)
{
    static const char *const wrong[] = {"",           "{",          "[1",      "[1,]",        "{\"a\" 1}",
                                        "{\"a\":01}", "[1.]",       "[1e]",    "[.5]",        "[+1]",
                                        "[nan]",      "\"a\nb\"",   "\"\\x\"", "\"\\ud800\"", "[1e999]",
                                        "tru",        "{\"a\":1,}", "{a:1}",   "[1 2]",       "\"abc"};
    static const char *const right[] = {
        "{}", "[]", " [ 1 , -2.5e-3 ,\"a\\u00e9\\ud83d\\ude00\\n\", true,false,null,{\"a\":[{}]}] "};
    char copy[200], deep[300];

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct gbose__scan s = {copy, NULL};

        snprintf(copy, sizeof copy, "%s", wrong[i]);
        assert_that(gbose__scan_skip(&s) < 0 || gbose__scan_end(&s) < 0, "'%s' was taken", wrong[i]);
        assert_non_null(s.wrong);
    }
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        struct gbose__scan s = {copy, NULL};

        snprintf(copy, sizeof copy, "%s", right[i]);
        assert_that(gbose__scan_skip(&s) > 0 && gbose__scan_end(&s) > 0, "'%s' was refused: %s", right[i],
                    s.wrong);
    }
    memset(deep, '[', sizeof deep - 1);
    deep[sizeof deep - 1] = 0;
    assert_true(gbose__scan_skip(&(struct gbose__scan){deep, NULL}) < 0);
    {
        char text[] = "\"a\\u00e9\\ud83d\\ude00\\\"\"", *out;
        struct gbose__scan s = {text, NULL};

        assert_true(gbose__scan_text(&s, &out) > 0);
        assert_string_equal(out, "a\xc3\xa9\xf0\x9f\x98\x80\"");
    }
}

/* ---- lines ---- */

static int read_line(struct gbose__record *r, const char *line, gbose_error *err)
{
    static char copy[4000];

    snprintf(copy, sizeof copy, "%s", line);
    gbose__record_reset(r);
    return gbose__jsonlog_read(r, copy, strlen(copy), 0, err);
}

static const char whole[] = "{\"v\":1,\"id\":\"e7\",\"t\":\"2026-01-02\",\"bandit\":\"b\",\"model\":3,"
                            "\"spec\":\"gbose\",\"stream\":4,\"n\":12,\"arms\":[\"a\",\"b\"],"
                            "\"arm\":1,\"pmf\":[0.25,0.75],\"x\":[[1,2.5],[0,-1]],\"round\":[7],\"r\":0.1,"
                            "\"rt\":\"later\",\"why\":\"reward\",\"unit\":\"u\",\"drop\":0.5,"
                            "\"day\":\"3\",\"policies\":{\"mine\":[0.5,0.5]}}\n";

static void a_line_comes_back_as_it_was(void **state)
{
    struct gbose__record r = {0};
    gbose_error err;
    char *text;
    size_t size;
    FILE *to = open_memstream(&text, &size);

    (void)state;
    assert_int_equal(read_line(&r, whole, &err), GBOSE_OK);
    assert_true(r.n_arms == 2 && r.arm == 1 && r.dim == 2 && r.n_round == 1 && r.n_policies == 1 &&
                !r.partial);
    assert_true(r.pmf[1] == 0.75 && r.x[1] == 2.5 && r.x[3] == -1 && r.round[0] == 7 && r.reward == 0.1 &&
                r.kept == 0.5);
    assert_string_equal(gbose__record_column(&r, "day"), "3");
    assert_string_equal(gbose__record_column(&r, "arm"), "b");
    assert_null(gbose__record_column(&r, "week"));
    gbose__record_print(&r, to);
    fclose(to);
    assert_string_equal(text, whole);
    free(text);
    assert_int_equal(
        read_line(&r, "{\"arm\":2,\"arms\":[1,2,3],\"p\":0.5,\"r\":null,\"hour\":17,\"x\":[]}", &err),
        GBOSE_OK);
    assert_true(r.partial && !r.has_reward && r.pmf[0] == 0.25 && r.pmf[2] == 0.5);
    assert_string_equal(r.arms[0], "1");
    assert_string_equal(r.arms[2], "3");
    assert_string_equal(gbose__record_column(&r, "hour"), "17");
    gbose__record_clear(&r);
}

static void what_is_wrong_is_said(void **state)
{
    static const struct {
        const char *line, *says;
    } cases[] = {
        {"{\"arm\":0,\"pmf\":[0.5,0.6],\"r\":1}", "add up to 1.1"},
        {"{\"arm\":2,\"pmf\":[0.5,0.5],\"r\":1}", "'arm' is 2"},
        {"{\"arm\":0.5,\"pmf\":[0.5,0.5],\"r\":1}", "whole number"},
        {"{\"pmf\":[0.5,0.5],\"r\":1}", "'arm' is missing"},
        {"{\"arm\":0,\"r\":1}", "'pmf' is missing"},
        {"{\"arm\":0,\"pmf\":[0,1],\"r\":1}", "probability 0"},
        {"{\"arm\":0,\"pmf\":[1.5,-0.5],\"r\":1}", "from 0 to 1"},
        {"{\"arm\":0,\"pmf\":[0.5,0.5],\"x\":[[1],[1,2]],\"r\":1}", "different lengths"},
        {"{\"arm\":0,\"pmf\":[0.5,0.5],\"x\":[[1]],\"r\":1}", "1 rows"},
        {"{\"arm\":0,\"pmf\":[0.5,0.5],\"arms\":[\"a\"],\"r\":1}", "'arms' has 1"},
        {"{\"v\":2,\"arm\":0,\"pmf\":[1],\"r\":1}", "'v' must be 1"},
        {"{\"arm\":0,\"arm\":0,\"pmf\":[1],\"r\":1}", "twice"},
        {"{\"arm\":0,\"pmf\":[1],\"r\":\"1\"}", "a number is expected"},
        {"{\"arm\":0,\"pmf\":[1],\"r\":1} x", "nothing may follow"},
        {"{\"arm\":0,\"pmf\":[1],\"r\":1", "column 25"},
        {"{\"arm\":0,\"pmf\":[0.5,0.5],\"r\":1,\"policies\":{\"m\":[1]}}", "policy 'm'"},
        {"{\"arm\":0,\"pmf\":[1],\"r\":1,\"drop\":0}", "'drop'"},
        {"[]", "an object"},
    };
    struct gbose__record r = {0};
    gbose_error err;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_that(read_line(&r, cases[i].line, &err) == GBOSE_EINVAL, "%s", cases[i].line);
        assert_that(strstr(err.text, cases[i].says), "%s: '%s' does not say '%s'", cases[i].line, err.text,
                    cases[i].says);
    }
    gbose__record_clear(&r);
}

/* Whatever bytes are changed, a line is refused with a text, or taken; and what is taken and written again
 * reads back the same. */
static void damaged_lines_do_no_harm(void **state)
{
    static const char likely[] = "{}[]\",:.0123456789eE+-\\unx \t";
    struct random random = {.state = 6};
    struct gbose__record r = {0}, again = {0};
    int taken = 0;

    (void)state;
    for (int k = 0; k < 60000; k++) {
        char *line = malloc(sizeof whole), *text;
        size_t size = sizeof whole - 1 - (k % 4 ? 0 : random_below(&random, sizeof whole - 1)), written;
        gbose_error err = {0, ""};

        memcpy(line, whole, sizeof whole); /* of its own size, so that the sanitizer sees a step too far */
        line[size] = 0;
        for (size_t edits = random_below(&random, 4); edits-- && size;)
            line[random_below(&random, size)] = likely[random_below(&random, sizeof likely - 1)];
        gbose__record_reset(&r);
        if (gbose__jsonlog_read(&r, line, strlen(line), 0, &err)) {
            assert_true(err.code == GBOSE_EINVAL && err.text[0]);
        } else {
            FILE *to = open_memstream(&text, &written);

            taken++;
            gbose__record_print(&r, to);
            fclose(to);
            gbose__record_reset(&again);
            assert_that(gbose__jsonlog_read(&again, text, written, 0, &err) == GBOSE_OK, "%s: %s", text,
                        err.text);
            assert_true(again.n_arms == r.n_arms && again.arm == r.arm && again.dim == r.dim);
            assert_memory_equal(again.pmf, r.pmf, r.n_arms * sizeof *r.pmf);
            free(text);
        }
        free(line);
    }
    assert_true(taken > 1000 && taken < 59000);
    gbose__record_clear(&r);
    gbose__record_clear(&again);
}

/* pdrop is in _label_probability already, and p is what counts. */
static void dsjson_is_understood(void **state)
{
    static const char line[] = "{\"_label_cost\":-0.5,\"_label_probability\":0.3,\"_label_Action\":2,\"_"
                               "labelIndex\":1,\"EventId\":\"e\",\"Timestamp\":\"t\","
                               "\"a\":[2,1,3],\"p\":[0.6,0.3,0.1],\"c\":{\"User\":{\"age\":7},\"_multi\":[{"
                               "\"id\":\"x\"},{\"id\":\"y\"},{\"id\":\"z\"}]},\"pdrop\":0.2}";
    struct gbose__record r = {0};
    gbose_error err;
    char *text;
    size_t size;
    FILE *to = open_memstream(&text, &size);

    (void)state;
    gbose__record_reset(&r);
    assert_int_equal(gbose__dsjson_read(&r, line, strlen(line), 0, &err), GBOSE_OK);
    assert_true(r.arm == 1 && r.n_arms == 3 && r.pmf[0] == 0.3 && r.pmf[1] == 0.6 && r.pmf[2] == 0.1 &&
                r.reward == 0.5);
    assert_close(r.kept, 0.8, 1e-15);
    assert_string_equal(r.arms[1], "y");
    assert_string_equal(r.id, "e");
    gbose__record_print_dsjson(&r, to);
    fclose(to);
    gbose__record_reset(&r);
    assert_int_equal(gbose__dsjson_read(&r, text, strlen(text), 0, &err), GBOSE_OK);
    assert_true(r.arm == 1 && r.pmf[0] == 0.3 && r.pmf[1] == 0.6 && r.reward == 0.5);
    assert_close(r.kept, 0.8, 1e-15);
    free(text);
    gbose__record_reset(&r);
    assert_int_equal(
        gbose__dsjson_read(&r, "{\"a\":[1,1],\"p\":[0.5,0.5],\"c\":{\"_multi\":[{},{}]}}", 47, 0, &err),
        GBOSE_EINVAL);
    gbose__record_clear(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_those_of_strtod), cmocka_unit_test(what_is_no_json_is_refused),
        cmocka_unit_test(a_line_comes_back_as_it_was), cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(dsjson_is_understood),        cmocka_unit_test(damaged_lines_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
