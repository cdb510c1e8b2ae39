/* The journal in front of the SQLite store: what is noted there is in the store after the next opening, once, whatever was written of
 * it before, and whatever the end of the journal looks like. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "store/pack.h"
#include "support/random.h"
#include "support/scratch.h"
#include "support/store_contract.h"

#define BODY "{\"contexts\":[[1,2,3]]}"

static const unsigned char unit[GBOSE__UNIT_SIZE] = "a keyed hash !!";

static int set_up(void **state)
{
    struct place *p = calloc(1, sizeof *p);

    *p = (struct place){.open = gbose__sqlite_open, .dir = scratch_new()};
    store_open(p);
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    struct place *p = *state;

    store_close(p);
    scratch_remove(p->dir);
    free(p);
    return 0;
}

/* Add events number from..from + n - 1, of a text that is so much longer than BODY. */
static void fill(struct gbose__batch *batch, uint32_t bandit, uint64_t from, size_t n, size_t more)
{
    char *body = malloc(sizeof BODY + more), *packed = malloc(gbose__pack_bound(sizeof BODY + more));

    memcpy(body, BODY, sizeof BODY);
    memset(body + sizeof BODY - 1, ' ', more);
    gbose__batch_begin(batch);
    for (size_t i = 0; i < n; i++) {
        struct gbose__change change = store_event(bandit, from + i, NULL, 5000);

        change.of.event.packed = packed;
        change.of.event.packed_size = gbose__pack(packed, body, sizeof BODY - 1 + more);
        change.of.event.body = NULL;
        change.of.event.unit = i % 3 ? NULL : unit;
        assert_int_equal(gbose__batch_add(batch, &change.of.event), 0);
    }
    free(body);
    free(packed);
}

static uint64_t note(struct place *p, struct gbose__batch *batch, uint32_t bandit, uint64_t from, size_t n)
{
    fill(batch, bandit, from, n, 0);
    store_ok(p, p->store->note(p->store, batch, &p->err));
    assert_int_equal(gbose__batch_open(batch), 0);
    return batch->last;
}

/* The first n events of a batch are written to the store, and it says so. */
static void pass(struct place *p, struct gbose__batch *batch, size_t n)
{
    struct gbose__change *group = calloc(n + 1, sizeof *group);

    memcpy(group, batch->change, n * sizeof *group);
    group[n] = (struct gbose__change){.kind = GBOSE__PASS, .of.pass = batch->last - batch->n + n};
    store_ok(p, p->store->apply(p->store, group, n + 1, &p->err));
    free(group);
}

static uint64_t events_of(struct place *p, uint32_t bandit)
{
    struct gbose__counts counts;

    store_ok(p, p->view->counts(p->view, bandit, &counts, &p->err));
    assert_int_equal(counts.events, counts.pending);
    return counts.events;
}

/* As after a crash: what is not on the disk is forgotten. */
static void again(struct place *p)
{
    store_close(p);
    store_open(p);
}

static void what_was_noted_is_there_once(void **state)
{
    struct place *p = *state;
    uint32_t a = store_bandit(p, "a"), b = store_bandit(p, "b");
    struct gbose__batch batch = {0};
    struct gbose__counts counts;

    assert_int_equal(note(p, &batch, a, 0, 10), 10);
    pass(p, &batch, 10);
    assert_int_equal(note(p, &batch, b, 0, 7), 17);
    pass(p, &batch, 3); /* the store has a part of it */
    assert_int_equal(note(p, &batch, a, 10, 20), 37);
    assert_int_equal(events_of(p, a), 10);
    assert_int_equal(events_of(p, b), 3);
    for (int i = 0; i < 3; i++) {
        again(p);
        assert_int_equal(events_of(p, a), 30);
        assert_int_equal(events_of(p, b), 7);
    }
    for (uint64_t i = 0; i < 30; i++)
        assert_string_equal(store_seen(p, a, i, NULL).body, BODY);
    store_ok(p, p->view->counts(p->view, a, &counts, &p->err));
    assert_int_equal(counts.next_number, 30);
    assert_int_equal(note(p, &batch, a, 30, 1), 1); /* a new journal */
    again(p);
    assert_int_equal(events_of(p, a), 31);
    gbose__batch_clear(&batch);
}

static void events_of_a_bandit_that_is_gone_are_left_out(void **state)
{
    struct place *p = *state;
    uint32_t a = store_bandit(p, "a"), b = store_bandit(p, "b");
    struct gbose__change drop = {.kind = GBOSE__DROP_BANDIT, .of.bandit = {.id = a}};
    struct gbose__batch batch = {0};

    note(p, &batch, a, 0, 5);
    note(p, &batch, b, 0, 5);
    store_ok(p, p->store->apply(p->store, &drop, 1, &p->err));
    again(p);
    assert_int_equal(events_of(p, a), 0);
    assert_int_equal(events_of(p, b), 5);
    gbose__batch_clear(&batch);
}

