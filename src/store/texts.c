/* Texts of events in a file of their own. */
#define _GNU_SOURCE /* fallocate() */
#include "store/texts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/error.h"
#include "store/direct.h"

/* A place is where a text begins, in words of 8 bytes, and in its lowest bits how many bytes it has. */
#define WORD 8
#define SIZE_BITS 22 /* texts of up to 4 MB, in a file of up to 16 TB */
#define LONGEST (((size_t)1 << SIZE_BITS) - 1)
#define LAST_WORD (INT64_MAX >> SIZE_BITS)
#define MOST ((size_t)8 << 20) /* bytes that are written at once: as many as half a journal (notes.c) has */

#define MAGIC UINT64_C(0x31747874736f6267) /* "gbostxt1" */

/* What the first block of the file begins with. Numbers are as the processor has them. */
struct head {
    uint64_t magic, id;
};

static uint64_t start_of(int64_t place)
{
    return ((uint64_t)place >> SIZE_BITS) * WORD;
}

static size_t size_of(int64_t place)
{
    return (size_t)place & LONGEST;
}

static uint64_t up_to(uint64_t size, uint64_t unit)
{
    return (size + unit - 1) / unit * unit;
}

int gbose__texts_init(struct gbose__texts *t, const char *path)
{
    *t = (struct gbose__texts){.path = strdup(path), .file = -1};
    return t->path ? 0 : -1;
}

void gbose__texts_clear(struct gbose__texts *t)
{
    if (t->path && t->file >= 0)
        close(t->file);
    free(t->path);
    free(t->bytes);
    *t = (struct gbose__texts){.file = -1};
}

static int reserve(struct gbose__texts *t, size_t size)
{
    size_t capacity = up_to(2 * size, GBOSE__DIRECT_BLOCK);
    void *more;

    if (size <= t->capacity)
        return 0;
    more = aligned_alloc(GBOSE__DIRECT_BLOCK, capacity);
    if (!more)
        return -1;
    if (t->size)
        memcpy(more, t->bytes, t->size);
    free(t->bytes);
    t->bytes = more;
    t->capacity = capacity;
    return 0;
}

/* ---- writing ---- */

/* How many bytes the file has, and what its first block begins with. One that is not there has none. */
static int look(const char *path, uint64_t *size, struct head *head, gbose_error *err)
{
    int file = open(path, O_RDONLY | O_CLOEXEC), bad;
    struct stat st;

    *size = 0;
    *head = (struct head){0};
    if (file < 0 && errno == ENOENT)
        return GBOSE_OK;
    bad = file < 0 || fstat(file, &st) || pread(file, head, sizeof *head, 0) < 0;
    if (bad)
        gbose__fail(err, GBOSE__ESTORE, "cannot read %s: %s", path, strerror(errno));
    else
        *size = (uint64_t)st.st_size;
    if (file >= 0)
        close(file);
    return bad ? GBOSE__ESTORE : GBOSE_OK;
}

int gbose__texts_begin(struct gbose__texts *t, uint64_t id, uint64_t known, gbose_error *err)
{
    uint64_t size;
    struct head head;
    int rc = look(t->path, &size, &head, err), ours = head.magic == MAGIC && head.id == id;

    if (rc)
        return rc;
    if (size < known)
        return gbose__fail(err, GBOSE__ECORRUPT,
                           "the store is damaged: %s is not there, or not all of it: restore a backup, or "
                           "see docs/service.md",
                           t->path);
    /* Who died before the database knew of any text may have left a file in which nothing was written yet. */
    if (size && !ours && (known || head.magic || head.id))
        return gbose__fail(err, GBOSE__ECORRUPT,
                           "%s is not of the database beside it, or is damaged: a backup belongs into an "
                           "empty directory, see docs/service.md",
                           t->path);
    if (size > known && truncate(t->path, (off_t)known))
        return gbose__fail(err, GBOSE__ESTORE, "cannot write %s: %s", t->path, strerror(errno));
    t->id = id;
    t->known = t->end = known;
    return GBOSE_OK;
}

int gbose__texts_is_ahead(const struct gbose__texts *t)
{
    return t->end != t->known;
}

static int begin_file(struct gbose__texts *t)
{
    const struct head head = {MAGIC, t->id};

    if (reserve(t, GBOSE__DIRECT_BLOCK))
        return -1;
    memset(t->bytes, 0, GBOSE__DIRECT_BLOCK);
    memcpy(t->bytes, &head, sizeof head);
    t->size = GBOSE__DIRECT_BLOCK;
    return 0;
}

