/* gbose-auto: GBOSE with nothing to tune.
 *
 * Model: r = b_a'mu + v + noise, v arbitrary but the same for every arm of a round.
 *
 * Built on Algorithm 1 of Chowdhury, Ismayilzada, Sayem and Kim (AISTATS 2023): arms are filtered, and a coin is
 * tossed between the two survivors farthest apart. What is added:
 *
 * 1. Baseline. Trackers predict the reward and the context of the arm played from features phi of the round:
 *    1 alone (a level), or 1 and functions of the estimated scores, or the caller's features of the round; each is
 *    a recursive least squares with its own forgetting. The one with the least discounted error e = (r - rhat) - (b_a - bhat)'mu leads, and
 *    vhat = rhat - bhat'mu. It is fixed when the arm is drawn, so X (r - vhat - bbar'mu) is unbiased whatever
 *    vhat is.
 * 2. Two estimates. O, the orthogonal one: coin rounds, X = b_a - bbar. E, the full one: all rounds, with
 *    reward and context both less their prediction, r - rhat on b_a - bhat: to partial out (Frisch and Waugh) what
 *    the tracker explains, and so the information that vhat rests on mu. E is as efficient as linear
 *    regression, and biased when v follows the contexts in a way that no tracker sees.
 * 3. Test. In coin rounds X is random whatever v does, so the difference D of the squared errors with which E and
 *    O predict the coin's effect, in units of the residual variance, is a fair comparison. E is in use until
 *    D >= D_HIGH. Then O takes over, and E begins again as a copy of O, to be used when it has predicted better.
 * 4. Weights. s^2, the running mean of e^2, is known before the round: terms have weight min(1, s_min^2 / s^2), s_min
 *    the least long-run s so far. A time of large residuals does not drown what was learned before it.
 * 5. Width. gamma = kappa s_min; smaller in E's first rounds, when everything is learned at once, and growing by
 *    up to 2^WIDEN as the time since the last coin approaches all time: the test never runs dry.
 * 6. Propensity. The coin's better arm has Phi(lead / (PROBIT s_min distance)), as in Thompson sampling.
 *
 *   O          g->model        lambda I + sum w X X'; gbose_coef() is its estimate, unbiased
 *   E          g->level        lambda I + sum w (b_a - bhat)(b_a - bhat)'; dim 0 with safe=1
 *   pi         round->pmf      on the pair
 *   trackers   g->own          behind the NUMBERS below
 *
 * safe=1: E, and with it every round with one survivor, is never used; the estimate that chooses is O.
 *
 * None of the constants has a unit: rewards and contexts may be rescaled together with lambda. */
#include "learners/options.h"
#include "learners/orthogonal.h"

#include <math.h>
#include <string.h>

#include "core/arms.h"
#include "core/kernels.h"
#include "core/normal.h"
#include "learners/trackers.h"
#include "learners/watch.h"

#define KAPPA_O 0.7
#define KAPPA_E 0.5
#define RAMP 4.0 /* rounds for each dimension until kappa is whole */
#define RAMP_LEAST 0.1
#define WIDEN 8.0 /* doublings of gamma when there was never a coin */
#define WIDEN_FROM 20
#define PROBIT 0.5
#define P_MOST 0.95
#define D_HIGH 1.0
#define D_LEAST -2.0 /* E cannot earn more credit than this */
#define D_MOST 50.0
#define D_FORGET 0.999
#define D_SHARE 0.5 /* of the difference of squared errors: that of the log-likelihoods */
#define FEW 10      /* rounds before weights and clipping begin */
#define S_FORGET 0.98
#define S_LONG_FORGET 0.995
#define S_COIN_FORGET 0.999
#define S_CLIP 16.0 /* e^2 counts at most this often s^2 */
#define LOSS_FORGET 0.98
#define LEAD 1.02 /* the leading tracker changes when another one is better by this factor */
#define SETTLE 5  /* rounds for each feature before a tracker may lead */
#define SCALE_FORGET 0.999
#define ROUND_FORGET                                                                                         \
    (1 - 1.0 / 16384) /* of the round's features: hardly, so that slopes keep their meaning */
#define E_MOST 1e140  /* residuals are clipped to this: their squares are then finite */

/* g->own: these numbers, mean and variance of the round's features, the trackers' (learners/trackers.h), then what
 * gbose_diagnose() rests on (learners/watch.h). */
