/* Decisions in the PostgreSQL store, and the way from a group of changes to statements: everything of one kind
 * is read or written by one statement. Rewards and closing are in postgres_reward.c. */
#include "store/postgres_event.h"

#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "store/pack.h"

/* ---- which bandits are there ---- */

const char gbose__pg_bandits_sql[] =
    "SELECT id FROM bandit WHERE id = ANY($1::int4[]) ORDER BY id FOR KEY SHARE";

int gbose__pg_bandits_asked(struct gbose__pg_group *g, const struct gbose__change *changes, size_t n,
                            struct gbose__pg_bytes *ids, gbose_error *err)
{
    for (size_t i = 0; i < n; i++) {
        struct gbose__pg_tally *t;

        if (changes[i].kind != GBOSE__ADD_EVENT && changes[i].kind != GBOSE__ADD_REWARD &&
            changes[i].kind != GBOSE__ACTIVATE_EVENT)
            continue;
        t = gbose__pg_tally_of(
            g, changes[i].kind == GBOSE__ADD_EVENT ? changes[i].of.event.bandit : changes[i].of.reward.bandit,
            err);
        if (!t)
            return GBOSE_ENOMEM;
        if (t->there)
            continue;
        t->there = -1; /* until it is found */
        gbose__pg_add_int(ids, t->bandit);
    }
    return ids->bad ? gbose__no_memory(err) : GBOSE_OK;
}

void gbose__pg_bandits_found(struct gbose__pg_group *g, const PGresult *r)
{
    for (int i = 0; i < PQntuples(r); i++)
        for (size_t k = 0; k < g->n_tally; k++)
            if (g->tally[k].bandit == (uint32_t)gbose__pg_int(r, i, 0))
                g->tally[k].there = 1;
}

/* Look up the bandits of these changes, and keep them from being dropped until the commit. */
static int find_bandits(struct gbose__pg_group *g, const struct gbose__change *changes, size_t n,
                        gbose_error *err)
{
    struct gbose__pg_bytes ids = {0};
    struct gbose__pg_args args = {0};
    PGresult *r = NULL;
    int rc = gbose__pg_bandits_asked(g, changes, n, &ids, err);

    if (!rc && ids.size) {
        gbose__pg_arg_text(&args, gbose__pg_close(&ids));
        rc = ids.bad ? gbose__no_memory(err) : gbose__pg_query(g->c, gbose__pg_bandits_sql, &args, &r, err);
        if (!rc)
            gbose__pg_bandits_found(g, r);
        PQclear(r);
    }
    gbose__pg_clear(&ids);
    return rc;
}

/* Was the bandit there when this transaction looked? */
static int is_there(struct gbose__pg_group *g, uint32_t bandit)
{
    for (size_t i = 0; i < g->n_tally; i++)
        if (g->tally[i].bandit == bandit)
            return g->tally[i].there == 1;
    return 0;
}

/* ---- names ---- */

static int by_name(const void *a, const void *b)
{
    const struct gbose__change *x = *(struct gbose__change *const *)a, *y = *(struct gbose__change *const *)b;
    int names;

    if (x->of.event.bandit != y->of.event.bandit)
        return x->of.event.bandit < y->of.event.bandit ? -1 : 1;
    names = strcmp(x->of.event.name, y->of.event.name);
    return names ? names : (x > y) - (x < y);
}

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static int64_t key_of(const struct gbose__change *change)
{
    return gbose__row_key(change->of.event.bandit, change->of.event.number);
}

/* The text of an event as it is stored; *size is its size. Memory is that of `to`, unless it came packed. NULL: there is none. */
static const void *packed(struct gbose__pg_bytes *to, const struct gbose__event_row *row, size_t *size)
{
    size_t most = gbose__pack_bound(row->body_size);

    *size = row->packed_size;
    if (row->packed)
        return row->packed;
    if (most > to->capacity) {
        gbose__pg_clear(to);
        to->at = malloc(2 * most);
        to->capacity = to->at ? 2 * most : 0;
    }
    if (to->at)
        *size = gbose__pack(to->at, row->body, row->body_size);
    return to->at;
}

