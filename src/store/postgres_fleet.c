/* What servers on one PostgreSQL do to work as one: streams, leading, published models, news. All of it is on the
 * keeper's connection.
 *
 * A bandit is led by whoever's session holds its advisory lock. The session of a server that died ends with its
 * socket; that of a server which is cut off is ended by the database when it has been silent for a while. Two
 * that lead at the same moment do no harm: what they learn is a fold of one log. */
#include "store/postgres_inner.h"

#include <stdlib.h>
#include <string.h>

#include "core/error.h"

#define LOCKS "1734503283" /* the class of our advisory locks: "gbos" */

static const char news[] =
    "SELECT v.number, n.bandit, n.outcomes, (SELECT deadline FROM pending p WHERE p.bandit = n.bandit"
    " ORDER BY deadline LIMIT 1), l.generation, l.learned,"
    " (SELECT convert_from(value, 'UTF8')::int4 FROM meta WHERE name = 'version')"
    " FROM version v LEFT JOIN (numbering n LEFT JOIN live l ON l.bandit = n.bandit) ON true";

/* Ask on the keeper's connection, which listens and may not be silent for long. It writes nothing that could not be made again,
 * so it does not wait for a standby. */
static int ask(struct gbose__pg_store *store, const char *sql, const struct gbose__pg_args *args,
               PGresult **out, gbose_error *err)
{
    struct gbose__pg *c = &store->keeper;
    int rc = sql == news ? GBOSE_OK : gbose__pg_foreign(&store->home, err);

    if (rc)
        return rc;
    if (!c->conn || PQstatus(c->conn) != CONNECTION_OK) {
        if (store->led)
            memset(store->led, 0, store->led_words * sizeof *store->led);
        rc = gbose__pg_connect(c, err);
        if (!rc)
            rc = gbose__pg_exec(
                c, "SET idle_session_timeout = '5s'; SET synchronous_commit = local; LISTEN gbose", NULL,
                err);
        if (rc)
            return rc;
    }
    rc = gbose__pg_query(c, sql, args, out, err);
    if (rc == GBOSE__PG_AGAIN)
        rc = gbose__fail(err, GBOSE__EAWAY, "the database is busy");
    return rc;
}

static int fleet_beat(struct gbose__store *base, const char *name, const char *report, uint32_t *stream,
                      gbose_error *err)
{
    struct gbose__pg_store *store = (struct gbose__pg_store *)base;
    struct gbose__pg_args args = {0};
    PGresult *r;
    int rc;

    gbose__pg_arg_int(&args, store->token);
    gbose__pg_arg_text(&args, name);
    gbose__pg_arg_text(&args, report);
    rc = ask(store,
             "UPDATE server SET seen = clock_timestamp(), name = $2::text, report = $3::text WHERE token = "
             "$1::int8"
             " RETURNING stream",
             &args, &r, err);
    if (!rc && !PQntuples(r)) {
        PQclear(r);
        /* A stream that nobody has, or that of a server which was not heard of for long. */
        gbose__pg_arg_int(&args, GBOSE__FORGOTTEN);
        rc = ask(store,
                 "INSERT INTO server SELECT free, $1::int8, $2::text, $3::text, clock_timestamp(), "
                 "clock_timestamp()"
                 " FROM (SELECT pg_advisory_xact_lock(" LOCKS ", -3)) AS one, LATERAL (SELECT free FROM"
                 " generate_series(1, (SELECT count(*) + 1 FROM server)::int4) AS free WHERE NOT EXISTS "
                 "(SELECT 1 FROM server s"
                 " WHERE s.stream = free AND s.seen > now() - $4::int8 * interval '1 millisecond') ORDER BY "
                 "free LIMIT 1) AS f"
                 " ON CONFLICT (stream) DO UPDATE SET token = excluded.token, name = excluded.name, report = "
                 "excluded.report,"
                 " started = excluded.started, seen = excluded.seen"
                 " WHERE server.seen <= now() - $4::int8 * interval '1 millisecond' RETURNING stream",
                 &args, &r, err);
    }
    if (rc)
        return rc;
    if (PQntuples(r))
        atomic_store(&store->stream, (unsigned)gbose__pg_int(r, 0, 0));
    PQclear(r);
    *stream = atomic_load(&store->stream);
    return GBOSE_OK;
}

static int fleet_lead(struct gbose__store *base, uint32_t bandit, int *leads, gbose_error *err)
{
    struct gbose__pg_store *store = (struct gbose__pg_store *)base;
    struct gbose__pg_args args = {0};
    size_t word = bandit / 64;
    PGresult *r;
    int rc;

    *leads = 0;
    if (word >= store->led_words) {
        size_t words = 2 * word + 16;
        uint64_t *more = realloc(store->led, words * sizeof *more);

        if (!more)
            return gbose__no_memory(err);
        memset(more + store->led_words, 0, (words - store->led_words) * sizeof *more);
        store->led = more;
        store->led_words = words;
    }
    if (store->keeper.conn && PQstatus(store->keeper.conn) == CONNECTION_OK &&
        store->led[word] >> bandit % 64 & 1) {
        *leads = 1;
        return GBOSE_OK;
    }
    gbose__pg_arg_int(&args, bandit);
    rc = ask(store, "SELECT pg_try_advisory_lock(" LOCKS ", $1::int4)", &args, &r, err);
    if (rc)
        return rc;
    *leads = gbose__pg_int(r, 0, 0) != 0;
    PQclear(r);
    if (*leads)
        store->led[word] |= UINT64_C(1) << bandit % 64;
    return GBOSE_OK;
}

