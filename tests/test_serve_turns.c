/* Threads that are busy have a core each, and those that are not go where there is room. */
#define _GNU_SOURCE /* sched_setaffinity() */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "serve/turns.h"

#define THREADS 2

static atomic_size_t busy, together;
static cpu_set_t all; /* the cores that this test uses, THREADS or fewer */
static size_t threads;

struct seen {
    size_t number;
    int core, cores_after; /* while it was busy, and how many it had when it was no longer */
    size_t had;            /* cores while it was busy */
};

/* All threads are here. */
static void meet(size_t n)
{
    atomic_fetch_add(&together, 1);
    while (atomic_load(&together) < n)
        sched_yield();
}

static size_t cores(cpu_set_t *set)
{
    return sched_getaffinity(0, sizeof *set, set) ? 0 : (size_t)CPU_COUNT(set);
}

static int first(const cpu_set_t *set)
{
    int core = 0;

    while (!CPU_ISSET((size_t)core, set))
        core++;
    return core;
}

static void *work_and_rest(void *context)
{
    const struct timespec rest = {0, 5000000};
    struct seen *seen = context;
    cpu_set_t mine;

    do /* until both are seen to be busy at the same time */
        gbose__turns_seat(seen->number, threads, &busy);
    while ((seen->had = cores(&mine)) > 1);
    seen->core = first(&mine);
    atomic_fetch_add(&together, 1);
    while (atomic_load(&together) < threads)
        gbose__turns_seat(seen->number, threads, &busy);
    do {
        nanosleep(&rest, NULL);
        gbose__turns_seat(seen->number, threads, &busy);
    } while ((seen->cores_after = (int)cores(&mine)) < CPU_COUNT(&all));
    meet(2 * threads);
    return NULL;
}

static int take_cores(void **state)
{
    cpu_set_t have;

    (void)state;
    if (sched_getaffinity(0, sizeof have, &have))
        return -1;
    CPU_ZERO(&all);
    for (size_t core = 0; core < CPU_SETSIZE && CPU_COUNT(&all) < THREADS; core++)
        if (CPU_ISSET(core, &have))
            CPU_SET(core, &all);
    threads = (size_t)CPU_COUNT(&all);
    return sched_setaffinity(0, sizeof all, &all);
}

static void busy_threads_have_a_core_each(void **state)
{
    struct seen seen[THREADS] = {{0}};
    pthread_t thread[THREADS];

    (void)state;
    for (size_t i = 0; i < threads; i++) {
        seen[i].number = i;
        assert_int_equal(pthread_create(&thread[i], NULL, work_and_rest, &seen[i]), 0);
    }
    for (size_t i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    for (size_t i = 0; i < threads; i++) {
        assert_int_equal(seen[i].had, 1);
        assert_int_equal(seen[i].cores_after, CPU_COUNT(&all));
        for (size_t j = 0; j < i; j++)
            assert_int_not_equal(seen[i].core, seen[j].core);
    }
}

/* One of two that is busy alone goes on wherever there is room. */
static void a_single_busy_thread_has_all(void **state)
{
    struct timespec began, now;
    cpu_set_t mine;

    (void)state;
    atomic_store(&busy, 0);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &began);
    do {
        gbose__turns_seat(0, threads + 1, &busy);
        assert_int_equal(cores(&mine), CPU_COUNT(&all));
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((now.tv_sec - began.tv_sec) * 1000000000 + now.tv_nsec - began.tv_nsec < 100000000);
    assert_int_equal(atomic_load(&busy), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(busy_threads_have_a_core_each),
        cmocka_unit_test(a_single_busy_thread_has_all),
    };

    return cmocka_run_group_tests(tests, take_cores, NULL);
}
