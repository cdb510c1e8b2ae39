/* A gallery of what may break a linear bandit.
 *
 * It is not from a published study: each option is one way in which rewards stray from b'mu + noise, so that
 * a learner can be tried against one at a time or against several together.
 *
 * Model: r = b_a'mu_t + v(t) + noise. Every |b'mu_t| is at most 1, except with contexts=shared, which are not
 * in the unit ball; v moves by about `scale`, 5 by default.
 *
 *   contexts   blocks          arm 0 has the zero context, arm i a point z_i in block i - 1
 *              dense           every arm has a point of its own in all features
 *              shared          arm 0 has the zero context, arm i the user's features x in block i - 1: the
 *                              constant 1 and dim - 1 normals with standard deviation 1/2, the same for all
 *                              arms of a round
 *   points                     uniform in the unit ball, whatever the correlation c: a Gaussian copula.
 *                              g_i = sqrt(c) g + sqrt(1 - c) h_i with g and h_i standard normal of dim + 1
 *                              entries; the first dim give the direction, Phi of the last is the share of
 *                              the ball nearer to the centre
 *   mu         own->mu         dense: uniform on the unit sphere; blocks: the same for each block. With
 *                              drift s > 0, from round 2 on each takes a step s h / sqrt(dim), h standard
 *                              normal, of length about s, and is scaled back to its length. Regret is by mu_t
 *   noise                      standard deviation `noise`; tail=t3: Student's t with 3 degrees of freedom and
 *                              the same standard deviation
 *   v(t)       zero            0
 *              random-walk     v(t-1) + N(0, (scale/100)^2), v(0) = 0: standard deviation `scale` at round
 *                              10,000
 *              jumps           a level uniform in (-scale, scale), drawn anew with probability 1/200 a round
 *              season          scale (0.6 sin(2 pi t / day) + 0.4 sin(2 pi t / week)), week = 7 day
 *              context-sine    scale sin(2 pi t / (100 day)) sin(pi/2 sqrt(dim + 2) q), q = sum_i z_i'w_i /
 *                              sqrt n over the n points of the round; w_i is one direction (dense) or one for
 *                              each block, drawn like mu. The first sine keeps its sign for long, and so does
 *                              the error of a learner that takes v for the work of the arms. A coordinate of
 *                              a point has variance 1 / (dim + 2), and so has q if arms are independent
 *              reward-driven   -scale m(t-1), m(t) = 0.95 m(t-1) + 0.05 (r(t) - v(t)), m(0) = 0: the more the
 *                              arms played have given, the lower the level. v then depends on the play
 *              user-...        scale f(x), f a random function of the user (worlds/user.h) with a standard
 *                              deviation of about 1. Unless contexts are shared nobody sees x, and v is as
 *                              good as noise. user-uplift is user-sine with mu a tenth as long
 *   walk                       with walk s > 0 a random walk is added to v, with standard deviation s after
 *                              10,000 rounds
 *   known                      1: v is taken out of the reward, as for someone who knows it: a yardstick
 *   clicks                     p > 0: a reward is 1 with probability p (1 + b'mu + v), clipped to [0, 1], and
 *                              0 otherwise; there is no other noise, and regret is in clicks
 *   quiet                      the first rewards, so many, are all 0
 *   offset                     s > 0: a vector of normals with standard deviation s, drawn anew each round,
 *                              is added to the contexts of all arms, as a feature of the user in every row
 *                              would be. Rewards are what they were */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/normal.h"
#include "worlds/draw.h"
#include "worlds/user.h"
#include "worlds/world_options.h"

#define TWO_PI 0x1.921fb54442d18p2
#define JUMP_PROBABILITY 0.005
#define WALK_STEP 0.01     /* of the scale */
#define REWARD_WEIGHT 0.05 /* of the newest reward in m */
#define USER_SD 0.5        /* of a user's features */
#define UPLIFT 0.1         /* the length of mu with user-uplift */

enum {
    SHIFT_ZERO,
    SHIFT_RANDOM_WALK,
    SHIFT_JUMPS,
    SHIFT_SEASON,
    SHIFT_CONTEXT_SINE,
    SHIFT_REWARD_DRIVEN,
    SHIFT_USER_SINE,
    SHIFT_USER_TREE,
    SHIFT_USER_PRODUCT,
    SHIFT_USER_EXP,
    SHIFT_USER_UPLIFT
};
enum { CONTEXTS_BLOCKS, CONTEXTS_DENSE, CONTEXTS_SHARED };
enum { TAIL_NORMAL, TAIL_T3 };

