#include "core/solve.h"

#include <math.h>
#include <string.h>

#include "core/dense.h"

#define RANK 1e-10  /* a pivot below this share of its diagonal is taken for zero */
#define SOLVED 1e-6 /* how far A u may be from x, in units of x and of A u's terms */

static double at(const double *A, size_t i, size_t j)
{
    return i >= j ? A[gbose__triangle_row(i) + j] : A[gbose__triangle_row(j) + i];
}

/* L with A = L L' on the rows that are kept; a row that is left out has a zero diagonal. */
void gbose__solve_factor(double *L, const double *A, size_t dim)
{
    for (size_t j = 0; j < dim; j++) {
        double *row = L + gbose__triangle_row(j), pivot = at(A, j, j);

        for (size_t i = 0; i < j; i++) {
            const double *other = L + gbose__triangle_row(i);
            double sum = at(A, j, i);

            for (size_t k = 0; k < i; k++)
                sum -= row[k] * other[k];
            row[i] = other[i] > 0 ? sum / other[i] : 0;
            pivot -= row[i] * row[i];
        }
        row[j] = pivot > RANK * at(A, j, j) ? sqrt(pivot) : 0;
        if (!(row[j] > 0))
            memset(row, 0, (j + 1) * sizeof *row);
    }
}

/* L z = x */
static void forward(double *z, const double *L, const double *x, size_t dim)
{
    for (size_t j = 0; j < dim; j++) {
        const double *row = L + gbose__triangle_row(j);
        double sum = x[j];

        for (size_t k = 0; k < j; k++)
            sum -= row[k] * z[k];
        z[j] = row[j] > 0 ? sum / row[j] : 0;
    }
}

void gbose__solve_by(double *u, const double *L, const double *x, size_t dim)
{
    forward(u, L, x, dim);
    for (size_t j = dim; j-- > 0;) {
        double sum = u[j], own = L[gbose__triangle_row(j) + j];

        for (size_t k = j + 1; k < dim; k++)
            sum -= L[gbose__triangle_row(k) + j] * u[k];
        u[j] = own > 0 ? sum / own : 0;
    }
}

double gbose__solve_square(const double *L, const double *x, double *scratch, size_t dim)
{
    double sum = 0;

    forward(scratch, L, x, dim);
    for (size_t j = 0; j < dim; j++)
        sum += scratch[j] * scratch[j];
    return sum;
}

int gbose__solve_holds(const double *u, const double *A, const double *x, size_t dim)
{
    double size = 0;

    for (size_t i = 0; i < dim; i++)
        size = fmax(size, fabs(x[i]));
    for (size_t i = 0; i < dim; i++) {
        double sum = -x[i], terms = size;

        for (size_t j = 0; j < dim; j++) {
            sum += at(A, i, j) * u[j];
            terms += fabs(at(A, i, j) * u[j]);
        }
        if (!(fabs(sum) <= SOLVED * terms))
            return 0;
    }
    return 1;
}
