#include "learners/certified.h"

#include <math.h>
#include <string.h>

#include "core/kernels.h"
#include "core/memory.h"
#include "core/normal.h"

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
