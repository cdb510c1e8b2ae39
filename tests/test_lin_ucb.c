/* lin-ucb against its definition, with B formed. */
#include "support/check.h"
#include "support/play.h"

#include <math.h>

/* The largest x'mu + gamma ||x||, x = (b, 1); the lowest index among equal ones. */
static void law(struct play *p)
{
    size_t best = 0;
    long double top = 0, index[16];

    for (size_t i = 0; i < p->n; i++) {
        double x[65];

        for (size_t k = 0; k < p->dim; k++)
            x[k] = play_context(p, i)[k];
        x[p->dim] = 1;
        index[i] = p->set.gamma * dense_width(&p->model, x, p->model.dim);
        for (size_t k = 0; k < p->model.dim; k++)
            index[i] += x[k] * p->model.mu[k];
        if (i == 0 || index[i] > top) {
            top = index[i];
            best = i;
        }
    }
    for (size_t i = 0; i < p->n; i++)
        if (index[i] != top && top - index[i] < 1e-10L * (1 + fabsl(top))) {
            p->borderline++;
            return;
        }
    assert_int_equal(p->d.draws, 0);
    for (size_t i = 0; i < p->n; i++)
        assert_true(p->pmf[i] == (i == best));
    /* rounds in which the bonus changed the choice */
    for (size_t i = 0; i < p->n; i++)
        if (dense_lead(&p->model, play_context(p, i), play_context(p, best), p->dim) > 0) {
            p->more++;
            break;
        }
}

static const struct game game = {"lin-ucb", 1, law, NULL};

static void equals_dense_computation(void **state)
{
    static const struct setup sets[] = {
        {.gamma = 0.8, .lambda = 2.5, .dim = 5, .max_arms = 12, .rounds = 400, .seed = 1},
        {.gamma = 0.8, .lambda = 2.5, .no_intercept = 1, .dim = 5, .max_arms = 12, .rounds = 400, .seed = 2},
        {.gamma = 1.5, .lambda = 0.4, .dim = 8, .max_arms = 12, .rounds = 400, .seed = 3},
        {.gamma = 0.7, .lambda = 2.5, .forget = 0.97, .dim = 4, .max_arms = 12, .rounds = 400, .seed = 4},
    };

    (void)state;
    play_setups(&game, sets, sizeof sets / sizeof *sets, "m", 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(equals_dense_computation)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
