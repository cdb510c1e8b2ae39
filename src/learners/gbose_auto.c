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
 *   O          g->fit[O]       lambda I + sum w X X'; gbose_coef() is its estimate, unbiased
 *   E          g->fit[E]       lambda I + sum w^2 x x'; not there with safe=1
 *   H          g->fit[H]       in E's place with width=certified
 *   pi         round->pmf      on the pair
 *   trackers   g->state        behind the struct `state` below
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
#include "learners/survivors.h"

#include <math.h>
#include <string.h>

#include "core/arms.h"
#include "core/kernels.h"
#include "core/memory.h"
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
    (1 - 1.0 / 16384) /* of the round's features: hardly, so that slopes keep their meaning */
#define ROUNDING 1e-9 /* far more than an image's relative error */
#define E_MOST 1e140  /* residuals are clipped to this: their squares are then finite */

/* The regressions. */
enum { O, E, H = E };

struct own {
    int safe;
    int certified;                 /* width=certified */
    size_t round;                  /* features of the round */
    double forget;                 /* of the regressions */
    struct gbose__certified bound; /* the assumptions of width=certified */
    double *b;                     /* two rows, for learn to work in: the context played, and one more */
    double *row;
};

/* The size of recent residuals e, and the least that it was: sums of e^2 and of 1, discounted. */
struct scale {
    double sum, n;
    double long_sum, long_n;
    double min; /* s_min^2 */
};

/* What the learner has learned beside its regressions: the beginning of g->state. It is followed by the mean and the
 * variance of each feature of the round, then the trackers (learners/trackers.h), then what gbose_diagnose() rests on
 * (learners/watch.h). All of it is doubles, which are saved as they are. */
struct state {
    double coins;  /* rounds learned in which the arm was not certain */
    double use_E;  /* 1: E chooses */
    double clock;  /* sum of E's weights, forgetting as the regressions do */
    double leader; /* which tracker */
    double D;
    struct scale by_ticket;  /* of residuals by the baseline in the ticket, for O */
    struct scale by_present; /* of residuals by the baseline at the time of learning, for E */
    double coin_sum, coin_n; /* sums of e^2 (by the ticket) and of 1 over the coins, discounted */
    double best_square;      /* discounted mean of m^2, by which scores are scaled as features */
    double rounds;           /* learned */
};
enum { STATE_NUMBERS = sizeof(struct state) / sizeof(double) };

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

static struct state *state_of(const gbose *g)
{
    return (struct state *)g->state;
}

static int has_E(const gbose *g)
{
    const struct own *own = g->own;

    return !own->safe && !own->certified;
}

static int uses_E(const gbose *g)
{
    return state_of(g)->use_E > 0;
}

/* Doubles of the state before the trackers begin. */
static size_t numbers(const gbose *g)
{
    return gbose__pad(STATE_NUMBERS + 2 * g->round_features);
}

static struct gbose__trackers trackers_in(const gbose *g, double *state)
{
    return (struct gbose__trackers){g->dim, g->round_features, state + numbers(g)};
}

static struct gbose__trackers trackers(const gbose *g)
{
    return trackers_in(g, g->state);
}

static struct gbose__watch watch_in(const gbose *g, double *state)
{
    return (struct gbose__watch){g->dim,
                                 state + numbers(g) + gbose__trackers_size(g->dim, g->round_features)};
}

static struct gbose__watch watch(const gbose *g)
{
    return watch_in(g, g->state);
}

static int read_options(gbose *g, gbose_error *err)
{
    struct own *own = g->own;

    own->safe = (int)gbose__learner_option(g, "safe")->integer;
    own->certified = gbose__learner_option(g, "width")->word == 1;
    own->round = (size_t)gbose__learner_option(g, "round")->integer;
    own->forget = gbose__learner_option(g, "forget")->number;
    own->bound.noise = gbose__learner_option(g, "noise")->number;
    own->bound.range = gbose__learner_option(g, "range")->number;
    own->bound.norm = gbose__learner_option(g, "norm")->number;
    own->bound.delta = gbose__learner_option(g, "delta")->number;
    if (own->certified && own->forget < 1)
        return gbose__fail(err, GBOSE_ESPEC, "width=certified has no proof for forget=%g; it needs forget=1",
                           own->forget);
    return GBOSE_OK;
}

