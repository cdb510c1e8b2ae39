/* What the learners of centred contexts share. Their regression is fit[0]; with intercept=1 there is also
 * fit[1], a ridge regression of the rewards on (context, 1), whose intercept at the time of the decision
 * is subtracted from the reward. */
#ifndef GBOSE_LEARNERS_ORTHOGONAL_H
#define GBOSE_LEARNERS_ORTHOGONAL_H

#include "learners/learner.h"

/* Declare the regressions, and the term that the second one needs in every ticket. To be called after the
 * learner has set max_terms, if it does. GBOSE_OK, GBOSE_ENOMEM, GBOSE_ESIZE. */
int gbose__orthogonal_init(gbose *g, double lambda);

/* The `prepare` of these learners. */
int gbose__orthogonal_prepare(const gbose *g, struct gbose__input *in);

/* Write what the arm played teaches the second regression, if there is one, and return what is subtracted
 * from the reward: every `explain` of these learners begins with this. */
double gbose__orthogonal_offset(const gbose *g, const struct gbose__input *in, size_t arm,
                                struct gbose__ticket *to);

/* x = b_arm - bbar with bbar = sum_i pmf_i b_i. */
void gbose__orthogonal_centred(double *x, const struct gbose__input *in, const double *pmf, size_t arm);

/* The `explain` of a learner with the term (1, 1, b_arm - bbar) wherever the arm was not certain. */
void gbose__orthogonal_explain(const gbose *g, const struct gbose__input *in, const double *pmf, size_t arm,
                               struct gbose__ticket *to);

#endif
