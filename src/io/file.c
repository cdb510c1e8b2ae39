#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/error.h"

static int cannot_write(const char *path, int error, gbose_error *err)
{
    return gbose__fail(err, GBOSE__EWRITE, "cannot write %s: %s", path, strerror(error));
}

char *gbose__file_join(const char *a, const char *b, const char *c)
{
    size_t n = strlen(a) + strlen(b) + strlen(c) + 1;
    char *text = malloc(n);

    if (text)
        snprintf(text, n, "%s%s%s", a, b, c);
    return text;
}

char *gbose__file_path(const char *dir, const char *name)
{
    size_t n = strlen(dir);

    return gbose__file_join(dir, n && dir[n - 1] == '/' ? "" : "/", name);
}

int gbose__file_make_dir(const char *dir, gbose_error *err)
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

int gbose__file_make_dirs(const char *dir, gbose_error *err)
{
    char *path = strdup(dir);
    int rc = GBOSE_OK;

    if (!path)
        return gbose__no_memory(err);
    for (char *p = path + 1; *path && *p && !rc; p++)
        if (*p == '/') {
            *p = 0;
            rc = gbose__file_make_dir(path, err);
            *p = '/';
        }
    free(path);
    return rc ? rc : gbose__file_make_dir(dir, err);
}

/* ---- whole files ---- */

int gbose__file_open(struct gbose__file *f, const char *dir, const char *name, gbose_error *err)
{
    memset(f, 0, sizeof *f);
    f->path = gbose__file_path(dir, name);
    f->tmp = f->path ? gbose__file_join(f->path, ".tmp", "") : NULL;
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

int gbose__file_write_all(int fd, const void *bytes, size_t size)
{
    const char *at = bytes;

    while (size) {
        ssize_t n = write(fd, at, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno;
        at += n;
        size -= (size_t)n;
    }
    return 0;
}

int gbose__file_sync(int fd)
{
    return fsync(fd) && errno != EINVAL && errno != ENOTSUP && errno != ENOSYS && errno != EROFS ? errno : 0;
}

/* 0, or the errno of what failed. */
static int put_in_place(const struct gbose__file *f)
{
    int fd = open(f->tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    int error;

    if (fd < 0)
        return errno;
    error = gbose__file_write_all(fd, f->text, f->size);
    if (!error)
        error = gbose__file_sync(fd);
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
