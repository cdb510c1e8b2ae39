/* The loops where the time goes. Included by kernels_baseline.c, kernels_avx2.c and kernels_avx512.c, each
 * compiled for its instruction set and each defining GBOSE__TABLE, the name of its table.
 *
 * Written once, with the compiler's vector types as wide as the target's registers: eight lanes are one,
 * two or four of them. Every operation on a number, and the order of every sum, is the same whatever the
 * width. */
#include "core/kernels.h"

#include <math.h>
#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "core/normal.h"
#include "core/normal_tables.h"

/* X86 is the width of the registers in bits where intrinsics help, otherwise 0. The tests set
 * GBOSE__VEC_DOUBLES, to try widths that the processor does not have: without intrinsics. */
#if defined(GBOSE__VEC_DOUBLES)
#define VEC_DOUBLES GBOSE__VEC_DOUBLES
#define X86 0
#elif defined(__AVX512F__)
#define VEC_DOUBLES 8
#define X86 512
#elif defined(__AVX__)
#define VEC_DOUBLES 4
#define X86 256
#elif defined(__SSE2__)
#define VEC_DOUBLES 2
#define X86 128
#else
#define VEC_DOUBLES 2
#define X86 0
#endif
#define PARTS (GBOSE__LANES / VEC_DOUBLES)

/* Sums that are formed side by side, so that one waits for memory while another adds. Limited by
 * registers. */
#if X86 == 128
#define ROWS 2
#else
#define ROWS 4
#endif

typedef double vec __attribute__((vector_size(8 * VEC_DOUBLES)));
typedef double loose_vec __attribute__((vector_size(8 * VEC_DOUBLES), aligned(8), may_alias));
typedef double pair __attribute__((vector_size(16)));
typedef double loose_pair __attribute__((vector_size(16), aligned(8), may_alias));
typedef int64_t mask __attribute__((vector_size(8 * VEC_DOUBLES)));

typedef float fvec __attribute__((vector_size(8 * VEC_DOUBLES)));
typedef float loose_fvec __attribute__((vector_size(8 * VEC_DOUBLES), aligned(4), may_alias));
typedef int32_t fmask __attribute__((vector_size(8 * VEC_DOUBLES)));

#define FLOATS (2 * VEC_DOUBLES)

static inline vec load(const double *p)
{
    return *(const loose_vec *)p;
}

static inline void store(double *p, vec v)
{
    *(loose_vec *)p = v;
}

static inline mask is_within(vec v, vec most)
{
    const mask magnitude = (mask)(vec){0} + INT64_MAX;

    return (vec)((mask)v & magnitude) <= most;
}

/* Bit i: is lane i set? */
static inline unsigned bits_of(mask m)
{
#if X86 == 512
    return _mm512_test_epi64_mask((__m512i)m, (__m512i)m);
#elif X86 == 256
    return (unsigned)_mm256_movemask_pd((__m256d)m);
#elif X86 == 128
    return (unsigned)_mm_movemask_pd((__m128d)m);
#else
    unsigned bits = 0;

    for (unsigned i = 0; i < VEC_DOUBLES; i++)
        bits |= (unsigned)(m[i] & 1) << i;
    return bits;
#endif
}

static inline int all_true(mask m)
{
    return bits_of(m) == (1u << VEC_DOUBLES) - 1;
}

static int within(const double *x, size_t n, double most)
{
    const vec high = (vec){0} + most;
    mask fine = (mask)(vec){0} - 1;
    int rest = 1;
    size_t i = 0;

    for (; i + GBOSE__LANES <= n; i += GBOSE__LANES)
        for (size_t p = 0; p < PARTS; p++)
            fine &= is_within(load(x + i + p * VEC_DOUBLES), high);
    for (; i < n; i++)
        rest &= fabs(x[i]) <= most;
    return rest & all_true(fine);
}

static inline vec choose(mask m, vec yes, vec no)
{
    return (vec)(((mask)yes & m) | ((mask)no & ~m));
}

/* In each lane a if it is smaller than b (larger than b), else b. */
static inline vec smaller(vec a, vec b)
{
#if X86 == 512
    return _mm512_min_pd(a, b);
#elif X86 == 256
    return _mm256_min_pd(a, b);
#elif X86 == 128
    return _mm_min_pd(a, b);
#else
    return choose(a < b, a, b);
#endif
}

static inline vec larger(vec a, vec b)
{
#if X86 == 512
    return _mm512_max_pd(a, b);
#elif X86 == 256
    return _mm256_max_pd(a, b);
#elif X86 == 128
    return _mm_max_pd(a, b);
#else
    return choose(a > b, a, b);
#endif
}

