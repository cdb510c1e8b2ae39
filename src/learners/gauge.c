/* What is known of units: counts of what rounds have said, and what is made of them. */
#include <math.h>
#include <string.h>

#include "core/kernels.h"
#include "core/memory.h"
#include "learners/gauge_inner.h"

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

/* Use the exponents e_j + e that there are now. By how much those in use were smaller is in gauge->shift. 1 if any
 * was another one. */
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
    struct gbose__unit old;

    if (unit->ranges > 0 && exponent <= unit->largest)
        return;
    old = *unit;
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
        to->shift[j] = (int)(to->exponent[j] - from->exponent[j]);
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
    size_t stride = gbose__pad(g->dim);

    for (size_t i = 0; i < g->n_fits; i++)
        gbose__kernels->multiply(g->gauge->coef + i * stride, g->fit[i].mu, g->gauge->down, stride);
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
