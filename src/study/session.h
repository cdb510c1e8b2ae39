/* A study that is kept in a directory, so that it can go on after it was stopped or after its process
 * died.
 *
 * The directory holds study.json, the text of the plan, and journal.bin, the runs that are done. While a
 * session is open nobody else can open one there. */
#ifndef GBOSE_STUDY_SESSION_H
#define GBOSE_STUDY_SESSION_H

#include "study/plan.h"

struct gbose__session;

/* Open a directory for a study: it is made if it is missing, its runs are taken into the study, and runs
 * that the study has already and the directory has not are written there. GBOSE_OK; GBOSE_EINVAL if it
 * holds another study or if another session is open; GBOSE__EREAD, GBOSE__EWRITE, GBOSE_ENOMEM. */
int gbose__session_open(struct gbose__session **out, struct gbose__study *study, const char *dir,
                        gbose_error *err);

/* Keep a run that is done. */
int gbose__session_add(struct gbose__session *s, const struct gbose__study *study, size_t index,
                       gbose_error *err);

/* NULL is allowed. */
void gbose__session_close(struct gbose__session *s);

/* Take the runs of other directories, which must hold the same study, into it; nothing is written. All
 * runs on which parameters are compared must then be there. GBOSE_OK, GBOSE_EINVAL, GBOSE__EREAD,
 * GBOSE_ENOMEM. */
int gbose__session_collect(struct gbose__study *study, const char *const *dirs, size_t n, gbose_error *err);

#endif
