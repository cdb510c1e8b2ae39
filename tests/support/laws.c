#include "support/laws.h"

#include <stdlib.h>

#include "support/check.h"

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void check_law(double *x, size_t n, double (*cdf)(double), const char *name, int line)
{
    double distance = 0;

    qsort(x, n, sizeof *x, by_value);
    for (size_t i = 0; i < n; i++) {
        double f = cdf(x[i]);
        distance = fmax(distance, fmax(f - (double)i / (double)n, (double)(i + 1) / (double)n - f));
    }
    assert_that(sqrt((double)n) * distance <= 2.7, "line %d: %zu draws are %g from %s", line, n, distance,
                name);
}

double uniform_cdf(double x)
{
    return x < 0 ? 0 : x > 1 ? 1 : x;
}