struct own {
    size_t d;         /* features of a point */
    size_t first;     /* arm that has the first point: 1 in blocks, else 0 */
    size_t n_blocks;  /* of mu */
    double *mu;       /* n_blocks times d */
    double length;    /* of each block of mu */
    double *wave;     /* n_blocks times d: the directions w of context-sine */
    double *common;   /* d + 1: g */
    double *function; /* of the user */
    double *user;     /* x: d */
    int shift, tail, shared, has_user, known;
    uint64_t day, quiet;
    double noise, scale, correlation, drift, walk, clicks, offset;
    double state;  /* v of random-walk and jumps, m of reward-driven */
    double walked; /* where the walk is */
};

static double *point_of(const struct gbose__world *w, size_t arm)
{
    const struct own *own = w->own;

    return own->first ? gbose__draw_block(w, arm, own->d) : w->contexts + arm * w->dim;
}

/* Where an arm's block of mu or of the directions begins. */
static size_t block_of(const struct own *own, size_t arm)
{
    return own->first ? (arm - 1) * own->d : 0;
}

/* sine is the one of user-uplift, too. */
static enum gbose__user_kind user_kind(const struct own *own)
{
    switch (own->shift) {
    case SHIFT_USER_TREE:
        return GBOSE__USER_TREE;
    case SHIFT_USER_PRODUCT:
        return GBOSE__USER_PRODUCT;
    case SHIFT_USER_EXP:
        return GBOSE__USER_EXP;
    default:
        return GBOSE__USER_SINE;
    }
}

/* Give mu, whose blocks have length 1, the length that it is to have. */
static void scale_mu(struct gbose__world *w)
{
    const struct own *own = w->own;

    for (size_t i = 0; i < w->dim; i++)
        own->mu[i] *= own->length;
}

static int init(struct gbose__world *w, gbose_error *err)
{
    struct own *own = w->own;
    struct gbose__rng rng;
    int contexts = gbose__world_option(w, "contexts")->word, rc;
    size_t arms = (size_t)gbose__world_option(w, "arms")->integer;

    own->d = (size_t)gbose__world_option(w, "dim")->integer;
    own->shift = gbose__world_option(w, "shift")->word;
    own->tail = gbose__world_option(w, "tail")->word;
    own->noise = gbose__world_option(w, "noise")->number;
    own->scale = gbose__world_option(w, "scale")->number;
    own->correlation = gbose__world_option(w, "correlation")->number;
    own->drift = gbose__world_option(w, "drift")->number;
    own->day = gbose__world_option(w, "day")->integer;
    own->walk = gbose__world_option(w, "walk")->number;
    own->clicks = gbose__world_option(w, "clicks")->number;
    own->offset = gbose__world_option(w, "offset")->number;
    own->known = (int)gbose__world_option(w, "known")->integer;
    own->quiet = gbose__world_option(w, "quiet")->integer;
    own->shared = contexts == CONTEXTS_SHARED;
    own->has_user = own->shared || own->shift >= SHIFT_USER_SINE;
    if (own->has_user && own->d < 2)
        return gbose__fail(err, GBOSE_ESPEC,
                           "a user has a constant and at least one feature: dim must be at least 2");
    if (contexts != CONTEXTS_DENSE) {
        rc = gbose__draw_blocks(w, arms, own->d, err);
        if (rc)
            return rc;
        own->first = 1;
    } else {
        w->dim = own->d;
        w->max_arms = arms;
    }
    own->n_blocks = w->dim / own->d;

    own->mu = gbose__alloc(w->dim, sizeof *own->mu);
    own->wave = gbose__alloc(w->dim, sizeof *own->wave);
    own->common = gbose__alloc(own->d + 1, sizeof *own->common);
    if (!own->mu || !own->wave || !own->common)
        return GBOSE_ENOMEM;
    if (own->has_user) {
        own->user = gbose__alloc(own->d, sizeof *own->user);
        own->function = gbose__alloc(gbose__user_size(own->d), sizeof *own->function);
        if (!own->user || !own->function)
            return GBOSE_ENOMEM;
    }
    gbose__world_rng(w, &rng, GBOSE__WORLD_SETTING);
    for (size_t k = 0; k < own->n_blocks; k++)
        gbose__draw_sphere(own->mu + k * own->d, own->d, &rng);
    for (size_t k = 0; k < own->n_blocks; k++)
        gbose__draw_sphere(own->wave + k * own->d, own->d, &rng);
    if (own->shift >= SHIFT_USER_SINE)
        gbose__user_draw(own->function, user_kind(own), own->d, &rng);
    own->length = own->shift == SHIFT_USER_UPLIFT ? UPLIFT : 1;
    scale_mu(w);
    return GBOSE_OK;
}

