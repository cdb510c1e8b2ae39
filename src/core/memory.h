/* Aligned, zeroed memory. Every allocation of the library goes through here. */
#ifndef GBOSE_CORE_MEMORY_H
#define GBOSE_CORE_MEMORY_H

#include <stddef.h>

/* A cache line, and a vector of eight doubles. */
#define GBOSE__ALIGN 64
#define GBOSE__LANES 8

/* n rounded up to whole vectors. */
static inline size_t gbose__pad(size_t n)
{
    return (n + GBOSE__LANES - 1) / GBOSE__LANES * GBOSE__LANES;
}

/* count * size zeroed bytes at a multiple of GBOSE__ALIGN, or NULL: out of memory, or the product
 * overflows. A count of 0 gives a pointer that may be freed. */
void *gbose__alloc(size_t count, size_t size);

/* The same without zeroing it: what is not written to takes no memory on most systems. */
void *gbose__alloc_raw(size_t count, size_t size);

void gbose__free(void *p);

#endif
