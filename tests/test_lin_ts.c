/* lin-ts against its definition, with B formed. */
#include "support/check.h"

#include <math.h>

#include "support/play.h"
#include "support/setups.h"

static const struct game game = {"lin-ts", 1, play_thompson_law, NULL};

static void equals_dense_computation(void **state)
{
    static const struct setup sets[] = {
        {.gamma = 0.8, .lambda = 2.5, .dim = 5, .max_arms = 12, .rounds = 300, .seed = 1},
        {.gamma = 0.8, .lambda = 2.5, .no_intercept = 1, .dim = 5, .max_arms = 12, .rounds = 300, .seed = 2},
        {.gamma = 0.5, .lambda = 0.4, .dim = 8, .max_arms = 7, .rounds = 300, .seed = 3},
        {.gamma = 0.7, .lambda = 2.5, .forget = 0.97, .dim = 4, .max_arms = 12, .rounds = 300, .seed = 4},
        {.gamma = 0.5,
         .lambda = 2.5,
         .draws = 300,
         .no_intercept = 1,
         .dim = 2,
         .max_arms = 12,
         .rounds = 300},
    };

    (void)state;
    play_setups(&game, sets, sizeof sets / sizeof *sets, "apm", 10);
}

static void equals_dense_computation_for_two_arms(void **state)
{
    (void)state;
    setups_of_two_arms(&game, 50);
}

static void law_to_three_digits(void **state)
{
    (void)state;
    setups_of_many_draws(&game);
}

/* What all arms have in common has no part in the law, however large it is: the law of two arms follows
 * from the difference of their contexts alone. */
static void a_high_level_costs_no_digits(void **state)
{
    struct random r = {29};
    gbose *g;

    (void)state;
    assert_int_equal(gbose_new(&g, "lin-ts:gamma=0.8,lambda=0.01", 3, NULL), GBOSE_OK);
    for (int t = 0; t < 300; t++) {
        double contexts[6], x[3];
        long double lead = 0, sds;
        gbose_decision d;

        for (int i = 0; i < 6; i++)
            contexts[i] = random_uniform(&r);
        for (int i = 0; i < 3; i++) {
            x[i] = contexts[i] - contexts[3 + i];
            lead += (long double)gbose_coef(g)[i] * x[i];
        }
        sds = lead / (0.8L * gbose_width(g, x));
        assert_int_equal(gbose_decide(g, &d, contexts, 2), GBOSE_OK);
        assert_near(d.pmf[0], (double)(erfcl(-sds / sqrtl(2)) / 2), 1e-9);
        assert_int_equal(gbose_learn(g, d.ticket, d.ticket_size, 1e13 + contexts[3 * d.arm]), GBOSE_OK);
    }
    gbose_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_dense_computation),
        cmocka_unit_test(equals_dense_computation_for_two_arms),
        cmocka_unit_test(law_to_three_digits),
        cmocka_unit_test(a_high_level_costs_no_digits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
