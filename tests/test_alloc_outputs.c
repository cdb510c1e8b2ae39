/* Writing a study's outputs when memory runs out: allocation 1, 2, 3, ... fails, until none is left to fail.
 * It is an error of the right kind or does not matter, nothing leaks (the sanitizer looks), and no temporary
 * file stays behind. */
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

#include "report/outputs.h"
#include "support/faults.h"
#include "support/made_study.h"
#include "support/scratch.h"

static void every_allocation_may_fail(void **state)
{
    static const char *const worlds[] = {"kim-paik", NULL}, *const learners[] = {"gbose", "lin-ts", NULL};
    struct gbose__study *s = made_study("simulate", worlds, learners, "0.1,0.2", 50, 2, 2);
    char *path = strdup(getenv("PATH"));
    int refused = 0;

    (void)state;
    for (size_t l = 0; l < 2; l++)
        for (size_t r = 0; r < 4; r++)
            made_run(s, 0, l, 1, r, 3 * (double)(l + r));
    setenv("PATH", "/nowhere", 1);
    heap.failed = 1;
    for (long n = 0; heap.failed; n++) {
        char *dir = scratch_new();
        gbose_error err = {0, ""};
        int rc;

        watch(n);
        rc = gbose__outputs_write(s, dir, "gbose", &err);
        stop_watching();
        if (rc == GBOSE_ENOMEM) {
            refused++;
            assert_string_equal(err.text, gbose_strerror(GBOSE_ENOMEM));
            assert_false(scratch_exists(dir, "report.html"));
        } else {
            assert_that(rc == GBOSE__ENOPLOT || (heap.failed && rc == GBOSE__EBADPLOT), "%d: %s", rc,
                        err.text);
            assert_true(scratch_exists(dir, "report.html"));
        }
        assert_int_equal(err.code, rc);
        assert_int_equal(scratch_count(dir, ".tmp"), 0);
        if (!heap.failed)
            assert_that(refused > 20, "%d of %ld", refused, n);
        scratch_remove(dir);
    }
    setenv("PATH", path, 1);
    free(path);
    gbose__study_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
