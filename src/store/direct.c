/* Files that are written past the system's cache. */
#define _GNU_SOURCE /* O_DIRECT */
#include "store/direct.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int gbose__direct_open(const char *path, int flags)
{
    int file = open(path, flags | O_CLOEXEC | O_DIRECT, 0600);

    return file >= 0 || errno != EINVAL ? file : open(path, flags | O_CLOEXEC, 0600);
}

/* A new file is there after a crash if its directory says so. */
static int sync_directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *name = slash ? strndup(path, (size_t)(slash - path)) : strdup(".");
    int dir = name ? open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    int bad = dir < 0 || fsync(dir);

    if (dir >= 0)
        close(dir);
    free(name);
    return bad ? -1 : 0;
}

int gbose__direct_make(const char *path)
{
    int file = gbose__direct_open(path, O_RDWR | O_CREAT);

    if (file >= 0 && sync_directory_of(path)) {
        close(file);
        return -1;
    }
    return file;
}

int gbose__direct_write(int file, const void *bytes, size_t size, uint64_t at)
{
    ssize_t n;

    while ((n = pwrite(file, bytes, size, (off_t)at)) < 0 && errno == EINTR)
        ;
    if (n >= 0 && (size_t)n < size)
        errno = ENOSPC; /* there was no room for the rest */
    return n >= 0 && (size_t)n == size && !fdatasync(file) ? 0 : -1;
}
