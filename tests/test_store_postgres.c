/* The PostgreSQL store keeps the contract (support/store_contract.h); besides its connections break at every place, and
 * several servers work on it at once. Run by scripts/postgres.py, which starts a PostgreSQL for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <libpq-fe.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "support/store_contract.h"

static const char *url(void)
{
    return getenv("GBOSE_TEST_POSTGRES");
}

/* Something done behind the store's back; the first column of the first row as a number. */
static long sql(const char *statement)
{
    PGconn *conn = PQconnectdb(url());
    PGresult *r = (PQclear(PQexec(conn, "SET client_min_messages = error")), PQexec(conn, statement));
    long n = PQresultStatus(r) == PGRES_TUPLES_OK && PQntuples(r) ? atol(PQgetvalue(r, 0, 0)) : 0;

    if (PQresultStatus(r) != PGRES_TUPLES_OK && PQresultStatus(r) != PGRES_COMMAND_OK)
        fail_msg("%s: %s", statement, PQerrorMessage(conn));
    PQclear(r);
    PQfinish(conn);
    return n;
}

static int set_up(void **state)
{
    struct place *p = calloc(1, sizeof *p);

    sql("DROP SCHEMA IF EXISTS gbose CASCADE");
    *p = (struct place){.open = gbose__postgres_open,
                        .dir = strdup(url()),
                        .failure = GBOSE__EAWAY,
                        .says = "the database",
                        .steps = 20,
                        .in_doubt = 1};
    store_open(p);
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    struct place *p = *state;

    store_close(p);
    free(p->dir);
    free(p);
    return 0;
}

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

/* ---- several servers ---- */

struct server {
    pthread_t thread;
    struct gbose__store *store;
    uint32_t bandit;
    int index;
    uint64_t first[200];
    int done[200];
};

static pthread_barrier_t together; /* servers wait for each other before every group */

static void *ask_for_names(void *context)
{
    struct server *s = context;
    void *bad = NULL;
    gbose_error err;

    for (int i = 0; i < 200; i += 4) {
        struct gbose__change group[4];
        char name[4][24];

        for (int k = 0; k < 4;
             k++) { /* in an order of its own: those who wait for each other are told apart */
            snprintf(name[k], sizeof name[k], "name %d", i + (s->index ? k : 3 - k));
            group[k] = store_event(s->bandit, (uint64_t)(1000 * s->index + i + k), name[k], 5000);
        }
        pthread_barrier_wait(&together);
        if (s->store->apply(s->store, group, 4, &err)) {
            fprintf(stderr, "%s\n", err.text);
            bad = s;
        }
        for (int k = 0; k < 4; k++) {
            int at = i + (s->index ? k : 3 - k);

            s->first[at] = group[k].of.event.number;
            s->done[at] = group[k].result == GBOSE__DONE ? 1 : group[k].result == GBOSE__REPEATED ? 2 : 3;
        }
    }
    return bad;
}

/* Several servers at once: all are there before one begins. */
static void run_servers(struct server *s, int n, void *(*run)(void *), struct place *p, uint32_t bandit)
{
    for (int i = 0; i < n; i++) {
        s[i].index = i;
        s[i].bandit = bandit;
        store_ok(p, gbose__postgres_open(&s[i].store, url(), 0, 0, &p->err));
    }
    assert_int_equal(pthread_barrier_init(&together, NULL, (unsigned)n), 0);
    for (int i = 0; i < n; i++)
        assert_int_equal(pthread_create(&s[i].thread, NULL, run, &s[i]), 0);
    for (int i = 0; i < n; i++) {
        void *bad;

        pthread_join(s[i].thread, &bad);
        assert_null(bad);
        s[i].store->close(s[i].store);
    }
    pthread_barrier_destroy(&together);
}

static void a_name_asked_for_at_two_servers_is_one_event(void **state)
{
    struct place *p = *state;
    static struct server s[2];
    int first = 0;

    run_servers(s, 2, ask_for_names, p, store_bandit(p, "a"));
    for (int i = 0; i < 200; i++) {
        assert_int_equal(s[0].first[i], s[1].first[i]);
        assert_int_equal(s[0].done[i] + s[1].done[i], 3); /* one did it, one was told */
        first += s[0].done[i] == 1;
    }
    print_message("the first server decided %d of 200\n", first);
    assert_int_equal(sql("SELECT count(*) FROM gbose.event"), 200);
    assert_int_equal(sql("SELECT sum(events) FROM gbose.tally"), 200);
}

