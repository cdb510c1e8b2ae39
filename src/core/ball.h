/* The smallest ball that encloses a set of points, through the weights of its dual problem. */
#ifndef GBOSE_CORE_BALL_H
#define GBOSE_CORE_BALL_H

#include <stddef.h>

/* How far the result may be from optimal: with centre c = sum_j p_j x_j, every point has
 * ||x_i - c||^2 <= (1 + GBOSE__BALL_TOLERANCE) sum_j p_j ||x_j - c||^2. */
#define GBOSE__BALL_TOLERANCE 1e-6

/* The largest support that is kept: the optimum needs dim + 1 points at the most. */
static inline size_t gbose__ball_support(size_t n, size_t dim)
{
    return n < dim + 8 ? n : dim + 8;
}

struct gbose__ball {
    size_t capacity; /* of the support: gbose__ball_support() or more */
    size_t *support; /* capacity */
    double *weight;  /* capacity */
    double *pull;    /* capacity */
    double *between; /* capacity^2: squared distances within the support */
    double *centre;  /* stride */
};

/* Weights p for the points keep[0..count-1] (rows of `points`), count >= 2, (k, l) a farthest pair of them.
 * Writes p[keep[a]] for each; for two points it is 1/2 each. */
void gbose__ball_weights(double *p, struct gbose__ball *scratch, const double *points, const size_t *keep,
                         size_t count, size_t stride, size_t k, size_t l);

#endif
