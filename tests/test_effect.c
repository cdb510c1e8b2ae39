/* gbose_effect(): an interval for what a feature does, from a learner at work.
 *
 * 150 runs in a world whose level jumps; at most 5% may ever miss the truth, so that more than 16 would with
 * probability 0.002. The estimate is unbiased: the mean of estimate less truth, in its standard errors, stays
 * below 4. */
#include <math.h>
#include <stdio.h>

#include "gbose_world.h"
#include "support/check.h"
#include "support/logged.h"

#define RUNS 150
#define ROUNDS 2500

static void covers_at_all_times(void **state)
{
    const struct logged_plan plan = {
        .world = "gallery:shift=jumps,arms=4,dim=3", .logger = "uniform", .rounds = 1, .seed = 8};
    double sum = 0, squares = 0;
    int missed = 0;

    (void)state;
    for (uint32_t k = 0; k < RUNS; k++) {
        double mu[3], x[3] = {cos(k), sin(2.0 * k), 0.5}, truth = 0, estimate = NAN, lower, upper, reward;
        gbose_world *w;
        gbose_world_round round;
        gbose_decision d;
        gbose *g;
        int miss = 0;

        logged_mu(&plan, k, mu);
        for (int i = 0; i < 3; i++)
            truth += x[i] * mu[i];
        assert_int_equal(gbose_world_new(&w, plan.world, plan.seed, k, NULL), GBOSE_OK);
        assert_int_equal(gbose_new(&g, "gbose-auto:floor=0.2", 3, NULL), GBOSE_OK);
        assert_int_equal(gbose_effect(g, x, 0.95, &estimate, &lower, &upper), GBOSE_EUNSEEN);
        for (int t = 1; t <= ROUNDS; t++) {
            gbose_world_next(w, &round);
            assert_int_equal(gbose_decide(g, &d, round.contexts, round.n_arms), GBOSE_OK);
            gbose_world_play(w, d.arm, &reward, NULL);
            assert_int_equal(gbose_learn(g, d.ticket, d.ticket_size, reward), GBOSE_OK);
            if (t == 150) {
                assert_int_equal(gbose_effect(g, x, 0.95, &estimate, &lower, &upper), GBOSE_OK);
                assert_true(isinf(lower) && isinf(upper)); /* too early */
            }
            if (t % 50 == 0 && t >= 200) {
                assert_int_equal(gbose_effect(g, x, 0.95, &estimate, &lower, &upper), GBOSE_OK);
                assert_true(lower < estimate && estimate < upper && isfinite(upper));
                miss |= truth < lower || truth > upper;
            }
        }
        missed += miss;
        sum += estimate - truth;
        squares += (estimate - truth) * (estimate - truth);
        assert_true(upper - lower < 1.5);
        gbose_world_free(w);
        gbose_free(g);
    }
    printf("missed in %d of %d runs; mean error %.2g, standard deviation %.2g\n", missed, RUNS, sum / RUNS,
           sqrt(squares / RUNS));
    assert_true(missed <= 16);
    assert_true(fabs(sum) < 4 * sqrt(squares));
}

static void refuses_what_it_cannot_do(void **state)
{
    double x[2] = {1, 0}, bad[2] = {NAN, 0}, a = 7, b = 7, c = 7;
    gbose *g;

    (void)state;
    assert_int_equal(gbose_new(&g, "gbose", 2, NULL), GBOSE_OK);
    assert_int_equal(gbose_effect(g, x, 0.95, &a, &b, &c), GBOSE_ELEARNER);
    gbose_free(g);
    assert_int_equal(gbose_new(&g, "gbose-auto", 2, NULL), GBOSE_OK);
    assert_int_equal(gbose_effect(g, x, 1, &a, &b, &c), GBOSE_EINVAL);
    assert_int_equal(gbose_effect(g, NULL, 0.95, &a, &b, &c), GBOSE_EINVAL);
    assert_int_equal(gbose_effect(g, bad, 0.95, &a, &b, &c), GBOSE_ENUMERIC);
    assert_true(a == 7 && b == 7 && c == 7);
    gbose_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(covers_at_all_times),
                                       cmocka_unit_test(refuses_what_it_cannot_do)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