/* Events whose names were taken before: were they asked for in the same words? */
static int compare(struct gbose__pg_group *g, struct gbose__change **taken, size_t n, gbose_error *err)
{
    struct gbose__pg_bytes bandit = {0}, name = {0}, text = {0};
    struct gbose__pg_args args = {0};
    PGresult *r = NULL;
    int rc;

    for (size_t i = 0; i < n; i++) {
        gbose__pg_add_int(&bandit, taken[i]->of.event.bandit);
        gbose__pg_add_blob(&name, taken[i]->of.event.name, strlen(taken[i]->of.event.name));
    }
    gbose__pg_arg_text(&args, gbose__pg_close(&bandit));
    gbose__pg_arg_text(&args, gbose__pg_close(&name));
    rc = bandit.bad || name.bad
             ? gbose__no_memory(err)
             : gbose__pg_query(
                   g->c,
                   "SELECT t.ord, n.event, e.body, e.flags, e.unit FROM unnest($1::int4[], $2::bytea[])"
                   " WITH ORDINALITY AS t(b, n, ord) JOIN named n ON n.bandit = t.b AND n.name = t.n"
                   " JOIN event e ON e.day = n.day AND e.key = n.event",
                   &args, &r, err);
    if (!rc && (size_t)PQntuples(r) < n) /* one was erased in between: look again */
        rc = gbose__fail(err, GBOSE__PG_AGAIN, "cannot write to the store: an event was just erased");
    for (int i = 0; !rc && i < PQntuples(r); i++) {
        struct gbose__change *change = taken[gbose__pg_int(r, i, 0) - 1];
        struct gbose__event_row *row = &change->of.event;
        size_t body_size, unit_size, size = row->body_size;
        const void *body = gbose__pg_blob(r, i, 2, &body_size), *unit = gbose__pg_blob(r, i, 4, &unit_size);
        const void *asked = gbose__is_packed(body, body_size) ? packed(&text, row, &size) : row->body;
        int same = asked && body_size == size && !memcmp(body, asked, size) &&
                   ((unsigned)gbose__pg_int(r, i, 3) & GBOSE__DEFERRED) == (row->flags & GBOSE__DEFERRED) &&
                   !unit == !row->unit && (!unit || !memcmp(unit, row->unit, GBOSE__UNIT_SIZE));

        if (!asked)
            rc = gbose__no_memory(err);
        row->number = gbose__row_number(gbose__pg_int(r, i, 1));
        change->result = same ? GBOSE__REPEATED : GBOSE__CONFLICT;
    }
    PQclear(r);
    gbose__pg_clear(&bandit);
    gbose__pg_clear(&name);
    gbose__pg_clear(&text);
    return rc;
}

/* Take the names of these events; those of days that were dropped are free again. Of two transactions that want the same one the second waits, and finds it
 * taken. */
