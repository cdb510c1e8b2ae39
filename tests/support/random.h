/* The tests' own random numbers: splitmix64, and normals by Box and Muller. */
#ifndef TESTS_RANDOM_H
#define TESTS_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct random {
    uint64_t state;
};

uint64_t random_u64(struct random *r);
double random_uniform(struct random *r); /* in [0, 1) */
double random_normal(struct random *r);
size_t random_below(struct random *r, size_t n); /* 0 .. n-1 */

/* A round's contexts, n rows of dim: mostly normal; now and then a zero row, rows equal to others, all
 * rows on a line, or a scale of 1/100. */
void random_contexts(struct random *r, double *contexts, size_t n, size_t dim);

#endif
