/* Effects of features from a log whose probabilities are known.
 *
 * Model: r = b_a'mu + v + noise, v anything that does not depend on the arm. With X = b_a - sum p b and a
 * response y = r - c, c known before the draw, E[X (y - X'mu)] = 0 whatever v and c are. So
 *
 *     A = sum X X'     g = sum X y     mu = A^-1 g            least squares, without a penalty
 *     H = sum X X' e^2                                        what the noise adds up to
 *     Var(x'mu) = x'A^-1 H A^-1 x                             the sandwich
 *
 *   c    the baseline (logs/level.h) plus the mean of b'm by p
 *   m    a ridge regression on earlier rounds, the same sums with a prior
 *   e    the first EARLY rounds are kept, and their residuals are by the final estimate, divided by 1 -
 *        X'A^-1 X (the HC3 of MacKinnon and White, 1985): m is not yet good when they come. Later e = y -
 *        X'm, the residual of a prediction that knows nothing of its own round, and H is summed as rounds
 *        come.
 *
 * Sums of X e are martingales also when the log's policy learned from its rewards, and the sandwich is their
 * quadratic variation, so that the studentised estimate is nearly normal as soon as A settles (Lai and Wei,
 * 1982; Hall and Heyde, 1980). By unit, H is the sum of squares of the units' sums of X e. */
#include <math.h>
#include <string.h>

#include "core/dense.h"
#include "core/error.h"
#include "core/kernels.h"
#include "core/memory.h"
#include "core/ridge.h"
#include "core/solve.h"
#include "core/stats.h"
#include "gbose_log.h"
#include "logs/level.h"
#include "logs/sequences.h"
#include "logs/units.h"

#define EARLY 1000   /* rounds whose residuals wait for the final estimate */
#define WARM_UP 10.0 /* rounds in which the baseline finds the level: sums begin behind them */
#define RIDGE 0.5 /* of m, in units of the features' variance among the arms of the first informative round */
#define DRAWS_LEAST 100.0     /* draws that count, before the anytime interval begins */
#define DRAWS_PER_FEATURE 5.0 /* and so many for each feature */
#define HORIZON 10.0          /* the anytime interval is tightest when it is so many times these */

/* A round whose residual waits; its X is in a row beside it. */
struct early {
    double y;
    uint64_t unit;
};

struct gbose_effects {
    size_t dim, stride;
    int by_unit;
    struct gbose__level baseline;
    struct gbose__ridge m; /* dim 0 until the first X that is not zero */
    struct gbose__units units;
    double *memory;
    double *A, *H;               /* padded triangles */
    double *g, *x, *mean, *zero; /* rows */
    double rounds;
    double informative; /* rounds whose X is not zero */
    double spread;      /* sum of the expected |X|^2, and the largest that one could have been */
    double reach;
    size_t capacity;
    double *context;
    struct early *early; /* EARLY places */
    double *early_x;     /* and rows */
    size_t n_early;
};

int gbose_effects_new(gbose_effects **out, size_t dim, int by_unit, gbose_error *err)
{
    size_t size = dim ? gbose__triangle(dim) : 0, stride = gbose__pad(dim);
    gbose_effects *f;

    if (!out || dim == 0)
        return gbose__fail(err, GBOSE_EINVAL, "effects need at least one feature");
    f = gbose__alloc(1, sizeof *f);
    if (!f)
        return gbose__fail(err, GBOSE_ENOMEM, "out of memory");
    f->dim = dim;
    f->stride = stride;
    f->by_unit = by_unit != 0;
    f->memory = gbose__alloc(2 * size + (4 + EARLY) * stride, sizeof(double));
    f->early = gbose__alloc(EARLY, sizeof *f->early);
    if (!f->memory || !f->early || gbose__level_init(&f->baseline, dim)) {
        gbose__free(f->early);
        gbose__free(f->memory);
        gbose__free(f);
        return gbose__fail(err, GBOSE_ENOMEM, "out of memory for %zu features", dim);
    }
    f->A = f->memory;
    f->H = f->A + size;
    f->g = f->H + size;
    f->x = f->g + stride;
    f->mean = f->x + stride;
    f->zero = f->mean + stride;
    f->early_x = f->zero + stride;
    gbose__units_init(&f->units, dim);
    *out = f;
    return GBOSE_OK;
}

