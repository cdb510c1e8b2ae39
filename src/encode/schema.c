/* A schema: how it is made, its names, its identity. parse.c reads it, encode.c uses it. */
#include "encode/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "core/memory.h"
#include "core/spec.h"

/* ---- memory that is freed at once ---- */

struct gbose__chunk {
    struct gbose__chunk *next;
    size_t used, room;
    unsigned char *bytes;
};

#define CHUNK 8192 /* bytes; more for what needs more */

void *gbose__schema_alloc(gbose_schema *schema, size_t count, size_t size)
{
    struct gbose__chunk *chunk = schema->chunks;
    size_t bytes;
    void *p;

    if (size && count > SIZE_MAX / 4 / size)
        return NULL;
    bytes = (count * size + 15) / 16 * 16;
    if (!chunk || chunk->room - chunk->used < bytes) {
        size_t room = bytes > CHUNK ? bytes : CHUNK;

        chunk = gbose__alloc(1, sizeof *chunk);
        if (!chunk)
            return NULL;
        chunk->bytes = gbose__alloc(room, 1);
        if (!chunk->bytes) {
            gbose__free(chunk);
            return NULL;
        }
        chunk->room = room;
        chunk->next = schema->chunks;
        schema->chunks = chunk;
    }
    p = chunk->bytes + chunk->used;
    chunk->used += bytes;
    return p;
}

void gbose_schema_free(gbose_schema *schema)
{
    if (!schema)
        return;
    while (schema->chunks) {
        struct gbose__chunk *next = schema->chunks->next;

        gbose__free(schema->chunks->bytes);
        gbose__free(schema->chunks);
        schema->chunks = next;
    }
    if (schema->c_locale)
        freelocale(schema->c_locale);
    gbose__free(schema);
}

/* ---- what follows from what was read ---- */

/* Names to slots. The load of the table is at most a half. */
static int index_names(gbose_schema *s)
{
    uint32_t size = 4;

    while (size < 2 * s->n_features)
        size *= 2;
    s->mask = size - 1;
    s->place = gbose__schema_alloc(s, size, sizeof *s->place);
    s->action = gbose__schema_alloc(s, s->n_features + 1, sizeof *s->action);
    if (!s->place || !s->action)
        return GBOSE_ENOMEM;
    for (uint32_t i = 0; i < s->n_features; i++) {
        const char *name = s->feature[i].name;
        uint32_t at = (uint32_t)gbose__mix_bytes(0, name, strlen(name)) & s->mask;

        while (s->place[at])
            at = (at + 1) & s->mask;
        s->place[at] = i + 1;
        if (s->feature[i].is_action)
            s->action[s->n_actions++] = i;
    }
    return GBOSE_OK;
}

/* Those of the features that a list's first terms use and `used` does not have yet, in the order of their
 * first use; `to` may be NULL. Returns the number of bytes. */
static size_t write_features(const gbose_schema *s, const struct gbose__terms *list, size_t n_terms,
                             unsigned char *used, char *to, size_t room)
{
    size_t n = 0;

    for (size_t i = 0; i < n_terms; i++)
        for (uint32_t k = 0; k < list->at[i].n_factors; k++) {
            uint32_t f = list->at[i].factor[k].feature;

            if (!used[f])
                n += (size_t)snprintf(to ? to + n : NULL, to ? room - n : 0, "%s\n", s->feature[f].text);
            used[f] = 1;
        }
    return n;
}

/* The canonical text of a schema with only the first terms, or with buf NULL its length. */
static size_t write_text(const gbose_schema *s, size_t n_arm, size_t n_round, char *buf, size_t room)
{
    const struct gbose__terms *lists[] = {&s->arm, &s->round};
    const size_t count[] = {n_arm, n_round};
    unsigned char used[GBOSE__MAX_FEATURES] = {0};
    size_t n = 0;

    for (int k = 0; k < 2; k++)
        n += write_features(s, lists[k], count[k], used, buf ? buf + n : NULL, buf ? room - n : 0);
#define ADD(...) n += (size_t)snprintf(buf ? buf + n : NULL, buf ? room - n : 0, __VA_ARGS__)
    for (int k = 0; k < 2; k++) {
        for (size_t i = 0; i < count[k]; i++)
            ADD("%s %s", i ? "" : k ? "round =" : "arm =", lists[k]->at[i].text);
        if (count[k])
            ADD("\n");
    }
#undef ADD
    return n;
}

static uint64_t hash_of(const char *text)
{
    uint64_t hash = gbose__mix_text(0, text);

    return hash + !hash; /* 0 stands for no schema */
}

static int finish(gbose_schema *s)
{
    size_t room = write_text(s, s->arm.n, s->round.n, NULL, 0) + 1;
    int rc = index_names(s);

    if (rc)
        return rc;
    s->text = gbose__schema_alloc(s, room, 1);
    if (!s->text)
        return GBOSE_ENOMEM;
    write_text(s, s->arm.n, s->round.n, s->text, room);
    s->hash = hash_of(s->text);
    return GBOSE_OK;
}

