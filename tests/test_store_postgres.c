/* The PostgreSQL store keeps the contract (support/store_contract.h), and its connections break at every place; besides days, damage,
 * and other versions. Run by scripts/postgres.py, which starts a PostgreSQL for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <libpq-fe.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "store/sum.h"
#include "support/store_postgres.h"

/* ---- connections that break ---- */

/* Every call of libpq that sends something is two steps that can fail: its connection breaks before it has sent, or after. */
int __real_PQsendQuery(PGconn *conn, const char *query);
int __wrap_PQsendQuery(PGconn *conn, const char *query);
int __real_PQsendQueryPrepared(PGconn *, const char *, int, const char *const *, const int *, const int *,
                               int);
int __wrap_PQsendQueryPrepared(PGconn *, const char *, int, const char *const *, const int *, const int *,
                               int);
int __real_PQputCopyData(PGconn *conn, const char *buffer, int n);
int __wrap_PQputCopyData(PGconn *conn, const char *buffer, int n);

static void cut(PGconn *conn)
{
    shutdown(PQsocket(conn), SHUT_RDWR);
}

/* Let what was sent arrive, and its effects happen, before the connection is cut. */
static void cut_later(PGconn *conn)
{
    struct timespec pause = {0, 20 * 1000000};

    while (PQflush(conn) > 0)
        ;
    nanosleep(&pause, NULL);
    shutdown(PQsocket(conn), SHUT_RDWR);
}

int __real_PQpipelineSync(PGconn *conn);
int __wrap_PQpipelineSync(PGconn *conn);

#define WITH_FAULTS(call)                                                                                    \
    int before = store_step_fails(), sent;                                                                   \
    if (before)                                                                                              \
        cut(conn);                                                                                           \
    sent = call;                                                                                             \
    if (!before && store_step_fails())                                                                       \
        cut_later(conn);                                                                                     \
    return sent

int __wrap_PQsendQuery(PGconn *conn, const char *query)
{
    WITH_FAULTS(__real_PQsendQuery(conn, query));
}

int __wrap_PQsendQueryPrepared(PGconn *conn, const char *name, int n, const char *const *values,
                               const int *lengths, const int *formats, int format)
{
    WITH_FAULTS(__real_PQsendQueryPrepared(conn, name, n, values, lengths, formats, format));
}

int __wrap_PQputCopyData(PGconn *conn, const char *buffer, int n)
{
    WITH_FAULTS(__real_PQputCopyData(conn, buffer, n));
}

int __wrap_PQpipelineSync(PGconn *conn)
{
    WITH_FAULTS(__real_PQpipelineSync(conn));
}

/* ---- days ---- */

static void old_days_are_dropped_as_a_whole(void **state)
{
    static const int64_t a_day = 86400000;
    struct place *p = *state;
    uint32_t a = store_bandit(p, "a"), b = store_bandit(p, "b");
    struct gbose__change change;
    struct gbose__counts counts;

    for (uint64_t i = 0; i < 6; i++) {
        change = store_event(i % 2 ? a : b, i, i < 2 ? "mine" : NULL, 5000);
        change.of.event.time = (int64_t)i / 2 * a_day + 7;
        store_ok(p, p->store->apply(p->store, &change, 1, &p->err));
        if (i < 4)
            store_reward(p, i % 2 ? a : b, i, "", 1, (int64_t)i / 2 * a_day + 8, 1, GBOSE__DONE);
    }
    assert_int_equal(sql("SELECT count(*) FROM pg_inherits WHERE inhparent = 'gbose.event'::regclass"), 3);
    for (uint32_t of = a; of <= b; of++) {
        change =
            (struct gbose__change){.kind = GBOSE__ADD_SNAPSHOT, .of.snapshot = {of, 1, 2, "two", 3, 0, 0}};
        store_ok(p, p->store->apply(p->store, &change, 1, &p->err));
        change = (struct gbose__change){.kind = GBOSE__RETAIN,
                                        .of.erase = {.bandit = of, .before = 2 * a_day, .most = 0}};
        store_ok(p, p->store->fleet->tend(p->store, &p->err));
        assert_int_equal(sql("SELECT count(*) FROM gbose.event"),
                         6); /* not while one bandit keeps its events */
        store_ok(p, p->store->apply(p->store, &change, 1, &p->err));
    }
    store_ok(p, p->store->fleet->tend(p->store, &p->err));
    assert_int_equal(sql("SELECT count(*) FROM gbose.event"), 2);
    assert_int_equal(sql("SELECT count(*) FROM gbose.reward"), 0);
    store_ok(p, p->view->counts(p->view, a, &counts, &p->err));
    assert_int_equal(counts.dropped, 2);
    assert_int_equal(counts.pending, 1);
    change = store_event(a, 9, "mine", 5000);
    change.of.event.time = 2 * a_day;
    store_ok(p, p->store->apply(p->store, &change, 1, &p->err));
    assert_int_equal(change.result, GBOSE__DONE); /* the name is free again */
    for (int i = 0; i < 3; i++)
        store_ok(p, p->store->fleet->tend(p->store, &p->err));
    assert_int_equal(sql("SELECT (SELECT count(*) FROM gbose.outcome) + (SELECT count(*) FROM gbose.gone)"),
                     0);
    assert_int_equal(sql("SELECT count(*) FROM gbose.named"), 1);
}

