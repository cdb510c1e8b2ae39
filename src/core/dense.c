#include "core/dense.h"

#include <math.h>
#include <string.h>

size_t gbose__triangle(size_t dim)
{
    return gbose__triangle_row(dim);
}

/* ---- factors ---- */

int gbose__dense_factor(double *B, size_t dim)
{
    for (size_t j = 0; j < dim; j++) {
        double *bj = B + gbose__triangle_row(j), pivot;

        for (size_t i = 0; i < j; i++) {
            const double *bi = B + gbose__triangle_row(i);
            double s = bj[i];
            for (size_t k = 0; k < i; k++)
                s -= bj[k] * bi[k];
            bj[i] = s / bi[i];
        }
        pivot = bj[j];
        for (size_t k = 0; k < j; k++)
            pivot -= bj[k] * bj[k];
        if (!(pivot > 0) || !isfinite(pivot))
            return 0;
        bj[j] = sqrt(pivot);
    }
    return 1;
}

void gbose__dense_invert(double *out, const double *in, size_t dim)
{
    for (size_t j = 0; j < dim; j++) {
        const double *r = in + gbose__triangle_row(j);
        double *o = out + gbose__triangle_row(j);

        memset(o, 0, gbose__pad(j + 1) * sizeof(double));
        for (size_t i = 0; i < j; i++)
            gbose__kernels->axpy(o, -r[i], out + gbose__triangle_row(i), gbose__pad(i + 1));
        for (size_t i = 0; i < j; i++)
            o[i] /= r[j];
        o[j] = 1 / r[j];
    }
}

/* ---- products ---- */

void gbose__dense_times(double *out, const double *T, const double *x, size_t dim)
{
    for (size_t j = 0; j < dim; j++) {
        const double *row = T + gbose__triangle_row(j);

        out[j] = 0;
        for (size_t i = 0; i <= j; i++)
            out[j] += row[i] * x[i];
    }
}

void gbose__dense_times_transposed(double *out, const double *T, const double *x, size_t dim)
{
    memset(out, 0, dim * sizeof *out);
    for (size_t j = 0; j < dim; j++) {
        const double *row = T + gbose__triangle_row(j);

        for (size_t i = 0; i <= j; i++)
            out[i] += row[i] * x[j];
    }
}

void gbose__dense_times_symmetric(double *out, const double *M, const double *x, size_t dim)
{
    memset(out, 0, dim * sizeof *out);
    for (size_t j = 0; j < dim; j++) {
        const double *row = M + gbose__triangle_row(j);

        for (size_t i = 0; i < j; i++) {
            out[i] += row[i] * x[j];
            out[j] += row[i] * x[i];
        }
        out[j] += row[j] * x[j];
    }
}

double gbose__dense_norm2(const double *x, size_t dim)
{
    double sum = 0;

    for (size_t i = 0; i < dim; i++)
        sum += x[i] * x[i];
    return sum;
}
