/* Action-centred Thompson sampling.
 *
 * Greenewald, Tewari, Klasnja and Murphy, "Action centered contextual bandits", NeurIPS 2017.
 *
 * Model: r = x_a'mu 1{a > 0} + v + noise. Arm 0 is the base arm ("do nothing"), x_i = b_i - b_0.
 *
 *   mu~        never formed: a sample of N(mu, gamma^2 B^-1)
 *   q_i        round->radius   the probability that i > 0 is the best of the others under mu~
 *   p_i        round->aside    P(x_i'mu~ > 0), clipped to [p_min, p_max]
 *   pi         round->pmf      pi_i = q_i p_i; the base arm has what is left
 *   B          g->model        lambda I + sum p (1 - p) x x'
 *   mu         g->model.mu     B^-1 sum (1{a > 0} - p) x r
 *
 * The paper draws the rival of the base arm from q, then plays it with its probability p. Here the arm is
 * drawn from pi; when it is the base arm, the rival is drawn afterwards from its law given that. The joint
 * law is the same, and pi is the true propensity of every arm.
 *
 * Deviations: with more than two rivals q is the image of its law in `draws` samples. */
#include "core/kernels.h"
#include "core/normal.h"
#include "learners/options.h"
#include "learners/thompson.h"

#include <math.h>
#include <string.h>

static void decide(const gbose *g, struct gbose__round *round)
{
    double p_min = g->set.p_min, p_max = g->set.p_max;
    double *p = round->aside, *q = round->radius;
    struct gbose__rng rng;

    memset(round->pmf, 0, round->n * sizeof *round->pmf);
    if (round->n == 1) {
        round->pmf[0] = 1;
        return;
    }
    gbose__images(g, round);
    for (size_t i = 1; i < round->n; i++) {
        double sd = g->set.gamma *
                    sqrt(gbose__distance2(round->image + i * round->stride, round->image, round->stride));
        double mean = round->score[i] - round->score[0];

        p[i] = sd > 0 ? gbose__normal_cdf(mean / sd) : mean > 0;
        p[i] = fmax(p_min, fmin(p_max, p[i]));
    }
    round->n_live = round->n - 1;
    for (size_t i = 1; i < round->n; i++)
        round->live[i - 1] = i;
    gbose__decision_rng(g, round, &rng, GBOSE__SCORES);
    round->draws = gbose__best_arm_law(q, round, g->model.dim, g->set.gamma, g->set.draws, &rng);
    for (size_t i = 1; i < round->n; i++) {
        round->pmf[i] = q[i] * p[i];
        round->pmf[0] += q[i] * (1 - p[i]);
    }
}

/* Who stood against the base arm, given that it was played: i with probability q_i (1 - p_i) / pi_0. */
static size_t draw_rival(const gbose *g, const struct gbose__round *round)
{
    const double *p = round->aside, *q = round->radius;
    struct gbose__rng rng;
    double u;
    size_t rival = 1;

    gbose__decision_rng(g, round, &rng, GBOSE__RIVAL);
    u = gbose__rng_uniform(&rng) * round->pmf[0];
    for (size_t i = 1; i < round->n; i++) {
        if (!(q[i] * (1 - p[i]) > 0))
            continue;
        rival = i;
        u -= q[i] * (1 - p[i]);
        if (u < 0)
            break;
    }
    return rival;
}

static void explain(const gbose *g, struct gbose__round *round, size_t arm)
{
    size_t rival;
    double p;

    if (round->n == 1)
        return;
    rival = arm ? arm : draw_rival(g, round);
    p = round->aside[rival];
    for (size_t k = 0; k < g->dim; k++)
        round->centre[k] = round->context[rival * round->stride + k] - round->context[k];
    if (p > 0 && p < 1)
        gbose__term(g, round, p * (1 - p), (arm ? 1 : 0) - p, round->centre);
}

static int check(const struct gbose__settings *set, gbose_error *err)
{
    if (set->p_min > set->p_max)
        return gbose__fail(err, GBOSE_ESPEC, "p_max must be at least p_min; got p_min=%g, p_max=%g",
                           set->p_min, set->p_max);
    return GBOSE_OK;
}

static const gbose_option options[] = {
    OPTION_GAMMA_SAMPLE,
    OPTION_LAMBDA,
    {"p_min", GBOSE_NUMBER, 0, 1, NULL, "0", "smallest probability of leaving the base arm"},
    {"p_max", GBOSE_NUMBER, 0, 1, NULL, "1", "largest probability of leaving the base arm; at least p_min"},
    OPTION_DRAWS,
    OPTION_CENTRED_INTERCEPT,
    OPTION_FORGET,
    OPTION_SEED,
};

const struct gbose__learner gbose__action_ts = {
    .info = {"action-ts", "action-centred Thompson sampling: the best other arm against base arm 0", options,
             GBOSE__COUNT(options)},
    .samples = 1,
    .check = check,
    .decide = decide,
    .explain = explain,
};
