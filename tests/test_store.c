/* The contract of a store (src/store/store.h), as a suite that takes a constructor, so that every kind of
 * store is held to the same promises. The SQLite store is besides put on a disk that fails, and its file
 * is damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "store/store.h"
#include "support/scratch.h"

typedef int open_store(struct gbose__store **out, const char *dir, int create, int read_only,
                       gbose_error *err);

struct place {
    open_store *open;
    char *dir;
    struct gbose__store *store;
    struct gbose__view *view;
    gbose_error err;
};

static void check_ok(struct place *p, int rc)
{
    if (rc)
        fail_msg("%d: %s", rc, p->err.text);
}

static void open_place(struct place *p)
{
    check_ok(p, p->open(&p->store, p->dir, 1, 0, &p->err));
    check_ok(p, p->store->view(p->store, &p->view, &p->err));
}

static void close_place(struct place *p)
{
    p->view->close(p->view);
    p->store->close(p->store);
}

static int set_up(void **state)
{
    struct place *p = calloc(1, sizeof *p);

    p->open = gbose__sqlite_open;
    p->dir = scratch_new();
    open_place(p);
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    struct place *p = *state;

    close_place(p);
    scratch_remove(p->dir);
    free(p);
    return 0;
}

/* ---- changes ---- */

static enum gbose__result apply(struct place *p, struct gbose__change *change)
{
    check_ok(p, p->store->apply(p->store, change, 1, &p->err));
    return change->result;
}

static uint32_t new_bandit(struct place *p, const char *name)
{
    struct gbose__change group[2] = {
        {.kind = GBOSE__PUT_BANDIT, .of.bandit = {0, name, "{}", 1, 123}},
        {.kind = GBOSE__ADD_GENERATION, .of.generation = {0, 1, "gbose", NULL, 3, 0, 1, 123}},
    };

    check_ok(p, p->store->apply(p->store, group, 2, &p->err));
    assert_int_equal(group[0].result, GBOSE__DONE);
    assert_int_equal(group[1].result, GBOSE__DONE);
    return group[0].of.bandit.id;
}

static const double halves[] = {0.25, 0.75};

static struct gbose__change event_change(uint32_t bandit, uint64_t number, const char *name, int64_t deadline)
{
    return (struct gbose__change){.kind = GBOSE__ADD_EVENT,
                                  .of.event = {.bandit = bandit,
                                               .number = number,
                                               .name = name,
                                               .time = 1000,
                                               .deadline = deadline,
                                               .generation = 1,
                                               .learned = 7,
                                               .arm = 1,
                                               .n_arms = 2,
                                               .pmf = halves,
                                               .body = "{\"contexts\":[[1,2,3]]}",
                                               .body_size = 22}};
}

static enum gbose__result add_event(struct place *p, uint32_t bandit, uint64_t number, int64_t deadline)
{
    struct gbose__change change = event_change(bandit, number, NULL, deadline);

    return apply(p, &change);
}

static struct gbose__reward_change reward(struct place *p, uint32_t bandit, uint64_t number, const char *id,
                                          double value, int64_t now, int final, enum gbose__result expected)
{
    struct gbose__change change = {.kind = GBOSE__ADD_REWARD,
                                   .of.reward = {.bandit = bandit,
                                                 .number = number,
                                                 .id = id,
                                                 .value = value,
                                                 .now = now,
                                                 .final = final,
                                                 .aggregate = GBOSE__SUM,
                                                 .default_reward = -2}};

    assert_int_equal(apply(p, &change), expected);
    return change.of.reward;
}

static size_t close_due(struct place *p, uint32_t bandit, int64_t now, enum gbose__aggregate how)
{
    struct gbose__change change = {.kind = GBOSE__CLOSE_DUE, .of.close = {bandit, now, 100, how, -2, 0, 0}};

    apply(p, &change);
    return change.of.close.closed;
}

/* ---- what a visitor keeps ---- */

struct seen {
    size_t n;
    uint64_t event[64], number[64];
    double reward[64];
    enum gbose__why why[64];
    size_t rewards, late;
    int activated;
    char body[64];
};

