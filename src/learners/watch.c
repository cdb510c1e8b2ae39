#include "learners/watch.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/dense.h"
#include "core/kernels.h"
#include "core/memory.h"
#include "core/stats.h"

#define FAST 0.98
#define SLOW 0.995
#define LATE 0.999
#define MISLED 0.05
#define LN2 0x1.62e42fefa39efp-1

/* These numbers; then sum b and sum b r, each a padded row, and the padded triangle of sum b b'. */
enum {
    ROUNDS, /* learned, and those of them with one survivor: not discounted */
    LONE,
    N, /* discounted like evidence: sums of 1, r, e^2; of 1 and w e^2 over the coins */
    SUM_R,
    SUM_E2,
    COINS,
    COIN_E2,
    ADDITIVE,          /* what is before, and the sums of b, add up when learners are merged */
    FAST_N = ADDITIVE, /* discounted sums of 1, of the shift, and of ages */
    FAST_SHIFT,
    FAST_AGE,
    SLOW_N,
    SLOW_SHIFT,
    SLOW_AGE,
    LATE_N,
    LATE_MEAN, /* of the shift, and the sum of squares about it; the sum of e^2 */
    LATE_SQUARES,
    LATE_E2,
    NUMBERS
};

static double *sum_of(const struct gbose__watch *watch)
{
    return watch->at + gbose__pad(NUMBERS);
}

static double *sum_r_of(const struct gbose__watch *watch)
{
    return sum_of(watch) + gbose__pad(watch->dim);
}

static double *squares_of(const struct gbose__watch *watch)
{
    return sum_r_of(watch) + gbose__pad(watch->dim);
}

size_t gbose__watch_size(size_t dim)
{
    return gbose__pad(NUMBERS) + 2 * gbose__pad(dim) + gbose__triangle(dim);
}

void gbose__watch_grow(const struct gbose__watch *to, const struct gbose__watch *from)
{
    memcpy(to->at, from->at, NUMBERS * sizeof(double));
    memcpy(sum_of(to), sum_of(from), from->dim * sizeof(double));
    memcpy(sum_r_of(to), sum_r_of(from), from->dim * sizeof(double));
    memcpy(squares_of(to), squares_of(from), gbose__triangle(from->dim) * sizeof(double));
}

/* ---- learning ---- */

static void line(double *n, double shift, double forget)
{
    n[FAST_AGE - FAST_N] = forget * (n[FAST_AGE - FAST_N] + n[0]);
    n[0] = forget * n[0] + 1;
    n[FAST_SHIFT - FAST_N] = forget * n[FAST_SHIFT - FAST_N] + shift;
}

static void late(double *at, double shift, double residual)
{
    double n = LATE * at[LATE_N], off = shift - at[LATE_MEAN];

    at[LATE_N] = n + 1;
    at[LATE_MEAN] += off / (n + 1);
    at[LATE_SQUARES] = LATE * at[LATE_SQUARES] + n / (n + 1) * off * off;
    at[LATE_E2] = LATE * at[LATE_E2] + residual * residual;
}

void gbose__watch_learn(const struct gbose__watch *watch, const struct gbose__watched *round, double forget)
{
    double *at = watch->at;

    if (forget < 1) {
        for (size_t i = N; i < ADDITIVE; i++)
            at[i] *= forget;
        for (size_t i = NUMBERS; i < gbose__watch_size(watch->dim); i++)
            at[i] *= forget;
    }
    at[ROUNDS]++;
    at[LONE] += !round->coin;
    at[N]++;
    at[SUM_R] += round->reward;
    at[SUM_E2] += round->residual * round->residual;
    if (round->coin) {
        at[COINS]++;
        at[COIN_E2] += round->w * round->coin_residual * round->coin_residual;
    }
    line(at + FAST_N, round->shift, FAST);
    line(at + SLOW_N, round->shift, SLOW);
    late(at, round->shift, round->residual);

    gbose__kernels->axpy(sum_of(watch), 1, round->b, gbose__pad(watch->dim));
    gbose__kernels->axpy(sum_r_of(watch), round->reward, round->b, gbose__pad(watch->dim));
    gbose__kernels->triangle_add(squares_of(watch), watch->dim, round->b);
}