static int init(gbose *g, gbose_error *err)
{
    struct own *own = g->own;
    double lambda = gbose__learner_option(g, "lambda")->number;
    struct gbose__trackers t;
    int rc = read_options(g, err);

    if (rc)
        return rc;
    g->round_features = own->round;
    g->max_terms = 0;
    g->max_terms_per_arm = own->certified ? 1 : 0; /* for H */
    g->note_words = NOTE + (has_E(g) ? 3 : 2) * g->dim + own->round;
    rc = gbose__learner_fit(g, g->dim, lambda);
    if (!rc && (has_E(g) || own->certified))
        rc = gbose__learner_fit(g, g->dim, lambda);
    if (!rc)
        rc = gbose__learner_state(g, numbers(g) + gbose__trackers_size(g->dim, own->round) +
                                         gbose__watch_size(g->dim));
    if (rc)
        return rc;
    own->b = gbose__alloc(2 * g->fit[O].stride, sizeof(double));
    if (!own->b)
        return GBOSE_ENOMEM;
    own->row = own->b + g->fit[O].stride;
    state_of(g)->use_E = has_E(g);
    t = trackers(g);
    gbose__trackers_init(&t);
    return GBOSE_OK;
}

static void clear(gbose *g)
{
    struct own *own = g->own;

    gbose__free(own->b);
}

static const struct gbose__ridge *in_use(const gbose *g)
{
    return &g->fit[uses_E(g) ? E : O];
}

/* A feature, scaled by the root of the mean square of what came before. The first one ever is of size 1. */
static double scaled(double value, double mean_square)
{
    double scale = mean_square > 0 ? sqrt(mean_square) : fabs(value);

    return scale > 0 ? clip(value / scale, GBOSE__PHI_MOST) : 0;
}

static void features(const gbose *g, double *phi, double best, double clock, const double *round)
{
    const double *mean = g->state + STATE_NUMBERS, *variance = mean + g->round_features;

    phi[GBOSE__PHI_BEST] = scaled(best, state_of(g)->best_square);
    phi[GBOSE__PHI_TIME] = clock / TREND_SCALE;
    phi[GBOSE__PHI_ROOT] = sqrt(fabs(phi[GBOSE__PHI_BEST]));
    for (size_t i = 0; i < g->round_features; i++)
        phi[GBOSE__PHI_ROUND + i] = variance[i] > 0 ? scaled(round[i] - mean[i], variance[i]) : 0;
}

/* Mean and variance of the round's features, each discounted; at first they are those of all rounds. */
static void update_round_scales(gbose *g, const double *round)
{
    double *mean = g->state + STATE_NUMBERS, *variance = mean + g->round_features;
    double share = fmax(1 / (state_of(g)->rounds + 1), 1 - ROUND_FORGET);

    for (size_t i = 0; i < g->round_features; i++) {
        double off = round[i] - mean[i];
        mean[i] += share * off;
        variance[i] = (1 - share) * (variance[i] + share * off * off);
    }
}

/* ---- a decision ---- */

/* s^2 */
static double recent(const struct scale *scale)
{
    return scale->n > 0 ? scale->sum / scale->n : 0;
}

static double weight(const gbose *g, const struct scale *scale)
{
    const struct own *own = g->own;
    double now = recent(scale), room = S_ROOM * scale->min;

    return state_of(g)->rounds > FEW && now > room && !own->certified ? room / now : 1;
}

/* In units of the filter: infinite before the first residual. */
static double sigma(const gbose *g)
{
    const struct state *state = state_of(g);
    const struct scale *scale = uses_E(g) ? &state->by_present : &state->by_ticket;

    if (!(state->rounds > 0))
        return GBOSE__LARGEST;
    return sqrt(state->rounds > FEW ? scale->min : recent(scale));
}

