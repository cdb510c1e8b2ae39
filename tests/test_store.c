/* The SQLite store keeps the contract (support/store_contract.h); besides it is put on a disk that fails, and its file
 * is damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "store/pack.h"
#include "store/sqlite_inner.h"
#include "support/disk.h"
#include "support/random.h"
#include "support/scratch.h"
#include "support/store_contract.h"

static int set_up(void **state)
{
    struct place *p = calloc(1, sizeof *p);

    *p = (struct place){.open = gbose__sqlite_open,
                        .dir = scratch_new(),
                        .failure = GBOSE__ESTORE,
                        .says = "cannot write to the store",
                        .steps = 3};
    store_open(p);
    *state = p;
    return 0;
}

/* ---- the same with texts in a file of their own ---- */

static int (*real_apply)(struct gbose__store *store, struct gbose__change *changes, size_t n,
                         gbose_error *err);

/* Events come packed, as those of a service do. */
static int apply_packed(struct gbose__store *store, struct gbose__change *changes, size_t n, gbose_error *err)
{
    int rc;

    for (size_t i = 0; i < n; i++) {
        struct gbose__event_row *row = &changes[i].of.event;

        if (changes[i].kind == GBOSE__ADD_EVENT && !row->name) {
            void *packed = malloc(gbose__pack_bound(row->body_size));

            row->packed_size = gbose__pack(packed, row->body, row->body_size);
            row->packed = packed;
        }
    }
    rc = real_apply(store, changes, n, err);
    for (size_t i = 0; i < n; i++)
        if (changes[i].kind == GBOSE__ADD_EVENT && !changes[i].of.event.name) {
            free((void *)changes[i].of.event.packed);
            changes[i].of.event.packed = NULL;
        }
    return rc;
}

static int open_packed(struct gbose__store **out, const char *dir, int create, int beside, gbose_error *err)
{
    int rc = gbose__sqlite_open(out, dir, create, beside, err);

    if (!rc) {
        real_apply = (*out)->apply;
        (*out)->apply = apply_packed;
    }
    return rc;
}

static int texts_fail(enum disk_call call)
{
    (void)call;
    return store_step_fails() ? ENOSPC : 0;
}

static int set_up_texts(void **state)
{
    int rc = set_up(state);
    struct place *p = *state;

    store_close(p);
    gbose__sqlite_texts_worth = 1;
    disk_fate = texts_fail;
    p->open = open_packed;
    store_open(p);
    return rc;
}

static int tear_down(void **state)
{
    struct place *p = *state;

    gbose__sqlite_texts_worth = 32768;
    disk_fate = NULL;
    store_close(p);
    scratch_remove(p->dir);
    free(p);
    return 0;
}

static void it_is_alone_and_is_backed_up(void **state)
{
    struct place *p = *state;
    uint32_t a = store_bandit(p, "a");
    struct gbose__store *other;
    char path[300];

    store_add_event(p, a, 0, 5000);
    assert_int_equal(p->open(&other, p->dir, 1, 0, &p->err), GBOSE__EBUSY);
    snprintf(path, sizeof path, "%s/copy", p->dir);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/copy/gbose.sqlite3", p->dir);
    store_ok(p, p->store->backup(p->store, path, &p->err));
    assert_int_equal(p->store->backup(p->store, path, &p->err), GBOSE__ESTORE);
    store_close(p);
    *strrchr(path, '/') = 0;
    store_ok(p, p->open(&p->store, path, 0, 1, &p->err));
    store_ok(p, p->store->view(p->store, &p->view, &p->err));
    assert_int_equal(store_seen(p, a, 0, NULL).n, 1);
    store_close(p);
    store_open(p);
    assert_int_equal(p->open(&other, "/nowhere/at/all", 0, 1, &p->err), GBOSE__EABSENT);
}

/* ---- a disk that fails ---- */

/* SQLite's own disk functions, as every store of this test has them: a write or a sync fails when it is to. A disk that is full stays
 * full. */
static int (*real_write)(sqlite3_file *, const void *, int, sqlite3_int64);
static int (*real_sync)(sqlite3_file *, int);
static int (*real_open)(sqlite3_vfs *, const char *, sqlite3_file *, int, int *);
static sqlite3_io_methods faulty[2]; /* of files with locks (the store), and without (its write-ahead log) */
static sqlite3_vfs shim;

