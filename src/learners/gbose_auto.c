/* gbose-auto: GBOSE with nothing to tune.
 *
 * Model: r = b_a'mu + v + noise, v arbitrary but the same for every arm of a round.
 *
 * Built on Algorithm 1 of Chowdhury, Ismayilzada, Sayem and Kim (AISTATS 2023): arms are filtered, and a coin is
 * tossed between the two survivors farthest apart. What is added:
 *
 * 1. Baseline. Trackers predict the reward and the context of the arm played from features of the round: none (a
 *    level), the time, functions of the best estimated score m, or the caller's own; each is a least squares with its own
 *    forgetting. The one with the least discounted error e = (r - rhat) - (b_a - bhat)'mu leads, and
 *    vhat = rhat - bhat'mu. It is fixed when the arm is drawn, so X (r - vhat - bbar'mu) is unbiased whatever
 *    vhat is.
 * 2. Two estimates. O, the orthogonal one, learns from coins: X = b_a - bbar. E, the full one, learns from all
 *    rounds, with reward and context both less their prediction (Frisch and Waugh): r - rhat on b_a - bhat. It is as
 *    efficient as linear regression, and biased when v follows the contexts in a way that no tracker sees.
 * 3. Reaction. Where the leading tracker has found that v moves with m, by v' for each unit, a change of mu moves
 *    the reward by b_a + v' b_best, b_best the context of the best arm. E regresses on that (a step of Gauss and
 *    Newton), less its prediction. When v takes back what the best arm gains, v' = -1 and rounds with one survivor
 *    say nothing; regressed on b_a they would say that mu is zero.
 *    With rewards that come late, E's predictions are those of the time of learning: by then others drawn at about the
 *    same time have come in, and say more than what was known at the draw. O must not look back like that: what others say may
 *    depend on the coin. So each has its own residuals below. When rewards come at once, both are the same.
 * 4. Test. X is random whatever v does, so the difference D of the squared errors with which E and O predict
 *    coins, in units of the residual variance, is a fair comparison. E chooses until D >= D_HIGH, then O does
 *    until D < 0. One coin moves D by D_STEP at the most.
 * 5. Weights. s^2, the running mean of e^2, is known before the round; s_min^2 is the least that it was over a long
 *    time. O's terms have weight w = min(1, 2 s_min^2 / s^2), as least squares would have it. E's have w^2:
 *    residuals that are large because v is not understood mislead E, where they are only noise to O.
 * 6. Width. An arm at distance h = ||R (b_best - b)|| from the best may be at most f(h) behind. For E
 *    f = 0.5 s_min h max(1, u / 2) with u = h^2 (sum of weights) / dim: about 1 where rounds teach all directions
 *    alike, and rising with time where what is played says nothing of this arm. In E's first rounds, when everything
 *    is learned at once, f is smaller. O learns from coins alone, so that u is larger, and its
 *    f = 0.3 s_min h sqrt(1 + 4 log+ (u / 2)) max(1, u / 60).
 * 7. Propensity. The coin's better arm has Phi(lead / f), as in Thompson sampling.
 *
 *   O          g->model        lambda I + sum w X X'; gbose_coef() is its estimate, unbiased
 *   E          g->level        lambda I + sum w^2 x x'; dim 0 with safe=1
 *   H          g->level        in E's place with width=certified
 *   pi         round->pmf      on the pair
 *   trackers   g->own          behind the NUMBERS below
 *
 * safe=1: E, and with it every round with one survivor, is never used; the estimate that chooses is O.
 * width=certified: as safe=1, but all weights are 1, and the filter's width is a bound that is proved
 * (learners/certified.h). It lets nearly all arms live for long; as the proof is for any pair and any coin that are
 * chosen before the draw, they are the best arm and the survivor farthest from it, and f is still that of the coin.
 *
 * None of the constants has a unit: rewards may be rescaled, and contexts together with lambda. They were chosen on
 * repetitions of seed 101 (docs/learners/gbose-auto.md). */
#include "learners/options.h"
#include "learners/orthogonal.h"

#include <math.h>
#include <string.h>

#include "core/arms.h"
#include "core/kernels.h"
#include "core/normal.h"
#include "learners/certified.h"
#include "learners/trackers.h"
#include "learners/watch.h"

