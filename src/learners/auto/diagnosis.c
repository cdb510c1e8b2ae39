#include "learners/auto/diagnosis.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/dense.h"
#include "core/kernels.h"
#include "core/memory.h"
#include "core/solve.h"
#include "core/stats.h"
#include "learners/auto/clip.h"

#define LN2 0x1.62e42fefa39efp-1
/* Entries of w e X are clipped to this: their squares, and sums of them, are then finite in any units. */
#define MEAT_MOST 1e70
#define COINS_LEAST 200.0      /* coins before intervals of effects begin, */
#define COINS_PER_FEATURE 20.0 /* and so many for each feature */
#define HORIZON 10.0           /* they are tightest when coins are so many times these */

/* Discounted sums that a level of the shift, and its age, are found from. */
struct line {
    double count, shift, age;
};

/* The numbers that are kept; then sum b and sum b r, each a padded row, and the padded triangles of
 * sum b b' and of H. */
struct sums {
    /* Not discounted: rounds learned, and those of them in which the arm was certain. */
    double rounds, certain;
    /* Discounted like the evidence of the regressions. These, the two before, and the sums of b, add up when
     * learners are merged. */
    double count, reward, squares; /* sums of 1, r and e^2 */
    double coins, coin_squares;    /* sums of 1 and w e^2 over the coins */
    /* The present, each with its own memory. */
    struct line recent, earlier;
    double present_count, present_shift; /* the second is a mean of the shift */
    double present_spread;               /* sum of squares about it */
    double present_squares;              /* sum of e^2 */
};
enum { NUMBERS = sizeof(struct sums) / sizeof(double) };

static struct sums *sums_of(const struct gbose__diagnosis *diagnosis)
{
    return (struct sums *)diagnosis->at;
}

static double *sum_of(const struct gbose__diagnosis *diagnosis)
{
    return diagnosis->at + gbose__pad(NUMBERS);
}

static double *sum_r_of(const struct gbose__diagnosis *diagnosis)
{
    return sum_of(diagnosis) + gbose__pad(diagnosis->dim);
}

static double *squares_of(const struct gbose__diagnosis *diagnosis)
{
    return sum_r_of(diagnosis) + gbose__pad(diagnosis->dim);
}

/* H */
static double *meat_of(const struct gbose__diagnosis *diagnosis)
{
    return squares_of(diagnosis) + gbose__triangle(diagnosis->dim);
}

/* How many numbers the sums of b and H are, from sum_of() on. */
static size_t count_sums(size_t dim)
{
    return 2 * gbose__pad(dim) + 2 * gbose__triangle(dim);
}

size_t gbose__diagnosis_size(size_t dim)
{
    return gbose__pad(NUMBERS) + count_sums(dim);
}

void gbose__diagnosis_grow(const struct gbose__diagnosis *to, const struct gbose__diagnosis *from)
{
    *sums_of(to) = *sums_of(from);
    memcpy(sum_of(to), sum_of(from), from->dim * sizeof(double));
    memcpy(sum_r_of(to), sum_r_of(from), from->dim * sizeof(double));
    memcpy(squares_of(to), squares_of(from), gbose__triangle(from->dim) * sizeof(double));
    memcpy(meat_of(to), meat_of(from), gbose__triangle(from->dim) * sizeof(double));
}

/* Row and column j of a triangle. */
static void rescale_triangle(double *triangle, size_t dim, size_t j, double factor)
{
    for (size_t i = 0; i <= j; i++)
        gbose__dense_row(triangle, j)[i] *= factor;
    for (size_t i = j; i < dim; i++)
        gbose__dense_row(triangle, i)[j] *= factor;
}

void gbose__diagnosis_rescale(const struct gbose__diagnosis *diagnosis, size_t j, double factor)
{
    sum_of(diagnosis)[j] *= factor;
    sum_r_of(diagnosis)[j] *= factor;
    rescale_triangle(squares_of(diagnosis), diagnosis->dim, j, factor);
    rescale_triangle(meat_of(diagnosis), diagnosis->dim, j, factor);
}

/* ---- learning ---- */

