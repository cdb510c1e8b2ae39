/* The full regressions of gbose-auto: what they learn from a round, and what makes them forget or shrink. */
#include <math.h>

#include "core/kernels.h"
#include "learners/auto/auto_inner.h"
#include "learners/auto/clip.h"

/* What the neighbours of a round predict, as long as that is better than what the leading tracker does: 1 then, and `now` is it, with bhat
 * in own->near. The round is kept for others. */
static int ask_neighbours(const gbose *g, double number, double reward, double score,
                          struct gbose__prediction *now)
{
    const struct gbose__auto *own = g->own;
    const struct gbose__neighbours *neighbours = &own->baseline.neighbours;
    const double *mu = g->fit[gbose__auto_predictor(g)].mu;
    struct gbose__prediction theirs;
    int late, lead = 0;

    if (!own->baseline.trackers.offer || number >= (double)GBOSE_LOGGED)
        return 0;
    late = gbose__neighbours_meet(neighbours, number);
    if (!late && !(neighbours->state->seen > 0))
        return 0;
    if (late && gbose__neighbours_predict(neighbours, own->tuning, number, &theirs.reward, own->near)) {
        theirs.effect = gbose__dot(own->near, mu, neighbours->stride);
        theirs.shift = gbose__clip(theirs.reward - theirs.effect, GBOSE_MAX_INPUT);
        lead = gbose__neighbours_lead(neighbours, own->tuning);
        gbose__neighbours_compare(neighbours, own->tuning, reward - theirs.shift - score,
                                  reward - now->shift - score);
        if (lead)
            *now = theirs;
    }
    gbose__neighbours_keep(neighbours, number, reward, own->played);
    return lead;
}

struct gbose__auto_term gbose__auto_full_look_back(const gbose *g, const double *features, double number,
                                                   double reward, double *restrict x)
{
    const struct gbose__auto *own = g->own;
    const double *mu = g->fit[gbose__auto_predictor(g)].mu, *restrict played = own->played;
    const double *restrict bhat = own->scratch;
    size_t stride = g->fit[ORTHOGONAL].stride;
    struct gbose__prediction now = gbose__baseline_predict(&own->baseline, features, mu, own->scratch);
    double reaction = gbose__baseline_reaction(&own->baseline, features, mu);
    double best = gbose__dot(x, mu, stride),
           score = gbose__clip(gbose__dot(played, mu, stride), GBOSE__CLIP_RESIDUAL);

    if (ask_neighbours(g, number, reward, score, &now)) {
        bhat = own->near;
        reaction = 0;
    }
    for (size_t i = 0; i < stride; i++)
        x[i] = played[i] - bhat[i] + reaction * (x[i] - bhat[i]);
    return (struct gbose__auto_term){
        reward - gbose__clip(now.reward - reaction * (best - now.effect), GBOSE_MAX_INPUT),
        gbose__clip(reward - now.shift - score, GBOSE__CLIP_RESIDUAL), score, score - now.effect,
        1 + reaction};
}

/* The full regression's response, at most so many s away from what is expected. The orthogonal one has no
 * such limit, which would bias it. */
static double believable(const gbose *g, double response, double expected)
{
    const struct gbose__auto *own = g->own;
    const struct gbose__auto_state *state = gbose__auto_state_of(g);
    double most = gbose__scale_surprise(&state->by_present, own->tuning, &state->rewards);

    return most < INFINITY ? expected + gbose__clip(response - expected, most) : response;
}

void gbose__auto_full_learn(gbose *g, size_t i, double w, double response)
{
    struct gbose__ridge *full = &g->fit[i];
    double expected = gbose__dot(full->x, full->mu, full->stride);

    gbose__ridge_correct(full, full->x, w, w * believable(g, response, expected) - w * expected);
}

void gbose__auto_full_level(gbose *g)
{
    const struct gbose__auto *own = g->own;
    const struct gbose__tuning *tuning = own->tuning;
    double weight =
        gbose__clip((double)g->dim / tuning->level_dims, tuning->level_most) / tuning->level_rounds;

    for (size_t j = 0; j < g->fit[FULL].stride; j++)
        own->scratch[j] = own->played[j] + (gbose__auto_is_relative(g) ? own->common[j] : 0) - own->offer[j];
    for (size_t i = FULL; i < g->n_fits; i++)
        gbose__ridge_term(&g->fit[i], own->scratch, weight, 0);
}

void gbose__auto_full_doubt_first(gbose *g, struct gbose__note *note, double reward)
{
    const struct gbose__auto *own = g->own;
    struct gbose__auto_state *state = gbose__auto_state_of(g);
    double first = state->rewards.last;

    if (!(fabs(first + reward) > 2 * own->tuning->level_doubt * fabs(reward - first)))
        return;
    for (size_t i = FULL; i < g->n_fits; i++)
        gbose__ridge_reset(&g->fit[i]);
    state->anew++;
    note->believable_centre += note->shift - first;
    note->shift = first;
    note->score = note->centre = note->common = note->best = note->effect_full = 0;
}

void gbose__auto_full_shorten(gbose *g, const struct gbose__note *note, double reward)
{
    const struct gbose__auto *own = g->own;
    struct gbose__auto_state *state = gbose__auto_state_of(g);

    if (gbose__length_learn(&state->length, own->tuning, gbose__scale_recent(&state->by_ticket),
                            note->effect_full, reward - note->shift - note->centre) &&
        gbose__auto_follows_users(g))
        gbose__length_shorten(&state->length, own->tuning, &g->fit[FULL], g->n_fits - FULL, state->worth,
                              own->scratch);
}