#define KAPPA_O 0.3
#define LOG_O 4.0
#define CALM_O 60.0
#define KAPPA_E 0.5
#define CALM 2.0 /* u up to here is as it should be */
#define RAMP 4.0 /* rounds for each dimension until E's kappa is whole */
#define RAMP_LEAST 0.1
#define P_MOST 0.95
#define D_HIGH 1.0
#define D_COINS 2.0  /* for each dimension, before D begins */
#define D_LEAST -2.0 /* E cannot earn more credit than this */
#define E_SURPRISE 4.0
#define D_STEP 1.0 /* what one coin can say: a jump of v is not taken for evidence */
#define D_MOST 50.0
#define D_FORGET 0.999
#define D_SHARE 0.5 /* of the difference of squared errors: that of the log-likelihoods */
#define FEW 10      /* rounds before weights and clipping begin */
#define S_FORGET 0.98
#define S_LONG_FORGET 0.99
#define S_COIN_FORGET 0.999
#define S_ROOM 2.0  /* s^2 may be so many times s_min^2 before weights fall */
#define S_CLIP 16.0 /* e^2 counts at most this often s^2 */
#define LOSS_FORGET 0.98
#define LEAD 1.05         /* the leading tracker changes when another one is better by this factor */
#define TREND_SCALE 100.0 /* rounds that are a unit of time to a tracker: as many as it remembers */
#define SETTLE 5          /* rounds for each feature before a tracker may lead */
#define SCALE_FORGET 0.999
#define REACTION_MOST 2.0
#define ROUND_FORGET                                                                                         \
    (1 - 1.0 / 16384)    /* of the round's features: hardly, so that slopes keep their meaning */
#define ROUNDING 1e-9    /* far more than an image's relative error */
#define SCORE_MOST 1e250 /* beyond this no digit of a score is left */
#define E_MOST 1e140     /* residuals are clipped to this: their squares are then finite */

/* g->own: these numbers, mean and variance of the round's features, padded, the trackers' (learners/trackers.h), then what
 * gbose_diagnose() rests on (learners/watch.h). */
enum {
    COINS,  /* learned */
    USE_E,  /* 1: E chooses */
    CLOCK,  /* sum of E's weights, forgetting as the regressions do */
    LEADER, /* which tracker */
    D,
    S, /* sums of e^2 and of 1, discounted: short, long. e is by the baseline in the ticket, for O */
    S_N,
    S_LONG,
    S_LONG_N,
    S_MIN, /* squared */
    E_S,   /* the same for E: e is by the baseline of the time of learning */
    E_S_N,
    E_S_LONG,
    E_S_LONG_N,
    E_S_MIN,
    S_COIN, /* as S, in rounds with a coin */
    S_COIN_N,
    SCORE2, /* discounted mean of m^2, which scores are scaled by as features */
    ROUNDS, /* learned */
    NUMBERS
};

/* The note in a ticket: these, the features of the round as the caller gave them, then b_a, X and, if there is an E,
 * b_best, of dim numbers each. */
struct note {
    double p; /* of the arm; 1: no coin, and X = 0 */
    double w; /* weight of O's term */
    double vhat;
    double score;        /* of the arm, by the estimate in use */
    double base, base_O; /* bbar'mu by the estimate in use, and by O */
    double x_O, x_E;     /* X'mu by O and by E */
    double clock;        /* rewards learned here before the arm was drawn */
    double best;         /* of all arms' scores, by the estimate in use */
};
#define NOTE (sizeof(struct note) / sizeof(double))

static double clip(double x, double most)
{
    return x > most ? most : x < -most ? -most : x;
}

/* fmax() is a call. */
static double larger(double a, double b)
{
    return a > b ? a : b;
}

static int has_E(const gbose *g)
{
    return !g->set.safe && !g->set.certified;
}

static struct gbose__trackers trackers(const gbose *g)
{
    return (struct gbose__trackers){g->dim, g->set.round, g->own + gbose__pad(NUMBERS + 2 * g->set.round)};
}

static size_t numbers(const gbose *g)
{
    return gbose__pad(NUMBERS + 2 * g->set.round) + gbose__trackers_size(g->dim, g->set.round) +
           gbose__watch_size(g->dim);
}

static struct gbose__watch watch(const gbose *g)
{
    return (struct gbose__watch){g->dim, g->own + g->n_own - gbose__watch_size(g->dim)};
}

