#include "support/logged.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/rng.h"
#include "gbose_world.h"
#include "support/check.h"
#include "support/dense.h"

#define ARMS_MOST 64

size_t logged_dim(const struct logged_plan *plan)
{
    gbose_world *w;
    size_t dim;

    assert_int_equal(gbose_world_new(&w, plan->world, plan->seed, 0, NULL), GBOSE_OK);
    dim = gbose_world_dim(w);
    gbose_world_free(w);
    return dim;
}

void logged_play(const struct logged_plan *plan, uint32_t repetition, logged_round *take, void *user)
{
    gbose_world *w;
    gbose *g;
    gbose_decision d;
    gbose_world_round round;
    char spec[200];
    double pmf[ARMS_MOST], expected[ARMS_MOST], reward;
    struct gbose__rng rng;

    snprintf(spec, sizeof spec, "%s%sseed=%u", plan->logger, strchr(plan->logger, ':') ? "," : ":",
             (unsigned)(plan->seed * 100003 + repetition));
    assert_int_equal(gbose_world_new(&w, plan->world, plan->seed, repetition, NULL), GBOSE_OK);
    assert_int_equal(gbose_new(&g, spec, gbose_world_dim(w), NULL), GBOSE_OK);
    for (uint64_t t = 0; t < plan->rounds; t++) {
        gbose_logged row = {0};
        int own;

        gbose_world_next(w, &round);
        assert_int_equal(gbose_decide(g, &d, round.contexts, round.n_arms), GBOSE_OK);
        gbose__rng_init(&rng, plan->seed, repetition, 200, t);
        own = gbose__rng_uniform(&rng) >= plan->floor;
        for (size_t a = 0; a < round.n_arms; a++) {
            pmf[a] = (1 - plan->floor) * d.pmf[a] + plan->floor / (double)round.n_arms;
            expected[a] = round.means[a] + round.shift;
            if (plan->bound > 0)
                expected[a] = fmin(1, fmax(0, 0.5 + expected[a] / (2 * plan->bound)));
        }
        row.n_arms = round.n_arms;
        row.arm = own ? d.arm : (size_t)(gbose__rng_uniform(&rng) * (double)round.n_arms);
        row.pmf = pmf;
        row.contexts = round.contexts;
        gbose_world_play(w, row.arm, &reward, NULL);
        if (plan->bound > 0)
            reward = gbose__rng_uniform(&rng) < expected[row.arm];
        row.reward = reward;
        row.unit = t / 50;
        take(user, &row, expected);
        if (own)
            assert_int_equal(gbose_learn(g, d.ticket, d.ticket_size, reward), GBOSE_OK);
    }
    gbose_free(g);
    gbose_world_free(w);
}

void logged_mu(const struct logged_plan *plan, uint32_t repetition, double *mu)
{
    gbose_world *w;
    gbose_world_round round;
    size_t dim = logged_dim(plan);
    long double *b = calloc(dim, sizeof *b);
    struct dense m;

    dense_init(&m, dim, 1e-14, 1);
    assert_int_equal(gbose_world_new(&w, plan->world, plan->seed, repetition, NULL), GBOSE_OK);
    for (size_t t = 0; t < 20 * dim; t++) {
        gbose_world_next(w, &round);
        for (size_t a = 0; a < round.n_arms; a++) {
            for (size_t i = 0; i < dim; i++)
                b[i] = round.contexts[a * dim + i];
            dense_add(&m, 1, round.means[a], b);
        }
    }
    dense_solve(&m);
    for (size_t i = 0; i < dim; i++)
        mu[i] = (double)m.mu[i];
    gbose_world_free(w);
    dense_clear(&m);
    free(b);
}