void gbose_effects_free(gbose_effects *f)
{
    if (!f)
        return;
    gbose__level_clear(&f->baseline);
    if (f->m.dim)
        gbose__ridge_clear(&f->m);
    gbose__units_clear(&f->units);
    gbose__free(f->context);
    gbose__free(f->early);
    gbose__free(f->memory);
    gbose__free(f);
}

/* ---- a round ---- */

static int check_row(const gbose_effects *f, const gbose_logged *row, gbose_error *err)
{
    double sum = 0;

    if (!row || row->n_arms == 0 || row->arm >= row->n_arms || !row->pmf || !row->contexts)
        return gbose__fail(err, GBOSE_EINVAL,
                           "a logged round needs arms, one that was played, probabilities and contexts");
    if (row->partial)
        return gbose__fail(err, GBOSE_EINVAL,
                           "effects need the probabilities of all arms, not of the played one alone");
    if (!(fabs(row->reward) <= GBOSE_MAX_INPUT))
        return gbose__fail(err, GBOSE_ENUMERIC, "the reward is %g: it must be within +-%g", row->reward,
                           GBOSE_MAX_INPUT);
    for (size_t a = 0; a < row->n_arms; a++) {
        if (!(row->pmf[a] >= 0))
            return gbose__fail(err, GBOSE_ENUMERIC, "arm %zu has probability %g", a, row->pmf[a]);
        sum += row->pmf[a];
    }
    if (!(fabs(sum - 1) <= 1e-6) || !(row->pmf[row->arm] > 0))
        return gbose__fail(err, GBOSE_ENUMERIC,
                           "the probabilities add up to %.9g, and arm %zu, which was played, has %g", sum,
                           row->arm, row->pmf[row->arm]);
    if (!gbose__kernels->within(row->contexts, row->n_arms * f->dim, GBOSE_MAX_INPUT))
        return gbose__fail(err, GBOSE_ENUMERIC, "a feature is not finite or larger than %g", GBOSE_MAX_INPUT);
    return GBOSE_OK;
}

static int reserve(gbose_effects *f, const gbose_logged *row)
{
    double *context;
    size_t n = row->n_arms > 2 * f->capacity ? row->n_arms : 2 * f->capacity;

    if (f->by_unit && gbose__units_reserve(&f->units, row->unit))
        return GBOSE_ENOMEM;
    if (row->n_arms <= f->capacity)
        return GBOSE_OK;
    context = gbose__alloc(n, f->stride * sizeof(double));
    if (!context)
        return GBOSE_ENOMEM;
    gbose__free(f->context);
    f->context = context;
    f->capacity = n;
    return GBOSE_OK;
}

/* X into f->x, mean of b by p into f->mean. Returns the largest entry of X relative to what rounding makes.
 * */
static int centre(gbose_effects *f, const gbose_logged *row)
{
    double *b = f->context, largest = 0, size = 0;

    memset(f->mean, 0, f->stride * sizeof(double));
    for (size_t a = 0; a < row->n_arms; a++) {
        memcpy(b + a * f->stride, row->contexts + a * f->dim, f->dim * sizeof(double));
        if (row->pmf[a] > 0)
            gbose__kernels->axpy(f->mean, row->pmf[a], b + a * f->stride, f->stride);
    }
    b += row->arm * f->stride;
    for (size_t i = 0; i < f->dim; i++) {
        f->x[i] = b[i] - f->mean[i];
        largest = fmax(largest, fabs(f->x[i]));
        size = fmax(size, fabs(b[i]));
    }
    return largest > 1e-12 * size;
}

