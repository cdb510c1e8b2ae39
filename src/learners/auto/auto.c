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
 * 6. Width (width.h, or certified.h with width=certified), and the coin's probability.
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
 * All constants are in tuning.h. */
#include "learners/auto/auto.h"

#include <math.h>
#include <string.h>

#include "core/arms.h"
#include "core/kernels.h"
#include "core/memory.h"
#include "learners/auto/baseline.h"
#include "learners/auto/certified.h"
#include "learners/auto/clip.h"
#include "learners/auto/contest.h"
#include "learners/auto/diagnosis.h"
#include "learners/auto/doubt.h"
#include "learners/auto/length.h"
#include "learners/auto/note.h"
#include "learners/auto/origin.h"
#include "learners/auto/scale.h"
#include "learners/auto/users.h"
#include "learners/auto/width.h"
#include "learners/gauge.h"
#include "learners/options.h"
#include "learners/orthogonal.h"
#include "learners/survivors.h"

/* The regressions. RELATIVE is the full one with contexts relative to their common part (origin.h). */
enum { ORTHOGONAL, FULL, BOUND = FULL, RELATIVE };

struct own {
    const struct gbose__tuning *tuning;
    int has_full;                  /* is there a full estimate? */
    int may_choose;                /* may it choose? */
    int certified;                 /* width=certified */
    double forget;                 /* of the regressions */
    struct gbose__certified bound; /* the assumptions of width=certified */
    struct gbose__note_shape note;
    struct gbose__baseline baseline; /* where they are in g->state */
    struct gbose__diagnosis diagnosis;
    /* In g->state: rows, the mean of what the arms have in common, and the sum of all contexts on offer, which the gauge
     * needs; NULL: contexts are as they are. */
    double *mean_common, *totals;
    /* Rows for learn to work in: the context played, one more, the mean context on offer and the common part. */
    double *played, *scratch, *offer, *common;
    uint64_t *where; /* likewise: where the common part is */
};

/* What the learner has learned beside its regressions: the beginning of g->state. It is followed by the
 * numbers of the baseline and of the diagnosis. All of it is doubles, which are saved as they are. */
struct state {
    double rounds; /* learned */
    double
        weights; /* sum of the weights of the rounds, as the full regression has them, forgetting as the regressions do */
    struct gbose__rewards rewards;
    struct gbose__contest contest;
    /* Of the residuals by the baseline in the ticket, for the orthogonal estimate, and of those by the
     * baseline at the time of learning, for the full one. */
    struct gbose__scale by_ticket, by_present;
    struct gbose__users users;
    struct gbose__origin origin;
    struct gbose__length length;
};
enum { STATE_NUMBERS = sizeof(struct state) / sizeof(double) };

static struct state *state_of(const gbose *g)
{
    return (struct state *)g->state;
}

/* How many numbers of a state are those two rows. */
static size_t count_means(const gbose *g)
{
    return ((const struct own *)g->own)->note.has_offer ? 2 * gbose__pad(g->dim) : 0;
}

/* Where mean_common, baseline and diagnosis are in a state of g's shape. */
static double *mean_common_of(const gbose *g, double *state)
{
    return ((const struct own *)g->own)->note.has_offer ? state + gbose__pad(STATE_NUMBERS) : NULL;
}

static void view(const gbose *g, double *state, const struct gbose__tuning *tuning,
                 struct gbose__baseline *baseline, struct gbose__diagnosis *diagnosis)
{
    int flexible = ((const struct own *)g->own)->note.has_offer;
    double *at = state + gbose__pad(STATE_NUMBERS) + count_means(g);

    gbose__baseline_view(baseline, tuning, g->dim, g->round_features, flexible, at);
    *diagnosis = (struct gbose__diagnosis){tuning, g->dim,
                                           at + gbose__baseline_size(g->dim, g->round_features, flexible)};
}

static int uses_full(const gbose *g)
{
    return state_of(g)->contest.full_chooses > 0;
}

static int is_relative(const gbose *g)
{
    return state_of(g)->origin.relative > 0;
}

/* The full regression. */
static size_t full_of(const gbose *g)
{
    return is_relative(g) ? RELATIVE : FULL;
}

