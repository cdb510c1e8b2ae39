/* Units in a round: contexts are divided by them, and the ticket says what the round says of them. */
#include <math.h>
#include <string.h>

#include "core/kernels.h"
#include "learners/gauge_inner.h"

/* A range that is a smaller share than this of the size is taken for rounding. */
#define LEAST_RANGE 0x1p-40

/* An exponent, within what exponents can be. */
static int within(int exponent)
{
    if (exponent < -GBOSE__GAUGE_MOST)
        return -GBOSE__GAUGE_MOST;
    return exponent < GBOSE__GAUGE_MOST ? exponent : GBOSE__GAUGE_MOST;
}

static unsigned encode(int exponent, int is_range)
{
    return (unsigned)(within(exponent) + CODE_ZERO) << 1 | (unsigned)is_range;
}

/* From the smallest and the largest of its values, in a unit of which 2^exponent is made. */
static inline unsigned say(double least, double most, int exponent)
{
    double range = most - least, size = most > -least ? most : -least;
    int is_range = range > LEAST_RANGE * size;

    return size > 0 ? encode(gbose__nearest_exponent(is_range ? range : size) + exponent, is_range) : 0;
}

/* 1, and how many times, up to six, the change of a feature's sum over the arms, from what it usually is, can be doubled without
 * exceeding the range; none if there is no change. */
static inline unsigned say_gap(const struct gbose__input *in, double usual, size_t j)
{
    double range = in->most[j] - in->least[j], change = fabs(in->mean[j] * (double)in->n - usual);
    unsigned gap = 0;

    for (double most = 2 * change; change > LEAST_RANGE * range && gap < GAP_MOST && most < range; most *= 2)
        gap++;
    return gap + 1;
}

/* Features without a unit get one for this round, which is that of in->up then. */
static void adapt(const struct gbose__gauge *gauge, struct gbose__input *in)
{
    double *up = in->own_up, *down = in->least;
    int any = 0;

    gbose__kernels->columns(in->least, in->most, in->mean, in->context, in->n, in->stride);
    memcpy(up, gauge->up, in->stride * sizeof *up);
    for (size_t j = 0; j < gauge->dim; j++) {
        unsigned code = is_known(&gauge->unit[j]) ? 0 : say(in->least[j], in->most[j], 0);
        int exponent = code ? decode(code) + common_exponent(gauge) : 0;

        if (exponent)
            up[j] = ldexp(1, exponent);
        down[j] = ldexp(1, -exponent);
        any |= exponent;
        in->has_new |= code != 0;
    }
    if (any)
        gbose__kernels->stretch(in->context, down, in->n, in->stride, GBOSE_MAX_INPUT);
    in->up = up;
}

void gbose__gauge_meet(const struct gbose__gauge *gauge, struct gbose__input *in)
{
    in->up = gauge->up;
    in->has_new = 0;
    if (gauge->unknown)
        adapt(gauge, in);
}

/* Rounds that are decided before so many are learned all say what they say, and one in so many of those that follow. */
#define ALL_SAY 1024
#define ONE_IN 8

int gbose__gauge_is_to_say(const struct gbose__input *in, uint64_t learned)
{
    return learned < ALL_SAY || in->has_new || gbose__mix(0, learned) % ONE_IN == 0;
}

size_t gbose__gauge_words(size_t dim)
{
    return dim / CODES_IN_WORD + 1;
}

/* What a round says of the distance of two arms, the sum of whose squares over all pairs is n times `scatter`,
 * in units that have the common exponent. */
static unsigned say_distance(double scatter, size_t n, int common)
{
    double square = 2 * scatter / (double)(n - 1);

    return square > 0 ? encode(gbose__nearest_exponent(sqrt(square * 2 / (double)n)) + common, 1) : 0;
}

/* While a unit is that of one or two rounds, some features are far larger than it, and distances in such units say
 * little; before there is any, the round's own serve. */
#define ROUNDS_FOR_DISTANCE 3

