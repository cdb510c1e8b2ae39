/* Schemas proposed from data: types, scales and values are those of the data, and what is proposed is a
 * schema that encodes the data it came from. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gbose_schema.h"
#include "support/random.h"

#define ARMS 3

static char *proposed(const gbose_fit *fit)
{
    gbose_error err;
    size_t size = 0, again = 0;
    char *text;

    assert_int_equal(gbose_fit_text(fit, NULL, 0, &size, &err), GBOSE_EBUFFER);
    text = malloc(size);
    assert_non_null(text);
    assert_int_equal(gbose_fit_text(fit, text, size - 1, &again, &err), GBOSE_EBUFFER);
    assert_int_equal(gbose_fit_text(fit, text, size, &again, &err), GBOSE_OK);
    assert_int_equal(again, size);
    assert_int_equal(strlen(text) + 1, size);
    return text;
}

static void assert_says(const char *text, const char *line)
{
    assert_that(strstr(text, line) != NULL, "'%s' is not in\n%s", line, text);
}

/* OPTION=NUMBER on the line of a feature. */
static double option_of(const char *proposal, const char *feature, const char *option)
{
    char begin[60], word[20];
    const char *line;

    snprintf(begin, sizeof begin, "\n%s ", feature);
    snprintf(word, sizeof word, " %s=", option);
    assert_says(proposal, begin);
    line = strstr(proposal, begin) + 1;
    assert_non_null(strstr(line, word));
    assert_true(strstr(line, word) < strchr(line, '\n'));
    return atof(strstr(line, word) + strlen(word));
}

struct world {
    double price[ARMS], vector[ARMS][4];
    char topic[ARMS][20], code[ARMS][20];
    const char *tags[ARMS][2];
    gbose_feature action[ARMS][8], user[8];
    gbose_features lists[ARMS], shared;
    char word[20];
};

static gbose_feature number(const char *name, double x)
{
    return (gbose_feature){.name = name, .kind = GBOSE_FEATURE_NUMBER, .as.number = x};
}

static gbose_feature text(const char *name, const char *x)
{
    return (gbose_feature){.name = name, .kind = GBOSE_FEATURE_TEXT, .as.text = x};
}

static void draw(struct random *rng, struct world *w)
{
    static const char *const topics[] = {"sports", "world news", "a\"b"}, *const tags[] = {"x", "y", "z"};

    for (int a = 0; a < ARMS; a++) {
        gbose_feature *to = w->action[a];

        for (int i = 0; i < 4; i++)
            w->vector[a][i] = 1 + 3 * random_normal(rng);
        snprintf(w->topic[a], 20, "%s", topics[random_below(rng, 3)]);
        snprintf(w->code[a], 20, "code %zu", random_below(rng, 5000));
        w->tags[a][0] = tags[random_below(rng, 3)];
        w->tags[a][1] = tags[random_below(rng, 3)];
        to[0] = number("action.price", 20 + 5 * random_normal(rng));
        to[1] = text("action.topic", w->topic[a]);
        to[2] = text("action.code", w->code[a]);
        to[3] = (gbose_feature){
            .name = "action.tags", .kind = GBOSE_FEATURE_TEXTS, .as.texts = w->tags[a], .n = 2};
        to[4] = (gbose_feature){
            .name = "action.v", .kind = GBOSE_FEATURE_NUMBERS, .as.numbers = w->vector[a], .n = 4};
        to[5] = text("action.new", random_below(rng, 2) ? "true" : "False");
        to[6] = number("action.same", 4);
        w->lists[a] = (gbose_features){to, 7};
    }
    snprintf(w->word, sizeof w->word, "%.3f", exp(6 + 2 * random_normal(rng)));
    w->user[0] = text("user.income", w->word);
    w->user[1] = number("user.visits", (double)random_below(rng, 4));
    w->user[2] = number("user.member", (double)random_below(rng, 2));
    w->user[3] = number("time.hour", (double)random_below(rng, 24));
    w->user[4] =
        random_below(rng, 3) ? number("user.age", 1e9 + 10 * random_normal(rng)) : number("user.age", NAN);
    w->user[5] = text("user.bad name", "x");
    w->user[6] = (gbose_feature){.name = "user.never"};
    w->shared = (gbose_features){w->user, 7};
}

/* Users and arms that have many names: what is proposed is a schema, though their products would have too many columns, and a
 * user's name is in no term. */
static void many_names_are_no_terms(void **state)
{
    struct random rng = {5};
    gbose_schema *schema = NULL;
    gbose_error err;
    char *proposal;

    (void)state;
    for (size_t arms = 15; arms <= 600; arms *= 40) {
        gbose_fit *fit;

        assert_int_equal(gbose_fit_new(&fit, &err), GBOSE_OK);
        for (int t = 0; t < 3000; t++) {
            char user[20], city[20], id[20];
            gbose_feature shared[] = {text("user.id", user), text("user.city", city)},
                          action[] = {text("action.id", id)};
            gbose_features of_round = {shared, 2}, of_arm = {action, 1};

            snprintf(user, sizeof user, "u%zu", random_below(&rng, 600));
            snprintf(city, sizeof city, "c%zu", random_below(&rng, 40));
            snprintf(id, sizeof id, "item %zu", random_below(&rng, arms));
            assert_int_equal(gbose_fit_add(fit, &of_round, &of_arm, 1, &err), GBOSE_OK);
        }
        proposal = proposed(fit);
        assert_says(proposal, "\nuser.id category hash=1024");
        assert_says(proposal, "\n# user.id is in no term: it has too many values");
        assert_says(proposal, "\nround = user.city\n");
        assert_says(proposal, arms == 15 ? "\narm = action.id action.id*user.city\n" : "\narm = action.id\n");
        assert_that(gbose_schema_new(&schema, proposal, &err) == GBOSE_OK, "%s", err.text);
        assert_true(gbose_schema_round(schema) <= 64);
        gbose_schema_free(schema);
        gbose_fit_free(fit);
        free(proposal);
    }
}