int gbose_schema_new(gbose_schema **out, const char *text, gbose_error *err)
{
    gbose_schema *s;
    int rc;

    if (!out || !text)
        return gbose__fail(err, GBOSE_EINVAL, "%s", gbose_strerror(GBOSE_EINVAL));
    s = gbose__alloc(1, sizeof *s);
    if (!s)
        return gbose__no_memory(err);
    s->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    rc = s->c_locale ? gbose__parse_schema(s, text, err) : gbose__no_memory(err);
    if (!rc && finish(s))
        rc = gbose__no_memory(err);
    if (rc) {
        gbose_schema_free(s);
        return rc;
    }
    *out = s;
    return gbose__fail(err, GBOSE_OK, "%s", "");
}

/* ---- what it says ---- */

size_t gbose_schema_dim(const gbose_schema *schema)
{
    return schema->arm.columns;
}

size_t gbose_schema_round(const gbose_schema *schema)
{
    return schema->round.columns;
}

const char *gbose_schema_text(const gbose_schema *schema)
{
    return schema->text;
}

uint64_t gbose_schema_hash(const gbose_schema *schema)
{
    return schema->hash;
}

uint32_t gbose_schema_slot(const gbose_schema *schema, const char *name)
{
    uint32_t at = (uint32_t)gbose__mix_bytes(0, name, strlen(name)) & schema->mask;

    for (; schema->place[at]; at = (at + 1) & schema->mask)
        if (!strcmp(schema->feature[schema->place[at] - 1].name, name))
            return schema->place[at];
    return 0;
}

const char *gbose_schema_name(const gbose_schema *schema, uint32_t slot)
{
    return slot && slot <= schema->n_features ? schema->feature[slot - 1].name : NULL;
}

/* ---- names of columns ---- */

/* Column c of a feature. */
static size_t write_column(char *buf, size_t room, const struct gbose__schema_feature *f, uint32_t c)
{
    size_t n;

    if (c == f->missing_column && c >= f->n_values)
        return (size_t)snprintf(buf, room, "%s=missing", f->name);
    if (c == f->other_column && c >= f->n_values)
        return (size_t)snprintf(buf, room, "%s=other", f->name);
    if (f->buckets)
        return (size_t)snprintf(buf, room, "%s#%u", f->name, (unsigned)c);
    if (f->n_values) {
        n = (size_t)snprintf(buf, room, "%s=", f->name);
        return n + gbose__value_write(n < room ? buf + n : NULL, n < room ? room - n : 0, f->value[c]);
    }
    if (f->type == TYPE_VECTOR)
        return (size_t)snprintf(buf, room, "%s[%u]", f->name, (unsigned)c);
    if (f->type == TYPE_CYCLE)
        return (size_t)snprintf(buf, room, "%s(%s)", c ? "cos" : "sin", f->name);
    return (size_t)snprintf(buf, room, "%s", f->name);
}

/* The term that column i is of, and i within it. */
static const struct gbose__term *term_of(const struct gbose__terms *list, size_t *i)
{
    const struct gbose__term *t = list->at;

    while (*i >= t->first + t->width)
        t++;
    *i -= t->first;
    return t;
}

static size_t write_name(const gbose_schema *s, const struct gbose__terms *list, size_t i, char *buf,
                         size_t room)
{
    const struct gbose__term *t;
    size_t n = 0;

    if (i >= list->columns)
        return 0;
    t = term_of(list, &i);
    for (uint32_t k = 0; k < t->n_factors; k++) {
        const struct gbose__factor *f = &t->factor[k];
        char one[3 * GBOSE__MAX_NAME + 20], power[20] = "";

        write_column(one, sizeof one, &s->feature[f->feature], (uint32_t)(i / f->stride % f->width));
        if (f->power > 1)
            snprintf(power, sizeof power, "^%u", (unsigned)f->power);
        n += (size_t)snprintf(n < room ? buf + n : NULL, n < room ? room - n : 0, "%s%s%s", k ? "*" : "", one,
                              power);
    }
    return n;
}

size_t gbose_schema_column(const gbose_schema *schema, size_t i, char *buf, size_t capacity)
{
    return write_name(schema, &schema->arm, i, buf, capacity);
}

size_t gbose_schema_round_column(const gbose_schema *schema, size_t i, char *buf, size_t capacity)
{
    return write_name(schema, &schema->round, i, buf, capacity);
}

/* Does column c of a feature hold its value, which has a scale? */
static int has_scale(const struct gbose__schema_feature *f, uint32_t c)
{
    return (f->type == TYPE_NUMBER || f->type == TYPE_VECTOR) && c != f->missing_column;
}