/* ---- damage ---- */

static int look_at_bandit(void *context, const struct gbose__bandit_row *row)
{
    (void)context;
    (void)row;
    return 0;
}

static void damage_is_refused_with_a_sentence(void **state)
{
    static const char *const damage[] = {
        "UPDATE gbose.event SET body = body || 'x'::bytea",  "UPDATE gbose.event SET arm = 0",
        "UPDATE gbose.event SET pmf = substr(pmf, 2)",       "UPDATE gbose.outcome SET reward = reward + 1",
        "UPDATE gbose.reward SET value = value + 1",         "UPDATE gbose.event SET deadline = deadline + 1",
        "UPDATE gbose.bandit SET settings = '{\"cap\": 2}'",
    };
    struct place *p = *state;
    uint32_t a = store_bandit(p, "a");
    struct seen seen;
    int rc;

    for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
        sql("DELETE FROM gbose.event");
        sql("DELETE FROM gbose.reward");
        sql("DELETE FROM gbose.outcome");
        store_add_event(p, a, i, 5000);
        store_reward(p, a, i, "", 0.5, 2000, 1, GBOSE__DONE);
        assert_int_equal(store_seen(p, a, i, NULL).n, 1);
        sql(damage[i]);
        memset(&seen, 0, sizeof seen);
        rc = p->view->bandits(p->view, look_at_bandit, NULL, &p->err);
        if (!rc)
            rc = p->view->events(p->view, a, 0, 64, 0, store_see, &seen, &p->err);
        assert_int_equal(rc, GBOSE__ECORRUPT);
        assert_non_null(strstr(p->err.text, "does not match its checksum"));
    }
}

static void strangers_and_other_versions_are_refused(void **state)
{
    struct place *p = *state;
    struct gbose__store *store;
    int from, to;

    store_ok(p, gbose__postgres_migrate(postgres_url(), 1, &from, &to, &p->err));
    assert_int_equal(from, to);
    sql("UPDATE gbose.meta SET value = '99' WHERE name = 'version'");
    assert_int_equal(gbose__postgres_open(&store, postgres_url(), 1, 0, &p->err), GBOSE_EVERSION);
    assert_non_null(strstr(p->err.text, "use a newer one"));
    sql("DROP SCHEMA gbose CASCADE");
    assert_int_equal(gbose__postgres_open(&store, postgres_url(), 0, 1, &p->err), GBOSE__EABSENT);
    assert_non_null(strstr(p->err.text, "gbose store init"));
    sql("CREATE SCHEMA gbose");
    assert_int_equal(gbose__postgres_open(&store, postgres_url(), 1, 0, &p->err), GBOSE__ECORRUPT);
    sql("DROP SCHEMA gbose CASCADE");
    assert_int_equal(gbose__postgres_migrate(postgres_url(), 0, &from, &to, &p->err), GBOSE__EABSENT);
    store_ok(p, gbose__postgres_migrate(postgres_url(), 1, &from, &to, &p->err));
    assert_int_equal(from, 0);
    assert_int_equal(gbose__postgres_open(&store, "postgresql://gbose@127.0.0.1:1/nowhere", 1, 0, &p->err),
                     GBOSE__EAWAY);
}

