/* One run of a study. */
#ifndef GBOSE_STUDY_RUN_H
#define GBOSE_STUDY_RUN_H

#include <stdatomic.h>

#include "study/plan.h"

/* Play run `index` of the plan. The learner draws from stream number `rep` of its seed: the study's, unless
 * its spec names one. result->curve must have room for the plan's points. Checks `stop` now and then and
 * gives up with result->done = 0 when it is set. GBOSE_OK or an error; touches nothing shared. */
int gbose__run_play(struct gbose__result *result, const struct gbose__plan *plan, size_t index,
                    const atomic_int *stop, gbose_error *err);

/* A rough measure of a run's cost, for dealing out and for the time left. */
double gbose__run_cost(const struct gbose__plan *plan, size_t index);

#endif
