#include "learners/auto/tracker.h"

#include <math.h>
#include <string.h>

#include "core/kernels.h"
#include "gbose.h"

enum { LEVEL, TREND, BEST, ROUND, ROUND_BEST };

/* The trackers there are: their names, features and memories (a share of the evidence that is left after a
 * round), all chosen on repetitions of seed 101. Those with the caller's features come last: without such
 * features they are left out. */
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

static size_t count_trackers(size_t round)
{
    return round ? KINDS : WITHOUT_ROUND;
}

static size_t count_features(size_t k, size_t round)
{
    static const size_t scores[] = {[LEVEL] = 0, [TREND] = 1, [BEST] = 2, [ROUND] = 0, [ROUND_BEST] = 1};

    return scores[kinds[k].features] + (kinds[k].features >= ROUND ? round : 0);
}

/* The features of a tracker, less their means. */
static void centred(double *x, const struct gbose__tracker *tracker, const double *features)
{
    const double *own = features + GBOSE__FEATURE_ROUND;

    switch (tracker->features) {
    case LEVEL:
        return;
    case BEST:
        x[0] = features[GBOSE__FEATURE_BEST] - tracker->xbar[0];
        x[1] = features[GBOSE__FEATURE_ROOT] - tracker->xbar[1];
        return;
    case TREND:
        x[0] = features[GBOSE__FEATURE_TIME] - tracker->xbar[0];
        return;
    case ROUND:
        for (size_t i = 0; i < tracker->q; i++)
            x[i] = own[i] - tracker->xbar[i];
        return;
    default:
        x[0] = features[GBOSE__FEATURE_BEST] - tracker->xbar[0];
        for (size_t i = 1; i < tracker->q; i++)
            x[i] = own[i - 1] - tracker->xbar[i];
    }
}

/* ---- the numbers of a tracker ---- */

/* How many numbers a tracker of q features has, beside its rows. */
static size_t numbers_of(size_t q)
{
    return 4 + 3 * q + q * (q + 1) / 2;
}

/* The numbers of all trackers, padded: the rows begin behind them. */
static size_t all_numbers(size_t round)
{
    size_t sum = 0;

    for (size_t k = 0; k < count_trackers(round); k++)
        sum += numbers_of(count_features(k, round));
    return gbose__pad(sum);
}

static size_t count_rows(size_t round)
{
    size_t sum = 0;

    for (size_t k = 0; k < count_trackers(round); k++)
        sum += 1 + count_features(k, round);
    return sum;
}

size_t gbose__trackers_size(size_t dim, size_t round)
{
    return all_numbers(round) + count_rows(round) * gbose__pad(dim);
}

void gbose__trackers_view(struct gbose__trackers *trackers, const struct gbose__tuning *tuning, size_t dim,
                          size_t round, double *at)
{
    double *row = at + all_numbers(round);

    trackers->tuning = tuning;
    trackers->dim = dim;
    trackers->round = round;
    trackers->at = at;
    trackers->rows = row;
    trackers->n_rows = count_rows(round);
    trackers->count = count_trackers(round);
    for (size_t k = 0; k < trackers->count; k++) {
        struct gbose__tracker *tracker = &trackers->tracker[k];

        tracker->tuning = tuning;
        tracker->name = kinds[k].name;
        tracker->features = kinds[k].features;
        tracker->forget = kinds[k].forget;
        tracker->q = count_features(k, round);
        tracker->stride = gbose__pad(dim);
        tracker->loss = at;
        tracker->n = at + 1;
        tracker->turn = at + 2;
        tracker->rbar = at + 3;
        tracker->xbar = at + 4;
        tracker->prior = tracker->xbar + tracker->q;
        tracker->slope_r = tracker->prior + tracker->q;
        tracker->root = tracker->slope_r + tracker->q;
        tracker->bbar = row;
        tracker->slope_b = row + tracker->stride;
        at += numbers_of(tracker->q);
        row += (1 + tracker->q) * tracker->stride;
    }
}

void gbose__trackers_init(const struct gbose__trackers *trackers)
{
    for (size_t k = 0; k < trackers->count; k++) {
        const struct gbose__tracker *tracker = &trackers->tracker[k];

        for (size_t i = 0; i < tracker->q; i++) {
            tracker->prior[i] = trackers->tuning->slope_prior;
            tracker->root[i * (i + 1) / 2 + i] = 1 / sqrt(trackers->tuning->slope_prior);
        }
    }
}

