/* The geometry of a round's arms.
 *
 * An arm is met as its image R b (core/ridge.h), n rows of `stride` doubles, and its score b'mu. Distances
 * between images are distances in the B^-1 metric. Each routine here is exact: pruning skips only what
 * provably cannot change the answer, rounding included, and the plain version that prunes nothing stands
 * beside it as its oracle. Ties go to the lowest indices. */
#ifndef GBOSE_CORE_ARMS_H
#define GBOSE_CORE_ARMS_H

#include <stddef.h>

/* The first index of the largest value. */
size_t gbose__argmax(const double *value, size_t n);

/* The arms that no other arm beats: i is kept iff for every j, score_j - score_i <= gamma ||i - j||
 * (line 6 of GBOSE's Algorithm 1). Writes their indices in rising order and returns how many. `radius` is
 * scratch for n doubles. */
size_t gbose__filter(size_t *keep, double *radius, const double *image, const double *score, size_t n,
                     size_t stride, double gamma);
size_t gbose__filter_plain(size_t *keep, const double *image, const double *score, size_t n, size_t stride,
                           double gamma);

/* The pair of kept arms at the largest distance, k < l; count >= 2. It is the first pair if no distance is a number,
 * as in a state that was forged. `radius` is scratch for as many doubles
 * as there are arms, `order` for count indices, `centre` for stride doubles. */
void gbose__farthest_pair(size_t *k, size_t *l, double *radius, size_t *order, double *centre,
                          const double *image, const size_t *keep, size_t count, size_t stride);
void gbose__farthest_pair_plain(size_t *k, size_t *l, const double *image, const size_t *keep, size_t count,
                                size_t stride);

#endif
