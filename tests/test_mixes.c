/* Numbers of very different sizes in one life: after any sequence of calls that succeed, the state can be
 * saved and loaded and every number is finite. So say gbose.h and docs/numbers.md of inputs up to
 * GBOSE_MAX_INPUT.
 *
 * Each life draws a few sizes, from 0 over the smallest numbers to GBOSE_MAX_INPUT, and mixes them:
 * contexts, features of the round, rewards; late ones, twice, never; merges; states that are saved and go
 * on from there. With the argument N there are N times as many lives. */
#include "support/players.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZES 4
#define LATE 12
#define STEPS 40 /* in some lives ten times as many */

static size_t lives = 12;

struct life {
    struct random rng;
    double size[SIZES];
    size_t dim;
    gbose *g, *other; /* `other` is merged into g now and then */
    unsigned char *ticket[LATE];
    size_t ticket_size[LATE];
    char what[64]; /* the last call */
};

static double any_size(struct random *r)
{
    switch (random_below(r, 6)) {
    case 0:
        return GBOSE_MAX_INPUT;
    case 1:
        return 1;
    case 2:
        return 1 / GBOSE_MAX_INPUT;
    default:
        return pow(GBOSE_MAX_INPUT, 2 * random_uniform(r) - 1);
    }
}

static double any_number(struct life *life)
{
    double size = life->size[random_below(&life->rng, SIZES)];

    switch (random_below(&life->rng, 8)) {
    case 0:
        return 0;
    case 1:
        return size;
    case 2:
        return -size;
    default:
        return size * random_between(&life->rng, -1, 1);
    }
}

static gbose *check_saved(const gbose *g, const struct life *life)
{
    struct bytes state = saved(g);
    gbose *copy = NULL;
    gbose_error err;
    int rc = gbose_load(&copy, state.at, state.size, &err);

    assert_that(rc == GBOSE_OK, "after %s the state of %s does not load: %s", life->what, gbose_spec(g),
                err.text);
    bytes_free(&state);
    return copy;
}

static void check_finite(struct life *life)
{
    gbose_diagnosis diagnosis;
    double x[MAX_DIM];

    for (size_t i = 0; i < life->dim; i++) {
        assert_that(isfinite(gbose_coef(life->g)[i]), "after %s of %s: coefficient %g", life->what,
                    gbose_spec(life->g), gbose_coef(life->g)[i]);
        x[i] = any_number(life);
    }
    assert_that(isfinite(gbose_width(life->g, x)), "after %s of %s: width %g", life->what,
                gbose_spec(life->g), gbose_width(life->g, x));
    if (!gbose_diagnose(life->g, &diagnosis)) {
        const double numbers[] = {diagnosis.baseline, diagnosis.drift,   diagnosis.residual,
                                  diagnosis.removed,  diagnosis.hausman, diagnosis.df,
                                  diagnosis.p_value,  diagnosis.bias,    diagnosis.bias_noise};
        assert_that(diagnosis.df >= 0 && diagnosis.df <= (double)life->dim * (1 + 1e-9),
                    "after %s of %s: df %g", life->what, gbose_spec(life->g), diagnosis.df);
        for (size_t i = 0; i < COUNT(numbers); i++)
            assert_that(isfinite(numbers[i]), "after %s of %s: number %zu of the diagnosis is %g", life->what,
                        gbose_spec(life->g), i, numbers[i]);
    }
    gbose_free(check_saved(life->g, life));
}