static void stretch(double *rows, const double *factor, size_t n, size_t stride, double most)
{
    const vec high = (vec){0} + most, low = -high;

    for (; n--; rows += stride)
        for (size_t i = 0; i < stride; i += GBOSE__LANES)
            for (size_t p = 0; p < PARTS; p++) {
                size_t at = i + p * VEC_DOUBLES;
                vec v = load(rows + at) * load(factor + at);

                store(rows + at, larger(smaller(v, high), low));
            }
}

/* Take a vector; is it within `high`? */
static inline mask take_vector(double *to, const double *x, vec high, const double *factor)
{
    vec v = load(x);

    store(to, factor ? larger(smaller(v * load(factor), high), -high) : v);
    return is_within(v, high);
}

/* A row that is not a whole number of vectors ends with one that overlaps the one before. */
static inline int take_rows(double *rows, const double *x, size_t n, size_t dim, size_t stride, double most,
                            const double *factor)
{
    const vec high = (vec){0} + most;
    size_t last = dim < VEC_DOUBLES ? 0 : dim - VEC_DOUBLES;
    mask fine = (mask)(vec){0} - 1;
    int rest = 1;

    for (; n--; rows += stride, x += dim) {
        for (size_t i = 0; i < last; i += VEC_DOUBLES)
            fine &= take_vector(rows + i, x + i, high, factor ? factor + i : NULL);
        if (dim >= VEC_DOUBLES)
            fine &= take_vector(rows + last, x + last, high, factor ? factor + last : NULL);
        for (size_t i = 0; i < dim && dim < VEC_DOUBLES; i++) {
            double v = factor ? x[i] * factor[i] : x[i];

            rows[i] = v > most ? most : v < -most ? -most : v;
            rest &= fabs(x[i]) <= most;
        }
    }
    return rest & all_true(fine);
}

static int take(double *rows, const double *x, size_t n, size_t dim, size_t stride, double most,
                const double *factor)
{
    return factor ? take_rows(rows, x, n, dim, stride, most, factor)
                  : take_rows(rows, x, n, dim, stride, most, NULL);
}

static void multiply(double *out, const double *x, const double *y, size_t n)
{
    for (size_t i = 0; i < n; i += GBOSE__LANES)
        for (size_t p = 0; p < PARTS; p++) {
            size_t at = i + p * VEC_DOUBLES;
            store(out + at, load(x + at) * load(y + at));
        }
}

static void subtract(double *out, const double *x, const double *y, size_t n)
{
    for (size_t i = 0; i < n; i += GBOSE__LANES)
        for (size_t p = 0; p < PARTS; p++) {
            size_t at = i + p * VEC_DOUBLES;
            store(out + at, load(x + at) - load(y + at));
        }
}

/* Distances are taken from the first row, and what that is off the mean is taken off their squares. */
static double columns(double *least, double *largest, double *mean, const double *rows, size_t n,
                      size_t stride)
{
    double lane[GBOSE__LANES] = {0}, share = 1 / (double)n, sum;

    for (size_t i = 0; i < stride; i += VEC_DOUBLES) {
        vec first = load(rows + i), low = first, high = first, off = {0}, square = {0};

        for (size_t k = 1; k < n; k++) {
            vec v = load(rows + k * stride + i), z = v - first;

            low = smaller(v, low);
            high = larger(v, high);
            off += z;
            square += z * z;
        }
        store(least + i, low);
        store(largest + i, high);
        store(mean + i, first + share * off);
        store(lane + i % GBOSE__LANES, load(lane + i % GBOSE__LANES) + (square - share * off * off));
    }
    sum = gbose__add_lanes(lane);
    return sum > 0 ? sum : 0;
}

static void means(double *mean, const double *rows, size_t n, size_t stride)
{
    double share = 1 / (double)n;

    for (size_t i = 0; i < stride; i += GBOSE__LANES) {
        vec first[PARTS], off[PARTS];

        for (size_t p = 0; p < PARTS; p++) {
            first[p] = load(rows + i + p * VEC_DOUBLES);
            off[p] = (vec){0};
        }
        for (size_t k = 1; k < n; k++)
            for (size_t p = 0; p < PARTS; p++)
                off[p] += load(rows + k * stride + i + p * VEC_DOUBLES) - first[p];
        for (size_t p = 0; p < PARTS; p++)
            store(mean + i + p * VEC_DOUBLES, first[p] + share * off[p]);
    }
}

struct lanes {
    vec part[PARTS];
};

