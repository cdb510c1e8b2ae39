/* What the learners of raw contexts share: one regression, with a constant feature as its last one if
 * intercept=1. */
#ifndef GBOSE_LEARNERS_LINEAR_H
#define GBOSE_LEARNERS_LINEAR_H

#include "learners/learner.h"

/* Declare the regression, with the option lambda. GBOSE_OK, GBOSE_ENOMEM, GBOSE_ESIZE. */
int gbose__linear_init(gbose *g);

/* The term (1, 1, b_arm), whatever the probabilities were: the `explain` of these learners. */
void gbose__linear_explain(const gbose *g, const struct gbose__input *in, const double *pmf, size_t arm,
                           struct gbose__ticket *to);

#endif
