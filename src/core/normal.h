/* The normal law, from additions, multiplications, divisions and square roots alone: unlike libm's, these
 * give the same bytes on every machine. */
#ifndef GBOSE_CORE_NORMAL_H
#define GBOSE_CORE_NORMAL_H

#include <stddef.h>

/* Natural logarithm of a positive normal number; exponential, infinite above 709 and 0 below -745. Relative
 * error below 1e-15 (of the exponential: where it is a normal number). */
double gbose__log(double x);
double gbose__exp(double x);

/* P(Z <= x). Relative error below 1e-12 for x >= -37; 0 below. */
double gbose__normal_cdf(double x);

/* The x with P(Z <= x) = p, for 0 < p < 1. Relative error below 1e-14. */
double gbose__normal_quantile(double p);

#endif
