/* Chi-square tests. Seeds are fixed, so a test that has passed cannot flake; the stated level is the
 * probability that a right program and a fresh seed would fail. */
#ifndef TESTS_STATS_H
#define TESTS_STATS_H

#include <stddef.h>

/* P(Z <= x), from libm. */
double stats_normal_cdf(double x);

/* P(chi-square with df degrees of freedom >= x). */
double stats_chi2_tail(double x, double df);

/* A sum of chi-square statistics. */
struct stats_chi2 {
    double sum, df;
};

double stats_tail(const struct stats_chi2 *s);

/* Pearson's statistic of observed against expected counts; bins expecting less than 10 are pooled.
 * No degrees of freedom are left when fewer than two bins are. */
struct stats_chi2 stats_fit(const double *observed, const double *expected, size_t bins);

/* Do two samples of equal size come from one law? Bins with less than 20 in both together are pooled. */
struct stats_chi2 stats_same(const double *a, const double *b, size_t bins);

#endif
