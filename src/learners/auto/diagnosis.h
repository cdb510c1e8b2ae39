/* What gbose_diagnose() rests on: sums over the rounds learned, kept beside a learner and without influence
 * on it.
 *
 * The plain regression is that of the rewards on (1, b_a) over all rounds. Only its sums are kept, so that a
 * round costs dim^2/2 additions (fewer where b_a begins or ends with zeros); it is solved when it is asked
 * for:
 *
 *     G       = sum (b - bbar)(b - bbar)',   theta = A^-1 sum (b - bbar) r,   A = G + l I,   l = s^2 / |mu|^2
 *
 * so the penalty is that of a prior as wide as mu, the orthogonal estimate, is long. Orthogonal: B = P + J
 * with J = sum w X X', and mu = B^-1 sum w X (r - c). Let s_O^2 = mean of w (r - c - X'mu)^2 over the coins,
 * and s^2 = mean of the squared residuals of all rounds.
 *
 *     S = sum w X (r - c - X'theta) = B (mu - theta) + P theta      what the coins say against theta
 *     V = H + s^2 J A^-1 J                                          at least its covariance, if theta is right
 *     H = sum w^2 X X'(r - c - X'mu)^2                              mu being that of the time: a sandwich's filling
 *     hausman = S'W^-1 S,   W = V + s_O^2 P                         P leaves out directions that no coin has shown
 *
 * If theta is right, hausman is a sum of squared normals with weights, the eigenvalues of M = V W^-1; its
 * tail Q is taken as that of a scaled chi-square with the same mean and variance (Satterthwaite): df =
 * tr(M)^2 / tr(M^2), scale a = tr(M^2) / tr(M). That is for a single look. The p-value
 *
 *     p = Q (1 + y log(2) / 2) (k + 1)(k + 2),    y = hausman / a,   k = log2(1 + coins)
 *
 * is anytime-valid: it may be looked at after every round. It spends alpha / ((k+1)(k+2)) on the doubling of
 * the coins that is number k, within which a squared normal that forgets over a doubling (Ornstein and
 * Uhlenbeck) exceeds y about 1 + y log(2) / 2 times as often as at its end. In simulated linear worlds it
 * stays below its level (docs/learners/gbose-auto.md).
 *
 * Effects (gbose_effect()) rest on the same regression without its prior: J^-1 (B mu), with the sandwich
 * J^-1 H J^-1.
 *
 * The bias is D = B^-1 S, the difference of both estimates shrunk where coins have said nothing: sqrt(D'G D /
 * n); sqrt(trace(G B^-1 V B^-1) / n) is what noise makes of it. */
#ifndef GBOSE_LEARNERS_AUTO_DIAGNOSIS_H
#define GBOSE_LEARNERS_AUTO_DIAGNOSIS_H

#include <stddef.h>

#include "core/ridge.h"
#include "gbose.h"
#include "learners/auto/tuning.h"

struct gbose__diagnosis {
    const struct gbose__tuning *tuning;
    size_t dim;
    double *at; /* gbose__diagnosis_size() numbers, zero at first */
};

/* A round that is learned. Residuals are at most GBOSE__CLIP_RESIDUAL in magnitude. */
struct gbose__diagnosis_round {
    double reward;
    const double *context; /* the one played, padded */
    double shift;          /* reward - b'mu by the estimate that chose */
    double residual;       /* shift - vhat */
    int coin;              /* was there a choice? */
    double weight;         /* of its term in the orthogonal regression */
    double coin_residual;  /* r - c - X'mu by the orthogonal estimate */
    const double *centred; /* X, padded */
    double *scratch;       /* a padded row */
};

size_t gbose__diagnosis_size(size_t dim);
/* Copy sums of a smaller dim into numbers that are zero: what is new in a context was zero in every round. */
void gbose__diagnosis_grow(const struct gbose__diagnosis *to, const struct gbose__diagnosis *from);
void gbose__diagnosis_learn(const struct gbose__diagnosis *diagnosis,
                            const struct gbose__diagnosis_round *round, double forget);
/* Feature j of all contexts comes as `factor`, a power of two, times what it was. */
void gbose__diagnosis_rescale(const struct gbose__diagnosis *diagnosis, size_t j, double factor);
int gbose__diagnosis_is_sane(const struct gbose__diagnosis *diagnosis);

/* Add what `from` has learned since `common` (NULL: since it began), of which the share `remains` is left in
 * `from`. What describes the present is not changed. */
void gbose__diagnosis_merge(const struct gbose__diagnosis *into, const double *from, const double *common,
                            double remains);

/* Fill all of `out` but tracker, tracker_forget and full. GBOSE_OK, GBOSE_ENOMEM. */
int gbose__diagnosis_report(const struct gbose__diagnosis *diagnosis, const struct gbose__ridge *orthogonal,
                            gbose_diagnosis *out);

/* x'mu without the prior, and an interval that holds at all times, at most a share alpha of cases aside;
 * infinite limits as long as there are few coins. GBOSE_EUNSEEN if no coin has shown x; GBOSE_ENOMEM. */
int gbose__diagnosis_effect(const struct gbose__diagnosis *diagnosis, const struct gbose__ridge *orthogonal,
                            const double *x, double alpha, double *estimate, double *lower, double *upper);

#endif
