/* What the units of features matter to gbose-auto: the same worlds, with contexts that are multiplied or moved on
 * their way to the learner. Not a test, but built with them; scripts/auto.sh units runs it.
 *
 * Usage: auto_units SEED REPETITIONS     prints the table of docs/learners/gbose-auto.md */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/rng.h"
#include "gbose.h"
#include "gbose_world.h"
#include "support/trial_table.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { ROUNDS = 5000 };

static const char *const worlds[] = {
    "paper:arms=2,dim=10",
    "paper:arms=10,dim=2,shift=log-sine",
    "paper:arms=10,dim=10",
    "gallery:shift=zero",
    "gallery:shift=random-walk",
    "gallery:shift=jumps,contexts=blocks,arms=5,dim=4",
    "gallery:contexts=shared,arms=4,dim=6,shift=user-sine",
    "krishnamurthy",
};

/* What happens to feature j: it is multiplied by factor[j], and then offset[j] is added for all arms alike. */
struct change {
    double *factor, *offset;
    size_t dim;
};

/* Once in a repetition, and before every round. */
static const struct variant {
    const char *name;
    double first, all_least,
        all_most;            /* the first feature, and all, the latter by 10^x, x uniform between these */
    double constant, random; /* standard deviation of what is added: once, and in every round */
} variants[] = {
    {"as it is", 1, 0, 0, 0, 0},
    {"one feature times 0.01", 0.01, 0, 0, 0, 0},
    {"one feature times 0.001", 0.001, 0, 0, 0, 0},
    {"one feature times 1000", 1000, 0, 0, 0, 0},
    {"all times 1e-6", 1, -6, -6, 0, 0},
    {"all times 1e6", 1, 6, 6, 0, 0},
    {"each times 1e-6 to 1e6", 1, -6, 6, 0, 0},
    {"a constant vector added", 1, 0, 0, 3, 0},
    {"a random vector added", 1, 0, 0, 0, 1},
};

static void fill(const struct variant *v, struct change *c, struct gbose__rng *rng)
{
    for (size_t j = 0; j < c->dim; j++) {
        c->factor[j] = (j ? 1 : v->first) *
                       pow(10, v->all_least + (v->all_most - v->all_least) * gbose__rng_uniform(rng));
        c->offset[j] = v->constant * gbose__rng_normal(rng);
    }
}

static void apply(const struct variant *v, const struct change *c, const gbose_world_round *round,
                  double *contexts, struct gbose__rng *rng)
{
    for (size_t j = 0; j < c->dim; j++) {
        double offset = c->offset[j] + (v->random > 0 ? v->random * gbose__rng_normal(rng) : 0);

        for (size_t i = 0; i < round->n_arms; i++)
            contexts[i * c->dim + j] = c->factor[j] * round->contexts[i * c->dim + j] + offset;
    }
}

/* The regret of a repetition; exits when there is no memory or a spec is wrong. */
static double play(const char *spec, size_t k, uint64_t seed, uint32_t repetition)
{
    const struct variant *v = &variants[k];
    struct change c;
    struct gbose__rng rng;
    gbose_world *world;
    gbose_error err;
    gbose *g;
    double sum = 0, *contexts;

    if (gbose_world_new(&world, spec, seed, repetition, &err) ||
        gbose_new(&g, "gbose-auto", gbose_world_dim(world), &err)) {
        fprintf(stderr, "auto_units: %s\n", err.text);
        exit(1);
    }
    c.dim = gbose_world_dim(world);
    contexts = calloc((gbose_world_max_arms(world) + 2) * c.dim, sizeof *contexts);
    if (!contexts)
        exit(1);
    c.factor = contexts + gbose_world_max_arms(world) * c.dim;
    c.offset = c.factor + c.dim;
    gbose_stream(g, repetition);
    gbose__rng_init(&rng, seed, repetition, 1000, 0);
    fill(v, &c, &rng);
    for (int t = 0; t < ROUNDS; t++) {
        gbose_world_round round;
        gbose_decision d;
        double reward, regret;

        gbose_world_next(world, &round);
        apply(v, &c, &round, contexts, &rng);
        if (gbose_decide(g, &d, contexts, round.n_arms) || gbose_world_play(world, d.arm, &reward, &regret) ||
            gbose_learn(g, d.ticket, d.ticket_size, reward))
            exit(1);
        sum += regret;
    }
    free(contexts);
    gbose_free(g);
    gbose_world_free(world);
    return sum;
}

static const char *column(size_t k)
{
    return variants[k].name;
}

int main(int argc, char **argv)
{
    static const struct trial_table table = {"world", worlds, COUNT(worlds), COUNT(variants), column,
                                             play,    0};

    return trial_table_main(&table, argc, argv);
}
