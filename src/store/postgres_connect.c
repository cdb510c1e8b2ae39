/* Connections to PostgreSQL.
 *
 * Nothing here waits without end: a network that swallows everything looks like a database that is slow, so
 * an answer that does not come within the patience of a connection closes it. */
#include "store/postgres_inner.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/error.h"

#define SEEK_EVERY 300 /* milliseconds between two attempts to reach a database that is away */

/* What every session has. Plans must not depend on what a table looked like when it was young, so they go by
 * indices always; a session that is left in the middle of a transaction is ended by the database; and what is
 * acknowledged must be on the disk, whatever the database's default is. */
static const char settings[] =
    "SET search_path = gbose; SET client_min_messages = warning; SET enable_seqscan "
    "= off; SET enable_hashjoin = off;"
    "SET enable_mergejoin = off; SET jit = off; SET plan_cache_mode = "
    "force_generic_plan; SET bytea_output = hex;"
    "SET statement_timeout = '30s'; SET lock_timeout = '2s'; SET "
    "idle_in_transaction_session_timeout = '10s';"
    "SET default_transaction_isolation = 'read committed';"
    "SELECT set_config('synchronous_commit', 'on', false)"
    " WHERE current_setting('synchronous_commit') = 'off'";

int64_t gbose__pg_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- errors ---- */

/* Messages of libpq have several lines, and a line of a log must be one. */
static void one_line(char *to, size_t size, const char *from)
{
    size_t n = 0;

    for (; *from && n + 2 < size; from++)
        if (*from == '\n' && from[1]) {
            to[n++] = ';';
            to[n++] = ' ';
        } else if (!strchr(" \t\n", *from)) {
            to[n++] = *from;
        } else if (n && to[n - 1] != ' ') {
            to[n++] = ' ';
        }
    while (n && to[n - 1] == ' ')
        n--;
    to[n] = 0;
}

static int away(struct gbose__pg *c, const char *why, gbose_error *err)
{
    char text[300];

    one_line(text, sizeof text, why);
    gbose__pg_disconnect(c);
    return gbose__fail(err, GBOSE__EAWAY, "the database cannot be reached: %.300s", text);
}

/* What the failure of a statement means. Classes of SQLSTATE: 08 connection, 53 resources, 57 somebody
 * intervened, 58 the system; 25006 is a standby that has taken the place of the server we had. */
static int refused(struct gbose__pg *c, const PGresult *r, gbose_error *err)
{
    const char *state = r ? PQresultErrorField(r, PG_DIAG_SQLSTATE) : NULL;
    char text[300];

    if (state && PQstatus(c->conn) == CONNECTION_OK &&
        (!strncmp(state, "53", 2) || !strncmp(state, "58", 2))) {
        one_line(text, sizeof text, PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY));
        gbose__pg_disconnect(c);
        return gbose__fail(err, GBOSE__EAWAY, "the database cannot go on: %.300s", text);
    }
    if (!state || PQstatus(c->conn) != CONNECTION_OK || !strncmp(state, "08", 2) ||
        !strncmp(state, "57", 2) || !strcmp(state, "25006"))
        return away(c, r && state ? PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY) : PQerrorMessage(c->conn),
                    err);
    one_line(text, sizeof text, PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY));
    if (!strcmp(state, "40001") || !strcmp(state, "40P01") || !strcmp(state, "55P03") ||
        !strcmp(state, "23514"))
        return gbose__fail(err, GBOSE__PG_AGAIN, "cannot write to the store: %.300s", text);
    if (!strncmp(state, "XX", 2))
        return gbose__fail(err, GBOSE__ECORRUPT, "the database is damaged: %.300s", text);
    if (!strcmp(state, "42501"))
        return gbose__fail(
            err, GBOSE__ESTORE,
            "the database says: %.200s. Use the user who owns the store, or one who may create a schema",
            text);
    return gbose__fail(err, GBOSE__ESTORE, "the database says: %.300s (%s)", text, state);
}

