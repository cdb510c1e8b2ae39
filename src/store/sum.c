/* Checksums of rows. They are over what a row says, field by field, and so do not depend on how it is laid
 * out. */
#include "store/sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "core/error.h"
#include "store/pack.h"

void gbose__sum_word(struct gbose__sum *sum, uint64_t word)
{
    sum->value = gbose__mix(sum->value, word);
}

void gbose__sum_double(struct gbose__sum *sum, double x)
{
    uint64_t word;

    memcpy(&word, &x, 8);
    gbose__sum_word(sum, word);
}

void gbose__sum_bytes(struct gbose__sum *sum, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    uint64_t word;

    gbose__sum_word(sum, size);
    for (; size >= 8; size -= 8, at += 8) {
        memcpy(&word, at, 8);
        gbose__sum_word(sum, gbose__little_endian(word));
    }
    word = 0;
    if (size)
        memcpy(&word, at, size);
    gbose__sum_word(sum, gbose__little_endian(word));
}

void gbose__sum_text(struct gbose__sum *sum, const char *text)
{
    gbose__sum_word(sum, text != NULL);
    if (text)
        gbose__sum_bytes(sum, text, strlen(text));
}

int64_t gbose__sum_bandit(const struct gbose__bandit_row *row)
{
    struct gbose__sum sum = {1};

    gbose__sum_word(&sum, row->id);
    gbose__sum_text(&sum, row->name);
    gbose__sum_text(&sum, row->settings);
    gbose__sum_word(&sum, row->active);
    gbose__sum_word(&sum, (uint64_t)row->created);
    return (int64_t)sum.value;
}

int64_t gbose__sum_generation(const struct gbose__generation_row *row)
{
    struct gbose__sum sum = {2};

    gbose__sum_word(&sum, row->bandit);
    gbose__sum_word(&sum, row->number);
    gbose__sum_text(&sum, row->spec);
    gbose__sum_text(&sum, row->schema);
    gbose__sum_word(&sum, row->dim);
    gbose__sum_word(&sum, row->n_round);
    gbose__sum_word(&sum, (uint64_t)row->created);
    return (int64_t)sum.value;
}

int64_t gbose__sum_snapshot(const struct gbose__snapshot_row *row)
{
    struct gbose__sum sum = {3};

    gbose__sum_word(&sum, row->bandit);
    gbose__sum_word(&sum, row->generation);
    gbose__sum_word(&sum, row->learned);
    gbose__sum_bytes(&sum, row->bytes, row->size);
    return (int64_t)sum.value;
}

/* All of an event but its text. */
static struct gbose__sum sum_decision(const struct gbose__event_row *row)
{
    struct gbose__sum sum = {4};

    gbose__sum_word(&sum, (uint64_t)gbose__row_key(row->bandit, row->number));
    gbose__sum_text(&sum, row->name);
    gbose__sum_word(&sum, (uint64_t)row->time);
    gbose__sum_word(&sum, (uint64_t)row->deadline);
    gbose__sum_word(&sum, row->generation);
    gbose__sum_word(&sum, row->learned);
    gbose__sum_word(&sum, row->flags);
    gbose__sum_word(&sum, row->arm);
    gbose__sum_bytes(&sum, row->pmf, row->n_arms * sizeof *row->pmf);
    gbose__sum_bytes(&sum, row->shadow, row->shadow ? row->n_arms * sizeof *row->shadow : 0);
    gbose__sum_bytes(&sum, row->unit, row->unit ? GBOSE__UNIT_SIZE : 0);
    return sum;
}

int64_t gbose__sum_event(const struct gbose__event_row *row)
{
    struct gbose__sum sum = sum_decision(row);

    gbose__sum_bytes(&sum, row->body, row->body_size);
    return (int64_t)sum.value;
}

/* Of the whole words of its text. */
static struct gbose__sum sum_words(const struct gbose__event_row *row)
{
    struct gbose__sum sum = sum_decision(row);

    gbose__sum_word(&sum, gbose__checksum(row->packed, row->packed_size));
    return sum;
}