/* What is published can be computed again, so it need not be on the disk before others see it. */
static int fleet_publish(struct gbose__store *base, const struct gbose__snapshot_row *row, gbose_error *err)
{
    struct gbose__pg_store *store = (struct gbose__pg_store *)base;
    struct gbose__pg_args args = {0};
    int rc;

    gbose__pg_arg_int(&args, row->bandit);
    gbose__pg_arg_int(&args, row->generation);
    gbose__pg_arg_int(&args, (int64_t)row->learned);
    gbose__pg_arg_bytes(&args, row->bytes, row->size);
    gbose__pg_arg_int(&args, gbose__sum_snapshot(row));
    rc = ask(store,
             "INSERT INTO live SELECT $1::int4, $2::int8, $3::int8, $4::bytea, $5::int8 FROM generation"
             " WHERE bandit = $1::int4 AND number = $2::int8 FOR KEY SHARE ON CONFLICT (bandit, generation) "
             "DO UPDATE"
             " SET learned = excluded.learned, bytes = excluded.bytes, sum = excluded.sum"
             " WHERE live.learned < excluded.learned",
             &args, NULL, err);
    return rc ? rc : ask(store, "NOTIFY gbose", NULL, NULL, err);
}

static int fleet_published(struct gbose__store *base, uint32_t bandit, uint32_t generation,
                           gbose__snapshot_visit *visit, void *context, gbose_error *err)
{
    struct gbose__snapshot_row row = {.bandit = bandit, .generation = generation};
    struct gbose__pg_args args = {0};
    PGresult *r;
    int rc;

    gbose__pg_arg_int(&args, bandit);
    gbose__pg_arg_int(&args, generation);
    rc = ask((struct gbose__pg_store *)base,
             "SELECT learned, bytes, sum FROM live WHERE bandit = $1::int4 AND generation = $2::int8", &args,
             &r, err);
    if (rc)
        return rc;
    if (!PQntuples(r)) {
        rc = gbose__fail(err, GBOSE__EABSENT, "no model of this generation was published");
    } else {
        row.learned = (uint64_t)gbose__pg_int(r, 0, 0);
        row.bytes = gbose__pg_blob(r, 0, 1, &row.size);
        rc = gbose__sum_snapshot(&row) == gbose__pg_int(r, 0, 2)
                 ? visit(context, &row)
                 : gbose__pg_damaged("a published model", err);
    }
    PQclear(r);
    return rc;
}

static int fleet_news(struct gbose__store *base, uint64_t *version, gbose__news_visit *visit, void *context,
                      gbose_error *err)
{
    struct gbose__pg_store *store = (struct gbose__pg_store *)base;
    PGresult *r;
    int there, rc = ask(store, news, NULL, &r, err);

    if (rc)
        return rc;
    there = PQntuples(r) ? (int)gbose__pg_int(r, 0, 6) : GBOSE__PG_VERSION;
    atomic_store(&store->home.foreign, there == GBOSE__PG_VERSION ? 0 : there);
    if (there != GBOSE__PG_VERSION) {
        PQclear(r);
        return gbose__pg_foreign(&store->home, err);
    }
    for (int i = 0; i < PQntuples(r) && !rc; i++) {
        struct gbose__news_row row = {(uint32_t)gbose__pg_int(r, i, 1), (uint64_t)gbose__pg_int(r, i, 2),
                                      PQgetisnull(r, i, 3) ? INT64_MAX : gbose__pg_int(r, i, 3),
                                      (uint32_t)gbose__pg_int(r, i, 4), (uint64_t)gbose__pg_int(r, i, 5)};

        *version = (uint64_t)gbose__pg_int(r, i, 0);
        if (row.bandit)
            rc = visit(context, &row);
    }
    PQclear(r);
    return rc;
}

static int fleet_told(struct gbose__store *base)
{
    struct gbose__pg *c = &((struct gbose__pg_store *)base)->keeper;
    PGnotify *note;
    int any = 0;

    if (!c->conn || !PQconsumeInput(c->conn))
        return 0;
    while ((note = PQnotifies(c->conn))) {
        any |= note->be_pid != PQbackendPID(c->conn);
        PQfreemem(note);
    }
    return any;
}

static unsigned fleet_history(struct gbose__store *base, int *renewed)
{
    struct gbose__pg_home *home = &((struct gbose__pg_store *)base)->home;

    *renewed = atomic_load(&home->renewed) != 0;
    return atomic_load(&home->history);
}

static int fleet_adopt(struct gbose__store *base, gbose_error *err)
{
    struct gbose__pg_store *store = (struct gbose__pg_store *)base;
    struct gbose__pg *c = &store->keeper;
    int rc;

    gbose__pg_disconnect(c);
    c->adopts = 1;
    rc = ask(store, "SELECT 1", NULL, NULL, err);
    if (!rc)
        rc = gbose__pg_history_adopt(c, 1, err);
    c->adopts = 0;
    if (rc)
        gbose__pg_disconnect(c);
    return rc;
}

const struct gbose__fleet gbose__pg_fleet = {fleet_beat,    fleet_lead, fleet_publish,  fleet_published,
                                             fleet_news,    fleet_told, gbose__pg_tend, gbose__pg_settle,
                                             fleet_history, fleet_adopt};
