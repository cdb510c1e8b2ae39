#define _GNU_SOURCE /* syscall(), SCHED_BATCH */
#include "serve/turns.h"

#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TURN 100000 /* nanoseconds, the shortest that there are */

static void ask(uint32_t policy)
{
#ifdef SYS_sched_setattr
    struct { /* struct sched_attr, which C libraries began to have in 2025 */
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } how = {.size = sizeof how};

    if (syscall(SYS_sched_getattr, 0, &how, sizeof how, 0) || how.policy != SCHED_OTHER)
        return; /* whoever started it wants something else */
    how.flags = 0;
    how.policy = policy;
    how.runtime = TURN;
    syscall(SYS_sched_setattr, 0, &how, 0);
#else
    (void)policy;
#endif
}

void gbose__turns_short(void)
{
    ask(SCHED_OTHER);
}

void gbose__turns_patient(void)
{
    ask(SCHED_BATCH);
}

/* ---- a core for each ---- */

#define LOOK_EVERY 10000000 /* nanoseconds */
#define BUSY 4              /* a thread is busy if it has used a quarter of the time, */
#define CALM 10             /* and no longer if it has used less than a tenth */

static _Thread_local struct {
    int64_t since, used; /* nanoseconds, at the last look: the clock, and what it had used of a processor */
    size_t core;         /* where it stays, if it does */
    int stays, busy;
    cpu_set_t all; /* where it may be when it does not */
} seat;

static int64_t nanoseconds(clockid_t clock)
{
    struct timespec t = {0, 0};

    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void sit_down(size_t number, size_t of)
{
    cpu_set_t mine;
    size_t n = sched_getaffinity(0, sizeof seat.all, &seat.all) ? 0 : (size_t)CPU_COUNT(&seat.all), nth;

    if (!n || of < n)
        return;
    nth = number % n;
    for (seat.core = 0; !CPU_ISSET(seat.core, &seat.all) || nth--;)
        seat.core++;
    CPU_ZERO(&mine);
    CPU_SET(seat.core, &mine);
    seat.stays = !sched_setaffinity(0, sizeof mine, &mine);
}

/* Unless somebody else has said meanwhile where it may be. */
static void get_up(void)
{
    cpu_set_t mine;

    seat.stays = 0;
    if (!sched_getaffinity(0, sizeof mine, &mine) && CPU_COUNT(&mine) == 1 && CPU_ISSET(seat.core, &mine))
        sched_setaffinity(0, sizeof seat.all, &seat.all);
}

void gbose__turns_seat(size_t number, size_t of, atomic_size_t *busy)
{
    int64_t now = nanoseconds(CLOCK_MONOTONIC_COARSE), time = now - seat.since, used;
    int was = seat.busy, all;

    if (time < LOOK_EVERY)
        return;
    used = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    seat.busy = seat.since && used - seat.used > time / (was ? CALM : BUSY);
    seat.since = now;
    seat.used = used;
    if (seat.busy != was)
        atomic_fetch_add(busy, seat.busy ? 1 : SIZE_MAX);
    all = atomic_load(busy) == of;
    if (all && !seat.stays)
        sit_down(number, of);
    else if (!all && seat.stays)
        get_up();
}