static int take_names(struct gbose__pg_group *g, struct gbose__change **named, size_t n, gbose_error *err)
{
    struct gbose__pg_bytes bandit = {0}, name = {0}, event = {0}, day = {0};
    struct gbose__pg_args args = {0};
    struct gbose__change **taken;
    int64_t *got;
    size_t n_got = 0, n_taken = 0;
    PGresult *r = NULL;
    int rc;

    for (size_t i = 0; i < n; i++) {
        const struct gbose__event_row *row = &named[i]->of.event;

        gbose__pg_add_int(&bandit, row->bandit);
        gbose__pg_add_blob(&name, row->name, strlen(row->name));
        gbose__pg_add_int(&event, key_of(named[i]));
        gbose__pg_add_int(&day, gbose__pg_day(row->time));
    }
    gbose__pg_arg_text(&args, gbose__pg_close(&bandit));
    gbose__pg_arg_text(&args, gbose__pg_close(&name));
    gbose__pg_arg_text(&args, gbose__pg_close(&event));
    gbose__pg_arg_text(&args, gbose__pg_close(&day));
    got = malloc(n * sizeof *got);
    taken = malloc(n * sizeof(struct gbose__change *));
    rc = bandit.bad || name.bad || event.bad || day.bad || !got || !taken
             ? gbose__no_memory(err)
             : gbose__pg_query(
                   g->c,
                   "INSERT INTO named SELECT b, n, e, d FROM unnest($1::int4[], $2::bytea[], $3::int8[],"
                   " $4::int4[]) AS t(b, n, e, d) ORDER BY b, n ON CONFLICT (bandit, name) DO UPDATE"
                   " SET event = excluded.event, day = excluded.day"
                   " WHERE named.day IN (SELECT day FROM gone) RETURNING event",
                   &args, &r, err);
    if (!rc) {
        for (int i = 0; i < PQntuples(r); i++)
            got[n_got++] = gbose__pg_int(r, i, 0);
        qsort(got, n_got, sizeof *got, by_number);
        for (size_t i = 0; i < n; i++) {
            int64_t key = key_of(named[i]);

            if (!n_got || !bsearch(&key, got, n_got, sizeof *got, by_number))
                taken[n_taken++] = named[i];
        }
        if (n_taken)
            rc = compare(g, taken, n_taken, err);
    }
    PQclear(r);
    gbose__pg_clear(&bandit);
    gbose__pg_clear(&name);
    gbose__pg_clear(&event);
    gbose__pg_clear(&day);
    free(got);
    free(taken);
    return rc;
}

/* ---- events ---- */

static void put_event(struct gbose__pg_bytes *rows, const struct gbose__event_row *row)
{
    gbose__pg_row(rows, 14);
    gbose__pg_field_int4(rows, gbose__pg_day(row->time));
    gbose__pg_field_int8(rows, gbose__row_key(row->bandit, row->number));
    gbose__pg_field_bytes(rows, row->name, row->name ? strlen(row->name) : 0);
    gbose__pg_field_int8(rows, row->time);
    gbose__pg_field_int8(rows, row->deadline);
    gbose__pg_field_int8(rows, row->generation);
    gbose__pg_field_int8(rows, (int64_t)row->learned);
    gbose__pg_field_int4(rows, (int32_t)row->flags);
    gbose__pg_field_int8(rows, row->arm);
    gbose__pg_field_bytes(rows, row->pmf, row->n_arms * sizeof *row->pmf);
    gbose__pg_field_bytes(rows, row->shadow, row->n_arms * sizeof *row->shadow);
    gbose__pg_field_bytes(rows, row->unit, GBOSE__UNIT_SIZE);
    gbose__pg_field_bytes(rows, row->packed, row->packed_size);
    gbose__pg_field_int8(rows, gbose__known_sum(row));
}

/* Write the events of these changes whose result is DONE. */
static int write_events(struct gbose__pg_group *g, struct gbose__change *const *changes, size_t n,
                        gbose_error *err)
{
    struct gbose__pg_bytes rows = {0}, text = {0};
    int rc = GBOSE_OK;

    for (size_t i = 0; i < n && !rc; i++) {
        struct gbose__event_row row = changes[i]->of.event;
        struct gbose__pg_tally *t;

        if (changes[i]->result != GBOSE__DONE)
            continue;
        row.packed = packed(&text, &row, &row.packed_size);
        if (!row.packed) {
            rc = gbose__no_memory(err);
            break;
        }
        t = gbose__pg_tally_of(g, row.bandit, err);
        t->count[GBOSE__PG_EVENTS]++;
        t->count[GBOSE__PG_PENDING]++;
        if (t->used <= row.number)
            t->used = row.number + 1;
        put_event(&rows, &row);
        rc = gbose__pg_open_add(g, &row, err);
    }
    if (!rc && (rows.size || rows.bad))
        rc = gbose__pg_copy(g->c, "COPY event FROM STDIN (FORMAT binary)", &rows, err);
    gbose__pg_clear(&rows);
    gbose__pg_clear(&text);
    return rc;
}

