/* The world of Kim and Paik's semiparametric Thompson sampling.
 *
 * Kim and Paik, "Contextual multi-armed bandit algorithm for semiparametric reward model", ICML 2019, and the
 * code that its authors published with it.
 *
 * Model: r = b_a'mu + v(t) + noise. Arm 0 has the zero context; arm i has 10 features in block i - 1.
 *
 *   mu         own->mu, 10 (arms-1)  2 (-.275, .333, -.045, -.116, .122, .275, -.333, .045, .116, -.122)
 *   block      blocks              uniform in the unit ball, independent between arms
 *              shared              (1, x), x standard normal with 9 entries, the same x for every arm of a
 *                                  round; not in the unit ball
 *   noise                          N(0, noise^2)
 *   v(t)       zero                0                                                     (i)
 *              minus-best          -b_a*'mu, a* the best arm: the best arm's reward is just noise   (ii)
 *              log                 ln(t + 1)                                             (iii)
 *
 * Readings: the published mu is for two arms. With more, block k (from 0) is that vector rotated left by k
 * places; its second half is minus its first, so rotating by 5 flips the sign and 10 blocks are different.
 * Rounds count from t = 1, as in the paper's formula (the code counts from 0). The code draws noise for each
 * arm, here a round has one: a learner sees one arm of a round, so what it sees has the same law. */
#include "core/normal.h"
#include "worlds/draw.h"
#include "worlds/world_options.h"

#define BLOCK 10

enum { SHIFT_ZERO, SHIFT_MINUS_BEST, SHIFT_LOG };
enum { CONTEXTS_BLOCKS, CONTEXTS_SHARED };

struct own {
    double mu[2 * BLOCK]; /* the vector twice: block k of mu begins at entry k mod 10 */
    int shift, contexts;
    double noise;
};

static int init(struct gbose__world *w, gbose_error *err)
{
    static const double half[BLOCK] = {-.275, .333, -.045, -.116, .122, .275, -.333, .045, .116, -.122};
    struct own *own = w->own;

    own->shift = gbose__world_option(w, "shift")->word;
    own->contexts = gbose__world_option(w, "contexts")->word;
    own->noise = gbose__world_option(w, "noise")->number;
    for (size_t i = 0; i < 2 * BLOCK; i++)
        own->mu[i] = 2 * half[i % BLOCK];
    return gbose__draw_blocks(w, (size_t)gbose__world_option(w, "arms")->integer, BLOCK, err);
}

static void draw_contexts(struct gbose__world *w, int style)
{
    struct gbose__rng rng;
    double x[BLOCK] = {1};

    gbose__world_rng(w, &rng, GBOSE__WORLD_CONTEXT);
    if (style == CONTEXTS_SHARED)
        for (size_t i = 1; i < BLOCK; i++)
            x[i] = gbose__rng_normal(&rng);
    for (size_t arm = 1; arm < w->n_arms; arm++) {
        double *block = gbose__draw_block(w, arm, BLOCK);
        if (style == CONTEXTS_BLOCKS)
            gbose__draw_ball(x, BLOCK, &rng);
        for (size_t i = 0; i < BLOCK; i++)
            block[i] = x[i];
    }
}

static void next(struct gbose__world *w)
{
    const struct own *own = w->own;
    struct gbose__rng rng;

    draw_contexts(w, own->contexts);
    w->mean[0] = 0;
    for (size_t arm = 1; arm < w->n_arms; arm++)
        w->mean[arm] =
            gbose__draw_inner(gbose__draw_block(w, arm, BLOCK), own->mu + (arm - 1) % BLOCK, BLOCK);
    if (own->shift == SHIFT_MINUS_BEST)
        w->shift = -gbose__world_best(w);
    else if (own->shift == SHIFT_LOG)
        w->shift = gbose__log((double)w->round + 1);
    gbose__world_rng(w, &rng, GBOSE__WORLD_NOISE);
    w->noise = own->noise * gbose__rng_normal(&rng);
}

static const gbose_option options[] = {
    OPTION_ARMS("2"),
    {"shift", GBOSE_WORD, 0, 0, "zero|minus-best|log", "zero",
     "the confounder v(t): 0, minus the mean of the round's best arm, or ln(t + 1)"},
    {"contexts", GBOSE_WORD, 0, 0, "blocks|shared", "blocks",
     "a point of its own for each arm, or one context (1, x) for all of a round"},
    OPTION_NOISE("0.1"),
};

const struct gbose__world_kind gbose__world_kim_paik = {
    .info = {"kim-paik", "the simulation study of semiparametric Thompson sampling", options,
             GBOSE__COUNT(options)},
    .own_size = sizeof(struct own),
    .init = init,
    .next = next,
};