static int see(void *context, const struct gbose__case *it)
{
    struct seen *seen = context;

    assert_true(seen->n < 64);
    seen->event[seen->n] = it->event->number;
    seen->number[seen->n] = it->outcome ? it->outcome->number : 0;
    seen->reward[seen->n] = it->outcome ? it->outcome->reward : NAN;
    seen->why[seen->n] = it->outcome ? it->outcome->why : 0;
    seen->rewards = it->n_rewards;
    seen->late = 0;
    for (size_t i = 0; i < it->n_rewards; i++)
        seen->late += (size_t)it->rewards[i].late;
    seen->activated = it->event->activated;
    snprintf(seen->body, sizeof seen->body, "%.*s", (int)it->event->body_size, it->event->body);
    seen->n++;
    return 0;
}

static struct seen outcomes(struct place *p, uint32_t bandit, uint64_t after)
{
    struct seen seen = {0};

    check_ok(p, p->view->outcomes(p->view, bandit, after, UINT64_MAX, 64, see, &seen, &p->err));
    return seen;
}

static struct seen event(struct place *p, uint32_t bandit, uint64_t number, const char *name)
{
    struct seen seen = {0};

    check_ok(p, p->view->event(p->view, bandit, number, name, see, &seen, &p->err));
    assert_int_equal(seen.n, 1);
    return seen;
}

/* ---- the promises ---- */

static void events_come_back_as_they_were_written(void **state)
{
    struct place *p = *state;
    uint32_t a = new_bandit(p, "a"), b = new_bandit(p, "b");
    struct seen seen = {0};

    assert_int_not_equal(a, b);
    add_event(p, a, 0, 5000);
    add_event(p, a, 1, 5000);
    add_event(p, b, 0, 5000);
    assert_string_equal(event(p, a, 1, NULL).body, "{\"contexts\":[[1,2,3]]}");
    check_ok(p, p->view->events(p->view, a, 0, 64, 0, see, &seen, &p->err));
    assert_int_equal(seen.n, 2);
    check_ok(p, p->view->events(p->view, a, UINT64_MAX, 1, 1, see, &seen, &p->err));
    assert_int_equal(seen.event[2], 1);
    assert_int_equal(p->view->event(p->view, b, 1, NULL, see, &seen, &p->err), GBOSE__EABSENT);
}

static void a_name_is_taken_once(void **state)
{
    struct place *p = *state;
    uint32_t a = new_bandit(p, "a");
    struct gbose__change change = event_change(a, 4, "order-1", 5000);

    assert_int_equal(apply(p, &change), GBOSE__DONE);
    change = event_change(a, 5, "order-1", 6000);
    assert_int_equal(apply(p, &change), GBOSE__REPEATED);
    assert_int_equal(change.of.event.number, 4);
    change = event_change(a, 6, "order-1", 5000);
    change.of.event.body = "{\"contexts\":[[1,2,4]]}";
    assert_int_equal(apply(p, &change), GBOSE__CONFLICT);
    assert_int_equal(event(p, a, 0, "order-1").event[0], 4);
}

