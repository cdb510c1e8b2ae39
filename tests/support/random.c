#include "support/random.h"

#include <math.h>
#include <string.h>

uint64_t random_u64(struct random *r)
{
    uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

double random_uniform(struct random *r)
{
    return (double)(random_u64(r) >> 11) * 0x1p-53;
}

double random_normal(struct random *r)
{
    double u = 1 - random_uniform(r), v = random_uniform(r);

    return sqrt(-2 * log(u)) * cos(6.28318530717958647692 * v);
}

size_t random_below(struct random *r, size_t n)
{
    return (size_t)(random_uniform(r) * (double)n);
}

void random_contexts(struct random *r, double *contexts, size_t n, size_t dim)
{
    size_t kind = random_below(r, 10);
    double scale = kind == 0 ? 0.01 : 1;

    for (size_t i = 0; i < n * dim; i++)
        contexts[i] = scale * random_normal(r);
    if (kind == 1)
        memset(contexts, 0, dim * sizeof(double));
    if (kind == 2)
        for (size_t i = 0; i < n; i++)
            if (random_below(r, 2))
                memcpy(contexts + i * dim, contexts + random_below(r, n) * dim, dim * sizeof(double));
    if (kind == 3)
        for (size_t i = 1; i < n; i++) {
            double along = random_normal(r);
            for (size_t k = 0; k < dim; k++)
                contexts[i * dim + k] = along * contexts[k];
        }
}
