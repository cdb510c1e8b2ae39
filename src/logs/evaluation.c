/* Policies on a log: one pass, the memory of a few regressions.
 *
 * In each round, before its reward is looked at, earlier rounds give
 *
 *     q(a) = c + b_a'theta      c: the baseline (logs/level.h), theta: centred least squares with a ridge
 *
 * or, where no features are logged, c plus what an arm's label has given more than others. Policies are then
 * compared by
 *
 *     phi = sum over a of (pi_1 - pi_2)(a) q(a)  +  (w_1 - w_2)(r - q(played))
 *
 * whose mean given the past is the difference of what both earn, for any q that was known before the draw,
 * because E[w] = 1. So the level of rewards may move as it likes: c follows it, and what c misses meets a
 * factor of mean zero. Only the second part is random given the contexts, and its squares are the variance
 * that the sequence takes. */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/kernels.h"
#include "core/memory.h"
#include "core/ridge.h"
#include "gbose_log.h"
#include "logs/estimators.h"
#include "logs/level.h"
#include "logs/sequences.h"
#include "logs/support.h"

#define PMF_ERROR 1e-6 /* by which probabilities may miss a sum of 1 */
#define RIDGE 0.5      /* in units of the mean square of the first round's features */
#define WARM_UP                                                                                              \
    10 /* rounds in which the baseline finds the level, and so many for each feature in which the */
       /* regression finds its way: it begins behind the former, and phi behind both */
#define LABELS_MOST 10000000

struct policy {
    struct gbose__estimators value;
    struct gbose__support support;
    struct gbose__lower low, high;  /* of w (r - low) and of w (high - r), in units of the range */
    struct gbose__lower more, less; /* of the paired terms against policy 0 */
    struct gbose__running phi;
    double
        phi_lost; /* by how much the two differ on arms that could not have been played, over the rounds of phi */
    double w, mean_q; /* of this round */
};

/* What an arm has given beyond the baseline, where there are no features. */
struct offset {
    double n, sum;
};

struct gbose_evaluation {
    gbose_evaluation_options set;
    size_t n, dim;
    struct policy *policy;
    int in_range;
    struct gbose__audit audit;
    struct gbose__level baseline;
    struct gbose__ridge theta; /* dim 0 until the first round, which sets its scale */
    struct offset *offset;     /* as many as audit.n_arm */
    size_t n_offset;
    size_t capacity; /* arms that there is room for */
    double *context; /* capacity rows, padded */
    double *score, *q;
};

gbose_evaluation_options gbose_evaluation_defaults(void)
{
    return (gbose_evaluation_options){
        .alpha = 0.05, .low = 0, .high = 1, .switch_at = 10, .shrink = 100, .horizon = 10000};
}

static int succeed(gbose_error *err)
{
    if (err) {
        err->code = GBOSE_OK;
        err->text[0] = 0;
    }
    return GBOSE_OK;
}

static int check_options(const gbose_evaluation_options *set, gbose_error *err)
{
    if (!(set->alpha > 0 && set->alpha < 1))
        return gbose__fail(err, GBOSE_EINVAL, "alpha is %g: it must be between 0 and 1", set->alpha);
    if (!(set->low < set->high) || !(fabs(set->low) <= GBOSE_MAX_INPUT) ||
        !(fabs(set->high) <= GBOSE_MAX_INPUT))
        return gbose__fail(err, GBOSE_EINVAL, "the range of rewards is %g to %g: the first must be less",
                           set->low, set->high);
    if (!(set->switch_at > 0) || !(set->shrink > 0) || !(set->horizon >= 1))
        return gbose__fail(err, GBOSE_EINVAL,
                           "switch_at and shrink must be positive, and the horizon at least 1");
    return GBOSE_OK;
}