int gbose__pg_damaged(const char *what, gbose_error *err)
{
    return gbose__fail(err, GBOSE__ECORRUPT, "the store is damaged: %s does not match its checksum", what);
}

int gbose__pg_foreign(const struct gbose__pg_home *home, gbose_error *err)
{
    int version = atomic_load(&home->foreign);

    return version ? gbose__fail(err, GBOSE__EAWAY,
                                 "the store is of version %d by now, and this gbose works on %d: use the "
                                 "gbose that migrated it",
                                 version, GBOSE__PG_VERSION)
                   : GBOSE_OK;
}

/* ---- waiting ---- */

/* Wait until the socket can be read (or also written to). 0, or -1: time is up, or it is broken. */
static int wait_for(PGconn *conn, short events, int64_t until)
{
    struct pollfd p = {PQsocket(conn), events, 0};
    int64_t left = until - gbose__pg_clock();
    int n;

    if (p.fd < 0 || left <= 0)
        return -1;
    n = poll(&p, 1, (int)left);
    return n > 0 || (n < 0 && errno == EINTR) ? 0 : -1;
}

/* Send what is queued and wait for the next result. *out is NULL when there is none left. 0, or -1. */
static int next_result(PGconn *conn, PGresult **out, int64_t until)
{
    int flush = PQflush(conn);

    *out = NULL;
    while (flush > 0 || PQisBusy(conn)) {
        if (flush < 0 || wait_for(conn, flush > 0 ? POLLIN | POLLOUT : POLLIN, until) ||
            !PQconsumeInput(conn))
            return -1;
        flush = PQflush(conn);
    }
    if (flush < 0)
        return -1;
    *out = PQgetResult(conn);
    return 0;
}

/* Take all results of what was sent; *out is the last one, or the first that failed. 0, or -1: the
 * connection does not answer. */
static int last_result(PGconn *conn, PGresult **out, int64_t until)
{
    PGresult *r;

    *out = NULL;
    for (;;) {
        ExecStatusType was = *out ? PQresultStatus(*out) : PGRES_COMMAND_OK;

        if (next_result(conn, &r, until))
            return -1;
        if (!r)
            return 0;
        if (was == PGRES_FATAL_ERROR) {
            PQclear(r);
            continue;
        }
        PQclear(*out);
        *out = r;
        if (PQresultStatus(r) == PGRES_COPY_IN)
            return 0;
    }
}

static int finish(struct gbose__pg *c, PGresult **out, gbose_error *err)
{
    PGresult *r;
    int rc = GBOSE_OK;

    if (last_result(c->conn, &r, gbose__pg_clock() + (c->patience ? c->patience : c->home->patience))) {
        PQclear(r);
        return away(c, PQstatus(c->conn) == CONNECTION_OK ? "it does not answer" : PQerrorMessage(c->conn),
                    err);
    }
    if (!r || (PQresultStatus(r) != PGRES_COMMAND_OK && PQresultStatus(r) != PGRES_TUPLES_OK &&
               PQresultStatus(r) != PGRES_COPY_IN))
        rc = refused(c, r, err);
    if (rc || !out)
        PQclear(r);
    else
        *out = r;
    return rc;
}

/* ---- connecting ---- */

int gbose__pg_check_url(const char *url, gbose_error *err)
{
    char *message = NULL, text[300];
    PQconninfoOption *options = PQconninfoParse(url, &message);
    int good = 1;

    if (!options) {
        one_line(text, sizeof text, message ? message : "no memory");
        if (strstr(text, " in URI: ")) /* which may have a password in it */
            *strstr(text, " in URI: ") = 0;
        PQfreemem(message);
        return gbose__fail(err, GBOSE_EINVAL, "this is not the URL of a database: %s", text);
    }
    for (const PQconninfoOption *o = options; o->keyword; o++)
        if (!strcmp(o->keyword, "port"))
            for (const char *at = o->val ? o->val : "", *end; *at && good; at = *end ? end + 1 : end) {
                long port = strtol(at, (char **)&end, 10);

                good = (!*end || *end == ',') && (end == at || (port >= 1 && port <= 65535));
                if (!good)
                    gbose__fail(err, GBOSE_EINVAL,
                                "this is not the URL of a database: its port is '%.100s', and must be from 1 "
                                "to 65535",
                                o->val);
            }
    PQconninfoFree(options);
    return good ? GBOSE_OK : GBOSE_EINVAL;
}

