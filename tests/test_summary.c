#include "study/summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/printed.h"
#include "support/check.h"
#include "support/made_study.h"
#include "support/random.h"

/* ---- quantiles ---- */

static void quantiles_are_type_7(void **state)
{
    double four[] = {4, 1, 3, 2}, one[] = {-2.5}, two[] = {10, 0}, ten[] = {5, 1, 9, 3, 7, 2, 8, 4, 10, 6};
    struct gbose__spread d = gbose__summary_spread(four, 4);

    (void)state;
    /* R: quantile(c(4, 1, 3, 2)) */
    assert_close(d.q1, 1.75, 1e-15);
    assert_close(d.median, 2.5, 1e-15);
    assert_close(d.q3, 3.25, 1e-15);
    d = gbose__summary_spread(one, 1);
    assert_true(d.q1 == -2.5 && d.median == -2.5 && d.q3 == -2.5);
    d = gbose__summary_spread(two, 2);
    assert_true(d.q1 == 2.5 && d.median == 5 && d.q3 == 7.5);
    d = gbose__summary_spread(ten, 10);
    assert_close(d.q1, 3.25, 1e-15);
    assert_close(d.median, 5.5, 1e-15);
    assert_close(d.q3, 7.75, 1e-15);
    d = gbose__summary_spread(ten, 0);
    assert_true(!d.n && isnan(d.q1) && isnan(d.median) && isnan(d.q3));
    assert_true(gbose__summary_quantile(ten, 10, 0) == 1 && gbose__summary_quantile(ten, 10, 1) == 10);
}

/* The definition: the piecewise linear curve through ((k - 1) / (n - 1), x_(k)). */
static void quantiles_follow_the_definition(void **state)
{
    struct random r = {11};

    (void)state;
    for (size_t n = 2; n < 40; n++) {
        double x[40];
        for (size_t i = 0; i < n; i++)
            x[i] = random_normal(&r);
        gbose__summary_spread(x, n);
        for (double p = 0.01; p < 1; p += 0.043) {
            double expected = NAN;
            for (size_t k = 0; k + 1 < n; k++) {
                double a = (double)k / (double)(n - 1), b = (double)(k + 1) / (double)(n - 1);
                if (p >= a && p <= b)
                    expected = x[k] * (b - p) / (b - a) + x[k + 1] * (p - a) / (b - a);
            }
            assert_near(gbose__summary_quantile(x, n, p), expected, 1e-12);
        }
    }
}

static void nan_goes_last(void **state)
{
    double x[] = {NAN, 3, 1, NAN, 2};
    struct gbose__spread d = gbose__summary_spread(x, 5);

    (void)state;
    assert_true(x[0] == 1 && x[1] == 2 && x[2] == 3 && isnan(x[3]) && isnan(x[4]));
    assert_true(d.q1 == 2 && d.median == 3);
}

/* ---- choosing ---- */

static const char *const two_worlds[] = {"paper:shift=cos-best", "kim-paik", NULL};
static const char *const two_learners[] = {"gbose", "lin-ts", NULL};

static void the_least_median_is_chosen(void **state)
{
    struct gbose__study *s = made_study("simulate", two_worlds, two_learners, "0.1,0.2,0.3,0.4", 100, 3, 2);
    /* medians 5, 3, 3, 4: the first of the equal ones, though the other's mean is less */
    static const double regret[4][3] = {{5, 9, 1}, {3, 40, 2}, {3, 3, 1}, {4, 4, 4}};
    size_t chosen[4];

    (void)state;
    for (size_t v = 0; v < 4; v++)
        for (size_t r = 0; r < 3; r++)
            made_run(s, 1, 0, v, r, regret[v][r]);
    /* fresh runs must not matter */
    made_run(s, 1, 0, 3, 3, 0);
    made_run(s, 1, 0, 3, 4, 0);
    /* one value has a single run, the first none */
    made_run(s, 1, 1, 1, 0, 8);
    made_run(s, 1, 1, 2, 2, 6);
    made_run(s, 1, 1, 3, 1, 7);
    /* NaN is never best while there is a number */
    for (size_t r = 0; r < 3; r++) {
        made_run(s, 0, 1, 0, r, NAN);
        made_run(s, 0, 1, 2, r, 50);
    }
    assert_int_equal(gbose__summary_choose(chosen, s, NULL), GBOSE_OK);
    assert_true(chosen[0] == GBOSE__NO_VALUE);
    assert_int_equal(chosen[1], 2);
    assert_int_equal(chosen[2], 1);
    assert_int_equal(chosen[3], 2);
    gbose__study_free(s);
}

