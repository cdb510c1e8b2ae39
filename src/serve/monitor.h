/* What is found out about a bandit while its log grows: is it better than its base arm and than chance,
 * what do features do, and how have reward, level and arms moved. It is a fold of the log like the model,
 * made when somebody first asks, and always in memory of fixed size. */
#ifndef GBOSE_SERVE_MONITOR_H
#define GBOSE_SERVE_MONITOR_H

#include "gbose_log.h"
#include "serve/service.h"

#define GBOSE__MONITOR_POINTS 240 /* of the history, at most */
#define GBOSE__MONITOR_ARMS 12    /* that are told apart in it; what comes later is "other" */

enum { GBOSE__LOGGED, GBOSE__BASE, GBOSE__UNIFORM, GBOSE__SHADOW, GBOSE__POLICIES };
extern const char *const gbose__monitor_policies[GBOSE__POLICIES];

/* A stretch of the log. */
struct gbose__monitor_point {
    int64_t time; /* of its last outcome */
    uint64_t n, defaulted;
    double reward, level; /* sums: of rewards, and of what the estimate of the effects leaves of them */
    uint64_t played[GBOSE__MONITOR_ARMS + 1];
    gbose_interval difference[GBOSE__POLICIES]; /* to the logged policy, from the beginning up to here */
};

struct gbose__monitor {
    uint32_t generation;            /* whose features it reads */
    struct gbose__encoder *encoder; /* a reference */
    uint64_t seen;                  /* number of the last outcome */
    uint64_t rounds, unreadable;
    int has_base; /* some event had the base arm */
    int has_shadow;
    gbose_evaluation *evaluation;
    gbose_effects *effects;
    struct gbose__monitor_point point[GBOSE__MONITOR_POINTS];
    size_t n_points;
    uint64_t per_point; /* outcomes */
    char *arm[GBOSE__MONITOR_ARMS];
    size_t n_arms;
};

/* The monitor of a bandit, made if there is none, with monitor_lock held; NULL: no memory, and the lock is
 * not held. */
struct gbose__monitor *gbose__monitor_lock(struct gbose__bandit *bandit);
void gbose__monitor_unlock(struct gbose__bandit *bandit);

#endif