static int is_unsettled(const struct gbose__gauge *gauge)
{
    int64_t most = 0;

    for (size_t j = 0; j < gauge->dim && most < ROUNDS_FOR_DISTANCE; j++)
        most = gauge->unit[j].ranges > most ? gauge->unit[j].ranges : most;
    return most > 0 && most < ROUNDS_FOR_DISTANCE;
}

/* The scatter, were features with a gap as small as their units would have it: those of blocks, in which all arms but one
 * have the same, exactly. */
static double without_gaps(const struct gbose__gauge *gauge, const struct gbose__input *in, double scatter)
{
    double left = 0, share = 1 - 1 / (double)in->n;

    for (size_t j = 0; j < gauge->dim && gauge->gaps; j++)
        if (gauge->unit[j].gap > 0) {
            double range = in->most[j] - in->least[j], square = share * range * range;

            scatter -= square;
            left += ldexp(square, -2 * (int)gauge->unit[j].gap);
        }
    return (scatter > 0 ? scatter : 0) + left;
}

/* What this round says of feature j. */
static inline unsigned say_feature(const struct gbose__gauge *gauge, const struct gbose__input *in,
                                   const double *totals, double share, size_t j)
{
    if (is_known(&gauge->unit[j])) {
        unsigned code = say(in->least[j], in->most[j], (int)gauge->exponent[j]);

        return totals && code & 1 ? code | say_gap(in, share * totals[j], j) << GAP_PLACE : code;
    }
    return say(in->least[j] * in->up[j], in->most[j] * in->up[j], 0);
}

void gbose__gauge_say(const struct gbose__gauge *gauge, const struct gbose__input *in, double scatter,
                      const double *totals, double rounds, struct gbose__writer *to)
{
    double share = 1 / rounds;
    unsigned any = 0;

    for (size_t first = 0; first <= gauge->dim; first += CODES_IN_WORD) {
        uint64_t word = 0;

        for (unsigned k = 0; k < CODES_IN_WORD && first + k <= gauge->dim; k++) {
            unsigned code = 0;

            if (first + k < gauge->dim)
                any |= code = say_feature(gauge, in, totals, share, first + k);
            else if (any & 1 && !is_unsettled(gauge))
                code = say_distance(without_gaps(gauge, in, scatter), in->n, common_exponent(gauge));
            word |= (uint64_t)code << (CODE_BITS * k);
        }
        gbose__put_u64(to, word);
    }
}

void gbose__gauge_say_nothing(size_t dim, struct gbose__writer *to)
{
    for (size_t i = 0; i < gbose__gauge_words(dim); i++)
        gbose__put_u64(to, 0);
}

int gbose__gauge_are_sane(struct gbose__reader from, size_t dim)
{
    int fine = 1;

    for (size_t j = 0; j <= dim && !from.bad; j += CODES_IN_WORD) {
        uint64_t word = gbose__get_u64(&from);

        for (size_t k = j; word; word >>= CODE_BITS, k++) {
            unsigned code = (unsigned)word & 0xffff;

            fine &= code == 0 || (k <= dim && code >> GAP_PLACE <= GAP_MOST + 1 &&
                                  decode(code) >= -GBOSE__GAUGE_MOST && decode(code) <= GBOSE__GAUGE_MOST);
        }
    }
    return fine && !from.bad;
}

/* Numbers that are scaled on their way to or from bytes, so many at a time. */
#define CHUNK 64

void gbose__gauge_put(struct gbose__writer *to, const double *row, const double *up, size_t n)
{
    double part[CHUNK];

    if (!up)
        gbose__put_doubles(to, row, n);
    for (size_t done = 0; done < n && up; done += CHUNK) {
        size_t count = n - done < CHUNK ? n - done : CHUNK;

        gbose__kernels->multiply(part, row + done, up + done, gbose__pad(count));
        gbose__put_doubles(to, part, count);
    }
}

void gbose__gauge_get(struct gbose__reader *from, double *row, const struct gbose__gauge *gauge, size_t n,
                      double most)
{
    gbose__get_doubles(from, row, n);
    if (gauge)
        gbose__kernels->stretch(row, gauge->down, 1, gbose__pad(n), most);
}
