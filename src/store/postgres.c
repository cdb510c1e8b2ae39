/* The store in PostgreSQL: opening, and transactions.
 *
 * Many servers write at once. What must have an order gets it from a row that is locked until the commit: a
 * bandit's outcomes are numbered under the lock of its row in `numbering`, taken last, so that they become
 * visible in the order of their numbers. All other locks are taken in the order of keys, and then gates
 * (postgres_run.c); should two transactions wait for each other all the same, PostgreSQL ends one, and it is made again. */
#include "store/postgres_inner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "core/error.h"

#define LONG_PATIENCE 120000 /* milliseconds that the deletion of a bandit or a unit may take */
#define ATTEMPTS 8           /* of one transaction, when it meets others */
#define CAREFUL 2 /* after so many it passes the gates first, and cannot meet those who close events */

/* ---- transactions ---- */

struct gbose__pg_tally *gbose__pg_tally_of(struct gbose__pg_group *g, uint32_t bandit, gbose_error *err)
{
    struct gbose__pg_tally *more;

    for (size_t i = 0; i < g->n_tally; i++)
        if (g->tally[i].bandit == bandit)
            return &g->tally[i];
    more = realloc(g->tally, (g->n_tally + 1) * sizeof *more);
    if (!more) {
        gbose__no_memory(err);
        return NULL;
    }
    g->tally = more;
    more += g->n_tally++;
    *more = (struct gbose__pg_tally){.bandit = bandit};
    return more;
}

static int by_bandit(const void *a, const void *b)
{
    uint32_t x = ((const struct gbose__pg_tally *)a)->bandit, y = ((const struct gbose__pg_tally *)b)->bandit;

    return (x > y) - (x < y);
}

/* What the transaction adds to the counts: rows of this server's stream, so that servers do not wait for each
 * other. Columns are arrays: the bandits, and each of the counts; the bandits and numbers of leases. */
#define TALLY_COLUMNS (1 + GBOSE__PG_COUNTS + 2)
static int save_tally(struct gbose__pg_group *g, struct gbose__pg_bytes *column,
                      struct gbose__pg_batch *batch, gbose_error *err)
{
    struct gbose__pg_bytes *used = column + 1 + GBOSE__PG_COUNTS;
    struct gbose__pg_args *args;
    int bad = 0;

    if (g->n_tally)
        qsort(g->tally, g->n_tally, sizeof *g->tally, by_bandit);
    for (size_t i = 0; i < g->n_tally; i++) {
        const struct gbose__pg_tally *t = &g->tally[i];
        int any = 0;

        for (int k = 0; k < GBOSE__PG_COUNTS; k++)
            any |= t->count[k] != 0;
        if (t->used) {
            gbose__pg_add_int(&used[0], t->bandit);
            gbose__pg_add_int(&used[1], (int64_t)t->used);
        }
        if (!any)
            continue;
        gbose__pg_add_int(&column[0], t->bandit);
        for (int k = 0; k < GBOSE__PG_COUNTS; k++)
            gbose__pg_add_int(&column[1 + k], t->count[k]);
    }
    if (column[0].size) {
        args = gbose__pg_batch_add(
            batch,
            "INSERT INTO tally SELECT b, $1::int4, e, p, r, d, u, w, l FROM unnest($2::int4[], $3::int8[], "
            "$4::int8[],"
            " $5::int8[], $6::int8[], $7::int8[], $8::int8[], $9::int8[]) AS t(b, e, p, r, d, u, w, l) ORDER "
            "BY b"
            " ON CONFLICT (bandit, stream) DO UPDATE SET events = tally.events + excluded.events,"
            " pending = tally.pending + excluded.pending, rewarded = tally.rewarded + excluded.rewarded,"
            " defaulted = tally.defaulted + excluded.defaulted, unused = tally.unused + excluded.unused,"
            " rewards = tally.rewards + excluded.rewards, late = tally.late + excluded.late");
        gbose__pg_arg_int(args, atomic_load(&g->store->stream));
        for (int k = 0; k <= GBOSE__PG_COUNTS; k++)
            gbose__pg_arg_text(args, gbose__pg_close(&column[k]));
    }
    if (used[0].size) { /* numbers that were not leased, which is how a store is filled from another one */
        args = gbose__pg_batch_add(
            batch, "UPDATE lease SET next_number = t.n FROM unnest($1::int4[], $2::int8[]) AS t(b, n)"
                   " WHERE bandit = t.b AND next_number < t.n");
        for (int k = 0; k < 2; k++)
            gbose__pg_arg_text(args, gbose__pg_close(&used[k]));
    }
    for (int k = 0; k < TALLY_COLUMNS; k++)
        bad |= column[k].bad;
    return bad ? gbose__no_memory(err) : GBOSE_OK;
}

