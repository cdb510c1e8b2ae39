/* uniform against its definition, with B formed. */
#include "support/check.h"
#include "support/play.h"

static void law(struct play *p)
{
    assert_int_equal(p->d.draws, 0);
    for (size_t i = 0; i < p->n; i++)
        assert_true(p->pmf[i] == 1 / (double)p->n);
}

static const struct game game = {"uniform", 0, law, NULL};

static void equals_dense_computation(void **state)
{
    static const struct setup sets[] = {
        {.lambda = 2.5, .dim = 5, .max_arms = 12, .rounds = 400, .seed = 1},
        {.lambda = 2.5, .intercept = 1, .dim = 5, .max_arms = 12, .rounds = 400, .seed = 2},
        {.lambda = 0.4, .dim = 17, .max_arms = 12, .rounds = 400, .seed = 3},
        {.lambda = 2.5, .forget = 0.97, .intercept = 1, .dim = 4, .max_arms = 12, .rounds = 400, .seed = 4},
    };

    (void)state;
    play_setups(&game, sets, sizeof sets / sizeof *sets, "", 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(equals_dense_computation)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
