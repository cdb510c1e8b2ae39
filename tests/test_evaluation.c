/* Policies on logs whose truth is known, and logs that lie: each lie is caught by a check that has a name. */
#include <math.h>
#include <string.h>

#include "gbose_log.h"
#include "support/check.h"
#include "support/logged.h"
#include "support/random.h"

#define MOST 16

/* What a round of a made-up log is given to: policies that are uniform, the log's own, and whatever `third`
 * says. */
struct reading {
    gbose_evaluation *e;
    size_t dim;
    double (*third)(const gbose_logged *row, size_t arm); /* not normalised */
    const double *(*claim)(const gbose_logged *row,
                           double *pmf); /* the propensities that the log claims; NULL: true ones */
    double shift;                        /* added to every reward */
    double truth;                        /* sum of third's value less uniform's */
    double rounds;
};

static void read_round(void *user, const gbose_logged *row, const double *expected)
{
    struct reading *reading = user;
    double uniform[MOST], third[MOST], claimed[MOST], sum = 0;
    const double *pmf[3] = {uniform, row->pmf, third};
    gbose_logged seen = *row;
    gbose_error err;

    for (size_t a = 0; a < row->n_arms; a++) {
        uniform[a] = 1.0 / (double)row->n_arms;
        third[a] = reading->third(row, a);
        sum += third[a];
    }
    for (size_t a = 0; a < row->n_arms; a++) {
        third[a] /= sum;
        reading->truth += (third[a] - uniform[a]) * expected[a];
    }
    reading->rounds++;
    if (reading->claim)
        seen.pmf = reading->claim(row, claimed);
    if (seen.pmf[seen.arm] <= 0)
        return;
    seen.reward += reading->shift;
    pmf[1] = seen.pmf;
    assert_int_equal(gbose_evaluation_add(reading->e, &seen, pmf, &err), GBOSE_OK);
}

static double by_first_feature(const gbose_logged *row, size_t arm)
{
    return exp(row->contexts[3 * arm]);
}

static void read_log(struct reading *reading, const char *world, const char *logger, double floor,
                     uint64_t rounds)
{
    struct logged_plan plan = {world, logger, floor, 0, rounds, 77};
    gbose_evaluation_options set = gbose_evaluation_defaults();

    set.low = -9;
    set.high = 9;
    set.alpha = 0.01;
    reading->truth = reading->rounds = 0;
    reading->third = reading->third ? reading->third : by_first_feature;
    assert_int_equal(gbose_evaluation_new(&reading->e, 3, 3, &set, NULL), GBOSE_OK);
    logged_play(&plan, 5, read_round, reading);
}

/* phi is at most a quarter as wide as the difference of two levels when the level moves: it is a hundredth
 * here. */
static void phi_is_narrow_and_right(void **state)
{
    struct reading reading = {0};
    gbose_difference d;
    gbose_policy_value v;
    double truth;

    (void)state;
    read_log(&reading, "gallery:shift=season,arms=4,dim=3", "uniform", 0, 5000);
    assert_int_equal(gbose_evaluation_difference(reading.e, 2, &d), GBOSE_OK);
    truth = reading.truth / reading.rounds;
    assert_true(d.phi.lower < truth &&
                truth < d.phi.upper); /* fails with probability 0.01 for a fresh seed */
    assert_true(d.paired.lower < truth && truth < d.paired.upper);
    assert_true(d.phi.upper - d.phi.lower < d.ips_width / 4);
    assert_true(d.phi.lower > 0 || d.phi.upper < 0); /* which one is better is known */
    assert_int_equal(gbose_evaluation_policy(reading.e, 2, &v), GBOSE_OK);
    assert_true(v.weight.lower < 1 && v.weight.upper > 1 && v.peek.lower < 0 && v.peek.upper > 0);
    assert_close(v.supported, 1, 1e-12);
    assert_int_equal(gbose_evaluation_policy(reading.e, 0, &v), GBOSE_OK);
    assert_close(v.effective, 5000, 1e-9);
    gbose_evaluation_free(reading.e);
}

/* A level of any size does not move phi, but for the rounds in which it is found. */
static void level_does_not_matter(void **state)
{
    struct reading a = {0}, b = {.shift = 1e6};
    gbose_difference d, e;

    (void)state;
    read_log(&a, "gallery:shift=zero,arms=4,dim=3", "uniform", 0, 3000);
    read_log(&b, "gallery:shift=zero,arms=4,dim=3", "uniform", 0, 3000);
    gbose_evaluation_difference(a.e, 2, &d);
    gbose_evaluation_difference(b.e, 2, &e);
    assert_near(d.phi.estimate, e.phi.estimate, 1e-3);
    assert_near(d.phi.upper - d.phi.lower, e.phi.upper - e.phi.lower, 0.1 * (d.phi.upper - d.phi.lower));
    assert_true(isnan(e.paired.lower) && isnan(e.paired.upper)); /* rewards are outside of the range */
    gbose_evaluation_free(a.e);
    gbose_evaluation_free(b.e);
}