static int is_of_events(const struct gbose__change *change)
{
    return change->kind == GBOSE__ADD_EVENT || change->kind == GBOSE__ADD_REWARD ||
           change->kind == GBOSE__ACTIVATE_EVENT;
}

static int apply_one(struct gbose__pg_group *g, struct gbose__change *change, gbose_error *err)
{
    static gbose__pg_change *const does[] = {
        [GBOSE__PUT_BANDIT] = gbose__pg_put_bandit,
        [GBOSE__DROP_BANDIT] = gbose__pg_drop_bandit,
        [GBOSE__ADD_GENERATION] = gbose__pg_add_generation,
        [GBOSE__SET_READY] = gbose__pg_set_ready,
        [GBOSE__WANT_GENERATION] = gbose__pg_want_generation,
        [GBOSE__DROP_GENERATION] = gbose__pg_drop_generation,
        [GBOSE__ADD_SNAPSHOT] = gbose__pg_add_snapshot,
        [GBOSE__LEASE_NUMBERS] = gbose__pg_lease_numbers,
        [GBOSE__CLOSE_DUE] = gbose__pg_close_due,
        [GBOSE__ERASE_UNIT] = gbose__pg_erase_unit,
        [GBOSE__RETAIN] = gbose__pg_retain,
        [GBOSE__ADD_KEY] = gbose__pg_add_key,
        [GBOSE__DROP_KEY] = gbose__pg_drop_key,
    };

    int long_one = change->kind == GBOSE__DROP_BANDIT || change->kind == GBOSE__ERASE_UNIT;
    int rc = long_one ? gbose__pg_exec(g->c, "SET LOCAL statement_timeout = '120s'", NULL, err) : GBOSE_OK;

    change->result = GBOSE__DONE;
    g->c->patience = long_one ? LONG_PATIENCE : 0;
    if (!rc)
        rc = does[change->kind](g, change, err);
    g->c->patience = 0;
    return rc;
}

/* All changes, in the transaction that is open. Decisions and rewards that follow each other are made together. */
static int apply_all(struct gbose__pg_group *g, struct gbose__change *changes, size_t n, gbose_error *err)
{
    uint32_t made = 0;
    int rc = GBOSE_OK;

    for (size_t i = 0; i < n && !rc;) {
        size_t end = i;

        while (end < n && is_of_events(&changes[end]) && !changes[end].chained)
            end++;
        if (end > i) {
            rc = gbose__pg_apply_events(g, changes + i, end - i, err);
            i = end;
            continue;
        }
        if (i && changes[i].chained && changes[i - 1].result != GBOSE__DONE) {
            changes[i].result = changes[i - 1].result;
            i++;
            continue;
        }
        if (changes[i].kind == GBOSE__ADD_GENERATION && !changes[i].of.generation.bandit)
            changes[i].of.generation.bandit = made;
        if (changes[i].kind == GBOSE__LEASE_NUMBERS && !changes[i].of.lease.bandit)
            changes[i].of.lease.bandit = made;
        rc = gbose__pg_runs_write(g, err);
        if (!rc)
            rc = is_of_events(&changes[i]) ? gbose__pg_apply_events(g, changes + i, 1, err)
                                           : apply_one(g, &changes[i], err);
        if (changes[i].kind == GBOSE__PUT_BANDIT)
            made = changes[i].of.bandit.id;
        i++;
    }
    return rc;
}

