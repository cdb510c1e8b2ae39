#include "core/normal.h"

#include "core/normal_tables.h"

#include <math.h>

/* c[0] + c[1] x + ... + c[n-1] x^(n-1) */
static inline double polynomial(const double *c, int n, double x)
{
    double y = c[n - 1];

    for (int i = n - 2; i >= 0; i--)
        y = y * x + c[i];
    return y;
}

double gbose__log(double x)
{
    int e;
    double m = frexp(x, &e), s;

    if (m < SQRT_HALF) {
        m *= 2;
        e--;
    }
    s = (m - 1) / (m + 1);
    return (2 * s * polynomial(log_odd, 11, s * s) + e * LN2_LOW) + e * LN2_HIGH;
}

double gbose__exp(double x)
{
    static const double inverse_factorial[] = {1.0,
                                               1.0,
                                               1.0 / 2,
                                               1.0 / 6,
                                               1.0 / 24,
                                               1.0 / 120,
                                               1.0 / 720,
                                               1.0 / 5040,
                                               1.0 / 40320,
                                               1.0 / 362880,
                                               1.0 / 3628800,
                                               1.0 / 39916800,
                                               1.0 / 479001600,
                                               1.0 / 6227020800};
    double k;

    if (isnan(x)) /* it has no integer part */
        return x;
    if (x < -745)
        return 0;
    if (x > 709)
        return INFINITY;
    k = floor(x * 0x1.71547652b82fep0 + 0.5); /* 1 / ln 2 */
    return ldexp(polynomial(inverse_factorial, 14, (x - k * LN2_HIGH) - k * LN2_LOW), (int)k);
}

/* Hart's rational approximation 5666 of the tail up to 4, and beyond it the continued fraction
 * phi(z) / (z + 1/(z + 2/(z + 3/(z + ...)))). */
double gbose__normal_cdf(double x)
{
    static const double top[] = {220.2068679123761, 221.2135961699311,  112.0792914978709,  33.91286607838300,
                                 6.373962203531650, 0.7003830644436881, 0.03526249659989109};
    static const double bottom[] = {440.4137358247522, 793.8265125199484,  637.3336333788311,
                                    296.5642487796737, 86.78073220294608,  16.06417757920695,
                                    1.755667163182642, 0.08838834764831844};
    double z = fabs(x), tail;

    if (z > 37)
        tail = 0;
    else if (z < 4) {
        tail = gbose__exp(-z * z / 2) * polynomial(top, 7, z) / polynomial(bottom, 8, z);
    } else {
        double q = z;
        for (int k = 60; k >= 1; k--)
            q = z + k / q;
        tail = gbose__exp(-z * z / 2) / (q * 2.50662827463100050242);
    }
    return x > 0 ? 1 - tail : tail;
}

/* ---- quantiles ---- */

/* For |q| = |p - 1/2| at most QUANTILE_CENTRE. */
static inline double central_quantile(double q)
{
    double r = 0.180625 - q * q;

    return q * polynomial(centre_top, 8, r) / polynomial(centre_bottom, 8, r);
}

static double tail_quantile(double p)
{
    double r = sqrt(-gbose__log(p < 0.5 ? p : 1 - p)), x;

    if (r <= QUANTILE_TAIL)
        x = polynomial(tail_top, 8, r - 1.6) / polynomial(tail_bottom, 8, r - 1.6);
    else
        x = polynomial(far_top, 8, r - 5) / polynomial(far_bottom, 8, r - 5);
    return p < 0.5 ? -x : x;
}

double gbose__normal_quantile(double p)
{
    return fabs(p - 0.5) <= QUANTILE_CENTRE ? central_quantile(p - 0.5) : tail_quantile(p);
}
