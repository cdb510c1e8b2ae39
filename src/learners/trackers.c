#include "learners/trackers.h"

#include <math.h>
#include <string.h>

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
    {"round features", ROUND, 1},
    {"round features", ROUND, 0.99},
    {"round features and best score", ROUND_BEST, 0.998},
};
enum { KINDS = sizeof kinds / sizeof *kinds, WITHOUT_ROUND = 6 };

size_t gbose__trackers_count(size_t round)
{
    return round ? KINDS : WITHOUT_ROUND;
}

static size_t count_features(size_t k, size_t round)
{
    switch (kinds[k].features) {
    case LEVEL:
        return 0;
    case TREND:
        return 1;
    case ROUND:
        return round;
    case ROUND_BEST:
        return round + 1;
    default:
        return 2;
    }
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

static size_t size_of(size_t q, size_t dim)
{
    return 4 + dim + 2 * q + q * (q + 1) / 2 + q + q * dim;
}

static struct gbose__tracker place(double *at, size_t k, size_t dim, size_t round)
{
    struct gbose__tracker v = {.k = k, .name = kinds[k].name, .forget = kinds[k].forget, .dim = dim};

    v.q = count_features(k, round);
    v.loss = at;
    v.n = at + 1;
    v.turn = at + 2;
    v.rbar = at + 3;
    v.bbar = at + 4;
    v.xbar = v.bbar + dim;
    v.prior = v.xbar + v.q;
    v.root = v.prior + v.q;
    v.slope_r = v.root + v.q * (v.q + 1) / 2;
    v.slope_b = v.slope_r + v.q;
    return v;
}

struct gbose__tracker gbose__tracker_at(const struct gbose__trackers *t, size_t k)
{
    double *at = t->at;

    for (size_t j = 0; j < k; j++)
        at += size_of(count_features(j, t->round), t->dim);
    return place(at, k, t->dim, t->round);
}

void gbose__tracker_next(const struct gbose__trackers *t, struct gbose__tracker *v)
{
    size_t k = v->k + 1;

    if (k < gbose__trackers_count(t->round))
        *v = place(v->loss + size_of(v->q, v->dim), k, t->dim, t->round);
    else
        v->k = k;
}

size_t gbose__trackers_size(size_t dim, size_t round)
{
    size_t sum = 0;

    for (size_t k = 0; k < gbose__trackers_count(round); k++)
        sum += size_of(count_features(k, round), dim);
    return sum;
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
        fine &= within(v.rbar, 1 + v.dim, most) &&
                within(v.xbar, v.q, kinds[k].features == TREND ? 1e18 : 2 * GBOSE__PHI_MOST);
        fine &= within(v.root, v.q * (v.q + 1) / 2, 1e3) && within(v.slope_r, v.q + v.q * v.dim, most);
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
    memcpy(bhat, v->bbar, v->dim * sizeof *bhat);
    for (size_t i = 0; i < v->q; i++) {
        const double *slope = v->slope_b + i * v->dim;

        rhat += x[i] * v->slope_r[i];
        for (size_t j = 0; j < v->dim; j++)
            bhat[j] += x[i] * slope[j];
    }
    return rhat;
}

double gbose__tracker_slope(const struct gbose__tracker *v, const double *phi, const double *mu)
{
    double best = phi[GBOSE__PHI_BEST], slope[2] = {0, 0};

    if (kinds[v->k].features != BEST && kinds[v->k].features != ROUND_BEST)
        return 0;
    for (size_t i = 0; i < (kinds[v->k].features == BEST ? 2 : 1); i++) {
        slope[i] = v->slope_r[i];
        for (size_t j = 0; j < v->dim; j++)
            slope[i] -= v->slope_b[i * v->dim + j] * mu[j];
    }
    return slope[0] + slope[1] * copysign(0.5, best) / sqrt(fabs(best) + ROOT_LEAST);
}

/* C += w x x' in the root, by Carlson's step (core/ridge.c); gain = C_new^-1 x. */
static void add(const struct gbose__tracker *v, double *gain, const double *x, double w)
{
    double alpha = 1;

    memset(gain, 0, v->q * sizeof *gain);
    for (size_t j = 0; j < v->q; j++) {
        double *row = v->root + j * (j + 1) / 2, f = 0, next, scale, back;

        for (size_t i = 0; i <= j; i++)
            f += row[i] * x[i];
        next = alpha + w * f * f;
        scale = sqrt(alpha / next);
        back = w * f / (sqrt(alpha) * sqrt(next));
        for (size_t i = 0; i <= j; i++) {
            double old = row[i];
            row[i] = scale * old - back * gain[i];
            gain[i] += f * old;
        }
        alpha = next;
    }
    for (size_t i = 0; i < v->q; i++)
        gain[i] /= alpha;
}

/* slopes += gain (error of the reward, error of the context) w */
static void step(const struct gbose__tracker *v, const double *gain, double w, double error,
                 const double *context_error)
{
    for (size_t i = 0; i < v->q; i++) {
        double *slope = v->slope_b + i * v->dim, g = w * gain[i];

        v->slope_r[i] += g * error;
        for (size_t j = 0; j < v->dim; j++)
            slope[j] += g * context_error[j];
    }
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
    for (size_t k = v->q; k-- > 0;) /* row i last: the others are moved by what it was */
        if (k != i)
            for (size_t j = 0; j < v->dim; j++)
                v->slope_b[k * v->dim + j] -= w * gain[k] * v->slope_b[i * v->dim + j];
    for (size_t j = 0; j < v->dim; j++)
        v->slope_b[i * v->dim + j] *= 1 - w * gain[i];
    for (size_t k = 0; k < v->q; k++)
        v->slope_r[k] -= w * gain[k] * r;
    v->prior[i] = PRIOR;
    *v->turn = (double)((i + 1) % v->q);
}

void gbose__tracker_learn(const struct gbose__tracker *v, const double *phi, double error,
                          const double *context_error)
{
    double x[GBOSE__MAX_PHI], gain[2 * GBOSE__MAX_PHI], n = v->forget * *v->n, share = 1 / (n + 1);

    /* the means move by their own errors, not by those of the predictions */
    centred(x, v, phi);
    *v->rbar += share * error;
    for (size_t j = 0; j < v->dim; j++)
        v->bbar[j] += share * context_error[j];
    for (size_t i = 0; i < v->q; i++) {
        const double *slope = v->slope_b + i * v->dim;
        double f = share * x[i];

        *v->rbar += f * v->slope_r[i];
        for (size_t j = 0; j < v->dim; j++)
            v->bbar[j] += f * slope[j];
        v->xbar[i] += f;
    }
    *v->n = n + 1;
    if (!v->q)
        return;

    if (v->forget < 1) {
        double grow = 1 / sqrt(v->forget);

        for (size_t i = 0; i < v->q * (v->q + 1) / 2; i++)
            v->root[i] *= grow;
        for (size_t i = 0; i < v->q; i++)
            v->prior[i] *= v->forget;
    }
    add(v, gain, x, n * share);
    step(v, gain, n * share, error, context_error);
    for (size_t i = 0; i < v->q && v->prior[(size_t)*v->turn] <= PRIOR_LEAST; i++)
        put_back(v, gain);
}
