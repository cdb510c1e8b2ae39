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

int gbose__pg_rewards_ask(struct gbose__pg_closings *all, struct gbose__pg_batch *batch, gbose_error *err)
{
    struct gbose__pg_args *args;

    for (size_t i = 0; i < all->n; i++) {
        gbose__pg_add_int(&all->days, all->at[i].event.day);
        gbose__pg_add_int(&all->events, all->at[i].event.key);
    }
    all->asked = batch->n;
    args = gbose__pg_batch_add(
        batch, "SELECT t.ord, r.value FROM unnest($1::int4[], $2::int8[]) WITH ORDINALITY AS t(d, e, ord)"
               " JOIN reward r ON r.day = t.d AND r.event = t.e WHERE NOT r.late ORDER BY r.number");
    gbose__pg_arg_text(args, gbose__pg_close(&all->days));
    gbose__pg_arg_text(args, gbose__pg_close(&all->events));
    return all->days.bad || all->events.bad ? gbose__no_memory(err) : GBOSE_OK;
}

void gbose__pg_rewards_take(struct gbose__pg_closings *all, const struct gbose__pg_batch *batch)
{
    const PGresult *r = batch->result[all->asked];

    for (int i = 0; i < PQntuples(r); i++)
        gbose__aggregate_add(&all->at[gbose__pg_int(r, i, 0) - 1].rewards, gbose__pg_double(r, i, 1));
}

void gbose__pg_closings_clear(struct gbose__pg_closings *all)
{
    free(all->at);
    gbose__pg_clear(&all->days);
    gbose__pg_clear(&all->events);
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

int gbose__pg_forget_add(struct gbose__pg_group *g, struct gbose__pg_batch *batch, gbose_error *err)
{
    if (g->activated.size)
        gbose__pg_arg_text(gbose__pg_batch_add(batch, "DELETE FROM activated WHERE event = ANY($1::int8[])"),
                           gbose__pg_close(&g->activated));
    if (g->closed.size)
        gbose__pg_arg_text(gbose__pg_batch_add(batch, "DELETE FROM pending WHERE last = ANY($1::int8[])"
                                                      " AND first = last"),
                           gbose__pg_close(&g->closed));
    return g->activated.bad || g->closed.bad ? gbose__no_memory(err) : GBOSE_OK;
}

int gbose__pg_close_all(struct gbose__pg_group *g, struct gbose__pg_closings *all, gbose_error *err)
{
    struct gbose__pg_bytes rows = {0};
    int rc;

    if (!all->n)
        return GBOSE_OK;
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
        if (it->event.activated)
            gbose__pg_add_int(&g->activated, it->event.key);
        if (it->event.open)
            gbose__pg_add_int(&g->closed, it->event.key);
    }
    if (!rc)
        rc = gbose__pg_copy(g->c, "COPY outcome FROM STDIN (FORMAT binary)", &rows, err);
    gbose__pg_clear(&rows);
    return rc;
}

/* ---- what is due ---- */

/* A run that was looked at. */
struct run {
    int64_t last;
    int64_t next; /* the earliest deadline of an event of it that stays open; INT64_MAX: there is none */
};

static int by_last(const void *a, const void *b)
{
    int64_t x = ((const struct run *)a)->last, y = ((const struct run *)b)->last;

    return (x > y) - (x < y);
}

/* Runs in which something is due, with as many events as may be closed (and up to a run's more), and those of them that are open.
 * A run without any is there with nulls. */
static const char due_sql[] =
    "SELECT r.last, e.key, e.deadline, e.day, e.flags & 1, e.activated FROM (SELECT last, first, day,"
    " sum(last - first + 1) OVER (ORDER BY deadline, last) - (last - first + 1) AS before"
    " FROM (SELECT * FROM pending WHERE bandit = $1::int4 AND deadline <= $2::int8 ORDER BY deadline, last"
    " LIMIT $3::int8) AS due) AS r LEFT JOIN LATERAL (SELECT e.key, e.deadline, e.day, e.flags,"
    " a.event IS NOT NULL AS activated FROM event e LEFT JOIN outcome o ON o.event = e.key"
    " LEFT JOIN activated a ON a.event = e.key"
    " WHERE e.day = r.day AND e.key BETWEEN r.first AND r.last AND o.event IS NULL) AS e ON true"
    " WHERE r.before < $3::int8 ORDER BY e.deadline, e.key";

static int find_due(struct gbose__pg_group *g, const struct gbose__close_change *it, PGresult **out,
                    gbose_error *err)
{
    struct gbose__pg_batch batch = {0};
    int rc = gbose__pg_gate_add(g, GBOSE__PG_CLOSING, &batch, err);
    struct gbose__pg_args *args = gbose__pg_batch_add(&batch, due_sql);

    gbose__pg_arg_int(args, it->bandit);
    gbose__pg_arg_int(args, it->now);
    gbose__pg_arg_int(args, (int64_t)it->most);
    if (!rc)
        rc = gbose__pg_batch_run(g->c, &batch, err);
    if (!rc) {
        *out = batch.result[batch.n - 1];
        batch.result[batch.n - 1] = NULL;
    }
    gbose__pg_batch_clear(&batch);
    return rc;
}

