/* The store in PostgreSQL: opening, the schema, transactions.
 *
 * Many servers write at once. What must have an order gets it from a row that is locked until the commit: a
 * bandit's outcomes are numbered under the lock of its row in `numbering`, taken last, so that they become
 * visible in the order of their numbers. All other locks are taken in the order of keys; should two
 * transactions wait for each other all the same, PostgreSQL ends one, and it is made again. */
#include "store/postgres_inner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "core/error.h"

#define PATIENCE 5000 /* milliseconds for an answer, unless GBOSE_STORE_PATIENCE says otherwise */
#define ATTEMPTS 8    /* of one transaction, when it meets others */

/* Migration i turns version i into version i + 1. Never changed once released; new ones are added at the end.
 *
 * `day` is that of the decision, in days since 1970: events and rewards are partitioned by it. An event's key
 * is bandit << 40 | number, and so is an outcome's. Names and bodies are bytes, as callers sent them. */
static const char *const migrations[] = {
    "CREATE SCHEMA gbose;"
    "CREATE TABLE gbose.meta (name text PRIMARY KEY, value bytea NOT NULL);"
    "CREATE TABLE gbose.version (one boolean PRIMARY KEY DEFAULT true CHECK (one), number int8 NOT NULL);"
    "INSERT INTO gbose.version (number) VALUES (1);"
    "CREATE TABLE gbose.bandit (id int4 GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL UNIQUE,"
    " settings text NOT NULL, active int8 NOT NULL, created int8 NOT NULL, sum int8 NOT NULL);"
    "CREATE TABLE gbose.generation (bandit int4 NOT NULL, number int8 NOT NULL, spec text NOT NULL, schema "
    "text,"
    " dim int8 NOT NULL, n_round int8 NOT NULL, ready boolean NOT NULL, wanted boolean NOT NULL,"
    " created int8 NOT NULL, sum int8 NOT NULL, PRIMARY KEY (bandit, number));"
    "CREATE TABLE gbose.snapshot (bandit int4 NOT NULL, generation int8 NOT NULL, learned int8 NOT NULL,"
    " keep boolean NOT NULL, bytes bytea NOT NULL, sum int8 NOT NULL, PRIMARY KEY (bandit, generation, "
    "learned));"
    "CREATE TABLE gbose.live (bandit int4 NOT NULL, generation int8 NOT NULL, learned int8 NOT NULL,"
    " bytes bytea NOT NULL, sum int8 NOT NULL, PRIMARY KEY (bandit, generation));"
    "CREATE TABLE gbose.event (day int4 NOT NULL, key int8 NOT NULL, name bytea, time int8 NOT NULL,"
    " deadline int8 NOT NULL, generation int8 NOT NULL, learned int8 NOT NULL, flags int4 NOT NULL,"
    " arm int8 NOT NULL, pmf bytea NOT NULL, shadow bytea, unit bytea, body bytea NOT NULL, sum int8 NOT "
    "NULL,"
    " PRIMARY KEY (key, day)) PARTITION BY LIST (day);"
    "CREATE INDEX event_unit ON gbose.event (unit) WHERE unit IS NOT NULL;"
    "CREATE SEQUENCE gbose.reward_number;"
    "CREATE TABLE gbose.reward (day int4 NOT NULL, event int8 NOT NULL, id bytea NOT NULL,"
    " number int8 NOT NULL DEFAULT nextval('gbose.reward_number'), value float8 NOT NULL, time int8 NOT NULL,"
    " late boolean NOT NULL, sum int8 NOT NULL, PRIMARY KEY (event, id, day)) PARTITION BY LIST (day);"
    "CREATE TABLE gbose.named (bandit int4 NOT NULL, name bytea NOT NULL, event int8 NOT NULL, day int4 NOT "
    "NULL,"
    " PRIMARY KEY (bandit, name));"
    "CREATE INDEX named_day ON gbose.named USING brin (day);"
    "CREATE TABLE gbose.pending (key int8 PRIMARY KEY, bandit int4 NOT NULL, deadline int8 NOT NULL, day "
    "int4 NOT NULL,"
    " deferred boolean NOT NULL, activated boolean NOT NULL) WITH (autovacuum_vacuum_scale_factor = 0.02);"
    "CREATE INDEX pending_due ON gbose.pending (bandit, deadline, key);"
    "CREATE TABLE gbose.outcome (key int8 PRIMARY KEY, event int8 NOT NULL UNIQUE, day int4 NOT NULL,"
    " reward float8 NOT NULL, why int2 NOT NULL, time int8 NOT NULL, activated boolean NOT NULL, sum int8 "
    "NOT NULL);"
    "CREATE INDEX outcome_day ON gbose.outcome USING brin (day);"
    "CREATE TABLE gbose.tally (bandit int4 NOT NULL, stream int4 NOT NULL, events int8 NOT NULL, pending "
    "int8 NOT NULL,"
    " rewarded int8 NOT NULL, defaulted int8 NOT NULL, unused int8 NOT NULL, rewards int8 NOT NULL, late "
    "int8 NOT NULL,"
    " PRIMARY KEY (bandit, stream)) WITH (fillfactor = 50);"
    "CREATE TABLE gbose.numbering (bandit int4 PRIMARY KEY, outcomes int8 NOT NULL, dropped int8 NOT NULL,"
    " retained int8 NOT NULL) WITH (fillfactor = 50);"
    "CREATE TABLE gbose.lease (bandit int4 PRIMARY KEY, next_number int8 NOT NULL) WITH (fillfactor = 50);"
    "CREATE TABLE gbose.key (id text PRIMARY KEY, hash bytea NOT NULL, roles int8 NOT NULL, bandit text,"
    " note text NOT NULL, created int8 NOT NULL, sum int8 NOT NULL);"
    "CREATE TABLE gbose.server (stream int4 PRIMARY KEY, token int8 NOT NULL, name text NOT NULL, report "
    "text NOT NULL,"
    " started timestamptz NOT NULL, seen timestamptz NOT NULL);"
    "CREATE TABLE gbose.gone (day int4 PRIMARY KEY);",
};
#define VERSION ((int)(sizeof migrations / sizeof *migrations))

