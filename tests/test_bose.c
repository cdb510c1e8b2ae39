/* bose against its defining inequality, with B formed. */
#include "support/check.h"
#include "support/play.h"
#include "support/setups.h"

#include <string.h>

/* Survivors by brute force; pi lives on them, and ||b_i - bbar||^2 <= sum_j pi_j ||b_j - bbar||^2 for
 * each, up to the stated factor 1 + 1e-6. */
static void law(struct play *p)
{
    int keep[16];
    size_t count = play_survivors(p, keep);
    long double spread = 0, size2[16];

    if (!count)
        return;
    play_same_survivors(p, keep);
    assert_int_equal(p->d.draws, 0);
    for (size_t i = 0; i < p->n; i++) {
        long double x[64];

        play_centred(p, i, x);
        size2[i] = 0;
        for (size_t a = 0; a < p->dim; a++)
            for (size_t b = 0; b < p->dim; b++)
                size2[i] += x[a] * x[b] * p->model.inverse[a * p->dim + b];
        spread += p->pmf[i] * size2[i];
        assert_true(keep[i] || p->pmf[i] == 0);
        assert_true(count > 1 || p->pmf[i] == keep[i]);
        assert_true(count != 2 || p->pmf[i] == 0.5 * keep[i]);
    }
    for (size_t i = 0; i < p->n; i++)
        assert_that(!keep[i] || size2[i] <= (1 + 1.001e-6L) * spread, "%s, round %zu: %Lg above %Lg",
                    gbose_spec(p->g), p->round, size2[i], spread);
}

static const struct game game = {"bose", 0, law, NULL};

static void equals_dense_computation(void **state)
{
    (void)state;
    setups_for_filters(&game);
}

/* For two arms the ball's weights are gbose's coin, so the two run alike to the last bit. */
static void is_gbose_for_two_arms(void **state)
{
    struct random rng = {31};
    double contexts[2 * 6];
    gbose *a, *b;

    (void)state;
    assert_int_equal(gbose_new(&a, "gbose:gamma=0.4,lambda=2.5,intercept=1,seed=5", 6, NULL), GBOSE_OK);
    assert_int_equal(gbose_new(&b, "bose:gamma=0.4,lambda=2.5,intercept=1,seed=5", 6, NULL), GBOSE_OK);
    for (int t = 0; t < 400; t++) {
        gbose_decision da, db;
        double reward;

        random_contexts(&rng, contexts, 2, 6);
        assert_int_equal(gbose_decide(a, &da, contexts, 2), GBOSE_OK);
        assert_int_equal(gbose_decide(b, &db, contexts, 2), GBOSE_OK);
        assert_memory_equal(da.pmf, db.pmf, 2 * sizeof(double));
        assert_int_equal(da.arm, db.arm);
        reward = 2 * contexts[da.arm * 6] + random_normal(&rng);
        assert_int_equal(gbose_learn(a, da.ticket, da.ticket_size, reward), GBOSE_OK);
        assert_int_equal(gbose_learn(b, db.ticket, db.ticket_size, reward), GBOSE_OK);
        assert_memory_equal(gbose_coef(a), gbose_coef(b), 6 * sizeof(double));
    }
    gbose_free(a);
    gbose_free(b);
}

static void theory_values(void **state)
{
    (void)state;
    play_theory("bose");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_dense_computation),
        cmocka_unit_test(is_gbose_for_two_arms),
        cmocka_unit_test(theory_values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
