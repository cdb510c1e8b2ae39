#include "learners/trackers.h"

#include <math.h>
#include <string.h>

#include "core/kernels.h"
#include "gbose.h"

#define PRIOR GBOSE__TRACKER_PRIOR
#define PRIOR_LEAST (0.9 * PRIOR)
#define ROOT_LEAST 0.01 /* keeps the slope of a root finite */

enum { LEVEL, TREND, BEST, ROUND, ROUND_BEST };

/* Those with the caller's features come last: without any they are left out. */
static const struct {
    const char *name;
    int features;
    double forget;
} kinds[] = {
    {"level", LEVEL, 1},
    {"level", LEVEL, 0.995},
    {"level", LEVEL, 0.85},
    {"level", LEVEL, 0.5},
    {"trend", TREND, 0.99},
    {"best score", BEST, 0.998},
    {"best score", BEST, 0.98},
    {"round features", ROUND, 1},
    {"round features", ROUND, 0.99},
    {"round features and best score", ROUND_BEST, 0.998},
};
enum { KINDS = sizeof kinds / sizeof *kinds, WITHOUT_ROUND = 7 };

size_t gbose__trackers_count(size_t round)
{
    return round ? KINDS : WITHOUT_ROUND;
}

static size_t count_features(size_t k, size_t round)
{
    static const size_t scores[] = {[LEVEL] = 0, [TREND] = 1, [BEST] = 2, [ROUND] = 0, [ROUND_BEST] = 1};

    return scores[kinds[k].features] + (kinds[k].features >= ROUND ? round : 0);
}

/* The features of a tracker, less their means. */
static void centred(double *x, const struct gbose__tracker *v, const double *phi)
{
    const double *own = phi + GBOSE__PHI_ROUND;

    switch (kinds[v->k].features) {
    case LEVEL:
        return;
    case BEST:
        x[0] = phi[GBOSE__PHI_BEST] - v->xbar[0];
        x[1] = phi[GBOSE__PHI_ROOT] - v->xbar[1];
        return;
    case TREND:
        x[0] = phi[GBOSE__PHI_TIME] - v->xbar[0];
        return;
    case ROUND:
        for (size_t i = 0; i < v->q; i++)
            x[i] = own[i] - v->xbar[i];
        return;
    default:
        x[0] = phi[GBOSE__PHI_BEST] - v->xbar[0];
        for (size_t i = 1; i < v->q; i++)
            x[i] = own[i - 1] - v->xbar[i];
    }
}

/* ---- the numbers of a tracker ---- */

/* Those that are not rows. */
static size_t numbers_of(size_t q)
{
    return 4 + 3 * q + q * (q + 1) / 2;
}

static void place(struct gbose__tracker *v, const struct gbose__trackers *t, size_t k, double *at,
                  double *row)
{
    v->k = k;
    v->name = kinds[k].name;
    v->forget = kinds[k].forget;
    v->q = count_features(k, t->round);
    v->stride = gbose__pad(t->dim);
    v->loss = at;
    v->n = at + 1;
    v->turn = at + 2;
    v->rbar = at + 3;
    v->xbar = at + 4;
    v->prior = v->xbar + v->q;
    v->slope_r = v->prior + v->q;
    v->root = v->slope_r + v->q;
    v->bbar = row;
    v->slope_b = row + v->stride;
}

/* Of all trackers, padded: rows begin behind them. */
static size_t all_numbers(size_t round)
{
    size_t sum = 0;

    for (size_t k = 0; k < gbose__trackers_count(round); k++)
        sum += numbers_of(count_features(k, round));
    return gbose__pad(sum);
}

static size_t count_rows(size_t round)
{
    size_t sum = 0;

    for (size_t k = 0; k < gbose__trackers_count(round); k++)
        sum += 1 + count_features(k, round);
    return sum;
}

struct gbose__tracker gbose__tracker_at(const struct gbose__trackers *t, size_t k)
{
    double *at = t->at, *row = at + all_numbers(t->round);
    struct gbose__tracker v;

    for (size_t j = 0; j < k; j++) {
        size_t q = count_features(j, t->round);
        at += numbers_of(q);
        row += (1 + q) * gbose__pad(t->dim);
    }
    place(&v, t, k, at, row);
    return v;
}

