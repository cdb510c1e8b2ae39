/* gbose-auto and the units of features: powers of two change nothing, to the last bit; the units that are found,
 * and what is known in them, against their definition (learners/gauge.h) computed anew in the caller's units. */
#include "support/dense.h"
#include "support/players.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "learners/gauge.h"
#include "learners/learner.h"

enum { DIM = 9, MORE = 11, ARMS = 6, ROUND = 2, MOST_DELAY = 40 };

/* ---- rounds ---- */

/* Features of every kind: 0 to 2 dense and normal; 3 log-normal, with outliers; 4 constant; 5 that of the user,
 * the same for all arms; 6 mostly zero; 7 the arm's own, which hardly changes; 8 and those that come later: not zero from round 300 on,
 * then rarely different. */
static void show(double *contexts, size_t dim, size_t n, int t, struct random *rng)
{
    double user = 3 + random_normal(rng), late = random_normal(rng);
    size_t mark = random_below(rng, n), odd = random_below(rng, n);

    for (size_t i = 0; i < n; i++) {
        double *b = contexts + i * dim;

        for (size_t j = 0; j < 3; j++)
            b[j] = (double)(1 + j) * random_normal(rng);
        b[3] = exp(2 * random_normal(rng)) * (random_below(rng, 50) ? 1 : 1000);
        b[4] = 7;
        b[5] = user;
        b[6] = random_below(rng, 5) ? 0 : random_normal(rng);
        b[7] = i == mark ? 0.3 + 0.01 * late : 0;
        for (size_t j = 8; j < dim; j++)
            b[j] = t < 300 ? 0 : late + (i == odd && t % 3 == 0);
    }
}

static double reward_of(const double *b, int t, struct random *rng)
{
    return 0.7 * b[0] - 0.3 * b[1] + b[7] + 0.5 * b[5] + sin(0.01 * t) + 0.2 * random_normal(rng);
}

/* ---- twins: the second one meets other units ---- */

struct late {
    int due;
    struct pending {
        unsigned char *ticket[2];
        size_t size;
        double reward;
    } outcome;
};

struct twins {
    gbose *g[2];
    int shift[MORE]; /* features of the second are 2^shift times as large */
    int round_shift, reward_shift;
    struct late late[MOST_DELAY + 1];
    struct random rng;
};

static unsigned char *copy_of(const void *bytes, size_t size)
{
    unsigned char *copy = malloc(size);

    assert_non_null(copy);
    memcpy(copy, bytes, size);
    return copy;
}

static void twins_begin(struct twins *w, const char *spec, uint64_t seed)
{
    memset(w, 0, sizeof *w);
    w->rng.state = seed;
    for (int k = 0; k < 2; k++)
        w->g[k] = new_player(spec, DIM);
    for (size_t j = 0; j < MORE; j++)
        w->shift[j] = (int)random_below(&w->rng, 41) - 20;
    w->round_shift = 11;
    w->reward_shift = (int)random_below(&w->rng, 121) - 60;
}

static void twins_end(struct twins *w)
{
    for (size_t i = 0; i <= MOST_DELAY; i++)
        for (int k = 0; k < 2; k++)
            free(w->late[i].outcome.ticket[k]);
    gbose_free(w->g[0]);
    gbose_free(w->g[1]);
}

static void learn_pending(struct twins *w, struct pending *o)
{
    for (int k = 0; k < 2; k++) {
        assert_int_equal(gbose_learn(w->g[k], o->ticket[k], o->size, ldexp(o->reward, k * w->reward_shift)),
                         GBOSE_OK);
        free(o->ticket[k]);
        o->ticket[k] = NULL;
    }
}

