/* Features that come in: the same rounds as JSON and as CSV give the same bytes, and what is wrong is said
 * with its place. */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/features.h"
#include "io/json.h"
#include "io/logfile.h"
#include "support/random.h"
#include "support/scratch.h"

static const char SCHEMA[] = "action.price number scale=10\naction.topic category sports, \"world news\", 7\n"
                             "action.tags set a, b, c\naction.hashed set hash=8\naction.v vector 2\n"
                             "action.new flag\nuser.device category ios, android\nuser.tenure number log\n"
                             "user.address.city category Bern, Rome\ntime.hour cycle 24\n"
                             "arm = price topic tags hashed v new topic*device v*tenure new*hour city*topic\n"
                             "round = device tenure city hour\n";

/* ---- the same rounds, written twice ---- */

#define ARMS 3
#define ROUNDS 200

static void write_rounds(FILE *json, FILE *csv)
{
    static const char *const topics[] = {"\"sports\"", "\"world news\"", "7", "\"say \\\"hi\\\", you\"",
                                         "null"},
                             *const csv_topics[] = {"sports", "world news", "7", "\"say \"\"hi\"\", you\"",
                                                    ""};
    static const char *const tags[] = {"[\"a\", \"b\"]", "[\"z\", \"a\"]", "[]", "[\"c\"]"},
                             *const csv_tags[] = {"a|b", "z|a", "|", "c"};
    static const char *const flags[] = {"true", "false", "null"}, *const csv_flags[] = {"True", "false", ""};
    static const char *const devices[] = {"\"ios\"", "\"palm\"", "null"}, *const csv_devices[] = {"ios",
                                                                                                  "palm", ""};
    struct random rng = {5};

    fprintf(csv,
            "id,reward,action.price,action.topic,action.tags,action.hashed,action.v,action.new,user.device,"
            "user.tenure,user.address.city,time.hour\r\n");
    for (int t = 0; t < ROUNDS; t++) {
        size_t device = random_below(&rng, 3);
        double tenure = 100 * random_uniform(&rng), hour = 24 * random_uniform(&rng);
        int with_city = random_below(&rng, 2) == 0;

        fprintf(json,
                "{\"id\": %d, \"r\": 0.5, \"user\": {\"device\": %s, \"tenure\": %.17g%s}, \"actions\": [", t,
                devices[device], tenure, with_city ? ", \"address\": {\"city\": \"Bern\"}" : "");
        for (int a = 0; a < ARMS; a++) {
            size_t topic = random_below(&rng, 5), tag = random_below(&rng, 4), flag = random_below(&rng, 3),
                   other = random_below(&rng, 4);
            double price = random_normal(&rng), x = random_normal(&rng), y = random_normal(&rng);

            fprintf(
                json,
                "%s{\"price\": %.17g, \"topic\": %s, \"tags\": %s, \"hashed\": %s, \"v\": [%.17g, %.17g], "
                "\"new\": %s, \"unused\": {\"deep\": [1, 2]}}",
                a ? ", " : "", price, topics[topic], tags[tag], tags[other], x, y, flags[flag]);
            fprintf(csv, "%d,0.5,%.17g,%s,%s,%s,%.17g|%.17g,%s,%s,%.17g,%s,%.17g\n", t, price,
                    csv_topics[topic], csv_tags[tag], csv_tags[other], x, y, csv_flags[flag],
                    csv_devices[device], tenure, with_city ? "Bern" : "", hour);
        }
        fprintf(json, "], \"time\": {\"hour\": %.17g}}\n%s", hour, t % 7 ? "" : "\n");
    }
}

static struct gbose__log *opened(const char *path)
{
    struct gbose__log_options set = {.features_only = 1};
    struct gbose__log *log;
    gbose_error err;

    assert_that(!gbose__log_open(&log, path, &set, &err), "%s", err.text);
    return log;
}

/* The features of the next round: 1, 0 at the end, or an error. */
static int next(struct gbose__log *log, struct gbose__round_features *f, gbose_error *err)
{
    const struct gbose__record *r;
    int rc = gbose__log_next(log, &r, err);

    if (rc != 1)
        return rc;
    rc = gbose__features_from_json(f, r->features, err);
    return rc ? rc : 1;
}

