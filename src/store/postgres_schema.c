/* The schema of the PostgreSQL store: made, and brought from version to version. */
#include "store/postgres_inner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "core/error.h"

#define PATIENCE 5000 /* milliseconds for an answer, unless GBOSE_STORE_PATIENCE says otherwise */

/* Migration i turns version i into version i + 1; NULL: the tables stay as they are, and what the new version writes in them is not
 * for earlier ones. Never changed once released; new ones are added at the end.
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
    "CREATE TABLE gbose.gone (day int4 PRIMARY KEY);"
    "CREATE TABLE gbose.done (token int8 PRIMARY KEY, number int8 NOT NULL, time timestamptz NOT NULL)"
    " WITH (fillfactor = 50);",
    /* A row of `pending` is no longer an event but a run of them, first..last, all of one day; no event of it that is open is due
     * before its deadline (postgres_run.c). Which events are open is said by `outcome` alone, and which were
     * activated by a table of their own. Texts of events are packed from here on (pack.h); what is there stays as it is. */
    "ALTER TABLE gbose.pending RENAME TO pending_1;"
    "ALTER INDEX gbose.pending_pkey RENAME TO pending_1_pkey;"
    "CREATE TABLE gbose.pending (last int8 PRIMARY KEY, first int8 NOT NULL, bandit int4 NOT NULL,"
    " deadline int8 NOT NULL, day int4 NOT NULL) WITH (autovacuum_vacuum_scale_factor = 0.02);"
    "CREATE TABLE gbose.activated (event int8 PRIMARY KEY);"
    "INSERT INTO gbose.pending SELECT max(key), min(key), bandit, min(deadline), day FROM (SELECT *,"
    " key - row_number() OVER (PARTITION BY bandit, day ORDER BY key) AS gaps FROM gbose.pending_1) AS p"
    " GROUP BY bandit, day, gaps, key >> 8;"
    "INSERT INTO gbose.activated SELECT key FROM gbose.pending_1 WHERE activated;"
    "DROP TABLE gbose.pending_1;"
    "CREATE INDEX pending_due ON gbose.pending (bandit, deadline);",
    /* The checksum of an event covers the last bytes of its packed text from here on (sum.h). What is there stays as it is. */
    NULL,
};
_Static_assert(sizeof migrations / sizeof *migrations == GBOSE__PG_VERSION, "a migration for each version");

/* The version of the schema: 0 if there is none. */
int gbose__pg_schema_version(struct gbose__pg *c, int *version, gbose_error *err)
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
    *version = PQntuples(r) == 1 ? atoi(PQgetvalue(r, 0, 0)) : 0;
    PQclear(r);
    if (*version < 1)
        return gbose__fail(err, GBOSE__ECORRUPT, "the store is damaged: it has tables but no version");
    if (*version > GBOSE__PG_VERSION)
        rc = gbose__fail(err, GBOSE_EVERSION,
                         "the store has version %d, and this gbose reads up to %d: use a newer one", *version,
                         GBOSE__PG_VERSION);
    return rc;
}

/* Bring the schema from one version to the present one, in the transaction that is open. */
static int upgrade(struct gbose__pg *c, int from, gbose_error *err)
{
    struct gbose__pg_args args = {0};
    unsigned char secret[32];
    char sql[200];
    int rc = GBOSE_OK;

    for (int i = from; i < GBOSE__PG_VERSION && !rc; i++)
        if (migrations[i])
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
             GBOSE__PG_VERSION);
    return rc ? rc : gbose__pg_exec(c, sql, NULL, err);
}

int gbose__pg_schema_make(struct gbose__pg *c, int make, int *from, gbose_error *err)
{
    int rc = gbose__pg_connect(c, err);

    /* Servers that start at the same moment take turns. */
    if (!rc)
        rc = gbose__pg_exec(c, "BEGIN; SELECT pg_advisory_xact_lock(1734503283, -1)", NULL, err);
    if (!rc)
        rc = gbose__pg_schema_version(c, from, err);
    if (!rc && !*from && !make)
        rc = gbose__fail(err, GBOSE__EABSENT,
                         "there is no store in this database; make one with: gbose store init URL");
    if (!rc && *from < GBOSE__PG_VERSION)
        rc = upgrade(c, *from, err);
    if (!rc)
        rc = gbose__pg_exec(c, "COMMIT", NULL, err);
    if (rc)
        gbose__pg_disconnect(c);
    return rc == GBOSE__PG_AGAIN ? GBOSE__ESTORE : rc;
}

/* Decisions that a standby had not received when it took over had numbers, and there may still be somebody who
 * knows them: so many numbers are passed over that they are not given to others. Bandits likewise. */
int gbose__pg_history_adopt(struct gbose__pg *c, int lease, gbose_error *err)
{
    int rc = GBOSE_OK;

    if (lease && c->history)
        rc = GBOSE__PG_WITH(
            "WITH renewed AS (INSERT INTO meta VALUES ('history', int8send($1::int8)) ON CONFLICT (name)"
            " DO UPDATE SET value = excluded.value WHERE meta.value <> excluded.value RETURNING 1),"
            " passed AS (UPDATE lease SET next_number = next_number + (1 << 24)"
            " WHERE EXISTS (SELECT FROM renewed))"
            " SELECT setval(pg_get_serial_sequence('bandit', 'id'), nextval(pg_get_serial_sequence('bandit', "
            "'id')) + 100)"
            " FROM renewed",
            NULL, c->history);
    if (!rc) {
        atomic_store(&c->home->history, c->history);
        atomic_store(&c->home->renewed, 0);
    }
    return rc;
}

int gbose__pg_home_init(struct gbose__pg_home *home, const char *url, gbose_error *err)
{
    const char *patience = getenv("GBOSE_STORE_PATIENCE");
    int rc = gbose__pg_check_url(url, err);

    if (rc)
        return rc;
    home->url = strdup(url);
    home->patience = patience && atoi(patience) >= 100 ? atoi(patience) : PATIENCE;
    return home->url ? GBOSE_OK : gbose__no_memory(err);
}

int gbose__postgres_migrate(const char *url, int make, int *from, int *to, gbose_error *err)
{
    struct gbose__pg_home home = {0};
    struct gbose__pg c = {.home = &home, .seeks = 1};
    int rc = gbose__pg_home_init(&home, url, err);

    if (!rc)
        rc = gbose__pg_schema_make(&c, make, from, err);
    *to = GBOSE__PG_VERSION;
    gbose__pg_disconnect(&c);
    free(home.url);
    return rc;
}
