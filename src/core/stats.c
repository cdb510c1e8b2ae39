#include "core/stats.h"

#include <math.h>
#include <stdint.h>

#define HALF_PI 1.57079632679489661923
#define HALF_LOG_2PI 0.91893853320467274178

/* ---- the gamma function ---- */

/* log Gamma(a) - [(a - 1/2) log a - a + log(2 pi) / 2] for a >= 10: Stirling's series. The first term left
 * out is below 7e-16 there. */
static double stirling_rest(double a)
{
    double b = 1 / (a * a);

    return (1.0 / 12 -
            (1.0 / 360 -
             (1.0 / 1260 - (1.0 / 1680 - (1.0 / 1188 - (691.0 / 360360 - b / 156) * b) * b) * b) * b) *
                b) /
           a;
}

double gbose__stats_log_gamma(double a)
{
    double product = 1;

    for (; a < 10; a++)
        product *= a;
    return (a - 0.5) * gbose__log(a) - a + HALF_LOG_2PI + stirling_rest(a) - gbose__log(product);
}

/* u - log(1 + u) for u > -1, with a small relative error also where both terms are nearly the same:
 * log(1 + u) = 2 atanh s = 2 (s + s^3/3 + ...) with s = u / (2 + u), and u = 2 s / (1 - s). */
static double above_log(double u)
{
    double s = u / (2 + u), power = s * s * s, sum = 0;

    if (fabs(s) > 1.0 / 3)
        return u - gbose__log(1 + u);
    for (int k = 3; fabs(power) > 1e-18 * s * s; k += 2, power *= s * s)
        sum += power / k;
    return 2 * s * s / (1 - s) - 2 * sum;
}

/* log(x^a e^-x / Gamma(a + 1)). Its terms are far larger than it for a large a near x, so there it is put
 * together from what is left after they have cancelled. */
static double log_front(double a, double x)
{
    if (a < 10)
        return a * gbose__log(x) - x - gbose__stats_log_gamma(a + 1);
    return -a * above_log((x - a) / a) - HALF_LOG_2PI - 0.5 * gbose__log(a) - stirling_rest(a);
}

/* P(a, x) over the front: 1 + x/(a+1) + x^2/((a+1)(a+2)) + ..., for x < a + 1. */
static double lower_series(double a, double x)
{
    double term = 1, sum = 1;

    for (double k = a + 1; term > 1e-17 * sum; k++)
        sum += term *= x / k;
    return sum;
}

/* Q(a, x) over the front, for x >= a + 1: a times the continued fraction 1/(x+1-a- 1(1-a)/(x+3-a- ...)),
 * from its front on (Lentz). */
static double upper_fraction(double a, double x)
{
    double b = x + 1 - a, c = 1e300, d = 1 / b, product = d, step;
    double n = 1;

    do {
        b += 2;
        d = 1 / (n * (a - n) * d + b);
        c = b + n * (a - n) / c;
        step = c * d;
        product *= step;
    } while (fabs(step - 1) > 1e-16 && n++ < 1e6);
    return a * product;
}

/* The logarithm of the smaller part, P (`lower`) or Q: that one is computed, the other is 1 minus it. */
static double log_part(double a, double x, int *lower)
{
    *lower = x < a + 1;
    return log_front(a, x) + gbose__log(*lower ? lower_series(a, x) : upper_fraction(a, x));
}

/* log(1 - e^y) for y <= 0. */
static double log_rest(double y)
{
    double p = gbose__exp(y), s = p / (2 - p), power = s, sum = 0; /* log(1 - p) = -2 atanh(p / (2 - p)) */

    if (p > 0.5)
        return gbose__log(1 - p);
    for (int k = 1; power > 1e-18 * s; k += 2, power *= s * s)
        sum += power / k;
    return -2 * sum;
}

/* P(a, a + s) for a >= LARGE: the first two terms of Temme's uniform expansion ("The asymptotic expansion of the incomplete gamma
 * functions", SIAM J. Math. Anal. 1979), with z = eta sqrt(a) and density the normal one at z over sqrt(a). */
#define LARGE 1e6
static double lower_of_large(double a, double s, double z, double density)
{
    double eta = z / sqrt(a),
           c0 = fabs(eta) < 1e-3 ? -1.0 / 3 + eta * (1.0 / 12 - eta * 2.0 / 135) : a / s - 1 / eta;

    return gbose__normal_cdf(z) - density * c0;
}

