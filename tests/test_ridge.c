/* The square-root factor against B formed and solved; long runs; numbers of every size. */
#include "support/check.h"
#include "support/dense.h"
#include "support/long_run.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernels.h"
#include "core/memory.h"
#include "core/ridge.h"
#include "gbose.h"

static void compare(const struct gbose__ridge *m, const struct dense *ref, struct random *r, double tolerance)
{
    double *x = gbose__alloc(m->stride, sizeof(double)), *image = gbose__alloc(m->stride, sizeof(double));

    assert_vectors_close(m->mu, ref->mu, m->dim, tolerance);
    for (int probe = 0; probe < 4; probe++) {
        long double size2 = 0;
        size_t n = probe < 2 ? m->dim : 1 + random_below(r, m->dim);

        memset(x, 0, m->stride * sizeof(double));
        for (size_t k = 0; k < n; k++)
            x[k] = random_normal(r);
        assert_close(gbose__ridge_width(m, x, NULL, n), dense_width(ref, x, n), tolerance);
        gbose__ridge_apply(m, image, x, NULL, 1);
        for (size_t k = 0; k < m->stride; k++)
            size2 += (long double)image[k] * image[k];
        assert_close(sqrtl(size2), dense_width(ref, x, n), tolerance);
    }
    gbose__free(x);
    gbose__free(image);
}

static void updates_equal_dense_solve(void **state)
{
    static const double lambdas[] = {2.5, 0.01, 300}, forgets[] = {1, 0.97, 0.6};
    struct random r = {3};

    (void)state;
    for (size_t dim = 1; dim <= 26; dim += dim < 10 ? 1 : 5)
        for (size_t c = 0; c < 9; c++) {
            struct gbose__ridge m;
            struct dense ref;
            long double x[26];

            assert_int_equal(gbose__ridge_init(&m, dim, lambdas[c % 3], forgets[c / 3]), GBOSE_OK);
            dense_init(&ref, dim, lambdas[c % 3], forgets[c / 3]);
            for (int t = 0; t < 60; t++) {
                gbose__ridge_begin(&m);
                dense_begin(&ref);
                for (size_t terms = random_below(&r, 4); terms > 0; terms--) {
                    double w = random_below(&r, 5) ? 4 * random_uniform(&r) : 0, y = random_normal(&r);

                    for (size_t k = 0; k < dim; k++)
                        x[k] = m.x[k] = random_below(&r, 6) ? random_normal(&r) : 0;
                    gbose__ridge_term(&m, m.x, w, y);
                    dense_add(&ref, w, y, x);
                }
                if (t % 6 == 0) {
                    dense_solve(&ref);
                    compare(&m, &ref, &r, 1e-11);
                }
            }
            gbose__ridge_clear(&m);
            dense_clear(&ref);
        }
}

/* The reference is kept in the first units, in which the prior is lambda times the squared size of the present
 * ones, whatever they were in between. */
static void compare_in_units(const struct gbose__ridge *m, struct dense *ref, const int *exponent,
                             struct random *r)
{
    long double prior[26];
    double x[26], raw[26];

    for (size_t k = 0; k < m->dim; k++) {
        prior[k] = ref->prior[k];
        ref->prior[k] *= ldexpl(1, 2 * exponent[k]);
    }
    dense_solve(ref);
    for (size_t k = 0; k < m->dim; k++)
        x[k] = ldexp(m->mu[k], -exponent[k]);
    assert_vectors_close(x, ref->mu, m->dim, 1e-8);
    for (int probe = 0; probe < 4; probe++) {
        for (size_t k = 0; k < m->dim; k++) {
            x[k] = random_normal(r);
            raw[k] = ldexp(x[k], exponent[k]);
        }
        assert_close(gbose__ridge_width(m, x, NULL, m->dim), dense_width(ref, raw, m->dim), 1e-8);
        for (size_t k = 0; k < m->dim; k++)
            x[k] = ldexp(1, -exponent[k]);
        assert_close(gbose__ridge_width(m, raw, x, m->dim), dense_width(ref, raw, m->dim), 1e-8);
    }
    memcpy(ref->prior, prior, m->dim * sizeof *prior);
}

