/* Effects against least squares and sandwiches from their definitions, in long double, on stored rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/ridge.h"
#include "gbose_log.h"
#include "logs/level.h"
#include "support/check.h"
#include "support/random.h"

#define DIM 3
#define ARMS 4
#define ROUNDS 1400 /* more than the 1000 that are kept */
#define WARM_UP 10

/* Gauss and Jordan with partial pivoting, of n equations with m right sides; A is spoilt. */
static void solve(long double *A, long double *B, size_t n, size_t m)
{
    for (size_t k = 0; k < n; k++) {
        size_t best = k;

        for (size_t i = k; i < n; i++)
            if (fabsl(A[i * n + k]) > fabsl(A[best * n + k]))
                best = i;
        for (size_t j = 0; j < n; j++) {
            long double old = A[k * n + j];
            A[k * n + j] = A[best * n + j];
            A[best * n + j] = old;
        }
        for (size_t j = 0; j < m; j++) {
            long double old = B[k * m + j];
            B[k * m + j] = B[best * m + j];
            B[best * m + j] = old;
        }
        for (size_t i = 0; i < n; i++) {
            long double factor = A[i * n + k] / A[k * n + k];

            if (i == k)
                continue;
            for (size_t j = 0; j < n; j++)
                A[i * n + j] -= factor * A[k * n + j];
            for (size_t j = 0; j < m; j++)
                B[i * m + j] -= factor * B[k * m + j];
        }
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++)
            B[i * m + j] /= A[i * n + i];
}

struct kept {
    long double X[ROUNDS][DIM], y[ROUNDS], e[ROUNDS];
    uint64_t unit[ROUNDS];
    size_t n;
};

/* A log of random contexts and probabilities, with a level that jumps. Residuals of predictions are by the
 * library's baseline and by ridge regression from its definition. */
static void make_log(struct kept *kept, gbose_effects *f, gbose_effects *by_unit)
{
    struct random random = {.state = 9};
    struct gbose__level baseline;
    long double A[DIM][DIM] = {{0}}, g[DIM] = {0};
    double m[GBOSE__LANES] = {0}, lambda = 0;

    assert_int_equal(gbose__level_init(&baseline, DIM), GBOSE_OK);
    kept->n = 0;
    for (size_t t = 0; t < ROUNDS; t++) {
        double contexts[ARMS * DIM], pmf[ARMS], sum = 0, u = random_uniform(&random), best = -INFINITY,
                                                mean_score = 0, played[GBOSE__LANES] = {0};
        long double mean[DIM] = {0}, X[DIM], y, c, fit = 0;
        gbose_logged row = {.n_arms = ARMS, .pmf = pmf, .contexts = contexts, .unit = t / 20};

        for (size_t a = 0; a < ARMS; a++)
            sum += pmf[a] = 0.05 + random_uniform(&random);
        for (size_t i = 0; i < ARMS * DIM; i++)
            contexts[i] = random_normal(&random);
        for (size_t a = 0; a < ARMS; a++) {
            double score = 0;

            pmf[a] /= sum;
            if (u >= 0) {
                u -= pmf[a];
                row.arm = a;
            }
            for (size_t i = 0; i < DIM; i++) {
                mean[i] += (long double)pmf[a] * contexts[a * DIM + i];
                score += contexts[a * DIM + i] * m[i];
            }
            best = fmax(best, score);
        }
        row.reward = 0.4 * contexts[row.arm * DIM] - 0.7 * contexts[row.arm * DIM + 2] +
                     (double)(t / 300 % 2) * 3 + random_normal(&random) * (1 + (contexts[0] > 0));
        if (t == 0) /* half the variance of features among the arms */
            for (size_t i = 0; i < DIM; i++) {
                double middle = 0;
                for (size_t a = 0; a < ARMS; a++)
                    middle += contexts[a * DIM + i] / ARMS;
                for (size_t a = 0; a < ARMS; a++)
                    lambda += 0.5 * (contexts[a * DIM + i] - middle) * (contexts[a * DIM + i] - middle) /
                              ARMS / DIM;
            }
        for (size_t i = 0; i < DIM; i++) {
            played[i] = contexts[row.arm * DIM + i];
            X[i] = played[i] - mean[i];
            fit += X[i] * m[i];
        }
        for (size_t i = 0; i < DIM; i++)
            mean_score += (double)mean[i] * m[i];
        c = gbose__level_predict(&baseline, m, best, mean_score);
        for (size_t i = 0; i < DIM; i++)
            c += mean[i] * m[i];
        y = row.reward - c;
        gbose__level_learn(&baseline, m, best, played, row.reward);
        assert_int_equal(gbose_effects_add(f, &row, NULL), GBOSE_OK);
        assert_int_equal(gbose_effects_add(by_unit, &row, NULL), GBOSE_OK);
        if (t < WARM_UP)
            continue;
        memcpy(kept->X[kept->n], X, sizeof X);
        kept->y[kept->n] = y;
        kept->e[kept->n] = y - fit;
        kept->unit[kept->n++] = row.unit;
        for (size_t i = 0; i < DIM; i++) {
            for (size_t j = 0; j < DIM; j++)
                A[i][j] += X[i] * X[j];
            g[i] += X[i] * y;
        }
        {
            long double B[DIM * DIM], right[DIM];
            for (size_t i = 0; i < DIM * DIM; i++)
                B[i] = A[i / DIM][i % DIM] + (i / DIM == i % DIM ? lambda : 0);
            memcpy(right, g, sizeof g);
            solve(B, right, DIM, 1);
            for (size_t i = 0; i < DIM; i++)
                m[i] = (double)right[i];
        }
    }
    gbose__level_clear(&baseline);
}

