#include "support/long_run.h"

#include <math.h>
#include <string.h>

#include "gbose.h"
#include "support/check.h"
#include "support/dense.h"

enum { MOST_DIM = 64, MOST_ARMS = 16 };

void long_run(const char *spec, size_t dim, size_t arms, size_t rounds, double tolerance)
{
    struct random r = {rounds + dim};
    static double contexts[MOST_DIM * MOST_ARMS];
    double truth[MOST_DIM], x[MOST_DIM];
    long double centred[MOST_DIM + 1];
    int intercept = strstr(spec, "intercept=1") != NULL;
    struct dense ref, level;
    gbose *g;

    assert_int_equal(gbose_new(&g, spec, dim, NULL), GBOSE_OK);
    dense_init(&ref, dim, 2.5, 1);
    dense_init(&level, dim + 1, 1, 1);
    for (size_t k = 0; k < dim; k++)
        truth[k] = 0.1 * random_normal(&r);
    for (size_t t = 0; t < rounds; t++) {
        double reward = sin((double)t * 1e-3) + random_uniform(&r) - 0.5;
        long double baseline = 0;
        gbose_decision d;

        for (size_t k = 0; k < dim * arms; k++)
            contexts[k] = random_uniform(&r) - 0.5;
        assert_int_equal(gbose_decide(g, &d, contexts, arms), GBOSE_OK);
        for (size_t k = 0; k < dim; k++) {
            reward += truth[k] * contexts[d.arm * dim + k];
            centred[k] = contexts[d.arm * dim + k];
            for (size_t i = 0; i < arms; i++)
                centred[k] -= (long double)d.pmf[i] * contexts[i * dim + k];
        }
        if (intercept) {
            long double full[MOST_DIM + 1];

            for (size_t k = 0; k < dim; k++)
                full[k] = contexts[d.arm * dim + k];
            full[dim] = 1;
            baseline = level.mu[dim];
            dense_add(&level, 1, reward, full);
            dense_solve(&level);
        }
        dense_add(&ref, 1, reward - baseline, centred);
        assert_int_equal(gbose_learn(g, d.ticket, d.ticket_size, reward), GBOSE_OK);
    }
    dense_solve(&ref);
    assert_vectors_close(gbose_coef(g), ref.mu, dim, tolerance);
    for (int probe = 0; probe < 20; probe++) {
        for (size_t k = 0; k < dim; k++)
            x[k] = random_normal(&r);
        assert_close(gbose_width(g, x), dense_width(&ref, x, dim), tolerance);
    }
    assert_int_equal(gbose_rounds(g), rounds);
    gbose_free(g);
    dense_clear(&ref);
    dense_clear(&level);
}
