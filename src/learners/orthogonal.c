#include "learners/orthogonal.h"

#include <math.h>
#include <string.h>

enum { MODEL, LEVEL }; /* the regressions */

int gbose__orthogonal_init(gbose *g, double lambda)
{
    int rc = gbose__learner_fit(g, g->dim, lambda);

    if (rc || !gbose__learner_option(g, "intercept")->integer)
        return rc;
    g->max_terms++;
    return gbose__learner_fit(g, g->dim + 1, 1);
}

static double level(const gbose *g)
{
    return g->n_fits > LEVEL ? g->fit[LEVEL].mu[g->dim] : 0;
}

int gbose__orthogonal_prepare(const gbose *g, struct gbose__input *in)
{
    (void)in;
    return fabs(level(g)) <= GBOSE__MAX_OFFSET ? GBOSE_OK : GBOSE_ENUMERIC;
}

double gbose__orthogonal_offset(const gbose *g, const struct gbose__input *in, size_t arm,
                                struct gbose__ticket *to)
{
    if (g->n_fits > LEVEL)
        gbose__ticket_term(to, LEVEL, 1, 1, 0, gbose__context(in, arm));
    return level(g);
}

/* As sum_i pmf_i (b_arm - b_i): equal contexts give exactly zero. */
void gbose__orthogonal_centred(double *x, const struct gbose__input *in, const double *pmf, size_t arm)
{
    const double *b = gbose__context(in, arm);

    memset(x, 0, in->stride * sizeof *x);
    for (size_t i = 0; i < in->n; i++)
        if (pmf[i] > 0 && i != arm) {
            const double *other = gbose__context(in, i);

            for (size_t k = 0; k < in->stride; k++)
                x[k] += pmf[i] * (b[k] - other[k]);
        }
}

void gbose__orthogonal_explain(const gbose *g, const struct gbose__input *in, const double *pmf, size_t arm,
                               struct gbose__ticket *to)
{
    double offset = gbose__orthogonal_offset(g, in, arm, to);

    if (pmf[arm] < 1) {
        gbose__orthogonal_centred(to->x, in, pmf, arm);
        gbose__ticket_term(to, MODEL, 1, 1, offset, to->x);
    }
}
