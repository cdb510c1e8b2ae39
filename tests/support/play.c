#include "support/play.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "learners/learner.h"
#include "learners/survivors.h"
#include "support/check.h"

/* Two sides of a comparison that differ by less than this may be decided by rounding. */
#define BORDER 1e-10L

static void append(char *spec, size_t size, const char *name, double value)
{
    size_t used = strlen(spec);

    snprintf(spec + used, size - used, "%c%s=%.17g", strchr(spec, ':') ? ',' : ':', name, value);
}

static void append_word(char *spec, size_t size, const char *name, const char *word)
{
    size_t used = strlen(spec);

    snprintf(spec + used, size - used, "%c%s=%s", strchr(spec, ':') ? ',' : ':', name, word);
}

static void write_spec(char *spec, size_t size, const struct game *game, const struct setup *set)
{
    snprintf(spec, size, "%s", game->name);
    if (set->gamma_word)
        append_word(spec, size, "gamma", set->gamma_word);
    else if (set->gamma > 0)
        append(spec, size, "gamma", set->gamma);
    if (set->lambda_word)
        append_word(spec, size, "lambda", set->lambda_word);
    else if (set->lambda > 0)
        append(spec, size, "lambda", set->lambda);
    if (set->delta > 0)
        append(spec, size, "delta", set->delta);
    if (set->horizon)
        append(spec, size, "horizon", (double)set->horizon);
    if (set->epsilon > 0)
        append(spec, size, "epsilon", set->epsilon);
    if (set->p_min > 0)
        append(spec, size, "p_min", set->p_min);
    if (set->p_max > 0)
        append(spec, size, "p_max", set->p_max);
    if (set->forget > 0)
        append(spec, size, "forget", set->forget);
    if (set->draws)
        append(spec, size, "draws", (double)set->draws);
    if (set->intercept)
        append(spec, size, "intercept", 1);
    if (set->no_intercept)
        append(spec, size, "intercept", 0);
    if (set->half)
        append_word(spec, size, "lone", "half");
    append(spec, size, "seed", (double)(set->seed + 11));
}

/* Coefficients and widths must be those of the oracle. */
static void compare(struct play *p)
{
    double x[64];

    assert_int_equal(gbose_rounds(p->g), p->round);
    assert_vectors_close(gbose_coef(p->g), p->model.mu, p->dim, 1e-10);
    if (p->game->linear && p->intercept)
        assert_near(p->g->fit[0].mu[p->dim], p->model.mu[p->dim], 1e-10);
    for (int probe = 0; probe < 3; probe++) {
        for (size_t k = 0; k < p->dim; k++)
            x[k] = random_normal(&p->rng);
        assert_close(gbose_width(p->g, x), dense_width(&p->model, x, p->dim), 1e-11);
    }
}

void play_begin(struct play *p, const struct game *game, const struct setup *set)
{
    gbose_error err;
    char spec[512];

    memset(p, 0, sizeof *p);
    p->game = game;
    p->set = *set;
    write_spec(spec, sizeof spec, game, set);
    p->dim = set->dim;
    if (gbose_new(&p->g, spec, p->dim, &err))
        fail_msg("%s: %s", spec, err.text);
    if (p->set.forget <= 0)
        p->set.forget = 1;
    if (p->set.lambda <= 0)
        p->set.lambda = 1;
    if (p->set.p_max <= 0)
        p->set.p_max = 1;
    if (!p->set.draws)
        p->set.draws = 1000;
    p->intercept = game->linear ? !set->no_intercept : set->intercept;
    dense_init(&p->model, p->dim + (game->linear && p->intercept), p->set.lambda, p->set.forget);
    dense_init(&p->level, p->dim + 1, 1, p->set.forget);
    p->rng.state = 977 * set->seed + 5;
    p->contexts = calloc(set->max_arms * p->dim, sizeof(double));
    p->pmf = calloc(set->max_arms, sizeof(double));
    for (size_t k = 0; k < p->dim; k++)
        p->truth[k] = random_normal(&p->rng) / sqrt((double)p->dim);
    compare(p); /* from zero observations on */
}

