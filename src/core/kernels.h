/* Vector kernels. Lengths are whole vectors (a multiple of GBOSE__LANES) and what lies between the data
 * and that length is zero. Sums run in eight fixed lanes that are added in a fixed order, so that a result
 * has the same bytes on every instruction set. Nothing allocates, nothing fails. */
#ifndef GBOSE_CORE_KERNELS_H
#define GBOSE_CORE_KERNELS_H

#include <stddef.h>

/* a'b */
double gbose__dot(const double *a, const double *b, size_t n);

/* ||a - b||^2 */
double gbose__distance2(const double *a, const double *b, size_t n);

/* y += c x */
void gbose__axpy(double *y, double c, const double *x, size_t n);

/* A step of the square-root update, for one row: (row, sum) <- (scale row - back sum, sum + f row). */
void gbose__rotate(double *row, double *sum, double scale, double back, double f, size_t n);

#endif
