/* Rounds in the order of their draws, and what they are worth to gbose-auto where rewards come late. */
#include "support/check.h"
#include "support/players.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "gbose.h"
#include "gbose_world.h"
#include "learners/auto/auto.h"
#include "learners/auto/neighbours.h"

enum { KEPT = GBOSE__NEIGHBOURS, DIM = 2 };

/* ---- the ring ---- */

static struct gbose__neighbours nobody(size_t dim)
{
    return (struct gbose__neighbours){dim, gbose__pad(dim),
                                      gbose__alloc(1, sizeof(struct gbose__neighbours_state)),
                                      gbose__alloc_raw(gbose__neighbours_size(dim), sizeof(double))};
}

static void forget(struct gbose__neighbours *neighbours)
{
    gbose__free(neighbours->state);
    gbose__free(neighbours->rows);
}

static void keep(const struct gbose__neighbours *neighbours, double number, double reward)
{
    double played[8] = {reward + 1, reward + 2};

    gbose__neighbours_keep(neighbours, number, reward, played);
}

static void a_round_is_like_those_before_and_after_it(void **state)
{
    const struct gbose__tuning *tuning = &gbose__tuning_default;
    struct gbose__neighbours neighbours = nobody(DIM);
    double w = tuning->neighbour_memory, rhat, bhat[8];

    (void)state;
    assert_false(gbose__neighbours_predict(&neighbours, tuning, 10, &rhat, bhat));
    keep(&neighbours, 8, 100);
    keep(&neighbours, 30, 5);
    assert_true(gbose__neighbours_predict(&neighbours, tuning, 9, &rhat, bhat));
    assert_near(rhat, 100, 1e-12);
    assert_false(gbose__neighbours_predict(&neighbours, tuning, 20, &rhat, bhat)); /* none is near */
    keep(&neighbours, 11, 200);
    assert_true(gbose__neighbours_predict(&neighbours, tuning, 10, &rhat, bhat));
    assert_near(rhat, (w * w * 100 + w * 200) / (w * w + w), 1e-9);
    assert_near(bhat[0], rhat + 1, 1e-9);
    assert_near(bhat[1], rhat + 2, 1e-9);
    assert_true(gbose__neighbours_are_sane(&neighbours));
    forget(&neighbours);
}

static void the_oldest_rounds_are_given_up(void **state)
{
    const struct gbose__tuning *tuning = &gbose__tuning_default;
    struct gbose__neighbours neighbours = nobody(DIM);
    double rhat, bhat[8];

    (void)state;
    for (int t = 0; t < KEPT; t++)
        keep(&neighbours, 20.0 * t, t);
    assert_true(gbose__neighbours_predict(&neighbours, tuning, 0, &rhat, bhat));
    keep(&neighbours, 20.0 * KEPT, KEPT);
    assert_false(gbose__neighbours_predict(&neighbours, tuning, 0, &rhat, bhat));
    assert_true(gbose__neighbours_predict(&neighbours, tuning, 20, &rhat, bhat));
    assert_true(rhat == 1);
    assert_true(gbose__neighbours_predict(&neighbours, tuning, 20.0 * KEPT, &rhat, bhat));
    assert_true(rhat == KEPT);
    gbose__neighbours_clear(&neighbours);
    assert_false(gbose__neighbours_predict(&neighbours, tuning, 20, &rhat, bhat));
    forget(&neighbours);
}

static void what_comes_out_of_order_is_told(void **state)
{
    struct gbose__neighbours neighbours = nobody(DIM);

    (void)state;
    assert_false(gbose__neighbours_meet(&neighbours, 0));
    assert_false(gbose__neighbours_meet(&neighbours, 1));
    assert_false(gbose__neighbours_meet(&neighbours, 5));
    assert_true(gbose__neighbours_meet(&neighbours, 4));
    assert_true(gbose__neighbours_meet(&neighbours, 2));
    assert_false(gbose__neighbours_meet(&neighbours, 6));
    forget(&neighbours);
}

static void they_grow_and_change_units(void **state)
{
    const struct gbose__tuning *tuning = &gbose__tuning_default;
    struct gbose__neighbours small = nobody(DIM), large = nobody(11);
    double rhat, bhat[16];

    (void)state;
    keep(&small, 7, 3);
    gbose__neighbours_rescale(&small, 1, 4);
    *large.state = *small.state; /* as that of the learner is */
    gbose__neighbours_grow(&large, &small);
    assert_true(gbose__neighbours_predict(&large, tuning, 7, &rhat, bhat));
    assert_true(rhat == 3 && bhat[0] == 4 && bhat[1] == 20 && bhat[2] == 0 && bhat[10] == 0);
    forget(&small);
    forget(&large);
}

static void those_lead_that_err_less(void **state)
{
    const struct gbose__tuning *tuning = &gbose__tuning_default;
    struct gbose__neighbours neighbours = nobody(DIM);

    (void)state;
    for (int t = 0; t < 100; t++) {
        keep(&neighbours, t, 0);
        gbose__neighbours_compare(&neighbours, tuning, 1, 2);
        assert_int_equal(gbose__neighbours_lead(&neighbours, tuning), t + 1 > tuning->neighbour_settle);
    }
    for (int t = 0; t < 500; t++)
        gbose__neighbours_compare(&neighbours, tuning, 2, -1);
    assert_false(gbose__neighbours_lead(&neighbours, tuning));
    forget(&neighbours);
}

/* ---- the learner ---- */

enum { ROUNDS = 3000, LATEST = 300, REPETITIONS = 7 };

struct late {
    void *ticket;
    size_t size;
    double reward;
};

