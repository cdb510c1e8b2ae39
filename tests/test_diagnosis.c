/* What gbose_diagnose() reports, against its definition in learners/auto/diagnosis.h: sums over all rounds,
 * matrices formed and solved in long double. */
#include "support/check.h"
#include "support/dense.h"
#include "support/random.h"
#include "support/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "learners/auto/diagnosis.h"

enum { DIM = 4, MOST = 600 };

struct seen {
    struct gbose__diagnosis_round round;
    double b[8], x[8], scratch[8], target; /* the term of the orthogonal regression is (w, w target, x) */
};

static struct seen seen[MOST];

/* Contexts with zeros at either end and a mean that is not 0, coins now and then, a reward that the plain
 * regression cannot explain where `shift` is not 0. */
static void make_rounds(struct random *r, double shift)
{
    static const double mu[DIM] = {0.7, -0.4, 0.2, 0.5};

    for (size_t t = 0; t < MOST; t++) {
        struct seen *s = &seen[t];
        double v = 2 + 0.01 * (double)t, noise = 0.2 * random_normal(r), effect = 0;

        for (size_t i = 0; i < DIM; i++) {
            s->b[i] = t % 3 == 1 && i != 1 ? 0 : 0.8 + random_normal(r);
            s->x[i] = random_below(r, 2) ? 0.5 * s->b[i] : -0.5 * s->b[i];
            v += shift * s->b[i];
            effect += mu[i] * s->x[i];
        }
        s->round.reward = v + noise;
        for (size_t i = 0; i < DIM; i++)
            s->round.reward += mu[i] * s->b[i];
        s->round.context = s->b;
        s->round.centred = s->x;
        s->round.scratch = s->scratch;
        s->round.shift = v + noise;
        s->round.residual = noise + 0.05 * random_normal(r);
        s->round.coin = random_below(r, 3) == 0;
        s->round.weight = 0.3 + 0.7 * random_uniform(r);
        s->target = effect + noise;
        s->round.coin_residual = noise;
    }
}

struct pair {
    struct gbose__diagnosis diagnosis;
    struct gbose__ridge O;
    struct dense dense;
};

static void begin(struct pair *p, double forget)
{
    p->diagnosis = (struct gbose__diagnosis){&gbose__tuning_default, DIM,
                                             calloc(gbose__diagnosis_size(DIM), sizeof(double))};
    assert_non_null(p->diagnosis.at);
    assert_int_equal(gbose__ridge_init(&p->O, DIM, 2.5, forget), GBOSE_OK);
    dense_init(&p->dense, DIM, 2.5, forget);
}

static void end(struct pair *p)
{
    free(p->diagnosis.at);
    gbose__ridge_clear(&p->O);
    dense_clear(&p->dense);
}

static void learn(struct pair *p, const struct seen *s, double forget)
{
    long double x[DIM];

    gbose__diagnosis_learn(&p->diagnosis, &s->round, forget);
    gbose__ridge_begin(&p->O);
    dense_begin(&p->dense);
    if (!s->round.coin)
        return;
    for (size_t i = 0; i < DIM; i++)
        x[i] = p->O.x[i] = s->x[i];
    gbose__ridge_term(&p->O, p->O.x, s->round.weight, s->round.weight * s->target);
    dense_add(&p->dense, s->round.weight, s->round.weight * s->target, x);
}

typedef long double matrix[DIM * DIM];

static void multiply(long double *out, const long double *a, const long double *b)
{
    for (size_t i = 0; i < DIM; i++)
        for (size_t j = 0; j < DIM; j++) {
            out[i * DIM + j] = 0;
            for (size_t k = 0; k < DIM; k++)
                out[i * DIM + j] += a[i * DIM + k] * b[k * DIM + j];
        }
}

static long double trace(const long double *a)
{
    long double sum = 0;

    for (size_t i = 0; i < DIM; i++)
        sum += a[i * DIM + i];
    return sum;
}

