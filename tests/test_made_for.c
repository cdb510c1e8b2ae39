/* Learners made for a schema: dimension and features of the round come from it; states, tickets and
 * evidence of another schema are refused; the order of terms changes estimates by a permutation only. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gbose_schema.h"
#include "support/random.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))
#define ARMS 4
#define MAX_DIM 60

static const char FEATURES[] =
    "action.price number scale=2 missing=off\naction.topic category a, b missing=off\n"
    "user.tenure number scale=3 missing=off\nuser.device category x, y other=off missing=off\n"
    "time.hour cycle 24 missing=off\n";

static gbose_schema *schema_of(const char *terms)
{
    char text[1000];
    gbose_schema *schema = NULL;
    gbose_error err;

    snprintf(text, sizeof text, "%s%s", FEATURES, terms);
    assert_that(gbose_schema_new(&schema, text, &err) == GBOSE_OK, "%s", err.text);
    return schema;
}

static gbose *learner_for(const char *spec, const gbose_schema *schema)
{
    gbose_error err;
    gbose *g = NULL;

    assert_that(gbose_new_for(&g, spec, schema, &err) == GBOSE_OK, "%s", err.text);
    return g;
}

/* ---- a world of named features ---- */

struct scene {
    gbose_feature user[3], action[ARMS][2];
    gbose_features shared, lists[ARMS];
    double worth[ARMS]; /* of each arm, without what all have in common */
    double level;
};

static void draw(struct random *rng, struct scene *s)
{
    static const char *const topics[] = {"a", "b", "c"}, *const devices[] = {"x", "y"};
    double tenure = 3 * random_uniform(rng), hour = 24 * random_uniform(rng);
    size_t device = random_below(rng, 2);

    s->user[0] = (gbose_feature){.name = "user.tenure", .kind = GBOSE_FEATURE_NUMBER, .as.number = tenure};
    s->user[1] =
        (gbose_feature){.name = "user.device", .kind = GBOSE_FEATURE_TEXT, .as.text = devices[device]};
    s->user[2] = (gbose_feature){.name = "time.hour", .kind = GBOSE_FEATURE_NUMBER, .as.number = hour};
    s->shared = (gbose_features){s->user, 3};
    s->level = 2 * sin(hour) + tenure;
    for (int a = 0; a < ARMS; a++) {
        double price = 2 * random_normal(rng);
        size_t topic = random_below(rng, 3);

        s->action[a][0] =
            (gbose_feature){.name = "action.price", .kind = GBOSE_FEATURE_NUMBER, .as.number = price};
        s->action[a][1] =
            (gbose_feature){.name = "action.topic", .kind = GBOSE_FEATURE_TEXT, .as.text = topics[topic]};
        s->lists[a] = (gbose_features){s->action[a], 2};
        s->worth[a] = 0.5 * price + (topic == device ? 1 : 0);
    }
}

/* A round of one learner; the ticket of the round is left in `d`. */
static double decide(gbose *g, const gbose_schema *schema, const struct scene *s, gbose_decision *d)
{
    double rows[ARMS * MAX_DIM], round[MAX_DIM];

    assert_int_equal(gbose_encode(schema, rows, round, &s->shared, s->lists, ARMS, NULL), GBOSE_OK);
    assert_int_equal(gbose_decide_in(g, d, rows, ARMS, gbose_round_features(g) ? round : NULL), GBOSE_OK);
    return s->worth[d->arm] + s->level;
}

static void play(gbose *g, const gbose_schema *schema, int rounds, uint64_t seed)
{
    struct random rng = {seed};

    for (int t = 0; t < rounds; t++) {
        struct scene s;
        gbose_decision d;
        double reward;

        draw(&rng, &s);
        reward = decide(g, schema, &s, &d) + 0.1 * random_normal(&rng);
        assert_int_equal(gbose_learn(g, d.ticket, d.ticket_size, reward), GBOSE_OK);
    }
}

/* ---- what a schema sets ---- */

static void a_learner_takes_the_columns_of_its_schema(void **state)
{
    gbose_schema *schema = schema_of("arm = price topic*device\nround = hour tenure");
    gbose *g = learner_for("gbose-auto:seed=5", schema), *other = learner_for("lin-ts", schema);

    (void)state;
    assert_int_equal(gbose_dim(g), gbose_schema_dim(schema));
    assert_int_equal(gbose_dim(g), 7);
    assert_int_equal(gbose_round_features(g), 3);
    assert_string_equal(gbose_spec(g), "gbose-auto:round=3,seed=5");
    assert_true(gbose_schema_of(g) == gbose_schema_hash(schema));
    assert_int_equal(gbose_dim(other), 7);
    assert_int_equal(gbose_round_features(other), 0);
    play(g, schema, 50, 3);
    play(other, schema, 50, 3);
    gbose_free(g);
    g = learner_for("gbose-auto:round=3", schema); /* saying so again does no harm */
    gbose_free(g);
    gbose_free(other);
    gbose_schema_free(schema);
}

