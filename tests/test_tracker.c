/* Baseline trackers against weighted least squares, formed and solved in long double. */
#include "support/check.h"
#include "support/dense.h"
#include "support/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "learners/auto/tracker.h"

#define PRIOR 0.1 /* as in tuning.h */

enum { DIM = 3, STRIDE = 8, ROUND = 3, OUTPUTS = 1 + DIM, MAX_Q = 4, LEVELS = 5, TRACKERS = 11 };

/* Sums over rounds that are discounted by age; the first output is the reward, the others the context. */
struct oracle {
    size_t k, q, turn;
    long double forget, n, x[MAX_Q], xx[MAX_Q * MAX_Q], out[OUTPUTS], x_out[MAX_Q * OUTPUTS], prior[MAX_Q];
};

/* Which features each tracker has, spelled out: those of the table in the order of the header's enum. */
static size_t select_features(size_t k, const double *features, long double *x)
{
    static const size_t which[][MAX_Q] = {{2}, {0, 1}, {0, 1}, {3, 4, 5}, {3, 4, 5}, {0, 3, 4, 5}};
    static const size_t counts[] = {1, 2, 2, 3, 3, 4};

    if (k < LEVELS)
        return 0;
    for (size_t i = 0; i < counts[k - LEVELS]; i++)
        x[i] = features[which[k - LEVELS][i]];
    return counts[k - LEVELS];
}

static void oracle_init(struct oracle *o, size_t k)
{
    static const long double forgets[] = {1, 0.995, 0.85, 0.5, 0.25, 0.99, 0.998, 0.98, 1, 0.998, 0.998};
    const double none[GBOSE__MAX_FEATURES] = {0};
    long double x[MAX_Q];

    memset(o, 0, sizeof *o);
    o->k = k;
    o->forget = (double)forgets[k];
    o->q = select_features(k, none, x);
    for (size_t i = 0; i < o->q; i++)
        o->prior[i] = PRIOR;
}

static void oracle_learn(struct oracle *o, const double *features, double reward, const double *b)
{
    long double x[MAX_Q] = {0}, f = o->forget;

    select_features(o->k, features, x);
    o->n = f * o->n + 1;
    for (size_t c = 0; c < OUTPUTS; c++) {
        long double target = c ? b[c - 1] : reward;
        o->out[c] = f * o->out[c] + target;
        for (size_t i = 0; i < o->q; i++)
            o->x_out[i * OUTPUTS + c] = f * o->x_out[i * OUTPUTS + c] + x[i] * target;
    }
    for (size_t i = 0; i < o->q; i++) {
        o->x[i] = f * o->x[i] + x[i];
        for (size_t j = 0; j < o->q; j++)
            o->xx[i * o->q + j] = f * o->xx[i * o->q + j] + x[i] * x[j];
    }
    for (size_t i = 0; i < o->q; i++)
        o->prior[i] *= f;
    for (size_t i = 0; i < o->q && o->prior[o->turn] <= 0.9L * PRIOR; i++) {
        o->prior[o->turn] = PRIOR;
        o->turn = (o->turn + 1) % o->q;
    }
}

static void oracle_predict(const struct oracle *o, const double *features, long double *out)
{
    long double x[MAX_Q] = {0};
    struct dense m;

    select_features(o->k, features, x);
    for (size_t c = 0; c < OUTPUTS; c++) {
        out[c] = o->out[c] / o->n;
        if (!o->q)
            continue;
        dense_init(&m, o->q, 1, 1);
        for (size_t i = 0; i < o->q; i++) {
            m.prior[i] = o->prior[i];
            m.y[i] = o->x_out[i * OUTPUTS + c] - o->x[i] * o->out[c] / o->n;
            for (size_t j = 0; j < o->q; j++)
                m.evidence[i * o->q + j] = o->xx[i * o->q + j] - o->x[i] * o->x[j] / o->n;
        }
        dense_solve(&m);
        for (size_t i = 0; i < o->q; i++)
            out[c] += m.mu[i] * (x[i] - o->x[i] / o->n);
        dense_clear(&m);
    }
}

struct world {
    struct gbose__trackers t;
    struct oracle oracle[TRACKERS];
    size_t count;
};