/* Days of new events must have partitions before the transaction begins. */
static int make_days(struct gbose__pg_store *store, const struct gbose__change *changes, size_t n,
                     gbose_error *err)
{
    for (size_t i = 0; i < n; i++) {
        int32_t day, *more;
        size_t k = 0;
        int rc;

        if (changes[i].kind != GBOSE__ADD_EVENT)
            continue;
        day = gbose__pg_day(changes[i].of.event.time);
        while (k < store->n_days && store->day[k] != day)
            k++;
        if (k < store->n_days)
            continue;
        rc = gbose__pg_make_days(&store->writer, &day, 1, err);
        if (rc)
            return rc;
        more = realloc(store->day, (store->n_days + 1) * sizeof *more);
        if (!more)
            return gbose__no_memory(err);
        store->day = more;
        more[store->n_days++] = day;
    }
    return GBOSE_OK;
}

/* Begin; and which bandits are there? */
static int begin(struct gbose__pg_group *g, const struct gbose__change *changes, size_t n, int careful,
                 gbose_error *err)
{
    struct gbose__pg_batch batch = {0};
    struct gbose__pg_bytes ids = {0};
    int rc = gbose__pg_bandits_asked(g, changes, n, &ids, err);

    gbose__pg_batch_add(&batch, "BEGIN");
    if (!rc)
        rc = gbose__pg_gate_add(g, GBOSE__PG_ERASING, &batch, err);
    if (!rc && careful)
        rc = gbose__pg_gate_add(g, GBOSE__PG_CLOSING, &batch, err);
    if (ids.size)
        gbose__pg_arg_text(gbose__pg_batch_add(&batch, gbose__pg_bandits_sql), gbose__pg_close(&ids));
    if (!rc && ids.bad)
        rc = gbose__no_memory(err);
    if (!rc)
        rc = gbose__pg_batch_run(g->c, &batch, err);
    if (!rc && ids.size)
        gbose__pg_bandits_found(g, batch.result[batch.n - 1]);
    gbose__pg_batch_clear(&batch);
    gbose__pg_clear(&ids);
    return rc;
}

/* A commit was sent and not answered: it may have happened. Most often the database is back in a moment, and can tell. */
static int ask_what_happened(struct gbose__pg_store *store, gbose_error *err)
{
    int happened = 0;

    for (int64_t until = gbose__pg_clock() + store->home.patience; gbose__pg_clock() < until;) {
        struct timespec pause = {0, 100 * 1000000};

        if (!gbose__pg_settle(&store->base, &happened, err))
            return happened
                       ? GBOSE_OK
                       : gbose__fail(err, GBOSE__EAWAY, "the database went away before it had committed");
        nanosleep(&pause, NULL);
    }
    return gbose__fail(err, GBOSE__EDOUBT, "the database went away while it committed");
}

/* What is left to be written, and the commit. */
static int commit(struct gbose__pg_group *g, gbose_error *err)
{
    struct gbose__pg_bytes column[TALLY_COLUMNS] = {{0}};
    struct gbose__pg_store *store = g->store;
    struct gbose__pg_batch batch = {0};
    struct gbose__pg_args *args;
    int rc = gbose__pg_runs_add(g, &batch, err);

    if (!rc)
        rc = gbose__pg_forget_add(g, &batch, err);
    if (!rc)
        rc = save_tally(g, column, &batch, err);
    args = gbose__pg_batch_add(
        &batch, "INSERT INTO done VALUES ($1::int8, $2::int8, now()) ON CONFLICT (token) DO UPDATE"
                " SET number = excluded.number, time = excluded.time");
    gbose__pg_arg_int(args, store->token);
    gbose__pg_arg_int(args, (int64_t)++store->group);
    gbose__pg_batch_add(&batch, "COMMIT");
    if (!rc) {
        store->doubt = 1;
        store->doubt_pid = g->c->pid;
        store->doubt_since = g->c->since;
        g->c->warned = 0;
        rc = gbose__pg_batch_run(g->c, &batch, err);
        if (!rc && strcmp(PQcmdStatus(batch.result[batch.n - 1]), "COMMIT"))
            rc =
                gbose__fail(err, GBOSE__ESTORE, "cannot write to the store: the transaction was rolled back");
        if (!rc && g->c->warned) {
            gbose__pg_disconnect(g->c);
            rc = gbose__fail(err, GBOSE__EAWAY, "the database did not wait for its standby");
        }
        if (rc == GBOSE__EAWAY)
            rc = ask_what_happened(store, err);
    }
    gbose__pg_batch_clear(&batch);
    for (int k = 0; k < TALLY_COLUMNS; k++)
        gbose__pg_clear(&column[k]);
    return rc;
}

