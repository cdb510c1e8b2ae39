/* The loops where the time goes. Included by kernels_baseline.c, kernels_avx2.c and kernels_avx512.c, each compiled
 * for its instruction set and each defining GBOSE__TABLE, the name of its table.
 *
 * Written once, with the compiler's vector types as wide as the target's registers: eight lanes are one, two or
 * four of them. Every operation on a number, and the order of every sum, is the same whatever the width. */
#include "core/kernels.h"

#include <math.h>
#include <string.h>

#if defined(__AVX__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
#define VEC_DOUBLES 8
#elif defined(__AVX__)
#define VEC_DOUBLES 4
#else
#define VEC_DOUBLES 2
#endif
#define PARTS (GBOSE__LANES / VEC_DOUBLES)

/* Sums that are formed side by side, so that one waits for memory while another adds. Limited by registers. */
#if defined(__SSE2__) && !defined(__AVX__)
#define ROWS 2
#else
#define ROWS 4
#endif

typedef double vec __attribute__((vector_size(8 * VEC_DOUBLES)));
typedef double loose_vec __attribute__((vector_size(8 * VEC_DOUBLES), aligned(8), may_alias));
typedef double pair __attribute__((vector_size(16)));
typedef double loose_pair __attribute__((vector_size(16), aligned(8), may_alias));
typedef int64_t mask __attribute__((vector_size(8 * VEC_DOUBLES)));

static inline vec load(const double *p)
{
    return *(const loose_vec *)p;
}

static inline void store(double *p, vec v)
{
    *(loose_vec *)p = v;
}

static inline mask is_within(vec v, double most)
{
    const mask magnitude = (mask)(vec){0} + INT64_MAX;

    return (vec)((mask)v & magnitude) <= most;
}

static inline int all_true(mask m)
{
    int64_t all = -1;

    for (size_t i = 0; i < VEC_DOUBLES; i++)
        all &= m[i];
    return all == -1;
}

static int within(const double *x, size_t n, double most)
{
    mask fine = (mask)(vec){0} - 1;
    int rest = 1;
    size_t i = 0;

    for (; i + GBOSE__LANES <= n; i += GBOSE__LANES)
        for (size_t p = 0; p < PARTS; p++)
            fine &= is_within(load(x + i + p * VEC_DOUBLES), most);
    for (; i < n; i++)
        rest &= fabs(x[i]) <= most;
    return rest & all_true(fine);
}

/* A row that is not a whole number of vectors ends with one that overlaps the one before. */
static int take(double *rows, const double *x, size_t n, size_t dim, size_t stride, double most)
{
    mask fine = (mask)(vec){0} - 1;
    int rest = 1;

    for (; n--; rows += stride, x += dim)
        if (dim < VEC_DOUBLES) {
            for (size_t i = 0; i < dim; i++) {
                rows[i] = x[i];
                rest &= fabs(x[i]) <= most;
            }
        } else {
            for (size_t i = 0; i < dim; i += VEC_DOUBLES) {
                size_t at = i + VEC_DOUBLES <= dim ? i : dim - VEC_DOUBLES;
                vec v = load(x + at);
                fine &= is_within(v, most);
                store(rows + at, v);
            }
        }
    return rest & all_true(fine);
}

struct lanes {
    vec part[PARTS];
};

/* The lanes' sum as two halves that remain to be added: the order of gbose__add_lanes(). */
static inline pair fold(const struct lanes *s)
{
#if PARTS == 1
    __m256d t = _mm512_castpd512_pd256(s->part[0]) + _mm512_extractf64x4_pd(s->part[0], 1);
    return _mm256_castpd256_pd128(t) + _mm256_extractf128_pd(t, 1);
#elif PARTS == 2
    vec t = s->part[0] + s->part[1];
    return _mm256_castpd256_pd128(t) + _mm256_extractf128_pd(t, 1);
#else
    return (s->part[0] + s->part[2]) + (s->part[1] + s->part[3]);
#endif
}

