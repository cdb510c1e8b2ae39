/* cmocka, and the assertions about numbers that it lacks. */
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* |a - b| <= tolerance max(|a|, |b|); equal numbers always are close, NaN and infinity never. */
#define assert_close(a, b, tolerance) check_close((a), (b), (tolerance), 0, #a, __FILE__, __LINE__)

/* |a - b| <= error */
#define assert_near(a, b, error) check_close((a), (b), 0, (error), #a, __FILE__, __LINE__)

/* |a_i - b_i| <= tolerance max_k(|a_k|, |b_k|) for every i: close as vectors. */
#define assert_vectors_close(a, b, n, tolerance)                                                             \
    check_vectors((a), (b), (n), (tolerance), #a, __FILE__, __LINE__)

/* A condition, and printf() words about the case when it does not hold. */
#define assert_that(condition, ...)                                                                          \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            check_failed(#condition, __FILE__, __LINE__, __VA_ARGS__);                                       \
    } while (0)

void check_close(long double a, long double b, long double tolerance, long double error, const char *what,
                 const char *file, int line);
void check_vectors(const double *a, const long double *b, size_t n, long double tolerance, const char *what,
                   const char *file, int line);
void check_failed(const char *what, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5), noreturn));

#endif
