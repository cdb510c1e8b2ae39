/* A study when memory runs out: allocation 1, 2, 3, ... fails, until none is left to fail. Every call says
 * so and leaves the study as it was, so that the same call succeeds afterwards, and nothing leaks (the
 * sanitizer looks). */
#include "support/check.h"

#include <stdlib.h>

#include "gbose_study.h"
#include "support/faults.h"
#include "support/scratch.h"

static int learner_begin(void **state, void *user, size_t dim, uint64_t seed, uint32_t repetition,
                         gbose_error *err)
{
    (void)user;
    (void)dim;
    (void)seed;
    (void)repetition;
    (void)err;
    *state = NULL;
    return GBOSE_OK;
}

static int decide(void *state, size_t *arm, double *probability, const double *contexts, size_t n_arms,
                  gbose_error *err)
{
    (void)state;
    (void)contexts;
    (void)err;
    *arm = n_arms - 1;
    *probability = 1;
    return GBOSE_OK;
}

static int learn(void *state, double reward, gbose_error *err)
{
    (void)state;
    (void)reward;
    (void)err;
    return GBOSE_OK;
}

static int world_begin(void **state, void *user, uint64_t seed, uint32_t repetition, gbose_error *err)
{
    return learner_begin(state, user, 0, seed, repetition, err);
}

static int next(void *state, uint64_t round, gbose_world_round *out, gbose_error *err)
{
    static const double contexts[] = {1, 0, 0, 1}, means[] = {0.5, 0.25};

    (void)state;
    (void)round;
    (void)err;
    *out = (gbose_world_round){2, contexts, means, 0, 0};
    return GBOSE_OK;
}

static const gbose_study_learner learner = {"last", NULL, learner_begin, decide, learn, NULL};
static const gbose_study_world world = {"two", NULL, 2, 2, world_begin, next, NULL, NULL};
static const char *const values[] = {"0.1", "0.3"};

static gbose_study *study;
static char *dir;

/* Step k of making and playing a study. */
static int step(size_t k, gbose_error *err)
{
    switch (k) {
    case 0:
        return gbose_study_new(&study, 20, 2, 1, err);
    case 1:
        return gbose_study_add_world(study, "paper", err);
    case 2:
        return gbose_study_join_world(study, &world, err);
    case 3:
        return gbose_study_add_learner(study, "gbose", "ours", "gamma", values, 2, err);
    case 4:
        return gbose_study_join_learner(study, &learner, err);
    case 5:
        return gbose_study_keep(study, dir, err);
    default:
        return gbose_study_play(study, 1, NULL, NULL, err);
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    dir = scratch_new();
    for (size_t k = 0; k < 7; k++) {
        int rc = GBOSE_ENOMEM;
        for (long n = 0; rc; n++) {
            gbose_error err = {0};

            watch(n);
            rc = step(k, &err);
            stop_watching();
            if (rc) {
                assert_int_equal(rc, GBOSE_ENOMEM);
                assert_int_equal(err.code, GBOSE_ENOMEM);
            } else {
                assert_that(n >= 1, "step %zu takes no memory", k);
            }
        }
    }
    assert_int_equal(gbose_study_done(study), gbose_study_needed(study));
    assert_int_equal(gbose_study_done(study),
                     2 * (2 * 2 + 2 + 2 * 2)); /* worlds (values reps + reps + fresh) */
    gbose_study_free(study);
    scratch_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_may_fail)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
