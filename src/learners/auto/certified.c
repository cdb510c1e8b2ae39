#include "learners/auto/certified.h"

#include <math.h>
#include <string.h>

#include "core/arms.h"
#include "core/kernels.h"
#include "core/memory.h"
#include "core/normal.h"
#include "learners/orthogonal.h"

enum { G_FIT, H_FIT }; /* the regressions */

static double scale2(const struct gbose__certified *c)
{
    return c->noise * c->noise + c->range * c->range;
}

double gbose__certified_baseline(const struct gbose__certified *c, double baseline)
{
    return fmin(fmax(baseline, -c->range), c->range);
}

void gbose__certified_weights(const struct gbose__certified *c, double baseline, double *seen,
                              double *expected)
{
    double M = c->range + fabs(baseline);

    *seen = (c->noise * c->noise + M * M / 3) / scale2(c);
    *expected = 2 * M * M / 3 / scale2(c);
}

double gbose__certified_radius(const struct gbose__certified *c, const struct gbose__ridge *H)
{
    double sum = -2 * gbose__log(c->delta);

    for (size_t j = 0; j < H->dim; j++) {
        double r = H->root[gbose__triangle_row(j) + j];
        sum -= gbose__log(H->lambda * r * r);
    }
    return sqrt(scale2(c) * fmax(sum, 0));
}

/* |x|, whose square may be too large for a double. */
static double norm(const double *x, size_t n)
{
    double most = 0, sum = 0;

    for (size_t i = 0; i < n; i++)
        most = fabs(x[i]) <= most ? most : fabs(x[i]); /* a NaN stays */
    if (!(most > 0) || isinf(most))
        return most;
    for (size_t i = 0; i < n; i++)
        sum += x[i] / most * (x[i] / most);
    return most * sqrt(sum);
}

double gbose__certified_bound(const struct gbose__certified *c, const struct gbose__ridge *G,
                              const struct gbose__ridge *H, double radius, double *f)
{
    double shrink;

    for (size_t j = 0; j < G->dim; j++) { /* G^-1 x = R'f */
        double fj = f[j];

        f[j] = 0;
        gbose__kernels->axpy(f, fj, G->root + gbose__triangle_row(j), gbose__pad(j + 1));
    }
    shrink = G->lambda * c->norm * norm(f, G->dim);
    for (size_t j = H->dim; j-- > 0;) { /* R'y = G^-1 x */
        const double *r = H->root + gbose__triangle_row(j);
        double y = f[j] / r[j];

        gbose__kernels->axpy(f, -y, r, gbose__pad(j + 1));
        f[j] = y;
    }
    return radius * norm(f, H->dim) + shrink;
}

double gbose__certified_width(const struct gbose__certified *c, const struct gbose__ridge *G,
                              const struct gbose__ridge *H, const double *x)
{
    double *f = gbose__alloc(2 * G->stride, sizeof *f), bound;

    if (!f)
        return INFINITY;
    memcpy(f, x, G->dim * sizeof *f);
    gbose__ridge_apply(G, f + G->stride, f, NULL, 1);
    bound = gbose__certified_bound(c, G, H, gbose__certified_radius(c, H), f + G->stride);
    gbose__free(f);
    return bound;
}

/* ---- a round ---- */

void gbose__certified_filter(const struct gbose__certified *c, const gbose *g, const struct gbose__input *in,
                             struct gbose__round *round, size_t best)
{
    const struct gbose__ridge *G = &g->fit[G_FIT], *H = &g->fit[H_FIT];
    const double *image_of_best = round->image + best * in->stride;
    double radius = gbose__certified_radius(c, H), *difference = round->matrix;

    gbose__round_images(g, in, round);
    round->n_live = 0;
    for (size_t i = 0; i < in->n; i++) {
        const double *image = round->image + i * in->stride;

        for (size_t k = 0; k < in->stride; k++)
            difference[k] = image_of_best[k] - image[k];
        if (i == best ||
            !(in->score[best] - in->score[i] > gbose__certified_bound(c, G, H, radius, difference)))
            round->live[round->n_live++] = i;
    }
}

size_t gbose__certified_partner(const struct gbose__input *in, const struct gbose__round *round, size_t best)
{
    const double *image_of_best = round->image + best * in->stride;
    size_t partner = best;
    double most = -1;

    for (size_t a = 0; a < round->n_live; a++) {
        size_t i = round->live[a];
        double square = gbose__distance2(image_of_best, round->image + i * in->stride, in->stride);

        if (i != best && !(square <= most)) {
            most = square;
            partner = i;
        }
    }
    return partner;
}

/* How many arms have a positive probability, and one of them that is not `arm`. */
static size_t count_possible(const double *pmf, size_t n, size_t arm, size_t *other)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        if (pmf[i] > 0) {
            count++;
            if (i != arm)
                *other = i;
        }
    return count;
}

/* X X' and Sigma = sum_i pi_i (b_i - bbar)(b_i - bbar)', which for a coin is p (1 - p) z z' with
 * z = b_a - b_other = X / (1 - p). */
void gbose__certified_explain(const struct gbose__certified *c, const struct gbose__input *in,
                              const double *pmf, size_t arm, double baseline, struct gbose__ticket *to)
{
    double seen, expected, p = pmf[arm];
    size_t other = arm;

    gbose__certified_weights(c, baseline, &seen, &expected);
    if (count_possible(pmf, in->n, arm, &other) == 2) {
        for (size_t k = 0; k < in->stride; k++)
            to->x[k] = gbose__context(in, arm)[k] - gbose__context(in, other)[k];
        gbose__ticket_term(to, H_FIT, (1 - p) * ((1 - p) * seen + p * expected), 0, 0, to->x);
        return;
    }
    for (size_t i = 0; i < in->n; i++)
        if (pmf[i] > 0) {
            gbose__orthogonal_centred(to->x, in, pmf, i);
            gbose__ticket_term(to, H_FIT, pmf[i] * expected + (i == arm ? seen : 0), 0, 0, to->x);
        }
}