int gbose_evaluation_new(gbose_evaluation **out, size_t n_policies, size_t dim,
                         const gbose_evaluation_options *options, gbose_error *err)
{
    gbose_evaluation_options set = options ? *options : gbose_evaluation_defaults();
    gbose_evaluation *e;
    int rc;

    if (!out || n_policies == 0)
        return gbose__fail(err, GBOSE_EINVAL, "an evaluation needs a policy");
    rc = check_options(&set, err);
    if (rc)
        return rc;
    e = gbose__alloc(1, sizeof *e);
    if (!e)
        return gbose__fail(err, GBOSE_ENOMEM, "out of memory");
    e->set = set;
    e->n = n_policies;
    e->dim = dim;
    e->in_range = 1;
    e->policy = gbose__alloc(n_policies, sizeof *e->policy);
    if (!e->policy || gbose__level_init(&e->baseline, dim ? dim : 1)) {
        gbose__free(e->policy);
        gbose__free(e);
        return gbose__fail(err, GBOSE_ENOMEM, "out of memory for %zu policies and %zu features", n_policies,
                           dim);
    }
    *out = e;
    return succeed(err);
}

void gbose_evaluation_free(gbose_evaluation *e)
{
    if (!e)
        return;
    gbose__audit_clear(&e->audit);
    gbose__level_clear(&e->baseline);
    if (e->theta.dim)
        gbose__ridge_clear(&e->theta);
    gbose__free(e->offset);
    gbose__free(e->context);
    gbose__free(e->score);
    gbose__free(e->policy);
    gbose__free(e);
}

/* ---- a round: what may be wrong with it ---- */

static int check_pmf(const double *pmf, size_t n, const char *whose, size_t number, gbose_error *err)
{
    double sum = 0;

    for (size_t a = 0; a < n; a++) {
        if (!(pmf[a] >= 0 && pmf[a] <= 1 + PMF_ERROR))
            return gbose__fail(err, GBOSE_ENUMERIC, "%s %zu has probability %g for arm %zu", whose, number,
                               pmf[a], a);
        sum += pmf[a];
    }
    if (!(fabs(sum - 1) <= PMF_ERROR))
        return gbose__fail(err, GBOSE_ENUMERIC, "the probabilities of %s %zu add up to %.9g", whose, number,
                           sum);
    return GBOSE_OK;
}

static int check_row(const gbose_evaluation *e, const gbose_logged *row, const double *const *pmf,
                     gbose_error *err)
{
    int rc;

    if (!row || !pmf || row->n_arms == 0 || row->arm >= row->n_arms || !row->pmf ||
        (e->dim && !row->contexts))
        return gbose__fail(err, GBOSE_EINVAL,
                           "a logged round needs arms, one that was played, probabilities and contexts");
    if (!(fabs(row->reward) <= GBOSE_MAX_INPUT))
        return gbose__fail(err, GBOSE_ENUMERIC, "the reward is %g: it must be within +-%g", row->reward,
                           GBOSE_MAX_INPUT);
    rc = check_pmf(row->pmf, row->n_arms, "the log's policy", 0, err);
    if (rc)
        return rc;
    if (!(row->pmf[row->arm] >= GBOSE__LEAST_P))
        return gbose__fail(err, GBOSE_ENUMERIC,
                           "arm %zu was played, and is logged with probability %g: less than %g cannot be",
                           row->arm, row->pmf[row->arm], GBOSE__LEAST_P);
    for (size_t i = 0; i < e->n; i++) {
        if (!pmf[i])
            return gbose__fail(err, GBOSE_EINVAL, "policy %zu has no probabilities", i);
        rc = pmf[i] == row->pmf ? GBOSE_OK : check_pmf(pmf[i], row->n_arms, "policy", i, err);
        if (rc)
            return rc;
    }
    for (size_t a = 0; row->label && a < row->n_arms; a++)
        if (row->label[a] >= LABELS_MOST)
            return gbose__fail(err, GBOSE_EINVAL, "label %zu is too large: %d at the most", row->label[a],
                               LABELS_MOST - 1);
    for (size_t i = 0; i < row->n_arms * e->dim; i++)
        if (!(fabs(row->contexts[i]) <= GBOSE_MAX_INPUT))
            return gbose__fail(err, GBOSE_ENUMERIC, "feature %zu of arm %zu is %g: it must be within +-%g",
                               i % e->dim, i / e->dim, row->contexts[i], GBOSE_MAX_INPUT);
    return GBOSE_OK;
}

