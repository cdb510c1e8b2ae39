/* Semiparametric Thompson sampling.
 *
 * Kim and Paik, "Contextual multi-armed bandit algorithm for semiparametric reward model", ICML 2019.
 * (A US patent application covers this algorithm; see docs/learners/semi-ts.md before commercial use.)
 *
 * Model: r = b_a'mu + v + noise.
 *
 *   pi         round->pmf      the probability that each arm is best under mu~ ~ N(mu, gamma^2 B^-1)
 *   bbar       to->centre      sum_i pi_i b_i
 *   X                          b_a - bbar
 *   B          g->fit[0]       lambda I + sum [ 2 X X' + 2 sum_i pi_i (b_i - bbar)(b_i - bbar)' ]
 *   mu         g->fit[0].mu    B^-1 sum 4 X r
 *
 * The form with the factors 2 and 4 is that of the authors' program; the paper's has half of each, which is
 * the same with lambda and gamma^2 halved.
 *
 * Deviations: where the paper plays the best arm under one sample and estimates pi from others, the arm here
 * is drawn from pi, itself the image of the law in `draws` samples (exact for two arms). Each arm has the
 * same probability either way; X then has mean zero exactly, and pi is the true propensity. The samples are
 * of the arms' scores, not of mu~. */
#include "learners/options.h"
#include "learners/orthogonal.h"
#include "learners/thompson.h"

#include "core/kernels.h"

#include <string.h>

static int init(gbose *g, gbose_error *err)
{
    (void)err;
    g->max_terms = 0;
    g->max_terms_per_arm = 1;
    gbose__thompson_init(g);
    return gbose__orthogonal_init(g, gbose__learner_option(g, "lambda")->number);
}

/* (w, c, b_i - bbar), with bbar in to->centre. */
static void term(const gbose *g, const struct gbose__input *in, size_t i, double w, double c, double offset,
                 struct gbose__ticket *to)
{
    for (size_t k = 0; k < g->dim; k++)
        to->x[k] = gbose__context(in, i)[k] - to->centre[k];
    gbose__ticket_term(to, 0, w, c, offset, to->x);
}

static void explain(const gbose *g, const struct gbose__input *in, const double *pmf, size_t arm,
                    struct gbose__ticket *to)
{
    double offset = gbose__orthogonal_offset(g, in, arm, to);

    if (pmf[arm] == 1)
        return;
    memset(to->centre, 0, in->stride * sizeof(double));
    for (size_t i = 0; i < in->n; i++)
        if (pmf[i] > 0)
            gbose__kernels->axpy(to->centre, pmf[i], gbose__context(in, i), in->stride);
    term(g, in, arm, 2 + 2 * pmf[arm], 4, offset, to);
    for (size_t i = 0; i < in->n; i++)
        if (pmf[i] > 0 && i != arm)
            term(g, in, i, 2 * pmf[i], 0, offset, to);
}

static const gbose_option options[] = {
    OPTION_GAMMA_SAMPLE, OPTION_LAMBDA, OPTION_DRAWS, OPTION_CENTRED_INTERCEPT, OPTIONS_OF_ALL,
};

const struct gbose__learner gbose__semi_ts = {
    .info = GBOSE__INFO("semi-ts", "semiparametric Thompson sampling (patent application: see its page)",
                        options),
    .own_size = sizeof(struct gbose__thompson),
    .samples = 1,
    .init = init,
    .prepare = gbose__orthogonal_prepare,
    .decide = gbose__thompson_decide,
    .explain = explain,
};
