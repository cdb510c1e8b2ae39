/* The width of gbose-auto with width=certified: a confidence set for the orthogonal regression that holds at
 * all times.
 *
 * Arm a is drawn with probabilities pi, known before the draw, and X = b_a - bbar, bbar = sum_i pi_i b_i. Let
 * F be all that is known before the draw, c the baseline, fixed by F, and m = v + bbar'mu - c. Then
 * r - c = X'mu + m + e, e the noise. Assumed, given F, with three options of the learner:
 *
 *     noise   E exp(s e) <= exp(s^2 noise^2 / 2) for all s, whichever arm is drawn
 *     range   |v + b'mu| <= range for every arm; c is clipped to [-range, range], so |m| <= M = range + |c|
 *     norm    |mu| <= norm
 *
 * and v fixed by F: it may depend on all of the past and on the arms, not on the draw.
 *
 *     G     = lambda I + sum X X'         theta = G^-1 sum X (r - c)
 *     Sigma = E[X X' | F] = sum_i pi_i (b_i - bbar)(b_i - bbar)'; for a coin between b_k and b_l it is
 *             p (1 - p) z z', where z = b_k - b_l and X = (1 - p) z or -p z
 *     H     = eta I + sum [(noise^2 + M^2/3) X X' + (2 M^2/3) Sigma]
 *
 * With probability 1 - delta, for all rounds and all x:
 *
 *     |x'(theta - mu)| <= sqrt(log(det H / eta^dim) + 2 log(1 / delta)) |G^-1 x|_H  +  lambda norm |G^-1 x|
 *
 * Proof. Let S = sum X (m + e), and y = l'X for a fixed l. Noise first: E exp(y e) <= exp(noise^2 y^2 / 2).
 * Then, as exp(u - u^2/6) <= 1 + u + u^2/3 for all u (Delyon, Electronic Journal of Probability 14, 2009),
 * and E[y | F] = 0,
 *
 *     E exp(y m - M^2 y^2 / 6) <= E exp(y m - (y m)^2 / 6) <= 1 + m^2 E y^2 / 3 <= exp(M^2 l'Sigma l / 3).
 *
 * So exp(l'S - l'(H - eta I) l / 2) is a supermartingale that begins at 1. Its mean over l ~ N(0, I / eta) is
 * one too, and is (eta^dim / det H)^(1/2) exp(S'H^-1 S / 2); by Ville's inequality it ever exceeds 1 / delta
 * with probability at most delta. Last, theta - mu = G^-1 S - lambda G^-1 mu.
 *
 * Here eta = lambda K^2 with K^2 = noise^2 + range^2, and H / K^2 is kept: a regression with prior lambda. In
 * the functions below G is the orthogonal regression and H is H / K^2; its det is that of the triangle R,
 * H^-1 = R'R / K^2, and |u|_H = K |y| with R'y = u.
 *
 * Rewards that come late. In the proof rounds are in the order of their draws. When those learned are the
 * rounds up to some draw, the bound is that of the proof, in whatever order they came. With rounds still
 * pending it holds at all times if nothing depends on what is pending: neither contexts and shifts, nor when
 * a reward comes, depend on coins and noises of rounds that have not been learned. For then the proof goes
 * through in the order of learning. If only the delays are independent of what happens, it holds at each time
 * with probability 1 - delta, but not at all times at once. If a reward's delay depends on the reward, rounds
 * that are in have been selected, and nothing holds until the pending ones are in too.
 *
 * The filter keeps nearly all arms for a long time. As the proof is for any pair and any coin that are chosen
 * before the draw, the pair is the best arm and the survivor farthest from it, and the coin is that of
 * width.h. */
#ifndef GBOSE_LEARNERS_AUTO_CERTIFIED_H
#define GBOSE_LEARNERS_AUTO_CERTIFIED_H

#include "learners/learner.h"

/* The assumptions, and the probability with which the bound may ever fail. */
struct gbose__certified {
    double noise, range, norm, delta;
};

/* The baseline c, clipped. */
double gbose__certified_baseline(const struct gbose__certified *c, double baseline);

/* The weights in H / K^2 of X X' (`seen`) and of Sigma (`expected`), for a clipped baseline: together at most
 * 4. */
void gbose__certified_weights(const struct gbose__certified *c, double baseline, double *seen,
                              double *expected);

/* What of the bound is the same for all x: K sqrt(log(det H / eta^dim) + 2 log(1 / delta)). */
double gbose__certified_radius(const struct gbose__certified *c, const struct gbose__ridge *H);

/* The bound for x, given f = R x of G, with zeros up to its stride; f is overwritten. */
double gbose__certified_bound(const struct gbose__certified *c, const struct gbose__ridge *G,
                              const struct gbose__ridge *H, double radius, double *f);

/* The bound for an x of G->dim numbers. Allocates for the call; infinite, which is a bound too, when it
 * cannot. */
double gbose__certified_width(const struct gbose__certified *c, const struct gbose__ridge *G,
                              const struct gbose__ridge *H, const double *x);

/* The filter: round->live becomes the arms that are not provably behind the best one, by the scores of
 * fit[0], and all arms have images. fit[0] is G, fit[1] is H. */
void gbose__certified_filter(const struct gbose__certified *c, const gbose *g, const struct gbose__input *in,
                             struct gbose__round *round, size_t best);

/* The survivor that is farthest from the best arm; there must be two. */
size_t gbose__certified_partner(const struct gbose__input *in, const struct gbose__round *round, size_t best);

/* Write what fit[1], H, learns from a round with a clipped baseline. */
void gbose__certified_explain(const struct gbose__certified *c, const struct gbose__input *in,
                              const double *pmf, size_t arm, double baseline, struct gbose__ticket *to);

#endif
