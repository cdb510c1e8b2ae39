/* The width f(h) against its formulas, and the filter and the coin against a plain loop over all arms. */
#include "support/dense.h"
#include "support/players.h"

#include <math.h>
#include <string.h>

#include "learners/auto/width.h"
#include "learners/learner.h"

enum { DIM = 4 };

static const struct gbose__tuning tuning = {.full_slope = 0.7,
                                            .slope_dim = 3,
                                            .slope_least = 0.6,
                                            .ramp = 3,
                                            .ramp_most = 10,
                                            .ramp_dim = 5,
                                            .ramp_least = 0.2,
                                            .orthogonal_slope = 0.4,
                                            .widening_log = 2.5,
                                            .expected_u = 1.7,
                                            .strange_u = 11,
                                            .highest_probability = 0.9};

static long double formula(enum gbose__chooser chooser, long double scale, long double rounds,
                           long double weights, long double h, size_t dim)
{
    long double u = h * h * (weights + 1) / (long double)dim;
    long double most = dim > 5 ? 50 / (long double)dim : 10;
    long double ramp = fmaxl(0.2L, (rounds + 1) / fminl(3 * (long double)dim, most));
    long double many = fminl(1, fmaxl(0.6L, sqrtl(3 / (long double)dim)));
    long double slope = chooser == GBOSE__ORTHOGONAL ? 0.4L : 0.7L * fminl(1, ramp) * many;

    if (chooser == GBOSE__FULL_OF_USERS)
        return slope * scale * h * fmaxl(1, u / 1.7L);
    return slope * scale * h * sqrtl(1 + 2.5L * fmaxl(0, logl(u / 1.7L))) * fmaxl(1, u / 11);
}

static void the_width_is_its_formula(void **state)
{
    (void)state;
    for (enum gbose__chooser chooser = GBOSE__FULL; chooser <= GBOSE__ORTHOGONAL; chooser++)
        for (double rounds = 0; rounds < 40; rounds += 1.5)
            for (double h = 0.01; h < 20; h *= 1.3)
                for (size_t dim = 2; dim < 12; dim++) {
                    struct gbose__width width =
                        gbose__width_of(&tuning, chooser, 0.3, rounds, 0.6 * rounds, dim);

                    assert_close(gbose__width_at(&width, h),
                                 formula(chooser, 0.3, rounds, 0.6 * rounds, h, dim), 1e-12);
                }
}

static void a_fixed_width_is_fixed(void **state)
{
    struct gbose__tuning fixed = tuning;
    struct gbose__width width;

    (void)state;
    fixed.fixed_slope = 0.17;
    fixed.expected_u = fixed.strange_u = 1e300;
    width = gbose__width_of(&fixed, GBOSE__FULL, 0.3, 5, 3, DIM);
    assert_close(gbose__width_at(&width, 2.5), 0.17 * 2.5, 1e-15);
}

/* The survivors of random arms by the definition, and the coin between two of them. */
static void the_filter_is_a_loop_over_all_arms(void **state)
{
    static const enum gbose__chooser choosers[] = {GBOSE__FULL, GBOSE__FULL_OF_USERS, GBOSE__ORTHOGONAL};
    gbose *g = new_player("lin-ucb:intercept=0,lambda=2.5", DIM);
    struct gbose__ridge *fit = &g->fit[0];
    struct random r = {14};
    struct dense dense;
    size_t eliminated = 0, kept = 0;

    (void)state;
    dense_init(&dense, DIM, 2.5, 1);
    for (int t = 0; t < 300; t++) {
        double scale = exp(2 * random_normal(&r)), x[DIM];
        enum gbose__chooser chooser = choosers[t % 3];
        struct gbose__width width = gbose__width_of(&tuning, chooser, scale, t, 0.5 * t, DIM);
        struct gbose__round *round = &g->scratch.round;
        const struct gbose__input *in = &g->scratch.in;
        long double wide[DIM], lead, f;
        size_t best = 0, live = 0;
        struct arms arms;

        random_arms(&arms, DIM, &r);
        dense_solve(&dense);
        assert_int_equal(gbose__round_reserve(g, &g->scratch, arms.n), GBOSE_OK);
        assert_int_equal(gbose__round_prepare(g, &g->scratch, &(gbose_input){arms.context, arms.n, NULL}),
                         GBOSE_OK);
        for (size_t i = 0; i < arms.n; i++)
            best = in->score[i] > in->score[best] ? i : best;
        gbose__width_filter(&width, fit, in, in->score, round, best);
        for (size_t i = 0; i < arms.n; i++) {
            int lives = live < round->n_live && round->live[live] == i;

            lead = dense_lead(&dense, arms.context + best * DIM, arms.context + i * DIM, DIM);
            f = formula(chooser, scale, t, 0.5 * t,
                        dense_distance(&dense, arms.context + best * DIM, arms.context + i * DIM, DIM), DIM);
            if (fabsl(lead - f) > 1e-9L * f || i == best)
                assert_int_equal(lives, i == best || lead <= f);
            live += (size_t)lives;
        }
        assert_int_equal(live, round->n_live);
        kept += live - 1;
        eliminated += arms.n - live;
        if (live > 1) {
            size_t k = round->live[0], l = round->live[1];
            long double p;

            memset(round->pmf, 0, arms.n * sizeof *round->pmf);
            gbose__width_coin(&width, in, in->score, round, k, l);
            lead = dense_lead(&dense, arms.context + k * DIM, arms.context + l * DIM, DIM);
            f = formula(chooser, scale, t, 0.5 * t,
                        dense_distance(&dense, arms.context + k * DIM, arms.context + l * DIM, DIM), DIM);
            p = f > 0 ? erfcl(-lead / f / sqrtl(2)) / 2 : 0.5L;
            assert_near(round->pmf[k], fminl(0.9L, fmaxl(1 - 0.9L, p)), 1e-9);
            assert_true(round->pmf[k] + round->pmf[l] == 1);
        }

        gbose__ridge_begin(fit);
        dense_begin(&dense);
        for (size_t i = 0; i < DIM; i++)
            wide[i] = fit->x[i] = x[i] = random_normal(&r);
        gbose__ridge_term(fit, fit->x, 0.7, x[1] + random_normal(&r));
        dense_add(&dense, 0.7L, 0, wide);
        for (size_t i = 0; i < DIM; i++) { /* the same y, from B mu */
            long double y = 0;

            for (size_t j = 0; j < DIM; j++)
                y += (dense.evidence[i * DIM + j] + (i == j ? dense.prior[i] : 0)) * fit->mu[j];
            dense.y[i] = y;
        }
    }
    assert_true(eliminated > 50 && kept > 50);
    dense_clear(&dense);
    gbose_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_width_is_its_formula),
        cmocka_unit_test(a_fixed_width_is_fixed),
        cmocka_unit_test(the_filter_is_a_loop_over_all_arms),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