int64_t gbose__texts_add(struct gbose__texts *t, const void *bytes, size_t size)
{
    size_t room = up_to(size, WORD);
    uint64_t word;

    if (!size || size > LONGEST || t->size + room > MOST || (!t->end && !t->size && begin_file(t)))
        return 0;
    word = (t->end + t->size) / WORD;
    if (word > LAST_WORD || reserve(t, t->size + room))
        return 0;
    memcpy(t->bytes + t->size, bytes, size);
    memset(t->bytes + t->size + size, 0, room - size);
    t->size += room;
    return (int64_t)(word << SIZE_BITS | size);
}

int gbose__texts_write(struct gbose__texts *t, gbose_error *err)
{
    size_t size = up_to(t->size, GBOSE__DIRECT_BLOCK); /* there is room: the capacity is such a number, too */
    uint64_t at = t->end;

    if (!size)
        return GBOSE_OK;
    memset(t->bytes + t->size, 0, size - t->size);
    t->size = 0;
    t->end += size; /* some of it may be written, whatever happens */
    if ((t->file < 0 && (t->file = gbose__direct_make(t->path)) < 0) ||
        gbose__direct_write(t->file, t->bytes, size, at))
        return gbose__fail(err, GBOSE__ESTORE, "cannot write %s: %s", t->path, strerror(errno));
    return GBOSE_OK;
}

void gbose__texts_settle(struct gbose__texts *t, int all)
{
    if (all)
        t->known = t->end;
    else if (t->end != t->known && (!truncate(t->path, (off_t)t->known) || errno == ENOENT))
        t->end = t->known; /* else it is tried again after the next transaction */
}

/* ---- reading ---- */

int gbose__texts_read(struct gbose__texts *t, int64_t place, const unsigned char **bytes, size_t *size,
                      gbose_error *err)
{
    uint64_t start = start_of(place);
    size_t n = size_of(place), at = 0;

    if (t->file < 0 && (t->file = open(t->path, O_RDONLY | O_CLOEXEC)) < 0)
        return gbose__fail(err, errno == ENOENT ? GBOSE__ECORRUPT : GBOSE__ESTORE,
                           "cannot read %s, where the store has texts of events: %s", t->path,
                           strerror(errno));
    if (reserve(t, n))
        return gbose__no_memory(err);
    while (at < n) {
        ssize_t got = pread(t->file, t->bytes + at, n - at, (off_t)(start + at));

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return gbose__fail(err, GBOSE__ESTORE, "cannot read %s: %s", t->path, strerror(errno));
        if (!got)
            return gbose__fail(err, GBOSE__ECORRUPT,
                               "the store is damaged: the text of an event is not in %s", t->path);
        at += (size_t)got;
    }
    *bytes = t->bytes;
    *size = n;
    return GBOSE_OK;
}

/* ---- wiping ---- */

/* Overwrite a part of the file, where the system cannot make a hole. */
static int write_zeros(int file, uint64_t at, uint64_t end)
{
    static const unsigned char zeros[65536];

    while (at < end) {
        ssize_t n = pwrite(file, zeros, end - at < sizeof zeros ? end - at : sizeof zeros, (off_t)at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        at += (uint64_t)n;
    }
    return 0;
}

static int make_hole(int file, uint64_t at, uint64_t end)
{
    if (!fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at, (off_t)(end - at)))
        return 0;
    return errno == EOPNOTSUPP || errno == ENOSYS ? write_zeros(file, at, end) : -1;
}

/* Is there no text? Each has other bytes, too: it begins with one. */
static int is_empty(int file, uint64_t at, uint64_t end)
{
    unsigned char bytes[GBOSE__DIRECT_BLOCK];
    ssize_t n = pread(file, bytes, end - at, (off_t)at);

    for (ssize_t i = 0; i < n; i++)
        if (bytes[i])
            return 0;
    return n == (ssize_t)(end - at);
}

/* The system gets back whole blocks. The first and the last one may have had other texts that were wiped before: then they go
 * as a whole. */
static int wipe(int file, uint64_t at, uint64_t end)
{
    uint64_t first = at / GBOSE__DIRECT_BLOCK * GBOSE__DIRECT_BLOCK, last = up_to(end, GBOSE__DIRECT_BLOCK);

    if (is_empty(file, first, at))
        at = first;
    if (is_empty(file, end, last))
        end = last;
    return make_hole(file, at, end);
}

int gbose__texts_wipe(const struct gbose__texts *t, const int64_t *place, size_t n)
{
    int file = open(t->path, O_RDWR | O_CLOEXEC), bad = 0;

    if (file < 0)
        return errno == ENOENT ? 0 : -1;
    for (size_t i = 0, next; i < n && !bad; i = next) { /* texts that follow each other are one hole */
        uint64_t start = start_of(place[i]), end = start;

        for (next = i; next < n && start_of(place[next]) == up_to(end, WORD); next++)
            end = start_of(place[next]) + size_of(place[next]);
        bad = wipe(file, start, end);
    }
    bad = bad || fdatasync(file);
    close(file);
    return bad ? -1 : 0;
}