static void units_may_change(void **state)
{
    static const double lambdas[] = {2.5, 0.01, 300}, forgets[] = {1, 0.97, 0.6};
    struct random r = {31};

    (void)state;
    for (size_t dim = 1; dim <= 26; dim += dim < 10 ? 2 : 5)
        for (size_t c = 0; c < 9; c++) {
            struct gbose__ridge m;
            struct dense ref;
            long double x[26];
            int exponent[26] = {0}, shift[26];

            assert_int_equal(gbose__ridge_init(&m, dim, lambdas[c % 3], forgets[c / 3]), GBOSE_OK);
            dense_init(&ref, dim, lambdas[c % 3], forgets[c / 3]);
            for (int t = 0; t < 60; t++) {
                double y = random_normal(&r);

                for (size_t k = 0; k < dim; k++) {
                    shift[k] = random_below(&r, 4) ? 0 : (int)random_below(&r, 7) - 3;
                    if (abs(exponent[k] + shift[k]) > 3)
                        shift[k] = -exponent[k];
                    exponent[k] += shift[k];
                }
                gbose__ridge_rescale(&m, shift);
                gbose__ridge_begin(&m);
                dense_begin(&ref);
                for (size_t k = 0; k < dim; k++) {
                    x[k] = random_below(&r, 6) ? random_normal(&r) : 0;
                    m.x[k] = ldexp((double)x[k], -exponent[k]);
                }
                gbose__ridge_term(&m, m.x, 1.5, y);
                dense_add(&ref, 1.5, y, x);
                if (t % 6 == 0)
                    compare_in_units(&m, &ref, exponent, &r);
            }
            gbose__ridge_clear(&m);
            dense_clear(&ref);
        }
}

/* Units that were absurdly large at first, because of an outlier: what was learned then is lost for this
 * feature, which is as if it were new, and for no other. */
static void units_recover_from_outliers(void **state)
{
    enum { DIM = 9, WILD = 3 };
    static const int outliers[] = {4, 10, 30, 60, 200};
    const double wild[DIM] = {[WILD] = 1};
    struct random r = {32};

    (void)state;
    for (size_t c = 0; c < sizeof outliers / sizeof *outliers; c++) {
        struct gbose__ridge m;
        struct dense ref; /* without the feature until the units recover, where what it said is lost */
        int k = outliers[c], lost = k > 25;
        int shift[DIM] = {0};
        long double x[DIM];

        assert_int_equal(gbose__ridge_init(&m, DIM, 2.5, 1), GBOSE_OK);
        dense_init(&ref, DIM, 2.5, 1);
        shift[WILD] = k;
        gbose__ridge_rescale(&m, shift);
        for (int t = 0; t < 200; t++) {
            double y = random_normal(&r);

            if (t == 100) {
                shift[WILD] = -k;
                gbose__ridge_rescale(&m, shift);
                assert_true(gbose__ridge_width(&m, wild, NULL, DIM) <= 1.0000001 / sqrt(2.5));
                if (lost)
                    assert_close(gbose__ridge_width(&m, wild, NULL, DIM), 1 / sqrt(2.5), 1e-3);
            }
            for (size_t i = 0; i < DIM; i++)
                x[i] = m.x[i] = random_normal(&r);
            if (t < 100) {
                m.x[WILD] = ldexp(m.x[WILD], -k);
                x[WILD] = lost ? 0 : x[WILD];
            }
            gbose__ridge_begin(&m);
            gbose__ridge_term(&m, m.x, 0.7, y);
            dense_add(&ref, 0.7, y, x);
        }
        dense_solve(&ref);
        assert_vectors_close(m.mu, ref.mu, DIM, lost ? 1e-3 : 1e-6);
        for (size_t i = 0; i < DIM; i++) {
            double unit[DIM] = {0};

            unit[i] = 1;
            assert_close(gbose__ridge_width(&m, unit, NULL, DIM), dense_width(&ref, unit, DIM),
                         lost ? 1e-3 : 1e-6);
        }
        gbose__ridge_clear(&m);
        dense_clear(&ref);
    }
}

