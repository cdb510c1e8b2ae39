/* The file of a journal: where records go, and how they are found again. */
#include "store/notes.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/error.h"
#include "store/batch.h"
#include "store/direct.h"

#define HALF ((size_t)8 << 20) /* bytes: 8,000 events of a kilobyte, as many as the store may be behind */

struct gbose__notes {
    char *path;
    int file; /* -1: not open yet */
    uint64_t id;
    uint64_t next;               /* place of the next event */
    uint64_t last;               /* of the last that is in the journal */
    size_t at;                   /* where the next record goes */
    uint64_t last_of[2];         /* of each half */
    atomic_uint_fast64_t passed; /* the store has all up to this one */
    pthread_mutex_t lock;        /* the file is either written or wiped */
};

struct gbose__notes *gbose__notes_new(const char *path, uint64_t id)
{
    struct gbose__notes *j = calloc(1, sizeof *j);

    if (!j || !(j->path = strdup(path))) {
        free(j);
        return NULL;
    }
    j->file = -1;
    j->id = id;
    j->next = 1;
    pthread_mutex_init(&j->lock, NULL);
    return j;
}

void gbose__notes_free(struct gbose__notes *j)
{
    if (!j)
        return;
    if (j->file >= 0)
        close(j->file);
    pthread_mutex_destroy(&j->lock);
    free(j->path);
    free(j);
}

/* A place for a record, in the half that is being filled or in the other one. -1: there is none. */
static int find_room(struct gbose__notes *j, size_t size)
{
    size_t half = j->at >= HALF;
    uint64_t passed = atomic_load(&j->passed);

    if (passed >= j->last)
        j->at = 0;
    else if (j->at + size <= (half + 1) * HALF)
        return 0;
    else if (j->last_of[1 - half] <= passed)
        j->at = (1 - half) * HALF;
    else
        return -1;
    return size <= HALF ? 0 : -1;
}

int gbose__notes_write(struct gbose__notes *j, struct gbose__batch *batch, gbose_error *err)
{
    size_t size = gbose__batch_seal(batch, j->id, j->next, j->last);
    int rc = GBOSE_OK;

    if (!size)
        return gbose__no_memory(err);
    j->next += batch->n;
    pthread_mutex_lock(&j->lock);
    if (find_room(j, size))
        rc = gbose__fail(err, GBOSE__ESTORE, "the store is behind, and its journal is full");
    else if ((j->file < 0 && (j->file = gbose__direct_make(j->path)) < 0) ||
             gbose__direct_write(j->file, batch->bytes, size, j->at))
        rc = gbose__fail(err, GBOSE__ESTORE, "cannot write %s: %s", j->path, strerror(errno));
    if (!rc) {
        j->last = j->last_of[j->at >= HALF] = batch->last;
        j->at += size;
    }
    pthread_mutex_unlock(&j->lock);
    return rc;
}

void gbose__notes_passed(struct gbose__notes *j, uint64_t place)
{
    atomic_store(&j->passed, place);
}

/* ---- reading ---- */

struct found {
    struct gbose__record record;
    size_t at, size;
};

struct scan {
    unsigned char *bytes;
    size_t size;
    struct found *found; /* by their places */
    size_t n;
};

static int by_place(const void *a, const void *b)
{
    const struct found *x = a, *y = b;

    return (x->record.first > y->record.first) - (x->record.first < y->record.first);
}