/* ---- room ---- */

static int reserve_arms(gbose_evaluation *e, size_t n)
{
    double *context, *score;

    if (n <= e->capacity)
        return GBOSE_OK;
    n = n > 2 * e->capacity ? n : 2 * e->capacity;
    context = gbose__alloc(n, e->baseline.stride * sizeof(double));
    score = gbose__alloc(n, 2 * sizeof(double));
    if (!context || !score) {
        gbose__free(context);
        gbose__free(score);
        return GBOSE_ENOMEM;
    }
    gbose__free(e->context);
    gbose__free(e->score);
    e->context = context;
    e->score = score;
    e->q = score + n;
    e->capacity = n;
    return GBOSE_OK;
}

static int reserve_labels(gbose_evaluation *e, const gbose_logged *row)
{
    size_t most = row->n_arms - 1;
    struct offset *offset;

    for (size_t a = 0; row->label && a < row->n_arms; a++)
        most = a == 0 || row->label[a] > most ? row->label[a] : most;
    if (gbose__audit_reserve(&e->audit, most))
        return GBOSE_ENOMEM;
    if (e->dim || e->audit.n_arm <= e->n_offset)
        return GBOSE_OK;
    offset = gbose__alloc(e->audit.n_arm, sizeof *offset);
    if (!offset)
        return GBOSE_ENOMEM;
    if (e->n_offset)
        memcpy(offset, e->offset, e->n_offset * sizeof *offset);
    gbose__free(e->offset);
    e->offset = offset;
    e->n_offset = e->audit.n_arm;
    return GBOSE_OK;
}

/* The ridge is in units of the features: that of the first round decides. */
static int begin_theta(gbose_evaluation *e, const gbose_logged *row)
{
    double sum = 0;

    if (e->theta.dim || !e->dim)
        return GBOSE_OK;
    for (size_t i = 0; i < row->n_arms * e->dim; i++)
        sum += row->contexts[i] * row->contexts[i];
    sum /= (double)(row->n_arms * e->dim);
    return gbose__ridge_init(&e->theta, e->dim, sum > 1e-100 ? RIDGE * sum : RIDGE, 1);
}

static int reserve(gbose_evaluation *e, const gbose_logged *row)
{
    int rc = reserve_arms(e, row->n_arms);

    rc = rc ? rc : reserve_labels(e, row);
    return rc ? rc : begin_theta(e, row);
}

/* ---- a round ---- */

static size_t label_of(const gbose_logged *row, size_t a)
{
    return row->label ? row->label[a] : a;
}

/* The scores b'theta, the best of them, their mean by the log's probabilities, and q. Returns c. */
static double predict(gbose_evaluation *e, const gbose_logged *row, double *best, double *mean)
{
    static const double none[GBOSE__LANES];
    double c;

    if (e->dim) {
        for (size_t a = 0; a < row->n_arms; a++)
            memcpy(e->context + a * e->baseline.stride, row->contexts + a * e->dim, e->dim * sizeof(double));
        gbose__kernels->dots(e->score, e->context, e->theta.mu, row->n_arms, e->baseline.stride);
    } else {
        for (size_t a = 0; a < row->n_arms; a++) {
            const struct offset *offset = e->offset + label_of(row, a);
            e->score[a] = offset->sum / (offset->n + 1);
        }
    }
    *best = e->score[0];
    *mean = 0;
    for (size_t a = 0; a < row->n_arms; a++) {
        *best = e->score[a] > *best ? e->score[a] : *best;
        *mean += row->pmf[a] * e->score[a];
    }
    c = gbose__level_predict(&e->baseline, e->dim ? e->theta.mu : none, *best, *mean);
    /* Where the log's own probabilities are not known, only a q that is the same for all arms has a known
     * mean. */
    for (size_t a = 0; a < row->n_arms; a++) {
        e->q[a] = gbose__level_within(&e->baseline, row->partial ? c : c + e->score[a]);
        if (e->in_range) /* of an arm that cannot be played, q is then wrong by the range at the most */
            e->q[a] = fmin(e->set.high, fmax(e->set.low, e->q[a]));
    }
    return c;
}

