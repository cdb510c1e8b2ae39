/* Writing lines: to a file that appears whole or not at all, packed if its name ends in .gz. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "core/error.h"
#include "io/file.h"
#include "io/lines.h"

#define CHUNK 65536
#define GZIP_WINDOW (15 + 16) /* zlib's largest window, and a gzip header around it */

struct gbose__lines_writer {
    char *path, *tmp; /* tmp: NULL if the file is written directly */
    int file;
    int packed;
    z_stream zip;
    unsigned char *in, *out; /* CHUNK each: bytes to be packed or written, and packed ones */
    size_t held;             /* bytes in `in` */
    int failed;
    gbose_error why;
};

static int fail_writing(struct gbose__lines_writer *w, int error, gbose_error *err)
{
    w->failed = gbose__fail(&w->why, GBOSE__EWRITE, "cannot write %s: %s", w->path, strerror(error));
    if (err)
        *err = w->why;
    return w->failed;
}

static int ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);

    return n >= m && !strcmp(text + n - m, end);
}

/* Is there something that a new file cannot take the place of? */
static int is_special(const char *path)
{
    struct stat st;

    return !stat(path, &st) && !S_ISREG(st.st_mode);
}

static int open_writer(struct gbose__lines_writer *w, const char *path, gbose_error *err)
{
    int standard = !strcmp(path, "-"), direct = standard || is_special(path);

    if (!direct) {
        w->tmp = gbose__file_join(path, ".tmp", "");
        if (!w->tmp)
            return gbose__no_memory(err);
    }
    w->packed = !standard && ends_with(path, ".gz");
    if (w->packed && deflateInit2(&w->zip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8,
                                  Z_DEFAULT_STRATEGY) != Z_OK) {
        w->packed = 0;
        return gbose__no_memory(err);
    }
    if (standard)
        w->file = dup(STDOUT_FILENO);
    else if (direct)
        w->file = open(path, O_WRONLY | O_CLOEXEC);
    else
        w->file = open(w->tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    return w->file < 0 ? fail_writing(w, errno, err) : GBOSE_OK;
}

int gbose__lines_create(struct gbose__lines_writer **out, const char *path, gbose_error *err)
{
    struct gbose__lines_writer *w = calloc(1, sizeof *w);
    int rc;

    if (!w)
        return gbose__no_memory(err);
    w->file = -1;
    w->path = strdup(strcmp(path, "-") ? path : "standard output");
    w->in = malloc(CHUNK);
    w->out = malloc(CHUNK);
    rc = w->path && w->in && w->out ? open_writer(w, path, err) : gbose__no_memory(err);
    if (rc) {
        gbose__lines_abandon(w);
        return rc;
    }
    *out = w;
    return GBOSE_OK;
}

void gbose__lines_abandon(struct gbose__lines_writer *w)
{
    if (!w)
        return;
    if (w->file >= 0) {
        close(w->file);
        if (w->tmp)
            unlink(w->tmp);
    }
    if (w->packed)
        deflateEnd(&w->zip);
    free(w->path);
    free(w->tmp);
    free(w->in);
    free(w->out);
    free(w);
}

/* Write what is held, packed or not; `last`: nothing follows. */
static int flush(struct gbose__lines_writer *w, int last, gbose_error *err)
{
    int error, rc = Z_OK;

    if (!w->packed) {
        error = gbose__file_write_all(w->file, w->in, w->held);
        w->held = 0;
        return error ? fail_writing(w, error, err) : GBOSE_OK;
    }
    w->zip.next_in = w->in;
    w->zip.avail_in = (uInt)w->held;
    w->held = 0;
    do {
        w->zip.next_out = w->out;
        w->zip.avail_out = CHUNK;
        rc = deflate(&w->zip, last ? Z_FINISH : Z_NO_FLUSH);
        error = gbose__file_write_all(w->file, w->out, CHUNK - w->zip.avail_out);
        if (error)
            return fail_writing(w, error, err);
    } while (last ? rc != Z_STREAM_END : w->zip.avail_out == 0);
    return GBOSE_OK;
}

int gbose__lines_put(struct gbose__lines_writer *w, const char *text, size_t size, gbose_error *err)
{
    while (size && !w->failed) {
        size_t n = size < CHUNK - w->held ? size : CHUNK - w->held;

        memcpy(w->in + w->held, text, n);
        w->held += n;
        text += n;
        size -= n;
        if (w->held == CHUNK)
            flush(w, 0, err);
    }
    if (w->failed && err)
        *err = w->why;
    return w->failed;
}

int gbose__lines_finish(struct gbose__lines_writer *w, gbose_error *err)
{
    int rc = gbose__lines_put(w, "", 0, err), error;

    if (!rc)
        rc = flush(w, 1, err);
    if (!rc) {
        error = gbose__file_sync(w->file);
        if (close(w->file) && !error)
            error = errno;
        w->file = -1;
        if (!error && w->tmp && rename(w->tmp, w->path))
            error = errno;
        if (error && w->tmp)
            unlink(w->tmp);
        if (error)
            rc = fail_writing(w, error, err);
    }
    gbose__lines_abandon(w);
    return rc;
}
