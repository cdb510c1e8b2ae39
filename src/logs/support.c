#include "logs/support.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/normal.h"

/* ---- the audit ---- */

int gbose__audit_reserve(struct gbose__audit *audit, size_t label)
{
    struct gbose__check *arm;
    double *played;
    size_t n = audit->n_arm ? audit->n_arm : 16;

    if (label < audit->n_arm)
        return GBOSE_OK;
    while (n <= label)
        n *= 2;
    arm = gbose__alloc(n, sizeof *arm);
    played = gbose__alloc(n, sizeof *played);
    if (!arm || !played) {
        gbose__free(arm);
        gbose__free(played);
        return GBOSE_ENOMEM;
    }
    if (audit->n_arm) {
        memcpy(arm, audit->arm, audit->n_arm * sizeof *arm);
        memcpy(played, audit->played, audit->n_arm * sizeof *played);
    }
    gbose__audit_clear(audit);
    audit->arm = arm;
    audit->played = played;
    audit->n_arm = n;
    return GBOSE_OK;
}

void gbose__audit_clear(struct gbose__audit *audit)
{
    gbose__free(audit->arm);
    gbose__free(audit->played);
}

static void note(struct gbose__check *check, double off, double variance)
{
    check->sum += off;
    check->variance += variance;
}

/* Bin k holds the p in (2^-(k+1), 2^-k]. */
static size_t bin_of(double p)
{
    int exponent;
    size_t k;

    if (frexp(p, &exponent) == 0.5)
        exponent--;
    k = (size_t)-exponent;
    return k < GBOSE__BINS ? k : GBOSE__BINS - 1;
}

void gbose__audit_add(struct gbose__audit *audit, const gbose_logged *row, const double *score)
{
    double in_bin[GBOSE__BINS] = {0}, mean = 0, square = 0, own = score[row->arm], p = row->pmf[row->arm];
    size_t first = GBOSE__BINS, last = 0, played = bin_of(p);

    audit->rounds++;
    audit->arms += (double)row->n_arms;
    audit->certain += p >= 1;
    if (audit->rounds == 1 || p < audit->least)
        audit->least = p;
    if (row->partial)
        return;
    for (size_t a = 0; a < row->n_arms; a++) {
        double q = row->pmf[a];
        size_t k;

        if (!(q >= GBOSE__LEAST_P)) {
            audit->unplayable++;
            continue;
        }
        note(&audit->arm[row->label ? row->label[a] : a], (a == row->arm) - q, q * (1 - q));
        k = bin_of(q);
        in_bin[k] += q;
        first = k < first ? k : first;
        last = k > last ? k : last;
        mean += q * (score[a] - own);
        square += q * (score[a] - own) * (score[a] - own);
    }
    audit->played[row->label ? row->label[row->arm] : row->arm]++;
    for (size_t k = first; k <= last; k++)
        note(&audit->bin[k], (k == played) - in_bin[k], fmax(0, in_bin[k] * (1 - in_bin[k])));
    note(&audit->score, -mean, fmax(0, square - mean * mean));
}

static double standard(const struct gbose__check *check)
{
    return check->variance > 0 ? check->sum / sqrt(check->variance) : 0;
}

static double probability(const struct gbose__check *check)
{
    double u;

    /* So little is rounding: of an arm of probability 1 that was played. */
    if (!(fabs(check->sum) > 1e-6))
        return 1;
    if (!(check->variance > 0))
        return 0;
    u = fabs(check->sum) / check->variance;
    return fmin(
        1, 2 * gbose__exp(-check->variance * ((1 + u) * gbose__log(1 + u) - u))); /* support.h, u = S / V */
}

/* The least probable of n checks; p is that of any of them being so. */
static size_t worst(const struct gbose__check *check, size_t n, double *score, double *p)
{
    size_t at = 0, count = 0;
    double least = 2;

    for (size_t i = 0; i < n; i++) {
        double q = probability(check + i);

        count += check[i].variance > 0;
        if (q < least) {
            least = q;
            at = i;
        }
    }
    *score = n ? standard(check + at) : 0;
    *p = fmin(1, least * (double)(count ? count : 1));
    return at;
}

void gbose__audit_report(const struct gbose__audit *audit, gbose_audit *out)
{
    memset(out, 0, sizeof *out);
    out->worst_arm = worst(audit->arm, audit->n_arm, &out->arm, &out->arm_p);
    out->worst_bin = ldexp(1, -(int)worst(audit->bin, GBOSE__BINS, &out->bin, &out->bin_p));
    out->score = standard(&audit->score);
    out->score_p = fmin(1, 2 * gbose__normal_cdf(-fabs(out->score)));
    out->least_p = audit->least;
    out->unplayable = audit->unplayable / audit->arms;
    out->certain = audit->certain / audit->rounds;
    out->p = fmin(1, 3 * fmin(out->score_p, fmin(out->arm_p, out->bin_p)));
}

int gbose__audit_arm(const struct gbose__audit *audit, size_t label, gbose_arm_audit *out)
{
    if (label >= audit->n_arm)
        return GBOSE_EINVAL;
    *out = (gbose_arm_audit){.played = audit->played[label],
                             .expected = audit->played[label] - audit->arm[label].sum,
                             .score = standard(&audit->arm[label])};
    return GBOSE_OK;
}

/* ---- a policy ---- */

void gbose__support_add(struct gbose__support *s, const gbose_logged *row, const double *pmf)
{
    double lost = 0, square = 0, agreement = 0, agreement2 = 0;

    for (size_t a = 0; a < row->n_arms; a++) {
        double p = row->pmf[a];

        if (p >= GBOSE__LEAST_P) {
            square += pmf[a] * pmf[a] / p;
            agreement += p * pmf[a];
            agreement2 += p * pmf[a] * pmf[a];
        } else {
            lost += pmf[a];
        }
    }
    s->n++;
    s->partial |= row->partial;
    s->lost += lost;
    gbose__lower_add(&s->weight, pmf[row->arm] / row->pmf[row->arm] + lost);
    s->weight_variance += fmax(0, square - (1 - lost) * (1 - lost));
    note(&s->peek, pmf[row->arm] - agreement, fmax(0, agreement2 - agreement * agreement));
}

void gbose__support_report(const struct gbose__support *s, double alpha, gbose_policy_value *out)
{
    double mean = s->weight.sum / s->n, off = s->peek.sum / s->n, radius;

    out->supported = 1 - s->lost / s->n;
    radius = gbose__known_excess(s->n, s->weight_variance, alpha / 2);
    out->weight = (gbose_interval){mean, gbose__lower_bound(&s->weight, alpha / 2), mean + radius};
    radius = gbose__known_excess(s->n, s->peek.variance, alpha / 2);
    out->peek = (gbose_interval){off, off - radius, off + radius};
    if (s->partial) {
        out->weight.upper = INFINITY;
        out->peek = (gbose_interval){NAN, -INFINITY, INFINITY};
    }
}
