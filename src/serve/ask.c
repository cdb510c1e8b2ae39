/* From a request to contexts: with a schema (user, round, arms), or from rows of numbers. */
#include "serve/service.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"

const struct gbose__field gbose__ask_fields[GBOSE__IN_FIELDS] = {
    [GBOSE__IN_ROUND] = {"round", GBOSE__IS(GBOSE__OBJECT) | GBOSE__IS(GBOSE__LIST), 0, 0},
    [GBOSE__IN_USER] = {"user", GBOSE__IS(GBOSE__OBJECT), 0, 0},
    [GBOSE__IN_ARMS] = {"arms", GBOSE__IS(GBOSE__LIST), 0, 0},
    [GBOSE__IN_CONTEXTS] = {"contexts", GBOSE__IS(GBOSE__LIST), 0, 0},
    [GBOSE__IN_IDS] = {"ids", GBOSE__IS(GBOSE__LIST), 0, 0},
    [GBOSE__IN_EXCLUDE] = {"exclude", GBOSE__IS(GBOSE__LIST), 0, 0},
};

struct gbose__encoder *gbose__encoder_new(const char *schema, size_t dim, size_t n_round, gbose_error *err)
{
    struct gbose__encoder *e = calloc(1, sizeof *e);

    if (!e) {
        gbose__no_memory(err);
        return NULL;
    }
    atomic_store(&e->references, 1);
    e->dim = dim;
    e->n_round = n_round;
    if (schema) {
        if (gbose_schema_new(&e->schema, schema, err)) {
            free(e);
            return NULL;
        }
        e->dim = gbose_schema_dim(e->schema);
        /* A learner without features of the round passes over the schema's; any other must take all of
         * them. */
        if (n_round && n_round != gbose_schema_round(e->schema)) {
            gbose__fail(err, GBOSE_EINVAL, "the schema has %zu features of the round, and the learner %zu",
                        gbose_schema_round(e->schema), n_round);
            gbose__encoder_release(e);
            return NULL;
        }
    }
    return e;
}

void gbose__encoder_release(struct gbose__encoder *e)
{
    if (!e || atomic_fetch_sub(&e->references, 1) != 1)
        return;
    gbose_schema_free(e->schema);
    free(e);
}

/* Room for the rows and the round on the desk. 0, or -1 with a problem. */
static int make_room(struct gbose__desk *desk, size_t n, struct gbose__problem *p)
{
    double *more;

    if (n <= desk->rows_capacity)
        return 0;
    more = realloc(desk->rows, n * sizeof *more);
    if (!more)
        return gbose__problem(p, 503, "no_memory", "", "", "out of memory");
    desk->rows = more;
    desk->rows_capacity = n;
    return 0;
}

static int no_memory(struct gbose__problem *p)
{
    return gbose__problem(p, 503, "no_memory", "", "", "out of memory");
}

/* ---- rows of numbers ---- */

/* `n` numbers of a list into `to`; if it may be short, zeros for those that are missing. The list is called `name`, or name[row] unless row is negative: put
 * together only when there is something to say about it. */
static int read_row(double *to, size_t n, int may_be_short, const struct gbose__document *d, uint32_t list,
                    const char *where, const char *name, long row, struct gbose__problem *p)
{
    uint32_t at = list + 1;
    char called[64], field[96];
    size_t i = 0;

    if (may_be_short && d->value[list].kind == GBOSE__LIST)
        while (n > d->value[list].count)
            to[--n] = 0;
    if (d->value[list].kind == GBOSE__LIST && d->value[list].count == n) {
        if (d->value[list].plain) {
            memcpy(to, d->number + at, n * sizeof *to);
            return 0;
        }
        for (; i < n; i++, at++) {
            double x = d->number[at]; /* NaN, if it takes longer to find out */

            if (d->value[at].kind != GBOSE__NUMBER || (isnan(x) && gbose__document_number(d, at, &x)) ||
                !(fabs(x) <= GBOSE_MAX_INPUT))
                break;
            to[i] = x;
        }
        if (i == n)
            return 0;
    }
    snprintf(called, sizeof called, row < 0 ? "%s" : "%s[%ld]", name, row);
    if (d->value[list].kind != GBOSE__LIST || d->value[list].count != n)
        return gbose__problem(p, 400, "wrong_size", where, called, "%s must be a list of %zu numbers", called,
                              n);
    snprintf(field, sizeof field, "%s[%zu]", called, i);
    return gbose__problem(p, 400, "not_a_number", where, field,
                          "%s must be a number, at most %g in magnitude", field, GBOSE_MAX_INPUT);
}