void play_end(struct play *p)
{
    gbose_free(p->g);
    dense_clear(&p->model);
    dense_clear(&p->level);
    free(p->contexts);
    free(p->pmf);
}

const double *play_context(const struct play *p, size_t arm)
{
    return p->contexts + arm * p->dim;
}

void play_decide(struct play *p, size_t n)
{
    double total = 0;

    p->n = n;
    random_contexts(&p->rng, p->contexts, n, p->dim);
    assert_int_equal(gbose_decide(p->g, &p->d, p->contexts, n), GBOSE_OK);
    assert_int_equal(p->d.n_arms, n);
    assert_true(p->d.arm < n);
    memcpy(p->pmf, p->d.pmf, n * sizeof(double));
    assert_true(p->d.probability == p->pmf[p->d.arm]);
    assert_true(p->d.probability > 0);
    for (size_t i = 0; i < n; i++) {
        assert_true(p->pmf[i] >= 0);
        total += p->pmf[i];
    }
    assert_near(total, 1, 1e-12);
}

/* B += x x', y += r x with x = (b_a, 1). */
static void learn_linear(struct play *p)
{
    long double x[65];

    for (size_t k = 0; k < p->dim; k++)
        x[k] = play_context(p, p->d.arm)[k];
    x[p->dim] = 1;
    dense_add(&p->model, 1, p->reward, x);
}

/* The same with x = b_a - sum pmf_i b_i and r less the baseline. */
static void learn_centred(struct play *p)
{
    long double x[64];

    play_centred(p, p->d.arm, x);
    dense_add(&p->model, 1, p->reward - p->baseline, x);
}

/* r = b_a'truth + v + noise; v moves with time and with the contexts, never with the arm. */
void play_reward(struct play *p)
{
    const double *b = play_context(p, p->d.arm);
    long double x[65];
    double v = 1.5 * sin((double)p->round / 9) + p->contexts[0];

    p->reward = v + 0.3 * random_normal(&p->rng);
    for (size_t k = 0; k < p->dim; k++)
        p->reward += b[k] * p->truth[k];
    assert_int_equal(gbose_learn(p->g, p->d.ticket, p->d.ticket_size, p->reward), GBOSE_OK);

    p->baseline = 0;
    if (!p->game->linear && p->intercept) {
        p->baseline = p->level.mu[p->dim]; /* of the past: this reward is not in it */
        for (size_t k = 0; k < p->dim; k++)
            x[k] = b[k];
        x[p->dim] = 1;
        dense_begin(&p->level);
        dense_add(&p->level, 1, p->reward, x);
        dense_solve(&p->level);
    }
    dense_begin(&p->model);
    if (p->game->learn)
        p->game->learn(p);
    else if (p->game->linear)
        learn_linear(p);
    else
        learn_centred(p);
    dense_solve(&p->model);
    p->round++;
}

static void all_rounds(struct play *p)
{
    for (size_t t = 0; t < p->set.rounds; t++) {
        play_decide(p, 1 + random_below(&p->rng, p->set.max_arms));
        p->game->law(p);
        play_reward(p);
        compare(p);
    }
}

void play_setups(const struct game *game, const struct setup *sets, size_t n, const char *kinds, size_t least)
{
    for (size_t i = 0; i < n; i++) {
        struct play p;

        play_begin(&p, game, &sets[i]);
        all_rounds(&p);
        /* the check must have checked: few rounds may be left to rounding, and each kind of round came up */
        assert_that(p.borderline * 100 <= p.round, "%s: %zu of %zu", gbose_spec(p.g), p.borderline, p.round);
        assert_that(!strchr(kinds, 'a') || p.alone >= least, "%s: %zu", gbose_spec(p.g), p.alone);
        assert_that(!strchr(kinds, 'p') || p.pair >= least, "%s: %zu", gbose_spec(p.g), p.pair);
        assert_that(!strchr(kinds, 'm') || p.more >= least, "%s: %zu", gbose_spec(p.g), p.more);
        assert_that(!strchr(kinds, 'r') || p.removed >= least, "%s: %zu", gbose_spec(p.g), p.removed);
        if (p.chi2.df > 0) /* all sampled rounds together, error probability 1e-6 */
            assert_that(stats_tail(&p.chi2) > 1e-6, "%s: chi-square %g, %g degrees of freedom",
                        gbose_spec(p.g), p.chi2.sum, p.chi2.df);
        play_end(&p);
    }
}

