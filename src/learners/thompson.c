#include "learners/thompson.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/arms.h"
#include "core/kernels.h"
#include "core/memory.h"
#include "core/normal.h"

/* An arm whose lead over it the leader loses with probability below 7e-16 cannot win. */
#define CANNOT_WIN 8.0

static double *image(struct gbose__round *round, size_t i)
{
    return round->image + i * round->stride;
}

/* The covariance of the live arms' leads over the leader is D D', row i of D being image_i - image_leader.
 * Its Cholesky factor replaces D when it has fewer columns: `rows` rows of `stride`. Where a pivot is lost
 * to rounding the arm's lead is a combination of those before it; an arm equal to an earlier one takes its
 * row, so that the two tie exactly. */
static void factor_covariance(double *L, const double *D, size_t rows, size_t stride)
{
    for (size_t j = 0; j < rows; j++) {
        double *Lj = L + j * stride, size2, pivot;
        const double *Dj = D + j * stride;

        memset(Lj, 0, stride * sizeof(double));
        size2 = pivot = gbose__dot(Dj, Dj, stride);
        for (size_t i = 0; i < j; i++) {
            const double *Li = L + i * stride;
            if (Li[i] > 0)
                Lj[i] =
                    (gbose__dot(Dj, D + i * stride, stride) - gbose__dot(Lj, Li, gbose__pad(i + 1))) / Li[i];
            pivot -= Lj[i] * Lj[i];
        }
        Lj[j] = pivot > 64 * DBL_EPSILON * size2 ? sqrt(pivot) : 0;
        if (Lj[j] > 0)
            continue;
        for (size_t i = 0; i < j; i++)
            if (!memcmp(Dj, D + i * stride, stride * sizeof(double))) {
                memcpy(Lj, L + i * stride, stride * sizeof(double));
                break;
            }
    }
}

/* The arms among round->live that can win, which replace them, but for the leader. */
static size_t find_rivals(struct gbose__round *round, size_t leader, double scale)
{
    double *square = round->arms.square;
    size_t rivals = 0;

    gbose__kernels->squares(square, round->image, round->live, image(round, leader), round->n_live,
                            round->stride);
    for (size_t a = 0; a < round->n_live; a++) {
        size_t i = round->live[a];
        if (i != leader && round->score[leader] - round->score[i] < CANNOT_WIN * scale * sqrt(square[a]))
            round->live[rivals++] = i;
    }
    return rivals;
}

/* Rows whose product with normal numbers swings the rivals' leads: D, or its factor if that has fewer columns. One of
 * `image` and `matrix` holds them, the other is free. */
static const double *find_factor(struct gbose__round *round, double **room, size_t *columns, size_t leader,
                                 size_t rivals, size_t dim, double scale)
{
    size_t stride = round->stride;
    double *factor = round->matrix;

    for (size_t a = 0; a < rivals; a++)
        for (size_t i = 0; i < stride; i++)
            round->matrix[a * stride + i] = image(round, round->live[a])[i] - image(round, leader)[i];
    *columns = rivals <= dim ? rivals : dim;
    *room = round->image;
    if (rivals <= dim) {
        factor_covariance(round->image, round->matrix, rivals, stride);
        factor = round->image;
        *room = round->matrix;
    }
    for (size_t i = 0; i < rivals * stride; i++)
        factor[i] *= scale;
    return factor;
}

/* How often each wins in `draws` samples, into round->arms.square: the rivals and, in its place among them, the leader.
 * Samples come in mirrored pairs: a draw of the normal law and its reflection, which has the same law. */
static void sample(struct gbose__round *round, size_t leader, size_t favourite, size_t rivals, size_t dim,
                   double scale, size_t draws, struct gbose__rng *rng)
{
    double *wins = round->arms.square, *lead = round->swing, *z;
    size_t columns, plus = draws - draws / 2, minus = draws / 2;
    const double *factor = find_factor(round, &z, &columns, leader, rivals, dim, scale);

    for (size_t a = 0; a < rivals; a++)
        lead[a] = round->score[round->live[a]] - round->score[leader];
    memset(wins, 0, (rivals + 1) * sizeof *wins);
    for (size_t m = 0; m < plus; m += GBOSE__BATCH) {
        size_t left = plus - m, size = left < GBOSE__BATCH ? left : GBOSE__BATCH;

        gbose__rng_rough_normals(rng, z, GBOSE__BATCH * columns);
        gbose__kernels->count_wins(wins, favourite, lead, factor, rivals, columns, round->stride, z, size,
                                   minus - m < size ? minus - m : size);
    }
}

size_t gbose__best_arm_law(double *pmf, struct gbose__round *round, size_t dim, double scale, size_t draws,
                           struct gbose__rng *rng)
{
    const double *score = round->score, *wins = round->arms.square;
    size_t leader = round->live[0], rivals, favourite = 0;

    for (size_t a = 1; a < round->n_live; a++)
        if (score[round->live[a]] > score[leader])
            leader = round->live[a];
    memset(pmf, 0, round->n * sizeof *pmf);
    rivals = find_rivals(round, leader, scale);
    if (rivals == 0) {
        pmf[leader] = 1;
        return 0;
    }
    if (rivals == 1) {
        size_t i = round->live[0];
        double distance = sqrt(gbose__distance2(image(round, i), image(round, leader), round->stride));
        double sds = (score[leader] - score[i]) / (scale * distance);

        pmf[leader] = gbose__normal_cdf(sds);
        pmf[i] = gbose__normal_cdf(-sds);
        return 0;
    }
    while (favourite < rivals && round->live[favourite] < leader)
        favourite++;
    sample(round, leader, favourite, rivals, dim, scale, draws, rng);
    pmf[leader] = wins[favourite] / (double)draws;
    for (size_t a = 0; a < rivals; a++)
        pmf[round->live[a]] = wins[a < favourite ? a : a + 1] / (double)draws;
    return draws;
}

void gbose__thompson_decide(const gbose *g, struct gbose__round *round)
{
    struct gbose__rng rng;

    round->n_live = gbose__suspects(round->live, &round->arms, round->context, round->score, round->n,
                                    round->stride, CANNOT_WIN * g->set.gamma, g->model.reach);
    gbose__ridge_apply(&g->model, round->image, round->context, round->live, round->n_live);
    gbose__decision_rng(g, round, &rng, GBOSE__SCORES);
    round->draws = gbose__best_arm_law(round->pmf, round, g->model.dim, g->set.gamma, g->set.draws, &rng);
}