/* An event that was decided when there were fewer features may be short: what is new was 0 then. */
static int read_contexts(struct gbose__ask *ask, const struct gbose__encoder *e, struct gbose__desk *desk,
                         const struct gbose__document *d, const struct gbose__field *f, int may_be_short,
                         const char *where, struct gbose__problem *p)
{
    uint32_t list = f[GBOSE__IN_CONTEXTS].at, at = list + 1;

    if (f[GBOSE__IN_USER].at || f[GBOSE__IN_ARMS].at)
        return gbose__problem(
            p, 400, "no_schema", where, f[GBOSE__IN_USER].at ? "user" : "arms",
            "this bandit has no schema: it takes 'contexts', a list of %zu numbers for each arm", e->dim);
    if (!list)
        return gbose__problem(p, 400, "missing", where, "contexts",
                              "'contexts' is missing: a list of %zu numbers for each arm", e->dim);
    ask->n_arms = d->value[list].count;
    if (!ask->n_arms || ask->n_arms > GBOSE__MAX_ARMS)
        return gbose__problem(p, 400, "wrong_size", where, "contexts", "there must be 1 to %d arms, not %zu",
                              GBOSE__MAX_ARMS, ask->n_arms);
    if (make_room(desk, ask->n_arms * e->dim + e->n_round, p))
        return -1;
    ask->rows = desk->rows;
    for (size_t i = 0; i < ask->n_arms; i++, at = d->value[at].next) {
        if (read_row(ask->rows + i * e->dim, e->dim, may_be_short, d, at, where, "contexts", (long)i, p))
            return -1;
    }
    if (!e->n_round) {
        if (f[GBOSE__IN_ROUND].at)
            return gbose__problem(p, 400, "unexpected", where, "round",
                                  "this learner has no features of the round; gbose-auto:round=N has N");
        return 0;
    }
    if (!f[GBOSE__IN_ROUND].at)
        return gbose__problem(p, 400, "missing", where, "round", "'round' is missing: a list of %zu numbers",
                              e->n_round);
    ask->round = desk->rows + ask->n_arms * e->dim;
    return read_row(ask->round, e->n_round, 0, d, f[GBOSE__IN_ROUND].at, where, "round", -1, p);
}

/* ---- features by name ---- */

static gbose_feature *new_feature(struct gbose__desk *desk)
{
    if (desk->n_features == desk->features_capacity) {
        size_t capacity = desk->features_capacity ? 2 * desk->features_capacity : 64;
        void *more = realloc(desk->features, capacity * sizeof *desk->features);

        if (!more)
            return NULL;
        desk->features = more;
        desk->features_capacity = capacity;
    }
    return &desk->features[desk->n_features++];
}

static char *take_text(const struct gbose__document *d, uint32_t at, struct gbose__arena *arena)
{
    char *text = gbose__arena_take(arena, d->value[at].end - d->value[at].begin + 1);

    if (text)
        gbose__document_text(d, at, text);
    return text;
}

/* A list of numbers, or of texts. 0, -1: no memory, -2: neither. */
static int read_list(gbose_feature *f, const struct gbose__document *d, uint32_t at,
                     struct gbose__arena *arena)
{
    size_t n = d->value[at].count;
    double *numbers = gbose__arena_take(arena, (n + 1) * sizeof *numbers);
    const char **texts = gbose__arena_take(arena, (n + 1) * sizeof *texts);
    int as_texts = n && d->value[at + 1].kind == GBOSE__TEXT;