/* ---- the schema ---- */

/* The version of the schema: 0 if there is none. */
static int read_version(struct gbose__pg *c, int *version, gbose_error *err)
{
    PGresult *r;
    int rc = gbose__pg_connect(c, err);

    if (!rc)
        rc = gbose__pg_exec(
            c,
            "SELECT count(*) FILTER (WHERE nspname = 'gbose'),"
            " current_setting('server_version_num')::int, pg_encoding_to_char(encoding),"
            " to_regclass('gbose.meta') IS NOT NULL"
            " FROM pg_namespace, pg_database WHERE datname = current_database() GROUP BY encoding",
            &r, err);
    if (rc)
        return rc;
    if (atoi(PQgetvalue(r, 0, 1)) < 140000)
        rc = gbose__fail(err, GBOSE_EVERSION, "this PostgreSQL is too old: 14 or newer is needed");
    else if (strcmp(PQgetvalue(r, 0, 2), "UTF8"))
        rc = gbose__fail(err, GBOSE_EINVAL, "the database's encoding is %s: make one with UTF8",
                         PQgetvalue(r, 0, 2));
    else if (atoi(PQgetvalue(r, 0, 0)) && strcmp(PQgetvalue(r, 0, 3), "t"))
        rc = gbose__fail(err, GBOSE__ECORRUPT,
                         "the schema gbose of this database is not a store of gbose, or is damaged");
    *version = atoi(PQgetvalue(r, 0, 0));
    PQclear(r);
    if (rc || !*version)
        return rc;
    rc = gbose__pg_exec(c, "SELECT convert_from(value, 'UTF8') FROM gbose.meta WHERE name = 'version'", &r,
                        err);
    if (rc)
        return rc;
    if (PQntuples(r) != 1)
        rc = gbose__fail(err, GBOSE__ECORRUPT, "the store is damaged: it has tables but no version");
    else
        *version = atoi(PQgetvalue(r, 0, 0));
    PQclear(r);
    if (!rc && (*version < 1 || *version > VERSION))
        rc = gbose__fail(err, GBOSE_EVERSION,
                         "the store has version %d, and this gbose reads up to %d: use a newer one", *version,
                         VERSION);
    return rc;
}