/* The runs that a result of due_sql lists, each once, in order. NULL: no memory. */
static struct run *runs_of(const PGresult *due, size_t *n_runs, gbose_error *err)
{
    struct run *runs = malloc((size_t)PQntuples(due) * sizeof *runs + 1);
    size_t n = 0;

    if (!runs) {
        gbose__no_memory(err);
        return NULL;
    }
    for (int i = 0; i < PQntuples(due); i++)
        runs[i] = (struct run){gbose__pg_int(due, i, 0), INT64_MAX};
    qsort(runs, (size_t)PQntuples(due), sizeof *runs, by_last);
    for (int i = 0; i < PQntuples(due); i++)
        if (!n || runs[n - 1].last != runs[i].last)
            runs[n++] = runs[i];
    *n_runs = n;
    return runs;
}

/* Runs that have been looked at go, or wait for their next event. */
static int save_runs(struct gbose__pg_group *g, const struct run *runs, size_t n, gbose_error *err)
{
    struct gbose__pg_bytes gone = {0}, last = {0}, next = {0};
    struct gbose__pg_batch batch = {0};
    struct gbose__pg_args *args;
    int rc;

    for (size_t i = 0; i < n; i++)
        if (runs[i].next == INT64_MAX) {
            gbose__pg_add_int(&gone, runs[i].last);
        } else {
            gbose__pg_add_int(&last, runs[i].last);
            gbose__pg_add_int(&next, runs[i].next);
        }
    if (gone.size)
        gbose__pg_arg_text(gbose__pg_batch_add(&batch, "DELETE FROM pending WHERE last = ANY($1::int8[])"),
                           gbose__pg_close(&gone));
    if (last.size) {
        args = gbose__pg_batch_add(
            &batch, "UPDATE pending p SET deadline = t.next FROM unnest($1::int8[], $2::int8[])"
                    " AS t(last, next) WHERE p.last = t.last");
        gbose__pg_arg_text(args, gbose__pg_close(&last));
        gbose__pg_arg_text(args, gbose__pg_close(&next));
    }
    rc = gone.bad || last.bad || next.bad ? gbose__no_memory(err) : gbose__pg_batch_run(g->c, &batch, err);
    gbose__pg_batch_clear(&batch);
    gbose__pg_clear(&gone);
    gbose__pg_clear(&last);
    gbose__pg_clear(&next);
    return rc;
}

/* Close events whose rewards have not been read yet. */
static int gather_and_close(struct gbose__pg_group *g, struct gbose__pg_closings *all, gbose_error *err)
{
    struct gbose__pg_batch batch = {0};
    int rc = gbose__pg_rewards_ask(all, &batch, err);

    if (!rc)
        rc = gbose__pg_batch_run(g->c, &batch, err);
    if (!rc)
        gbose__pg_rewards_take(all, &batch);
    gbose__pg_batch_clear(&batch);
    return rc ? rc : gbose__pg_close_all(g, all, err);
}

/* Close what is due in some runs. *looked is how many they were. */
static int close_some(struct gbose__pg_group *g, struct gbose__close_change *it, size_t *looked,
                      gbose_error *err)
{
    struct gbose__pg_closings all = {0};
    PGresult *r = NULL;
    struct run *runs = NULL;
    int rc = find_due(g, it, &r, err);

    if (!rc && !(runs = runs_of(r, looked, err)))
        rc = GBOSE_ENOMEM;
    for (int i = 0; !rc && i < PQntuples(r) && !PQgetisnull(r, i, 1); i++) {
        struct gbose__pg_event event = {.key = gbose__pg_int(r, i, 1),
                                        .deadline = gbose__pg_int(r, i, 2),
                                        .day = (int32_t)gbose__pg_int(r, i, 3),
                                        .deferred = gbose__pg_int(r, i, 4) != 0,
                                        .activated = gbose__pg_int(r, i, 5) != 0};
        struct run key = {gbose__pg_int(r, i, 0), 0}, *run;

        if (all.n < it->most && event.deadline <= it->now) {
            rc = gbose__pg_closing_add(&all, &event, it->now, it->aggregate, it->default_reward, err);
            continue;
        }
        run = bsearch(&key, runs, *looked, sizeof *runs, by_last);
        if (event.deadline < run->next)
            run->next = event.deadline;
    }
    PQclear(r);
    if (!rc && all.n)
        rc = gather_and_close(g, &all, err);
    if (!rc && *looked)
        rc = save_runs(g, runs, *looked, err);
    it->closed = all.n;
    gbose__pg_closings_clear(&all);
    free(runs);
    return rc;
}

int gbose__pg_close_due(struct gbose__pg_group *g, struct gbose__change *change, gbose_error *err)
{
    struct gbose__close_change *it = &change->of.close;
    struct gbose__pg *c = g->c;
    size_t looked = 0;
    PGresult *r;
    int rc;

    do /* all events of the first runs may have been closed by their rewards */
        rc = close_some(g, it, &looked, err);
    while (!rc && looked && !it->closed && it->most);
    if (!rc)
        rc = GBOSE__PG_WITH("SELECT deadline FROM pending WHERE bandit = $1::int4 ORDER BY deadline LIMIT 1",
                            &r, it->bandit);
    if (rc)
        return rc;
    it->next = PQntuples(r) ? gbose__pg_int(r, 0, 0) : INT64_MAX;
    PQclear(r);
    return GBOSE_OK;
}