/* The tables that version 2 has changed, as version 1 had them: a row for each event that is open. */
static void make_version_1(void)
{
    sql("CREATE TABLE gbose.was AS SELECT e.key, (e.key >> 40)::int4 AS bandit, e.deadline, e.day, (e.flags "
        "& 1) <> 0 AS deferred,"
        " EXISTS (SELECT FROM gbose.activated a WHERE a.event = e.key) AS activated"
        " FROM gbose.event e WHERE NOT EXISTS (SELECT FROM gbose.outcome o WHERE o.event = e.key)");
    sql("DROP TABLE gbose.pending, gbose.activated");
    sql("CREATE TABLE gbose.pending (key int8 PRIMARY KEY, bandit int4 NOT NULL, deadline int8 NOT NULL,"
        " day int4 NOT NULL, deferred boolean NOT NULL, activated boolean NOT NULL)");
    sql("CREATE INDEX pending_due ON gbose.pending (bandit, deadline, key)");
    sql("INSERT INTO gbose.pending SELECT * FROM gbose.was");
    sql("DROP TABLE gbose.was");
    sql("UPDATE gbose.meta SET value = '1' WHERE name = 'version'");
}

static void a_store_of_version_1_is_migrated(void **state)
{
    struct place *p = *state;
    uint32_t a = store_bandit(p, "a"), b = store_bandit(p, "b");
    struct gbose__store *store;
    struct gbose__change change, named;
    struct seen seen;
    char text[200];
    int from, to;

    for (uint64_t i = 0; i < 500; i++) { /* number 10 is missing, and 300 is of the next day */
        change = store_event(i < 400 ? a : b, i % 400, NULL, 5000 + (int64_t)(i % 7));
        change.of.event.flags = i == 20 || i == 21 ? GBOSE__DEFERRED : 0;
        change.of.event.time += i == 300 ? 86400000 : 0;
        if (i != 10)
            store_ok(p, p->store->apply(p->store, &change, 1, &p->err));
    }
    change = (struct gbose__change){.kind = GBOSE__ACTIVATE_EVENT,
                                    .of.reward = {.bandit = a, .number = 20, .now = 2000}};
    store_ok(p, p->store->apply(p->store, &change, 1, &p->err));
    store_reward(p, a, 1, "", 1, 2000, 1, GBOSE__DONE);
    store_reward(p, a, 2, "early", 4, 2000, 0, GBOSE__DONE);
    change = named = store_event(b, 1000, "mine", 5000);
    store_ok(p, p->store->apply(p->store, &change, 1, &p->err));
    snprintf(text, sizeof text, "UPDATE gbose.event SET body = '%s', sum = %lld WHERE name = 'mine'",
             named.of.event.body, (long long)gbose__sum_event(&named.of.event)); /* its text was not packed */
    sql(text);
    make_version_1();
    assert_int_equal(sql("SELECT count(*) FROM gbose.pending"), 499);
    store_close(p);
    assert_int_equal(gbose__postgres_open(&store, postgres_url(), 1, 0, &p->err), GBOSE_EVERSION);
    assert_non_null(strstr(p->err.text, "gbose store migrate"));

    store_ok(p, gbose__postgres_migrate(postgres_url(), 0, &from, &to, &p->err));
    assert_true(from == 1 && to == 3);
    store_open(p);
    assert_int_equal(sql("SELECT sum(last - first + 1) FROM gbose.pending"), 499);
    /* Of a: 0, 2 to 9, 11 to 255, 256 to 299, 300, 301 to 399; and of b: 0 to 99, 1000. */
    assert_int_equal(sql("SELECT count(*) FROM gbose.pending"), 8);
    assert_int_equal(sql("SELECT count(*) FROM gbose.pending p WHERE deadline <> (SELECT min(e.deadline) FROM"
                         " gbose.event e WHERE e.day = p.day AND e.key BETWEEN p.first AND p.last)"),
                     0);
    seen = store_seen(p, a, 20, NULL);
    assert_true(seen.n == 1 && seen.activated);
    assert_string_equal(store_seen(p, b, 0, "mine").body, named.of.event.body);
    change = named;
    change.of.event.number = 1001;
    store_ok(p, p->store->apply(p->store, &change, 1, &p->err));
    assert_true(change.result == GBOSE__REPEATED && change.of.event.number == 1000);
    change.of.event.body = "{\"contexts\":[[1,2,4]]}";
    store_ok(p, p->store->apply(p->store, &change, 1, &p->err));
    assert_int_equal(change.result, GBOSE__CONFLICT);
    store_reward(p, a, 1, "", 1, 2000, 1, GBOSE__REPEATED);
    store_reward(p, a, 2, "late", 1, 2000, 1, GBOSE__DONE);
    close_all(p, a);
    close_all(p, b);
    nothing_is_open();
    assert_int_equal(sql("SELECT count(*) FROM gbose.outcome"), 500);
    assert_int_equal(sql("SELECT count(*) FROM gbose.outcome WHERE why = 3"),
                     1); /* of two that were deferred */
    assert_true(store_seen(p, a, 2, NULL).reward[0] == 5);
}

