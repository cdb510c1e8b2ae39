#include "learners/orthogonal.h"

#include <string.h>

#include "core/arms.h"
#include "core/kernels.h"

void gbose__centred_term(const gbose *g, struct gbose__round *round, size_t arm, double w, double c)
{
    double *x = round->centre;

    /* sum_i pmf_i (b_arm - b_i): equal contexts give exactly zero */
    memset(x, 0, round->stride * sizeof(double));
    for (size_t i = 0; i < round->n; i++)
        if (round->pmf[i] > 0 && i != arm)
            for (size_t k = 0; k < g->dim; k++)
                x[k] += round->pmf[i] *
                        (round->context[arm * round->stride + k] - round->context[i * round->stride + k]);
    gbose__term(g, round, w, c, x);
}

size_t gbose__survivors(const gbose *g, struct gbose__round *round)
{
    round->n_live = gbose__suspects(round->live, &round->arms, round->context, round->score, round->n,
                                    round->stride, g->set.gamma, g->model.reach);
    if (round->n_live > 1) { /* one alone needs no image */
        gbose__ridge_apply(&g->model, round->image, round->context, round->live, round->n_live);
        round->n_live = gbose__filter(round->live, round->n_live, &round->arms, round->image, round->score,
                                      round->stride, g->set.gamma);
    }
    memset(round->pmf, 0, round->n * sizeof *round->pmf);
    if (round->n_live == 1)
        round->pmf[round->live[0]] = 1;
    return round->n_live;
}

void gbose__farthest(struct gbose__round *round, size_t *k, size_t *l)
{
    gbose__farthest_pair(k, l, &round->arms, round->image, round->live, round->n_live, round->stride);
}