/* The lanes' sum as two halves that remain to be added: the order of gbose__add_lanes(). */
static inline pair fold(const struct lanes *s)
{
#if X86 == 512
    __m256d t = _mm512_castpd512_pd256(s->part[0]) + _mm512_extractf64x4_pd(s->part[0], 1);
    return _mm256_castpd256_pd128(t) + _mm256_extractf128_pd(t, 1);
#elif X86 == 256
    vec t = s->part[0] + s->part[1];
    return _mm256_castpd256_pd128(t) + _mm256_extractf128_pd(t, 1);
#elif PARTS == 4
    return (s->part[0] + s->part[2]) + (s->part[1] + s->part[3]);
#else
    double lane[GBOSE__LANES];

    memcpy(lane, s, sizeof lane);
    return (pair){(lane[0] + lane[4]) + (lane[2] + lane[6]), (lane[1] + lane[5]) + (lane[3] + lane[7])};
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

/* The dot products of ROWS rows with x, n > 0. The first products begin the sums. */
static inline void dots(double *out, const double *const *row, const double *x, size_t n)
{
    struct lanes s[ROWS];

    for (size_t p = 0; p < PARTS; p++) {
        vec v = load(x + p * VEC_DOUBLES);
        for (size_t r = 0; r < ROWS; r++)
            s[r].part[p] = load(row[r] + p * VEC_DOUBLES) * v;
    }
    for (size_t i = GBOSE__LANES; i < n; i += GBOSE__LANES)
        for (size_t p = 0; p < PARTS; p++) {
            vec v = load(x + i + p * VEC_DOUBLES);
            for (size_t r = 0; r < ROWS; r++)
                s[r].part[p] += load(row[r] + i + p * VEC_DOUBLES) * v;
        }
    add_up(out, s);
}

/* The squared distances of ROWS rows from x, n > 0. */
static inline void squares(double *out, const double *const *row, const double *x, size_t n)
{
    struct lanes s[ROWS];

    for (size_t p = 0; p < PARTS; p++) {
        vec v = load(x + p * VEC_DOUBLES);
        for (size_t r = 0; r < ROWS; r++) {
            vec z = load(row[r] + p * VEC_DOUBLES) - v;
            s[r].part[p] = z * z;
        }
    }
    for (size_t i = GBOSE__LANES; i < n; i += GBOSE__LANES)
        for (size_t p = 0; p < PARTS; p++) {
            vec v = load(x + i + p * VEC_DOUBLES);
            for (size_t r = 0; r < ROWS; r++) {
                vec z = load(row[r] + i + p * VEC_DOUBLES) - v;
                s[r].part[p] += z * z;
            }
        }
    add_up(out, s);
}

/* One of the two above, for each of n rows. The last ROWS overlap those before, or if n is less, the last
 * row stands in for those that are missing. */
static inline void for_all_rows(void (*kernel)(double *, const double *const *, const double *, size_t),
                                double *out, const double *rows, const size_t *index, const double *x,
                                size_t n, size_t stride)
{
    const double *row[ROWS];
    double sum[ROWS];

    for (size_t i = 0; i < n && n >= ROWS; i += ROWS) {
        size_t at = i + ROWS <= n ? i : n - ROWS;

        for (size_t r = 0; r < ROWS; r++)
            row[r] = rows + (index ? index[at + r] : at + r) * stride;
        kernel(out + at, row, x, stride);
    }
    if (n == 0 || n >= ROWS)
        return;
    for (size_t r = 0; r < ROWS; r++) {
        size_t k = r < n ? r : n - 1;
        row[r] = rows + (index ? index[k] : k) * stride;
    }
    kernel(sum, row, x, stride);
    for (size_t r = 0; r < n; r++)
        out[r] = sum[r];
}

static void all_dots(double *out, const double *rows, const double *x, size_t n, size_t stride)
{
    for_all_rows(dots, out, rows, NULL, x, n, stride);
}

static void all_squares(double *out, const double *rows, const size_t *index, const double *x, size_t n,
                        size_t stride)
{
    for_all_rows(squares, out, rows, index, x, n, stride);
}

static void axpy(double *y, double c, const double *x, size_t n)
{
    for (size_t i = 0; i < n; i += GBOSE__LANES)
        for (size_t p = 0; p < PARTS; p++) {
            size_t at = i + p * VEC_DOUBLES;
            store(y + at, load(y + at) + c * load(x + at));
        }
}

static void combine(double *out, const double *y, const double *c, const double *rows, size_t n,
                    size_t stride)
{
    for (size_t i = 0; i < stride; i += GBOSE__LANES) {
        const double *row = rows + i;
        vec sum[PARTS];

        for (size_t p = 0; p < PARTS; p++)
            sum[p] = load(y + i + p * VEC_DOUBLES);
        for (size_t k = 0; k < n; k++, row += stride)
            for (size_t p = 0; p < PARTS; p++)
                sum[p] += c[k] * load(row + p * VEC_DOUBLES);
        for (size_t p = 0; p < PARTS; p++)
            store(out + i + p * VEC_DOUBLES, sum[p]);
    }
}

/* Add multiples of x, of `width` numbers, to n rows that are stride apart, ROWS of them at a time. */
static inline void add_to_rows(double *rows, const double *c, const double *x, size_t n, size_t stride,
                               size_t width)
{
    for (; n >= ROWS; n -= ROWS, c += ROWS, rows += ROWS * stride) {
        double factor[ROWS];

        memcpy(factor, c, sizeof factor); /* before a store that might change them */
        for (size_t i = 0; i < width; i += GBOSE__LANES)
            for (size_t p = 0; p < PARTS; p++) {
                size_t at = i + p * VEC_DOUBLES;
                vec v = load(x + at);

                for (size_t r = 0; r < ROWS; r++)
                    store(rows + r * stride + at, load(rows + r * stride + at) + factor[r] * v);
            }
    }
    for (; n; n--, c++, rows += stride)
        axpy(rows, *c, x, width);
}

static void spread(double *rows, const double *c, const double *x, size_t n, size_t stride)
{
    add_to_rows(rows, c, x, n, stride, stride);
}

static void approach(double *y, double c, const double *x, size_t n)
{
    for (size_t i = 0; i < n; i += GBOSE__LANES)
        for (size_t p = 0; p < PARTS; p++) {
            size_t at = i + p * VEC_DOUBLES;
            vec old = load(y + at);
            store(y + at, old + c * (load(x + at) - old));
        }
}

static void rotate(double *x, double *y, double c, double s, size_t n)
{
    for (size_t i = 0; i < n; i += GBOSE__LANES)
        for (size_t p = 0; p < PARTS; p++) {
            size_t at = i + p * VEC_DOUBLES;
            vec a = load(x + at), b = load(y + at);
            store(x + at, c * a + s * b);
            store(y + at, c * b - s * a);
        }
}

/* ---- the triangle ---- */

/* Is one of eight numbers not 0? */
static inline int has_any(const double *f)
{
    unsigned any = 0;

    for (size_t p = 0; p < PARTS; p++)
        any |= bits_of((mask)(load(f + p * VEC_DOUBLES) != 0.0));
    return any != 0;
}

static struct gbose__span find_span(const double *x, size_t stride)
{
    struct gbose__span s = {0, stride};

    while (s.begin < stride && !has_any(x + s.begin))
        s.begin += GBOSE__LANES;
    while (s.end > s.begin && !has_any(x + s.end - GBOSE__LANES))
        s.end -= GBOSE__LANES;
    return s;
}

/* Rows j, j + 1, ... of the triangle. They are of one length, since ROWS divides GBOSE__LANES; past the
 * last one it stands in for those that are missing. */
static inline void find_rows(const double **row, const double *root, size_t j, size_t dim)
{
    const double *first = root + gbose__triangle_row(j);
    size_t width = gbose__pad(j + 1), last = dim - 1 - j;

    for (size_t r = 0; r < ROWS; r++)
        row[r] = first + (r < last ? r : last) * width;
}

/* Such rows, of some width, times x. */
static inline void span_dots(double *out, const double *const *row, size_t width, const double *x,
                             struct gbose__span s)
{
    size_t end = width < s.end ? width : s.end;
    const double *part[ROWS];

    for (size_t r = 0; r < ROWS; r++)
        part[r] = row[r] + s.begin;
    if (end > s.begin)
        dots(out, part, x + s.begin, end - s.begin);
    else
        memset(out, 0, ROWS * sizeof(double));
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
        for (size_t j = 0; j < dim; j += ROWS) {
            size_t width = gbose__pad(j + 1);
            const double *row[ROWS];

            find_rows(row, root, j, dim);
            for (size_t a = 0; a < size; a++)
                if (span[a].begin == 0 && span[a].end >= width)
                    dots(to[a] + j, row, in[a], width);
                else
                    span_dots(to[a] + j, row, width, in[a], span[a]);
        }
        for (size_t a = 0; a < size; a++)
            for (size_t j = dim; j < stride; j++)
                to[a][j] = 0;
    }
}