static double first_arm_only(const gbose_logged *row, size_t arm)
{
    (void)row;
    return arm == 0;
}

/* A log in whose first rounds nearly always the same arm is played, so that the regression has hardly
 * anything to go by: once, it and the level were learned from each other's errors until both were of the
 * order of 10,000, and phi was 2,600 wide. */
static void regression_and_level_do_not_drive_each_other_apart(void **state)
{
    struct logged_plan plan = {.world = "paper:shift=log-sine,arms=3,dim=2",
                               .logger = "eps-greedy:epsilon=0.1",
                               .rounds = 4000,
                               .seed = 101};
    struct reading reading = {.third = first_arm_only};
    gbose_evaluation_options set = gbose_evaluation_defaults();
    gbose_difference d;

    (void)state;
    set.low = -2;
    set.high = 25;
    assert_int_equal(gbose_evaluation_new(&reading.e, 3, logged_dim(&plan), &set, NULL), GBOSE_OK);
    logged_play(&plan, 192, read_round, &reading);
    assert_int_equal(gbose_evaluation_difference(reading.e, 2, &d), GBOSE_OK);
    assert_that(d.phi.upper - d.phi.lower < 0.2, "phi is %g wide", d.phi.upper - d.phi.lower);
    assert_true(d.phi.lower < reading.truth / reading.rounds && reading.truth / reading.rounds < d.phi.upper);
    gbose_evaluation_free(reading.e);
}

/* Before a round counts, nothing is said, by an interval that holds everything. */
static void at_first_everything_is_possible(void **state)
{
    struct reading reading = {0};
    gbose_difference d;

    (void)state;
    read_log(&reading, "gallery:shift=season,arms=4,dim=3", "uniform", 0, 5);
    assert_int_equal(gbose_evaluation_difference(reading.e, 2, &d), GBOSE_OK);
    assert_true(d.phi.lower == -INFINITY && d.phi.upper == INFINITY);
    gbose_evaluation_free(reading.e);
}

static const double *claim_uniform(const gbose_logged *row, double *pmf)
{
    for (size_t a = 0; a < row->n_arms; a++)
        pmf[a] = 1.0 / (double)row->n_arms;
    return pmf;
}

static const double *claim_shifted(const gbose_logged *row, double *pmf)
{
    for (size_t a = 0; a < row->n_arms; a++)
        pmf[a] = row->pmf[(a + 1) % row->n_arms];
    return pmf;
}

/* The audit's p is below 1e-6 for a log that lies, and above 1e-3 for one that does not. */
static void wrong_propensities_are_caught(void **state)
{
    const double *(*const claims[])(const gbose_logged *, double *) = {claim_uniform, claim_shifted};
    struct reading honest = {0};
    gbose_audit audit;

    (void)state;
    read_log(&honest, "gallery:shift=jumps,arms=4,dim=3", "eps-greedy:epsilon=0.2", 0, 3000);
    gbose_evaluation_audit(honest.e, &audit);
    assert_true(audit.p > 1e-3);
    gbose_evaluation_free(honest.e);
    for (size_t i = 0; i < 2; i++) {
        struct reading lying = {.claim = claims[i]};

        read_log(&lying, "gallery:shift=jumps,arms=4,dim=3", "eps-greedy:epsilon=0.2", 0, 3000);
        gbose_evaluation_audit(lying.e, &audit);
        assert_true(audit.p < 1e-6);
        gbose_evaluation_free(lying.e);
    }
}

/* Its arms cannot have been seen: support says so, and phi does not pretend to know. */
static void lack_of_support_is_seen(void **state)
{
    struct reading reading = {0};
    gbose_policy_value v;
    gbose_difference d;
    gbose_audit audit;

    (void)state;
    read_log(&reading, "gallery:shift=zero,arms=4,dim=3", "gbose-auto", 0, 3000);
    gbose_evaluation_policy(reading.e, 2, &v);
    assert_true(v.supported < 0.6);
    assert_true(v.weight.lower < 1 &&
                v.weight.upper > 1); /* the missing mass is counted, so this is not the propensities' fault */
    gbose_evaluation_difference(reading.e, 2, &d);
    assert_true(d.phi.upper - d.phi.lower > 0.4 * 18);
    gbose_evaluation_audit(reading.e, &audit);
    assert_true(audit.unplayable > 0.5 && audit.certain > 0.5 && audit.p > 1e-3);
    gbose_evaluation_free(reading.e);
}