static void forget_evidence(const struct gbose__diagnosis *diagnosis, double forget)
{
    struct sums *sums = sums_of(diagnosis);

    sums->count *= forget;
    sums->reward *= forget;
    sums->squares *= forget;
    sums->coins *= forget;
    sums->coin_squares *= forget;
    for (size_t i = 0; i < count_sums(diagnosis->dim); i++)
        sum_of(diagnosis)[i] *= forget;
    for (size_t i = 0; i < gbose__triangle(diagnosis->dim);
         i++) /* squares of what fades fade twice as fast */
        meat_of(diagnosis)[i] *= forget;
}

/* H takes in a coin. */
static void add_meat(const struct gbose__diagnosis *diagnosis, const struct gbose__diagnosis_round *round)
{
    double c = round->weight * round->coin_residual;

    for (size_t i = 0; i < gbose__pad(diagnosis->dim); i++)
        round->scratch[i] = gbose__clip(c * round->centred[i], MEAT_MOST);
    gbose__kernels->triangle_add(meat_of(diagnosis), diagnosis->dim, round->scratch);
}

static void update_line(struct line *line, double shift, double memory)
{
    line->age = memory * (line->age + line->count);
    line->count = memory * line->count + 1;
    line->shift = memory * line->shift + shift;
}

static void update_present(struct sums *sums, double shift, double residual, double memory)
{
    double n = memory * sums->present_count, off = shift - sums->present_shift;

    sums->present_count = n + 1;
    sums->present_shift += off / (n + 1);
    sums->present_spread = memory * sums->present_spread + n / (n + 1) * off * off;
    sums->present_squares = memory * sums->present_squares + residual * residual;
}

void gbose__diagnosis_learn(const struct gbose__diagnosis *diagnosis,
                            const struct gbose__diagnosis_round *round, double forget)
{
    const struct gbose__tuning *tuning = diagnosis->tuning;
    struct sums *sums = sums_of(diagnosis);

    if (forget < 1)
        forget_evidence(diagnosis, forget);
    sums->rounds++;
    sums->certain += !round->coin;
    sums->count++;
    sums->reward += round->reward;
    sums->squares += round->residual * round->residual;
    if (round->coin) {
        sums->coins++;
        sums->coin_squares += round->weight * round->coin_residual * round->coin_residual;
        add_meat(diagnosis, round);
    }
    update_line(&sums->recent, round->shift, tuning->recent_memory);
    update_line(&sums->earlier, round->shift, tuning->earlier_memory);
    update_present(sums, round->shift, round->residual, tuning->present_memory);

    gbose__kernels->axpy(sum_of(diagnosis), 1, round->context, gbose__pad(diagnosis->dim));
    gbose__kernels->axpy(sum_r_of(diagnosis), round->reward, round->context, gbose__pad(diagnosis->dim));
    gbose__kernels->triangle_add(squares_of(diagnosis), diagnosis->dim, round->context);
}

static int line_is_sane(const struct line *line)
{
    return line->count >= 0 && line->age >= 0;
}

int gbose__diagnosis_is_sane(const struct gbose__diagnosis *diagnosis)
{
    const struct sums *sums = sums_of(diagnosis);

    return gbose__kernels->within(diagnosis->at, NUMBERS, 1e300) &&
           gbose__kernels->within(sum_of(diagnosis), count_sums(diagnosis->dim), 1e280) &&
           sums->certain >= 0 && sums->certain <= sums->rounds && sums->rounds <= 1e18 && sums->count >= 0 &&
           sums->squares >= 0 && sums->coins >= 0 && sums->coin_squares >= 0 && line_is_sane(&sums->recent) &&
           line_is_sane(&sums->earlier) && sums->present_count >= 0 && sums->present_spread >= 0 &&
           sums->present_squares >= 0;
}

/* A sum that cannot be negative; rounding may make it so. */
static void add_up(double *into, double from, double old)
{
    *into += from - old;
    if (*into < 0)
        *into = 0;
}

