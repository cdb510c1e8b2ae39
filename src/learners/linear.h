/* What the learners of raw contexts share. */
#ifndef GBOSE_LEARNERS_LINEAR_H
#define GBOSE_LEARNERS_LINEAR_H

#include "learners/learner.h"

/* The term (1, 1, b_arm). */
void gbose__linear_explain(const gbose *g, struct gbose__round *round, size_t arm);

#endif