/* A round; its reward is learned `delay` rounds later, unless the place is taken. */
static void twins_play(struct twins *w, int t, int delay)
{
    size_t dim = gbose_dim(w->g[0]), n = 1 + random_below(&w->rng, ARMS);
    double contexts[2][ARMS * MORE], round[2][ROUND];
    struct late *late = &w->late[(t + delay) % (MOST_DELAY + 1)];
    struct pending now = {{NULL, NULL}, 0, 0};
    gbose_decision d[2];

    show(contexts[0], dim, n, t, &w->rng);
    for (size_t i = 0; i < n * dim; i++)
        contexts[1][i] = ldexp(contexts[0][i], w->shift[i % dim]);
    for (size_t i = 0; i < ROUND; i++) {
        round[0][i] = random_normal(&w->rng);
        round[1][i] = ldexp(round[0][i], w->round_shift);
    }
    for (int k = 0; k < 2; k++) {
        assert_int_equal(gbose_decide_in(w->g[k], &d[k], contexts[k], n, round[k]), GBOSE_OK);
        now.ticket[k] = copy_of(d[k].ticket, d[k].ticket_size);
    }
    assert_int_equal(d[0].arm, d[1].arm);
    assert_that(!memcmp(d[0].pmf, d[1].pmf, n * sizeof(double)), "round %d", t);
    now.size = d[0].ticket_size;
    now.reward = reward_of(contexts[0] + d[0].arm * dim, t, &w->rng);
    if (late->outcome.size)
        learn_pending(w, &now);
    else
        *late = (struct late){t + delay, now};
    late = &w->late[t % (MOST_DELAY + 1)];
    if (late->outcome.size && late->due == t) {
        learn_pending(w, &late->outcome);
        late->outcome.size = 0;
    }
}

static void assert_same_number(double a, double b)
{
    assert_that(!memcmp(&a, &b, sizeof a) || a == b, "%.17g is not %.17g", a, b);
}

/* What they say of themselves, in their units. */
static void twins_compare(struct twins *w)
{
    static const char *const names[] = {"orthogonal", "full"};
    size_t dim = gbose_dim(w->g[0]);
    double x[2][MORE];
    gbose_diagnosis d[2];

    for (size_t i = 0; i < COUNT(names); i++) {
        const double *a = gbose_coef_of(w->g[0], names[i]), *b = gbose_coef_of(w->g[1], names[i]);

        assert_true(!a == !b);
        for (size_t j = 0; a && j < dim; j++)
            assert_same_number(ldexp(a[j], w->reward_shift - w->shift[j]), b[j]);
        if (a && i == 1)
            assert_true(a[0] > 0.05 && a[1] < -0.02); /* it has learned */
    }
    for (int probe = 0; probe < 10; probe++) {
        double estimate[2], lower[2], upper[2];
        int rc[2];

        for (size_t j = 0; j < dim; j++) {
            x[0][j] = random_normal(&w->rng);
            x[1][j] = ldexp(x[0][j], w->shift[j]);
        }
        assert_same_number(gbose_width(w->g[0], x[0]), gbose_width(w->g[1], x[1]));
        for (int k = 0; k < 2; k++) {
            x[k][4] = x[k][5] = 0; /* no coin ever shows these */
            rc[k] = gbose_effect(w->g[k], x[k], 0.9, &estimate[k], &lower[k], &upper[k]);
        }
        assert_int_equal(rc[0], rc[1]);
        if (!rc[0]) {
            assert_same_number(ldexp(estimate[0], w->reward_shift), estimate[1]);
            assert_same_number(ldexp(lower[0], w->reward_shift), lower[1]);
            assert_same_number(ldexp(upper[0], w->reward_shift), upper[1]);
        }
    }
    for (int k = 0; k < 2; k++)
        assert_int_equal(gbose_diagnose(w->g[k], &d[k]), GBOSE_OK);
    assert_same_number(d[0].p_value, d[1].p_value);
    assert_same_number(d[0].removed, d[1].removed);
    assert_same_number(ldexp(d[0].bias, w->reward_shift), d[1].bias);
    assert_same_number(ldexp(d[0].baseline, w->reward_shift), d[1].baseline);
    assert_string_equal(d[0].tracker, d[1].tracker);
    assert_string_equal(d[0].advice, d[1].advice);
}

static void twins_reload(struct twins *w)
{
    for (int k = 0; k < 2; k++) {
        struct bytes bytes = saved(w->g[k]);

        gbose_free(w->g[k]);
        assert_int_equal(gbose_load(&w->g[k], bytes.at, bytes.size, NULL), GBOSE_OK);
        bytes_free(&bytes);
    }
}

static void twins_grow(struct twins *w)
{
    for (int k = 0; k < 2; k++) {
        gbose *grown;

        assert_int_equal(gbose_grow(&grown, w->g[k], MORE, NULL), GBOSE_OK);
        gbose_free(w->g[k]);
        w->g[k] = grown;
    }
    for (size_t i = 0; i <= MOST_DELAY; i++) { /* what was under way has fewer features */
        for (int k = 0; k < 2; k++)
            free(w->late[i].outcome.ticket[k]);
        memset(&w->late[i], 0, sizeof w->late[i]);
    }
}

