/* The running scale of residuals, and what a round counts by it.
 *
 * s^2 is the recent mean square of the residuals, and s_min^2 the least value of a longer mean: the scale
 * of the noise, as far as it has been seen. gbose-auto has two scales: one of the residuals by the
 * baseline in the ticket, for the orthogonal estimate, and one of those by the baseline at the time of
 * learning, for the full one.
 *
 * Rewards of few values, such as clicks, are told by rewards that are exactly equal to the one before.
 * Where most of them are the same, the rare others are what counts: they are not clipped as surprises, and
 * s_min^2 is the mean of the shortest window in which enough of them are to be expected: in all rounds
 * (sum e^2)^2 / sum e^4 is how many they are. (That number of the window itself would not do: in a stretch
 * without a click all residuals are small and alike.)
 *
 * A stretch may be quiet by chance: who begins by playing an arm that earns nothing has residuals of next to nothing until it earns something, and
 * with an s_min^2 of that time no later round would count. So after 100, 200, 400, ... rounds s_min^2 is taken back if the mean has been twelve times
 * as large ever since half that time, and s_min^2 rests on fewer than 4 residuals that decide, by the number of above; or if it has been a hundred
 * times as large, on however many it rests: the noise is another one now. It is then the least mean of that time.
 *
 * In times of large residuals rounds count less, by w = min(1, room s_min^2 / s^2). And rounds from which
 * much was learned count more: when s_min^2 has become far smaller than it was at the start, because the
 * baseline has found out what moves the rewards, what was learned in the dark must not count like what is
 * learned in the light. w is then multiplied by the worth of a round, start / s_min^2; where that ratio is
 * small it is not acted on, since the first residuals are large in any case, mu being unknown:
 *
 *     worth = max(1, ratio min(1, ratio / worth_ratio))      in units of which the width is sqrt(worth) s_min h
 *
 * What the estimate says of the arm that was played, beside what the baseline expected of it, is its effect. The squares of residuals would be
 * larger by what effects explain if the estimate were left out. Where that is most of what moves the rewards, they have confirmed the
 * estimate, in rounds with one survivor, too: where v takes back what the best arm gains, rewards do not move with effects, and an
 * estimate that takes v for effects makes residuals larger. So with rho the mean of what is explained over s^2, the width is multiplied by
 *
 *     max(narrow_least, min(1, (narrow_from / rho)^2)) */
#ifndef GBOSE_LEARNERS_AUTO_SCALE_H
#define GBOSE_LEARNERS_AUTO_SCALE_H

#include <stddef.h>

#include "learners/auto/tuning.h"

/* What the rewards themselves tell; zeros at first. */
struct gbose__rewards {
    double count; /* learned */
    double last;
    double ties; /* discounted share of rewards that were equal to the one before */
    double lowest, highest;
};

/* Zeros at first. */
struct gbose__scale {
    double squares[GBOSE__WINDOWS]; /* discounted sums of e^2, e^4 and 1, the shortest memory first */
    double fourths[GBOSE__WINDOWS];
    double counts[GBOSE__WINDOWS];
    double explained;   /* discounted sum of what effects explain, with the memory of s^2 */
    double least;       /* s_min^2; the mean of all so far until `known` */
    double known;       /* 1: there were enough residuals */
    double start;       /* s_min^2 at the end of the start */
    double least_count; /* of the long window when its mean was s_min^2 */
    double
        latest; /* its least mean since the number of rounds last was quiet_rounds times a power of two; 0 if there is none */
    double rounds; /* learned */
};

void gbose__rewards_learn(struct gbose__rewards *rewards, const struct gbose__tuning *tuning, double reward);

/* Are they of few values? */
static inline int gbose__rewards_are_rare(const struct gbose__rewards *rewards,
                                          const struct gbose__tuning *tuning)
{
    return rewards->ties > tuning->rare_ties;
}

int gbose__rewards_are_sane(const struct gbose__rewards *rewards);

/* s^2, 0 before the first residual. */
static inline double gbose__scale_recent(const struct gbose__scale *scale)
{
    return scale->counts[0] > 0 ? scale->squares[0] / scale->counts[0] : 0;
}

/* w of the next round, without its worth. */
double gbose__scale_weight(const struct gbose__scale *scale, const struct gbose__tuning *tuning,
                           const struct gbose__rewards *rewards);

/* At least 1. */
double gbose__scale_worth(const struct gbose__scale *scale, const struct gbose__tuning *tuning);

/* The unit of the width, sqrt(worth) s_min; infinite when nothing is known. */
double gbose__scale_unit(const struct gbose__scale *scale, const struct gbose__tuning *tuning);

/* The most that a surprise may be; infinite where surprises are not clipped. */
double gbose__scale_surprise(const struct gbose__scale *scale, const struct gbose__tuning *tuning,
                             const struct gbose__rewards *rewards);

/* The factor of the width by rho. */
double gbose__scale_narrow(const struct gbose__scale *scale, const struct gbose__tuning *tuning);

/* The effect of an arm that was played, with its residual. */
void gbose__scale_learn_effect(struct gbose__scale *scale, const struct gbose__tuning *tuning, double effect,
                               double residual);

/* A residual; its reward has been learned. */
void gbose__scale_learn(struct gbose__scale *scale, const struct gbose__tuning *tuning,
                        const struct gbose__rewards *rewards, double residual);

int gbose__scale_is_sane(const struct gbose__scale *scale);

#endif
