/* The geometry of a round's arms.
 *
 * An arm is given by its context b and its image R b (core/ridge.h), rows of `stride` doubles, and by its
 * score b'mu. Distances between images are distances in the B^-1 metric. Each routine here is exact:
 * pruning skips only what provably cannot change the answer, rounding included, and the plain version that
 * prunes nothing stands beside it as its oracle. Ties go to the lowest indices. */
#ifndef GBOSE_CORE_ARMS_H
#define GBOSE_CORE_ARMS_H

#include <stddef.h>

/* Scratch for n arms. */
struct gbose__arms {
    double *radius; /* n */
    double *square; /* n */
    size_t *order;  /* n */
    double *centre; /* stride */
    float *tiles;   /* gbose__arms_tiles(n, stride) */
};

/* Room for n points in tiles (kernels.h), in floats. */
size_t gbose__arms_tiles(size_t n, size_t stride);

/* The first index of the largest value. */
size_t gbose__arms_argmax(const double *value, size_t n);

/* The arms that the leader does not provably beat, judged by their contexts alone, in rising order;
 * returns how many. It provably beats an arm where its lead exceeds gamma reach ||b - b_leader||, with
 * reach a bound on the largest singular value of R: for these arms the images, which cost d times as much,
 * need not be formed. The filter would keep no arm that is left out, and an arm that is left out beats
 * none that the leader does not beat too. */
size_t gbose__arms_suspects(size_t *suspect, const struct gbose__arms *scratch, const double *context,
                            const double *score, size_t n, size_t stride, double gamma, double reach);

/* The arms that no other arm beats: i is kept iff for every j, score_j - score_i <= gamma ||i - j|| (line
 * 6 of GBOSE's Algorithm 1). `keep` lists the arms to look at, in rising order, the leader among them;
 * those kept remain. Returns how many. */
size_t gbose__arms_filter(size_t *keep, size_t count, const struct gbose__arms *scratch, const double *image,
                          const double *score, size_t stride, double gamma);
size_t gbose__arms_filter_plain(size_t *keep, const double *image, const double *score, size_t n,
                                size_t stride, double gamma);

/* The pair of kept arms at the largest distance, k < l; count >= 2. It is the first pair if no distance is
 * a number, as in a state that was forged. */
void gbose__arms_farthest_pair(size_t *k, size_t *l, const struct gbose__arms *scratch, const double *image,
                               const size_t *keep, size_t count, size_t stride);
void gbose__arms_farthest_pair_plain(size_t *k, size_t *l, const double *image, const size_t *keep,
                                     size_t count, size_t stride);

#endif