static void move_mu(struct gbose__world *w)
{
    struct own *own = w->own;
    struct gbose__rng rng;
    double step = own->length * own->drift / sqrt((double)own->d);

    gbose__world_rng(w, &rng, GBOSE__WORLD_SETTING);
    for (size_t i = 0; i < w->dim; i++)
        own->mu[i] += step * gbose__rng_normal(&rng);
    for (size_t k = 0; k < own->n_blocks; k++)
        gbose__draw_normalise(own->mu + k * own->d, own->d);
    scale_mu(w);
}

static void draw_user(struct gbose__world *w)
{
    const struct own *own = w->own;
    struct gbose__rng rng;

    gbose__world_rng(w, &rng, GBOSE__WORLD_USER);
    own->user[0] = 1;
    for (size_t j = 1; j < own->d; j++)
        own->user[j] = USER_SD * gbose__rng_normal(&rng);
}

static void draw_points(struct gbose__world *w)
{
    const struct own *own = w->own;
    struct gbose__rng rng;
    double together = sqrt(own->correlation), apart = sqrt(1 - own->correlation);

    gbose__world_rng(w, &rng, GBOSE__WORLD_CONTEXT);
    for (size_t j = 0; j <= own->d; j++)
        own->common[j] = gbose__rng_normal(&rng);
    for (size_t i = own->first; i < w->n_arms; i++) {
        double *z = point_of(w, i), share, length;
        for (size_t j = 0; j < own->d; j++)
            z[j] = together * own->common[j] + apart * gbose__rng_normal(&rng);
        share = gbose__normal_cdf(together * own->common[own->d] + apart * gbose__rng_normal(&rng));
        length = gbose__exp(gbose__log(share) / (double)own->d);
        gbose__draw_normalise(z, own->d);
        for (size_t j = 0; j < own->d; j++)
            z[j] *= length;
    }
}

/* sin(2 pi t / period), t reduced in whole numbers first. */
static double cycle(uint64_t t, uint64_t period)
{
    return gbose__draw_sine(TWO_PI * (double)(t % period) / (double)period);
}

/* sin(pi/2 sqrt(d + 2) q) */
static double wave_of_contexts(const struct gbose__world *w)
{
    const struct own *own = w->own;
    double q = 0, n = (double)(w->n_arms - own->first);

    for (size_t i = own->first; i < w->n_arms; i++)
        q += gbose__draw_inner(point_of(w, i), own->wave + block_of(own, i), own->d);
    return gbose__draw_sine(TWO_PI / 4 * sqrt((double)own->d + 2) * q / sqrt(n));
}

static double shift(struct gbose__world *w)
{
    struct own *own = w->own;
    struct gbose__rng rng;

    gbose__world_rng(w, &rng, GBOSE__WORLD_SHIFT);
    switch (own->shift) {
    case SHIFT_RANDOM_WALK:
        own->state += WALK_STEP * own->scale * gbose__rng_normal(&rng);
        return own->state;
    case SHIFT_JUMPS:
        if (w->round == 1 || gbose__rng_uniform(&rng) < JUMP_PROBABILITY)
            own->state = own->scale * (2 * gbose__rng_uniform(&rng) - 1);
        return own->state;
    case SHIFT_SEASON:
        return own->scale * (0.6 * cycle(w->round, own->day) + 0.4 * cycle(w->round, 7 * own->day));
    case SHIFT_CONTEXT_SINE:
        return own->scale * cycle(w->round, 100 * own->day) * wave_of_contexts(w);
    case SHIFT_REWARD_DRIVEN:
        return -own->scale * own->state;
    case SHIFT_ZERO:
        return 0;
    default:
        return own->scale * gbose__user_value(own->function, user_kind(own), own->user, own->d);
    }
}

/* The step of the walk, after what the shift itself has drawn. */
static double walk(struct gbose__world *w)
{
    struct own *own = w->own;
    struct gbose__rng rng;

    gbose__world_rng(w, &rng, GBOSE__WORLD_WALK);
    own->walked += WALK_STEP * own->walk * gbose__rng_normal(&rng);
    return own->walked;
}

/* Turn means and shift into the probability of a click. */
static void click(struct gbose__world *w)
{
    const struct own *own = w->own;
    struct gbose__rng rng;

    for (size_t i = 0; i < w->n_arms; i++)
        w->mean[i] *= own->clicks;
    w->shift = own->clicks * (1 + w->shift);
    gbose__world_rng(w, &rng, GBOSE__WORLD_NOISE);
    w->noise = 0;
    w->toss = gbose__rng_uniform(&rng);
}

