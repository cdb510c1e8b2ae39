/* Erasing in the PostgreSQL store: units, old events, whole days. */
#include "store/postgres_inner.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/error.h"

/* Delete the events that a result lists by key and day (its first two columns), with all that belongs to them but their runs,
 * which find out. *closed is how many of them were. */
static int delete_events(struct gbose__pg_group *g, uint32_t bandit, const PGresult *events, uint64_t *closed,
                         gbose_error *err)
{
    struct gbose__pg_bytes keys = {0}, days = {0}, names = {0};
    struct gbose__pg_args args = {0}, of_keys = {0}, of_names = {0};
    PGresult *r = NULL;
    int rc;

    for (int i = 0; i < PQntuples(events); i++) {
        gbose__pg_add_int(&keys, gbose__pg_int(events, i, 0));
        gbose__pg_add_int(&days, gbose__pg_int(events, i, 1));
    }
    gbose__pg_arg_text(&args, gbose__pg_close(&keys));
    gbose__pg_arg_text(&args, gbose__pg_close(&days));
    gbose__pg_arg_text(&of_keys, keys.at);
    rc = keys.bad || days.bad
             ? gbose__no_memory(err)
             : gbose__pg_query(g->c, "DELETE FROM outcome WHERE event = ANY($1::int8[])", &of_keys, &r, err);
    if (!rc) {
        *closed = gbose__pg_changed(r);
        PQclear(r);
        rc =
            gbose__pg_query(g->c, "DELETE FROM activated WHERE event = ANY($1::int8[])", &of_keys, NULL, err);
    }
    if (!rc)
        rc = gbose__pg_query(g->c,
                             "DELETE FROM reward r USING unnest($1::int8[], $2::int4[]) AS t(k, d)"
                             " WHERE r.day = t.d AND r.event = t.k",
                             &args, NULL, err);
    if (!rc)
        rc = gbose__pg_query(g->c,
                             "DELETE FROM event e USING unnest($1::int8[], $2::int4[]) AS t(k, d)"
                             " WHERE e.day = t.d AND e.key = t.k RETURNING e.name",
                             &args, &r, err);
    if (!rc) {
        for (int i = 0; i < PQntuples(r); i++) {
            size_t size;
            const void *name = gbose__pg_blob(r, i, 0, &size);

            if (name)
                gbose__pg_add_blob(&names, name, size);
        }
        PQclear(r);
    }
    if (!rc && (names.size || names.bad)) {
        gbose__pg_arg_int(&of_names, bandit);
        gbose__pg_arg_text(&of_names, gbose__pg_close(&names));
        rc = names.bad
                 ? gbose__no_memory(err)
                 : gbose__pg_query(g->c,
                                   "DELETE FROM named WHERE bandit = $1::int4 AND name = ANY($2::bytea[])",
                                   &of_names, NULL, err);
    }
    gbose__pg_clear(&keys);
    gbose__pg_clear(&days);
    gbose__pg_clear(&names);
    return rc;
}

int gbose__pg_erase_unit(struct gbose__pg_group *g, struct gbose__change *change, gbose_error *err)
{
    struct gbose__erase_change *it = &change->of.erase;
    struct gbose__pg_tally *t = gbose__pg_tally_of(g, it->bandit, err);
    struct gbose__pg_batch batch = {0};
    struct gbose__pg *c = g->c;
    struct gbose__pg_args *args;
    int64_t lo = gbose__row_key(it->bandit, 0);
    uint64_t closed = 0;
    int rc = t ? gbose__pg_gate_add(g, GBOSE__PG_CLOSING, &batch, err) : GBOSE_ENOMEM;

    args = gbose__pg_batch_add(
        &batch, "SELECT key, day FROM event WHERE unit = $1::bytea AND key BETWEEN $2::int8 AND $3::int8");
    gbose__pg_arg_bytes(args, it->unit, GBOSE__UNIT_SIZE);
    gbose__pg_arg_int(args, lo);
    gbose__pg_arg_int(args, lo + (int64_t)GBOSE__MAX_NUMBER);
    if (!rc)
        rc = gbose__pg_batch_run(c, &batch, err);
    if (!rc) {
        const PGresult *events = batch.result[batch.n - 1];

        it->erased = (uint64_t)PQntuples(events);
        if (it->erased)
            rc = delete_events(g, it->bandit, events, &closed, err);
        else
            change->result = GBOSE__MISSING;
        t->count[GBOSE__PG_PENDING] -= (int64_t)(it->erased - closed);
    }
    gbose__pg_batch_clear(&batch);
    if (!rc && it->erased)
        rc = GBOSE__PG_WITH("DELETE FROM snapshot WHERE bandit = $1::int4", NULL, it->bandit);
    if (!rc && it->erased)
        rc = GBOSE__PG_WITH("DELETE FROM live WHERE bandit = $1::int4", NULL, it->bandit);
    return rc;
}