static int faulty_write(sqlite3_file *f, const void *bytes, int n, sqlite3_int64 at)
{
    return store_step_fails() ? SQLITE_FULL : real_write(f, bytes, n, at);
}

static int faulty_sync(sqlite3_file *f, int flags)
{
    return store_step_fails() ? SQLITE_IOERR_FSYNC : real_sync(f, flags);
}

static int faulty_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *out)
{
    int rc = real_open(vfs, name, f, flags, out);

    if (!rc && f->pMethods && f->pMethods->xWrite != faulty_write) {
        sqlite3_io_methods *methods = &faulty[flags & SQLITE_OPEN_MAIN_DB ? 0 : 1];

        *methods = *f->pMethods;
        real_write = methods->xWrite;
        real_sync = methods->xSync;
        methods->xWrite = faulty_write;
        methods->xSync = faulty_sync;
        f->pMethods = methods;
    }
    return rc;
}

static int make_disk(void **state)
{
    (void)state;
    store_fault.stays = 1;
    shim = *sqlite3_vfs_find(NULL);
    real_open = shim.xOpen;
    shim.xOpen = faulty_open;
    shim.zName = "faulty";
    return sqlite3_vfs_register(&shim, 1);
}

/* One step of a group fails, which may nonetheless be on the disk as a whole; then others come that change little or nothing, and the
 * process is killed. What is there then has its text. */
static void a_group_that_failed_and_happened_has_its_texts(void **state)
{
    struct place *p = *state, copy = {.open = open_packed, .dir = scratch_new()};
    uint32_t a = store_bandit(p, "a");
    int failed = 0, there = 0;
    char line[1000];

    snprintf(line, sizeof line, "rm -rf %s/* && cp %s/gbose.* %s", copy.dir, p->dir, copy.dir);
    store_fault.stays = 0;
    store_fault.happened = 1;
    for (int after = 0; store_fault.happened; after++) {
        uint64_t number = 10 * (uint64_t)after;
        struct gbose__change group[3] = {store_event(a, number, NULL, 5000),
                                         store_event(a, number + 1, NULL, 5000),
                                         store_event(a, number + 2, NULL, 5000)};
        struct gbose__change close = {.kind = GBOSE__CLOSE_DUE, .of.close = {.bandit = a, .most = 1}};
        struct seen seen = {0};
        int rc;

        store_fault.happened = 0;
        store_fault.in = after;
        rc = p->store->apply(p->store, group, 3, &p->err);
        store_fault.in = -1;
        for (int others = 0; others < 3; others++) {
            if (others == 1)
                store_ok(p, p->store->apply(p->store, &close, 1, &p->err));
            if (others == 2)
                store_add_event(p, a, number + 3, 5000);
            assert_int_equal(system(line), 0);
            store_open(&copy);
            store_ok(&copy, copy.view->events(copy.view, a, number, 64, 0, store_see, &seen, &copy.err));
            assert_int_equal(seen.n % 3, others == 2);
            there += rc && seen.n > 1;
            assert_true(rc ? others < 2 || seen.n == 1 : seen.n == (others == 2 ? 4 : 3));
            seen.n = 0;
            store_close(&copy);
        }
        failed += rc != 0;
    }
    store_fault.stays = 1;
    print_message("%d groups failed; %d times one was there after a kill\n", failed, there);
    assert_true(failed > 2);
    scratch_remove(copy.dir);
}

/* ---- a file that is damaged ---- */

static int look(void *context, const struct gbose__case *it)
{
    (void)context;
    /* Whatever is shown is what was written. */
    assert_int_equal(it->event->deadline, 5000);
    assert_true(it->event->pmf[0] == 0.25 && it->event->n_arms == 2);
    for (size_t i = 0; i < it->n_rewards; i++)
        assert_true(it->rewards[i].value == 0.5);
    if (it->outcome)
        assert_true(it->outcome->reward == 0.5 || it->outcome->reward == -2);
    return 0;
}

static int look_at_bandit(void *context, const struct gbose__bandit_row *row)
{
    (void)context;
    assert_true(!strcmp(row->name, "a") && !strcmp(row->settings, "{}"));
    return 0;
}

