#include "learners/auto/index.h"

#include <math.h>

#include "core/normal.h"
#include "learners/auto/clip.h"

#define S_MOST 4.0         /* standard deviations */
#define SLOPE_MOST 1e60    /* squares of sums of them are finite */
#define SHARE_LEAST 0.005  /* of a round in mean and variance: they follow the weights within 200 rounds */
#define EXPONENTIAL_SIZE 7 /* exp(s) over this is at most tuning's feature_limit */
#define ROOT_2 0x1.6a09e667f3bcdp0
#define CUBE_SIZE 6.5 /* what makes Hermite's polynomials of degrees 3 and 4 at most 8 for |s| <= 4 */
#define FOURTH_SIZE 22
#define SLOPE_SIZE (4 * EXPONENTIAL_SIZE) /* the same for z exp(s), |z| <= 4 */

static double sum_of(const struct gbose__index *index, const double *z, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += index->weight[i] * z[i];
    return sum;
}

void gbose__index_features(const struct gbose__index *index, double *features, const double *z, size_t count)
{
    double s = 0, up;

    if (index->variance > 0)
        s = gbose__clip((sum_of(index, z, count) - index->mean) / sqrt(index->variance), S_MOST);
    up = gbose__exp(s);
    features[0] = s;
    features[1] = (s * s - 1) / ROOT_2;
    features[2] = s * (s * s - 3) / CUBE_SIZE;
    features[3] = (s * s * (s * s - 6) + 3) / FOURTH_SIZE;
    features[4] = up / EXPONENTIAL_SIZE;
    features[5] = 1 / up / EXPONENTIAL_SIZE;
    for (size_t i = 0; i < GBOSE__OFFER_COORDINATES; i++)
        features[GBOSE__INDEX_OWN + i] = i < count ? z[i] * up / SLOPE_SIZE : 0;
}

void gbose__index_learn(struct gbose__index *index, const double *slope, const double *z, size_t count)
{
    double share = gbose__clip_below(1 / (index->rounds + 1), SHARE_LEAST), off;

    for (size_t i = 0; i < count; i++)
        index->weight[i] = gbose__clip(slope[i], SLOPE_MOST);
    off = sum_of(index, z, count) - index->mean;
    index->mean += share * off;
    index->variance = (1 - share) * (index->variance + share * off * off);
    index->rounds++;
}

int gbose__index_is_sane(const struct gbose__index *index)
{
    int fine = index->rounds >= 0 && index->variance >= 0 && fabs(index->mean) <= 1e65;

    for (size_t i = 0; i < GBOSE__OFFER_COORDINATES; i++)
        fine &= fabs(index->weight[i]) <= SLOPE_MOST;
    return fine;
}
