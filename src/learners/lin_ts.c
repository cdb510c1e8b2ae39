/* Linear Thompson sampling.
 *
 * Agrawal and Goyal, "Thompson sampling for contextual bandits with linear payoffs", ICML 2013.
 *
 * Model: r = mu_0 + b_a'mu + noise, with no confounder.
 *
 *   B          g->fit[0]       lambda I + sum x x',  x = (b_a, 1)
 *   mu         g->fit[0].mu    B^-1 sum x r; the intercept mu_0 is its last entry
 *   pi         round->pmf      the probability that each arm is best under N(mu, gamma^2 B^-1)
 *
 * Deviations: an intercept feature (`intercept=0` takes it away). The arm is drawn from pi, itself the image
 * of the law in `draws` samples (exact for two arms): the arm's law is the same, and pi is its propensity. */
#include "learners/linear.h"
#include "learners/options.h"
#include "learners/thompson.h"

static int init(gbose *g, gbose_error *err)
{
    (void)err;
    gbose__thompson_init(g);
    return gbose__linear_init(g);
}

static const gbose_option options[] = {
    OPTION_GAMMA_SAMPLE, OPTION_LAMBDA, OPTION_DRAWS, OPTION_LINEAR_INTERCEPT, OPTIONS_OF_ALL,
};

const struct gbose__learner gbose__lin_ts = {
    .info = GBOSE__INFO("lin-ts", "linear Thompson sampling", options),
    .own_size = sizeof(struct gbose__thompson),
    .samples = 1,
    .init = init,
    .decide = gbose__thompson_decide,
    .explain = gbose__linear_explain,
};
