/* gbose-auto: free of bias whatever the shift does, and fit for numbers of any legal size. */
#include "support/check.h"
#include "support/dense.h"
#include "support/players.h"
#include "support/stats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { D = 3, ARMS = 4 };

/* ---- unbiased ---- */

/* B, from widths alone. */
static void read_B(const gbose *g, long double *B)
{
    struct dense inverse;

    dense_init(&inverse, D, 1, 1);
    for (size_t i = 0; i < D; i++) {
        inverse.prior[i] = 0;
        for (size_t j = 0; j < D; j++) {
            double sum[D] = {0}, difference[D] = {0};
            long double s, t;

            sum[i] += 1;
            sum[j] += 1;
            difference[i] += 1;
            difference[j] -= 1;
            s = gbose_width(g, sum);
            t = gbose_width(g, difference);
            inverse.evidence[i * D + j] = (s * s - t * t) / 4;
        }
    }
    dense_solve(&inverse);
    memcpy(B, inverse.inverse, D * D * sizeof *B);
    dense_clear(&inverse);
}

/* The shift knows the contexts, the past, the estimate and the probabilities of the arms; all but the draw. */
static double hostile_shift(const gbose *g, const gbose_decision *d, const double *contexts, double last,
                            int t)
{
    double v = t % 50 < 25 ? 2 : -1, best = 0;
    size_t likely = 0;

    for (size_t i = 0; i < ARMS; i++) {
        double score = 0;
        for (size_t j = 0; j < D; j++)
            score += gbose_coef(g)[j] * contexts[i * D + j];
        best = fmax(best, score);
        if (d->pmf[i] > d->pmf[likely])
            likely = i;
    }
    for (size_t i = 0; i < ARMS; i++)
        if (d->pmf[i] > 0 && i != likely)
            v += 4 * (contexts[likely * D + 1] - contexts[i * D + 1]);
    return v - 3 * best + (last > 0 ? 1 : -0.5);
}

/* The sum of w X (r - vhat - bbar'mu - X'mu) over the rounds is B (estimate - mu) + lambda mu: it has mean 0, exactly, if
 * the baseline is fixed before the coin is tossed and X is centred. Over REPS runs, mean over standard error is
 * nearly normal for each coordinate: beyond 5 with probability 6e-7 each. */
static void check_unbiased(const char *spec, int delay)
{
    enum { REPS = 400, ROUNDS = 120, MOST_DELAY = 50 };
    static const double mu[D] = {0.6, -0.4, 0.3};
    double sum[D] = {0}, square[D] = {0};

    for (int rep = 0; rep < REPS; rep++) {
        static struct outcome kept[ROUNDS + MOST_DELAY];
        struct random r = {1000 + (uint64_t)rep};
        char seeded[SPEC_SIZE], seed[32];
        gbose *g;
        long double B[D * D];
        double last = 0;

        snprintf(seed, sizeof seed, "seed=%d", rep + 1);
        g = new_player(spec_with(seeded, spec, seed), D);
        for (int t = 0; t < ROUNDS + delay; t++) {
            double contexts[ARMS * D];
            gbose_decision d;

            if (delay && t >= delay)
                learn_outcome(g, &kept[t - delay]);
            if (t >= ROUNDS)
                continue;
            for (size_t i = 0; i < ARMS * D; i++)
                contexts[i] = random_between(&r, -1, 1);
            assert_int_equal(gbose_decide(g, &d, contexts, ARMS), GBOSE_OK);
            last = hostile_shift(g, &d, contexts, last, t) + 0.1 * random_normal(&r);
            for (size_t j = 0; j < D; j++)
                last += mu[j] * contexts[d.arm * D + j];
            kept[t].size = d.ticket_size;
            memcpy(kept[t].ticket, d.ticket, d.ticket_size);
            kept[t].reward = last;
            if (!delay)
                learn_outcome(g, &kept[t]);
        }
        read_B(g, B);
        for (size_t i = 0; i < D; i++) {
            long double s = 2.5L * mu[i];
            for (size_t j = 0; j < D; j++)
                s += B[i * D + j] * (gbose_coef(g)[j] - mu[j]);
            sum[i] += (double)s;
            square[i] += (double)(s * s);
        }
        gbose_free(g);
    }
    for (size_t i = 0; i < D; i++) {
        double mean = sum[i] / REPS, error = sqrt((square[i] / REPS - mean * mean) / REPS);
        assert_that(fabs(mean) < 5 * error, "%s: coordinate %zu: %g, standard error %g", spec, i, mean,
                    error);
    }
}