/* Policies "logged" and "always arm 1" on rounds of two arms with one feature each; arm 1 cannot be played in the
 * rounds from `last` on. */
static void add_two_arms(gbose_evaluation *e, int t, int last, double x1, double reward)
{
    double half[] = {0.5, 0.5}, certain[] = {1, 0}, second[] = {0, 1}, contexts[] = {t % 4 < 2 ? 1 : -1, x1};
    const double *logged = t < last ? half : certain, *pmf[] = {logged, second};
    gbose_logged row = {.n_arms = 2, .pmf = logged, .reward = reward, .contexts = contexts};

    row.arm = t < last && t % 2;
    assert_int_equal(gbose_evaluation_add(e, &row, pmf, NULL), GBOSE_OK);
}

/* What cannot be seen may be anything within the range of rewards: once, rounds in which the regression found its
 * way counted as seen, and an arm far from all others could be expected to earn more than is possible. */
static void what_cannot_be_seen_may_be_anything(void **state)
{
    gbose_evaluation *e;
    gbose_difference d;

    (void)state;
    assert_int_equal(gbose_evaluation_new(&e, 2, 1, NULL, NULL), GBOSE_OK);
    for (int t = 0; t < 120; t++) /* of the 100 rounds of phi, 20 hide an arm that earns 1 then */
        add_two_arms(e, t, 100, 0, 0.001 * (t % 3));
    assert_int_equal(gbose_evaluation_difference(e, 1, &d), GBOSE_OK);
    assert_true(d.phi.upper > 20 * 0.998 / 100 && d.phi.upper < 0.3);
    gbose_evaluation_free(e);
    assert_int_equal(gbose_evaluation_new(&e, 2, 1, NULL, NULL), GBOSE_OK);
    for (int t = 0; t < 400;
         t++) { /* rewards rise with the feature, 0 to 1; arm 1 is far out, and earns nothing */
        int seen = t < 200, arm = seen && t % 2;
        double x1 = seen ? (t % 8 < 4 ? 1 : -1) : 10, x = arm ? x1 : t % 4 < 2 ? 1 : -1;

        add_two_arms(e, t, 200, x1, 0.5 + 0.5 * x);
    }
    assert_int_equal(gbose_evaluation_difference(e, 1, &d), GBOSE_OK);
    assert_true(d.phi.lower <= -0.5 * 200 / 380);
    gbose_evaluation_free(e);
}

/* It plays the logged arm where the reward was good, and another one where it was not. */
static double peeking(const gbose_logged *row, size_t arm)
{
    return (arm == row->arm) == (row->reward > 0.4) ? 1 : 0.05;
}

static void peeking_is_caught(void **state)
{
    struct reading reading = {.third = peeking};
    gbose_policy_value v;

    (void)state;
    read_log(&reading, "gallery:shift=zero,arms=4,dim=3", "uniform", 0, 1000);
    gbose_evaluation_policy(reading.e, 2, &v);
    assert_true(v.peek.upper < 0 || v.peek.lower > 0);
    assert_true(v.weight.upper < 1 || v.weight.lower > 1);
    gbose_evaluation_policy(reading.e, 0, &v);
    assert_true(v.peek.lower <= 0 && v.peek.upper >= 0);
    gbose_evaluation_free(reading.e);
}

