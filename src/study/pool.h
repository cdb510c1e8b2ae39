/* Playing runs side by side: on threads of this process, and on the other ranks of an MPI job. */
#ifndef GBOSE_STUDY_POOL_H
#define GBOSE_STUDY_POOL_H

#include <stdatomic.h>

#include "study/plan.h"

/* Other processes that play: how many there are with this one, to give run `index` to one of them (1 to
 * size - 1), and to take a finished run if there is one (1, else 0). */
struct gbose__ranks {
    int (*size)(void);
    void (*give)(int rank, size_t index);
    int (*take)(int *rank, size_t *index, struct gbose__result *result, size_t n_points, int *code,
                gbose_error *err);
};

struct gbose__pool {
    size_t threads;                   /* of this process, at least 1 */
    const atomic_int *stop;           /* set from outside: finish early */
    const struct gbose__ranks *ranks; /* NULL: none */
    /* Called on the caller's thread, one at a time: a run is done; time has passed (about every 0.1 s). */
    int (*finished)(void *user, size_t index, gbose_error *err);
    void (*tick)(void *user);
    void *user;
};

/* Play the runs todo[0..n-1], dealt out in that order, and store their results in the study. Those that
 * must go one at a time (gbose__plan_run_alone()) come first: they are played one after the other, beside
 * the rest. Returns GBOSE_OK when all are done, or when this process or another rank was told to stop; the
 * first error otherwise. */
int gbose__pool_play(const struct gbose__pool *pool, struct gbose__study *study, const size_t *todo, size_t n,
                     gbose_error *err);

#endif
