/* forget: evidence is discounted exactly, and the prior does not vanish. The learners' tests compare whole
 * runs with an oracle that knows when each coordinate of the prior is put back; nothing here does. */
#include "support/check.h"
#include "support/players.h"

#include <math.h>
#include <stdio.h>

#include "gbose.h"

enum { DIM = 4 };

/* Two learners of as many rewards: one sees contexts, one sees zeros, so that its B is the prior alone. The
 * difference is the sum of rho^age x x'. */
static void evidence_is_discounted_exactly(void **state)
{
    static const double factors[] = {0.97, 0.995, 0.5, 0.9};

    (void)state;
    for (size_t c = 0; c < 4; c++) {
        struct random r = {c + 1};
        double x[DIM], zero[DIM] = {0};
        long double B[DIM * DIM], prior[DIM * DIM], expected[DIM * DIM] = {0}, y[DIM] = {0};
        gbose *seen, *blank;
        char spec[100];

        snprintf(spec, sizeof spec, "lin-ucb:lambda=2.5,intercept=0,forget=%g", factors[c]);
        assert_int_equal(gbose_new(&seen, spec, DIM, NULL), GBOSE_OK);
        assert_int_equal(gbose_new(&blank, spec, DIM, NULL), GBOSE_OK);
        for (int t = 0; t < 150; t++) {
            double reward = random_normal(&r);
            gbose_decision d;

            for (size_t k = 0; k < DIM; k++)
                x[k] = random_normal(&r);
            assert_int_equal(gbose_decide(seen, &d, x, 1), GBOSE_OK);
            assert_int_equal(gbose_learn(seen, d.ticket, d.ticket_size, reward), GBOSE_OK);
            assert_int_equal(gbose_decide(blank, &d, zero, 1), GBOSE_OK);
            assert_int_equal(gbose_learn(blank, d.ticket, d.ticket_size, reward), GBOSE_OK);
            read_B(seen, DIM, B);
            read_B(blank, DIM, prior);
            for (size_t i = 0; i < DIM; i++) {
                y[i] = factors[c] * y[i] + x[i] * reward;
                for (size_t j = 0; j < DIM; j++)
                    expected[i * DIM + j] = factors[c] * expected[i * DIM + j] + (long double)x[i] * x[j];
            }
            for (size_t i = 0; i < DIM; i++) {
                long double B_mu = 0;

                for (size_t j = 0; j < DIM; j++) {
                    assert_near(B[i * DIM + j] - prior[i * DIM + j], expected[i * DIM + j], 1e-9);
                    assert_true(i == j || fabsl(prior[i * DIM + j]) < 1e-9L);
                    B_mu += B[i * DIM + j] * gbose_coef(seen)[j];
                }
                assert_near(B_mu, y[i], 1e-9);
                /* and the prior stays between 0.9 lambda and lambda */
                assert_true(prior[i * DIM + i] > 0.9L * 2.5L * (1 - 1e-12L));
                assert_true(prior[i * DIM + i] < 2.5L * (1 + 1e-12L));
            }
        }
        gbose_free(seen);
        gbose_free(blank);
    }
}

/* 100000 rounds that say something about two features of six: along the other four, and mixtures of them, the
 * width is what the prior says. Without putting the prior back it would have grown by 0.97^-50000. */
static void quiet_directions_stay_quiet(void **state)
{
    const double low = 1 / sqrt(2.5), high = 1 / sqrt(0.9 * 2.5), noise = 1e-9;
    struct random r = {5};
    gbose *g;

    (void)state;
    assert_int_equal(gbose_new(&g, "lin-ucb:lambda=2.5,intercept=0,forget=0.97", 6, NULL), GBOSE_OK);
    for (int t = 0; t < 100000; t++) {
        double x[6] = {0};
        gbose_decision d;

        x[1] = random_normal(&r);
        x[4] = random_normal(&r);
        assert_int_equal(gbose_decide(g, &d, x, 1), GBOSE_OK);
        assert_int_equal(gbose_learn(g, d.ticket, d.ticket_size, x[1] + random_normal(&r)), GBOSE_OK);
        if (t % 7 == 0 || t > 99900) {
            double probe[6] = {0}, size2 = 0, width;

            for (size_t k = 0; k < 6; k++)
                if (k != 1 && k != 4)
                    probe[k] = random_normal(&r);
            for (size_t k = 0; k < 6; k++)
                size2 += probe[k] * probe[k];
            width = gbose_width(g, probe) / sqrt(size2);
            assert_that(width > low - noise && width < high + noise, "round %d: %.17g", t, width);
            assert_true(gbose_coef(g)[0] == 0 && gbose_coef(g)[5] == 0);
        }
    }
    gbose_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evidence_is_discounted_exactly),
        cmocka_unit_test(quiet_directions_stay_quiet),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