static int init(gbose *g)
{
    struct gbose__trackers t = trackers(g);

    g->own[USE_E] = has_E(g);
    gbose__trackers_init(&t);
    if (!has_E(g) && !g->set.certified)
        return GBOSE_OK;
    return gbose__ridge_init(&g->level, g->dim, g->set.lambda, g->set.forget); /* E, or H */
}

static const struct gbose__ridge *in_use(const gbose *g)
{
    return g->own[USE_E] > 0 ? &g->level : &g->model;
}

/* A feature, scaled by the root of the mean square of what came before. The first one ever is of size 1. */
static double scaled(double value, double mean_square)
{
    double scale = mean_square > 0 ? sqrt(mean_square) : fabs(value);

    return scale > 0 ? clip(value / scale, GBOSE__PHI_MOST) : 0;
}

static void features(const gbose *g, double *phi, double best, double clock, const double *round)
{
    const double *mean = g->own + NUMBERS, *variance = mean + g->set.round;

    phi[GBOSE__PHI_BEST] = scaled(best, g->own[SCORE2]);
    phi[GBOSE__PHI_TIME] = clock / TREND_SCALE;
    phi[GBOSE__PHI_ROOT] = sqrt(fabs(phi[GBOSE__PHI_BEST]));
    for (size_t i = 0; i < g->set.round; i++)
        phi[GBOSE__PHI_ROUND + i] = variance[i] > 0 ? scaled(round[i] - mean[i], variance[i]) : 0;
}

/* Mean and variance of the round's features, each discounted; at first they are those of all rounds. */
static void update_round_scales(gbose *g, const double *round)
{
    double *mean = g->own + NUMBERS, *variance = mean + g->set.round;
    double share = fmax(1 / (g->own[ROUNDS] + 1), 1 - ROUND_FORGET);

    for (size_t i = 0; i < g->set.round; i++) {
        double off = round[i] - mean[i];
        mean[i] += share * off;
        variance[i] = (1 - share) * (variance[i] + share * off * off);
    }
}

/* ---- a decision ---- */

/* `of` is S or E_S. */
static double s2(const gbose *g, size_t of)
{
    const double *s = g->own + of - S;

    return s[S_N] > 0 ? s[S] / s[S_N] : 0;
}

static double weight(const gbose *g, size_t of)
{
    double now = s2(g, of), room = S_ROOM * g->own[of + S_MIN - S];

    return g->own[ROUNDS] > FEW && now > room && !g->set.certified ? room / now : 1;
}

/* In units of the filter: infinite before the first residual. */
static double sigma(const gbose *g)
{
    const double *own = g->own;
    size_t of = own[USE_E] > 0 ? E_S : S;

    if (!(own[ROUNDS] > 0))
        return GBOSE__LARGEST;
    return sqrt(own[ROUNDS] > FEW ? own[of + S_MIN - S] : s2(g, of));
}

/* f(h) / h where u is small: it is nowhere less. */
static double least_slope(const gbose *g)
{
    double kappa = KAPPA_O;

    if (g->own[USE_E] > 0)
        kappa = KAPPA_E * clip(larger(RAMP_LEAST, (g->own[ROUNDS] + 1) / (RAMP * (double)g->dim)), 1);
    return kappa * sigma(g);
}

/* How many times that it is at h. */
static double rise(const gbose *g, double h)
{
    double u = h * h * (g->own[CLOCK] + 1) / (double)g->dim;

    if (g->own[USE_E] > 0)
        return larger(1, u / CALM);
    return larger(1, u / CALM_O) * (u > CALM ? sqrt(1 + LOG_O * gbose__log(u / CALM)) : 1);
}

/* f(h) */
static double width(const gbose *g, double h)
{
    return rise(g, h) * least_slope(g) * h;
}

/* Those of the `count` arms in round->live that are at most f behind the best one, `square` being their squared
 * distances from it: h is at most reach (distance + error). Most are told by f's least slope. */
static size_t keep_near(const gbose *g, struct gbose__round *round, size_t best, size_t count, double reach,
                        double error)
{
    const double *score = round->aside, *square = round->arms.square;
    double slope = least_slope(g);
    size_t kept = 0;

    for (size_t a = 0; a < count; a++) {
        size_t i = round->live[a];
        double lead = score[best] - score[i], h = reach * (sqrt(square[a]) + error);

        round->live[kept] = i;
        kept += i == best || lead <= slope * h || lead <= rise(g, h) * slope * h;
    }
    return kept;
}