void gbose__tracker_next(const struct gbose__trackers *t, struct gbose__tracker *v)
{
    size_t k = v->k + 1;

    if (k < gbose__trackers_count(t->round))
        place(v, t, k, v->loss + numbers_of(v->q), v->bbar + (1 + v->q) * v->stride);
    else
        v->k = k;
}

size_t gbose__trackers_size(size_t dim, size_t round)
{
    return all_numbers(round) + count_rows(round) * gbose__pad(dim);
}

void gbose__trackers_init(const struct gbose__trackers *t)
{
    for (size_t k = 0; k < gbose__trackers_count(t->round); k++) {
        struct gbose__tracker v = gbose__tracker_at(t, k);

        for (size_t i = 0; i < v.q; i++) {
            v.prior[i] = PRIOR;
            v.root[i * (i + 1) / 2 + i] = 1 / sqrt(PRIOR);
        }
    }
}

void gbose__trackers_grow(const struct gbose__trackers *to, const struct gbose__trackers *from)
{
    size_t old = gbose__pad(from->dim), stride = gbose__pad(to->dim);

    memcpy(to->at, from->at, all_numbers(to->round) * sizeof(double));
    for (size_t i = 0; i < count_rows(to->round); i++)
        memcpy(to->at + all_numbers(to->round) + i * stride, from->at + all_numbers(from->round) + i * old,
               from->dim * sizeof(double));
}

static int within(const double *x, size_t n, double most)
{
    int fine = 1;

    for (size_t i = 0; i < n; i++)
        fine &= fabs(x[i]) <= most;
    return fine;
}

/* Far above what honest rounds can make of inputs up to GBOSE_MAX_INPUT, far below overflow. */
int gbose__trackers_are_sane(const struct gbose__trackers *t)
{
    const double most = 1e20 * GBOSE_MAX_INPUT;
    int fine = 1;

    for (size_t k = 0; k < gbose__trackers_count(t->round); k++) {
        struct gbose__tracker v = gbose__tracker_at(t, k);

        fine &= *v.loss >= 0 && *v.loss <= 1e300;
        fine &= *v.n >= 0 && *v.n <= 1e18;
        fine &= *v.turn >= 0 && floor(*v.turn) == *v.turn;
        fine &= *v.turn < (double)v.q || *v.turn == 0;
        fine &= fabs(*v.rbar) <= most &&
                within(v.xbar, v.q, kinds[k].features == TREND ? 1e18 : 2 * GBOSE__PHI_MOST);
        fine &= within(v.root, v.q * (v.q + 1) / 2, 1e3) && within(v.slope_r, v.q, most);
        fine &= within(v.bbar, (1 + v.q) * v.stride, most);
        for (size_t i = 0; i < v.q; i++)
            fine &= v.prior[i] > 0 && v.prior[i] <= PRIOR && v.root[i * (i + 1) / 2 + i] > 0;
    }
    return fine;
}

/* ---- least squares ---- */

double gbose__tracker_predict(const struct gbose__tracker *v, const double *phi, double *bhat)
{
    double x[GBOSE__MAX_PHI], rhat = *v->rbar;

    centred(x, v, phi);
    memcpy(bhat, v->bbar, v->stride * sizeof *bhat);
    for (size_t i = 0; i < v->q; i++) {
        rhat += x[i] * v->slope_r[i];
        gbose__kernels->axpy(bhat, x[i], v->slope_b + i * v->stride, v->stride);
    }
    return rhat;
}

void gbose__trackers_see(const struct gbose__trackers *t, double *seen, const double *mu)
{
    gbose__kernels->dots(seen, t->at + all_numbers(t->round), mu, count_rows(t->round), gbose__pad(t->dim));
}

double gbose__tracker_baseline(const struct gbose__tracker *v, const double *phi, const double *seen)
{
    double x[GBOSE__MAX_PHI], baseline = *v->rbar - seen[0];

    centred(x, v, phi);
    for (size_t i = 0; i < v->q; i++)
        baseline += x[i] * (v->slope_r[i] - seen[1 + i]);
    return baseline;
}

