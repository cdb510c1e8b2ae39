/* Who is understood: the mean square of residuals for users of whom little, and of whom much, is expected.
 *
 * Residuals are large where v is badly predicted, and that is not the same for all users: big spenders differ by
 * more than small ones, and some leaves of a tree are mixed. Rounds are sorted into GBOSE__USER_CLASSES classes
 * by vhat, in units of its running mean and deviation, and the orthogonal regression weighs a round by the
 * mean square of all over that of its class. vhat is known before the arm is drawn, so the estimate stays free of bias; and mu
 * is the same for everybody, so those who are understood teach it. (The full regression must not do the same:
 * with other weights than those of the trackers, what they leave of v is not orthogonal to what they leave of
 * the contexts.) */
#ifndef GBOSE_LEARNERS_AUTO_USERS_H
#define GBOSE_LEARNERS_AUTO_USERS_H

#include "learners/auto/tuning.h"

#define GBOSE__USER_CLASSES 8

/* Doubles, since they are saved; zeros at first. */
struct gbose__users {
    double rounds;
    double mean, variance;               /* of vhat, discounted */
    double squares[GBOSE__USER_CLASSES]; /* discounted sums of e^2 and of 1 */
    double counts[GBOSE__USER_CLASSES];
};

/* The weight of a round with this vhat: 1 on average, about. */
double gbose__users_weight(const struct gbose__users *users, const struct gbose__tuning *tuning,
                           double shift);

void gbose__users_learn(struct gbose__users *users, const struct gbose__tuning *tuning, double shift,
                        double residual);

int gbose__users_are_sane(const struct gbose__users *users);

#endif
