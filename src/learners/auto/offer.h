/* Who is asked, by what is on offer: coordinates of the mean of the arms' contexts, which holds the user's features,
 * whatever the layout of the contexts is. They are known before the arm is drawn, and trackers learn
 * from functions of them how the rewards of all arms depend on the user (functions.h, tracker.h).
 *
 * The first rounds, GBOSE__OFFER_EARLY of them, are a sample of means. Then up to
 * GBOSE__OFFER_COORDINATES coordinates are chosen for good: one after the other, that which explains most of the
 * variance that is left of all coordinates, each in units of its own variance, and is not explained itself by those
 * chosen before (the blocks of two arms often hold the same features). So the order of the contexts does not matter. If there are
 * nearly as many as a sample of that size can tell apart, it is first taken twice as large. A
 * coordinate, less its mean and over its standard deviation in the sample, is z, and zero before the choice.
 *
 * A coordinate in which all arms but one were equal in every round of the sample, as in blocks, is taken less
 * what these have: a vector that is added to the contexts of all arms does not hide the user then.
 * So no coordinate ever changes its meaning, and units do not matter. */
#ifndef GBOSE_LEARNERS_AUTO_OFFER_H
#define GBOSE_LEARNERS_AUTO_OFFER_H

#include <stddef.h>

#define GBOSE__OFFER_COORDINATES 21
#define GBOSE__OFFER_EARLY 16
#define GBOSE__OFFER_SAMPLE 32

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

/* A mean and a common part, while there are still some to be learned. 1 if coordinates have been chosen by it. */
int gbose__offer_learn(const struct gbose__offer *offer, const double *mean, const double *common);

#endif