static void the_estimate_is_unbiased_under_a_hostile_shift(void **state)
{
    (void)state;
    check_unbiased("gbose-auto:lambda=2.5", 0);
    check_unbiased("gbose-auto:lambda=2.5,safe=1", 0);
    check_unbiased("gbose-auto:lambda=2.5", 40);
}

/* ---- numbers of any size ---- */

/* Scales that change from round to round, over all that is legal. A decision may be refused, whole; one that was
 * made can be learned from, and the learner can then be saved and loaded. */
static void play_wild(const char *spec, uint64_t seed)
{
    static const double sizes[] = {0, 1e-120, 1e-60, 1e-3, 1, 1e3, 1e60, 1e119, GBOSE_MAX_INPUT};
    gbose *g = new_player(spec, D);
    struct random r = {seed};
    size_t refused = 0, rounds = 300, span = 1 + random_below(&r, COUNT(sizes));
    size_t first = random_below(&r, COUNT(sizes) - span + 1);

    for (size_t t = 0; t < rounds; t++) {
        double contexts[ARMS * D], reward;
        struct bytes before = saved(g);
        gbose_decision d;
        int rc;

        for (size_t i = 0; i < ARMS * D; i++)
            contexts[i] = (random_below(&r, 2) ? 1 : -1) * sizes[first + random_below(&r, span)];
        reward = (random_below(&r, 2) ? 1 : -1) * sizes[random_below(&r, COUNT(sizes))];
        rc = gbose_decide(g, &d, contexts, ARMS);
        if (rc) {
            assert_int_equal(rc, GBOSE_ENUMERIC);
            assert_unchanged(g, &before);
            refused++;
        } else {
            gbose *copy;

            assert_int_equal(gbose_learn(g, d.ticket, d.ticket_size, reward), GBOSE_OK);
            copy = duplicate(g); /* checks every number */
            gbose_free(copy);
        }
        for (size_t i = 0; i < D; i++)
            assert_true(isfinite(gbose_coef(g)[i]));
        bytes_free(&before);
    }
    assert_true(refused < rounds);
    gbose_free(g);
}

static void what_was_decided_can_be_learned(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        play_wild("gbose-auto:lambda=2.5", seed);
        play_wild("gbose-auto:safe=1", seed);
        play_wild("gbose-auto:forget=0.9,lambda=1e-12", seed);
    }
}

/* Rewards that are all the same at first, as clicks are, teach no scale; the learner must still learn later. */
static void rare_rewards_are_learned_from(void **state)
{
    gbose *g = new_player("gbose-auto", 1);
    struct random r = {5};
    size_t right = 0;

    (void)state;
    for (int t = 0; t < 4000; t++) {
        double contexts[2] = {1, -1};
        gbose_decision d;
        double reward;

        assert_int_equal(gbose_decide(g, &d, contexts, 2), GBOSE_OK);
        reward = t >= 100 && random_uniform(&r) < (d.arm == 0 ? 0.3 : 0.1);
        assert_int_equal(gbose_learn(g, d.ticket, d.ticket_size, reward), GBOSE_OK);
        right += t >= 3000 && d.arm == 0;
    }
    assert_true(right > 900);
    gbose_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_estimate_is_unbiased_under_a_hostile_shift),
        cmocka_unit_test(what_was_decided_can_be_learned),
        cmocka_unit_test(rare_rewards_are_learned_from),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
