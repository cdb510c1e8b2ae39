/* action-ts against its definition, with B formed. */
#include "support/check.h"
#include "support/play.h"
#include "support/setups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* P(x_i'mu~ > 0), x_i = b_i - b_0, clipped. */
static double leave(const struct play *p, size_t i)
{
    long double lead = dense_lead(&p->model, play_context(p, i), play_context(p, 0), p->dim);
    long double sd = p->set.gamma * dense_distance(&p->model, play_context(p, i), play_context(p, 0), p->dim);
    double q = sd > 0 ? stats_normal_cdf((double)(lead / sd)) : 0;

    return fmax(p->set.p_min, fmin(p->set.p_max, q));
}

/* pmf_i = q_i p_i for i > 0, where q is the law of the best of these arms: so q can be read off. */
static void law(struct play *p)
{
    double q[16] = {0}, total = 0;

    if (p->n == 1) {
        assert_true(p->pmf[0] == 1);
        return;
    }
    if (p->n == 2) {
        assert_int_equal(p->d.draws, 0);
        assert_near(p->pmf[1], leave(p, 1), 1e-12);
        assert_near(p->pmf[0], 1 - leave(p, 1), 1e-12);
        p->pair++;
        return;
    }
    for (size_t i = 1; i < p->n; i++) {
        double leave_i = leave(p, i);

        /* below 1e-290 the quotient is no longer a number worth having */
        if (leave_i < 1e-290) {
            assert_true(p->pmf[i] < 1e-280);
            return;
        }
        q[i] = p->pmf[i] / leave_i;
        total += q[i];
    }
    assert_near(total, 1, 1e-8);
    play_best_arm_law(p, 1, q);
}

