/* Studies with made-up results, for what comes after playing. */
#ifndef TESTS_MADE_STUDY_H
#define TESTS_MADE_STUDY_H

#include "study/plan.h"

/* A plan as the command makes it; fails the test if a spec is wrong. Sweeps gamma over `values` (NULL: over
 * nothing) for every learner. Both lists end with NULL. */
struct gbose__study *made_study(const char *name, const char *const *worlds, const char *const *learners,
                                const char *values, uint64_t rounds, size_t reps, size_t fresh);

/* Mark a run done, with this final regret; its curve rises to it like the square root. */
void made_run(struct gbose__study *s, size_t world, size_t learner, size_t value, size_t rep, double regret);

/* The paper's study: 9 worlds, 7 learners, 3 values of gamma, regrets that scatter around Table 1's. The
 * middle value is the best; fresh repetitions are there for that one. */
struct gbose__study *made_paper_study(size_t reps, size_t fresh);

#endif