/* ---- damage ---- */

static char *read_journal(struct place *p, size_t *size)
{
    return scratch_read(p->dir, "gbose.journal", size);
}

static void write_journal(struct place *p, const char *bytes, size_t size)
{
    FILE *f = fopen(scratch_path(p->dir, "gbose.journal"), "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    fclose(f);
}

static void store_files(struct place *p, const char *command, const char *from, const char *to)
{
    char line[1000];

    snprintf(line, sizeof line, "%s %s/%s %s/%s", command, p->dir, from, p->dir, to);
    assert_int_equal(system(line), 0);
}

/* The last record is written in part, or over another one, wherever it is torn: those before it are there, and it is there as a
 * whole or not at all. A record before it that is damaged is missed. */
static void a_torn_end_is_no_damage_and_other_damage_is(void **state)
{
    struct place *p = *state;
    uint32_t a = store_bandit(p, "a");
    struct gbose__batch batch = {0};
    struct random random = {14};
    char *whole, *torn;
    size_t size, middle;

    note(p, &batch, a, 0, 40);
    pass(p, &batch, 40);
    note(p, &batch, a, 40, 40); /* over the first one */
    note(p, &batch, a, 80, 40);
    store_close(p);
    whole = read_journal(p, &size);
    torn = malloc(size);
    middle = size / 2;
    assert_true(size % 8192 == 0 && size >= 16384); /* two records of the same size */
    store_files(p, "cp", "gbose.sqlite3", "kept");
    for (int i = 0; i < 40; i++) {
        size_t from = middle + 512 * (random_below(&random, middle / 512)),
               n = 512 * (1 + random_below(&random, 4));

        memcpy(torn, whole, size);
        for (size_t k = from; k < size && k < from + n;
             k++) /* what was there before: here, of the other record */
            torn[k] = whole[k - middle];
        write_journal(p, torn, size);
        store_open(p);
        assert_int_equal(events_of(p, a), memcmp(torn, whole, size) ? 80 : 120);
        store_close(p);
        store_files(p, "cp", "kept", "gbose.sqlite3");
    }
    write_journal(p, whole, size - 4096); /* it ends too early */
    store_open(p);
    assert_int_equal(events_of(p, a), 80);
    store_close(p);
    store_files(p, "cp", "kept", "gbose.sqlite3");
    memcpy(torn, whole, size);
    torn[middle / 2] = (char)(torn[middle / 2] ^ 4);
    write_journal(p, torn, size);
    assert_int_equal(p->open(&p->store, p->dir, 1, 0, &p->err), GBOSE__ECORRUPT);
    assert_non_null(strstr(p->err.text, "decisions are missing"));
    write_journal(p, whole, size);
    store_open(p);
    assert_int_equal(events_of(p, a), 120);
    free(whole);
    free(torn);
    gbose__batch_clear(&batch);
}

/* ---- room ---- */

/* Records of all sizes, while the store follows at some distance; and the store stops at some moment. */
static void it_is_written_over_and_over(void **state)
{
    struct place *p = *state;
    uint32_t a = store_bandit(p, "a");
    struct gbose__batch ring[4] = {{0}};
    struct random random = {15};
    uint64_t number = 0;
    size_t size;

    for (size_t i = 0; i < 300; i++) {
        struct gbose__batch *batch = &ring[i % 4];
        size_t n = 1 + random_below(&random, 40);

        fill(batch, a, number, n, random_below(&random, 9000));
        number += n;
        store_ok(p, p->store->note(p->store, batch, &p->err));
        assert_int_equal(gbose__batch_open(batch), 0);
        if (i >= 3)
            pass(p, &ring[(i + 1) % 4], ring[(i + 1) % 4].n);
    }
    again(p);
    assert_int_equal(events_of(p, a), number);
    free(read_journal(p, &size));
    assert_true(size <= (size_t)16 << 20);
    for (size_t i = 0; i < 4; i++)
        gbose__batch_clear(&ring[i]);
}

static void a_full_journal_takes_nothing_until_there_is_room(void **state)
{
    struct place *p = *state;
    uint32_t a = store_bandit(p, "a");
    struct gbose__batch batch = {0};
    struct gbose__change change = {.kind = GBOSE__PASS};
    uint64_t number = 0, last = 0;
    int rc = GBOSE_OK;

    for (; !rc && number < 4000; number += 10) {
        fill(&batch, a, number, 10, 20000);
        rc = p->store->note(p->store, &batch, &p->err);
        if (!rc)
            last = batch.last;
    }
    assert_int_equal(rc, GBOSE__ESTORE);
    assert_true(last > 500);
    again(p);
    assert_int_equal(events_of(p, a), last);
    for (rc = GBOSE_OK; !rc; number += 10) {
        fill(&batch, a, number, 10, 20000);
        rc = p->store->note(p->store, &batch, &p->err);
    }
    assert_int_equal(gbose__batch_open(&batch), 0); /* it goes to the store by itself, with its places */
    change.of.pass = batch.last;
    store_ok(p, p->store->apply(p->store, batch.change, batch.n, &p->err));
    store_ok(p, p->store->apply(p->store, &change, 1, &p->err));
    note(p, &batch, a, number, 5);
    again(p);
    assert_int_equal(events_of(p, a), last + 10 + 5);
    gbose__batch_clear(&batch);
}

/* ---- others ---- */

static void who_opens_it_beside_sees_what_was_noted(void **state)
{
    struct place *p = *state, beside;
    uint32_t a = store_bandit(p, "a");
    struct gbose__batch batch = {0};

    note(p, &batch, a, 0, 5);
    store_close(p); /* nobody has it: the one beside does it */
    beside = *p;
    store_ok(&beside, p->open(&beside.store, p->dir, 0, 1, &beside.err));
    store_ok(&beside, beside.store->view(beside.store, &beside.view, &beside.err));
    assert_int_equal(events_of(&beside, a), 5);
    store_open(p); /* it does not keep the lock */
    assert_int_equal(events_of(p, a), 5);
    store_close(&beside);
    gbose__batch_clear(&batch);
}

static void *open_beside(void *context)
{
    struct place *p = context;

    if (p->open(&p->store, p->dir, 0, 1, &p->err))
        p->store = NULL;
    return NULL;
}

static void who_opens_it_beside_waits_for_what_was_noted(void **state)
{
    struct place *p = *state, beside = *p;
    uint32_t a = store_bandit(p, "a");
    struct gbose__batch batch = {0};
    struct timespec moment = {0, 50000000};
    pthread_t thread;

    note(p, &batch, a, 0, 5);
    assert_int_equal(pthread_create(&thread, NULL, open_beside, &beside), 0);
    nanosleep(&moment, NULL); /* so that it most probably waits */
    pass(p, &batch, 5);
    pthread_join(thread, NULL);
    if (!beside.store)
        fail_msg("%s", beside.err.text);
    store_ok(&beside, beside.store->view(beside.store, &beside.view, &beside.err));
    assert_int_equal(events_of(&beside, a), 5);
    store_close(&beside);
    gbose__batch_clear(&batch);
}

static int has(const char *bytes, size_t size, const void *what, size_t n)
{
    for (size_t i = 0; i + n <= size; i++)
        if (!memcmp(bytes + i, what, n))
            return 1;
    return 0;
}

static void what_is_erased_is_not_in_the_journal(void **state)
{
    struct place *p = *state;
    uint32_t a = store_bandit(p, "a");
    struct gbose__change erase = {.kind = GBOSE__ERASE_UNIT, .of.erase = {.bandit = a, .unit = unit}};
    struct gbose__batch batch = {0};
    char *bytes;
    size_t size;

    for (int earlier = 0; earlier < 2; earlier++) { /* in this journal; and in one of an earlier time */
        note(p, &batch, a, (uint64_t)earlier * 10, 10);
        pass(p, &batch, 10);
        if (earlier)
            again(p);
        bytes = read_journal(p, &size);
        assert_true(has(bytes, size, unit, sizeof unit));
        free(bytes);
        store_ok(p, p->store->apply(p->store, &erase, 1, &p->err));
        assert_int_equal(erase.of.erase.erased, 4);
        bytes = read_journal(p, &size);
        assert_false(has(bytes, size, unit, sizeof unit));
        free(bytes);
    }
    note(p, &batch, a, 20, 10); /* not in the store yet, and so not erased */
    store_ok(p, p->store->apply(p->store, &erase, 1, &p->err));
    again(p);
    assert_string_equal(store_seen(p, a, 20, NULL).body, BODY);
    assert_int_equal(p->view->event(p->view, a, 0, NULL, store_see, &(struct seen){0}, &p->err),
                     GBOSE__EABSENT);
    gbose__batch_clear(&batch);
}

int main(void)
{
#define PROMISE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        PROMISE(what_was_noted_is_there_once),
        PROMISE(events_of_a_bandit_that_is_gone_are_left_out),
        PROMISE(a_torn_end_is_no_damage_and_other_damage_is),
        PROMISE(it_is_written_over_and_over),
        PROMISE(a_full_journal_takes_nothing_until_there_is_room),
        PROMISE(who_opens_it_beside_sees_what_was_noted),
        PROMISE(who_opens_it_beside_waits_for_what_was_noted),
        PROMISE(what_is_erased_is_not_in_the_journal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
