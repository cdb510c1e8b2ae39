/* A study that is told to stop does, whatever happens to the time of day meanwhile.
 *
 * The time of day that this program reads is an hour ahead of the one that the kernel wakes it by, as if
 * it were set back after every look. So a wait until some time of day lasts an hour, or until the run has
 * ended. */
#include "support/check.h"

#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>

#include "gbose_study.h"

long syscall(long number, ...); /* POSIX does not have it */

/* In place of the C library's. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
    long rc = syscall(SYS_clock_gettime, clock, now);

    if (!rc && clock == CLOCK_REALTIME)
        now->tv_sec += 3600;
    return (int)rc;
}

static int stop(void *user, size_t done, size_t all)
{
    (void)done;
    (void)all;
    ++*(int *)user;
    return 1;
}

static void a_stop_does_not_wait_for_the_time_of_day(void **state)
{
    int asked = 0;
    gbose_study *s;
    gbose_error err;

    (void)state;
    assert_int_equal(gbose_study_new(&s, 100000000, 1, 1, &err), GBOSE_OK); /* minutes */
    assert_int_equal(gbose_study_add_world(s, "paper", &err), GBOSE_OK);
    assert_int_equal(gbose_study_add_learner(s, "uniform", NULL, NULL, NULL, 0, &err), GBOSE_OK);
    assert_int_equal(gbose_study_play(s, 1, stop, &asked, &err), GBOSE_OK);
    assert_true(asked > 0);
    assert_int_equal(gbose_study_done(s), 0);
    gbose_study_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_stop_does_not_wait_for_the_time_of_day)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
