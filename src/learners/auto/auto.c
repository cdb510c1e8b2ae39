/* gbose-auto: GBOSE with nothing to tune.
 *
 * Model: r = b_a'mu + v + noise, v arbitrary but the same for every arm of a round.
 *
 * Built on Algorithm 1 of Chowdhury, Ismayilzada, Sayem and Kim (AISTATS 2023): arms are filtered, and a coin
 * is tossed between the two survivors farthest apart. What is added, each in a file of its own:
 *
 * 1. Baseline (baseline.h). Trackers predict the reward and the context of the arm played from features of
 *    the round; vhat = rhat - bhat'mu. It is fixed when the arm is drawn, so X (r - vhat - bbar'mu) is
 *    unbiased whatever vhat is.
 * 2. Two estimates. The orthogonal one learns from coins: X = b_a - bbar. The full one learns from all
 *    rounds, with reward and context both less their prediction (Frisch and Waugh): r - rhat on b_a - bhat.
 *    It is as efficient as linear regression, and biased when v follows the contexts in a way that no tracker
 *    sees.
 * 3. Reaction (baseline.h). Where v moves with the best estimated score m, by v' for each unit, a change of
 *    mu moves the reward by b_a + v' b_best, b_best the context of the best arm. The full estimate regresses
 *    on that (a step of Gauss and Newton), less its prediction. When v takes back what the best arm gains,
 *    v' = -1 and rounds with one survivor say nothing; regressed on b_a they would say that mu is zero.
 *    With rewards that come late, the full estimate's predictions are those of the time of learning: by then
 *    others drawn at about the same time have come in, and say more than what was known at the draw. The
 *    orthogonal one must not look back like that: what others say may depend on the coin. So each has its own
 *    residuals below. When rewards come at once, both are the same.
 * 4. Contest (contest.h). The full estimate chooses until the orthogonal one has predicted the coins better. Where v
 *    follows users it is told that mu is small if coins say that it claims too much (length.h), and bold claims are put to the
 *    test (doubt.h).
 * 5. Weights (scale.h, users.h). Orthogonal terms have weight w, as least squares would have it. Those of the full
 *    regression have w^2: residuals that are large because v is not understood mislead it, where they are
 *    only noise to the other.
 * 6. Hindsight (hindsight.h, auto_hindsight.c). Where v follows users, the full estimate learns the rounds that are kept again
 *    when the baseline has found out how.
 * 7. Width (width.h, or certified.h with width=certified), and the coin's probability.
 *
 *   mu           g->fit[ORTHOGONAL].mu   gbose_coef(): B = lambda I + sum w X X', unbiased
 *                g->fit[FULL].mu         lambda I + sum w^2 x x'; not there with width=certified
 *   H            g->fit[BOUND]           in its place with width=certified
 *   pi           round->pmf              on the pair
 *   X            note_rows.centred       b_a - bbar
 *   vhat         note.shift
 *
 * safe=1: the full estimate never chooses, but predicts rewards: vhat may be anything that is known before the draw.
 * width=certified: as safe=1, but all weights are 1, and the filter's width is a bound that is proved.
 *
 * All constants are in tuning.h. What is called here and knows the whole learner is in auto_*.c: see auto_inner.h. */
#include "learners/auto/auto.h"

#include <math.h>
#include <string.h>

#include "core/arms.h"
#include "core/kernels.h"
#include "core/memory.h"
#include "learners/auto/auto_inner.h"
#include "learners/auto/clip.h"
#include "learners/auto/doubt.h"
#include "learners/auto/width.h"
#include "learners/options.h"
#include "learners/orthogonal.h"
#include "learners/survivors.h"

static const double *scores_in_use(const gbose *g, const struct gbose__input *in)
{
    return gbose__auto_uses_full(g) ? in->other_score : in->score;
}

/* ---- life ---- */

static int read_options(gbose *g, gbose_error *err)
{
    struct gbose__auto *own = g->own;

    own->certified = gbose__learner_option(g, "width")->word == 1;
    own->has_full = !own->certified;
    own->may_choose = own->has_full && !gbose__learner_option(g, "safe")->integer;
    own->forget = gbose__learner_option(g, "forget")->number;
    own->bound.noise = gbose__learner_option(g, "noise")->number;
    own->bound.range = gbose__learner_option(g, "range")->number;
    own->bound.norm = gbose__learner_option(g, "norm")->number;
    own->bound.delta = gbose__learner_option(g, "delta")->number;
    g->round_features = (size_t)gbose__learner_option(g, "round")->integer;
    if (own->certified && own->forget < 1)
        return gbose__fail(err, GBOSE_ESPEC, "width=certified has no proof for forget=%g; it needs forget=1",
                           own->forget);
    return GBOSE_OK;
}

