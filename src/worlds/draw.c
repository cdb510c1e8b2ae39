#include "worlds/draw.h"

#include <math.h>

#include "core/normal.h"

double gbose__draw_inner(const double *x, const double *y, size_t d)
{
    double sum = 0;

    for (size_t i = 0; i < d; i++)
        sum += x[i] * y[i];
    return sum;
}

static void scale(double *x, size_t d, double factor)
{
    for (size_t i = 0; i < d; i++)
        x[i] *= factor;
}

void gbose__draw_normalise(double *x, size_t d)
{
    scale(x, d, 1 / sqrt(gbose__draw_inner(x, x, d)));
}

/* ---- laws ---- */

/* In (0, 1]. */
static double positive_uniform(struct gbose__rng *rng)
{
    return gbose__rng_uniform(rng) + 0x1p-54;
}

void gbose__draw_sphere(double *x, size_t d, struct gbose__rng *rng)
{
    gbose__rng_normals(rng, x, d); /* never exactly 0: see gbose__rng_normal() */
    gbose__draw_normalise(x, d);
}

/* A share r^d of the ball is within r of its centre. */
void gbose__draw_ball(double *x, size_t d, struct gbose__rng *rng)
{
    gbose__draw_sphere(x, d, rng);
    scale(x, d, gbose__exp(gbose__log(positive_uniform(rng)) / (double)d));
}

/* The logarithm of a Gamma(a) variable: Gamma(a + 1) by the rejection of Marsaglia and Tsang (ACM TOMS 26,
 * 2000), which needs a shape of at least 1, times U^(1/a). In logarithms, because U^(1/a) underflows for
 * small a. */
static double draw_log_gamma(double a, struct gbose__rng *rng)
{
    double d = a + 1 - 1.0 / 3, c = 1 / (3 * sqrt(d)), tail = gbose__log(positive_uniform(rng)) / a;

    for (;;) {
        double x = gbose__rng_normal(rng), v = 1 + c * x, log_v3;
        if (v <= 0)
            continue;
        log_v3 = 3 * gbose__log(v);
        if (gbose__log(positive_uniform(rng)) < x * x / 2 + d - d * v * v * v + d * log_v3)
            return gbose__log(d) + log_v3 + tail;
    }
}

void gbose__draw_dirichlet(double *x, size_t d, double alpha, struct gbose__rng *rng)
{
    double largest = -INFINITY;

    for (size_t i = 0; i < d; i++) {
        x[i] = draw_log_gamma(alpha, rng);
        if (x[i] > largest)
            largest = x[i];
    }
    for (size_t i = 0; i < d; i++)
        x[i] = gbose__exp(x[i] - largest);
    gbose__draw_normalise(x, d);
}

/* sqrt 3 cancels: t / sqrt 3 = z / sqrt(chi^2), chi^2 with 3 degrees of freedom. */
double gbose__draw_t3(struct gbose__rng *rng)
{
    double z = gbose__rng_normal(rng), chi2 = 0;

    for (int i = 0; i < 3; i++) {
        double y = gbose__rng_normal(rng);
        chi2 += y * y;
    }
    return z / sqrt(chi2);
}

/* ---- sine and cosine ---- */

#define HALF_PI_HIGH 0x1.921fb54400000p0  /* pi/2 in three pieces: the first two have 33 bits each, so that */
#define HALF_PI_MID 0x1.0b4611a600000p-34 /* their products with whole numbers below 2^20 are exact */
#define HALF_PI_LOW 0x1.3198a2e037073p-69

/* Taylor's series, for |x| <= pi/4: its first missing term is below 1e-17. */
static double short_sine(double x)
{
    double z = x * x, y = 1;

    for (int k = 17; k >= 3; k -= 2)
        y = 1 - y * z / (k * (k - 1));
    return x * y;
}

static double short_cosine(double x)
{
    double z = x * x, y = 1;

    for (int k = 18; k >= 2; k -= 2)
        y = 1 - y * z / (k * (k - 1));
    return y;
}

/* sin(x + quarter pi/2) */
static double turned_sine(double x, int quarter)
{
    double k = floor(x * 0x1.45f306dc9c883p-1 + 0.5); /* 2 / pi */
    double r = ((x - k * HALF_PI_HIGH) - k * HALF_PI_MID) - k * HALF_PI_LOW;

    switch (((int)fmod(k, 4) + 4 + quarter) % 4) {
    case 0:
        return short_sine(r);
    case 1:
        return short_cosine(r);
    case 2:
        return -short_sine(r);
    default:
        return -short_cosine(r);
    }
}

double gbose__draw_sine(double x)
{
    return turned_sine(x, 0);
}

double gbose__draw_cosine(double x)
{
    return turned_sine(x, 1);
}

/* ---- layouts ---- */

int gbose__draw_blocks(struct gbose__world *w, size_t arms, size_t d, gbose_error *err)
{
    if (d * (arms - 1) > GBOSE__WORLD_MAX_DIM)
        return gbose__fail(err, GBOSE_ESPEC,
                           "%zu arms with %zu features in each block make %zu features; at most %d", arms, d,
                           d * (arms - 1), GBOSE__WORLD_MAX_DIM);
    w->dim = d * (arms - 1);
    w->max_arms = arms;
    return GBOSE_OK;
}

double *gbose__draw_block(const struct gbose__world *w, size_t arm, size_t d)
{
    return w->contexts + arm * w->dim + (arm - 1) * d;
}

void gbose__draw_block_means(struct gbose__world *w, const double *mu, size_t d)
{
    w->mean[0] = 0;
    for (size_t i = 1; i < w->n_arms; i++)
        w->mean[i] = gbose__draw_inner(gbose__draw_block(w, i, d), mu + (i - 1) * d, d);
}

void gbose__draw_dense_means(struct gbose__world *w, const double *mu)
{
    for (size_t i = 0; i < w->n_arms; i++)
        w->mean[i] = gbose__draw_inner(w->contexts + i * w->dim, mu, w->dim);
}
