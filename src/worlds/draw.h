/* What worlds share: laws to draw contexts and noise from, the block layout of contexts, and sine and cosine
 * from arithmetic alone, which unlike libm's give the same bytes on every machine. */
#ifndef GBOSE_WORLDS_DRAW_H
#define GBOSE_WORLDS_DRAW_H

#include "worlds/world.h"

/* The most features of a context. */
#define GBOSE__WORLD_MAX_DIM 10000

/* Uniform on the unit sphere, and in the unit ball, of dimension d. */
void gbose__draw_sphere(double *x, size_t d, struct gbose__rng *rng);
void gbose__draw_ball(double *x, size_t d, struct gbose__rng *rng);

/* Dirichlet with all d parameters `alpha`, then scaled to Euclidean length 1. */
void gbose__draw_dirichlet(double *x, size_t d, double alpha, struct gbose__rng *rng);

/* Student's t with 3 degrees of freedom, divided by its standard deviation sqrt 3. */
double gbose__draw_t3(struct gbose__rng *rng);

/* Scale x to length 1; it must not be zero. */
void gbose__draw_normalise(double *x, size_t d);

/* Sum of products, in order. */
double gbose__draw_inner(const double *x, const double *y, size_t d);

/* Absolute error below 1e-14 for |x| <= 1e6. */
double gbose__draw_sine(double x);
double gbose__draw_cosine(double x);

/* Lay contexts out in blocks: arm 0 has the zero context, arm i is nonzero in block i - 1 of d features only.
 * Sets dim = d (arms - 1) and max_arms. GBOSE_ESPEC if that is more than GBOSE__WORLD_MAX_DIM. */
int gbose__draw_blocks(struct gbose__world *w, size_t arms, size_t d, gbose_error *err);

/* The block of an arm other than 0 within its context. */
double *gbose__draw_block(const struct gbose__world *w, size_t arm, size_t d);

/* Means of contexts in blocks of d, and of dense contexts. */
void gbose__draw_block_means(struct gbose__world *w, const double *mu, size_t d);
void gbose__draw_dense_means(struct gbose__world *w, const double *mu);

#endif
