#include "core/arms.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/kernels.h"

/* Up to this many arms, comparing all pairs costs less than any pruning. */
#define FEW 32

/* Beyond this many coordinates single precision loses too many digits. */
#define MAX_TILE_STRIDE 4096

size_t gbose__arms_argmax(const double *value, size_t n)
{
    size_t best = 0;

    for (size_t i = 1; i < n; i++)
        if (value[i] > value[best])
            best = i;
    return best;
}

static double squared(const double *image, size_t i, size_t j, size_t stride)
{
    return gbose__distance2(image + i * stride, image + j * stride, stride);
}

static int beats(size_t j, size_t i, const double *image, const double *score, size_t stride, double gamma)
{
    return score[j] - score[i] > gamma * sqrt(squared(image, i, j, stride));
}

/* A computed distance has a relative error of at most (stride/8 + 4) units in the last place or, when its
 * square underflows, an absolute error below 1e-150; an image R b has that relative error in units of
 * || |R| || ||b||. Bounds are widened by more than that: by the fraction slack() of their terms, and by TINY. */
#define TINY 1e-149

static double slack(size_t stride)
{
    return 4 * (double)(stride + 64) * DBL_EPSILON;
}

/* Does the leader beat an arm by so much that rounding cannot have made the difference? Its lead must exceed
 * gamma times the distance, of which `gap` is an upper bound. Such an arm j is not needed to eliminate others:
 * if it beats i, then
 *     score_leader - score_i > gamma ||leader - j|| + gamma ||j - i|| >= gamma ||leader - i||
 * and the margin, a share of the largest lead there is, covers the rounding of all three comparisons. */
static int provably_beaten(double lead, double gap, double largest_lead, double gamma, size_t stride)
{
    return lead > gamma * (gap * (1 + slack(stride)) + TINY) + 8 * slack(stride) * largest_lead;
}

size_t gbose__arms_suspects(size_t *suspect, const struct gbose__arms *scratch, const double *context,
                            const double *score, size_t n, size_t stride, double gamma, double reach)
{
    size_t leader = gbose__arms_argmax(score, n), count = 0;
    const double *first = context + leader * stride;
    double least = score[leader], norm, rounding;

    for (size_t i = 0; i < n; i++) {
        suspect[i] = i;
        least = score[i] < least ? score[i] : least;
    }
    if (least == score[leader])
        return n;
    norm = sqrt(gbose__dot(first, first, stride));
    rounding = slack(stride) * sqrt((double)stride); /* || |R| || <= sqrt(d) reach */
    gbose__kernels->squares(scratch->square, context, NULL, first, n, stride);
    for (size_t i = 0; i < n; i++) {
        double gap = sqrt(scratch->square[i]) + TINY;

        gap = reach * (gap + rounding * (gap + norm));
        suspect[count] = i;
        count += !provably_beaten(score[leader] - score[i], gap, score[leader] - least, gamma, stride);
    }
    return count;
}

/* ---- many points at once, in single precision, to find the pairs that need a closer look ---- */

/* Heapsort, which allocates nothing: arms in order of decreasing key. */
static void sift(size_t *order, size_t root, size_t n, const double *key)
{
    size_t child;

    while ((child = 2 * root + 1) < n) {
        size_t swap = order[root];
        if (child + 1 < n && key[order[child + 1]] < key[order[child]])
            child++;
        if (!(key[order[child]] < key[order[root]]))
            return;
        order[root] = order[child];
        order[child] = swap;
        root = child;
    }
}

static void sort_descending(size_t *order, size_t n, const double *key)
{
    for (size_t i = n / 2; i-- > 0;)
        sift(order, i, n, key);
    for (size_t i = n; i-- > 1;) {
        size_t swap = order[0];
        order[0] = order[i];
        order[i] = swap;
        sift(order, 0, i, key);
    }
}

/* The distances of the listed arms from their mean, into scratch->radius; returns the largest. */
static double find_radii(const struct gbose__arms *scratch, const double *image, const size_t *list,
                         size_t count, size_t stride)
{
    double largest = 0;

    memset(scratch->centre, 0, stride * sizeof(double));
    for (size_t a = 0; a < count; a++)
        gbose__kernels->axpy(scratch->centre, 1 / (double)count, image + list[a] * stride, stride);
    gbose__kernels->squares(scratch->square, image, list, scratch->centre, count, stride);
    for (size_t a = 0; a < count; a++) {
        scratch->radius[list[a]] = sqrt(scratch->square[a]);
        if (scratch->radius[list[a]] > largest)
            largest = scratch->radius[list[a]];
    }
    return largest;
}

/* Floats in a tile: coordinate after coordinate with the number beside each point, then point after point. */
static size_t tile_size(size_t stride)
{
    return GBOSE__TILE * (2 * stride + 1);
}

size_t gbose__arms_tiles(size_t n, size_t stride)
{
    return n > FEW ? (n + GBOSE__TILE - 1) / GBOSE__TILE * tile_size(stride) : 0;
}

static float *tile_at(const struct gbose__arms *scratch, size_t position, size_t stride)
{
    return scratch->tiles + position / GBOSE__TILE * tile_size(stride);
}

