/* BOSE for any number of arms.
 *
 * Krishnamurthy, Wu and Syrgkanis, "Semiparametric contextual bandits", ICML 2018.
 *
 * Model and letters as in gbose.c. The filter is the same; the survivors are then played by a law pi with
 *
 *     ||b_i - bbar||^2 <= sum_j pi_j ||b_j - bbar||^2     for every survivor i,   bbar = sum_j pi_j b_j
 *
 * in the B^-1 metric. These are the optimality conditions of max_pi sum_j pi_j ||b_j - bbar||^2, the dual of
 * the minimum enclosing ball of the survivors: pi are its weights and bbar is its centre (core/ball.h). For
 * two survivors it is the coin of GBOSE.
 *
 * Deviations: the inequality holds up to a factor 1 + 1e-6. Options beyond the paper: `intercept`,
 * `forget`. */
#include "learners/options.h"
#include "learners/orthogonal.h"
#include "learners/survivors.h"

static int init(gbose *g, gbose_error *err)
{
    (void)err;
    return gbose__survivors_init(g);
}

static void decide(const gbose *g, const struct gbose__input *in, struct gbose__round *round)
{
    size_t k, l;

    if (gbose__survivors_find(g, in, round) == 1)
        return;
    gbose__survivors_farthest(g, in, round, &k, &l);
    gbose__ball_weights(round->pmf, &round->ball, round->image, round->live, round->n_live, in->stride, k, l);
}

static const gbose_option options[] = {
    OPTION_GAMMA_WIDTH, OPTION_LAMBDA_THEORY,     OPTION_DELTA,
    OPTION_HORIZON,     OPTION_CENTRED_INTERCEPT, OPTIONS_OF_ALL,
};

const struct gbose__learner gbose__bose = {
    .info = GBOSE__INFO(
        "bose", "BOSE for any number of arms: filter, then play the weights of the enclosing ball", options),
    .own_size = sizeof(struct gbose__survivors),
    .ball = 1,
    .init = init,
    .prepare = gbose__orthogonal_prepare,
    .decide = decide,
    .explain = gbose__orthogonal_explain,
};