/* Notices are not for people, but a warning matters: a database that is made to stop waiting for its synchronous
 * standby commits, and only warns. */
static void note_warning(void *context, const PGresult *r)
{
    const char *severity = PQresultErrorField(r, PG_DIAG_SEVERITY_NONLOCALIZED);

    if (severity && !strcmp(severity, "WARNING"))
        ((struct gbose__pg *)context)->warned = 1;
}

/* Is it the database that we know, or a standby in its place? What is like PostgreSQL and has no timelines has no history. */
static int read_history(struct gbose__pg *c, gbose_error *err)
{
    unsigned known = atomic_load(&c->home->history);
    PGresult *r;
    int rc =
        gbose__pg_exec(c,
                       "SELECT CASE WHEN pg_is_in_recovery() THEN 0"
                       " ELSE ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int8 END",
                       &r, err);

    c->history = 0;
    if (rc)
        return c->conn ? GBOSE_OK : rc;
    c->history = (unsigned)strtoul(PQgetvalue(r, 0, 0), NULL, 10);
    PQclear(r);
    if (!known || !c->history || c->history == known || (c->adopts && c->history > known))
        return GBOSE_OK;
    if (c->history < known)
        return away(c, "a standby has taken its place, and this is the one from before", err);
    atomic_store(&c->home->renewed, c->history);
    return away(c, "a standby has taken its place", err);
}

static int open_connection(struct gbose__pg *c, gbose_error *err)
{
    /* Options of the URL come last, and win. Of several hosts the one that takes writes is meant. */
    static const char *const names[] = {"application_name",    "connect_timeout",  "keepalives_idle",
                                        "keepalives_interval", "keepalives_count", "target_session_attrs",
                                        "tcp_user_timeout",    "dbname",           NULL};
    const char *const values[] = {"gbose", "3", "5", "2", "3", "read-write", "10000", c->home->url, NULL};
    PGresult *r;
    int rc;

    c->n_prepared = 0;
    c->conn = PQconnectStartParams(names, values, 1);
    if (!c->conn)
        return gbose__no_memory(err);
    for (int64_t until = gbose__pg_clock() + (c->home->patience < 3000 ? c->home->patience : 3000);;) {
        PostgresPollingStatusType step =
            PQstatus(c->conn) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PQconnectPoll(c->conn);

        if (step == PGRES_POLLING_OK)
            break;
        if (step == PGRES_POLLING_FAILED && PQconnectionNeedsPassword(c->conn))
            return away(c, "it wants a password: give it by PGPASSFILE or PGPASSWORD", err);
        if (step == PGRES_POLLING_FAILED)
            return away(c, PQerrorMessage(c->conn), err);
        if (wait_for(c->conn, step == PGRES_POLLING_READING ? POLLIN : POLLOUT, until))
            return away(c, "it does not answer", err);
    }
    PQsetnonblocking(c->conn, 1);
    PQsetNoticeReceiver(c->conn, note_warning, c);
    rc = gbose__pg_exec(c, settings, NULL, err);
    if (!rc)
        rc = read_history(c, err);
    if (rc || !c->seeks)
        return rc;
    /* What writes must not land on a standby, and can tell its session from others. */
    rc = gbose__pg_exec(c,
                        "SELECT pg_is_in_recovery(), pid, (extract(epoch FROM backend_start) * 1000000)::int8"
                        " FROM pg_stat_activity WHERE pid = pg_backend_pid()",
                        &r, err);
    if (rc)
        return rc;
    if (PQntuples(r) != 1 || strcmp(PQgetvalue(r, 0, 0), "f"))
        rc = away(c, "it is a standby, which takes no writes", err);
    c->pid = rc ? 0 : strtoll(PQgetvalue(r, 0, 1), NULL, 10);
    c->since = rc ? 0 : strtoll(PQgetvalue(r, 0, 2), NULL, 10);
    PQclear(r);
    return rc;
}

