/* semi-ts against its definition, with B formed. */
#include "support/check.h"
#include "support/play.h"
#include "support/setups.h"

/* B += 2 X X' + 2 sum_i pi_i (b_i - bbar)(b_i - bbar)', y += 4 X r */
static void learn(struct play *p)
{
    long double x[64];

    play_centred(p, p->d.arm, x);
    dense_add(&p->model, 2, 4 * (p->reward - p->baseline), x);
    for (size_t i = 0; i < p->n; i++) {
        play_centred(p, i, x);
        dense_add(&p->model, 2 * (long double)p->pmf[i], 0, x);
    }
}

static const struct game game = {"semi-ts", 0, play_thompson_law, learn};

static void equals_dense_computation(void **state)
{
    static const struct setup sets[] = {
        {.gamma = 0.8, .lambda = 2.5, .dim = 5, .max_arms = 12, .rounds = 300, .seed = 1},
        {.gamma = 0.8, .lambda = 2.5, .intercept = 1, .dim = 5, .max_arms = 12, .rounds = 300, .seed = 2},
        {.gamma = 0.5, .lambda = 0.4, .dim = 9, .max_arms = 7, .rounds = 300, .seed = 3},
        {.gamma = 0.5, .lambda = 2.5, .draws = 300, .dim = 2, .max_arms = 12, .rounds = 300, .seed = 5},
    };

    (void)state;
    play_setups(&game, sets, sizeof sets / sizeof *sets, "apm", 10);
    play_setups(&game, &setup_forgetting, 1, "apm", 10);
}

static void equals_dense_computation_for_two_arms(void **state)
{
    (void)state;
    setups_of_two_arms(&game, 100);
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
