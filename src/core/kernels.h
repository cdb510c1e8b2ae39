/* Vector kernels. Lengths are whole vectors (a multiple of GBOSE__LANES) and what lies between the data
 * and that length is zero. Sums run in eight fixed lanes that are added in a fixed order, so that a result
 * has the same bytes on every instruction set. Nothing allocates, nothing fails. They are short and called with
 * short vectors, so they are compiled into their callers. */
#ifndef GBOSE_CORE_KERNELS_H
#define GBOSE_CORE_KERNELS_H

#include <stddef.h>

#include "core/memory.h"

/* The order in which the lanes are added: pairs at distance 4, then 2, then 1. */
static inline double gbose__add_lanes(const double s[GBOSE__LANES])
{
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

/* a'b */
static inline double gbose__dot(const double *restrict a, const double *restrict b, size_t n)
{
    double s[GBOSE__LANES] = {0};

    for (size_t i = 0; i < n; i += GBOSE__LANES)
        for (size_t k = 0; k < GBOSE__LANES; k++)
            s[k] += a[i + k] * b[i + k];
    return gbose__add_lanes(s);
}

/* ||a - b||^2 */
static inline double gbose__distance2(const double *restrict a, const double *restrict b, size_t n)
{
    double s[GBOSE__LANES] = {0};

    for (size_t i = 0; i < n; i += GBOSE__LANES)
        for (size_t k = 0; k < GBOSE__LANES; k++) {
            double z = a[i + k] - b[i + k];
            s[k] += z * z;
        }
    return gbose__add_lanes(s);
}

/* y += c x */
static inline void gbose__axpy(double *restrict y, double c, const double *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] += c * x[i];
}

/* A step of the square-root update, for one row: (row, sum) <- (scale row - back sum, sum + f row). */
static inline void gbose__rotate(double *restrict row, double *restrict sum, double scale, double back,
                                 double f, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double old = row[i];
        row[i] = scale * old - back * sum[i];
        sum[i] += f * old;
    }
}

#endif