/* f(h) / h where u is small: it is nowhere less. */
static double least_slope(const gbose *g)
{
    double kappa = KAPPA_O;

    if (uses_E(g))
        kappa = KAPPA_E * clip(larger(RAMP_LEAST, (state_of(g)->rounds + 1) / (RAMP * (double)g->dim)), 1);
    return kappa * sigma(g);
}

/* f(h) / h relative to its minimum: 1 where rounds teach all directions alike, larger where they do not. */
static double rise(const gbose *g, double h)
{
    double u = h * h * (state_of(g)->clock + 1) / (double)g->dim;

    if (uses_E(g))
        return larger(1, u / CALM);
    return larger(1, u / CALM_O) * (u > CALM ? sqrt(1 + LOG_O * gbose__log(u / CALM)) : 1);
}

/* f(h) */
static double width(const gbose *g, double h)
{
    return rise(g, h) * least_slope(g) * h;
}

/* The scores by the estimate in use. */
static const double *scores_in_use(const gbose *g, const struct gbose__input *in)
{
    return uses_E(g) ? in->other_score : in->score;
}

/* other_score: the scores by E, or zeros. */
static int prepare(const gbose *g, struct gbose__input *in)
{
    if (has_E(g))
        gbose__kernels->dots(in->other_score, in->context, g->fit[E].mu, in->n, in->stride);
    else
        memset(in->other_score, 0, in->n * sizeof *in->other_score);
    return gbose__kernels->within(in->other_score, in->n, GBOSE__MAX_SCORE) ? GBOSE_OK : GBOSE_ENUMERIC;
}

/* Those of the `count` arms in round->live that are at most f behind the best one, `square` being their squared
 * distances from it: h is at most reach (distance + error). f's least slope decides for most of them. */
