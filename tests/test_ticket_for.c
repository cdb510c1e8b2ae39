/* Tickets of decisions that somebody else made, and what tickets say.
 *
 * A log is drawn by three policies that are not ours: uniform, epsilon-greedy, and the softmax of random
 * scores. Learners that learn it from gbose_ticket_for() are compared with regressions that are formed
 * from the definition of each estimator and solved by elimination (support/dense.h), and the orthogonal
 * ones are tested for bias under a shift that follows the contexts. */
#include "support/players.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "learners/learner.h"
#include "support/dense.h"
#include "support/stats.h"

#define DIM 4
#define ARMS 5

/* ---- our own decisions ---- */

/* The bytes of both but for stream, number and checksum. */
static void assert_same_ticket(const void *a, size_t size_a, const void *b, size_t size_b)
{
    struct bytes x = bytes_copy(a, size_a), y = bytes_copy(b, size_b);

    assert_int_equal(x.size, y.size);
    assert_int_equal(word_at(&y, TICKET_STREAM), 0);
    assert_true(word_at(&y, TICKET_NUMBER) == GBOSE_LOGGED);
    set_word(&y, TICKET_STREAM, word_at(&x, TICKET_STREAM));
    set_word(&y, TICKET_NUMBER, word_at(&x, TICKET_NUMBER));
    reseal(&y);
    assert_memory_equal(x.at, y.at, x.size);
    bytes_free(&x);
    bytes_free(&y);
}

static void check_own(const char *spec)
{
    gbose *g = new_player(spec, DIM);
    gbose_scratch *scratch = NULL;
    struct random rng = {101};
    /* action-ts knows more of its own decision than pmf says when there are more than two arms */
    size_t most = !strncmp(spec, "action-ts", 9) && !strstr(spec, "floor") ? 2 : ARMS;
    int certain = 0, drawn = 0;

    assert_int_equal(gbose_scratch_new(&scratch), GBOSE_OK);
    for (int t = 0; t < 300; t++) {
        double contexts[ARMS * DIM], round[2] = {random_normal(&rng), random_normal(&rng)}, pmf[ARMS];
        gbose_input in = {contexts, 1 + random_below(&rng, most), round};
        gbose_decision d;
        const void *ticket;
        size_t size;

        for (size_t i = 0; i < in.n_arms * DIM; i++)
            contexts[i] = random_normal(&rng);
        assert_int_equal(gbose_decide_in(g, &d, contexts, in.n_arms, round), GBOSE_OK);
        memcpy(pmf, d.pmf, in.n_arms * sizeof *pmf);
        assert_int_equal(gbose_ticket_for(g, scratch, &ticket, &size, &in, pmf, d.arm), GBOSE_OK);
        assert_same_ticket(d.ticket, d.ticket_size, ticket, size);
        certain += d.probability == 1;
        drawn += d.probability < 1;
        assert_int_equal(gbose_learn(g, ticket, size, contexts[d.arm * DIM] + random_normal(&rng)), GBOSE_OK);
    }
    assert_true(certain > 0 && (drawn > 0 || !strncmp(spec, "lin-ucb", 7)));
    gbose_scratch_free(scratch);
    gbose_free(g);
}

static void our_own_decision_gives_our_own_ticket(void **state)
{
    (void)state;
    for_each_spec(check_own, INTERCEPT | FORGET);
}

/* ---- a log ---- */

enum { UNIFORM, EPSILON_GREEDY, SOFTMAX, POLICIES };

struct logged {
    double contexts[ARMS * DIM], pmf[ARMS], reward;
    size_t n, arm;
};

static const double truth[DIM] = {0.8, -0.5, 0.3, 0.1};

/* v follows the arms that the policy likes, and jumps: the worst that the model allows. */
static double hostile(const struct logged *l, int t)
{
    double v = t % 3 == 0 ? 2 : -1;

    for (size_t i = 0; i < l->n; i++)
        for (size_t k = 0; k < DIM; k++)
            v += (1 + (double)k) * l->pmf[i] * l->contexts[i * DIM + k];
    return v;
}

static void draw_pmf(struct logged *l, int policy, struct random *rng)
{
    double score[ARMS], sum = 0;
    size_t best = 0;

    for (size_t i = 0; i < l->n; i++) {
        score[i] = random_normal(rng) + l->contexts[i * DIM]; /* a policy that follows the contexts */
        if (score[i] > score[best])
            best = i;
        sum += exp(score[i]);
    }
    for (size_t i = 0; i < l->n; i++)
        l->pmf[i] = policy == UNIFORM   ? 1 / (double)l->n
                    : policy == SOFTMAX ? exp(score[i]) / sum
                                        : 0.3 / (double)l->n + (i == best ? 0.7 : 0);
}

