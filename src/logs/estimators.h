/* The value of a policy from a log: estimators, as running sums.
 *
 * Letters: w = pi(a) / p(a) of the arm played, r its reward, q its expected reward, q_pi the mean of q by the
 * policy. Both come from a regression on earlier rounds only: q may then depend on the past in any way, and
 * DR stays unbiased. */
#ifndef GBOSE_LOGS_ESTIMATORS_H
#define GBOSE_LOGS_ESTIMATORS_H

#include "gbose_log.h"

struct gbose__estimators {
    double n, w, w2, wr, w2r, r, largest;
    double q_pi;       /* sum of q_pi */
    double correction; /* sum of w (r - q), whole, switched off above a weight, and shrunk */
    double switched, shrunk;
};

void gbose__estimators_add(struct gbose__estimators *s, double w, double r, double q, double q_pi,
                           double switch_at, double shrink);

/* Fills the eight estimates, effective and largest. There must be a round. */
void gbose__estimators_report(const struct gbose__estimators *s, gbose_policy_value *out);

#endif
