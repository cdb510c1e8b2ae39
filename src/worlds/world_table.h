/* The table of worlds, as world.c reads it. */
#ifndef GBOSE_WORLDS_WORLD_TABLE_H
#define GBOSE_WORLDS_WORLD_TABLE_H

#include "worlds/world.h"

/* World number i, or NULL past the last. */
const struct gbose__world_kind *gbose__world_kind_at(size_t i);

/* The kind of worlds given by callbacks; it is not in the table. */
extern const struct gbose__world_kind gbose__world_joined;

#endif
