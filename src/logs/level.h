/* The level of the rewards, predicted before an arm is drawn: what is subtracted from the reward of a logged
 * round.
 *
 * It is gbose-auto's baseline (learners/auto/baseline.h), without features of the round, in memory of its
 * own. This file and level.c are the only place where logs and that baseline meet. */
#ifndef GBOSE_LOGS_LEVEL_H
#define GBOSE_LOGS_LEVEL_H

#include <stddef.h>

#include "learners/auto/baseline.h"

struct gbose__level {
    struct gbose__baseline baseline;
    size_t stride;    /* of a row: dim, padded */
    double rounds;    /* learned */
    double low, high; /* of the rewards learned */
    double *scratch;  /* one row */
    double *memory;
};

/* dim: of a padded context, at least 1. GBOSE_OK or GBOSE_ENOMEM, and then there is nothing to clear. */
int gbose__level_init(struct gbose__level *level, size_t dim);
void gbose__level_clear(struct gbose__level *level);

/* What the reward would be without the arm's own part b'mu. `best` is the largest score b'mu of the round, and
 * `mean` the mean of the scores by the log's probabilities. The level plus that mean, which is the expected
 * reward, stays within gbose__level_within(): an estimate mu from few rounds can be far off, the level that is
 * seen through it too, and each would be learned from the other's error. */
double gbose__level_predict(const struct gbose__level *level, const double *mu, double best, double mean);

/* A reward that is predicted, kept within those that came so far and once their span beyond. */
double gbose__level_within(const struct gbose__level *level, double reward);

/* The arm with the padded context b was played and gave this reward. mu and best are those it was
 * predicted with. */
void gbose__level_learn(struct gbose__level *level, const double *mu, double best, const double *b,
                        double reward);

#endif