/* How far arm j may be behind arm i for sure; radius: of the bound (learners/certified.h). */
static double certified_width(const gbose *g, struct gbose__round *round, double radius, size_t i, size_t j)
{
    const double *a = round->image + i * round->stride, *b = round->image + j * round->stride;

    for (size_t k = 0; k < round->stride; k++)
        round->matrix[k] = a[k] - b[k];
    return gbose__certified_bound(g, radius, round->matrix);
}

/* The arms that are not behind the best one for sure. */
static void certified_survivors(const gbose *g, struct gbose__round *round, size_t best)
{
    double radius = gbose__certified_radius(g);

    gbose__ridge_apply(&g->model, round->image, round->context, NULL, round->n);
    round->n_live = 0;
    for (size_t i = 0; i < round->n; i++)
        if (i == best || !(round->aside[best] - round->aside[i] > certified_width(g, round, radius, best, i)))
            round->live[round->n_live++] = i;
}

/* The best arm and the survivor farthest from it; there must be two. */
static void with_best(const struct gbose__round *round, size_t best, size_t *k, size_t *l)
{
    double most = -1;

    *k = best;
    for (size_t i = 0; i < round->n_live; i++) {
        double h2 = gbose__distance2(round->image + best * round->stride,
                                     round->image + round->live[i] * round->stride, round->stride);
        if (round->live[i] != best && !(h2 <= most)) {
            most = h2;
            *l = round->live[i];
        }
    }
}

/* The arms that are at most f behind the best one. R is at most reach, so that contexts alone rule most of them
 * out, and images, dim times as dear, are formed of the rest. */
static void survivors(const gbose *g, struct gbose__round *round, size_t best)
{
    const struct gbose__ridge *in = in_use(g);
    const double *context = round->context + best * round->stride;
    double norm = sqrt(gbose__dot(context, context, round->stride)), *square = round->arms.square;
    size_t count = round->n, even = 0;

    for (size_t i = 0; i < round->n; i++) {
        round->live[i] = i;
        even += round->aside[i] == round->aside[best];
    }
    if (even < round->n) {
        gbose__kernels->squares(square, round->context, NULL, context, count, round->stride);
        count = keep_near(g, round, best, count, in->reach * (1 + ROUNDING), ROUNDING * norm);
    }
    if (count > 1)
        gbose__ridge_apply(in, round->image, round->context, round->live, count);
    if (count > 1 && even < round->n) {
        gbose__kernels->squares(square, round->image, round->live, round->image + best * round->stride, count,
                                round->stride);
        count = keep_near(g, round, best, count, 1, 0);
    }
    round->n_live = count;
}

static void decide(const gbose *g, struct gbose__round *round)
{
    double lead, h, p = 0.5;
    size_t best, k, l;

    /* aside: scores by the estimate in use; swing: those by E */
    memset(round->pmf, 0, round->n * sizeof *round->pmf);
    if (has_E(g))
        gbose__kernels->dots(round->swing, round->context, g->level.mu, round->n, round->stride);
    else
        memset(round->swing, 0, round->n * sizeof *round->swing);
    memcpy(round->aside, g->own[USE_E] > 0 ? round->swing : round->score, round->n * sizeof *round->aside);
    if (!gbose__kernels->within(round->swing, round->n, SCORE_MOST))
        return; /* no probabilities, and the decision is refused */
    best = gbose__argmax(round->aside, round->n);
    if (g->set.certified)
        certified_survivors(g, round, best);
    else
        survivors(g, round, best);
    if (round->n_live == 1) {
        round->pmf[best] = 1;
        return;
    }
    if (g->set.certified)
        with_best(round, best, &k, &l);
    else
        gbose__farthest(round, &k, &l);
    if (round->aside[l] > round->aside[k]) {
        size_t swap = k;
        k = l;
        l = swap;
    }
    round->live[0] = k;
    round->live[1] = l;
    round->n_live = 2;
    lead = round->aside[k] - round->aside[l];
    if (lead > 0) {
        h = sqrt(gbose__distance2(round->image + k * round->stride, round->image + l * round->stride,
                                  round->stride));
        p = gbose__normal_cdf(lead / width(g, h));
    }
    round->pmf[k] = p < P_MOST ? p : P_MOST; /* a NaN, when lead and width overflow, is P_MOST too */
    round->pmf[l] = 1 - round->pmf[k];
}

