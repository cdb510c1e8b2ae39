/* Events as they are in a journal: one after the other in memory that is written to the disk as it is.
 *
 * A record is a header and its events, and ends at a multiple of GBOSE__DIRECT_BLOCK. Numbers are as the processor has them. */
#include "store/batch.h"

#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "core/error.h"
#include "store/direct.h"
#include "store/sum.h"

#define MAGIC UINT64_C(0x316c6e6a65736f62) /* "bosejnl1" */

/* An event; behind it pmf, shadow, unit, and the packed text, up to a multiple of 8 bytes. */
struct entry {
    uint64_t number, learned;
    int64_t time, deadline, sum;
    uint32_t bandit, generation, flags, arm, n_arms, packed_size, has_shadow, has_unit;
};

static size_t whole(size_t size, size_t unit)
{
    return (size + unit - 1) / unit * unit;
}

static size_t entry_size(const struct entry *e)
{
    return sizeof *e + (1 + (size_t)e->has_shadow) * e->n_arms * sizeof(double) +
           e->has_unit * (size_t)GBOSE__UNIT_SIZE + whole(e->packed_size, 8);
}

static int reserve(struct gbose__batch *batch, size_t size)
{
    size_t capacity = whole(2 * size, GBOSE__DIRECT_BLOCK);
    void *more;

    if (size <= batch->capacity)
        return 0;
    if (capacity < 65536)
        capacity = 65536;
    more = aligned_alloc(GBOSE__DIRECT_BLOCK, capacity); /* as direct writing wants it */
    if (!more)
        return -1;
    if (batch->bytes)
        memcpy(more, batch->bytes, batch->size);
    free(batch->bytes);
    batch->bytes = more;
    batch->capacity = capacity;
    return 0;
}

void gbose__batch_begin(struct gbose__batch *batch)
{
    batch->size = sizeof(struct gbose__record);
    batch->n = 0;
    batch->sum = batch->last = 0;
}

void gbose__batch_clear(struct gbose__batch *batch)
{
    free(batch->bytes);
    free(batch->change);
    *batch = (struct gbose__batch){0};
}

static unsigned char *put(unsigned char *at, const void *bytes, size_t size)
{
    if (size)
        memcpy(at, bytes, size);
    return at + size;
}

int gbose__batch_add(struct gbose__batch *batch, const struct gbose__event_row *row)
{
    struct entry e = {row->number,
                      row->learned,
                      row->time,
                      row->deadline,
                      gbose__known_sum(row),
                      row->bandit,
                      row->generation,
                      row->flags,
                      row->arm,
                      row->n_arms,
                      (uint32_t)row->packed_size,
                      row->shadow != NULL,
                      row->unit != NULL};
    size_t size = entry_size(&e);
    unsigned char *at;

    if (row->packed_size > UINT32_MAX / 2 ||
        reserve(batch, whole(batch->size + size + sizeof(struct gbose__record), GBOSE__DIRECT_BLOCK)))
        return -1;
    at = put(batch->bytes + batch->size, &e, sizeof e);
    at = put(at, row->pmf, e.n_arms * sizeof(double));
    at = put(at, row->shadow, row->shadow ? e.n_arms * sizeof(double) : 0);
    at = put(at, row->unit, row->unit ? GBOSE__UNIT_SIZE : 0);
    at = put(at, row->packed, e.packed_size);
    memset(at, 0, whole(e.packed_size, 8) - e.packed_size);
    batch->size += size;
    batch->n++;
    batch->sum = gbose__mix(batch->sum, (uint64_t)e.sum);
    return 0;
}

/* Of a header and what the events behind it say. */
static uint64_t sum_of(const struct gbose__record *r, uint64_t events)
{
    const uint64_t word[] = {r->magic, r->id, r->first, r->previous, r->n, r->size};
    uint64_t sum = events;

    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        sum = gbose__mix(sum, word[i]);
    return sum;
}

size_t gbose__batch_seal(struct gbose__batch *batch, uint64_t id, uint64_t first, uint64_t previous)
{
    struct gbose__record head = {MAGIC, id, first, previous, batch->n, batch->size, 0, 0};
    size_t size = whole(batch->size, GBOSE__DIRECT_BLOCK);

    head.sum = sum_of(&head, batch->sum);
    if (reserve(batch, size))
        return 0;
    memcpy(batch->bytes, &head, sizeof head);
    memset(batch->bytes + batch->size, 0, size - batch->size);
    batch->last = first + batch->n - 1;
    return size;
}

/* The event at `at`; returns the bytes that it takes, or 0: it is none. */
static size_t open_entry(struct gbose__event_row *row, const unsigned char *at, size_t most)
{
    const struct entry *e = (const struct entry *)(const void *)at; /* aligned to 8 bytes, as all are */
    const unsigned char *next = at + sizeof *e;
    size_t size;

    if (most < sizeof *e || e->has_shadow > 1 || e->has_unit > 1 || (size = entry_size(e)) > most)
        return 0;
    *row = (struct gbose__event_row){.bandit = e->bandit,
                                     .number = e->number,
                                     .time = e->time,
                                     .deadline = e->deadline,
                                     .generation = e->generation,
                                     .learned = e->learned,
                                     .flags = e->flags,
                                     .arm = e->arm,
                                     .n_arms = e->n_arms,
                                     .packed_size = e->packed_size,
                                     .sum = e->sum};
    row->pmf = (const double *)(const void *)next;
    next += e->n_arms * sizeof(double);
    if (e->has_shadow) {
        row->shadow = (const double *)(const void *)next;
        next += e->n_arms * sizeof(double);
    }
    if (e->has_unit) {
        row->unit = next;
        next += GBOSE__UNIT_SIZE;
    }
    row->packed = next;
    return size;
}

int gbose__batch_open(struct gbose__batch *batch)
{
    size_t at = sizeof(struct gbose__record);

    if (batch->n > batch->change_capacity) {
        void *more = realloc(batch->change, 2 * batch->n * sizeof *batch->change);

        if (!more)
            return -1;
        batch->change = more;
        batch->change_capacity = 2 * batch->n;
    }
    for (size_t i = 0; i < batch->n; i++) {
        batch->change[i] = (struct gbose__change){.kind = GBOSE__ADD_EVENT};
        at += open_entry(&batch->change[i].of.event, batch->bytes + at, batch->size - at);
    }
    return 0;
}

size_t gbose__batch_find(struct gbose__record *out, const unsigned char *bytes, size_t most, uint64_t id)
{
    const struct gbose__record *r = (const struct gbose__record *)(const void *)bytes;
    size_t at = sizeof *r;
    uint64_t events = 0;

    if (most < at || r->magic != MAGIC || r->id != id || r->size > most || r->n > r->size)
        return 0;
    for (uint64_t i = 0; i < r->n; i++) {
        struct gbose__event_row row;
        size_t size = open_entry(&row, bytes + at, r->size - at);

        if (!size || !gbose__is_sum_of_packed(&row, row.sum))
            return 0;
        events = gbose__mix(events, (uint64_t)row.sum);
        at += size;
    }
    if (!r->n || at != r->size || sum_of(r, events) != r->sum)
        return 0;
    *out = *r;
    return whole(r->size, GBOSE__DIRECT_BLOCK);
}