static int read_all(int file, unsigned char *to, size_t size)
{
    size_t at = 0;

    while (at < size) {
        ssize_t n = pread(file, to + at, size - at, (off_t)at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (!n)
            break;
        at += (size_t)n;
    }
    memset(to + at, 0, size - at);
    return 0;
}

/* All records of that id that have events beyond a place. */
static int scan_file(struct scan *s, int file, uint64_t id, uint64_t after, gbose_error *err)
{
    struct stat st;

    if (fstat(file, &st))
        return gbose__fail(err, GBOSE__ESTORE, "cannot read the journal: %s", strerror(errno));
    s->size = (size_t)st.st_size < 2 * HALF ? (size_t)st.st_size : 2 * HALF;
    s->size = (s->size + GBOSE__DIRECT_BLOCK - 1) / GBOSE__DIRECT_BLOCK * GBOSE__DIRECT_BLOCK;
    s->bytes = aligned_alloc(GBOSE__DIRECT_BLOCK, s->size + GBOSE__DIRECT_BLOCK);
    s->found = malloc((s->size / GBOSE__DIRECT_BLOCK + 1) * sizeof *s->found);
    if (!s->bytes || !s->found)
        return gbose__no_memory(err);
    if (read_all(file, s->bytes, s->size))
        return gbose__fail(err, GBOSE__ESTORE, "cannot read the journal: %s", strerror(errno));
    for (size_t at = 0; at < s->size;) {
        struct found *f = &s->found[s->n];

        f->at = at;
        f->size = gbose__batch_find(&f->record, s->bytes + at, s->size - at, id);
        s->n += f->size && f->record.first + f->record.n - 1 > after;
        at += f->size ? f->size : GBOSE__DIRECT_BLOCK;
    }
    qsort(s->found, s->n, sizeof *s->found, by_place);
    return GBOSE_OK;
}

static void end_scan(struct scan *s)
{
    free(s->bytes);
    free(s->found);
}

/* Leave out what could not be synced, whose places a later record passes over; and is the rest all that there was? */
static int is_whole(struct scan *s, uint64_t after)
{
    uint64_t before = UINT64_MAX; /* what the record behind says of the one in front of it */
    size_t to = s->n;

    if (!s->n)
        return 1;
    for (size_t i = s->n; i-- > 0;) {
        const struct gbose__record *r = &s->found[i].record;

        if (r->first > before)
            continue;
        if (before != UINT64_MAX && before > after && r->first + r->n - 1 != before)
            return 0;
        before = r->previous;
        s->found[--to] = s->found[i];
    }
    memmove(s->found, s->found + to, (s->n - to) * sizeof *s->found);
    s->n -= to;
    return before <= after;
}

/* The same for a file by its name; one that is not there is empty. */
static int scan_path(struct scan *s, const char *path, uint64_t id, uint64_t after, gbose_error *err)
{
    int file = gbose__direct_open(path, O_RDONLY), rc;

    if (file < 0 && errno == ENOENT)
        return GBOSE_OK;
    if (file < 0)
        return gbose__fail(err, GBOSE__ESTORE, "cannot read %s: %s", path, strerror(errno));
    rc = scan_file(s, file, id, after, err);
    close(file);
    return rc;
}

int gbose__notes_last(const char *path, uint64_t id, uint64_t *last, gbose_error *err)
{
    struct scan s = {0};
    int rc = scan_path(&s, path, id, 0, err);

    *last = !rc && s.n ? s.found[s.n - 1].record.first + s.found[s.n - 1].record.n - 1 : 0;
    end_scan(&s);
    return rc;
}

int gbose__notes_read(const char *path, uint64_t id, uint64_t after, gbose__batch_visit *visit, void *context,
                      gbose_error *err)
{
    struct scan s = {0};
    int rc = scan_path(&s, path, id, after, err);

    if (!rc && !is_whole(&s, after))
        rc = gbose__fail(err, GBOSE__ECORRUPT,
                         "the store is damaged: decisions are missing in %s: restore a backup, or see "
                         "docs/service.md",
                         path);
    for (size_t i = 0; i < s.n && !rc; i++) {
        const struct gbose__record *r = &s.found[i].record;
        struct gbose__batch batch = {
            .bytes = s.bytes + s.found[i].at, .size = r->size, .n = r->n, .last = r->first + r->n - 1};

        rc = gbose__batch_open(&batch) ? gbose__no_memory(err) : visit(context, &batch);
        free(batch.change);
    }
    end_scan(&s);
    return rc;
}

void gbose__notes_wipe(struct gbose__notes *j)
{
    struct scan s = {0};
    gbose_error err;

    pthread_mutex_lock(&j->lock);
    if (j->file < 0)
        j->file = gbose__direct_open(j->path, O_RDWR); /* what is there is of earlier times */
    if (j->file >= 0 && !scan_file(&s, j->file, j->id, atomic_load(&j->passed), &err) && s.size) {
        unsigned char *clean = aligned_alloc(GBOSE__DIRECT_BLOCK, s.size);

        if (clean) {
            memset(clean, 0, s.size);
            for (size_t i = 0; i < s.n; i++)
                memcpy(clean + s.found[i].at, s.bytes + s.found[i].at, s.found[i].size);
            gbose__direct_write(j->file, clean, s.size, 0);
        }
        free(clean);
    }
    end_scan(&s);
    pthread_mutex_unlock(&j->lock);
}
