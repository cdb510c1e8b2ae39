#include "core/normal.h"

#include <math.h>

#define LN2_HIGH 0x1.62e42fefa3800p-1 /* ln 2 with its last 11 bits zero: k LN2_HIGH is exact */
#define LN2_LOW 0x1.ef35793c76730p-45

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
    /* x = 2^e m with m in [sqrt 1/2, sqrt 2); log m = 2 atanh s, s = (m-1)/(m+1), |s| < 0.172 */
    static const double odd[] = {1.0,      1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9, 1.0 / 11,
                                 1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21};
    int e;
    double m = frexp(x, &e), s;

    if (m < 0x1.6a09e667f3bcdp-1) {
        m *= 2;
        e--;
    }
    s = (m - 1) / (m + 1);
    return (2 * s * polynomial(odd, 11, s * s) + e * LN2_LOW) + e * LN2_HIGH;
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

/* ---- quantiles: Wichura's algorithm AS 241 (Applied Statistics 37, 1988), routine PPND16 ---- */

/* clang-format off */
static const double centre_top[] = {
    3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
    4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3};
static const double centre_bottom[] = {
    1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
    2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3};
static const double tail_top[] = {
    1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
    1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4};
static const double tail_bottom[] = {
    1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
    1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9};
static const double far_top[] = {
    6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
    2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7};
static const double far_bottom[] = {
    1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
    7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15};
/* clang-format on */

/* For |q| = |p - 1/2| at most 0.425. */
static inline double central_quantile(double q)
{
    double r = 0.180625 - q * q;

    return q * polynomial(centre_top, 8, r) / polynomial(centre_bottom, 8, r);
}

static double tail_quantile(double p)
{
    double r = sqrt(-gbose__log(p < 0.5 ? p : 1 - p)), x;

    if (r <= 5)
        x = polynomial(tail_top, 8, r - 1.6) / polynomial(tail_bottom, 8, r - 1.6);
    else
        x = polynomial(far_top, 8, r - 5) / polynomial(far_bottom, 8, r - 5);
    return p < 0.5 ? -x : x;
}

double gbose__normal_quantile(double p)
{
    return fabs(p - 0.5) <= 0.425 ? central_quantile(p - 0.5) : tail_quantile(p);
}

/* The middle's formula for all of a block, which the compiler can do side by side, then the tails. */
void gbose__normal_quantiles(double *p, size_t n)
{
    double x[16];

    for (size_t begin = 0; begin < n; begin += 16) {
        size_t size = n - begin < 16 ? n - begin : 16;

        for (size_t i = 0; i < size; i++)
            x[i] = central_quantile(p[begin + i] - 0.5);
        for (size_t i = 0; i < size; i++)
            p[begin + i] = fabs(p[begin + i] - 0.5) <= 0.425 ? x[i] : tail_quantile(p[begin + i]);
    }
}
