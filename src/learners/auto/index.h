/* Features of a single number of the user: her index s, a weighted sum of her coordinates z (offer.h).
 *
 * The weights are the slopes with which the linear tracker (tracker.h) has found v to move with z, so that s is
 * large where v is. If v is any function of one weighted sum of normal coordinates, such as a spend, which is the
 * exponential of one, these slopes are its weights up to a factor. s is scaled to mean 0 and variance 1, and
 * clipped; a tracker learns from powers and exponentials of it what the function is. The weights are found slowly where
 * few users spend most, so that the products z exp(s) are features too: an exponential whose weights are a little off
 * is, to first order, the one of s and a sum of these. */
#ifndef GBOSE_LEARNERS_AUTO_INDEX_H
#define GBOSE_LEARNERS_AUTO_INDEX_H

#include <stddef.h>

#include "learners/auto/offer.h"

#define GBOSE__INDEX_OWN 6 /* features of s alone */
#define GBOSE__INDEX_FEATURES (GBOSE__INDEX_OWN + GBOSE__OFFER_COORDINATES)

/* Doubles, since they are saved; zeros at first. */
struct gbose__index {
    double rounds;
    double mean, variance; /* of z'weight */
    double weight[GBOSE__OFFER_COORDINATES];
};

/* GBOSE__INDEX_FEATURES numbers of a user with `count` coordinates. */
void gbose__index_features(const struct gbose__index *index, double *features, const double *z, size_t count);

/* A user, and the slopes as they are now. */
void gbose__index_learn(struct gbose__index *index, const double *slope, const double *z, size_t count);

int gbose__index_is_sane(const struct gbose__index *index);

#endif