static void begin(struct world *w)
{
    double *at = calloc(gbose__trackers_size(DIM, ROUND, 0), sizeof(double));

    assert_non_null(at);
    gbose__trackers_view(&w->t, &gbose__tuning_default, DIM, ROUND, 0, at);
    gbose__trackers_init(&w->t);
    w->count = w->t.count;
    assert_int_equal(w->count, TRACKERS);
    for (size_t k = 0; k < w->count; k++) {
        oracle_init(&w->oracle[k], k);
        assert_int_equal(w->t.tracker[k].q, w->oracle[k].q);
        assert_true(w->t.tracker[k].forget == (double)w->oracle[k].forget);
    }
}

static void learn(struct world *w, const double *features, double reward, const double *b)
{
    for (size_t k = 0; k < w->count; k++) {
        double x[GBOSE__CENTRED], scratch[STRIDE];

        gbose__tracker_centre(&w->t.tracker[k], x, features);
        gbose__tracker_learn(&w->t.tracker[k], x, reward, b, 1, scratch);
        oracle_learn(&w->oracle[k], features, reward, b);
    }
}

static void compare(const struct world *w, const double *features, double scale, double tolerance)
{
    assert_true(gbose__trackers_are_sane(&w->t));
    for (size_t k = 0; k < w->count; k++) {
        long double expected[OUTPUTS];
        double x[GBOSE__CENTRED], bhat[STRIDE], rhat;

        gbose__tracker_centre(&w->t.tracker[k], x, features);
        rhat = gbose__tracker_predict(&w->t.tracker[k], x, bhat);
        if (w->t.tracker[k].level != w->t.tracker[k].forget)
            continue; /* two memories are no weighted least squares */
        oracle_predict(&w->oracle[k], features, expected);
        assert_that(fabsl(rhat - expected[0]) <= scale * tolerance, "tracker %zu: %.17g, not %.17Lg", k, rhat,
                    expected[0]);
        for (size_t i = 0; i < DIM; i++)
            assert_that(fabsl(bhat[i] - expected[1 + i]) <= scale * tolerance,
                        "tracker %zu: %.17g, not %.17Lg", k, bhat[i], expected[1 + i]);
    }
}

static void draw(struct random *r, double *features, double *b)
{
    for (size_t i = 0; i < GBOSE__FEATURE_ROUND + ROUND; i++)
        features[i] = random_normal(r) * (1 + (double)i) / 3 + 0.7;
    for (size_t i = 0; i < DIM; i++)
        b[i] = 0.4 * features[i] - 0.3 * features[3 + i] + random_normal(r);
}

static void predictions_are_those_of_least_squares(void **state)
{
    struct random r = {71};
    struct world w;
    double features[GBOSE__MAX_FEATURES], b[STRIDE] = {0};

    (void)state;
    begin(&w);
    for (int t = 0; t < 600; t++) {
        draw(&r, features, b);
        if (t)
            compare(&w, features, 10, 1e-11);
        learn(&w, features, 5 + 2 * features[0] - features[4] + random_normal(&r), b);
    }
    free(w.t.at);
}

/* Features that are of no use, for long: one constant, one always zero, two the same, one that wakes up now
 * and then; the level is large. The triangle stays bounded and the predictions right. */
static void useless_features_do_no_harm_for_long(void **state)
{
    struct random r = {72};
    struct world w;
    double features[GBOSE__MAX_FEATURES] = {0}, b[STRIDE] = {0};

    (void)state;
    begin(&w);
    for (int t = 1; t <= 200000; t++) {
        features[GBOSE__FEATURE_BEST] = random_normal(&r);
        features[GBOSE__FEATURE_ROOT] = t % 5000 ? 0 : 8;
        features[GBOSE__FEATURE_ROUND] = 1;
        features[GBOSE__FEATURE_ROUND + 1] = random_normal(&r);
        features[GBOSE__FEATURE_ROUND + 2] = features[GBOSE__FEATURE_ROUND + 1];
        for (size_t i = 0; i < DIM; i++)
            b[i] = 1e3 + features[0] + random_normal(&r);
        learn(&w, features, 1e3 + 3 * features[0] + random_normal(&r), b);
        if (t % 40000 == 0 || t == 5003)
            compare(&w, features, 1e3, 1e-9);
    }
    free(w.t.at);
}

