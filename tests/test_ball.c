/* The weights of the enclosing ball against BOSE's inequality, recomputed in long double. */
#include "support/check.h"
#include "support/clouds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/arms.h"
#include "core/ball.h"
#include "core/memory.h"

/* max_i ||x_i - c||^2 and sum_j p_j ||x_j - c||^2, c = sum_j p_j x_j, over the points kept; and ||c||. */
static void extent(long double *reach, long double *spread, long double *norm, const double *p,
                   const double *points, const size_t *keep, size_t count, size_t dim, size_t stride)
{
    long double c[256] = {0};

    *reach = *spread = *norm = 0;
    for (size_t k = 0; k < dim; k++)
        for (size_t a = 0; a < count; a++) /* relative to the first point, so that nothing cancels */
            c[k] += (long double)p[keep[a]] *
                    ((long double)points[keep[a] * stride + k] - points[keep[0] * stride + k]);
    for (size_t k = 0; k < dim; k++)
        *norm = hypotl(*norm, c[k] + points[keep[0] * stride + k]);
    for (size_t a = 0; a < count; a++) {
        long double d = 0;
        for (size_t k = 0; k < dim; k++) {
            long double z = ((long double)points[keep[a] * stride + k] - points[keep[0] * stride + k]) - c[k];
            d += z * z;
        }
        *reach = fmaxl(*reach, d);
        *spread += p[keep[a]] * d;
    }
}

/* One set: a random part of the points is kept. Checks BOSE's inequality for the ball's weights and
 * Proposition 7's, with its constant 4, for the coin on the farthest pair. */
static void check_cloud(struct random *r, size_t kind, size_t n, size_t dim)
{
    size_t stride = gbose__pad(dim), count = 0, k, l;
    double *points = gbose__alloc(n, stride * sizeof(double)), *p = calloc(n, sizeof(double)), total = 0;
    size_t *keep = calloc(n, sizeof(size_t));
    long double reach, spread, norm;
    struct gbose__ball ball;

    assert_true(gbose__ball_init(&ball, n, dim));
    cloud_points(r, kind, points, n, dim, stride);
    for (size_t i = 0; i < n; i++) {
        p[i] = -1; /* arms that are not kept are not touched */
        if (random_below(r, 8))
            keep[count++] = i;
    }
    if (count < 2)
        for (count = 0; count < 2; count++)
            keep[count] = count;
    gbose__arms_farthest_pair_plain(&k, &l, points, keep, count, stride);
    gbose__ball_weights(p, &ball, points, keep, count, stride, k, l);
    for (size_t i = 0, a = 0; i < n; i++)
        if (a < count && keep[a] == i) {
            assert_true(p[i] >= 0 && p[i] <= 1);
            total += p[i];
            a++;
        } else {
            assert_true(p[i] == -1);
        }
    assert_near(total, 1, 1e-14);
    if (count == 2)
        assert_true(p[keep[0]] == 0.5 && p[keep[1]] == 0.5);
    /* far below the limit at which the method gives up */
    assert_that(ball.steps <= 30 + 6 * dim, "kind %zu, %zu points, %zu features: %zu steps", kind, count, dim,
                ball.steps);
    extent(&reach, &spread, &norm, p, points, keep, count, dim, stride);
    /* a hair more than the tolerance, for the rounding of what the library compares */
    assert_that(reach <= (1 + 1.001L * GBOSE__BALL_TOLERANCE) * spread +
                             1.1L * GBOSE__BALL_ROUNDING * norm * sqrtl(reach) + 1e-300L,
                "kind %zu, %zu points, %zu features: 1 + %Lg", kind, count, dim, reach / spread - 1);

    for (size_t a = 0; a < count; a++)
        p[keep[a]] = keep[a] == k || keep[a] == l ? 0.5 : 0;
    extent(&reach, &spread, &norm, p, points, keep, count, dim, stride);
    assert_true(reach <= 4 * spread + 1e-300L);
    /* the median of a triangle gives 3, and an equilateral one attains it */
    assert_true(reach <= 3 * (1 + 1e-9L) * spread + 1e-300L);

    gbose__ball_clear(&ball);
    gbose__free(points);
    free(p);
    free(keep);
}

static void inequality_on_small_sets(void **state)
{
    struct random r = {7};

    (void)state;
    for (int t = 0; t < 6000; t++)
        check_cloud(&r, (size_t)t % CLOUD_KINDS, 2 + random_below(&r, 15), 1 + random_below(&r, 8));
}

static void inequality_up_to_200_arms_and_50_features(void **state)
{
    struct random r = {8};

    (void)state;
    for (int t = 0; t < 150; t++)
        check_cloud(&r, (size_t)t % CLOUD_KINDS, 2 + random_below(&r, 199), 1 + random_below(&r, 50));
    for (size_t kind = 0; kind < CLOUD_KINDS; kind++)
        check_cloud(&r, kind, 200, 50);
}

/* Where a method that moves weight between two points at a time takes seconds: radii that are equal but
 * for rounding. */
static void inequality_on_embeddings(void **state)
{
    struct random r = {10};

    (void)state;
    for (size_t kind = 12; kind < CLOUD_KINDS; kind++) {
        check_cloud(&r, kind, 300, 100);
        check_cloud(&r, kind, 5000, 5);
    }
    check_cloud(&r, 12, 400, 128);
    check_cloud(&r, 12, 1000, 200);
}

static void inequality_in_one_dimension(void **state)
{
    struct random r = {9};

    (void)state;
    for (int t = 0; t < 1200; t++)
        check_cloud(&r, (size_t)t % CLOUD_KINDS, 2 + random_below(&r, 60), 1);
}

/* A regular simplex: the ball's weights are known, 1/n each, and the coin attains no more than its
 * constant. */
static void regular_simplex(void **state)
{
    (void)state;
    for (size_t n = 3; n <= 12; n++) {
        size_t stride = gbose__pad(n), keep[12];
        double *points = gbose__alloc(n, stride * sizeof(double)), p[12];
        struct gbose__ball ball;

        assert_true(gbose__ball_init(&ball, n, n));
        for (size_t i = 0; i < n; i++) {
            points[i * stride + i] = 0.7;
            keep[i] = i;
        }
        gbose__ball_weights(p, &ball, points, keep, n, stride, 0, 1);
        for (size_t i = 0; i < n; i++)
            assert_near(p[i], 1 / (double)n, 1e-3);
        gbose__ball_clear(&ball);
        gbose__free(points);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inequality_on_small_sets),
        cmocka_unit_test(inequality_up_to_200_arms_and_50_features),
        cmocka_unit_test(inequality_on_embeddings),
        cmocka_unit_test(inequality_in_one_dimension),
        cmocka_unit_test(regular_simplex),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
