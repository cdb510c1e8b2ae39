/* Closing events in the PostgreSQL store. */
#include "store/postgres_event.h"

#include <stdlib.h>

#include "core/error.h"

int gbose__pg_closing_add(struct gbose__pg_closings *all, const struct gbose__pg_event *event, int64_t now,
                          enum gbose__aggregate how, double default_reward, gbose_error *err)
{
    if (all->n == all->capacity) {
        size_t capacity = 2 * all->capacity + 64;
        void *more = realloc(all->at, capacity * sizeof *all->at);

        if (!more)
            return gbose__no_memory(err);
        all->at = more;
        all->capacity = capacity;
    }
    all->at[all->n++] = (struct gbose__pg_closing){
        .event = *event, .now = now, .rewards = {.how = how}, .default_reward = default_reward};
    return GBOSE_OK;
}

/* Read the rewards that came in time. */
static int gather(struct gbose__pg_group *g, struct gbose__pg_closings *all, gbose_error *err)
{
    struct gbose__pg_bytes day = {0}, event = {0};
    struct gbose__pg_args args = {0};
    PGresult *r = NULL;
    int rc;

    for (size_t i = 0; i < all->n; i++) {
        gbose__pg_add_int(&day, all->at[i].event.day);
        gbose__pg_add_int(&event, all->at[i].event.key);
    }
    gbose__pg_arg_text(&args, gbose__pg_close(&day));
    gbose__pg_arg_text(&args, gbose__pg_close(&event));
    rc = day.bad || event.bad
             ? gbose__no_memory(err)
             : gbose__pg_query(
                   g->c,
                   "SELECT t.ord, r.value FROM unnest($1::int4[], $2::int8[]) WITH ORDINALITY AS t(d, e, ord)"
                   " JOIN reward r ON r.day = t.d AND r.event = t.e WHERE NOT r.late ORDER BY r.number",
                   &args, &r, err);
    for (int i = 0; !rc && i < PQntuples(r); i++)
        gbose__aggregate_add(&all->at[gbose__pg_int(r, i, 0) - 1].rewards, gbose__pg_double(r, i, 1));
    PQclear(r);
    gbose__pg_clear(&day);
    gbose__pg_clear(&event);
    return rc;
}

/* Number the outcomes. The lock of the bandit's row is held until the commit, so that numbers become visible in
 * their order. */
static int number(struct gbose__pg_group *g, struct gbose__pg_closings *all, gbose_error *err)
{
    struct gbose__pg *c = g->c;
    uint32_t done = 0; /* bandits come in the order of their ids */

    for (;;) {
        uint32_t bandit = UINT32_MAX;
        uint64_t n = 0, last;
        PGresult *r;
        int rc;

        for (size_t i = 0; i < all->n; i++) {
            uint32_t of = gbose__row_bandit(all->at[i].event.key);

            if (of > done && of < bandit) {
                bandit = of;
                n = 0;
            }
            n += of == bandit;
        }
        if (bandit == UINT32_MAX)
            return GBOSE_OK;
        rc = GBOSE__PG_WITH(
            "UPDATE numbering SET outcomes = outcomes + $2::int8 WHERE bandit = $1::int4 RETURNING outcomes",
            &r, bandit, (int64_t)n);
        if (rc)
            return rc;
        if (!PQntuples(r)) {
            PQclear(r);
            return gbose__fail(err, GBOSE__ECORRUPT,
                               "the store is damaged: the outcomes of a bandit have no number");
        }
        last = (uint64_t)gbose__pg_int(r, 0, 0) - n;
        PQclear(r);
        for (size_t i = 0; i < all->n; i++)
            if (gbose__row_bandit(all->at[i].event.key) == bandit)
                all->at[i].row.number = ++last;
        done = bandit;
    }
}

static void put_outcome(struct gbose__pg_bytes *rows, const struct gbose__pg_closing *it)
{
    gbose__pg_row(rows, 8);
    gbose__pg_field_int8(rows, gbose__row_key(it->row.bandit, it->row.number));
    gbose__pg_field_int8(rows, it->event.key);
    gbose__pg_field_int4(rows, it->event.day);
    gbose__pg_field_double(rows, it->row.reward);
    gbose__pg_field_int2(rows, (int16_t)it->row.why);
    gbose__pg_field_int8(rows, it->row.time);
    gbose__pg_field_bool(rows, it->event.activated);
    gbose__pg_field_int8(rows, gbose__sum_outcome(&it->row));
}