static float *point_at(const struct gbose__arms *scratch, size_t position, size_t stride)
{
    return tile_at(scratch, position, stride) + GBOSE__TILE * (stride + 1) + position % GBOSE__TILE * stride;
}

/* The number that stands beside a point in its tile. */
static float *extra_at(const struct gbose__arms *scratch, size_t position, size_t stride)
{
    return tile_at(scratch, position, stride) + GBOSE__TILE * stride + position % GBOSE__TILE;
}

/* Write the listed points, less the centre and divided by the unit, into tiles. */
static void fill_tiles(const struct gbose__arms *scratch, const double *image, const size_t *list,
                       size_t count, size_t stride, double unit)
{
    double scale = 1 / unit;

    for (size_t a = 0; a < count; a++) {
        float *point = point_at(scratch, a, stride), *tile = tile_at(scratch, a, stride);
        const double *from = image + list[a] * stride;

        if (a % GBOSE__TILE == 0)
            memset(tile, 0, tile_size(stride) * sizeof(float));
        for (size_t k = 0; k < stride; k++)
            point[k] = (float)((from[k] - scratch->centre[k]) * scale);
        for (size_t k = 0; k < stride; k++)
            tile[k * GBOSE__TILE + a % GBOSE__TILE] = point[k];
    }
}

/* A bound on the error of a single-precision sum over the coordinates of points of radius at most 1: each
 * coordinate, and each of `stride` additions, has a relative error of 2^-24. */
static float tile_error(size_t stride)
{
    return (float)(stride + 64) * 0x1p-22F;
}

static int tiles_help(size_t count, size_t stride, double largest_radius)
{
    return count > FEW && stride <= MAX_TILE_STRIDE && largest_radius > 1e-100;
}

static size_t lowest_bit(uint64_t bits)
{
    return (size_t)__builtin_ctzll(bits);
}

static uint64_t first_bits(size_t n)
{
    return n < 64 ? ((uint64_t)1 << n) - 1 : ~(uint64_t)0;
}

/* ---- the filter ---- */

size_t gbose__arms_filter_plain(size_t *keep, const double *image, const double *score, size_t n,
                                size_t stride, double gamma)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++) {
        int kept = 1;
        for (size_t j = 0; j < n; j++)
            kept &= !beats(j, i, image, score, stride, gamma);
        if (kept)
            keep[count++] = i;
    }
    return count;
}

/* Is the arm beaten by one of these rivals? `radius` has the distances of all of them from one point, so that
 * ||i - j|| >= |radius_i - radius_j|, which settles most comparisons. */
static int beaten_by_few(size_t i, const size_t *rival, size_t count, const double *radius,
                         const double *image, const double *score, size_t stride, double gamma)
{
    for (size_t b = 0; b < count; b++) {
        size_t j = rival[b];
        double lead = score[j] - score[i], between = fabs(radius[i] - radius[j]);

        if (lead > 0 && lead > gamma * (between - slack(stride) * (radius[i] + radius[j]) - TINY) &&
            beats(j, i, image, score, stride, gamma))
            return 1;
    }
    return 0;
}

/* The same for all of the rivals, which are in tiles in order of decreasing score: an arm is compared with
 * those before it. Sets the radius of an arm that is eliminated to -1. */
static void remove_beaten(const struct gbose__arms *scratch, size_t count, const double *image,
                          const double *score, size_t stride, double gamma, double unit)
{
    const size_t *rival = scratch->order;
    double *radius = scratch->radius;

    /* Scores in the tiles' unit. One that is out of range is a NaN, for which near_tile() excludes nothing. */
    for (size_t a = 0; a < count; a++) {
        double height = (score[rival[a]] - score[rival[0]]) / (gamma * unit);
        *extra_at(scratch, a, stride) = fabs(height) < 8 ? (float)height : NAN;
    }
    for (size_t a = 1; a < count; a++) {
        size_t i = rival[a];

        for (size_t begin = 0; begin < a && radius[i] >= 0; begin += GBOSE__TILE) {
            uint64_t open =
                gbose__kernels->near_tile(tile_at(scratch, begin, stride), point_at(scratch, a, stride),
                                          *extra_at(scratch, a, stride), stride, tile_error(stride)) &
                first_bits(a - begin);

            for (; open && radius[i] >= 0; open &= open - 1)
                if (beats(rival[begin + lowest_bit(open)], i, image, score, stride, gamma))
                    radius[i] = -1;
        }
    }
}

/* An arm is only beaten by one that scores higher. The leader beats most of those that are eliminated, so it
 * is compared with all first. */
