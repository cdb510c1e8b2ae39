/* gbose-auto with a tuning that is not the usual one. */
#include "support/players.h"

#include <string.h>

#include "learners/auto/auto.h"

enum { DIM = 4 };

static void the_usual_tuning_changes_nothing(void **state)
{
    struct gbose__tuning usual = gbose__tuning_default;
    gbose *a = new_player("gbose-auto:seed=4", DIM), *b;
    struct random r = {15};

    (void)state;
    assert_int_equal(gbose__auto_new(&b, "gbose-auto:seed=4", DIM, &usual, NULL), GBOSE_OK);
    assert_play_alike(a, b, 300, &r);
    gbose_free(a);
    gbose_free(b);
}

/* With a fixed width so small that nothing survives beside the best, no coin is ever tossed after the
 * first rounds. */
static void another_tuning_is_used(void **state)
{
    struct gbose__tuning narrow = gbose__tuning_default;
    gbose_error err;
    gbose *g = NULL;
    struct random r = {16};

    (void)state;
    narrow.fixed_slope = 1e-12;
    narrow.expected_u = narrow.strange_u = 1e300;
    assert_int_equal(gbose__auto_new(&g, "gbose-auto:seed=4", DIM, &narrow, &err), GBOSE_OK);
    play(g, 30, &r, NULL);
    for (int t = 0; t < 100; t++) {
        double contexts[3 * DIM];
        gbose_decision d;

        for (size_t i = 0; i < 3 * DIM; i++)
            contexts[i] = random_normal(&r);
        assert_int_equal(gbose_decide(g, &d, contexts, 3), GBOSE_OK);
        assert_true(d.probability == 1);
    }
    gbose_free(g);
    g = NULL;
    assert_int_equal(gbose__auto_new(&g, "gbose", DIM, &narrow, &err), GBOSE_ESPEC);
    assert_non_null(strstr(err.text, "only gbose-auto"));
    assert_null(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_usual_tuning_changes_nothing),
        cmocka_unit_test(another_tuning_is_used),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