/* Close events whose rows in `pending` this transaction has locked. */
int gbose__pg_close_all(struct gbose__pg_group *g, struct gbose__pg_closings *all, gbose_error *err)
{
    struct gbose__pg_bytes rows = {0}, keys = {0};
    struct gbose__pg_args args = {0};
    int rc = all->n ? gather(g, all, err) : GBOSE_OK;

    if (rc || !all->n)
        return rc;
    rc = number(g, all, err);
    for (size_t i = 0; i < all->n && !rc; i++) {
        struct gbose__pg_closing *it = &all->at[i];
        struct gbose__pg_tally *t = gbose__pg_tally_of(g, gbose__row_bandit(it->event.key), err);

        if (!t) {
            rc = GBOSE_ENOMEM;
            break;
        }
        it->row.bandit = t->bandit;
        it->row.event = gbose__row_number(it->event.key);
        it->row.time = it->now;
        it->row.reward = it->rewards.n ? gbose__aggregate_value(&it->rewards) : it->default_reward;
        it->row.why = it->event.deferred && !it->event.activated ? GBOSE__UNUSED
                      : it->rewards.n                            ? GBOSE__REWARDED
                                                                 : GBOSE__DEFAULTED;
        t->count[GBOSE__PG_PENDING]--;
        t->count[it->row.why == GBOSE__REWARDED    ? GBOSE__PG_REWARDED
                 : it->row.why == GBOSE__DEFAULTED ? GBOSE__PG_DEFAULTED
                                                   : GBOSE__PG_UNUSED]++;
        put_outcome(&rows, it);
        gbose__pg_add_int(&keys, it->event.key);
    }
    gbose__pg_arg_text(&args, gbose__pg_close(&keys));
    if (!rc && keys.bad)
        rc = gbose__no_memory(err);
    if (!rc)
        rc = gbose__pg_copy(g->c, "COPY outcome FROM STDIN (FORMAT binary)", &rows, err);
    if (!rc)
        rc = gbose__pg_query(g->c, "DELETE FROM pending WHERE key = ANY($1::int8[])", &args, NULL, err);
    gbose__pg_clear(&rows);
    gbose__pg_clear(&keys);
    return rc;
}

int gbose__pg_close_due(struct gbose__pg_group *g, struct gbose__change *change, gbose_error *err)
{
    struct gbose__close_change *it = &change->of.close;
    struct gbose__pg *c = g->c;
    struct gbose__pg_closings all = {0};
    PGresult *r;
    int rc = GBOSE__PG_WITH(
        "SELECT key, deadline, day, deferred, activated FROM pending WHERE bandit = $1::int4"
        " AND deadline <= $2::int8 ORDER BY deadline, key LIMIT $3::int8 FOR UPDATE SKIP LOCKED",
        &r, it->bandit, it->now, (int64_t)it->most);

    it->closed = 0;
    if (rc)
        return rc;
    for (int i = 0; i < PQntuples(r) && !rc; i++) {
        struct gbose__pg_event event = {.key = gbose__pg_int(r, i, 0),
                                        .day = (int32_t)gbose__pg_int(r, i, 2),
                                        .deferred = gbose__pg_int(r, i, 3) != 0,
                                        .activated = gbose__pg_int(r, i, 4) != 0};

        rc = gbose__pg_closing_add(&all, &event, it->now, it->aggregate, it->default_reward, err);
    }
    PQclear(r);
    if (!rc)
        rc = gbose__pg_close_all(g, &all, err);
    it->closed = all.n;
    free(all.at);
    if (!rc)
        rc = GBOSE__PG_WITH("SELECT deadline FROM pending WHERE bandit = $1::int4 ORDER BY deadline LIMIT 1",
                            &r, it->bandit);
    if (rc)
        return rc;
    it->next = PQntuples(r) ? gbose__pg_int(r, 0, 0) : INT64_MAX;
    PQclear(r);
    return GBOSE_OK;
}
