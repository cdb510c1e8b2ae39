/* Logs as tables: the same decisions as JSON lines, as a row for each arm and as a row for each decision; what
 * is wrong in a table; and logs that carry the hash of the schema that made them. */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/logfile.h"
#include "support/random.h"
#include "support/scratch.h"

#define DECISIONS 300

static char *dir;

static int set_up(void **state)
{
    (void)state;
    dir = scratch_new();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    scratch_remove(dir);
    return 0;
}

static const char *written(const char *name, const char *text)
{
    static char path[4][300];
    static int turn;
    char *out = path[turn++ % 4];
    FILE *file;

    snprintf(out, sizeof path[0], "%s/%s", dir, name);
    file = fopen(out, "w");
    fputs(text, file);
    fclose(file);
    return out;
}

static struct gbose__log *opened(const char *path, const gbose_schema *schema)
{
    struct gbose__log_options set = {.schema = schema};
    struct gbose__log *log;
    gbose_error err;

    assert_that(!gbose__log_open(&log, path, &set, &err), "%s", err.text);
    return log;
}

static gbose_schema *schema_of(const char *text)
{
    gbose_schema *schema;
    gbose_error err;

    assert_that(!gbose_schema_new(&schema, text, &err), "%s", err.text);
    return schema;
}

/* ---- the same decisions ---- */

static void assert_same(struct gbose__log *a, struct gbose__log *b)
{
    const struct gbose__record *x, *y;
    gbose_error err;
    int n = 0, more;

    while ((more = gbose__log_next(a, &x, &err)) == 1) {
        assert_that(gbose__log_next(b, &y, &err) == 1, "%s", err.text);
        assert_true(x->n_arms == y->n_arms && x->arm == y->arm && x->dim == y->dim &&
                    x->n_round == y->n_round);
        assert_true(x->dim > 0 && !y->partial && x->has_reward == y->has_reward);
        assert_memory_equal(x->pmf, y->pmf, x->n_arms * sizeof(double));
        assert_memory_equal(x->x, y->x, x->n_arms * x->dim * sizeof(double));
        if (x->n_round)
            assert_memory_equal(x->round, y->round, x->n_round * sizeof(double));
        assert_true(!x->has_reward || x->reward == y->reward);
        assert_string_equal(x->id, y->id);
        assert_string_equal(x->arms[x->arm], y->arms[y->arm]);
        n++;
    }
    assert_that(more == 0, "%s", err.text);
    assert_int_equal(gbose__log_next(b, &y, &err), 0);
    assert_int_equal(n, DECISIONS);
    gbose__log_close(a);
    gbose__log_close(b);
}

/* Two to four arms with a price and a name, of which one was played; every seventh has no reward. */
static void a_row_for_each_arm_is_the_decision(void **state)
{
    gbose_schema *schema =
        schema_of("action.price number scale=3\naction.id category a, b, c\nuser.age number\n"
                  "arm = price id price*age\nround = age\n");
    char *json_text, *csv_text;
    size_t json_size, csv_size;
    FILE *json = open_memstream(&json_text, &json_size), *csv = open_memstream(&csv_text, &csv_size);
    struct random rng = {8};

    (void)state;
    fprintf(csv, "id,user.age,action.id,action.price,played,probability,reward\n");
    for (int t = 0; t < DECISIONS; t++) {
        size_t n = 2 + random_below(&rng, 3), played = random_below(&rng, n);
        double age = random_normal(&rng), reward = random_normal(&rng);
        char pmf[200] = "", actions[600] = "", arms[100] = "";

        for (size_t a = 0; a < n; a++) {
            double price = random_normal(&rng), p = a ? 0.5 / (double)(n - 1) : 0.5;

            sprintf(pmf + strlen(pmf), "%s%.17g", a ? "," : "", p);
            sprintf(arms + strlen(arms), "%s\"%c\"", a ? "," : "", "abcd"[a]);
            sprintf(actions + strlen(actions), "%s{\"id\": \"%c\", \"price\": %.17g}", a ? ", " : "",
                    "abcd"[a], price);
            fprintf(csv, "d%d,%.17g,%c,%.17g,%d,%.17g,", t, age, "abcd"[a], price, a == played, p);
            if (a == played && t % 7)
                fprintf(csv, "%.17g", reward);
            fputc('\n', csv);
        }
        fprintf(json,
                "{\"id\": \"d%d\", \"arms\": [%s], \"arm\": %zu, \"pmf\": [%s], \"user\": {\"age\": %.17g}, ",
                t, arms, played, pmf, age);
        fprintf(json, "\"actions\": [%s], \"r\": ", actions);
        fprintf(json, t % 7 ? "%.17g}\n" : "null}\n", reward);
    }
    fclose(json);
    fclose(csv);
    assert_same(opened(written("a.jsonl", json_text), schema), opened(written("a.csv", csv_text), schema));
    gbose_schema_free(schema);
    free(json_text);
    free(csv_text);
}