/* The estimate in use. */
static const struct gbose__ridge *in_use(const gbose *g)
{
    return &g->fit[uses_full(g) ? full_of(g) : ORTHOGONAL];
}

/* The estimate by which rewards are predicted: the one in use, but where the full one never chooses it serves
 * for that alone, since it is made to fit the rewards. */
static size_t predictor(const gbose *g)
{
    const struct own *own = g->own;

    return uses_full(g) || (own->has_full && !own->may_choose) ? full_of(g) : ORTHOGONAL;
}

static const double *scores_in_use(const gbose *g, const struct gbose__input *in)
{
    return uses_full(g) ? in->other_score : in->score;
}

/* ---- life ---- */

static int read_options(gbose *g, gbose_error *err)
{
    struct own *own = g->own;

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

/* Begin with nothing learned. */
static void begin(gbose *g, const struct gbose__tuning *tuning)
{
    struct own *own = g->own;

    own->tuning = tuning;
    view(g, g->state, tuning, &own->baseline, &own->diagnosis);
    own->mean_common = mean_common_of(g, g->state);
    g->totals = own->totals = own->mean_common ? own->mean_common + gbose__pad(g->dim) : NULL;
    gbose__baseline_init(&own->baseline);
    state_of(g)->contest.full_chooses = own->may_choose;
    state_of(g)->origin.relative = own->mean_common != NULL;
}

static int init(gbose *g, gbose_error *err)
{
    struct own *own = g->own;
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
        rc =
            gbose__learner_state(g, gbose__pad(STATE_NUMBERS) + count_means(g) +
                                        gbose__baseline_size(g->dim, g->round_features, own->note.has_offer) +
                                        gbose__diagnosis_size(g->dim));
    if (rc)
        return rc;
    own->played = gbose__alloc(5 * g->fit[ORTHOGONAL].stride, sizeof(double));
    if (!own->played)
        return GBOSE_ENOMEM;
    own->scratch = own->played + g->fit[ORTHOGONAL].stride;
    own->offer = own->scratch + g->fit[ORTHOGONAL].stride;
    own->common = own->offer + g->fit[ORTHOGONAL].stride;
    own->where = (uint64_t *)(own->common + g->fit[ORTHOGONAL].stride);
    begin(g, &gbose__tuning_default);
    return GBOSE_OK;
}

static void clear(gbose *g)
{
    struct own *own = g->own;

    gbose__free(own->played);
}

/* ---- a decision ---- */

/* other_score: the scores by the full estimate, or zeros. */
static int prepare(const gbose *g, struct gbose__input *in)
{
    const struct own *own = g->own;

    if (own->has_full)
        gbose__kernels->dots(in->other_score, in->context, g->fit[full_of(g)].mu, in->n, in->stride);
    else
        memset(in->other_score, 0, in->n * sizeof *in->other_score);
    return gbose__kernels->within(in->other_score, in->n, GBOSE__MAX_SCORE) ? GBOSE_OK : GBOSE_ENUMERIC;
}

/* Does the baseline know clearly more than the time, by what it knows of users? */
static int follows_users(const gbose *g)
{
    const struct own *own = g->own;

    return gbose__tracker_is_of_user(gbose__baseline_leader(&own->baseline)) &&
           gbose__baseline_gain(&own->baseline) > own->tuning->users_gain;
}

#define UNIT_MOST 1e60 /* of the width: more than any reward, and its products are still finite */

static struct gbose__width width_now(const gbose *g)
{
    const struct own *own = g->own;
    const struct state *state = state_of(g);
    const struct gbose__scale *scale = uses_full(g) ? &state->by_present : &state->by_ticket;
    double unit = gbose__scale_unit(scale, own->tuning);
    enum gbose__chooser chooser = uses_full(g)      ? (follows_users(g) ? GBOSE__FULL_OF_USERS : GBOSE__FULL)
                                  : own->may_choose ? GBOSE__ORTHOGONAL
                                                    : GBOSE__ALONE;

    return gbose__width_of(own->tuning, chooser, gbose__clip(unit, UNIT_MOST), state->rounds, state->weights,
                           g->dim);
}

/* One arm is left: it is played, but for a small chance of a rival where there is doubt. */
static void play_lone(const gbose *g, const struct gbose__input *in, struct gbose__round *round, size_t best)
{
    const struct own *own = g->own;
    const struct gbose__scale *scale = &state_of(g)->by_ticket;
    struct gbose__doubt doubt = {&g->fit[ORTHOGONAL], sqrt(gbose__scale_recent(scale)),
                                 gbose__scale_unit(scale, own->tuning)};
    size_t rival;

    round->pmf[best] = 1;
    if (!uses_full(g) || !follows_users(g) ||
        !gbose__doubt_finds(&doubt, own->tuning, in, best, &rival, round->image))
        return;
    round->pmf[best] = own->tuning->highest_probability;
    round->pmf[rival] = 1 - round->pmf[best];
}

static void decide(const gbose *g, const struct gbose__input *in, struct gbose__round *round)
{
    const struct own *own = g->own;
    const double *score = scores_in_use(g, in);
    struct gbose__width width = width_now(g);
    size_t best = gbose__arms_argmax(score, in->n), k = best, l;

    memset(round->pmf, 0, in->n * sizeof *round->pmf);
    if (own->certified)
        gbose__certified_filter(&own->bound, g, in, round, best);
    else
        gbose__width_filter(&width, in_use(g), in, score, round, best);
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

static double mean_of(const double *pmf, const double *score, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        if (pmf[i] > 0)
            sum += pmf[i] * score[i];
    return sum;
}

/* The weight of the next round, with its worth: 1 where a proof needs it. It is squared, but for the
 * worth, in the full regression. */
static double weight(const gbose *g, const struct gbose__scale *scale, int full)
{
    const struct own *own = g->own;
    double w;

    if (own->certified)
        return 1;
    w = gbose__scale_weight(scale, own->tuning, &state_of(g)->rewards);
    return (full ? w * w : w) * gbose__scale_worth(scale, own->tuning);
}

/* The orthogonal regression's baseline c = vhat + bbar'mu, within reach of the rewards there were; less
 * vhat. */
static double believable_centre(const gbose *g, double shift, double centre)
{
    const struct own *own = g->own;
    const struct gbose__rewards *rewards = &state_of(g)->rewards;
    double room = own->tuning->baseline_room * (rewards->highest - rewards->lowest), c = shift + centre;

    if (!(rewards->count > 0) || own->certified)
        return centre;
    if (c > rewards->highest + room)
        return rewards->highest + room - shift;
    return c < rewards->lowest - room ? rewards->lowest - room - shift : centre;
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
    double centre_orthogonal = mean_of(pmf, in->score, in->n);
    double centre_full = mean_of(pmf, in->other_score, in->n);
    int full = predictor(g) != ORTHOGONAL;

    note->probability = pmf[arm];
    note->weight = weight(g, &state_of(g)->by_ticket, 0);
    note->score = gbose__clip((full ? in->other_score : in->score)[arm], most);
    note->centre = gbose__clip(full ? centre_full : centre_orthogonal, most);
    note->effect_orthogonal = gbose__clip(in->score[arm] - centre_orthogonal, most);
    note->effect_full = gbose__clip(in->other_score[arm] - centre_full, most);
    note->spread = gbose__clip(spread_of(in->score, in->n), most);
}

/* Does the common part of the next round matter? */
static int needs_common(const gbose *g)
{
    const struct own *own = g->own;

    return own->mean_common && (is_relative(g) || state_of(g)->rounds < own->tuning->origin_rounds);
}

/* Find it; without need it is said to be the mean. */
static void find_common(const gbose *g, const struct gbose__input *in, size_t arm, struct gbose__ticket *to)
{
    if (needs_common(g)) {
        gbose__origin_say(to->words, in, arm, g->dim);
        gbose__origin_find(to->x, to->words, gbose__context(in, arm), in->mean, (double)in->n, g->dim);
    } else if (g->gauge)
        memset(to->words, 0, gbose__origin_words(g->dim) * sizeof *to->words);
}

/* The score by `fit` of where contexts are measured from, for the best score: of the common part, or of its mean, so
 * that a vector added to all contexts does not matter. */
static double origin_score(const gbose *g, const struct gbose__ridge *fit, const double *common)
{
    const struct own *own = g->own;

    if (!own->mean_common)
        return 0;
    return gbose__dot(is_relative(g) ? common : own->mean_common, fit->mu, fit->stride);
}

/* What the learner's scores are less than those of the note, which are of contexts as they are; v is more by that. */
static double origin_of(const gbose *g, const struct gbose__note *note)
{
    return is_relative(g) ? note->common : 0;
}

/* The baseline c = vhat + bbar'mu of width=certified. */
static double certified_baseline(const gbose *g, const struct gbose__note *note)
{
    const struct own *own = g->own;

    return gbose__certified_baseline(&own->bound, note->shift + note->believable_centre);
}

static void explain(const gbose *g, const struct gbose__input *in, const double *pmf, size_t arm,
                    struct gbose__ticket *to)
{
    const struct own *own = g->own;
    size_t best = gbose__arms_argmax(scores_in_use(g, in), in->n);
    double features[GBOSE__MAX_FEATURES], shift;
    const double *mu = g->fit[predictor(g)].mu;
    struct gbose__features round = {.clock = (double)g->fit[ORTHOGONAL].steps, .round = in->round};
    struct gbose__note note;

    round.offer = in->mean;
    find_common(g, in, arm, to);
    round.best =
        gbose__clip(scores_in_use(g, in)[best] - origin_score(g, in_use(g), to->x), GBOSE__CLIP_RESIDUAL);
    gbose__baseline_features(&own->baseline, features, &round, -1);
    describe(g, in, pmf, arm, &note);
    note.arms = (double)in->n;
    note.common = needs_common(g) ? gbose__clip(gbose__dot(to->x, mu, in->stride), GBOSE__CLIP_RESIDUAL) : 0;
    shift = gbose__baseline_predict(&own->baseline, features, mu, to->centre).shift;
    note.shift = gbose__clip(shift - origin_of(g, &note), GBOSE_MAX_INPUT);
    note.believable_centre = gbose__clip(believable_centre(g, note.shift, note.centre), GBOSE_MAX_INPUT);
    if (!own->certified)
        note.weight *= gbose__users_weight(&state_of(g)->users, own->tuning, shift);
    note.clock = round.clock;
    note.best = round.best;

    if (own->certified && note.probability < 1)
        gbose__certified_explain(&own->bound, in, pmf, arm, certified_baseline(g, &note), to);
    if (note.probability < 1)
        gbose__orthogonal_centred(to->centre, in, pmf, arm);
    else
        memset(to->centre, 0, in->stride * sizeof *to->centre);
    gbose__note_write(&to->writer, &own->note, &note, in->round, in->up,
                      &(struct gbose__note_parts){gbose__context(in, arm), to->centre,
                                                  gbose__context(in, best), in->mean, to->words});
}

/* ---- a reward ---- */

static int note_is_sane(const gbose *g, struct gbose__reader note)
{
    const struct own *own = g->own;

    return gbose__note_is_sane(note, &own->note);
}

/* What the full regression learns: x, which is b_best before, and the response. */
struct full_term {
    double response;
    double residual; /* by the estimate in use */
    double score;    /* of the context played, by the same */
    double reach;    /* how much of a vector that is added to all contexts there is in x */
};

/* Look back with the baseline of the present: r - rhat on b_a - bhat, both with the reaction. */
static struct full_term look_back(const gbose *g, const double *features, double reward, double *x)
{
    const struct own *own = g->own;
    const double *mu = g->fit[predictor(g)].mu, *played = own->played;
    double *bhat = own->scratch;
    size_t stride = g->fit[ORTHOGONAL].stride;
    struct gbose__prediction now = gbose__baseline_predict(&own->baseline, features, mu, bhat);
    double reaction = gbose__baseline_reaction(&own->baseline, features, mu);
    double best = gbose__dot(x, mu, stride),
           score = gbose__clip(gbose__dot(played, mu, stride), GBOSE__CLIP_RESIDUAL);

    for (size_t i = 0; i < g->dim; i++)
        x[i] = played[i] - bhat[i] + reaction * (x[i] - bhat[i]);
    return (struct full_term){
        reward - gbose__clip(now.reward - reaction * (best - now.effect), GBOSE_MAX_INPUT),
        gbose__clip(reward - now.shift - score, GBOSE__CLIP_RESIDUAL), score, 1 + reaction};
}

/* The full regression's response, at most so many s away from what is expected. The orthogonal one has no
 * such limit, which would bias it. */
static double believable(const gbose *g, const struct gbose__ridge *full, double response)
{
    const struct own *own = g->own;
    const struct state *state = state_of(g);
    double most = gbose__scale_surprise(&state->by_present, own->tuning, &state->rewards), expected;

    if (!(most < INFINITY))
        return response;
    expected = gbose__dot(full->x, full->mu, full->stride);
    return expected + gbose__clip(response - expected, most);
}

/* The orthogonal regression's response, r - c. */
static double orthogonal_response(const gbose *g, const struct gbose__note *note, double reward)
{
    const struct own *own = g->own;

    return own->certified ? reward - certified_baseline(g, note)
                          : reward - note->shift - note->believable_centre;
}

static void learn_diagnosis(const gbose *g, const struct gbose__note *note, double reward)
{
    const double most = GBOSE__CLIP_RESIDUAL;
    const struct own *own = g->own;
    struct gbose__diagnosis_round round = {
        .reward = reward,
        .context = own->played,
        .shift = gbose__clip(reward - note->score + origin_of(g, note), most),
        .residual = gbose__clip(reward - note->shift - note->score, most),
        .coin = note->probability < 1,
        .weight = note->weight,
        .coin_residual = gbose__clip(orthogonal_response(g, note, reward) - note->effect_orthogonal, most),
        .centred = g->fit[ORTHOGONAL].x,
        .scratch = own->scratch};

    gbose__diagnosis_learn(&own->diagnosis, &round, own->forget);
}

/* What a coin teaches the orthogonal regression, and says of the two estimates. */
static void learn_coin(gbose *g, const struct gbose__note *note, double reward, double residual)
{
    const struct own *own = g->own;
    struct state *state = state_of(g);
    struct gbose__ridge *orthogonal = &g->fit[ORTHOGONAL];
    struct gbose__coin coin = {reward - note->shift - note->centre, note->effect_full,
                               note->effect_orthogonal, residual};

    if (own->may_choose)
        gbose__contest_learn(&state->contest, own->tuning, g->dim, gbose__scale_recent(&state->by_ticket),
                             &coin);
    else
        gbose__contest_count(&state->contest, own->tuning, &coin);
    gbose__ridge_term(orthogonal, orthogonal->x, note->weight,
                      note->weight * orthogonal_response(g, note, reward));
}

/* What a coin says of the length of the full estimate. */
static void learn_length(gbose *g, const struct gbose__note *note, double reward)
{
    const struct own *own = g->own;
    struct state *state = state_of(g);

    if (gbose__length_learn(&state->length, own->tuning, gbose__scale_recent(&state->by_ticket),
                            note->effect_full, reward - note->shift - note->centre) &&
        follows_users(g))
        gbose__length_shorten(&state->length, own->tuning, &g->fit[FULL], g->n_fits - FULL, own->scratch);
}

/* Infinite before there were two rewards. */
static double reward_range(const struct gbose__rewards *rewards)
{
    return rewards->highest > rewards->lowest ? rewards->highest - rewards->lowest : INFINITY;
}

/* The full estimate takes the level of the rewards for zero in its first round. If the second reward is so near to the
 * first that both may be a level, it forgets that round, and what it has said of the second one: that was expected to be
 * like the first. What the orthogonal estimate learns from is left as it was at the draw. */
static void doubt_first_round(gbose *g, struct gbose__note *note, double reward)
{
    const struct own *own = g->own;
    const struct state *state = state_of(g);
    double first = state->rewards.last;

    if (!own->has_full || state->rounds != 1 ||
        !(fabs(first + reward) > 2 * own->tuning->level_doubt * fabs(reward - first)))
        return;
    for (size_t i = FULL; i < g->n_fits; i++)
        gbose__ridge_reset(&g->fit[i]);
    note->believable_centre += note->shift - first;
    note->shift = first;
    note->score = note->centre = note->common = note->best = note->effect_full = 0;
}

static void learn_full(gbose *g, size_t i, double w, double response)
{
    struct gbose__ridge *full = &g->fit[i];

    gbose__ridge_term(full, full->x, w, w * believable(g, full, response));
}

/* The error with which a full regression predicts the response. */
static double error_of(const struct gbose__ridge *full, double response)
{
    return gbose__clip(response - gbose__dot(full->x, full->mu, full->stride), GBOSE__CLIP_RESIDUAL);
}

/* Use the other full estimate from now on. */
static void change_origin(gbose *g)
{
    const struct own *own = g->own;

    gbose__trackers_move(&own->baseline.trackers, own->mean_common, is_relative(g) ? -1 : 1);
    if (own->may_choose)
        gbose__contest_disqualify(&state_of(g)->contest);
}

/* The other full estimate learns a round in which the one in use has learned, too. */
static void try_origin(gbose *g, const struct full_term *term, double w)
{
    const struct own *own = g->own;
    struct state *state = state_of(g);
    size_t used = full_of(g), other = FULL + RELATIVE - used;
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
    learn_full(g, other, w, term->response);
    if (gbose__origin_learn(&state->origin, own->tuning, &round))
        change_origin(g);
}

/* Before the first round is learned nothing is known of where contexts are: it is relative for both estimates. */
static void begin_origin(gbose *g, double *x)
{
    const struct own *own = g->own;

    memcpy(own->mean_common, own->common, g->fit[FULL].stride * sizeof *own->common);
    for (size_t i = 0; i < g->dim && !is_relative(g); i++)
        x[i] -= own->common[i];
}

/* Make contexts relative to the common part where they are to be. */
static void subtract_origin(const gbose *g, const struct gbose__note_rows *rows, double arms)
{
    const struct own *own = g->own;

    if (needs_common(g))
        gbose__origin_find(own->common, rows->where, rows->played, rows->offer, arms, g->dim);
    for (size_t i = 0; i < g->dim && is_relative(g); i++) {
        rows->played[i] -= own->common[i];
        rows->best[i] -= own->common[i];
    }
}

static void learn(gbose *g, const struct gbose__lesson *lesson, double reward)
{
    struct own *own = g->own;
    struct state *state = state_of(g);
    struct gbose__note_rows rows = {own->played, g->fit[ORTHOGONAL].x, g->fit[full_of(g)].x, own->offer,
                                    own->where};
    size_t full = full_of(g);
    double round[GBOSE__MAX_ROUND], features[GBOSE__MAX_FEATURES], residual, w;
    struct gbose__features known = {.round = round, .offer = own->offer};
    struct full_term term = {0, 0, 0, 1};
    struct gbose__note note;
    double origin;

    gbose__note_read(lesson->note, &own->note, g->gauge, &note, round, &rows);
    doubt_first_round(g, &note, reward);
    subtract_origin(g, &rows, note.arms);
    origin = origin_of(g, &note);
    residual = gbose__clip(reward - note.shift - note.score, GBOSE__CLIP_RESIDUAL);
    w = weight(g, own->has_full ? &state->by_present : &state->by_ticket, 1);
    known.best = note.best;
    known.clock = note.clock;
    gbose__baseline_features(&own->baseline, features, &known, state->rounds);
    term.score = note.score;
    if (own->has_full)
        term = look_back(g, features, reward, rows.best);
    if (own->mean_common && !(state->rounds > 0))
        begin_origin(g, rows.best);
    gbose__baseline_learn(&own->baseline,
                          &(struct gbose__baseline_lesson){&known, features, g->fit[predictor(g)].mu,
                                                           state->rounds, own->played, term.score, reward},
                          own->scratch);
    learn_diagnosis(g, &note, reward);

    for (size_t i = 0; i < g->n_fits; i++)
        gbose__ridge_begin(&g->fit[i]);
    if (note.probability < 1)
        learn_coin(g, &note, reward, residual);
    if (own->mean_common && state->rounds < own->tuning->origin_rounds) {
        try_origin(g, &term, w);
        gbose__kernels->approach(own->mean_common, 1 / (state->rounds + 1), own->common, g->fit[FULL].stride);
    }
    if (own->totals)
        gbose__kernels->axpy(own->totals, note.arms, own->offer, g->fit[FULL].stride);
    if (own->has_full)
        learn_full(g, full, w, term.response);
    if (own->has_full && note.probability < 1)
        learn_length(g, &note, reward);
    if (own->may_choose && note.spread > own->tuning->contest_absurd * reward_range(&state->rewards))
        gbose__contest_disqualify(&state->contest);
    gbose__ticket_apply(g, lesson, reward); /* what BOUND learns */

    state->weights = own->forget * state->weights + w;
    state->rounds++;
    gbose__rewards_learn(&state->rewards, own->tuning, reward);
    gbose__users_learn(&state->users, own->tuning, gbose__clip(note.shift + origin, GBOSE_MAX_INPUT),
                       residual);
    gbose__scale_learn(&state->by_ticket, own->tuning, &state->rewards, residual);
    if (own->has_full)
        gbose__scale_learn(&state->by_present, own->tuning, &state->rewards, term.residual);
}

/* ---- keeping and sharing ---- */

static int check(const gbose *g)
{
    const struct own *own = g->own;
    const struct state *state = state_of(g);

    return gbose__kernels->within(g->state, g->n_state, 1e300) && /* what is only padding, too */
           state->rounds >= 0 && state->weights >= 0 && state->contest.coins <= state->rounds &&
           gbose__contest_is_sane(&state->contest, own->tuning, own->may_choose) &&
           gbose__rewards_are_sane(&state->rewards) && gbose__scale_is_sane(&state->by_ticket) &&
           gbose__scale_is_sane(&state->by_present) && gbose__baseline_is_sane(&own->baseline) &&
           gbose__users_are_sane(&state->users) &&
           gbose__origin_is_sane(&state->origin, own->mean_common != NULL) &&
           gbose__length_is_sane(&state->length) && gbose__diagnosis_is_sane(&own->diagnosis);
}

/* Baseline and contest stay those of the learner that goes on; the scales, by which evidence is weighed,
 * are those of the one that has learned more. */
static void merge(gbose *into, const double *from, const double *common, double remains)
{
    static const struct state nothing;
    const struct state *old = common ? (const struct state *)common : &nothing,
                       *theirs = (const struct state *)from;
    const struct own *own = into->own;
    struct state *state = state_of(into);
    size_t before = (size_t)(own->diagnosis.at - into->state);

    gbose__diagnosis_merge(&own->diagnosis, from + before, common ? common + before : NULL, remains);
    for (size_t j = 0, at = own->totals ? (size_t)(own->totals - into->state) : 0; j < into->dim && at; j++)
        own->totals[j] += from[at + j] - (common ? common[at + j] : 0);
    if (theirs->rounds > state->rounds) {
        state->by_ticket = theirs->by_ticket;
        state->by_present = theirs->by_present;
        state->rewards = theirs->rewards;
        state->users = theirs->users;
    }
    state->weights += theirs->weights - (common ? remains * old->weights : 0);
    state->contest.coins += theirs->contest.coins - old->contest.coins;
    state->rounds += theirs->rounds - old->rounds;
}

/* A feature that is new was zero in every round so far. */
static void grow(const gbose *g, double *state, const gbose *from, const double *from_state)
{
    const struct own *own = g->own;
    struct gbose__baseline baseline, old_baseline;
    struct gbose__diagnosis diagnosis, old_diagnosis;

    view(g, state, own->tuning, &baseline, &diagnosis);
    view(from, (double *)from_state, own->tuning, &old_baseline, &old_diagnosis);
    memcpy(state, from_state, STATE_NUMBERS * sizeof *state);
    for (size_t i = 0; i < 2 && own->mean_common; i++)
        memcpy(mean_common_of(g, state) + i * gbose__pad(g->dim),
               mean_common_of(from, (double *)from_state) + i * gbose__pad(from->dim),
               from->dim * sizeof *state);
    gbose__baseline_grow(&baseline, &old_baseline);
    gbose__diagnosis_grow(&diagnosis, &old_diagnosis);
}

static void rescale(const gbose *g, double *state, size_t j, double factor)
{
    const struct own *own = g->own;
    struct gbose__baseline baseline;
    struct gbose__diagnosis diagnosis;

    view(g, state, own->tuning, &baseline, &diagnosis);
    for (size_t i = 0; i < 2 && own->mean_common; i++)
        mean_common_of(g, state)[i * gbose__pad(g->dim) + j] *= factor;
    gbose__baseline_rescale(&baseline, j, factor);
    gbose__diagnosis_rescale(&diagnosis, j, factor);
}

static const double *coef_of(const gbose *g, const char *name)
{
    const struct own *own = g->own;

    if (!strcmp(name, "orthogonal"))
        return gbose__learner_coef(g, ORTHOGONAL);
    return own->may_choose && !strcmp(name, "full") ? gbose__learner_coef(g, full_of(g)) : NULL;
}

/* Fewer coins than this for each feature are no ground for the orthogonal estimate to choose on. */
#define FEW_COINS 2

/* What keeps it from learning, in words. */
static const char *advise(const gbose *g)
{
    const struct own *own = g->own;
    const struct state *state = state_of(g);

    if (state->rounds > own->tuning->first_rounds && !(state->rewards.highest > state->rewards.lowest))
        return "all rewards so far are equal: there is nothing to learn from";
    if (state->rounds > own->tuning->first_rounds && !(state->by_ticket.known > 0))
        return "rewards other than the usual one are still too rare to learn from";
    if (!uses_full(g) && state->contest.coins < FEW_COINS * (double)g->dim &&
        state->rounds > 10 * FEW_COINS * (double)g->dim)
        return "few rounds had a random choice, and the estimate that chooses learns from no others";
    if (g->gauge && gbose__gauge_constants(g->gauge))
        return "some features never differ between the arms of a round: they cannot make one better than "
               "another; "
               "give them as features of the round, or multiplied by features of the arms";
    return "";
}

static int diagnose(const gbose *g, gbose_diagnosis *out)
{
    const struct state *state = state_of(g);
    const struct gbose__scale *scale = uses_full(g) ? &state->by_present : &state->by_ticket;
    const struct own *own = g->own;
    const struct gbose__tracker *leader = gbose__baseline_leader(&own->baseline);
    int rc = gbose__diagnosis_report(&own->diagnosis, &g->fit[ORTHOGONAL], out);

    if (rc)
        return rc;
    out->tracker = leader->name;
    out->tracker_forget = leader->forget;
    out->full = uses_full(g);
    out->constant = g->gauge ? gbose__gauge_constants(g->gauge) : 0;
    out->coins = (uint64_t)state->contest.coins;
    out->evidence = state->contest.evidence;
    out->scale = scale->known > 0 ? sqrt(scale->least) : 0;
    out->scale_recent = sqrt(gbose__scale_recent(scale));
    out->advice = advise(g);
    return GBOSE_OK;
}

static int effect_along(const gbose *g, const double *x, double alpha, double *estimate, double *lower,
                        double *upper)
{
    const struct own *own = g->own;

    return gbose__diagnosis_effect(&own->diagnosis, &g->fit[ORTHOGONAL], x, alpha, estimate, lower, upper);
}

static double width_along(const gbose *g, const double *x)
{
    const struct own *own = g->own;

    return own->certified ? gbose__certified_width(&own->bound, &g->fit[ORTHOGONAL], &g->fit[BOUND], x)
                          : gbose__ridge_width(&g->fit[ORTHOGONAL], x, g->gauge->down, g->dim);
}

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
    .own_size = sizeof(struct own),
    .init = init,
    .clear = clear,
    .prepare = prepare,
    .decide = decide,
    .explain = explain,
    .note_is_sane = note_is_sane,
    .learn = learn,
    .check = check,
    .merge = merge,
    .grow = grow,
    .rescale = rescale,
    .coef_of = coef_of,
    .diagnose = diagnose,
    .effect = effect_along,
    .width = width_along,
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
    begin(g, tuning);
    *out = g;
    return GBOSE_OK;
}