/* Rows that a step takes at a time: they stay in the cache, and the roots of one do not wait for those of
 * another. */
#define PANEL 32

struct panel {
    double f[PANEL], scale[PANEL], back[PANEL];
    int active[PANEL / GBOSE__LANES]; /* has this group of eight rows an f that is not 0? */
};

/* Row `first` and those after it, none of which is before s.begin: f, and from alpha before them the two factors.
 * Returns the alpha behind them. */
static inline double find_factors(struct panel *q, double alpha, const double *root, size_t first, size_t dim,
                                  const double *x, struct gbose__span s, double w)
{
    size_t count = dim - first < PANEL ? dim - first : PANEL, rows = gbose__pad(count);
    double before[PANEL + 1], root_before[PANEL + 1];

    for (size_t k = 0; k < count; k += ROWS) {
        size_t width = gbose__pad(first + k + 1), end = width < s.end ? width : s.end;
        const double *row[ROWS];

        find_rows(row, root + s.begin, first + k, dim);
        dots(q->f + k, row, x + s.begin, end - s.begin);
    }
    for (size_t k = count; k < rows; k++)
        q->f[k] = 0;
    for (size_t k = 0; k < rows; k += GBOSE__LANES)
        q->active[k / GBOSE__LANES] = has_any(q->f + k);
    before[0] = alpha;
    for (size_t k = 0; k < rows; k++)
        before[k + 1] = w * q->f[k] * q->f[k];
    for (size_t k = 0; k < rows; k++)
        before[k + 1] = alpha += before[k + 1];
    for (size_t k = 0; k <= rows; k++)
        root_before[k] = sqrt(before[k]);
    for (size_t k = 0; k < rows; k++) {
        q->scale[k] = sqrt(before[k] / before[k + 1]);
        q->back[k] = w * q->f[k] / (root_before[k] * root_before[k + 1]);
    }
    return alpha;
}

