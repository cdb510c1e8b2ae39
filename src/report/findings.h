/* What a study found, in a sentence or two, and what the words in its tables mean. Each sentence is handed
 * to `text`, which escapes or wraps it as its medium needs. */
#ifndef GBOSE_REPORT_FINDINGS_H
#define GBOSE_REPORT_FINDINGS_H

#include <stdio.h>

#include "study/summary.h"

/* Which learner had the least regret, and how the others compare with the first one. Sentences are
 * separated by `between`; nothing is said if no run is done. */
void gbose__findings_say(FILE *to, const struct gbose__study *s, const struct gbose__summary *all,
                         const char *between, void (*text)(FILE *to, const char *text));

/* Regret; in a study of the paper N, d and the three shifts; lone=half if a learner has it. `before` and
 * `after` stand around each. */
void gbose__findings_define(FILE *to, const struct gbose__plan *plan, const char *before, const char *after,
                            void (*text)(FILE *to, const char *text));

/* Are all worlds of the study the paper's? */
int gbose__findings_of_paper(const struct gbose__plan *plan);

#endif