/* What is new in its features, at the end of them, was zero in every round: it has its prior, and no slope. */
static void grow_tracker(const struct gbose__tracker *to, const struct gbose__tracker *from, size_t dim)
{
    size_t q = from->q;

    *to->loss = *from->loss;
    *to->n = *from->n;
    *to->turn = *from->turn;
    *to->rbar = *from->rbar;
    memcpy(to->xbar, from->xbar, q * sizeof(double));
    memcpy(to->prior, from->prior, q * sizeof(double));
    memcpy(to->slope_r, from->slope_r, q * sizeof(double));
    memcpy(to->root, from->root, q * (q + 1) / 2 * sizeof(double));
    for (size_t i = 0; i <= q; i++) /* bbar, and the rows of slope_b behind it */
        memcpy(to->bbar + i * to->stride, from->bbar + i * from->stride, dim * sizeof(double));
}

void gbose__trackers_grow(const struct gbose__trackers *to, const struct gbose__trackers *from)
{
    double worst = 0;

    gbose__trackers_init(to);
    for (size_t k = 0; k < from->count; k++) {
        grow_tracker(&to->tracker[k], &from->tracker[k], from->dim);
        worst = *from->tracker[k].loss > worst ? *from->tracker[k].loss : worst;
    }
    for (size_t k = from->count; k < to->count; k++) /* they know nothing yet, and begin behind all others */
        *to->tracker[k].loss = worst;
}

static int within(const double *x, size_t n, double most)
{
    int fine = 1;

    for (size_t i = 0; i < n; i++)
        fine &= fabs(x[i]) <= most;
    return fine;
}

/* Far above what honest rounds can make of inputs up to GBOSE_MAX_INPUT, far below overflow. */
int gbose__trackers_are_sane(const struct gbose__trackers *trackers)
{
    const double most = 1e20 * GBOSE_MAX_INPUT;
    int fine = 1;

    for (size_t k = 0; k < trackers->count; k++) {
        const struct gbose__tracker *tracker = &trackers->tracker[k];

        fine &= *tracker->loss >= 0 && *tracker->loss <= 1e300;
        fine &= *tracker->n >= 0 && *tracker->n <= 1e18;
        fine &= *tracker->turn >= 0 && floor(*tracker->turn) == *tracker->turn;
        fine &= *tracker->turn < (double)tracker->q || *tracker->turn == 0;
        fine &= fabs(*tracker->rbar) <= most &&
                within(tracker->xbar, tracker->q,
                       tracker->features == TREND ? 1e18 : 2 * trackers->tuning->feature_limit);
        fine &= within(tracker->root, tracker->q * (tracker->q + 1) / 2, 1e3) &&
                within(tracker->slope_r, tracker->q, most);
        fine &= within(tracker->bbar, (1 + tracker->q) * tracker->stride, most);
        for (size_t i = 0; i < tracker->q; i++)
            fine &= tracker->prior[i] > 0 && tracker->prior[i] <= trackers->tuning->slope_prior &&
                    tracker->root[i * (i + 1) / 2 + i] > 0;
    }
    return fine;
}

/* ---- least squares ---- */

double gbose__tracker_predict(const struct gbose__tracker *tracker, const double *features, double *bhat)
{
    double x[GBOSE__MAX_FEATURES], rhat = *tracker->rbar;

    centred(x, tracker, features);
    memcpy(bhat, tracker->bbar, tracker->stride * sizeof *bhat);
    for (size_t i = 0; i < tracker->q; i++) {
        rhat += x[i] * tracker->slope_r[i];
        gbose__kernels->axpy(bhat, x[i], tracker->slope_b + i * tracker->stride, tracker->stride);
    }
    return rhat;
}

void gbose__trackers_along(const struct gbose__trackers *trackers, double *along, const double *mu)
{
    gbose__kernels->dots(along, trackers->rows, mu, trackers->n_rows, gbose__pad(trackers->dim));
}

double gbose__tracker_baseline(const struct gbose__tracker *tracker, const double *features,
                               const double *along)
{
    double x[GBOSE__MAX_FEATURES], baseline = *tracker->rbar - along[0];

    centred(x, tracker, features);
    for (size_t i = 0; i < tracker->q; i++)
        baseline += x[i] * (tracker->slope_r[i] - along[1 + i]);
    return baseline;
}