/* The session of a transaction in doubt may not know yet that nobody listens. */
static int end_session(struct gbose__pg_store *store, gbose_error *err)
{
    struct gbose__pg *c = &store->writer;
    PGresult *r;
    int ended,
        rc = GBOSE__PG_WITH("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1::int4"
                            " AND (extract(epoch FROM backend_start) * 1000000)::int8 = $2::int8",
                            &r, store->doubt_pid, store->doubt_since);

    if (rc)
        return rc == GBOSE__PG_AGAIN ? GBOSE__EAWAY : rc;
    ended = !PQntuples(r);
    PQclear(r);
    return ended ? GBOSE_OK : gbose__fail(err, GBOSE__EAWAY, "the transaction is not ended yet");
}

int gbose__pg_settle(struct gbose__store *base, int *happened, gbose_error *err)
{
    struct gbose__pg_store *store = (struct gbose__pg_store *)base;
    struct gbose__pg *c = &store->writer;
    PGresult *r;
    int rc;

    if (!store->doubt)
        return gbose__fail(err, GBOSE_EINVAL, "no transaction is in doubt");
    /* It must not commit after we have looked. */
    rc = end_session(store, err);
    if (rc)
        return rc;
    /* A session that is ended while it waits for a synchronous standby commits without it. Only a commit that comes after
     * it, and that the standby has, tells that it is there, too: so looking is a change. */
    store->doubt_pid = c->pid;
    store->doubt_since = c->since;
    c->warned = 0;
    rc = GBOSE__PG_WITH("UPDATE done SET time = now() WHERE token = $1::int8 RETURNING number", &r,
                        store->token);
    if (!rc && c->warned) {
        PQclear(r);
        gbose__pg_disconnect(c);
        rc = gbose__fail(err, GBOSE__EAWAY, "the database did not wait for its standby");
    }
    if (rc)
        return rc == GBOSE__PG_AGAIN ? GBOSE__EAWAY : rc;
    *happened = PQntuples(r) && (uint64_t)gbose__pg_int(r, 0, 0) == store->group;
    PQclear(r);
    store->doubt = 0;
    return GBOSE_OK;
}

static int attempt(struct gbose__pg_store *store, struct gbose__change *changes, size_t n, int careful,
                   gbose_error *err)
{
    struct gbose__pg_group g = {.store = store, .c = &store->writer, .changes = changes, .n = n};
    int rc = gbose__pg_connect(&store->writer, err);

    if (!rc)
        rc = gbose__pg_foreign(&store->home, err);
    if (!rc && store->doubt) /* nobody needs to know what became of it, but it may hold locks */
        rc = end_session(store, err);
    if (!rc)
        rc = make_days(store, changes, n, err);
    if (!rc)
        rc = begin(&g, changes, n, careful, err);
    if (!rc)
        rc = apply_all(&g, changes, n, err);
    if (!rc)
        rc = commit(&g, err);
    if (rc != GBOSE__EDOUBT)
        store->doubt = 0;
    if (rc && store->writer.conn && PQtransactionStatus(store->writer.conn) != PQTRANS_IDLE) {
        gbose_error ignored;

        gbose__pg_exec(&store->writer, "ROLLBACK", NULL, &ignored);
    }
    gbose__pg_group_clear(&g);
    return rc;
}

static int postgres_apply(struct gbose__store *base, struct gbose__change *changes, size_t n,
                          gbose_error *err)
{
    struct gbose__pg_store *store = (struct gbose__pg_store *)base;
    struct gbose__change *asked = malloc(n * sizeof *asked + 1);
    int rc = GBOSE__PG_AGAIN;

    if (!asked)
        return gbose__no_memory(err);
    if (n)
        memcpy(asked, changes, n * sizeof *asked);
    for (int i = 0; i < ATTEMPTS && rc == GBOSE__PG_AGAIN; i++) {
        struct timespec pause = {0, i * 2000000};

        if (i) { /* what it has changed in the changes is undone, and days may have gone */
            if (n)
                memcpy(changes, asked, n * sizeof *asked);
            store->n_days = 0;
            nanosleep(&pause, NULL);
        }
        rc = attempt(store, changes, n, i >= CAREFUL, err);
    }
    free(asked);
    atomic_store(&store->home.away, rc == GBOSE__EAWAY || rc == GBOSE__EDOUBT);
    if (rc == GBOSE__PG_AGAIN)
        err->code = rc = GBOSE__ESTORE;
    return rc;
}