/* Version 2 had these tables, too, but its checksum of a packed text left out the last bytes. */
static void a_store_of_version_2_is_migrated(void **state)
{
    /* Of event 2 of bandit 102, the first one of a new database, as version 2 wrote it. */
    static const char *const earlier = "UPDATE gbose.event SET sum = 3092588667303642374",
                             *const has_earlier =
                                 "SELECT count(*) FROM gbose.event WHERE sum = 3092588667303642374",
                             *const version = "SELECT convert_from(value, 'UTF8') FROM gbose.meta WHERE name "
                                              "= 'version'";
    struct place *p = *state;
    uint32_t a = store_bandit(p, "a");
    struct gbose__store *store;
    struct seen seen = {0};
    int from, to;

    assert_int_equal(a, 102);
    store_add_event(p, a, 2, 5000);
    assert_int_equal(sql(has_earlier), 0);
    sql(earlier);
    sql("UPDATE gbose.meta SET value = '2' WHERE name = 'version'");
    store_close(p);
    for (int beside = 0; beside < 2; beside++) {
        assert_int_equal(gbose__postgres_open(&store, postgres_url(), !beside, beside, &p->err),
                         GBOSE_EVERSION);
        assert_non_null(strstr(p->err.text, "of version 2, and this gbose works on 3: gbose store migrate"));
    }
    assert_int_equal(sql(version), 2);

    store_ok(p, gbose__postgres_migrate(postgres_url(), 0, &from, &to, &p->err));
    assert_true(from == 2 && to == 3);
    assert_int_equal(sql(version), 3);
    store_ok(p, gbose__postgres_migrate(postgres_url(), 0, &from, &to, &p->err));
    assert_true(from == 3 && to == 3);
    assert_int_equal(sql(has_earlier), 1);
    store_open(p);
    assert_string_equal(store_seen(p, a, 2, NULL).body, "{\"contexts\":[[1,2,3]]}");
    store_reward(p, a, 2, "", 1, 2000, 1, GBOSE__DONE);
    store_add_event(p, a, 3, 5000);
    assert_string_equal(store_seen(p, a, 3, NULL).body, "{\"contexts\":[[1,2,3]]}");
    sql("UPDATE gbose.event SET body = set_byte(body, length(body) - 1, get_byte(body, length(body) - 1) # 1)"
        " WHERE key & 255 = 3"); /* in the byte that only the new checksum covers */
    assert_int_equal(p->view->event(p->view, a, 3, NULL, store_see, &seen, &p->err), GBOSE__ECORRUPT);
    assert_non_null(strstr(p->err.text, "does not match its checksum"));
}

static void a_password_is_not_shown(void **state)
{
    char name[100];

    (void)state;
    gbose__store_name(name, sizeof name, "postgresql://me:secret@db.example:5432/shop?sslmode=require");
    assert_string_equal(name, "postgresql://me@db.example:5432/shop?sslmode=require");
    gbose__store_name(name, sizeof name, "postgresql://db.example/shop?user=me&password=secret");
    assert_null(strstr(name, "secret"));
    gbose__store_name(name, sizeof name, "postgres:///shop");
    assert_string_equal(name, "postgres:///shop");
}

int main(void)
{
#define PROMISE(name) cmocka_unit_test_setup_teardown(name, postgres_set_up, postgres_tear_down)
#define PROMISE_OF_ALL(name) PROMISE(name),
    const struct CMUnitTest tests[] = {
        STORE_PROMISES(PROMISE_OF_ALL) PROMISE(old_days_are_dropped_as_a_whole),
        PROMISE(damage_is_refused_with_a_sentence),
        PROMISE(strangers_and_other_versions_are_refused),
        PROMISE(a_store_of_version_1_is_migrated),
        PROMISE(a_store_of_version_2_is_migrated),
        PROMISE(a_password_is_not_shown),
    };

    if (!postgres_url()) {
        fprintf(stderr, "test_store_postgres: run it by scripts/postgres.py\n");
        return 2;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