static void what_is_proposed_fits_the_data(void **state)
{
    struct random rng = {3};
    gbose_fit *fit;
    gbose_schema *schema = NULL;
    gbose_error err;
    struct world w;
    double *rows, round[64];
    char *proposal;

    (void)state;
    assert_int_equal(gbose_fit_new(&fit, &err), GBOSE_OK);
    for (int t = 0; t < 2000; t++) {
        draw(&rng, &w);
        assert_int_equal(gbose_fit_add(fit, &w.shared, w.lists, ARMS, &err), GBOSE_OK);
    }
    proposal = proposed(fit);
    assert_says(proposal, "# proposed from 2000 rounds and 6000 arms");
    assert_near(option_of(proposal, "action.price", "scale"), 5,
                0.35); /* 6000 draws: deviation 0.05, and two digits */
    assert_near(option_of(proposal, "action.price", "offset"), 20, 0.5);
    assert_says(proposal, "\naction.topic category ");
    assert_says(proposal, "\"world news\"");
    assert_says(proposal, "\"a\\\"b\"");
    assert_says(proposal, "\naction.code category hash=1024 missing=off");
    assert_says(proposal, "\naction.tags set ");
    assert_says(proposal, "\naction.v vector 4 scale=");
    assert_near(option_of(proposal, "action.v", "scale"), sqrt(10), 0.2); /* the root mean square */
    assert_says(proposal, "\naction.new flag missing=off");
    assert_says(proposal, "# action.same is left out: it was always the same");
    assert_says(proposal, "\nuser.income number log scale=");
    assert_near(option_of(proposal, "user.income", "scale"), 2, 0.25);
    assert_near(option_of(proposal, "user.income", "offset"), 6, 0.35);
    assert_says(proposal, "4 whole numbers; if they are codes: category");
    assert_says(proposal, "\nuser.member flag missing=off");
    assert_says(proposal, "\ntime.hour cycle 24 missing=off");
    assert_near(option_of(proposal, "user.age", "scale"), 10, 1.5);
    assert_near(option_of(proposal, "user.age", "offset"), 1e9,
                3); /* to a tenth of the scale, however large */
    assert_says(proposal, "# a feature is left out: its name");
    assert_says(proposal, "# user.never is left out: it was always missing");
    assert_that(gbose_schema_new(&schema, proposal, &err) == GBOSE_OK, "%s\n%s", err.text, proposal);
    rows = malloc(ARMS * gbose_schema_dim(schema) * sizeof *rows);
    assert_non_null(rows);
    for (int t = 0; t < 100; t++) {
        draw(&rng, &w);
        assert_that(gbose_encode(schema, rows, round, &w.shared, w.lists, ARMS, &err) == GBOSE_OK, "%s",
                    err.text);
    }
    free(rows);
    free(proposal);
    gbose_schema_free(schema);
    gbose_fit_free(fit);
}

/* Arms that are names only: each has coefficients of its own for what is known of the user. */
static void arms_by_name_are_blocks(void **state)
{
    static const char *const ids[] = {"a", "b", "c"};
    gbose_fit *fit;
    gbose_error err;
    char *proposal;

    (void)state;
    assert_int_equal(gbose_fit_new(&fit, &err), GBOSE_OK);
    for (int t = 0; t < 10; t++) {
        gbose_feature user = number("user.x", t), action[3];
        gbose_features shared = {&user, 1}, lists[3];

        for (int a = 0; a < 3; a++) {
            action[a] = text("action.id", ids[a]);
            lists[a] = (gbose_features){&action[a], 1};
        }
        assert_int_equal(gbose_fit_add(fit, &shared, lists, 3, &err), GBOSE_OK);
    }
    proposal = proposed(fit);
    assert_says(proposal, "\naction.id category a, b, c missing=off\n");
    assert_says(proposal, "\narm = action.id action.id*user.x\n");
    free(proposal);
    gbose_fit_free(fit);
}

static void what_cannot_be_proposed_is_refused(void **state)
{
    gbose_feature user = number("user.x", 1), nameless = {.slot = 1};
    gbose_features shared = {&user, 1}, wrong = {&nameless, 1};
    gbose_fit *fit;
    gbose_error err;
    size_t size = 77;

    (void)state;
    assert_int_equal(gbose_fit_new(NULL, NULL), GBOSE_EINVAL);
    assert_int_equal(gbose_fit_new(&fit, NULL), GBOSE_OK);
    assert_int_equal(gbose_fit_add(fit, &shared, NULL, 0, &err), GBOSE_OK);
    assert_int_equal(gbose_fit_add(fit, &shared, NULL, 1, &err), GBOSE_EINVAL);
    assert_int_equal(gbose_fit_add(fit, &wrong, NULL, 0, &err), GBOSE_EINVAL);
    assert_string_equal(err.text, "a feature has no name");
    assert_int_equal(gbose_fit_text(fit, NULL, 0, &size, &err), GBOSE_EVALUE);
    assert_int_equal(size, 77);
    assert_int_equal(gbose_fit_text(fit, NULL, 0, NULL, &err), GBOSE_EINVAL);
    gbose_fit_free(fit);
    gbose_fit_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_proposed_fits_the_data),
        cmocka_unit_test(many_names_are_no_terms),
        cmocka_unit_test(arms_by_name_are_blocks),
        cmocka_unit_test(what_cannot_be_proposed_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