static void draw_logged(struct logged *l, int policy, int t, struct random *rng)
{
    double u;

    l->n = 2 + random_below(rng, ARMS - 1);
    for (size_t i = 0; i < l->n * DIM; i++)
        l->contexts[i] = random_normal(rng);
    draw_pmf(l, policy, rng);
    u = random_uniform(rng);
    for (l->arm = 0; l->arm + 1 < l->n && u >= l->pmf[l->arm]; l->arm++)
        u -= l->pmf[l->arm];
    l->reward = hostile(l, t) + random_normal(rng);
    for (size_t k = 0; k < DIM; k++)
        l->reward += truth[k] * l->contexts[l->arm * DIM + k];
}

static void learn_logged(gbose *g, gbose_scratch *scratch, const struct logged *l)
{
    gbose_input in = {l->contexts, l->n, NULL};
    const void *ticket;
    size_t size;

    assert_int_equal(gbose_ticket_for(g, scratch, &ticket, &size, &in, l->pmf, l->arm), GBOSE_OK);
    assert_int_equal(gbose_learn(g, ticket, size, l->reward), GBOSE_OK);
}

/* b_i - bbar */
static void centred(long double *x, const struct logged *l, size_t i)
{
    for (size_t k = 0; k < DIM; k++) {
        x[k] = l->contexts[i * DIM + k];
        for (size_t j = 0; j < l->n; j++)
            x[k] -= (long double)l->pmf[j] * l->contexts[j * DIM + k];
    }
}

/* What the estimators are, from their papers. */
static void learn_orthogonal(struct dense *m, const struct logged *l, long double r)
{
    long double x[DIM];

    centred(x, l, l->arm);
    dense_add(m, 1, r, x);
}

static void learn_expected(struct dense *m, const struct logged *l, long double r)
{
    long double x[DIM];

    for (size_t i = 0; i < l->n; i++) {
        centred(x, l, i);
        dense_add(m, l->pmf[i], i == l->arm ? r : 0, x);
    }
}

static void learn_semi(struct dense *m, const struct logged *l, long double r)
{
    long double x[DIM];

    centred(x, l, l->arm);
    dense_add(m, 2, 4 * r, x);
    for (size_t i = 0; i < l->n; i++) {
        centred(x, l, i);
        dense_add(m, 2 * (long double)l->pmf[i], 0, x);
    }
}

static void learn_row(struct dense *m, const struct logged *l, long double r)
{
    long double x[DIM + 1];

    for (size_t k = 0; k < DIM; k++)
        x[k] = l->contexts[l->arm * DIM + k];
    x[DIM] = 1;
    dense_add(m, 1, r, x);
}

static const struct estimator {
    const char *name;
    size_t dim;
    void (*learn)(struct dense *m, const struct logged *l, long double r);
} estimators[] = {
    {"gbose", DIM, learn_orthogonal},   {"bose", DIM, learn_orthogonal},
    {"uniform", DIM, learn_orthogonal}, {"action-ts", DIM, learn_expected},
    {"semi-ts", DIM, learn_semi},       {"lin-ts", DIM + 1, learn_row},
    {"lin-ucb", DIM + 1, learn_row},    {"eps-greedy", DIM + 1, learn_row},
};

static void check_estimator(const struct estimator *e, int policy, const char *options, double forget,
                            int level)
{
    char spec[SPEC_SIZE], plain[SPEC_SIZE];
    struct random rng = {103 + (uint64_t)policy};
    gbose_scratch *scratch = NULL;
    struct dense m, baseline;
    gbose *g;

    snprintf(plain, sizeof plain, "%s:lambda=2.5", e->name);
    g = new_player(options ? spec_with(spec, plain, options) : plain, DIM);
    assert_int_equal(gbose_scratch_new(&scratch), GBOSE_OK);
    dense_init(&m, e->dim, 2.5, forget);
    dense_init(&baseline, DIM + 1, 1, forget);
    dense_solve(&baseline);
    for (int t = 0; t < 300; t++) {
        struct logged l;

        draw_logged(&l, policy, t, &rng);
        dense_begin(&m);
        e->learn(&m, &l, (long double)l.reward - (level ? baseline.mu[DIM] : 0));
        dense_begin(&baseline);
        learn_row(&baseline, &l, l.reward);
        dense_solve(&baseline);
        learn_logged(g, scratch, &l);
    }
    dense_solve(&m);
    for (size_t k = 0; k < DIM; k++)
        assert_near(gbose_coef(g)[k], (double)m.mu[k], 1e-10);
    for (int k = 0; k < 5; k++) {
        double x[DIM];

        for (size_t i = 0; i < DIM; i++)
            x[i] = random_normal(&rng);
        assert_close(gbose_width(g, x), dense_width(&m, x, DIM), 1e-10);
    }
    dense_clear(&m);
    dense_clear(&baseline);
    gbose_scratch_free(scratch);
    gbose_free(g);
}