/* Bring the schema from one version to the present one, in the transaction that is open. */
static int upgrade(struct gbose__pg *c, int from, gbose_error *err)
{
    struct gbose__pg_args args = {0};
    unsigned char secret[32];
    char sql[200];
    int rc = GBOSE_OK;

    for (int i = from; i < VERSION && !rc; i++)
        rc = gbose__pg_exec(c, migrations[i], NULL, err);
    if (!rc && !from) {
        if (getrandom(secret, sizeof secret, 0) != sizeof secret)
            return gbose__fail(err, GBOSE__ESTORE, "cannot get random bytes from the system");
        gbose__pg_arg_bytes(&args, secret, sizeof secret);
        rc = gbose__pg_query(c, "INSERT INTO meta VALUES ('secret', $1::bytea)", &args, NULL, err);
    }
    snprintf(sql, sizeof sql,
             "INSERT INTO gbose.meta VALUES ('version', '%d') ON CONFLICT (name) DO UPDATE SET value = "
             "excluded.value",
             VERSION);
    return rc ? rc : gbose__pg_exec(c, sql, NULL, err);
}

static int migrate(struct gbose__pg *c, int make, int *from, gbose_error *err)
{
    int rc = gbose__pg_connect(c, err);

    /* Servers that start at the same moment take turns. */
    if (!rc)
        rc = gbose__pg_exec(c, "BEGIN; SELECT pg_advisory_xact_lock(1734503283, -1)", NULL, err);
    if (!rc)
        rc = read_version(c, from, err);
    if (!rc && !*from && !make)
        rc = gbose__fail(err, GBOSE__EABSENT,
                         "there is no store in this database; make one with: gbose store init URL");
    if (!rc && *from < VERSION)
        rc = upgrade(c, *from, err);
    if (!rc)
        rc = gbose__pg_exec(c, "COMMIT", NULL, err);
    if (rc)
        gbose__pg_disconnect(c);
    return rc == GBOSE__PG_AGAIN ? GBOSE__ESTORE : rc;
}

static int home_init(struct gbose__pg_home *home, const char *url, gbose_error *err)
{
    const char *patience = getenv("GBOSE_STORE_PATIENCE");

    home->url = strdup(url);
    home->patience = patience && atoi(patience) >= 100 ? atoi(patience) : PATIENCE;
    return home->url ? GBOSE_OK : gbose__no_memory(err);
}

int gbose__postgres_migrate(const char *url, int make, int *from, int *to, gbose_error *err)
{
    struct gbose__pg_home home = {0};
    struct gbose__pg c = {.home = &home, .seeks = 1};
    int rc = home_init(&home, url, err);

    if (!rc)
        rc = migrate(&c, make, from, err);
    *to = VERSION;
    gbose__pg_disconnect(&c);
    free(home.url);
    return rc;
}

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
 * other. */
