#include "learners/auto/tracker.h"

#include <math.h>
#include <string.h>

#include "core/kernels.h"
#include "core/ridge.h"
#include "gbose.h"

enum { LEVEL, TREND, BEST, ROUND, ROUND_BEST, LINEAR, INDEX, TREE, FLEXIBLE };

/* The trackers there are: their names, features and memories (a share of the evidence that is left after a
 * round), all chosen on repetitions of seed 101. Those with the caller's features are left out without
 * such features, and so are the last four, those on the user, where they are not wanted. */
static const struct kind {
    const char *name;
    int features;
    double forget, level; /* of slopes and means */
} kinds[] = {
    {"level", LEVEL, 1, 1},
    {"level", LEVEL, 0.995, 0.995},
    {"level", LEVEL, 0.85, 0.85},
    {"level", LEVEL, 0.5, 0.5},
    {"level", LEVEL, 0.25, 0.25},
    {"trend", TREND, 0.99, 0.99},
    {"best score", BEST, 0.998, 0.998},
    {"best score", BEST, 0.98, 0.98},
    {"round features", ROUND, 1, 1},
    {"round features", ROUND, 0.998, 0.5},
    {"round features and best score", ROUND_BEST, 0.998, 0.998},
    {"linear", LINEAR, 1, 0.96},
    {"index", INDEX, 0.998, 0.96},
    {"tree", TREE, 1, 0.96},
    {"flexible", FLEXIBLE, 1, 0.96},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static int is_wanted(size_t k, size_t round, size_t offer)
{
    if (kinds[k].features >= LINEAR)
        return offer > 0;
    return kinds[k].features < ROUND || round > 0;
}

/* How many features it has, and how many of the caller's beside them. */
static const struct {
    size_t own, round;
} shapes[] = {[LEVEL] = {0, 0},
              [TREND] = {1, 0},
              [BEST] = {2, 0},
              [ROUND] = {0, 1},
              [ROUND_BEST] = {1, 1},
              [LINEAR] = {GBOSE__OFFER_COORDINATES, 0},
              [INDEX] = {GBOSE__INDEX_FEATURES, 0},
              [TREE] = {GBOSE__TREE_LEAVES, 0},
              [FLEXIBLE] = {GBOSE__OFFER_FEATURES, 1}};

static size_t count_features(size_t k, size_t round)
{
    return shapes[kinds[k].features].own + shapes[kinds[k].features].round * round;
}

/* Where its features begin among all. */
static size_t first_feature(size_t k, size_t round)
{
    switch (kinds[k].features) {
    case INDEX:
        return GBOSE__FEATURE_ROUND + round + GBOSE__OFFER_FEATURES;
    case TREE:
        return GBOSE__FEATURE_ROUND + round + GBOSE__OFFER_FEATURES + GBOSE__INDEX_FEATURES;
    case LINEAR:
        return GBOSE__FEATURE_ROUND + round;
    default:
        return GBOSE__FEATURE_ROUND;
    }
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
    case FLEXIBLE: /* the caller's last, since they may grow */
        for (size_t i = 0; i < GBOSE__OFFER_FEATURES; i++)
            x[i] = own[tracker->q - GBOSE__OFFER_FEATURES + i] - tracker->xbar[i];
        for (size_t i = GBOSE__OFFER_FEATURES; i < tracker->q; i++)
            x[i] = own[i - GBOSE__OFFER_FEATURES] - tracker->xbar[i];
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

/* ---- the numbers of a tracker ---- */

/* How many numbers a tracker of q features has, beside its rows. */
static size_t numbers_of(size_t q)
{
    return gbose__pad(5 + 3 * q) + gbose__triangle(q);
}

/* The numbers of all trackers, and their rows, which begin behind them. */
static void count(size_t round, size_t offer, size_t *numbers, size_t *rows)
{
    *numbers = *rows = 0;
    for (size_t k = 0; k < KINDS; k++)
        if (is_wanted(k, round, offer)) {
            *numbers += numbers_of(count_features(k, round));
            *rows += 1 + count_features(k, round);
        }
}

size_t gbose__trackers_size(size_t dim, size_t round, size_t offer)
{
    size_t numbers, rows;

    count(round, offer, &numbers, &rows);
    return numbers + rows * gbose__pad(dim);
}

/* Give a tracker its names and numbers. */
static void place(struct gbose__tracker *tracker, const struct kind *kind, size_t q, size_t stride,
                  double *at, double *row)
{
    tracker->kind = (size_t)(kind - kinds);
    tracker->name = kind->name;
    tracker->features = kind->features;
    tracker->forget = kind->forget;
    tracker->level = kind->level;
    tracker->q = q;
    tracker->stride = stride;
    tracker->loss = at;
    tracker->n = at + 1;
    tracker->turn = at + 2;
    tracker->rbar = at + 3;
    tracker->plain = at + 4;
    tracker->xbar = at + 5;
    tracker->prior = tracker->xbar + q;
    tracker->slope_r = tracker->prior + q;
    tracker->root = at + gbose__pad(5 + 3 * q);
    tracker->bbar = row;
    tracker->slope_b = row + stride;
}

void gbose__trackers_view(struct gbose__trackers *trackers, const struct gbose__tuning *tuning, size_t dim,
                          size_t round, size_t offer, double *at)
{
    double *row;
    size_t numbers;

    count(round, offer, &numbers, &trackers->n_rows);
    row = at + numbers;
    trackers->tuning = tuning;
    trackers->dim = dim;
    trackers->round = round;
    trackers->offer = offer;
    trackers->at = at;
    trackers->rows = row;
    trackers->count = 0;
    for (size_t k = 0; k < KINDS; k++) {
        struct gbose__tracker *tracker = &trackers->tracker[trackers->count];

        if (!is_wanted(k, round, offer))
            continue;
        tracker->tuning = tuning;
        place(tracker, &kinds[k], count_features(k, round), gbose__pad(dim), at, row);
        tracker->first = first_feature(k, round);
        at += numbers_of(tracker->q);
        row += (1 + tracker->q) * tracker->stride;
        trackers->count++;
    }
}

const struct gbose__tracker *gbose__trackers_flexible(const struct gbose__trackers *trackers)
{
    return trackers->offer ? &trackers->tracker[trackers->count - 1] : NULL;
}

/* The last four are always the same. */
const struct gbose__tracker *gbose__trackers_linear(const struct gbose__trackers *trackers)
{
    return &trackers->tracker[trackers->count - 4];
}

const struct gbose__tracker *gbose__trackers_tree(const struct gbose__trackers *trackers)
{
    return &trackers->tracker[trackers->count - 2];
}

int gbose__tracker_is_of_time(const struct gbose__tracker *tracker)
{
    return tracker->features == LEVEL || tracker->features == TREND;
}

int gbose__tracker_is_of_round(const struct gbose__tracker *tracker)
{
    return tracker->features == ROUND || tracker->features == ROUND_BEST;
}

int gbose__tracker_is_of_user(const struct gbose__tracker *tracker)
{
    return tracker->features >= LINEAR;
}

size_t gbose__trackers_place(const struct gbose__trackers *trackers, const struct gbose__tracker *tracker)
{
    size_t k = 0;

    while (k + 1 < trackers->count && trackers->tracker[k].kind != tracker->kind)
        k++;
    return k;
}

static double *root_row(const struct gbose__tracker *tracker, size_t j)
{
    return tracker->root + gbose__triangle_row(j);
}

void gbose__trackers_init(const struct gbose__trackers *trackers)
{
    for (size_t k = 0; k < trackers->count; k++) {
        const struct gbose__tracker *tracker = &trackers->tracker[k];

        for (size_t i = 0; i < tracker->q; i++) {
            tracker->prior[i] = trackers->tuning->slope_prior;
            root_row(tracker, i)[i] = 1 / sqrt(trackers->tuning->slope_prior);
        }
    }
}

/* What is new in its features, at the end of them, was zero in every round: it has its prior, and no
 * slope. */
static void grow_tracker(const struct gbose__tracker *to, const struct gbose__tracker *from, size_t dim)
{
    size_t q = from->q;

    *to->loss = *from->loss;
    *to->plain = *from->plain;
    *to->n = *from->n;
    *to->turn = *from->turn;
    *to->rbar = *from->rbar;
    memcpy(to->xbar, from->xbar, q * sizeof(double));
    memcpy(to->prior, from->prior, q * sizeof(double));
    memcpy(to->slope_r, from->slope_r, q * sizeof(double));
    memcpy(to->root, from->root, gbose__triangle(q) * sizeof(double));
    for (size_t i = 0; i <= q; i++) /* bbar, and the rows of slope_b behind it */
        memcpy(to->bbar + i * to->stride, from->bbar + i * from->stride, dim * sizeof(double));
}

void gbose__trackers_grow(const struct gbose__trackers *to, const struct gbose__trackers *from)
{
    double worst = 0;

    gbose__trackers_init(to);
    for (size_t k = 0; k < from->count; k++)
        worst = *from->tracker[k].loss > worst ? *from->tracker[k].loss : worst;
    for (size_t k = 0; k < to->count; k++) /* those that know nothing yet begin behind all others */
        *to->tracker[k].loss = *to->tracker[k].plain = worst;
    for (size_t k = 0; k < from->count; k++)
        grow_tracker(&to->tracker[gbose__trackers_place(to, &from->tracker[k])], &from->tracker[k],
                     from->dim);
}

static int within(const double *x, size_t n, double most)
{
    int fine = 1;

    for (size_t i = 0; i < n; i++)
        fine &= fabs(x[i]) <= most;
    return fine;
}

void gbose__trackers_rescale(const struct gbose__trackers *trackers, size_t j, double factor)
{
    for (size_t i = 0; i < trackers->n_rows; i++)
        trackers->rows[i * gbose__pad(trackers->dim) + j] *= factor;
}

void gbose__trackers_move(const struct gbose__trackers *trackers, const double *by, double sign)
{
    for (size_t k = 0; k < trackers->count; k++) {
        const struct gbose__tracker *tracker = &trackers->tracker[k];

        gbose__kernels->axpy(tracker->bbar, sign, by, tracker->stride);
        if (gbose__tracker_is_of_user(tracker))
            memset(tracker->slope_b, 0, tracker->q * tracker->stride * sizeof(double));
    }
}

/* Where the caller's features begin among those of a tracker; q if it has none. */
static size_t first_given(const struct gbose__tracker *tracker)
{
    switch (tracker->features) {
    case ROUND:
        return 0;
    case ROUND_BEST:
        return 1;
    case FLEXIBLE:
        return GBOSE__OFFER_FEATURES;
    default:
        return tracker->q;
    }
}

/* Are its features at most feature_limit? The time and the caller's may be far from where they began. */
static int is_bounded(const struct gbose__tracker *tracker)
{
    return tracker->features != TREND && first_given(tracker) == tracker->q;
}

/* Far above what honest rounds can make of inputs up to GBOSE_MAX_INPUT, far below overflow. */
int gbose__trackers_are_sane(const struct gbose__trackers *trackers)
{
    const double most = 1e20 * GBOSE_MAX_INPUT;
    int fine = 1;

    for (size_t k = 0; k < trackers->count; k++) {
        const struct gbose__tracker *tracker = &trackers->tracker[k];

        fine &= *tracker->loss >= 0 && *tracker->loss <= 1e300;
        fine &= *tracker->plain >= 0 && *tracker->plain <= 1e300;
        fine &= *tracker->n >= 0 && *tracker->n <= 1e18;
        fine &= *tracker->turn >= 0 && floor(*tracker->turn) == *tracker->turn;
        fine &= *tracker->turn < (double)tracker->q || *tracker->turn == 0;
        fine &= fabs(*tracker->rbar) <= most &&
                within(tracker->xbar, tracker->q,
                       is_bounded(tracker) ? 2 * trackers->tuning->feature_limit : 1e40);
        fine &= within(tracker->root, gbose__triangle(tracker->q), 1e3) &&
                within(tracker->slope_r, tracker->q, most);
        fine &= within(tracker->bbar, (1 + tracker->q) * tracker->stride, most);
        for (size_t i = 0; i < tracker->q; i++)
            fine &= tracker->prior[i] > 0 && tracker->prior[i] <= trackers->tuning->slope_prior &&
                    root_row(tracker, i)[i] > 0;
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

double gbose__tracker_baseline(const struct gbose__tracker *tracker, const double *features,
                               const double *along)
{
    double x[GBOSE__MAX_FEATURES], baseline = *tracker->rbar - along[0];

    centred(x, tracker, features);
    for (size_t i = 0; i < tracker->q; i++)
        baseline += x[i] * (tracker->slope_r[i] - along[1 + i]);
    return baseline;
}

double gbose__tracker_plain(const struct gbose__tracker *tracker, const double *features)
{
    double x[GBOSE__MAX_FEATURES], rhat = *tracker->rbar;

    centred(x, tracker, features);
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
    for (size_t j = 0; j < tracker->stride; j++) /* row i last: the others are moved by what it was */
        tracker->slope_b[i * tracker->stride + j] *= 1 - w * gain[i];
    for (size_t k = 0; k < tracker->q; k++)
        tracker->slope_r[k] -= w * gain[k] * r;
    tracker->prior[i] = tracker->tuning->slope_prior;
}

/* Room for a vector of features, padded. */
enum { PADDED = GBOSE__MAX_FEATURES + 8 };

/* The slopes move by the errors of the predictions. `error` is scratch, a row. */
static void learn_slopes(const struct gbose__tracker *tracker, const double *features, double reward,
                         const double *b, double n, double *error)
{
    double x[PADDED], gain[2 * PADDED], off = reward - gbose__tracker_predict(tracker, features, error);
    double share = 1 / (n + 1), weight = n * share;
    double worn = tracker->tuning->prior_worn * tracker->tuning->slope_prior;

    centred(x, tracker, features);
    for (size_t j = 0; j < tracker->stride; j++)
        error[j] = b[j] - error[j];
    if (tracker->forget < 1) {
        double grow = 1 / sqrt(tracker->forget);

        for (size_t i = 0; i < gbose__triangle(tracker->q); i++)
            tracker->root[i] *= grow;
        for (size_t i = 0; i < tracker->q; i++)
            tracker->prior[i] *= tracker->forget;
    }
    add(tracker, gain, x, weight);
    for (size_t i = 0; i < tracker->q; i++) {
        tracker->slope_r[i] += weight * gain[i] * off;
        gbose__kernels->axpy(tracker->slope_b + i * tracker->stride, weight * gain[i], error,
                             tracker->stride);
    }
    for (size_t i = 0; i < tracker->q && tracker->prior[(size_t)*tracker->turn] <= worn; i++) {
        put_back(tracker, (size_t)*tracker->turn, gain);
        *tracker->turn = (double)(((size_t)*tracker->turn + 1) % tracker->q);
    }
}

/* What is known stays what it was, in the new unit; the prior is the same in any unit. */
static void rescale_feature(const struct gbose__tracker *tracker, size_t i, double factor)
{
    double gain[2 * PADDED];

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

void gbose__tracker_learn(const struct gbose__tracker *tracker, const double *features, double reward,
                          const double *b, int slopes, double *scratch)
{
    double n = tracker->level * *tracker->n, share = 1 / (n + 1), x[GBOSE__MAX_FEATURES];

    if (tracker->q && slopes)
        learn_slopes(tracker, features, reward, b, n, scratch);
    centred(x, tracker, features);
    for (size_t i = 0; i < tracker->q; i++)
        tracker->xbar[i] += share * x[i];
    *tracker->rbar += share * (reward - *tracker->rbar);
    gbose__kernels->approach(tracker->bbar, share, b, tracker->stride);
    *tracker->n = n + 1;
}