/* A million rank-one terms of mixed sizes, then one dense solve of the same sums. */
static void million_terms(void **state)
{
    enum { DIM = 8 };
    struct random r = {4};
    struct gbose__ridge m;
    struct dense ref;
    long double x[DIM];

    (void)state;
    assert_int_equal(gbose__ridge_init(&m, DIM, 2.5, 1), GBOSE_OK);
    dense_init(&ref, DIM, 2.5, 1);
    for (int t = 0; t < 1000000; t++) {
        double w = random_uniform(&r), y = random_uniform(&r) - 0.3;

        for (size_t k = 0; k < DIM; k++)
            x[k] = m.x[k] = (random_uniform(&r) - 0.5) * (k % 3 ? 1 : 0.03);
        gbose__ridge_begin(&m);
        gbose__ridge_term(&m, m.x, w, y);
        dense_add(&ref, w, y, x);
    }
    dense_solve(&ref);
    compare(&m, &ref, &r, 1e-9);
    gbose__ridge_clear(&m);
    dense_clear(&ref);
}

static void million_rounds(void **state)
{
    (void)state;
    long_run("uniform:lambda=2.5", 8, 3, 1000000, 1e-9);
    long_run("gbose:lambda=2.5,gamma=0.5", 6, 3, 300000, 1e-9);
    long_run("bose:lambda=2.5,gamma=0.5,intercept=1", 6, 3, 100000, 1e-9);
}

/* ---- sizes ---- */

static const char *const all_learners[] = {
    "gbose:gamma=0.3,lambda=2.5",
    "gbose:gamma=0.3,lambda=2.5,intercept=1,lone=half",
    "gbose:gamma=theory,lambda=theory,forget=0.97",
    "bose:gamma=0.3,lambda=2.5",
    "bose:gamma=0.3,lambda=2.5,intercept=1,forget=0.97",
    "action-ts:gamma=0.3,lambda=2.5,draws=50",
    "action-ts:gamma=0.3,lambda=2.5,draws=50,intercept=1,p_min=0.1,p_max=0.9",
    "semi-ts:gamma=0.3,lambda=2.5,draws=50",
    "semi-ts:gamma=0.3,lambda=2.5,draws=50,intercept=1,forget=0.97",
    "lin-ts:gamma=0.3,lambda=2.5,draws=50",
    "lin-ts:gamma=0.3,lambda=2.5,draws=50,intercept=0",
    "lin-ucb:gamma=0.3,lambda=2.5",
    "lin-ucb:gamma=0.3,lambda=2.5,intercept=0,forget=0.97",
    "eps-greedy:epsilon=0.3,lambda=2.5",
    "uniform:lambda=2.5,intercept=1",
};
enum { LEARNERS = sizeof all_learners / sizeof *all_learners, DIM = 5, MOST = 7 };

/* Every number that a user sees is finite, and the probabilities are a law. */
static void one_round(gbose *g, const double *contexts, size_t n, double reward)
{
    double total = 0, unit[DIM] = {0}, width;
    gbose_decision d;
    int rc;

    rc = gbose_decide(g, &d, contexts, n);
    assert_that(rc == GBOSE_OK, "%s, after %d rewards: %d", gbose_spec(g), (int)gbose_rounds(g), rc);
    for (size_t i = 0; i < n; i++) {
        assert_true(d.pmf[i] >= 0 && d.pmf[i] <= 1);
        total += d.pmf[i];
    }
    assert_near(total, 1, 1e-9);
    assert_int_equal(gbose_learn(g, d.ticket, d.ticket_size, reward), GBOSE_OK);
    for (size_t k = 0; k < DIM; k++) {
        assert_true(isfinite(gbose_coef(g)[k]));
        unit[k] = 1;
        width = gbose_width(g, unit);
        assert_that(isfinite(width) && width >= 0, "%s: %g", gbose_spec(g), width);
        unit[k] = 0;
    }
    assert_true(isfinite(gbose_width(g, contexts)));
}