static int save_tally(struct gbose__pg_group *g, gbose_error *err)
{
    struct gbose__pg_bytes column[1 + GBOSE__PG_COUNTS] = {{0}}, used[2] = {{0}};
    struct gbose__pg_args args = {0}, numbers = {0};
    size_t n = 0, n_used = 0;
    int rc = GBOSE_OK, bad = 0;

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
            n_used++;
        }
        if (!any)
            continue;
        n++;
        gbose__pg_add_int(&column[0], t->bandit);
        for (int k = 0; k < GBOSE__PG_COUNTS; k++)
            gbose__pg_add_int(&column[1 + k], t->count[k]);
    }
    gbose__pg_arg_int(&args, atomic_load(&g->store->stream));
    for (int k = 0; k <= GBOSE__PG_COUNTS; k++) {
        gbose__pg_arg_text(&args, gbose__pg_close(&column[k]));
        bad |= column[k].bad;
    }
    for (int k = 0; k < 2; k++) {
        gbose__pg_arg_text(&numbers, gbose__pg_close(&used[k]));
        bad |= used[k].bad;
    }
    if (bad)
        rc = gbose__no_memory(err);
    if (!rc && n)
        rc = gbose__pg_query(
            g->c,
            "INSERT INTO tally SELECT b, $1::int4, e, p, r, d, u, w, l FROM unnest($2::int4[], $3::int8[], "
            "$4::int8[],"
            " $5::int8[], $6::int8[], $7::int8[], $8::int8[], $9::int8[]) AS t(b, e, p, r, d, u, w, l) ORDER "
            "BY b"
            " ON CONFLICT (bandit, stream) DO UPDATE SET events = tally.events + excluded.events,"
            " pending = tally.pending + excluded.pending, rewarded = tally.rewarded + excluded.rewarded,"
            " defaulted = tally.defaulted + excluded.defaulted, unused = tally.unused + excluded.unused,"
            " rewards = tally.rewards + excluded.rewards, late = tally.late + excluded.late",
            &args, NULL, err);
    /* Numbers that were not leased, which is how a store is filled from another one. */
    if (!rc && n_used)
        rc = gbose__pg_query(
            g->c,
            "UPDATE lease SET next_number = t.n FROM unnest($1::int4[], $2::int8[]) AS t(b, n)"
            " WHERE bandit = t.b AND next_number < t.n",
            &numbers, NULL, err);
    for (int k = 0; k <= GBOSE__PG_COUNTS; k++)
        gbose__pg_clear(&column[k]);
    for (int k = 0; k < 2; k++)
        gbose__pg_clear(&used[k]);
    return rc;
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

    change->result = GBOSE__DONE;
    return does[change->kind](g, change, err);
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
        rc = is_of_events(&changes[i]) ? gbose__pg_apply_events(g, changes + i, 1, err)
                                       : apply_one(g, &changes[i], err);
        if (changes[i].kind == GBOSE__PUT_BANDIT)
            made = changes[i].of.bandit.id;
        i++;
    }
    return rc ? rc : save_tally(g, err);
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

/* Take down which transaction it is, so that its fate can be asked for. */
static int begin(struct gbose__pg_store *store, gbose_error *err)
{
    PGresult *r;
    int rc = gbose__pg_exec(&store->writer, "BEGIN; SELECT pg_current_xact_id()::text", &r, err);

    if (rc)
        return rc;
    snprintf(store->doubt, sizeof store->doubt, "%s", PQgetvalue(r, 0, 0));
    store->doubt_pid = PQbackendPID(store->writer.conn);
    PQclear(r);
    return GBOSE_OK;
}