static void effects_match_definitions(void **state)
{
    static struct kept kept;
    const double x[DIM] = {0.3, -1.2, 0.8};
    long double A[DIM * DIM] = {0}, B[DIM * (DIM + 2)] = {0}, inverse[DIM * DIM], mu[DIM], u[DIM],
                        estimate = 0, variance = 0, clustered = 0, unit_sum = 0, units = 1;
    gbose_effects *f, *by_unit;
    gbose_effect_value v, w;

    (void)state;
    assert_int_equal(gbose_effects_new(&f, DIM, 0, NULL), GBOSE_OK);
    assert_int_equal(gbose_effects_new(&by_unit, DIM, 1, NULL), GBOSE_OK);
    make_log(&kept, f, by_unit);
    for (size_t t = 0; t < kept.n; t++)
        for (size_t i = 0; i < DIM; i++) {
            for (size_t j = 0; j < DIM; j++)
                A[i * DIM + j] += kept.X[t][i] * kept.X[t][j];
            B[i * (DIM + 2) + DIM] += kept.X[t][i] * kept.y[t];
        }
    for (size_t i = 0; i < DIM; i++) {
        B[i * (DIM + 2) + i] = 1;
        B[i * (DIM + 2) + DIM + 1] = x[i];
    }
    solve(A, B, DIM, DIM + 2);
    for (size_t i = 0; i < DIM; i++) {
        for (size_t j = 0; j < DIM; j++)
            inverse[i * DIM + j] = B[i * (DIM + 2) + j];
        mu[i] = B[i * (DIM + 2) + DIM];
        u[i] = B[i * (DIM + 2) + DIM + 1];
        estimate += x[i] * mu[i];
    }
    for (size_t t = 0; t < kept.n; t++) {
        long double e = kept.e[t], h = 0, along = 0, fit = 0;

        for (size_t i = 0; i < DIM; i++) {
            for (size_t j = 0; j < DIM; j++)
                h += kept.X[t][i] * inverse[i * DIM + j] * kept.X[t][j];
            along += u[i] * kept.X[t][i];
            fit += mu[i] * kept.X[t][i];
        }
        if (t < 1000)
            e = (kept.y[t] - fit) / (1 - h);
        variance += along * along * e * e;
        if (t > 0 && kept.unit[t] != kept.unit[t - 1]) {
            clustered += unit_sum * unit_sum;
            unit_sum = 0;
            units++;
        }
        unit_sum += along * e;
    }
    clustered = (clustered + unit_sum * unit_sum) * units / (units - 1);
    assert_int_equal(gbose_effects_at(f, x, 0.95, &v), GBOSE_OK);
    assert_int_equal(gbose_effects_at(by_unit, x, 0.95, &w), GBOSE_OK);
    assert_close(v.estimate, estimate, 1e-11);
    assert_close(v.error, sqrtl(variance), 1e-11);
    assert_close(w.estimate, estimate, 1e-11);
    assert_close(w.error, sqrtl(clustered), 1e-11);
    assert_int_equal(w.units, (uint64_t)units);
    assert_close(v.fixed.upper - v.fixed.lower, 2 * 1.959963984540054 * v.error, 1e-12);
    assert_true(w.fixed.upper - w.fixed.lower > 2 * 1.95996 * w.error); /* Student's t */
    assert_true(v.anytime.lower < v.fixed.lower && isfinite(v.anytime.lower));
    gbose_effects_free(f);
    gbose_effects_free(by_unit);
}