/* The number of the last outcome that every generation of a bandit that is at work has in its oldest snapshot. */
#define OLDEST_LEARNED(bandit)                                                                               \
    "(SELECT coalesce(min(oldest), 0) FROM (SELECT coalesce(min(s.learned), 0) AS oldest FROM generation g"  \
    " JOIN bandit b ON b.id = g.bandit"                                                                      \
    " LEFT JOIN snapshot s ON s.bandit = g.bandit AND s.generation = g.number WHERE g.bandit = " bandit      \
    " AND (g.number = b.active OR g.wanted OR NOT g.ready) GROUP BY g.number) AS of_each)"

/* Snapshots are of no use any more if a later one of the same generation has learned old outcomes only. */
#define DROP_OLD_SNAPSHOTS                                                                                   \
    "DELETE FROM snapshot s WHERE bandit = $1::int4 AND EXISTS (SELECT 1 FROM snapshot later"                \
    " WHERE later.bandit = s.bandit AND later.generation = s.generation AND later.learned > s.learned"       \
    " AND later.learned < (SELECT coalesce(min(key & 1099511627775), 1099511627775) FROM outcome"            \
    " WHERE key > $2::int8 AND key <= $2::int8 + 1099511627775 AND time >= $3::int8))"

int gbose__pg_retain(struct gbose__pg_group *g, struct gbose__change *change, gbose_error *err)
{
    struct gbose__erase_change *it = &change->of.erase;
    struct gbose__pg *c = g->c;
    int64_t lo = gbose__row_key(it->bandit, 0);
    uint64_t closed; /* all of them */
    PGresult *r;
    int rc = GBOSE__PG_WITH(
        "UPDATE numbering SET retained = $2::int8 WHERE bandit = $1::int4 AND retained < $2::int8", NULL,
        it->bandit, it->before);

    it->erased = 0;
    if (!rc)
        rc = GBOSE__PG_WITH(DROP_OLD_SNAPSHOTS, NULL, it->bandit, lo, it->before);
    if (!rc)
        rc = GBOSE__PG_WITH(
            "SELECT event, day, key FROM outcome WHERE key > $2::int8 AND key <= $2::int8 + " OLDEST_LEARNED(
                "$1::int4") " AND time < $3::int8 ORDER BY key LIMIT $4::int8",
            &r, it->bandit, lo, it->before, (int64_t)it->most);
    if (rc)
        return rc;
    it->erased = (uint64_t)PQntuples(r);
    if (it->erased)
        rc = delete_events(g, it->bandit, r, &closed, err);
    if (!rc && it->erased)
        rc = GBOSE__PG_WITH(
            "UPDATE numbering SET dropped = greatest(dropped, $2::int8) WHERE bandit = $1::int4", NULL,
            it->bandit, (int64_t)gbose__row_number(gbose__pg_int(r, PQntuples(r) - 1, 2)));
    PQclear(r);
    return rc;
}

/* ---- days ---- */

/* "20261116" */
static void name_of(char out[24], int32_t day)
{
    time_t t = (time_t)day * 86400;
    struct tm tm;

    gmtime_r(&t, &tm);
    strftime(out, 24, "%Y%m%d", &tm);
}

int gbose__pg_make_days(struct gbose__pg *c, const int32_t *day, size_t n, gbose_error *err)
{
    for (size_t i = 0; i < n; i++) {
        char name[24], sql[500];
        PGresult *r;
        int rc = GBOSE_OK, there;

        name_of(name, day[i]);
        snprintf(sql, sizeof sql, "SELECT to_regclass('gbose.event_%s') IS NOT NULL", name);
        rc = gbose__pg_exec(c, sql, &r, err);
        if (rc)
            return rc;
        there = !strcmp(PQgetvalue(r, 0, 0), "t");
        PQclear(r);
        if (there)
            continue;
        snprintf(sql, sizeof sql,
                 "BEGIN; SELECT pg_advisory_xact_lock(1734503283, -2);"
                 "CREATE TABLE IF NOT EXISTS event_%s PARTITION OF event FOR VALUES IN (%" PRId32 ");"
                 "CREATE TABLE IF NOT EXISTS reward_%s PARTITION OF reward FOR VALUES IN (%" PRId32
                 "); COMMIT",
                 name, day[i], name, day[i]);
        rc = gbose__pg_exec(c, sql, NULL, err);
        if (rc) {
            gbose_error ignored;

            if (c->conn)
                gbose__pg_exec(c, "ROLLBACK", NULL, &ignored);
            return rc;
        }
    }
    return GBOSE_OK;
}

/* Drop a day if all its events are closed, old for their bandits and learned by every generation's oldest snapshot. What is
 * left of it in other tables goes later, piece by piece. */