static const char *const specs[] = {
    "gbose-auto:lambda=0.7,seed=11,round=2",
    "gbose-auto:lambda=2.5,seed=12,round=2,baseline=simple",
    "gbose-auto:lambda=0.7,seed=13,round=2,safe=1",
    "gbose-auto:lambda=0.7,seed=14,round=2,forget=0.98",
    "gbose-auto:lambda=0.7,seed=15,round=2,floor=0.2",
};

static void powers_of_two_change_nothing(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT(specs); s++)
        for (int delayed = 0; delayed < 2; delayed++) {
            struct twins w;

            twins_begin(&w, specs[s], 100 + s);
            for (int t = 0; t < 1500; t++) {
                twins_play(&w, t, delayed ? (int)random_below(&w.rng, MOST_DELAY) : 0);
                if (t == 400 || t == 411)
                    twins_reload(&w);
                if (t == 700)
                    twins_grow(&w);
            }
            twins_compare(&w);
            twins_end(&w);
        }
}

/* Two pairs of twins that go on from one saved state and see other rounds are merged, and go on. */
static void powers_of_two_change_nothing_in_a_merge(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT(specs); s++) {
        struct twins w, other;

        twins_begin(&w, specs[s], 200 + s);
        for (int t = 0; t < 100; t++)
            twins_play(&w, t, 0);
        twins_reload(&w);
        other = w;
        for (int k = 0; k < 2; k++) {
            struct bytes bytes = saved(w.g[k]);

            assert_int_equal(gbose_load(&other.g[k], bytes.at, bytes.size, NULL), GBOSE_OK);
            bytes_free(&bytes);
        }
        other.rng.state = 77;
        for (int t = 100; t < 500; t++) {
            twins_play(&w, t, 0);
            twins_play(&other, t + 60, 0);
        }
        for (int k = 0; k < 2; k++)
            assert_int_equal(gbose_merge(w.g[k], other.g[k]), GBOSE_OK);
        for (int t = 500; t < 900; t++)
            twins_play(&w, t, 0);
        twins_compare(&w);
        twins_end(&other);
        twins_end(&w);
    }
}

/* ---- the definition ---- */

/* What rounds say of features, and of the distance of arms (the last one); and the orthogonal regression. */
struct mirror {
    long ranges[DIM + 1], range_sum[DIM + 1], sizes[DIM + 1], size_sum[DIM + 1], gaps[DIM + 1],
        gap_sum[DIM + 1], exponent[DIM + 1];
    long count[DIM + 1][2 * GBOSE__GAUGE_MOST + 1]; /* of ranges, by their exponents */
    long double total[DIM];                         /* of all contexts on offer in the rounds learned */
    long learned;
    struct dense evidence; /* in the caller's units; its prior is filled in before it is solved */
};

/* A decision: the learner's ticket, and what the definition makes of it. */
struct taken {
    unsigned char *ticket;
    size_t size;
    long said[DIM + 1];
    int is_range[DIM + 1], is_said[DIM + 1], says_gap[DIM + 1];
    long gap[DIM + 1];
    long double sum[DIM], range[DIM]; /* over the arms */
    long double x[DIM];               /* b_a - sum pmf_i b_i */
    double weight, offset;
};

#define LAMBDA 0.7
static const char spec_alone[] = "gbose-auto:safe=1,lambda=0.7";

static void mirror_begin(struct mirror *m)
{
    memset(m, 0, sizeof *m);
    dense_init(&m->evidence, DIM, LAMBDA, 1);
}

/* A feature that has none counts as it is. */
static long double unit_of(const struct mirror *m, size_t j)
{
    if (!m->ranges[j] && !m->sizes[j])
        return 1;
    return ldexpl(1, (int)(m->exponent[j] + m->exponent[DIM]));
}

/* The unit in this round: a feature that has none takes the round's. */
static long double unit_now(const struct mirror *m, const struct taken *t, size_t j)
{
    if (m->ranges[j] || m->sizes[j])
        return unit_of(m, j);
    return t->is_said[j] ? ldexpl(1, (int)(t->said[j] + m->exponent[DIM])) : 1;
}