static long double quadratic(const long double *a, const long double *x)
{
    long double sum = 0;

    for (size_t i = 0; i < DIM; i++)
        for (size_t j = 0; j < DIM; j++)
            sum += x[i] * a[i * DIM + j] * x[j];
    return sum;
}

/* a^-1, by the oracle's elimination */
static void invert(long double *out, const long double *a)
{
    struct dense m;

    dense_init(&m, DIM, 1, 1);
    memset(m.prior, 0, DIM * sizeof *m.prior);
    memcpy(m.evidence, a, sizeof(matrix));
    dense_solve(&m);
    memcpy(out, m.inverse, sizeof(matrix));
    dense_clear(&m);
}

/* An effect and its interval, from the first n rounds: least squares without the prior, and the sandwich. */
static void check_effect(const struct pair *p, size_t n, double forget)
{
    const double x[DIM] = {0.4, -1, 0.3, 2}, alpha = 0.07;
    long double y[DIM] = {0}, u[DIM] = {0}, estimate = 0, coins = 0;
    double value, lower, upper;
    matrix J = {0}, H = {0}, inverse;

    for (size_t t = 0; t < n; t++) {
        const struct seen *s = &seen[t];
        long double age = powl(forget, (long double)(n - 1 - t)), w = s->round.weight,
                    e = w * s->round.coin_residual * age;

        if (!s->round.coin)
            continue;
        coins += age;
        for (size_t i = 0; i < DIM; i++) {
            y[i] += age * w * s->target * s->x[i];
            for (size_t j = 0; j < DIM; j++) {
                J[i * DIM + j] += age * w * s->x[i] * s->x[j];
                H[i * DIM + j] += e * e * s->x[i] * s->x[j];
            }
        }
    }
    invert(inverse, J);
    for (size_t i = 0; i < DIM; i++)
        for (size_t j = 0; j < DIM; j++) {
            u[i] += inverse[i * DIM + j] * x[j];
            estimate += x[i] * inverse[i * DIM + j] * y[j];
        }
    assert_int_equal(gbose__diagnosis_effect(&p->diagnosis, &p->O, x, alpha, &value, &lower, &upper),
                     GBOSE_OK);
    assert_close(value, estimate, 1e-9);
    if (coins < 200) {
        assert_true(isinf(lower) && isinf(upper));
    } else { /* exp(z^2 / (2 (1 + u))) = sqrt((1 + u) / u) / alpha, with z in standard errors */
        long double best = 10 * 200 / coins, spent = -2 * logl(alpha),
                    unit = best / (spent + logl(1 + spent));
        long double z = (upper - lower) / 2 / sqrtl(quadratic(H, u));

        assert_close(z * z / (2 * (1 + unit)), 0.5 * logl((1 + unit) / unit) - logl(alpha), 1e-7);
    }
}

