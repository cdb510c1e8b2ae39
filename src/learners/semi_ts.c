/* Semiparametric Thompson sampling.
 *
 * Kim and Paik, "Contextual multi-armed bandit algorithm for semiparametric reward model", ICML 2019.
 * (A US patent application covers this algorithm; see docs/learners/semi-ts.md before commercial use.)
 *
 * Model: r = b_a'mu + v + noise.
 *
 *   pi         round->pmf      the probability that each arm is best under mu~ ~ N(mu, gamma^2 B^-1)
 *   bbar       round->centre   sum_i pi_i b_i
 *   X                          b_a - bbar
 *   B          g->model        lambda I + sum [ 2 X X' + 2 sum_i pi_i (b_i - bbar)(b_i - bbar)' ]
 *   mu         g->model.mu     B^-1 sum 4 X r
 *
 * The form with the factors 2 and 4 is that of the authors' program; the paper's has half of each, which is
 * the same with lambda and gamma^2 halved.
 *
 * Deviations: where the paper plays the best arm under one sample and estimates pi from others, the arm here
 * is drawn from pi, itself the image of the law in `draws` samples (exact for two arms). Each arm has the
 * same probability either way; X then has mean zero exactly, and pi is the true propensity. The samples are
 * of the arms' scores, not of mu~. */
#include "learners/options.h"
#include "learners/thompson.h"

#include "core/kernels.h"

#include <string.h>

/* (w, c, b_i - bbar), with bbar in round->centre and the difference in the first row of round->matrix. */
static void term(const gbose *g, struct gbose__round *round, size_t i, double w, double c)
{
    for (size_t k = 0; k < g->dim; k++)
        round->matrix[k] = round->context[i * round->stride + k] - round->centre[k];
    gbose__term(g, round, w, c, round->matrix);
}

static void explain(const gbose *g, struct gbose__round *round, size_t arm)
{
    if (round->pmf[arm] == 1)
        return;
    memset(round->centre, 0, round->stride * sizeof(double));
    for (size_t i = 0; i < round->n; i++)
        if (round->pmf[i] > 0)
            gbose__kernels->axpy(round->centre, round->pmf[i], round->context + i * round->stride,
                                 round->stride);
    term(g, round, arm, 2 + 2 * round->pmf[arm], 4);
    for (size_t i = 0; i < round->n; i++)
        if (round->pmf[i] > 0 && i != arm)
            term(g, round, i, 2 * round->pmf[i], 0);
}

static const gbose_option options[] = {
    OPTION_GAMMA_SAMPLE, OPTION_LAMBDA, OPTION_DRAWS, OPTION_CENTRED_INTERCEPT, OPTION_FORGET, OPTION_SEED,
};

const struct gbose__learner gbose__semi_ts = {
    .info = {"semi-ts", "semiparametric Thompson sampling (patent application: see its page)", options,
             GBOSE__COUNT(options)},
    .term_per_arm = 1,
    .samples = 1,
    .decide = gbose__thompson_decide,
    .explain = explain,
};