/* As many bits as said on average, and one, if they are more than one and a quarter; three rounds more count as none. */
static long gap_of(const struct mirror *m, size_t j)
{
    long double mean = (long double)m->gap_sum[j] / (long double)(m->gaps[j] + 3);

    return mean > 1.25L ? (long)floorl(mean) + 1 : 0;
}

/* The scatter, if ranges of features with a gap count by the gap less: as for a feature that all arms but one share. */
static long double less_gaps(const struct mirror *m, const struct taken *t, long double scatter, size_t n)
{
    long double left = 0;

    for (size_t j = 0; j < DIM; j++)
        if (gap_of(m, j)) {
            long double range = t->range[j] / unit_now(m, t, j),
                        square = (1 - 1 / (long double)n) * range * range;

            scatter -= square;
            left += ldexpl(square, -2 * (int)gap_of(m, j));
        }
    return fmaxl(scatter, 0) + left;
}

/* The mean, over all pairs of arms, of the squared distance, over half the number of arms. */
static long double mean_square(const struct mirror *m, const struct taken *t, const double *b, size_t n)
{
    long double sum = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++)
            for (size_t j = 0; j < DIM; j++) {
                long double z = ((long double)b[i * DIM + j] - b[k * DIM + j]) / unit_now(m, t, j);

                sum += z * z;
            }
    return less_gaps(m, t, sum / (long double)n, n) * 2 / (long double)(n * (n - 1) / 2);
}

/* Units that rest on one or two rounds are not good enough for the distance. */
static int is_unsettled(const struct mirror *m)
{
    long most = 0;

    for (size_t j = 0; j < DIM; j++)
        most = m->ranges[j] > most ? m->ranges[j] : most;
    return most == 1 || most == 2;
}

/* Does a round that is decided now say anything? All before the 1,024th do, and then one in eight, and those in which a feature
 * without a unit is not zero. */
static int says(const struct mirror *m, const double *b, size_t n)
{
    int any = 0;

    for (size_t i = 0; i < n * DIM; i++)
        any |= b[i] != 0 && !m->ranges[i % DIM] && !m->sizes[i % DIM];
    return any || m->learned < 1024 || gbose__mix(0, (uint64_t)m->learned) % 8 == 0;
}

/* By how many bits the sum over the arms is nearer to its mean than the range. */
static void hear_gap(const struct mirror *m, struct taken *t, size_t j, long double range)
{
    long double change;

    if (!m->learned)
        return;
    change = fabsl(t->sum[j] - m->total[j] / (long double)m->learned);
    t->says_gap[j] = 1;
    t->gap[j] = change > 1e-12L * range ? (long)fmaxl(0, fminl(6, ceill(log2l(range / change)) - 1)) : 0;
}

static void mirror_hear(const struct mirror *m, struct taken *t, const double *b, size_t n)
{
    int any = 0, silent = !says(m, b, n);

    memset(t->is_said, 0, sizeof t->is_said);
    memset(t->says_gap, 0, sizeof t->says_gap);
    memset(t->sum, 0, sizeof t->sum);
    for (size_t j = 0; j < DIM; j++) {
        double least = INFINITY, most = -INFINITY, size;

        for (size_t i = 0; i < n; i++) {
            least = fmin(least, b[i * DIM + j]);
            most = fmax(most, b[i * DIM + j]);
            t->sum[j] += b[i * DIM + j];
        }
        size = fmax(most, -least);
        t->range[j] = (long double)most - least;
        t->is_range[j] = most - least > 1e-12 * size;
        t->is_said[j] = size > 0 && !silent;
        if (t->is_said[j])
            t->said[j] = lround(log2(t->is_range[j] ? most - least : size));
        any |= t->is_range[j] && !silent;
        if (t->is_range[j] && !silent && (m->ranges[j] || m->sizes[j]))
            hear_gap(m, t, j, (long double)most - least);
    }
    t->is_range[DIM] = t->is_said[DIM] = any && !is_unsettled(m);
    if (t->is_said[DIM])
        t->said[DIM] = lround((double)log2l(mean_square(m, t, b, n)) / 2) + m->exponent[DIM];
}

/* The exponent of what a feature differs by where it differs much, of which the small ranges are told apart down to 6 bits
 * below the largest. */
