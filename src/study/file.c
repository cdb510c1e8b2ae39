#include "study/file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/spec.h"

static int cannot_write(const char *path, int error, gbose_error *err)
{
    return gbose__fail(err, GBOSE__EWRITE, "cannot write %s: %s", path, strerror(error));
}

static char *join(const char *a, const char *b, const char *c)
{
    size_t n = strlen(a) + strlen(b) + strlen(c) + 1;
    char *text = malloc(n);

    if (text)
        snprintf(text, n, "%s%s%s", a, b, c);
    return text;
}

char *gbose__path(const char *dir, const char *name)
{
    size_t n = strlen(dir);

    return join(dir, n && dir[n - 1] == '/' ? "" : "/", name);
}

int gbose__dir_make(const char *dir, gbose_error *err)
{
    struct stat st;

    if (!mkdir(dir, 0777))
        return GBOSE_OK;
    if (errno != EEXIST)
        return gbose__fail(err, GBOSE__EWRITE, "cannot make directory %s: %s", dir, strerror(errno));
    if (stat(dir, &st) || !S_ISDIR(st.st_mode))
        return gbose__fail(err, GBOSE__EWRITE, "cannot make directory %s: a file of that name is there", dir);
    return GBOSE_OK;
}

/* ---- whole files ---- */

int gbose__file_open(struct gbose__file *f, const char *dir, const char *name, gbose_error *err)
{
    memset(f, 0, sizeof *f);
    f->path = gbose__path(dir, name);
    f->tmp = f->path ? join(f->path, ".tmp", "") : NULL;
    f->to = f->tmp ? open_memstream(&f->text, &f->size) : NULL;
    if (!f->to) {
        gbose__file_abandon(f);
        return gbose__no_memory(err);
    }
    return GBOSE_OK;
}

void gbose__file_abandon(struct gbose__file *f)
{
    if (f->to)
        fclose(f->to);
    free(f->text);
    free(f->path);
    free(f->tmp);
    memset(f, 0, sizeof *f);
}

static int write_all(int fd, const char *text, size_t size)
{
    while (size) {
        ssize_t n = write(fd, text, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno;
        text += n;
        size -= (size_t)n;
    }
    /* Some file systems have no fsync; that is not a full disk. */
    if (fsync(fd) && errno != EINVAL && errno != ENOTSUP && errno != ENOSYS)
        return errno;
    return 0;
}

/* 0, or the errno of what failed. */
static int put_in_place(const struct gbose__file *f)
{
    int fd = open(f->tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    int error;

    if (fd < 0)
        return errno;
    error = write_all(fd, f->text, f->size);
    if (close(fd) && !error)
        error = errno;
    if (!error && rename(f->tmp, f->path))
        error = errno;
    if (error)
        unlink(f->tmp);
    return error;
}

int gbose__file_close(struct gbose__file *f, gbose_error *err)
{
    int bad = ferror(f->to), rc = GBOSE_OK, error;

    if (fclose(f->to))
        bad = 1;
    f->to = NULL;
    if (bad)
        rc = gbose__no_memory(err);
    else if ((error = put_in_place(f)))
        rc = cannot_write(f->path, error, err);
    gbose__file_abandon(f);
    return rc;
}

int gbose__file_read(char **text, size_t *size, const char *path, gbose_error *err)
{
    FILE *from = fopen(path, "rb");
    char *all = NULL, *more;
    size_t n = 0, room = 0;
    int error;

    if (!from)
        return gbose__fail(err, GBOSE__EREAD, "cannot read %s: %s", path, strerror(errno));
    do {
        room = 2 * room + 65536;
        more = realloc(all, room);
        if (!more)
            break;
        all = more;
        n += fread(all + n, 1, room - n - 1, from);
    } while (n == room - 1);
    error = ferror(from) ? errno : 0;
    fclose(from);
    if (!more || error) {
        free(all);
        return !more ? gbose__no_memory(err)
                     : gbose__fail(err, GBOSE__EREAD, "cannot read %s: %s", path, strerror(error));
    }
    all[n] = 0;
    *text = all;
    *size = n;
    return GBOSE_OK;
}

/* ---- formats ---- */

const char *gbose__number(char buf[GBOSE__NUMBER_SIZE], double x)
{
    buf[0] = 0;
    if (isnan(x))
        return buf;
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(buf, GBOSE__NUMBER_SIZE, "%.*g", digits, x);
        if (strtod(buf, NULL) == x)
            break;
    }
    return buf;
}

const char *gbose__rounded_like(char buf[GBOSE__NUMBER_SIZE], double x, double like, int sign)
{
    double size = fabs(like);

    if (isnan(x))
        snprintf(buf, GBOSE__NUMBER_SIZE, "-");
    else if (size >= 1e7 || (size < 0.001 && size > 0))
        snprintf(buf, GBOSE__NUMBER_SIZE, sign ? "%+.3g" : "%.3g", x);
    else
        snprintf(buf, GBOSE__NUMBER_SIZE, sign ? "%+.*f" : "%.*f",
                 size >= 9999.95  ? 0
                 : size >= 0.9995 ? 1
                                  : 3,
                 x);
    return buf;
}

const char *gbose__rounded(char buf[GBOSE__NUMBER_SIZE], double x)
{
    return gbose__rounded_like(buf, x, x, 0);
}

void gbose__csv_field(FILE *to, const char *text)
{
    if (!text[strcspn(text, ",\"\r\n")]) {
        fputs(text, to);
        return;
    }
    putc('"', to);
    for (; *text; text++) {
        if (*text == '"')
            putc('"', to);
        putc(*text, to);
    }
    putc('"', to);
}

void gbose__html_text(FILE *to, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '&':
            fputs("&amp;", to);
            break;
        case '<':
            fputs("&lt;", to);
            break;
        case '>':
            fputs("&gt;", to);
            break;
        case '"':
            fputs("&quot;", to);
            break;
        case '\'':
            fputs("&#39;", to);
            break;
        default:
            putc(*text, to);
        }
}