int gbose__pg_connect(struct gbose__pg *c, gbose_error *err)
{
    int64_t now;
    int rc;

    if (c->conn && PQstatus(c->conn) == CONNECTION_OK &&
        (!c->history || c->history == atomic_load(&c->home->history) || !atomic_load(&c->home->history) ||
         PQtransactionStatus(c->conn) != PQTRANS_IDLE))
        return GBOSE_OK;
    gbose__pg_disconnect(c);
    if (atomic_load(&c->home->away) && !c->seeks)
        return gbose__fail(err, GBOSE__EAWAY, "the database cannot be reached");
    now = gbose__pg_clock();
    if (c->sought && now - c->sought < SEEK_EVERY)
        return gbose__fail(err, GBOSE__EAWAY, "the database cannot be reached");
    rc = open_connection(c, err);
    if (rc)
        gbose__pg_disconnect(c);
    c->sought = rc ? gbose__pg_clock() : 0;
    return rc;
}

void gbose__pg_disconnect(struct gbose__pg *c)
{
    PQfinish(c->conn);
    c->conn = NULL;
    c->n_prepared = 0;
}

/* ---- statements ---- */

static int prepare(struct gbose__pg *c, const char *sql, int *place, gbose_error *err)
{
    char name[16];
    int rc, i = 0;

    while (i < c->n_prepared && c->prepared[i] != sql)
        i++;
    *place = i;
    if (i < c->n_prepared)
        return GBOSE_OK;
    if (i == GBOSE__PG_STATEMENTS)
        return gbose__fail(err, GBOSE__ESTORE, "the store has more statements than places");
    snprintf(name, sizeof name, "s%d", i);
    if (!PQsendPrepare(c->conn, name, sql, 0, NULL))
        return away(c, PQerrorMessage(c->conn), err);
    rc = finish(c, NULL, err);
    if (rc)
        return rc;
    c->prepared[c->n_prepared++] = sql;
    return GBOSE_OK;
}

int gbose__pg_query(struct gbose__pg *c, const char *sql, const struct gbose__pg_args *args, PGresult **out,
                    gbose_error *err)
{
    char name[16];
    int rc = gbose__pg_connect(c, err), place = 0;

    if (!rc)
        rc = prepare(c, sql, &place, err);
    if (rc)
        return rc;
    snprintf(name, sizeof name, "s%d", place);
    if (!PQsendQueryPrepared(c->conn, name, args ? args->n : 0, args ? args->value : NULL,
                             args ? args->length : NULL, args ? args->format : NULL, 1))
        return away(c, PQerrorMessage(c->conn), err);
    return finish(c, out, err);
}

/* ---- several at once ---- */

struct gbose__pg_args *gbose__pg_batch_add(struct gbose__pg_batch *batch, const char *sql)
{
    batch->sql[batch->n] = sql;
    return &batch->args[batch->n++];
}

void gbose__pg_batch_clear(struct gbose__pg_batch *batch)
{
    for (int i = 0; i < batch->n; i++)
        PQclear(batch->result[i]);
    memset(batch, 0, sizeof *batch);
}

