/* The contest of the two estimates: does the full one mislead?
 *
 * In a round with a coin X = b_a - bbar is random whatever v does, so that the squared errors with which both
 * estimates predict the coin's effect compare them fairly. Their difference, in units of the residual
 * variance, is evidence against the full estimate. The full one chooses until the evidence is high; then the
 * orthogonal one does until there is none.
 *
 * An orthogonal estimate that is wrong makes all residuals large while it chooses, and in units of these its errors would look
 * small: it would choose for thousands of rounds. So while it chooses the unit is at most contest_reach times the least
 * variance that was ever seen. */
#ifndef GBOSE_LEARNERS_AUTO_CONTEST_H
#define GBOSE_LEARNERS_AUTO_CONTEST_H

#include <stddef.h>

#include "learners/auto/tuning.h"

/* Doubles, since it is saved. Zeros at first, but full_chooses is 1 when there is a full estimate. */
struct gbose__contest {
    double full_chooses;
    double evidence;                 /* against the full estimate */
    double coins;                    /* learned */
    double coin_squares, coin_count; /* discounted sums of e^2 and of 1 over the coins */
};

/* A coin, before either estimate has learned from it. */
struct gbose__coin {
    double effect;     /* the reward less baseline and bbar'mu: what X'mu should have been */
    double full;       /* X'mu by the full estimate */
    double orthogonal; /* X'mu by the orthogonal estimate */
    double residual;   /* of the reward */
};

/* Compare the estimates on a coin, and decide who chooses. `variance` is s^2, the recent mean square of all
 * residuals, and `least` is s_min^2. */
void gbose__contest_learn(struct gbose__contest *contest, const struct gbose__tuning *tuning, size_t dim,
                          double variance, double least, const struct gbose__coin *coin);

/* The same where there is no full estimate. */
void gbose__contest_count(struct gbose__contest *contest, const struct gbose__tuning *tuning,
                          const struct gbose__coin *coin);

/* The orthogonal estimate's scores of a round were absurd: it must not choose. */
void gbose__contest_disqualify(struct gbose__contest *contest);

int gbose__contest_is_sane(const struct gbose__contest *contest, const struct gbose__tuning *tuning,
                           int has_full);

#endif
