#include "support/any_world.h"

#include <math.h>
#include <stdlib.h>

#include "support/check.h"
#include "support/dense.h"

struct gbose__world *new_world(const char *spec, uint64_t seed, uint32_t repetition)
{
    struct gbose__world *w = NULL;
    gbose_error err = {0};

    if (gbose__world_new(&w, spec, seed, repetition, &err))
        fail_msg("%s: %s", spec, err.text);
    return w;
}

double *regress_mu(struct gbose__world *w, int rounds)
{
    struct dense m;
    long double *x = calloc(w->dim, sizeof *x);
    double *mu = calloc(w->dim, sizeof *mu);

    dense_init(&m, w->dim, 1e-18, 1);
    while (rounds--) {
        gbose__world_next(w);
        for (size_t a = 0; a < w->n_arms; a++) {
            for (size_t i = 0; i < w->dim; i++)
                x[i] = w->contexts[a * w->dim + i];
            dense_add(&m, 1, w->mean[a], x);
        }
        gbose__world_play(w, 0, NULL);
    }
    dense_solve(&m);
    for (size_t i = 0; i < w->dim; i++)
        mu[i] = (double)m.mu[i];
    dense_clear(&m);
    free(x);
    return mu;
}

double length(const double *x, size_t d)
{
    double sum = 0;

    for (size_t i = 0; i < d; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}
