/* Where gbose-auto measures contexts from (origin.h): the common part of a round, and the trial of the two full
 * regressions, one with contexts as they are and one with contexts relative to that part. */
#include <string.h>

#include "core/kernels.h"
#include "learners/auto/auto_inner.h"
#include "learners/auto/clip.h"

void gbose__auto_origin_find(const gbose *g, const struct gbose__input *in, size_t arm,
                             struct gbose__ticket *to)
{
    const struct gbose__auto *own = g->own;
    int all = gbose__auto_needs_common(g), few = own->mean_common && own->baseline.offer.state->relative > 0;

    if ((all || few) && !to->has_columns)
        gbose__kernels->columns(in->least, in->most, in->mean, in->context, in->n, in->stride);
    if (all) {
        gbose__origin_say(to->words, in, arm, g->dim);
        gbose__origin_find(to->x, to->words, gbose__context(in, arm), in->mean, (double)in->n, g->dim);
    } else if (few) {
        gbose__origin_say_few(to->words, in, arm, g->dim, own->baseline.offer.state->coordinate,
                              (size_t)own->baseline.offer.state->count);
        gbose__origin_find(to->x, to->words, gbose__context(in, arm), in->mean, (double)in->n, g->dim);
    } else if (g->gauge)
        memset(to->words, 0, gbose__origin_words(g->dim) * sizeof *to->words);
}

/* The error with which a full regression predicts the response. */
static double error_of(const struct gbose__ridge *full, double response)
{
    return gbose__clip(response - gbose__dot(full->x, full->mu, full->stride), GBOSE__CLIP_RESIDUAL);
}

/* Use the other full estimate from now on. */
static void change_origin(gbose *g)
{
    const struct gbose__auto *own = g->own;

    gbose__trackers_move(&own->baseline.trackers, own->mean_common, gbose__auto_is_relative(g) ? -1 : 1);
    gbose__hindsight_clear(&own->baseline.hindsight);
    gbose__neighbours_clear(&own->baseline.neighbours);
    if (own->may_choose)
        gbose__contest_disqualify(&gbose__auto_state_of(g)->contest);
}

void gbose__auto_origin_try(gbose *g, const struct gbose__auto_term *term, double w)
{
    const struct gbose__auto *own = g->own;
    struct gbose__auto_state *state = gbose__auto_state_of(g);
    size_t used = gbose__auto_full_index(g), other = FULL + RELATIVE - used;
    double sign = other == RELATIVE ? -term->reach : term->reach;
    struct gbose__origin_round round = {.rounds = state->rounds};

    for (size_t i = 0; i < g->dim; i++) {
        double moved = own->common[i] - own->mean_common[i],
               apart = own->played[i] - (used == RELATIVE ? 0 : own->common[i]);

        g->fit[other].x[i] = g->fit[used].x[i] + sign * moved;
        round.moved += moved * moved;
        round.apart += apart * apart;
    }
    round.error[0] = error_of(&g->fit[FULL], term->response);
    round.error[1] = error_of(&g->fit[RELATIVE], term->response);
    gbose__auto_full_learn(g, other, w, term->response);
    if (gbose__origin_learn(&state->origin, own->tuning, &round))
        change_origin(g);
}

void gbose__auto_origin_begin(gbose *g, double *x)
{
    const struct gbose__auto *own = g->own;

    memcpy(own->mean_common, own->common, g->fit[FULL].stride * sizeof *own->common);
    for (size_t i = 0; i < g->dim && !gbose__auto_is_relative(g); i++)
        x[i] -= own->common[i];
}

void gbose__auto_origin_subtract(const gbose *g, const struct gbose__note_rows *rows, double arms)
{
    const struct gbose__auto *own = g->own;

    if (gbose__auto_needs_common(g) || (own->mean_common && own->baseline.offer.state->relative > 0))
        gbose__origin_find(own->common, rows->where, rows->played, rows->offer, arms, g->dim);
    for (size_t i = 0; i < g->dim && gbose__auto_is_relative(g); i++) {
        rows->played[i] -= own->common[i];
        rows->best[i] -= own->common[i];
    }
}