void gbose__diagnosis_merge(const struct gbose__diagnosis *into, const double *from, const double *common,
                            double remains)
{
    static const struct sums nothing;
    const struct sums *theirs = (const struct sums *)from,
                      *old = common ? (const struct sums *)common : &nothing;
    struct sums *sums = sums_of(into);

    add_up(&sums->rounds, theirs->rounds, old->rounds);
    add_up(&sums->certain, theirs->certain, old->certain);
    add_up(&sums->count, theirs->count, remains * old->count);
    sums->reward += theirs->reward - remains * old->reward;
    add_up(&sums->squares, theirs->squares, remains * old->squares);
    add_up(&sums->coins, theirs->coins, remains * old->coins);
    add_up(&sums->coin_squares, theirs->coin_squares, remains * old->coin_squares);
    for (size_t i = gbose__pad(NUMBERS); i < gbose__diagnosis_size(into->dim); i++) {
        double left = into->at + i < meat_of(into) ? remains : remains * remains;
        into->at[i] += from[i] - left * (common ? common[i] : 0);
    }
}

/* ---- reporting ---- */

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

/* Matrices, each a padded triangle, and vectors: all of the comparison's memory. */
struct room {
    double *G, *A, *B, *J, *V, *W, *half;
    double *theta, *S, *x, *y, *z;
};

/* G, centred, and A with its factor's inverse; theta. 0 if A cannot be factored. */
static int plain(const struct gbose__diagnosis *diagnosis, const struct room *m, double l)
{
    const struct sums *sums = sums_of(diagnosis);
    const double *sum = sum_of(diagnosis), *sum_r = sum_r_of(diagnosis);
    size_t dim = diagnosis->dim;

    for (size_t j = 0; j < dim; j++) {
        const double *raw = gbose__dense_row(squares_of(diagnosis), j);

        for (size_t i = 0; i <= j; i++)
            gbose__dense_row(m->A, j)[i] = gbose__dense_row(m->G, j)[i] =
                raw[i] - sum[j] / sums->count * sum[i];
        gbose__dense_row(m->A, j)[j] += l + 1e-14 * (double)dim * raw[j]; /* and what rounding leaves */
        m->x[j] = sum_r[j] - sum[j] / sums->count * sums->reward;
    }
    if (!gbose__dense_factor(m->A, dim))
        return 0;
    memcpy(m->half, m->A, gbose__triangle(dim) * sizeof(double));
    gbose__dense_invert(m->A, m->half, dim);
    gbose__dense_times(m->y, m->A, m->x, dim);
    gbose__dense_times_transposed(m->theta, m->A, m->y, dim);
    return 1;
}

/* B and J from the orthogonal regression. */
static void orthogonal(const struct gbose__ridge *O, const struct room *m)
{
    gbose__dense_invert(m->half, O->root, O->dim);
    for (size_t j = 0; j < O->dim; j++)
        for (size_t i = 0; i <= j; i++) {
            double sum =
                gbose__dot(gbose__dense_row(m->half, j), gbose__dense_row(m->half, i), gbose__pad(i + 1));
            gbose__dense_row(m->B, j)[i] = sum;
            gbose__dense_row(m->J, j)[i] = i == j ? sum - O->prior[j] : sum;
        }
}

/* V = H + s2 J A^-1 J, with the inverse of A's factor at hand. */
static void covariance(const struct room *m, double *H, double s2, size_t dim)
{
    for (size_t j = 0; j < dim; j++)
        memcpy(gbose__dense_row(m->V, j), gbose__dense_row(H, j), (j + 1) * sizeof(double));
    for (size_t k = 0; k < dim; k++) { /* row k of L^-1 J, and its outer product */
        memset(m->x, 0, dim * sizeof(double));
        memcpy(m->x, gbose__dense_row(m->A, k), (k + 1) * sizeof(double));
        gbose__dense_times_symmetric(m->y, m->J, m->x, dim);
        for (size_t j = 0; j < dim; j++)
            for (size_t i = 0; i <= j; i++)
                gbose__dense_row(m->V, j)[i] += s2 * m->y[i] * m->y[j];
    }
}

/* tr(M) and tr(M^2) for M = V W^-1, which has the traces of the symmetric N = L^-1 V L^-T; W = L L', and L^-1
 * is in `half`. Column after column: so df = tr(N)^2 / tr(N^2) is at most dim even where V is little more
 * than rounding. */
static void traces(double *one, double *two, const struct room *m, size_t dim)
{
    *one = *two = 0;
    for (size_t k = 0; k < dim; k++) {
        memset(m->x, 0, dim * sizeof(double));
        memcpy(m->x, gbose__dense_row(m->half, k), (k + 1) * sizeof(double));
        gbose__dense_times_symmetric(m->y, m->V, m->x, dim);
        gbose__dense_times(m->z, m->half, m->y, dim);
        *one += m->z[k];
        *two += gbose__dense_norm2(m->z, dim);
    }
}