static size_t keep_near(const gbose *g, const double *score, struct gbose__round *round, size_t best,
                        size_t count, double reach, double error)
{
    const double *square = round->arms.square;
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

/* How far arm j may provably be behind arm i; radius: of the bound (learners/certified.h). */
static double certified_width(const gbose *g, const struct gbose__input *in, struct gbose__round *round,
                              double radius, size_t i, size_t j)
{
    const struct own *own = g->own;
    const double *a = round->image + i * in->stride, *b = round->image + j * in->stride;

    for (size_t k = 0; k < in->stride; k++)
        round->matrix[k] = a[k] - b[k];
    return gbose__certified_bound(&own->bound, &g->fit[O], &g->fit[H], radius, round->matrix);
}

/* The arms that are not provably behind the best one. */
static void certified_survivors(const gbose *g, const struct gbose__input *in, struct gbose__round *round,
                                size_t best)
{
    const struct own *own = g->own;
    const double *score = scores_in_use(g, in);
    double radius = gbose__certified_radius(&own->bound, &g->fit[H]);

    gbose__round_images(g, in, round);
    round->n_live = 0;
    for (size_t i = 0; i < in->n; i++)
        if (i == best || !(score[best] - score[i] > certified_width(g, in, round, radius, best, i)))
            round->live[round->n_live++] = i;
}

/* The best arm and the survivor farthest from it; there must be two. */
static void with_best(const struct gbose__input *in, const struct gbose__round *round, size_t best, size_t *k,
                      size_t *l)
{
    double most = -1;

    *k = best;
    for (size_t i = 0; i < round->n_live; i++) {
        double h2 = gbose__distance2(round->image + best * in->stride,
                                     round->image + round->live[i] * in->stride, in->stride);
        if (round->live[i] != best && !(h2 <= most)) {
            most = h2;
            *l = round->live[i];
        }
    }
}

/* The arms that are at most f behind the best one. R is at most reach, so that contexts alone rule most of them
 * out, and images, which cost dim times as much, are formed of the rest. */
static void survivors(const gbose *g, const struct gbose__input *in, struct gbose__round *round, size_t best)
{
    const struct gbose__ridge *fit = in_use(g);
    const double *score = scores_in_use(g, in), *context = gbose__context(in, best);
    double norm = sqrt(gbose__dot(context, context, in->stride)), *square = round->arms.square;
    size_t count = in->n, even = 0;

    for (size_t i = 0; i < in->n; i++) {
        round->live[i] = i;
        even += score[i] == score[best];
    }
    if (even < in->n) {
        gbose__kernels->squares(square, in->context, NULL, context, count, in->stride);
        count = keep_near(g, score, round, best, count, fit->reach * (1 + ROUNDING), ROUNDING * norm);
    }
    if (count > 1)
        gbose__ridge_apply(fit, round->image, in->context, round->live, count);
    if (count > 1 && even < in->n) {
        gbose__kernels->squares(square, round->image, round->live, round->image + best * in->stride, count,
                                in->stride);
        count = keep_near(g, score, round, best, count, 1, 0);
    }
    round->n_live = count;
}

/* Two of the survivors, the better one first. */
static void choose_pair(const gbose *g, const struct gbose__input *in, const struct gbose__round *round,
                        size_t best, size_t *k, size_t *l)
{
    const struct own *own = g->own;
    const double *score = scores_in_use(g, in);

    if (own->certified)
        with_best(in, round, best, k, l);
    else
        gbose__survivors_farthest(in, round, k, l);
    if (score[*l] > score[*k]) {
        size_t swap = *k;
        *k = *l;
        *l = swap;
    }
}

static void decide(const gbose *g, const struct gbose__input *in, struct gbose__round *round)
{
    const struct own *own = g->own;
    const double *score = scores_in_use(g, in);
    double lead, h, p = 0.5;
    size_t best = gbose__argmax(score, in->n), k, l;

    memset(round->pmf, 0, in->n * sizeof *round->pmf);
    if (own->certified)
        certified_survivors(g, in, round, best);
    else
        survivors(g, in, round, best);
    if (round->n_live == 1) {
        round->pmf[best] = 1;
        return;
    }
    choose_pair(g, in, round, best, &k, &l);
    lead = score[k] - score[l];
    if (lead > 0) {
        h = sqrt(gbose__distance2(round->image + k * in->stride, round->image + l * in->stride, in->stride));
        p = gbose__normal_cdf(lead / width(g, h));
    }
    round->pmf[k] = p < P_MOST ? p : P_MOST; /* a NaN, when lead and width overflow, is P_MOST too */
    round->pmf[l] = 1 - round->pmf[k];
}

static double mean_of(const double *pmf, const double *score, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        if (pmf[i] > 0)
            sum += pmf[i] * score[i];
    return sum;
}

/* v', by the leading tracker. */
static double reaction(const gbose *g, const struct gbose__tracker *leader, const double *phi)
{
    double slope = gbose__tracker_slope(leader, phi, in_use(g)->mu), scale = sqrt(state_of(g)->best_square);

    return slope != 0 && scale > 0 ? clip(slope / scale, REACTION_MOST) : 0;
}

/* How many arms have a positive probability, and one of them that is not `arm`. */
static size_t count_possible(const double *pmf, size_t n, size_t arm, size_t *other)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        if (pmf[i] > 0) {
            count++;
            if (i != arm)
                *other = i;
        }
    return count;
}

/* What H learns (learners/certified.h): X X', and Sigma = sum_i pi_i (b_i - bbar)(b_i - bbar)', which for a coin is
 * p (1 - p) z z' with z = b_a - b_other = X / (1 - p). */
