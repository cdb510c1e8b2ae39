/* The library's own normal law against libm's long double functions, to the errors that normal.h states. */
#include "support/check.h"
#include "support/random.h"

#include <float.h>
#include <math.h>

#include "core/normal.h"

static long double cdf(long double x)
{
    return 0.5L * erfcl(-x * 0.70710678118654752440084436210484903928L);
}

static void logarithm(void **state)
{
    struct random r = {1};

    (void)state;
    assert_true(gbose__log(1) == 0);
    for (int t = 0; t < 200000; t++) {
        double x = t % 2 ? pow(10, 600 * random_uniform(&r) - 300) : 0.4 + 1.4 * random_uniform(&r);
        assert_close(gbose__log(x), logl(x), 1e-15);
    }
    assert_close(gbose__log(DBL_MIN), logl(DBL_MIN), 1e-15);
    assert_close(gbose__log(DBL_MAX), logl(DBL_MAX), 1e-15);
    assert_close(gbose__log(nextafter(1, 2)), logl(nextafter(1, 2)), 1e-15);
    assert_close(gbose__log(nextafter(1, 0)), logl(nextafter(1, 0)), 1e-15);
}

static void exponential(void **state)
{
    struct random r = {2};

    (void)state;
    assert_true(isnan(gbose__exp(NAN)));
    assert_true(gbose__exp(0) == 1);
    assert_true(gbose__exp(-1000) == 0);
    assert_true(isinf(gbose__exp(1000)));
    for (int t = 0; t < 200000; t++) {
        double x = t % 2 ? 1416 * random_uniform(&r) - 708 : 4 * random_uniform(&r) - 2;
        assert_close(gbose__exp(x), expl(x), 1e-15);
    }
}

static void distribution(void **state)
{
    struct random r = {3};
    double last = 0;

    (void)state;
    assert_close(gbose__normal_cdf(0), 0.5, 1e-15);
    assert_true(gbose__normal_cdf(-38) == 0 && gbose__normal_cdf(40) == 1);
    for (int t = 0; t < 200000; t++) {
        double x = t % 2 ? 45 * random_uniform(&r) - 37 : 10 * random_uniform(&r) - 5;
        assert_close(gbose__normal_cdf(x), cdf(x), 1e-12);
        assert_near(gbose__normal_cdf(x) + gbose__normal_cdf(-x), 1, 1e-15);
    }
    /* it rises, up to its error */
    for (double x = -37; x < 9; x += 1e-3) {
        double p = gbose__normal_cdf(x);
        assert_true(p >= last * (1 - 1e-12));
        last = p;
    }
}

/* With x the answer, p - cdf(x) over the density is how far off it is: one Newton step in long double. */
static long double quantile_error(double p, long double x)
{
    long double q = p < 0.5 ? cdf(x) - p : (1 - (long double)p) - cdf(-x);

    return q * 2.50662827463100050241576528481104525L * expl(x * x / 2);
}

static void quantile(void **state)
{
    struct random r = {4};

    (void)state;
    assert_true(gbose__normal_quantile(0.5) == 0);
    for (int t = 0; t < 200000; t++) {
        double p = t % 2 ? random_uniform(&r) : pow(10, -300 * random_uniform(&r));
        double x;

        if (t % 4 == 2)
            p = 1 - pow(10, -16 * random_uniform(&r));
        if (!(p > 0 && p < 1))
            continue;
        x = gbose__normal_quantile(p);
        assert_that(fabsl(quantile_error(p, x)) <= 1e-14L * fabsl(x), "p = %.17g: %.17g is off by %Lg", p, x,
                    quantile_error(p, x));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logarithm),
        cmocka_unit_test(exponential),
        cmocka_unit_test(distribution),
        cmocka_unit_test(quantile),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
