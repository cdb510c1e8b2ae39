/* Dense symmetric and triangular matrices, for what is computed now and then: factors, inverses,
 * products.
 *
 * A matrix is a padded lower triangle: gbose__triangle(dim) doubles, row after row, row j beginning at
 * gbose__triangle_row(j) and padded with zeros to whole vectors (core/memory.h). A symmetric matrix is
 * given by its lower triangle. Vectors have dim entries, and an output is none of the inputs. Nothing
 * allocates. */
#ifndef GBOSE_CORE_DENSE_H
#define GBOSE_CORE_DENSE_H

#include <stddef.h>

#include "core/kernels.h"

/* The number of doubles in a padded triangle of dimension dim. */
size_t gbose__triangle(size_t dim);

/* Row j of one, to be read and written. */
static inline double *gbose__dense_row(double *triangle, size_t j)
{
    return triangle + gbose__triangle_row(j);
}

/* Cholesky, in place: B becomes the lower L with L L' = B. Returns 1, or 0 if B is not positive definite; its
 * contents are then undefined. */
int gbose__dense_factor(double *B, size_t dim);

/* The inverse of a lower triangle with a positive diagonal. */
void gbose__dense_invert(double *out, const double *in, size_t dim);

/* out = T x and out = T'x for a lower triangle T; out = M x for a symmetric M. */
void gbose__dense_times(double *out, const double *T, const double *x, size_t dim);
void gbose__dense_times_transposed(double *out, const double *T, const double *x, size_t dim);
void gbose__dense_times_symmetric(double *out, const double *M, const double *x, size_t dim);

/* ||x||^2 */
double gbose__dense_norm2(const double *x, size_t dim);

#endif
