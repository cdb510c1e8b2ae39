/* Creating a world when memory runs out: allocation 1, 2, 3, ... fails, until none is left to fail. Nothing is
 * handed out, nothing leaks (the sanitizer looks), and nothing is allocated by a round. */
#include "support/check.h"

#include <stdlib.h>

#include "worlds/world.h"

static long until_failure = -1; /* allocations that still succeed; -1: all */
static long n_allocations;

static int may_allocate(void)
{
    n_allocations++;
    if (until_failure > 0)
        until_failure--;
    else if (until_failure == 0)
        return 0;
    return 1;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *p, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

void *__wrap_malloc(size_t size)
{
    return may_allocate() ? __real_malloc(size) : NULL;
}

void *__wrap_calloc(size_t count, size_t size)
{
    return may_allocate() ? __real_calloc(count, size) : NULL;
}

void *__wrap_realloc(void *p, size_t size)
{
    return may_allocate() ? __real_realloc(p, size) : NULL;
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return may_allocate() ? __real_aligned_alloc(alignment, size) : NULL;
}

static void every_allocation_may_fail(void **state)
{
    const gbose_info *info;

    (void)state;
    for (size_t i = 0; (info = gbose__world_at(i)); i++) {
        int rc = GBOSE_ENOMEM;
        for (long n = 0; rc; n++) {
            struct gbose__world *w = NULL;
            gbose_error err = {0};

            until_failure = n;
            rc = gbose__world_new(&w, info->name, 1, 0, &err);
            until_failure = -1;
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
        n_allocations = 0;
        for (int t = 0; t < 100; t++) {
            gbose__world_next(w);
            gbose__world_play(w, 0, NULL);
        }
        assert_int_equal(n_allocations, 0);
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
