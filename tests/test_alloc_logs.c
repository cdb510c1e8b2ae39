/* Logs when memory runs out: allocation 1, 2, 3, ... fails, until none is left to fail. Nothing leaks (the
 * sanitizer looks), and a round that was refused for lack of memory leaves the object as it was: given again,
 * it counts once. */
#include "support/check.h"

#include <string.h>

#include "gbose_log.h"
#include "support/faults.h"

#define ARMS 3
#define DIM 2

static double pmf[ARMS] = {0.5, 0.3, 0.2}, contexts[ARMS * DIM] = {1, 2, -1, 0.5, 0, 3};

static gbose_logged row_of(size_t arm, size_t *label)
{
    return (gbose_logged){.n_arms = ARMS,
                          .arm = arm,
                          .pmf = pmf,
                          .reward = 0.25 * (double)arm,
                          .contexts = contexts,
                          .label = label,
                          .unit = 100 + arm};
}

static void evaluations(void **state)
{
    size_t labels[ARMS] = {2, 700, 31};
    const double *policies[] = {pmf, pmf};
    long n, failures = 0;
    int rc = GBOSE_ENOMEM;

    (void)state;
    for (n = 0; rc; n++) {
        gbose_evaluation *e = NULL;
        gbose_error err = {0};
        gbose_policy_value v;
        gbose_logged row = row_of(1, labels);

        watch(n);
        rc = gbose_evaluation_new(&e, 2, DIM, NULL, &err);
        if (!rc) {
            rc = gbose_evaluation_add(e, &row, policies, &err);
            stop_watching();
            if (rc)
                assert_int_equal(gbose_evaluation_policy(e, 0, &v), GBOSE_EINVAL); /* it did not count */
            assert_int_equal(gbose_evaluation_add(e, &row, policies, NULL), GBOSE_OK);
            assert_int_equal(gbose_evaluation_policy(e, 0, &v), GBOSE_OK);
            assert_int_equal(v.rounds, rc ? 1 : 2);
        }
        stop_watching();
        assert_true(rc == GBOSE_OK || rc == GBOSE_ENOMEM);
        assert_int_equal(err.code, rc);
        failures += rc != GBOSE_OK;
        gbose_evaluation_free(e);
    }
    assert_true(failures >= 6);
}

static void effects(void **state)
{
    long n, failures = 0;
    int rc = GBOSE_ENOMEM;

    (void)state;
    for (n = 0; rc; n++) {
        gbose_effects *f = NULL;
        gbose_effect_value v;
        const double x[DIM] = {1, 0};

        watch(n);
        rc = gbose_effects_new(&f, DIM, 1, NULL);
        for (int t = 0; t < 40 && !rc; t++) {
            gbose_logged row = row_of((size_t)t % ARMS, NULL);
            rc = gbose_effects_add(f, &row, NULL);
        }
        if (!rc)
            rc = gbose_effects_at(f, x, 0.95, &v);
        stop_watching();
        assert_true(rc == GBOSE_OK || rc == GBOSE_ENOMEM);
        failures += rc != GBOSE_OK;
        gbose_effects_free(f);
    }
    assert_true(failures >= 8);
}

static void trials(void **state)
{
    long n, failures = 0;
    int rc = GBOSE_ENOMEM;

    (void)state;
    for (n = 0; rc; n++) {
        const double one[1] = {1};
        gbose_wcls *w = NULL;
        gbose_effect_value v;

        watch(n);
        rc = gbose_wcls_new(&w, 1, 1, NULL);
        for (int t = 0; t < 60 && !rc; t++) {
            gbose_trial_row row = {.unit = (uint64_t)t / 6,
                                   .available = 1,
                                   .action = t % 2,
                                   .probability = 0.4,
                                   .numerator = 0.5,
                                   .outcome = t % 7,
                                   .controls = one,
                                   .moderators = one};
            rc = gbose_wcls_add(w, &row, NULL);
        }
        if (!rc)
            rc = gbose_wcls_at(w, one, 0.95, &v);
        stop_watching();
        assert_true(rc == GBOSE_OK || rc == GBOSE_ENOMEM);
        failures += rc != GBOSE_OK;
        gbose_wcls_free(w);
    }
    assert_true(failures >= 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(evaluations), cmocka_unit_test(effects),
                                       cmocka_unit_test(trials)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
