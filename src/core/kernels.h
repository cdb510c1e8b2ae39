/* Vector kernels. Lengths are whole vectors (a multiple of GBOSE__LANES) and what lies between the data
 * and that length is zero. Sums run in eight fixed lanes that are added in a fixed order, so that a result
 * has the same bytes on every instruction set. Nothing allocates, nothing fails.
 *
 * The short ones below are compiled into their callers. Those where the time goes work on many rows at a
 * call, are compiled for several instruction sets (kernels_body.h), and are reached through
 * gbose__kernels. */
#ifndef GBOSE_CORE_KERNELS_H
#define GBOSE_CORE_KERNELS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/arithmetic.h"
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

/* The whole number nearest to log2 x, for an x > 0 that is not subnormal, from its bits: adding what the fraction of
 * sqrt 2 lacks of 1 carries into the exponent just where the fraction of x is larger than that of sqrt 2. */
static inline int gbose__nearest_exponent(double x)
{
    const uint64_t fraction_of_root_2 = UINT64_C(0x6a09e667f3bcd), one = UINT64_C(1) << 52;
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    return (int)((bits + (one - fraction_of_root_2)) >> 52) - 1023;
}

/* Where row j of a padded lower triangle begins. Rows are stored one after the other, row j in pad(j + 1)
 * doubles. */
static inline size_t gbose__triangle_row(size_t j)
{
    size_t q = j / GBOSE__LANES, r = j % GBOSE__LANES;

    return 32 * q * (q + 1) + 8 * r * (q + 1);
}

/* The whole vectors [begin, end) outside of which a vector is zero. */
struct gbose__span {
    size_t begin, end;
};

/* Draws that are evaluated side by side. */
#define GBOSE__BATCH 16

/* Philox blocks that rough_normals() takes at a time. */
#define GBOSE__ROUGH_BLOCKS 64

/* A tile holds GBOSE__TILE points in single precision, coordinate after coordinate, and one more number of
 * each. */
#define GBOSE__TILE 64

struct gbose__kernels {
    /* Are all numbers finite and at most `most` in magnitude? */
    int (*within)(const double *x, size_t n, double most);

    /* The same, and copy n rows of dim numbers to rows that are stride apart, stretched by the factors if there are any. */
    int (*take)(double *rows, const double *x, size_t n, size_t dim, size_t stride, double most,
                const double *factor);

    /* Multiply n rows by a row of factors, entry by entry; what is then beyond `most` is `most`. */
    void (*stretch)(double *rows, const double *factor, size_t n, size_t stride, double most);

    /* out = x y, and out = x - y, entry by entry */
    void (*multiply)(double *out, const double *x, const double *y, size_t n);
    void (*subtract)(double *out, const double *x, const double *y, size_t n);

    /* The smallest and the largest entry of each column of n rows, n > 0, and the mean; returns the sum of the
     * squared distances of the rows from their mean. */
    double (*columns)(double *least, double *largest, double *mean, const double *rows, size_t n,
                      size_t stride);

    /* The mean alone. */
    void (*means)(double *mean, const double *rows, size_t n, size_t stride);

    /* out[i] = rows_i'x for n rows */
    void (*dots)(double *out, const double *rows, const double *x, size_t n, size_t stride);

    /* out[i] = ||rows_k - x||^2 with k = index[i], or k = i if index is NULL, for i < n */
    void (*squares)(double *out, const double *rows, const size_t *index, const double *x, size_t n,
                    size_t stride);

    /* y += c x */
    void (*axpy)(double *y, double c, const double *x, size_t n);

    /* out = y + c[0] row_0 + c[1] row_1 + ..., in this order, of n rows; out may be y */
    void (*combine)(double *out, const double *y, const double *c, const double *rows, size_t n,
                    size_t stride);

    /* row_i += c[i] x for n rows */
    void (*spread)(double *rows, const double *c, const double *x, size_t n, size_t stride);

    /* y += c (x - y) */
    void (*approach)(double *y, double c, const double *x, size_t n);

    /* (x, y) <- (c x + s y, c y - s x) */
    void (*rotate)(double *x, double *y, double c, double s, size_t n);

    /* Two standard normal numbers from each of `blocks` Philox blocks, whose counters count up in
     * counter[0]: what gbose__rng_normal() gives. Leaves the counter behind the last. */
    void (*normals)(double *z, const uint32_t key[2], uint32_t counter[4], size_t blocks);

    /* Four rough ones from each block: gbose__rng_rough_normals(). */
    void (*rough_normals)(double *z, const uint32_t key[2], uint32_t counter[4], size_t blocks);

    /* Of GBOSE__BATCH draws, count who wins: contestant `favourite`, whose score is 0, or one of the
     * others in turn, whose scores are lead + factor z, row after row. z holds `columns` rows, each a
     * number for every draw. Ties go to the first contestant. The first `plus` draws count, and of their
     * reflections -z the first `minus`. */
    void (*count_wins)(double *wins, size_t favourite, const double *lead, const double *factor,
                       size_t rivals, size_t columns, size_t stride, const double *z, size_t plus,
                       size_t minus);

    /* Bit b: may ||tile_b - point|| be less than last_b - own + error? `last` is the number beside the
     * points; lengths are exact up to a fraction `error`. */
    uint64_t (*near_tile)(const float *tile, const float *point, float own, size_t stride, float error);

    /* Bit b: is last_b - 2 tile_b'point at least `least`? */
    uint64_t (*far_tile)(const float *tile, const float *point, float least, size_t stride);

    /* out_k = R x_k with k = index[i], or k = i if index is NULL, for i < n. R is a triangle of dimension
     * dim, rows of out and x are padded. Zeros at either end of an x cost nothing. */
    void (*triangle_apply)(double *out, const double *root, size_t dim, const double *x, const size_t *index,
                           size_t n);

    /* Carlson's step R'R <- (  (R'R)^-1 + w x x'  )^-1. With f = R x and alpha_j = 1 + w (f_0^2 + ... +
     * f_j^2)
     *     R_j <- sqrt(alpha_{j-1} / alpha_j) R_j  -  w f_j / sqrt(alpha_{j-1} alpha_j) sum_{i<j} f_i R_i
     * `sum` becomes the whole sum, R'R x of the old R; returns the last alpha. */
    double (*triangle_step)(double *root, size_t dim, double *sum, const double *x, double w);

    /* The triangle of x x' is added to a triangle; what is right of its diagonal is filled with anything
     * finite. Zeros at either end of x cost nothing. */
    void (*triangle_add)(double *triangle, size_t dim, const double *x);
};

/* The widest that the processor has, or what the environment variable GBOSE_ISA names. */
extern const struct gbose__kernels *gbose__kernels;

extern const struct gbose__kernels gbose__kernels_baseline, gbose__kernels_avx2, gbose__kernels_avx512;

/* "baseline", "avx2" or "avx512": use these kernels from now on; 0 if there are none of that name for this
 * processor. Not while the library is in use: for tests and benchmarks. */
int gbose__kernels_use(const char *name);

#endif
