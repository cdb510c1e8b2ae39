#include "study/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/bytes.h"
#include "core/error.h"
#include "io/file.h"

#define JOURNAL_MAGIC UINT64_C(0x314c4e524a534247) /* the bytes "GBSJRNL1" */
#define HEADER_SIZE 24                             /* magic, the plan's hash, the size of a record */

struct gbose__journal {
    int file;
    char *path;
    size_t record_size;
    unsigned char *record;
};

/* index, result, checksum */
static size_t record_size(const struct gbose__plan *plan)
{
    return 8 + gbose__result_size(plan->n_points) + 8;
}

static void write_record(unsigned char *record, const struct gbose__study *study, size_t index)
{
    struct gbose__writer w = {record, 0, record_size(study->plan), 0};

    gbose__put_u64(&w, index);
    gbose__result_write(&w, &study->result[index], study->plan->n_points);
    gbose__put_u64(&w, gbose__checksum(record, w.size));
}

/* 1: the record is whole, and its run is now in the study. */
static int read_record(const unsigned char *record, struct gbose__study *study, int *no_memory)
{
    size_t size = record_size(study->plan);
    struct gbose__reader r = {record, size, 0}, tail = {record + size - 8, 8, 0};
    struct gbose__result *result;
    uint64_t index = gbose__get_u64(&r);

    if (gbose__get_u64(&tail) != gbose__checksum(record, size - 8) || index >= study->n_runs)
        return 0;
    result = &study->result[index];
    if (!result->curve)
        result->curve = calloc(study->plan->n_points, sizeof *result->curve);
    if (!result->curve) {
        *no_memory = 1;
        return 0;
    }
    gbose__result_read(&r, result, study->plan->n_points);
    result->done = 1;
    return 1;
}

static int cannot_read(gbose_error *err, const char *path)
{
    return gbose__fail(err, GBOSE__EREAD, "cannot read %s: %s", path, strerror(errno));
}

static int cannot_write(gbose_error *err, const char *path, int error)
{
    return gbose__fail(err, GBOSE__EWRITE, "cannot write %s: %s", path, strerror(error));
}

/* All bytes, or fewer at the end of the file; -1 on an error. */
static ssize_t read_all(int file, unsigned char *buf, size_t size)
{
    size_t got = 0;

    while (got < size) {
        ssize_t n = read(file, buf + got, size - got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        got += (size_t)n;
    }
    return (ssize_t)got;
}

static void make_header(unsigned char *header, const char *plan, size_t size)
{
    struct gbose__writer w = {header, 0, HEADER_SIZE, 0};

    gbose__put_u64(&w, JOURNAL_MAGIC);
    gbose__put_u64(&w, gbose__mix_text(1, plan));
    gbose__put_u64(&w, size);
}

/* Read header and records; `end` is where the good ones end. An empty file is fine, and so is a torn tail. */
static int take_in(int file, const char *path, unsigned char *record, const char *plan,
                   struct gbose__study *study, off_t *end, gbose_error *err)
{
    unsigned char header[HEADER_SIZE], expected[HEADER_SIZE];
    size_t size = record_size(study->plan);
    ssize_t n = read_all(file, header, sizeof header);
    int no_memory = 0;

    *end = 0;
    if (n < 0)
        return cannot_read(err, path);
    make_header(expected, plan, size);
    if (n < HEADER_SIZE) {
        if (memcmp(header, expected, (size_t)n))
            return gbose__fail(err, GBOSE_EINVAL, "%s is not the journal of a study", path);
        return GBOSE_OK;
    }
    if (memcmp(header, expected, HEADER_SIZE))
        return gbose__fail(err, GBOSE_EINVAL, "%s belongs to another study", path);
    *end = HEADER_SIZE;
    while ((n = read_all(file, record, size)) == (ssize_t)size && read_record(record, study, &no_memory))
        *end += (off_t)size;
    if (n < 0)
        return cannot_read(err, path);
    return no_memory ? gbose__no_memory(err) : GBOSE_OK;
}

static struct gbose__journal *prepare(const char *dir, const struct gbose__plan *plan)
{
    struct gbose__journal *j = calloc(1, sizeof *j);

    if (!j)
        return NULL;
    j->file = -1;
    j->record_size = record_size(plan);
    j->path = gbose__file_path(dir, "journal.bin");
    j->record = malloc(j->record_size);
    if (!j->path || !j->record) {
        gbose__journal_close(j);
        return NULL;
    }
    return j;
}

int gbose__journal_lock(struct gbose__journal **out, const char *dir, const struct gbose__study *study,
                        gbose_error *err)
{
    struct gbose__journal *j = prepare(dir, study->plan);
    int rc = GBOSE_OK;

    if (!j)
        return gbose__no_memory(err);
    j->file = open(j->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (j->file < 0)
        rc = cannot_write(err, j->path, errno);
    else if (flock(j->file, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        rc = gbose__fail(err, GBOSE__EWRITE, "%s is in use by another gbose", j->path);
    /* On a file system without locks the study is played unprotected rather than not at all. */
    if (rc) {
        gbose__journal_close(j);
        return rc;
    }
    *out = j;
    return GBOSE_OK;
}

int gbose__journal_begin(struct gbose__journal *j, const char *plan, struct gbose__study *study,
                         gbose_error *err)
{
    unsigned char header[HEADER_SIZE];
    off_t end = 0;
    int error, rc = take_in(j->file, j->path, j->record, plan, study, &end, err);

    if (!rc && (ftruncate(j->file, end) || lseek(j->file, end, SEEK_SET) < 0))
        rc = cannot_write(err, j->path, errno);
    if (!rc && end == 0) {
        make_header(header, plan, j->record_size);
        error = gbose__file_write_all(j->file, header, HEADER_SIZE);
        if (error)
            rc = cannot_write(err, j->path, error);
    }
    return rc;
}

int gbose__journal_append(struct gbose__journal *j, const struct gbose__study *study, size_t index,
                          gbose_error *err)
{
    int error;

    write_record(j->record, study, index);
    error = gbose__file_write_all(j->file, j->record, j->record_size);
    return error ? cannot_write(err, j->path, error) : GBOSE_OK;
}

void gbose__journal_close(struct gbose__journal *j)
{
    if (!j)
        return;
    if (j->file >= 0)
        close(j->file);
    free(j->record);
    free(j->path);
    free(j);
}

int gbose__journal_read(const char *dir, const char *plan, struct gbose__study *study, gbose_error *err)
{
    struct gbose__journal *j = prepare(dir, study->plan);
    off_t end;
    int rc;

    if (!j)
        return gbose__no_memory(err);
    j->file = open(j->path, O_RDONLY | O_CLOEXEC);
    if (j->file < 0)
        rc = cannot_read(err, j->path);
    else
        rc = take_in(j->file, j->path, j->record, plan, study, &end, err);
    gbose__journal_close(j);
    return rc;
}