/* A decision of g, whose ticket takes the place of an old one. */
static void decide_somehow(struct life *life, gbose *g)
{
    double contexts[MAX_ARMS * MAX_DIM], round[8];
    size_t n = 1 + random_below(&life->rng, MAX_ARMS), at = random_below(&life->rng, LATE);
    gbose_decision d;
    int rc;

    for (size_t i = 0; i < n * life->dim; i++)
        contexts[i] = any_number(life);
    for (size_t i = 0; i < gbose_round_features(g); i++)
        round[i] = any_number(life);
    strcpy(life->what, "a decision");
    rc = gbose_decide_in(g, &d, contexts, n, gbose_round_features(g) ? round : NULL);
    assert_that(rc == GBOSE_OK, "%s does not decide: %s", gbose_spec(g), gbose_strerror(rc));
    free(life->ticket[at]);
    life->ticket[at] = malloc(d.ticket_size);
    assert_non_null(life->ticket[at]);
    memcpy(life->ticket[at], d.ticket, d.ticket_size);
    life->ticket_size[at] = d.ticket_size;
    if (random_below(&life->rng, 2)) {
        strcpy(life->what, "a reward");
        rc = gbose_learn(g, d.ticket, d.ticket_size, any_number(life));
        assert_that(rc == GBOSE_OK, "%s does not learn: %s", gbose_spec(g), gbose_strerror(rc));
    }
}

static void learn_late(struct life *life, gbose *g)
{
    size_t at = random_below(&life->rng, LATE);
    int rc;

    if (!life->ticket[at])
        return;
    strcpy(life->what, "a late reward");
    rc = gbose_learn(g, life->ticket[at], life->ticket_size[at], any_number(life));
    assert_that(rc == GBOSE_OK, "%s does not learn late: %s", gbose_spec(g), gbose_strerror(rc));
}

static void live(const char *spec, uint64_t seed)
{
    struct life life = {.rng = {seed}};

    life.dim = 1 + random_below(&life.rng, 4);
    for (size_t i = 0; i < SIZES; i++)
        life.size[i] = any_size(&life.rng);
    life.g = new_player(spec, life.dim);
    life.other = new_player(spec, life.dim);
    assert_int_equal(gbose_stream(life.other, 1), GBOSE_OK);
    for (int step = 0, n = STEPS * (seed % 16 ? 1 : 10); step < n; step++) {
        gbose *copy;

        switch (random_below(&life.rng, 8)) {
        case 0:
        case 1:
            learn_late(&life, life.g);
            break;
        case 2:
            decide_somehow(&life, life.other);
            break;
        case 3:
            strcpy(life.what, "a merge");
            if (random_below(&life.rng, 3) == 0)
                (void)gbose_merge(life.g,
                                  life.other); /* it may be refused: what both know, or too different sizes */
            break;
        case 4:
            copy = check_saved(life.g, &life);
            gbose_free(life.g);
            life.g = copy;
            break;
        default:
            decide_somehow(&life, life.g);
        }
        check_finite(&life);
    }
    for (size_t i = 0; i < LATE; i++)
        free(life.ticket[i]);
    gbose_free(life.g);
    gbose_free(life.other);
}

/* An option of extreme size, where the learner has it. */
static void add_extreme(char *spec, const char *name, struct random *r)
{
    char plain[SPEC_SIZE];
    gbose *g;

    snprintf(plain, sizeof plain, "%s%c%s=%g", spec, strchr(spec, ':') ? ',' : ':', name,
             pow(10, random_between(r, -12, 12)));
    if (gbose_new(&g, plain, 1, NULL) == GBOSE_OK) {
        strcpy(spec, plain);
        gbose_free(g);
    }
}

/* As it is given, and with options of extreme size. */
static void live_often(const char *spec)
{
    char extreme[SPEC_SIZE];

    for (uint64_t seed = 1; seed <= lives; seed++) {
        struct random r = {seed};

        live(spec, seed);
        snprintf(extreme, sizeof extreme, "%.*s", (int)strcspn(spec, ":"), spec);
        add_extreme(extreme, "gamma", &r);
        add_extreme(extreme, "lambda", &r);
        live(extreme, 1000000 + seed);
    }
}

static void finite_whatever_is_mixed(void **state)
{
    (void)state;
    for_each_spec(live_often, INTERCEPT | FORGET);
    live_often("action-ts:p_max=0");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {spec_test(finite_whatever_is_mixed)};

    lives *= argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