/* By pi, whose arms are what is left in round->live. */
static double mean_of(const struct gbose__round *round, const double *score)
{
    double sum = 0;

    for (size_t a = 0; a < round->n_live; a++)
        sum += round->pmf[round->live[a]] * score[round->live[a]];
    return sum;
}

/* v', by the leading tracker. */
static double reaction(const gbose *g, const struct gbose__tracker *leader, const double *phi)
{
    double slope = gbose__tracker_slope(leader, phi, in_use(g)->mu), scale = sqrt(g->own[SCORE2]);

    return slope != 0 && scale > 0 ? clip(slope / scale, REACTION_MOST) : 0;
}

static void explain(const gbose *g, struct gbose__round *round, size_t arm)
{
    struct note note = {0};
    struct gbose__trackers t = trackers(g);
    struct gbose__tracker leader = gbose__tracker_at(&t, (size_t)g->own[LEADER]);
    size_t best = gbose__argmax(round->aside, round->n);
    const double *b = round->context + arm * round->stride, *b_best = round->context + best * round->stride;
    double *bhat = round->matrix, *x = round->centre, phi[GBOSE__MAX_PHI], rhat, seen, mean_O, mean_E;

    note.clock = (double)g->model.steps;
    note.best = clip(round->aside[best], E_MOST);
    features(g, phi, note.best, note.clock, round->feature);
    rhat = clip(gbose__tracker_predict(&leader, phi, bhat), GBOSE_MAX_INPUT);
    if (!gbose__kernels->within(bhat, round->stride, GBOSE_MAX_INPUT))
        for (size_t i = 0; i < round->stride; i++)
            bhat[i] = clip(bhat[i], GBOSE_MAX_INPUT);
    seen = gbose__dot(bhat, in_use(g)->mu, round->stride);
    note.vhat = clip(rhat - seen, GBOSE_MAX_INPUT);
    note.score = clip(round->aside[arm], E_MOST);
    note.w = weight(g, S);
    mean_O = mean_of(round, round->score);
    mean_E = mean_of(round, round->swing);
    note.base = clip(g->own[USE_E] > 0 ? mean_E : mean_O, E_MOST);
    note.base_O = clip(mean_O, GBOSE_MAX_INPUT);
    note.x_O = clip(round->score[arm] - mean_O, E_MOST);
    note.x_E = clip(round->swing[arm] - mean_E, E_MOST);
    note.p = round->pmf[arm];

    if (note.p < 1) {
        size_t other = round->live[arm == round->live[0]];
        const double *b_other = round->context + other * round->stride;

        for (size_t j = 0; j < round->stride; j++)
            x[j] = round->pmf[other] * (b[j] - b_other[j]);
    } else {
        memset(x, 0, round->stride * sizeof *x);
    }
    gbose__put_doubles(&round->writer, (const double *)&note, NOTE);
    gbose__put_doubles(&round->writer, round->feature, g->set.round);
    gbose__put_doubles(&round->writer, b, g->dim);
    gbose__put_doubles(&round->writer, x, g->dim);
    if (has_E(g))
        gbose__put_doubles(&round->writer, b_best, g->dim);
}

/* ---- a reward ---- */

static size_t note_words(const gbose *g)
{
    return NOTE + (has_E(g) ? 3 : 2) * g->dim + g->set.round;
}

/* Leaves b_a, X and b_best where learn() wants them. */
static int note_is_sane(const gbose *g, struct gbose__reader r)
{
    struct note note;
    double *b = g->spare, round[GBOSE__MAX_ROUND];
    int fine;

    gbose__get_doubles(&r, (double *)&note, NOTE);
    fine = note.p > 0 && note.p <= 1 && note.w >= 0 && note.w <= 1;
    fine &= fabs(note.vhat) <= GBOSE_MAX_INPUT && fabs(note.base_O) <= GBOSE_MAX_INPUT;
    fine &= note.clock >= 0 && note.clock <= 1e18;
    fine &= fabs(note.score) <= E_MOST && fabs(note.base) <= E_MOST && fabs(note.x_O) <= E_MOST &&
            fabs(note.x_E) <= E_MOST && fabs(note.best) <= E_MOST;
    gbose__get_doubles(&r, round, g->set.round);
    fine &= gbose__kernels->within(round, g->set.round, GBOSE_MAX_INPUT);
    gbose__get_doubles(&r, b, g->dim);
    fine &= gbose__kernels->within(b, g->model.stride, GBOSE_MAX_INPUT);
    gbose__get_doubles(&r, g->model.x, g->dim);
    fine &= gbose__kernels->within(g->model.x, g->model.stride, 2 * GBOSE_MAX_INPUT);
    if (has_E(g)) {
        gbose__get_doubles(&r, g->level.x, g->dim);
        fine &= gbose__kernels->within(g->level.x, g->level.stride, GBOSE_MAX_INPUT);
    }
    return fine && !r.bad;
}