static void explain_H(const gbose *g, const struct gbose__input *in, const double *pmf, size_t arm,
                      double baseline, struct gbose__ticket *to)
{
    const struct own *own = g->own;
    double seen, expected, p = pmf[arm];
    size_t other = arm;

    gbose__certified_weights(&own->bound, baseline, &seen, &expected);
    if (count_possible(pmf, in->n, arm, &other) == 2) {
        for (size_t k = 0; k < in->stride; k++)
            to->x[k] = gbose__context(in, arm)[k] - gbose__context(in, other)[k];
        gbose__ticket_term(to, H, (1 - p) * ((1 - p) * seen + p * expected), 0, 0, to->x);
        return;
    }
    for (size_t i = 0; i < in->n; i++)
        if (pmf[i] > 0) {
            gbose__orthogonal_centred(to->x, in, pmf, i);
            gbose__ticket_term(to, H, pmf[i] * expected + (i == arm ? seen : 0), 0, 0, to->x);
        }
}

static void explain(const gbose *g, const struct gbose__input *in, const double *pmf, size_t arm,
                    struct gbose__ticket *to)
{
    const struct own *own = g->own;
    const struct state *state = state_of(g);
    const double *score = scores_in_use(g, in);
    struct note note = {0};
    struct gbose__trackers t = trackers(g);
    struct gbose__tracker leader = gbose__tracker_at(&t, (size_t)state->leader);
    size_t best = gbose__argmax(score, in->n);
    double *bhat = to->centre, phi[GBOSE__MAX_PHI], rhat, seen, mean_O, mean_E;

    note.clock = (double)g->fit[O].steps;
    note.best = clip(score[best], E_MOST);
    features(g, phi, note.best, note.clock, in->round);
    rhat = clip(gbose__tracker_predict(&leader, phi, bhat), GBOSE_MAX_INPUT);
    if (!gbose__kernels->within(bhat, in->stride, GBOSE_MAX_INPUT))
        for (size_t i = 0; i < in->stride; i++)
            bhat[i] = clip(bhat[i], GBOSE_MAX_INPUT);
    seen = gbose__dot(bhat, in_use(g)->mu, in->stride);
    note.vhat = clip(rhat - seen, GBOSE_MAX_INPUT);
    note.score = clip(score[arm], E_MOST);
    note.w = weight(g, &state->by_ticket);
    mean_O = mean_of(pmf, in->score, in->n);
    mean_E = mean_of(pmf, in->other_score, in->n);
    note.base = clip(uses_E(g) ? mean_E : mean_O, E_MOST);
    note.base_O = clip(mean_O, GBOSE_MAX_INPUT);
    note.x_O = clip(in->score[arm] - mean_O, E_MOST);
    note.x_E = clip(in->other_score[arm] - mean_E, E_MOST);
    note.p = pmf[arm];

    if (own->certified && note.p < 1)
        explain_H(g, in, pmf, arm, gbose__certified_baseline(&own->bound, note.vhat + note.base_O), to);
    if (note.p < 1)
        gbose__orthogonal_centred(to->x, in, pmf, arm);
    else
        memset(to->x, 0, in->stride * sizeof *to->x);
    gbose__put_doubles(&to->writer, (const double *)&note, NOTE);
    gbose__put_doubles(&to->writer, in->round, g->round_features);
    gbose__put_doubles(&to->writer, gbose__context(in, arm), g->dim);
    gbose__put_doubles(&to->writer, to->x, g->dim);
    if (has_E(g))
        gbose__put_doubles(&to->writer, gbose__context(in, best), g->dim);
}

/* ---- a reward ---- */

static int note_is_sane(const gbose *g, struct gbose__reader r)
{
    struct note note;
    int fine;

    gbose__get_doubles(&r, (double *)&note, NOTE);
    fine = note.p > 0 && note.p <= 1 && note.w >= 0 && note.w <= 1;
    fine &= fabs(note.vhat) <= GBOSE_MAX_INPUT && fabs(note.base_O) <= GBOSE_MAX_INPUT;
    fine &= note.clock >= 0 && note.clock <= 1e18;
    fine &= fabs(note.score) <= E_MOST && fabs(note.base) <= E_MOST && fabs(note.x_O) <= E_MOST &&
            fabs(note.x_E) <= E_MOST && fabs(note.best) <= E_MOST;
    /* the features of the round, b_a, X and b_best */
    return fine && gbose__ticket_within(&r, g->note_words - NOTE, 2 * GBOSE_MAX_INPUT);
}