/* One closes what is due, the others reward: every reward is in its outcome, or says that it was late. */
static void *reward_or_close(void *context)
{
    struct server *s = context;
    void *bad = NULL;
    gbose_error err;

    for (int i = 0; i < 100; i++) {
        struct gbose__change group[4] = {
            {.kind = GBOSE__CLOSE_DUE, .of.close = {s->bandit, 5000 + 2 * i, 10, GBOSE__SUM, -2, 0, 0}}};
        char id[8];

        snprintf(id, sizeof id, "%d", s->index);
        for (int k = 0; k < 4 && s->index; k++)
            group[k] = (struct gbose__change){
                .kind = GBOSE__ADD_REWARD,
                .of.reward = {.bandit = s->bandit,
                              .number = (uint64_t)((3 * i + (s->index & 1 ? k : 3 - k)) % 200),
                              .id = id,
                              .value = 1,
                              .now = 2000,
                              .final = s->index == 3 && k == 1,
                              .aggregate = GBOSE__SUM,
                              .default_reward = -2}};
        pthread_barrier_wait(&together);
        if (s->store->apply(s->store, group, s->index ? 4 : 1, &err)) {
            fprintf(stderr, "%s\n", err.text);
            bad = s;
        }
    }
    return bad;
}

static void rewards_are_in_the_outcome_or_late(void **state)
{
    struct place *p = *state;
    uint32_t a = store_bandit(p, "a");
    static struct server s[4];

    for (uint64_t i = 0; i < 200; i++)
        store_add_event(p, a, i, 5000 + (int64_t)i);
    run_servers(s, 4, reward_or_close, p, a);
    assert_int_equal(sql("SELECT count(*) FROM gbose.outcome o WHERE reward <> coalesce((SELECT sum(value) "
                         "FROM gbose.reward r"
                         " WHERE r.event = o.event AND NOT r.late), -2)"),
                     0);
    assert_int_equal(sql("SELECT count(*) - max(key & 1099511627775) FROM gbose.outcome"), 0);
    assert_int_equal(sql("SELECT outcomes FROM gbose.numbering") - sql("SELECT count(*) FROM gbose.outcome"),
                     0);
    assert_int_equal(sql("SELECT sum(pending) FROM gbose.tally") - sql("SELECT count(*) FROM gbose.pending"),
                     0);
    assert_int_equal(
        sql("SELECT sum(late) FROM gbose.tally") - sql("SELECT count(*) FROM gbose.reward WHERE late"), 0);
    assert_true(sql("SELECT count(*) FROM gbose.reward WHERE late") > 0);
    assert_true(sql("SELECT count(*) FROM gbose.outcome WHERE why = 1") > 0);
}

static int keep_news(void *context, const struct gbose__news_row *row)
{
    *(struct gbose__news_row *)context = *row;
    return 0;
}

static int keep_bytes(void *context, const struct gbose__snapshot_row *row)
{
    snprintf(context, 32, "%.*s", (int)row->size, (const char *)row->bytes);
    return 0;
}

static int count_server(void *context, const struct gbose__server_row *row)
{
    assert_true(row->silent < GBOSE__FORGOTTEN);
    ++*(int *)context;
    return 0;
}