enum {
    LAST,     /* the round learned that had the last coin */
    USE_E,    /* 1: E chooses */
    RESTARTS, /* of E */
    LEADER,   /* which tracker */
    D,
    S, /* sums of e^2 and of 1, discounted: short, long, in coin rounds */
    S_N,
    S_LONG,
    S_LONG_N,
    S_COIN,
    S_COIN_N,
    S_MIN,  /* squared */
    SCORE2, /* discounted mean of m^2, which scores are scaled by as features */
    ROUNDS, /* learned */
    NUMBERS
};

/* The note in a ticket: these, then b_a, X and, unless safe=1, bhat, of dim numbers each, then the features of the
 * round as the caller gave them. */
struct note {
    double coin; /* 1, or 0 and X = 0 */
    double w;    /* weight */
    double rhat, vhat;
    double score;        /* of the arm, by the estimate in use */
    double base, base_O; /* bbar'mu by the estimate in use, and by O */
    double x_O, x_E;     /* X'mu by O and by E */
    double best, mean;   /* of all arms' scores, by the estimate in use */
};
#define NOTE (sizeof(struct note) / sizeof(double))

static double clip(double x, double most)
{
    return x > most ? most : x < -most ? -most : x;
}

static struct gbose__trackers trackers(const gbose *g)
{
    return (struct gbose__trackers){g->dim, g->set.round, g->own + NUMBERS + 2 * g->set.round};
}

static size_t numbers(const gbose *g)
{
    return NUMBERS + 2 * g->set.round + gbose__trackers_size(g->dim, g->set.round) +
           gbose__watch_size(g->dim);
}

static struct gbose__watch watch(const gbose *g)
{
    return (struct gbose__watch){g->dim, g->own + g->n_own - gbose__watch_size(g->dim)};
}