/* In a wide table the arms are known by their ids alone. */
static void a_row_for_each_decision_is_the_decision(void **state)
{
    gbose_schema *schema =
        schema_of("action.id category a, b, c\nuser.age number\narm = 1*id id*age\nround = age\n");
    char *json_text, *csv_text;
    size_t json_size, csv_size;
    FILE *json = open_memstream(&json_text, &json_size), *csv = open_memstream(&csv_text, &csv_size);
    struct random rng = {9};

    (void)state;
    fprintf(csv, "id,user.age,arm,p:a,p:b,p:c,reward\n");
    for (int t = 0; t < DECISIONS; t++) {
        size_t played = random_below(&rng, 3);
        double age = random_normal(&rng), reward = random_normal(&rng);

        fprintf(csv, "%d,%.17g,%c,0.5,0.25,0.25,%.17g\n", t, age, "abc"[played], reward);
        fprintf(json,
                "{\"id\": \"%d\", \"arms\": [\"a\", \"b\", \"c\"], \"arm\": %zu, \"pmf\": [0.5, 0.25, 0.25], "
                "\"r\": %.17g, "
                "\"user\": {\"age\": %.17g}, \"actions\": [\"a\", \"b\", \"c\"]}\n",
                t, played, reward, age);
    }
    fclose(json);
    fclose(csv);
    assert_same(opened(written("a.jsonl", json_text), schema), opened(written("a.csv", csv_text), schema));
    gbose_schema_free(schema);
    free(json_text);
    free(csv_text);
}

/* ---- what is wrong ---- */

/* Reads all; the first error's text must hold `says`, and `good` decisions must be left. */
static void assert_wrong(const char *text, const char *says, int good)
{
    struct gbose__log *log = opened(written("wrong.csv", text), NULL);
    const struct gbose__record *r;
    gbose_error err, first = {0, ""};
    int rc, n = 0;

    while ((rc = gbose__log_next(log, &r, &err)) != 0) {
        assert_true(rc == 1 || rc == GBOSE_EINVAL);
        n += rc == 1;
        if (rc < 0 && !first.code)
            first = err;
    }
    assert_that(strstr(first.text, says), "'%s' does not say '%s'", first.text, says);
    assert_int_equal(n, good);
    gbose__log_close(log);
}

/* A decision that is wrong somewhere is passed over whole: its other rows are no decision of their own. */
static void a_wrong_decision_is_passed_over_whole(void **state)
{
    static const char head[] = "id,arm,played,probability,reward\n1,a,1,0.5,2\n1,b,0,0.5,\n",
                      tail[] = "3,a,0,0.5,\n3,b,1,0.5,1\n";
    static const struct {
        const char *rows, *says;
    } cases[] = {
        {"2,a,1,half,2\n2,b,0,0.5,\n2,c,0,0,\n",
         "wrong.csv, line 4: 'probability' must be a number; got 'half'"},
        {"2,a,0,0.5,\n2,b,0,0.5,\n", "line 4: decision '2' has 2 arms, of which 0 were played"},
        {"2,a,1,0.5,1\n2,b,1,0.5,1\n", "of which 2 were played"},
        {"2,a,1,0.5,1\n2,b,0,0.7,\n", "add up to 1.2"},
        {"2,a,1,0,1\n2,b,0,1,\n", "gives it probability 0"},
        {"2,a,1,0.5,much\n2,b,0,0.5,\n", "'reward' must be a number; got 'much'"},
        {"2,a,1,0.5,1\n2,b,0,0.5,,,\n", "line 5"},
        {"2,a,1,nan,1\n2,b,0,0.5,\n", "got 'nan'"},
        {"2,a,yes,0.5,1\n2,b,0,0.5,\n", "'played' must be 1 or 0; got 'yes'"},
    };
    char text[1000];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text, "%s%s%s", head, cases[i].rows, tail);
        assert_wrong(text, cases[i].says, 2);
    }
}