static int init(gbose *g, gbose_error *err)
{
    struct gbose__auto *own = g->own;
    double lambda = gbose__learner_option(g, "lambda")->number;
    int rc = read_options(g, err);

    if (rc)
        return rc;
    own->note =
        (struct gbose__note_shape){g->dim, g->round_features, own->has_full,
                                   !own->certified && gbose__learner_option(g, "baseline")->word == 0};
    g->max_terms = 0;
    g->max_terms_per_arm = own->certified ? 1 : 0; /* for BOUND */
    g->note_words = gbose__note_words(&own->note);
    rc = gbose__learner_fit(g, g->dim, lambda);
    if (!rc && (own->has_full || own->certified))
        rc = gbose__learner_fit(g, g->dim, lambda);
    if (!rc && own->note.has_offer)
        rc = gbose__learner_fit(g, g->dim, lambda);
    if (!rc && !own->certified) /* its bound is proved for a norm of mu in the caller's units */
        rc = gbose__learner_gauge(g);
    if (!rc)
        rc = gbose__learner_state(g, gbose__auto_state_size(g));
    if (rc)
        return rc;
    own->played = gbose__alloc(6 * g->fit[ORTHOGONAL].stride, sizeof(double));
    if (!own->played)
        return GBOSE_ENOMEM;
    own->scratch = own->played + g->fit[ORTHOGONAL].stride;
    own->offer = own->scratch + g->fit[ORTHOGONAL].stride;
    own->common = own->offer + g->fit[ORTHOGONAL].stride;
    own->near = own->common + g->fit[ORTHOGONAL].stride;
    own->where = (uint64_t *)(own->near + g->fit[ORTHOGONAL].stride);
    gbose__auto_state_begin(g, &gbose__tuning_default);
    if (own->note.has_offer) {
        own->baseline.hindsight.rows =
            gbose__alloc_raw(gbose__hindsight_size(g->dim, g->round_features), sizeof(double));
        own->baseline.neighbours.rows = gbose__alloc_raw(gbose__neighbours_size(g->dim), sizeof(double));
        if (!own->baseline.hindsight.rows || !own->baseline.neighbours.rows)
            return GBOSE_ENOMEM;
    }
    return GBOSE_OK;
}

static void clear(gbose *g)
{
    struct gbose__auto *own = g->own;

    gbose__free(own->played);
    gbose__free(own->baseline.hindsight.rows);
    gbose__free(own->baseline.neighbours.rows);
}

/* ---- a decision ---- */

/* other_score: the scores by the full estimate, or zeros. best: the arm with the highest score in use. */
static int prepare(const gbose *g, struct gbose__input *in)
{
    const struct gbose__auto *own = g->own;

    if (own->has_full)
        gbose__kernels->dots(in->other_score, in->context, g->fit[gbose__auto_full_index(g)].mu, in->n,
                             in->stride);
    else
        memset(in->other_score, 0, in->n * sizeof *in->other_score);
    in->best = gbose__arms_argmax(scores_in_use(g, in), in->n);
    return gbose__kernels->within(in->other_score, in->n, GBOSE__MAX_SCORE) ? GBOSE_OK : GBOSE_ENUMERIC;
}

#define UNIT_MOST 1e60 /* of the width: more than any reward, and its products are still finite */

static struct gbose__width width_now(const gbose *g)
{
    const struct gbose__auto *own = g->own;
    const struct gbose__auto_state *state = gbose__auto_state_of(g);
    const struct gbose__scale *scale = gbose__auto_uses_full(g) ? &state->by_present : &state->by_ticket;
    double unit = sqrt(state->worth) * gbose__scale_unit(scale, own->tuning);
    enum gbose__chooser chooser = gbose__auto_uses_full(g)
                                      ? (gbose__auto_follows_users(g) ? GBOSE__FULL_OF_USERS : GBOSE__FULL)
                                  : own->may_choose ? GBOSE__ORTHOGONAL
                                                    : GBOSE__ALONE;

    if (chooser == GBOSE__FULL)
        unit *= gbose__scale_narrow(scale, own->tuning);
    return gbose__width_of(own->tuning, chooser, gbose__clip(unit, UNIT_MOST), state->rounds - state->began,
                           state->weights, g->dim);
}