size_t gbose__arms_filter(size_t *keep, size_t count, const struct gbose__arms *scratch, const double *image,
                          const double *score, size_t stride, double gamma)
{
    double *radius = scratch->radius, largest_lead, largest_radius;
    size_t leader = keep[0], last = keep[0], kept = 0, rivals = 0, *rival = scratch->order;

    for (size_t a = 1; a < count; a++) {
        if (score[keep[a]] > score[leader])
            leader = keep[a];
        if (score[keep[a]] < score[last])
            last = keep[a];
    }
    largest_lead = score[leader] - score[last];
    if (largest_lead == 0)
        return count;
    gbose__kernels->squares(scratch->square, image, keep, image + leader * stride, count, stride);
    for (size_t a = 0; a < count; a++) {
        size_t i = keep[a];
        double lead = score[leader] - score[i];

        radius[i] = sqrt(scratch->square[a]);
        if (!provably_beaten(lead, radius[i], largest_lead, gamma, stride))
            rival[rivals++] = i;
        if (!(lead > gamma * radius[i]))
            keep[kept++] = i;
    }
    count = kept;
    kept = 0;
    if (rivals > FEW) {
        largest_radius = find_radii(scratch, image, rival, rivals, stride);
        if (tiles_help(rivals, stride, largest_radius)) {
            sort_descending(rival, rivals, score);
            fill_tiles(scratch, image, rival, rivals, stride, largest_radius);
            remove_beaten(scratch, rivals, image, score, stride, gamma, largest_radius);
            for (size_t a = 0; a < count; a++)
                if (radius[keep[a]] >= 0)
                    keep[kept++] = keep[a];
            return kept;
        }
    }
    for (size_t a = 0; a < count; a++)
        if (!beaten_by_few(keep[a], rival, rivals, radius, image, score, stride, gamma))
            keep[kept++] = keep[a];
    return kept;
}

/* ---- the farthest pair ---- */

void gbose__arms_farthest_pair_plain(size_t *k, size_t *l, const double *image, const size_t *keep,
                                     size_t count, size_t stride)
{
    double best = -1;

    *k = keep[0];
    *l = keep[1];
    for (size_t a = 0; a < count; a++)
        for (size_t b = a + 1; b < count; b++) {
            double d = squared(image, keep[a], keep[b], stride);
            if (d > best) {
                best = d;
                *k = keep[a];
                *l = keep[b];
            }
        }
}

static void farthest_of_few(size_t *k, size_t *l, double *square, const double *image, const size_t *keep,
                            size_t count, size_t stride)
{
    double best = -1;

    for (size_t a = 0; a + 1 < count; a++) {
        const size_t *other = keep + a + 1;

        gbose__kernels->squares(square, image, other, image + keep[a] * stride, count - a - 1, stride);
        for (size_t b = 0; b < count - a - 1; b++)
            if (square[b] > best) {
                best = square[b];
                *k = keep[a];
                *l = other[b];
            }
    }
}

/* Is (i, j) farther apart than the best pair so far, or as far and before it in dictionary order? */
static void offer(size_t *k, size_t *l, double *best, size_t i, size_t j, const double *image, size_t stride)
{
    size_t low = i < j ? i : j, high = i < j ? j : i;
    double d = squared(image, low, high, stride);

    if (d > *best || (d == *best && (low < *k || (low == *k && high < *l)))) {
        *best = d;
        *k = low;
        *l = high;
    }
}

/* With radii about the arms' mean, ||i - j|| <= radius_i + radius_j. Arms are in order of decreasing radius, so
 * the first bound below the best distance found ends the work on a tile, and if that is the bound of the
 * tile's first two arms it ends the search. Within a tile, ||i - j||^2 = radius_i^2 + radius_j^2 - 2 i'j in
 * single precision says which pairs need a closer look. */
void gbose__arms_farthest_pair(size_t *k, size_t *l, const struct gbose__arms *scratch, const double *image,
                               const size_t *keep, size_t count, size_t stride)
{
    double unit = count > FEW ? find_radii(scratch, image, keep, count, stride) : 0, best = -1;
    const double *radius = scratch->radius;
    size_t *order = scratch->order;

    *k = keep[0];
    *l = keep[1];
    if (count == 2)
        return;
    if (!tiles_help(count, stride, unit)) {
        farthest_of_few(k, l, scratch->square, image, keep, count, stride);
        return;
    }
    memcpy(order, keep, count * sizeof *order);
    sort_descending(order, count, radius);
    fill_tiles(scratch, image, order, count, stride, unit);
    for (size_t a = 0; a < count; a++)
        *extra_at(scratch, a, stride) = (float)(radius[order[a]] / unit * (radius[order[a]] / unit));
    for (size_t a = 1; a < count; a++) /* a good pair to begin with */
        offer(k, l, &best, order[0], order[a], image, stride);
    for (size_t begin = 0; begin < count; begin += GBOSE__TILE) {
        for (size_t a = begin + 1; a < count; a++) {
            double reach = radius[order[a]] + radius[order[begin]], r = radius[order[a]] / unit;
            float least = (float)(best / unit / unit - r * r) - tile_error(stride);
            uint64_t open;

            if (reach * (1 + slack(stride)) + TINY < sqrt(best)) {
                if (a == begin + 1)
                    return;
                break;
            }
            open = gbose__kernels->far_tile(tile_at(scratch, begin, stride), point_at(scratch, a, stride),
                                            least, stride) &
                   first_bits(a - begin);
            for (; open; open &= open - 1)
                offer(k, l, &best, order[a], order[begin + lowest_bit(open)], image, stride);
        }
    }
}
