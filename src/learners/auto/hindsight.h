/* The latest rounds, kept as they were, so that they can be learned again.
 *
 * Where v is a function of the user that has to be found first, what was learned of mu before it was found is worth little. But
 * the rounds themselves are worth as much as any: with what is known now they can be explained in hindsight. So a ring of the
 * latest rounds holds the reward, the context played, and what the trackers on users know of the round (baseline.h). */
#ifndef GBOSE_LEARNERS_AUTO_HINDSIGHT_H
#define GBOSE_LEARNERS_AUTO_HINDSIGHT_H

#include <stddef.h>

#include "learners/auto/offer.h"

#define GBOSE__HINDSIGHT_ROUNDS 1024

/* A view of gbose__hindsight_size() numbers, which are zero at first. */
struct gbose__hindsight {
    size_t round; /* number of the caller's features */
    size_t dim, stride;
    double *seen;   /* rounds so far */
    double *known;  /* of each round: the reward, the coordinates of the user, and the caller's features */
    double *played; /* a padded row for each round */
};

/* A round. */
struct gbose__hindsight_round {
    double reward;
    double target;        /* the reward less the level of the time, for trees */
    const double *z;      /* coordinates of the user */
    const double *round;  /* the caller's features */
    const double *played; /* a padded row */
};

size_t gbose__hindsight_size(size_t dim, size_t round);
void gbose__hindsight_view(struct gbose__hindsight *hindsight, size_t dim, size_t round, double *at);
/* Copy one of a smaller dim, or of fewer features of the round, into numbers that are zero. */
void gbose__hindsight_grow(const struct gbose__hindsight *to, const struct gbose__hindsight *from);
/* Feature j of all contexts comes as `factor` times what it was. */
void gbose__hindsight_rescale(const struct gbose__hindsight *hindsight, size_t j, double factor);
int gbose__hindsight_is_sane(const struct gbose__hindsight *hindsight);

void gbose__hindsight_learn(const struct gbose__hindsight *hindsight,
                            const struct gbose__hindsight_round *round);

/* How many rounds there are, and the k-th of them, the oldest first. */
size_t gbose__hindsight_count(const struct gbose__hindsight *hindsight);
struct gbose__hindsight_round gbose__hindsight_at(const struct gbose__hindsight *hindsight, size_t k);

/* Are these all rounds that there were? */
int gbose__hindsight_is_whole(const struct gbose__hindsight *hindsight);

/* Forget all of them. */
void gbose__hindsight_clear(const struct gbose__hindsight *hindsight);

#endif
