/* gbose against Algorithm 1 computed from B itself. */
#include "support/check.h"
#include "support/play.h"
#include "support/setups.h"

#include <math.h>
#include <string.h>

/* Line 6 and 7 by brute force, line 8: a coin between the two. */
static void law(struct play *p)
{
    int keep[16];
    size_t count = play_survivors(p, keep), pair[2], n = 0;
    long double best = -1;

    if (!count)
        return;
    play_same_survivors(p, keep);
    assert_int_equal(p->d.draws, 0);
    if (count == 1) {
        for (size_t i = 0; i < p->n; i++)
            assert_true(p->pmf[i] == keep[i]);
        return;
    }
    for (size_t i = 0; i < p->n; i++)
        for (size_t j = i + 1; j < p->n; j++) {
            long double d = dense_distance(&p->model, play_context(p, i), play_context(p, j), p->dim);

            if (keep[i] && keep[j] && d > best)
                best = d;
        }
    /* any pair that is as far apart as the farthest, but for what breaks ties */
    for (size_t i = 0; i < p->n; i++)
        if (p->pmf[i] > 0) {
            assert_true(p->pmf[i] == 0.5 && keep[i] && n < 2);
            pair[n++] = i;
        }
    assert_int_equal(n, 2);
    assert_true(dense_distance(&p->model, play_context(p, pair[0]), play_context(p, pair[1]), p->dim) >=
                best * (1 - 1e-8L));
}

/* X = b_a - bbar; with one survivor it is 0, or b_a / 2 if lone=half. */
static void learn(struct play *p)
{
    long double x[64];

    play_centred(p, p->d.arm, x);
    if (p->set.half && p->d.probability == 1)
        for (size_t k = 0; k < p->dim; k++)
            x[k] = (long double)play_context(p, p->d.arm)[k] / 2;
    dense_add(&p->model, 1, p->reward - p->baseline, x);
}

static const struct game game = {"gbose", 0, law, learn};

static void equals_dense_computation(void **state)
{
    static const struct setup sets[] = {
        {.gamma = 0.6, .lambda = 2.5, .half = 1, .dim = 5, .max_arms = 12, .rounds = 400, .seed = 7},
        {.gamma = 0.6,
         .lambda = 2.5,
         .half = 1,
         .intercept = 1,
         .forget = 0.99,
         .dim = 6,
         .max_arms = 12,
         .rounds = 400},
    };

    (void)state;
    setups_for_filters(&game);
    play_setups(&game, sets, sizeof sets / sizeof *sets, "apmr", 10);
}

/* One feature: every arm is on a line, and soon all but one are gone. */
static void equals_dense_computation_in_one_dimension(void **state)
{
    static const struct setup sets[] = {
        {.gamma = 0.5, .lambda = 2.5, .dim = 1, .max_arms = 6, .rounds = 300, .seed = 8},
        {.gamma = 0.5, .lambda = 2.5, .intercept = 1, .forget = 0.9, .dim = 1, .max_arms = 6, .rounds = 300},
    };

    (void)state;
    play_setups(&game, sets, sizeof sets / sizeof *sets, "a", 10);
}

/* The theory's gamma and lambda in a run, with the formulas of ALGORITHMS.md by libm. */
static void theory_settings_in_a_run(void **state)
{
    const double d = 3, T = 400, delta = 0.2, lambda = 4 * d * log(9 * T) + 8 * log(4 * T / delta);
    const struct setup sets[] = {
        {.gamma_word = "theory",
         .lambda_word = "theory",
         .delta = delta,
         .horizon = 400,
         .dim = 3,
         .max_arms = 6,
         .rounds = 200,
         .lambda = lambda,
         .gamma = sqrt(lambda) + sqrt(27 * d * log(1 + 2 * T / d) + 54 * log(4 * T / delta))},
        {.gamma_word = "lemma1",
         .delta = delta,
         .horizon = 400,
         .dim = 3,
         .max_arms = 6,
         .rounds = 200,
         .lambda = 2.5,
         .gamma = sqrt(2.5) + sqrt(9 * d * log(1 + T / (d * 2.5)) + 18 * log(T / delta))},
    };

    (void)state;
    play_setups(&game, sets, 2, "pm", 10);
}

static void theory_values(void **state)
{
    (void)state;
    play_theory("gbose");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_dense_computation),
        cmocka_unit_test(equals_dense_computation_in_one_dimension),
        cmocka_unit_test(theory_settings_in_a_run),
        cmocka_unit_test(theory_values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
