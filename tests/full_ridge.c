/* Ten million rounds. */
#include "support/check.h"
#include "support/long_run.h"

static void ten_million_rounds_of_uniform(void **state)
{
    (void)state;
    long_run("uniform:lambda=2.5", 16, 4, 10000000, 1e-9);
}

static void ten_million_rounds_of_gbose(void **state)
{
    (void)state;
    long_run("gbose:lambda=2.5,gamma=2", 8, 4, 10000000, 1e-9);
}

static void two_million_rounds_with_an_intercept(void **state)
{
    (void)state;
    long_run("bose:lambda=2.5,gamma=2,intercept=1", 8, 3, 2000000, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_million_rounds_of_uniform),
        cmocka_unit_test(ten_million_rounds_of_gbose),
        cmocka_unit_test(two_million_rounds_with_an_intercept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