static void a_log_is_learned_as_the_definition_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(estimators); i++)
        for (int policy = 0; policy < POLICIES; policy++) {
            check_estimator(&estimators[i], policy, NULL, 1, 0);
            check_estimator(&estimators[i], policy, "forget=0.97", 0.97, 0);
            if (estimators[i].dim == DIM)
                check_estimator(&estimators[i], policy, "intercept=1", 1, 1);
        }
}

/* Where one arm was certain, gbose learns nothing, or with lone=half half of that arm's context. */
static void a_certain_arm_teaches_what_lone_says(void **state)
{
    double contexts[2 * DIM] = {1, 2, 3, 4, 5, 6, 7, 8};
    gbose *skip = new_player("gbose:lambda=2.5", DIM), *half = new_player("gbose:lambda=2.5,lone=half", DIM);
    struct logged l = {.pmf = {0, 1}, .reward = 3, .n = 2, .arm = 1};
    gbose_scratch *scratch = NULL;
    struct dense m;
    long double x[DIM];

    (void)state;
    memcpy(l.contexts, contexts, sizeof contexts);
    assert_int_equal(gbose_scratch_new(&scratch), GBOSE_OK);
    learn_logged(skip, scratch, &l);
    learn_logged(half, scratch, &l);
    dense_init(&m, DIM, 2.5, 1);
    for (size_t k = 0; k < DIM; k++)
        x[k] = contexts[DIM + k] / 2;
    dense_add(&m, 1, 3, x);
    dense_solve(&m);
    for (size_t k = 0; k < DIM; k++) {
        assert_true(gbose_coef(skip)[k] == 0);
        assert_near(gbose_coef(half)[k], (double)m.mu[k], 1e-12);
    }
    dense_clear(&m);
    gbose_scratch_free(scratch);
    gbose_free(skip);
    gbose_free(half);
}

/* The score test of "the estimate is right": S = B (mu^ - mu) + lambda mu is a sum of X (v + noise) of
 * mean zero whatever v is, and its covariance is estimated by sum X X' (r - X'mu)^2. S'V^-1 S is then
 * about chi-square with DIM degrees of freedom. The sum over 40 logs of 2000 rounds is compared with its
 * law at level 1e-6 on both sides: so often would a right program fail with another seed. A biased
 * regression is far outside, as the linear one shows. */
static double score(const char *name, int policy, uint64_t seed)
{
    char spec[SPEC_SIZE];
    struct random rng = {seed};
    gbose_scratch *scratch = NULL;
    struct dense V, B;
    long double S[DIM] = {0}, sum = 0;
    gbose *g;

    snprintf(spec, sizeof spec, "%s:lambda=2.5", name);
    g = new_player(spec, DIM);
    assert_int_equal(gbose_scratch_new(&scratch), GBOSE_OK);
    dense_init(&V, DIM, 1e-9, 1);
    dense_init(&B, DIM, 2.5, 1);
    for (int t = 0; t < 2000; t++) {
        struct logged l;
        long double x[DIM], e;

        draw_logged(&l, policy, t, &rng);
        learn_logged(g, scratch, &l);
        centred(x, &l, l.arm);
        e = l.reward;
        for (size_t k = 0; k < DIM; k++)
            e -= x[k] * truth[k];
        dense_add(&V, e * e, 0, x);
        dense_add(&B, 1, 0, x);
    }
    for (size_t i = 0; i < DIM; i++) {
        S[i] = 2.5L * gbose_coef(g)[i]; /* B mu^ - (B - lambda) mu, with B = lambda I + evidence */
        for (size_t k = 0; k < DIM; k++)
            S[i] += B.evidence[i * DIM + k] * ((long double)gbose_coef(g)[k] - truth[k]);
    }
    dense_solve(&V);
    for (size_t i = 0; i < DIM; i++)
        for (size_t k = 0; k < DIM; k++)
            sum += S[i] * V.inverse[i * DIM + k] * S[k];
    dense_clear(&V);
    dense_clear(&B);
    gbose_scratch_free(scratch);
    gbose_free(g);
    return (double)sum;
}