/* Eight columns of a panel from top to bottom, their sum in registers. Groups of eight rows have one
 * width, and lie one behind the other. */
static inline void rotate_columns(double *root, double *sum, size_t column, size_t first, size_t count,
                                  const struct panel *q)
{
    size_t k = column > first ? column - first : 0, width = gbose__pad(first + k + 1);
    double *group = root + gbose__triangle_row(first + k) + column;
    vec s[PARTS];

    for (size_t p = 0; p < PARTS; p++)
        s[p] = load(sum + column + p * VEC_DOUBLES);
    for (; k < count; k += GBOSE__LANES, group += GBOSE__LANES * width, width += GBOSE__LANES) {
        size_t last = count < k + GBOSE__LANES ? count : k + GBOSE__LANES;
        double *row = group;

        if (!q->active[k / GBOSE__LANES])
            continue;
        for (size_t i = k; i < last; i++, row += width) {
            double scale = q->scale[i], back = q->back[i],
                   f = q->f[i]; /* before a store that might change them */

            for (size_t p = 0; p < PARTS; p++) {
                vec old = load(row + p * VEC_DOUBLES);
                store(row + p * VEC_DOUBLES, scale * old - back * s[p]);
                s[p] += f * old;
            }
        }
    }
    for (size_t p = 0; p < PARTS; p++)
        store(sum + column + p * VEC_DOUBLES, s[p]);
}

static double triangle_step(double *root, size_t dim, double *sum, const double *x, double w)
{
    struct gbose__span s = find_span(x, gbose__pad(dim));
    double alpha = 1;

    memset(sum, 0, gbose__pad(dim) * sizeof(double));
    for (size_t first = s.begin; first < dim; first += PANEL) {
        size_t count = dim - first < PANEL ? dim - first : PANEL;
        struct panel q;

        alpha = find_factors(&q, alpha, root, first, dim, x, s, w);
        for (size_t column = 0; column < first + count; column += GBOSE__LANES)
            rotate_columns(root, sum, column, first, count, &q);
    }
    return alpha;
}

static void triangle_add(double *triangle, size_t dim, const double *x)
{
    struct gbose__span s = find_span(x, gbose__pad(dim));
    size_t end = s.end < dim ? s.end : dim;

    for (size_t j = s.begin; j < end; j += GBOSE__LANES) { /* rows of one width */
        size_t width = gbose__pad(j + 1), count = end - j < GBOSE__LANES ? end - j : GBOSE__LANES;

        add_to_rows(triangle + gbose__triangle_row(j) + s.begin, x + j, x + s.begin, count, width,
                    width - s.begin);
    }
}

/* ---- tiles ---- */

/* Vectors at a time: limited by registers. */
#define STRIP (GBOSE__TILE / FLOATS < 8 ? GBOSE__TILE / FLOATS : 8)

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

/* The sum of squares only grows: as soon as it is enough for all points of a strip, the rest is not looked
 * at. */
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

/* ---- normal numbers ---- */

typedef uint64_t words __attribute__((vector_size(8 * VEC_DOUBLES)));

