/* Sums of rows by unit, a number that the caller gives it. */
#ifndef GBOSE_LOGS_UNITS_H
#define GBOSE_LOGS_UNITS_H

#include <stddef.h>
#include <stdint.h>

struct gbose__units {
    size_t stride, n, capacity; /* capacity: places for units, a power of two, 0 at first */
    size_t slots;               /* of the table: twice the capacity */
    uint32_t *slot;             /* 1 + the place, 0: free */
    uint64_t *key;
    double *sum; /* a padded row for each unit */
};

void gbose__units_init(struct gbose__units *units, size_t dim);
void gbose__units_clear(struct gbose__units *units);

/* Make room for this unit. GBOSE_OK or GBOSE_ENOMEM. */
int gbose__units_reserve(struct gbose__units *units, uint64_t key);

/* sum of the unit += c x; it has been reserved. */
void gbose__units_add(struct gbose__units *units, uint64_t key, double c, const double *x);

/* Its place, from 0; it has been added to before. */
size_t gbose__units_place(const struct gbose__units *units, uint64_t key);

/* out[i] = u'sum of unit i */
void gbose__units_along(const struct gbose__units *units, double *out, const double *u);

#endif
