/* Table 1 of the paper: the medians of final regret that it prints, and its setups. */
#ifndef GBOSE_REPORT_PRINTED_H
#define GBOSE_REPORT_PRINTED_H

#include <stddef.h>
#include <stdint.h>

#include "study/plan.h"

/* A setup of the paper's kind: N arms, blocks of dimension d, and which v(t). */
struct gbose__printed_cell {
    uint64_t arms, dim;
    int shift; /* 0, 1, 2: (i), (ii), (iii) */
};

/* Is this the paper's world, with any N and d and every other option at its default? 1 or 0. */
int gbose__printed_cell(struct gbose__printed_cell *out, const char *world);

/* The value that Table 1 prints for a learner in a world, or NaN. The options that the paper leaves open
 * (gamma, which it tunes, the intercept, the seed and the like) do not matter; others must have their
 * defaults. It prints one row for GBOSE and BOSE with two arms, and none for BOSE with more. */
double gbose__printed(const char *world, const char *learner, uint64_t rounds);

/* The same for a learner of a plan: NaN also if it sweeps another option than gamma. */
double gbose__printed_for(const struct gbose__plan *plan, size_t world, size_t learner);

/* "(i)", "(ii)", "(iii)" */
const char *gbose__printed_shift_numeral(int shift);

/* v(t) in words: "v(t) = 0" */
const char *gbose__printed_shift_formula(int shift);

#endif
