/* eps-greedy against its definition, with B formed. */
#include "support/check.h"
#include "support/play.h"

#include <math.h>

/* epsilon / n for every arm, the rest for the best one: the lowest index among equal ones, so arm 0 at
 * first. */
static void law(struct play *p)
{
    size_t best = 0;

    for (size_t i = 1; i < p->n; i++)
        if (dense_lead(&p->model, play_context(p, i), play_context(p, best), p->dim) > 0)
            best = i;
    for (size_t i = 0; i < p->n; i++) {
        long double gap = dense_lead(&p->model, play_context(p, best), play_context(p, i), p->dim);
        if (gap != 0 && gap < 1e-12L) {
            p->borderline++;
            return;
        }
    }
    p->more += best > 0;
    assert_int_equal(p->d.draws, 0);
    for (size_t i = 0; i < p->n; i++)
        assert_near(p->pmf[i], p->set.epsilon / (double)p->n + (i == best ? 1 - p->set.epsilon : 0), 1e-15);
}

static const struct game game = {"eps-greedy", 1, law, NULL};

static void equals_dense_computation(void **state)
{
    static const struct setup sets[] = {
        {.epsilon = 0.3, .lambda = 2.5, .dim = 5, .max_arms = 12, .rounds = 400, .seed = 1},
        {.epsilon = 0.3,
         .lambda = 2.5,
         .no_intercept = 1,
         .dim = 5,
         .max_arms = 12,
         .rounds = 400,
         .seed = 2},
        {.epsilon = 0.07, .lambda = 0.4, .dim = 8, .max_arms = 12, .rounds = 400, .seed = 3},
        {.epsilon = 0.2, .lambda = 2.5, .forget = 0.97, .dim = 4, .max_arms = 12, .rounds = 400, .seed = 4},
    };

    (void)state;
    play_setups(&game, sets, sizeof sets / sizeof *sets, "m", 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(equals_dense_computation)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
