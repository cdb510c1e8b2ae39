/* What gbose-auto makes of features of the round: worlds in which v depends on who is asked, with f, which says all of v,
 * as a feature of the round, with f among others that say nothing, without, and with v taken out of the rewards
 * ("known"), when features that say nothing can only do harm. Not a test, but built with them; scripts/auto.sh round runs it.
 *
 * f is v as two more copies of the world tell it, one of which leaves it out of its rewards.
 *
 * Usage: auto_round SEED REPETITIONS     prints the table of docs/learners/gbose-auto.md */
#include <stdio.h>
#include <stdlib.h>

#include "core/rng.h"
#include "gbose.h"
#include "gbose_world.h"
#include "support/trial_table.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { ROUNDS = 5000, MOST_FEATURES = 20 };

static const char *const shifts[] = {"user-sine", "user-product", "user-tree", "user-exp"};

static const struct variant {
    const char *name, *spec, *more; /* `more` is what the world is asked for */
    size_t features;
} variants[] = {
    {"known", "gbose-auto", ",known=1", 0},
    {"known, 3 others", "gbose-auto:round=3", ",known=1", 3},
    {"known, 20 others", "gbose-auto:round=20", ",known=1", 20},
    {"f as a feature", "gbose-auto:round=1", "", 1},
    {"f and 3 others", "gbose-auto:round=4", "", 4},
    {"f and 19 others", "gbose-auto:round=20", "", 20},
    {"f as a feature, `safe=1`", "gbose-auto:round=1,safe=1", "", 1},
    {"without", "gbose-auto", "", 0},
};

static _Noreturn void give_up(const char *text)
{
    fprintf(stderr, "auto_round: %s\n", text);
    exit(1);
}

static gbose_world *world_of(const char *shift, const char *more, uint64_t seed, uint32_t repetition)
{
    char spec[200];
    gbose_world *world;
    gbose_error err;

    snprintf(spec, sizeof spec, "gallery:contexts=shared,arms=4,dim=6,shift=%s%s", shift, more);
    if (gbose_world_new(&world, spec, seed, repetition, &err))
        give_up(err.text);
    return world;
}

/* The reward of arm 0 in the next round. */
static double next_reward(gbose_world *world)
{
    gbose_world_round round;
    double reward, regret;

    if (gbose_world_next(world, &round), gbose_world_play(world, 0, &reward, &regret))
        give_up("the world would not play");
    return reward;
}

static double play(const char *shift, size_t k, uint64_t seed, uint32_t repetition)
{
    const struct variant *v = &variants[k];
    gbose_world *world = world_of(shift, v->more, seed, repetition),
                *with = world_of(shift, "", seed, repetition),
                *without = world_of(shift, ",known=1", seed, repetition);
    struct gbose__rng rng;
    gbose_error err;
    gbose *g;
    double sum = 0;

    if (gbose_new(&g, v->spec, gbose_world_dim(world), &err))
        give_up(err.text);
    gbose_stream(g, repetition);
    gbose__rng_init(&rng, seed, repetition, 1000, 0);
    for (int t = 0; t < ROUNDS; t++) {
        double features[MOST_FEATURES], f = next_reward(with) - next_reward(without), reward, regret;
        gbose_world_round round;
        gbose_decision d;

        for (size_t i = 0; i < MOST_FEATURES; i++)
            features[i] = gbose__rng_normal(&rng);
        if (!*v->more)
            features[0] = f;
        gbose_world_next(world, &round);
        if (gbose_decide_in(g, &d, round.contexts, round.n_arms, v->features ? features : NULL) ||
            gbose_world_play(world, d.arm, &reward, &regret) ||
            gbose_learn(g, d.ticket, d.ticket_size, reward))
            give_up("a round was refused");
        sum += regret;
    }
    gbose_free(g);
    gbose_world_free(world);
    gbose_world_free(with);
    gbose_world_free(without);
    return sum;
}

static const char *column(size_t k)
{
    return variants[k].name;
}

int main(int argc, char **argv)
{
    static const struct trial_table table = {"shift", shifts, COUNT(shifts), COUNT(variants), column,
                                             play,    1};

    return trial_table_main(&table, argc, argv);
}
