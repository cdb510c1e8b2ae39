#define _GNU_SOURCE
#include "support/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

int (*disk_fate)(enum disk_call call);

static struct {
    int file;
    size_t size;
    off_t at;
} unsynced[64];
static size_t n_unsynced;

int __real_open(const char *path, int flags, ...);
ssize_t __real_pwrite(int file, const void *bytes, size_t size, off_t at);
int __real_fdatasync(int file);
int __real_fallocate(int file, int mode, off_t at, off_t size);
int __real_truncate(const char *path, off_t size);
int __wrap_open(const char *path, int flags, ...);
ssize_t __wrap_pwrite(int file, const void *bytes, size_t size, off_t at);
int __wrap_fdatasync(int file);
int __wrap_fallocate(int file, int mode, off_t at, off_t size);
int __wrap_truncate(const char *path, off_t size);

static int fails(enum disk_call call)
{
    int error = disk_fate ? disk_fate(call) : 0;

    if (error)
        errno = error;
    return error;
}

int __wrap_open(const char *path, int flags, ...)
{
    mode_t mode = 0;
    va_list more;

    va_start(more, flags);
    if (flags & O_CREAT)
        mode = va_arg(more, mode_t);
    va_end(more);
    return flags & O_DIRECT && fails(DISK_OPEN_DIRECT) ? -1 : __real_open(path, flags, mode);
}

ssize_t __wrap_pwrite(int file, const void *bytes, size_t size, off_t at)
{
    if (fails(DISK_WRITE))
        return -1;
    if (n_unsynced < sizeof unsynced / sizeof *unsynced) {
        unsynced[n_unsynced].file = file;
        unsynced[n_unsynced].size = size;
        unsynced[n_unsynced++].at = at;
    }
    return __real_pwrite(file, bytes, size, at);
}

int __wrap_fdatasync(int file)
{
    size_t left = 0;

    if (fails(DISK_SYNC))
        return -1;
    for (size_t i = 0; i < n_unsynced; i++)
        if (unsynced[i].file != file)
            unsynced[left++] = unsynced[i];
    n_unsynced = left;
    return __real_fdatasync(file);
}

int __wrap_fallocate(int file, int mode, off_t at, off_t size)
{
    return fails(DISK_HOLE) ? -1 : __real_fallocate(file, mode, at, size);
}

int __wrap_truncate(const char *path, off_t size)
{
    return fails(DISK_CUT) ? -1 : __real_truncate(path, size);
}

void disk_forgets(void)
{
    static const unsigned char zeros[4096] __attribute__((aligned(4096)));

    for (size_t i = 0; i < n_unsynced; i++)
        for (size_t done = 0; done < unsynced[i].size; done += sizeof zeros)
            if (__real_pwrite(unsynced[i].file, zeros, sizeof zeros, unsynced[i].at + (off_t)done) < 0)
                break;
    n_unsynced = 0;
}
