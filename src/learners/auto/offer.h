/* Features of what is on offer: functions of the mean of the arms' contexts, which holds who is asked,
 * whatever the layout of the contexts is. They are known before the arm is drawn, and a tracker learns
 * from them how the rewards of all arms depend on the user (tracker.h).
 *
 * The first rounds, GBOSE__OFFER_SAMPLE of them, are a sample of means. Then up to
 * GBOSE__OFFER_COORDINATES coordinates are chosen for good: one after the other, that which explains most of the
 * variance that is left of all coordinates, each in units of its own variance, and is not explained itself by those
 * chosen before (the blocks of two arms often hold the same features). So the order of the contexts does not matter. A
 * coordinate, less its mean and over its standard deviation in the sample, is z. The features, as many as
 * there is room for, are
 *
 *     z_i      (z_i^2 - 1) / sqrt 2      z_i z_j      sqrt 2 sin(k z_i), sqrt 2 cos(k z_i) for k = 1, 2, 3
 *
 * and zero before the choice. A coordinate in which all arms but one were equal in every round of the sample, as in blocks, is taken less
 * what these have: a vector that is added to the contexts of all arms does not hide the user then.
 * So no feature ever changes its meaning, and units do not matter. */
#ifndef GBOSE_LEARNERS_AUTO_OFFER_H
#define GBOSE_LEARNERS_AUTO_OFFER_H

#include <stddef.h>

#define GBOSE__OFFER_COORDINATES 6
#define GBOSE__OFFER_SAMPLE 16
#define GBOSE__OFFER_FEATURES 56

/* Doubles, since they are saved; zeros at first. The sample follows: GBOSE__OFFER_SAMPLE rows of dim
 * numbers, the means, and as many of the common parts. */
struct gbose__offer_state {
    double seen;                           /* rounds in the sample */
    double count;                          /* coordinates chosen */
    double relative;                       /* 1: some of them are less the common part */
    double less[GBOSE__OFFER_COORDINATES]; /* 1: this one is */
    double coordinate[GBOSE__OFFER_COORDINATES];
    double mean[GBOSE__OFFER_COORDINATES];
    double deviation[GBOSE__OFFER_COORDINATES];
};

struct gbose__offer {
    size_t dim;
    struct gbose__offer_state *state;
    double *sample, *common;
};

size_t gbose__offer_size(size_t dim);
void gbose__offer_view(struct gbose__offer *offer, size_t dim, double *at);
/* Copy one of a smaller dim into numbers that are zero. */
void gbose__offer_grow(const struct gbose__offer *to, const struct gbose__offer *from);
/* Feature j of all contexts comes as `factor` times what it was. */
void gbose__offer_rescale(const struct gbose__offer *offer, size_t j, double factor);
int gbose__offer_is_sane(const struct gbose__offer *offer);

/* z: GBOSE__OFFER_COORDINATES numbers, zeros where there are fewer; mean and common part have dim. The common part (origin.h) is not
 * looked at unless `relative`; NULL: it is the mean. */
void gbose__offer_coordinates(const struct gbose__offer *offer, double *z, const double *mean,
                              const double *common);

/* The features of the first `count` of them: GBOSE__OFFER_FEATURES numbers, which begin with z. */
void gbose__offer_features(double *features, const double *z, size_t count);

/* A mean and a common part, while there are still some to be learned. */
void gbose__offer_learn(const struct gbose__offer *offer, const double *mean, const double *common);

#endif
