/* The level of the rewards, predicted before an arm is drawn: what is subtracted from the reward of a logged
 * round.
 *
 * Prediction is by gbose-auto's trackers (learners/trackers.h). The one with the least recent error leads, by
 * the rule that gbose-auto has. This file and baseline.c are the only place where logs and trackers meet. */
#ifndef GBOSE_LOGS_BASELINE_H
#define GBOSE_LOGS_BASELINE_H

#include <stddef.h>

#include "learners/trackers.h"

struct gbose__baseline {
    struct gbose__trackers trackers;
    size_t stride;       /* of a row: dim, padded */
    size_t leader;       /* number of the tracker that predicts */
    double rounds;       /* learned */
    double score_square; /* discounted mean square of the best score, which scales it as a feature */
    double *scratch;     /* one row */
    double *memory;
};

/* dim: of a padded context, at least 1. GBOSE_OK or GBOSE_ENOMEM, and then there is nothing to clear. */
int gbose__baseline_init(struct gbose__baseline *baseline, size_t dim);
void gbose__baseline_clear(struct gbose__baseline *baseline);

/* What the reward would be without the arm's own part b'mu. `best` is the largest score b'mu of the round. */
double gbose__baseline_predict(const struct gbose__baseline *baseline, const double *mu, double best);

/* The arm with the padded context b was played and gave this reward. mu and best are those of the prediction.
 * */
void gbose__baseline_learn(struct gbose__baseline *baseline, const double *mu, double best, const double *b,
                           double reward);

#endif
