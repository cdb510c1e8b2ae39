/* What postgres_event.c, postgres_reward.c and postgres_close.c have in common. */
#ifndef GBOSE_STORE_POSTGRES_EVENT_H
#define GBOSE_STORE_POSTGRES_EVENT_H

#include "store/postgres_inner.h"

/* An event that changes refer to. */
struct gbose__pg_event {
    int64_t key;
    int there, closed; /* it is in the store; it has an outcome */
    int open;          /* it had none when it was looked up */
    int alone;         /* it is a run of its own */
    int32_t day;
    int64_t deadline;
    int deferred, activated;
};

/* An event that is to be closed. */
struct gbose__pg_closing {
    struct gbose__pg_event event;
    int64_t now;
    struct gbose__aggregated rewards;
    double default_reward;
    struct gbose__outcome_row row;
};

struct gbose__pg_closings {
    struct gbose__pg_closing *at;
    size_t n, capacity;
};

int gbose__pg_closing_add(struct gbose__pg_closings *all, const struct gbose__pg_event *event, int64_t now,
                          enum gbose__aggregate how, double default_reward, gbose_error *err);
/* Close events that are open, of bandits whose gates this transaction has passed alone. */
int gbose__pg_close_all(struct gbose__pg_group *g, struct gbose__pg_closings *all, gbose_error *err);

/* Rewards and activations, in their order. */
int gbose__pg_add_rewards(struct gbose__pg_group *g, struct gbose__change **changes, size_t n,
                          gbose_error *err);

#endif