static void rewards_count_once_and_close_at_the_deadline(void **state)
{
    struct place *p = *state;
    uint32_t a = new_bandit(p, "a");
    struct gbose__counts counts;
    struct seen seen;

    for (uint64_t i = 0; i < 4; i++)
        add_event(p, a, i, 5000 - (int64_t)i); /* the last one is due first */
    assert_false(reward(p, a, 1, "x", 0.5, 2000, 0, GBOSE__DONE).late);
    reward(p, a, 1, "x", 0.5, 2000, 0, GBOSE__REPEATED);
    reward(p, a, 1, "x", 0.75, 2000, 0, GBOSE__CONFLICT);
    reward(p, a, 1, "y", 0.25, 2001, 0, GBOSE__DONE);
    reward(p, a, 9, "", 1, 2000, 0, GBOSE__MISSING);
    assert_int_equal(close_due(p, a, 4996, GBOSE__SUM), 0);
    assert_int_equal(close_due(p, a, 5000, GBOSE__SUM), 4);
    assert_int_equal(close_due(p, a, 5000, GBOSE__SUM), 0);
    assert_true(reward(p, a, 2, "", 3, 6000, 1, GBOSE__DONE).late);
    seen = outcomes(p, a, 0);
    assert_int_equal(seen.n, 4);
    for (uint64_t i = 0; i < 4; i++) {
        assert_int_equal(seen.number[i], i + 1);
        assert_int_equal(seen.event[i], 3 - i);
    }
    assert_true(seen.reward[2] == 0.75 && seen.why[2] == GBOSE__REWARDED);
    assert_true(seen.reward[1] == -2 && seen.why[1] == GBOSE__DEFAULTED);
    assert_int_equal(outcomes(p, a, 3).n, 1);
    assert_int_equal(event(p, a, 2, NULL).late, 1);
    check_ok(p, p->view->counts(p->view, a, &counts, &p->err));
    assert_int_equal(counts.events, 4);
    assert_int_equal(counts.pending, 0);
    assert_int_equal(counts.rewarded, 1);
    assert_int_equal(counts.defaulted, 3);
    assert_int_equal(counts.rewards, 3);
    assert_int_equal(counts.late, 1);
    assert_int_equal(counts.next_number, 4);
}

static void rewards_are_aggregated(void **state)
{
    static const struct {
        enum gbose__aggregate how;
        double expected;
    } cases[] = {
        {GBOSE__FIRST, -4}, {GBOSE__LAST, -6}, {GBOSE__SUM, -13}, {GBOSE__MEAN, -13. / 3}, {GBOSE__MAX, -3}};
    struct place *p = *state;
    uint32_t a = new_bandit(p, "a");

    for (size_t i = 0; i < 5; i++) {
        add_event(p, a, i, 5000);
        reward(p, a, i, "b", -4, 10, 0, GBOSE__DONE);
        reward(p, a, i, "c", -3, 11, 0, GBOSE__DONE);
        reward(p, a, i, "a", -6, 12, 0, GBOSE__DONE);
        assert_int_equal(close_due(p, a, 5000, cases[i].how), 1);
        assert_true(outcomes(p, a, i).reward[0] == cases[i].expected);
    }
}

static void a_final_reward_closes(void **state)
{
    struct place *p = *state;
    uint32_t a = new_bandit(p, "a");

    add_event(p, a, 0, 5000);
    assert_true(reward(p, a, 0, "", 0.5, 2000, 1, GBOSE__DONE).closed);
    assert_false(reward(p, a, 0, "", 0.5, 2000, 1, GBOSE__REPEATED).closed);
    assert_int_equal(close_due(p, a, 9000, GBOSE__SUM), 0);
    assert_int_equal(outcomes(p, a, 0).n, 1);
}

static void deferred_events_must_be_activated(void **state)
{
    struct place *p = *state;
    uint32_t a = new_bandit(p, "a");
    struct gbose__change change;

    for (uint64_t i = 0; i < 2; i++) {
        change = event_change(a, i, NULL, 5000);
        change.of.event.flags = GBOSE__DEFERRED;
        apply(p, &change);
        reward(p, a, i, "", 1, 2000, 0, GBOSE__DONE);
    }
    change = (struct gbose__change){.kind = GBOSE__ACTIVATE_EVENT,
                                    .of.reward = {.bandit = a, .number = 1, .now = 3000}};
    assert_int_equal(apply(p, &change), GBOSE__DONE);
    assert_int_equal(apply(p, &change), GBOSE__REPEATED);
    assert_true(event(p, a, 1, NULL).activated && !event(p, a, 0, NULL).activated);
    close_due(p, a, 5000, GBOSE__SUM);
    assert_int_equal(outcomes(p, a, 0).why[0], GBOSE__UNUSED);
    assert_int_equal(outcomes(p, a, 0).why[1], GBOSE__REWARDED);
    change.of.reward.number = 0;
    assert_int_equal(apply(p, &change), GBOSE__DONE);
    assert_true(change.of.reward.late && !event(p, a, 0, NULL).activated);
}

struct kept {
    uint64_t learned;
    char bytes[16];
};

