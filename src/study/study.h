/* Playing a study from its plan to its outputs. */
#ifndef GBOSE_STUDY_STUDY_H
#define GBOSE_STUDY_STUDY_H

#include <stdatomic.h>

#include "study/journal.h"
#include "study/plan.h"

struct gbose__study_settings {
    struct gbose__journal *journal; /* of the output directory; NULL: none */
    size_t threads;                 /* at least 1 */
    size_t shard, shards;   /* play only every shards-th tuning run, from run shard (0 to shards - 1) on */
    const atomic_int *stop; /* set by a signal */
};

/* Open an output directory: create it, lock it, take in the runs of its journal, write its study.json. A directory
 * that holds another study, or that another gbose is writing to, is refused. Close the journal when all is done. */
int gbose__study_open(struct gbose__journal **journal, struct gbose__study *study, const char *dir,
                      gbose_error *err);

/* Play what is missing: the tuning repetitions, then (unless this is a shard) the fresh ones with the chosen
 * parameters. Told to stop, it returns early, with GBOSE_OK. */
int gbose__study_play(struct gbose__study *study, const struct gbose__study_settings *settings,
                      gbose_error *err);

/* The number of runs needed in all (or by this shard), and of those that are done. */
size_t gbose__study_needed(const struct gbose__study *study, size_t shard, size_t shards);
size_t gbose__study_done(const struct gbose__study *study);

/* The text of DIR/study.json, to be freed, or NULL. */
char *gbose__study_plan_text(const char *dir, gbose_error *err);

#endif