size_t gbose_schema_unit(const gbose_schema *schema, size_t i, char *buf, size_t capacity)
{
    const struct gbose__term *t;
    size_t n = 0;

    if (capacity)
        *buf = 0;
    if (i >= schema->arm.columns)
        return 0;
    t = term_of(&schema->arm, &i);
    for (uint32_t k = 0; k < t->n_factors; k++) {
        const struct gbose__factor *f = &t->factor[k];
        const struct gbose__schema_feature *feature = &schema->feature[f->feature];
        uint32_t c = (uint32_t)(i / f->stride % f->width);
        char one[3 * GBOSE__MAX_NAME + 20], size[40] = "unit";

        if (!has_scale(feature, c))
            continue;
        write_column(one, sizeof one, feature, c);
        if (feature->scale != 1)
            snprintf(size, sizeof size, "%g", feature->scale);
        for (uint32_t times = 0; times < f->power || times == 0; times++)
            n += (size_t)snprintf(n < capacity ? buf + n : NULL, n < capacity ? capacity - n : 0,
                                  "%s%s of %s%s", n ? " times " : "", size,
                                  feature->logarithm ? "the logarithm of " : "", one);
    }
    return n;
}

size_t gbose_schema_reference(const gbose_schema *schema, size_t i)
{
    const struct gbose__term *t = term_of(&schema->arm, &i);
    size_t reference = i;

    for (uint32_t k = 0; k < t->n_factors; k++) {
        const struct gbose__factor *f = &t->factor[k];
        const struct gbose__schema_feature *feature = &schema->feature[f->feature];

        if (feature->is_action && feature->type == TYPE_CATEGORY && !feature->buckets)
            reference -= i / f->stride % f->width * f->stride;
    }
    return t->first + reference;
}

/* The column of `part` that has the values of column `within` of `whole`; SIZE_MAX if `part` holds a factor that
 * `whole` does not. */
static size_t part_of(const struct gbose__term *whole, size_t within, const struct gbose__term *part)
{
    size_t column = part->first;

    for (uint32_t k = 0; k < part->n_factors; k++) {
        const struct gbose__factor *f = &part->factor[k], *own = whole->factor,
                                   *end = whole->factor + whole->n_factors;

        while (own < end && (own->feature != f->feature || own->power != f->power))
            own++;
        if (own == end)
            return SIZE_MAX;
        column += within / own->stride % own->width * f->stride;
    }
    return column;
}

void gbose_schema_parts(const gbose_schema *schema, size_t i, double *row)
{
    const struct gbose__term *t = term_of(&schema->arm, &i);

    memset(row, 0, schema->arm.columns * sizeof *row);
    for (size_t k = 0; k < schema->arm.n; k++) {
        size_t column = part_of(t, i, &schema->arm.at[k]);

        if (column != SIZE_MAX)
            row[column] = 1;
    }
}

/* ---- compatible schemas ---- */

static int begins_with(const gbose_schema *before, const gbose_schema *now, int is_arm, gbose_error *err)
{
    const struct gbose__terms *a = is_arm ? &before->arm : &before->round,
                              *b = is_arm ? &now->arm : &now->round;
    const char *name = is_arm ? "arm" : "round";

    for (size_t i = 0; i < a->n; i++) {
        if (i >= b->n)
            return gbose__fail(err, GBOSE_ESCHEMA, "'%.60s' was a term of %s and is not there any more",
                               a->at[i].text, name);
        if (strcmp(a->at[i].text, b->at[i].text))
            return gbose__fail(
                err, GBOSE_ESCHEMA,
                "term %zu of %s was '%.60s' and is '%.60s'; new terms go behind those that there are", i + 1,
                name, a->at[i].text, b->at[i].text);
    }
    return GBOSE_OK;
}

int gbose_schema_compatible(const gbose_schema *before, const gbose_schema *now, gbose_error *err)
{
    int rc;

    if (!before || !now)
        return gbose__fail(err, GBOSE_EINVAL, "%s", gbose_strerror(GBOSE_EINVAL));
    rc = begins_with(before, now, 1, err);
    if (!rc)
        rc = begins_with(before, now, 0, err);
    for (size_t i = 0; i < before->n_features && !rc; i++) {
        const struct gbose__schema_feature *f = &before->feature[i];
        uint32_t slot = gbose_schema_slot(now, f->name); /* there, since its terms are */

        if (strcmp(f->text, now->feature[slot - 1].text))
            rc = gbose__fail(err, GBOSE_ESCHEMA, "a feature was '%.100s' and is '%.100s'", f->text,
                             now->feature[slot - 1].text);
    }
    return rc ? rc : gbose__fail(err, GBOSE_OK, "%s", "");
}

int gbose_schema_before(gbose_schema **out, const gbose_schema *now, uint64_t hash, gbose_error *err)
{
    size_t room;
    char *text;
    int rc;

    if (!out || !now)
        return gbose__fail(err, GBOSE_EINVAL, "%s", gbose_strerror(GBOSE_EINVAL));
    room = strlen(now->text) + 1;
    text = gbose__alloc(room, 1);
    if (!text)
        return gbose__no_memory(err);
    rc = gbose__fail(err, GBOSE_ESCHEMA, "the schema %016llx is not one that %016llx only appends terms to",
                     (unsigned long long)hash, (unsigned long long)now->hash);
    for (size_t i = now->arm.n; i > 0 && rc == GBOSE_ESCHEMA; i--)
        for (size_t j = now->round.n + 1; j-- > 0 && rc == GBOSE_ESCHEMA;) {
            write_text(now, i, j, text, room);
            if (hash_of(text) == hash)
                rc = gbose_schema_new(out, text, err);
        }
    gbose__free(text);
    return rc;
}
