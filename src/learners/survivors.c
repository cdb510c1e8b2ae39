#include "learners/survivors.h"

#include <math.h>
#include <string.h>

#include "core/arms.h"
#include "core/normal.h"
#include "learners/orthogonal.h"

enum { GAMMA_THEORY, GAMMA_LEMMA1 };

/* lambda of Algorithm 1, unless it was given. */
static double lambda_of(const gbose *g, double d, double T, double delta)
{
    const struct gbose__value *lambda = gbose__learner_option(g, "lambda");

    return lambda->word < 0 ? lambda->number : 4 * d * gbose__log(9 * T) + 8 * gbose__log(4 * T / delta);
}

/* gamma of Algorithm 1 or of Lemma 1, unless it was given. */
static double gamma_of(const gbose *g, double d, double T, double delta, double lambda)
{
    const struct gbose__value *gamma = gbose__learner_option(g, "gamma");

    switch (gamma->word) {
    case GAMMA_THEORY:
        return sqrt(lambda) + sqrt(27 * d * gbose__log(1 + 2 * T / d) + 54 * gbose__log(4 * T / delta));
    case GAMMA_LEMMA1:
        return sqrt(lambda) + sqrt(9 * d * gbose__log(1 + T / (d * lambda)) + 18 * gbose__log(T / delta));
    default:
        return gamma->number;
    }
}

int gbose__survivors_init(gbose *g)
{
    struct gbose__survivors *own = g->own;
    double d = (double)g->dim, T = (double)gbose__learner_option(g, "horizon")->integer,
           delta = gbose__learner_option(g, "delta")->number, lambda = lambda_of(g, d, T, delta);

    own->gamma = gamma_of(g, d, T, delta, lambda);
    return gbose__orthogonal_init(g, lambda);
}

size_t gbose__survivors_find(const gbose *g, const struct gbose__input *in, struct gbose__round *round)
{
    const struct gbose__survivors *own = g->own;
    const struct gbose__ridge *fit = &g->fit[0];

    round->n_live = gbose__arms_suspects(round->live, &round->arms, in->context, in->score, in->n, in->stride,
                                         own->gamma, fit->reach);
    if (round->n_live > 1) { /* one alone needs no image */
        gbose__ridge_apply(fit, round->image, in->context, round->live, round->n_live);
        round->n_live = gbose__arms_filter(round->live, round->n_live, &round->arms, round->image, in->score,
                                           in->stride, own->gamma);
    }
    memset(round->pmf, 0, in->n * sizeof *round->pmf);
    if (round->n_live == 1)
        round->pmf[round->live[0]] = 1;
    return round->n_live;
}

/* The relative difference of distances below which pairs count as equally far apart: far more than rounding
 * makes, far less than matters. */
#define TIE 1e-9

/* Lengthen every image by a random fraction of TIE. The fractions follow from one random number of the decision
 * by a Weyl sequence and a multiplication, which is good enough for breaking ties. */
static void break_ties(const gbose *g, const struct gbose__input *in, struct gbose__round *round)
{
    struct gbose__rng rng;
    uint64_t state;

    gbose__round_rng(g, round, &rng, GBOSE__TIE);
    state = gbose__rng_u64(&rng);
    for (size_t a = 0; a < round->n_live; a++) {
        double *image = round->image + round->live[a] * in->stride, grow;
        uint64_t z;

        state += UINT64_C(0x9e3779b97f4a7c15);
        z = (state ^ (state >> 32)) * UINT64_C(0xd6e8feb86659fd93);
        grow = 1 + TIE * 0x1p-32 * (double)(z >> 32);
        for (size_t j = 0; j < in->stride; j++)
            image[j] *= grow;
    }
}

void gbose__survivors_farthest(const gbose *g, const struct gbose__input *in, struct gbose__round *round,
                               size_t *k, size_t *l)
{
    if (round->n_live > 2)
        break_ties(g, in, round);
    gbose__arms_farthest_pair(k, l, &round->arms, round->image, round->live, round->n_live, in->stride);
}
