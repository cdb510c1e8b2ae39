/* The journal of a study: every finished run, appended as it ends, so that a study that was stopped or killed
 * goes on from there. A record torn by a crash is dropped when the journal is opened again. */
#ifndef GBOSE_STUDY_JOURNAL_H
#define GBOSE_STUDY_JOURNAL_H

#include "study/plan.h"

struct gbose__journal;

/* Open DIR/journal.bin, or create it, and lock it: until it is closed nobody else can open it, in this
 * process or in another. GBOSE_OK, or an error with err. */
int gbose__journal_lock(struct gbose__journal **out, const char *dir, const struct gbose__study *study,
                        gbose_error *err);

/* Take its runs into the study. `plan` is the text of the plan: a journal of another plan is refused. */
int gbose__journal_begin(struct gbose__journal *journal, const char *plan, struct gbose__study *study,
                         gbose_error *err);
int gbose__journal_append(struct gbose__journal *journal, const struct gbose__study *study, size_t index,
                          gbose_error *err);
void gbose__journal_close(struct gbose__journal *journal);

/* Take the runs of another directory's journal of the same plan into the study; nothing is written. */
int gbose__journal_read(const char *dir, const char *plan, struct gbose__study *study, gbose_error *err);

#endif
