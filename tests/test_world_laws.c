/* Simulated worlds against their definitions: mu, contexts, noise. What moves the rewards of all arms is in
 * test_world_shifts.c. */
#include "support/any_world.h"
#include "support/check.h"
#include "support/laws.h"
#include "support/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "worlds/draw.h"

#define PI 3.14159265358979323846

/* Of t with 3 degrees of freedom over sqrt 3. */
static double t3_cdf(double x)
{
    return 0.5 + (x / (1 + x * x) + atan(x)) / PI;
}

static double arcsine_cdf(double x)
{
    return 2 / PI * asin(sqrt(x));
}

/* ---- mu ---- */

static void mu_of_paper(void **state)
{
    enum { REPS = 250, D = 18 };
    static double entry[REPS * D];

    (void)state;
    for (uint32_t rep = 0; rep < REPS; rep++) {
        struct gbose__world *w = new_world("paper:arms=10,dim=2", 2, rep);
        double *mu = regress_mu(w, 60);
        assert_int_equal(w->dim, D);
        for (size_t i = 0; i < D; i++) {
            entry[rep * D + i] = mu[i] + 0.5;
            assert_true(fabs(mu[i]) < 0.5 + 1e-9);
        }
        free(mu);
        gbose__world_free(w);
    }
    assert_law(entry, REPS * D, uniform_cdf);
}

static void mu_of_kim_paik(void **state)
{
    static const double published[10] = {-.275, .333, -.045, -.116, .122, .275, -.333, .045, .116, -.122};
    struct gbose__world *w = new_world("kim-paik:arms=13", 2, 0);
    double *mu = regress_mu(w, 400);

    (void)state;
    assert_int_equal(w->dim, 120);
    for (size_t k = 0; k < 12; k++)
        for (size_t i = 0; i < 10; i++)
            assert_near(mu[10 * k + i], 2 * published[(i + k) % 10], 1e-11);
    free(mu);
    gbose__world_free(w);
}

/* In two dimensions: the angle of mu on the sphere, and the first share of mu in the simplex, are uniform. */
static void mu_of_krishnamurthy(void **state)
{
    enum { REPS = 1000 };
    static double angle[REPS], share[REPS];

    (void)state;
    for (uint32_t rep = 0; rep < REPS; rep++) {
        struct gbose__world *s = new_world("krishnamurthy:dim=2", 4, rep);
        struct gbose__world *d = new_world("krishnamurthy:dim=2,features=dirichlet", 4, rep);
        double *mu = regress_mu(s, 20), *nu = regress_mu(d, 100);
        assert_near(length(mu, 2), 1, 1e-8);
        assert_near(length(nu, 2), 1, 1e-8);
        angle[rep] = atan2(mu[1], mu[0]) / (2 * PI) + 0.5;
        share[rep] = nu[0] / (nu[0] + nu[1]);
        free(mu);
        free(nu);
        gbose__world_free(s);
        gbose__world_free(d);
    }
    assert_law(angle, REPS, uniform_cdf);
    assert_law(share, REPS, uniform_cdf);
}

/* With 40 arms and 4 features a round's own means give mu_t: it stays on the sphere, moves by about the
 * step, and is not where it was when the rounds are many. E ||h||^2 / d = 1, of which the share (d - 1) / d
 * is along the sphere. */
static void mu_drifts(const char *spec, double radius)
{
    enum { ROUNDS = 2000, D = 4 };
    struct gbose__world *w = new_world(spec, 6, 1);
    double last[D], squares = 0, *mu = regress_mu(w, 1), *begin = mu;

    memcpy(last, mu, sizeof last);
    for (int t = 1; t < ROUNDS; t++) {
        double step[D];
        mu = regress_mu(w, 1);
        assert_near(length(mu, D), radius, 1e-10);
        for (size_t i = 0; i < D; i++)
            step[i] = (mu[i] - last[i]) / radius;
        squares += length(step, D) * length(step, D);
        memcpy(last, mu, sizeof last);
        free(mu);
    }
    /* a squared step is 1e-4 / 4 times chi^2 with 3 degrees of freedom, whose sd is sqrt 6 */
    assert_mean(squares / (ROUNDS - 1), 1e-4 * 3 / 4, 1e-4 / 4 * sqrt(6), ROUNDS - 1);
    for (size_t i = 0; i < D; i++)
        last[i] -= begin[i];
    assert_true(length(last, D) > 0.05 * radius);
    free(begin);
    gbose__world_free(w);
}

static void mu_of_gallery_drifts(void **state)
{
    (void)state;
    mu_drifts("gallery:arms=40,dim=4,drift=0.01", 1);
    mu_drifts("gallery:arms=40,dim=4,drift=0.01,shift=user-uplift", 0.1);
}

/* ---- contexts ---- */

