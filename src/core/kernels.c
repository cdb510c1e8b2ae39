#include "core/kernels.h"

#include "core/memory.h"

/* The order in which the lanes are added: pairs at distance 4, then 2, then 1. */
static double add_lanes(const double s[GBOSE__LANES])
{
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

double gbose__dot(const double *restrict a, const double *restrict b, size_t n)
{
    double s[GBOSE__LANES] = {0};

    for (size_t i = 0; i < n; i += GBOSE__LANES)
        for (size_t k = 0; k < GBOSE__LANES; k++)
            s[k] += a[i + k] * b[i + k];
    return add_lanes(s);
}

double gbose__distance2(const double *restrict a, const double *restrict b, size_t n)
{
    double s[GBOSE__LANES] = {0};

    for (size_t i = 0; i < n; i += GBOSE__LANES)
        for (size_t k = 0; k < GBOSE__LANES; k++) {
            double z = a[i + k] - b[i + k];
            s[k] += z * z;
        }
    return add_lanes(s);
}

void gbose__axpy(double *restrict y, double c, const double *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] += c * x[i];
}

void gbose__rotate(double *restrict row, double *restrict sum, double scale, double back, double f, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double old = row[i];
        row[i] = scale * old - back * sum[i];
        sum[i] += f * old;
    }
}
