/* lin-ts against its definition, with B formed. */
#include "support/check.h"
#include "support/play.h"

static void law(struct play *p)
{
    play_best_arm_law(p, 0, p->pmf);
}

static const struct game game = {"lin-ts", 1, law, NULL};

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

/* Two arms: every probability is exact. */
static void equals_dense_computation_for_two_arms(void **state)
{
    static const struct setup sets[] = {
        {.gamma = 0.6, .lambda = 2.5, .dim = 5, .max_arms = 2, .rounds = 500, .seed = 6},
        {.gamma = 0.6, .lambda = 2.5, .no_intercept = 1, .dim = 3, .max_arms = 2, .rounds = 500, .seed = 7},
    };

    (void)state;
    play_setups(&game, sets, sizeof sets / sizeof *sets, "p", 50);
}

/* Many samples at a few states: the law of the best arm to about 0.001. */
static void law_to_three_digits(void **state)
{
    static const struct setup sets[] = {
        {.gamma = 0.7, .lambda = 2.5, .draws = 300000, .dim = 4, .max_arms = 6, .rounds = 6, .seed = 9},
        {.gamma = 0.7, .lambda = 2.5, .draws = 100000, .dim = 9, .max_arms = 7, .rounds = 5, .seed = 10},
    };

    (void)state;
    play_setups(&game, sets, 2, "m", 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_dense_computation),
        cmocka_unit_test(equals_dense_computation_for_two_arms),
        cmocka_unit_test(law_to_three_digits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
