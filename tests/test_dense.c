/* core/dense.h against the definitions, formed in long double from whole matrices. */
#include "support/check.h"
#include "support/random.h"

#include <math.h>
#include <string.h>

#include "core/dense.h"
#include "core/memory.h"

#define MOST 40

/* M = A A' + 0.3 I for a random A, whole and as a padded triangle. */
static double *random_matrix(long double M[MOST][MOST], size_t dim, struct random *r)
{
    double A[MOST][MOST], *triangle = gbose__alloc(gbose__triangle(dim), sizeof(double));

    assert_non_null(triangle);
    for (size_t i = 0; i < dim; i++)
        for (size_t j = 0; j < dim; j++)
            A[i][j] = random_normal(r);
    for (size_t i = 0; i < dim; i++)
        for (size_t j = 0; j <= i; j++) {
            long double sum = i == j ? 0.3L : 0;
            for (size_t k = 0; k < dim; k++)
                sum += (long double)A[i][k] * A[j][k];
            gbose__dense_row(triangle, i)[j] = (double)sum;
            M[i][j] = M[j][i] = (double)sum;
        }
    return triangle;
}

static void factors_and_inverses(void **state)
{
    static long double M[MOST][MOST];
    struct random r = {21};

    (void)state;
    for (size_t dim = 1; dim <= MOST; dim++) {
        double *L = random_matrix(M, dim, &r);
        double *inverse = gbose__alloc(gbose__triangle(dim), sizeof(double));

        assert_true(gbose__dense_factor(L, dim));
        for (size_t i = 0; i < dim; i++)
            for (size_t j = 0; j <= i; j++) {
                long double sum = 0;
                for (size_t k = 0; k <= j; k++)
                    sum += (long double)gbose__dense_row(L, i)[k] * gbose__dense_row(L, j)[k];
                assert_near(sum, M[i][j], 1e-12 * (double)dim);
            }
        gbose__dense_invert(inverse, L, dim);
        for (size_t i = 0; i < dim; i++)
            for (size_t j = 0; j <= i; j++) {
                long double sum = 0;
                for (size_t k = j; k <= i; k++)
                    sum += (long double)gbose__dense_row(L, i)[k] * gbose__dense_row(inverse, k)[j];
                assert_near(sum, i == j, 1e-10);
            }
        gbose__free(L);
        gbose__free(inverse);
    }
}

static void products(void **state)
{
    static long double M[MOST][MOST];
    struct random r = {22};

    (void)state;
    for (size_t dim = 1; dim <= MOST; dim += 3) {
        double *T = random_matrix(M, dim, &r), x[MOST], lower[MOST], upper[MOST], whole[MOST], norm2 = 0;

        for (size_t i = 0; i < dim; i++) {
            x[i] = random_normal(&r);
            norm2 += x[i] * x[i];
        }
        gbose__dense_times(lower, T, x, dim);
        gbose__dense_times_transposed(upper, T, x, dim);
        gbose__dense_times_symmetric(whole, T, x, dim);
        for (size_t i = 0; i < dim; i++) {
            long double below = 0, above = 0, all = 0;
            for (size_t j = 0; j < dim; j++) {
                below += j <= i ? M[i][j] * x[j] : 0;
                above += j >= i ? M[i][j] * x[j] : 0;
                all += M[i][j] * x[j];
            }
            assert_near(lower[i], below, 1e-12 * (double)dim);
            assert_near(upper[i], above, 1e-12 * (double)dim);
            assert_near(whole[i], all, 1e-12 * (double)dim);
        }
        assert_close(gbose__dense_norm2(x, dim), norm2, 1e-15);
        gbose__free(T);
    }
}

static void what_is_not_positive_definite_is_refused(void **state)
{
    double *B = gbose__alloc(gbose__triangle(2), sizeof(double));

    (void)state;
    assert_non_null(B);
    gbose__dense_row(B, 0)[0] = 1;
    gbose__dense_row(B, 1)[0] = 2;
    gbose__dense_row(B, 1)[1] = 3.5; /* less than 2 * 2 */
    assert_false(gbose__dense_factor(B, 2));
    gbose__dense_row(B, 0)[0] = NAN;
    assert_false(gbose__dense_factor(B, 2));
    gbose__free(B);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors_and_inverses),
        cmocka_unit_test(products),
        cmocka_unit_test(what_is_not_positive_definite_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