/* Every tracker meets the round; who leads afterwards. x is scratch for a row. */
static void update_trackers(gbose *g, const struct note *note, const double *round, const double *b,
                            double reward, double *x)
{
    struct gbose__trackers t = trackers(g);
    struct gbose__tracker v = gbose__tracker_at(&t, 0);
    double *own = g->own, phi[GBOSE__MAX_PHI], rows[GBOSE__MAX_SEEN], *seen = rows;
    size_t count = gbose__trackers_count(t.round), leader = (size_t)own[LEADER], best = leader;
    const double *least = NULL, *lead = NULL;

    features(g, phi, note->best, note->clock, round);
    gbose__trackers_see(&t, rows, in_use(g)->mu);
    for (; v.k < count; seen += 1 + v.q, gbose__tracker_next(&t, &v)) {
        double e = clip(reward - note->score - gbose__tracker_baseline(&v, phi, seen), E_MOST);

        *v.loss = LOSS_FORGET * *v.loss + (1 - LOSS_FORGET) * e * e;
        gbose__tracker_learn(&v, phi, reward, b, x);
        if (v.k == leader)
            lead = v.loss;
        if (own[ROUNDS] >= SETTLE * (double)v.q && (!least || *v.loss < *least)) {
            least = v.loss;
            best = v.k;
        }
    }
    if (LEAD * *least < *lead)
        own[LEADER] = (double)best;
}

/* The comparison of E with O on a coin, before either has learned from it. */
static void compare(gbose *g, const struct note *note, double reward)
{
    double *own = g->own, now = s2(g, S), coins, y = reward - note->vhat - note->base, e_E, e_O;

    if (own[COINS] < D_COINS * (double)g->dim)
        return;
    coins = own[S_COIN] / own[S_COIN_N];
    if (coins > now)
        now = coins;
    e_E = clip(y - note->x_E, E_MOST);
    e_O = clip(y - note->x_O, E_MOST);
    if (now > 0)
        own[D] = D_FORGET * own[D] + clip(D_SHARE * (e_E * e_E - e_O * e_O) / now, D_STEP);
    own[D] = fmin(D_MOST, fmax(D_LEAST, own[D]));
}

/* `of` is S or E_S; the round has been counted. */
static void update_scale(gbose *g, size_t of, double e)
{
    double *s = g->own + of - S, e2 = e * e, now = s2(g, of);

    if (g->own[ROUNDS] > FEW && e2 > S_CLIP * now)
        e2 = S_CLIP * now;
    s[S] = S_FORGET * s[S] + e2;
    s[S_N] = S_FORGET * s[S_N] + 1;
    s[S_LONG] = S_LONG_FORGET * s[S_LONG] + e2;
    s[S_LONG_N] = S_LONG_FORGET * s[S_LONG_N] + 1;
    if (g->own[ROUNDS] <= FEW)
        s[S_MIN] = s2(g, of);
    else if (s[S_LONG] / s[S_LONG_N] < s[S_MIN])
        s[S_MIN] = s[S_LONG] / s[S_LONG_N];
    if (!(s[S_MIN] > 0)) /* the first rewards were all the same: nothing is known of s yet */
        s[S_MIN] = s[S_LONG] / s[S_LONG_N];
}

/* e: the residual by the baseline in the ticket; e_E: by that of now. */
static void update_scales(gbose *g, const struct note *note, double e, double e_E)
{
    double *own = g->own, w = has_E(g) ? weight(g, E_S) : note->w;

    if (note->p < 1) {
        own[S_COIN] = S_COIN_FORGET * own[S_COIN] + e * e;
        own[S_COIN_N] = S_COIN_FORGET * own[S_COIN_N] + 1;
        own[COINS]++;
    }
    own[CLOCK] = g->set.forget * own[CLOCK] + w * w;
    own[ROUNDS]++;
    update_scale(g, S, e);
    if (has_E(g))
        update_scale(g, E_S, e_E);
    own[SCORE2] = own[ROUNDS] > 1 ? SCALE_FORGET * own[SCORE2] + (1 - SCALE_FORGET) * note->best * note->best
                                  : note->best * note->best;
}