/* The low halves of the words times b. */
static inline words times(words a, uint32_t b)
{
#if X86 == 512
    return (words)_mm512_mul_epu32((__m512i)a, _mm512_set1_epi64(b));
#elif X86 == 256
    return (words)_mm256_mul_epu32((__m256i)a, _mm256_set1_epi64x(b));
#elif X86 == 128
    return (words)_mm_mul_epu32((__m128i)a, _mm_set1_epi64x(b));
#else
    return (a & UINT32_MAX) * (uint64_t)b;
#endif
}

static inline vec square_root(vec x)
{
#if X86 == 512
    return _mm512_sqrt_pd(x);
#elif X86 == 256
    return _mm256_sqrt_pd(x);
#elif X86 == 128
    return _mm_sqrt_pd(x);
#else
    for (size_t i = 0; i < VEC_DOUBLES; i++)
        x[i] = sqrt(x[i]);
    return x;
#endif
}

static inline vec polynomial(const double *c, int n, vec x)
{
    vec y = (vec){0} + c[n - 1];

    for (int i = n - 2; i >= 0; i--)
        y = y * x + c[i];
    return y;
}

/* Philox 4x32-10 of a vector of counters: the first and second word of each block, then the third and
 * fourth. */
static inline void philox(words u[2], const uint32_t key[2], const uint32_t counter[4])
{
    const words low = (words){0} + UINT32_MAX;
    words c0 = {0}, c1 = (words){0} + counter[1],
          c2 = (words){0} + counter[2]; /* in the low half of each lane */
    words c3 = (words){0} + counter[3];
    uint32_t k0 = key[0], k1 = key[1];

    for (uint32_t i = 0; i < VEC_DOUBLES; i++)
        c0[i] = counter[0] + i;
    for (int round = 0; round < 10; round++) {
        words p0 = times(c0, 0xD2511F53), p1 = times(c2, 0xCD9E8D57);
        c0 = (p1 >> 32) ^ c1 ^ k0;
        c1 = p1;
        c2 = (p0 >> 32) ^ c3 ^ k1;
        c3 = p0;
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
    u[0] = (c1 << 32) | (c0 & low);
    u[1] = (c3 << 32) | (c2 & low);
}

/* (n + 1/2) 2^-52, n the upper 52 bits, which are put behind a 1. */
static inline vec open_uniform(words u)
{
    return ((vec)(u >> 12 | (uint64_t)0x3ff << 52) - 1.0) + 0x1p-53;
}

static inline vec central_quantile(vec p)
{
    vec q = p - 0.5, r = 0.180625 - q * q;

    return q * polynomial(centre_top, 8, r) / polynomial(centre_bottom, 8, r);
}

/* gbose__log() of numbers in (0, 1) */
static inline vec logarithm(vec x)
{
    const uint64_t magic =
        0x4338000000000000; /* 1.5 2^52: adding a small integer to it is adding to its value */
    words bits = (words)x, e = (bits >> 52) - 1022;
    vec m = (vec)((bits & 0xfffffffffffff) | (uint64_t)0x3fe << 52), s, exponent;
    mask small = m < SQRT_HALF;

    m = choose(small, m * 2.0, m);
    e += (words)small; /* less 1 */
    exponent = (vec)(e + magic) - 0x1.8p52;
    s = (m - 1.0) / (m + 1.0);
    return (2.0 * s * polynomial(log_odd, 11, s * s) + exponent * LN2_LOW) + exponent * LN2_HIGH;
}

/* z[at[i]] <- the quantile of u[at[i]], for the tails; there is room for a vector's worth more of `at`. */
static void tail_quantiles(double *z, uint32_t *at, const double *u, size_t n)
{
    for (size_t i = n; i % VEC_DOUBLES; i++)
        at[i] = at[0];
    for (size_t i = 0; i < n; i += VEC_DOUBLES) {
        vec p, r, x;
        mask lower;

        for (size_t k = 0; k < VEC_DOUBLES; k++)
            p[k] = u[at[i + k]];
        lower = p < 0.5;
        r = square_root(-logarithm(choose(lower, p, 1.0 - p)));
        x = polynomial(tail_top, 8, r - 1.6) / polynomial(tail_bottom, 8, r - 1.6);
        x = choose(lower, -x, x);
        for (size_t k = 0; k < VEC_DOUBLES; k++)
            z[at[i + k]] = r[k] <= QUANTILE_TAIL ? x[k] : gbose__normal_quantile(p[k]);
    }
}

/* The middle's formula for all of a batch, then the tails, side by side as well. */
static void normals(double *z, const uint32_t key[2], uint32_t counter[4], size_t blocks)
{
    enum { BATCH = 64 }; /* blocks, two numbers each */

    while (blocks) {
        size_t size = blocks < BATCH ? blocks : BATCH, tails = 0;
        double u[2 * BATCH + GBOSE__LANES], x[2 * BATCH + GBOSE__LANES];
        uint32_t at[2 * BATCH + GBOSE__LANES];

        for (size_t b = 0; b < size; b += VEC_DOUBLES) {
            words block[2];
            vec first, second;

            philox(block, key, counter);
            counter[0] += (uint32_t)(size - b < VEC_DOUBLES ? size - b : VEC_DOUBLES);
            first = open_uniform(block[0]);
            second = open_uniform(block[1]);
            for (size_t i = 0; i < VEC_DOUBLES; i++) {
                u[2 * (b + i)] = first[i];
                u[2 * (b + i) + 1] = second[i];
            }
        }
        for (size_t i = 0; i < 2 * size; i += VEC_DOUBLES) {
            vec p = load(u + i);
            unsigned tail = ~bits_of(is_within(p - 0.5, (vec){0} + QUANTILE_CENTRE));

            store(x + i, central_quantile(p));
            for (uint32_t k = 0; k < VEC_DOUBLES; k++) {
                at[tails] = (uint32_t)i + k;
                tails += tail >> k & (i + k < 2 * size);
            }
        }
        memcpy(z, x, 2 * size * sizeof(double));
        tail_quantiles(z, at, u, tails);
        z += 2 * size;
        blocks -= size;
    }
}

/* ---- rough normal numbers: the same in single precision ---- */

static inline fvec rough_root(fvec x)
{
#if X86 == 512
    return _mm512_sqrt_ps(x);
#elif X86 == 256
    return _mm256_sqrt_ps(x);
#elif X86 == 128
    return _mm_sqrt_ps(x);
#else
    for (size_t i = 0; i < FLOATS; i++)
        x[i] = sqrtf(x[i]);
    return x;
#endif
}

static inline unsigned float_bits(fmask m)
{
#if X86 == 512
    return _mm512_test_epi32_mask((__m512i)m, (__m512i)m);
#elif X86 == 256
    return (unsigned)_mm256_movemask_ps((__m256)m);
#elif X86 == 128
    return (unsigned)_mm_movemask_ps((__m128)m);
#else
    unsigned bits = 0;

    for (unsigned i = 0; i < FLOATS; i++)
        bits |= (unsigned)(m[i] & 1) << i;
    return bits;
#endif
}

static inline fvec rough_polynomial(const float *c, int n, fvec x)
{
    fvec y = (fvec){0} + c[n - 1];

    for (int i = n - 2; i >= 0; i--)
        y = y * x + c[i];
    return y;
}

static inline fvec rough_logarithm(fvec x)
{
    static const float odd[] = {1.0F, 1.0F / 3, 1.0F / 5, 1.0F / 7, 1.0F / 9};
    fmask bits = (fmask)x, e = (bits >> 23) - 126, small;
    fvec m = (fvec)((bits & 0x7fffff) | 0x3f000000), s;

    small = m < (float)SQRT_HALF;
    m = (fvec)(((fmask)(m * 2.0F) & small) | ((fmask)m & ~small));
    e += small; /* less 1 */
    s = (m - 1.0F) / (m + 1.0F);
    return 2.0F * s * rough_polynomial(odd, 5, s * s) + __builtin_convertvector(e, fvec) * (float)LN2_HIGH;
}

static inline fvec with_sign(fvec x, fmask sign)
{
    return (fvec)((fmask)x ^ (sign & INT32_MIN));
}

/* A word is a signed number w, and the uniform is 1/2 + (w + 1/2) 2^-32: with n = w or -1 - w, it is at
 * the distance q = (n + 1/2) 2^-32 from 1/2. */
static inline fvec rough_centre(fmask word, unsigned *tail)
{
    fmask sign = word >> 31;
    fvec q = (__builtin_convertvector(word ^ sign, fvec) + 0.5F) * 0x1p-32F, r = 0.180625F - q * q;

    *tail = float_bits(q > (float)QUANTILE_CENTRE);
    return with_sign(
        q * rough_polynomial(rough_centre_top, 4, r) / rough_polynomial(rough_centre_bottom, 4, r), sign);
}

static inline fvec rough_tail(fmask word)
{
    fmask sign = word >> 31;
    fvec p = (__builtin_convertvector(INT32_MAX - (word ^ sign), fvec) + 0.5F) * 0x1p-32F;
    fvec r = rough_root(-rough_logarithm(p)) - 1.6F;

    return with_sign(rough_polynomial(rough_tail_top, 4, r) / rough_polynomial(rough_tail_bottom, 3, r),
                     sign);
}

/* The low half of every word first: where memory has the high half first they change places. */
static inline words low_half_first(words u)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return u << 32 | u >> 32;
#else
    return u;
#endif
}