static void missing_columns_are_named(void **state)
{
    static const struct {
        const char *header, *says;
    } cases[] = {
        {"id,arm,played,reward\n", "no column 'probability'"},
        {"arm,played,probability,reward\n", "no column 'id'"},
        {"id,action.price,probability\n", "no column 'reward'"},
        {"arm,reward\n", "no column 'probability'"},
        {"reward,probability\n", "no column 'arm'"},
        {"arm,reward,probability\n", "only the played arm's probability is there"},
    };
    struct gbose__log_options set = {0};
    struct gbose__log *log;
    gbose_error err;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(gbose__log_open(&log, written("none.csv", cases[i].header), &set, &err),
                         GBOSE_EINVAL);
        assert_that(strstr(err.text, cases[i].says), "%s", err.text);
    }
}

/* Open a table whose arms are as --arms says, and read its decisions until one is wrong: how many were right. */
static int read_arms(const char *text, const char *arms, const char *says)
{
    struct gbose__log_options set = {.arms = arms};
    const struct gbose__record *r;
    struct gbose__log *log;
    gbose_error err = {0, ""};
    int n = 0, rc = gbose__log_open(&log, written("arms.csv", text), &set, &err);

    if (!rc) {
        while ((rc = gbose__log_next(log, &r, &err)) == 1) {
            n++;
            assert_true(r->partial && r->n_arms == 3 && r->n_ids == 3);
            assert_true(r->pmf[r->arm] == 0.5 && r->pmf[(r->arm + 1) % 3] == 0.25);
            assert_null(gbose__record_column(r, "probability"));
            assert_string_equal(gbose__record_column(r, "country"), "de");
        }
        gbose__log_close(log);
    }
    assert_that(says ? rc < 0 && strstr(err.text, says) : rc == 0, "%s", err.text);
    return n;
}

/* Where only the played arm's probability is known, how many arms there are decides what a uniform policy would have done:
 * it is asked for, and does not depend on the rows so far. */
static void arms_are_asked_for_when_one_probability_is_known(void **state)
{
    static const char numbers[] = "arm,reward,probability,country\n2,1,0.5,de\n0,1,0.5,de\n",
                      names[] = "arm,reward,probability,country\nz,1,0.5,de\ny,1,0.5,de\n";
    char more[200];

    (void)state;
    assert_int_equal(read_arms(numbers, "3", NULL), 2);
    assert_int_equal(read_arms(names, "x,y,z", NULL), 2);
    assert_int_equal(
        read_arms(names, NULL, "say which arms there are: --arms 34 for 0 to 33, or --arms a,b,c"), 0);
    assert_int_equal(read_arms(names, "x,z,w", "line 3: arm 'y' is not among the 3 of --arms"), 1);
    assert_int_equal(read_arms(names, "3", "line 2: arm 'z' is not among the 3 of --arms"), 0);
    assert_int_equal(read_arms(names, "x,y,", "how many there are, or their ids as a,b,c; got 'x,y,'"), 0);
    assert_int_equal(read_arms(names, "x,y,x", "--arms names 'x' twice"), 0);
    assert_int_equal(read_arms(names, "0", "from 1 to 100000, or ids; got '0'"), 0);
    assert_int_equal(read_arms(names, "9999999999999999999999", "from 1 to 100000"), 0);
    snprintf(more, sizeof more, "%sy,1,1.5,de\n", names);
    assert_int_equal(read_arms(more, "x,y,z", "line 4: the probability is 1.5: it must be from 0 to 1"), 2);
    assert_int_equal(
        read_arms("arm,reward,probability,country\nx,1,0.5,de\n", "x", "add up to 0.5 instead of 1"), 0);
}

