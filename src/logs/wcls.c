/* Weighted and centred least squares for micro-randomised trials.
 *
 *     d = (controls, (action - numerator) moderators)              q numbers
 *     w = (pt / p) of the action that was taken                    pt: numerator, p: probability
 *     b = B^-1 sum w d outcome,   B = sum w d d'
 *
 * Errors are by unit. With M = sum w d d' and s = sum w d (outcome - d'b) over the rows of one unit, the
 * residuals divided by I - H of the unit (Mancl and DeRouen, 2001) give the score (I - M B^-1)^-1 s: the two
 * are the same, because D'W (I - D B^-1 D'W)^-1 = (I - D'W D B^-1)^-1 D'W. So a unit is q^2 + q sums, and
 * rows need not be kept. */
#include <math.h>
#include <string.h>

#include "core/dense.h"
#include "core/error.h"
#include "core/kernels.h"
#include "core/memory.h"
#include "core/solve.h"
#include "core/stats.h"
#include "gbose_log.h"
#include "logs/units.h"

struct gbose_wcls {
    size_t controls, moderators, q;
    struct gbose__units units; /* of each: M, row after row, then sum w d outcome */
    double *row;               /* as long as a unit's, padded */
    double *d;
    double rows;
};

int gbose_wcls_new(gbose_wcls **out, size_t n_controls, size_t n_moderators, gbose_error *err)
{
    gbose_wcls *w;
    size_t q = n_controls + n_moderators, size;

    if (!out || n_controls == 0 || n_moderators == 0)
        return gbose__fail(err, GBOSE_EINVAL,
                           "a trial needs at least one control and one moderator: the number 1");
    if (q > 4096)
        return gbose__fail(err, GBOSE_ESIZE, "%zu controls and moderators are too many: 4096 at the most", q);
    size = gbose__pad(q * q + q);
    w = gbose__alloc(1, sizeof *w);
    if (w)
        w->row = gbose__alloc(size + q, sizeof(double));
    if (!w || !w->row) {
        gbose__free(w);
        return gbose__no_memory(err);
    }
    w->d = w->row + size;
    w->controls = n_controls;
    w->moderators = n_moderators;
    w->q = q;
    gbose__units_init(&w->units, q * q + q);
    *out = w;
    return GBOSE_OK;
}

void gbose_wcls_free(gbose_wcls *w)
{
    if (!w)
        return;
    gbose__units_clear(&w->units);
    gbose__free(w->row);
    gbose__free(w);
}

int gbose_wcls_add(gbose_wcls *w, const gbose_trial_row *row, gbose_error *err)
{
    double weight, off;

    if (!w || !row || !row->controls || !row->moderators)
        return gbose__fail(err, GBOSE_EINVAL, "a row of a trial needs controls and moderators");
    if (!row->available)
        return GBOSE_OK;
    if (row->action != 0 && row->action != 1)
        return gbose__fail(err, GBOSE_EINVAL, "the action is %d: it must be 0 or 1", row->action);
    if (!(row->probability > 0 && row->probability < 1) || !(row->numerator > 0 && row->numerator < 1))
        return gbose__fail(err, GBOSE_ENUMERIC, "probability %g and numerator %g must be between 0 and 1",
                           row->probability, row->numerator);
    if (!(fabs(row->outcome) <= GBOSE_MAX_INPUT) ||
        !gbose__kernels->within(row->controls, w->controls, 1e60) ||
        !gbose__kernels->within(row->moderators, w->moderators, 1e60))
        return gbose__fail(err, GBOSE_ENUMERIC,
                           "an outcome, a control or a moderator is not finite or too large");
    if (gbose__units_reserve(&w->units, row->unit))
        return gbose__no_memory(err);
    weight = row->action ? row->numerator / row->probability : (1 - row->numerator) / (1 - row->probability);
    off = row->action - row->numerator;
    for (size_t i = 0; i < w->controls; i++)
        w->d[i] = row->controls[i];
    for (size_t i = 0; i < w->moderators; i++)
        w->d[w->controls + i] = off * row->moderators[i];
    for (size_t i = 0; i < w->q; i++) {
        for (size_t j = 0; j < w->q; j++)
            w->row[i * w->q + j] = weight * w->d[i] * w->d[j];
        w->row[w->q * w->q + i] = weight * w->d[i] * row->outcome;
    }
    gbose__units_add(&w->units, row->unit, 1, w->row);
    w->rows++;
    return GBOSE_OK;
}

static void exchange(double *a, double *b)
{
    double old = *a;

    *a = *b;
    *b = old;
}

