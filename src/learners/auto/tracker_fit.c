/* The least squares of a tracker. */
#include <math.h>
#include <string.h>

#include "core/kernels.h"
#include "learners/auto/tracker_inner.h"

void gbose__tracker_centre(const struct gbose__tracker *tracker, double *x, const double *features)
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
    case FLEXIBLE: /* the caller's last, since they may grow */
        for (size_t i = 0; i < GBOSE__FUNCTIONS; i++)
            x[i] = features[tracker->first + i] - tracker->xbar[i];
        for (size_t i = GBOSE__FUNCTIONS; i < tracker->q; i++)
            x[i] = own[i - GBOSE__FUNCTIONS] - tracker->xbar[i];
        return;
    case ROUND:
    case LINEAR:
    case INDEX:
    case TREE:
        for (size_t i = 0; i < tracker->q; i++)
            x[i] = features[tracker->first + i] - tracker->xbar[i];
        return;
    default:
        x[0] = features[GBOSE__FEATURE_BEST] - tracker->xbar[0];
        for (size_t i = 1; i < tracker->q; i++)
            x[i] = own[i - 1] - tracker->xbar[i];
    }
}

double gbose__tracker_predict(const struct gbose__tracker *tracker, const double *x, double *bhat)
{
    gbose__kernels->combine(bhat, tracker->bbar, x, tracker->slope_b, tracker->q, tracker->stride);
    return gbose__tracker_plain(tracker, x);
}

void gbose__trackers_along(const struct gbose__trackers *trackers, int users, double *along, const double *mu)
{
    size_t stride = gbose__pad(trackers->dim), rows = trackers->n_rows;

    if (trackers->offer && !users)
        rows = gbose__tracker_row(trackers, gbose__trackers_linear(trackers));
    gbose__kernels->dots(along, trackers->rows, mu, rows, stride);
}

size_t gbose__tracker_row(const struct gbose__trackers *trackers, const struct gbose__tracker *tracker)
{
    return (size_t)(tracker->bbar - trackers->rows) / tracker->stride;
}

double gbose__tracker_baseline(const struct gbose__tracker *tracker, const double *x, const double *along)
{
    double baseline = *tracker->rbar - along[0];

    for (size_t i = 0; i < tracker->q; i++)
        baseline += x[i] * (tracker->slope_r[i] - along[1 + i]);
    return baseline;
}

double gbose__tracker_plain(const struct gbose__tracker *tracker, const double *x)
{
    double rhat = *tracker->rbar;

    for (size_t i = 0; i < tracker->q; i++)
        rhat += x[i] * tracker->slope_r[i];
    return rhat;
}

double gbose__tracker_level(const struct gbose__tracker *tracker, const double *along)
{
    double level = *tracker->rbar - along[0];

    for (size_t i = 0; i < tracker->q; i++)
        level -= tracker->xbar[i] * (tracker->slope_r[i] - along[1 + i]);
    return level;
}

/* The features of a tracker that are functions of the best score come first; `slope` is how fast they move
 * with it. */
static size_t slopes_with_best(const struct gbose__tracker *tracker, const double *features, double *slope)
{
    double best = features[GBOSE__FEATURE_BEST];

    slope[0] = 1;
    slope[1] = copysign(0.5, best) / sqrt(fabs(best) + tracker->tuning->root_floor);
    return tracker->features == BEST ? 2 : tracker->features == ROUND_BEST ? 1 : 0;
}

double gbose__tracker_slope(const struct gbose__tracker *tracker, const double *features, const double *mu)
{
    double slope[2], sum = 0;
    size_t n = slopes_with_best(tracker, features, slope);

    for (size_t i = 0; i < n; i++)
        sum += slope[i] * (tracker->slope_r[i] -
                           gbose__dot(tracker->slope_b + i * tracker->stride, mu, tracker->stride));
    return sum;
}

double gbose__tracker_slope_error(const struct gbose__tracker *tracker, const double *features)
{
    double slope[2], sum = 0;
    size_t n = slopes_with_best(tracker, features, slope);

    for (size_t j = 0; j < tracker->q; j++) { /* the square of R slope */
        const double *row = root_row(tracker, j);
        double f = 0;

        for (size_t i = 0; i <= j && i < n; i++)
            f += row[i] * slope[i];
        sum += f * f;
    }
    return sum;
}

/* Up to this many features, a kernel's call costs more than it saves. */
#define FEW 8

/* C += w x x' in the root, by Carlson's step (core/ridge.c); gain = C_new^-1 x. Both vectors have room to
 * be padded. */
static void add(const struct gbose__tracker *tracker, double *gain, double *x, double w)
{
    size_t q = tracker->q;
    double alpha = 1, root = 1; /* of alpha */

    memset(gain, 0, q * sizeof *gain);
    memset(x + q, 0, (gbose__pad(q) - q) * sizeof *x);
    if (q > FEW)
        alpha = gbose__kernels->triangle_step(tracker->root, q, gain, x, w);
    for (size_t j = 0; j < q && q <= FEW; j++) {
        double *row = root_row(tracker, j), f = 0, next, next_root, scale, back;

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
    for (size_t i = 0; i < q; i++)
        gain[i] /= alpha;
}

static void multiply(double *x, double factor, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] *= factor;
}

/* Put entry i of P back to the prior: evidence for a slope of zero, which pulls that slope and
 * those that are correlated with it, or lets go of them. `gain` is scratch, two padded vectors. */