/* What all arms have in common. */
static void add_offset(struct gbose__world *w)
{
    const struct own *own = w->own;
    struct gbose__rng rng;

    gbose__world_rng(w, &rng, GBOSE__WORLD_OFFSET);
    for (size_t j = 0; j < w->dim; j++) {
        double offset = own->offset * gbose__rng_normal(&rng);

        for (size_t i = 0; i < w->n_arms; i++)
            w->contexts[i * w->dim + j] += offset;
    }
}

static void next(struct gbose__world *w)
{
    struct own *own = w->own;
    struct gbose__rng rng;

    if (own->drift > 0 && w->round > 1)
        move_mu(w);
    if (own->has_user)
        draw_user(w);
    if (!own->shared)
        draw_points(w);
    for (size_t i = 1; own->shared && i < w->n_arms; i++)
        memcpy(point_of(w, i), own->user, own->d * sizeof *own->user);
    if (own->first)
        gbose__draw_block_means(w, own->mu, own->d);
    else
        gbose__draw_dense_means(w, own->mu);
    w->shift = shift(w);
    if (own->walk > 0)
        w->shift += walk(w);
    if (own->known)
        w->shift = 0;
    gbose__world_rng(w, &rng, GBOSE__WORLD_NOISE);
    w->noise = own->noise * (own->tail == TAIL_T3 ? gbose__draw_t3(&rng) : gbose__rng_normal(&rng));
    if (own->clicks > 0)
        click(w);
    if (own->offset > 0)
        add_offset(w);
    w->low = w->round <= own->quiet ? 0 : -INFINITY;
    w->high = w->round <= own->quiet ? 0 : INFINITY;
}

static void observe(struct gbose__world *w, size_t arm, double reward)
{
    struct own *own = w->own;

    (void)arm;
    if (own->shift == SHIFT_REWARD_DRIVEN)
        own->state += REWARD_WEIGHT * (reward - w->shift - own->state);
}

static void clear(struct gbose__world *w)
{
    struct own *own = w->own;

    gbose__free(own->mu);
    gbose__free(own->wave);
    gbose__free(own->common);
    gbose__free(own->user);
    gbose__free(own->function);
}

static const gbose_option options[] = {
    {"shift", GBOSE_WORD, 0, 0,
     "zero|random-walk|jumps|season|context-sine|reward-driven|user-sine|user-tree|user-product|user-exp|"
     "user-uplift",
     "random-walk", "the confounder v(t); a learner sees the user only with contexts=shared"},
    {"scale", GBOSE_NUMBER, 0, 1e6, NULL, "5", "how far v moves; the arms' means are within 1 of 0"},
    {"day", GBOSE_INTEGER, 2, 1e9, NULL, "100",
     "rounds in a day: 'season' has the periods of a day and a week, 'context-sine' that of 100 days"},
    {"contexts", GBOSE_WORD, 0, 0, "blocks|dense|shared", "dense",
     "a block of features for each arm but arm 0, or all features for every arm, or the user's features in "
     "the "
     "block of each arm but arm 0"},
    OPTION_ARMS("10"),
    {"dim", GBOSE_INTEGER, 1, GBOSE__WORLD_MAX_BLOCK, NULL, "5",
     "features of a dense context, or of one arm's block: then a context has dim * (arms - 1)"},
    {"correlation", GBOSE_NUMBER, 0, 0.99, NULL, "0", "of the points that the arms of a round have"},
    OPTION_NOISE("0.1"),
    {"tail", GBOSE_WORD, 0, 0, "normal|t3", "normal",
     "law of the noise: normal, or Student's t with 3 degrees of freedom and the same standard deviation"},
    {"drift", GBOSE_NUMBER, 0, 1, NULL, "0",
     "length of the step that mu takes on the unit sphere each round"},
    {"walk", GBOSE_NUMBER, 0, 1e6, NULL, "0",
     "add a random walk to v, with this standard deviation after 10,000 rounds"},
    {"known", GBOSE_INTEGER, 0, 1, NULL, "0",
     "1: v is taken out of the rewards, as for someone who knows it"},
    {"clicks", GBOSE_NUMBER, 0, 0.5, NULL, "0",
     "if above 0: rewards are 1 with probability clicks * (1 + b'mu + v), else 0; regret is in clicks"},
    {"offset", GBOSE_NUMBER, 0, 1e6, NULL, "0",
     "standard deviation of a random vector that is added to the contexts of all arms, another one each "
     "round"},
    {"quiet", GBOSE_INTEGER, 0, 1e9, NULL, "0", "the first rewards, so many, are all 0"},
};

const struct gbose__world_kind gbose__world_gallery = {
    .info = {"gallery", "shifts, tails and drifts that may break a linear bandit, one by one or together",
             options, GBOSE__COUNT(options)},
    .own_size = sizeof(struct own),
    .init = init,
    .next = next,
    .observe = observe,
    .clear = clear,
};
