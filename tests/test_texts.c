/* Texts of events in a file of their own: they come back, whatever happens to the file and whoever dies when; and those that are
 * gone leave no bytes behind. */
#define _GNU_SOURCE /* memmem() */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "store/pack.h"
#include "store/sqlite_inner.h"
#include "store/texts.h"
#include "support/disk.h"
#include "support/random.h"
#include "support/scratch.h"
#include "support/store_contract.h"

#define FILE_NAME "gbose.texts"
#define ID 77
#define BLOCK 4096

/* ---- the file alone ---- */

struct file {
    char *dir;
    struct gbose__texts t;
    gbose_error err;
};

static void begin(struct file *f, uint64_t known)
{
    assert_int_equal(gbose__texts_init(&f->t, scratch_path(f->dir, FILE_NAME)), 0);
    assert_int_equal(gbose__texts_begin(&f->t, ID, known, &f->err), GBOSE_OK);
}

static int new_file(void **state)
{
    struct file *f = calloc(1, sizeof *f);

    f->dir = scratch_new();
    begin(f, 0);
    *state = f;
    return 0;
}

static int drop_file(void **state)
{
    struct file *f = *state;

    disk_fate = NULL;
    gbose__texts_clear(&f->t);
    scratch_remove(f->dir);
    free(f);
    return 0;
}

/* A text that nobody else has: its bytes depend on its number and size. */
static unsigned char *text(uint64_t number, size_t size)
{
    struct random random = {.state = number + 1};
    unsigned char *bytes = malloc(size + 8);

    for (size_t i = 0; i < size; i += 8) {
        uint64_t word = (uint64_t)random_below(&random, 0xffffffff) << 20 | (number & 0xfff);

        memcpy(bytes + i, &word, 8);
    }
    bytes[0] = 1; /* as a packed text begins */
    return bytes;
}

static int64_t add(struct file *f, uint64_t number, size_t size)
{
    unsigned char *bytes = text(number, size);
    int64_t place = gbose__texts_add(&f->t, bytes, size);

    free(bytes);
    return place;
}

static void keep(struct file *f)
{
    if (gbose__texts_write(&f->t, &f->err))
        fail_msg("%s", f->err.text);
    gbose__texts_settle(&f->t, 1);
}

/* As a reader sees it: 1, or 0: there are zeros, or other bytes. */
static int is_there(struct file *f, int64_t place, uint64_t number, size_t size)
{
    struct gbose__texts reader;
    unsigned char *expected = text(number, size);
    const unsigned char *bytes;
    size_t got;
    int same;

    assert_int_equal(gbose__texts_init(&reader, f->t.path), 0);
    assert_int_equal(gbose__texts_read(&reader, place, &bytes, &got, &f->err), GBOSE_OK);
    assert_int_equal(got, size);
    same = !memcmp(bytes, expected, size);
    for (size_t i = 0; i < size && !same; i++)
        assert_int_equal(bytes[i], 0);
    gbose__texts_clear(&reader);
    free(expected);
    return same;
}

static struct stat status(struct file *f)
{
    struct stat st;

    assert_int_equal(stat(f->t.path, &st), 0);
    return st;
}

static void texts_of_any_size_come_back(void **state)
{
    static const size_t sizes[] = {1,    2,    7,     8,      9,       4095,    4096,
                                   4097, 8191, 65537, 999999, 3000001, 4194303, (size_t)1 << 22};
    struct file *f = *state;
    int64_t place[14];
    size_t n = sizeof sizes / sizeof *sizes;
    off_t size;

    for (size_t i = 0; i < n; i++) {
        place[i] = add(f, i, sizes[i]);
        assert_true((place[i] > 0) == (i + 1 < n)); /* the last one is too long */
        if (i % 3 == 2 || sizes[i] > 1000000)
            keep(f);
    }
    keep(f);
    for (int again = 0; again < 2; again++) {
        for (size_t i = 0; i + 1 < n; i++)
            assert_true(is_there(f, place[i], i, sizes[i]));
        size = status(f).st_size;
        gbose__texts_clear(&f->t);
        begin(f, (uint64_t)size);
    }
}

static void so_many_at_once_and_no_more(void **state)
{
    struct file *f = *state;
    size_t n = 0;

    while (add(f, n, 1000000))
        n++;
    assert_int_equal(n, 8);
    keep(f);
    assert_true(add(f, n, 1000000) > 0);
    f->t.known = f->t.end = ((uint64_t)1 << 44) - BLOCK; /* there ends what a place can say */
    f->t.size = 0;
    assert_true(add(f, n, BLOCK) > 0);
    assert_int_equal(add(f, n, 1), 0);
    f->t.size = 0;
}