/* ---- opening ---- */

static int postgres_backup(struct gbose__store *base, const char *path, gbose_error *err)
{
    (void)base;
    (void)path;
    return gbose__fail(
        err, GBOSE__ESTORE,
        "a store in PostgreSQL is backed up by its own tools: pg_dump --schema=gbose, or pg_basebackup");
}

static void postgres_close(struct gbose__store *base)
{
    struct gbose__pg_store *store = (struct gbose__pg_store *)base;
    struct gbose__pg *c = &store->keeper;
    gbose_error ignored, *err = &ignored;

    if (c->conn && atomic_load(&store->stream)) /* others need not wait until it is forgotten */
        GBOSE__PG_WITH("DELETE FROM server WHERE token = $1::int8", NULL, store->token);
    gbose__pg_disconnect(&store->writer);
    gbose__pg_disconnect(&store->keeper);
    memset(store->secret, 0, sizeof store->secret);
    free(store->home.url);
    free(store->day);
    free(store->led);
    free(store);
}

static int prepare(struct gbose__pg_store *store, int create, int beside, gbose_error *err)
{
    struct gbose__pg *c = &store->writer;
    PGresult *r;
    size_t size;
    int version = 0, rc = gbose__pg_schema_version(c, &version, err);

    if (!rc && !version) {
        rc = create ? gbose__pg_schema_make(c, 1, &version, err)
                    : gbose__fail(err, GBOSE__EABSENT,
                                  "there is no store in this database; make one with: gbose store init URL");
        version = GBOSE__PG_VERSION;
    }
    if (!rc && version < GBOSE__PG_VERSION)
        rc = gbose__fail(err, GBOSE_EVERSION,
                         "the store is of version %d, and this gbose works on %d: gbose store migrate URL",
                         version, GBOSE__PG_VERSION);
    if (!rc)
        rc = gbose__pg_query(c, "SELECT value FROM meta WHERE name = 'secret'", NULL, &r, err);
    if (rc)
        return rc;
    if (PQntuples(r) == 1 && gbose__pg_blob(r, 0, 0, &size) && size == sizeof store->secret)
        memcpy(store->secret, gbose__pg_blob(r, 0, 0, &size), size);
    else
        rc = gbose__fail(err, GBOSE__ECORRUPT, "the store is damaged: its secret is not there");
    PQclear(r);
    return rc ? rc : gbose__pg_history_adopt(c, !beside, err);
}

int gbose__postgres_open(struct gbose__store **out, const char *url, int create, int beside, gbose_error *err)
{
    struct gbose__pg_store *store = calloc(1, sizeof *store);
    int rc;

    if (!store)
        return gbose__no_memory(err);
    store->writer.home = store->keeper.home = &store->home;
    store->writer.seeks = store->keeper.seeks = 1;
    rc = gbose__pg_home_init(&store->home, url, err);
    if (!rc && getrandom(&store->token, sizeof store->token, 0) != sizeof store->token)
        rc = gbose__fail(err, GBOSE__ESTORE, "cannot get random bytes from the system");
    if (!rc)
        rc = prepare(store, create, beside, err);
    if (rc) {
        postgres_close(&store->base);
        return rc == GBOSE__PG_AGAIN ? GBOSE__ESTORE : rc;
    }
    store->base.close = postgres_close;
    store->base.apply = postgres_apply;
    store->base.view = gbose__pg_view;
    store->base.backup = postgres_backup;
    store->base.secret = store->secret;
    store->base.fleet = &gbose__pg_fleet;
    store->base.packs = 1;
    *out = &store->base;
    return GBOSE_OK;
}
