/* The world of the GBOSE paper.
 *
 * Chowdhury, Ismayilzada, Sayem and Kim, "GBOSE: Generalized Bandit Orthogonalized Semiparametric
 * Estimation", AISTATS 2023, section 6.
 *
 * Model: r = b_a'mu + v(t) + noise. Arm 0 has the zero context; arm i has z_i in block i - 1, the blocks of
 * the other arms being zero.
 *
 *   z          dim                     uniform in the unit ball, or on the unit sphere
 *   mu         own->mu, dim (arms-1)   each entry uniform in (-0.5, 0.5), once in a repetition
 *   noise                              N(0, noise^2)
 *   v(t)       zero                    0                                               (i)
 *              log-sine                log2(t + 1) sin(0.0005 t)^2 + t^(1/4)           (ii)
 *              cos-best                -cos(0.0005 t) sqrt|b_a*'mu|, a* the best arm   (iii)
 *
 * Readings: the paper's d is the dimension of one block, and mu has d (N - 1) entries (its "d/(N-1)" is not
 * whole for N = 10); "uniformly from the unit sphere" is uniform in the ball, as in the code of Kim and Paik
 * (2019) whose set-up the paper follows; "N(0, 0.12)" is a misprint of N(0, 0.1^2). docs/reproduction.md has
 * the evidence. Rounds count from t = 1. */
#include <math.h>

#include "core/memory.h"
#include "core/normal.h"
#include "worlds/draw.h"
#include "worlds/world_options.h"

#define LN2 0x1.62e42fefa39efp-1
#define FREQUENCY 0.0005

enum { SHIFT_ZERO, SHIFT_LOG_SINE, SHIFT_COS_BEST };
enum { PLACE_BALL, PLACE_SPHERE };

struct own {
    double *mu;
    size_t d;
    int shift, place;
    double noise;
};

static int init(struct gbose__world *w, gbose_error *err)
{
    struct own *own = w->own;
    struct gbose__rng rng;
    int rc;

    own->d = (size_t)gbose__world_option(w, "dim")->integer;
    own->shift = gbose__world_option(w, "shift")->word;
    own->place = gbose__world_option(w, "place")->word;
    own->noise = gbose__world_option(w, "noise")->number;
    rc = gbose__draw_blocks(w, (size_t)gbose__world_option(w, "arms")->integer, own->d, err);
    if (rc)
        return rc;
    own->mu = gbose__alloc(w->dim, sizeof *own->mu);
    if (!own->mu)
        return GBOSE_ENOMEM;
    gbose__world_rng(w, &rng, GBOSE__WORLD_SETTING);
    for (size_t i = 0; i < w->dim; i++)
        own->mu[i] = gbose__rng_uniform(&rng) - 0.5;
    return GBOSE_OK;
}

static double shift(const struct gbose__world *w, int kind)
{
    double t = (double)w->round, s;

    switch (kind) {
    case SHIFT_LOG_SINE:
        s = gbose__draw_sine(FREQUENCY * t);
        return gbose__log(t + 1) / LN2 * s * s + sqrt(sqrt(t));
    case SHIFT_COS_BEST:
        return -gbose__draw_cosine(FREQUENCY * t) * sqrt(fabs(gbose__world_best(w)));
    default:
        return 0;
    }
}

static void next(struct gbose__world *w)
{
    const struct own *own = w->own;
    struct gbose__rng rng;

    gbose__world_rng(w, &rng, GBOSE__WORLD_CONTEXT);
    for (size_t i = 1; i < w->n_arms; i++) {
        double *z = gbose__draw_block(w, i, own->d);
        if (own->place == PLACE_BALL)
            gbose__draw_ball(z, own->d, &rng);
        else
            gbose__draw_sphere(z, own->d, &rng);
    }
    gbose__draw_block_means(w, own->mu, own->d);
    w->shift = shift(w, own->shift);
    gbose__world_rng(w, &rng, GBOSE__WORLD_NOISE);
    w->noise = own->noise * gbose__rng_normal(&rng);
}

static void clear(struct gbose__world *w)
{
    gbose__free(((struct own *)w->own)->mu);
}

static const gbose_option options[] = {
    OPTION_ARMS("10"),
    {"dim", GBOSE_INTEGER, 1, GBOSE__WORLD_MAX_BLOCK, NULL, "2",
     "features of one arm's block, the paper's d; a context has dim * (arms - 1) features"},
    {"shift", GBOSE_WORD, 0, 0, "zero|log-sine|cos-best", "zero",
     "the confounder v(t): settings (i), (ii) and (iii) of the paper"},
    {"place", GBOSE_WORD, 0, 0, "ball|sphere", "ball",
     "contexts are uniform in the unit ball or on the unit sphere"},
    OPTION_NOISE("0.1"),
};

const struct gbose__world_kind gbose__world_paper = {
    .info = {"paper", "the simulation study of the GBOSE paper", options, GBOSE__COUNT(options)},
    .own_size = sizeof(struct own),
    .init = init,
    .next = next,
    .clear = clear,
};
