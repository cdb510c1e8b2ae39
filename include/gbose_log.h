/* gbose logs: what a log of decisions says about other policies, and about the arms.
 *
 * A log is a sequence of rounds: the arms that could be played, the probability of each, the one that was
 * played, and its reward. Three questions can be asked of it, each in one pass and constant memory:
 *
 *     gbose_evaluation     Would another policy have done better, and by how much?
 *     gbose_effects        What does a feature of an arm do to the reward, and how sure is that?
 *     gbose_wcls()         The same for a table of a micro-randomised trial, as its literature does it.
 *
 * and a learner is trained from it by gbose_ticket_for() and gbose_learn() (gbose.h).
 *
 *     gbose_evaluation *e;
 *     gbose_evaluation_new(&e, 2, dim, NULL, &err);                 two policies
 *     for (each logged round) {
 *         const double *pmf[] = {row.pmf, mine};                    the logged policy's, and mine
 *         gbose_evaluation_add(e, &row, pmf, &err);
 *     }
 *     gbose_evaluation_difference(e, 1, &d);                     d.phi.estimate in [d.phi.lower, d.phi.upper]
 *     gbose_evaluation_free(e);
 *
 * The level of the rewards may move in any way, and the log may have been made by a policy that learned.
 * What must be true is that each arm was really drawn with the logged probability. There are checks for that
 * (gbose_audit), and for policies that the log cannot judge (gbose_policy_value).
 *
 * The rules of gbose.h hold: errors are codes, outputs are written only on success, a failing call leaves its
 * objects unchanged, nothing is printed, and no file or clock is read. Different objects are
 * independent; calls on one object must not run at the same time, except those that take it as const. */
#ifndef GBOSE_LOG_H
#define GBOSE_LOG_H

#include "gbose.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A logged round. All pointers are borrowed for the call that takes it. */
typedef struct {
    size_t n_arms; /* at least 1 */
    size_t arm;    /* that was played */
    const double *
        pmf; /* n_arms: the probabilities it was drawn with; pmf[arm] is at least 1e-30, and less counts as 0 */
    double reward;
    const double *contexts; /* n_arms rows of dim doubles; NULL when dim is 0 */
    const size_t *label;    /* n_arms: the number of each in your catalogue; NULL: its place in the round */
    uint64_t unit; /* whose outcome it is: rounds of one unit may be correlated. Used by effects only */
    int partial; /* 1: only pmf[arm] was logged, and the rest of pmf is a guess that adds up to 1. Weights need no
                      more; but the draws cannot be audited, and effects cannot be estimated */
} gbose_logged;

typedef struct {
    double estimate, lower, upper;
} gbose_interval;

/* ---- evaluating policies --------------------------------------------------------------------------- */

typedef struct {
    double alpha;     /* the probability of error of every interval, 0.05 */
    double low, high; /* between which rewards are known to be, 0 and 1; level and paired need it */
    double switch_at; /* Switch-DR drops the correction where the weight exceeds this, 10 */
    double shrink;    /* DRos takes shrink w / (w^2 + shrink) for the weight w, 100 */
    double horizon;   /* rounds at which the sequences of differences are tightest, 10000 */
} gbose_evaluation_options;

typedef struct gbose_evaluation gbose_evaluation;

/* What the log says about one policy. w = pi(a) / p(a) of the arm that was played, r its reward, q(a) the reward
 * that a regression on earlier rounds expects of arm a, q(pi) the mean of q by the policy. */
typedef struct {
    uint64_t rounds;
    double ips;          /* mean of w r */
    double snips;        /* sum of w r / sum of w */
    double dm;           /* mean of q(pi) */
    double dr;           /* mean of q(pi) + w (r - q) */
    double sndr;         /* dm + sum of w (r - q) / sum of w */
    double switch_dr;    /* as dr, without the correction where w > switch_at */
    double dr_os;        /* as dr, with w shrunk */
    double cressie_read; /* the empirical likelihood's, of order -2 */
    /* Running average of what the policy earns, exact at all times; limits are NaN when a reward was outside
     * of [low, high]. */
    gbose_interval level;
    double supported;      /* share of its mass on arms that could have been played, 0 to 1 */
    double effective;      /* (sum of w)^2 / sum of w^2: rounds of its own that the log is worth */
    double largest;        /* the largest w */
    gbose_interval weight; /* mean of w plus the unsupported mass, at all times: it must hold 1 */
    /* Mean of pi(played) - sum of p pi, at all times. It must hold 0, or the policy knows what was drawn. */
    gbose_interval peek;
} gbose_policy_value;

