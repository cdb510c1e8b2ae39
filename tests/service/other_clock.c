/* A clock that is wrong: loaded in front of the C library (LD_PRELOAD) of a real server. The time of day is
 * shifted by as many seconds as the file named by GBOSE_CLOCK_SHIFT says, read anew each time: the test
 * moves it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *out)
{
    static int (*real)(clockid_t, struct timespec *);
    double shift = 0;
    FILE *f;
    int rc;

    if (!real)
        real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    rc = real(clock, out);
    if (rc || clock != CLOCK_REALTIME)
        return rc;
    f = fopen(getenv("GBOSE_CLOCK_SHIFT"), "r");
    if (f) {
        if (fscanf(f, "%lf", &shift) != 1)
            shift = 0;
        fclose(f);
    }
    out->tv_sec += (time_t)shift;
    return 0;
}