double gbose__tracker_slope(const struct gbose__tracker *v, const double *phi, const double *mu)
{
    double best = phi[GBOSE__PHI_BEST], slope[2] = {0, 0};

    if (kinds[v->k].features != BEST && kinds[v->k].features != ROUND_BEST)
        return 0;
    for (size_t i = 0; i < (kinds[v->k].features == BEST ? 2 : 1); i++)
        slope[i] = v->slope_r[i] - gbose__dot(v->slope_b + i * v->stride, mu, v->stride);
    return slope[0] + slope[1] * copysign(0.5, best) / sqrt(fabs(best) + ROOT_LEAST);
}

/* C += w x x' in the root, by Carlson's step (core/ridge.c); gain = C_new^-1 x. */
static void add(const struct gbose__tracker *v, double *gain, const double *x, double w)
{
    double alpha = 1, root = 1; /* of alpha */

    memset(gain, 0, v->q * sizeof *gain);
    for (size_t j = 0; j < v->q; j++) {
        double *row = v->root + j * (j + 1) / 2, f = 0, next, next_root, scale, back;

        for (size_t i = 0; i <= j; i++)
            f += row[i] * x[i];
        next = alpha + w * f * f;
        next_root = sqrt(next);
        scale = root / next_root;
        back = w * f / (root * next_root);
        for (size_t i = 0; i <= j; i++) {
            double old = row[i];
            row[i] = scale * old - back * gain[i];
            gain[i] += f * old;
        }
        alpha = next;
        root = next_root;
    }
    for (size_t i = 0; i < v->q; i++)
        gain[i] /= alpha;
}

/* An entry of P goes back to PRIOR: evidence for a slope of zero, which pulls that slope and those that it is
 * tied to. `gain` is scratch, 2 q numbers. */
static void put_back(const struct gbose__tracker *v, double *gain)
{
    size_t i = (size_t)*v->turn;
    double *unit = gain + v->q, w = PRIOR - v->prior[i], r = v->slope_r[i];

    memset(unit, 0, v->q * sizeof *unit);
    unit[i] = 1;
    add(v, gain, unit, w);
    for (size_t k = 0; k < v->q; k++)
        if (k != i)
            gbose__kernels->axpy(v->slope_b + k * v->stride, -w * gain[k], v->slope_b + i * v->stride,
                                 v->stride);
    for (size_t j = 0; j < v->stride; j++) /* row i last: the others are moved by what it was */
        v->slope_b[i * v->stride + j] *= 1 - w * gain[i];
    for (size_t k = 0; k < v->q; k++)
        v->slope_r[k] -= w * gain[k] * r;
    v->prior[i] = PRIOR;
    *v->turn = (double)((i + 1) % v->q);
}

/* The slopes move by the errors of the predictions. `error` is scratch, a row. */
static void learn_slopes(const struct gbose__tracker *v, const double *phi, double reward, const double *b,
                         double n, double *error)
{
    double x[GBOSE__MAX_PHI], gain[2 * GBOSE__MAX_PHI], off = reward - gbose__tracker_predict(v, phi, error);
    double share = 1 / (n + 1), weight = n * share;

    centred(x, v, phi);
    for (size_t j = 0; j < v->stride; j++)
        error[j] = b[j] - error[j];
    if (v->forget < 1) {
        double grow = 1 / sqrt(v->forget);

        for (size_t i = 0; i < v->q * (v->q + 1) / 2; i++)
            v->root[i] *= grow;
        for (size_t i = 0; i < v->q; i++)
            v->prior[i] *= v->forget;
    }
    add(v, gain, x, weight);
    for (size_t i = 0; i < v->q; i++) {
        v->slope_r[i] += weight * gain[i] * off;
        gbose__kernels->axpy(v->slope_b + i * v->stride, weight * gain[i], error, v->stride);
        v->xbar[i] += share * x[i];
    }
    for (size_t i = 0; i < v->q && v->prior[(size_t)*v->turn] <= PRIOR_LEAST; i++)
        put_back(v, gain);
}

void gbose__tracker_learn(const struct gbose__tracker *v, const double *phi, double reward, const double *b,
                          double *scratch)
{
    double n = v->forget * *v->n, share = 1 / (n + 1);

    if (v->q)
        learn_slopes(v, phi, reward, b, n, scratch);
    *v->rbar += share * (reward - *v->rbar);
    gbose__kernels->approach(v->bbar, share, b, v->stride);
    *v->n = n + 1;
}
