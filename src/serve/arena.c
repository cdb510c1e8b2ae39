#include "serve/arena.h"

#include <stdlib.h>

struct gbose__arena_block {
    struct gbose__arena_block *older;
    size_t size, used;
    _Alignas(max_align_t) unsigned char bytes[];
};

void *gbose__arena_take(struct gbose__arena *arena, size_t size)
{
    struct gbose__arena_block *block = arena->block;
    void *at;

    size = (size + 15) & ~(size_t)15;
    if (!block || block->size - block->used < size) {
        size_t room = size > 4096 ? size : 4096;

        block = malloc(sizeof *block + room);
        if (!block)
            return NULL;
        *block = (struct gbose__arena_block){.older = arena->block, .size = room};
        arena->block = block;
    }
    at = block->bytes + block->used;
    block->used += size;
    return at;
}

void gbose__arena_shorten(struct gbose__arena *arena, const void *last, size_t size)
{
    struct gbose__arena_block *block = arena->block;

    block->used = (size_t)((const unsigned char *)last - block->bytes) + ((size + 15) & ~(size_t)15);
}

static void give_back(struct gbose__arena *arena, int all)
{
    while (arena->block && (all || arena->block->older || arena->block->size > 4096)) {
        struct gbose__arena_block *older = arena->block->older;

        free(arena->block);
        arena->block = older;
    }
    if (arena->block)
        arena->block->used = 0;
}

void gbose__arena_give(struct gbose__arena *spare, struct gbose__arena *arena)
{
    struct gbose__arena_block *block;

    gbose__arena_reset(arena);
    block = arena->block;
    if (!block)
        return;
    block->older = spare->block;
    spare->block = block;
    arena->block = NULL;
}

void gbose__arena_take_spare(struct gbose__arena *arena, struct gbose__arena *spare)
{
    arena->block = spare->block;
    if (!arena->block)
        return;
    spare->block = arena->block->older;
    arena->block->older = NULL;
}

void gbose__arena_clear(struct gbose__arena *arena)
{
    give_back(arena, 1);
}

void gbose__arena_reset(struct gbose__arena *arena)
{
    give_back(arena, 0);
}