int64_t gbose__sum_packed_event(const struct gbose__event_row *row)
{
    struct gbose__sum sum = sum_words(row);
    size_t left = row->packed_size % 8;

    gbose__sum_bytes(&sum, (const char *)row->packed + row->packed_size - left, left);
    return (int64_t)sum.value;
}

int gbose__is_sum_of_packed(const struct gbose__event_row *row, int64_t sum)
{
    return gbose__sum_packed_event(row) == sum || (int64_t)sum_words(row).value == sum;
}

int gbose__event_unpack(struct gbose__event_row *row, int64_t sum, struct gbose__unpacked *to,
                        gbose_error *err)
{
    int packed = gbose__is_packed(row->body, row->body_size), same;
    size_t size = packed ? gbose__unpacked_size(row->body, row->body_size) : row->body_size;

    row->packed = packed ? row->body : NULL;
    row->packed_size = row->body_size;
    same = packed ? size && gbose__is_sum_of_packed(row, sum) : gbose__sum_event(row) == sum;
    if (!same)
        return gbose__fail(err, GBOSE__ECORRUPT,
                           "the store is damaged: an event does not match its checksum");
    if (!packed)
        return GBOSE_OK;
    if (size > to->capacity) {
        free(to->text);
        to->capacity = 2 * size;
        to->text = malloc(to->capacity);
        if (!to->text) {
            to->capacity = 0;
            return gbose__no_memory(err);
        }
    }
    gbose__unpack(to->text, row->packed, row->packed_size);
    row->body = to->text;
    row->body_size = size;
    row->packed = NULL;
    return GBOSE_OK;
}

int64_t gbose__sum_reward(int64_t event, const struct gbose__reward_row *row)
{
    struct gbose__sum sum = {5};

    gbose__sum_word(&sum, (uint64_t)event);
    gbose__sum_text(&sum, row->id);
    gbose__sum_double(&sum, row->value);
    gbose__sum_word(&sum, (uint64_t)row->time);
    gbose__sum_word(&sum, (uint64_t)row->late);
    return (int64_t)sum.value;
}

int64_t gbose__sum_outcome(const struct gbose__outcome_row *row)
{
    struct gbose__sum sum = {6};

    gbose__sum_word(&sum, (uint64_t)gbose__row_key(row->bandit, row->number));
    gbose__sum_word(&sum, row->event);
    gbose__sum_double(&sum, row->reward);
    gbose__sum_word(&sum, row->why);
    gbose__sum_word(&sum, (uint64_t)row->time);
    return (int64_t)sum.value;
}

int64_t gbose__sum_key(const struct gbose__key_row *row)
{
    struct gbose__sum sum = {7};

    gbose__sum_text(&sum, row->id);
    gbose__sum_bytes(&sum, row->hash, GBOSE__HASH_SIZE);
    gbose__sum_word(&sum, row->roles);
    gbose__sum_text(&sum, row->bandit);
    gbose__sum_text(&sum, row->note);
    gbose__sum_word(&sum, (uint64_t)row->created);
    return (int64_t)sum.value;
}

int64_t gbose__sum_counts(uint32_t bandit, const struct gbose__counts *row)
{
    const uint64_t word[] = {bandit,           row->events,   row->pending, row->rewarded,
                             row->defaulted,   row->unused,   row->rewards, row->late,
                             row->next_number, row->outcomes, row->dropped};
    struct gbose__sum sum = {8};

    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        gbose__sum_word(&sum, word[i]);
    return (int64_t)sum.value;
}

void gbose__aggregate_add(struct gbose__aggregated *all, double reward)
{
    if (!all->n++ || all->how == GBOSE__LAST)
        all->value = reward;
    else if (all->how == GBOSE__SUM || all->how == GBOSE__MEAN)
        all->value += reward;
    else if (all->how == GBOSE__MAX)
        all->value = fmax(all->value, reward);
}

double gbose__aggregate_value(const struct gbose__aggregated *all)
{
    return all->how == GBOSE__MEAN ? all->value / (double)all->n : all->value;
}