/* What it says about the difference of two policies. The limits are infinite until there is enough data. */
typedef struct {
    /* The narrow one: at all times, once many rounds share the variance. Its average leaves out the first
     * 10 (1 + dim) rounds, in which the regression finds its way. Mass on arms that could not have been
     * played widens it by that mass times the range of rewards. */
    gbose_interval phi;
    gbose_interval paired; /* exact at all times, and wider; NaN when a reward was outside of [low, high] */
    double ips_width;      /* width of the difference of the two levels' intervals, for comparison */
} gbose_difference;

/* Was it drawn as logged? Each number is the largest of several standard scores, and p the probability of so
 * large a one, counted once for each score. A wrong propensity column shows as a tiny p. */
typedef struct {
    double arm, arm_p;     /* by arm: sum of (played - p), against its standard error */
    size_t worst_arm;      /* label of the largest */
    double bin, bin_p;     /* by size of p, in bins of a factor of two */
    double worst_bin;      /* upper end of the largest */
    double score, score_p; /* by the arms' estimated scores: did better arms come more often than logged? */
    double least_p;        /* the smallest probability that an arm was played with */
    double unplayable;     /* share of arms, over all rounds, that had probability 0 */
    double certain;        /* share of rounds whose arm had probability 1: they say nothing of the others */
    double p;              /* of all three together */
} gbose_audit;

/* One arm of the audit: how often it was played, how often the probabilities say, and by how many standard
 * errors that differs. */
typedef struct {
    double played, expected, score;
} gbose_arm_audit;

/* The defaults, as above. */
GBOSE_API gbose_evaluation_options gbose_evaluation_defaults(void);

/* Make an evaluation of so many policies (at least 1).
 *   dim      features of an arm; 0: none are logged. They serve the regression, which narrows intervals.
 *   options  NULL: the defaults. Borrowed.
 * GBOSE_EINVAL if a pointer is NULL, a size is 0 or an option is out of its range (the text says which),
 * GBOSE_ENOMEM. */
GBOSE_API int gbose_evaluation_new(gbose_evaluation **out, size_t n_policies, size_t dim,
                                   const gbose_evaluation_options *options, gbose_error *err);

/* NULL is allowed. */
GBOSE_API void gbose_evaluation_free(gbose_evaluation *e);

/* Take in a round.
 *   pmf  for each policy the n_arms probabilities with which it would have played.
 * GBOSE_EINVAL if a pointer is NULL or a size is wrong; GBOSE_ENUMERIC if a number is not finite, or
 * probabilities are negative or do not add up to 1 within 1e-6; the logged pmf[arm] must be at least 1e-30.
 * GBOSE_ENOMEM. */
GBOSE_API int gbose_evaluation_add(gbose_evaluation *e, const gbose_logged *row, const double *const *pmf,
                                   gbose_error *err);

/* GBOSE_EINVAL if there is no such policy or no round yet. */
GBOSE_API int gbose_evaluation_policy(const gbose_evaluation *e, size_t i, gbose_policy_value *out);

/* Policy i minus policy 0. GBOSE_EINVAL if there is no such policy, i is 0, or no round yet. */
GBOSE_API int gbose_evaluation_difference(const gbose_evaluation *e, size_t i, gbose_difference *out);

/* GBOSE_EINVAL if there is no round yet. */
GBOSE_API int gbose_evaluation_audit(const gbose_evaluation *e, gbose_audit *out);

/* Of the arm with this label. GBOSE_EINVAL if the label is larger than any that there may have been. */
GBOSE_API int gbose_evaluation_arm(const gbose_evaluation *e, size_t label, gbose_arm_audit *out);

