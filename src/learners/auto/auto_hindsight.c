/* What gbose-auto learns again in hindsight.
 *
 * Where v is a function of the user that must be found first, the full estimate learns its first rounds in the dark: what the
 * leading tracker does not know yet of v is taken for effects. When it has been found, the rounds that are kept (hindsight.h) are
 * explained again: the leader learns all of them, and then, with its slopes as they are at the end, the full regression does,
 * reward and context both less their predictions. By Frisch and Waugh that is one least squares on effects and v together.
 *
 * Rounds have the weights of scale.h by their residuals, in blocks of BLOCK, and the scale of residuals is learned again, too.
 * The orthogonal estimate learns nothing again: what is known in hindsight depends on its coins. Where it is the only one that chooses,
 * this is left out. */
#include <math.h>
#include <string.h>

#include "core/kernels.h"
#include "learners/auto/auto_inner.h"
#include "learners/auto/clip.h"

enum { ROUNDS = GBOSE__HINDSIGHT_ROUNDS, BLOCK = 64 };

/* One time through the rounds that are kept. Either they are learned, with weights, or their residuals
 * are found, and the sum of their squares is returned. The first round has no level to be compared with. */
static double go_through(gbose *g, const double *weight, double *residual)
{
    const struct gbose__auto *own = g->own;
    const struct gbose__baseline *baseline = &own->baseline;
    const struct gbose__tracker *leader = gbose__baseline_leader(baseline);
    struct gbose__ridge *full = &g->fit[gbose__auto_full_index(g)];
    double features[GBOSE__MAX_FEATURES], x[GBOSE__CENTRED], squares = 0;

    gbose__tracker_begin_means(leader);
    for (size_t k = 0; k < gbose__hindsight_count(&baseline->hindsight); k++) {
        struct gbose__hindsight_round round = gbose__hindsight_at(&baseline->hindsight, k);
        double response;

        gbose__baseline_features_again(baseline, features, &round);
        gbose__tracker_centre(leader, x, features);
        response = round.reward - gbose__tracker_predict(leader, x, full->x);
        memcpy(own->played, round.played, full->dim * sizeof(double));
        for (size_t i = 0; i < full->dim; i++)
            full->x[i] = own->played[i] - full->x[i];
        if (residual) {
            residual[k] = k > 0 ? response - gbose__dot(full->x, full->mu, full->stride) : 0;
            residual[k] = gbose__clip(residual[k], GBOSE__CLIP_RESIDUAL);
            squares += residual[k] * residual[k];
        } else if (k > 0)
            gbose__ridge_term(full, full->x, weight[k], weight[k] * response);
        gbose__tracker_learn(leader, x, round.reward, own->played, 0, own->scratch);
    }
    return squares;
}

static double mean_square(const double *residual, size_t count)
{
    double sum = 0;

    for (size_t k = 0; k < count; k++)
        sum += residual[k] * residual[k];
    return sum / (double)count;
}

/* The weights of rounds, from their residuals; those of the last block, which may be short, are of the latest BLOCK. Returns
 * their sum. */
static double weigh(const gbose *g, double *weight, const double *residual, size_t count)
{
    const struct gbose__auto *own = g->own;
    size_t blocks = (count + BLOCK - 1) / BLOCK, size = count < BLOCK ? count : BLOCK;
    double square[(ROUNDS + BLOCK - 1) / BLOCK], least = INFINITY, age = 1, sum = 0;

    for (size_t b = 0; b < blocks; b++) {
        square[b] = mean_square(residual + (b + 1 < blocks ? b * BLOCK : count - size), size);
        least = square[b] < least ? square[b] : least;
    }
    for (size_t k = count; k-- > 0; age *= own->forget) {
        double room = own->tuning->scale_room * least, now = square[k / BLOCK],
               w = now > room ? room / now : 1;

        weight[k] = age * w * w;
        sum += weight[k];
    }
    return sum;
}

/* The scale of residuals in hindsight. `start` stays what it was. */
static void learn_scale(gbose *g, const double *residual, size_t count, double factor)
{
    const struct gbose__auto *own = g->own;
    struct gbose__auto_state *state = gbose__auto_state_of(g);
    struct gbose__scale scale = {.known = 0};

    for (size_t k = 0; k < count; k++)
        gbose__scale_learn(&scale, own->tuning, &state->rewards, factor * residual[k]);
    scale.start = state->by_present.start;
    state->by_present = scale;
}

/* The full regression learns all rounds that are kept, and nothing else. */
static void learn_again(gbose *g, const double *weight, double weights, double *residual, double spare)
{
    const struct gbose__auto *own = g->own;
    struct gbose__auto_state *state = gbose__auto_state_of(g);
    const struct gbose__tracker *leader = gbose__baseline_leader(&own->baseline);
    struct gbose__ridge *full = &g->fit[gbose__auto_full_index(g)];
    size_t count = gbose__hindsight_count(&own->baseline.hindsight);
    double worth;

    gbose__baseline_learn_again(&own->baseline, leader, own->played, own->scratch);
    gbose__ridge_reset(full);
    go_through(g, weight, NULL);
    *leader->loss = go_through(g, NULL, residual) / spare;
    learn_scale(g, residual, count, sqrt((double)count / spare));
    worth = state->worth * gbose__scale_worth(&state->by_present, own->tuning);
    gbose__ridge_multiply(full, worth);
    state->weights = worth * weights;
    state->length = (struct gbose__length){.weight = 0};
    state->anew++;
    if (own->may_choose)
        gbose__contest_disqualify(&state->contest);
}

/* Where v is explained by users, the full regression learns anew. */
static void try_again(gbose *g)
{
    const struct gbose__auto *own = g->own;
    const struct gbose__auto_state *state = gbose__auto_state_of(g);
    const struct gbose__tuning *tuning = own->tuning;
    const struct gbose__baseline *baseline = &own->baseline;
    size_t count = gbose__hindsight_count(&baseline->hindsight);
    double residual[ROUNDS], weight[ROUNDS], weights, spare;

    if (!own->may_choose || !gbose__auto_follows_users(g))
        return;
    /* Degrees of freedom that a joint least squares leaves. */
    spare = (double)count - gbose__baseline_leader_features(baseline) - (double)g->dim;
    spare = gbose__clip_below(spare, tuning->hindsight_spare);
    if (!(tuning->hindsight_gain * go_through(g, NULL, residual) < spare * state->dark))
        return;
    weights = weigh(g, weight, residual, count);
    learn_again(g, weight, weights, residual, spare);
}

void gbose__auto_hindsight(gbose *g)
{
    struct gbose__auto *own = g->own;

    gbose__baseline_grow_tree(&own->baseline, own->played, own->scratch);
    gbose__baseline_choose_functions(&own->baseline, own->played, own->scratch);
    try_again(g);
    if (gbose__hindsight_count(&own->baseline.hindsight) == ROUNDS)
        gbose__hindsight_end(&own->baseline.hindsight);
}
