/* The world of BOSE's experiments: a confounder that takes away what the best arm would give.
 *
 * Krishnamurthy, Wu and Syrgkanis, "Semiparametric contextual bandits", ICML 2018, and the code that its
 * authors published with it.
 *
 * Model: r = b_a'mu + v(t) + noise, every arm with dense features of unit length.
 *
 *   b          features=sphere      uniform on the unit sphere
 *              features=dirichlet   Dirichlet(1/d, ..., 1/d) scaled to unit length
 *   mu         own->mu, dim         uniform on the unit sphere, or Dirichlet(1, ..., 1) scaled to unit length
 *                                   when the features are Dirichlet; once in a repetition
 *   noise                           N(0, noise^2), common to the arms of a round; the authors use 0.1 and 0.5
 *   v(t)                            -max_a b_a'mu: no arm has a mean reward above 0
 *
 * Readings: "normalised" is division by the Euclidean length. The code uses one mu for all repetitions; here
 * each repetition draws its own. */
#include "core/memory.h"
#include "worlds/draw.h"
#include "worlds/world_options.h"

enum { FEATURES_SPHERE, FEATURES_DIRICHLET };

struct own {
    double *mu;
    int features;
    double noise;
};

static int init(struct gbose__world *w, gbose_error *err)
{
    struct own *own = w->own;
    struct gbose__rng rng;

    (void)err;
    own->features = gbose__world_option(w, "features")->word;
    own->noise = gbose__world_option(w, "noise")->number;
    w->dim = (size_t)gbose__world_option(w, "dim")->integer;
    w->max_arms = (size_t)gbose__world_option(w, "arms")->integer;
    own->mu = gbose__alloc(w->dim, sizeof *own->mu);
    if (!own->mu)
        return GBOSE_ENOMEM;
    gbose__world_rng(w, &rng, GBOSE__WORLD_SETTING);
    if (own->features == FEATURES_SPHERE)
        gbose__draw_sphere(own->mu, w->dim, &rng);
    else
        gbose__draw_dirichlet(own->mu, w->dim, 1, &rng);
    return GBOSE_OK;
}

static void next(struct gbose__world *w)
{
    const struct own *own = w->own;
    struct gbose__rng rng;

    gbose__world_rng(w, &rng, GBOSE__WORLD_CONTEXT);
    for (size_t i = 0; i < w->n_arms; i++) {
        double *b = w->contexts + i * w->dim;
        if (own->features == FEATURES_SPHERE)
            gbose__draw_sphere(b, w->dim, &rng);
        else
            gbose__draw_dirichlet(b, w->dim, 1 / (double)w->dim, &rng);
    }
    gbose__draw_dense_means(w, own->mu);
    w->shift = -gbose__world_best(w);
    gbose__world_rng(w, &rng, GBOSE__WORLD_NOISE);
    w->noise = own->noise * gbose__rng_normal(&rng);
}

static void clear(struct gbose__world *w)
{
    gbose__free(((struct own *)w->own)->mu);
}

static const gbose_option options[] = {
    OPTION_ARMS("2"),
    {"dim", GBOSE_INTEGER, 2, GBOSE__WORLD_MAX_BLOCK, NULL, "10", "features of a context"},
    {"features", GBOSE_WORD, 0, 0, "sphere|dirichlet", "sphere",
     "contexts and mu of all signs, or positive ones that lean towards one feature"},
    OPTION_NOISE("0.1"),
};

const struct gbose__world_kind gbose__world_krishnamurthy = {
    .info = {"krishnamurthy", "the experiments of BOSE: v takes away the best arm's mean", options,
             GBOSE__COUNT(options)},
    .own_size = sizeof(struct own),
    .init = init,
    .next = next,
    .clear = clear,
};