static int begin_m(gbose_effects *f, const gbose_logged *row)
{
    double sum = 0;

    if (f->m.dim)
        return GBOSE_OK;
    for (size_t i = 0; i < f->dim; i++) {
        double mean = 0, square = 0;

        for (size_t a = 0; a < row->n_arms; a++)
            mean += row->contexts[a * f->dim + i] / (double)row->n_arms;
        for (size_t a = 0; a < row->n_arms; a++) {
            double off = row->contexts[a * f->dim + i] - mean;
            square += off * off / (double)row->n_arms;
        }
        sum += square / (double)f->dim;
    }
    return gbose__ridge_init(&f->m, f->dim, sum > 1e-200 ? RIDGE * sum : RIDGE, 1);
}

/* What |X|^2 was expected to be, and could have been. */
static void add_spread(gbose_effects *f, const gbose_logged *row)
{
    for (size_t a = 0; a < row->n_arms; a++)
        if (row->pmf[a] > 0) {
            double square = gbose__distance2(f->context + a * f->stride, f->mean, f->stride);

            f->spread += row->pmf[a] * square;
            f->reach = fmax(f->reach, square);
        }
}

/* What the round says about effects, given y and m of before. */
static void add_sums(gbose_effects *f, uint64_t unit, double y, const double *m)
{
    double e = y - gbose__dot(f->x, m, f->stride);

    f->informative++;
    gbose__kernels->axpy(f->g, y, f->x, f->stride);
    gbose__kernels->triangle_add(f->A, f->dim, f->x);
    if (f->n_early < EARLY) {
        f->early[f->n_early] = (struct early){y, unit};
        memcpy(f->early_x + f->n_early++ * f->stride, f->x, f->stride * sizeof(double));
        e = 0;
    }
    if (f->by_unit) {
        gbose__units_add(&f->units, unit, e, f->x);
    } else if (e != 0) {
        for (size_t i = 0; i < f->dim; i++)
            f->x[i] *= e;
        gbose__kernels->triangle_add(f->H, f->dim, f->x);
    }
}

int gbose_effects_add(gbose_effects *f, const gbose_logged *row, gbose_error *err)
{
    const double *m, *b;
    double best, mean, y;
    int rc, informative;

    if (!f)
        return gbose__fail(err, GBOSE_EINVAL, "no effects");
    rc = check_row(f, row, err);
    if (rc)
        return rc;
    rc = reserve(f, row);
    informative = !rc && centre(f, row);
    if (rc || (informative && begin_m(f, row)))
        return gbose__fail(err, GBOSE_ENOMEM, "out of memory for a round of %zu arms", row->n_arms);
    m = f->m.dim ? f->m.mu : f->zero;
    b = f->context + row->arm * f->stride;
    best = gbose__dot(f->context, m, f->stride);
    for (size_t a = 1; a < row->n_arms; a++)
        best = fmax(best, gbose__dot(f->context + a * f->stride, m, f->stride));
    mean = gbose__dot(f->mean, m, f->stride);
    y = row->reward - gbose__level_predict(&f->baseline, m, best, mean) - mean;
    gbose__level_learn(&f->baseline, m, best, b, row->reward);
    f->rounds++;
    if (!informative || f->rounds <= WARM_UP)
        return GBOSE_OK;
    memcpy(f->m.x, f->x, f->stride * sizeof(double));
    add_spread(f, row);
    add_sums(f, row->unit, y, m);
    gbose__ridge_begin(&f->m);
    gbose__ridge_term(&f->m, f->m.x, 1, y);
    return GBOSE_OK;
}

/* ---- an effect ---- */

/* Scratch of a question. */
struct answer {
    double *factor, *mu, *u, *half;
    double *sum; /* by unit: u'(sum of X e) */
};

