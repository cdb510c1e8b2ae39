#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void check_failed(const char *what, const char *file, int line, const char *format, ...)
{
    char words[512];
    va_list list;

    va_start(list, format);
    vsnprintf(words, sizeof words, format, list);
    va_end(list);
    print_error("%s: %s\n", what, words);
    _fail(file, line);
    abort(); /* _fail() does not come back */
}

void check_close(long double a, long double b, long double tolerance, long double error, const char *what,
                 const char *file, int line)
{
    long double most = fmaxl(fabsl(a), fabsl(b)) * tolerance + error;

    if (isfinite(a) && isfinite(b) && fabsl(a - b) <= most)
        return;
    check_failed(what, file, line, "%.17Lg is not %.17Lg: off by %.3Lg, allowed %.3Lg", a, b, fabsl(a - b),
                 most);
}

void check_vectors(const double *a, const long double *b, size_t n, long double tolerance, const char *what,
                   const char *file, int line)
{
    long double size = 0;

    for (size_t i = 0; i < n; i++)
        size = fmaxl(size, fmaxl(fabsl(a[i]), fabsl(b[i])));
    for (size_t i = 0; i < n; i++)
        if (!(isfinite(size) && fabsl(a[i] - b[i]) <= tolerance * size))
            check_failed(what, file, line, "entry %zu: %.17g is not %.17Lg, in a vector of size %.3Lg", i,
                         a[i], b[i], size);
}
