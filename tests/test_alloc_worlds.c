/* Creating a world when memory runs out: allocation 1, 2, 3, ... fails, until none is left to fail.
 * Nothing is handed out, nothing leaks (the sanitizer looks), and nothing is allocated by a round. */
#include "support/check.h"

#include <stdlib.h>

#include "support/faults.h"
#include "worlds/world.h"

static void every_allocation_may_fail(void **state)
{
    const gbose_info *info;

    (void)state;
    for (size_t i = 0; (info = gbose__world_at(i)); i++) {
        int rc = GBOSE_ENOMEM;
        for (long n = 0; rc; n++) {
            struct gbose__world *w = NULL;
            gbose_error err = {0};

            watch(n);
            rc = gbose__world_new(&w, info->name, 1, 0, &err);
            stop_watching();
            if (!rc) {
                assert_that(n >= 4, "%s: %ld allocations", info->name, n);
                gbose__world_free(w);
                continue;
            }
            assert_int_equal(rc, GBOSE_ENOMEM);
            assert_null(w);
            assert_int_equal(err.code, GBOSE_ENOMEM);
            assert_string_equal(err.text, gbose_strerror(GBOSE_ENOMEM));
        }
    }
}

static void rounds_do_not_allocate(void **state)
{
    const gbose_info *info;

    (void)state;
    for (size_t i = 0; (info = gbose__world_at(i)); i++) {
        struct gbose__world *w = NULL;

        assert_int_equal(gbose__world_new(&w, info->name, 1, 0, NULL), GBOSE_OK);
        watch(-1);
        for (int t = 0; t < 100; t++) {
            gbose__world_next(w);
            gbose__world_play(w, 0, NULL);
        }
        assert_int_equal(stop_watching(), 0);
        gbose__world_free(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(rounds_do_not_allocate),
    };

    return cmocka_run_group_tests_name("worlds without memory", tests, NULL, NULL);
}
