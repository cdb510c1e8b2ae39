#include "core/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The bytes that are taken, 0 if they are too many. */
static size_t whole_bytes(size_t count, size_t size)
{
    if (size && count > (PTRDIFF_MAX - GBOSE__ALIGN) / size)
        return 0;
    return (count * size + GBOSE__ALIGN) / GBOSE__ALIGN * GBOSE__ALIGN;
}

void *gbose__alloc_raw(size_t count, size_t size)
{
    size_t bytes = whole_bytes(count, size);

    return bytes ? aligned_alloc(GBOSE__ALIGN, bytes) : NULL;
}

void *gbose__alloc(size_t count, size_t size)
{
    void *p = gbose__alloc_raw(count, size);

    if (p)
        memset(p, 0, whole_bytes(count, size));
    return p;
}

void gbose__free(void *p)
{
    free(p);
}