static void a_log_is_learned_without_bias(void **state)
{
    (void)state;
    for (int policy = 0; policy < POLICIES; policy++) {
        struct stats_chi2 orthogonal = {0, 0}, linear = {0, 0};
        double p;

        for (uint64_t rep = 0; rep < 40; rep++) {
            orthogonal.sum += score("gbose", policy, 1000 + rep);
            orthogonal.df += DIM;
        }
        p = stats_tail(&orthogonal);
        assert_true(p > 1e-6 && p < 1 - 1e-6);
        linear.sum = score("lin-ts", policy, 2000);
        linear.df = DIM;
        if (policy != UNIFORM) /* there the shift does not follow the arm that is played */
            assert_true(stats_tail(&linear) < 1e-6);
    }
}

/* A warm start: a learner that has learned somebody's log beats chance from its first decision. */
static void a_learner_starts_warm(void **state)
{
    static const char *const specs[] = {"gbose", "gbose-auto", "semi-ts", "lin-ts"};

    (void)state;
    for (size_t s = 0; s < COUNT(specs); s++) {
        gbose *g = new_player(specs[s], DIM);
        struct random rng = {107};
        gbose_scratch *scratch = NULL;
        struct logged l;
        size_t right = 0;

        assert_int_equal(gbose_scratch_new(&scratch), GBOSE_OK);
        for (int t = 0; t < 2000; t++) {
            draw_logged(&l, UNIFORM, t, &rng);
            learn_logged(g, scratch, &l);
        }
        for (int t = 0; t < 400; t++) {
            double best = -INFINITY, played = 0;
            gbose_decision d;

            draw_logged(&l, UNIFORM, t, &rng);
            assert_int_equal(gbose_decide(g, &d, l.contexts, l.n), GBOSE_OK);
            for (size_t i = 0; i < l.n; i++) {
                double mean = 0;

                for (size_t k = 0; k < DIM; k++)
                    mean += truth[k] * l.contexts[i * DIM + k];
                best = fmax(best, mean);
                if (i == d.arm)
                    played = mean;
            }
            right += played == best;
        }
        assert_that(right > 220, "%s played the best arm in %zu of 400", specs[s],
                    right); /* by chance: 128 */
        gbose_scratch_free(scratch);
        gbose_free(g);
    }
}

/* ---- refusals ---- */

