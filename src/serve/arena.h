/* Memory that lives as long as a request. */
#ifndef GBOSE_SERVE_ARENA_H
#define GBOSE_SERVE_ARENA_H

#include <stddef.h>

struct gbose__arena {
    struct gbose__arena_block *block;
};
void *gbose__arena_take(struct gbose__arena *arena, size_t size); /* aligned for anything; NULL: no memory */
/* What was taken last needs only so many bytes. */
void gbose__arena_shorten(struct gbose__arena *arena, const void *last, size_t size);
/* Memory that was given away is reset and put on top of `spare`, of which an arena without memory takes a block. */
void gbose__arena_give(struct gbose__arena *spare, struct gbose__arena *arena);
void gbose__arena_take_spare(struct gbose__arena *arena, struct gbose__arena *spare);
void gbose__arena_reset(struct gbose__arena *arena); /* frees all but a first block of ordinary size */
void gbose__arena_clear(struct gbose__arena *arena); /* frees all */

#endif