static long large_range(const struct mirror *m, size_t j)
{
    long double n = (long double)m->ranges[j], squares = 0, mean = 0, variance = 0;
    int largest = GBOSE__GAUGE_MOST;

    while (!m->count[j][largest + GBOSE__GAUGE_MOST])
        largest--;
    for (int e = -GBOSE__GAUGE_MOST; e <= largest; e++) {
        long double share = (long double)m->count[j][e + GBOSE__GAUGE_MOST] / n;

        mean += share * (e > largest - 6 ? e : largest - 6);
        squares += e > largest - 6 ? ldexpl(share, 2 * e) : 0;
    }
    for (int e = -GBOSE__GAUGE_MOST; e <= largest; e++) {
        long double off = (e > largest - 6 ? e : largest - 6) - mean;

        variance += (long double)m->count[j][e + GBOSE__GAUGE_MOST] / n * off * off;
    }
    return (long)floorl(fmaxl(log2l(squares) / 2, mean + sqrtl(variance)) + 0.5L);
}

static void renew(struct mirror *m, size_t j)
{
    if (m->ranges[j] && j == DIM)
        m->exponent[j] = (long)floorl((long double)m->range_sum[j] / (long double)m->ranges[j] + 0.5L);
    else if (m->ranges[j])
        m->exponent[j] = large_range(m, j) - gap_of(m, j);
    else if (m->sizes[j])
        m->exponent[j] = lround(floor((double)m->size_sum[j] / (double)m->sizes[j] + 0.5));
}

static void mirror_learn(struct mirror *m, const struct taken *t, double reward)
{
    for (size_t j = 0; j <= DIM; j++) {
        long *count = t->is_range[j] ? &m->ranges[j] : &m->sizes[j];

        if (!t->is_said[j])
            continue;
        *(t->is_range[j] ? &m->range_sum[j] : &m->size_sum[j]) += t->said[j];
        if (t->is_range[j])
            m->count[j][t->said[j] + GBOSE__GAUGE_MOST]++;
        *count += 1;
        m->gaps[j] += t->says_gap[j];
        m->gap_sum[j] += t->says_gap[j] ? t->gap[j] : 0;
        renew(m, j);
    }
    for (size_t j = 0; j < DIM; j++)
        m->total[j] += t->sum[j];
    m->learned++;
    dense_add(&m->evidence, t->weight, (long double)t->weight * ((long double)reward - t->offset), t->x);
}

static void mirror_compare(struct mirror *m, const gbose *g, double tolerance)
{
    struct random rng = {5};
    long double most = 0;

    for (size_t j = 0; j <= DIM; j++)
        assert_int_equal(g->gauge->unit[j].exponent, m->exponent[j]);
    for (size_t j = 0; j < DIM; j++)
        m->evidence.prior[j] = LAMBDA * unit_of(m, j) * unit_of(m, j);
    dense_solve(&m->evidence);
    for (size_t j = 0; j < DIM; j++)
        most = fmaxl(most, fabsl(m->evidence.mu[j] * unit_of(m, j)));
    for (size_t j = 0; j < DIM; j++)
        assert_near(gbose_coef(g)[j] * unit_of(m, j), m->evidence.mu[j] * unit_of(m, j), tolerance * most);
    for (int probe = 0; probe < 10; probe++) {
        double x[DIM];

        for (size_t j = 0; j < DIM; j++)
            x[j] = random_normal(&rng) * (double)unit_of(m, j);
        assert_close(gbose_width(g, x), dense_width(&m->evidence, x, DIM), tolerance);
    }
}

/* A decision of somebody who draws from a law of their own. Weight and offset are what the learner makes of its
 * residuals and its baseline: they are read from the ticket (learners/auto/note.h). */
