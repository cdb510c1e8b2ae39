#include "learners/gauge.h"

#include <math.h>
#include <string.h>

#include "core/kernels.h"
#include "core/memory.h"

/* A range that is a smaller share than this of the size is taken for rounding. */
#define LEAST_RANGE 0x1p-40

/* ---- life ---- */

struct gbose__gauge *gbose__gauge_new(size_t dim)
{
    size_t stride = gbose__pad(dim);
    struct gbose__gauge *gauge = gbose__alloc(1, sizeof *gauge);

    if (!gauge)
        return NULL;
    gauge->dim = gauge->unknown = dim;
    gauge->unit = gbose__alloc(dim + 1, sizeof *gauge->unit);
    gauge->exponent = gbose__alloc(dim, sizeof *gauge->exponent);
    gauge->shift = gbose__alloc(dim, sizeof *gauge->shift);
    gauge->up = gbose__alloc((2 + GBOSE__MAX_FITS) * stride, sizeof *gauge->up);
    if (!gauge->unit || !gauge->exponent || !gauge->shift || !gauge->up) {
        gbose__gauge_free(gauge);
        return NULL;
    }
    for (size_t j = 0; j < dim; j++)
        gauge->exponent[j] = GBOSE__GAUGE_NONE;
    gauge->down = gauge->up + stride;
    gauge->coef = gauge->down + stride;
    for (size_t j = 0; j < stride; j++)
        gauge->up[j] = gauge->down[j] = 1;
    return gauge;
}

void gbose__gauge_free(struct gbose__gauge *gauge)
{
    if (!gauge)
        return;
    gbose__free(gauge->unit);
    gbose__free(gauge->exponent);
    gbose__free(gauge->shift);
    gbose__free(gauge->up);
    gbose__free(gauge);
}

static int is_known(const struct gbose__unit *unit)
{
    return unit->ranges > 0 || unit->sizes > 0;
}

/* e, which all features share. */
static int common_exponent(const struct gbose__gauge *gauge)
{
    return (int)gauge->unit[gauge->dim].exponent;
}

/* Use the exponents e_j + e that there are now. By how much those in use were smaller is in gauge->shift; a
 * first unit is no change. 1 if there is any. */
static int settle(struct gbose__gauge *gauge)
{
    int moved = 0;

    gauge->unknown = gauge->gaps = 0;
    for (size_t j = 0; j < gauge->dim; j++) {
        int exponent = (int)gauge->unit[j].exponent + common_exponent(gauge);

        gauge->shift[j] = 0;
        gauge->gaps += gauge->unit[j].gap > 0;
        if (!is_known(&gauge->unit[j])) {
            gauge->unknown++;
            continue;
        }
        if (gauge->exponent[j] != GBOSE__GAUGE_NONE)
            moved |= gauge->shift[j] = exponent - (int)gauge->exponent[j];
        gauge->exponent[j] = exponent;
        gauge->up[j] = ldexp(1, exponent);
        gauge->down[j] = ldexp(1, -exponent);
    }
    return moved;
}

void gbose__gauge_grow(struct gbose__gauge *to, const struct gbose__gauge *from)
{
    memcpy(to->unit, from->unit, from->dim * sizeof *to->unit);
    to->unit[to->dim] = from->unit[from->dim];
    settle(to);
}

struct gbose__gauge *gbose__gauge_copy(const struct gbose__gauge *gauge)
{
    struct gbose__gauge *copy = gbose__gauge_new(gauge->dim);

    if (copy)
        gbose__gauge_grow(copy, gauge);
    return copy;
}

/* ---- a round ---- */

/* An exponent, within what exponents can be. */
static int within(int exponent)
{
    if (exponent < -GBOSE__GAUGE_MOST)
        return -GBOSE__GAUGE_MOST;
    return exponent < GBOSE__GAUGE_MOST ? exponent : GBOSE__GAUGE_MOST;
}

/* What a round says of a feature: 16 bits, the exponent and whether it is that of a range; 0 if it says
 * nothing. */
#define CODE_BITS 16
#define CODES_IN_WORD 4
#define CODE_ZERO 1024 /* the code of exponent 0, over 2 */
#define GAP_PLACE 12   /* above the exponent, in three bits: the gap and 1, or 0 if nothing is said of it */
#define GAP_MOST 6