/* ---- effects of features --------------------------------------------------------------------------- */

typedef struct gbose_effects gbose_effects;

/* The effect of a row of features: what x'mu adds to the reward. */
typedef struct {
    double estimate;        /* of x'mu, by least squares without a penalty */
    double error;           /* its standard error, by the sandwich */
    gbose_interval fixed;   /* for one look, at a time chosen beforehand */
    gbose_interval anytime; /* for looks as often as one likes; infinite until there is enough to go by */
    uint64_t rounds;        /* rounds in which chance chose among arms that differ */
    uint64_t units;         /* the units they came from; 0 when rounds are taken one by one */
} gbose_effect_value;

/* Begin to estimate effects of dim features (at least 1).
 *   by_unit  1: rounds of one unit may be correlated in any way, and the error is clustered by unit. This
 *            takes memory for each unit. 0: what is not known before the draw is new in every round.
 * GBOSE_EINVAL, GBOSE_ENOMEM. */
GBOSE_API int gbose_effects_new(gbose_effects **out, size_t dim, int by_unit, gbose_error *err);

/* NULL is allowed. */
GBOSE_API void gbose_effects_free(gbose_effects *f);

/* Take in a round, as gbose_evaluation_add() does. */
GBOSE_API int gbose_effects_add(gbose_effects *f, const gbose_logged *row, gbose_error *err);

/* The effect of x (dim doubles): a unit vector for one feature, the difference of two arms' contexts for a
 * contrast.
 *   level  of confidence, between 0 and 1: 0.95.
 * GBOSE_EUNSEEN if the log does not identify it: chance has never told arms apart along x. GBOSE_EINVAL,
 * GBOSE_ENOMEM. */
GBOSE_API int gbose_effects_at(const gbose_effects *f, const double *x, double level,
                               gbose_effect_value *out);

/* ---- micro-randomised trials ----------------------------------------------------------------------- */

/* A decision point of a trial: treat (action 1) or not (0). */
typedef struct {
    uint64_t unit;      /* the participant */
    int available;      /* 0: no treatment was possible, and the row is left out */
    int action;         /* 0 or 1 */
    double probability; /* with which action was drawn to be 1: more than 0, less than 1 */
    /* The probability that effects are centred and weighted by. It may depend on the moderators only; a
     * constant such as the mean probability is usual. */
    double numerator;
    double outcome;
    const double
        *controls; /* what explains the outcome without treatment; the first is usually 1. Borrowed */
    const double *moderators; /* what the effect may depend on; the first is usually 1. Borrowed */
} gbose_trial_row;

typedef struct gbose_wcls gbose_wcls;

/* Weighted and centred least squares (Boruvka, Almirall, Witkiewitz, Murphy, "Assessing time-varying causal
 * effect moderation in mobile health", JASA 2018): the causal excursion effect of the treatment, by
 * moderators. Errors are clustered by unit, with the small-sample correction of Mancl and DeRouen (2001), and
 * intervals are by Student's t. Memory grows with the number of units. Units must be independent: when the
 * probabilities were set by a learner pooled over users they are not quite. GBOSE_EINVAL if a size is 0,
 * GBOSE_ENOMEM. */
GBOSE_API int gbose_wcls_new(gbose_wcls **out, size_t n_controls, size_t n_moderators, gbose_error *err);

/* NULL is allowed. */
GBOSE_API void gbose_wcls_free(gbose_wcls *w);

/* GBOSE_EINVAL, GBOSE_ENUMERIC, GBOSE_ENOMEM; w is then unchanged. */
GBOSE_API int gbose_wcls_add(gbose_wcls *w, const gbose_trial_row *row, gbose_error *err);

/* The effect of treatment at moderators x (n_moderators doubles; a unit vector for one coefficient).
 * out->fixed is the interval; there is none for all times (its limits are infinite). GBOSE_EUNSEEN if the
 * data do not identify it, or there are too few units. */
GBOSE_API int gbose_wcls_at(const gbose_wcls *w, const double *x, double level, gbose_effect_value *out);

#ifdef __cplusplus
}
#endif
#endif
