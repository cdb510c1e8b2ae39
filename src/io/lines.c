#include "io/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "core/error.h"

#define CHUNK 65536
#define GZIP_WINDOW (15 + 16) /* zlib's largest window, and a gzip header around it */

/* ---- bytes of a file, unpacked ---- */

enum packing { UNKNOWN, PLAIN, PACKED };

struct gbose__lines {
    char *path;
    int file;
    enum packing packing;
    int file_ended; /* the file has no more bytes */
    int in_member;  /* within a gzip member: more must follow */
    z_stream zip;   /* PACKED: unpacks from `in` */
    int zip_open;
    unsigned char *in, *out; /* CHUNK each: bytes of the file, and unpacked ones */
    size_t in_from, in_end;  /* what of `in` has not been used */
    unsigned char *at;       /* the bytes that lines are made of, and how many are left */
    size_t left;
    char *line; /* the line being put together */
    size_t length, room, most;
    uint64_t number;
    int torn;
    int skipping;    /* within a line that was too long */
    int failed;      /* a code: nothing can be read any more */
    gbose_error why; /* ... and what was said about it */
};

static int fail_for_good(struct gbose__lines *r, int code, const char *what, gbose_error *err)
{
    r->failed = gbose__fail(&r->why, code, "cannot read %s: %s", r->path, what);
    if (err)
        *err = r->why;
    return code;
}

/* Fill `in` if it is empty. */
static int refill(struct gbose__lines *r, gbose_error *err)
{
    ssize_t n;

    if (r->in_from < r->in_end || r->file_ended)
        return GBOSE_OK;
    do
        n = read(r->file, r->in, CHUNK);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return fail_for_good(r, GBOSE__EREAD, strerror(errno), err);
    r->file_ended = n == 0;
    r->in_from = 0;
    r->in_end = (size_t)n;
    return GBOSE_OK;
}

/* gzip or not? Two bytes decide; a pipe may deliver them one at a time. */
static int recognise(struct gbose__lines *r, gbose_error *err)
{
    ssize_t n = 1;
    int rc;

    while (r->in_end < 2 && n > 0) {
        n = read(r->file, r->in + r->in_end, CHUNK - r->in_end);
        if (n < 0 && errno == EINTR)
            n = 1;
        else if (n < 0)
            return fail_for_good(r, GBOSE__EREAD, strerror(errno), err);
        else
            r->in_end += (size_t)n;
    }
    r->file_ended = n == 0;
    r->packing = r->in_end >= 2 && r->in[0] == 0x1f && r->in[1] == 0x8b ? PACKED : PLAIN;
    if (r->packing == PLAIN)
        return GBOSE_OK;
    rc = inflateInit2(&r->zip, GZIP_WINDOW);
    if (rc != Z_OK)
        return fail_for_good(r, GBOSE_ENOMEM, "out of memory", err);
    r->zip_open = r->in_member = 1;
    return GBOSE_OK;
}

/* One step of unpacking, into `out`. */
static int unpack(struct gbose__lines *r, gbose_error *err)
{
    int rc;

    r->zip.next_in = r->in + r->in_from;
    r->zip.avail_in = (uInt)(r->in_end - r->in_from);
    r->zip.next_out = r->out;
    r->zip.avail_out = CHUNK;
    if (!r->in_member) { /* another member follows */
        inflateReset(&r->zip);
        r->in_member = 1;
    }
    rc = inflate(&r->zip, Z_NO_FLUSH);
    r->in_from = r->in_end - r->zip.avail_in;
    r->at = r->out;
    r->left = CHUNK - r->zip.avail_out;
    if (rc == Z_STREAM_END)
        r->in_member = 0;
    else if (rc == Z_MEM_ERROR)
        return fail_for_good(r, GBOSE_ENOMEM, "out of memory", err);
    else if (rc != Z_OK && rc != Z_BUF_ERROR)
        return fail_for_good(r, GBOSE__EREAD, "its gzip data is damaged", err);
    return GBOSE_OK;
}

