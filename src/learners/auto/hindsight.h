/* The first rounds, kept as they were, so that they can be learned again.
 *
 * Where v is a function of the user that has to be found first, what was learned of mu before it was found is worth little. But
 * the rounds themselves are worth as much as any: with what is known now they can be explained in hindsight. So for each of the
 * first rounds that trackers on users learn there is a row: the reward, the context played, and what these trackers know of the
 * round (baseline.h). When all rows are filled and have been learned again the last time, it is over, and they are forgotten. */
#ifndef GBOSE_LEARNERS_AUTO_HINDSIGHT_H
#define GBOSE_LEARNERS_AUTO_HINDSIGHT_H

#include <stddef.h>

#include "core/bytes.h"
#include "learners/auto/offer.h"

/* When there are so many they are learned again in any case, as tuning->hindsight_first and hindsight_factor have it. */
#define GBOSE__HINDSIGHT_ROUNDS 971

#define GBOSE__HINDSIGHT_OVER (-1)

/* A view of a number, which is zero at first, and of memory for the rows. */
struct gbose__hindsight {
    size_t round; /* number of the caller's features */
    size_t dim;
    double *count; /* rounds that are kept, or GBOSE__HINDSIGHT_OVER */
    /* gbose__hindsight_size() numbers: of each round the reward, the target, the coordinates of the user, the caller's features and
     * the context played; NULL when it is over, and where the rows are of no interest. */
    double *rows;
};

/* A round. */
struct gbose__hindsight_round {
    double reward;
    double target;                      /* the reward less the level of the time, for trees */
    double z[GBOSE__OFFER_COORDINATES]; /* coordinates of the user */
    const double *round;                /* the caller's features */
    const double *played;               /* dim numbers */
};

size_t gbose__hindsight_size(size_t dim, size_t round);
/* Copy one of a smaller dim, or of fewer features of the round. */
void gbose__hindsight_grow(const struct gbose__hindsight *to, const struct gbose__hindsight *from);
/* Feature j of all contexts comes as `factor` times what it was. */
void gbose__hindsight_rescale(const struct gbose__hindsight *hindsight, size_t j, double factor);
int gbose__hindsight_is_sane(const struct gbose__hindsight *hindsight);

/* The rows, as bytes; reading needs a count that is right, or sets r->bad. */
void gbose__hindsight_write(const struct gbose__hindsight *hindsight, struct gbose__writer *w);
void gbose__hindsight_read(const struct gbose__hindsight *hindsight, struct gbose__reader *r);

/* Keep a round, as long as there is room. */
void gbose__hindsight_learn(const struct gbose__hindsight *hindsight,
                            const struct gbose__hindsight_round *round);

/* How many rounds there are, and the k-th of them. */
size_t gbose__hindsight_count(const struct gbose__hindsight *hindsight);
struct gbose__hindsight_round gbose__hindsight_at(const struct gbose__hindsight *hindsight, size_t k);

/* Begin anew, unless it is over. */
void gbose__hindsight_clear(const struct gbose__hindsight *hindsight);

/* It is over: free the rows, if there are any. */
void gbose__hindsight_end(struct gbose__hindsight *hindsight);

#endif
