/* Several servers on one PostgreSQL store: what they want at the same moment. Run by scripts/postgres.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "support/store_postgres.h"

struct server {
    pthread_t thread;
    struct gbose__store *store;
    uint32_t bandit;
    int index;
    uint64_t first[200];
    int done[200];
};

static const char *const unit_of[] = {"the first unit  ",
                                      "the second unit "}; /* GBOSE__UNIT_SIZE bytes each */
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
        store_ok(p, gbose__postgres_open(&s[i].store, postgres_url(), 0, 0, &p->err));
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

    for (uint64_t i = 0; i < 200; i += 10) { /* in runs of 10, and of 1 */
        struct gbose__change group[10];

        for (uint64_t k = 0; k < 10; k++)
            group[k] = store_event(a, i + k, NULL, 5000 + (int64_t)(i + 9 - k));
        for (int k = 0; k < (i % 20 ? 10 : 1); k++)
            store_ok(p, p->store->apply(p->store, group + k, i % 20 ? 1 : 10, &p->err));
    }
    assert_int_equal(sql("SELECT count(*) FROM gbose.pending"), 110);
    run_servers(s, 4, reward_or_close, p, a);
    assert_int_equal(sql("SELECT count(*) FROM gbose.outcome o WHERE reward <> coalesce((SELECT sum(value) "
                         "FROM gbose.reward r"
                         " WHERE r.event = o.event AND NOT r.late), -2)"),
                     0);
    assert_int_equal(sql("SELECT count(*) - max(key & 1099511627775) FROM gbose.outcome"), 0);
    assert_int_equal(sql("SELECT outcomes FROM gbose.numbering") - sql("SELECT count(*) FROM gbose.outcome"),
                     0);
    assert_int_equal(sql("SELECT sum(pending) FROM gbose.tally") + sql("SELECT count(*) FROM gbose.outcome"),
                     200);
    assert_int_equal(
        sql("SELECT sum(late) FROM gbose.tally") - sql("SELECT count(*) FROM gbose.reward WHERE late"), 0);
    assert_true(sql("SELECT count(*) FROM gbose.reward WHERE late") > 0);
    assert_true(sql("SELECT count(*) FROM gbose.outcome WHERE why = 1") > 0);
    close_all(p, a);
    nothing_is_open();
}

/* One closes what is due, two activate, and one erases, whatever is open. */
static void *activate_or_close(void *context)
{
    struct server *s = context;
    void *bad = NULL;
    gbose_error err;

    for (int i = 0; i < 100; i++) {
        struct gbose__change group[4] = {
            {.kind = GBOSE__CLOSE_DUE, .of.close = {s->bandit, 5000 + 2 * i, 10, GBOSE__SUM, -2, 0, 0}}};

        if (s->index == 3) {
            group[0] = (struct gbose__change){.kind = GBOSE__ERASE_UNIT, .of.erase = {.bandit = s->bandit}};
            group[0].of.erase.unit = i % 10 ? "nobody's        " : unit_of[i / 10 % 2];
        }
        for (int k = 0; k < 4 && s->index % 3;
             k++) { /* some while they are being closed, and 9, 19, ... never */
            int number = (2 * i + (s->index == 1) - k + 200) % 200;

            group[k] = (struct gbose__change){.kind = GBOSE__ACTIVATE_EVENT,
                                              .of.reward = {.bandit = s->bandit,
                                                            .number = (uint64_t)(number - (number % 10 == 9)),
                                                            .now = 2000}};
        }
        pthread_barrier_wait(&together);
        if (s->store->apply(s->store, group, s->index % 3 ? 4 : 1, &err)) {
            fprintf(stderr, "%s\n", err.text);
            bad = s;
        }
        for (int k = 0; k < 4 && s->index % 3; k++)
            if (group[k].result == GBOSE__DONE && !group[k].of.reward.late)
                s->done[group[k].of.reward.number]++;
    }
    return bad;
}

static void activations_count_or_are_late(void **state)
{
    struct place *p = *state;
    uint32_t a = store_bandit(p, "a");
    static struct server s[4];
    int twice = 0, lost = 0;

    for (uint64_t i = 0; i < 200; i += 10) {
        struct gbose__change group[10];

        for (uint64_t k = 0; k < 10; k++) {
            group[k] = store_event(a, i + k, NULL, 5000 + (int64_t)(i + k));
            group[k].of.event.flags = GBOSE__DEFERRED;
            group[k].of.event.unit = k < 2 ? unit_of[k] : NULL;
        }
        store_ok(p, p->store->apply(p->store, group, 10, &p->err));
    }
    run_servers(s, 4, activate_or_close, p, a);
    assert_int_equal(sql("SELECT count(*) FROM gbose.event"), 160); /* two units of 20 events each */
    assert_int_equal(sql("SELECT sum(pending) FROM gbose.tally"),
                     sql("SELECT count(*) FROM gbose.event e WHERE NOT EXISTS"
                         " (SELECT FROM gbose.outcome o WHERE o.event = e.key)"));
    close_all(p, a);
    nothing_is_open();
    for (int i = 0; i < 200; i++) {
        char text[120];

        snprintf(text, sizeof text,
                 "SELECT count(*) FROM gbose.outcome WHERE (event & 1099511627775) = %d AND activated", i);
        twice += s[1].done[i] + s[2].done[i] > 1;
        lost += i % 10 > 1 && sql(text) != s[1].done[i] + s[2].done[i];
    }
    assert_int_equal(twice, 0);
    assert_int_equal(lost, 0);
    assert_true(sql("SELECT count(*) FROM gbose.outcome WHERE activated") > 0);
    assert_true(sql("SELECT count(*) FROM gbose.outcome WHERE why = 3 AND NOT activated") > 0);
    assert_int_equal(sql("SELECT count(*) FROM gbose.outcome"), 160);
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

    store_ok(p, gbose__postgres_open(&other, postgres_url(), 0, 0, &p->err));
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
    store_ok(p, gbose__postgres_open(&third, postgres_url(), 0, 0, &p->err));
    store_ok(p, fleet->beat(third, "four", "{}", &stream[1], &p->err));
    assert_int_equal(stream[1], 2);
    store_ok(p, fleet->beat(other, "two", "{}", &stream[1], &p->err)); /* it had not: it gets another one */
    assert_int_equal(stream[1], 3);
    third->close(third);
    other->close(other);
}

int main(void)
{
#define SERVERS(name) cmocka_unit_test_setup_teardown(name, postgres_set_up, postgres_tear_down)
    const struct CMUnitTest tests[] = {
        SERVERS(a_name_asked_for_at_two_servers_is_one_event),
        SERVERS(rewards_are_in_the_outcome_or_late),
        SERVERS(activations_count_or_are_late),
        SERVERS(servers_work_as_one),
    };

    if (!postgres_url()) {
        fprintf(stderr, "test_servers_postgres: run it by scripts/postgres.py\n");
        return 2;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