/* ---- definitions ---- */

static int same_context(const struct play *p, size_t i, size_t j)
{
    return !memcmp(play_context(p, i), play_context(p, j), p->dim * sizeof(double));
}

size_t play_survivors(struct play *p, int *keep)
{
    size_t count = 0;
    int border = 0;

    for (size_t i = 0; i < p->n; i++) {
        keep[i] = 1;
        for (size_t j = 0; j < p->n; j++) {
            long double lead = dense_lead(&p->model, play_context(p, j), play_context(p, i), p->dim);
            long double most =
                p->set.gamma * dense_distance(&p->model, play_context(p, i), play_context(p, j), p->dim);

            if (same_context(p, i, j))
                continue; /* 0 <= 0 */
            border |= fabsl(lead - most) <= BORDER * (fabsl(lead) + most);
            keep[i] &= lead <= most;
        }
        count += (size_t)keep[i];
    }
    if (border) {
        p->borderline++;
        return 0;
    }
    p->alone += count == 1;
    p->pair += count == 2;
    p->more += count > 2;
    p->removed += count > 1 && count < p->n;
    return count;
}

void play_same_survivors(const struct play *p, const int *keep)
{
    size_t c = 0;

    for (size_t i = 0; i < p->n; i++)
        if (keep[i]) {
            assert_true(c < p->g->scratch.round.n_live);
            assert_int_equal(p->g->scratch.round.live[c], i);
            c++;
        }
    assert_int_equal(p->g->scratch.round.n_live, c);
}

void play_centred(const struct play *p, size_t arm, long double *x)
{
    for (size_t k = 0; k < p->dim; k++) {
        x[k] = play_context(p, arm)[k];
        for (size_t i = 0; i < p->n; i++)
            x[k] -= (long double)p->pmf[i] * play_context(p, i)[k];
    }
}

/* How often each arm from `first` on is best under `draws` samples of mu; ties to the lowest index. */
static void sample_best(struct play *p, size_t first, double *count)
{
    long double mu[65];

    memset(count, 0, p->n * sizeof *count);
    for (size_t m = 0; m < p->d.draws; m++) {
        size_t best = first;
        long double top = 0;

        dense_sample(&p->model, mu, p->set.gamma, &p->rng);
        for (size_t i = first; i < p->n; i++) {
            long double score = 0;
            for (size_t k = 0; k < p->dim; k++)
                score += mu[k] * play_context(p, i)[k];
            if (i == first || score > top) {
                top = score;
                best = i;
            }
        }
        count[best]++;
    }
}