static void json_and_csv_give_the_same_bytes(void **state)
{
    char *dir = scratch_new(), json_path[300], csv_path[300];
    struct gbose__log *json, *csv;
    struct gbose__round_features a = {0}, b = {0};
    gbose_schema *schema;
    double rows[2][ARMS * 100], round[2][30];
    FILE *one, *two;
    gbose_error err;
    int n = 0, more;

    (void)state;
    snprintf(json_path, sizeof json_path, "%s/rounds.jsonl", dir);
    snprintf(csv_path, sizeof csv_path, "%s/rounds.csv", dir);
    one = fopen(json_path, "w");
    two = fopen(csv_path, "w");
    write_rounds(one, two);
    fclose(one);
    fclose(two);
    assert_int_equal(gbose_schema_new(&schema, SCHEMA, &err), GBOSE_OK);
    assert_true(gbose_schema_dim(schema) <= 100 && gbose_schema_round(schema) <= 30);
    json = opened(json_path);
    csv = opened(csv_path);
    while ((more = next(json, &a, &err)) == 1) {
        assert_that(next(csv, &b, &err) == 1, "%s", err.text);
        assert_int_equal(a.n_arms, ARMS);
        assert_int_equal(b.n_arms, ARMS);
        assert_that(!gbose_encode(schema, rows[0], round[0], &a.shared, a.actions, ARMS, &err), "%s",
                    err.text);
        assert_that(!gbose_encode(schema, rows[1], round[1], &b.shared, b.actions, ARMS, &err), "%s",
                    err.text);
        assert_memory_equal(rows[0], rows[1], ARMS * gbose_schema_dim(schema) * sizeof(double));
        assert_memory_equal(round[0], round[1], gbose_schema_round(schema) * sizeof(double));
        n++;
    }
    assert_int_equal(more, 0);
    assert_int_equal(next(csv, &b, &err), 0);
    assert_int_equal(n, ROUNDS);
    gbose__log_close(json);
    gbose__log_close(csv);
    gbose__features_clear(&a);
    gbose__features_clear(&b);
    gbose_schema_free(schema);
    scratch_remove(dir);
}

/* ---- what is wrong ---- */

static void assert_wrong(const char *text, const char *says)
{
    struct gbose__round_features f = {0};
    gbose_error err = {0, ""};
    json_t *record = gbose__json_parse(text, strlen(text), &err);

    assert_that(record != NULL, "%s", err.text);
    assert_int_equal(gbose__features_from_json(&f, record, &err), GBOSE_EINVAL);
    assert_string_equal(err.text, says);
    gbose__features_clear(&f);
    json_decref(record);
}

static void what_is_wrong_has_its_place(void **state)
{
    (void)state;
    assert_wrong("[1]", "a round must be an object, not a list");
    assert_wrong("{\"actions\": {}}", "'actions' must be a list, not an object");
    assert_wrong(
        "{\"actions\": [{}, null]}",
        "actions[1]: an action is an object of features, or a text or number that names it; not null");
    assert_wrong("{\"actions\": [{\"t\": [1, \"a\"]}]}",
                 "actions[0].t: a list must be all numbers or all texts");
    assert_wrong("{\"actions\": [{\"t\": [\"a\", {}]}]}",
                 "actions[0].t: a list must be all numbers or all texts");
    assert_wrong("{\"user\": {\"a\": {\"b\": [null]}}}", "user.a.b: a list must be all numbers or all texts");
}

static void names_of_arms_are_their_id(void **state)
{
    static const char text[] = "{\"actions\": [\"a\", 7], \"user\": {\"x\": true}, \"t\": 3}";
    struct gbose__round_features f = {0};
    gbose_error err;
    json_t *record = gbose__json_parse(text, sizeof text - 1, &err);

    (void)state;
    assert_int_equal(gbose__features_from_json(&f, record, &err), GBOSE_OK);
    assert_int_equal(f.n_arms, 2);
    assert_int_equal(f.actions[0].n, 1);
    assert_string_equal(f.actions[0].at[0].name, "action.id");
    assert_string_equal(f.actions[0].at[0].as.text, "a");
    assert_int_equal(f.actions[1].at[0].kind, GBOSE_FEATURE_NUMBER);
    assert_int_equal(f.shared.n, 1);
    assert_string_equal(f.shared.at[0].name, "user.x");
    assert_string_equal(f.shared.at[0].as.text, "true");
    gbose__features_clear(&f);
    json_decref(record);
}

static void a_file_says_its_name_and_line(void **state)
{
    char *dir = scratch_new(), path[300];
    struct gbose__log_options set = {.features_only = 1};
    struct gbose__round_features f = {0};
    struct gbose__log *log;
    gbose_error err;
    FILE *file;

    (void)state;
    snprintf(path, sizeof path, "%s/rounds.jsonl", dir);
    file = fopen(path, "w");
    fprintf(file, "{\"actions\": []}\n{\"actions\": [}\n{\"actions\": [{}]}\n");
    fclose(file);
    log = opened(path);
    assert_int_equal(next(log, &f, &err), 1);
    assert_int_equal(f.n_arms, 0);
    assert_int_equal(next(log, &f, &err), GBOSE_EINVAL);
    assert_non_null(strstr(err.text, "rounds.jsonl, line 2: "));
    assert_int_equal(next(log, &f, &err), 1);
    assert_int_equal(f.n_arms, 1);
    gbose__log_close(log);
    gbose__features_clear(&f);
    snprintf(path, sizeof path, "%s/rounds.csv", dir);
    file = fopen(path, "w");
    fprintf(file, "id,reward\n1,2\n");
    fclose(file);
    assert_int_equal(gbose__log_open(&log, path, &set, &err), GBOSE_EINVAL);
    assert_non_null(strstr(err.text, "rounds.csv: no column is a feature; their names have a dot"));
    scratch_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_and_csv_give_the_same_bytes),
        cmocka_unit_test(what_is_wrong_has_its_place),
        cmocka_unit_test(names_of_arms_are_their_id),
        cmocka_unit_test(a_file_says_its_name_and_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
