#include "learners/thompson.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/arms.h"
#include "core/kernels.h"
#include "core/memory.h"
#include "core/normal.h"

/* An arm that is more standard deviations than this behind the leader overtakes it with a probability below
 * 7e-16, and counts as one that cannot win. */
#define CANNOT_WIN 8.0

void gbose__thompson_init(gbose *g)
{
    struct gbose__thompson *own = g->own;

    own->gamma = gbose__learner_option(g, "gamma")->number;
    own->draws = (size_t)gbose__learner_option(g, "draws")->integer;
}

static double *image(const struct gbose__input *in, struct gbose__round *round, size_t i)
{
    return round->image + i * in->stride;
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

/* Leave in round->live the arms that can win, the leader excepted; returns how many. */
static size_t find_rivals(const struct gbose__input *in, struct gbose__round *round, size_t leader,
                          double scale)
{
    double *square = round->arms.square;
    size_t rivals = 0;

    gbose__kernels->squares(square, round->image, round->live, image(in, round, leader), round->n_live,
                            in->stride);
    for (size_t a = 0; a < round->n_live; a++) {
        size_t i = round->live[a];
        if (i != leader && in->score[leader] - in->score[i] < CANNOT_WIN * scale * sqrt(square[a]))
            round->live[rivals++] = i;
    }
    return rivals;
}

/* Rows whose products with standard normal numbers are what a sample adds to the rivals' leads: those of D, or
 * of its factor if that has fewer columns. They are in `image` or in `matrix`; the other one becomes *room. */
static const double *find_factor(const struct gbose__input *in, struct gbose__round *round, double **room,
                                 size_t *columns, size_t leader, size_t rivals, size_t dim, double scale)
{
    size_t stride = in->stride;
    double *factor = round->matrix;

    for (size_t a = 0; a < rivals; a++)
        for (size_t i = 0; i < stride; i++)
            round->matrix[a * stride + i] = image(in, round, round->live[a])[i] - image(in, round, leader)[i];
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

/* How often each wins in `draws` samples, into round->arms.square: the rivals and, in its place among
 * them, the leader. Samples come in mirrored pairs: a draw of the normal law and its reflection, which has
 * the same law. */
static void sample(const struct gbose__input *in, struct gbose__round *round, size_t leader, size_t favourite,
                   size_t rivals, size_t dim, double scale, size_t draws, struct gbose__rng *rng)
{
    double *wins = round->arms.square, *lead = round->lead, *z;
    size_t columns, plus = draws - draws / 2, minus = draws / 2;
    const double *factor = find_factor(in, round, &z, &columns, leader, rivals, dim, scale);

    for (size_t a = 0; a < rivals; a++)
        lead[a] = in->score[round->live[a]] - in->score[leader];
    memset(wins, 0, (rivals + 1) * sizeof *wins);
    for (size_t m = 0; m < plus; m += GBOSE__BATCH) {
        size_t left = plus - m, size = left < GBOSE__BATCH ? left : GBOSE__BATCH;

        gbose__rng_rough_normals(rng, z, GBOSE__BATCH * columns);
        gbose__kernels->count_wins(wins, favourite, lead, factor, rivals, columns, in->stride, z, size,
                                   minus - m < size ? minus - m : size);
    }
}

size_t gbose__thompson_law(double *pmf, const gbose *g, const struct gbose__input *in,
                           struct gbose__round *round)
{
    const struct gbose__thompson *own = g->own;
    struct gbose__rng rng;
    const double *score = in->score, *wins = round->arms.square;
    size_t leader = round->live[0], rivals, favourite = 0;

    for (size_t a = 1; a < round->n_live; a++)
        if (score[round->live[a]] > score[leader])
            leader = round->live[a];
    memset(pmf, 0, in->n * sizeof *pmf);
    rivals = find_rivals(in, round, leader, own->gamma);
    if (rivals == 0) {
        pmf[leader] = 1;
        return 0;
    }
    if (rivals == 1) {
        size_t i = round->live[0];
        double distance = sqrt(gbose__distance2(image(in, round, i), image(in, round, leader), in->stride));
        double sds = (score[leader] - score[i]) / (own->gamma * distance);

        pmf[leader] = gbose__normal_cdf(sds);
        pmf[i] = gbose__normal_cdf(-sds);
        return 0;
    }
    while (favourite < rivals && round->live[favourite] < leader)
        favourite++;
    gbose__round_rng(g, round, &rng, GBOSE__SCORES);
    sample(in, round, leader, favourite, rivals, g->fit[0].dim, own->gamma, own->draws, &rng);
    pmf[leader] = wins[favourite] / (double)own->draws;
    for (size_t a = 0; a < rivals; a++)
        pmf[round->live[a]] = wins[a < favourite ? a : a + 1] / (double)own->draws;
    return own->draws;
}

void gbose__thompson_decide(const gbose *g, const struct gbose__input *in, struct gbose__round *round)
{
    const struct gbose__thompson *own = g->own;
    const struct gbose__ridge *fit = &g->fit[0];

    round->n_live = gbose__arms_suspects(round->live, &round->arms, in->context, in->score, in->n, in->stride,
                                         CANNOT_WIN * own->gamma, fit->reach);
    gbose__ridge_apply(fit, round->image, in->context, round->live, round->n_live);
    round->draws = gbose__thompson_law(round->pmf, g, in, round);
}
