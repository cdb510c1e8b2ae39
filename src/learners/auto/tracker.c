#include "learners/auto/tracker_inner.h"

#include <math.h>
#include <string.h>

#include "core/kernels.h"
#include "core/ridge.h"
#include "gbose.h"

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
              [FLEXIBLE] = {GBOSE__FUNCTIONS, 1}};

static size_t count_features(size_t k, size_t round)
{
    return shapes[kinds[k].features].own + shapes[kinds[k].features].round * round;
}

/* Where its features begin among all. */
static size_t first_feature(size_t k, size_t round)
{
    size_t of_user = GBOSE__FEATURE_ROUND + round;

    switch (kinds[k].features) {
    case LINEAR:
        return of_user;
    case FLEXIBLE:
        return of_user + GBOSE__OFFER_COORDINATES;
    case INDEX:
        return of_user + GBOSE__OFFER_COORDINATES + GBOSE__FUNCTIONS;
    case TREE:
        return of_user + GBOSE__OFFER_COORDINATES + GBOSE__FUNCTIONS + GBOSE__INDEX_FEATURES;
    default:
        return GBOSE__FEATURE_ROUND;
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
