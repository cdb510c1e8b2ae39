/* semi-ts against its definition, with B formed. */
#include "support/check.h"
#include "support/play.h"

static void law(struct play *p)
{
    play_best_arm_law(p, 0, p->pmf);
}

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

static const struct game game = {"semi-ts", 0, law, learn};

static void equals_dense_computation(void **state)
{
    static const struct setup sets[] = {
        {.gamma = 0.8, .lambda = 2.5, .dim = 5, .max_arms = 12, .rounds = 300, .seed = 1},
        {.gamma = 0.8, .lambda = 2.5, .intercept = 1, .dim = 5, .max_arms = 12, .rounds = 300, .seed = 2},
        {.gamma = 0.5, .lambda = 0.4, .dim = 9, .max_arms = 7, .rounds = 300, .seed = 3},
        {.gamma = 0.7,
         .lambda = 2.5,
         .forget = 0.97,
         .intercept = 1,
         .dim = 4,
         .max_arms = 12,
         .rounds = 300},
        {.gamma = 0.5, .lambda = 2.5, .draws = 300, .dim = 2, .max_arms = 12, .rounds = 300, .seed = 5},
    };

    (void)state;
    play_setups(&game, sets, sizeof sets / sizeof *sets, "apm", 10);
}

/* Two arms: every probability is exact. */
static void equals_dense_computation_for_two_arms(void **state)
{
    static const struct setup sets[] = {
        {.gamma = 0.6, .lambda = 2.5, .dim = 5, .max_arms = 2, .rounds = 500, .seed = 6},
        {.gamma = 0.6, .lambda = 2.5, .intercept = 1, .dim = 3, .max_arms = 2, .rounds = 500, .seed = 7},
    };

    (void)state;
    play_setups(&game, sets, sizeof sets / sizeof *sets, "p", 100);
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
