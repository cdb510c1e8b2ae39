/* The baseline of gbose-auto: how features are scaled, who leads, what is predicted, and the reaction. What a
 * tracker predicts is checked in test_tracker.c. */
#include "support/check.h"
#include "support/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gbose.h"
#include "learners/auto/baseline.h"

enum { DIM = 3, STRIDE = 8, ROUND = 2, ROUNDS = 400 };

static const double mu[STRIDE] = {0.7, -0.4, 0.3};

static double *begin(struct gbose__baseline *baseline, const struct gbose__tuning *tuning)
{
    double *at = calloc(gbose__baseline_size(DIM, ROUND, 0), sizeof(double));

    assert_non_null(at);
    gbose__baseline_view(baseline, tuning, DIM, ROUND, 0, at);
    gbose__baseline_init(baseline);
    return at;
}

/* What is given of a round, and what comes of it. */
struct play {
    double round[ROUND], best, played[STRIDE], score, reward;
};

/* The shift follows the best score by -0.8 for each unit where `reacts`, and the first feature of the round
 * by 2. */
static struct play draw(struct random *r, int reacts)
{
    struct play p = {.round = {50 + 3 * random_normal(r), random_normal(r)},
                     .best = 4 + 2 * random_normal(r)};

    for (size_t i = 0; i < DIM; i++) {
        p.played[i] = random_normal(r);
        p.score += mu[i] * p.played[i];
    }
    p.reward = p.score + 0.1 * random_normal(r) + (reacts ? -0.8 * p.best : 2 * p.round[0]);
    return p;
}

static void learn(const struct gbose__baseline *baseline, const struct play *p, double rounds)
{
    struct gbose__features known = {p->best, rounds, p->round, NULL, NULL};
    double features[GBOSE__MAX_FEATURES], scratch[STRIDE];
    struct gbose__baseline_lesson lesson = {&known, features, mu, rounds, p->played, p->score, p->reward};

    gbose__baseline_meet(baseline, &known, rounds);
    gbose__baseline_features(baseline, features, &known, 0);
    gbose__baseline_learn(baseline, &lesson, scratch);
}

static void features_are_scaled_by_what_came_before(void **state)
{
    struct gbose__tuning tuning = gbose__tuning_default;
    struct gbose__baseline baseline;
    struct random r = {21};
    long double square = 0;
    double *at;

    (void)state;
    tuning.best_memory = 0.9;
    tuning.rounds_per_time = 70;
    tuning.feature_limit = 1.5; /* some are clipped */
    at = begin(&baseline, &tuning);
    for (int t = 0; t < ROUNDS; t++) {
        struct play p = draw(&r, 0);
        struct gbose__features known = {p.best, t, p.round, NULL, NULL};
        double features[GBOSE__MAX_FEATURES];
        long double best = t ? p.best / sqrtl(square) : copysignl(1, p.best);

        gbose__baseline_features(&baseline, features, &known, 0);
        best = fminl(1.5L, fmaxl(-1.5L, best));
        assert_close(features[GBOSE__FEATURE_BEST], best, 1e-12);
        assert_close(features[GBOSE__FEATURE_ROOT], sqrtl(fabsl(best)), 1e-12);
        assert_close(features[GBOSE__FEATURE_TIME], t / 70.0L, 1e-14);
        square = t ? 0.9L * square + 0.1L * p.best * p.best : (long double)p.best * p.best;
        learn(&baseline, &p, t);
        assert_true(gbose__baseline_is_sane(&baseline));
    }
    free(at);
}

/* A shift that follows a feature of the round is led by a tracker of those; the prediction is right. */
static void the_right_tracker_leads(void **state)
{
    struct gbose__baseline baseline;
    struct random r = {22};
    double *at = begin(&baseline, &gbose__tuning_default), off = 0;

    (void)state;
    assert_string_equal(gbose__baseline_leader(&baseline)->name, "level");
    for (int t = 0; t < ROUNDS; t++) {
        struct play p = draw(&r, 0);
        struct gbose__features known = {p.best, t, p.round, NULL, NULL};
        double features[GBOSE__MAX_FEATURES], bhat[STRIDE], effect = 0;
        struct gbose__prediction now;

        gbose__baseline_features(&baseline, features, &known, 0);
        now = gbose__baseline_predict(&baseline, features, mu, bhat);
        for (size_t i = 0; i < DIM; i++)
            effect += bhat[i] * mu[i];
        assert_near(now.effect, effect, 1e-12);
        assert_close(now.shift, now.reward - effect, 1e-12);
        if (t >= 200)
            off += fabs(now.shift - 2 * p.round[0]) / (ROUNDS - 200);
        learn(&baseline, &p, t);
    }
    assert_non_null(strstr(gbose__baseline_leader(&baseline)->name, "round features"));
    assert_that(off < 0.05, "off by %g on average",
                off); /* of a shift with standard deviation 6, and noise of 0.1 */
    free(at);
}

/* v', in units of the score itself: in those of the feature it would be 4 times as much. And its limit. */
static void the_reaction_is_the_slope_of_the_shift(void **state)
{
    struct gbose__tuning tuning = gbose__tuning_default;
    double limits[] = {2, 0.3, 0};

    (void)state;
    for (size_t k = 0; k < 3; k++) {
        struct gbose__baseline baseline;
        struct random r = {23};
        double *at, features[GBOSE__MAX_FEATURES];
        struct gbose__features known;
        struct play p;

        tuning.reaction_limit = limits[k];
        at = begin(&baseline, &tuning);
        for (int t = 0; t < ROUNDS; t++) {
            p = draw(&r, 1);
            learn(&baseline, &p, t);
        }
        assert_non_null(strstr(gbose__baseline_leader(&baseline)->name, "best score"));
        known = (struct gbose__features){4, ROUNDS, p.round, NULL, NULL};
        gbose__baseline_features(&baseline, features, &known, 0);
        assert_near(gbose__baseline_reaction(&baseline, features, mu), -fmin(limits[k], 0.8), k ? 0 : 0.2);
        free(at);
    }
}

static void predictions_are_clipped_or_off(void **state)
{
    struct gbose__tuning tuning = gbose__tuning_default;
    struct gbose__baseline baseline;
    double *at = begin(&baseline, &tuning), features[GBOSE__MAX_FEATURES] = {0}, bhat[STRIDE];
    const struct gbose__tracker *leader = gbose__baseline_leader(&baseline);
    struct gbose__prediction now;

    (void)state;
    *leader->rbar = 3 * GBOSE_MAX_INPUT;
    leader->bbar[1] = -5 * GBOSE_MAX_INPUT;
    now = gbose__baseline_predict(&baseline, features, mu, bhat);
    assert_true(now.reward == GBOSE_MAX_INPUT && bhat[1] == -GBOSE_MAX_INPUT);
    assert_close(now.shift, 0.6 * GBOSE_MAX_INPUT, 1e-12);
    tuning.use_baseline = 0;
    now = gbose__baseline_predict(&baseline, features, mu, bhat);
    assert_true(now.reward == 0 && now.effect == 0 && now.shift == 0 && bhat[1] == 0);
    free(at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(features_are_scaled_by_what_came_before),
        cmocka_unit_test(the_right_tracker_leads),
        cmocka_unit_test(the_reaction_is_the_slope_of_the_shift),
        cmocka_unit_test(predictions_are_clipped_or_off),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
