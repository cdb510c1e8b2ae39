/* Functions of the user: what the flexible tracker (tracker.h) learns rewards from. Of her coordinates z (offer.h) there are
 *
 *     z_i      (z_i^2 - 1) / sqrt 2      sqrt 2 sin(k z_i), sqrt 2 cos(k z_i) for k = 1, 2, 3      z_i z_j
 *
 * and the tracker has room for GBOSE__FUNCTIONS of them: for all, if the user has up to five coordinates. If she has more,
 * those are chosen that explain the rewards of the rounds that are kept (hindsight.h), a few at a time: the ones that explain most of what
 * those before them leave, and more than noise would. All z_i are always among them. */
#ifndef GBOSE_LEARNERS_AUTO_FUNCTIONS_H
#define GBOSE_LEARNERS_AUTO_FUNCTIONS_H

#include <stddef.h>

#include "learners/auto/hindsight.h"

#define GBOSE__FUNCTIONS 56

/* Doubles, since they are saved; zeros at first. */
struct gbose__functions {
    double coordinates; /* of the user; 0 before they are known */
    double count;       /* functions in use */
    double which[GBOSE__FUNCTIONS];
};

/* The user has so many coordinates, from now on. */
void gbose__functions_begin(struct gbose__functions *functions, size_t coordinates);

/* The functions in use of a user, GBOSE__FUNCTIONS numbers; zeros where there are fewer. */
void gbose__functions_values(const struct gbose__functions *functions, double *values, const double *z);

/* Choose by the rounds that are kept, if there is a choice. 1: there are others now. */
int gbose__functions_choose(struct gbose__functions *functions, const struct gbose__hindsight *hindsight);

int gbose__functions_are_sane(const struct gbose__functions *functions);

#endif
