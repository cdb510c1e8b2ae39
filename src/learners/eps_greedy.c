/* Epsilon-greedy on ridge regression.
 *
 * Model: r = mu_0 + b_a'mu + noise, with no confounder. Plays the best estimated arm with probability
 * 1 - epsilon, and any arm (the best one too) with probability epsilon / n.
 *
 * Deviations: none; `intercept=0` takes the intercept feature away. */
#include "core/arms.h"
#include "learners/linear.h"
#include "learners/options.h"

struct own {
    double epsilon;
};

static int init(gbose *g, gbose_error *err)
{
    struct own *own = g->own;

    (void)err;
    own->epsilon = gbose__learner_option(g, "epsilon")->number;
    return gbose__linear_init(g);
}

static void decide(const gbose *g, const struct gbose__input *in, struct gbose__round *round)
{
    const struct own *own = g->own;

    for (size_t i = 0; i < in->n; i++)
        round->pmf[i] = own->epsilon / (double)in->n;
    round->pmf[gbose__arms_argmax(in->score, in->n)] += 1 - own->epsilon;
}

static const gbose_option options[] = {
    {"epsilon", GBOSE_NUMBER, 0, 1, NULL, "0.1", "share of rounds in which any arm may be played"},
    OPTION_LAMBDA,
    OPTION_LINEAR_INTERCEPT,
    OPTIONS_OF_ALL,
};

const struct gbose__learner gbose__eps_greedy = {
    .info = GBOSE__INFO("eps-greedy", "epsilon-greedy on ridge regression", options),
    .own_size = sizeof(struct own),
    .init = init,
    .decide = decide,
    .explain = gbose__linear_explain,
};
