/* How long is mu? Less than the full estimate says, perhaps.
 *
 * Where v is large beside the effects and not yet understood, the full estimate is mostly noise, and many times too long. It then
 * chooses like noise does, and hides v. Coins tell: the effect seen, regressed on the effect X'mu that was predicted,
 * has the slope 1 if the estimate is as long as it should be, and nearly 0 if it is noise.
 *
 *     slope = sum p e / sum p^2, with a standard error of s / sqrt(sum p^2)
 *
 * p the prediction and e the effect seen, discounted. Where the slope is clearly too small the full regression is told, once for each of its
 * features, that this part of mu is zero, and coins are counted anew; each time with so much weight that the penalty is four times what it was, up to a limit. That is what
 * a prior would say of which the size is found from the data. It is evidence like any other, so that units, saving and merging
 * need not know of it.
 *
 * Without a shift that depends on who is asked this is left out (auto.c): elsewhere coins are tossed where little is at stake, and would
 * shorten an estimate that is right. */
#ifndef GBOSE_LEARNERS_AUTO_LENGTH_H
#define GBOSE_LEARNERS_AUTO_LENGTH_H

#include "core/ridge.h"
#include "learners/auto/tuning.h"

/* Doubles, since they are saved; zeros at first. */
struct gbose__length {
    double products, squares; /* discounted sums of p e and p^2, in units of s^2 */
    double weight;            /* of all that the regression was told so far */
};

/* A coin, of which so much was predicted and seen; `variance` is s^2. Is the estimate clearly too long? */
int gbose__length_learn(struct gbose__length *length, const struct gbose__tuning *tuning, double variance,
                        double predicted, double seen);

/* Tell regressions of the same shape that mu is small, `unit` being the weight of a round; the scratch is a row. */
void gbose__length_shorten(struct gbose__length *length, const struct gbose__tuning *tuning,
                           struct gbose__ridge *fit, size_t count, double unit, double *scratch);

int gbose__length_is_sane(const struct gbose__length *length);

#endif