static void servers_work_as_one(void **state)
{
    struct place *p = *state;
    uint32_t a = store_bandit(p, "a"), stream[2];
    const struct gbose__fleet *fleet = p->store->fleet;
    struct gbose__snapshot_row row = {a, 1, 20, "twenty", 6, 0, 0};
    struct gbose__news_row news = {0};
    struct gbose__store *other, *third;
    uint64_t version = 0, later;
    char bytes[32];
    int leads, servers = 0;

    store_ok(p, gbose__postgres_open(&other, url(), 0, 0, &p->err));
    store_ok(p, fleet->beat(p->store, "one", "{}", &stream[0], &p->err));
    store_ok(p, fleet->beat(other, "two", "{}", &stream[1], &p->err));
    assert_true(stream[0] == 1 && stream[1] == 2);
    store_ok(p, fleet->beat(p->store, "one", "{}", &stream[0], &p->err));
    assert_int_equal(stream[0], 1);
    store_ok(p, p->view->servers(p->view, count_server, &servers, &p->err));
    assert_int_equal(servers, 2);

    store_ok(p, fleet->lead(p->store, a, &leads, &p->err));
    assert_true(leads);
    store_ok(p, fleet->lead(other, a, &leads, &p->err));
    assert_false(leads);

    store_ok(p, fleet->news(other, &version, keep_news, &news, &p->err));
    assert_true(news.bandit == a && news.generation == 0 && news.due == INT64_MAX);
    assert_int_equal(fleet->published(other, a, 1, keep_bytes, bytes, &p->err), GBOSE__EABSENT);
    store_ok(p, fleet->publish(p->store, &row, &p->err));
    row = (struct gbose__snapshot_row){a, 1, 10, "ten", 3, 0, 0};
    store_ok(p, fleet->publish(p->store, &row, &p->err));
    row.generation = 7; /* which is not there */
    store_ok(p, fleet->publish(p->store, &row, &p->err));
    store_add_event(p, a, 0, 5000);
    store_ok(p, fleet->news(other, &later, keep_news, &news, &p->err));
    assert_true(later == version && news.generation == 1 && news.learned == 20 && news.due == 5000);
    assert_true(fleet->told(other) && !fleet->told(other));
    store_ok(p, fleet->published(other, a, 1, keep_bytes, bytes, &p->err));
    assert_string_equal(bytes, "twenty");
    store_bandit(p, "b");
    store_ok(p, fleet->news(other, &later, keep_news, &news, &p->err));
    assert_true(later > version);

    store_close(p); /* its session ends, and its stream is free */
    store_open(p);
    leads = 0;
    for (int i = 0; i < 6000 && !leads; i++) {
        struct timespec pause = {0, 10 * 1000000};

        store_ok(p, fleet->lead(other, a, &leads, &p->err));
        nanosleep(&pause, NULL);
    }
    assert_true(leads);
    store_ok(p, fleet->beat(p->store, "three", "{}", &stream[0], &p->err));
    assert_int_equal(stream[0], 1);
    sql("UPDATE gbose.server SET seen = seen - interval '1 hour' WHERE stream = 2"); /* one that died */
    store_ok(p, gbose__postgres_open(&third, url(), 0, 0, &p->err));
    store_ok(p, fleet->beat(third, "four", "{}", &stream[1], &p->err));
    assert_int_equal(stream[1], 2);
    store_ok(p, fleet->beat(other, "two", "{}", &stream[1], &p->err)); /* it had not: it gets another one */
    assert_int_equal(stream[1], 3);
    third->close(third);
    other->close(other);
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

    store_ok(p, gbose__postgres_migrate(url(), 1, &from, &to, &p->err));
    assert_int_equal(from, to);
    sql("UPDATE gbose.meta SET value = '99' WHERE name = 'version'");
    assert_int_equal(gbose__postgres_open(&store, url(), 1, 0, &p->err), GBOSE_EVERSION);
    assert_non_null(strstr(p->err.text, "use a newer one"));
    sql("DROP SCHEMA gbose CASCADE");
    assert_int_equal(gbose__postgres_open(&store, url(), 0, 1, &p->err), GBOSE__EABSENT);
    assert_non_null(strstr(p->err.text, "gbose store init"));
    sql("CREATE SCHEMA gbose");
    assert_int_equal(gbose__postgres_open(&store, url(), 1, 0, &p->err), GBOSE__ECORRUPT);
    sql("DROP SCHEMA gbose CASCADE");
    assert_int_equal(gbose__postgres_migrate(url(), 0, &from, &to, &p->err), GBOSE__EABSENT);
    store_ok(p, gbose__postgres_migrate(url(), 1, &from, &to, &p->err));
    assert_int_equal(from, 0);
    assert_int_equal(gbose__postgres_open(&store, "postgresql://gbose@127.0.0.1:1/nowhere", 1, 0, &p->err),
                     GBOSE__EAWAY);
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
#define PROMISE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define PROMISE_OF_ALL(name) PROMISE(name),
    const struct CMUnitTest tests[] = {
        STORE_PROMISES(PROMISE_OF_ALL) PROMISE(a_name_asked_for_at_two_servers_is_one_event),
        PROMISE(rewards_are_in_the_outcome_or_late),
        PROMISE(servers_work_as_one),
        PROMISE(old_days_are_dropped_as_a_whole),
        PROMISE(damage_is_refused_with_a_sentence),
        PROMISE(strangers_and_other_versions_are_refused),
        PROMISE(a_password_is_not_shown),
    };

    if (!url()) {
        fprintf(stderr, "test_store_postgres: run it by scripts/postgres.py\n");
        return 2;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
