/* Learners that work apart and are merged, and the one that saw all they did. All are of WORKER_DIM. */
#ifndef TESTS_WORKERS_H
#define TESTS_WORKERS_H

#include "support/players.h"

#define WORKER_DIM 3

/* How close a merged learner's estimates must be to those of the one that saw everything. */
#define MERGE_CLOSE 1e-9

#define MAX_EVENTS 2000
/* What work() has made a test's learners learn since n_events was 0. */
extern struct outcome event[MAX_EVENTS];
extern size_t n_events;

/* Play, and note what was learned. */
void work(gbose *g, size_t rounds, struct random *rng);

/* One learner that learns all the events, from `start` on (NULL: from nothing). */
gbose *witness(const char *spec, const struct bytes *start);

/* A learner loaded from `start`, with a random stream of its own. */
gbose *worker(const struct bytes *start, uint32_t stream);

/* Merge, and see that `from` is what it was; after a refusal, that both are. */
void assert_merges(gbose *into, const gbose *from);
void assert_refuses(gbose *into, const gbose *from, int code);

/* Free *g, and put another in its place. */
void replace(gbose **g, gbose *by);

#endif
