/* Decisions on their way to the store: what the routes that decide share. */
#ifndef GBOSE_SERVE_DECIDE_H
#define GBOSE_SERVE_DECIDE_H

#include "serve/service.h"

/* One decision of a request. */
struct gbose__decided {
    struct gbose__ask ask;
    double *pmf;
    const char *name; /* the caller's, or NULL */
    int reported;     /* unused by decide.c: for the route */
};

/* All of a request. It lies in the exchange's arena. */
struct gbose__decisions {
    struct gbose__job job;
    struct gbose__bandit *bandit; /* a reference */
    struct gbose__decided *item;
    size_t n;
    int batch;
    int64_t began; /* microseconds */
};

/* Decide all items of desk->document (one object, or a list of them). *now: it may be answered before it is stored. 0, or -1: a
 * problem, and nothing was decided. */
int gbose__decide(struct gbose__exchange *x, struct gbose__bandit *bandit, struct gbose__decisions **out,
                  int *now, struct gbose__problem *p);

/* Hand them to the writer. x is parked, and `finish` answers it when they are stored. */
void gbose__decide_store(struct gbose__exchange *x, struct gbose__decisions *all,
                         void (*finish)(struct gbose__exchange *x));

/* One decision as JSON. */
void gbose__decide_write(struct gbose__text *out, const struct gbose__service *service,
                         const struct gbose__event_row *event, const char *const *ids, int durable);

/* Names of the arms of a stored event; NULL: they are indices. Lies in the arena. */
const char **gbose__decide_stored_ids(struct gbose__desk *desk, const struct gbose__event_row *event,
                                      struct gbose__arena *arena);

#endif
