/* The probability that each arm is the best under a normal law of mu. */
#ifndef GBOSE_LEARNERS_THOMPSON_H
#define GBOSE_LEARNERS_THOMPSON_H

#include "learners/learner.h"

/* The own struct of a learner that samples begins with this. */
struct gbose__thompson {
    double gamma; /* scale of the samples */
    size_t draws; /* their number */
};

/* Read the options gamma and draws into g->own. */
void gbose__thompson_init(gbose *g);

/* With mu ~ N(mean, gamma^2 B^-1) the scores of the arms are normal with mean `score` and covariance
 * gamma^2 (image image'). Fills pmf with the probability that each of the arms in round->live, of
 * which there is at least one, has the largest (0 for the other arms), and returns the number of samples behind it: 0 if at most two arms can win, since the
 * normal distribution function is then used. Overwrites images and live; pmf must not be `lead` or in
 * `arms.square`. */
size_t gbose__thompson_law(double *pmf, const gbose *g, const struct gbose__input *in,
                           struct gbose__round *round);

/* The `decide` of a learner that plays each arm with the probability that it is the best. */
void gbose__thompson_decide(const gbose *g, const struct gbose__input *in, struct gbose__round *round);

#endif