/* The regret after the first 2 LATEST rounds, when the reward of round t comes after (t * t * 31) mod LATEST more rounds; or at once. */
static double play_late(const struct gbose__tuning *tuning, uint32_t repetition, int late)
{
    static struct late waiting[ROUNDS];
    gbose_world *world;
    gbose_error err;
    double sum = 0;
    gbose *g;

    memset(waiting, 0, sizeof waiting);
    assert_int_equal(gbose_world_new(&world, "gallery:shift=season,day=24", 105, repetition, &err), GBOSE_OK);
    assert_int_equal(gbose__auto_new(&g, "gbose-auto", gbose_world_dim(world), tuning, &err), GBOSE_OK);
    gbose_stream(g, repetition);
    for (size_t t = 0; t < ROUNDS; t++) {
        struct late *now = &waiting[t];
        gbose_world_round round;
        gbose_decision d;
        double regret;

        assert_int_equal(gbose_world_next(world, &round), GBOSE_OK);
        assert_int_equal(gbose_decide(g, &d, round.contexts, round.n_arms), GBOSE_OK);
        assert_int_equal(gbose_world_play(world, d.arm, &now->reward, &regret), GBOSE_OK);
        sum += t < 2 * LATEST ? 0 : regret;
        now->size = d.ticket_size;
        now->ticket = malloc(d.ticket_size);
        memcpy(now->ticket, d.ticket, d.ticket_size);
        for (size_t i = t < LATEST ? 0 : t - LATEST; i <= t; i++)
            if (waiting[i].ticket && (!late || i + i * i * 31 % LATEST <= t)) {
                assert_int_equal(gbose_learn(g, waiting[i].ticket, waiting[i].size, waiting[i].reward),
                                 GBOSE_OK);
                free(waiting[i].ticket);
                waiting[i].ticket = NULL;
            }
    }
    for (size_t t = 0; t < ROUNDS; t++)
        free(waiting[t].ticket);
    gbose_world_free(world);
    gbose_free(g);
    return sum;
}

static void late_rewards_are_compared_with_their_neighbours(void **state)
{
    struct gbose__tuning never = gbose__tuning_default;
    double with = 0, without = 0;

    (void)state;
    never.neighbour_settle = INFINITY;
    for (uint32_t k = 0; k < REPETITIONS; k++) {
        with += play_late(&gbose__tuning_default, k, 1);
        without += play_late(&never, k, 1);
    }
    assert_that(with < 0.7 * without, "%g, and %g without neighbours", with, without);
}

/* A learner that is saved and loaded in every tenth round decides as one that is not. */
static void neighbours_are_saved(void **state)
{
    static struct late waiting[ROUNDS];
    gbose *g, *other;
    gbose_world *world;
    gbose_error err;

    (void)state;
    assert_int_equal(gbose_world_new(&world, "gallery:shift=season,day=24", 106, 0, &err), GBOSE_OK);
    assert_int_equal(gbose_new(&g, "gbose-auto", gbose_world_dim(world), &err), GBOSE_OK);
    assert_int_equal(gbose_new(&other, "gbose-auto", gbose_world_dim(world), &err), GBOSE_OK);
    for (size_t t = 0; t < 900; t++) {
        struct late *now = &waiting[t];
        gbose_world_round round;
        gbose_decision d, e;
        double regret;

        assert_int_equal(gbose_world_next(world, &round), GBOSE_OK);
        assert_int_equal(gbose_decide(g, &d, round.contexts, round.n_arms), GBOSE_OK);
        assert_int_equal(gbose_decide(other, &e, round.contexts, round.n_arms), GBOSE_OK);
        assert_int_equal(d.arm, e.arm);
        assert_true(d.probability == e.probability);
        assert_int_equal(gbose_world_play(world, d.arm, &now->reward, &regret), GBOSE_OK);
        now->size = d.ticket_size;
        now->ticket = malloc(d.ticket_size);
        memcpy(now->ticket, d.ticket, d.ticket_size);
        for (size_t i = t < 40 ? 0 : t - 40; i <= t; i++)
            if (waiting[i].ticket && i + i * i * 31 % 40 <= t) {
                assert_int_equal(gbose_learn(g, waiting[i].ticket, waiting[i].size, waiting[i].reward),
                                 GBOSE_OK);
                assert_int_equal(gbose_learn(other, waiting[i].ticket, waiting[i].size, waiting[i].reward),
                                 GBOSE_OK);
                free(waiting[i].ticket);
                waiting[i].ticket = NULL;
            }
        if (t % 10 == 9) {
            struct bytes bytes = saved(other);

            gbose_free(other);
            other = loaded(&bytes);
            bytes_free(&bytes);
        }
    }
    for (size_t t = 0; t < ROUNDS; t++)
        free(waiting[t].ticket);
    gbose_world_free(world);
    gbose_free(g);
    gbose_free(other);
}

static void rewards_in_order_have_no_neighbours(void **state)
{
    struct gbose__tuning never = gbose__tuning_default;

    (void)state;
    never.neighbour_settle = INFINITY;
    assert_true(play_late(&gbose__tuning_default, 0, 0) == play_late(&never, 0, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_round_is_like_those_before_and_after_it),
        cmocka_unit_test(the_oldest_rounds_are_given_up),
        cmocka_unit_test(what_comes_out_of_order_is_told),
        cmocka_unit_test(they_grow_and_change_units),
        cmocka_unit_test(those_lead_that_err_less),
        cmocka_unit_test(late_rewards_are_compared_with_their_neighbours),
        cmocka_unit_test(neighbours_are_saved),
        cmocka_unit_test(rewards_in_order_have_no_neighbours),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