static double take(gbose *g, const struct mirror *m, struct taken *t, gbose_scratch *scratch, int round,
                   const double *factor, struct random *rng)
{
    size_t n = 1 + random_below(rng, ARMS), arm = random_below(rng, n);
    double b[ARMS * DIM], pmf[ARMS], sum = 0;
    gbose_input in = {b, n, NULL};
    struct gbose__reader r;
    const void *ticket;

    show(b, DIM, n, round, rng);
    for (size_t i = 0; i < n * DIM; i++)
        b[i] *= factor[i % DIM];
    for (size_t i = 0; i < n; i++)
        sum += pmf[i] = 0.1 + random_uniform(rng);
    for (size_t i = 0; i < n; i++)
        pmf[i] /= sum;
    assert_int_equal(gbose_ticket_for(g, scratch, &ticket, &t->size, &in, pmf, arm), GBOSE_OK);
    t->ticket = copy_of(ticket, t->size);
    r = (struct gbose__reader){t->ticket + TICKET_NUMBERS, t->size - TICKET_NUMBERS, 0};
    if (n > 1)
        assert_true(gbose__get_double(&r) == pmf[arm]);
    else
        gbose__get_double(&r);
    t->weight = gbose__get_double(&r);
    t->offset = gbose__get_double(&r);
    gbose__get_double(&r);
    gbose__get_double(&r);
    t->offset += gbose__get_double(&r);
    for (size_t j = 0; j < DIM; j++) {
        t->x[j] = 0;
        for (size_t i = 0; i < n; i++)
            t->x[j] += (long double)pmf[i] * ((long double)b[arm * DIM + j] - b[i * DIM + j]);
    }
    mirror_hear(m, t, b, n);
    return reward_of(b + arm * DIM, round, rng);
}

static void learn_taken(gbose *g, struct mirror *m, const struct taken *t, double reward)
{
    assert_int_equal(gbose_learn(g, t->ticket, t->size, reward), GBOSE_OK);
    mirror_learn(m, t, reward);
}

static const double sizes[2][DIM] = {{1, 1000, 1e-3, 7, 1e6, 3e-5, 1, 1e-6, 50},
                                     {1, 10, 1, 1e-3, 1, 1, 300, 1e4, 0.02}};

static void units_are_as_defined(void **state)
{
    gbose *g = new_player(spec_alone, DIM);
    gbose_scratch *scratch = NULL;
    struct random rng = {41};
    struct mirror m;

    (void)state;
    assert_int_equal(gbose_scratch_new(&scratch), GBOSE_OK);
    mirror_begin(&m);
    for (int t = 0; t < 1600; t++) {
        struct taken now;
        double reward = take(g, &m, &now, scratch, t, sizes[0], &rng);

        learn_taken(g, &m, &now, reward);
        free(now.ticket);
        if (t % 50 == 49 || t < 10)
            mirror_compare(&m, g, 1e-7);
    }
    assert_true(g->gauge->unit[7].gap > 0 && g->gauge->unit[0].gap == 0);
    dense_clear(&m.evidence);
    gbose_scratch_free(scratch);
    gbose_free(g);
}

static void tickets_may_come_in_any_order(void **state)
{
    enum { TICKETS = 500 };
    gbose *g = new_player(spec_alone, DIM), *back = new_player(spec_alone, DIM);
    static struct taken taken[TICKETS];
    static double reward[TICKETS];
    gbose_scratch *scratch = NULL;
    struct random rng = {42};
    struct mirror m, n;

    (void)state;
    assert_int_equal(gbose_scratch_new(&scratch), GBOSE_OK);
    mirror_begin(&m);
    mirror_begin(&n);
    for (int t = 0; t < TICKETS; t++)
        reward[t] = take(g, &m, &taken[t], scratch, t, sizes[1], &rng);
    for (int t = 0; t < TICKETS; t++)
        learn_taken(g, &m, &taken[t], reward[t]);
    for (int t = TICKETS; t-- > 0;) {
        learn_taken(back, &n, &taken[t], reward[t]);
        free(taken[t].ticket);
    }
    mirror_compare(&m, g, 1e-7);
    mirror_compare(&n, back, 1e-7);
    for (size_t j = 0; j <= DIM; j++)
        assert_int_equal(m.exponent[j], n.exponent[j]);
    dense_clear(&m.evidence);
    dense_clear(&n.evidence);
    gbose_scratch_free(scratch);
    gbose_free(g);
    gbose_free(back);
}