static int commit(struct gbose__pg_store *store, gbose_error *err)
{
    PGresult *r = NULL;
    int rc, happened = 0;

    rc = gbose__pg_exec(&store->writer, "COMMIT", &r, err);
    if (!rc && strcmp(PQcmdStatus(r), "COMMIT"))
        rc = gbose__fail(err, GBOSE__ESTORE, "cannot write to the store: the transaction was rolled back");
    PQclear(r);
    if (rc != GBOSE__EAWAY) {
        *store->doubt = 0;
        return rc;
    }
    /* It may have happened. Most often the database is back in a moment, and can tell. */
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

int gbose__pg_settle(struct gbose__store *base, int *happened, gbose_error *err)
{
    struct gbose__pg_store *store = (struct gbose__pg_store *)base;
    struct gbose__pg *c = &store->writer;
    struct gbose__pg_args args = {0};
    const char *status;
    PGresult *r;
    int rc;

    if (!*store->doubt)
        return gbose__fail(err, GBOSE_EINVAL, "no transaction is in doubt");
    gbose__pg_arg_text(&args, store->doubt);
    /* A database that never heard of it (a standby that has taken over) has not committed it. */
    rc = gbose__pg_query(c,
                         "SELECT CASE WHEN $1::text::xid8 < pg_snapshot_xmax(pg_current_snapshot())"
                         " THEN pg_xact_status($1::text::xid8) ELSE 'aborted' END",
                         &args, &r, err);
    if (rc)
        return rc == GBOSE__PG_AGAIN ? GBOSE__EAWAY : rc;
    status = gbose__pg_text(r, 0, 0);
    *happened = status && !strcmp(status, "committed");
    rc = status && !strcmp(status, "in progress");
    PQclear(r);
    if (rc) { /* its session does not know yet that nobody listens */
        args = (struct gbose__pg_args){0};
        gbose__pg_arg_int(&args, store->doubt_pid);
        gbose__pg_query(c, "SELECT pg_terminate_backend($1::int4)", &args, NULL, err);
        return gbose__fail(err, GBOSE__EAWAY, "the transaction is not ended yet");
    }
    *store->doubt = 0;
    return GBOSE_OK;
}

static int attempt(struct gbose__pg_store *store, struct gbose__change *changes, size_t n, gbose_error *err)
{
    struct gbose__pg_group g = {.store = store, .c = &store->writer};
    int rc = gbose__pg_connect(&store->writer, err);

    if (!rc)
        rc = make_days(store, changes, n, err);
    if (!rc)
        rc = begin(store, err);
    if (!rc) {
        rc = apply_all(&g, changes, n, err);
        if (rc) {
            gbose_error ignored;

            *store->doubt = 0;
            if (store->writer.conn)
                gbose__pg_exec(&store->writer, "ROLLBACK", NULL, &ignored);
        } else {
            rc = commit(store, err);
        }
    }
    free(g.tally);
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
    memcpy(asked, changes, n * sizeof *asked);
    for (int i = 0; i < ATTEMPTS && rc == GBOSE__PG_AGAIN; i++) {
        struct timespec pause = {0, i * 2000000};

        if (i) { /* what it has changed in the changes is undone, and days may have gone */
            memcpy(changes, asked, n * sizeof *asked);
            store->n_days = 0;
            nanosleep(&pause, NULL);
        }
        rc = attempt(store, changes, n, err);
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

static int prepare(struct gbose__pg_store *store, int create, gbose_error *err)
{
    struct gbose__pg *c = &store->writer;
    PGresult *r;
    size_t size;
    int version = 0, rc = read_version(c, &version, err);

    if (!rc && !version) {
        rc = create ? migrate(c, 1, &version, err)
                    : gbose__fail(err, GBOSE__EABSENT,
                                  "there is no store in this database; make one with: gbose store init URL");
        version = VERSION;
    }
    if (!rc && version < VERSION)
        rc = gbose__fail(err, GBOSE_EVERSION,
                         "the store is of version %d, and this gbose works on %d: gbose store migrate URL",
                         version, VERSION);
    if (!rc)
        rc = gbose__pg_query(c, "SELECT value FROM meta WHERE name = 'secret'", NULL, &r, err);
    if (rc)
        return rc;
    if (PQntuples(r) == 1 && gbose__pg_blob(r, 0, 0, &size) && size == sizeof store->secret)
        memcpy(store->secret, gbose__pg_blob(r, 0, 0, &size), size);
    else
        rc = gbose__fail(err, GBOSE__ECORRUPT, "the store is damaged: its secret is not there");
    PQclear(r);
    return rc;
}

int gbose__postgres_open(struct gbose__store **out, const char *url, int create, int beside, gbose_error *err)
{
    struct gbose__pg_store *store = calloc(1, sizeof *store);
    int rc;

    (void)beside; /* everybody may write */
    if (!store)
        return gbose__no_memory(err);
    store->writer.home = store->keeper.home = &store->home;
    store->writer.seeks = store->keeper.seeks = 1;
    rc = home_init(&store->home, url, err);
    if (!rc)
        rc = prepare(store, create, err);
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
    *out = &store->base;
    return GBOSE_OK;
}
