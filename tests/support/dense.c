#include "support/dense.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void dense_init(struct dense *m, size_t dim, double lambda, double forget)
{
    long double *all = calloc(5 * dim * dim + 3 * dim, sizeof *all);

    m->dim = dim;
    m->lambda = lambda;
    m->forget = forget;
    m->turn = 0;
    m->evidence = all;
    m->inverse = m->evidence + dim * dim;
    m->root = m->inverse + dim * dim;
    m->work = m->root + dim * dim;
    m->prior = m->work + 2 * dim * dim;
    m->y = m->prior + dim;
    m->mu = m->y + dim;
    for (size_t i = 0; i < dim; i++)
        m->prior[i] = lambda;
    dense_solve(m);
}

void dense_clear(struct dense *m)
{
    free(m->evidence);
}

void dense_begin(struct dense *m)
{
    double share = 10 * (1 - (double)m->forget);
    size_t back = (size_t)ceil((share < 1 ? share : 1) * (double)m->dim);

    for (size_t i = 0; i < m->dim * m->dim; i++)
        m->evidence[i] *= m->forget;
    for (size_t i = 0; i < m->dim; i++) {
        m->y[i] *= m->forget;
        m->prior[i] *= m->forget;
    }
    for (; back > 0; back--) {
        m->prior[m->turn] = m->lambda;
        m->turn = (m->turn + 1) % m->dim;
    }
}

void dense_add(struct dense *m, long double w, long double c, const long double *x)
{
    for (size_t i = 0; i < m->dim; i++) {
        for (size_t j = 0; j < m->dim; j++)
            m->evidence[i * m->dim + j] += w * x[i] * x[j];
        m->y[i] += c * x[i];
    }
}

/* [B | I] to [I | B^-1] */
static void eliminate(struct dense *m)
{
    size_t n = m->dim, width = 2 * n;
    long double *a = m->work;

    memset(a, 0, 2 * n * n * sizeof *a);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++)
            a[i * width + j] = m->evidence[i * n + j] + (i == j ? m->prior[i] : 0);
        a[i * width + n + i] = 1;
    }
    for (size_t k = 0; k < n; k++) {
        size_t pivot = k;

        for (size_t i = k + 1; i < n; i++)
            if (fabsl(a[i * width + k]) > fabsl(a[pivot * width + k]))
                pivot = i;
        for (size_t j = 0; j < width; j++) {
            long double swap = a[k * width + j];
            a[k * width + j] = a[pivot * width + j];
            a[pivot * width + j] = swap;
        }
        for (size_t j = width; j-- > k;)
            a[k * width + j] /= a[k * width + k];
        for (size_t i = 0; i < n; i++) {
            long double factor = a[i * width + k];
            if (i != k && factor != 0)
                for (size_t j = k; j < width; j++)
                    a[i * width + j] -= factor * a[k * width + j];
        }
    }
    for (size_t i = 0; i < n; i++)
        memcpy(m->inverse + i * n, a + i * width + n, n * sizeof *a);
}

static void cholesky(struct dense *m)
{
    size_t n = m->dim;

    memset(m->root, 0, n * n * sizeof *m->root);
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) {
            long double s = m->evidence[i * n + j] + (i == j ? m->prior[i] : 0);
            for (size_t k = 0; k < j; k++)
                s -= m->root[i * n + k] * m->root[j * n + k];
            m->root[i * n + j] = i == j ? sqrtl(s) : s / m->root[j * n + j];
        }
}

void dense_solve(struct dense *m)
{
    eliminate(m);
    cholesky(m);
    for (size_t i = 0; i < m->dim; i++) {
        m->mu[i] = 0;
        for (size_t j = 0; j < m->dim; j++)
            m->mu[i] += m->inverse[i * m->dim + j] * m->y[j];
    }
}

static long double entry(const double *a, const double *b, size_t i)
{
    return (long double)a[i] - (b ? (long double)b[i] : 0);
}

long double dense_distance(const struct dense *m, const double *a, const double *b, size_t n)
{
    long double sum = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            sum += entry(a, b, i) * entry(a, b, j) * m->inverse[i * m->dim + j];
    return sum > 0 ? sqrtl(sum) : 0;
}

long double dense_width(const struct dense *m, const double *x, size_t n)
{
    return dense_distance(m, x, NULL, n);
}

long double dense_lead(const struct dense *m, const double *a, const double *b, size_t n)
{
    long double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += m->mu[i] * entry(a, b, i);
    return sum;
}

void dense_sample(const struct dense *m, long double *out, double scale, struct random *r)
{
    size_t n = m->dim;

    for (size_t i = 0; i < n; i++)
        out[i] = random_normal(r);
    for (size_t i = n; i-- > 0;) { /* L'x = z: x has covariance B^-1 */
        for (size_t k = i + 1; k < n; k++)
            out[i] -= m->root[k * n + i] * out[k];
        out[i] /= m->root[i * n + i];
    }
    for (size_t i = 0; i < n; i++)
        out[i] = m->mu[i] + scale * out[i];
}