static void what_the_database_does_not_know_is_cut_off(void **state)
{
    struct file *f = *state;
    int64_t first, second;
    uint64_t known;

    first = add(f, 1, 5000);
    keep(f);
    known = f->t.known;
    second = add(f, 2, 5000);
    assert_int_equal(gbose__texts_write(&f->t, &f->err), GBOSE_OK);
    assert_true(gbose__texts_is_ahead(&f->t) && is_there(f, second, 2, 5000)); /* perhaps it has happened */
    gbose__texts_settle(&f->t, 0);
    assert_true(!gbose__texts_is_ahead(&f->t) && status(f).st_size == (off_t)known);
    assert_true(add(f, 3, 5000) == second);
    assert_int_equal(gbose__texts_write(&f->t, &f->err), GBOSE_OK);
    gbose__texts_clear(&f->t); /* it dies */
    begin(f, known);
    assert_true(status(f).st_size == (off_t)known && is_there(f, first, 1, 5000));
    gbose__texts_clear(&f->t);
    begin(f, 0); /* it dies before the database knew of any */
    assert_int_equal(status(f).st_size, 0);
}

static enum disk_call bad_call;

static int one_call_fails(enum disk_call call)
{
    return call == bad_call ? EIO : 0;
}

/* After a failed write or sync that place is not used before it is cut off; and as long as it cannot be. */
static void a_place_that_could_not_be_written_is_not_used(void **state)
{
    static const enum disk_call bad[] = {DISK_WRITE, DISK_SYNC};
    struct file *f = *state;
    int64_t first = add(f, 1, 100);

    keep(f);
    for (size_t i = 0; i < 2; i++) {
        uint64_t known = f->t.known;

        add(f, 2, 5000);
        bad_call = bad[i];
        disk_fate = one_call_fails;
        assert_int_equal(gbose__texts_write(&f->t, &f->err), GBOSE__ESTORE);
        assert_non_null(strstr(f->err.text, "cannot write "));
        bad_call = DISK_CUT;
        gbose__texts_settle(&f->t, 0);
        assert_true(gbose__texts_is_ahead(&f->t));
        disk_fate = NULL;
        gbose__texts_settle(&f->t, 0);
        assert_true(!gbose__texts_is_ahead(&f->t) && status(f).st_size == (off_t)known);
    }
    assert_true(is_there(f, first, 1, 100));
}

static int no_such_thing(enum disk_call call)
{
    return call == DISK_OPEN_DIRECT ? EINVAL : call == DISK_HOLE ? EOPNOTSUPP : 0;
}

/* Three texts, the one in the middle is wiped. */
static void file_systems_without_direct_writes_and_holes_do(void **state)
{
    struct file *f = *state;
    int64_t place[3];

    disk_fate = no_such_thing;
    for (uint64_t i = 0; i < 3; i++)
        place[i] = add(f, i, 100001);
    keep(f);
    assert_int_equal(gbose__texts_wipe(&f->t, &place[1], 1), 0);
    for (uint64_t i = 0; i < 3; i++)
        assert_true(is_there(f, place[i], i, 100001) == (i != 1));
}

static void refused(struct file *f, uint64_t id, uint64_t known, const char *says)
{
    struct gbose__texts t;
    size_t size, after;
    char *before = scratch_exists(f->dir, FILE_NAME) ? scratch_read(f->dir, FILE_NAME, &size) : NULL, *now;

    assert_int_equal(gbose__texts_init(&t, f->t.path), 0);
    assert_int_equal(gbose__texts_begin(&t, id, known, &f->err), GBOSE__ECORRUPT);
    if (!strstr(f->err.text, says) || !strstr(f->err.text, FILE_NAME))
        fail_msg("%s", f->err.text);
    gbose__texts_clear(&t);
    if (!before)
        return;
    now = scratch_read(f->dir, FILE_NAME, &after); /* it is left as it was */
    assert_true(size == after && !memcmp(before, now, size));
    free(before);
    free(now);
}

/* A reader is told so, too. */
static void not_readable(struct file *f, int64_t place)
{
    struct gbose__texts reader;
    const unsigned char *bytes;
    size_t size;

    assert_int_equal(gbose__texts_init(&reader, f->t.path), 0);
    assert_int_equal(gbose__texts_read(&reader, place, &bytes, &size, &f->err), GBOSE__ECORRUPT);
    assert_non_null(strstr(f->err.text, FILE_NAME));
    gbose__texts_clear(&reader);
}

static void a_file_that_is_not_the_right_one_is_refused_and_left(void **state)
{
    struct file *f = *state;
    int64_t place = add(f, 1, 9000);
    uint64_t known;

    keep(f);
    known = f->t.known;
    refused(f, ID, known + BLOCK, "not all of it");
    refused(f, ID + 1, known, "not of the database");
    refused(f, ID + 1, 0, "not of the database"); /* a restored backup knows of none */
    scratch_write(f->dir, FILE_NAME, "a letter to my aunt", 0600);
    refused(f, ID, 0, "not of the database");
    not_readable(f, place);
    assert_int_equal(unlink(f->t.path), 0);
    refused(f, ID, known, "not there");
    not_readable(f, place);
}

