#include "core/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *gbose__alloc(size_t count, size_t size)
{
    size_t bytes;
    void *p;

    if (size && count > (PTRDIFF_MAX - GBOSE__ALIGN) / size)
        return NULL;
    bytes = (count * size + GBOSE__ALIGN) / GBOSE__ALIGN * GBOSE__ALIGN;
    p = aligned_alloc(GBOSE__ALIGN, bytes);
    if (p)
        memset(p, 0, bytes);
    return p;
}

void gbose__free(void *p)
{
    free(p);
}