/* The probabilities of all arms say more than that of one, and which arms there are. */
static void all_probabilities_go_before_one(void **state)
{
    struct gbose__log_options set = {.arms = "30"};
    const struct gbose__record *r;
    struct gbose__log *log;
    gbose_error err;

    (void)state;
    assert_that(!gbose__log_open(&log,
                                 written("both.csv", "arm,reward,p:a,probability,p:b\nb,1,0.3,0.7,0.7\n"),
                                 &set, &err),
                "%s", err.text);
    assert_that(gbose__log_next(log, &r, &err) == 1, "%s", err.text);
    assert_true(!r->partial && r->n_arms == 2 && r->arm == 1 && r->pmf[0] == 0.3 && r->pmf[1] == 0.7);
    gbose__log_close(log);
}

/* A table of arms keeps values to group by, too: those of a decision's first row. */
static void rows_of_arms_have_values_to_group_by(void **state)
{
    struct gbose__log_options set = {0};
    const struct gbose__record *r;
    struct gbose__log *log;
    gbose_error err;

    (void)state;
    assert_false(
        gbose__log_open(&log,
                        written("by.csv", "id,arm,played,probability,reward,country\n"
                                          "1,a,1,0.5,2,de\n1,b,0,0.5,,de\n2,a,0,0.5,,fr\n2,b,1,0.5,1,it\n"),
                        &set, &err));
    assert_int_equal(gbose__log_next(log, &r, &err), 1);
    assert_string_equal(gbose__record_column(r, "country"), "de");
    assert_int_equal(gbose__log_next(log, &r, &err), 1);
    assert_string_equal(gbose__record_column(r, "country"), "fr");
    assert_null(gbose__record_column(r, "played"));
    gbose__log_close(log);
}

/* ---- the schema's hash ---- */

/* The first record of a log with one line, or an error. */
static int read_one(const char *text, const gbose_schema *schema, int any, double *x, size_t *dim,
                    gbose_error *err)
{
    struct gbose__log_options set = {.schema = schema, .any_schema = any};
    const struct gbose__record *r;
    struct gbose__log *log;
    int rc;

    assert_that(!gbose__log_open(&log, written("one.jsonl", text), &set, err), "%s", err->text);
    rc = gbose__log_next(log, &r, err);
    if (rc == 1) {
        char hash[17];

        snprintf(hash, sizeof hash, "%016llx", (unsigned long long)gbose_schema_hash(schema));
        assert_string_equal(r->schema, hash);
        *dim = r->dim;
        memcpy(x, r->x, r->n_arms * r->dim * sizeof *x);
    }
    gbose__log_close(log);
    return rc;
}

