/* What postgres_event.c, postgres_reward.c and postgres_close.c have in common. */
#ifndef GBOSE_STORE_POSTGRES_EVENT_H
#define GBOSE_STORE_POSTGRES_EVENT_H

#include "store/postgres_inner.h"

/* An event that changes refer to. */
struct gbose__pg_event {
    int64_t key;
    int there, closed; /* it is in the store; it has an outcome */
    int open;          /* it had none when it was looked up */
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
    struct gbose__pg_bytes days,
        events; /* arrays, while their rewards are asked for, as statement `asked` of a batch */
    int asked;
};
void gbose__pg_closings_clear(struct gbose__pg_closings *all);

int gbose__pg_closing_add(struct gbose__pg_closings *all, const struct gbose__pg_event *event, int64_t now,
                          enum gbose__aggregate how, double default_reward, gbose_error *err);
/* Ask for the rewards that came in time, behind the gates, and take the answer in. */
int gbose__pg_rewards_ask(struct gbose__pg_closings *all, struct gbose__pg_batch *batch, gbose_error *err);
void gbose__pg_rewards_take(struct gbose__pg_closings *all, const struct gbose__pg_batch *batch);
/* Then close events that are open, of bandits whose gates this transaction has passed alone. */
int gbose__pg_close_all(struct gbose__pg_group *g, struct gbose__pg_closings *all, gbose_error *err);

/* Rewards and activations, in their order. */
int gbose__pg_add_rewards(struct gbose__pg_group *g, struct gbose__change **changes, size_t n,
                          gbose_error *err);

#endif
