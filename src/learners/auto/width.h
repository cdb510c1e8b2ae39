/* The width: how far an arm may be behind the best one, and the pair that is played.
 *
 * An arm at distance h = ||R (b_best - b)|| from the best may be at most f(h) behind. With u = h^2 (sum of
 * weights) / dim, which is about 1 where rounds teach all directions alike, and rises with time where what
 * is played says nothing of this arm, and with the values of tuning.h,
 *
 *     f = k s_min h sqrt(1 + 4 log+ (u / 2)) max(1, u / 60)
 *     f = k s_min h max(1, u / 2)      of the full estimate, where v follows users: they may mislead it
 *
 * where k is 0.5 for the full estimate, less in the first rounds, when everything is learned at once, and with more than 20 features
 * (0.35 from 41 on), and 0.35 for the orthogonal one, which learns from coins alone, so that u is larger; 0.6 if there is no other. The
 * first rounds are 4 for each feature, 400 at most, and fewer again with more than 150 features: 92 with 650. Where rewards have confirmed the full estimate
 * its s_min is taken for less, down to 0.3 times (scale.h).
 *
 * Of the arms left, the two farthest apart are played, the better one with probability Phi(lead / f) as in
 * Thompson sampling. */
#ifndef GBOSE_LEARNERS_AUTO_WIDTH_H
#define GBOSE_LEARNERS_AUTO_WIDTH_H

#include "learners/auto/tuning.h"
#include "learners/learner.h"

/* f, for one decision. */
struct gbose__width {
    const struct gbose__tuning *tuning;
    int wary;      /* is it the full estimate, where v follows users? */
    double slope;  /* f(h) / h where u is small: it is nowhere less */
    double weight; /* sum of weights, with that of this round */
    double dim;
};

/* Whose width it is: of the full estimate, of the same where v follows users, of the orthogonal one, or of that when there is
 * no other. */
enum gbose__chooser { GBOSE__FULL, GBOSE__FULL_OF_USERS, GBOSE__ORTHOGONAL, GBOSE__ALONE };

/* f from
 *   scale    s_min; infinite before the first residual
 *   rounds   learned
 *   weights  sum of the full estimate's weights, forgetting as the regressions do */
struct gbose__width gbose__width_of(const struct gbose__tuning *tuning, enum gbose__chooser chooser,
                                    double scale, double rounds, double weights, size_t dim);

double gbose__width_at(const struct gbose__width *width, double h);

/* The filter: round->live becomes the arms that are at most f behind the best one. If they are several they
 * have images by `fit`, the regression of the estimate in use, whose scores are given. */
void gbose__width_filter(const struct gbose__width *width, const struct gbose__ridge *fit,
                         const struct gbose__input *in, const double *score, struct gbose__round *round,
                         size_t best);

/* Give arms k and l their probabilities, by their scores and images. */
void gbose__width_coin(const struct gbose__width *width, const struct gbose__input *in, const double *score,
                       struct gbose__round *round, size_t k, size_t l);

#endif