static double p_value(double y, double df, double coins)
{
    double k = gbose__log(1 + coins) / LN2, p;

    p = gbose__stats_chi2_tail(y, df) * (1 + y * LN2 / 2) * (k + 1) * (k + 2);
    return p < 1 ? p : 1;
}

/* x'G x, x being R'R s. */
static double effect(const struct room *m, const struct gbose__ridge *O, const double *s)
{
    double sum = 0;

    gbose__dense_times(m->y, O->root, s, O->dim);
    gbose__dense_times_transposed(m->x, O->root, m->y, O->dim);
    gbose__dense_times_symmetric(m->y, m->G, m->x, O->dim);
    for (size_t j = 0; j < O->dim; j++)
        sum += m->x[j] * m->y[j];
    return fmax(sum, 0);
}

static void compare(const struct gbose__diagnosis *diagnosis, const struct gbose__ridge *O,
                    const struct room *m, gbose_diagnosis *out)
{
    const struct sums *sums = sums_of(diagnosis);
    size_t dim = diagnosis->dim;
    double s2 = ratio(sums->squares, sums->count), s2_O = ratio(sums->coin_squares, sums->coins),
           l = s2 / gbose__dense_norm2(O->mu, dim);
    double hausman, bias, noise = 0, one, two;

    if (!(l > 0) || !(l < 1e300) || !(s2_O > 0) || !plain(diagnosis, m, l))
        return;
    orthogonal(O, m);
    for (size_t j = 0; j < dim; j++)
        m->x[j] = O->mu[j] - m->theta[j];
    gbose__dense_times_symmetric(m->S, m->B, m->x, dim);
    for (size_t j = 0; j < dim; j++)
        m->S[j] += O->prior[j] * m->theta[j];
    covariance(m, meat_of(diagnosis), s2, dim);
    memcpy(m->W, m->V, gbose__triangle(dim) * sizeof(double));
    for (size_t j = 0; j < dim; j++)
        gbose__dense_row(m->W, j)[j] += s2_O * O->prior[j];
    if (!gbose__dense_factor(m->W, dim))
        return;
    gbose__dense_invert(m->half, m->W, dim);
    gbose__dense_times(m->y, m->half, m->S, dim);
    hausman = gbose__dense_norm2(m->y, dim);
    traces(&one, &two, m, dim);

    bias = effect(m, O, m->S);
    /* trace(G B^-1 V B^-1) = trace(G B^-1 W B^-1) - s2_O trace(G B^-1 P B^-1), column by column */
    for (size_t i = 0; i < dim; i++) {
        for (size_t j = 0; j < dim; j++)
            m->z[j] = j < i ? 0 : gbose__dense_row(m->W, j)[i];
        noise += effect(m, O, m->z);
        memset(m->z, 0, dim * sizeof(double));
        m->z[i] = sqrt(s2_O * O->prior[i]);
        noise -= effect(m, O, m->z);
    }
    if (!isfinite(hausman) || !isfinite(bias) || !isfinite(noise) || !(one > 0) ||
        !(two > 0)) /* numbers of absurd sizes, or no evidence */
        return;
    out->hausman = hausman;
    out->df = one * one / two;
    out->p_value = p_value(hausman * one / two, out->df, sums->coins);
    out->misled = out->p_value <= diagnosis->tuning->misled_level;
    out->bias = sqrt(bias / sums->count);
    out->bias_noise = sqrt(fmax(noise, 0) / sums->count);
}

/* A share of a feature's variance that is less than this is rounding. */
#define OWN_SHARE 1e-9

/* Features that vary, and are explained by those before them, in the contexts that were played: what is left of
 * their variance, step by step of a factorisation of G, which is in m.G and is overwritten. */
