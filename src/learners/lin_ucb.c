/* Linear upper confidence bounds.
 *
 * Li, Chu, Langford and Schapire, "A contextual-bandit approach to personalized news article
 * recommendation", WWW 2010; Abbasi-Yadkori, Pal and Szepesvari, NeurIPS 2011.
 *
 * Model: r = mu_0 + b_a'mu + noise, with no confounder. Plays the arm with the largest
 * x'mu + gamma ||x||, x = (b, 1), ||x|| = sqrt(x'B^-1 x), with probability 1.
 *
 * Deviations: one mu for all arms, an intercept feature (`intercept=0` takes it away). */
#include "core/arms.h"
#include "core/kernels.h"
#include "learners/linear.h"
#include "learners/options.h"

#include <math.h>
#include <string.h>

static void decide(const gbose *g, struct gbose__round *round)
{
    double *index = round->aside;

    gbose__images(g, round);
    for (size_t i = 0; i < round->n; i++) {
        const double *y = round->image + i * round->stride;
        index[i] = round->score[i] + g->set.gamma * sqrt(gbose__dot(y, y, round->stride));
    }
    memset(round->pmf, 0, round->n * sizeof *round->pmf);
    round->pmf[gbose__argmax(index, round->n)] = 1;
}

static const gbose_option options[] = {
    OPTION_GAMMA_BONUS, OPTION_LAMBDA, OPTION_LINEAR_INTERCEPT, OPTION_FORGET, OPTION_SEED,
};

const struct gbose__learner gbose__lin_ucb = {
    .info = {"lin-ucb", "linear upper confidence bounds (LinUCB)", options, GBOSE__COUNT(options)},
    .linear = 1,
    .decide = decide,
    .explain = gbose__linear_explain,
};