static void rough_normals(double *z, const uint32_t key[2], uint32_t counter[4], size_t blocks)
{
    enum { BATCH = GBOSE__ROUGH_BLOCKS };

    while (blocks) {
        size_t size = blocks < BATCH ? blocks : BATCH;
        int32_t word[2][2 * BATCH + 2 * GBOSE__LANES];

        for (size_t b = 0; b < size; b += VEC_DOUBLES) {
            words block[2];

            philox(block, key, counter);
            counter[0] += (uint32_t)(size - b < VEC_DOUBLES ? size - b : VEC_DOUBLES);
            for (size_t half = 0; half < 2; half++) {
                block[half] = low_half_first(block[half]);
                memcpy(word[half] + 2 * b, &block[half], sizeof(words));
            }
        }
        for (size_t half = 0; half < 2; half++, z += 2 * size) {
            float x[2 * BATCH + 2 * GBOSE__LANES];
            uint32_t at[2 * BATCH + 2 * GBOSE__LANES];
            size_t tails = 0;

            for (size_t i = 0; i < 2 * size; i += FLOATS) {
                unsigned tail;
                fmask w;

                memcpy(&w, word[half] + i, sizeof w);
                *(loose_fvec *)(x + i) = rough_centre(w, &tail);
                for (uint32_t k = 0; k < FLOATS; k++) {
                    at[tails] = (uint32_t)i + k;
                    tails += tail >> k & 1;
                }
            }
            for (size_t i = 0; i < tails; i += FLOATS) {
                size_t count = tails - i < FLOATS ? tails - i : FLOATS;
                fmask w = {0};
                fvec y;

                for (size_t k = 0; k < count; k++)
                    w[k] = word[half][at[i + k]];
                y = rough_tail(w);
                for (size_t k = 0; k < count; k++)
                    x[at[i + k]] = y[k];
            }
            for (size_t i = 0; i < 2 * size; i++)
                z[i] = x[i];
        }
        blocks -= size;
    }
}