void play_best_arm_law(struct play *p, size_t first, const double *share)
{
    size_t leader = first, contenders = 1, other = first;
    double *drawn, *sampled;
    struct stats_chi2 chi2;

    for (size_t i = first + 1; i < p->n; i++)
        if (dense_lead(&p->model, play_context(p, i), play_context(p, leader), p->dim) > 0)
            leader = i;
    for (size_t i = first; i < p->n; i++) {
        long double lead = dense_lead(&p->model, play_context(p, leader), play_context(p, i), p->dim);
        long double sd =
            p->set.gamma * dense_distance(&p->model, play_context(p, leader), play_context(p, i), p->dim);

        if (i == leader || same_context(p, i, leader))
            continue;
        if (fabsl(lead - 8 * sd) <= BORDER * sd) { /* an arm 8 sd behind the leader is given up */
            p->borderline++;
            return;
        }
        if (lead < 8 * sd) {
            contenders++;
            other = i;
        }
    }
    for (size_t i = first; i < leader; i++)
        if (same_context(p, i, leader))
            leader = i;
    if (contenders == 1) {
        p->alone++;
        assert_int_equal(p->d.draws, 0);
        assert_near(share[leader], 1, 1e-8);
        return;
    }
    if (contenders == 2) {
        double lead =
            (double)(dense_lead(&p->model, play_context(p, leader), play_context(p, other), p->dim) /
                     dense_distance(&p->model, play_context(p, leader), play_context(p, other), p->dim));

        p->pair++;
        assert_int_equal(p->d.draws, 0);
        assert_close(share[leader], stats_normal_cdf(lead / p->set.gamma), 1e-9);
        assert_close(share[other], stats_normal_cdf(-lead / p->set.gamma), 1e-7);
        return;
    }
    p->more++;
    assert_int_equal(p->d.draws, p->set.draws);
    drawn = calloc(2 * p->n, sizeof *drawn);
    sampled = drawn + p->n;
    for (size_t i = first; i < p->n; i++) {
        double count = share[i] * (double)p->d.draws;
        drawn[i] = round(count);
        assert_near(drawn[i], count, 1e-4);
    }
    sample_best(p, first, sampled);
    chi2 = stats_same(drawn, sampled, p->n);
    /* The library may draw in mirrored pairs. Whatever the two have to do with each other, that at most
     * doubles the covariance of its counts, so that of the difference grows by 3/2 at the most. */
    chi2.sum *= 2.0 / 3;
    free(drawn);
    /* one round alone: error probability 1e-9 */
    assert_that(stats_tail(&chi2) > 1e-9, "%s, round %zu: chi-square %g, %g degrees of freedom",
                gbose_spec(p->g), p->round, chi2.sum, chi2.df);
    p->chi2.sum += chi2.sum;
    p->chi2.df += chi2.df;
}

void play_thompson_law(struct play *p)
{
    play_best_arm_law(p, 0, p->pmf);
}

void play_theory(const char *learner)
{
    const size_t dims[] = {1, 7, 40}, horizons[] = {200, 10000, 5000000};

    for (size_t a = 0; a < 3; a++)
        for (size_t b = 0; b < 3; b++) {
            double d = (double)dims[a], T = (double)horizons[b], delta = 0.03;
            double lambda = 4 * d * log(9 * T) + 8 * log(4 * T / delta);
            double algorithm1 = sqrt(27 * d * log(1 + 2 * T / d) + 54 * log(4 * T / delta));
            const struct {
                const char *options;
                double lambda, gamma;
            } cases[] = {
                {"gamma=theory,lambda=theory", lambda, sqrt(lambda) + algorithm1},
                {"gamma=theory,lambda=2.5", 2.5, sqrt(2.5) + algorithm1},
                {"gamma=lemma1,lambda=theory", lambda,
                 sqrt(lambda) + sqrt(9 * d * log(1 + T / (d * lambda)) + 18 * log(T / delta))},
                {"gamma=lemma1,lambda=2.5", 2.5,
                 sqrt(2.5) + sqrt(9 * d * log(1 + T / (d * 2.5)) + 18 * log(T / delta))},
                {"gamma=0.7,lambda=theory", lambda, 0.7},
            };

            for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
                double unit[40] = {1};
                char spec[200];
                gbose *g;

                snprintf(spec, sizeof spec, "%s:%s,delta=0.03,horizon=%zu", learner, cases[c].options,
                         horizons[b]);
                assert_int_equal(gbose_new(&g, spec, dims[a], NULL), GBOSE_OK);
                assert_close(((const struct gbose__survivors *)g->own)->gamma, cases[c].gamma, 1e-14);
                assert_close(gbose_width(g, unit), 1 / sqrt(cases[c].lambda), 1e-14);
                gbose_free(g);
            }
        }
}