double gbose__stats_log_gamma_scaled(double a, double s)
{
    double x = a + s, front, mu, z;

    if (!(x > 0))
        return -INFINITY;
    if (a < LARGE && s < 1)
        return gbose__log(lower_series(a, x)) - gbose__log(a);
    if (a < LARGE) {
        front = log_front(a, x);
        return log_rest(fmin(0, front + gbose__log(upper_fraction(a, x)))) - front - gbose__log(a);
    }
    mu = above_log(s / a);
    z = copysign(sqrt(2 * a * mu), s);
    front = -a * mu - HALF_LOG_2PI -
            0.5 * gbose__log(a); /* and the rest of Stirling's series, which is below 1e-7 */
    return gbose__log(lower_of_large(a, s, z, gbose__exp(front))) - front + stirling_rest(a) - gbose__log(a);
}

/* P or Q, or its logarithm. */
static double incomplete(double a, double x, int want_lower, int want_log)
{
    double y;
    int lower;

    if (isnan(a) || isnan(x))
        return NAN;
    if (!(x > 0) || isinf(x)) {
        double value = (x > 0) == want_lower;
        return want_log ? (value > 0 ? 0 : -INFINITY) : value;
    }
    y = log_part(a, x, &lower);
    if (y > 0) /* rounding */
        y = 0;
    if (want_log)
        return lower == want_lower ? y : log_rest(y);
    return lower == want_lower ? gbose__exp(y) : 1 - gbose__exp(y);
}

double gbose__stats_gamma_p(double a, double x)
{
    return incomplete(a, x, 1, 0);
}

double gbose__stats_gamma_q(double a, double x)
{
    return incomplete(a, x, 0, 0);
}

double gbose__stats_log_gamma_p(double a, double x)
{
    return incomplete(a, x, 1, 1);
}

double gbose__stats_log_gamma_q(double a, double x)
{
    return incomplete(a, x, 0, 1);
}

double gbose__stats_chi2_tail(double x, double df)
{
    return gbose__stats_gamma_q(df / 2, x / 2);
}

/* ---- Student's t ---- */

/* P(|t| <= x) with df degrees of freedom: the finite sums of Abramowitz and Stegun, 26.7.3 and 26.7.4, in
 * theta = atan(x / sqrt(df)). */
static double t_within(double x, size_t df)
{
    double n = (double)df, hyp = sqrt(n + x * x), sine = x / hyp, cosine2 = n / (n + x * x);
    double term = df % 2 ? sqrt(n) / hyp : 1, sum = 0;

    for (size_t k = df % 2 ? 3 : 2; k <= df; k += 2) {
        sum += term;
        term *= cosine2 * (double)(k - 1) / (double)k;
    }
    if (df % 2)
        return (atan2(x, sqrt(n)) + sine * sum) / HALF_PI;
    return sine * sum;
}

/* Abramowitz and Stegun 26.7.5: the quantile in powers of 1 / df. Beyond 200 degrees of freedom the terms
 * left out are below 1e-10. */
static double t_from_normal(double z, double df)
{
    double z2 = z * z;
    double g1 = z * (z2 + 1) / 4;
    double g2 = z * ((5 * z2 + 16) * z2 + 3) / 96;
    double g3 = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
    double g4 = z * ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / 92160;

    return z + (g1 + (g2 + (g3 + g4 / df) / df) / df) / df;
}

double gbose__stats_t_quantile(double p, size_t df)
{
    double within = fabs(2 * p - 1), low = 0, high = 1;

    if (!df)
        return NAN;
    if (df == SIZE_MAX)
        return gbose__normal_quantile(p);
    if (df > 200)
        return t_from_normal(gbose__normal_quantile(p), (double)df);
    while (t_within(high, df) < within && high < 1e300)
        high *= 2;
    for (int i = 0; i < 200 && high > low; i++) {
        double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high)
            break;
        if (t_within(middle, df) < within)
            low = middle;
        else
            high = middle;
    }
    return p < 0.5 ? -high : within > 0 ? high : 0;
}

double gbose__stats_mixture_radius(double V, double v_best, double alpha)
{
    double l = -2 * gbose__log(alpha), u = v_best / (l + gbose__log(1 + l));

    return sqrt((V + u) * (gbose__log((V + u) / u) + l));
}