/* A ticket's term (src/learners/learner.c) is w, c and x, and behind it is only the checksum. */
static double ticket_word(const struct play *p, size_t i)
{
    const unsigned char *at = (const unsigned char *)p->d.ticket + 8 * i;
    uint64_t bits = 0;
    double value;

    for (int k = 8; k-- > 0;)
        bits = bits << 8 | at[k];
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Who stood against the base arm when that was played: only the ticket knows. */
static size_t rival_in_ticket(const struct play *p)
{
    size_t x = p->d.ticket_size / 8 - 1 - p->dim;

    for (size_t i = 1; i < p->n; i++) {
        int same = 1;
        for (size_t k = 0; k < p->dim; k++)
            same &= ticket_word(p, x + k) == play_context(p, i)[k] - play_context(p, 0)[k];
        if (same)
            return i;
    }
    fail_msg("the ticket's x is no difference of contexts");
    return 0;
}

/* A round with one arm teaches nothing: a ticket that holds more than its ticket does holds a term. */
static int ticket_has_term(const struct play *p)
{
    gbose_decision nothing;
    double zero[64] = {0};
    size_t size;
    gbose *g;

    assert_int_equal(gbose_new(&g, gbose_spec(p->g), p->dim, NULL), GBOSE_OK);
    assert_int_equal(gbose_decide(g, &nothing, zero, 1), GBOSE_OK);
    size = nothing.ticket_size;
    gbose_free(g);
    return p->d.ticket_size > size;
}

/* B += p (1 - p) x x', y += (1{a > 0} - p) x r */
static void learn(struct play *p)
{
    size_t rival = p->d.arm ? p->d.arm : 1;
    long double x[64], p_rival;

    if (p->n == 1)
        return;
    if (p->d.arm == 0 && p->n > 2) {
        if (!ticket_has_term(p)) {
            /* then p was 0 for the arm that stood against it */
            for (rival = 1; rival < p->n && leave(p, rival) > 1e-300; rival++)
                ;
            assert_true(rival < p->n);
            return;
        }
        rival = rival_in_ticket(p);
    }
    p_rival = leave(p, rival);
    for (size_t k = 0; k < p->dim; k++)
        x[k] = (long double)play_context(p, rival)[k] - play_context(p, 0)[k];
    dense_add(&p->model, p_rival * (1 - p_rival),
              ((p->d.arm > 0 ? 1 : 0) - p_rival) * (p->reward - p->baseline), x);
}

static const struct game game = {"action-ts", 0, law, learn};

static void equals_dense_computation(void **state)
{
    static const struct setup sets[] = {
        {.gamma = 0.6, .lambda = 2.5, .dim = 5, .max_arms = 12, .rounds = 300, .seed = 1},
        {.gamma = 0.6, .lambda = 2.5, .intercept = 1, .dim = 5, .max_arms = 12, .rounds = 300, .seed = 2},
        {.gamma = 0.9,
         .lambda = 0.4,
         .p_min = 0.15,
         .p_max = 0.7,
         .dim = 9,
         .max_arms = 7,
         .rounds = 300,
         .seed = 3},
        {.gamma = 0.5,
         .lambda = 2.5,
         .draws = 300,
         .p_min = 0.1,
         .dim = 2,
         .max_arms = 12,
         .rounds = 300,
         .seed = 5},
    };

    (void)state;
    play_setups(&game, sets, sizeof sets / sizeof *sets, "pm", 10);
    play_setups(&game, &setup_forgetting, 1, "pm", 10);
}

/* Two arms: everything is exact, nothing is read from the ticket. */
static void equals_dense_computation_for_two_arms(void **state)
{
    static const struct setup sets[] = {
        {.gamma = 0.6, .lambda = 2.5, .dim = 5, .max_arms = 2, .rounds = 500, .seed = 6},
        {.gamma = 0.6,
         .lambda = 2.5,
         .intercept = 1,
         .p_min = 0.1,
         .p_max = 0.8,
         .dim = 3,
         .max_arms = 2,
         .rounds = 500},
    };

    (void)state;
    play_setups(&game, sets, sizeof sets / sizeof *sets, "p", 100);
}

/* Many samples at a few states: the law of the best arm to about 0.001. */
static void law_to_three_digits(void **state)
{
    static const struct setup set = {.gamma = 0.7,
                                     .lambda = 2.5,
                                     .draws = 300000,
                                     .p_min = 0.05,
                                     .dim = 4,
                                     .max_arms = 6,
                                     .rounds = 6,
                                     .seed = 9};

    (void)state;
    play_setups(&game, &set, 1, "m", 2);
}

/* When the base arm is played, arm i stood against it with probability q_i (1 - p_i) / pi_0. Over 20000
 * decisions of one state, error probability 1e-6. */
static void rival_has_its_conditional_law(void **state)
{
    static const struct setup set = {.gamma = 1.5,
                                     .lambda = 2.5,
                                     .p_min = 0.1,
                                     .p_max = 0.8,
                                     .draws = 200,
                                     .dim = 4,
                                     .max_arms = 6,
                                     .seed = 12};
    struct play p;
    double observed[6] = {0}, expected[6] = {0};
    struct stats_chi2 chi2;

    (void)state;
    play_begin(&p, &game, &set);
    for (int t = 0; t < 40; t++) {
        play_decide(&p, 6);
        play_reward(&p);
    }
    for (size_t k = 0; k < 6 * p.dim; k++)
        p.contexts[k] = random_normal(&p.rng);
    for (int t = 0; t < 20000; t++) {
        assert_int_equal(gbose_decide(p.g, &p.d, p.contexts, 6), GBOSE_OK);
        if (p.d.arm)
            continue;
        observed[rival_in_ticket(&p)]++;
        for (size_t i = 1; i < 6; i++)
            expected[i] += p.d.pmf[i] / leave(&p, i) * (1 - leave(&p, i)) / p.d.pmf[0];
    }
    chi2 = stats_fit(observed, expected, 6);
    assert_true(chi2.df >= 3);
    assert_that(stats_tail(&chi2) > 1e-6, "chi-square %g, %g degrees of freedom", chi2.sum, chi2.df);
    play_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_dense_computation),
        cmocka_unit_test(equals_dense_computation_for_two_arms),
        cmocka_unit_test(law_to_three_digits),
        cmocka_unit_test(rival_has_its_conditional_law),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
