/* GBOSE: generalized bandit orthogonalized semiparametric estimation.
 *
 * Chowdhury, Ismayilzada, Sayem and Kim, AISTATS 2023, Algorithm 1.
 *
 * Model: r = b_a'mu + v + noise, v arbitrary but the same for every arm of a round.
 *
 *   B          g->model, dim x dim        lambda I + sum X X'
 *   mu         g->model.mu, dim           B^-1 sum X r
 *   gamma      g->set.gamma               width of the confidence set
 *   A_t        round->live                the arms that survive the filter
 *   pi         round->pmf                 1/2 on each arm of the farthest pair
 *   X          the ticket's term          b_a - bbar, bbar = (b_k + b_l) / 2
 *
 * Deviations: the paper's line 6 has a misplaced bracket; the condition meant is
 * <mu, b_j - b_i> <= gamma ||b_i - b_j||. Options beyond the paper: `lone=half` learns from rounds with one
 * survivor as if the pair's other member were the zero context (docs/learners/gbose.md says why it is
 * offered; it gives up the paper's guarantee), `intercept` and `forget`. */
#include "learners/options.h"
#include "learners/orthogonal.h"

enum { LONE_SKIP, LONE_HALF };

static void decide(const gbose *g, struct gbose__round *round)
{
    size_t k, l;

    if (gbose__survivors(g, round) == 1) /* line 6 */
        return;
    gbose__farthest(round, &k, &l);      /* line 7 */
    round->pmf[k] = round->pmf[l] = 0.5; /* line 8 */
}

static void explain(const gbose *g, struct gbose__round *round, size_t arm)
{
    if (round->n_live > 1) {
        gbose__centred_term(g, round, arm, 1, 1); /* line 12 */
    } else if (g->set.lone == LONE_HALF) {
        for (size_t i = 0; i < g->dim; i++)
            round->centre[i] = round->context[arm * round->stride + i] / 2;
        gbose__term(g, round, 1, 1, round->centre);
    }
}

static const gbose_option options[] = {
    OPTION_GAMMA_WIDTH,
    OPTION_LAMBDA_THEORY,
    OPTION_DELTA,
    OPTION_HORIZON,
    OPTION_CENTRED_INTERCEPT,
    {"lone", GBOSE_WORD, 0, 0, "skip|half", "skip",
     "what a round with one survivor teaches: nothing, as in the paper, or X = b_a / 2"},
    OPTION_FORGET,
    OPTION_SEED,
};

const struct gbose__learner gbose__gbose = {
    .info = {"gbose", "GBOSE: filter the arms, then toss a coin between the two farthest apart", options,
             GBOSE__COUNT(options)},
    .decide = decide,
    .explain = explain,
};