static void a_log_of_another_schema_is_refused(void **state)
{
    gbose_schema *made = schema_of("action.a number\naction.b number\narm = a\n"),
                 *grown = schema_of("action.a number\naction.b number\narm = a b\n"),
                 *other = schema_of("action.a number\naction.b number\narm = b\n");
    char named[400], rows[400];
    double x[8];
    size_t dim;
    gbose_error err;
    unsigned long long hash = gbose_schema_hash(made);

    (void)state;
    snprintf(named, sizeof named,
             "{\"schema\":\"%016llx\",\"arm\":1,\"pmf\":[0.5,0.5],\"r\":1,\"actions\":[{\"a\":2,\"b\":3},{"
             "\"a\":4,\"b\":5}]}\n",
             hash);
    snprintf(rows, sizeof rows,
             "{\"schema\":\"%016llx\",\"arm\":1,\"pmf\":[0.5,0.5],\"r\":1,\"x\":[[2,0],[4,0]]}\n", hash);
    assert_int_equal(read_one(named, made, 0, x, &dim, &err), 1);
    assert_int_equal(read_one(rows, made, 0, x, &dim, &err), 1);
    /* appended terms: made of the features by name, or 0 where nothing is known of them */
    assert_int_equal(read_one(named, grown, 0, x, &dim, &err), 1);
    assert_true(dim == 4 && x[0] == 2 && x[2] == 3 && x[4] == 4 && x[6] == 5);
    assert_int_equal(read_one(rows, grown, 0, x, &dim, &err), 1);
    assert_true(dim == 4 && x[0] == 2 && x[2] == 0 && x[4] == 4 && x[6] == 0);
    /* another schema: refused, unless features by name are to be encoded anew */
    assert_int_equal(read_one(named, other, 0, x, &dim, &err), GBOSE_ESCHEMA);
    assert_that(strstr(err.text, "one.jsonl, line 1: it was made by the schema "), "%s", err.text);
    assert_non_null(strstr(err.text, "--any-schema"));
    assert_int_equal(read_one(rows, other, 0, x, &dim, &err), GBOSE_ESCHEMA);
    assert_null(strstr(err.text, "--any-schema"));
    assert_int_equal(read_one(rows, other, 1, x, &dim, &err), GBOSE_ESCHEMA);
    assert_int_equal(read_one(named, other, 1, x, &dim, &err), 1);
    assert_true(dim == 2 && x[0] == 3 && x[2] == 5);
    snprintf(rows, sizeof rows, "{\"schema\":\"12\",\"arm\":0,\"pmf\":[1],\"r\":1,\"x\":[[2]]}\n");
    assert_int_equal(read_one(rows, made, 0, x, &dim, &err), GBOSE_EINVAL);
    assert_non_null(strstr(err.text, "16 hexadecimal digits"));
    gbose_schema_free(made);
    gbose_schema_free(grown);
    gbose_schema_free(other);
}

/* Personalizer wraps the features of a namespace in a list, and its own keys begin with '_'. */
static void features_of_dsjson_have_names(void **state)
{
    static const char line[] =
        "{\"_label_cost\":-1,\"_label_probability\":0.5,\"_label_Action\":2,\"_labelIndex\":1,\"EventId\":"
        "\"e\",\"a\":[2,1],"
        "\"p\":[0.5,0.5],\"c\":{\"FromUrl\":[{\"weather\":\"sunny\"},{\"age\":7}],\"hour\":3,\"_multi\":["
        "{\"_tag\":\"x\",\"i\":{\"constant\":1},\"j\":[{\"price\":2}]},{\"_tag\":\"y\",\"j\":[{\"price\":5}]}"
        "]}}\n";
    gbose_schema *schema =
        schema_of("action.j.price number missing=off\nFromUrl.weather category sunny other=off missing=off\n"
                  "FromUrl.age number missing=off\nshared.hour number missing=off\n"
                  "arm = price price*age\nround = weather hour\n");
    struct gbose__log *log = opened(written("a.dsjson", line), schema);
    const struct gbose__record *r;
    gbose_error err;

    (void)state;
    assert_that(gbose__log_next(log, &r, &err) == 1, "%s", err.text);
    assert_true(r->arm == 1 && r->dim == 2 && r->n_round == 2 && r->reward == 1);
    assert_true(r->x[0] == 2 && r->x[1] == 14 && r->x[2] == 5 && r->x[3] == 35);
    assert_true(r->round[0] == 1 && r->round[1] == 3);
    assert_string_equal(r->arms[1], "y");
    gbose__log_close(log);
    gbose_schema_free(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_row_for_each_arm_is_the_decision, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_row_for_each_decision_is_the_decision, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_wrong_decision_is_passed_over_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(missing_columns_are_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(arms_are_asked_for_when_one_probability_is_known, set_up, tear_down),
        cmocka_unit_test_setup_teardown(all_probabilities_go_before_one, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rows_of_arms_have_values_to_group_by, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_log_of_another_schema_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(features_of_dsjson_have_names, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
