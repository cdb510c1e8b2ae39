/* Beginning anew, when the full estimate of gbose-auto is worse than none.
 *
 * Until the baseline has found out what moves the rewards of all arms, the full estimate takes v for effects. Its error
 * may be many times as long as mu, and then hides for hundreds of rounds that the baseline has found out: residuals are
 * large because mu is wrong, so that rounds count little, and mu stays wrong.
 *
 * It shows when some tracker predicts rewards far better with mu left out than anybody has done with it. Then rounds
 * are worth anew_worth times what they were from now on; the full regression is told, with the new weight, what it
 * knew before the first round: that mu is about zero; and residuals are measured anew. So what was learned before counts next to
 * nothing, yet all is evidence that adds up, and saving, merging and units need not know of it. The orthogonal estimate is
 * told nothing; its later rounds count as much more, by their tickets.
 *
 * The same happens when v jumps in the very first rounds, before anybody can tell a jump from an effect: from then on other arms
 * are played than before, and these seem to bring what the jump did. It shows when the time alone predicts rewards far better. Few rounds are
 * lost then, and the full regression simply forgets them. With fewer rounds than features it shows nothing: mu is then wrong without a
 * jump. */
#include <string.h>

#include "learners/auto/auto_inner.h"

static int may_begin(const gbose *g)
{
    const struct gbose__auto *own = g->own;
    const struct gbose__auto_state *state = gbose__auto_state_of(g);

    return own->has_full && state->by_present.known > 0 && state->rounds >= own->tuning->anew_rounds &&
           !gbose__rewards_are_rare(&state->rewards, own->tuning);
}

/* Tell the full regressions that mu is about zero, as their priors do. */
static void tell_prior(gbose *g, double worth, double *row)
{
    memset(row, 0, g->fit[FULL].stride * sizeof *row);
    for (size_t j = 0; j < g->dim; j++) {
        row[j] = 1;
        for (size_t i = FULL; i < g->n_fits; i++)
            gbose__ridge_term(&g->fit[i], row, worth * g->fit[i].lambda, 0);
        row[j] = 0;
    }
}

void gbose__auto_anew_try(gbose *g)
{
    const struct gbose__auto *own = g->own;
    struct gbose__auto_state *state = gbose__auto_state_of(g);

    if (!may_begin(g))
        return;
    if (state->worth < own->tuning->anew_most &&
        gbose__baseline_does_without(&own->baseline, state->rounds, state->by_present.least)) {
        state->worth *= own->tuning->anew_worth;
        tell_prior(g, state->worth, own->scratch);
    } else if (state->rounds <= own->tuning->start_rounds && state->rounds > (double)g->dim &&
               gbose__baseline_has_jumped(&own->baseline, state->rounds, state->by_present.least)) {
        for (size_t i = FULL; i < g->n_fits; i++)
            gbose__ridge_reset(&g->fit[i]);
        state->weights = 0;
        state->anew++;
    } else
        return;
    state->began = state->rounds;
    state->by_ticket = state->by_present = (struct gbose__scale){.known = 0};
    state->users = (struct gbose__users){.rounds = 0};
    state->length = (struct gbose__length){.weight = 0};
    state->contest.coin_squares = state->contest.coin_count = 0;
    if (own->may_choose)
        gbose__contest_disqualify(&state->contest);
}