/* More bytes at `at`; none are left at the end of the file. */
static int more(struct gbose__lines *r, gbose_error *err)
{
    int rc = GBOSE_OK;

    if (r->packing == UNKNOWN)
        rc = recognise(r, err);
    if (!rc && r->packing == PLAIN) {
        rc = refill(r, err);
        r->at = r->in + r->in_from;
        r->left = r->in_end - r->in_from;
        r->in_from = r->in_end;
        return rc;
    }
    while (!rc && !r->left) {
        rc = refill(r, err);
        if (!rc && r->file_ended && r->in_from == r->in_end) {
            if (r->in_member)
                rc = fail_for_good(r, GBOSE__EREAD, "its gzip data is cut off", err);
            return rc;
        }
        if (!rc)
            rc = unpack(r, err);
    }
    return rc;
}

/* ---- lines ---- */

int gbose__lines_open(struct gbose__lines **out, const char *path, size_t most, gbose_error *err)
{
    struct gbose__lines *r = calloc(1, sizeof *r);
    int standard = !strcmp(path, "-"), rc = GBOSE_OK;
    struct stat st;

    if (!r)
        return gbose__no_memory(err);
    r->file = -1;
    r->most = most;
    r->path = strdup(standard ? "standard input" : path);
    r->in = malloc(CHUNK);
    r->out = malloc(CHUNK);
    if (!r->path || !r->in || !r->out) {
        gbose__lines_close(r);
        return gbose__no_memory(err);
    }
    r->file = standard ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    if (r->file < 0)
        rc = fail_for_good(r, GBOSE__EREAD, strerror(errno), err);
    else if (!fstat(r->file, &st) && S_ISDIR(st.st_mode))
        rc = fail_for_good(r, GBOSE__EREAD, strerror(EISDIR), err);
    if (rc) {
        gbose__lines_close(r);
        return rc;
    }
    *out = r;
    return GBOSE_OK;
}

void gbose__lines_close(struct gbose__lines *r)
{
    if (!r)
        return;
    if (r->file >= 0)
        close(r->file);
    if (r->zip_open)
        inflateEnd(&r->zip);
    free(r->path);
    free(r->in);
    free(r->out);
    free(r->line);
    free(r);
}

/* Add n bytes to the line, as far as it may grow; what is more than that is dropped, and the line is too
 * long. */
static int append(struct gbose__lines *r, const unsigned char *bytes, size_t n, gbose_error *err)
{
    if (r->skipping)
        return GBOSE_OK;
    if (n > r->most - r->length) {
        r->skipping = 1;
        return GBOSE_OK;
    }
    if (r->length + n + 1 > r->room) {
        size_t room = 2 * (r->length + n) + 256;
        char *line = realloc(r->line, room);

        if (!line)
            return fail_for_good(r, GBOSE_ENOMEM, "out of memory", err);
        r->line = line;
        r->room = room;
    }
    memcpy(r->line + r->length, bytes, n);
    r->length += n;
    r->line[r->length] = 0;
    return GBOSE_OK;
}

static void drop_byte_order_mark(struct gbose__lines *r)
{
    if (r->number == 1 && r->length >= 3 && !memcmp(r->line, "\xef\xbb\xbf", 3)) {
        r->length -= 3;
        memmove(r->line, r->line + 3, r->length + 1);
    }
}

int gbose__lines_next(struct gbose__lines *r, char **line, size_t *length, gbose_error *err)
{
    int begun = 0, ended = 0, rc;

    if (r->failed) {
        if (err)
            *err = r->why;
        return r->failed;
    }
    r->length = 0;
    r->skipping = 0;
    while (!ended) {
        unsigned char *newline;
        size_t n;

        rc = r->left ? GBOSE_OK : more(r, err);
        if (rc)
            return rc;
        if (!r->left)
            break;
        begun = 1;
        newline = memchr(r->at, '\n', r->left);
        ended = newline != NULL;
        n = ended ? (size_t)(newline - r->at) : r->left;
        rc = append(r, r->at, n, err);
        if (rc)
            return rc;
        r->at += n + (size_t)ended;
        r->left -= n + (size_t)ended;
    }
    if (!begun)
        return 0;
    r->number++;
    r->torn = !ended;
    if (r->skipping)
        return gbose__fail(err, GBOSE_ESIZE, "%s: line %llu is longer than %zu bytes", r->path,
                           (unsigned long long)r->number, r->most);
    drop_byte_order_mark(r);
    *line = r->line;
    *length = r->length;
    return 1;
}

uint64_t gbose__lines_number(const struct gbose__lines *r)
{
    return r->number;
}

int gbose__lines_torn(const struct gbose__lines *r)
{
    return r->torn;
}

const char *gbose__lines_path(const struct gbose__lines *r)
{
    return r->path;
}