/* One arm is left: it is played, but for a small chance of a rival where there is doubt. */
static void play_lone(const gbose *g, const struct gbose__input *in, struct gbose__round *round, size_t best)
{
    const struct gbose__auto *own = g->own;
    const struct gbose__scale *scale = &gbose__auto_state_of(g)->by_ticket;
    struct gbose__doubt doubt = {&g->fit[ORTHOGONAL], sqrt(gbose__scale_recent(scale)),
                                 sqrt(gbose__auto_state_of(g)->worth) *
                                     gbose__scale_unit(scale, own->tuning)};
    size_t rival;

    round->pmf[best] = 1;
    if (!gbose__auto_uses_full(g) || !gbose__auto_follows_users(g) ||
        !gbose__doubt_finds(&doubt, own->tuning, in, best, &rival, round->image))
        return;
    round->pmf[best] = own->tuning->highest_probability;
    round->pmf[rival] = 1 - round->pmf[best];
}

static void decide(const gbose *g, const struct gbose__input *in, struct gbose__round *round)
{
    const struct gbose__auto *own = g->own;
    const double *score = scores_in_use(g, in);
    struct gbose__width width = width_now(g);
    size_t best = in->best, k = best, l;

    memset(round->pmf, 0, in->n * sizeof *round->pmf);
    if (own->certified)
        gbose__certified_filter(&own->bound, g, in, round, best);
    else
        gbose__width_filter(&width, gbose__auto_in_use(g), in, score, round, best);
    if (round->n_live == 1) {
        play_lone(g, in, round, best);
        return;
    }
    if (own->certified)
        l = gbose__certified_partner(in, round, best);
    else
        gbose__survivors_farthest(g, in, round, &k, &l);
    gbose__width_coin(&width, in, score, round, k, l);
}

/* The weight of the next round, with its worth: 1 where a proof needs it. It is squared, but for the
 * worth, in the full regression. */
static double weight(const gbose *g, const struct gbose__scale *scale, int full)
{
    const struct gbose__auto *own = g->own;
    double w;

    if (own->certified)
        return 1;
    w = gbose__scale_weight(scale, own->tuning, &gbose__auto_state_of(g)->rewards);
    return (full ? w * w : w) * gbose__scale_worth(scale, own->tuning) * gbose__auto_state_of(g)->worth;
}

static double spread_of(const double *score, size_t n)
{
    double most = score[0], least = score[0];

    for (size_t i = 1; i < n; i++) {
        most = score[i] > most ? score[i] : most;
        least = score[i] < least ? score[i] : least;
    }
    return most - least;
}

/* What is said of the arm in its ticket, but for the baseline. */
static void describe(const gbose *g, const struct gbose__input *in, const double *pmf, size_t arm,
                     struct gbose__note *note)
{
    const double most = GBOSE__CLIP_RESIDUAL;
    double centre_orthogonal = 0, centre_full = 0;
    int full = gbose__auto_predictor(g) != ORTHOGONAL;

    for (size_t i = 0; i < in->n; i++)
        if (pmf[i] > 0) {
            centre_orthogonal += pmf[i] * in->score[i];
            centre_full += pmf[i] * in->other_score[i];
        }
    note->probability = pmf[arm];
    note->weight = weight(g, &gbose__auto_state_of(g)->by_ticket, 0);
    note->score = gbose__clip((full ? in->other_score : in->score)[arm], most);
    note->centre = gbose__clip(full ? centre_full : centre_orthogonal, most);
    note->effect_orthogonal = gbose__clip(in->score[arm] - centre_orthogonal, most);
    note->effect_full = gbose__clip(in->other_score[arm] - centre_full, most);
    note->spread = gbose__clip(spread_of(in->score, in->n), most);
}

static void explain(const gbose *g, const struct gbose__input *in, const double *pmf, size_t arm,
                    struct gbose__ticket *to)
{
    const struct gbose__auto *own = g->own;
    double features[GBOSE__MAX_FEATURES], shift;
    const double *mu = g->fit[gbose__auto_predictor(g)].mu;
    struct gbose__features round = {.clock = (double)g->fit[ORTHOGONAL].steps, .round = in->round};
    struct gbose__note note;

    round.offer = in->mean;
    round.common = in->n > 2 ? to->x : NULL; /* of two arms nobody knows which one has it */
    gbose__auto_origin_find(g, in, arm, to);
    round.best = gbose__clip(scores_in_use(g, in)[in->best] -
                                 gbose__auto_origin_score(g, gbose__auto_in_use(g), to->x),
                             GBOSE__CLIP_RESIDUAL);
    gbose__baseline_features(&own->baseline, features, &round, -1);
    describe(g, in, pmf, arm, &note);
    note.arms = (double)in->n;
    note.common = gbose__auto_needs_common(g)
                      ? gbose__clip(gbose__dot(to->x, mu, in->stride), GBOSE__CLIP_RESIDUAL)
                      : 0;
    shift = gbose__baseline_predict(&own->baseline, features, mu, to->centre).shift;
    note.shift = gbose__clip(shift - gbose__auto_origin_of(g, &note), GBOSE_MAX_INPUT);
    note.believable_centre =
        gbose__clip(gbose__auto_orthogonal_centre(g, note.shift, note.centre), GBOSE_MAX_INPUT);
    if (!own->certified)
        note.weight *= gbose__users_weight(&gbose__auto_state_of(g)->users, own->tuning, shift);
    note.clock = round.clock;
    note.best = round.best;

