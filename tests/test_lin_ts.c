/* lin-ts against its definition, with B formed. */
#include "support/check.h"
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_dense_computation),
        cmocka_unit_test(equals_dense_computation_for_two_arms),
        cmocka_unit_test(law_to_three_digits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
