/* What the learners of centred contexts share. */
#ifndef GBOSE_LEARNERS_ORTHOGONAL_H
#define GBOSE_LEARNERS_ORTHOGONAL_H

#include "learners/learner.h"

/* The term (w, c, b_arm - bbar) with bbar = sum_i pmf_i b_i. */
void gbose__centred_term(const gbose *g, struct gbose__round *round, size_t arm, double w, double c);

/* Fill round->live with the arms that survive the filter of GBOSE and BOSE, and return how many. A lone survivor
 * has probability 1; otherwise pmf is zero. */
size_t gbose__survivors(const gbose *g, struct gbose__round *round);

/* The two survivors farthest apart, k < l; there must be two. */
void gbose__farthest(struct gbose__round *round, size_t *k, size_t *l);

#endif
