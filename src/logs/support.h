/* What a log can say at all: were arms drawn as logged, and could the policy's arms have been played?
 *
 * Every check is a sum of terms whose mean given the past is 0 when the log is right: played - p for an arm
 * or for all arms of about the same p, and the same times an estimated score. Terms of the first two are at
 * most 1 in size, so that the probability of a sum S with variance V is at most 2 exp(S - (S + V) log(1 + S / V))
 * (Freedman, "On tail probabilities for martingales", Annals of Probability 1975; Bennett, 1962, for independent terms): near the
 * normal law's where much is drawn, and a Poisson law's where a draw is rare. */
#ifndef GBOSE_LOGS_SUPPORT_H
#define GBOSE_LOGS_SUPPORT_H

#include <stddef.h>

#include "gbose_log.h"
#include "logs/sequences.h"

#define GBOSE__LEAST_P                                                                                       \
    1e-30 /* a smaller probability counts as 0: nobody draws with it, and weights would overflow */
#define GBOSE__BINS 40 /* of p: (1/2, 1), (1/4, 1/2], ... */

struct gbose__check {
    double sum, variance;
};

struct gbose__audit {
    struct gbose__check *arm; /* by label */
    double *played;           /* by label: how often */
    size_t n_arm;
    struct gbose__check bin[GBOSE__BINS];
    struct gbose__check score;
    double rounds, arms, unplayable, certain, least;
};

/* Makes room for a label. GBOSE_OK or GBOSE_ENOMEM. */
int gbose__audit_reserve(struct gbose__audit *audit, size_t label);
void gbose__audit_clear(struct gbose__audit *audit);

/* Labels must have been reserved; score: n_arms numbers that were known before the draw. */
void gbose__audit_add(struct gbose__audit *audit, const gbose_logged *row, const double *score);
int gbose__audit_arm(const struct gbose__audit *audit, size_t label, gbose_arm_audit *out);
void gbose__audit_report(const struct gbose__audit *audit, gbose_audit *out);

/* The checks of one policy. Their variances given the past are known. */
struct gbose__support {
    int partial; /* of some round only the played arm's probability was known, and so not the variances */
    double n;
    double lost;                /* sum of the policy's mass on arms that could not have been played */
    struct gbose__lower weight; /* of w plus that mass: their mean is 1 */
    double weight_variance;
    struct gbose__check peek; /* sum of pi(played) - sum p pi */
};

void gbose__support_add(struct gbose__support *s, const gbose_logged *row, const double *pmf);
void gbose__support_report(const struct gbose__support *s, double alpha, gbose_policy_value *out);

#endif