/* u'X e of an early round. */
static double early_term(const gbose_effects *f, const struct answer *a, size_t i)
{
    const double *x = f->early_x + i * f->stride;
    double h = gbose__solve_square(a->factor, x, a->half, f->dim);
    double e = f->early[i].y - gbose__dot(x, a->mu, f->stride);

    return h < 1 - 1e-9 ? gbose__dot(x, a->u, f->stride) * e / (1 - h) : 0;
}

static double variance_by_round(const gbose_effects *f, const struct answer *a)
{
    double sum;

    gbose__dense_times_symmetric(a->half, f->H, a->u, f->dim);
    sum = gbose__dot(a->half, a->u, f->stride);
    for (size_t i = 0; i < f->n_early; i++) {
        double term = early_term(f, a, i);
        sum += term * term;
    }
    return sum;
}

static double variance_by_unit(const gbose_effects *f, const struct answer *a)
{
    double sum = 0, n = (double)f->units.n;

    gbose__units_along(&f->units, a->sum, a->u);
    for (size_t i = 0; i < f->n_early; i++)
        a->sum[gbose__units_place(&f->units, f->early[i].unit)] += early_term(f, a, i);
    for (size_t i = 0; i < f->units.n; i++)
        sum += a->sum[i] * a->sum[i];
    return n > 1 ? sum * n / (n - 1) : INFINITY;
}

/* How many draws that count the rounds are worth: rare arms say most, and come seldom. */
static double draws(const gbose_effects *f)
{
    return f->reach > 0 ? f->spread / f->reach : 0;
}

/* So many there must have been before the anytime interval begins. */
static double burn_in(const gbose_effects *f)
{
    return fmax(DRAWS_LEAST, DRAWS_PER_FEATURE * (double)f->dim);
}

static void fill(const gbose_effects *f, const struct answer *a, double alpha, gbose_effect_value *out)
{
    double variance = f->by_unit ? variance_by_unit(f, a) : variance_by_round(f, a), radius,
           n = f->informative;
    size_t df = f->by_unit && f->units.n > f->dim ? f->units.n - f->dim : SIZE_MAX;

    memset(out, 0, sizeof *out);
    out->rounds = (uint64_t)n;
    out->units = f->by_unit ? f->units.n : 0;
    out->estimate = gbose__dot(a->u, f->g, f->stride);
    out->error = sqrt(variance);
    radius = gbose__stats_t_quantile(1 - alpha / 2, df) * out->error;
    out->fixed = (gbose_interval){out->estimate, out->estimate - radius, out->estimate + radius};
    radius = INFINITY;
    if (draws(f) >= burn_in(f))
        radius = gbose__stats_mixture_radius(1, HORIZON * burn_in(f) / draws(f), alpha) * out->error;
    out->anytime = (gbose_interval){out->estimate, out->estimate - radius, out->estimate + radius};
}

int gbose_effects_at(const gbose_effects *f, const double *x, double level, gbose_effect_value *out)
{
    struct answer a;
    size_t size;
    int known;

    if (!f || !x || !out || !(level > 0 && level < 1) || !gbose__kernels->within(x, f->dim, GBOSE_MAX_INPUT))
        return GBOSE_EINVAL;
    size = gbose__triangle(f->dim);
    a.factor = gbose__alloc(size + 3 * f->stride + f->units.n, sizeof(double));
    if (!a.factor)
        return GBOSE_ENOMEM;
    a.mu = a.factor + size;
    a.u = a.mu + f->stride;
    a.half = a.u + f->stride;
    a.sum = a.half + f->stride;
    gbose__solve_factor(a.factor, f->A, f->dim);
    gbose__solve_by(a.mu, a.factor, f->g, f->dim);
    gbose__solve_by(a.u, a.factor, x, f->dim);
    known = gbose__solve_holds(a.u, f->A, x, f->dim);
    if (known)
        fill(f, &a, 1 - level, out);
    gbose__free(a.factor);
    return known ? GBOSE_OK : GBOSE_EUNSEEN;
}
