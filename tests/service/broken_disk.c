/* A disk that fails now and then: loaded in front of the C library (LD_PRELOAD) of a real server. The file
 * named by GBOSE_BROKEN_DISK says with which probability each write or sync of a file of the store fails, with
 * which probability there is no space for a write, and with which probability the process is killed in the
 * middle of it. It is read anew each time: the test switches it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

__attribute__((constructor)) static void begin(void)
{
    srand48(time(NULL) ^ getpid());
}

enum { FINE, FAILS, FULL, DIES };

static int fate(int fd, int writes)
{
    char link[64], path[4096];
    double fails = 0, full = 0, dies = 0, u;
    ssize_t n;
    FILE *f;

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    n = readlink(link, path, sizeof path - 1);
    if (n < 0)
        return FINE;
    path[n] = 0;
    if (!strstr(path, "/gbose.sqlite3") && !strstr(path, "/gbose.journal") && !strstr(path, "/gbose.texts"))
        return FINE;
    f = fopen(getenv("GBOSE_BROKEN_DISK"), "r");
    if (!f)
        return FINE;
    if (fscanf(f, "%lf %lf %lf", &fails, &full, &dies) < 1)
        fails = 0;
    fclose(f);
    u = drand48();
    if (u < fails)
        return FAILS;
    if (writes && drand48() < full)
        return FULL;
    return drand48() < dies ? DIES : FINE;
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at)
{
    static ssize_t (*real)(int, const void *, size_t, off64_t);

    if (!real)
        real = (ssize_t(*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64");
    switch (fate(fd, 1)) {
    case FAILS:
        errno = EIO;
        return -1;
    case FULL:
        errno = ENOSPC;
        return -1;
    case DIES: /* with a part of it written */
        real(fd, bytes, (size_t)(drand48() * (double)n), at);
        raise(SIGKILL);
    }
    return real(fd, bytes, n, at);
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at) /* as the journal and the texts are written */
{
    return pwrite64(fd, bytes, n, at);
}

int fallocate(int fd, int mode, off_t at, off_t n) /* a hole in the texts */
{
    static int (*real)(int, int, off_t, off_t);

    if (!real)
        real = (int (*)(int, int, off_t, off_t))dlsym(RTLD_NEXT, "fallocate");
    switch (fate(fd, 0)) {
    case FAILS:
        errno = EIO;
        return -1;
    case DIES:
        raise(SIGKILL);
    }
    return real(fd, mode, at, n);
}

int fdatasync(int fd)
{
    static int (*real)(int);

    if (!real)
        real = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    switch (fate(fd, 0)) {
    case FAILS:
        errno = EIO;
        return -1;
    case DIES:
        raise(SIGKILL);
    }
    return real(fd);
}

int fsync(int fd)
{
    static int (*real)(int);

    if (!real)
        real = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    switch (fate(fd, 0)) {
    case FAILS:
        errno = EIO;
        return -1;
    case DIES:
        raise(SIGKILL);
    }
    return real(fd);
}