/* The report's comparison, for the first n of the rounds. */
static void check_comparison(struct pair *p, size_t n, double forget)
{
    long double N = 0, R = 0, E2 = 0, coins = 0, coin_E2 = 0, sum[DIM] = {0}, c[DIM], theta[DIM] = {0},
                S[DIM], D[DIM];
    long double s2, s2_O, l, length = 0, bias, noise, one, two, single, k;
    matrix raw = {0}, H = {0}, G, A, A_inverse, B, B_inverse, V, W, M, left, right;
    gbose_diagnosis out;

    memset(c, 0, sizeof c);
    for (size_t t = 0; t < n; t++) {
        const struct gbose__diagnosis_round *round = &seen[t].round;
        long double age = powl(forget, (long double)(n - 1 - t)),
                    e = age * round->weight * round->coin_residual;

        N += age;
        R += age * round->reward;
        E2 += age * round->residual * round->residual;
        coins += round->coin ? age : 0;
        coin_E2 += round->coin ? age * round->weight * round->coin_residual * round->coin_residual : 0;
        for (size_t i = 0; i < DIM; i++) {
            sum[i] += age * seen[t].b[i];
            c[i] += age * seen[t].b[i] * round->reward;
            for (size_t j = 0; j < DIM; j++) {
                raw[i * DIM + j] += age * seen[t].b[i] * seen[t].b[j];
                H[i * DIM + j] += round->coin ? e * e * seen[t].x[i] * seen[t].x[j] : 0;
            }
        }
    }
    dense_solve(&p->dense);
    s2 = E2 / N;
    s2_O = coin_E2 / coins;
    for (size_t i = 0; i < DIM; i++)
        length += p->dense.mu[i] * p->dense.mu[i];
    l = s2 / length;
    for (size_t i = 0; i < DIM; i++) {
        c[i] -= sum[i] * R / N;
        for (size_t j = 0; j < DIM; j++) {
            A[i * DIM + j] = G[i * DIM + j] = raw[i * DIM + j] - sum[i] * sum[j] / N;
            B[i * DIM + j] = p->dense.evidence[i * DIM + j];
        }
        A[i * DIM + i] += l;
        B[i * DIM + i] += p->dense.prior[i];
    }
    invert(A_inverse, A);
    invert(B_inverse, B);
    for (size_t i = 0; i < DIM; i++)
        for (size_t j = 0; j < DIM; j++)
            theta[i] += A_inverse[i * DIM + j] * c[j];
    for (size_t i = 0; i < DIM; i++) { /* sum w X (target - X'theta) */
        S[i] = p->dense.y[i];
        for (size_t j = 0; j < DIM; j++)
            S[i] -= p->dense.evidence[i * DIM + j] * theta[j];
    }
    multiply(left, p->dense.evidence, A_inverse);
    multiply(V, left, p->dense.evidence);
    for (size_t i = 0; i < DIM * DIM; i++)
        W[i] = V[i] = s2 * V[i] + H[i];
    for (size_t i = 0; i < DIM; i++) {
        W[i * DIM + i] += s2_O * p->dense.prior[i];
        D[i] = 0;
        for (size_t j = 0; j < DIM; j++)
            D[i] += B_inverse[i * DIM + j] * S[j];
    }
    invert(right, W);
    bias = sqrtl(quadratic(G, D) / N);
    multiply(M, V, right);
    one = trace(M);
    multiply(left, M, M);
    two = trace(left);

    assert_int_equal(gbose__diagnosis_report(&p->diagnosis, &p->O, &out), GBOSE_OK);
    assert_close(out.hausman, quadratic(right, S), 1e-9);
    assert_close(out.df, one * one / two, 1e-9);
    assert_close(out.bias, bias, 1e-9);
    multiply(left, G, B_inverse);
    multiply(right, left, V);
    multiply(left, right, B_inverse);
    noise = sqrtl(trace(left) / N);
    assert_close(out.bias_noise, noise, 1e-7);

    k = log2l(1 + coins);
    single = stats_chi2_tail((double)(out.hausman * one / two), out.df);
    single *= (1 + out.hausman * one / two * logl(2) / 2) * (k + 1) * (k + 2);
    assert_close(out.p_value, fminl(1, single), 1e-7);
    assert_int_equal(out.misled, out.p_value <= 0.05);
    assert_int_equal(out.rounds, n);
}

static void the_comparison_is_what_its_definition_says(void **state)
{
    static const double forgets[] = {1, 0.97, 0.995}, shifts[] = {0, 0.05, -0.4};

    (void)state;
    for (size_t k = 0; k < 9; k++) {
        double forget = forgets[k / 3];
        struct random r = {80 + k};
        struct pair p;

        make_rounds(&r, shifts[k % 3]);
        begin(&p, forget);
        for (size_t t = 0; t < MOST; t++) {
            learn(&p, &seen[t], forget);
            if (t == 40 || t == 200 || t == MOST - 1) {
                check_comparison(&p, t + 1, forget);
                check_effect(&p, t + 1, forget);
            }
        }
        assert_true(gbose__diagnosis_is_sane(&p.diagnosis));
        end(&p);
    }
}