/* r - c, O's response. */
static double response(const gbose *g, const struct note *note, double reward)
{
    if (g->set.certified)
        return reward - gbose__certified_baseline(&g->set, note->vhat + note->base_O);
    return reward - note->vhat - note->base_O;
}

static void tell_watch(const gbose *g, const struct note *note, const double *b, double reward)
{
    struct gbose__watch w = watch(g);
    struct gbose__watched round = {.reward = reward,
                                   .b = b,
                                   .shift = clip(reward - note->score, E_MOST),
                                   .residual = clip(reward - note->vhat - note->score, E_MOST),
                                   .coin = note->p < 1,
                                   .w = note->w,
                                   .coin_residual = clip(response(g, note, reward) - note->x_O, E_MOST)};

    gbose__watch_learn(&w, &round, g->set.forget);
}

/* E's response, at most E_SURPRISE s away from what E expects: a jump of v counts, but does not rule. O has no such
 * limit, which would bias it. */
static double believable(const gbose *g, double response)
{
    double expected = gbose__dot(g->level.x, g->level.mu, g->model.stride),
           most = E_SURPRISE * sqrt(s2(g, E_S));

    return g->own[ROUNDS] > FEW ? expected + clip(response - expected, most) : response;
}

/* What E learns: x in g->level.x, where b_best was, and the response. bhat is scratch for a row of zeros. Returns the
 * residual. */
static double look_back(const gbose *g, const struct note *note, const double *round, const double *b,
                        double reward, double *bhat, double *y)
{
    struct gbose__trackers t = trackers(g);
    struct gbose__tracker leader = gbose__tracker_at(&t, (size_t)g->own[LEADER]);
    const double *mu = in_use(g)->mu;
    double *x = g->level.x, phi[GBOSE__MAX_PHI], rhat, seen, best, react;

    features(g, phi, note->best, note->clock, round);
    rhat = clip(gbose__tracker_predict(&leader, phi, bhat), GBOSE_MAX_INPUT);
    for (size_t i = 0; i < g->dim; i++)
        bhat[i] = clip(bhat[i], GBOSE_MAX_INPUT);
    seen = gbose__dot(bhat, mu, g->model.stride);
    best = gbose__dot(x, mu, g->model.stride);
    react = reaction(g, &leader, phi);
    for (size_t i = 0; i < g->dim; i++)
        x[i] = b[i] - bhat[i] + react * (x[i] - bhat[i]);
    *y = reward - clip(rhat - react * (best - seen), GBOSE_MAX_INPUT);
    return clip(reward - clip(rhat - seen, GBOSE_MAX_INPUT) -
                    clip(gbose__dot(b, mu, g->model.stride), E_MOST),
                E_MOST);
}

static void learn(gbose *g, struct gbose__reader r, double reward)
{
    struct note note;
    double *b = g->spare, *own = g->own;
    double round[GBOSE__MAX_ROUND], y = 0, e_E = 0, w = weight(g, E_S);

    gbose__get_doubles(&r, (double *)&note, NOTE);
    gbose__get_doubles(&r, round, g->set.round);
    if (has_E(g))
        e_E = look_back(g, &note, round, b, reward, b + g->model.stride, &y);
    update_trackers(g, &note, round, b, reward, b + g->model.stride);

    tell_watch(g, &note, b, reward);

    gbose__ridge_begin(&g->model);
    if (note.p < 1) {
        if (has_E(g))
            compare(g, &note, reward);
        gbose__ridge_term(&g->model, g->model.x, note.w, note.w * response(g, &note, reward));
    }
    if (g->set.certified) {
        gbose__ridge_begin(&g->level);
        if (note.p < 1) {
            double c = gbose__certified_baseline(&g->set, note.vhat + note.base_O);
            gbose__ridge_term(&g->level, g->model.x, gbose__certified_weight(&g->set, note.p, c), 0);
        }
    }
    if (has_E(g)) {
        if (own[D] >= D_HIGH)
            own[USE_E] = 0;
        else if (own[D] < 0)
            own[USE_E] = 1;
        gbose__ridge_begin(&g->level);
        gbose__ridge_term(&g->level, g->level.x, w * w, w * w * believable(g, y));
    }
    update_round_scales(g, round);
    update_scales(g, &note, clip(reward - note.vhat - note.score, E_MOST), e_E);
}