/* The note, with the features of the round in `round`, b_a in own->b, X in fit[O].x and b_best in fit[E].x. */
static void read_note(gbose *g, struct gbose__reader r, struct note *note, double *round)
{
    struct own *own = g->own;

    gbose__get_doubles(&r, (double *)note, NOTE);
    gbose__get_doubles(&r, round, g->round_features);
    gbose__get_doubles(&r, own->b, g->dim);
    gbose__get_doubles(&r, g->fit[O].x, g->dim);
    if (has_E(g))
        gbose__get_doubles(&r, g->fit[E].x, g->dim);
}

/* Update every tracker, then pick the leader. x is scratch for a row. */
static void update_trackers(gbose *g, const struct note *note, const double *round, const double *b,
                            double reward, double *x)
{
    struct gbose__trackers t = trackers(g);
    struct gbose__tracker v = gbose__tracker_at(&t, 0);
    struct state *state = state_of(g);
    double phi[GBOSE__MAX_PHI], rows[GBOSE__MAX_SEEN], *seen = rows;
    size_t count = gbose__trackers_count(t.round), leader = (size_t)state->leader, best = leader;
    const double *least = NULL, *lead = NULL;

    features(g, phi, note->best, note->clock, round);
    gbose__trackers_see(&t, rows, in_use(g)->mu);
    for (; v.k < count; seen += 1 + v.q, gbose__tracker_next(&t, &v)) {
        double e = clip(reward - note->score - gbose__tracker_baseline(&v, phi, seen), E_MOST);

        *v.loss = LOSS_FORGET * *v.loss + (1 - LOSS_FORGET) * e * e;
        gbose__tracker_learn(&v, phi, reward, b, x);
        if (v.k == leader)
            lead = v.loss;
        if (state->rounds >= SETTLE * (double)v.q && (!least || *v.loss < *least)) {
            least = v.loss;
            best = v.k;
        }
    }
    if (LEAD * *least < *lead)
        state->leader = (double)best;
}

/* The comparison of E with O on a coin, before either has learned from it. */
static void compare(gbose *g, const struct note *note, double reward)
{
    struct state *state = state_of(g);
    double now = recent(&state->by_ticket), coins, y = reward - note->vhat - note->base, e_E, e_O;

    if (state->coins < D_COINS * (double)g->dim)
        return;
    coins = state->coin_sum / state->coin_n;
    if (coins > now)
        now = coins;
    e_E = clip(y - note->x_E, E_MOST);
    e_O = clip(y - note->x_O, E_MOST);
    if (now > 0)
        state->D = D_FORGET * state->D + clip(D_SHARE * (e_E * e_E - e_O * e_O) / now, D_STEP);
    state->D = fmin(D_MOST, fmax(D_LEAST, state->D));
}

/* A residual of the last of so many rounds. */
static void update_scale(struct scale *scale, double rounds, double e)
{
    double e2 = e * e, now = recent(scale);

    if (rounds > FEW && e2 > S_CLIP * now)
        e2 = S_CLIP * now;
    scale->sum = S_FORGET * scale->sum + e2;
    scale->n = S_FORGET * scale->n + 1;
    scale->long_sum = S_LONG_FORGET * scale->long_sum + e2;
    scale->long_n = S_LONG_FORGET * scale->long_n + 1;
    if (rounds <= FEW)
        scale->min = recent(scale);
    else if (scale->long_sum / scale->long_n < scale->min)
        scale->min = scale->long_sum / scale->long_n;
    if (!(scale->min > 0)) /* the first rewards were all the same: nothing is known of s yet */
        scale->min = scale->long_sum / scale->long_n;
}