/* One entry of a context. Kinds: 1e28; 1e-28; both in turn; both in a round; both in a context; anything
 * between. */
static double sized(struct random *r, int kind, size_t t, size_t arm, size_t k)
{
    static const double sizes[] = {1e-28, 1e28};
    const double scales[] = {sizes[1],       sizes[0],     sizes[t % 2],
                             sizes[arm % 2], sizes[k % 2], pow(10, 56 * random_uniform(r) - 28)};

    return scales[kind] * random_normal(r);
}

static void every_size(double reward_scale)
{
    struct random r = {6};

    for (size_t s = 0; s < LEARNERS; s++)
        for (int kind = 0; kind < 6; kind++) {
            double contexts[MOST * DIM];
            gbose *g;

            assert_int_equal(gbose_new(&g, all_learners[s], DIM, NULL), GBOSE_OK);
            for (size_t t = 0; t < 150; t++) {
                size_t n = 1 + random_below(&r, MOST);

                for (size_t i = 0; i < n * DIM; i++)
                    contexts[i] = sized(&r, kind, t, i / DIM, i % DIM);
                one_round(g, contexts, n, reward_scale * random_normal(&r));
            }
            gbose_free(g);
        }
}

static void contexts_of_every_size(void **state)
{
    (void)state;
    every_size(1);
    every_size(1e-28);
}

/* Rewards may be as large as contexts (GBOSE_MAX_INPUT). */
static void contexts_of_every_size_with_huge_rewards(void **state)
{
    (void)state;
    every_size(1e28);
}

/* A thousand copies of one context: as the only arm, in every arm, and beside a zero arm. */
static void thousand_copies_of_one_context(void **state)
{
    static const double sizes[] = {1, 1e28, 1e-28};
    struct random r = {7};

    (void)state;
    for (size_t s = 0; s < LEARNERS; s++)
        for (size_t c = 0; c < 9; c++) {
            double contexts[MOST * DIM] = {0};
            size_t n = c / 3 == 0 ? 1 : c / 3 == 1 ? MOST : 2;
            gbose *g;

            assert_int_equal(gbose_new(&g, all_learners[s], DIM, NULL), GBOSE_OK);
            for (size_t k = 0; k < DIM; k++)
                contexts[k] = sizes[c % 3] * random_normal(&r);
            if (n == MOST)
                for (size_t i = 1; i < n; i++)
                    memcpy(contexts + i * DIM, contexts, DIM * sizeof(double));
            for (int t = 0; t < 1000; t++)
                one_round(g, contexts, n, 3 + random_normal(&r));
            gbose_free(g);
        }
}

/* ... and they are weighed right: lambda I + 1000 x x' has a known inverse. Coefficients come with a relative
 * error of some units of the last place times the condition number of B. */
static void thousand_copies_are_weighed_right(void **state)
{
    static const double sizes[] = {1e-3, 1, 1e3};

    (void)state;
    for (size_t c = 0; c < 3; c++) {
        double x[3], across[3] = {2, -1, 0}, size2, reward = 1.7, B;
        gbose_decision d;
        gbose *g;

        x[0] = sizes[c];
        x[1] = 2 * sizes[c];
        x[2] = -2 * sizes[c];
        size2 = 9 * sizes[c] * sizes[c];
        assert_int_equal(gbose_new(&g, "lin-ucb:lambda=2.5,intercept=0", 3, NULL), GBOSE_OK);
        for (int t = 0; t < 1000; t++) {
            assert_int_equal(gbose_decide(g, &d, x, 1), GBOSE_OK);
            assert_int_equal(gbose_learn(g, d.ticket, d.ticket_size, reward), GBOSE_OK);
        }
        B = 2.5 + 1000 * size2;
        assert_close(gbose_width(g, x), sqrt(size2 / B), 1e-9);
        assert_close(gbose_width(g, across), sqrt(5 / 2.5), 1e-9);
        for (size_t k = 0; k < 3; k++)
            assert_close(gbose_coef(g)[k], 1000 * reward * x[k] / B, 1e-12 + 50 * DBL_EPSILON * B / 2.5);
        gbose_free(g);
    }
}