/* T z = s for any T, in place: elimination with partial pivoting. 0 if T is singular. */
static int eliminate(double *T, double *s, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        size_t best = k;

        for (size_t i = k + 1; i < n; i++)
            if (fabs(T[i * n + k]) > fabs(T[best * n + k]))
                best = i;
        if (!(fabs(T[best * n + k]) > 1e-12))
            return 0;
        for (size_t j = 0; j < n; j++)
            exchange(T + k * n + j, T + best * n + j);
        exchange(s + k, s + best);
        for (size_t i = k + 1; i < n; i++) {
            double factor = T[i * n + k] / T[k * n + k];

            for (size_t j = k; j < n; j++)
                T[i * n + j] -= factor * T[k * n + j];
            s[i] -= factor * s[k];
        }
    }
    for (size_t k = n; k-- > 0;) {
        for (size_t j = k + 1; j < n; j++)
            s[k] -= T[k * n + j] * s[j];
        s[k] /= T[k * n + k];
    }
    return 1;
}

/* Scratch of a question: triangles, vectors of q, and a full matrix. */
struct answer {
    double *B, *factor, *total, *b, *u, *x, *s, *column, *T;
};

/* u'(I - M B^-1)^-1 s of one unit; NaN if the unit alone decides something. */
static double corrected(const struct gbose_wcls *w, const struct answer *a, const double *unit)
{
    size_t q = w->q;
    double sum = 0;

    for (size_t i = 0; i < q; i++) {
        a->s[i] = unit[q * q + i];
        for (size_t j = 0; j < q; j++)
            a->s[i] -= unit[i * q + j] * a->b[j];
        gbose__solve_by(a->column, a->factor, unit + i * q, q); /* row i of M B^-1: both are symmetric */
        for (size_t j = 0; j < q; j++)
            a->T[i * q + j] = (i == j) - a->column[j];
    }
    if (!eliminate(a->T, a->s, q))
        return NAN;
    for (size_t i = 0; i < q; i++)
        sum += a->u[i] * a->s[i];
    return sum;
}

static void fill(const gbose_wcls *w, const struct answer *a, double alpha, gbose_effect_value *out)
{
    double variance = 0, radius, estimate = 0;

    for (size_t i = 0; i < w->units.n; i++) {
        double term = corrected(w, a, w->units.sum + i * w->units.stride);
        variance += term * term;
    }
    for (size_t i = 0; i < w->q; i++)
        estimate += a->x[i] * a->b[i];
    memset(out, 0, sizeof *out);
    out->rounds = (uint64_t)w->rows;
    out->units = w->units.n;
    out->estimate = estimate;
    out->error = sqrt(variance);
    radius = gbose__stats_t_quantile(1 - alpha / 2, w->units.n - w->q) * out->error;
    out->fixed = (gbose_interval){estimate, estimate - radius, estimate + radius};
    out->anytime = (gbose_interval){estimate, -INFINITY, INFINITY};
}

int gbose_wcls_at(const gbose_wcls *w, const double *x, double level, gbose_effect_value *out)
{
    struct answer a;
    size_t q, size;
    int rc = GBOSE_EUNSEEN;

    if (!w || !x || !out || !(level > 0 && level < 1) ||
        !gbose__kernels->within(x, w->moderators, GBOSE_MAX_INPUT))
        return GBOSE_EINVAL;
    q = w->q;
    size = gbose__triangle(q);
    if (w->units.n <= q)
        return GBOSE_EUNSEEN;
    a.B = gbose__alloc(2 * size + 6 * gbose__pad(q) + q * q, sizeof(double));
    if (!a.B)
        return GBOSE_ENOMEM;
    a.factor = a.B + size;
    a.total = a.factor + size;
    a.b = a.total + gbose__pad(q);
    a.u = a.b + gbose__pad(q);
    a.x = a.u + gbose__pad(q);
    a.s = a.x + gbose__pad(q);
    a.column = a.s + gbose__pad(q);
    a.T = a.column + gbose__pad(q);
    for (size_t k = 0; k < w->units.n; k++) {
        const double *unit = w->units.sum + k * w->units.stride;

        for (size_t i = 0; i < q; i++) {
            for (size_t j = 0; j <= i; j++)
                gbose__dense_row(a.B, i)[j] += unit[i * q + j];
            a.total[i] += unit[q * q + i];
        }
    }
    memcpy(a.x + w->controls, x, w->moderators * sizeof(double));
    gbose__solve_factor(a.factor, a.B, q);
    gbose__solve_by(a.b, a.factor, a.total, q);
    gbose__solve_by(a.u, a.factor, a.x, q);
    if (gbose__solve_holds(a.u, a.B, a.x, q)) {
        gbose_effect_value value;

        fill(w, &a, 1 - level, &value);
        if (isfinite(value.error)) {
            *out = value;
            rc = GBOSE_OK;
        }
    }
    gbose__free(a.B);
    return rc;
}