double gbose__tracker_slope(const struct gbose__tracker *tracker, const double *features, const double *mu)
{
    double best = features[GBOSE__FEATURE_BEST], slope[2] = {0, 0};

    if (tracker->features != BEST && tracker->features != ROUND_BEST)
        return 0;
    for (size_t i = 0; i < (tracker->features == BEST ? 2 : 1); i++)
        slope[i] =
            tracker->slope_r[i] - gbose__dot(tracker->slope_b + i * tracker->stride, mu, tracker->stride);
    return slope[0] + slope[1] * copysign(0.5, best) / sqrt(fabs(best) + tracker->tuning->root_floor);
}

/* C += w x x' in the root, by Carlson's step (core/ridge.c); gain = C_new^-1 x. */
static void add(const struct gbose__tracker *tracker, double *gain, const double *x, double w)
{
    double alpha = 1, root = 1; /* of alpha */

    memset(gain, 0, tracker->q * sizeof *gain);
    for (size_t j = 0; j < tracker->q; j++) {
        double *row = tracker->root + j * (j + 1) / 2, f = 0, next, next_root, scale, back;

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
    for (size_t i = 0; i < tracker->q; i++)
        gain[i] /= alpha;
}

/* Put the next entry of P back to the prior: evidence for a slope of zero, which pulls that slope and those
 * that are correlated with it. `gain` is scratch, 2 q numbers. */
static void put_back(const struct gbose__tracker *tracker, double *gain)
{
    size_t i = (size_t)*tracker->turn;
    double *unit = gain + tracker->q, w = tracker->tuning->slope_prior - tracker->prior[i],
           r = tracker->slope_r[i];

    memset(unit, 0, tracker->q * sizeof *unit);
    unit[i] = 1;
    add(tracker, gain, unit, w);
    for (size_t k = 0; k < tracker->q; k++)
        if (k != i)
            gbose__kernels->axpy(tracker->slope_b + k * tracker->stride, -w * gain[k],
                                 tracker->slope_b + i * tracker->stride, tracker->stride);
    for (size_t j = 0; j < tracker->stride; j++) /* row i last: the others are moved by what it was */
        tracker->slope_b[i * tracker->stride + j] *= 1 - w * gain[i];
    for (size_t k = 0; k < tracker->q; k++)
        tracker->slope_r[k] -= w * gain[k] * r;
    tracker->prior[i] = tracker->tuning->slope_prior;
    *tracker->turn = (double)((i + 1) % tracker->q);
}

/* The slopes move by the errors of the predictions. `error` is scratch, a row. */
static void learn_slopes(const struct gbose__tracker *tracker, const double *features, double reward,
                         const double *b, double n, double *error)
{
    double x[GBOSE__MAX_FEATURES], gain[2 * GBOSE__MAX_FEATURES],
        off = reward - gbose__tracker_predict(tracker, features, error);
    double share = 1 / (n + 1), weight = n * share;
    double worn = tracker->tuning->prior_worn * tracker->tuning->slope_prior;

    centred(x, tracker, features);
    for (size_t j = 0; j < tracker->stride; j++)
        error[j] = b[j] - error[j];
    if (tracker->forget < 1) {
        double grow = 1 / sqrt(tracker->forget);

        for (size_t i = 0; i < tracker->q * (tracker->q + 1) / 2; i++)
            tracker->root[i] *= grow;
        for (size_t i = 0; i < tracker->q; i++)
            tracker->prior[i] *= tracker->forget;
    }
    add(tracker, gain, x, weight);
    for (size_t i = 0; i < tracker->q; i++) {
        tracker->slope_r[i] += weight * gain[i] * off;
        gbose__kernels->axpy(tracker->slope_b + i * tracker->stride, weight * gain[i], error,
                             tracker->stride);
        tracker->xbar[i] += share * x[i];
    }
    for (size_t i = 0; i < tracker->q && tracker->prior[(size_t)*tracker->turn] <= worn; i++)
        put_back(tracker, gain);
}

void gbose__tracker_learn(const struct gbose__tracker *tracker, const double *features, double reward,
                          const double *b, double *scratch)
{
    double n = tracker->forget * *tracker->n, share = 1 / (n + 1);

    if (tracker->q)
        learn_slopes(tracker, features, reward, b, n, scratch);
    *tracker->rbar += share * (reward - *tracker->rbar);
    gbose__kernels->approach(tracker->bbar, share, b, tracker->stride);
    *tracker->n = n + 1;
}