static int keep(void *context, const struct gbose__snapshot_row *row)
{
    struct kept *kept = context;

    kept->learned = row->learned;
    snprintf(kept->bytes, sizeof kept->bytes, "%.*s", (int)row->size, (const char *)row->bytes);
    return 0;
}

static enum gbose__result add_snapshot(struct place *p, uint32_t bandit, uint64_t learned, const char *bytes,
                                       int kept)
{
    struct gbose__change change = {.kind = GBOSE__ADD_SNAPSHOT,
                                   .of.snapshot = {bandit, 1, learned, bytes, strlen(bytes), kept}};

    return apply(p, &change);
}

static void snapshots_replace_each_other(void **state)
{
    struct place *p = *state;
    uint32_t a = new_bandit(p, "a");
    struct kept kept;

    assert_int_equal(p->view->snapshot(p->view, a, 1, 99, keep, &kept, &p->err), GBOSE__EABSENT);
    add_snapshot(p, a, 10, "ten", 1);
    add_snapshot(p, a, 20, "twenty", 0);
    add_snapshot(p, a, 30, "thirty", 0);
    check_ok(p, p->view->snapshot(p->view, a, 1, UINT64_MAX, keep, &kept, &p->err));
    assert_string_equal(kept.bytes, "thirty");
    check_ok(p, p->view->snapshot(p->view, a, 1, 29, keep, &kept, &p->err));
    assert_string_equal(kept.bytes, "ten");
    assert_int_equal(add_snapshot(p, a + 1, 1, "of nobody", 0), GBOSE__MISSING);
}

static void a_unit_is_erased_and_old_events_are_dropped(void **state)
{
    static const char unit[GBOSE__UNIT_SIZE] = "somebody's hash";
    struct place *p = *state;
    uint32_t a = new_bandit(p, "a");
    struct gbose__change change;
    struct gbose__counts counts;
    struct kept kept;

    for (uint64_t i = 0; i < 6; i++) {
        change = event_change(a, i, i == 1 ? "mine" : NULL, 5000);
        if (i % 2)
            change.of.event.unit = unit;
        apply(p, &change);
        reward(p, a, i, "", 1, 2000, i < 4, GBOSE__DONE);
    }
    add_snapshot(p, a, 2, "two", 1);
    change = (struct gbose__change){.kind = GBOSE__ERASE_UNIT, .of.erase = {.bandit = a, .unit = unit}};
    assert_int_equal(apply(p, &change), GBOSE__DONE);
    assert_int_equal(change.of.erase.erased, 3);
    assert_int_equal(apply(p, &change), GBOSE__MISSING);
    assert_int_equal(p->view->snapshot(p->view, a, 1, 99, keep, &kept, &p->err), GBOSE__EABSENT);
    check_ok(p, p->view->counts(p->view, a, &counts, &p->err));
    assert_int_equal(counts.events, 6); /* that there were */
    assert_int_equal(counts.pending, 1);
    assert_int_equal(outcomes(p, a, 0).n, 2);

    change =
        (struct gbose__change){.kind = GBOSE__RETAIN, .of.erase = {.bandit = a, .before = 9000, .most = 10}};
    apply(p, &change);
    assert_int_equal(change.of.erase.erased, 0); /* nothing has learned them */
    add_snapshot(p, a, 3, "three", 0);
    apply(p, &change);
    assert_int_equal(change.of.erase.erased, 2);
    assert_int_equal(outcomes(p, a, 0).n, 0);
    change = event_change(a, 9, "mine", 5000);
    assert_int_equal(apply(p, &change), GBOSE__DONE); /* the name is free again */
    assert_true(reward(p, a, 9, "", 1, 2000, 1, GBOSE__DONE).closed);
    assert_int_equal(outcomes(p, a, 0).number[0], 5); /* numbers are never used again */
}

