/* What tracker.c, which knows the kinds of trackers there are and their numbers, and tracker_fit.c, their least squares,
 * share. */
#ifndef GBOSE_LEARNERS_AUTO_TRACKER_INNER_H
#define GBOSE_LEARNERS_AUTO_TRACKER_INNER_H

#include "core/ridge.h"
#include "learners/auto/tracker.h"

/* Kinds of features. */
enum { LEVEL, TREND, BEST, ROUND, ROUND_BEST, LINEAR, INDEX, TREE, FLEXIBLE };

static inline double *root_row(const struct gbose__tracker *tracker, size_t j)
{
    return tracker->root + gbose__triangle_row(j);
}

/* Where the caller's features begin among those of a tracker; q if it has none. */
static inline size_t first_given(const struct gbose__tracker *tracker)
{
    switch (tracker->features) {
    case ROUND:
        return 0;
    case ROUND_BEST:
        return 1;
    case FLEXIBLE:
        return GBOSE__FUNCTIONS;
    default:
        return tracker->q;
    }
}

#endif