/* The sums of ROWS sets of lanes. */
static inline void add_up(double *out, const struct lanes *s)
{
    for (size_t r = 0; r < ROWS; r += 2) {
        pair a = fold(&s[r]), b = fold(&s[r + 1]);
        *(loose_pair *)(out + r) = __builtin_shufflevector(a, b, 0, 2) + __builtin_shufflevector(a, b, 1, 3);
    }
}

/* The dot products of ROWS rows with x. */
static inline void dots(double *out, const double *const *row, const double *x, size_t n)
{
    struct lanes s[ROWS];

    for (size_t r = 0; r < ROWS; r++)
        for (size_t p = 0; p < PARTS; p++)
            s[r].part[p] = (vec){0};
    for (size_t i = 0; i < n; i += GBOSE__LANES)
        for (size_t p = 0; p < PARTS; p++) {
            vec v = load(x + i + p * VEC_DOUBLES);
            for (size_t r = 0; r < ROWS; r++)
                s[r].part[p] += load(row[r] + i + p * VEC_DOUBLES) * v;
        }
    add_up(out, s);
}

/* The squared distances of ROWS rows from x. */
static inline void squares(double *out, const double *const *row, const double *x, size_t n)
{
    struct lanes s[ROWS];

    for (size_t r = 0; r < ROWS; r++)
        for (size_t p = 0; p < PARTS; p++)
            s[r].part[p] = (vec){0};
    for (size_t i = 0; i < n; i += GBOSE__LANES)
        for (size_t p = 0; p < PARTS; p++) {
            vec v = load(x + i + p * VEC_DOUBLES);
            for (size_t r = 0; r < ROWS; r++) {
                vec z = load(row[r] + i + p * VEC_DOUBLES) - v;
                s[r].part[p] += z * z;
            }
        }
    add_up(out, s);
}

/* Rows i, i + 1, ... of a list; past its end the last one, whose result is then not wanted. */
static inline size_t take_rows(const double **row, const double *rows, const size_t *index, size_t i,
                               size_t n, size_t stride)
{
    for (size_t r = 0; r < ROWS; r++) {
        size_t k = i + r < n ? i + r : n - 1;
        row[r] = rows + (index ? index[k] : k) * stride;
    }
    return n - i < ROWS ? n - i : ROWS;
}

static void all_dots(double *out, const double *rows, const double *x, size_t n, size_t stride)
{
    for (size_t i = 0; i < n; i += ROWS) {
        const double *row[ROWS];
        double sum[ROWS];
        size_t count = take_rows(row, rows, NULL, i, n, stride);

        dots(sum, row, x, stride);
        memcpy(out + i, sum, count * sizeof(double));
    }
}

static void all_squares(double *out, const double *rows, const size_t *index, const double *x, size_t n,
                        size_t stride)
{
    for (size_t i = 0; i < n; i += ROWS) {
        const double *row[ROWS];
        double sum[ROWS];
        size_t count = take_rows(row, rows, index, i, n, stride);

        squares(sum, row, x, stride);
        memcpy(out + i, sum, count * sizeof(double));
    }
}

/* ---- the triangle ---- */

static struct gbose__span find_span(const double *x, size_t stride)
{
    struct gbose__span s = {0, stride};

    while (s.begin < stride && x[s.begin] == 0)
        s.begin++;
    s.begin = s.begin / GBOSE__LANES * GBOSE__LANES;
    while (s.end > s.begin && x[s.end - 1] == 0)
        s.end--;
    s.end = gbose__pad(s.end);
    return s;
}

/* Rows j, j + 1, ..., of the triangle times x. They are of one length, since ROWS divides GBOSE__LANES. */
static inline void triangle_dots(double *out, const double *root, size_t j, size_t dim, const double *x,
                                 struct gbose__span s)
{
    size_t width = gbose__pad(j + 1), end = width < s.end ? width : s.end;
    const double *row[ROWS];

    for (size_t r = 0; r < ROWS; r++)
        row[r] = root + gbose__triangle_row(j) + (j + r < dim ? r : 0) * width + s.begin;
    dots(out, row, x + s.begin, end > s.begin ? end - s.begin : 0);
}

