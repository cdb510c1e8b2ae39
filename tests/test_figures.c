/* What the figures' scripts are made of; that gnuplot draws them is in test_outputs.c. */
#include "report/figures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/gnuplot.h"
#include "report/plot.h"
#include "support/check.h"
#include "support/made_study.h"
#include "support/random.h"

static void labels_are_moved_apart_as_little_as_possible(void **state)
{
    double pair[] = {3, 3}, near_end[] = {0.9, 0.95, 0.97}, apart[] = {1, 2.5, 9}, chain[] = {0, 0.1, 5, 5.2};

    (void)state;
    gbose__plot_spread_apart(pair, 2, 1, 0, 10);
    assert_close(pair[0], 2.5, 1e-12);
    assert_close(pair[1], 3.5, 1e-12);
    gbose__plot_spread_apart(apart, 3, 1, 0, 10);
    assert_true(apart[0] == 1 && apart[1] == 2.5 && apart[2] == 9);
    gbose__plot_spread_apart(near_end, 3, 0.2, 0, 1);
    assert_close(near_end[0], 0.6, 1e-12);
    assert_close(near_end[2], 1, 1e-12);
    gbose__plot_spread_apart(chain, 4, 1, -10, 10);
    assert_close(chain[0], -0.45, 1e-12);
    assert_close(chain[1], 0.55, 1e-12);
    assert_close(chain[2], 4.6, 1e-12);
    gbose__plot_spread_apart(chain, 0, 1, 0, 1);
}

static int rising(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void labels_never_overlap(void **state)
{
    struct random r = {5};

    (void)state;
    for (int trial = 0; trial < 500; trial++) {
        size_t n = 1 + random_below(&r, 15);
        double x[15], gap = 0.06;
        for (size_t i = 0; i < n; i++)
            x[i] = random_below(&r, 3) ? random_uniform(&r) : 0.3;
        qsort(x, n, sizeof *x, rising);
        gbose__plot_spread_apart(x, n, gap, 0, 1);
        for (size_t i = 0; i < n; i++) {
            assert_true(x[i] > -1e-12 && x[i] < 1 + 1e-12);
            if (i)
                assert_true(x[i] - x[i - 1] > gap - 1e-12);
        }
    }
}

static void check_string(const char *text, const char *expected)
{
    char *out;
    size_t size;
    FILE *to = open_memstream(&out, &size);

    gbose__gnuplot_string(to, text);
    fclose(to);
    assert_string_equal(out, expected);
    free(out);
}

static void script_strings_cannot_run_commands(void **state)
{
    (void)state;
    check_string("gbose:lone=half", "\"gbose:lone=half\"");
    check_string("a\nb", "\"a\\nb\"");
    check_string("`rm`", "\"\\140rm\\140\"");
    check_string("\"; system('x') #\\", "\"\\042; system('x') #\\134\"");
}

static void check_ticks(double low, double high, int most, const char *expected)
{
    char *out;
    size_t size;
    FILE *to = open_memstream(&out, &size);

    gbose__plot_ticks(to, 'x', low, high, most);
    fclose(to);
    assert_non_null(strchr(out, '('));
    assert_string_equal(strchr(out, '('), expected);
    free(out);
}

static void ticks_are_round_numbers(void **state)
{
    (void)state;
    check_ticks(0, 10000, 2, "(\"0\" 0, \"5000\" 5000, \"10,000\" 10000)\n");
    check_ticks(0, 21.7, 5, "(\"0\" 0, \"5\" 5, \"10\" 10, \"15\" 15, \"20\" 20)\n");
    check_ticks(-0.06, 0.11, 4, "(\"−0.05\" -0.05, \"0.00\" 0, \"0.05\" 0.05, \"0.10\" 0.1)\n");
    check_ticks(0, 0.9, 4, "(\"0.00\" 0, \"0.25\" 0.25, \"0.50\" 0.5, \"0.75\" 0.75)\n");
    check_ticks(-2.2e6, 1e6, 3, "(\"−2,000,000\" -2000000, \"0\" 0)\n");
}

/* A learner's colour is that of its name, whatever study it is in; its variants have other dashes. */
static void colours_belong_to_learners(void **state)
{
    static const char *const worlds[] = {"paper", NULL};
    static const char *const learners[] = {"lin-ts",  "gbose",   "gbose:lone=half", "bose",    "action-ts",
                                           "semi-ts", "lin-ucb", "eps-greedy",      "uniform", "gbose-auto",
                                           NULL};
    static const char *const few[] = {"gbose:gamma=0.3", "lin-ts", NULL};
    struct gbose__study *a = made_study("simulate", worlds, learners, NULL, 100, 1, 0);
    struct gbose__study *b = made_study("simulate", worlds, few, NULL, 100, 1, 0);

    (void)state;
    for (size_t i = 0; i < a->plan->n_learners; i++)
        for (size_t k = 0; k < i; k++)
            assert_false(gbose__plot_colour(a->plan, i) == gbose__plot_colour(a->plan, k) &&
                         gbose__plot_dash(a->plan, i) == gbose__plot_dash(a->plan, k));
    assert_int_equal(gbose__plot_colour(a->plan, 1), gbose__plot_colour(a->plan, 2));
    assert_int_equal(gbose__plot_dash(a->plan, 2), 2);
    assert_int_equal(gbose__plot_colour(a->plan, 1), gbose__plot_colour(b->plan, 0));
    assert_int_equal(gbose__plot_colour(a->plan, 0), gbose__plot_colour(b->plan, 1));
    assert_int_equal(gbose__plot_colour(a->plan, 9), GBOSE__HIGHLIGHT);
    gbose__study_free(a);
    gbose__study_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_are_moved_apart_as_little_as_possible),
        cmocka_unit_test(labels_never_overlap),
        cmocka_unit_test(script_strings_cannot_run_commands),
        cmocka_unit_test(ticks_are_round_numbers),
        cmocka_unit_test(colours_belong_to_learners),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
