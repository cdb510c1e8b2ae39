/* The features of the round: their units, and that what trackers have learned moves with them. */
#include "support/check.h"
#include "support/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "learners/auto/given.h"
#include "learners/auto/tracker.h"

enum { COUNT = 2, DIM = 2, STRIDE = 8, ROUNDS = 300 };

static const struct gbose__tuning *const tuning = &gbose__tuning_default;

/* Large at first and then small, or the other way round, and far from zero. */
static void draw(struct random *r, int t, double *values)
{
    values[0] = 1000 + random_normal(r) * (t < 20 ? 40 : 1);
    values[1] = -7 + exp(2 * random_normal(r)) * (t < 20 ? 0.001 : 1);
}

static void units_follow_the_deviation(void **state)
{
    double at[4 * COUNT] = {0};
    long double sum[COUNT] = {0}, squares[COUNT] = {0};
    struct gbose__given given;
    struct random r = {31};

    (void)state;
    assert_int_equal(gbose__given_size(COUNT), 4 * COUNT);
    gbose__given_view(&given, COUNT, at);
    for (int t = 0; t < ROUNDS; t++) {
        struct gbose__given_move move[COUNT];
        double values[COUNT], unit[COUNT], origin[COUNT], features[COUNT];

        draw(&r, t, values);
        memcpy(unit, given.unit, sizeof unit);
        memcpy(origin, given.origin, sizeof origin);
        gbose__given_learn(&given, tuning, move, values, t);
        gbose__given_features(&given, tuning, features, values);
        assert_true(gbose__given_are_sane(&given));
        for (size_t i = 0; i < COUNT; i++) {
            long double mean, deviation;
            int exponent;

            sum[i] += values[i];
            squares[i] += (long double)values[i] * values[i];
            mean = sum[i] / (t + 1);
            deviation = sqrtl(squares[i] / (t + 1) - mean * mean);
            if (!t) {
                assert_true(given.unit[i] == 0 && features[i] == 0);
                continue;
            }
            assert_true(frexp(given.unit[i], &exponent) == 0.5);
            assert_true(given.unit[i] > deviation && given.unit[i] <= 8 * deviation);
            assert_close(features[i] * given.unit[i] + given.origin[i], values[i], 1e-12);
            if (unit[i] > 0) { /* the same value, as it was and as it is */
                double before = (values[i] - origin[i]) / unit[i];

                assert_near(move[i].factor * before - move[i].shift, features[i], 1e-9);
            }
        }
    }
}

static void what_is_absurd_is_clipped(void **state)
{
    double at[4] = {0}, features;
    struct gbose__given given;
    struct random r = {32};

    (void)state;
    gbose__given_view(&given, 1, at);
    for (int t = 0; t < ROUNDS; t++) {
        struct gbose__given_move move;
        double value = 5 + random_normal(&r);

        gbose__given_learn(&given, tuning, &move, &value, t);
    }
    gbose__given_features(&given, tuning, &features, (const double[]){1e20});
    assert_close(features, tuning->given_limit + (given.mean[0] - given.origin[0]) / given.unit[0], 1e-12);
}

static void grown_features_were_zero(void **state)
{
    double at[4 * 3] = {0}, from_at[4] = {5, 6, 7, 4};
    struct gbose__given to, from;

    (void)state;
    gbose__given_view(&to, 3, at);
    gbose__given_view(&from, 1, from_at);
    gbose__given_grow(&to, &from);
    assert_true(to.origin[0] == 5 && to.mean[0] == 6 && to.variance[0] == 7 && to.unit[0] == 4);
    assert_true(to.origin[1] == 0 && to.mean[2] == 0 && to.variance[1] == 0 && to.unit[2] == 0);
}

/* Solve a x = b, n <= 3; a and b are destroyed. */
static void solve(double (*a)[3], double *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double f = j == i ? 0 : a[j][i] / a[i][i];

            for (size_t k = 0; k < n; k++)
                a[j][k] -= f * a[i][k];
            b[j] -= f * b[i];
        }
    for (size_t i = 0; i < n; i++)
        b[i] /= a[i][i];
}

/* The tracker that forgets nothing is the ridge regression of all rounds with an intercept, the prior being the same in the
 * units that there are at the end, however often they moved. */
static void trackers_move_along(void **state)
{
    struct gbose__trackers trackers;
    const struct gbose__tracker *tracker = NULL;
    struct gbose__given given;
    double *at = calloc(gbose__trackers_size(DIM, COUNT, 0), sizeof *at), given_at[4 * COUNT] = {0};
    double value[ROUNDS][COUNT], reward[ROUNDS], mean[COUNT + 1] = {0};
    struct random r = {33};
    int moves = 0;

    (void)state;
    assert_non_null(at);
    gbose__trackers_view(&trackers, tuning, DIM, COUNT, 0, at);
    gbose__trackers_init(&trackers);
    gbose__given_view(&given, COUNT, given_at);
    for (size_t k = trackers.count; k-- > 0;)
        if (!strcmp(trackers.tracker[k].name, "round features"))
            tracker = &trackers.tracker[k];
    assert_non_null(tracker);
    assert_true(tracker->forget == 1 && tracker->level == 1);
    for (int t = 0; t < ROUNDS; t++) {
        struct gbose__given_move move[COUNT];
        double features[GBOSE__MAX_FEATURES] = {0}, centred[GBOSE__CENTRED], b[STRIDE] = {1, 2},
               scratch[STRIDE];
        double a[3][3] = {{0}}, slope[3] = {0};

        draw(&r, t, value[t]);
        reward[t] = 3 * value[t][0] - 2 * value[t][1] + random_normal(&r);
        gbose__given_learn(&given, tuning, move, value[t], t);
        for (size_t i = 0; i < COUNT; i++)
            if (move[i].factor != 1) {
                gbose__trackers_move_given(&trackers, i, &move[i]);
                moves++;
            }
        gbose__given_features(&given, tuning, features + GBOSE__FEATURE_ROUND, value[t]);
        gbose__tracker_centre(tracker, centred, features);
        gbose__tracker_learn(tracker, centred, reward[t], b, 1, scratch);
        if (t < 3)
            continue;
        for (size_t i = 0; i <= COUNT; i++) {
            mean[i] = 0;
            for (int s = 0; s <= t; s++)
                mean[i] += (i < COUNT ? value[s][i] : reward[s]) / (t + 1);
        }
        for (size_t i = 0; i < COUNT; i++) {
            for (int s = 0; s <= t; s++) {
                double x = (value[s][i] - mean[i]) / given.unit[i];

                slope[i] += x * (reward[s] - mean[COUNT]);
                for (size_t j = 0; j < COUNT; j++)
                    a[i][j] += x * (value[s][j] - mean[j]) / given.unit[j];
            }
            a[i][i] += tuning->slope_prior;
        }
        solve(a, slope, COUNT);
        for (size_t i = 0; i < COUNT; i++)
            assert_near(tracker->slope_r[i], slope[i], 1e-6 * (1 + fabs(slope[i])));
        assert_true(gbose__trackers_are_sane(&trackers));
    }
    assert_true(moves > 8);
    free(at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_follow_the_deviation),
        cmocka_unit_test(what_is_absurd_is_clipped),
        cmocka_unit_test(grown_features_were_zero),
        cmocka_unit_test(trackers_move_along),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