/* Add all events of a list. A name that comes several times in it is taken by the first: those that follow are
 * looked at in further rounds, when that one is there. */
static int add_events(struct gbose__pg_group *g, struct gbose__change **events, size_t n, gbose_error *err)
{
    struct gbose__change **named = malloc(n * sizeof(struct gbose__change *) + 1),
                         **now = malloc(n * sizeof(struct gbose__change *) + 1);
    size_t n_named = 0, n_now, left = 0, n_plain = 0;
    int rc = named && now ? GBOSE_OK : gbose__no_memory(err);

    for (size_t i = 0; i < n && !rc; i++)
        if (!events[i]->of.event.name)
            events[n_plain++] = events[i];
        else
            named[n_named++] = events[i];
    if (!rc && n_plain)
        rc = write_events(g, events, n_plain, err);
    if (n_named)
        qsort(named, n_named, sizeof(struct gbose__change *), by_name);
    while (!rc && n_named) {
        n_now = left = 0;
        for (size_t i = 0; i < n_named; i++)
            if (n_now && now[n_now - 1]->of.event.bandit == named[i]->of.event.bandit &&
                !strcmp(now[n_now - 1]->of.event.name, named[i]->of.event.name))
                named[left++] = named[i];
            else
                now[n_now++] = named[i];
        n_named = left;
        rc = take_names(g, now, n_now, err);
        if (!rc)
            rc = write_events(g, now, n_now, err);
    }
    free(named);
    free(now);
    return rc;
}

int gbose__pg_apply_events(struct gbose__pg_group *g, struct gbose__change *changes, size_t n,
                           gbose_error *err)
{
    struct gbose__change **list = malloc(n * sizeof(struct gbose__change *) + 1);
    int rc = list ? find_bandits(g, changes, n, err) : gbose__no_memory(err);
    size_t n_list = 0;

    for (size_t i = 0; i < n && !rc; i++) {
        uint32_t bandit =
            changes[i].kind == GBOSE__ADD_EVENT ? changes[i].of.event.bandit : changes[i].of.reward.bandit;

        changes[i].result = is_there(g, bandit) ? GBOSE__DONE : GBOSE__MISSING;
        if (changes[i].kind == GBOSE__ADD_EVENT && changes[i].result == GBOSE__DONE)
            list[n_list++] = &changes[i];
    }
    if (!rc && n_list)
        rc = add_events(g, list, n_list, err);
    n_list = 0;
    for (size_t i = 0; i < n && !rc; i++)
        if (changes[i].kind != GBOSE__ADD_EVENT && changes[i].result == GBOSE__DONE)
            list[n_list++] = &changes[i];
    if (!rc && n_list)
        rc = gbose__pg_runs_write(g, err);
    if (!rc && n_list)
        rc = gbose__pg_add_rewards(g, list, n_list, err);
    free(list);
    return rc;
}

int gbose__pg_lease_numbers(struct gbose__pg_group *g, struct gbose__change *change, gbose_error *err)
{
    struct gbose__lease_change *it = &change->of.lease;
    struct gbose__pg *c = g->c;
    PGresult *r;
    int rc = GBOSE__PG_WITH("UPDATE lease SET next_number = next_number + $2::int8 WHERE bandit = $1::int4"
                            " RETURNING next_number - $2::int8",
                            &r, it->bandit, (int64_t)it->n);

    if (rc)
        return rc;
    if (PQntuples(r))
        it->first = (uint64_t)gbose__pg_int(r, 0, 0);
    else
        change->result = GBOSE__MISSING;
    PQclear(r);
    return GBOSE_OK;
}
