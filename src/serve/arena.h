/* Memory that lives as long as a request. */
#ifndef GBOSE_SERVE_ARENA_H
#define GBOSE_SERVE_ARENA_H

#include <stddef.h>

struct gbose__arena {
    struct gbose__arena_block *block;
};
void *gbose__arena_take(struct gbose__arena *arena, size_t size); /* aligned for anything; NULL: no memory */
void gbose__arena_reset(struct gbose__arena *arena); /* frees all but a first block of ordinary size */
void gbose__arena_clear(struct gbose__arena *arena); /* frees all */

#endif
