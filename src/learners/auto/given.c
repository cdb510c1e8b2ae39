#include "learners/auto/given.h"

#include <math.h>
#include <string.h>

#include "gbose.h"
#include "learners/auto/clip.h"

enum { ARRAYS = 4 };

size_t gbose__given_size(size_t count)
{
    return ARRAYS * count;
}

void gbose__given_view(struct gbose__given *given, size_t count, double *at)
{
    *given = (struct gbose__given){count, at, at + count, at + 2 * count, at + 3 * count};
}

void gbose__given_grow(const struct gbose__given *to, const struct gbose__given *from)
{
    for (size_t k = 0; k < ARRAYS && from->count; k++)
        memcpy(to->origin + k * to->count, from->origin + k * from->count, from->count * sizeof(double));
}

int gbose__given_are_sane(const struct gbose__given *given)
{
    int fine = 1;

    for (size_t i = 0; i < given->count; i++) {
        int exponent;

        fine &= fabs(given->origin[i]) <= 2 * GBOSE_MAX_INPUT && fabs(given->mean[i]) <= 2 * GBOSE_MAX_INPUT;
        fine &= given->variance[i] >= 0 && given->unit[i] >= 0 && given->unit[i] <= 2 * GBOSE_MAX_INPUT;
        fine &= given->unit[i] == 0 || frexp(given->unit[i], &exponent) == 0.5;
    }
    return fine;
}

void gbose__given_features(const struct gbose__given *given, const struct gbose__tuning *tuning,
                           double *features, const double *values)
{
    for (size_t i = 0; i < given->count; i++) {
        double unit = given->unit[i], mean = given->mean[i];
        double value = mean + gbose__clip(values[i] - mean, tuning->given_limit * unit);

        features[i] = unit > 0 ? (value - given->origin[i]) / unit : 0;
    }
}

/* The unit that goes with a variance is 2^k with 2^(k-1) <= deviation < 2^k. It grows to that at once, and shrinks, by one
 * step in a round, only when it is two steps too large. */
static double next_unit(double unit, double variance)
{
    int exponent, wanted, now;

    if (!(variance > 0))
        return unit;
    frexp(variance, &exponent);
    wanted = exponent >= 0 ? (exponent + 1) / 2 : -(-exponent / 2);
    if (!(unit > 0))
        return ldexp(1, wanted);
    frexp(unit, &now);
    now--;
    if (wanted > now)
        return ldexp(1, wanted);
    return wanted < now - 1 ? ldexp(1, now - 1) : unit;
}

void gbose__given_learn(const struct gbose__given *given, const struct gbose__tuning *tuning,
                        struct gbose__given_move *move, const double *values, double rounds)
{
    double share = gbose__clip_below(1 / (rounds + 1), 1 - tuning->given_memory);

    for (size_t i = 0; i < given->count; i++) {
        double before = given->mean[i], off = values[i] - before, unit = given->unit[i];

        given->mean[i] += share * off;
        given->variance[i] = (1 - share) * (given->variance[i] + share * off * off);
        given->unit[i] = next_unit(unit, given->variance[i]);
        move[i] = (struct gbose__given_move){1, 0};
        if (given->unit[i] == unit)
            continue;
        if (unit > 0)
            move[i] = (struct gbose__given_move){unit / given->unit[i],
                                                 (given->mean[i] - given->origin[i]) / given->unit[i]};
        given->origin[i] = unit > 0 ? given->mean[i] : before; /* what all values were is zero */
    }
}