static void triangle_apply(double *out, const double *root, size_t dim, const double *x, const size_t *index,
                           size_t n)
{
    enum { BLOCK = 16 }; /* arms that stay in the cache while the triangle passes */
    size_t stride = gbose__pad(dim);

    for (size_t begin = 0; begin < n; begin += BLOCK) {
        size_t size = n - begin < BLOCK ? n - begin : BLOCK;
        struct gbose__span span[BLOCK];
        const double *in[BLOCK];
        double *to[BLOCK];

        for (size_t a = 0; a < size; a++) {
            size_t i = index ? index[begin + a] : begin + a;
            in[a] = x + i * stride;
            to[a] = out + i * stride;
            span[a] = find_span(in[a], stride);
        }
        for (size_t j = 0; j < dim; j += ROWS)
            for (size_t a = 0; a < size; a++)
                triangle_dots(to[a] + j, root, j, dim, in[a], span[a]);
        for (size_t a = 0; a < size; a++)
            for (size_t j = dim; j < stride; j++)
                to[a][j] = 0;
    }
}

/* From f: alpha_{j-1} for every row, one more at the end, and their square roots; the two factors of the step; and
 * which groups of eight rows have an f that is not 0. Returns the last alpha. */
static double find_factors(double *scale, double *back, double *active, double *alpha, double *root_alpha,
                           const double *f, double w, size_t begin, size_t stride)
{
    double last = 1;

    for (size_t j = begin; j < stride; j += GBOSE__LANES) {
        int any = 0;
        for (size_t k = 0; k < GBOSE__LANES; k++) {
            alpha[j + k] = last;
            any |= f[j + k] != 0;
            last += w * f[j + k] * f[j + k];
        }
        active[j / GBOSE__LANES] = any;
    }
    alpha[stride] = last;
    for (size_t j = begin; j <= stride; j++)
        root_alpha[j] = sqrt(alpha[j]);
    for (size_t j = begin; j < stride; j++) {
        scale[j] = sqrt(alpha[j] / alpha[j + 1]);
        back[j] = w * f[j] / (root_alpha[j] * root_alpha[j + 1]);
    }
    return last;
}

/* Eight columns of the triangle from top to bottom, their sum in registers. Groups of eight rows have one width. */
static inline void rotate_columns(double *root, double *sum, size_t column, size_t begin, size_t dim,
                                  const double *scale, const double *back, const double *f,
                                  const double *active)
{
    vec s[PARTS] = {0};

    for (size_t j = column > begin ? column : begin; j < dim; j += GBOSE__LANES) {
        size_t width = gbose__pad(j + 1), rows = dim - j < GBOSE__LANES ? dim - j : GBOSE__LANES;
        double *row = root + gbose__triangle_row(j) + column;

        if (active[j / GBOSE__LANES] == 0)
            continue;
        for (size_t k = j; k < j + rows; k++, row += width)
            for (size_t p = 0; p < PARTS; p++) {
                vec old = load(row + p * VEC_DOUBLES);
                store(row + p * VEC_DOUBLES, scale[k] * old - back[k] * s[p]);
                s[p] += f[k] * old;
            }
    }
    for (size_t p = 0; p < PARTS; p++)
        store(sum + column + p * VEC_DOUBLES, s[p]);
}

static double triangle_step(double *root, size_t dim, double *sum, double *work, const double *x, double w)
{
    size_t stride = gbose__pad(dim);
    double *f = work, *scale = f + stride, *back = scale + stride, *active = back + stride,
           *alpha = active + stride, *root_alpha = alpha + stride + GBOSE__LANES, last;
    struct gbose__span s = find_span(x, stride);

    for (size_t j = s.begin; j < dim; j += ROWS)
        triangle_dots(f + j, root, j, dim, x, s);
    for (size_t j = dim; j < stride; j++)
        f[j] = 0;
    last = find_factors(scale, back, active, alpha, root_alpha, f, w, s.begin, stride);
    for (size_t column = 0; column < stride; column += GBOSE__LANES)
        rotate_columns(root, sum, column, s.begin, dim, scale, back, f, active);
    return last;
}