/* The reach bounds the length of every image, and is not far from the longest. */
static void reach_bounds_images(void **state)
{
    struct random r = {8};

    (void)state;
    for (size_t t = 0; t < 60; t++) {
        size_t dim = 1 + random_below(&r, 40), rounds = random_below(&r, 300);
        struct gbose__ridge m;
        double *x, *y, longest = 0;

        assert_int_equal(gbose__ridge_init(&m, dim, 0.3, t % 2 ? 1 : 0.95), GBOSE_OK);
        x = gbose__alloc(2 * m.stride, sizeof(double));
        y = x + m.stride;
        for (size_t k = 0; k < rounds; k++) {
            gbose__ridge_begin(&m);
            for (size_t i = 0; i < dim; i++)
                m.x[i] = random_normal(&r) + (t % 3 == 0); /* correlated features, now and then */
            gbose__ridge_term(&m, m.x, 1, 0);
        }
        for (size_t i = 0; i < dim; i++)
            x[i] = random_normal(&r);
        for (int k = 0; k < 100; k++) { /* x <- R'R x, normalised: the longest image */
            double norm = sqrt(gbose__dot(x, x, m.stride));

            for (size_t i = 0; i < dim; i++)
                x[i] /= norm;
            gbose__ridge_apply(&m, y, x, NULL, 1);
            longest = sqrt(gbose__dot(y, y, m.stride));
            assert_true(longest <= m.reach);
            memset(x, 0, m.stride * sizeof(double));
            for (size_t j = 0; j < dim; j++)
                gbose__kernels->axpy(x, y[j], m.root + gbose__triangle_row(j), gbose__pad(j + 1));
        }
        assert_true(m.reach < 10 * longest);
        gbose__free(x);
        gbose__ridge_clear(&m);
    }
}

/* The outer product of vectors that begin and end with zeros, number by number; beside it nothing changes. */
static void triangles_add_outer_products(void **state)
{
    struct random r = {17};

    (void)state;
    for (size_t dim = 1; dim <= 45; dim++) {
        double *x = gbose__alloc(gbose__pad(dim), sizeof(double));
        double *T = gbose__alloc(gbose__triangle(dim) + GBOSE__LANES, sizeof(double)), *sum;
        size_t begin = random_below(&r, dim), end = begin + random_below(&r, dim - begin + 1);

        sum = calloc(dim * dim, sizeof *sum);
        assert_true(x && T && sum);
        for (int add = 0; add < 3; add++) {
            memset(x, 0, gbose__pad(dim) * sizeof *x);
            for (size_t i = add ? begin : 0; i < (add ? end : dim); i++)
                x[i] = random_normal(&r);
            gbose__kernels->triangle_add(T, dim, x);
            for (size_t j = 0; j < dim; j++)
                for (size_t i = 0; i <= j; i++) {
                    sum[j * dim + i] += x[j] * x[i];
                    assert_true(T[gbose__triangle_row(j) + i] == sum[j * dim + i]);
                }
        }
        for (size_t i = 0; i < GBOSE__LANES; i++)
            assert_true(T[gbose__triangle(dim) + i] == 0);
        gbose__free(x);
        gbose__free(T);
        free(sum);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(triangles_add_outer_products),
        cmocka_unit_test(reach_bounds_images),
        cmocka_unit_test(updates_equal_dense_solve),
        cmocka_unit_test(units_may_change),
        cmocka_unit_test(units_recover_from_outliers),
        cmocka_unit_test(million_terms),
        cmocka_unit_test(million_rounds),
        cmocka_unit_test(contexts_of_every_size),
        cmocka_unit_test(contexts_of_every_size_with_huge_rewards),
        cmocka_unit_test(thousand_copies_of_one_context),
        cmocka_unit_test(thousand_copies_are_weighed_right),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