    if (!numbers || !texts)
        return -1;
    for (size_t i = 0; i < n; i++) {
        uint32_t entry = at + 1 + (uint32_t)i; /* simple values have no inside */

        if (as_texts ? d->value[entry].kind != GBOSE__TEXT
                     : d->value[entry].kind != GBOSE__NUMBER || gbose__document_number(d, entry, &numbers[i]))
            return -2;
        if (as_texts && !(texts[i] = take_text(d, entry, arena)))
            return -1;
    }
    f->kind = as_texts ? GBOSE_FEATURE_TEXTS : GBOSE_FEATURE_NUMBERS;
    f->n = n;
    if (as_texts)
        f->as.texts = texts;
    else
        f->as.numbers = numbers;
    return 0;
}

/* One value under its full name. What the schema does not use is passed over. */
static int read_feature(const struct gbose__encoder *e, struct gbose__desk *desk,
                        const struct gbose__document *d, const char *name, uint32_t at,
                        struct gbose__arena *arena, const char *where, struct gbose__problem *p)
{
    uint32_t slot = gbose_schema_slot(e->schema, name);
    gbose_feature *f;
    int rc;

    if (!slot || d->value[at].kind == GBOSE__NULL)
        return 0;
    f = new_feature(desk);
    if (!f)
        return no_memory(p);
    *f = (gbose_feature){.slot = slot, .kind = GBOSE_FEATURE_NUMBER};
    switch (d->value[at].kind) {
    case GBOSE__NUMBER:
        if (gbose__document_number(d, at, &f->as.number))
            return gbose__problem(p, 400, "not_a_number", where, name, "%s is too large", name);
        return 0;
    case GBOSE__TRUE:
    case GBOSE__FALSE:
        f->kind = GBOSE_FEATURE_TEXT;
        f->as.text = d->value[at].kind == GBOSE__TRUE ? "true" : "false";
        return 0;
    case GBOSE__TEXT:
        f->kind = GBOSE_FEATURE_TEXT;
        f->as.text = take_text(d, at, arena);
        return f->as.text ? 0 : no_memory(p);
    default:
        rc = read_list(f, d, at, arena);
        if (rc == -2)
            return gbose__problem(p, 400, "wrong_type", where, name,
                                  "%s must be a list of numbers or of texts", name);
        return rc ? no_memory(p) : 0;
    }
}

/* All members of an object, names joined by dots behind the prefix. */
static int read_features(const struct gbose__encoder *e, struct gbose__desk *desk,
                         const struct gbose__document *d, const char *prefix, uint32_t object,
                         struct gbose__arena *arena, const char *where, struct gbose__problem *p)
{
    char name[512];

    for (uint32_t at = object + 1; at < d->value[object].next; at = d->value[at + 1].next) {
        size_t size = d->value[at].end - d->value[at].begin, used = strlen(prefix);
        int rc;

        if (size + used + 2 > sizeof name)
            return gbose__problem(p, 400, "too_long", where, prefix, "a feature's name is too long");
        memcpy(name, prefix, used);
        used += gbose__document_text(d, at, name + used);
        if (d->value[at + 1].kind == GBOSE__OBJECT) {
            memcpy(name + used, ".", 2);
            rc = read_features(e, desk, d, name, at + 1, arena, where, p);
        } else {
            rc = read_feature(e, desk, d, name, at + 1, arena, where, p);
        }
        if (rc)
            return rc;
    }
    return 0;
}

static int read_named(struct gbose__ask *ask, const struct gbose__encoder *e, struct gbose__desk *desk,
                      const struct gbose__document *d, const struct gbose__field *f,
                      struct gbose__arena *arena, const char *where, struct gbose__problem *p)
{
    uint32_t list = f[GBOSE__IN_ARMS].at, at = list + 1;
    gbose_features shared;
    gbose_error err;
    size_t from;

