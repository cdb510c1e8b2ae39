/* A disk that fails now and then: loaded in front of the C library (LD_PRELOAD) of a real server. Each
 * write or sync of a file of the store fails with the probability that the file named by GBOSE_BROKEN_DISK
 * says, read anew each time: the test switches it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int breaks(int fd)
{
    char link[64], path[4096];
    double p = 0;
    ssize_t n;
    FILE *f;

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    n = readlink(link, path, sizeof path - 1);
    if (n < 0)
        return 0;
    path[n] = 0;
    if (!strstr(path, "gbose.sqlite3"))
        return 0;
    f = fopen(getenv("GBOSE_BROKEN_DISK"), "r");
    if (!f)
        return 0;
    if (fscanf(f, "%lf", &p) != 1)
        p = 0;
    fclose(f);
    return drand48() < p;
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at)
{
    static ssize_t (*real)(int, const void *, size_t, off64_t);

    if (!real)
        real = (ssize_t(*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64");
    if (breaks(fd)) {
        errno = drand48() < 0.5 ? EIO : ENOSPC;
        return -1;
    }
    return real(fd, bytes, n, at);
}

int fdatasync(int fd)
{
    static int (*real)(int);

    if (!real)
        real = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    if (breaks(fd)) {
        errno = EIO;
        return -1;
    }
    return real(fd);
}

int fsync(int fd)
{
    static int (*real)(int);

    if (!real)
        real = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    if (breaks(fd)) {
        errno = EIO;
        return -1;
    }
    return real(fd);
}