static int init(gbose *g)
{
    struct gbose__trackers t = trackers(g);

    g->own[USE_E] = !g->set.safe;
    gbose__trackers_init(&t);
    return g->set.safe ? GBOSE_OK : gbose__ridge_init(&g->level, g->dim, g->set.lambda, g->set.forget);
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

static void features(const gbose *g, double *phi, const struct note *note, const double *round)
{
    const double *mean = g->own + NUMBERS, *variance = mean + g->set.round;

    phi[GBOSE__PHI_BEST] = scaled(note->best, g->own[SCORE2]);
    phi[GBOSE__PHI_ROOT] = sqrt(fabs(phi[GBOSE__PHI_BEST]));
    phi[GBOSE__PHI_MEAN] = scaled(note->mean, g->own[SCORE2]);
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

static double s2(const gbose *g)
{
    return g->own[S_N] > 0 ? g->own[S] / g->own[S_N] : 0;
}

static double weight(const gbose *g)
{
    double now = s2(g);

    return g->own[ROUNDS] > FEW && now > g->own[S_MIN] ? g->own[S_MIN] / now : 1;
}

/* In units of the filter: infinite before the first residual. */
static double sigma(const gbose *g)
{
    const double *own = g->own;

    if (!(own[ROUNDS] > 0))
        return GBOSE__LARGEST;
    return sqrt(own[ROUNDS] > FEW ? own[S_MIN] : s2(g));
}

static double kappa(const gbose *g)
{
    const double *own = g->own;
    double k = KAPPA_O, share, t = own[ROUNDS] + 1;

    if (own[USE_E] > 0) {
        share = t / (RAMP * (double)g->dim);
        k = KAPPA_E * fmin(1, fmax(RAMP_LEAST, share));
    }
    if (t > WIDEN_FROM) /* 2^(WIDEN (1 - last / t)) */
        k *= gbose__exp(WIDEN * 0x1.62e42fefa39efp-1 * (1 - own[LAST] / t));
    return k;
}

static void decide(const gbose *g, struct gbose__round *round)
{
    const struct gbose__ridge *in = in_use(g);
    double sd = sigma(g), distance, lead, p;
    size_t k, l;

    /* aside: scores by the estimate in use; swing: those by E */
    gbose__ridge_apply(in, round->image, round->context, NULL, round->n);
    for (size_t i = 0; i < round->n; i++) {
        const double *b = round->context + i * round->stride;
        round->swing[i] = g->level.dim ? gbose__dot(b, g->level.mu, round->stride) : 0;
        round->aside[i] = g->own[USE_E] > 0 ? round->swing[i] : round->score[i];
        round->live[i] = i;
    }
    memset(round->pmf, 0, round->n * sizeof *round->pmf);
    round->n_live = gbose__filter(round->live, round->n, &round->arms, round->image, round->aside,
                                  round->stride, kappa(g) * sd);
    if (!round->n_live) /* a score is not a number: no probabilities, and the decision is refused */
        return;
    if (round->n_live == 1) {
        round->pmf[round->live[0]] = 1;
        return;
    }
    gbose__farthest(round, &k, &l);
    if (round->aside[l] > round->aside[k]) {
        size_t swap = k;
        k = l;
        l = swap;
    }
    distance = sqrt(
        gbose__distance2(round->image + k * round->stride, round->image + l * round->stride, round->stride));
    lead = round->aside[k] - round->aside[l];
    p = lead > 0 ? gbose__normal_cdf(lead / (PROBIT * sd * distance)) : 0.5;
    round->pmf[k] = p < P_MOST ? p : P_MOST; /* a NaN, when lead and distance overflow, is P_MOST too */
    round->pmf[l] = 1 - round->pmf[k];
}

static double mean_of(const struct gbose__round *round, const double *score)
{
    double sum = 0;

    for (size_t i = 0; i < round->n; i++)
        if (round->pmf[i] > 0)
            sum += round->pmf[i] * score[i];
    return sum;
}

static void explain(const gbose *g, struct gbose__round *round, size_t arm)
{
    struct note note = {0};
    struct gbose__trackers t = trackers(g);
    struct gbose__tracker leader = gbose__tracker_at(&t, (size_t)g->own[LEADER]);
    const double *b = round->context + arm * round->stride;
    double *bhat = round->matrix, *x = round->centre, phi[GBOSE__MAX_PHI], mean = 0;

    for (size_t i = 0; i < round->n; i++)
        mean += round->aside[i] / (double)round->n;
    note.best = clip(round->aside[gbose__argmax(round->aside, round->n)], E_MOST);
    note.mean = clip(mean, E_MOST);
    features(g, phi, &note, round->feature);
    memset(bhat, 0, round->stride * sizeof *bhat);
    note.rhat = clip(gbose__tracker_predict(&leader, phi, bhat), GBOSE_MAX_INPUT);
    for (size_t i = 0; i < g->dim; i++)
        bhat[i] = clip(bhat[i], GBOSE_MAX_INPUT);
    note.vhat = clip(note.rhat - gbose__dot(bhat, in_use(g)->mu, round->stride), GBOSE_MAX_INPUT);
    note.score = clip(round->aside[arm], E_MOST);
    note.w = weight(g);
    note.base = clip(mean_of(round, round->aside), E_MOST);
    note.base_O = clip(mean_of(round, round->score), GBOSE_MAX_INPUT);
    note.x_O = clip(round->score[arm] - mean_of(round, round->score), E_MOST);
    note.x_E = clip(round->swing[arm] - mean_of(round, round->swing), E_MOST);
    note.coin = round->pmf[arm] < 1;

    memset(x, 0, round->stride * sizeof *x);
    if (note.coin > 0)
        for (size_t i = 0; i < round->n; i++)
            if (round->pmf[i] > 0 && i != arm)
                for (size_t j = 0; j < g->dim; j++)
                    x[j] += round->pmf[i] * (b[j] - round->context[i * round->stride + j]);
    gbose__put_doubles(&round->writer, (const double *)&note, NOTE);
    gbose__put_doubles(&round->writer, b, g->dim);
    gbose__put_doubles(&round->writer, x, g->dim);
    if (g->level.dim)
        gbose__put_doubles(&round->writer, bhat, g->dim);
    gbose__put_doubles(&round->writer, round->feature, g->set.round);
}

/* ---- a reward ---- */

static size_t note_words(const gbose *g)
{
    return NOTE + (g->level.dim ? 3 : 2) * g->dim + g->set.round;
}

static int note_is_sane(const gbose *g, struct gbose__reader r)
{
    struct note note;
    int fine;

    gbose__get_doubles(&r, (double *)&note, NOTE);
    fine = (note.coin == 0 || note.coin == 1) && note.w >= 0 && note.w <= 1;
    fine &= fabs(note.rhat) <= GBOSE_MAX_INPUT && fabs(note.vhat) <= GBOSE_MAX_INPUT &&
            fabs(note.base_O) <= GBOSE_MAX_INPUT;
    fine &= fabs(note.score) <= E_MOST && fabs(note.base) <= E_MOST && fabs(note.x_O) <= E_MOST &&
            fabs(note.x_E) <= E_MOST && fabs(note.best) <= E_MOST && fabs(note.mean) <= E_MOST;
    for (size_t i = 0; i < g->dim; i++)
        fine &= fabs(gbose__get_double(&r)) <= GBOSE_MAX_INPUT; /* b_a */
    for (size_t i = 0; i < g->dim; i++)
        fine &= fabs(gbose__get_double(&r)) <= 2 * GBOSE_MAX_INPUT; /* X */
    for (size_t i = 0; i < g->level.dim; i++)
        fine &= fabs(gbose__get_double(&r)) <= GBOSE_MAX_INPUT; /* bhat */
    for (size_t i = 0; i < g->set.round; i++)
        fine &= fabs(gbose__get_double(&r)) <= GBOSE_MAX_INPUT;
    return fine && !r.bad;
}

/* Every tracker meets the round; who leads afterwards. x is scratch for a row of zeros. */
static void update_trackers(gbose *g, const struct note *note, const double *round, const double *b,
                            double reward, double *x)
{
    struct gbose__trackers t = trackers(g);
    struct gbose__tracker v = gbose__tracker_at(&t, (size_t)g->own[LEADER]);
    double *own = g->own, *lead = v.loss, phi[GBOSE__MAX_PHI];
    size_t count = gbose__trackers_count(t.round), best = v.k;
    const double *mu = in_use(g)->mu, *least = NULL;

    features(g, phi, note, round);
    for (v = gbose__tracker_at(&t, 0); v.k < count; gbose__tracker_next(&t, &v)) {
        double error = reward - gbose__tracker_predict(&v, phi, x);
        double e = clip(error - note->score + gbose__dot(x, mu, g->model.stride), E_MOST);

        *v.loss = LOSS_FORGET * *v.loss + (1 - LOSS_FORGET) * e * e;
        for (size_t i = 0; i < g->dim; i++)
            x[i] = b[i] - x[i];
        gbose__tracker_learn(&v, phi, error, x);
        if (own[ROUNDS] >= SETTLE * (double)v.q && (!least || *v.loss < *least)) {
            least = v.loss;
            best = v.k;
        }
    }
    if (LEAD * *least < *lead)
        own[LEADER] = (double)best;
}

static void restart_E(gbose *g)
{
    memcpy(g->level.root, g->model.root, gbose__triangle(g->dim) * sizeof(double));
    memcpy(g->level.mu, g->model.mu, g->model.stride * sizeof(double));
    memcpy(g->level.prior, g->model.prior, g->model.stride * sizeof(double));
    g->level.turn = g->model.turn;
    g->own[D] = 2 * D_HIGH;
    g->own[USE_E] = 0;
    g->own[RESTARTS]++;
}

/* The comparison of E with O on a coin, before either has learned from it. */
static void compare(gbose *g, const struct note *note, double reward)
{
    double *own = g->own, now = s2(g), coins, y = reward - note->vhat - note->base, e_E, e_O;

    if (!(own[S_COIN_N] > 0))
        return;
    coins = own[S_COIN] / own[S_COIN_N];
    if (coins > now)
        now = coins;
    e_E = clip(y - note->x_E, E_MOST);
    e_O = clip(y - note->x_O, E_MOST);
    if (now > 0)
        own[D] = D_FORGET * own[D] + D_SHARE * (e_E * e_E - e_O * e_O) / now;
    own[D] = fmin(D_MOST, fmax(D_LEAST, own[D]));
}

static void update_scales(gbose *g, const struct note *note, double e)
{
    double *own = g->own, e2 = e * e, now = s2(g);

    if (note->coin > 0) {
        own[S_COIN] = S_COIN_FORGET * own[S_COIN] + e2;
        own[S_COIN_N] = S_COIN_FORGET * own[S_COIN_N] + 1;
    }
    own[ROUNDS]++;
    if (note->coin > 0)
        own[LAST] = own[ROUNDS];
    if (own[ROUNDS] > FEW && e2 > S_CLIP * now)
        e2 = S_CLIP * now;
    own[S] = S_FORGET * own[S] + e2;
    own[S_N] = S_FORGET * own[S_N] + 1;
    own[S_LONG] = S_LONG_FORGET * own[S_LONG] + e2;
    own[S_LONG_N] = S_LONG_FORGET * own[S_LONG_N] + 1;
    if (own[ROUNDS] <= FEW)
        own[S_MIN] = s2(g);
    else if (own[S_LONG] / own[S_LONG_N] < own[S_MIN])
        own[S_MIN] = own[S_LONG] / own[S_LONG_N];
    if (!(own[S_MIN] > 0)) /* the first rewards were all the same: nothing is known of s yet */
        own[S_MIN] = own[S_LONG] / own[S_LONG_N];
    own[SCORE2] = own[ROUNDS] > 1 ? SCALE_FORGET * own[SCORE2] + (1 - SCALE_FORGET) * note->best * note->best
                                  : note->best * note->best;
}

static void tell_watch(const gbose *g, const struct note *note, const double *b, double reward)
{
    struct gbose__watch w = watch(g);
    struct gbose__watched round = {.reward = reward,
                                   .b = b,
                                   .shift = clip(reward - note->score, E_MOST),
                                   .residual = clip(reward - note->vhat - note->score, E_MOST),
                                   .coin = note->coin > 0,
                                   .w = note->w,
                                   .coin_residual =
                                       clip(reward - note->vhat - note->base_O - note->x_O, E_MOST)};

    gbose__watch_learn(&w, &round, g->set.forget);
}

static void learn(gbose *g, struct gbose__reader r, double reward)
{
    struct note note;
    double *b = g->model.spare, *own = g->own;
    double round[GBOSE__MAX_ROUND];

    gbose__get_doubles(&r, (double *)&note, NOTE);
    memset(b, 0, 2 * g->model.stride * sizeof *b);
    gbose__get_doubles(&r, b, g->dim);
    gbose__get_doubles(&r, g->model.x, g->dim);
    if (g->level.dim) {
        gbose__get_doubles(&r, g->level.x, g->dim);
        for (size_t i = 0; i < g->dim; i++)
            g->level.x[i] = b[i] - g->level.x[i];
    }
    gbose__get_doubles(&r, round, g->set.round);
    update_trackers(g, &note, round, b, reward, b + g->model.stride);

    tell_watch(g, &note, b, reward);

    gbose__ridge_begin(&g->model);
    if (note.coin > 0) {
        if (g->level.dim)
            compare(g, &note, reward);
        gbose__ridge_term(&g->model, g->model.x, note.w, note.w * (reward - note.vhat - note.base_O));
    }
    if (g->level.dim) {
        if (own[D] >= (own[USE_E] > 0 ? 1 : 3) * D_HIGH)
            restart_E(g);
        else if (!(own[USE_E] > 0) && own[D] < 0)
            own[USE_E] = 1;
        gbose__ridge_begin(&g->level);
        gbose__ridge_term(&g->level, g->level.x, note.w, note.w * (reward - note.rhat));
    }
    update_round_scales(g, round);
    update_scales(g, &note, clip(reward - note.vhat - note.score, E_MOST));
}

/* ---- keeping and sharing ---- */

static int own_is_sane(const gbose *g)
{
    struct gbose__trackers t = trackers(g);
    struct gbose__watch w = watch(g);
    const double *own = g->own;
    int fine = own[LEADER] >= 0 && own[LEADER] < (double)gbose__trackers_count(t.round) &&
               own[LEADER] == floor(own[LEADER]);

    fine &= own[USE_E] == 0 || (own[USE_E] == 1 && g->level.dim);
    fine &= own[D] >= D_LEAST && own[D] <= D_MOST;
    for (size_t i = 0; i < NUMBERS; i++)
        fine &= i == D || (own[i] >= 0 && own[i] <= 1e300);
    for (size_t i = NUMBERS; i < NUMBERS + g->set.round; i++) {
        fine &= fabs(own[i]) <= 2 * GBOSE_MAX_INPUT;                          /* mean */
        fine &= own[i + g->set.round] >= 0 && own[i + g->set.round] <= 1e300; /* variance */
    }
    return fine && own[LAST] <= own[ROUNDS] && gbose__trackers_are_sane(&t) && gbose__watch_is_sane(&w);
}

/* Trackers and scales follow the present of the learner that goes on. An E that began again from O holds
 * evidence that O has too, so it is taken anew. */
static void merged(gbose *into, const gbose *from, const double *common, double remains)
{
    struct gbose__watch w = watch(into);
    size_t before = (size_t)(w.at - into->own);

    gbose__watch_merge(&w, from->own + before, common ? common + before : NULL, remains);
    if (into->level.dim && into->own[RESTARTS] + from->own[RESTARTS] > 0)
        restart_E(into);
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

static const gbose_option options[] = {
    {"safe", GBOSE_INTEGER, 0, 1, NULL, "0",
     "1: never use rounds with one survivor; the estimate that chooses is then unbiased whatever v does"},
    {"round", GBOSE_INTEGER, 0, GBOSE__MAX_ROUND, NULL, "0",
     "number of features of the round, which gbose_decide_in() takes: what may move the rewards of all arms"},
    OPTION_LAMBDA,
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
};

const struct gbose__learner gbose__gbose_auto = {
    .info = {"gbose-auto", "GBOSE with nothing to tune: baseline, width and efficiency from the data",
             options, GBOSE__COUNT(options)},
    .decide = decide,
    .explain = explain,
    .extra = &extra,
};
