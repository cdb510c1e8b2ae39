/* Confidence sequences against their definitions: the mixtures as integrals, and the bounds as the places
 * where they cross. */
#include <math.h>

#include "core/stats.h"
#include "logs/sequences.h"
#include "support/check.h"
#include "support/random.h"

/* log of the mixture of exp(l S - psi(l) V), psi(l) = -log(1 - l) - l, over l in (0, 1) with the law of 1 - l
 * proportional to x^(rho - 1) exp(-rho x) on (0, 1), rho = 1: by Simpson's rule. */
static long double mixture(long double S, long double V)
{
    const int n = 200000;
    long double sum = 0, norm = 0, most = -INFINITY;

    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < n; i++) {
            long double l = (long double)i / n, x = 1 - l, exponent = l * S + (logl(x) + l) * V - x;
            int weight = i == 0 ? 1 : i % 2 ? 4 : 2; /* at l = 1 it is 0, since V > 0 */

            if (pass == 0)
                most = fmaxl(most, exponent);
            else
                sum += weight * expl(exponent - most);
        }
    norm = 1 - expl(-1);
    return logl(sum / 3 / n / norm) + most;
}

static void evidence_is_the_mixture(void **state)
{
    const double S[] = {-3.5, -0.4, 0.7, 5, 40}, V[] = {0.8, 3.7, 60};

    (void)state;
    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < 3; j++)
            if (S[i] + V[j] + 1 > 0)
                assert_near(gbose__gamma_mixture(S[i], V[j]), mixture(S[i], V[j]), 1e-7);
    assert_true(gbose__gamma_mixture(-10, 5) == -INFINITY);
}

static void lower_bound_is_where_evidence_suffices(void **state)
{
    struct random random = {.state = 5};
    struct gbose__lower s = {0};
    double alpha = 0.03, sum = 0, squares = 0, bound;

    (void)state;
    assert_true(gbose__lower_bound(&s, alpha) == 0);
    for (int i = 0; i < 4000; i++) {
        /* the first term is large, so that what is expected of the next ones is limited to 1 */
        double x = i % 3    ? 0
                   : i == 0 ? 20
                            : 2.4 * random_uniform(&random),
               expected = fmin(1, (sum + 0.5) / (i + 1));

        squares += (x - expected) * (x - expected);
        sum += x;
        gbose__lower_add(&s, x);
        if (i % 250 != 9)
            continue;
        assert_close(s.squares, squares, 1e-12);
        bound = gbose__lower_bound(&s, alpha);
        assert_true(bound >= 0 && bound <= sum / (i + 1));
        if (bound > 0)
            assert_near(gbose__gamma_mixture(sum - (i + 1) * bound, squares), -log(alpha), 1e-9);
        else
            assert_true(gbose__lower_evidence(&s, 0) <= -log(alpha));
    }
    assert_true(bound > 0.3); /* of 0.4 */
}

static void known_excess_is_where_evidence_suffices(void **state)
{
    const double V[] = {0, 0.3, 17, 2500, 4e6};

    (void)state;
    for (size_t i = 0; i < 5; i++) {
        double excess = gbose__known_excess(13, V[i], 0.02);
        assert_near(gbose__gamma_mixture(13 * excess, V[i]), -log(0.02), 1e-6);
    }
}

/* The normal mixture exp(S^2 / (2 (V + u))) / sqrt((V + u) / u) is 1 / alpha at the radius. */
static void radius_is_where_the_mixture_crosses(void **state)
{
    double alpha = 0.07, l = -2 * log(alpha), best = 31, u = best / (l + log(1 + l));

    (void)state;
    for (double V = 0.5; V < 1e7; V *= 3.1) {
        double S = gbose__stats_mixture_radius(V, best, alpha);
        assert_near(S * S / (2 * (V + u)) - 0.5 * log((V + u) / u), -log(alpha), 1e-10);
    }
    /* and it is tightest, relative to the standard deviation, about V = best */
    assert_true(gbose__stats_mixture_radius(best, best, alpha) / sqrt(best) <
                fmin(gbose__stats_mixture_radius(best / 4, best, alpha) / sqrt(best / 4),
                     gbose__stats_mixture_radius(best * 4, best, alpha) / sqrt(best * 4)));
}

static void nothing_is_said_before_the_burn_in(void **state)
{
    struct gbose__running s = {0};

    (void)state;
    for (int i = 0; i < 49; i++)
        gbose__running_add(&s, 2.5, i % 2 ? 1 : -1, 1, 1, 1000);
    gbose__running_add(&s, 2.5, 0, 1, 1, 1000);
    assert_true(isinf(gbose__running_radius(&s, 0.05)));
    gbose__running_add(&s, 2.5, 1, 1, 1, 1000);
    assert_true(isfinite(gbose__running_radius(&s, 0.05)));
    s = (struct gbose__running){0};
    for (int i = 0; i < 200;
         i++) /* an arm of probability 1/100 carries it: one draw of it may be all there is */
        gbose__running_add(&s, 2.5, 1, 4.5, 100 * 100, 1000);
    assert_true(isinf(gbose__running_radius(&s, 0.05)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evidence_is_the_mixture),
        cmocka_unit_test(lower_bound_is_where_evidence_suffices),
        cmocka_unit_test(known_excess_is_where_evidence_suffices),
        cmocka_unit_test(radius_is_where_the_mixture_crosses),
        cmocka_unit_test(nothing_is_said_before_the_burn_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