/* e: the residual by the baseline in the ticket; e_E: by the present one. */
static void update_scales(gbose *g, const struct note *note, double e, double e_E)
{
    const struct own *own = g->own;
    struct state *state = state_of(g);
    double w = has_E(g) ? weight(g, &state->by_present) : note->w;

    if (note->p < 1) {
        state->coin_sum = S_COIN_FORGET * state->coin_sum + e * e;
        state->coin_n = S_COIN_FORGET * state->coin_n + 1;
        state->coins++;
    }
    state->clock = own->forget * state->clock + w * w;
    state->rounds++;
    update_scale(&state->by_ticket, state->rounds, e);
    if (has_E(g))
        update_scale(&state->by_present, state->rounds, e_E);
    state->best_square =
        state->rounds > 1 ? SCALE_FORGET * state->best_square + (1 - SCALE_FORGET) * note->best * note->best
                          : note->best * note->best;
}

/* r - c, O's response. */
static double response(const gbose *g, const struct note *note, double reward)
{
    const struct own *own = g->own;

    if (own->certified)
        return reward - gbose__certified_baseline(&own->bound, note->vhat + note->base_O);
    return reward - note->vhat - note->base_O;
}

static void tell_watch(const gbose *g, const struct note *note, double reward)
{
    const struct own *own = g->own;
    struct gbose__watch w = watch(g);
    struct gbose__watched round = {.reward = reward,
                                   .b = own->b,
                                   .shift = clip(reward - note->score, E_MOST),
                                   .residual = clip(reward - note->vhat - note->score, E_MOST),
                                   .coin = note->p < 1,
                                   .w = note->w,
                                   .coin_residual = clip(response(g, note, reward) - note->x_O, E_MOST)};

    gbose__watch_learn(&w, &round, own->forget);
}

/* E's response, at most E_SURPRISE s away from what E expects: a jump of v counts, but does not rule. O has no such
 * limit, which would bias it. */
static double believable(const gbose *g, double response)
{
    const struct state *state = state_of(g);
    double expected = gbose__dot(g->fit[E].x, g->fit[E].mu, g->fit[E].stride),
           most = E_SURPRISE * sqrt(recent(&state->by_present));

    return state->rounds > FEW ? expected + clip(response - expected, most) : response;
}

/* What E learns: x in fit[E].x, where b_best was, and the response y. Returns the residual. */
static double look_back(gbose *g, const struct note *note, const double *round, double reward, double *y)
{
    struct own *own = g->own;
    struct gbose__trackers t = trackers(g);
    struct gbose__tracker leader = gbose__tracker_at(&t, (size_t)state_of(g)->leader);
    const double *mu = in_use(g)->mu, *b = own->b;
    double *x = g->fit[E].x, *bhat = own->row, phi[GBOSE__MAX_PHI], rhat, seen, best, react;

    features(g, phi, note->best, note->clock, round);
    rhat = clip(gbose__tracker_predict(&leader, phi, bhat), GBOSE_MAX_INPUT);
    for (size_t i = 0; i < g->dim; i++)
        bhat[i] = clip(bhat[i], GBOSE_MAX_INPUT);
    seen = gbose__dot(bhat, mu, g->fit[O].stride);
    best = gbose__dot(x, mu, g->fit[O].stride);
    react = reaction(g, &leader, phi);
    for (size_t i = 0; i < g->dim; i++)
        x[i] = b[i] - bhat[i] + react * (x[i] - bhat[i]);
    *y = reward - clip(rhat - react * (best - seen), GBOSE_MAX_INPUT);
    return clip(reward - clip(rhat - seen, GBOSE_MAX_INPUT) -
                    clip(gbose__dot(b, mu, g->fit[O].stride), E_MOST),
                E_MOST);
}

