/* The orthogonal regression of gbose-auto: its baseline, and what it learns from a coin. */
#include "learners/auto/auto_inner.h"

double gbose__auto_orthogonal_centre(const gbose *g, double shift, double centre)
{
    const struct gbose__auto *own = g->own;
    const struct gbose__rewards *rewards = &gbose__auto_state_of(g)->rewards;
    double room = own->tuning->baseline_room * (rewards->highest - rewards->lowest), c = shift + centre;

    if (!(rewards->count > 0) || own->certified)
        return centre;
    if (c > rewards->highest + room)
        return rewards->highest + room - shift;
    return c < rewards->lowest - room ? rewards->lowest - room - shift : centre;
}

void gbose__auto_orthogonal_learn(gbose *g, const struct gbose__note *note, double reward, double residual)
{
    const struct gbose__auto *own = g->own;
    struct gbose__auto_state *state = gbose__auto_state_of(g);
    struct gbose__ridge *orthogonal = &g->fit[ORTHOGONAL];
    struct gbose__coin coin = {reward - note->shift - note->centre, note->effect_full,
                               note->effect_orthogonal, residual};

    if (own->may_choose)
        gbose__contest_learn(&state->contest, own->tuning, g->dim, gbose__scale_recent(&state->by_ticket),
                             state->by_ticket.least, &coin);
    else
        gbose__contest_count(&state->contest, own->tuning, &coin);
    gbose__ridge_term(orthogonal, orthogonal->x, note->weight,
                      note->weight * gbose__auto_orthogonal_response(g, note, reward));
}
