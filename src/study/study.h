/* Playing a study from its plan to its outputs. */
#ifndef GBOSE_STUDY_STUDY_H
#define GBOSE_STUDY_STUDY_H

#include <stdatomic.h>

#include "study/plan.h"

struct gbose__study_settings {
    const char *dir;        /* where results go; NULL: nowhere */
    size_t threads;         /* at least 1 */
    size_t shard, shards;   /* play only every shards-th run, from run shard (0 to shards - 1) on */
    const atomic_int *stop; /* set by a signal */
};

/* Make DIR ready: create it, write DIR/study.json, refuse a directory that holds another study. */
int gbose__study_prepare(const struct gbose__study *study, const char *dir, gbose_error *err);

/* Play what is missing: the tuning repetitions, then (unless this is a shard) the fresh ones with the chosen
 * parameters. Runs found in DIR's journal count as played. Stopped early, `done` says how far it came. */
int gbose__study_play(struct gbose__study *study, const struct gbose__study_settings *settings,
                      gbose_error *err);

/* The number of runs that the study needs in all, and of those that are done. With fresh repetitions still
 * to be chosen, they count as not done. */
size_t gbose__study_needed(const struct gbose__study *study);
size_t gbose__study_done(const struct gbose__study *study);

/* The text of DIR/study.json, to be freed, or NULL. */
char *gbose__study_plan_text(const char *dir, gbose_error *err);

#endif
