/* The directory of a study that is kept: its study.json and its journal. */
#ifndef GBOSE_STUDY_DIRECTORY_H
#define GBOSE_STUDY_DIRECTORY_H

#include "study/journal.h"
#include "study/plan.h"

/* Open an output directory: create it, lock it, take in the runs of its journal, write its study.json. A directory
 * that holds another study, or that another gbose is writing to, is refused. Close the journal when all is done. */
int gbose__study_open(struct gbose__journal **journal, struct gbose__study *study, const char *dir,
                      gbose_error *err);

/* The text of DIR/study.json, to be freed, or NULL. */
char *gbose__study_plan_text(const char *dir, gbose_error *err);

#endif