static void there_is_room_for_all(void **state)
{
    double *at = calloc(gbose__trackers_size(DIM, GBOSE__MAX_ROUND, GBOSE__FUNCTIONS), sizeof(double));
    struct gbose__trackers t;
    size_t numbers = 0;

    (void)state;
    assert_non_null(at);
    gbose__trackers_view(&t, &gbose__tuning_default, DIM, GBOSE__MAX_ROUND, GBOSE__FUNCTIONS, at);
    for (size_t k = 0; k < t.count; k++)
        numbers += 1 + t.tracker[k].q;
    assert_in_range(numbers, 1, GBOSE__MAX_ALONG);
    free(at);
}

/* The slope against differences of rhat - bhat'mu, on both sides of zero. */
static void slopes_are_those_of_the_predictions(void **state)
{
    const double mu[STRIDE] = {0.7, -1.3, 0.4}, step = 1e-6;
    struct random r = {73};
    struct world w;
    double features[GBOSE__MAX_FEATURES] = {0}, b[STRIDE] = {0};

    (void)state;
    begin(&w);
    for (int t = 1; t <= 500; t++) {
        for (size_t i = 0; i < GBOSE__FEATURE_ROUND + ROUND; i++)
            features[i] = random_normal(&r);
        features[GBOSE__FEATURE_ROOT] = sqrt(fabs(features[GBOSE__FEATURE_BEST]));
        for (size_t i = 0; i < DIM; i++)
            b[i] = 2 * features[GBOSE__FEATURE_BEST] + random_normal(&r);
        learn(&w, features,
              3 * features[GBOSE__FEATURE_BEST] - 2 * features[GBOSE__FEATURE_ROOT] + random_normal(&r), b);
    }
    for (size_t k = 0; k < w.count; k++)
        for (double best = -1.7; best < 2; best += 3.1) {
            const struct gbose__tracker *v = &w.t.tracker[k];
            double x[GBOSE__CENTRED], value[2], bhat[STRIDE], along[GBOSE__MAX_ALONG];
            double slope, numeric, baseline;

            for (int side = 0; side < 2; side++) {
                features[GBOSE__FEATURE_BEST] = best + (side ? step : -step);
                /* what the slope's root is that of: it is kept from zero by 0.01 */
                features[GBOSE__FEATURE_ROOT] = sqrt(fabs(features[GBOSE__FEATURE_BEST]) + 0.01);
                gbose__tracker_centre(v, x, features);
                value[side] = gbose__tracker_predict(v, x, bhat);
                for (size_t i = 0; i < DIM; i++)
                    value[side] -= bhat[i] * mu[i];
            }
            gbose__trackers_along(&w.t, 1, along, mu);
            baseline = gbose__tracker_baseline(v, x, along + (size_t)(v->bbar - w.t.rows) / STRIDE);
            assert_true(fabs(baseline - value[1]) <= 1e-12 * (1 + fabs(baseline)));
            features[GBOSE__FEATURE_BEST] = best;
            slope = gbose__tracker_slope(v, features, mu);
            numeric = (value[1] - value[0]) / (2 * step);
            assert_that(fabs(slope - numeric) <= 1e-6 * (1 + fabs(numeric)), "tracker %zu at %g: %g, not %g",
                        k, best, slope, numeric);
        }
    free(w.t.at);
}

/* The largest rewards and contexts there are, in turn with small ones. */
static void numbers_of_any_size_stay_finite(void **state)
{
    struct random r = {73};
    struct world w;
    double features[GBOSE__MAX_FEATURES], b[STRIDE] = {0};

    (void)state;
    begin(&w);
    for (int t = 0; t < 3000; t++) {
        double scale = t % 7 ? 1e-100 : 1e30;

        for (size_t i = 0; i < GBOSE__FEATURE_ROUND + ROUND; i++)
            features[i] = random_below(&r, 2) ? 8 : -8;
        for (size_t i = 0; i < DIM; i++)
            b[i] = random_below(&r, 2) ? scale : -scale;
        learn(&w, features, random_below(&r, 2) ? scale : -scale, b);
        assert_true(gbose__trackers_are_sane(&w.t));
    }
    free(w.t.at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predictions_are_those_of_least_squares),
        cmocka_unit_test(there_is_room_for_all),
        cmocka_unit_test(slopes_are_those_of_the_predictions),
        cmocka_unit_test(useless_features_do_no_harm_for_long),
        cmocka_unit_test(numbers_of_any_size_stay_finite),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