    if (own->certified && note.probability < 1)
        gbose__certified_explain(&own->bound, in, pmf, arm, gbose__auto_orthogonal_certified(g, &note), to);
    if (note.probability < 1)
        gbose__orthogonal_centred(to->centre, in, pmf, arm);
    else
        memset(to->centre, 0, in->stride * sizeof *to->centre);
    gbose__note_write(&to->writer, &own->note, &note, in->round, in->up,
                      &(struct gbose__note_parts){gbose__context(in, arm), to->centre,
                                                  gbose__context(in, in->best), in->mean, to->words});
}

/* ---- a reward ---- */

static int note_is_sane(const gbose *g, struct gbose__reader note)
{
    const struct gbose__auto *own = g->own;

    return gbose__note_is_sane(note, &own->note);
}

/* Infinite before there were two rewards. */
static double reward_range(const struct gbose__rewards *rewards)
{
    return rewards->highest > rewards->lowest ? rewards->highest - rewards->lowest : INFINITY;
}

static void learn(gbose *g, const struct gbose__lesson *lesson, double reward)
{
    struct gbose__auto *own = g->own;
    struct gbose__auto_state *state = gbose__auto_state_of(g);
    struct gbose__note_rows rows = {own->played, g->fit[ORTHOGONAL].x, g->fit[gbose__auto_full_index(g)].x,
                                    own->offer, own->where};
    size_t full = gbose__auto_full_index(g);
    double round[GBOSE__MAX_ROUND], features[GBOSE__MAX_FEATURES], residual, w;
    struct gbose__features known = {.round = round, .offer = own->offer};
    struct gbose__auto_term term = {.reach = 1};
    struct gbose__note note;
    double origin;
    int due;

    gbose__note_read(lesson->note, &own->note, g->gauge, &note, round, &rows);
    if (own->has_full && state->rounds == 1)
        gbose__auto_full_doubt_first(g, &note, reward);
    gbose__auto_origin_subtract(g, &rows, note.arms);
    origin = gbose__auto_origin_of(g, &note);
    residual = gbose__clip(reward - note.shift - note.score, GBOSE__CLIP_RESIDUAL);
    w = weight(g, own->has_full ? &state->by_present : &state->by_ticket, 1);
    known.best = note.best;
    known.clock = note.clock;
    known.common = note.arms > 2 ? own->common : NULL;
    gbose__baseline_meet(&own->baseline, &known, state->rounds);
    gbose__baseline_features(&own->baseline, features, &known, state->rounds);
    term.score = note.score;
    if (own->has_full)
        term = gbose__auto_full_look_back(g, features, (double)lesson->number, reward, rows.best);
    if (own->mean_common && !(state->rounds > 0))
        gbose__auto_origin_begin(g, rows.best);
    due = gbose__baseline_learn(
        &own->baseline,
        &(struct gbose__baseline_lesson){&known, features, g->fit[gbose__auto_predictor(g)].mu, state->rounds,
                                         own->played, term.score, reward},
        own->scratch);
    gbose__auto_report_learn(g, &note, reward);

    for (size_t i = 0; i < g->n_fits; i++)
        gbose__ridge_begin(&g->fit[i]);
    if (own->mean_common && g->gauge->gaps > 0 && state->rounds < own->tuning->level_rounds)
        gbose__auto_full_level(g);
    if (note.probability < 1)
        gbose__auto_orthogonal_learn(g, &note, reward, residual);
    if (own->mean_common && state->rounds < own->tuning->origin_rounds) {
        gbose__auto_origin_try(g, &term, w);
        gbose__kernels->approach(own->mean_common, 1 / (state->rounds + 1), own->common, g->fit[FULL].stride);
    }
    if (own->totals)
        gbose__kernels->axpy(own->totals, note.arms, own->offer, g->fit[FULL].stride);
    if (own->has_full)
        gbose__auto_full_learn(g, full, w, term.response);
    if (own->has_full && note.probability < 1)
        gbose__auto_full_shorten(g, &note, reward);
    if (own->may_choose && note.spread > own->tuning->contest_absurd * reward_range(&state->rewards))
        gbose__contest_disqualify(&state->contest);
    gbose__ticket_apply(g, lesson, reward); /* what BOUND learns */

    state->weights = own->forget * state->weights + w;
    state->rounds++;
    gbose__rewards_learn(&state->rewards, own->tuning, reward);
    gbose__users_learn(&state->users, own->tuning, gbose__clip(note.shift + origin, GBOSE_MAX_INPUT),
                       residual);
    gbose__scale_learn(&state->by_ticket, own->tuning, &state->rewards, residual);
    if (own->has_full) {
        gbose__scale_learn(&state->by_present, own->tuning, &state->rewards, term.residual);
        gbose__scale_learn_effect(&state->by_present, own->tuning, term.effect, term.residual);
    }
    if (state->rounds <= own->tuning->start_rounds && !(state->began > 0))
        state->dark = state->by_present.start;
    gbose__auto_anew_try(g);
    if (due)
        gbose__auto_hindsight(g);
}

