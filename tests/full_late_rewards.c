/* What late rewards cost gbose-auto: the table in docs/learners/gbose-auto.md. Every reward comes up to
 * 500 rounds late, each by its own delay, so that they come in another order too. Regret is that of the
 * decisions up to round 10,000. */
#include "support/any_world.h"
#include "support/check.h"
#include "support/players.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 10000, MOST_DELAY = 500, REPS = 20, SEEDS = 2 };

struct pending {
    unsigned char *ticket;
    size_t size;
    double reward;
    int due; /* the round before which it is learned */
};

/* Learn what is due, and return how many are still pending. */
static size_t learn_due(gbose *g, struct pending *pending, size_t n, int t)
{
    size_t left = 0;

    for (size_t i = 0; i < n; i++) {
        if (pending[i].due > t) {
            pending[left++] = pending[i];
            continue;
        }
        assert_int_equal(gbose_learn(g, pending[i].ticket, pending[i].size, pending[i].reward), GBOSE_OK);
        free(pending[i].ticket);
    }
    return left;
}

static double play_late(const char *learner, const char *world, unsigned seed, uint32_t rep, int delay)
{
    static struct pending pending[MOST_DELAY + 1];
    struct gbose__world *w = new_world(world, seed, rep);
    struct random r = {seed * 1000 + rep};
    char spec[SPEC_SIZE];
    double sum = 0;
    size_t n = 0;
    gbose *g;

    snprintf(spec, sizeof spec, "%s:seed=%u", learner, seed);
    g = new_player(spec, w->dim);
    assert_int_equal(gbose_stream(g, rep), GBOSE_OK);
    for (int t = 1; t <= ROUNDS; t++) {
        struct pending *new;
        gbose_decision d;
        double regret;

        n = learn_due(g, pending, n, t);
        gbose__world_next(w);
        assert_int_equal(gbose_decide(g, &d, w->contexts, w->n_arms), GBOSE_OK);
        new = &pending[n++];
        new->reward = gbose__world_play(w, d.arm, &regret);
        new->size = d.ticket_size;
        new->ticket = malloc(d.ticket_size);
        assert_non_null(new->ticket);
        memcpy(new->ticket, d.ticket, d.ticket_size);
        new->due = t + 1 + (int)random_below(&r, (size_t)delay + 1);
        sum += regret;
    }
    learn_due(g, pending, n, ROUNDS + MOST_DELAY + 1);
    gbose_free(g);
    gbose__world_free(w);
    return sum;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median_regret(const char *learner, const char *world, unsigned seed, int delay)
{
    double regret[REPS];

    for (uint32_t rep = 0; rep < REPS; rep++)
        regret[rep] = play_late(learner, world, seed, rep, delay);
    qsort(regret, REPS, sizeof *regret, compare);
    return (regret[REPS / 2 - 1] + regret[REPS / 2]) / 2;
}

/* The price is at most 1.5 times that of knowing nothing for as long as a reward may take: of so many
 * rounds of uniform play. */
static void late_rewards_cost_little(void **state)
{
    static const char *const sizes[] = {"arms=2,dim=10", "arms=10,dim=2", "arms=10,dim=10"};
    static const char *const shifts[] = {"zero", "log-sine", "cos-best"};

    (void)state;
    print_message("| world `paper` | at once | late | %d rounds of `uniform` |\n|---|---|---|---|\n",
                  MOST_DELAY);
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (size_t k = 0; k < COUNT(shifts); k++) {
            double now[SEEDS], late[SEEDS], nothing[SEEDS];
            char world[64];

            snprintf(world, sizeof world, "paper:%s,shift=%s", sizes[i], shifts[k]);
            for (unsigned seed = 0; seed < SEEDS; seed++) {
                now[seed] = median_regret("gbose-auto", world, seed + 1, 0);
                late[seed] = median_regret("gbose-auto", world, seed + 1, MOST_DELAY);
                nothing[seed] = median_regret("uniform", world, seed + 1, 0) * MOST_DELAY / ROUNDS;
            }
            print_message("| `%s,shift=%s` | %.1f, %.1f | %.1f, %.1f | %.1f, %.1f |\n", sizes[i], shifts[k],
                          now[0], now[1], late[0], late[1], nothing[0], nothing[1]);
            for (unsigned seed = 0; seed < SEEDS; seed++)
                assert_true(late[seed] - now[seed] < 1.5 * nothing[seed]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(late_rewards_cost_little),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
