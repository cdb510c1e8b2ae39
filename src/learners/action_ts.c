/* Action-centred Thompson sampling.
 *
 * Greenewald, Tewari, Klasnja and Murphy, "Action centered contextual bandits", NeurIPS 2017.
 *
 * Model: r = x_a'mu 1{a > 0} + v + noise. Arm 0 is the base arm ("do nothing"), x_i = b_i - b_0.
 *
 *   mu~        never formed: a sample of N(mu, gamma^2 B^-1)
 *   q_i        round->second   the probability that i > 0 is the best of the others under mu~
 *   p_i        round->first    P(x_i'mu~ > 0), clipped to [p_min, p_max]
 *   pi         round->pmf      pi_i = q_i p_i; the base arm has what is left
 *   B          g->fit[0]       lambda I + sum p (1 - p) x x'
 *   mu         g->fit[0].mu    B^-1 sum (1{a > 0} - p) x r
 *
 * The paper draws the rival of the base arm from q, then plays it with its probability p. Here the arm is
 * drawn from pi; when it is the base arm, the rival is drawn afterwards from its law given that. The joint
 * law is the same, and pi is the true propensity of every arm.
 *
 * A decision with a floor, or of somebody else, is not a coin between the base arm and a rival. It is
 * learned as
 *
 *     B += sum_i pi_i (b_i - bbar)(b_i - bbar)',    y += (b_a - bbar) r,    bbar = sum_i pi_i b_i
 *
 * which is the same for two arms.
 *
 * Deviations: with more than two rivals q is the image of its law in `draws` samples. */
#include "core/kernels.h"
#include "core/normal.h"
#include "learners/options.h"
#include "learners/orthogonal.h"
#include "learners/thompson.h"

#include <math.h>
#include <string.h>

struct own {
    struct gbose__thompson sampling;
    double p_min, p_max;
};

static int init(gbose *g, gbose_error *err)
{
    struct own *own = g->own;

    own->p_min = gbose__learner_option(g, "p_min")->number;
    own->p_max = gbose__learner_option(g, "p_max")->number;
    if (own->p_min > own->p_max)
        return gbose__fail(err, GBOSE_ESPEC, "p_max must be at least p_min; got p_min=%g, p_max=%g",
                           own->p_min, own->p_max);
    g->max_terms = 0;
    g->max_terms_per_arm = 1;
    gbose__thompson_init(g);
    return gbose__orthogonal_init(g, gbose__learner_option(g, "lambda")->number);
}

static void decide(const gbose *g, const struct gbose__input *in, struct gbose__round *round)
{
    const struct own *own = g->own;
    double *p = round->first, *q = round->second;

    memset(round->pmf, 0, in->n * sizeof *round->pmf);
    if (in->n == 1) {
        round->pmf[0] = 1;
        return;
    }
    gbose__round_images(g, in, round);
    for (size_t i = 1; i < in->n; i++) {
        double sd = own->sampling.gamma *
                    sqrt(gbose__distance2(round->image + i * in->stride, round->image, in->stride));
        double mean = in->score[i] - in->score[0];

        p[i] = sd > 0 ? gbose__normal_cdf(mean / sd) : mean > 0;
        p[i] = fmax(own->p_min, fmin(own->p_max, p[i]));
    }
    round->n_live = in->n - 1;
    for (size_t i = 1; i < in->n; i++)
        round->live[i - 1] = i;
    round->draws = gbose__thompson_law(q, g, in, round);
    for (size_t i = 1; i < in->n; i++) {
        round->pmf[i] = q[i] * p[i];
        round->pmf[0] += q[i] * (1 - p[i]);
    }
}

/* The rival of the base arm, given that the base arm was played: i with probability q_i (1 - p_i) / pi_0. */
static size_t draw_rival(const gbose *g, const struct gbose__input *in, const struct gbose__round *round)
{
    const double *p = round->first, *q = round->second;
    struct gbose__rng rng;
    double u;
    size_t rival = 1;

    gbose__round_rng(g, round, &rng, GBOSE__RIVAL);
    u = gbose__rng_uniform(&rng) * round->pmf[0];
    for (size_t i = 1; i < in->n; i++) {
        if (!(q[i] * (1 - p[i]) > 0))
            continue;
        rival = i;
        u -= q[i] * (1 - p[i]);
        if (u < 0)
            break;
    }
    return rival;
}

/* The coin that was tossed between the base arm and the rival. */
static const double *narrow(const gbose *g, const struct gbose__input *in, struct gbose__round *round,
                            size_t arm)
{
    size_t rival;

    if (in->n <= 2)
        return round->pmf;
    rival = arm ? arm : draw_rival(g, in, round);
    memset(round->narrowed, 0, in->n * sizeof *round->narrowed);
    round->narrowed[rival] = round->first[rival];
    round->narrowed[0] = 1 - round->first[rival];
    return round->narrowed;
}

/* The arm that is the only one with a positive probability beside the base arm; 0: there is no such arm,
 * or more. */
static size_t only_rival(const double *pmf, size_t n)
{
    size_t rival = 0;

    for (size_t i = 1; i < n; i++)
        if (pmf[i] > 0) {
            if (rival)
                return 0;
            rival = i;
        }
    return pmf[0] > 0 ? rival : 0;
}

static void explain(const gbose *g, const struct gbose__input *in, const double *pmf, size_t arm,
                    struct gbose__ticket *to)
{
    double offset = gbose__orthogonal_offset(g, in, arm, to);
    size_t rival = only_rival(pmf, in->n);

    if (rival) {
        double p = pmf[rival];

        for (size_t k = 0; k < g->dim; k++)
            to->x[k] = gbose__context(in, rival)[k] - gbose__context(in, 0)[k];
        gbose__ticket_term(to, 0, p * pmf[0], arm ? pmf[0] : -p, offset, to->x);
        return;
    }
    if (pmf[arm] == 1)
        return;
    for (size_t i = 0; i < in->n; i++)
        if (pmf[i] > 0) {
            gbose__orthogonal_centred(to->x, in, pmf, i);
            gbose__ticket_term(to, 0, pmf[i], i == arm, offset, to->x);
        }
}

static const gbose_option options[] = {
    OPTION_GAMMA_SAMPLE,
    OPTION_LAMBDA,
    {"p_min", GBOSE_NUMBER, 0, 1, NULL, "0", "smallest probability of leaving the base arm"},
    {"p_max", GBOSE_NUMBER, 0, 1, NULL, "1", "largest probability of leaving the base arm; at least p_min"},
    OPTION_DRAWS,
    OPTION_CENTRED_INTERCEPT,
    OPTIONS_OF_ALL,
};

const struct gbose__learner gbose__action_ts = {
    .info = GBOSE__INFO("action-ts",
                        "action-centred Thompson sampling: the best other arm against base arm 0", options),
    .own_size = sizeof(struct own),
    .samples = 1,
    .init = init,
    .prepare = gbose__orthogonal_prepare,
    .decide = decide,
    .narrow = narrow,
    .explain = explain,
};
