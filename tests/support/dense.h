/* Ridge regression from its definition: B is formed, in long double, and solved by Gaussian elimination with
 * partial pivoting. Shares nothing with the library. */
#ifndef TESTS_DENSE_H
#define TESTS_DENSE_H

#include <stddef.h>

#include "support/random.h"

struct dense {
    size_t dim;
    long double lambda, forget;
    long double *evidence; /* dim x dim: sum of w x x', discounted */
    long double *prior;    /* dim: diagonal of P */
    size_t turn;           /* the coordinate of P to be put back next */
    long double *y;        /* dim */
    /* by dense_solve() */
    long double *inverse; /* dim x dim: B^-1 */
    long double *mu;      /* dim: B^-1 y */
    long double *root;    /* dim x dim: lower L with B = L L' */
    long double *work;    /* 2 dim x dim */
};

void dense_init(struct dense *m, size_t dim, double lambda, double forget);
void dense_clear(struct dense *m);

/* Forget, as src/core/ridge.h documents it: the evidence and P are multiplied by the factor, then
 * ceil(10 (1 - forget) dim) coordinates of P (at most all), in turn, are set back to lambda. */
void dense_begin(struct dense *m);

/* B += w x x', y += c x */
void dense_add(struct dense *m, long double w, long double c, const long double *x);

void dense_solve(struct dense *m);

/* Of the solved system, for an x of n <= dim entries (the others are 0). */
long double dense_width(const struct dense *m, const double *x, size_t n);

/* sqrt((a - b)'B^-1 (a - b)) and mu'(a - b), for rows of n entries. */
long double dense_distance(const struct dense *m, const double *a, const double *b, size_t n);
long double dense_lead(const struct dense *m, const double *a, const double *b, size_t n);

/* A draw of N(mu, scale^2 B^-1). */
void dense_sample(const struct dense *m, long double *out, double scale, struct random *r);

#endif