static void what_does_not_fit_is_refused(void **state)
{
    gbose_schema *schema = schema_of("arm = price\nround = hour tenure"),
                 *large = schema_of("user.v vector 65 missing=off\narm = price\nround = v");
    gbose *mark = (gbose *)&mark, *g = mark;
    gbose_error err;

    (void)state;
    assert_int_equal(gbose_new_for(&g, "gbose-auto:round=2", schema, &err), GBOSE_ESPEC);
    assert_string_equal(err.text, "the schema has 3 features of the round; leave out round=2");
    assert_int_equal(gbose_new_for(&g, "gbose-aut", schema, &err), GBOSE_ESPEC);
    assert_int_equal(gbose_new_for(&g, "gbose-auto", large, &err), GBOSE_ESCHEMA);
    assert_string_equal(err.text, "the schema has 65 columns of the round; gbose-auto takes at most 64");
    assert_int_equal(gbose_new_for(&g, "gbose", NULL, &err), GBOSE_EINVAL);
    assert_int_equal(gbose_new_for(NULL, "gbose", schema, &err), GBOSE_EINVAL);
    assert_int_equal(gbose_new_for(&g, NULL, schema, &err), GBOSE_EINVAL);
    assert_ptr_equal(g, mark);
    gbose_schema_free(schema);
    gbose_schema_free(large);
}

/* ---- another schema's ---- */

static void another_schemas_states_and_tickets_are_refused(void **state)
{
    /* the same number of columns, and yet another schema */
    gbose_schema *one = schema_of("arm = price topic"), *two = schema_of("arm = topic price");
    gbose *g = learner_for("gbose", one), *other = learner_for("gbose", two), *plain = NULL,
          *mark = (gbose *)&mark, *loaded = mark;
    struct random rng = {8};
    struct scene s;
    gbose_decision d;
    gbose_error err;
    unsigned char bytes[20000];
    size_t size;

    (void)state;
    draw(&rng, &s);
    decide(g, one, &s, &d);
    assert_int_equal(gbose_dim(other), gbose_dim(g));
    assert_int_equal(gbose_learn(other, d.ticket, d.ticket_size, 1), GBOSE_EFOREIGN);
    assert_int_equal(gbose_new(&plain, "gbose", gbose_dim(g), NULL), GBOSE_OK);
    assert_int_equal(gbose_learn(plain, d.ticket, d.ticket_size, 1), GBOSE_EFOREIGN);
    assert_int_equal(gbose_learn(g, d.ticket, d.ticket_size, 1), GBOSE_OK);
    assert_int_equal(gbose_merge(other, g), GBOSE_EMISMATCH);
    assert_int_equal(gbose_merge(plain, g), GBOSE_EMISMATCH);

    assert_int_equal(gbose_save(g, bytes, sizeof bytes, &size), GBOSE_OK);
    assert_int_equal(gbose_load_for(&loaded, bytes, size, two, &err), GBOSE_ESCHEMA);
    assert_non_null(strstr(err.text, "the saved state was made for the schema"));
    assert_ptr_equal(loaded, mark);
    assert_int_equal(gbose_load_for(&loaded, bytes, size, one, &err), GBOSE_OK);
    assert_true(gbose_schema_of(loaded) == gbose_schema_hash(one));
    gbose_free(loaded);
    assert_int_equal(gbose_save(plain, bytes, sizeof bytes, &size), GBOSE_OK);
    loaded = mark;
    assert_int_equal(gbose_load_for(&loaded, bytes, size, one, &err), GBOSE_ESCHEMA);
    assert_string_equal(err.text, "the saved state was made without a schema");
    assert_int_equal(gbose_load_for(&loaded, bytes, size, NULL, &err), GBOSE_EINVAL);
    assert_int_equal(gbose_load_for(NULL, bytes, size, one, &err), GBOSE_EINVAL);
    bytes[9] ^= 1;
    assert_true(gbose_load_for(&loaded, bytes, size, one, &err) < 0);
    assert_ptr_equal(loaded, mark);
    gbose_free(g);
    gbose_free(other);
    gbose_free(plain);
    gbose_schema_free(one);
    gbose_schema_free(two);
}

/* ---- the order of terms ---- */

static size_t column_named(const gbose_schema *schema, const char *name)
{
    char other[200];

    for (size_t i = 0; i < gbose_schema_dim(schema); i++) {
        gbose_schema_column(schema, i, other, sizeof other);
        if (!strcmp(name, other))
            return i;
    }
    fail_msg("no column '%s'", name);
    return 0;
}