/* A result that is not done counts nowhere, whatever it holds. */
static void unfinished_runs_do_not_count(void **state)
{
    struct gbose__study *s = made_study("simulate", two_worlds, two_learners, "0.1,0.2", 100, 3, 0);
    struct gbose__summary *all;
    struct gbose__run_id lost = {0, 0, 1, 1};
    size_t chosen[4];

    (void)state;
    for (size_t r = 0; r < 3; r++) {
        made_run(s, 0, 0, 0, r, 10);
        made_run(s, 0, 0, 1, r, r == 1 ? 1 : 20 + (double)r);
        made_run(s, 0, 1, 0, r, 12 + (double)r);
    }
    s->result[gbose__plan_run_index(s->plan, lost)].done = 0;
    made_run(s, 0, 1, 1, 0, 11);
    assert_int_equal(gbose__summary_choose(chosen, s, NULL), GBOSE_OK);
    assert_int_equal(chosen[0], 0);
    assert_int_equal(chosen[1], 1);
    assert_int_equal(gbose__summary_make(&all, s, NULL), GBOSE_OK);
    assert_int_equal(all[1].tuned.n, 1);
    assert_int_equal(all[1].to_first.n, 1);
    assert_true(all[1].to_first.mean == 1 && isnan(all[1].to_first.low) && isnan(all[1].to_first.high));
    assert_true(all[2].value == GBOSE__NO_VALUE && !all[2].tuned.n && isnan(all[2].reward) &&
                !all[3].to_first.n);
    free(all);
    gbose__study_free(s);
}

/* ---- summaries ---- */

static void summaries_are_the_textbooks(void **state)
{
    struct gbose__study *s = made_study("simulate", two_worlds, two_learners, "0.1,0.2", 100, 4, 5);
    /* Fresh regrets of both learners. Their differences are 3, -1, 4, 1, 5: mean 2.4, sum of squares about it
     * 23.2, t with 4 degrees of freedom 2.7764451052. */
    static const double first[] = {10, 12, 9, 11, 14}, second[] = {13, 11, 13, 12, 19};
    const double half = 2.7764451052 * sqrt(23.2 / 4 / 5);
    struct gbose__summary *all;

    (void)state;
    for (size_t r = 0; r < 4; r++) {
        made_run(s, 0, 0, 0, r, 30);
        made_run(s, 0, 0, 1, r, 8 + (double)r);
        made_run(s, 0, 1, 0, r, 6 - (double)r);
        made_run(s, 0, 1, 1, r, 70);
    }
    for (size_t r = 0; r < 5; r++) {
        made_run(s, 0, 0, 1, 4 + r, first[r]);
        made_run(s, 0, 1, 0, 4 + r, second[r]);
    }
    assert_int_equal(gbose__summary_make(&all, s, NULL), GBOSE_OK);
    assert_int_equal(all[0].value, 1);
    assert_int_equal(all[1].value, 0);
    assert_true(all[0].tuned.n == 4 && all[0].tuned.median == 9.5 && all[0].tuned.q1 == 8.75);
    assert_true(all[0].fresh.n == 5 && all[0].fresh.median == 11 && all[0].fresh.q1 == 10 &&
                all[0].fresh.q3 == 12);
    assert_int_equal(all[0].to_first.n, 0);
    assert_true(isnan(all[0].to_first.mean));
    assert_int_equal(all[1].to_first.n, 5);
    assert_close(all[1].to_first.mean, 2.4, 1e-14);
    assert_near(all[1].to_first.low, 2.4 - half, 1e-9);
    assert_near(all[1].to_first.high, 2.4 + half, 1e-9);
    /* made_run(): reward 1000 - regret / 3, lone 0.25 + 0.01 rep */
    assert_close(all[1].reward, 1000 - 13.6 / 3, 1e-14);
    assert_close(all[1].lone, 0.25 + 0.06, 1e-14);
    free(all);
    gbose__study_free(s);
}

static void without_fresh_runs_pairs_are_the_tuning_ones(void **state)
{
    struct gbose__study *s = made_study("simulate", two_worlds, two_learners, NULL, 100, 3, 0);
    struct gbose__summary *all;

    (void)state;
    for (size_t r = 0; r < 3; r++) {
        made_run(s, 1, 0, 0, r, (double)(r * r));
        made_run(s, 1, 1, 0, r, 7 + (double)(r * r) + (double)r);
    }
    assert_int_equal(gbose__summary_make(&all, s, NULL), GBOSE_OK);
    assert_int_equal(all[3].to_first.n, 3);
    assert_close(all[3].to_first.mean, 8, 1e-14);
    /* differences 7, 8, 9; t with 2 degrees of freedom */
    assert_near(all[3].to_first.high, 8 + 4.30265272974946 / sqrt(3), 1e-9);
    assert_int_equal(all[3].fresh.n, 0);
    free(all);
    gbose__study_free(s);
}

