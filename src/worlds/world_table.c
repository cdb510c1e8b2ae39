/* The table of worlds. A new one is a file of its own and a name here. */
#include "worlds/world_table.h"

#include "learners/options.h"

#define WORLDS(X) X(paper) X(kim_paik) X(krishnamurthy) X(gallery) X(heartsteps)

#define DECLARE(name) extern const struct gbose__world_kind gbose__world_##name;
WORLDS(DECLARE)

#define REFER(name) &gbose__world_##name,
static const struct gbose__world_kind *const table[] = {WORLDS(REFER)};

const struct gbose__world_kind *gbose__world_kind_at(size_t i)
{
    return i < GBOSE__COUNT(table) ? table[i] : NULL;
}

const gbose_info *gbose__world_at(size_t i)
{
    const struct gbose__world_kind *kind = gbose__world_kind_at(i);

    return kind ? &kind->info : NULL;
}

const struct gbose__catalog gbose__worlds = {"world", gbose__world_at};