    if (f[GBOSE__IN_CONTEXTS].at || f[GBOSE__IN_IDS].at)
        return gbose__problem(p, 400, "has_schema", where, f[GBOSE__IN_IDS].at ? "ids" : "contexts",
                              "this bandit has a schema: it takes 'arms', 'user' and 'round'");
    if (!list)
        return gbose__problem(p, 400, "missing", where, "arms",
                              "'arms' is missing: a list of objects, each with an 'id' and its features");
    ask->n_arms = d->value[list].count;
    if (!ask->n_arms || ask->n_arms > GBOSE__MAX_ARMS)
        return gbose__problem(p, 400, "wrong_size", where, "arms", "there must be 1 to %d arms, not %zu",
                              GBOSE__MAX_ARMS, ask->n_arms);
    if (make_room(desk, ask->n_arms * e->dim + e->n_round, p))
        return -1;
    if (ask->n_arms > desk->lists_capacity) {
        void *more = realloc(desk->lists, ask->n_arms * sizeof *desk->lists);

        if (!more)
            return no_memory(p);
        desk->lists = more;
        desk->lists_capacity = ask->n_arms;
    }
    desk->n_features = 0;
    if (f[GBOSE__IN_ROUND].at) {
        if (d->value[f[GBOSE__IN_ROUND].at].kind != GBOSE__OBJECT)
            return gbose__problem(p, 400, "wrong_type", where, "round",
                                  "'round' must be an object, not a list");
        if (read_features(e, desk, d, "", f[GBOSE__IN_ROUND].at, arena, where, p))
            return -1;
    }
    if (f[GBOSE__IN_USER].at && read_features(e, desk, d, "user.", f[GBOSE__IN_USER].at, arena, where, p))
        return -1;
    shared.n = desk->n_features;
    for (size_t i = 0; i < ask->n_arms; i++, at = d->value[at].next) {
        if (d->value[at].kind != GBOSE__OBJECT) {
            char name[32];

            snprintf(name, sizeof name, "arms[%zu]", i);
            return gbose__problem(p, 400, "wrong_type", where, name, "an arm must be an object, not %s",
                                  gbose__document_kind(d, at));
        }
        from = desk->n_features;
        if (read_features(e, desk, d, "action.", at, arena, where, p))
            return -1;
        desk->lists[i].n = desk->n_features - from;
    }
    shared.at = desk->features; /* it has stopped moving */
    from = shared.n;
    for (size_t i = 0; i < ask->n_arms; from += desk->lists[i++].n)
        desk->lists[i].at = desk->features + from;
    ask->rows = desk->rows;
    ask->round = e->n_round ? desk->rows + ask->n_arms * e->dim : NULL;
    if (gbose_encode(e->schema, ask->rows, ask->round, &shared, desk->lists, ask->n_arms, &err))
        return gbose__problem(p, 400, "bad_feature", where, "", "%s", err.text);
    return 0;
}

/* ---- names of arms ---- */

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int no_duplicates(const struct gbose__ask *ask, struct gbose__arena *arena, const char *where,
                         const char *field, struct gbose__problem *p)
{
    const char **sorted = gbose__arena_take(arena, ask->n_arms * sizeof *sorted);

    if (!sorted)
        return no_memory(p);
    memcpy(sorted, ask->id, ask->n_arms * sizeof *sorted);
    qsort(sorted, ask->n_arms, sizeof *sorted, compare);
    for (size_t i = 1; i < ask->n_arms; i++)
        if (!strcmp(sorted[i - 1], sorted[i]))
            return gbose__problem(p, 400, "twice", where, field, "two arms are called '%.64s'", sorted[i]);
    return 0;
}

/* The value of `id` in an arm; 0: there is none. */
static uint32_t id_of(const struct gbose__document *d, uint32_t arm)
{
    for (uint32_t at = arm + 1; at < d->value[arm].next; at = d->value[at + 1].next)
        if (gbose__document_is(d, at, "id"))
            return at + 1;
    return 0;
}