/* Two learners play the same rounds by schemas with the same terms in another order: both choose the same
 * arms, and their estimates are the same column by column. */
static void the_order_of_terms_does_not_matter(void **state)
{
    static const char *const specs[] = {"gbose:lambda=2", "gbose-auto", "lin-ucb", "bose", "uniform"};
    gbose_schema *one =
                     schema_of("arm = price topic topic*device price*tenure price*hour\nround = hour tenure"),
                 *two =
                     schema_of("arm = price*hour topic*device price price*tenure topic\nround = tenure hour");

    (void)state;
    assert_true(gbose_schema_dim(one) <= MAX_DIM);
    for (size_t k = 0; k < COUNT(specs); k++) {
        struct random rng = {17};
        gbose *g, *h;

        g = learner_for(specs[k], one);
        h = learner_for(specs[k], two);
        for (int t = 0; t < 400; t++) {
            struct scene s;
            gbose_decision d, e;
            double reward;

            draw(&rng, &s);
            reward = decide(g, one, &s, &d) + 0.1 * random_normal(&rng);
            decide(h, two, &s, &e);
            assert_that(d.arm == e.arm, "%s, round %d", specs[k], t);
            assert_near(d.probability, e.probability, 1e-6);
            assert_int_equal(gbose_learn(g, d.ticket, d.ticket_size, reward), GBOSE_OK);
            assert_int_equal(gbose_learn(h, e.ticket, e.ticket_size, reward), GBOSE_OK);
        }
        for (size_t i = 0; i < gbose_dim(g); i++) {
            char name[200];

            gbose_schema_column(one, i, name, sizeof name);
            assert_near(gbose_coef(g)[i], gbose_coef(h)[column_named(two, name)], 1e-7);
        }
        gbose_free(g);
        gbose_free(h);
    }
    gbose_schema_free(one);
    gbose_schema_free(two);
}

/* ---- growth ---- */

/* A schema appends terms: what was learned stays, and where the new columns are 0 the decisions stay.
 * `new` is a flag that no action has yet, and is 0 then. */
static void appending_terms_keeps_decisions(void **state)
{
    static const char *const specs[] = {
        "gbose:lambda=2,gamma=0.2", "lin-ucb", "lin-ts", "eps-greedy", "semi-ts", "gbose-auto"};
    static const char more[] = "action.new flag missing=off\naction.tags set hash=4\n"
                               "arm = price topic*device\narm = new tags new*tenure\nround = hour tenure";
    gbose_schema *before = schema_of("arm = price topic*device\nround = hour tenure"), *now = schema_of(more);

    (void)state;
    for (size_t k = 0; k < COUNT(specs); k++) {
        int is_auto = !strcmp(specs[k], "gbose-auto"); /* its width grows with the number of columns */
        gbose *g = learner_for(specs[k], before), *grown = NULL;
        struct random rng = {29};
        gbose_error err;

        play(g, before, 300, 11);
        assert_that(gbose_grow_for(&grown, g, before, now, &err) == GBOSE_OK, "%s: %s", specs[k], err.text);
        assert_int_equal(gbose_dim(grown), gbose_schema_dim(now));
        assert_true(gbose_schema_of(grown) == gbose_schema_hash(now));
        assert_int_equal(gbose_rounds(grown), 300);
        for (size_t i = 0; i < gbose_dim(grown); i++)
            assert_near(gbose_coef(grown)[i], i < gbose_dim(g) ? gbose_coef(g)[i] : 0, 1e-12);
        for (int t = 0; t < 200; t++) {
            struct scene s;
            gbose_decision d, e;
            double reward;

            draw(&rng, &s);
            reward = decide(g, before, &s, &d);
            decide(grown, now, &s, &e);
            if (is_auto)
                continue;
            assert_that(d.arm == e.arm, "%s, round %d", specs[k], t);
            assert_near(d.probability, e.probability, 1e-6);
            assert_int_equal(gbose_learn(grown, d.ticket, d.ticket_size, reward), GBOSE_EFOREIGN);
            assert_int_equal(gbose_learn(g, d.ticket, d.ticket_size, reward), GBOSE_OK);
            assert_int_equal(gbose_learn(grown, e.ticket, e.ticket_size, reward), GBOSE_OK);
        }
        play(grown, now, 50, 12);
        gbose_free(g);
        gbose_free(grown);
    }
    gbose_schema_free(before);
    gbose_schema_free(now);
}

/* Terms are appended to the round of gbose-auto: its choices stay, and then it makes use of what it is
 * told. */
