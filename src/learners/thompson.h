/* The probability that each arm is the best under a normal law of mu. */
#ifndef GBOSE_LEARNERS_THOMPSON_H
#define GBOSE_LEARNERS_THOMPSON_H

#include "learners/learner.h"

/* With mu ~ N(mean, scale^2 B^-1) the scores of the arms are normal with mean `score` and covariance
 * scale^2 (image image'). Fills pmf with the share of each of the arms in round->live, at least one (0 for the others),
 * and returns the number of samples behind it: 0 if at most two arms can win, since the normal distribution
 * function is then used. Overwrites images and live; pmf must not be `swing` or in `arms.square`. */
size_t gbose__best_arm_law(double *pmf, struct gbose__round *round, size_t dim, double scale, size_t draws,
                           struct gbose__rng *rng);

/* The `decide` of a learner that plays each arm with the probability that it is the best. */
void gbose__thompson_decide(const gbose *g, struct gbose__round *round);

#endif