/* A feature that is the same for all arms says nothing, and neither does one that no coin has shown. */
static void what_is_not_identified_is_refused(void **state)
{
    const double constant[] = {0, 1, 0}, known[] = {1, 0, 0}, unseen[] = {0, 0, 1}, sum[] = {1, 1, 0};
    struct random random = {.state = 2};
    gbose_effects *f;
    gbose_effect_value v;

    (void)state;
    assert_int_equal(gbose_effects_new(&f, 3, 0, NULL), GBOSE_OK);
    assert_int_equal(gbose_effects_at(f, known, 0.95, &v), GBOSE_EUNSEEN);
    for (int t = 0; t < 400; t++) {
        double x = random_normal(&random), contexts[6] = {0, 5, 0, 1, 5, 0}, pmf[2] = {0.3, 0.7};
        gbose_logged row = {.n_arms = 2, .pmf = pmf, .contexts = contexts};

        row.arm = random_uniform(&random) < 0.7;
        row.reward = 0.5 * (double)row.arm + 0.1 * x;
        if (t % 2) { /* a round without a coin shows the third feature */
            contexts[2] = 1;
            pmf[0] = 1;
            pmf[1] = 0;
            row.arm = 0;
        }
        assert_int_equal(gbose_effects_add(f, &row, NULL), GBOSE_OK);
    }
    assert_int_equal(gbose_effects_at(f, known, 0.95, &v), GBOSE_OK);
    assert_true(v.fixed.lower < 0.5 && v.fixed.upper > 0.5 && v.error < 0.05);
    assert_int_equal(gbose_effects_at(f, constant, 0.95, &v), GBOSE_EUNSEEN);
    assert_int_equal(gbose_effects_at(f, unseen, 0.95, &v), GBOSE_EUNSEEN);
    assert_int_equal(gbose_effects_at(f, sum, 0.95, &v), GBOSE_EUNSEEN);
    assert_int_equal(gbose_effects_at(f, known, 1, &v), GBOSE_EINVAL);
    gbose_effects_free(f);
}

/* The interval for all times begins when 100 draws counted: with a fair coin every round is one, but for the ten in which the
 * level is found. */
static void looks_wait_for_draws(void **state)
{
    const double contexts[] = {0, 1}, pmf[] = {0.5, 0.5}, x[] = {1};
    struct random random = {.state = 9};
    gbose_effects *f;
    gbose_effect_value v;

    (void)state;
    assert_int_equal(gbose_effects_new(&f, 1, 0, NULL), GBOSE_OK);
    for (int t = 1; t <= 110; t++) {
        gbose_logged row = {.n_arms = 2, .pmf = pmf, .contexts = contexts};

        row.arm = random_uniform(&random) < 0.5;
        row.reward = random_normal(&random);
        assert_int_equal(gbose_effects_add(f, &row, NULL), GBOSE_OK);
        if (t < 109)
            continue;
        assert_int_equal(gbose_effects_at(f, x, 0.95, &v), GBOSE_OK);
        assert_int_equal(isfinite(v.anytime.lower) && isfinite(v.anytime.upper), t == 110);
        assert_true(isfinite(v.fixed.lower));
    }
    gbose_effects_free(f);
}