/* ---- tiles ---- */

typedef float fvec __attribute__((vector_size(8 * VEC_DOUBLES)));
typedef float loose_fvec __attribute__((vector_size(8 * VEC_DOUBLES), aligned(4), may_alias));
typedef int32_t fmask __attribute__((vector_size(8 * VEC_DOUBLES)));

#define FLOATS (2 * VEC_DOUBLES)
#define STRIP                                                                                                \
    (GBOSE__TILE / FLOATS < 8 ? GBOSE__TILE / FLOATS : 8) /* vectors at a time: limited by registers */

static inline fvec load_floats(const float *p)
{
    return *(const loose_fvec *)p;
}

/* Are all lanes of a strip set? */
static inline int all_set(const fmask *set)
{
    uint64_t word[sizeof(fmask) / 8], all = ~(uint64_t)0;
    fmask m = set[0];

    for (size_t v = 1; v < STRIP; v++)
        m &= set[v];
    memcpy(word, &m, sizeof m);
    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        all &= word[i];
    return all == ~(uint64_t)0;
}

/* The lanes of a strip that are not set, as bits. */
static uint64_t unset_bits(const fmask *set)
{
    uint64_t bits = 0;

    for (size_t v = 0; v < STRIP; v++)
        for (size_t i = 0; i < FLOATS; i++)
            bits |= (uint64_t)(set[v][i] == 0) << (v * FLOATS + i);
    return bits;
}

/* The sum of squares only grows: as soon as it is enough for all points of a strip, the rest is not looked at. */
static uint64_t near_tile(const float *tile, const float *point, float own, size_t stride, float error)
{
    uint64_t open = 0;

    for (size_t at = 0; at < GBOSE__TILE; at += STRIP * FLOATS) {
        fvec enough[STRIP], sum[STRIP];
        fmask done[STRIP];
        size_t k = 0;

        for (size_t v = 0; v < STRIP; v++) {
            fvec need =
                (load_floats(tile + stride * GBOSE__TILE + at + v * FLOATS) - own + error) * (1 + error);
            enough[v] = need * need;
            sum[v] = (fvec){0};
        }
        do {
            for (size_t end = k + GBOSE__LANES; k < end; k++)
                for (size_t v = 0; v < STRIP; v++) {
                    fvec z = load_floats(tile + k * GBOSE__TILE + at + v * FLOATS) - point[k];
                    sum[v] += z * z;
                }
            for (size_t v = 0; v < STRIP; v++)
                done[v] = sum[v] >= enough[v];
        } while (k < stride && !all_set(done));
        if (!all_set(done))
            open |= unset_bits(done) << at;
    }
    return open;
}

static uint64_t far_tile(const float *tile, const float *point, float least, size_t stride)
{
    uint64_t open = 0;

    for (size_t at = 0; at < GBOSE__TILE; at += STRIP * FLOATS) {
        fvec dot[STRIP];
        fmask near[STRIP];

        for (size_t v = 0; v < STRIP; v++)
            dot[v] = (fvec){0};
        for (size_t k = 0; k < stride; k++)
            for (size_t v = 0; v < STRIP; v++)
                dot[v] += load_floats(tile + k * GBOSE__TILE + at + v * FLOATS) * point[k];
        for (size_t v = 0; v < STRIP; v++)
            near[v] = load_floats(tile + stride * GBOSE__TILE + at + v * FLOATS) - 2 * dot[v] < least;
        if (!all_set(near))
            open |= unset_bits(near) << at;
    }
    return open;
}

const struct gbose__kernels GBOSE__TABLE = {
    .within = within,
    .take = take,
    .dots = all_dots,
    .squares = all_squares,
    .near_tile = near_tile,
    .far_tile = far_tile,
    .triangle_apply = triangle_apply,
    .triangle_step = triangle_step,
};