static void wrong_probabilities_are_refused(void **state)
{
    static const struct {
        double pmf[3];
        size_t arm;
        int code;
    } cases[] = {
        {{0.5, 0.5, 0}, 0, GBOSE_OK},
        {{0.5, 0.5, 0}, 2, GBOSE_EPMF},
        {{0.5, 0.4, 0}, 0, GBOSE_EPMF},
        {{0.5, 0.6, 0}, 0, GBOSE_EPMF},
        {{1.5, -0.5, 0}, 0, GBOSE_EPMF},
        {{NAN, 0.5, 0.5}, 1, GBOSE_EPMF},
        {{0.5, NAN, 0.5}, 0, GBOSE_EPMF},
        {{INFINITY, 0, 0}, 0, GBOSE_EPMF},
        {{0, 0, 0}, 0, GBOSE_EPMF},
        {{0.2, 0.3, 0.5}, 3, GBOSE_EINVAL},
        {{0.2, 0.3, 0.5 + 1e-12}, 2, GBOSE_OK},
    };
    double contexts[3 * DIM] = {1, 2, 3};
    gbose_input in = {contexts, 3, NULL}, none = {NULL, 3, NULL}, empty = {contexts, 0, NULL};
    gbose *g = new_player("gbose", DIM), *knows = new_player("gbose-auto:round=2", DIM);
    gbose_scratch *scratch = NULL;
    const void *ticket = NULL;
    size_t size = 77;

    (void)state;
    assert_int_equal(gbose_scratch_new(&scratch), GBOSE_OK);
    for (size_t i = 0; i < COUNT(cases); i++) {
        ticket = NULL;
        size = 77;
        assert_int_equal(gbose_ticket_for(g, scratch, &ticket, &size, &in, cases[i].pmf, cases[i].arm),
                         cases[i].code);
        if (cases[i].code)
            assert_true(!ticket && size == 77);
    }
    assert_int_equal(gbose_ticket_for(NULL, scratch, &ticket, &size, &in, cases[0].pmf, 0), GBOSE_EINVAL);
    assert_int_equal(gbose_ticket_for(g, NULL, &ticket, &size, &in, cases[0].pmf, 0), GBOSE_EINVAL);
    assert_int_equal(gbose_ticket_for(g, scratch, NULL, &size, &in, cases[0].pmf, 0), GBOSE_EINVAL);
    assert_int_equal(gbose_ticket_for(g, scratch, &ticket, NULL, &in, cases[0].pmf, 0), GBOSE_EINVAL);
    assert_int_equal(gbose_ticket_for(g, scratch, &ticket, &size, NULL, cases[0].pmf, 0), GBOSE_EINVAL);
    assert_int_equal(gbose_ticket_for(g, scratch, &ticket, &size, &none, cases[0].pmf, 0), GBOSE_EINVAL);
    assert_int_equal(gbose_ticket_for(g, scratch, &ticket, &size, &empty, cases[0].pmf, 0), GBOSE_EINVAL);
    assert_int_equal(gbose_ticket_for(g, scratch, &ticket, &size, &in, NULL, 0), GBOSE_EINVAL);
    assert_int_equal(gbose_ticket_for(knows, scratch, &ticket, &size, &in, cases[0].pmf, 0), GBOSE_EINVAL);
    contexts[3 * DIM - 1] = NAN;
    assert_int_equal(gbose_ticket_for(g, scratch, &ticket, &size, &in, cases[0].pmf, 0), GBOSE_ENUMERIC);
    gbose_scratch_free(scratch);
    gbose_free(g);
    gbose_free(knows);
}

/* ---- reading ---- */

static void check_reading(const char *spec)
{
    gbose *g = new_player(spec, DIM);
    struct random rng = {109};
    gbose_ticket_info info;

    assert_int_equal(gbose_stream(g, 4000000000u), GBOSE_OK);
    for (uint64_t t = 0; t < 20; t++) {
        struct arms arms;
        gbose_decision d;
        struct bytes ticket;

        random_arms(&arms, DIM, &rng);
        assert_int_equal(decide_arms(g, &d, arms.context, arms.n), GBOSE_OK);
        assert_int_equal(gbose_ticket_read(&info, d.ticket, d.ticket_size), GBOSE_OK);
        assert_true(info.fingerprint == g->fingerprint && info.number == t && info.stream == 4000000000u);
        assert_true(info.dim == DIM && info.n_arms == arms.n && info.arm == d.arm);
        assert_true(info.probability == d.probability);

        ticket = bytes_copy(d.ticket, d.ticket_size);
        memset(&info, 0x5a, sizeof info);
        for (size_t n = 0; n < ticket.size; n++) /* truncated, then changed */
            assert_int_equal(gbose_ticket_read(&info, ticket.at, n), GBOSE_ETICKET);
        for (size_t i = 0; i < ticket.size; i++) {
            ticket.at[i] ^= 0x10;
            assert_int_equal(gbose_ticket_read(&info, ticket.at, ticket.size),
                             i == TICKET_VERSION ? GBOSE_EVERSION : GBOSE_ETICKET);
            ticket.at[i] ^= 0x10;
        }
        for (size_t i = 0; i < sizeof info; i++)
            assert_int_equal(((unsigned char *)&info)[i], 0x5a);
        bytes_free(&ticket);
    }
    assert_int_equal(gbose_ticket_read(NULL, "", 0), GBOSE_EINVAL);
    assert_int_equal(gbose_ticket_read(&info, NULL, 0), GBOSE_EINVAL);
    gbose_free(g);
}

static void a_ticket_says_whose_it_is(void **state)
{
    (void)state;
    for_each_spec(check_reading, INTERCEPT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        spec_test(our_own_decision_gives_our_own_ticket),
        cmocka_unit_test(a_log_is_learned_as_the_definition_says),
        cmocka_unit_test(a_certain_arm_teaches_what_lone_says),
        cmocka_unit_test(a_log_is_learned_without_bias),
        cmocka_unit_test(a_learner_starts_warm),
        cmocka_unit_test(wrong_probabilities_are_refused),
        spec_test(a_ticket_says_whose_it_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