/* Weighted and centred least squares with whole hat matrices. */
static void wcls_matches_definitions(void **state)
{
    enum { UNITS = 12, POINTS = 9, CONTROLS = 2, MODERATORS = 2, Q = 4 };
    static long double D[UNITS][POINTS][Q], W[UNITS][POINTS], Y[UNITS][POINTS];
    long double B[Q * Q] = {0}, right[Q * (Q + 1)] = {0}, b[Q], inverse[Q * Q], variance = 0, estimate;
    const double x[MODERATORS] = {0.7, -0.4};
    struct random random = {.state = 4};
    gbose_wcls *w;
    gbose_effect_value v;

    (void)state;
    assert_int_equal(gbose_wcls_new(&w, CONTROLS, MODERATORS, NULL), GBOSE_OK);
    for (size_t t = 0; t < POINTS; t++)
        for (size_t k = 0; k < UNITS; k++) {
            double z = random_normal(&random), p = 0.2 + 0.6 * random_uniform(&random), pt = 0.45,
                   controls[2] = {1, z}, moderators[2] = {1, (double)(t % 3)};
            gbose_trial_row row = {.unit = 1000 + 7 * k,
                                   .available = (t + k) % 5 != 0,
                                   .probability = p,
                                   .numerator = pt,
                                   .controls = controls,
                                   .moderators = moderators};

            row.action = random_uniform(&random) < p;
            row.outcome = 2 + z + row.action * (0.5 - 0.2 * moderators[1]) + random_normal(&random);
            assert_int_equal(gbose_wcls_add(w, &row, NULL), GBOSE_OK);
            W[k][t] = !row.available ? 0
                      : row.action   ? pt / (long double)p
                                     : (1 - (long double)pt) / (1 - (long double)p);
            Y[k][t] = row.outcome;
            D[k][t][0] = 1;
            D[k][t][1] = z;
            D[k][t][2] = row.action - (long double)pt;
            D[k][t][3] = (row.action - (long double)pt) * moderators[1];
            for (size_t i = 0; i < Q; i++) {
                for (size_t j = 0; j < Q; j++)
                    B[i * Q + j] += W[k][t] * D[k][t][i] * D[k][t][j];
                right[i * (Q + 1) + Q] += W[k][t] * D[k][t][i] * Y[k][t];
            }
        }
    for (size_t i = 0; i < Q; i++)
        right[i * (Q + 1) + i] = 1;
    solve(B, right, Q, Q + 1);
    for (size_t i = 0; i < Q; i++) {
        b[i] = right[i * (Q + 1) + Q];
        for (size_t j = 0; j < Q; j++)
            inverse[i * Q + j] = right[i * (Q + 1) + j];
    }
    estimate = x[0] * b[2] + x[1] * b[3];
    for (size_t k = 0; k < UNITS; k++) {
        long double IH[POINTS * POINTS], e[POINTS], term = 0;

        for (size_t s = 0; s < POINTS; s++) {
            e[s] = Y[k][s];
            for (size_t i = 0; i < Q; i++)
                e[s] -= D[k][s][i] * b[i];
            for (size_t t = 0; t < POINTS; t++) {
                long double h = 0;
                for (size_t i = 0; i < Q; i++)
                    for (size_t j = 0; j < Q; j++)
                        h += D[k][s][i] * inverse[i * Q + j] * D[k][t][j] * W[k][t];
                IH[s * POINTS + t] = (s == t) - h;
            }
        }
        solve(IH, e, POINTS, 1);
        for (size_t t = 0; t < POINTS; t++)
            for (size_t i = 0; i < Q; i++)
                term += (x[0] * inverse[2 * Q + i] + x[1] * inverse[3 * Q + i]) * D[k][t][i] * W[k][t] * e[t];
        variance += term * term;
    }
    assert_int_equal(gbose_wcls_at(w, x, 0.95, &v), GBOSE_OK);
    assert_close(v.estimate, estimate, 1e-12);
    assert_close(v.error, sqrtl(variance), 1e-12);
    assert_int_equal(v.units, UNITS);
    assert_close((v.fixed.upper - v.fixed.lower) / (2 * v.error), 2.306004135204166,
                 1e-9); /* t with 12 - 4 degrees of freedom */
    gbose_wcls_free(w);
    assert_int_equal(gbose_wcls_new(&w, 0, 1, NULL), GBOSE_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(effects_match_definitions),
        cmocka_unit_test(what_is_not_identified_is_refused),
        cmocka_unit_test(looks_wait_for_draws),
        cmocka_unit_test(wcls_matches_definitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
