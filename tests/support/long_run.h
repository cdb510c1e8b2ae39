/* Many rounds, then one dense solve of the same sums. */
#ifndef TESTS_LONG_RUN_H
#define TESTS_LONG_RUN_H

#include <stddef.h>

/* Play `rounds` rounds of `arms` arms with a learner of centred contexts and one term a round (uniform,
 * gbose, bose), lambda=2.5 in its spec; B and y are summed in long double from contexts, reported
 * probabilities and rewards. At the end coefficients and widths must agree to the relative tolerance. */
void long_run(const char *spec, size_t dim, size_t arms, size_t rounds, double tolerance);

#endif