static void damage_is_refused_with_a_sentence(void **state)
{
    struct place *p = *state;
    uint32_t a = store_bandit(p, "a");
    size_t size, damaged = 0, refused = 0;
    char *bytes;
    FILE *f;

    for (uint64_t i = 0; i < 40; i++) {
        store_add_event(p, a, i, 5000);
        if (i % 3)
            store_reward(p, a, i, "", 0.5, 2000, i % 2, GBOSE__DONE);
    }
    store_close(p);
    bytes = scratch_read(p->dir, "gbose.sqlite3", &size);
    for (size_t i = 0; i < 400; i++) {
        size_t at = i < 100 ? i : (i * 7919 * 31) % size;
        struct gbose__store *store = NULL;
        struct gbose__view *view = NULL;
        int rc;

        bytes[at] = (char)(bytes[at] ^ (1 + (int)i % 255));
        f = fopen(scratch_path(p->dir, "gbose.sqlite3"), "wb");
        fwrite(bytes, 1, size, f);
        fclose(f);
        rc = p->open(&store, p->dir, 1, 0, &p->err);
        if (!rc)
            rc = store->view(store, &view, &p->err);
        if (!rc)
            rc = view->bandits(view, look_at_bandit, NULL, &p->err);
        if (!rc)
            rc = view->events(view, a, 0, 100, 0, look, NULL, &p->err);
        if (!rc)
            rc = view->outcomes(view, a, 0, UINT64_MAX, 100, look, NULL, &p->err);
        if (rc) {
            assert_true(rc == GBOSE__ECORRUPT || rc == GBOSE_EVERSION || rc == GBOSE__ESTORE);
            assert_true(strlen(p->err.text) > 20);
            refused++;
        }
        if (view)
            view->close(view);
        if (store)
            store->close(store);
        bytes[at] = (char)(bytes[at] ^ (1 + (int)i % 255));
        damaged++;
    }
    /* Many bytes of a file mean nothing: free space, counters. Most of the others are seen. */
    print_message("%zu of %zu damaged files were refused\n", refused, damaged);
    assert_true(refused > damaged / 10);
    f = fopen(scratch_path(p->dir, "gbose.sqlite3"), "wb");
    fwrite(bytes, 1, size, f);
    fclose(f);
    free(bytes);
    store_open(p);
    assert_int_equal(store_seen(p, a, 0, NULL).n, 1);
}

