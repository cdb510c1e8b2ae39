/* The running scale of residuals. s^2 is their recent mean square, and s_min^2 the least value of a longer
 * mean: the scale of the noise, as far as it has been seen. gbose-auto has two: one of the residuals by the
 * baseline in the ticket, for the orthogonal estimate, and one of those by the baseline at the time of
 * learning, for the full one.
 *
 * In times of large residuals rounds count less, by w = min(1, room s_min^2 / s^2). */
#ifndef GBOSE_LEARNERS_AUTO_SCALE_H
#define GBOSE_LEARNERS_AUTO_SCALE_H

#include "learners/auto/tuning.h"

/* Zeros at first. `rounds` below is the number of rounds learned; it is kept once for both scales. */
struct gbose__scale {
    double squares, count;           /* discounted sums of e^2 and of 1 */
    double long_squares, long_count; /* the same, discounted less */
    double least;                    /* s_min^2 */
};

/* s^2, 0 before the first residual. */
static inline double gbose__scale_recent(const struct gbose__scale *scale)
{
    return scale->count > 0 ? scale->squares / scale->count : 0;
}

/* w, of the next round. */
double gbose__scale_weight(const struct gbose__scale *scale, const struct gbose__tuning *tuning,
                           double rounds);

/* s_min, or s in the first rounds. */
double gbose__scale_least(const struct gbose__scale *scale, const struct gbose__tuning *tuning,
                          double rounds);

/* A residual; `rounds` counts its round too. */
void gbose__scale_learn(struct gbose__scale *scale, const struct gbose__tuning *tuning, double rounds,
                        double residual);

int gbose__scale_is_sane(const struct gbose__scale *scale);

#endif