/* Length^d of a uniform point of the ball is uniform, and so is the angle of a plane one. */
static void ball_of(const char *spec, size_t d, size_t first)
{
    enum { ROUNDS = 4000 };
    static double share[20 * ROUNDS], angle[20 * ROUNDS];
    struct gbose__world *w = new_world(spec, 8, 0);
    size_t n = 0;

    for (int t = 0; t < ROUNDS; t++) {
        gbose__world_next(w);
        for (size_t i = first; i < w->n_arms; i++, n++) {
            const double *z = w->contexts + i * w->dim + (first ? (i - 1) * d : 0);
            share[n] = pow(length(z, d), (double)d);
            angle[n] = d > 1 ? atan2(z[1], z[0]) / (2 * PI) + 0.5 : 0;
            if (first) /* nothing outside the block */
                assert_near(length(w->contexts + i * w->dim, w->dim), length(z, d), 1e-15);
        }
        if (first)
            assert_true(length(w->contexts, w->dim) == 0);
    }
    assert_law(share, n, uniform_cdf);
    if (d > 1)
        assert_law(angle, n, uniform_cdf);
    gbose__world_free(w);
}

static void points_are_uniform_in_the_ball(void **state)
{
    (void)state;
    ball_of("paper:arms=10,dim=2", 2, 1);
    ball_of("paper:arms=2,dim=10", 10, 1);
    ball_of("kim-paik", 10, 1);
    ball_of("gallery:arms=10,dim=5", 5, 0);
    ball_of("gallery:arms=10,dim=1", 1, 0);
    ball_of("gallery:arms=4,dim=3,contexts=blocks", 3, 1);
}

/* A correlation leaves each arm's law as it is (two arms in blocks have one point a round, so that the
 * sample is independent) and draws the arms together. */
static void correlated_arms(void **state)
{
    static const struct {
        const char *correlation;
        double low, high; /* that between the coordinates must be in */
    } cases[] = {{"0", -0.05, 0.05}, {"0.5", 0.4, 0.5}, {"0.9", 0.8, 0.9}, {"0.99", 0.97, 0.99}};
    enum { ROUNDS = 10000 };

    (void)state;
    ball_of("gallery:arms=2,dim=5,contexts=blocks,correlation=0.9", 5, 1);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char spec[80];
        struct gbose__world *w;
        double product = 0;

        snprintf(spec, sizeof spec, "gallery:arms=2,dim=3,correlation=%s", cases[c].correlation);
        w = new_world(spec, 1, 1);
        for (int t = 0; t < ROUNDS; t++) {
            gbose__world_next(w);
            for (size_t j = 0; j < 3; j++)
                product += w->contexts[j] * w->contexts[3 + j];
        }
        product *= 5.0 / 3 / ROUNDS; /* a coordinate's variance is 1 / (d + 2) */
        assert_true(product > cases[c].low && product < cases[c].high);
        gbose__world_free(w);
    }
}

static void sphere_features(void **state)
{
    enum { N = 20000 };
    static double angle[N];
    struct gbose__world *w = new_world("krishnamurthy:dim=2,arms=2", 9, 0);

    (void)state;
    for (size_t n = 0; n < N; n += 2) {
        gbose__world_next(w);
        for (size_t i = 0; i < 2; i++)
            angle[n + i] = atan2(w->contexts[2 * i + 1], w->contexts[2 * i]) / (2 * PI) + 0.5;
    }
    assert_law(angle, N, uniform_cdf);
    gbose__world_free(w);
}

/* b / sum b is Dirichlet again: for d = 2 its first share has the arcsine law; for d = 10 the shares have
 * mean 1/d, variance (1/d)(1 - 1/d)/2 and, for two of them, E p_i p_j = (1/d)^2 / 2. */
static void dirichlet_features(void **state)
{
    enum { N = 20000, D = 10 };
    static double share[N];
    struct gbose__world *w = new_world("krishnamurthy:dim=2,arms=2,features=dirichlet", 9, 0);
    double sum[D] = {0}, square = 0, cross = 0;

    (void)state;
    for (size_t n = 0; n < N; n += 2) {
        gbose__world_next(w);
        for (size_t i = 0; i < 2; i++)
            share[n + i] = w->contexts[2 * i] / (w->contexts[2 * i] + w->contexts[2 * i + 1]);
    }
    assert_law(share, N, arcsine_cdf);
    gbose__world_free(w);

    w = new_world("krishnamurthy:dim=10,arms=2,features=dirichlet", 9, 0);
    for (size_t n = 0; n < N / 2; n++) {
        gbose__world_next(w);
        for (size_t i = 0; i < 2; i++) {
            const double *b = w->contexts + i * D;
            double total = 0, one;
            for (size_t j = 0; j < D; j++) {
                assert_true(b[j] >= 0);
                total += b[j];
            }
            for (size_t j = 0; j < D; j++)
                sum[j] += b[j] / total;
            one = b[0] / total - 1.0 / D;
            square += one * one;
            cross += b[0] * b[1] / (total * total);
        }
    }
    for (size_t j = 0; j < D; j++)
        assert_mean(sum[j] / N, 1.0 / D, sqrt(0.09 / 2), N);
    assert_mean(square / N, 0.09 / 2, 0.5, N);  /* sd of (p - 1/d)^2 is below 1/2: it is in [0, 1] */
    assert_mean(cross / N, 0.01 / 2, 0.125, N); /* p_i p_j is in [0, 1/4] */
    gbose__world_free(w);
}

