#include "support/clouds.h"

#include <math.h>
#include <string.h>

void cloud_points(struct random *r, size_t kind, double *points, size_t n, size_t dim, size_t stride)
{
    double scale = kind == 5 ? pow(10, 200 * random_uniform(r) - 100) : kind == 9 ? 1e-162 : 1;

    memset(points, 0, n * stride * sizeof(double));
    for (size_t i = 0; i < n; i++) {
        double *x = points + i * stride, size2 = 0;

        for (size_t k = 0; k < dim; k++) {
            x[k] = kind == 1 ? (double)random_below(r, 3) - 1 : scale * random_normal(r);
            size2 += x[k] * x[k];
        }
        switch (kind) {
        case 2:
            if (i > 0 && random_below(r, 3))
                memcpy(x, points + random_below(r, i) * stride, dim * sizeof(double));
            break;
        case 3:
        case 11:
            scale = kind == 11 ? 1 : random_normal(r);
            for (size_t k = 0; k < dim && i > 0; k++)
                x[k] = scale * points[k];
            scale = 1;
            break;
        case 4:
            memset(x, 0, dim * sizeof(double));
            break;
        case 6:
            size2 = pow(10, 200 * random_uniform(r) - 100);
            for (size_t k = 0; k < dim; k++)
                x[k] *= size2;
            break;
        case 7:
            for (size_t k = 0; k < dim; k++)
                x[k] /= sqrt(size2);
            break;
        case 8:
            for (size_t k = 0; k < dim; k++)
                x[k] = i == n / 2 ? 3 * x[k] : 100 + 1e-3 * x[k];
            break;
        case 10:
            memset(x, 0, dim * sizeof(double));
            x[0] = (double)random_below(r, 2 * n);
            break;
        case 12:
        case 13:
        case 14:
            for (size_t k = 0; k < dim; k++)
                x[k] = kind == 13 && i % 2 ? points[(i - 1) * stride + k] + 1e-9 * random_normal(r)
                                           : nearbyint(1e6 * x[k] / sqrt(size2)) / 1e6;
            for (size_t k = 0; k < dim && kind == 14 && i == n / 3; k++)
                x[k] *= 1000;
            break;
        case 15:
            memset(x, 0, dim * sizeof(double));
            x[i % dim] = 1;
            break;
        default:
            break;
        }
    }
}

void cloud_scores(struct random *r, size_t kind, double *score, const double *points, size_t n, size_t stride,
                  double gamma)
{
    double direction[64], size = 0;

    for (size_t k = 0; k < stride; k++)
        direction[k] = gamma * random_normal(r);
    for (size_t k = 0; k < n * stride; k++)
        size = fmax(size, fabs(points[k]));
    for (size_t i = 0; i < n; i++) {
        const double *x = points + i * stride;

        score[i] = kind == 0 ? gamma * size * random_normal(r) : kind == 3 ? (double)random_below(r, 3) : 0;
        if (kind == 2)
            for (size_t k = 0; k < stride; k++)
                score[i] += direction[k] * x[k];
        if (kind == 4)
            score[i] = gamma * x[0];
    }
}

long double cloud_distance2(const double *a, const double *b, size_t dim)
{
    long double sum = 0;

    for (size_t k = 0; k < dim; k++) {
        long double z = (long double)a[k] - b[k];
        sum += z * z;
    }
    return sum;
}
