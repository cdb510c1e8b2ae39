/* The contest of the two estimates: evidence by its definition, bounded steps, and who chooses. */
#include "support/check.h"
#include "support/random.h"

#include <math.h>

#include "learners/auto/contest.h"

enum { DIM = 3, FIRST = 6 }; /* coins before the contest begins */

static const struct gbose__tuning tuning = {.contest_coins = 2,
                                            .contest_share = 0.4,
                                            .contest_step = 0.7,
                                            .contest_memory = 0.97,
                                            .contest_high = 1.3,
                                            .contest_reach = 2.5,
                                            .contest_least = -1.5,
                                            .contest_most = 5,
                                            .coin_memory = 0.9};

/* A full estimate whose errors are larger, then smaller, than those of the orthogonal one. */
static void evidence_is_what_its_definition_says(void **state)
{
    struct gbose__contest contest = {.full_chooses = 1};
    struct random r = {12};
    long double evidence = 0, squares = 0, count = 0;
    int chooses = 1, turns = 0, at_end = 0, bounded = 0;

    (void)state;
    for (int t = 0; t < 600; t++) {
        double effect = random_normal(&r), off = t % 300 < 150 ? 0.9 : 0.05;
        struct gbose__coin coin = {effect, effect + off * random_normal(&r), effect + 0.3 * random_normal(&r),
                                   0.4 * random_normal(&r)};
        double variance = t % 2 ? 0.02 : 0.3, least = 0.03;

        if (t >= FIRST) {
            long double full = (long double)effect - coin.full,
                        orthogonal = (long double)effect - coin.orthogonal;
            long double unit = fmaxl(variance, squares / count);
            long double step = 0.4L * (full * full - orthogonal * orthogonal) /
                               (chooses ? unit : fminl(unit, 2.5L * (long double)least));

            bounded += !chooses && unit > 2.5L * (long double)least;

            evidence = 0.97L * evidence + fminl(0.7L, fmaxl(-0.7L, step));
            evidence = fminl(5, fmaxl(-1.5L, evidence));
            at_end += evidence == 5 || evidence == -1.5L;
        }
        if (chooses ? evidence > 1.3L : evidence < 0) {
            chooses = !chooses;
            turns++;
        }
        squares = 0.9L * squares + (long double)coin.residual * coin.residual;
        count = 0.9L * count + 1;
        gbose__contest_learn(&contest, &tuning, DIM, variance, least, &coin);
        assert_near(contest.evidence, evidence, 1e-9);
        assert_int_equal(contest.full_chooses, chooses);
        assert_int_equal(contest.coins, t + 1);
        assert_true(gbose__contest_is_sane(&contest, &tuning, 1));
    }
    assert_true(turns >= 3 && at_end > 10 && bounded > 10);
}

/* One coin, however far off, is no proof. */
static void a_single_coin_decides_nothing(void **state)
{
    struct gbose__contest contest = {.full_chooses = 1, .coins = 100, .coin_squares = 1, .coin_count = 1};
    struct gbose__coin coin = {1e140, -1e140, 1e140, 1};

    (void)state;
    gbose__contest_learn(&contest, &tuning, DIM, 1e-200, 1e-200, &coin);
    assert_true(contest.full_chooses == 1 && contest.evidence == 0.7);
    gbose__contest_learn(&contest, &tuning, DIM, 1e-200, 1e-200, &coin);
    assert_true(contest.full_chooses == 0);
}

/* Nor with the constants that are used: the most that a coin may say is just not enough. */
static void a_single_coin_decides_nothing_as_released(void **state)
{
    struct gbose__contest contest = {.full_chooses = 1, .coins = 100, .coin_squares = 1, .coin_count = 1};
    struct gbose__coin coin = {50, -50, 50, 1};

    (void)state;
    gbose__contest_learn(&contest, &gbose__tuning_default, DIM, 0.3, 0.3, &coin);
    assert_true(contest.full_chooses == 1 && contest.evidence > 0);
    gbose__contest_learn(&contest, &gbose__tuning_default, DIM, 0.3, 0.3, &coin);
    assert_true(contest.full_chooses == 0);
}

static void what_cannot_be_is_not_sane(void **state)
{
    struct gbose__contest contest = {.full_chooses = 1};

    (void)state;
    assert_true(gbose__contest_is_sane(&contest, &tuning, 1));
    assert_false(gbose__contest_is_sane(&contest, &tuning, 0));
    contest.full_chooses = 0.5;
    assert_false(gbose__contest_is_sane(&contest, &tuning, 1));
    contest = (struct gbose__contest){.evidence = 5.1};
    assert_false(gbose__contest_is_sane(&contest, &tuning, 1));
    contest = (struct gbose__contest){.evidence = NAN};
    assert_false(gbose__contest_is_sane(&contest, &tuning, 1));
    contest = (struct gbose__contest){.coins = -1};
    assert_false(gbose__contest_is_sane(&contest, &tuning, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evidence_is_what_its_definition_says),
        cmocka_unit_test(a_single_coin_decides_nothing),
        cmocka_unit_test(a_single_coin_decides_nothing_as_released),
        cmocka_unit_test(what_cannot_be_is_not_sane),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