/* Centring needs all probabilities, so that a partial round teaches the baseline alone. */
static void learn(gbose_evaluation *e, const gbose_logged *row, double c, double best, double mean)
{
    static const double none[GBOSE__LANES];
    const double *b = e->context + row->arm * e->baseline.stride;
    double *x = e->theta.x;
    int settled = e->baseline.rounds >= WARM_UP &&
                  !row->partial; /* before, a reward says more of the level than of its arm */

    if (!e->dim) {
        struct offset *offset = e->offset + label_of(row, row->arm);

        gbose__level_learn(&e->baseline, none, best, none, row->reward - e->score[row->arm]);
        if (settled) {
            offset->n++;
            offset->sum += row->reward - c;
        }
        return;
    }
    gbose__level_learn(&e->baseline, e->theta.mu, best, b, row->reward);
    if (!settled)
        return;
    memset(x, 0, e->baseline.stride * sizeof *x);
    for (size_t a = 0; a < row->n_arms; a++)
        if (row->pmf[a] > 0)
            gbose__kernels->axpy(x, -row->pmf[a], e->context + a * e->baseline.stride, e->baseline.stride);
    gbose__kernels->axpy(x, 1, b, e->baseline.stride);
    gbose__ridge_begin(&e->theta);
    gbose__ridge_term(&e->theta, x, 1, row->reward - c - mean);
}

static void add_policy(gbose_evaluation *e, struct policy *policy, const gbose_logged *row, const double *pmf)
{
    const gbose_evaluation_options *set = &e->set;
    double q = e->q[row->arm], range = set->high - set->low, w = pmf[row->arm] / row->pmf[row->arm], mean = 0;

    for (size_t a = 0; a < row->n_arms; a++)
        mean += pmf[a] * e->q[a];
    policy->w = w;
    policy->mean_q = mean;
    gbose__estimators_add(&policy->value, w, row->reward, q, mean, set->switch_at, set->shrink);
    gbose__support_add(&policy->support, row, pmf);
    if (e->in_range) {
        gbose__lower_add(&policy->low, w * (row->reward - set->low) / range);
        gbose__lower_add(&policy->high, w * (set->high - row->reward) / range);
    }
}

/* What is known before the draw of (w_1 - w_2)^2: its mean and the largest it can be. */
static void spread_of(double *spread, double *reach, const gbose_logged *row, const double *pmf,
                      const double *first)
{
    *spread = *reach = 0;
    for (size_t a = 0; a < row->n_arms; a++)
        if (row->pmf[a] >= GBOSE__LEAST_P) {
            double off = pmf[a] - first[a], w = off / row->pmf[a];

            *spread += off * w;
            *reach = w * w > *reach ? w * w : *reach;
        }
}

static void add_difference(gbose_evaluation *e, struct policy *policy, const gbose_logged *row,
                           const double *pmf, const double *first_pmf)
{
    const struct policy *first = e->policy;
    double error = (policy->w - first->w) * (row->reward - e->q[row->arm]), spread, reach;
    double r = (row->reward - e->set.low) / (e->set.high - e->set.low);

    if (first->value.n > WARM_UP * (1 + (double)e->dim)) {
        spread_of(&spread, &reach, row, pmf, first_pmf);
        if (row->partial) /* what was seen must do */
            spread = reach = (policy->w - first->w) * (policy->w - first->w);
        gbose__running_add(&policy->phi, policy->mean_q - first->mean_q + error, error, spread, reach,
                           e->set.horizon);
        for (size_t a = 0; a < row->n_arms; a++)
            policy->phi_lost += row->pmf[a] >= GBOSE__LEAST_P ? 0 : fabs(pmf[a] - first_pmf[a]);
    }
    if (e->in_range) {
        gbose__lower_add(&policy->more, (policy->w * r + first->w * (1 - r)) / 2);
        gbose__lower_add(&policy->less, (first->w * r + policy->w * (1 - r)) / 2);
    }
}