static void strangers_and_newer_versions_are_refused(void **state)
{
    struct place *p = *state;
    struct gbose__store *store;
    sqlite3 *db;

    store_close(p);
    assert_int_equal(sqlite3_open(scratch_path(p->dir, "gbose.sqlite3"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "PRAGMA user_version = 99", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    assert_int_equal(p->open(&store, p->dir, 1, 0, &p->err), GBOSE_EVERSION);
    assert_non_null(strstr(p->err.text, "use a newer one"));
    remove(scratch_path(p->dir, "gbose.sqlite3"));
    assert_int_equal(sqlite3_open(scratch_path(p->dir, "gbose.sqlite3"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "CREATE TABLE mine (x)", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    assert_int_equal(p->open(&store, p->dir, 1, 0, &p->err), GBOSE__ECORRUPT);
    scratch_write(p->dir, "gbose.sqlite3",
                  "a letter to my aunt, rather long, so that it cannot be taken for nothing", 0600);
    assert_int_equal(p->open(&store, p->dir, 1, 0, &p->err), GBOSE__ECORRUPT);
    remove(scratch_path(p->dir, "gbose.sqlite3"));
    store_open(p);
}

/* ---- texts of events ---- */

/* Texts of which more or less is numbers, of every length up to a hundred, and some that need several runs. */
static void any_text_is_packed_and_comes_back(void **state)
{
    static const char numbers[] = "0123456789 [,-.]", others[] = "ae\"{}:\x01\xff/+";
    struct random random = {.state = 5};
    size_t most = 200000;
    char *text = malloc(most), *back = malloc(most);

    (void)state;
    for (size_t trial = 0; trial < 3000; trial++) {
        size_t size = 1 + (trial < 2900 ? trial % 100 : random_below(&random, most)), packed_size;
        size_t rare = (size_t[]){1, 4, 40, 400, 40000}[trial % 5];
        unsigned char *packed = malloc(gbose__pack_bound(size));

        for (size_t i = 0; i < size; i++)
            text[i] = random_below(&random, rare) ? numbers[random_below(&random, 16)]
                                                  : others[random_below(&random, sizeof others - 1)];
        packed_size = gbose__pack(packed, text, size);
        assert_true(packed_size <= gbose__pack_bound(size));
        if (rare == 40000 && size > 100)
            assert_true(packed_size < size * 3 / 5);
        assert_true(gbose__is_packed(packed, packed_size));
        assert_int_equal(gbose__unpacked_size(packed, packed_size), size);
        gbose__unpack(back, packed, packed_size);
        assert_memory_equal(back, text, size);
        assert_int_equal(gbose__unpacked_size(packed, packed_size - 1), 0); /* its end is missing */
        free(packed);
    }
    free(text);
    free(back);
}

/* Of each byte. What an earlier version computed, which left out the last ones, is good, too. */
static void the_sum_of_a_packed_event_is_of_all_its_text(void **state)
{
    struct gbose__change change = store_event(1, 2, NULL, 5000);
    struct gbose__event_row *row = &change.of.event;
    const int64_t earlier = INT64_C(-9205530886108644477); /* of 21 times x */
    unsigned char packed[64];

    (void)state;
    row->packed = packed;
    for (row->packed_size = 1; row->packed_size < 40; row->packed_size++) {
        int64_t sum;

        memset(packed, 'x', sizeof packed);
        sum = gbose__sum_packed_event(row);
        assert_true(gbose__is_sum_of_packed(row, sum));
        for (size_t i = 0; i < row->packed_size; i++) {
            packed[i] ^= 4;
            assert_false(gbose__is_sum_of_packed(row, sum));
            packed[i] ^= 4;
        }
    }
    row->packed_size = 21;
    assert_true(gbose__is_sum_of_packed(row, earlier));
    packed[3] ^= 4;
    assert_false(gbose__is_sum_of_packed(row, earlier));
}

static void run_sql(struct place *p, const char *sql)
{
    sqlite3 *db;

    assert_int_equal(sqlite3_open(scratch_path(p->dir, "gbose.sqlite3"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* Version 1 had texts as they came, with another checksum. */
static void events_of_an_older_store_are_read(void **state)
{
    struct place *p = *state;
    uint32_t a = store_bandit(p, "a");
    struct gbose__change change = store_event(a, 1, "mine", 5000), other;
    char sql[300];

    store_ok(p, p->store->apply(p->store, &change, 1, &p->err));
    store_close(p);
    snprintf(sql, sizeof sql,
             "UPDATE event SET body = CAST('%s' AS BLOB), sum = %lld; ALTER TABLE pending DROP COLUMN more; "
             "DELETE FROM meta WHERE name IN ('journal', 'texts'); DROP TRIGGER event_text; DROP TABLE hole; "
             "PRAGMA user_version = 1",
             change.of.event.body, (long long)gbose__sum_event(&change.of.event));
    run_sql(p, sql);
    assert_int_equal(p->open(&p->store, p->dir, 0, 1, &p->err),
                     GBOSE_EVERSION); /* beside a server: not changed */
    store_open(p);
    assert_string_equal(store_seen(p, a, 1, NULL).body, "{\"contexts\":[[1,2,3]]}");
    other = store_event(a, 2, "mine", 5000);
    store_ok(p, p->store->apply(p->store, &other, 1, &p->err));
    assert_int_equal(other.result, GBOSE__REPEATED);
    other = store_event(a, 2, "mine", 5000);
    other.of.event.body = "{\"contexts\":[[1,2,4]]}";
    store_ok(p, p->store->apply(p->store, &other, 1, &p->err));
    assert_int_equal(other.result, GBOSE__CONFLICT);
    store_add_event(p, a, 3, 5000);
    assert_string_equal(store_seen(p, a, 3, NULL).body, "{\"contexts\":[[1,2,3]]}");
    store_close(p);
    run_sql(p, "UPDATE event SET body = CAST('{\"contexts\":[[1,2,5]]}' AS BLOB) WHERE name = 'mine'");
    store_open(p);
    assert_int_equal(p->view->event(p->view, a, 1, NULL, look, NULL, &p->err), GBOSE__ECORRUPT);
}

/* ---- pending events that share a row ---- */

struct closed {
    size_t n;
    uint64_t event[256];
};

static int list_closed(void *context, const struct gbose__case *it)
{
    struct closed *all = context;

    all->event[all->n++] = it->outcome->event;
    return 0;
}

/* Close what is due, at most so many; the earliest deadline that is left. */
static int64_t close_some(struct place *p, uint32_t bandit, size_t most, size_t expected)
{
    struct gbose__change change = {.kind = GBOSE__CLOSE_DUE,
                                   .of.close = {.bandit = bandit, .now = 5000, .most = most}};

    store_ok(p, p->store->apply(p->store, &change, 1, &p->err));
    assert_int_equal(change.of.close.closed, expected);
    return change.of.close.next;
}

/* 150 events of one deadline and one of a later one, in one group; two are closed early, one is erased, and one more comes
 * in a group of its own. */
static void events_of_one_deadline_are_closed_one_by_one(void **state)
{
    static const char unit[GBOSE__UNIT_SIZE] = "one's hash";
    struct place *p = *state;
    uint32_t a = store_bandit(p, "a");
    struct gbose__change group[152];
    struct gbose__change erase = {.kind = GBOSE__ERASE_UNIT, .of.erase = {.bandit = a, .unit = unit}};
    struct gbose__counts counts;
    struct closed closed = {0};

    for (uint64_t i = 0; i < 151; i++)
        group[i] = store_event(a, 150 - i, NULL, i ? 5000 : 6000); /* not in their order */
    group[60].of.event.unit = unit;                                /* of event 90 */
    group[151] = (struct gbose__change){.kind = GBOSE__ADD_REWARD,
                                        .of.reward = {.bandit = a,
                                                      .number = 70,
                                                      .id = "",
                                                      .value = 1,
                                                      .final = 1,
                                                      .now = 2000}}; /* it sees the events before it */
    store_ok(p, p->store->apply(p->store, group, 152, &p->err));
    assert_true(group[151].of.reward.closed);
    store_reward(p, a, 0, "", 1, 2000, 1, GBOSE__DONE);
    store_add_event(p, a, 200, 5000);
    store_ok(p, p->store->apply(p->store, &erase, 1, &p->err));
    store_close(p);
    store_open(p);
    assert_int_equal(close_some(p, a, 100, 100), 5000);
    assert_int_equal(close_some(p, a, 100, 48), 6000);
    assert_int_equal(close_some(p, a, 100, 0), 6000);
    store_ok(p, p->view->outcomes(p->view, a, 0, UINT64_MAX, 1000, list_closed, &closed, &p->err));
    assert_int_equal(closed.n, 150);
    assert_true(closed.event[0] == 70 && closed.event[1] == 0 && closed.event[149] == 200);
    for (size_t i = 2, event = 0; i < 149; i++) {
        event++;
        event += event == 70 || event == 90;
        assert_int_equal(closed.event[i], event);
    }
    store_ok(p, p->view->counts(p->view, a, &counts, &p->err));
    assert_int_equal(counts.pending, 1);
}

int main(void)
{
#define PROMISE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define PROMISE_OF_ALL(name) PROMISE(name),
#define WITH_TEXTS(name) {#name " (texts in a file)", name, set_up_texts, tear_down, NULL},
    const struct CMUnitTest tests[] = {
        STORE_PROMISES(PROMISE_OF_ALL) STORE_PROMISES(WITH_TEXTS)
            WITH_TEXTS(a_group_that_failed_and_happened_has_its_texts)
                WITH_TEXTS(damage_is_refused_with_a_sentence) PROMISE(it_is_alone_and_is_backed_up),
        PROMISE(damage_is_refused_with_a_sentence),
        PROMISE(strangers_and_newer_versions_are_refused),
        cmocka_unit_test(any_text_is_packed_and_comes_back),
        cmocka_unit_test(the_sum_of_a_packed_event_is_of_all_its_text),
        PROMISE(events_of_an_older_store_are_read),
        PROMISE(events_of_one_deadline_are_closed_one_by_one),
    };

    return cmocka_run_group_tests(tests, make_disk, NULL);
}