static void curves_are_of_the_tuning_repetitions(void **state)
{
    struct gbose__study *s = made_study("simulate", two_worlds, two_learners, NULL, 400, 3, 1);
    struct gbose__spread curve[200];

    (void)state;
    for (size_t r = 0; r < 4; r++)
        made_run(s, 0, 0, 0, r, 10 * (double)(r + 1));
    assert_int_equal(s->plan->n_points, 200);
    assert_int_equal(gbose__summary_curve(curve, s, 0, 0, 0, NULL), GBOSE_OK);
    assert_int_equal(s->plan->point[49], 100);
    assert_true(curve[49].n == 3 && curve[49].q1 == 7.5 && curve[49].median == 10 && curve[49].q3 == 12.5);
    assert_int_equal(gbose__summary_curve(curve, s, 0, 1, 0, NULL), GBOSE_OK);
    assert_true(!curve[49].n && isnan(curve[49].median));
    gbose__study_free(s);
}

/* ---- Table 1 ---- */

static void all_of_table_1_is_there(void **state)
{
    static const char *const setup[] = {"arms=2,dim=10", "arms=10,dim=2", "arms=10,dim=10"};
    static const char *const shift[] = {"zero", "log-sine", "cos-best"};
    static const char *const learner[] = {"gbose:intercept=1", "action-ts:intercept=1", "semi-ts:intercept=1",
                                          "lin-ts"};
    static const double printed[3][4][3] = {
        {{21.8, 642.0, 25.4}, {19.3, 927.1, 27.0}, {18.2, 723.4, 33.1}, {2.1, 1569.6, 114.1}},
        {{42.5, 1217.5, 74.5}, {296.7, 2495.4, 399.1}, {76.9, 1856.4, 106.7}, {23.0, 3508.8, 659.9}},
        {{137.6, 2188.9, 227.4}, {572.0, 3439.6, 928.7}, {257.3, 2638.0, 349.6}, {68.1, 4020.8, 589.8}},
    };
    char world[128];

    (void)state;
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 3; k++) {
            snprintf(world, sizeof world, "paper:%s,shift=%s", setup[i], shift[k]);
            for (size_t l = 0; l < 4; l++) {
                assert_true(gbose__printed(world, learner[l], 10000) == printed[i][l][k]);
                assert_true(isnan(gbose__printed(world, learner[l], 2000)));
            }
            assert_true(isnan(gbose__printed(world, "lin-ucb", 10000)));
            assert_true(isnan(gbose__printed(world, "gbose:lone=half", 10000)));
            assert_true(isnan(gbose__printed(world, "gbose:lambda=2", 10000)));
            assert_true(isnan(gbose__printed(world, "no-such-learner", 10000)));
            if (i)
                assert_true(isnan(gbose__printed(world, "bose", 10000)));
            else
                assert_true(gbose__printed(world, "bose", 10000) == printed[0][0][k]);
        }
}

static void only_the_papers_worlds_have_printed_values(void **state)
{
    struct gbose__printed_cell cell;

    (void)state;
    /* canonical specs leave defaults out */
    assert_true(gbose__printed("paper", "gbose", 10000) == 42.5);
    assert_true(gbose__printed("paper:dim=10", "gbose:gamma=0.02,seed=9", 10000) == 137.6);
    assert_true(isnan(gbose__printed("paper:noise=0.2", "gbose", 10000)));
    assert_true(isnan(gbose__printed("paper:place=sphere", "gbose", 10000)));
    assert_true(isnan(gbose__printed("paper:arms=5", "gbose", 10000)));
    assert_true(isnan(gbose__printed("kim-paik", "gbose", 10000)));
    assert_true(isnan(gbose__printed("no-such-world", "gbose", 10000)));
    assert_int_equal(gbose__printed_cell(&cell, "paper:arms=5,dim=3,shift=cos-best"), 1);
    assert_true(cell.arms == 5 && cell.dim == 3 && cell.shift == 2);
    assert_int_equal(gbose__printed_cell(&cell, "paper:noise=0.5"), 0);
    assert_int_equal(gbose__printed_cell(&cell, "gallery"), 0);
}

static void a_sweep_of_another_option_is_not_the_papers(void **state)
{
    struct gbose__study *s = made_study("simulate", two_worlds, two_learners, "0.1,0.2", 10000, 1, 0);

    (void)state;
    assert_true(gbose__printed_for(s->plan, 0, 0) == 74.5);
    free(s->plan->learner[0].option);
    s->plan->learner[0].option = strdup("lambda");
    assert_true(isnan(gbose__printed_for(s->plan, 0, 0)));
    assert_true(isnan(gbose__printed_for(s->plan, 1, 1)));
    gbose__study_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_are_type_7),
        cmocka_unit_test(quantiles_follow_the_definition),
        cmocka_unit_test(nan_goes_last),
        cmocka_unit_test(the_least_median_is_chosen),
        cmocka_unit_test(unfinished_runs_do_not_count),
        cmocka_unit_test(summaries_are_the_textbooks),
        cmocka_unit_test(without_fresh_runs_pairs_are_the_tuning_ones),
        cmocka_unit_test(curves_are_of_the_tuning_repetitions),
        cmocka_unit_test(all_of_table_1_is_there),
        cmocka_unit_test(only_the_papers_worlds_have_printed_values),
        cmocka_unit_test(a_sweep_of_another_option_is_not_the_papers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
