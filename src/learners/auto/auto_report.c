/* What gbose-auto tells of itself: its estimates, its diagnosis and its widths. */
#include <math.h>
#include <string.h>

#include "learners/auto/auto_inner.h"
#include "learners/auto/clip.h"
#include "learners/gauge.h"

const double *gbose__auto_report_coef(const gbose *g, const char *name)
{
    const struct gbose__auto *own = g->own;

    if (!strcmp(name, "orthogonal"))
        return gbose__learner_coef(g, ORTHOGONAL);
    return own->may_choose && !strcmp(name, "full") ? gbose__learner_coef(g, gbose__auto_full_index(g))
                                                    : NULL;
}

/* Fewer coins than this for each feature are no ground for the orthogonal estimate to choose on. */
#define FEW_COINS 2

/* What keeps it from learning, in words. */
static const char *advise(const gbose *g)
{
    const struct gbose__auto *own = g->own;
    const struct gbose__auto_state *state = gbose__auto_state_of(g);

    if (state->rounds > own->tuning->first_rounds && !(state->rewards.highest > state->rewards.lowest))
        return "all rewards so far are equal: there is nothing to learn from";
    if (state->rounds > own->tuning->first_rounds && !(state->by_ticket.known > 0))
        return "rewards other than the usual one are still too rare to learn from";
    if (!gbose__auto_uses_full(g) && state->contest.coins < FEW_COINS * (double)g->dim &&
        state->rounds > 10 * FEW_COINS * (double)g->dim)
        return "few rounds had a random choice, and the estimate that chooses learns from no others";
    if (g->gauge && gbose__gauge_constants(g->gauge))
        return "some features never differ between the arms of a round: they cannot make one better than "
               "another; "
               "give them as features of the round, or multiplied by features of the arms";
    return "";
}

int gbose__auto_report_diagnose(const gbose *g, gbose_diagnosis *out)
{
    const struct gbose__auto_state *state = gbose__auto_state_of(g);
    const struct gbose__scale *scale = gbose__auto_uses_full(g) ? &state->by_present : &state->by_ticket;
    const struct gbose__auto *own = g->own;
    const struct gbose__tracker *leader = gbose__baseline_leader(&own->baseline);
    int rc = gbose__diagnosis_report(&own->diagnosis, &g->fit[ORTHOGONAL], out);

    if (rc)
        return rc;
    out->tracker = leader->name;
    out->tracker_forget = leader->forget;
    out->full = gbose__auto_uses_full(g);
    out->constant = g->gauge ? gbose__gauge_constants(g->gauge) : 0;
    out->coins = (uint64_t)state->contest.coins;
    out->evidence = state->contest.evidence;
    out->scale = scale->known > 0 ? sqrt(scale->least) : 0;
    out->scale_recent = sqrt(gbose__scale_recent(scale));
    out->advice = advise(g);
    return GBOSE_OK;
}

int gbose__auto_report_effect(const gbose *g, const double *x, double alpha, double *estimate, double *lower,
                              double *upper)
{
    const struct gbose__auto *own = g->own;

    return gbose__diagnosis_effect(&own->diagnosis, &g->fit[ORTHOGONAL], x, alpha, estimate, lower, upper);
}

double gbose__auto_report_width(const gbose *g, const double *x)
{
    const struct gbose__auto *own = g->own;

    return own->certified ? gbose__certified_width(&own->bound, &g->fit[ORTHOGONAL], &g->fit[BOUND], x)
                          : gbose__ridge_width(&g->fit[ORTHOGONAL], x, g->gauge->down, g->dim);
}

void gbose__auto_report_learn(const gbose *g, const struct gbose__note *note, double reward)
{
    const double most = GBOSE__CLIP_RESIDUAL;
    const struct gbose__auto *own = g->own;
    struct gbose__diagnosis_round round = {
        .reward = reward,
        .context = own->played,
        .shift = gbose__clip(reward - note->score + gbose__auto_origin_of(g, note), most),
        .residual = gbose__clip(reward - note->shift - note->score, most),
        .coin = note->probability < 1,
        .weight = note->weight,
        .coin_residual =
            gbose__clip(gbose__auto_orthogonal_response(g, note, reward) - note->effect_orthogonal, most),
        .centred = g->fit[ORTHOGONAL].x,
        .scratch = own->scratch};

    gbose__diagnosis_learn(&own->diagnosis, &round, own->forget);
}