static unsigned encode(int exponent, int is_range)
{
    return (unsigned)(within(exponent) + CODE_ZERO) << 1 | (unsigned)is_range;
}

static int decode(unsigned code)
{
    return (int)((code & ((1 << GAP_PLACE) - 1)) >> 1) - CODE_ZERO;
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
    }
    if (any)
        gbose__kernels->stretch(in->context, down, in->n, in->stride, GBOSE_MAX_INPUT);
    in->up = up;
}

void gbose__gauge_lower(const struct gbose__gauge *gauge, struct gbose__input *in)
{
    gbose__kernels->stretch(in->context, gauge->down, in->n, in->stride, GBOSE_MAX_INPUT);
    in->up = gauge->up;
    if (gauge->unknown)
        adapt(gauge, in);
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
    if (gauge->exponent[j] != GBOSE__GAUGE_NONE) {
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

int gbose__gauge_are_sane(struct gbose__reader from, size_t dim)
{
    int fine = 1;

    for (size_t j = 0; j <= dim && !from.bad;) {
        uint64_t word = gbose__get_u64(&from);

        for (unsigned k = 0; k < CODES_IN_WORD; k++, j++) {
            unsigned code = (unsigned)(word >> (CODE_BITS * k)) & 0xffff;

            fine &= code == 0 || (j <= dim && code >> GAP_PLACE <= GAP_MOST + 1 &&
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

        for (size_t i = 0; i < count; i++)
            part[i] = row[done + i] * up[done + i];
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

/* ---- what is known ---- */

static void move(const gbose *g, struct gbose__ridge *fit, double *state, const int *shift)
{
    for (size_t i = 0; i < g->n_fits; i++)
        gbose__ridge_rescale(&fit[i], shift);
    for (size_t j = 0; j < g->dim; j++)
        if (shift[j])
            g->kind->rescale(g, state, j, ldexp(1, -shift[j]));
}

/* floor(), which is a call. */
static inline int64_t floor_of(double x)
{
    int64_t whole = (int64_t)x;

    return whole - (x < (double)whole);
}

/* The whole number nearest to a mean. */
static int64_t nearest(int64_t sum, int64_t count)
{
    return floor_of((double)sum / (double)count + 0.5);
}

/* Count a number of ranges whose exponents are so much below the largest, 6 at most. */
static inline void add_below(struct gbose__unit *unit, int64_t below, int64_t count)
{
    if (below < GBOSE__GAUGE_BITS)
        unit->power += count * ((int64_t)1 << 2 * (GBOSE__GAUGE_BITS - 1 - below));
    unit->below_sum += below * count;
    unit->below_squares += below * below * count;
}

/* Find these sums from the counts. */
static void sum_up(struct gbose__unit *unit)
{
    int64_t small = unit->ranges;

    unit->power = unit->below_sum = unit->below_squares = 0;
    for (int k = 0; k < GBOSE__GAUGE_BITS; k++) {
        add_below(unit, k, unit->counts[k]);
        small -= unit->counts[k];
    }
    add_below(unit, GBOSE__GAUGE_BITS, small);
}

/* By how much the exponent of a feature is below the largest one: by the mean and one standard deviation, or less if the root mean square of
 * the ranges is more, each to the nearest whole number. */
static int64_t below_largest(const struct gbose__unit *unit)
{
    double n = (double)unit->ranges, mean = (double)unit->below_sum / n;
    double variance = (double)unit->below_squares / n - mean * mean;
    int64_t below = -floor_of(0.5 - mean + sqrt(variance > 0 ? variance : 0));

    while (below > 0 && 2 * unit->power >= unit->ranges << 2 * (GBOSE__GAUGE_BITS - below))
        below--;
    return below;
}

/* How many ranges had this exponent, if that is known. */
static int64_t count_of(const struct gbose__unit *unit, int64_t exponent)
{
    int64_t below = unit->largest - exponent;

    return below >= 0 && below < GBOSE__GAUGE_BITS ? unit->counts[below] : 0;
}

/* Make room for a range that has this exponent. */
static void make_room(struct gbose__unit *unit, int64_t exponent)
{
    struct gbose__unit old = *unit;

    if (unit->ranges > 0 && exponent <= unit->largest)
        return;
    unit->largest = exponent;
    for (int k = 0; k < GBOSE__GAUGE_BITS; k++)
        unit->counts[k] = count_of(&old, exponent - k);
    sum_up(unit);
}

/* The gap is the mean of those said, and one bit more: of the binary exponent of a normal number the mean is a bit below
 * that of its standard deviation, and it is rounded down here and there. A mean of one and a quarter or less is
 * what features without any have; some rounds that said nothing of it are counted, so that it does not come by chance. */
#define GAP_ROUNDS 3

static int64_t gap_of(const struct gbose__unit *unit)
{
    int64_t rounds = unit->gaps + GAP_ROUNDS;

    return 4 * unit->gap_sum > 5 * rounds ? unit->gap_sum / rounds + 1 : 0;
}

/* Find the exponent; 1 if it is another one now. */
static int find_exponent(struct gbose__unit *unit, int is_distance)
{
    int64_t before = unit->exponent;

    if (unit->ranges > 0 && is_distance)
        unit->exponent = nearest(unit->range_sum, unit->ranges);
    else if (unit->ranges > 0)
        unit->exponent = unit->largest - below_largest(unit) - unit->gap;
    else if (unit->sizes > 0)
        unit->exponent = nearest(unit->size_sum, unit->sizes);
    return unit->exponent != before;
}

/* Count what a round has said of a feature, or of the distance of arms; 1 if its unit changes by that. */
static inline int hear(struct gbose__unit *unit, unsigned code, int is_distance)
{
    int was_known = is_known(unit), exponent = decode(code);

    if (!code)
        return 0;
    if (code & 1) {
        int64_t below;

        make_room(unit, exponent);
        below = unit->largest - exponent;
        if (below < GBOSE__GAUGE_BITS)
            unit->counts[below]++;
        add_below(unit, below < GBOSE__GAUGE_BITS ? below : GBOSE__GAUGE_BITS, 1);
        unit->ranges++;
        unit->range_sum += exponent;
        if (code >> GAP_PLACE) {
            unit->gaps++;
            unit->gap_sum += (code >> GAP_PLACE) - 1;
            unit->gap = gap_of(unit);
        }
    } else {
        unit->sizes++;
        unit->size_sum += exponent;
    }
    return find_exponent(unit, is_distance) || !was_known;
}

void gbose__gauge_learn(gbose *g, struct gbose__reader said)
{
    struct gbose__gauge *gauge = g->gauge;
    int changed = 0;

    for (size_t first = 0; first <= gauge->dim; first += CODES_IN_WORD) {
        uint64_t word = gbose__get_u64(&said);

        for (size_t j = first; word; word >>= CODE_BITS, j++)
            changed |= hear(&gauge->unit[j], (unsigned)word & 0xffff, j == gauge->dim);
    }
    if (changed && settle(gauge))
        move(g, g->fit, g->state, gauge->shift);
}

void gbose__gauge_merge(struct gbose__gauge *into, const struct gbose__gauge *from,
                        const struct gbose__gauge *common)
{
    static const struct gbose__unit nothing;

    for (size_t j = 0; j <= into->dim; j++) {
        struct gbose__unit *unit = &into->unit[j];
        const struct gbose__unit *theirs = &from->unit[j], *old = common ? &common->unit[j] : &nothing;

        if (theirs->ranges > 0)
            make_room(unit, theirs->largest);
        for (int k = 0; k < GBOSE__GAUGE_BITS; k++)
            unit->counts[k] += count_of(theirs, unit->largest - k) - count_of(old, unit->largest - k);
        unit->ranges += theirs->ranges - old->ranges;
        sum_up(unit);
        unit->range_sum += theirs->range_sum - old->range_sum;
        unit->gaps += theirs->gaps - old->gaps;
        unit->gap_sum += theirs->gap_sum - old->gap_sum;
        unit->gap = gap_of(unit);
        unit->sizes += theirs->sizes - old->sizes;
        unit->size_sum += theirs->size_sum - old->size_sum;
        find_exponent(unit, j == into->dim);
    }
    settle(into);
}

void gbose__gauge_move(const gbose *g, struct gbose__ridge *fit, double *state,
                       const struct gbose__gauge *from, const struct gbose__gauge *to)
{
    for (size_t j = 0; j < to->dim; j++)
        to->shift[j] =
            from->exponent[j] == GBOSE__GAUGE_NONE ? 0 : (int)(to->exponent[j] - from->exponent[j]);
    move(g, fit, state, to->shift);
}

size_t gbose__gauge_constants(const struct gbose__gauge *gauge)
{
    size_t count = 0;

    for (size_t j = 0; j < gauge->dim; j++)
        count += !gauge->unit[j].ranges && gauge->unit[j].sizes > 0;
    return count;
}

void gbose__gauge_refresh(gbose *g)
{
    const struct gbose__gauge *gauge = g->gauge;

    for (size_t i = 0; i < g->n_fits; i++)
        for (size_t j = 0; j < g->dim; j++)
            gauge->coef[i * gbose__pad(g->dim) + j] = g->fit[i].mu[j] * gauge->down[j];
}

/* ---- bytes ---- */

enum {
    RANGES,
    RANGE_SUM,
    LARGEST,
    GAPS,
    GAP_SUM,
    SIZES,
    SIZE_SUM,
    COUNTS,
    UNIT_WORDS = COUNTS + GBOSE__GAUGE_BITS
};

void gbose__gauge_write(const struct gbose__gauge *gauge, struct gbose__writer *w)
{
    for (size_t j = 0; j <= gauge->dim; j++) {
        const struct gbose__unit *unit = &gauge->unit[j];
        uint64_t words[UNIT_WORDS] = {
            (uint64_t)unit->ranges,  (uint64_t)unit->range_sum, (uint64_t)unit->largest, (uint64_t)unit->gaps,
            (uint64_t)unit->gap_sum, (uint64_t)unit->sizes,     (uint64_t)unit->size_sum};

        for (int k = 0; k < GBOSE__GAUGE_BITS; k++)
            words[COUNTS + k] = (uint64_t)unit->counts[k];
        gbose__put_words(w, words, UNIT_WORDS);
    }
}

/* May it be a sum of so many exponents? */
static int is_sum(int64_t sum, int64_t count)
{
    return sum >= -GBOSE__GAUGE_MOST * count && sum <= GBOSE__GAUGE_MOST * count;
}

/* May these be the counts of so many ranges? */
static int are_counts(const struct gbose__unit *unit)
{
    int64_t left = unit->ranges;
    int fine = is_sum(unit->largest, 1) && (unit->ranges > 0 ? unit->counts[0] > 0 : unit->largest == 0);

    for (int k = 0; k < GBOSE__GAUGE_BITS && fine; k++) {
        fine = unit->counts[k] >= 0 && unit->counts[k] <= left;
        left -= unit->counts[k];
    }
    return fine;
}

void gbose__gauge_read(struct gbose__gauge *gauge, struct gbose__reader *r, uint64_t learned)
{
    r->bad |= learned > (uint64_t)1 << 40; /* so that sums are far from overflow */
    for (size_t j = 0; j <= gauge->dim && !r->bad; j++) {
        struct gbose__unit *unit = &gauge->unit[j];
        uint64_t words[UNIT_WORDS];

        gbose__get_words(r, words, UNIT_WORDS);
        unit->ranges = (int64_t)words[RANGES];
        unit->range_sum = (int64_t)words[RANGE_SUM];
        unit->largest = (int64_t)words[LARGEST];
        unit->gaps = (int64_t)words[GAPS];
        unit->gap_sum = (int64_t)words[GAP_SUM];
        unit->sizes = (int64_t)words[SIZES];
        unit->size_sum = (int64_t)words[SIZE_SUM];
        for (int k = 0; k < GBOSE__GAUGE_BITS; k++)
            unit->counts[k] = (int64_t)words[COUNTS + k];
        r->bad |= words[RANGES] > learned || words[SIZES] > learned - words[RANGES];
        r->bad = r->bad || !is_sum(unit->range_sum, unit->ranges) || !is_sum(unit->size_sum, unit->sizes) ||
                 !are_counts(unit) || unit->gaps < 0 || unit->gaps > unit->ranges || unit->gap_sum < 0 ||
                 unit->gap_sum > GAP_MOST * unit->gaps;
        unit->gap = r->bad ? 0 : gap_of(unit);
        if (!r->bad) {
            sum_up(unit);
            find_exponent(unit, j == gauge->dim);
        }
    }
    settle(gauge);
}