static void the_present_is_what_its_definition_says(void **state)
{
    struct random r = {90};
    struct pair p;
    gbose_diagnosis out;
    size_t lone = 0;

    (void)state;
    make_rounds(&r, 0.3);
    begin(&p, 0.99); /* which has no part in it */
    for (size_t n = 1; n <= MOST; n++) {
        long double weight = 0, fast = 0, late = 0, mean = 0, e2 = 0, square = 0;

        lone += !seen[n - 1].round.coin;
        learn(&p, &seen[n - 1], 0.99);
        if (n != 7 && n != 150 && n != MOST)
            continue;
        for (size_t t = 0; t < n; t++) {
            long double age = (long double)(n - 1 - t), f = powl(0.98L, age), g = powl(0.999L, age);
            weight += f;
            fast += f * seen[t].round.shift;
            late += g;
            mean += g * seen[t].round.shift;
            e2 += g * seen[t].round.residual * seen[t].round.residual;
        }
        for (size_t t = 0; t < n; t++) {
            long double off = seen[t].round.shift - mean / late;
            square += powl(0.999L, (long double)(n - 1 - t)) * off * off;
        }
        assert_int_equal(gbose__diagnosis_report(&p.diagnosis, &p.O, &out), GBOSE_OK);
        assert_close(out.baseline, fast / weight, 1e-12);
        assert_close(out.residual, sqrtl(e2 / late), 1e-12);
        assert_close(out.removed, 1 - e2 / square, 1e-12);
        assert_close(out.lone, (long double)lone / (long double)n, 1e-15);
    }
    end(&p);
}

/* A shift that moves on a line has the line's slope, at any time. */
static void drift_is_the_slope_of_a_line(void **state)
{
    struct pair p;
    gbose_diagnosis out;

    (void)state;
    begin(&p, 1);
    for (size_t t = 0; t < MOST; t++) {
        seen[t] = (struct seen){.round = {.reward = 1, .shift = 40 - 0.03 * (double)t, .context = seen[t].b}};
        learn(&p, &seen[t], 1);
        assert_int_equal(gbose__diagnosis_report(&p.diagnosis, &p.O, &out), GBOSE_OK);
        assert_near(out.drift, t ? -0.03 : 0, 1e-9);
        assert_true(out.p_value == 1 && !out.misled && out.hausman == 0 &&
                    out.bias == 0); /* nothing to compare */
    }
    end(&p);
}

/* Two that went on from a common state, merged, say what one says that saw it all. */
static void merging_adds_up(void **state)
{
    struct random r = {91};
    struct pair all, a, b;
    gbose_diagnosis x, y;
    double common[128];

    (void)state;
    assert_true(gbose__diagnosis_size(DIM) <= 128);
    make_rounds(&r, -0.2);
    begin(&all, 1);
    begin(&a, 1);
    begin(&b, 1);
    for (size_t t = 0; t < MOST; t++) {
        learn(&all, &seen[t], 1);
        if (t < 100 || t % 2)
            learn(&a, &seen[t], 1);
        if (t < 100 || t % 2 == 0)
            learn(&b, &seen[t], 1);
        if (t == 99)
            memcpy(common, a.diagnosis.at, gbose__diagnosis_size(DIM) * sizeof(double));
    }
    gbose__diagnosis_merge(&a.diagnosis, b.diagnosis.at, common, 1);
    assert_int_equal(gbose__diagnosis_report(&all.diagnosis, &all.O, &x), GBOSE_OK);
    assert_int_equal(gbose__diagnosis_report(&a.diagnosis, &all.O, &y), GBOSE_OK);
    assert_int_equal(x.rounds, y.rounds);
    assert_close(x.lone, y.lone, 1e-15);
    assert_close(x.hausman, y.hausman, 1e-9);
    assert_close(x.bias, y.bias, 1e-9);
    assert_true(gbose__diagnosis_is_sane(&a.diagnosis));
    end(&all);
    end(&a);
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_comparison_is_what_its_definition_says),
        cmocka_unit_test(the_present_is_what_its_definition_says),
        cmocka_unit_test(drift_is_the_slope_of_a_line),
        cmocka_unit_test(merging_adds_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
