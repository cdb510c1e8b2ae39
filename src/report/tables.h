/* A study's tables as files: runs.csv, curves.csv, table.csv, table.md. Each is in place whole or not at
 * all.
 *
 * runs.csv    a row a finished run, in the order of the plan: world, learner, option, value, repetition,
 * phase
 *             ("tune" or "fresh"), regret (at the end), reward (sum), lone (share of rounds in which one arm had
 *             probability 1). Numbers read back exactly.
 * curves.csv  quartiles of cumulative regret over the tuning repetitions, with the value that came out
 * best. table.csv   a row for each (world, learner): a summary, and the paper's printed value. Empty: not
 * available. table.md    the same for people; a study of the paper begins with its Table 1. */
#ifndef GBOSE_REPORT_TABLES_H
#define GBOSE_REPORT_TABLES_H

#include <stdio.h>

#include "report/groups.h"
#include "study/plan.h"
#include "study/summary.h"

/* Write all four into an existing directory. GBOSE_OK, GBOSE_ENOMEM or GBOSE__EWRITE. `all` are the summaries of the
 * study. */
int gbose__tables_write(const struct gbose__study *s, const struct gbose__summary *all, const char *dir,
                        gbose_error *err);

/* ---- what tables on paper, screen and page have in common ---- */

/* The summary of a learner in a world. */
static inline const struct gbose__summary *gbose__summary_of(const struct gbose__study *s,
                                                             const struct gbose__summary *all, size_t world,
                                                             size_t learner)
{
    return &all[world * s->plan->n_learners + learner];
}

/* Has this learner the least median over the tuning repetitions in its world? */
int gbose__tables_is_best(const struct gbose__study *s, const struct gbose__summary *all,
                          const struct gbose__summary *u);

/* Is this learner the project's own, gbose-auto? Tables say that it is not of the paper, figures highlight
 * it. */
int gbose__tables_is_own(const struct gbose__plan *plan, size_t learner);

/* Is there a printed value for any cell? */
int gbose__tables_any_printed(const struct gbose__plan *plan);

/* Does any learner sweep an option? */
int gbose__tables_any_swept(const struct gbose__plan *plan);

/* "gamma = 0.05", "gamma" cut off if all learners sweep that; "-" if nothing is swept or was run. */
#define GBOSE__CELL_SIZE 128
const char *gbose__tables_cell_value(char buf[GBOSE__CELL_SIZE], const struct gbose__plan *plan,
                                     const struct gbose__summary *u);
const char *gbose__tables_value_heading(const struct gbose__plan *plan);

/* "19.7 [17.2, 23.4]"; "-" if n is 0. */
const char *gbose__tables_cell_spread(char buf[GBOSE__CELL_SIZE], const struct gbose__spread *d);

/* "+3.1 [-0.4, 6.6]"; "+3.1" if there is one pair, "-" if there is none. */
const char *gbose__tables_cell_difference(char buf[GBOSE__CELL_SIZE], const struct gbose__difference *d);

/* The sentences that explain the columns: `before`, the sentence through `text`, `after`. `details`: are
 * there quartiles and differences? */
void gbose__tables_explain(FILE *to, const struct gbose__plan *plan, int details, const char *before,
                           const char *after, void (*text)(FILE *to, const char *text));
/* The one about differences alone. */
void gbose__tables_explain_differences(FILE *to, const struct gbose__plan *plan, const char *before,
                                       const char *after, void (*text)(FILE *to, const char *text));

#endif