static void learn(gbose *g, const struct gbose__lesson *lesson, double reward)
{
    struct own *own = g->own;
    struct state *state = state_of(g);
    struct note note;
    double round[GBOSE__MAX_ROUND], y = 0, e_E = 0, w = weight(g, &state->by_present);

    read_note(g, lesson->note, &note, round);
    if (has_E(g))
        e_E = look_back(g, &note, round, reward, &y);
    update_trackers(g, &note, round, own->b, reward, own->row);
    tell_watch(g, &note, reward);

    gbose__ridge_begin(&g->fit[O]);
    if (note.p < 1) {
        if (has_E(g))
            compare(g, &note, reward);
        gbose__ridge_term(&g->fit[O], g->fit[O].x, note.w, note.w * response(g, &note, reward));
    }
    if (own->certified)
        gbose__ridge_begin(&g->fit[H]);
    if (has_E(g)) {
        if (state->D >= D_HIGH)
            state->use_E = 0;
        else if (state->D < 0)
            state->use_E = 1;
        gbose__ridge_begin(&g->fit[E]);
        gbose__ridge_term(&g->fit[E], g->fit[E].x, w * w, w * w * believable(g, y));
    }
    gbose__ticket_apply(g, lesson, reward); /* what H learns */
    update_round_scales(g, round);
    update_scales(g, &note, clip(reward - note.vhat - note.score, E_MOST), e_E);
}

/* ---- keeping and sharing ---- */

static int check(const gbose *g)
{
    const struct state *state = state_of(g);
    const double *number = g->state, *variance = number + STATE_NUMBERS + g->round_features;
    struct gbose__trackers t = trackers(g);
    struct gbose__watch w = watch(g);
    int fine = state->leader >= 0 && state->leader < (double)gbose__trackers_count(t.round) &&
               state->leader == floor(state->leader);

    fine &= gbose__kernels->within(number, g->n_state, 1e300); /* what is only padding, too */
    fine &= state->use_E == 0 || (state->use_E == 1 && has_E(g));
    fine &= state->D >= D_LEAST && state->D <= D_MOST;
    for (size_t i = 0; i < STATE_NUMBERS; i++)
        fine &= number + i == &state->D || number[i] >= 0;
    for (size_t i = 0; i < g->round_features; i++)
        fine &= fabs(number[STATE_NUMBERS + i]) <= 2 * GBOSE_MAX_INPUT && variance[i] >= 0; /* means first */
    return fine && state->coins <= state->rounds && gbose__trackers_are_sane(&t) && gbose__watch_is_sane(&w);
}

/* Trackers and scales follow the present of the learner that goes on. */
static void merge(gbose *into, const gbose *from, const double *common, double remains)
{
    static const struct state nothing;
    const struct state *old = common ? (const struct state *)common : &nothing, *theirs = state_of(from);
    struct state *state = state_of(into);
    struct gbose__watch w = watch(into);
    size_t before = (size_t)(w.at - into->state);

    gbose__watch_merge(&w, from->state + before, common ? common + before : NULL, remains);
    state->clock += theirs->clock - (common ? remains * old->clock : 0);
    state->coins += theirs->coins - old->coins;
    state->rounds += theirs->rounds - old->rounds;
}

/* A feature that is new was zero in every round so far. */
static void grow(const gbose *g, double *state, const gbose *from, const double *from_state)
{
    struct gbose__trackers t = trackers_in(g, state), old_t = trackers_in(from, (double *)from_state);
    struct gbose__watch w = watch_in(g, state), old_w = watch_in(from, (double *)from_state);

    memcpy(state, from_state, numbers(g) * sizeof *state);
    gbose__trackers_grow(&t, &old_t);
    gbose__watch_grow(&w, &old_w);
}

static int diagnose(const gbose *g, gbose_diagnosis *out)
{
    struct gbose__watch w = watch(g);
    struct gbose__trackers t = trackers(g);
    struct gbose__tracker leader = gbose__tracker_at(&t, (size_t)state_of(g)->leader);
    int rc = gbose__watch_report(&w, &g->fit[O], out);

    if (rc)
        return rc;
    out->tracker = leader.name;
    out->tracker_forget = leader.forget;
    out->full = uses_E(g);
    return GBOSE_OK;
}

static double width_along(const gbose *g, const double *x)
{
    const struct own *own = g->own;

    return own->certified ? gbose__certified_width(&own->bound, &g->fit[O], &g->fit[H], x)
                          : gbose__ridge_width(&g->fit[O], x, g->dim);
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
    .diagnose = diagnose,
    .width = width_along,
};
