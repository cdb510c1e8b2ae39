/* What is drawn has the probabilities that are reported, for every learner of the table. */
#include "support/check.h"
#include "support/random.h"
#include "support/stats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gbose.h"

enum { DIM = 4, ARMS = 6, DECISIONS = 20000 };

static int has_option(const gbose_info *info, const char *name)
{
    for (size_t i = 0; i < info->n_options; i++)
        if (!strcmp(info->options[i].name, name))
            return 1;
    return 0;
}

/* Train, then decide many times about the same arms: estimates do not change, so the counts of the arms have
 * the sum of the reported probabilities as their mean (these differ from decision to decision where they are
 * sampled). Error probability 1e-6 each. Returns the statistic. */
static struct stats_chi2 frequencies(const char *spec, int trained, uint64_t seed)
{
    double contexts[ARMS * DIM], observed[ARMS] = {0}, expected[ARMS] = {0}, before[DIM];
    struct random r = {seed};
    struct stats_chi2 chi2;
    gbose_decision d;
    gbose *g;

    assert_int_equal(gbose_new(&g, spec, DIM, NULL), GBOSE_OK);
    for (int t = 0; t < trained; t++) {
        random_contexts(&r, contexts, ARMS, DIM);
        assert_int_equal(gbose_decide(g, &d, contexts, ARMS), GBOSE_OK);
        assert_int_equal(
            gbose_learn(g, d.ticket, d.ticket_size, 0.3 * contexts[d.arm * DIM] + random_normal(&r)),
            GBOSE_OK);
    }
    memcpy(before, gbose_coef(g), sizeof before);
    for (size_t k = 0; k < ARMS * DIM; k++)
        contexts[k] = random_normal(&r);
    for (int t = 0; t < DECISIONS; t++) {
        assert_int_equal(gbose_decide(g, &d, contexts, ARMS), GBOSE_OK);
        observed[d.arm]++;
        for (size_t i = 0; i < ARMS; i++)
            expected[i] += d.pmf[i];
    }
    assert_memory_equal(before, gbose_coef(g), sizeof before);
    for (size_t i = 0; i < ARMS; i++)
        assert_true(expected[i] > 0 || observed[i] == 0);
    chi2 = stats_fit(observed, expected, ARMS);
    assert_that(stats_tail(&chi2) > 1e-6, "%s: chi-square %g, %g degrees of freedom", spec, chi2.sum,
                chi2.df);
    gbose_free(g);
    return chi2;
}

static void draws_match_reported_probabilities(void **state)
{
    struct stats_chi2 all = {0, 0};
    const gbose_info *info;

    (void)state;
    for (size_t i = 0; (info = gbose_learner_at(i)); i++) {
        double before = all.df;

        for (int trained = 0; trained <= 200; trained += 50) {
            struct stats_chi2 one;
            char spec[200];

            snprintf(spec, sizeof spec, "%s:seed=%d%s%s%s%s", info->name, 3 + trained,
                     has_option(info, "gamma") ? ",gamma=1.3" : "",
                     has_option(info, "lambda") ? ",lambda=2.5" : "",
                     has_option(info, "epsilon") ? ",epsilon=0.4" : "",
                     has_option(info, "draws") ? ",draws=40" : "");
            one = frequencies(spec, trained, 100 * i + (uint64_t)trained);
            all.sum += one.sum;
            all.df += one.df;
        }
        /* there was something to draw */
        assert_that(all.df > before || !strcmp(info->name, "lin-ucb"), "%s", info->name);
    }
    /* all together, error probability 1e-6: a small bias that is the same for all shows here */
    assert_that(stats_tail(&all) > 1e-6, "chi-square %g, %g degrees of freedom", all.sum, all.df);
}

/* Successive decisions are drawn independently: pairs of arms have the products of the probabilities. */
static void successive_draws_are_independent(void **state)
{
    double contexts[5] = {1, 2, 3, 4, 5}, observed[25] = {0}, expected[25];
    struct stats_chi2 chi2;
    gbose_decision d;
    size_t last = 0;
    gbose *g;

    (void)state;
    assert_int_equal(gbose_new(&g, "uniform:seed=9", 1, NULL), GBOSE_OK);
    for (int t = 0; t <= DECISIONS; t++) {
        assert_int_equal(gbose_decide(g, &d, contexts, 5), GBOSE_OK);
        if (t > 0)
            observed[last * 5 + d.arm]++;
        last = d.arm;
    }
    for (size_t i = 0; i < 25; i++)
        expected[i] = DECISIONS / 25.0;
    chi2 = stats_fit(observed, expected, 25);
    assert_that(stats_tail(&chi2) > 1e-6, "chi-square %g", chi2.sum);
    gbose_free(g);
}

/* Each seed and each stream draws on its own. */
static void seeds_and_streams_differ(void **state)
{
    double contexts[8] = {1, 2, 3, 4, 5, 6, 7, 8}, observed[64] = {0}, expected[64];
    struct stats_chi2 chi2;
    gbose_decision d;
    gbose *a, *b;

    (void)state;
    for (int c = 0; c < 2; c++) {
        memset(observed, 0, sizeof observed);
        assert_int_equal(gbose_new(&a, "uniform:seed=9", 1, NULL), GBOSE_OK);
        assert_int_equal(gbose_new(&b, c ? "uniform:seed=10" : "uniform:seed=9", 1, NULL), GBOSE_OK);
        if (!c)
            assert_int_equal(gbose_stream(b, 1), GBOSE_OK);
        for (int t = 0; t < DECISIONS; t++) {
            size_t arm;

            assert_int_equal(gbose_decide(a, &d, contexts, 8), GBOSE_OK);
            arm = d.arm;
            assert_int_equal(gbose_decide(b, &d, contexts, 8), GBOSE_OK);
            observed[arm * 8 + d.arm]++;
        }
        for (size_t i = 0; i < 64; i++)
            expected[i] = DECISIONS / 64.0;
        chi2 = stats_fit(observed, expected, 64);
        assert_that(stats_tail(&chi2) > 1e-6, "chi-square %g", chi2.sum);
        gbose_free(a);
        gbose_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_match_reported_probabilities),
        cmocka_unit_test(successive_draws_are_independent),
        cmocka_unit_test(seeds_and_streams_differ),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