/* ---- its place in the table ---- */

static const gbose_option options[] = {
    {"safe", GBOSE_INTEGER, 0, 1, NULL, "0",
     "1: rounds with one survivor serve to predict rewards, but not to choose; the estimate that chooses is "
     "then "
     "unbiased whatever v does"},
    {"round", GBOSE_INTEGER, 0, GBOSE__MAX_ROUND, NULL, "0",
     "number of features of the round, which gbose_decide_in() takes: what may move the rewards of all arms"},
    {"baseline", GBOSE_WORD, 0, 0, "flexible|simple", "flexible",
     "what may move the rewards of all arms: 'flexible', the time, the best score and any function of what "
     "is on offer, or "
     "'simple', the first two, which costs less"},
    {"width", GBOSE_WORD, 0, 0, "auto|certified", "auto",
     "how far an arm may be behind the best: 'auto', by the data, or 'certified', a bound that is proved "
     "under the assumptions noise, range and norm; it implies safe=1"},
    {"noise", GBOSE_POSITIVE, GBOSE__SMALLEST, GBOSE__LARGEST, NULL, "1",
     "with width=certified: the noise is sub-Gaussian with this proxy (its standard deviation, if it is "
     "normal)"},
    {"range", GBOSE_POSITIVE, GBOSE__SMALLEST, GBOSE__LARGEST, NULL, "1",
     "with width=certified: the expected reward of an arm, shift and all, is at most this in magnitude"},
    {"norm", GBOSE_POSITIVE, GBOSE__SMALLEST, GBOSE__LARGEST, NULL, "1",
     "with width=certified: the length of mu is at most this"},
    {"delta", GBOSE_NUMBER, 1e-12, 0.5, NULL, "0.05",
     "with width=certified: the probability that the bound ever fails"},
    {"lambda", GBOSE_POSITIVE, GBOSE__SMALLEST, GBOSE__LARGEST, NULL, "0.5",
     "ridge penalty of both regressions: the prior counts as much as so many rounds. In units that the "
     "learner finds, "
     "with width=certified in those of the contexts"},
    OPTIONS_OF_ALL,
};

const struct gbose__learner gbose__gbose_auto = {
    .info = GBOSE__INFO("gbose-auto",
                        "GBOSE with nothing to tune: baseline, width and efficiency from the data", options),
    .own_size = sizeof(struct gbose__auto),
    .init = init,
    .clear = clear,
    .prepare = prepare,
    .decide = decide,
    .explain = explain,
    .note_is_sane = note_is_sane,
    .learn = learn,
    .check = gbose__auto_state_check,
    .holds = gbose__auto_state_holds,
    .merge = gbose__auto_state_merge,
    .grow = gbose__auto_state_grow,
    .rescale = gbose__auto_state_rescale,
    .write = gbose__auto_state_write,
    .read = gbose__auto_state_read,
    .coef_of = gbose__auto_report_coef,
    .diagnose = gbose__auto_report_diagnose,
    .effect = gbose__auto_report_effect,
    .width = gbose__auto_report_width,
};

int gbose__auto_new(gbose **out, const char *spec, size_t dim, const struct gbose__tuning *tuning,
                    gbose_error *err)
{
    gbose *g;
    int rc = gbose_new(&g, spec, dim, err);

    if (rc)
        return rc;
    if (g->kind != &gbose__gbose_auto) {
        gbose_free(g);
        return gbose__fail(err, GBOSE_ESPEC, "'%s': only gbose-auto has a tuning", spec);
    }
    gbose__auto_state_begin(g, tuning);
    *out = g;
    return GBOSE_OK;
}
