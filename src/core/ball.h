/* The smallest ball that encloses a set of points, through the weights of its dual problem. */
#ifndef GBOSE_CORE_BALL_H
#define GBOSE_CORE_BALL_H

#include <stddef.h>

/* How far the result may be from optimal: with centre c = sum_j p_j x_j, every point has
 *     ||x_i - c||^2 <= (1 + GBOSE__BALL_TOLERANCE) sum_j p_j ||x_j - c||^2
 * up to GBOSE__BALL_ROUNDING ||c|| ||x_i - c||, what the rounding of coordinates does to a squared
 * distance. */
#define GBOSE__BALL_TOLERANCE 1e-6
#define GBOSE__BALL_ROUNDING 1e-14

struct gbose__ball {
    double *memory;  /* holds all that follows */
    size_t capacity; /* points that the support can hold: one more than can be affinely independent */
    size_t row;      /* doubles in a row of `right` */
    size_t size;     /* points in the support now */
    size_t steps;    /* that the last call took */
    size_t *support; /* capacity: their indices; the first is the origin of the differences */
    double *weight;  /* capacity */
    double *along;   /* row: a point or a direction in coordinates of the support */
    double *lean;    /* row: the same in coordinates of the orthonormal basis */
    double *off;     /* stride: what of it is orthogonal to the support */
    double *centre;  /* stride */
    double *basis;   /* capacity x stride: rows q_k */
    double *right;   /* capacity x row: upper triangle R with x_i - x_0 = sum_k R_ki q_k */
    double *square;  /* n: squared distances from the centre */
};

/* Room for up to n points of dimension dim. Returns 0 if there is no memory: ball->memory is then NULL. */
int gbose__ball_init(struct gbose__ball *ball, size_t n, size_t dim);

void gbose__ball_clear(struct gbose__ball *ball);

/* Weights p for the points keep[0..count-1] (rows of `points`), count >= 2, (k, l) a farthest pair of
 * them. Writes p[keep[a]] for each; for two points it is 1/2 each, and also if none are farther apart than
 * 1e-145. */
void gbose__ball_weights(double *p, struct gbose__ball *scratch, const double *points, const size_t *keep,
                         size_t count, size_t stride, size_t k, size_t l);

#endif
