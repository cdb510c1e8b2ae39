#include "core/arms.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/kernels.h"

size_t gbose__argmax(const double *value, size_t n)
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

/* A computed distance is off by a relative error of at most (stride/8 + 4) units in the last place, or, when
 * its square underflows, by less than 1e-150. Bounds from the triangle inequality give way by more. */
static double slack(double a, double b, size_t stride)
{
    return (double)(stride + 64) * DBL_EPSILON * (a + b) + 1e-150;
}

size_t gbose__filter_plain(size_t *keep, const double *image, const double *score, size_t n, size_t stride,
                           double gamma)
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

/* An arm is only beaten by one that scores higher. The leader beats most of those that fall, so it goes
 * first; its distances then serve the others: ||i - j|| >= | ||i - leader|| - ||j - leader|| |. */
size_t gbose__filter(size_t *keep, double *radius, const double *image, const double *score, size_t n,
                     size_t stride, double gamma)
{
    size_t leader = gbose__argmax(score, n), count = 0, kept = 0;

    for (size_t i = 0; i < n; i++) {
        radius[i] = sqrt(squared(image, leader, i, stride));
        if (!(score[leader] - score[i] > gamma * radius[i]))
            keep[count++] = i;
    }
    for (size_t c = 0; c < count; c++) {
        size_t i = keep[c], j;

        for (j = 0; j < n; j++) {
            double lead = score[j] - score[i];
            if (lead > 0 &&
                lead > gamma * (fabs(radius[i] - radius[j]) - slack(radius[i], radius[j], stride)) &&
                beats(j, i, image, score, stride, gamma))
                break;
        }
        if (j == n)
            keep[kept++] = i;
    }
    return kept;
}

/* Does the pair (i, j) come before (k, l) in dictionary order? All pairs have their smaller index first. */
static int before(size_t i, size_t j, size_t k, size_t l)
{
    return i < k || (i == k && j < l);
}

void gbose__farthest_pair_plain(size_t *k, size_t *l, const double *image, const size_t *keep, size_t count,
                                size_t stride)
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

/* Heapsort, so that nothing is allocated: arms by falling radius. */
static void sift(size_t *order, size_t root, size_t n, const double *radius)
{
    size_t child;

    while ((child = 2 * root + 1) < n) {
        size_t swap = order[root];
        if (child + 1 < n && radius[order[child + 1]] < radius[order[child]])
            child++;
        if (!(radius[order[child]] < radius[order[root]]))
            return;
        order[root] = order[child];
        order[child] = swap;
        root = child;
    }
}

static void sort_by_radius(size_t *order, size_t n, const double *radius)
{
    for (size_t i = n / 2; i-- > 0;)
        sift(order, i, n, radius);
    for (size_t i = n; i-- > 1;) {
        size_t swap = order[0];
        order[0] = order[i];
        order[i] = swap;
        sift(order, 0, i, radius);
    }
}

/* With radii about the arms' mean, ||i - j|| <= radius_i + radius_j. Taking arms by falling radius, the
 * first bound below the best distance found ends a row, and at the row's first arm it ends the search. */
void gbose__farthest_pair(size_t *k, size_t *l, double *radius, size_t *order, double *centre,
                          const double *image, const size_t *keep, size_t count, size_t stride)
{
    double best = -1;

    *k = keep[0];
    *l = keep[1];
    if (count == 2)
        return;
    memset(centre, 0, stride * sizeof(double));
    for (size_t a = 0; a < count; a++)
        gbose__axpy(centre, 1 / (double)count, image + keep[a] * stride, stride);
    for (size_t a = 0; a < count; a++)
        radius[keep[a]] = sqrt(gbose__distance2(centre, image + keep[a] * stride, stride));
    memcpy(order, keep, count * sizeof *order);
    sort_by_radius(order, count, radius);
    for (size_t a = 1; a < count; a++)
        for (size_t b = 0; b < a; b++) {
            size_t i = order[a] < order[b] ? order[a] : order[b];
            size_t j = order[a] < order[b] ? order[b] : order[a];
            double reach = radius[i] + radius[j], d;

            if (reach + slack(radius[i], radius[j], stride) < sqrt(best < 0 ? 0 : best)) {
                if (b == 0)
                    return;
                break;
            }
            d = squared(image, i, j, stride);
            if (d > best || (d == best && before(i, j, *k, *l))) {
                best = d;
                *k = i;
                *l = j;
            }
        }
}
