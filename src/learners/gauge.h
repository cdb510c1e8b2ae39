/* The units of features, for a learner whose decisions must not depend on the caller's.
 *
 * Such a learner meets every feature divided by its unit, a power of two. Multiplying a feature by a power of
 * two then changes nothing but its unit, to the last bit. Units are made from what is on offer:
 *
 *     feature j   2^e_j, what it differs by between arms where it differs much: e_j is the mean, over the rounds
 *                 learned, of the binary exponent of its range (largest less smallest over the arms on offer),
 *                 and one standard deviation more; how small a small range is does not matter: exponents that are less than the largest
 *                 one by 6 or more count as if it were 6. If the root mean square of the ranges is more, it is that: a pixel that
 *                 is -0.02 nearly always and 42 once in a thousand rounds is not a second constant, and the rounds in which
 *                 it is 42 decide what its effect is. A round in which all arms have the same says nothing; while
 *                 there are no others, e_j is the mean exponent of its size.
 *                 A feature that hardly changes from round to round beside its range over the arms, such as a
 *                 temperature in kelvins in the block of one arm, counts by its changes: e_j is then less by the gap, so
 *                 many bits as the change of its sum over the arms is usually smaller than the range
 *     all         2^e, how far two arms usually are apart when features are in units 2^e_j, over the root of half the number
 *                 of arms: the mean exponent of the root of the mean square distance, over that. Of many arms each is played
 *                 rarely, and the prior is to count less. The few rounds that are met when units rest on one or two
 *                 rounds are left out, and a range counts by the gap less
 *
 * and the unit is 2^(e_j + e). So two arms are at a distance of about the root of half their number, and lambda, the prior of a regression, has
 * a meaning that depends neither on units nor on how many features there are. Exponents are whole numbers,
 * rounded to the nearest.
 *
 * To save time, a round that is decided after the first 1,024 says something of units in one case of eight only, drawn by
 * how many were learned before; but always if it has a feature that has no unit yet.
 *
 * What rounds say is kept as counts and sums of whole numbers: of the range of a feature how often it had its largest exponent, one
 * less, and so on, down to the 6 of above. They add up over tickets in any order and over
 * merged learners. When a reward is learned, what its round says is counted first. A unit that changes by that,
 * as happens ever less often, takes all that is known with it (gbose__ridge_rescale(), and the learner's own
 * rescale). A feature that was zero in all rounds learned has no unit, and needs none, as
 * nothing is known of it; a decision uses the one that its own round suggests. */
#ifndef GBOSE_LEARNERS_GAUGE_H
#define GBOSE_LEARNERS_GAUGE_H

#include "learners/learner.h"

/* Exponents are at most this in magnitude: features between about 1e-30 and 1e30. */
#define GBOSE__GAUGE_MOST 100

/* How many of the largest exponents of a range are told apart. With 8, regret in a world of Dirichlet features was the same and with
 * krishnamurthy's a tenth larger; with all of them a quarter larger in the first (seeds 101 and 102). */
#define GBOSE__GAUGE_BITS 6

/* What rounds have said of a feature, or of the distance of arms. */
struct gbose__unit {
    int64_t ranges, range_sum;         /* rounds that had a range, and the sum of its exponents */
    int64_t largest;                   /* of these exponents; 0 if there are none */
    int64_t counts[GBOSE__GAUGE_BITS]; /* how many were that large, one less, and so on */
    int64_t gaps,
        gap_sum; /* of those that said by how many bits, 6 at most, the change was smaller than the range */
    int64_t sizes, size_sum; /* of rounds in which all arms had the same, other than zero */
    /* What is made of it; 0 when nothing was said. The gap is in the exponent already. */
    int64_t exponent, gap;
    int64_t below_sum, below_squares; /* of how much exponents of ranges are below the largest, 6 at most */
    int64_t power; /* the sum of the squares of ranges, in units of the smallest square that counts */
};

struct gbose__gauge {
    size_t dim;
    struct gbose__unit *unit; /* dim, and one more for the distance of arms */
    int64_t *exponent;        /* dim: of the units in use; 0 for a feature that has none */
    int *shift;               /* dim: scratch */
    double *up, *down;        /* rows: the units, and one over them; 1 for a feature that has none */
    size_t unknown;           /* features that have none */
    size_t gaps;              /* features that have a gap */
    double *coef;             /* a row for each regression: mu in the caller's units */
};

/* For dim features, none of which has a unit. NULL: no memory. */
struct gbose__gauge *gbose__gauge_new(size_t dim);
void gbose__gauge_free(struct gbose__gauge *gauge);
struct gbose__gauge *gbose__gauge_copy(const struct gbose__gauge *gauge);
/* Into new ones of at least as many features; the others have no unit. */
void gbose__gauge_grow(struct gbose__gauge *to, const struct gbose__gauge *from);

/* ---- a round ---- */

/* Contexts were divided by gauge->up: set in->up and in->has_new, and divide features that have no unit by one for this round. */
void gbose__gauge_meet(const struct gbose__gauge *gauge, struct gbose__input *in);

/* Is a round that is decided when so many others have been learned to say anything? */
int gbose__gauge_is_to_say(const struct gbose__input *in, uint64_t learned);

/* Write what this round says, gbose__gauge_words() words, from the columns of the contexts (in->least and so
 * on) and their scatter; or that it says nothing; and may such words be believed? `totals`, NULL if the round is to say
 * nothing of changes, is the sum of all contexts on offer in `rounds` others, a row. */
size_t gbose__gauge_words(size_t dim);
void gbose__gauge_say(const struct gbose__gauge *gauge, const struct gbose__input *in, double scatter,
                      const double *totals, double rounds, struct gbose__writer *to);
void gbose__gauge_say_nothing(size_t dim, struct gbose__writer *to);
int gbose__gauge_are_sane(struct gbose__reader from, size_t dim);

/* Write a row of n numbers in the caller's units; `up` is in->up. Read one, which is padded, in the learner's,
 * each number at most `most` in magnitude; or as it is if units is NULL. */
void gbose__gauge_put(struct gbose__writer *to, const double *row, const double *up, size_t n);
void gbose__gauge_get(struct gbose__reader *from, double *row, const struct gbose__gauge *gauge, size_t n,
                      double most);

/* ---- what is known ---- */

/* Count what a round has said, and move what g knows to the units that are then right. */
void gbose__gauge_learn(gbose *g, struct gbose__reader said);

/* Count what `from` has heard and `common` (NULL: nothing) had not; without moving anything. */
void gbose__gauge_merge(struct gbose__gauge *into, const struct gbose__gauge *from,
                        const struct gbose__gauge *common);

/* Move regressions and state of g's shape from some units to others. */
void gbose__gauge_move(const gbose *g, struct gbose__ridge *fit, double *state,
                       const struct gbose__gauge *from, const struct gbose__gauge *to);

/* How many features never differed between the arms of a round. */
size_t gbose__gauge_constants(const struct gbose__gauge *gauge);

/* After any change of the regressions. */
void gbose__gauge_refresh(gbose *g);

void gbose__gauge_write(const struct gbose__gauge *gauge, struct gbose__writer *w);
/* r->bad on nonsense: no more rounds than were learned can have said anything. */
void gbose__gauge_read(struct gbose__gauge *gauge, struct gbose__reader *r, uint64_t learned);

#endif