static double beta33_cdf(double x)
{
    return x * x * x * (10 - 15 * x + 6 * x * x);
}

/* The first share of a pair is Beta(alpha, alpha). */
static void dirichlet_draws(void **state)
{
    static const struct {
        double alpha;
        double (*cdf)(double);
    } cases[] = {{0.5, arcsine_cdf}, {1, uniform_cdf}, {3, beta33_cdf}};
    enum { N = 400000 };
    static double share[N];

    (void)state;
    for (size_t c = 0; c < 3; c++) {
        struct gbose__rng rng;
        gbose__rng_init(&rng, 5, (uint32_t)c, GBOSE__WORLD_CONTEXT, 1);
        for (size_t i = 0; i < N; i++) {
            double x[2];
            gbose__draw_dirichlet(x, 2, cases[c].alpha, &rng);
            share[i] = x[0] / (x[0] + x[1]);
        }
        assert_law(share, N, cases[c].cdf);
    }
}

static void shared_contexts(void **state)
{
    enum { ROUNDS = 5000 };
    static double x[9 * ROUNDS];
    struct gbose__world *w = new_world("kim-paik:arms=3,contexts=shared", 12, 0);

    (void)state;
    for (size_t t = 0; t < ROUNDS; t++) {
        const double *b = w->contexts;
        gbose__world_next(w);
        assert_true(length(b, 20) == 0 && length(b + 30, 10) == 0 && length(b + 40, 10) == 0);
        assert_true(b[20] == 1 && b[50] == 1);
        assert_memory_equal(b + 20, b + 50, 10 * sizeof *b);
        memcpy(x + 9 * t, b + 21, 9 * sizeof *x);
    }
    assert_law(x, 9 * ROUNDS, stats_normal_cdf);
    gbose__world_free(w);
}

/* ---- noise ---- */

static void noise_of(const char *spec, double sd, double (*cdf)(double))
{
    enum { N = 50000 };
    static double x[N];
    struct gbose__world *w = new_world(spec, 21, 4);
    double product = 0;

    for (size_t t = 0; t < N; t++) {
        gbose__world_next(w);
        x[t] = w->noise / sd;
        if (t)
            product += fmin(1, fmax(-1, x[t])) * fmin(1, fmax(-1, x[t - 1]));
    }
    assert_mean(product / N, 0, 1, N); /* rounds are independent */
    assert_law(x, N, cdf);
    gbose__world_free(w);
}

static void noise_has_the_stated_law(void **state)
{
    (void)state;
    noise_of("paper:arms=2", 0.1, stats_normal_cdf);
    noise_of("paper:arms=2,noise=0.7", 0.7, stats_normal_cdf);
    noise_of("kim-paik", 0.1, stats_normal_cdf);
    noise_of("krishnamurthy:dim=2,noise=0.5", 0.5, stats_normal_cdf);
    noise_of("gallery:arms=2,dim=1", 0.1, stats_normal_cdf);
    noise_of("gallery:arms=2,dim=1,noise=2,tail=t3", 2, t3_cdf);
    noise_of("heartsteps", 2.716, stats_normal_cdf);
}

/* P(|t3| / sqrt 3 > 10) = 1 - (2/pi)(10/101 + atan 10) = 4.2e-4: among 200,000 about 84; of a normal,
 * none. */
static void t3_tail(void **state)
{
    enum { N = 200000 };
    struct gbose__rng rng;
    double p = 2 * (1 - t3_cdf(10));
    size_t far = 0;

    (void)state;
    gbose__rng_init(&rng, 1, 2, GBOSE__WORLD_NOISE, 3);
    for (size_t i = 0; i < N; i++)
        far += fabs(gbose__draw_t3(&rng)) > 10;
    assert_mean((double)far / N, p, sqrt(p), N);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mu_of_paper),
        cmocka_unit_test(mu_of_kim_paik),
        cmocka_unit_test(mu_of_krishnamurthy),
        cmocka_unit_test(mu_of_gallery_drifts),
        cmocka_unit_test(points_are_uniform_in_the_ball),
        cmocka_unit_test(correlated_arms),
        cmocka_unit_test(sphere_features),
        cmocka_unit_test(dirichlet_features),
        cmocka_unit_test(dirichlet_draws),
        cmocka_unit_test(shared_contexts),
        cmocka_unit_test(noise_has_the_stated_law),
        cmocka_unit_test(t3_tail),
    };

    return cmocka_run_group_tests_name("laws of worlds", tests, NULL, NULL);
}
