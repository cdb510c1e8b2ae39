/* Laws of probability: Student's t, chi-square and the incomplete gamma function; the normal law is in
 * core/normal.h, which this includes. Made of our own logarithm and exponential, so that results have the
 * same bytes on every machine (Student's t below 200 degrees of freedom also uses libm's atan2). */
#ifndef GBOSE_CORE_STATS_H
#define GBOSE_CORE_STATS_H

#include <stddef.h>

#include "core/normal.h"

/* The logarithm of the gamma function, for a > 0: an error of at most 1e-14, absolute or relative. */
double gbose__stats_log_gamma(double a);

/* The regularised incomplete gamma functions P(a, x) = 1/Gamma(a) int_0^x t^(a-1) e^-t dt and Q = 1 - P, and
 * their logarithms, which are finite where P and Q themselves are too small for a double. For 0.01 <= a <=
 * 1e6 and x >= 0 the relative error is below 1e-12: of P and Q where they are normal numbers, of the
 * logarithms everywhere. x may be infinite; a NaN gives a NaN. */
double gbose__stats_gamma_p(double a, double x);
double gbose__stats_gamma_q(double a, double x);
double gbose__stats_log_gamma_p(double a, double x);
double gbose__stats_log_gamma_q(double a, double x);

/* The logarithm of gamma(a, x) e^x / x^a at x = a + s, gamma being the lower incomplete gamma function: what is left when powers of
 * the order of a have cancelled. For a >= 1 of any size and s >= 0 the error is below 1e-11; for s < 0 it is so while a is below 1e6,
 * and beyond within a few sqrt(a). -INFINITY if x is not positive. */
double gbose__stats_log_gamma_scaled(double a, double s);

/* P(chi-square with df > 0 degrees of freedom > x). */
double gbose__stats_chi2_tail(double x, double df);

/* The quantile of Student's t with df degrees of freedom; SIZE_MAX: of the normal law; 0: NaN. */
double gbose__stats_t_quantile(double p, size_t df);

/* A bound that holds at all times at once, with probability 1 - alpha, on the absolute value of a sum whose
 * terms have mean 0 given the past and sum of squares V: the normal mixture sqrt((V + u) log((V + u) / (u
 * alpha^2))), with the u that makes it tightest where V is v_best. Exact if the terms are symmetric (de la
 * Pena, 1999), and otherwise in the limit of many terms, none of which dominates V. */
double gbose__stats_mixture_radius(double V, double v_best, double alpha);

#endif
