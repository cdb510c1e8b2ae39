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

struct own {
    double gamma;
};

static int init(gbose *g, gbose_error *err)
{
    struct own *own = g->own;

    (void)err;
    own->gamma = gbose__learner_option(g, "gamma")->number;
    return gbose__linear_init(g);
}

static void decide(const gbose *g, const struct gbose__input *in, struct gbose__round *round)
{
    const struct own *own = g->own;
    double *index = round->first;

    gbose__round_images(g, in, round);
    for (size_t i = 0; i < in->n; i++) {
        const double *y = round->image + i * in->stride;
        index[i] = in->score[i] + own->gamma * sqrt(gbose__dot(y, y, in->stride));
    }
    memset(round->pmf, 0, in->n * sizeof *round->pmf);
    round->pmf[gbose__arms_argmax(index, in->n)] = 1;
}

static const gbose_option options[] = {
    OPTION_GAMMA_BONUS,
    OPTION_LAMBDA,
    OPTION_LINEAR_INTERCEPT,
    OPTIONS_OF_ALL,
};

const struct gbose__learner gbose__lin_ucb = {
    .info = GBOSE__INFO("lin-ucb", "linear upper confidence bounds (LinUCB)", options),
    .own_size = sizeof(struct own),
    .init = init,
    .decide = decide,
    .explain = gbose__linear_explain,
};