/* Take the results of a pipeline up to its end. *failed is the first that is an error. 0, or -1. */
static int take_results(struct gbose__pg *c, struct gbose__pg_batch *batch, PGresult **failed)
{
    int64_t until = gbose__pg_clock() + (c->patience ? c->patience : c->home->patience);
    PGresult *r, *end;

    for (int i = 0; i <= batch->n; i++) { /* the last one is that of the end itself */
        if (next_result(c->conn, &r, until) || !r)
            return -1;
        if (PQresultStatus(r) == PGRES_PIPELINE_SYNC) {
            PQclear(r);
            return i == batch->n ? 0 : -1;
        }
        if (i == batch->n || next_result(c->conn, &end, until) || end) { /* each is followed by nothing */
            PQclear(r);
            return -1;
        }
        batch->result[i] = r;
        if (PQresultStatus(r) != PGRES_COMMAND_OK && PQresultStatus(r) != PGRES_TUPLES_OK && !*failed)
            *failed = r;
    }
    return -1;
}

int gbose__pg_batch_run(struct gbose__pg *c, struct gbose__pg_batch *batch, gbose_error *err)
{
    PGresult *failed = NULL;
    char name[16];
    int rc = gbose__pg_connect(c, err), place[8], sent = 1;

    for (int i = 0; i < batch->n && !rc; i++)
        rc = prepare(c, batch->sql[i], &place[i], err);
    if (rc)
        return rc;
    sent = PQenterPipelineMode(c->conn);
    for (int i = 0; i < batch->n && sent; i++) {
        const struct gbose__pg_args *args = &batch->args[i];

        snprintf(name, sizeof name, "s%d", place[i]);
        sent = PQsendQueryPrepared(c->conn, name, args->n, args->value, args->length, args->format, 1);
    }
    if (!sent || !PQpipelineSync(c->conn) || take_results(c, batch, &failed))
        return away(c, PQstatus(c->conn) == CONNECTION_OK ? "it does not answer" : PQerrorMessage(c->conn),
                    err);
    if (!PQexitPipelineMode(c->conn))
        return away(c, PQerrorMessage(c->conn), err);
    return failed ? refused(c, failed, err) : GBOSE_OK;
}

int gbose__pg_query_ints(struct gbose__pg *c, const char *sql, int n, const int64_t *numbers, PGresult **out,
                         gbose_error *err)
{
    struct gbose__pg_args args = {0};

    for (int i = 0; i < n; i++)
        gbose__pg_arg_int(&args, numbers[i]);
    return gbose__pg_query(c, sql, &args, out, err);
}

int gbose__pg_exec(struct gbose__pg *c, const char *sql, PGresult **out, gbose_error *err)
{
    if (!c->conn)
        return gbose__fail(err, GBOSE__EAWAY, "the database cannot be reached");
    if (!PQsendQuery(c->conn, sql))
        return away(c, PQerrorMessage(c->conn), err);
    return finish(c, out, err);
}

int gbose__pg_copy(struct gbose__pg *c, const char *sql, const struct gbose__pg_bytes *rows, gbose_error *err)
{
    static const char head[19] = "PGCOPY\n\377\r\n", tail[2] = "\377\377";
    const struct {
        const char *at;
        size_t size;
    } part[] = {{head, sizeof head}, {rows->at, rows->size}, {tail, sizeof tail}};
    int64_t until = gbose__pg_clock() + c->home->patience;
    int rc;

    if (rows->bad)
        return gbose__no_memory(err);
    rc = gbose__pg_exec(c, sql, NULL, err);
    for (size_t i = 0; i < sizeof part / sizeof *part && !rc; i++)
        for (size_t at = 0, n; at < part[i].size && !rc; at += n) {
            int sent;

            n = part[i].size - at < 1 << 16 ? part[i].size - at : 1 << 16;
            while (!(sent = PQputCopyData(c->conn, part[i].at + at, (int)n)))
                if (wait_for(c->conn, POLLOUT | POLLIN, until) || !PQconsumeInput(c->conn))
                    break;
            if (sent != 1)
                rc = away(c, PQerrorMessage(c->conn), err);
        }
    if (rc)
        return rc;
    if (PQputCopyEnd(c->conn, NULL) < 0)
        return away(c, PQerrorMessage(c->conn), err);
    return finish(c, NULL, err);
}
