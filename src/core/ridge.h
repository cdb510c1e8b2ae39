/* Weighted ridge regression, kept as a square root.
 *
 *     B = P + sum w x x'      y = sum c x       mu = B^-1 y
 *
 * P is the prior, lambda I. What is stored is mu and the lower triangle R with B^-1 = R'R (R is the transpose
 * of the S of the literature): then x'B^-1 x = ||R x||^2 is never negative, and one product R x is all that an x
 * needs. A rank-one term is added by Carlson's square-root step (AIAA Journal 11, 1973), which keeps R triangular
 * with a positive diagonal, and which gives B^-1 x on the way. With it mu follows by
 *
 *     mu <- mu + B_new^-1 x (c - w x'mu)
 *
 * whose rounding errors shrink as evidence grows, and which forms no number of the size of y: contexts and
 * rewards may be of any size.
 *
 * With forget = rho < 1 each step first multiplies the evidence by rho. That would let the prior vanish,
 * so that B^-1 grows without bound along quiet directions: it is put back one coordinate after another, in
 * turn, as many a step as keep every entry of P between 0.9 lambda and lambda.
 *
 * Rows of R, and all vectors, are padded with zeros to whole vectors (core/memory.h). */
#ifndef GBOSE_CORE_RIDGE_H
#define GBOSE_CORE_RIDGE_H

#include <stddef.h>
#include <stdint.h>

#include "core/bytes.h"
#include "core/dense.h"
#include "core/kernels.h"

struct gbose__ridge {
    size_t dim;
    size_t stride; /* dim, padded */
    double lambda, forget;
    double *root;         /* R, row after row; row j is padded to a whole number of vectors */
    double *mu;           /* stride */
    double *prior;        /* diagonal of P, stride */
    size_t turn;          /* the coordinate of P that is set back next */
    uint64_t steps;       /* rewards learned here: what has aged the evidence */
    double reach;         /* ||R x|| <= reach ||x|| */
    uint64_t reach_until; /* the step at which it is computed anew */
    double *weight;       /* stride: with which reach was found */
    double *x;            /* stride: a place for the caller's next x */
    double *sum;          /* scratch: stride */
    double *unit;         /* stride: zero between calls */
};

/* GBOSE_OK; or GBOSE_ENOMEM or GBOSE_ESIZE, and then there is nothing to clear. */
int gbose__ridge_init(struct gbose__ridge *m, size_t dim, double lambda, double forget);
void gbose__ridge_clear(struct gbose__ridge *m);
/* Forget all that was learned; the steps stay. */
void gbose__ridge_reset(struct gbose__ridge *m);
/* All that was learned, with the prior, counts `factor` times as much: mu stays what it is. */
void gbose__ridge_multiply(struct gbose__ridge *m, double factor);
int gbose__ridge_copy(struct gbose__ridge *to, const struct gbose__ridge *from);

/* One reward: begin (forget), then any number of terms. A term is B += w x x', y += c x, w >= 0; x has
 * `stride` entries and may be m->x. */
void gbose__ridge_begin(struct gbose__ridge *m);
void gbose__ridge_term(struct gbose__ridge *m, const double *x, double w, double c);
/* The same for who knows already by how much mu misses it: c - w mu'x. */
void gbose__ridge_correct(struct gbose__ridge *m, const double *x, double w, double miss);

/* The images R x of n vectors, rows of `stride` entries: of those that `index` lists, or all if it is
 * NULL. Zeros at either end of x cost nothing. */
void gbose__ridge_apply(const struct gbose__ridge *m, double *out, const double *x, const size_t *index,
                        size_t n);

/* sqrt(x' B^-1 x) for an x of n <= dim entries, each of which is first multiplied by that of `scale` (NULL: by
 * 1), the others being zero; needs no padding, writes nothing. */
double gbose__ridge_width(const struct gbose__ridge *m, const double *x, const double *scale, size_t n);

/* Add to `into` the evidence that `from` has and `common`, an earlier state of it (NULL: none), had not:
 * the common evidence has aged in `from` by the steps it took since. GBOSE_OK, GBOSE_ENOMEM, or
 * GBOSE_ENUMERIC if the sum is not positive definite or not finite; the new regression is in `out`, which
 * is initialised by this. */
int gbose__ridge_merge(struct gbose__ridge *out, const struct gbose__ridge *into,
                       const struct gbose__ridge *from, const struct gbose__ridge *common);

/* The regression that `from` would be if it had had `more` features from the start, in the places from
 * `at` on, which were zero in every term so far, and the penalty lambda. If that is the penalty it has,
 * and forget is 1, then R and mu keep their numbers. GBOSE_OK, GBOSE_ENOMEM, GBOSE_ESIZE, GBOSE_ENUMERIC;
 * `out` is initialised by this. */
int gbose__ridge_grow(struct gbose__ridge *out, const struct gbose__ridge *from, size_t at, size_t more,
                      double lambda);

/* Other units. From now on feature j is measured in units that are 2^shift[j] times as large (dim numbers, each
 * at most 1000 in magnitude), so that it comes as 2^-shift[j] times the number it would have been. The evidence
 * stays what it was; the prior, which is lambda in any units, is moved with them. What was learned of a feature
 * in units that were far too large, 2^k times as large as now, is known up to 4^k roundings. */
void gbose__ridge_rescale(struct gbose__ridge *m, const int *shift);

/* R without padding, mu, P, turn, steps. */
void gbose__ridge_write(const struct gbose__ridge *m, struct gbose__writer *w);
void gbose__ridge_read(struct gbose__ridge *m, struct gbose__reader *r);

#endif
