/* gbose-auto begins anew when its full estimate is worse than none: a shift that a feature of the round says all of costs
 * little more than none, though the first rounds were played without knowing that. And a jump of the shift in the first ten rounds, which
 * is taken for effects, is soon understood. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "gbose.h"
#include "gbose_world.h"
#include "learners/auto/auto.h"
#include "learners/auto/tuning.h"

enum { ROUNDS = 1500, REPETITIONS = 9 };

static gbose_world *world_of(const char *more, uint32_t repetition)
{
    char spec[200];
    gbose_world *world;
    gbose_error err;

    snprintf(spec, sizeof spec, "gallery:contexts=shared,arms=4,dim=6,shift=user-exp%s", more);
    assert_int_equal(gbose_world_new(&world, spec, 105, repetition, &err), GBOSE_OK);
    return world;
}

/* The reward of arm 0 in the next round. */
static double next_reward(gbose_world *world)
{
    gbose_world_round round;
    double reward, regret;

    assert_int_equal(gbose_world_next(world, &round), GBOSE_OK);
    assert_int_equal(gbose_world_play(world, 0, &reward, &regret), GBOSE_OK);
    return reward;
}

/* Two more copies of the world tell v. */
static double play(const char *more, const struct gbose__tuning *tuning, uint32_t repetition)
{
    gbose_world *world = world_of(more, repetition), *with = world_of("", repetition),
                *without = world_of(",known=1", repetition);
    double sum = 0;
    gbose_error err;
    gbose *g;

    assert_int_equal(gbose__auto_new(&g, "gbose-auto:round=1", gbose_world_dim(world), tuning, &err),
                     GBOSE_OK);
    gbose_stream(g, repetition);
    for (int t = 0; t < ROUNDS; t++) {
        double f = next_reward(with) - next_reward(without), reward, regret;
        gbose_world_round round;
        gbose_decision d;

        assert_int_equal(gbose_world_next(world, &round), GBOSE_OK);
        assert_int_equal(gbose_decide_in(g, &d, round.contexts, round.n_arms, &f), GBOSE_OK);
        assert_int_equal(gbose_world_play(world, d.arm, &reward, &regret), GBOSE_OK);
        assert_int_equal(gbose_learn(g, d.ticket, d.ticket_size, reward), GBOSE_OK);
        sum += regret;
    }
    gbose_free(g);
    gbose_world_free(world);
    gbose_world_free(with);
    gbose_world_free(without);
    return sum;
}

static int compare(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

static double median(const char *more, const struct gbose__tuning *tuning)
{
    double regret[REPETITIONS];

    for (uint32_t k = 0; k < REPETITIONS; k++)
        regret[k] = play(more, tuning, k);
    qsort(regret, REPETITIONS, sizeof *regret, compare);
    return regret[REPETITIONS / 2];
}

static void what_was_learned_in_the_dark_is_left_behind(void **state)
{
    struct gbose__tuning never = gbose__tuning_default;
    double known, told, dark;

    (void)state;
    never.anew_factor = INFINITY;
    known = median(",known=1", &gbose__tuning_default);
    told = median("", &gbose__tuning_default);
    dark = median("", &never);
    assert_that(told < 3 * known, "%g, and %g with v known", told, known);
    assert_that(told < 0.7 * dark, "%g, and %g without beginning anew", told, dark);
}

/* The regret of a run of seed 101 in which v jumps in the first ten rounds. */
static double play_jump(const struct gbose__tuning *tuning, uint32_t repetition)
{
    gbose_world *world;
    double sum = 0;
    gbose_error err;
    gbose *g;

    assert_int_equal(gbose_world_new(&world, "gallery:shift=jumps", 101, repetition, &err), GBOSE_OK);
    assert_int_equal(gbose__auto_new(&g, "gbose-auto:seed=101", gbose_world_dim(world), tuning, &err),
                     GBOSE_OK);
    gbose_stream(g, repetition);
    for (int t = 0; t < ROUNDS; t++) {
        gbose_world_round round;
        gbose_decision d;
        double reward, regret;

        assert_int_equal(gbose_world_next(world, &round), GBOSE_OK);
        assert_int_equal(gbose_decide(g, &d, round.contexts, round.n_arms), GBOSE_OK);
        assert_int_equal(gbose_world_play(world, d.arm, &reward, &regret), GBOSE_OK);
        assert_int_equal(gbose_learn(g, d.ticket, d.ticket_size, reward), GBOSE_OK);
        sum += regret;
    }
    gbose_free(g);
    gbose_world_free(world);
    return sum;
}

static void an_early_jump_is_soon_understood(void **state)
{
    static const uint32_t repetitions[] = {182, 197}; /* the two worst of 200 before */
    struct gbose__tuning never = gbose__tuning_default;

    (void)state;
    never.anew_time = INFINITY;
    for (size_t k = 0; k < sizeof repetitions / sizeof *repetitions; k++) {
        double now = play_jump(&gbose__tuning_default, repetitions[k]),
               before = play_jump(&never, repetitions[k]);

        assert_that(now < 60 && now < 0.5 * before, "%g, and %g without beginning anew", now, before);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_was_learned_in_the_dark_is_left_behind),
                                       cmocka_unit_test(an_early_jump_is_soon_understood)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
