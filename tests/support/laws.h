/* Do draws have the law that they should have?
 *
 * Laws are tested on fixed seeds, so an outcome is fixed. Were the seeds fresh, a check that compares a
 * frequency or a mean fails with probability 6e-7 (5 standard errors), and one that compares a distribution
 * function with probability 1e-6 (Kolmogorov: P(sqrt(n) D > 2.7) < 2 exp(-2 * 2.7^2)). */
#ifndef TESTS_LAWS_H
#define TESTS_LAWS_H

#include <math.h>
#include <stddef.h>

/* A mean of n draws with this standard deviation. */
#define assert_mean(mean, expected, sd, n) assert_near(mean, expected, 5 * (sd) / sqrt((double)(n)))

/* The sample, which is sorted, has this distribution function. */
#define assert_law(x, n, cdf) check_law((x), (n), (cdf), #cdf, __LINE__)
void check_law(double *x, size_t n, double (*cdf)(double), const char *name, int line);

double uniform_cdf(double x); /* on [0, 1] */

#endif
