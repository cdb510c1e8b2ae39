#include "learners/certified.h"

#include <math.h>
#include <string.h>

#include "core/kernels.h"
#include "core/memory.h"
#include "core/normal.h"

static double scale2(const struct gbose__settings *set)
{
    return set->noise * set->noise + set->range * set->range;
}

double gbose__certified_baseline(const struct gbose__settings *set, double c)
{
    return fmin(fmax(c, -set->range), set->range);
}

double gbose__certified_weight(const struct gbose__settings *set, double p, double c)
{
    double M = set->range + fabs(c);

    return (set->noise * set->noise + M * M * (1 + 2 * p / (1 - p)) / 3) / scale2(set);
}

double gbose__certified_radius(const gbose *g)
{
    const struct gbose__ridge *H = &g->level;
    double sum = -2 * gbose__log(g->set.delta);

    for (size_t j = 0; j < H->dim; j++) {
        double r = H->root[gbose__triangle_row(j) + j];
        sum -= gbose__log(H->lambda * r * r);
    }
    return sqrt(scale2(&g->set) * fmax(sum, 0));
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

double gbose__certified_bound(const gbose *g, double radius, double *f)
{
    const struct gbose__ridge *G = &g->model, *H = &g->level;
    double shrink;

    for (size_t j = 0; j < G->dim; j++) { /* G^-1 x = R'f */
        double fj = f[j];

        f[j] = 0;
        gbose__kernels->axpy(f, fj, G->root + gbose__triangle_row(j), gbose__pad(j + 1));
    }
    shrink = G->lambda * g->set.norm * norm(f, G->dim);
    for (size_t j = H->dim; j-- > 0;) { /* R'y = G^-1 x */
        const double *r = H->root + gbose__triangle_row(j);
        double y = f[j] / r[j];

        gbose__kernels->axpy(f, -y, r, gbose__pad(j + 1));
        f[j] = y;
    }
    return radius * norm(f, H->dim) + shrink;
}

double gbose__certified_width(const gbose *g, const double *x)
{
    size_t stride = g->model.stride;
    double *f = gbose__alloc(2 * stride, sizeof *f), bound;

    if (!f)
        return INFINITY;
    memcpy(f, x, g->dim * sizeof *f);
    gbose__ridge_apply(&g->model, f + stride, f, NULL, 1);
    bound = gbose__certified_bound(g, gbose__certified_radius(g), f + stride);
    gbose__free(f);
    return bound;
}
