/* What every store does alike: keys of rows, checksums of what they say, and several rewards as one number. */
#ifndef GBOSE_STORE_SUM_H
#define GBOSE_STORE_SUM_H

#include "store/store.h"

/* The key of a row that belongs to number `number` of a bandit: rows of one bandit lie together, in order. */
static inline int64_t gbose__row_key(uint32_t bandit, uint64_t number)
{
    return (int64_t)((uint64_t)bandit << 40 | number);
}

static inline uint64_t gbose__row_number(int64_t key)
{
    return (uint64_t)key & GBOSE__MAX_NUMBER;
}

static inline uint32_t gbose__row_bandit(int64_t key)
{
    return (uint32_t)(key >> 40);
}

/* Rows carry a checksum of what they say, so that damage is noticed and not believed. */
struct gbose__sum {
    uint64_t value;
};
void gbose__sum_word(struct gbose__sum *sum, uint64_t word);
void gbose__sum_double(struct gbose__sum *sum, double x);
void gbose__sum_bytes(struct gbose__sum *sum, const void *bytes, size_t size);
void gbose__sum_text(struct gbose__sum *sum, const char *text); /* NULL is not the empty text */

int64_t gbose__sum_bandit(const struct gbose__bandit_row *row);
int64_t gbose__sum_generation(const struct gbose__generation_row *row);
int64_t gbose__sum_snapshot(const struct gbose__snapshot_row *row);
int64_t gbose__sum_event(const struct gbose__event_row *row);
/* The same with `packed` in the place of `body`: quicker. */
int64_t gbose__sum_packed_event(const struct gbose__event_row *row);
/* That, if it has been found already. */
static inline int64_t gbose__known_sum(const struct gbose__event_row *row)
{
    return row->sum ? row->sum : gbose__sum_packed_event(row);
}
/* Is that what it was when it was written? Earlier versions left out the last bytes of the text, up to seven. */
int gbose__is_sum_of_packed(const struct gbose__event_row *row, int64_t sum);
/* Is a row of an event what was written? Its `body` is as it was read, and perhaps packed: then it is unpacked into memory of
 * `to`, which is the caller's to free. GBOSE_OK, GBOSE__ECORRUPT or GBOSE_ENOMEM. */
struct gbose__unpacked {
    char *text;
    size_t capacity;
};
int gbose__event_unpack(struct gbose__event_row *row, int64_t sum, struct gbose__unpacked *to,
                        gbose_error *err);
int64_t gbose__sum_reward(int64_t event, const struct gbose__reward_row *row);
int64_t gbose__sum_outcome(const struct gbose__outcome_row *row);
int64_t gbose__sum_key(const struct gbose__key_row *row);
int64_t gbose__sum_counts(uint32_t bandit, const struct gbose__counts *row);

/* The rewards of an event, added in the order in which they came, as one number. */
struct gbose__aggregated {
    enum gbose__aggregate how;
    size_t n;
    double value;
};
void gbose__aggregate_add(struct gbose__aggregated *all, double reward);
double gbose__aggregate_value(const struct gbose__aggregated *all); /* of one at least */

#endif
