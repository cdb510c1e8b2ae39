/* Where contexts are measured from.
 *
 * A vector that is added to the contexts of all arms of a round, as a feature of the user that stands in every row
 * is, makes no arm better than another. In rounds with one survivor it does matter to the full estimate: is b_a'mu what
 * the reward moves with, or only what b_a differs by from the other arms? In the first case the arms' common part says
 * something of mu, in the second it is noise that hides mu. Both are tried:
 *
 *     common      what the arms of a round have in common: of each feature the value that all arms but one share,
 *                 else the mean; with two arms zero if one of them has it, as in blocks, or else the value of the first,
 *                 which often is "nothing"
 *     relative    contexts are taken less it
 *
 * In a trial, the first rounds, there are two full estimates, one for either case, that learn from the same rounds and
 * predict their rewards before. The one with the smaller discounted error is used; after the trial only that one learns.
 * In the very first rounds errors say nothing yet, and contexts decide: where the common part moves little beside what
 * arms differ by, it hides little and may say something. */
#ifndef GBOSE_LEARNERS_AUTO_ORIGIN_H
#define GBOSE_LEARNERS_AUTO_ORIGIN_H

#include <stddef.h>

#include "learners/auto/tuning.h"
#include "learners/learner.h"

/* Doubles, since they are saved; zeros at first. */
struct gbose__origin {
    double relative;  /* 1: contexts are taken less their common part */
    double losses[2]; /* discounted squared errors: as contexts are, and relative */
    double moved;     /* sum of squared distances of the common part from its mean, in the first rounds */
    double apart;     /* the same of the context played from the common part */
};

/* Tickets hold the context played and the mean, from which the common part is found when one knows where it is: this is
 * said in two bits for each feature. Write gbose__origin_words() words of them; and find it, dim numbers. */
size_t gbose__origin_words(size_t dim);
void gbose__origin_say(uint64_t *where, const struct gbose__input *in, size_t arm, size_t dim);
/* The same of a few features only; the others are said to be at the mean. */
void gbose__origin_say_few(uint64_t *where, const struct gbose__input *in, size_t arm, size_t dim,
                           const double *feature, size_t count);
int gbose__origin_may_be(struct gbose__reader *where, size_t dim); /* may such words be believed? */
void gbose__origin_find(double *common, const uint64_t *where, const double *played, const double *mean,
                        double arms, size_t dim);

/* A round that is learned. */
struct gbose__origin_round {
    double rounds;       /* learned before */
    double moved, apart; /* squared distances, as above */
    double error[2];     /* of the predictions of the reward, as contexts are and relative */
};

/* 1 if the other estimate is to be used from now on. */
int gbose__origin_learn(struct gbose__origin *origin, const struct gbose__tuning *tuning,
                        const struct gbose__origin_round *round);

int gbose__origin_is_sane(const struct gbose__origin *origin, int may_be_relative);

#endif