static int read_ids(struct gbose__ask *ask, const struct gbose__document *d, const struct gbose__field *f,
                    struct gbose__arena *arena, const char *where, struct gbose__problem *p)
{
    int named = f[GBOSE__IN_ARMS].at != 0;
    uint32_t list = named ? f[GBOSE__IN_ARMS].at : f[GBOSE__IN_IDS].at, at = list + 1;
    char field[32];

    if (!list)
        return 0;
    if (!named && d->value[list].count != ask->n_arms)
        return gbose__problem(p, 400, "wrong_size", where, "ids", "there are %zu arms and %u ids",
                              ask->n_arms, d->value[list].count);
    ask->id = gbose__arena_take(arena, ask->n_arms * sizeof *ask->id);
    if (!ask->id)
        return no_memory(p);
    for (size_t i = 0; i < ask->n_arms; i++, at = d->value[at].next) {
        uint32_t id = named ? id_of(d, at) : at;

        snprintf(field, sizeof field, named ? "arms[%zu].id" : "ids[%zu]", i);
        if (!id || d->value[id].kind != GBOSE__TEXT || d->value[id].begin == d->value[id].end ||
            d->value[id].end - d->value[id].begin > GBOSE__MAX_NAME)
            return gbose__problem(p, 400, "bad_id", where, field, "%s must be a text of 1 to %d bytes", field,
                                  GBOSE__MAX_NAME);
        ask->id[i] = take_text(d, id, arena);
        if (!ask->id[i])
            return no_memory(p);
    }
    return no_duplicates(ask, arena, where, named ? "arms" : "ids", p);
}

long gbose__ask_arm(const struct gbose__ask *ask, const struct gbose__document *d, uint32_t at)
{
    double x;

    if (ask->id) {
        for (size_t i = 0; i < ask->n_arms; i++)
            if (gbose__document_is(d, at, ask->id[i]))
                return (long)i;
        return -1;
    }
    if (d->value[at].kind != GBOSE__NUMBER || gbose__document_number(d, at, &x) || !(x >= 0) ||
        !(x < (double)ask->n_arms) || x != (double)(size_t)x)
        return -1;
    return (long)x;
}

static int read_excluded(struct gbose__ask *ask, const struct gbose__document *d,
                         const struct gbose__field *f, struct gbose__arena *arena, const char *where,
                         struct gbose__problem *p)
{
    uint32_t list = f[GBOSE__IN_EXCLUDE].at, at = list + 1;
    unsigned char *excluded;
    char field[32];

    ask->n_left = ask->n_arms;
    if (!list || !d->value[list].count)
        return 0;
    excluded = gbose__arena_take(arena, ask->n_arms);
    if (!excluded)
        return no_memory(p);
    memset(excluded, 0, ask->n_arms);
    for (size_t i = 0; i < d->value[list].count; i++, at = d->value[at].next) {
        long arm = gbose__ask_arm(ask, d, at);

        snprintf(field, sizeof field, "exclude[%zu]", i);
        if (arm < 0)
            return gbose__problem(p, 400, "no_such_arm", where, field, "%s is not one of the arms", field);
        ask->n_left -= !excluded[arm];
        excluded[arm] = 1;
    }
    if (!ask->n_left)
        return gbose__problem(p, 400, "no_arm_left", where, "exclude", "every arm is excluded");
    ask->excluded = excluded;
    return 0;
}

int gbose__ask_read(struct gbose__ask *ask, const struct gbose__encoder *encoder, struct gbose__desk *desk,
                    const struct gbose__document *d, const struct gbose__field *fields,
                    struct gbose__arena *arena, int ids, const char *where, struct gbose__problem *p)
{
    memset(ask, 0, sizeof *ask);
    if (encoder->schema ? read_named(ask, encoder, desk, d, fields, arena, where, p)
                        : read_contexts(ask, encoder, desk, d, fields, !ids, where, p))
        return -1;
    ask->n_left = ask->n_arms;
    if (!ids)
        return 0;
    return read_ids(ask, d, fields, arena, where, p) ? -1 : read_excluded(ask, d, fields, arena, where, p);
}
