/* Uniform play: a randomised trial.
 *
 * Every arm has probability 1/n. The estimate of mu is the orthogonal one (X = b_a - bbar, bbar the mean
 * context of the round), so that it is unbiased under any confounder: the cleanest data there is, at the
 * price of learning nothing about what to play.
 *
 * Deviations: none. */
#include "learners/options.h"
#include "learners/orthogonal.h"

static int init(gbose *g, gbose_error *err)
{
    (void)err;
    return gbose__orthogonal_init(g, gbose__learner_option(g, "lambda")->number);
}

static void decide(const gbose *g, const struct gbose__input *in, struct gbose__round *round)
{
    (void)g;
    for (size_t i = 0; i < in->n; i++)
        round->pmf[i] = 1 / (double)in->n;
}

static const gbose_option options[] = {OPTION_LAMBDA, OPTION_CENTRED_INTERCEPT, OPTIONS_OF_ALL};

const struct gbose__learner gbose__uniform = {
    .info = GBOSE__INFO("uniform", "uniform play: a randomised trial", options),
    .init = init,
    .prepare = gbose__orthogonal_prepare,
    .decide = decide,
    .explain = gbose__orthogonal_explain,
};
