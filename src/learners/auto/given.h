/* The features of the round as the caller gives them, and their units.
 *
 * A feature comes to the trackers as (value - origin) / unit. The unit is a power of two: about the standard deviation of
 * all values so far. When it changes, the mean so far becomes the origin, and trackers are told, so that they move
 * what they have learned along: slopes keep their meaning, and a reward that is linear in a feature stays
 * so. A value that is absurdly far from the mean is clipped. A feature that has never changed is zero.
 *
 * Multiplied by a power of two it is the same to the last bit. */
#ifndef GBOSE_LEARNERS_AUTO_GIVEN_H
#define GBOSE_LEARNERS_AUTO_GIVEN_H

#include <stddef.h>

#include "learners/auto/tuning.h"

/* A view of gbose__given_size() numbers, zeros at first; each array has `count`. */
struct gbose__given {
    size_t count;
    double *origin;
    double *mean, *variance; /* of all values so far, which are hardly forgotten */
    double *unit;            /* 0 as long as it has never changed */
};

size_t gbose__given_size(size_t count);
void gbose__given_view(struct gbose__given *given, size_t count, double *at);
/* Copy one of fewer features into numbers that are zero: those that are new were zero in every round. */
void gbose__given_grow(const struct gbose__given *to, const struct gbose__given *from);
int gbose__given_are_sane(const struct gbose__given *given);

/* What trackers get. */
void gbose__given_features(const struct gbose__given *given, const struct gbose__tuning *tuning,
                           double *features, const double *values);

/* What was x comes as factor x - shift. */
struct gbose__given_move {
    double factor; /* a power of two, at most 2 */
    double shift;
};

/* A round is to be learned, after so many others. For each feature, how it comes from now on: by the factor 1 if its
 * unit stays. */
void gbose__given_learn(const struct gbose__given *given, const struct gbose__tuning *tuning,
                        struct gbose__given_move *move, const double *values, double rounds);

#endif
