#include "support/stats.h"

#include <math.h>

double stats_normal_cdf(double x)
{
    return 0.5 * erfc(-x * 0.70710678118654752440);
}

/* The regularised upper incomplete gamma function: a series below a + 1, Lentz's continued fraction above. */
static double upper_gamma(double a, double x)
{
    double front = exp(-x + a * log(x) - lgamma(a));

    if (!(x > 0))
        return 1;
    if (x < a + 1) {
        double term = 1 / a, sum = term;
        for (double k = a + 1; term > 1e-17 * sum; k++)
            sum += term *= x / k;
        return 1 - front * sum;
    } else {
        double b = x + 1 - a, c = 1e300, d = 1 / b, h = d;
        for (int i = 1; i < 100000; i++) {
            double an = -i * (i - a), step;
            b += 2;
            d = 1 / (an * d + b);
            c = b + an / c;
            step = c * d;
            h *= step;
            if (fabs(step - 1) < 1e-15)
                break;
        }
        return front * h;
    }
}

double stats_chi2_tail(double x, double df)
{
    return df > 0 ? upper_gamma(df / 2, x / 2) : 1;
}

double stats_tail(const struct stats_chi2 *s)
{
    return stats_chi2_tail(s->sum, s->df);
}

/* The sum of `term` over bins of at least `least` (in b, or in both); the other bins are pooled into one, and
 * that is joined to the last of these if it is too small itself. */
static struct stats_chi2 add_up(const double *a, const double *b, size_t bins, double least, int both,
                                double (*term)(double, double))
{
    struct stats_chi2 s = {0, -1};
    double pool_a = 0, pool_b = 0, last_a = 0, last_b = 0;

    for (size_t i = 0; i < bins; i++)
        if (b[i] + (both ? a[i] : 0) < least) {
            pool_a += a[i];
            pool_b += b[i];
        } else {
            s.sum += s.df++ < 0 ? 0 : term(last_a, last_b);
            last_a = a[i];
            last_b = b[i];
        }
    if (s.df >= 0 && pool_b + (both ? pool_a : 0) >= least) {
        s.sum += term(pool_a, pool_b);
        s.df++;
    } else {
        last_a += pool_a;
        last_b += pool_b;
    }
    if (s.df < 1)
        return (struct stats_chi2){0, 0};
    s.sum += term(last_a, last_b);
    return s;
}

static double pearson(double observed, double expected)
{
    return (observed - expected) * (observed - expected) / expected;
}

static double two_samples(double a, double b)
{
    return (a - b) * (a - b) / (a + b);
}

struct stats_chi2 stats_fit(const double *observed, const double *expected, size_t bins)
{
    return add_up(observed, expected, bins, 10, 0, pearson);
}

struct stats_chi2 stats_same(const double *a, const double *b, size_t bins)
{
    return add_up(a, b, bins, 20, 1, two_samples);
}