/* ---- wiping ---- */

#define TEXTS 600

static int by_place(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Groups of texts of all sizes, wiped in random order, some at a time: the others are there. When all are gone, so are all blocks but
 * the first one. */
static void what_is_wiped_is_gone_and_nothing_else(void **state)
{
    struct file *f = *state;
    struct random random = {.state = 21};
    int64_t place[TEXTS], some[TEXTS];
    size_t size[TEXTS], order[TEXTS];
    uint64_t known;

    for (size_t i = 0; i < TEXTS; i++) {
        size[i] = 1 + random_below(&random, i % 10 ? 2000 : 20000);
        place[i] = add(f, i, size[i]);
        order[i] = i;
        if (!random_below(&random, 6)) /* so that groups end anywhere in a block */
            keep(f);
    }
    keep(f);
    for (size_t i = TEXTS; i-- > 1;) {
        size_t k = random_below(&random, i + 1), swap = order[i];

        order[i] = order[k];
        order[k] = swap;
    }
    for (size_t done = 0, n; done < TEXTS; done += n) {
        n = 1 + random_below(&random, 60);
        n = n < TEXTS - done ? n : TEXTS - done;
        for (size_t i = 0; i < n; i++)
            some[i] = place[order[done + i]];
        qsort(some, n, sizeof *some, by_place);
        assert_int_equal(gbose__texts_wipe(&f->t, some, n), 0);
        for (size_t i = 0; i < TEXTS; i++)
            assert_true(is_there(f, place[order[i]], order[i], size[order[i]]) == (i >= done + n));
    }
    assert_true(status(f).st_blocks * 512 <= 4 * BLOCK); /* its head, and what the system notes of it */
    known = f->t.known;
    assert_true(status(f).st_size == (off_t)known);
    gbose__texts_clear(&f->t);
    begin(f, known); /* it is still known whose file it is */
}

/* ---- the file of a store ---- */

static const unsigned char hers[GBOSE__UNIT_SIZE] = "her keyed hash";

#define EVENTS 64

/* A group of changes whose texts are its own. */
struct group {
    struct gbose__change change[EVENTS + 2];
    size_t n;
};

/* What event `number` was asked: words and numbers that no other event has. */
static char *body_of(uint64_t number)
{
    struct random random = {.state = 1000 + number};
    size_t size = 300 + number % 7 * 500;
    char *body = malloc(size + 1);

    for (size_t i = 0; i < size; i++)
        body[i] =
            i / 100 % 2 ? (char)('0' + random_below(&random, 10)) : (char)('a' + random_below(&random, 26));
    body[size] = 0;
    return body;
}

static unsigned char *packed_of(uint64_t number, size_t *size)
{
    char *body = body_of(number);
    unsigned char *packed = malloc(gbose__pack_bound(strlen(body)));

    *size = gbose__pack(packed, body, strlen(body));
    free(body);
    return packed;
}

/* Every second event is hers. */
static struct group events(uint32_t bandit, uint64_t from, size_t n)
{
    struct group g = {.n = n};

    for (size_t i = 0; i < n; i++) {
        struct gbose__event_row *row = &g.change[i].of.event;

        g.change[i] = store_event(bandit, from + i, NULL, 5000);
        row->unit = (from + i) % 2 ? hers : NULL;
        row->packed = packed_of(from + i, &row->packed_size);
        row->body = NULL;
    }
    return g;
}

static void end_group(struct group *g)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->change[i].kind == GBOSE__ADD_EVENT)
            free((void *)g->change[i].of.event.packed);
}

static void add_events(struct place *p, uint32_t bandit, uint64_t from, size_t n)
{
    struct group g = events(bandit, from, n);

    store_ok(p, p->store->apply(p->store, g.change, n, &p->err));
    end_group(&g);
}

static void erase_hers(struct place *p, uint32_t bandit)
{
    struct gbose__change erase = {.kind = GBOSE__ERASE_UNIT, .of.erase = {.bandit = bandit, .unit = hers}};

    store_ok(p, p->store->apply(p->store, &erase, 1, &p->err));
}

struct looked {
    uint64_t seen; /* a bit for each event */
    size_t n;
    struct place *p; /* not NULL: while the first one is read, hers are erased */
};

