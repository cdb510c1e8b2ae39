/* The filter that GBOSE and BOSE share, and its width: a number, or one that the theory gives. */
#ifndef GBOSE_LEARNERS_SURVIVORS_H
#define GBOSE_LEARNERS_SURVIVORS_H

#include "learners/learner.h"

/* The own struct of a learner with this filter begins with this. */
struct gbose__survivors {
    double gamma; /* width of the confidence set */
};

/* Read the options gamma, lambda, delta and horizon into g->own, and declare the regressions
 * (orthogonal.h). */
int gbose__survivors_init(gbose *g);

/* Fill round->live with the arms that survive the filter, and return how many. A single survivor has
 * probability 1; otherwise pmf is zero. */
size_t gbose__survivors_find(const gbose *g, const struct gbose__input *in, struct gbose__round *round);

/* The two arms of round->live that are farthest apart, k < l; there must be two, with images. Pairs whose
 * distances are equal but for rounding are told apart by the decision's own random numbers, for which
 * images are changed in their tenth digit: contexts in blocks are all equally far apart at first, and many
 * decisions may be made before the first reward comes. */
void gbose__survivors_farthest(const gbose *g, const struct gbose__input *in, struct gbose__round *round,
                               size_t *k, size_t *l);

#endif