/* Sums of the audit, by arm, bin and score, from stored rows. */
static void audit_matches_definitions(void **state)
{
    struct random random = {.state = 3};
    long double sum[3] = {0}, variance[3] = {0}, in_bin = 0, bin_variance = 0, worst = 0;
    gbose_evaluation *e;
    gbose_audit audit;

    (void)state;
    assert_int_equal(gbose_evaluation_new(&e, 1, 0, NULL, NULL), GBOSE_OK);
    for (int t = 0; t < 500; t++) {
        double pmf[3] = {0.6, 0.3, 0.1}, q;
        const double *given[] = {pmf};
        size_t labels[3] = {0, 1, 2};
        gbose_logged row = {.n_arms = 3, .pmf = pmf, .label = labels};

        if (t % 2) { /* the same arms in another order */
            pmf[0] = 0.1;
            pmf[2] = 0.6;
            labels[0] = 2;
            labels[2] = 0;
        }
        row.arm = random_below(&random, 3); /* not as logged */
        row.reward = random_uniform(&random);
        assert_int_equal(gbose_evaluation_add(e, &row, given, NULL), GBOSE_OK);
        for (size_t a = 0; a < 3; a++) {
            sum[labels[a]] += (long double)(row.arm == a) - pmf[a];
            variance[labels[a]] += (long double)pmf[a] * (1 - pmf[a]);
        }
        q = pmf[row.arm];
        in_bin += (long double)(q > 0.5) - 0.6L;
        bin_variance += 0.24L;
    }
    assert_int_equal(gbose_evaluation_audit(e, &audit), GBOSE_OK);
    for (size_t a = 0; a < 3; a++)
        if (fabsl(sum[a]) / sqrtl(variance[a]) > fabsl(worst))
            worst = sum[a] / sqrtl(variance[a]);
    assert_close(audit.arm, worst, 1e-12);
    assert_true(audit.worst_arm == 2);
    assert_true(fabs(audit.bin) >= (double)fabsl(in_bin / sqrtl(bin_variance)) - 1e-9);
    assert_true(audit.arm_p < 1e-12 && audit.p < 1e-12);
    assert_close(audit.least_p, 0.1, 1e-15);
    assert_true(audit.certain == 0 && audit.unplayable == 0);
    gbose_evaluation_free(e);
}

static void bad_rounds_are_refused(void **state)
{
    double pmf[2] = {0.5, 0.5}, bad[2] = {0.7, 0.7}, x[2] = {1, NAN};
    const double *fine[] = {pmf}, *wrong[] = {bad}, *none[] = {NULL};
    gbose_logged row = {.n_arms = 2, .arm = 1, .pmf = pmf, .reward = 0.5, .contexts = pmf};
    gbose_evaluation *e;
    gbose_policy_value v;
    gbose_evaluation_options set = gbose_evaluation_defaults();
    gbose_error err;

    (void)state;
    assert_int_equal(gbose_evaluation_new(NULL, 1, 1, NULL, &err), GBOSE_EINVAL);
    assert_int_equal(gbose_evaluation_new(&e, 0, 1, NULL, &err), GBOSE_EINVAL);
    set.alpha = 1;
    assert_int_equal(gbose_evaluation_new(&e, 1, 1, &set, &err), GBOSE_EINVAL);
    assert_non_null(strstr(err.text, "alpha"));
    assert_int_equal(gbose_evaluation_new(&e, 1, 1, NULL, &err), GBOSE_OK);
    assert_int_equal(gbose_evaluation_policy(e, 0, &v), GBOSE_EINVAL); /* no round yet */
    assert_int_equal(gbose_evaluation_add(e, &row, wrong, &err), GBOSE_ENUMERIC);
    assert_non_null(strstr(err.text, "1.4"));
    assert_int_equal(gbose_evaluation_add(e, &row, none, &err), GBOSE_EINVAL);
    row.reward = NAN;
    assert_int_equal(gbose_evaluation_add(e, &row, fine, &err), GBOSE_ENUMERIC);
    row.reward = 0.5;
    row.contexts = x;
    assert_int_equal(gbose_evaluation_add(e, &row, fine, &err), GBOSE_ENUMERIC);
    row.contexts = NULL;
    assert_int_equal(gbose_evaluation_add(e, &row, fine, &err), GBOSE_EINVAL);
    row.contexts = pmf;
    row.arm = 2;
    assert_int_equal(gbose_evaluation_add(e, &row, fine, &err), GBOSE_EINVAL);
    row.arm = 0;
    bad[0] = 0;
    bad[1] = 1;
    row.pmf = bad;
    assert_int_equal(gbose_evaluation_add(e, &row, fine, &err), GBOSE_ENUMERIC);
    assert_int_equal(gbose_evaluation_policy(e, 0, &v), GBOSE_EINVAL); /* none of them counted */
    row.pmf = pmf;
    assert_int_equal(gbose_evaluation_add(e, &row, fine, &err), GBOSE_OK);
    assert_int_equal(gbose_evaluation_policy(e, 0, &v), GBOSE_OK);
    assert_int_equal(v.rounds, 1);
    gbose_evaluation_free(e);
    gbose_evaluation_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(phi_is_narrow_and_right),
        cmocka_unit_test(level_does_not_matter),
        cmocka_unit_test(regression_and_level_do_not_drive_each_other_apart),
        cmocka_unit_test(at_first_everything_is_possible),
        cmocka_unit_test(wrong_propensities_are_caught),
        cmocka_unit_test(lack_of_support_is_seen),
        cmocka_unit_test(what_cannot_be_seen_may_be_anything),
        cmocka_unit_test(peeking_is_caught),
        cmocka_unit_test(audit_matches_definitions),
        cmocka_unit_test(bad_rounds_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
