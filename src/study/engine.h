/* Playing a study. */
#ifndef GBOSE_STUDY_ENGINE_H
#define GBOSE_STUDY_ENGINE_H

#include <stdatomic.h>

#include "study/plan.h"
#include "study/pool.h"

/* How far a study is. */
struct gbose__progress {
    size_t runs, done;      /* of the whole study */
    size_t before;          /* done before this process began */
    double cost, cost_left; /* of what this process has to do */
};

struct gbose__engine_settings {
    size_t threads;         /* at least 1 */
    size_t shard, shards;   /* play only every shards-th tuning run, from run shard (0 to shards - 1) on */
    const atomic_int *stop; /* set from outside */
    const struct gbose__ranks *ranks; /* the other ranks of an MPI job; NULL: none */
    /* Called on the caller's thread; each may be NULL. A run is done; time has passed (about every 0.1 s). */
    int (*finished)(void *user, const struct gbose__study *study, size_t index, gbose_error *err);
    void (*tick)(void *user, const struct gbose__progress *progress);
    void *user;
};

/* Play what is missing: the tuning repetitions, then (unless this is a shard) the fresh ones with the chosen
 * parameters. Told to stop, it returns early, with GBOSE_OK. */
int gbose__engine_play(struct gbose__study *study, const struct gbose__engine_settings *settings,
                       gbose_error *err);

/* The number of runs needed in all (or by this shard), and of those that are done. */
size_t gbose__engine_needed(const struct gbose__study *study, size_t shard, size_t shards);
size_t gbose__engine_done(const struct gbose__study *study);

#endif
