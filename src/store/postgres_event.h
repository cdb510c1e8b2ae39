/* What postgres_event.c and postgres_reward.c have in common. */
#ifndef GBOSE_STORE_POSTGRES_EVENT_H
#define GBOSE_STORE_POSTGRES_EVENT_H

#include "store/postgres_inner.h"

/* Rewards and activations, in their order. */
int gbose__pg_add_rewards(struct gbose__pg_group *g, struct gbose__change **changes, size_t n,
                          gbose_error *err);

/* Was it there when this transaction looked? */
int gbose__pg_bandit_is_there(struct gbose__pg_group *g, uint32_t bandit);

#endif