/* Whatever is shown is what was asked. */
static int look(void *context, const struct gbose__case *it)
{
    struct looked *l = context;
    char *body = body_of(it->event->number);

    assert_int_equal(it->event->body_size, strlen(body));
    assert_memory_equal(it->event->body, body, strlen(body));
    free(body);
    assert_true(it->event->number < 64);
    l->seen |= (uint64_t)1 << it->event->number;
    if (!l->n++ && l->p)
        erase_hers(l->p, it->event->bandit);
    return 0;
}

static uint64_t seen(struct place *p, uint32_t bandit)
{
    struct looked l = {0};

    store_ok(p, p->view->events(p->view, bandit, 0, 1000, 0, look, &l, &p->err));
    return l.seen;
}

static uint64_t range(unsigned from, unsigned n)
{
    return (n == 64 ? UINT64_MAX : ((uint64_t)1 << n) - 1) << from;
}

#define HERS UINT64_C(0xaaaaaaaaaaaaaaaa)

/* How many events of the store have their text in the file. */
static int64_t placed(struct place *p)
{
    sqlite3 *db;
    sqlite3_stmt *s;
    int64_t n;

    assert_int_equal(sqlite3_open(scratch_path(p->dir, "gbose.sqlite3"), &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_prepare_v2(db, "SELECT count(*) FROM event WHERE typeof(body) = 'integer'", -1, &s, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    n = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    sqlite3_close(db);
    return n;
}

/* Which of these events have a part of their text in a file that is so named: 20 bytes of its beginning, its end, or in between. */
static uint64_t in_files(struct place *p, const char *name, uint64_t of)
{
    DIR *d = opendir(p->dir);
    struct dirent *e;
    uint64_t found = 0;

    while ((e = readdir(d))) {
        size_t size;
        char *bytes;

        if (strncmp(e->d_name, name, strlen(name)) || strstr(e->d_name, "-shm"))
            continue;
        bytes = scratch_read(p->dir, e->d_name, &size);
        for (uint64_t i = 0; i < 64; i++) {
            size_t n;
            unsigned char *packed = of >> i & 1 && !(found >> i & 1) ? packed_of(i, &n) : NULL;

            for (size_t at = 0; packed && at + 20 <= n; at += (n - 20) / 8)
                if (memmem(bytes, size, packed + at, 20))
                    found |= (uint64_t)1 << i;
            free(packed);
        }
        free(bytes);
    }
    closedir(d);
    return found;
}

static uint64_t on_disk(struct place *p, uint64_t of)
{
    return in_files(p, "gbose.", of);
}

/* The writer of a service does so, again and again. */
static void tidy_later(struct place *p)
{
    const struct timespec second = {1, 50000000};

    nanosleep(&second, NULL);
    p->store->tidy(p->store);
}

static void again(struct place *p)
{
    store_close(p);
    store_open(p);
}

static int new_store(void **state)
{
    struct place *p = calloc(1, sizeof *p);

    gbose__sqlite_texts_worth = 1;
    *p = (struct place){.open = gbose__sqlite_open, .dir = scratch_new()};
    store_open(p);
    *state = p;
    return 0;
}

static int drop_store(void **state)
{
    struct place *p = *state;

    disk_fate = NULL;
    store_close(p);
    scratch_remove(p->dir);
    free(p);
    return 0;
}

static void large_groups_are_in_the_file_and_small_ones_are_not(void **state)
{
    struct place *p = *state;
    uint32_t a = store_bandit(p, "a");
    struct group g;

    gbose__sqlite_texts_worth = 5000;
    add_events(p, a, 0, 2);
    assert_int_equal(placed(p), 0);
    g = events(a, 2, 30);
    g.change[10].of.event.name = "mine"; /* compared with what is asked later */
    store_ok(p, p->store->apply(p->store, g.change, g.n, &p->err));
    end_group(&g);
    assert_int_equal(placed(p), 29);
    for (int i = 0; i < 2; i++, again(p))
        assert_true(seen(p, a) == range(0, 32));
}

static void an_event_that_is_not_added_leaves_no_text(void **state)
{
    struct place *p = *state;
    uint32_t a = store_bandit(p, "a");
    struct group g = events(a, 0, 1);
    struct gbose__change pair[2] = {{.kind = GBOSE__PUT_BANDIT, .of.bandit = {0, "a", "{}", 1, 5}},
                                    g.change[0]};

    pair[1].chained = 1;
    store_ok(p, p->store->apply(p->store, pair, 2, &p->err));
    assert_int_equal(pair[1].result, GBOSE__CONFLICT);
    assert_int_equal(on_disk(p, 1), 0);
    end_group(&g);
}

/* Events that are in the journal when the process dies come into the database; the next ones are in the file again. */
static void those_of_a_journal_come_once(void **state)
{
    struct place *p = *state;
    uint32_t a = store_bandit(p, "a");
    struct gbose__batch batch = {0};
    struct group g = events(a, 0, 20);

    gbose__batch_begin(&batch);
    for (size_t i = 0; i < 20; i++)
        assert_int_equal(gbose__batch_add(&batch, &g.change[i].of.event), 0);
    store_ok(p, p->store->note(p->store, &batch, &p->err));
    add_events(p, a, 20, 10);
    again(p);
    assert_int_equal(placed(p), 10);
    add_events(p, a, 30, 10);
    assert_int_equal(placed(p), 20);
    assert_true(seen(p, a) == range(0, 40));
    end_group(&g);
    gbose__batch_clear(&batch);
}

/* ---- erasing ---- */

static void what_is_erased_leaves_no_bytes(void **state)
{
    struct place *p = *state;
    uint32_t a = store_bandit(p, "a");
    struct gbose__batch batch = {0};
    struct group g = events(a, 40, 10);

    add_events(p, a, 0, 20);
    gbose__batch_begin(&batch);
    for (size_t i = 0; i < g.n; i++)
        assert_int_equal(gbose__batch_add(&batch, &g.change[i].of.event), 0);
    store_ok(p, p->store->note(p->store, &batch, &p->err));
    g.change[g.n++] = (struct gbose__change){.kind = GBOSE__PASS, .of.pass = batch.last};
    store_ok(p, p->store->apply(p->store, g.change, g.n, &p->err));
    end_group(&g);
    g = events(a, 20, 10);
    g.change[9].of.event.number = 20; /* twice: it is refused when its texts are written already */
    assert_int_equal(p->store->apply(p->store, g.change, g.n, &p->err), GBOSE__ESTORE);
    end_group(&g);
    assert_true(on_disk(p, UINT64_MAX) == (range(0, 30) | range(40, 10)));
    erase_hers(p, a);
    assert_true(on_disk(p, UINT64_MAX) == ((range(0, 20) | range(40, 10)) & ~HERS));
    assert_true(seen(p, a) == ((range(0, 20) | range(40, 10)) & ~HERS));
    again(p);
    assert_true(seen(p, a) == ((range(0, 20) | range(40, 10)) & ~HERS));
    gbose__batch_clear(&batch);
}

/* Who reads meanwhile reads on; afterwards nothing is left, be it while the process lives or when it ends. */
static void what_is_erased_while_it_is_read_is_wiped_later(void **state)
{
    struct place *p = *state;
    uint32_t a = store_bandit(p, "a");

    for (int ends = 0; ends < 2; ends++) {
        struct looked l = {.p = p};
        unsigned from = ends ? 30 : 0;

        add_events(p, a, from, 30);
        store_ok(p, p->view->events(p->view, a, from, 1000, 0, look, &l, &p->err));
        assert_true(l.seen == range(from, 30));
        assert_int_not_equal(on_disk(p, HERS), 0);
        if (ends)
            store_close(p);
        else
            tidy_later(p);
        assert_int_equal(on_disk(p, HERS), 0);
        if (ends)
            store_open(p);
        assert_true(seen(p, a) == (range(0, from + 30) & ~HERS));
    }
}

static off_t blocks(struct place *p)
{
    struct stat st;

    assert_int_equal(stat(scratch_path(p->dir, FILE_NAME), &st), 0);
    return st.st_blocks * 512;
}

/* Two bandits whose events are among each other: one has its old events dropped, and is then dropped, too. */
static void the_disk_has_its_room_back(void **state)
{
    struct place *p = *state;
    uint32_t a = store_bandit(p, "a"), b = store_bandit(p, "b");
    struct group g = events(a, 0, EVENTS);
    struct gbose__change snapshot = {.kind = GBOSE__ADD_SNAPSHOT,
                                     .of.snapshot = {a, 1, 22, "what was learned", 16, 0, 0}},
                         retain = {.kind = GBOSE__RETAIN,
                                   .of.erase = {.bandit = a, .before = 9000, .most = 100}},
                         drop = {.kind = GBOSE__DROP_BANDIT, .of.bandit.id = a};

    for (size_t i = 0; i < EVENTS; i++)
        g.change[i].of.event.bandit = i % 3 ? b : a; /* 22 of them are a's */
    store_ok(p, p->store->apply(p->store, g.change, EVENTS, &p->err));
    end_group(&g);
    assert_true(blocks(p) > 50000);
    for (uint64_t i = 0; i < EVENTS; i += 3)
        store_reward(p, a, i, "", 1, 2000, 1, GBOSE__DONE);
    store_ok(p, p->store->apply(p->store, &snapshot, 1, &p->err));
    store_ok(p, p->store->apply(p->store, &retain, 1, &p->err));
    assert_int_equal(retain.of.erase.erased, 22);
    tidy_later(p);
    assert_true(on_disk(p, UINT64_MAX) == ~UINT64_C(0x9249249249249249)); /* every third one is gone */
    drop.of.bandit.id = b;
    store_ok(p, p->store->apply(p->store, &drop, 1, &p->err));
    tidy_later(p);
    assert_true(blocks(p) <= BLOCK);
    add_events(p, a, 1, 1);
    assert_true(seen(p, a) == 2);
}

/* ---- copies ---- */

static void copy_file(const char *from, const char *to)
{
    char line[1000];

    snprintf(line, sizeof line, "cp %s %s", from, to);
    assert_int_equal(system(line), 0);
}

/* Reading the backup of a store; its own file of texts is begun with the first ones that are added. */
static void a_backup_has_all_texts_in_one_file(void **state)
{
    struct place *p = *state, copy = {.open = gbose__sqlite_open, .dir = scratch_new()};
    uint32_t a = store_bandit(p, "a");

    add_events(p, a, 0, 30);
    store_ok(p, p->store->backup(p->store, scratch_path(copy.dir, "gbose.sqlite3"), &p->err));
    erase_hers(p, a);
    add_events(p, a, 50, 10);
    copy_file(scratch_path(p->dir, FILE_NAME),
              scratch_path(copy.dir, FILE_NAME)); /* not an empty directory */
    assert_int_equal(copy.open(&copy.store, copy.dir, 1, 0, &copy.err), GBOSE__ECORRUPT);
    assert_non_null(strstr(copy.err.text, "a backup belongs into an empty directory"));
    assert_int_equal(unlink(scratch_path(copy.dir, FILE_NAME)), 0);
    store_open(&copy);
    assert_int_equal(placed(&copy), 0);
    assert_true(seen(&copy, a) == range(0, 30));
    add_events(&copy, a, 30, 10);
    assert_int_equal(placed(&copy), 10);
    again(&copy);
    assert_true(seen(&copy, a) == range(0, 40));
    store_close(&copy);
    assert_int_equal(unlink(scratch_path(p->dir, FILE_NAME)), 0); /* there is no half a backup */
    assert_int_equal(p->store->backup(p->store, scratch_path(copy.dir, "other"), &p->err), GBOSE__ECORRUPT);
    assert_non_null(strstr(p->err.text, FILE_NAME));
    assert_int_equal(scratch_count(copy.dir, "other"), 0);
    scratch_remove(copy.dir);
}

/* ---- damage ---- */

static void write_file(struct place *p, const char *bytes, size_t size)
{
    FILE *f = fopen(scratch_path(p->dir, FILE_NAME), "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    fclose(f);
}

static void a_damaged_file_is_never_believed(void **state)
{
    struct place *p = *state;
    uint32_t a = store_bandit(p, "a");
    struct random random = {.state = 31};
    struct looked l = {0};
    size_t size, refused = 0;
    char *bytes;

    add_events(p, a, 0, 30);
    store_close(p);
    bytes = scratch_read(p->dir, FILE_NAME, &size);
    for (size_t i = 0; i < 300; i++) {
        size_t at = BLOCK + random_below(&random, size - BLOCK);
        char was = bytes[at];
        int rc;

        bytes[at] = (char)(was ^ (1 << i % 8));
        write_file(p, bytes, size);
        store_open(p);
        rc = p->view->events(p->view, a, 0, 1000, 0, look, &l, &p->err);
        assert_true(!rc || (rc == GBOSE__ECORRUPT && strstr(p->err.text, "the store is damaged")));
        refused += rc != 0;
        store_close(p);
        bytes[at] = was;
    }
    assert_true(refused > 250); /* the others were between texts */
    write_file(p, bytes, size - BLOCK);
    assert_int_equal(p->open(&p->store, p->dir, 1, 0, &p->err), GBOSE__ECORRUPT);
    store_ok(p, p->open(&p->store, p->dir, 0, 1, &p->err)); /* beside: it is read as far as it can be */
    store_ok(p, p->store->view(p->store, &p->view, &p->err));
    assert_int_equal(p->view->events(p->view, a, 0, 1000, 0, look, &l, &p->err), GBOSE__ECORRUPT);
    store_close(p);
    write_file(p, bytes, size);
    store_open(p);
    assert_true(seen(p, a) == range(0, 30));
    free(bytes);
}

static void run_sql(struct place *p, const char *sql)
{
    sqlite3 *db;

    assert_int_equal(sqlite3_open(scratch_path(p->dir, "gbose.sqlite3"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* A database that does not know where texts end cuts none of them off, and one that does not know which are unwanted wipes none. */
static void a_damaged_database_does_no_harm_to_the_file(void **state)
{
    struct place *p = *state;
    uint32_t a = store_bandit(p, "a");

    add_events(p, a, 0, 30);
    store_close(p);
    run_sql(p, "CREATE TABLE kept AS SELECT value FROM meta WHERE name = 'texts';"
               "UPDATE meta SET value = CAST(substr(value, 1, 9) || x'10' || substr(value, 11) AS BLOB)"
               " WHERE name = 'texts'");
    assert_int_equal(p->open(&p->store, p->dir, 1, 0, &p->err), GBOSE__ECORRUPT);
    assert_non_null(strstr(p->err.text, "does not know where texts are"));
    run_sql(p, "UPDATE meta SET value = (SELECT value FROM kept) WHERE name = 'texts'; DROP TABLE kept;"
               "INSERT INTO hole SELECT body, ~body + 1 FROM event WHERE key % 3 = 0");
    store_open(p);
    assert_true(seen(p, a) == range(0, 30));
    erase_hers(p, a);
    assert_true(seen(p, a) == (range(0, 30) & ~HERS));
}

static void a_store_of_version_3_has_its_texts_where_they_were(void **state)
{
    struct place *p = *state;
    uint32_t a = store_bandit(p, "a");

    gbose__sqlite_texts_worth = SIZE_MAX;
    add_events(p, a, 0, 20);
    store_close(p);
    run_sql(p, "DROP TRIGGER event_text; DROP TABLE hole; DELETE FROM meta WHERE name = 'texts';"
               "PRAGMA user_version = 3");
    gbose__sqlite_texts_worth = 1;
    assert_int_equal(p->open(&p->store, p->dir, 0, 1, &p->err), GBOSE_EVERSION);
    store_open(p);
    add_events(p, a, 20, 20);
    assert_int_equal(placed(p), 20);
    assert_true(seen(p, a) == range(0, 40));
    erase_hers(p, a);
    assert_true(on_disk(p, UINT64_MAX) == (range(0, 40) & ~HERS));
}

/* ---- a disk that fails, and processes that die ---- */

static int faults, cuts_fail;

static int syncs_fail(enum disk_call call)
{
    return (call == DISK_SYNC && faults-- > 0) || (call == DISK_CUT && cuts_fail) ? EIO : 0;
}

/* What could not be synced is in the database instead; and if it cannot be cut off, then so is what comes next. */
static void a_text_that_is_not_on_the_disk_is_in_the_database(void **state)
{
    struct place *p = *state;
    uint32_t a = store_bandit(p, "a");

    add_events(p, a, 0, 10);
    faults = 1;
    disk_fate = syncs_fail;
    add_events(p, a, 10, 10);
    disk_forgets();
    assert_int_equal(placed(p), 10);
    assert_true(seen(p, a) == range(0, 20));
    add_events(p, a, 20, 10);
    assert_int_equal(placed(p), 20);
    faults = cuts_fail = 1;
    add_events(p, a, 30, 10);
    add_events(p, a, 40, 10);
    assert_int_equal(placed(p), 20);
    disk_fate = NULL;
    add_events(p, a, 50, 5); /* with it the rest is cut off */
    add_events(p, a, 55, 5);
    assert_int_equal(placed(p), 25);
    again(p);
    assert_true(seen(p, a) == range(0, 60));
}

/* What the process that dies has been told, in memory that outlives it. */
struct told {
    uint64_t added;
    int erased, backed_up, done;
    long until_death; /* writes and other steps */
};
static struct told *told;

static void step(void)
{
    if (told->until_death-- <= 0) {
        disk_forgets(); /* the power fails, too */
        raise(SIGKILL);
    }
}

static int dies_sometime(enum disk_call call)
{
    (void)call;
    step();
    return 0;
}

static ssize_t (*real_pwrite)(int file, const void *bytes, size_t size, off_t at);

static ssize_t sqlite_pwrite(int file, const void *bytes, size_t size, off_t at)
{
    step();
    return real_pwrite(file, bytes, size, at);
}

static void live(struct place *p)
{
    static const char *const names[] = {"pwrite64", "pwrite"};
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    struct gbose__batch batch = {0};
    struct group g;

    for (size_t i = 0; i < 2; i++)
        if (vfs->xGetSystemCall(vfs, names[i])) {
            real_pwrite = (ssize_t(*)(int, const void *, size_t, off_t))vfs->xGetSystemCall(vfs, names[i]);
            vfs->xSetSystemCall(vfs, names[i], (sqlite3_syscall_ptr)sqlite_pwrite);
        }
    disk_fate = dies_sometime;
    store_open(p);
    add_events(p, 1, 0, 10);
    told->added |= range(0, 10);
    g = events(1, 10, 10);
    gbose__batch_begin(&batch);
    for (size_t i = 0; i < g.n; i++)
        gbose__batch_add(&batch, &g.change[i].of.event);
    store_ok(p, p->store->note(p->store, &batch, &p->err));
    told->added |= range(10, 10);
    g.change[g.n++] = (struct gbose__change){.kind = GBOSE__PASS, .of.pass = batch.last};
    store_ok(p, p->store->apply(p->store, g.change, g.n, &p->err));
    store_ok(p, p->store->backup(p->store, scratch_path(p->dir, "copy/gbose.sqlite3"), &p->err));
    told->backed_up = 1;
    erase_hers(p, 1);
    told->erased = 1;
    add_events(p, 1, 20, 20);
    told->added |= range(20, 20);
    again(p);
    add_events(p, 1, 40, 4);
    told->added |= range(40, 4);
    told->done = 1;
    raise(SIGKILL);
}

/* What was told is there, and the rest as a whole or not at all; what was erased is in no file. */
static void survey(struct place *p)
{
    static const unsigned groups[][2] = {{0, 10}, {10, 10}, {20, 20}, {40, 4}};
    struct place copy = {.open = gbose__sqlite_open, .dir = strdup(scratch_path(p->dir, "copy"))};
    uint64_t there, gone, first = range(0, 20) & HERS;

    store_open(p);
    there = seen(p, 1);
    gone = told->erased || (told->added & first && !(there & first)) ? first : 0;
    assert_true((told->added & ~there & ~gone) == 0);
    for (size_t i = 0; i < 4; i++) {
        uint64_t group = range(groups[i][0], groups[i][1]) & ~gone;

        assert_true((there & group) == 0 || (there & group) == group);
    }
    assert_int_equal(in_files(p, FILE_NAME, gone), 0);
    if (!told->erased)
        erase_hers(p, 1); /* who was not answered asks again */
    assert_int_equal(on_disk(p, told->erased ? gone : HERS), 0);
    there &= told->erased ? UINT64_MAX : ~HERS;
    add_events(p, 1, 50, 10);
    assert_true(seen(p, 1) == (there | range(50, 10)));
    again(p);
    assert_true(seen(p, 1) == (there | range(50, 10)));
    store_close(p);
    if (scratch_exists(copy.dir, "gbose.sqlite3")) {
        store_open(&copy);
        assert_true(seen(&copy, 1) == range(0, 20));
        store_close(&copy);
    } else {
        assert_false(told->backed_up);
    }
    free(copy.dir);
}

/* A process dies at its first step, the next one at its second, and so on. */
static void killed_at_every_step(void **state)
{
    struct place *p = *state;
    int steps;

    told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(told != MAP_FAILED);
    store_close(p);
    for (steps = 0; !told->done; steps++) {
        struct place one = {.open = gbose__sqlite_open, .dir = scratch_new()};
        pid_t child;
        int status;

        store_open(&one);
        assert_int_equal(store_bandit(&one, "a"), 1);
        store_close(&one);
        assert_int_equal(mkdir(scratch_path(one.dir, "copy"), 0700), 0);
        *told = (struct told){.until_death = steps};
        child = fork();
        assert_true(child >= 0);
        if (!child) {
            live(&one);
            _exit(1);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        survey(&one);
        scratch_remove(one.dir);
    }
    print_message("killed at %d steps\n", steps - 1);
    assert_true(steps > 60);
    munmap(told, sizeof *told);
    store_open(p);
}

int main(void)
{
#define OF_FILE(name) cmocka_unit_test_setup_teardown(name, new_file, drop_file)
#define OF_STORE(name) cmocka_unit_test_setup_teardown(name, new_store, drop_store)
    const struct CMUnitTest tests[] = {
        OF_FILE(texts_of_any_size_come_back),
        OF_FILE(so_many_at_once_and_no_more),
        OF_FILE(what_the_database_does_not_know_is_cut_off),
        OF_FILE(a_place_that_could_not_be_written_is_not_used),
        OF_FILE(file_systems_without_direct_writes_and_holes_do),
        OF_FILE(a_file_that_is_not_the_right_one_is_refused_and_left),
        OF_FILE(what_is_wiped_is_gone_and_nothing_else),
        OF_STORE(large_groups_are_in_the_file_and_small_ones_are_not),
        OF_STORE(an_event_that_is_not_added_leaves_no_text),
        OF_STORE(those_of_a_journal_come_once),
        OF_STORE(what_is_erased_leaves_no_bytes),
        OF_STORE(what_is_erased_while_it_is_read_is_wiped_later),
        OF_STORE(the_disk_has_its_room_back),
        OF_STORE(a_backup_has_all_texts_in_one_file),
        OF_STORE(a_damaged_file_is_never_believed),
        OF_STORE(a_damaged_database_does_no_harm_to_the_file),
        OF_STORE(a_store_of_version_3_has_its_texts_where_they_were),
        OF_STORE(a_text_that_is_not_on_the_disk_is_in_the_database),
        OF_STORE(killed_at_every_step),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