static void put_back(const struct gbose__tracker *tracker, size_t i, double *gain)
{
    double *unit = gain + gbose__pad(tracker->q), w = tracker->tuning->slope_prior - tracker->prior[i],
           r = tracker->slope_r[i];

    memset(unit, 0, tracker->q * sizeof *unit);
    unit[i] = 1;
    add(tracker, gain, unit, w);
    for (size_t k = 0; k < tracker->q; k++)
        if (k != i)
            gbose__kernels->axpy(tracker->slope_b + k * tracker->stride, -w * gain[k],
                                 tracker->slope_b + i * tracker->stride, tracker->stride);
    multiply(tracker->slope_b + i * tracker->stride, 1 - w * gain[i],
             tracker->stride); /* last: the others are moved by what it was */
    for (size_t k = 0; k < tracker->q; k++)
        tracker->slope_r[k] -= w * gain[k] * r;
    tracker->prior[i] = tracker->tuning->slope_prior;
}

/* The slopes move by the errors of the predictions; `error` is scratch, a row. */
static void learn_slopes(const struct gbose__tracker *tracker, double *x, double reward, const double *b,
                         double n, double *error)
{
    double gain[2 * GBOSE__CENTRED], off = reward - gbose__tracker_predict(tracker, x, error);
    double share = 1 / (n + 1), weight = n * share;
    double worn = tracker->tuning->prior_worn * tracker->tuning->slope_prior;

    gbose__kernels->subtract(error, b, error, tracker->stride);
    if (tracker->forget < 1) {
        double grow = 1 / sqrt(tracker->forget);

        for (size_t j = 0; j < tracker->q; j++)
            multiply(root_row(tracker, j), grow, j + 1);
        multiply(tracker->prior, tracker->forget, tracker->q);
    }
    add(tracker, gain, x, weight);
    for (size_t i = 0; i < tracker->q; i++) {
        gain[i] *= weight;
        tracker->slope_r[i] += gain[i] * off;
    }
    gbose__kernels->spread(tracker->slope_b, gain, error, tracker->q, tracker->stride);
    for (size_t i = 0; i < tracker->q && tracker->prior[(size_t)*tracker->turn] <= worn; i++) {
        put_back(tracker, (size_t)*tracker->turn, gain);
        *tracker->turn = (double)(((size_t)*tracker->turn + 1) % tracker->q);
    }
}

/* What is known stays what it was, in the new unit; the prior is the same in any unit. */
static void rescale_feature(const struct gbose__tracker *tracker, size_t i, double factor)
{
    double gain[2 * GBOSE__CENTRED];

    tracker->prior[i] *= factor * factor;
    tracker->slope_r[i] /= factor;
    for (size_t j = 0; j < tracker->stride; j++)
        tracker->slope_b[i * tracker->stride + j] /= factor;
    for (size_t j = i; j < tracker->q; j++)
        root_row(tracker, j)[i] /= factor;
    put_back(tracker, i, gain);
}

#define LEAST_FACTOR 0x1p-16 /* smaller ones are taken in steps, so that no number is lost in rounding */

void gbose__trackers_move_given(const struct gbose__trackers *trackers, size_t i,
                                const struct gbose__given_move *move)
{
    for (size_t k = 0; k < trackers->count; k++) {
        const struct gbose__tracker *tracker = &trackers->tracker[k];
        size_t own = first_given(tracker) + i;
        double factor = move->factor;

        if (first_given(tracker) == tracker->q)
            continue;
        tracker->xbar[own] = tracker->xbar[own] * factor - move->shift;
        for (; factor < LEAST_FACTOR; factor /= LEAST_FACTOR)
            rescale_feature(tracker, own, LEAST_FACTOR);
        rescale_feature(tracker, own, factor);
    }
}

void gbose__tracker_restart(const struct gbose__tracker *tracker, const double *xbar, const double *slope,
                            double rounds)
{
    double precision = tracker->tuning->slope_prior + rounds;

    memset(tracker->root, 0, gbose__triangle(tracker->q) * sizeof(double));
    memset(tracker->slope_b, 0, tracker->q * tracker->stride * sizeof(double));
    for (size_t i = 0; i < tracker->q; i++) {
        tracker->xbar[i] = xbar[i];
        tracker->prior[i] = tracker->tuning->slope_prior;
        tracker->slope_r[i] = slope[i];
        root_row(tracker, i)[i] = 1 / sqrt(precision);
    }
}

void gbose__tracker_begin_means(const struct gbose__tracker *tracker)
{
    *tracker->n = *tracker->rbar = 0;
    memset(tracker->xbar, 0, tracker->q * sizeof(double));
    memset(tracker->bbar, 0, tracker->stride * sizeof(double));
}

void gbose__tracker_begin(const struct gbose__tracker *tracker)
{
    static const double zeros[GBOSE__MAX_FEATURES];

    gbose__tracker_restart(tracker, zeros, zeros, 0);
    gbose__tracker_begin_means(tracker);
}

void gbose__tracker_learn(const struct gbose__tracker *tracker, double *x, double reward, const double *b,
                          int slopes, double *scratch)
{
    double n = tracker->level * *tracker->n, share = 1 / (n + 1);

    if (tracker->q && slopes)
        learn_slopes(tracker, x, reward, b, n, scratch);
    for (size_t i = 0; i < tracker->q; i++)
        tracker->xbar[i] += share * x[i];
    *tracker->rbar += share * (reward - *tracker->rbar);
    gbose__kernels->approach(tracker->bbar, share, b, tracker->stride);
    *tracker->n = n + 1;
}