int gbose_evaluation_add(gbose_evaluation *e, const gbose_logged *row, const double *const *pmf,
                         gbose_error *err)
{
    double c, best, mean;
    int rc;

    if (!e)
        return gbose__fail(err, GBOSE_EINVAL, "no evaluation");
    rc = check_row(e, row, pmf, err);
    if (rc)
        return rc;
    if (reserve(e, row))
        return gbose__fail(err, GBOSE_ENOMEM, "out of memory for a round of %zu arms", row->n_arms);
    c = predict(e, row, &best, &mean);
    e->in_range &= row->reward >= e->set.low && row->reward <= e->set.high;
    gbose__audit_add(&e->audit, row, e->score);
    for (size_t i = 0; i < e->n; i++)
        add_policy(e, e->policy + i, row, pmf[i]);
    for (size_t i = 1; i < e->n; i++)
        add_difference(e, e->policy + i, row, pmf[i], pmf[0]);
    learn(e, row, c, best, mean);
    return succeed(err);
}

/* ---- what it says ---- */

static gbose_interval level(const gbose_evaluation *e, const struct policy *policy)
{
    double range = e->set.high - e->set.low;
    gbose_interval out = {policy->value.wr / policy->value.n, NAN, NAN};

    if (e->in_range) {
        out.lower = e->set.low + range * fmin(1, gbose__lower_bound(&policy->low, e->set.alpha / 2));
        out.upper = e->set.high - range * fmin(1, gbose__lower_bound(&policy->high, e->set.alpha / 2));
    }
    return out;
}

int gbose_evaluation_policy(const gbose_evaluation *e, size_t i, gbose_policy_value *out)
{
    if (!e || !out || i >= e->n || !(e->policy->value.n > 0))
        return GBOSE_EINVAL;
    gbose__estimators_report(&e->policy[i].value, out);
    gbose__support_report(&e->policy[i].support, e->set.alpha, out);
    out->level = level(e, e->policy + i);
    return GBOSE_OK;
}

int gbose_evaluation_difference(const gbose_evaluation *e, size_t i, gbose_difference *out)
{
    const struct policy *policy;
    const struct gbose__running *phi;
    gbose_interval a, b;
    double range, radius, alpha, mean;

    if (!e || !out || i == 0 || i >= e->n || !(e->policy->value.n > 0))
        return GBOSE_EINVAL;
    policy = e->policy + i;
    phi = &policy->phi;
    alpha = e->set.alpha;
    range = e->set.high - e->set.low;
    mean = phi->sum / phi->n;
    radius = gbose__running_radius(phi, alpha);
    /* On arms that could not have been played the regression stands alone, and may be wrong by the whole
     * range. */
    if (policy->phi_lost > 0)
        radius = e->in_range ? radius + policy->phi_lost / phi->n * range : INFINITY;
    out->phi = phi->n > 0 ? (gbose_interval){mean, mean - radius, mean + radius}
                          : (gbose_interval){NAN, -INFINITY, INFINITY};
    a = level(e, e->policy);
    b = level(e, policy);
    out->ips_width = b.upper - a.lower - (b.lower - a.upper);
    out->paired = (gbose_interval){(policy->value.wr - e->policy->value.wr) / policy->value.n, NAN, NAN};
    if (e->in_range) {
        out->paired.lower = range * (2 * fmin(1, gbose__lower_bound(&policy->more, alpha / 2)) - 1);
        out->paired.upper = range * (1 - 2 * fmin(1, gbose__lower_bound(&policy->less, alpha / 2)));
    }
    return GBOSE_OK;
}

int gbose_evaluation_audit(const gbose_evaluation *e, gbose_audit *out)
{
    if (!e || !out || !(e->policy->value.n > 0))
        return GBOSE_EINVAL;
    gbose__audit_report(&e->audit, out);
    return GBOSE_OK;
}

int gbose_evaluation_arm(const gbose_evaluation *e, size_t label, gbose_arm_audit *out)
{
    return e && out ? gbose__audit_arm(&e->audit, label, out) : GBOSE_EINVAL;
}