static size_t count_collinear(const struct gbose__diagnosis *diagnosis, double *G)
{
    const struct sums *sums = sums_of(diagnosis);
    const double *sum = sum_of(diagnosis);
    size_t dim = diagnosis->dim, found = 0;

    if (sums->count < 2 * (double)dim)
        return 0;
    for (size_t j = 0; j < dim; j++) {
        double *row = gbose__dense_row(G, j), raw = gbose__dense_row(squares_of(diagnosis), j)[j], own;

        for (size_t i = 0; i <= j; i++) {
            const double *other = gbose__dense_row(G, i);

            row[i] = gbose__dense_row(squares_of(diagnosis), j)[i] - sum[j] / sums->count * sum[i];
            own = i == j ? row[j] : 0;
            for (size_t k = 0; k < i; k++)
                row[i] -= row[k] * other[k];
            if (i < j)
                row[i] = other[i] > 0 ? row[i] / other[i] : 0;
        }
        found += own > OWN_SHARE * raw && !(row[j] > OWN_SHARE * own);
        row[j] = row[j] > OWN_SHARE * raw && row[j] > OWN_SHARE * own ? sqrt(row[j]) : 0;
    }
    return found;
}

int gbose__diagnosis_report(const struct gbose__diagnosis *diagnosis, const struct gbose__ridge *O,
                            gbose_diagnosis *out)
{
    const struct sums *sums = sums_of(diagnosis);
    size_t size = gbose__triangle(diagnosis->dim);
    double recent_age = ratio(sums->recent.age, sums->recent.count),
           earlier_age = ratio(sums->earlier.age, sums->earlier.count);
    struct room m;

    m.G = gbose__alloc(7 * size + 5 * O->stride, sizeof(double));
    if (!m.G)
        return GBOSE_ENOMEM;
    m.A = m.G + size;
    m.B = m.A + size;
    m.J = m.B + size;
    m.V = m.J + size;
    m.W = m.V + size;
    m.half = m.W + size;
    m.theta = m.half + size;
    m.S = m.theta + O->stride;
    m.x = m.S + O->stride;
    m.y = m.x + O->stride;
    m.z = m.y + O->stride;

    memset(out, 0, sizeof *out);
    out->rounds = (uint64_t)sums->rounds;
    out->baseline = ratio(sums->recent.shift, sums->recent.count);
    /* a discounted mean lies as far behind a line as its mean age */
    out->drift =
        ratio(out->baseline - ratio(sums->earlier.shift, sums->earlier.count), earlier_age - recent_age);
    out->residual = sqrt(ratio(sums->present_squares, sums->present_count));
    out->removed = sums->present_spread > 0 ? fmax(0, 1 - sums->present_squares / sums->present_spread) : 0;
    out->lone = ratio(sums->certain, sums->rounds);
    out->p_value = 1;
    compare(diagnosis, O, &m, out);
    out->collinear = count_collinear(diagnosis, m.G);
    gbose__free(m.G);
    return GBOSE_OK;
}

/* ---- effects ---- */

int gbose__diagnosis_effect(const struct gbose__diagnosis *diagnosis, const struct gbose__ridge *O,
                            const double *x, double alpha, double *estimate, double *lower, double *upper)
{
    size_t dim = diagnosis->dim, size = gbose__triangle(dim);
    double coins = sums_of(diagnosis)->coins, least = fmax(COINS_LEAST, COINS_PER_FEATURE * (double)dim),
           variance, radius, *factor;
    struct room m;
    int known;

    m.half = gbose__alloc(4 * size + 2 * O->stride, sizeof(double));
    if (!m.half)
        return GBOSE_ENOMEM;
    m.B = m.half + size;
    m.J = m.B + size;
    factor = m.J + size;
    m.x = factor + size;
    m.y = m.x + O->stride;
    orthogonal(O, &m);
    gbose__solve_factor(factor, m.J, dim);
    gbose__solve_by(m.x, factor, x, dim);
    known = coins > 0 && gbose__solve_holds(m.x, m.J, x, dim);
    if (known) {
        gbose__dense_times_symmetric(m.y, m.B, O->mu, dim);
        *estimate = gbose__dot(m.x, m.y, O->stride);
        gbose__dense_times_symmetric(m.y, meat_of(diagnosis), m.x, dim);
        variance = gbose__dot(m.x, m.y, O->stride);
        radius = coins >= least ? gbose__stats_mixture_radius(1, HORIZON * least / coins, alpha) *
                                      sqrt(fmax(variance, 0))
                                : INFINITY;
        *lower = *estimate - radius;
        *upper = *estimate + radius;
    }
    gbose__free(m.half);
    return known ? GBOSE_OK : GBOSE_EUNSEEN;
}