/* Tickets of later rounds, most of which say nothing of units, are learned first, by a learner that has no units yet. */
static void silent_tickets_may_come_first(void **state)
{
    enum { TICKETS = 1300 };
    gbose *g = new_player(spec_alone, DIM), *back = new_player(spec_alone, DIM);
    static struct taken taken[TICKETS];
    static double reward[TICKETS];
    gbose_scratch *scratch = NULL;
    struct random rng = {44};
    struct mirror m, n;

    (void)state;
    assert_int_equal(gbose_scratch_new(&scratch), GBOSE_OK);
    mirror_begin(&m);
    mirror_begin(&n);
    for (int t = 0; t < TICKETS; t++) {
        reward[t] = take(g, &m, &taken[t], scratch, t, sizes[1], &rng);
        learn_taken(g, &m, &taken[t], reward[t]);
    }
    assert_false(taken[TICKETS - 1].is_said[0]);
    for (int t = TICKETS; t-- > 0;) {
        learn_taken(back, &n, &taken[t], reward[t]);
        free(taken[t].ticket);
    }
    mirror_compare(&n, back, 1e-6);
    for (size_t j = 0; j <= DIM; j++)
        assert_int_equal(m.exponent[j], n.exponent[j]);
    dense_clear(&m.evidence);
    dense_clear(&n.evidence);
    gbose_scratch_free(scratch);
    gbose_free(g);
    gbose_free(back);
}

/* Two learners that met features in very different sizes, with a past in common: as if one had met all. */
static void learners_of_different_units_are_merged(void **state)
{
    gbose *g[2] = {new_player(spec_alone, DIM), NULL};
    gbose_scratch *scratch = NULL;
    struct random rng = {43};
    struct mirror m, sum;
    struct bytes bytes;

    (void)state;
    assert_int_equal(gbose_scratch_new(&scratch), GBOSE_OK);
    mirror_begin(&m);
    mirror_begin(&sum);
    for (int t = 0; t < 700; t++) {
        int who = t < 100 ? 0 : t % 2;
        struct taken now;
        double reward;

        if (t ==
            100) { /* the mirror only says what the second one's tickets say from now on: ranges in units */
            bytes = saved(g[0]);
            gbose_free(g[0]);
            for (int k = 0; k < 2; k++)
                assert_int_equal(gbose_load(&g[k], bytes.at, bytes.size, NULL), GBOSE_OK);
            bytes_free(&bytes);
        }
        for (size_t j = 0; j <= DIM; j++) { /* the units in which the one who decides meets the round */
            const struct gbose__unit *unit = &g[who]->gauge->unit[j];

            m.ranges[j] = unit->ranges;
            m.sizes[j] = unit->sizes;
            m.exponent[j] = unit->exponent;
            m.gaps[j] = unit->gaps;
            m.gap_sum[j] = unit->gap_sum;
            if (j < DIM)
                m.total[j] = (long double)g[who]->totals[j] * g[who]->gauge->up[j];
        }
        m.learned = (long)gbose_rounds(g[who]);
        reward = take(g[who], &m, &now, scratch, t, sizes[who], &rng);
        assert_int_equal(gbose_learn(g[who], now.ticket, now.size, reward), GBOSE_OK);
        mirror_learn(&sum, &now, reward);
        free(now.ticket);
    }
    assert_true(g[0]->gauge->unit[7].exponent < g[1]->gauge->unit[7].exponent - 20);
    assert_int_equal(gbose_merge(g[0], g[1]), GBOSE_OK);
    mirror_compare(&sum, g[0], 1e-3);
    dense_clear(&m.evidence);
    dense_clear(&sum.evidence);
    gbose_scratch_free(scratch);
    gbose_free(g[0]);
    gbose_free(g[1]);
}

/* ---- what must not matter much ---- */

/* Tickets of another version are named as such. */
static void tickets_without_units_are_of_another_version(void **state)
{
    gbose *g = new_player("gbose-auto", DIM);
    double b[2 * DIM] = {1, 2, 3};
    gbose_decision d;
    unsigned char *old;

    (void)state;
    assert_int_equal(gbose_decide(g, &d, b, 2), GBOSE_OK);
    old = copy_of(d.ticket, d.ticket_size);
    old[TICKET_VERSION] = '2';
    reseal(&(struct bytes){old, d.ticket_size});
    assert_int_equal(gbose_learn(g, old, d.ticket_size, 1), GBOSE_EVERSION);
    assert_int_equal(gbose_rounds(g), 0);
    free(old);
    gbose_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(powers_of_two_change_nothing),
        cmocka_unit_test(powers_of_two_change_nothing_in_a_merge),
        cmocka_unit_test(units_are_as_defined),
        cmocka_unit_test(tickets_may_come_in_any_order),
        cmocka_unit_test(silent_tickets_may_come_first),
        cmocka_unit_test(learners_of_different_units_are_merged),
        cmocka_unit_test(tickets_without_units_are_of_another_version),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