static void the_round_grows_too(void **state)
{
    static const char *const terms[] = {"arm = price topic", "arm = price topic\nround = device",
                                        "arm = price topic price*tenure\nround = device"};

    (void)state;
    for (size_t k = 0; k < COUNT(terms); k++) {
        char more[200];
        gbose_schema *before = schema_of(terms[k]), *now;
        gbose *g = learner_for("gbose-auto:seed=3", before), *grown = NULL, *loaded = NULL;
        gbose_diagnosis old, new;
        struct random rng = {41};
        static unsigned char bytes[200000];
        size_t size;
        gbose_error err;

        snprintf(more, sizeof more, "%s\nround = tenure hour%s", terms[k], k < 2 ? "" : "\narm = price*hour");
        now = schema_of(more);
        play(g, before, 2000, 11);
        assert_that(gbose_grow_for(&grown, g, before, now, &err) == GBOSE_OK, "%s", err.text);
        assert_int_equal(gbose_round_features(grown), gbose_schema_round(now));
        for (size_t i = 0; i < gbose_dim(grown); i++)
            assert_near(gbose_coef(grown)[i], i < gbose_dim(g) ? gbose_coef(g)[i] : 0, 1e-12);
        for (int t = 0; t < 50 && k < 2; t++) {
            struct scene s;
            gbose_decision d, e;

            draw(&rng, &s);
            decide(g, before, &s, &d);
            decide(grown, now, &s, &e);
            assert_int_equal(d.arm, e.arm);
            assert_near(d.probability, e.probability, 1e-9);
        }
        assert_int_equal(gbose_save(grown, bytes, sizeof bytes, &size), GBOSE_OK);
        assert_int_equal(gbose_load_for(&loaded, bytes, size, now, &err), GBOSE_OK);
        play(g, before, 3000, 12);
        play(grown, now, 3000, 12);
        play(loaded, now, 3000, 12);
        assert_memory_equal(gbose_coef(grown), gbose_coef(loaded), gbose_dim(grown) * sizeof(double));
        assert_int_equal(gbose_diagnose(g, &old), GBOSE_OK);
        assert_int_equal(gbose_diagnose(grown, &new), GBOSE_OK);
        /* of the level, 2 sin(hour) + tenure, the round can now tell the tenure: a variance of 0.75 out of
         * 2.75, of which the flexible baseline has found a part before, where the contexts show it */
        assert_that(new.residual < 0.97 * old.residual, "%g, and %g before", new.residual, old.residual);
        assert_true(strstr(new.tracker, "round features") || strstr(new.tracker, "flexible"));
        gbose_free(g);
        gbose_free(grown);
        gbose_free(loaded);
        gbose_schema_free(before);
        gbose_schema_free(now);
    }
}

static void growth_to_another_schema_is_refused(void **state)
{
    gbose_schema *before = schema_of("arm = price\nround = hour"),
                 *other = schema_of("arm = topic price\nround = hour"),
                 *round = schema_of("arm = price\nround = hour tenure");
    gbose *g = learner_for("gbose-auto", before), *linear = learner_for("lin-ts", before), *plain = NULL,
          *mark = (gbose *)&mark, *grown = mark;
    gbose_error err;

    (void)state;
    assert_int_equal(gbose_grow_for(&grown, g, before, other, &err), GBOSE_ESCHEMA);
    assert_non_null(strstr(err.text, "term 1 of arm was 'action.price' and is 'action.topic'"));
    assert_int_equal(gbose_grow_for(&grown, g, other, other, &err), GBOSE_ESCHEMA);
    assert_non_null(strstr(err.text, "the learner was made for the schema"));
    assert_int_equal(gbose_new(&plain, "gbose", 1, NULL), GBOSE_OK);
    assert_int_equal(gbose_grow_for(&grown, plain, before, round, &err), GBOSE_ESCHEMA);
    assert_string_equal(err.text, "the learner was made without a schema");
    assert_int_equal(gbose_grow_for(&grown, NULL, before, round, &err), GBOSE_EINVAL);
    assert_ptr_equal(grown, mark);
    assert_int_equal(gbose_grow_for(&grown, linear, before, round, &err),
                     GBOSE_OK); /* it has no use for the round */
    assert_true(gbose_schema_of(grown) == gbose_schema_hash(round));
    gbose_free(grown);
    gbose_free(g);
    gbose_free(linear);
    gbose_free(plain);
    gbose_schema_free(before);
    gbose_schema_free(other);
    gbose_schema_free(round);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_learner_takes_the_columns_of_its_schema),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(another_schemas_states_and_tickets_are_refused),
        cmocka_unit_test(the_order_of_terms_does_not_matter),
        cmocka_unit_test(appending_terms_keeps_decisions),
        cmocka_unit_test(the_round_grows_too),
        cmocka_unit_test(growth_to_another_schema_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