int gbose__watch_is_sane(const struct gbose__watch *watch)
{
    const double *at = watch->at;
    int fine = at[LONE] <= at[ROUNDS] && at[ROUNDS] <= 1e18;

    for (size_t i = 0; i < NUMBERS; i++)
        fine &= fabs(at[i]) <= 1e300 &&
                (at[i] >= 0 || i == SUM_R || i == FAST_SHIFT || i == SLOW_SHIFT || i == LATE_MEAN);
    for (size_t i = NUMBERS; i < gbose__watch_size(watch->dim); i++)
        fine &= fabs(at[i]) <= 1e280;
    return fine;
}

void gbose__watch_merge(const struct gbose__watch *into, const double *from, const double *common,
                        double remains)
{
    for (size_t i = 0; i < gbose__watch_size(into->dim); i++) {
        double old = common ? common[i] : 0;

        if (i >= ADDITIVE && i < NUMBERS)
            continue;
        into->at[i] += from[i] - (i == ROUNDS || i == LONE ? old : remains * old);
        if (i < ADDITIVE && i != SUM_R && into->at[i] < 0) /* rounding */
            into->at[i] = 0;
    }
}

/* ---- reporting ---- */

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

/* Matrices, each a padded triangle, and vectors: all of the comparison's memory. */
struct room {
    double *G, *A, *B, *E, *V, *W, *half;
    double *theta, *S, *x, *y, *z;
};

/* G, centred, and A with its factor's inverse; theta. 0 if A cannot be factored. */
static int plain(const struct gbose__watch *watch, const struct room *m, double l)
{
    const double *at = watch->at, *sum = sum_of(watch), *sum_r = sum_r_of(watch);
    size_t dim = watch->dim;

    for (size_t j = 0; j < dim; j++) {
        const double *raw = gbose__dense_row(squares_of(watch), j);

        for (size_t i = 0; i <= j; i++)
            gbose__dense_row(m->A, j)[i] = gbose__dense_row(m->G, j)[i] = raw[i] - sum[j] / at[N] * sum[i];
        gbose__dense_row(m->A, j)[j] += l + 1e-14 * (double)dim * raw[j]; /* and what rounding leaves */
        m->x[j] = sum_r[j] - sum[j] / at[N] * at[SUM_R];
    }
    if (!gbose__dense_factor(m->A, dim))
        return 0;
    memcpy(m->half, m->A, gbose__triangle(dim) * sizeof(double));
    gbose__dense_invert(m->A, m->half, dim);
    gbose__dense_times(m->y, m->A, m->x, dim);
    gbose__dense_times_transposed(m->theta, m->A, m->y, dim);
    return 1;
}

/* B and E from the orthogonal regression. */
static void orthogonal(const struct gbose__ridge *O, const struct room *m)
{
    gbose__dense_invert(m->half, O->root, O->dim);
    for (size_t j = 0; j < O->dim; j++)
        for (size_t i = 0; i <= j; i++) {
            double sum =
                gbose__dot(gbose__dense_row(m->half, j), gbose__dense_row(m->half, i), gbose__pad(i + 1));
            gbose__dense_row(m->B, j)[i] = sum;
            gbose__dense_row(m->E, j)[i] = i == j ? sum - O->prior[j] : sum;
        }
}

/* V = s2_O E + s2 E A^-1 E, with the inverse of A's factor at hand. */
static void covariance(const struct room *m, double s2_O, double s2, size_t dim)
{
    for (size_t j = 0; j < dim; j++)
        for (size_t i = 0; i <= j; i++)
            gbose__dense_row(m->V, j)[i] = s2_O * gbose__dense_row(m->E, j)[i];
    for (size_t k = 0; k < dim; k++) { /* row k of L^-1 E, and its outer product */
        memset(m->x, 0, dim * sizeof(double));
        memcpy(m->x, gbose__dense_row(m->A, k), (k + 1) * sizeof(double));
        gbose__dense_times_symmetric(m->y, m->E, m->x, dim);
        for (size_t j = 0; j < dim; j++)
            for (size_t i = 0; i <= j; i++)
                gbose__dense_row(m->V, j)[i] += s2 * m->y[i] * m->y[j];
    }
}

