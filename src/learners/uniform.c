/* Uniform play: a randomised trial.
 *
 * Every arm has probability 1/n. The estimate of mu is the orthogonal one (X = b_a - bbar, bbar the mean
 * context of the round), so that it is unbiased under any confounder: the cleanest data there is, at the
 * price of learning nothing about what to play.
 *
 * Deviations: none. */
#include "learners/options.h"
#include "learners/orthogonal.h"

static void decide(const gbose *g, struct gbose__round *round)
{
    (void)g;
    for (size_t i = 0; i < round->n; i++)
        round->pmf[i] = 1 / (double)round->n;
}

static void explain(const gbose *g, struct gbose__round *round, size_t arm)
{
    if (round->n > 1)
        gbose__centred_term(g, round, arm, 1, 1);
}

static const gbose_option options[] = {OPTION_LAMBDA, OPTION_CENTRED_INTERCEPT, OPTION_FORGET, OPTION_SEED};

const struct gbose__learner gbose__uniform = {
    .info = {"uniform", "uniform play: a randomised trial", options, GBOSE__COUNT(options)},
    .decide = decide,
    .explain = explain,
};