static void a_bandit_goes_with_all_it_has(void **state)
{
    struct place *p = *state;
    uint32_t a = new_bandit(p, "a"), b = new_bandit(p, "b"), again;
    struct gbose__change change = {.kind = GBOSE__PUT_BANDIT, .of.bandit = {0, "a", "{}", 1, 5}};
    struct gbose__counts counts;

    assert_int_equal(apply(p, &change), GBOSE__CONFLICT);
    add_event(p, a, 0, 5000);
    add_event(p, b, 0, 5000);
    change = (struct gbose__change){.kind = GBOSE__DROP_BANDIT, .of.bandit.id = a};
    assert_int_equal(apply(p, &change), GBOSE__DONE);
    assert_int_equal(apply(p, &change), GBOSE__MISSING);
    again = new_bandit(p, "a");
    assert_true(again > b);
    check_ok(p, p->view->counts(p->view, a, &counts, &p->err));
    assert_int_equal(counts.events + counts.pending, 0);
    check_ok(p, p->view->counts(p->view, b, &counts, &p->err));
    assert_int_equal(counts.events, 1);
}

static int count_key(void *context, const struct gbose__key_row *row)
{
    assert_string_equal(row->note, "for the web shop");
    ++*(int *)context;
    return 0;
}

static void keys_are_kept(void **state)
{
    static const unsigned char hash[GBOSE__HASH_SIZE] = {1, 2, 3};
    struct place *p = *state;
    struct gbose__change change = {.kind = GBOSE__ADD_KEY,
                                   .of.key = {"k1", hash, 5, NULL, "for the web shop", 9}};
    int n = 0;

    assert_int_equal(apply(p, &change), GBOSE__DONE);
    assert_int_equal(apply(p, &change), GBOSE__CONFLICT);
    check_ok(p, p->view->keys(p->view, count_key, &n, &p->err));
    change.kind = GBOSE__DROP_KEY;
    assert_int_equal(apply(p, &change), GBOSE__DONE);
    assert_int_equal(apply(p, &change), GBOSE__MISSING);
    check_ok(p, p->view->keys(p->view, count_key, &n, &p->err));
    assert_int_equal(n, 1);
}

static void it_is_there_after_closing_and_in_a_backup(void **state)
{
    struct place *p = *state;
    uint32_t a = new_bandit(p, "a");
    struct gbose__store *other;
    unsigned char secret[32];
    char path[300];

    add_event(p, a, 0, 5000);
    memcpy(secret, p->store->secret, 32);
    assert_int_equal(p->open(&other, p->dir, 1, 0, &p->err), GBOSE__EBUSY);
    snprintf(path, sizeof path, "%s/copy", p->dir);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/copy/gbose.sqlite3", p->dir);
    check_ok(p, p->store->backup(p->store, path, &p->err));
    assert_int_equal(p->store->backup(p->store, path, &p->err), GBOSE__ESTORE);
    close_place(p);
    open_place(p);
    assert_memory_equal(secret, p->store->secret, 32);
    assert_int_equal(event(p, a, 0, NULL).n, 1);
    close_place(p);
    *strrchr(path, '/') = 0;
    check_ok(p, p->open(&p->store, path, 0, 1, &p->err));
    check_ok(p, p->store->view(p->store, &p->view, &p->err));
    assert_int_equal(event(p, a, 0, NULL).n, 1);
    close_place(p);
    open_place(p);
    assert_int_equal(p->open(&other, "/nowhere/at/all", 0, 1, &p->err), GBOSE__EABSENT);
}

static void a_group_happens_as_a_whole(void **state)
{
    struct place *p = *state;
    uint32_t a = new_bandit(p, "a");
    struct gbose__change group[2] = {event_change(a, 0, NULL, 5000), event_change(a, 0, NULL, 5000)};
    struct seen seen = {0};

    /* The same number twice is a mistake of the caller, which the store does not survive by guessing. */
    assert_int_equal(p->store->apply(p->store, group, 2, &p->err), GBOSE__ESTORE);
    assert_int_equal(p->view->event(p->view, a, 0, NULL, see, &seen, &p->err), GBOSE__EABSENT);
    add_event(p, a, 0, 5000);
}

/* ---- a disk that fails ---- */

/* SQLite's own disk functions with a fault: the n-th write or sync from now fails, and (until it is
 * switched off) every later one. */
