#include "study/summary.h"

#include <math.h>
#include <stdlib.h>

#include "core/error.h"
#include "core/stats.h"

/* ---- quantiles ---- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    if (isnan(x) || isnan(y))
        return !!isnan(x) - !!isnan(y);
    return (x > y) - (x < y);
}

double gbose__summary_quantile(const double *sorted, size_t n, double p)
{
    double h, below;
    size_t i;

    if (!n)
        return NAN;
    h = (double)(n - 1) * p;
    below = floor(h);
    i = (size_t)below;
    if (i + 1 >= n || h == below)
        return sorted[i < n ? i : n - 1];
    return sorted[i] + (h - below) * (sorted[i + 1] - sorted[i]);
}

struct gbose__spread gbose__summary_spread(double *x, size_t n)
{
    struct gbose__spread s = {n, NAN, NAN, NAN};

    qsort(x, n, sizeof *x, ascending);
    s.q1 = gbose__summary_quantile(x, n, 0.25);
    s.median = gbose__summary_quantile(x, n, 0.5);
    s.q3 = gbose__summary_quantile(x, n, 0.75);
    return s;
}

/* ---- differences ---- */

/* The mean of x and its confidence interval. */
static struct gbose__difference difference(const double *x, size_t n)
{
    struct gbose__difference d = {n, NAN, NAN, NAN};
    double squares = 0, half;

    if (!n)
        return d;
    d.mean = 0;
    for (size_t i = 0; i < n; i++)
        d.mean += x[i];
    d.mean /= (double)n;
    if (n < 2)
        return d;
    for (size_t i = 0; i < n; i++)
        squares += (x[i] - d.mean) * (x[i] - d.mean);
    half = gbose__stats_t_quantile(0.975, n - 1) * sqrt(squares / (double)(n - 1) / (double)n);
    d.low = d.mean - half;
    d.high = d.mean + half;
    return d;
}

/* ---- studies ---- */

/* Repetitions from begin to end - 1. */
struct range {
    size_t begin, end;
};

static struct range tuning(const struct gbose__plan *plan)
{
    return (struct range){0, plan->reps};
}

static struct range fresh(const struct gbose__plan *plan)
{
    return (struct range){plan->reps, plan->reps + plan->fresh};
}

/* Room for as many numbers as there are repetitions, or NULL. */
static double *scratch(const struct gbose__plan *plan, gbose_error *err)
{
    double *x = calloc(plan->reps + plan->fresh + 1, sizeof *x);

    if (!x)
        gbose__no_memory(err);
    return x;
}

static struct gbose__spread regret_spread(double *x, const struct gbose__study *s, size_t world,
                                          size_t learner, size_t value, struct range reps)
{
    size_t n = 0;

    for (size_t r = reps.begin; r < reps.end; r++) {
        const struct gbose__result *run = gbose__result_of(s, world, learner, value, r);
        if (run->done)
            x[n++] = run->regret;
    }
    return gbose__summary_spread(x, n);
}

static size_t best_value(double *x, const struct gbose__study *s, size_t world, size_t learner)
{
    size_t best = GBOSE__NO_VALUE;
    double least = NAN;

    for (size_t v = 0; v < s->plan->learner[learner].n_values; v++) {
        struct gbose__spread d = regret_spread(x, s, world, learner, v, tuning(s->plan));
        if (d.n && (best == GBOSE__NO_VALUE || d.median < least || (isnan(least) && !isnan(d.median)))) {
            best = v;
            least = d.median;
        }
    }
    return best;
}

int gbose__summary_choose(size_t *chosen, const struct gbose__study *s, gbose_error *err)
{
    const struct gbose__plan *plan = s->plan;
    double *x = scratch(plan, err);

    if (!x)
        return GBOSE_ENOMEM;
    for (size_t w = 0; w < plan->n_worlds; w++)
        for (size_t l = 0; l < plan->n_learners; l++)
            chosen[w * plan->n_learners + l] = best_value(x, s, w, l);
    free(x);
    return GBOSE_OK;
}

/* The value and both spreads are there; `first` is the summary of the first learner in the same world. */
static void compare(struct gbose__summary *u, double *x, const struct gbose__study *s,
                    const struct gbose__summary *first)
{
    struct range reps = s->plan->fresh ? fresh(s->plan) : tuning(s->plan);
    double reward = 0, lone = 0;
    size_t n = 0, pairs = 0;

    for (size_t r = reps.begin; r < reps.end; r++) {
        const struct gbose__result *run = gbose__result_of(s, u->world, u->learner, u->value, r), *other;
        if (!run->done)
            continue;
        reward += run->reward;
        lone += run->lone;
        n++;
        if (u->learner == first->learner || first->value == GBOSE__NO_VALUE)
            continue;
        other = gbose__result_of(s, first->world, first->learner, first->value, r);
        if (other->done)
            x[pairs++] = run->regret - other->regret;
    }
    if (n) {
        u->reward = reward / (double)n;
        u->lone = lone / (double)n;
    }
    u->to_first = difference(x, pairs);
}

int gbose__summary_make(struct gbose__summary **out, const struct gbose__study *s, gbose_error *err)
{
    const struct gbose__plan *plan = s->plan;
    struct gbose__summary *all = calloc(plan->n_worlds * plan->n_learners + 1, sizeof *all), *u = all;
    double *x = scratch(plan, err);

    if (!all || !x) {
        free(all);
        free(x);
        return gbose__no_memory(err);
    }
    for (size_t w = 0; w < plan->n_worlds; w++)
        for (size_t l = 0; l < plan->n_learners; l++, u++) {
            u->world = w;
            u->learner = l;
            u->value = best_value(x, s, w, l);
            u->reward = u->lone = NAN;
            u->tuned = u->fresh = gbose__summary_spread(x, 0);
            u->to_first = difference(x, 0);
            if (u->value == GBOSE__NO_VALUE)
                continue;
            u->tuned = regret_spread(x, s, w, l, u->value, tuning(plan));
            u->fresh = regret_spread(x, s, w, l, u->value, fresh(plan));
            compare(u, x, s, u - l);
        }
    free(x);
    *out = all;
    return GBOSE_OK;
}

int gbose__summary_curve(struct gbose__spread *out, const struct gbose__study *s, size_t world,
                         size_t learner, size_t value, gbose_error *err)
{
    const struct gbose__plan *plan = s->plan;
    double *x = scratch(plan, err);

    if (!x)
        return GBOSE_ENOMEM;
    for (size_t k = 0; k < plan->n_points; k++) {
        size_t n = 0;
        for (size_t r = 0; r < plan->reps; r++) {
            const struct gbose__result *run = gbose__result_of(s, world, learner, value, r);
            if (run->done && run->curve)
                x[n++] = (double)run->curve[k];
        }
        out[k] = gbose__summary_spread(x, n);
    }
    free(x);
    return GBOSE_OK;
}
