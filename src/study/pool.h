/* Playing runs side by side: on threads of this process, and on the other ranks of an MPI job. */
#ifndef GBOSE_STUDY_POOL_H
#define GBOSE_STUDY_POOL_H

#include <stdatomic.h>

#include "study/plan.h"

struct gbose__pool {
    size_t threads;         /* of this process, at least 1 */
    const atomic_int *stop; /* set from outside (a signal): finish early */
    /* Called on the caller's thread, one at a time: a run is done; time has passed (about every 0.1 s). */
    int (*finished)(void *user, size_t index, gbose_error *err);
    void (*tick)(void *user);
    void *user;
};

/* Play the runs todo[0..n-1], dealt out in that order, and store their results in the study. Returns GBOSE_OK
 * when all are done, or when this process or another rank was told to stop; the first error otherwise. */
int gbose__pool_play(const struct gbose__pool *pool, struct gbose__study *study, const size_t *todo, size_t n,
                     gbose_error *err);

#endif
