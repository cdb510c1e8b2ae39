#include "support/coverage.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/check.h"

#define MOST 64

struct run {
    gbose_evaluation *e;
    gbose_effects *f;
    size_t dim;
    uint64_t t, next;
    const double *greedy, *x;
    double effect;
    double sum[3]; /* of what uniform, greedy and the logger would have earned */
    struct misses miss;
};

/* An interval that is not there, because a reward was outside of the range, misses too. */
static int misses(const gbose_interval *interval, double truth)
{
    return !(interval->lower <= truth && truth <= interval->upper);
}

/* Looks become rarer: every 4% of the rounds so far. */
static void look(struct run *run)
{
    gbose_difference d;
    gbose_policy_value v;
    gbose_effect_value effect;

    for (size_t i = 1; i < 3; i++) {
        double truth = (run->sum[i] - run->sum[0]) / (double)run->t;

        assert_int_equal(gbose_evaluation_difference(run->e, i, &d), GBOSE_OK);
        *(i == 1 ? &run->miss.greedy : &run->miss.logger) |= misses(&d.phi, truth);
        *(i == 1 ? &run->miss.greedy_paired : &run->miss.logger_paired) |= misses(&d.paired, truth);
        if (i == 1) {
            run->miss.phi_width = d.phi.upper - d.phi.lower;
            run->miss.ips_width = d.ips_width;
        }
    }
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(gbose_evaluation_policy(run->e, i, &v), GBOSE_OK);
        run->miss.level |= misses(&v.level, run->sum[i] / (double)run->t);
        run->miss.weight |= misses(&v.weight, 1);
        run->miss.peek |= misses(&v.peek, 0);
    }
    if (gbose_effects_at(run->f, run->x, 0.95, &effect) == GBOSE_OK)
        run->miss.effect_anytime |= misses(&effect.anytime, run->effect);
}

static void take(void *user, const gbose_logged *row, const double *expected)
{
    struct run *run = user;
    double uniform[MOST], greedy[MOST], best = -INFINITY;
    const double *pmf[3] = {uniform, greedy, row->pmf};
    size_t which = 0;

    for (size_t a = 0; a < row->n_arms; a++) {
        double score = 0;

        for (size_t i = 0; i < run->dim; i++)
            score += row->contexts[a * run->dim + i] * run->greedy[i];
        if (score > best) {
            best = score;
            which = a;
        }
        uniform[a] = 1 / (double)row->n_arms;
        greedy[a] = 0;
    }
    greedy[which] = 1;
    for (size_t i = 0; i < 3; i++)
        for (size_t a = 0; a < row->n_arms; a++)
            run->sum[i] += pmf[i][a] * expected[a];
    assert_int_equal(gbose_evaluation_add(run->e, row, pmf, NULL), GBOSE_OK);
    assert_int_equal(gbose_effects_add(run->f, row, NULL), GBOSE_OK);
    if (++run->t == run->next) {
        run->next += run->next / 25 + 1;
        look(run);
    }
}

static void one_log(struct run *run, const struct coverage *c, uint32_t repetition)
{
    gbose_evaluation_options set = gbose_evaluation_defaults();
    gbose_effect_value effect;
    gbose_audit audit;

    set.low = c->low;
    set.high = c->high;
    assert_int_equal(gbose_evaluation_new(&run->e, 3, run->dim, &set, NULL), GBOSE_OK);
    assert_int_equal(gbose_effects_new(&run->f, run->dim, 0, NULL), GBOSE_OK);
    logged_play(&c->plan, repetition, take, run);
    look(run);
    if (gbose_effects_at(run->f, run->x, 0.95, &effect) == GBOSE_OK)
        run->miss.effect_fixed = misses(&effect.fixed, run->effect);
    else
        run->miss.unknown = 1;
    gbose_evaluation_audit(run->e, &audit);
    run->miss.audit = audit.p < 0.001;
    gbose_evaluation_free(run->e);
    gbose_effects_free(run->f);
}

void coverage_count(struct misses *out, const struct coverage *c)
{
    memset(out, 0, sizeof *out);
    for (int k = 0; k < c->logs; k++) {
        double mu[MOST], greedy[MOST], x[MOST];
        struct run run = {.dim = logged_dim(&c->plan), .next = 20, .greedy = greedy, .x = x};

        logged_mu(&c->plan, (uint32_t)k, mu);
        for (size_t i = 0; i < run.dim; i++) {
            greedy[i] = mu[i] + 0.3 * sin(1.7 * (double)(i + 1) + k);
            x[i] = cos(1.3 * (double)i + k);
            run.effect += x[i] * mu[i];
        }
        one_log(&run, c, (uint32_t)k);
        out->greedy += run.miss.greedy;
        out->logger += run.miss.logger;
        out->greedy_paired += run.miss.greedy_paired;
        out->logger_paired += run.miss.logger_paired;
        out->level += run.miss.level;
        out->weight += run.miss.weight;
        out->peek += run.miss.peek;
        out->audit += run.miss.audit;
        out->effect_anytime += run.miss.effect_anytime;
        out->effect_fixed += run.miss.effect_fixed;
        out->unknown += run.miss.unknown;
        out->phi_width += run.miss.phi_width / c->logs;
        out->ips_width += run.miss.ips_width / c->logs;
    }
}

void coverage_header(void)
{
    printf("misses in %%, any time but for the last but two columns\n%-30s %6s %6s %6s %6s %6s %6s %6s %6s "
           "%6s %6s %9s %9s\n",
           "world, logger", "phi", "phi", "paired", "paired", "level", "weight", "peek", "audit", "effect",
           "fixed", "phi width", "ips width");
}

void coverage_print(const struct coverage *c, const struct misses *m)
{
    double each = 100.0 / c->logs;

    printf("%-30s %6.1f %6.1f %6.1f %6.1f %6.1f %6.1f %6.1f %6.1f %6.1f %6.1f %9.4f %9.4f\n", c->name,
           each * m->greedy, each * m->logger, each * m->greedy_paired, each * m->logger_paired,
           each * m->level, each * m->weight, each * m->peek, each * m->audit, each * m->effect_anytime,
           each * m->effect_fixed, m->phi_width, m->ips_width);
    fflush(stdout);
}
