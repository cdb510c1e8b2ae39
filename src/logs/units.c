#include "logs/units.h"

#include <string.h>

#include "core/kernels.h"
#include "core/memory.h"
#include "gbose.h"

void gbose__units_init(struct gbose__units *units, size_t dim)
{
    memset(units, 0, sizeof *units);
    units->stride = gbose__pad(dim);
}

void gbose__units_clear(struct gbose__units *units)
{
    gbose__free(units->slot);
    gbose__free(units->key);
    gbose__free(units->sum);
}

/* The slot that holds the key, or the free one where it belongs. */
static size_t find(const struct gbose__units *units, uint64_t key)
{
    uint64_t mixed = (key ^ key >> 32) * 0x9e3779b97f4a7c15;
    size_t at = (size_t)(mixed >> 20) & (units->slots - 1);

    while (units->slot[at] && units->key[units->slot[at] - 1] != key)
        at = (at + 1) & (units->slots - 1);
    return at;
}

static int grow(struct gbose__units *units)
{
    struct gbose__units more = *units;

    more.capacity = units->capacity ? 2 * units->capacity : 64;
    more.slots = 2 * more.capacity;
    more.slot = gbose__alloc(more.slots, sizeof *more.slot);
    more.key = gbose__alloc(more.capacity, sizeof *more.key);
    more.sum = gbose__alloc(more.capacity, units->stride * sizeof *more.sum);
    if (!more.slot || !more.key || !more.sum || more.capacity > UINT32_MAX / 4) {
        gbose__units_clear(&more);
        return GBOSE_ENOMEM;
    }
    for (size_t i = 0; i < units->n; i++) {
        more.key[i] = units->key[i];
        more.slot[find(&more, units->key[i])] = (uint32_t)(i + 1);
    }
    if (units->n)
        memcpy(more.sum, units->sum, units->n * units->stride * sizeof *more.sum);
    gbose__units_clear(units);
    *units = more;
    return GBOSE_OK;
}

int gbose__units_reserve(struct gbose__units *units, uint64_t key)
{
    if (units->n < units->capacity || (units->slots && units->slot[find(units, key)]))
        return GBOSE_OK;
    return grow(units);
}

void gbose__units_add(struct gbose__units *units, uint64_t key, double c, const double *x)
{
    size_t at = find(units, key), i;

    if (!units->slot[at]) {
        units->key[units->n] = key;
        units->slot[at] = (uint32_t)++units->n;
    }
    i = units->slot[at] - 1;
    gbose__kernels->axpy(units->sum + i * units->stride, c, x, units->stride);
}

size_t gbose__units_place(const struct gbose__units *units, uint64_t key)
{
    return units->slot[find(units, key)] - 1;
}

void gbose__units_along(const struct gbose__units *units, double *out, const double *u)
{
    if (units->n)
        gbose__kernels->dots(out, units->sum, u, units->n, units->stride);
}