static int drop_day(struct gbose__pg *c, int32_t day, gbose_error *err)
{
    char name[24], sql[900];
    PGresult *r;
    int rc, may;

    rc = GBOSE__PG_WITH(
        "SELECT NOT EXISTS (SELECT 1 FROM pending p JOIN event e ON e.day = p.day"
        " AND e.key BETWEEN p.first AND p.last LEFT JOIN outcome o ON o.event = e.key"
        " WHERE p.day = $1::int4 AND o.event IS NULL) AND NOT EXISTS (SELECT 1 FROM outcome o"
        " JOIN numbering n ON n.bandit = (o.key >> 40)::int4 WHERE o.day = $1::int4"
        " AND (o.time >= n.retained OR (o.key & 1099511627775) > " OLDEST_LEARNED("n.bandit") "))",
        &r, day);
    if (rc)
        return rc;
    may = gbose__pg_int(r, 0, 0) != 0;
    PQclear(r);
    if (!may)
        return GBOSE_OK;
    name_of(name, day);
    snprintf(
        sql, sizeof sql,
        "BEGIN; SET LOCAL lock_timeout = '2s'; DROP TABLE event_%s, reward_%s;"
        "DELETE FROM pending WHERE day = %" PRId32 ";"
        "UPDATE numbering n SET dropped = greatest(dropped, o.last) FROM (SELECT (key >> 40)::int4 AS bandit,"
        " max(key & 1099511627775) AS last FROM outcome WHERE day = %" PRId32
        " GROUP BY 1) AS o WHERE o.bandit = n.bandit;"
        "INSERT INTO gone VALUES (%" PRId32 ") ON CONFLICT DO NOTHING; COMMIT",
        name, name, day, day, day);
    rc = gbose__pg_exec(c, sql, NULL, err);
    if (rc && c->conn) {
        gbose_error ignored;

        gbose__pg_exec(c, "ROLLBACK", NULL, &ignored);
    }
    return rc == GBOSE__PG_AGAIN ? GBOSE_OK : rc; /* somebody is reading it: next time */
}

/* Rows of other tables that belong to days that were dropped. */
static int sweep(struct gbose__pg *c, gbose_error *err)
{
    static const char *const pieces[] = {
        "DELETE FROM outcome WHERE key = ANY(ARRAY(SELECT o.key FROM outcome o JOIN gone USING (day) LIMIT "
        "5000))",
        "DELETE FROM named n USING (SELECT bandit, name FROM named JOIN gone USING (day) LIMIT 5000) AS t"
        " WHERE n.bandit = t.bandit AND n.name = t.name",
    };
    uint64_t left = 0;

    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        PGresult *r;
        int rc = gbose__pg_query(c, pieces[i], NULL, &r, err);

        if (rc)
            return rc;
        left += gbose__pg_changed(r);
        PQclear(r);
    }
    if (!left && gbose__pg_query(c, "DELETE FROM gone", NULL, NULL, err))
        return GBOSE__EAWAY;
    /* Servers that are gone, or have long settled what was in doubt. */
    return gbose__pg_query(c, "DELETE FROM done WHERE time < now() - interval '1 day'", NULL, NULL, err);
}

int gbose__pg_tend(struct gbose__store *base, gbose_error *err)
{
    struct gbose__pg_store *store = (struct gbose__pg_store *)base;
    struct gbose__pg *c = &store->keeper;
    PGresult *r;
    int32_t day[2];
    int rc = gbose__pg_query(c, "SELECT (extract(epoch FROM now()) / 86400)::int4", NULL, &r, err);

    if (rc)
        return rc == GBOSE__PG_AGAIN ? GBOSE_OK : rc;
    day[0] = (int32_t)gbose__pg_int(r, 0, 0);
    day[1] = day[0] + 1;
    PQclear(r);
    rc = gbose__pg_make_days(c, day, 2, err);
    if (!rc)
        rc = gbose__pg_query(
            c,
            "SELECT substring(pg_get_expr(p.relpartbound, p.oid) FROM '[0-9]+')::int4 AS day"
            " FROM pg_inherits i JOIN pg_class p ON p.oid = i.inhrelid"
            " WHERE i.inhparent = 'gbose.event'::regclass AND EXISTS (SELECT 1 FROM numbering WHERE retained "
            ">="
            " (substring(pg_get_expr(p.relpartbound, p.oid) FROM '[0-9]+')::int8 + 1) * 86400000) ORDER BY 1",
            NULL, &r, err);
    if (rc)
        return rc == GBOSE__PG_AGAIN ? GBOSE_OK : rc;
    for (int i = 0; i < PQntuples(r) && !rc; i++)
        rc = drop_day(c, (int32_t)gbose__pg_int(r, i, 0), err);
    PQclear(r);
    if (!rc)
        rc = sweep(c, err);
    return rc == GBOSE__PG_AGAIN ? GBOSE_OK : rc;
}