static int faults_after = -1;
static int (*real_write)(sqlite3_file *, const void *, int, sqlite3_int64);
static int (*real_sync)(sqlite3_file *, int);
static sqlite3_io_methods faulty[2]; /* of files with locks (the store), and without (its write-ahead log) */
static int (*real_open)(sqlite3_vfs *, const char *, sqlite3_file *, int, int *);

static int fails(void)
{
    return faults_after >= 0 && faults_after-- == 0 ? (faults_after = 0, 1) : 0;
}

static int faulty_write(sqlite3_file *f, const void *bytes, int n, sqlite3_int64 at)
{
    return fails() ? SQLITE_FULL : real_write(f, bytes, n, at);
}

static int faulty_sync(sqlite3_file *f, int flags)
{
    return fails() ? SQLITE_IOERR_FSYNC : real_sync(f, flags);
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

static void what_fails_has_not_happened(void **state)
{
    static sqlite3_vfs shim;
    struct place *p = *state;
    uint32_t a;
    uint64_t number = 0;
    int refused = 0;

    close_place(p);
    shim = *sqlite3_vfs_find(NULL);
    real_open = shim.xOpen;
    shim.xOpen = faulty_open;
    shim.zName = "faulty";
    sqlite3_vfs_register(&shim, 1);
    open_place(p);
    a = new_bandit(p, "a");
    for (int after = 0; refused == after; after++) {
        struct gbose__change group[3] = {event_change(a, number, NULL, 5000),
                                         event_change(a, number + 1, NULL, 5000),
                                         event_change(a, number + 2, "name", 5000)};
        struct seen seen = {0};
        int rc;

        faults_after = after;
        rc = p->store->apply(p->store, group, 3, &p->err);
        faults_after = -1;
        if (rc) {
            assert_int_equal(rc, GBOSE__ESTORE);
            assert_non_null(strstr(p->err.text, "cannot write to the store"));
            refused++;
        }
        check_ok(p, p->view->events(p->view, a, 0, 64, 0, see, &seen, &p->err));
        assert_int_equal(seen.n, rc ? 0 : 3);
        if (after % 2) { /* and it is so after the process has ended, too */
            close_place(p);
            open_place(p);
            memset(&seen, 0, sizeof seen);
            check_ok(p, p->view->events(p->view, a, 0, 64, 0, see, &seen, &p->err));
            assert_int_equal(seen.n, rc ? 0 : 3);
        }
    }
    assert_true(refused >= 3);
    close_place(p);
    sqlite3_vfs_unregister(&shim);
    open_place(p);
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
    uint32_t a = new_bandit(p, "a");
    size_t size, damaged = 0, refused = 0;
    char *bytes;
    FILE *f;

    for (uint64_t i = 0; i < 40; i++) {
        add_event(p, a, i, 5000);
        if (i % 3)
            reward(p, a, i, "", 0.5, 2000, i % 2, GBOSE__DONE);
    }
    close_place(p);
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
    open_place(p);
    assert_int_equal(event(p, a, 0, NULL).n, 1);
}

static void strangers_and_newer_versions_are_refused(void **state)
{
    struct place *p = *state;
    struct gbose__store *store;
    sqlite3 *db;

    close_place(p);
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
    open_place(p);
}

int main(void)
{
#define PROMISE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        PROMISE(events_come_back_as_they_were_written),
        PROMISE(a_name_is_taken_once),
        PROMISE(rewards_count_once_and_close_at_the_deadline),
        PROMISE(rewards_are_aggregated),
        PROMISE(a_final_reward_closes),
        PROMISE(deferred_events_must_be_activated),
        PROMISE(snapshots_replace_each_other),
        PROMISE(a_unit_is_erased_and_old_events_are_dropped),
        PROMISE(a_bandit_goes_with_all_it_has),
        PROMISE(keys_are_kept),
        PROMISE(it_is_there_after_closing_and_in_a_backup),
        PROMISE(a_group_happens_as_a_whole),
        PROMISE(what_fails_has_not_happened),
        PROMISE(damage_is_refused_with_a_sentence),
        PROMISE(strangers_and_newer_versions_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