/* tr(M) and tr(M^2), M = I - s2_O K K' with K = L^-1 P^(1/2); L^-1 is in `half`, W = L L'. */
static void traces(double *one, double *two, const struct room *m, const double *prior, double s2_O,
                   size_t dim)
{
    *one = *two = (double)dim;
    for (size_t j = 0; j < dim; j++)
        for (size_t i = 0; i <= j; i++) {
            double dot = 0; /* entry (j, i) of K K' */

            for (size_t k = 0; k <= i; k++)
                dot += gbose__dense_row(m->half, j)[k] * gbose__dense_row(m->half, i)[k] * prior[k];
            dot *= s2_O;
            *one -= i == j ? dot : 0;
            *two += (i == j ? 1 : 2) * dot * dot - (i == j ? 2 * dot : 0);
        }
}

static double p_value(double h, double df, double coins)
{
    double k = gbose__log(1 + coins) / LN2, p;

    p = gbose__stats_chi2_tail(h, df) * (1 + h * LN2 / 2) * (k + 1) * (k + 2);
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

static void compare(const struct gbose__watch *watch, const struct gbose__ridge *O, const struct room *m,
                    gbose_diagnosis *out)
{
    const double *at = watch->at;
    size_t dim = watch->dim;
    double s2 = ratio(at[SUM_E2], at[N]), s2_O = ratio(at[COIN_E2], at[COINS]),
           l = s2 / gbose__dense_norm2(O->mu, dim);
    double hausman, bias, noise = 0, one, two;

    if (!(l > 0) || !(l < 1e300) || !(s2_O > 0) || !plain(watch, m, l))
        return;
    orthogonal(O, m);
    for (size_t j = 0; j < dim; j++)
        m->x[j] = O->mu[j] - m->theta[j];
    gbose__dense_times_symmetric(m->S, m->B, m->x, dim);
    for (size_t j = 0; j < dim; j++)
        m->S[j] += O->prior[j] * m->theta[j];
    covariance(m, s2_O, s2, dim);
    memcpy(m->W, m->V, gbose__triangle(dim) * sizeof(double));
    for (size_t j = 0; j < dim; j++)
        gbose__dense_row(m->W, j)[j] += s2_O * O->prior[j];
    if (!gbose__dense_factor(m->W, dim))
        return;
    gbose__dense_invert(m->half, m->W, dim);
    gbose__dense_times(m->y, m->half, m->S, dim);
    hausman = gbose__dense_norm2(m->y, dim);
    traces(&one, &two, m, O->prior, s2_O, dim);

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
    if (!isfinite(hausman) || !isfinite(bias) || !isfinite(noise) || !(two > 0)) /* numbers of absurd sizes */
        return;
    out->hausman = hausman;
    out->df = one * one / two;
    out->p_value = p_value(hausman * one / two, out->df, at[COINS]);
    out->misled = out->p_value <= MISLED;
    out->bias = sqrt(bias / at[N]);
    out->bias_noise = sqrt(fmax(noise, 0) / at[N]);
}

int gbose__watch_report(const struct gbose__watch *watch, const struct gbose__ridge *O, gbose_diagnosis *out)
{
    const double *at = watch->at;
    size_t size = gbose__triangle(watch->dim);
    double fast = ratio(at[FAST_AGE], at[FAST_N]), slow = ratio(at[SLOW_AGE], at[SLOW_N]);
    struct room m;

    m.G = gbose__alloc(7 * size + 5 * O->stride, sizeof(double));
    if (!m.G)
        return GBOSE_ENOMEM;
    m.A = m.G + size;
    m.B = m.A + size;
    m.E = m.B + size;
    m.V = m.E + size;
    m.W = m.V + size;
    m.half = m.W + size;
    m.theta = m.half + size;
    m.S = m.theta + O->stride;
    m.x = m.S + O->stride;
    m.y = m.x + O->stride;
    m.z = m.y + O->stride;

    memset(out, 0, sizeof *out);
    out->rounds = (uint64_t)at[ROUNDS];
    out->baseline = ratio(at[FAST_SHIFT], at[FAST_N]);
    /* a discounted mean lies as far behind a line as its mean age */
    out->drift = ratio(out->baseline - ratio(at[SLOW_SHIFT], at[SLOW_N]), slow - fast);
    out->residual = sqrt(ratio(at[LATE_E2], at[LATE_N]));
    out->removed = at[LATE_SQUARES] > 0 ? fmax(0, 1 - at[LATE_E2] / at[LATE_SQUARES]) : 0;
    out->lone = ratio(at[LONE], at[ROUNDS]);
    out->p_value = 1;
    compare(watch, O, &m, out);
    gbose__free(m.G);
    return GBOSE_OK;
}