/* ---- who wins ---- */

#define DRAWS (GBOSE__BATCH / VEC_DOUBLES / 2) /* vectors of draws at a time: limited by registers */

/* The best so far in every draw of a vector. */
struct best {
    vec score, who;
};

static inline void contest(struct best *best, vec score, double who)
{
    mask wins = (score > best->score) | ((score == best->score) & (who < best->who));

    best->score = choose(wins, score, best->score);
    best->who = choose(wins, (vec){0} + who, best->who);
}

static void count_wins(double *wins, size_t favourite, const double *lead, const double *factor,
                       size_t rivals, size_t columns, size_t stride, const double *z, size_t plus,
                       size_t minus)
{
    for (size_t first = 0; first < GBOSE__BATCH; first += DRAWS * VEC_DOUBLES) {
        struct best up[DRAWS], down[DRAWS];

        for (size_t v = 0; v < DRAWS; v++)
            up[v] = down[v] = (struct best){(vec){0}, (vec){0} + (double)favourite};
        for (size_t a = 0; a < rivals; a++) {
            double who = (double)(a < favourite ? a : a + 1);
            vec swing[DRAWS];

            for (size_t v = 0; v < DRAWS; v++)
                swing[v] = (vec){0};
            for (size_t k = 0; k < columns; k++)
                for (size_t v = 0; v < DRAWS; v++)
                    swing[v] += load(z + k * GBOSE__BATCH + first + v * VEC_DOUBLES) * factor[a * stride + k];
            for (size_t v = 0; v < DRAWS; v++) {
                contest(&up[v], lead[a] + swing[v], who);
                contest(&down[v], lead[a] - swing[v], who);
            }
        }
        for (size_t v = 0; v < DRAWS; v++)
            for (size_t i = 0; i < VEC_DOUBLES; i++) {
                size_t draw = first + v * VEC_DOUBLES + i;
                wins[(size_t)up[v].who[i]] += draw < plus;
                wins[(size_t)down[v].who[i]] += draw < minus;
            }
    }
}

const struct gbose__kernels GBOSE__TABLE = {
    .within = within,
    .take = take,
    .stretch = stretch,
    .multiply = multiply,
    .subtract = subtract,
    .columns = columns,
    .means = means,
    .dots = all_dots,
    .squares = all_squares,
    .axpy = axpy,
    .combine = combine,
    .spread = spread,
    .approach = approach,
    .rotate = rotate,
    .normals = normals,
    .rough_normals = rough_normals,
    .count_wins = count_wins,
    .near_tile = near_tile,
    .far_tile = far_tile,
    .triangle_apply = triangle_apply,
    .triangle_step = triangle_step,
    .triangle_add = triangle_add,
};
