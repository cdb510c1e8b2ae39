/* Epsilon-greedy on ridge regression.
 *
 * Model: r = mu_0 + b_a'mu + noise, with no confounder. Plays the best estimated arm with probability
 * 1 - epsilon, and any arm (the best one too) with probability epsilon / n.
 *
 * Deviations: none; `intercept=0` takes the intercept feature away. */
#include "core/arms.h"
#include "learners/linear.h"
#include "learners/options.h"

static void decide(const gbose *g, struct gbose__round *round)
{
    double epsilon = g->set.epsilon;

    for (size_t i = 0; i < round->n; i++)
        round->pmf[i] = epsilon / (double)round->n;
    round->pmf[gbose__argmax(round->score, round->n)] += 1 - epsilon;
}

static const gbose_option options[] = {
    {"epsilon", GBOSE_NUMBER, 0, 1, NULL, "0.1", "share of rounds in which any arm may be played"},
    OPTION_LAMBDA,
    OPTION_LINEAR_INTERCEPT,
    OPTION_FORGET,
    OPTION_SEED,
};

const struct gbose__learner gbose__eps_greedy = {
    .info = {"eps-greedy", "epsilon-greedy on ridge regression", options, GBOSE__COUNT(options)},
    .linear = 1,
    .decide = decide,
    .explain = gbose__linear_explain,
};
