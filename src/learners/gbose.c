/* GBOSE: generalized bandit orthogonalized semiparametric estimation.
 *
 * Chowdhury, Ismayilzada, Sayem and Kim, AISTATS 2023, Algorithm 1.
 *
 * Model: r = b_a'mu + v + noise, v arbitrary but the same for every arm of a round.
 *
 *   B          g->fit[0], dim x dim       lambda I + sum X X'
 *   mu         g->fit[0].mu, dim          B^-1 sum X r
 *   gamma      own->width.gamma           width of the confidence set
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
#include "learners/survivors.h"

enum { LONE_SKIP, LONE_HALF };

struct own {
    struct gbose__survivors width;
    int lone;
};

static int init(gbose *g, gbose_error *err)
{
    struct own *own = g->own;

    (void)err;
    own->lone = gbose__learner_option(g, "lone")->word;
    return gbose__survivors_init(g);
}

static void decide(const gbose *g, const struct gbose__input *in, struct gbose__round *round)
{
    size_t k, l;

    if (gbose__survivors_find(g, in, round) == 1) /* line 6 */
        return;
    gbose__survivors_farthest(g, in, round, &k, &l); /* line 7 */
    round->pmf[k] = round->pmf[l] = 0.5;             /* line 8 */
}

static void explain(const gbose *g, const struct gbose__input *in, const double *pmf, size_t arm,
                    struct gbose__ticket *to)
{
    const struct own *own = g->own;
    double offset;

    if (pmf[arm] < 1 || own->lone == LONE_SKIP) {
        gbose__orthogonal_explain(g, in, pmf, arm, to); /* line 12 */
        return;
    }
    offset = gbose__orthogonal_offset(g, in, arm, to);
    for (size_t k = 0; k < g->dim; k++)
        to->x[k] = gbose__context(in, arm)[k] / 2;
    gbose__ticket_term(to, 0, 1, 1, offset, to->x);
}

static const gbose_option options[] = {
    OPTION_GAMMA_WIDTH,
    OPTION_LAMBDA_THEORY,
    OPTION_DELTA,
    OPTION_HORIZON,
    OPTION_CENTRED_INTERCEPT,
    {"lone", GBOSE_WORD, 0, 0, "skip|half", "skip",
     "what a round teaches in which one arm was certain: nothing, as in the paper, or X = b_a / 2"},
    OPTIONS_OF_ALL,
};

const struct gbose__learner gbose__gbose = {
    .info = GBOSE__INFO("gbose", "GBOSE: filter the arms, then toss a coin between the two farthest apart",
                        options),
    .own_size = sizeof(struct own),
    .init = init,
    .prepare = gbose__orthogonal_prepare,
    .decide = decide,
    .explain = explain,
};