/* ---- keeping and sharing ---- */

static int own_is_sane(const gbose *g)
{
    struct gbose__trackers t = trackers(g);
    struct gbose__watch w = watch(g);
    const double *own = g->own;
    int fine = own[LEADER] >= 0 && own[LEADER] < (double)gbose__trackers_count(t.round) &&
               own[LEADER] == floor(own[LEADER]);

    fine &= gbose__kernels->within(own, g->n_own, 1e300); /* what is only padding, too */
    fine &= own[USE_E] == 0 || (own[USE_E] == 1 && has_E(g));
    fine &= own[D] >= D_LEAST && own[D] <= D_MOST;
    for (size_t i = 0; i < NUMBERS; i++)
        fine &= i == D || (own[i] >= 0 && own[i] <= 1e300);
    for (size_t i = NUMBERS; i < NUMBERS + g->set.round; i++) {
        fine &= fabs(own[i]) <= 2 * GBOSE_MAX_INPUT;                          /* mean */
        fine &= own[i + g->set.round] >= 0 && own[i + g->set.round] <= 1e300; /* variance */
    }
    return fine && own[COINS] <= own[ROUNDS] && gbose__trackers_are_sane(&t) && gbose__watch_is_sane(&w);
}

/* Trackers and scales follow the present of the learner that goes on. */
static void merged(gbose *into, const gbose *from, const double *common, double remains)
{
    struct gbose__watch w = watch(into);
    size_t before = (size_t)(w.at - into->own);

    gbose__watch_merge(&w, from->own + before, common ? common + before : NULL, remains);
    into->own[CLOCK] += from->own[CLOCK] - (common ? remains * common[CLOCK] : 0);
    into->own[COINS] += from->own[COINS] - (common ? common[COINS] : 0);
    into->own[ROUNDS] += from->own[ROUNDS] - (common ? common[ROUNDS] : 0);
}

static int diagnose(const gbose *g, gbose_diagnosis *out)
{
    struct gbose__watch w = watch(g);
    struct gbose__trackers t = trackers(g);
    struct gbose__tracker leader = gbose__tracker_at(&t, (size_t)g->own[LEADER]);
    int rc = gbose__watch_report(&w, &g->model, out);

    if (rc)
        return rc;
    out->tracker = leader.name;
    out->tracker_forget = leader.forget;
    out->full = g->own[USE_E] > 0;
    return GBOSE_OK;
}

static double width_of(const gbose *g, const double *x)
{
    return g->set.certified ? gbose__certified_width(g, x) : gbose__ridge_width(&g->model, x, g->dim);
}

static int check(const struct gbose__settings *set, gbose_error *err)
{
    if (set->certified && set->forget < 1)
        return gbose__fail(err, GBOSE_ESPEC, "width=certified has no proof for forget=%g; it needs forget=1",
                           set->forget);
    return GBOSE_OK;
}

static const gbose_option options[] = {
    {"safe", GBOSE_INTEGER, 0, 1, NULL, "0",
     "1: never use rounds with one survivor; the estimate that chooses is then unbiased whatever v does"},
    {"round", GBOSE_INTEGER, 0, GBOSE__MAX_ROUND, NULL, "0",
     "number of features of the round, which gbose_decide_in() takes: what may move the rewards of all arms"},
    {"width", GBOSE_WORD, 0, 0, "auto|certified", "auto",
     "how far an arm may be behind the best: 'auto', by the data, or 'certified', a bound that is proved "
     "under the "
     "assumptions noise, range and norm; it implies safe=1"},
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
     "ridge penalty of both regressions"},
    OPTION_FORGET,
    OPTION_SEED,
};

static const struct gbose__extra extra = {
    .numbers = numbers,
    .init = init,
    .note_words = note_words,
    .note_is_sane = note_is_sane,
    .learn = learn,
    .own_is_sane = own_is_sane,
    .merged = merged,
    .diagnose = diagnose,
    .width = width_of,
};

const struct gbose__learner gbose__gbose_auto = {
    .info = {"gbose-auto", "GBOSE with nothing to tune: baseline, width and efficiency from the data",
             options, GBOSE__COUNT(options)},
    .check = check,
    .decide = decide,
    .explain = explain,
    .extra = &extra,
};
