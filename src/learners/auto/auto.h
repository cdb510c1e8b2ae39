/* gbose-auto with constants of another's choice: for trials of its design, such as tests/auto_ablation.c. */
#ifndef GBOSE_LEARNERS_AUTO_AUTO_H
#define GBOSE_LEARNERS_AUTO_AUTO_H

#include "gbose.h"
#include "learners/auto/tuning.h"

/* gbose_new() of a gbose-auto with this tuning, which must live as long as the learner. A learner that is
 * loaded or grown from it has the usual one. GBOSE_ESPEC if the spec is that of another learner. */
int gbose__auto_new(gbose **out, const char *spec, size_t dim, const struct gbose__tuning *tuning,
                    gbose_error *err);

#endif
