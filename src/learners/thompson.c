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

/* The columns of a matrix of `rows` rows, scaled, each padded to whole vectors. */
static void transpose(double *out, const double *in, size_t rows, size_t columns, size_t stride, double scale)
{
    size_t height = gbose__pad(rows);

    for (size_t k = 0; k < columns; k++)
        for (size_t a = 0; a < height; a++)
            out[k * height + a] = a < rows ? scale * in[a * stride + k] : 0;
}

/* The best arm when the rivals' leads are off their means by sign times round->swing. */
static size_t winner(const struct gbose__round *round, size_t leader, size_t rivals, double sign)
{
    size_t best = leader;
    double best_lead = 0;

    for (size_t a = 0; a < rivals; a++) {
        size_t i = round->live[a];
        double lead = round->score[i] - round->score[leader] + sign * round->swing[a];

        if (lead > best_lead || (lead == best_lead && i < best)) {
            best_lead = lead;
            best = i;
        }
    }
    return best;
}

/* Samples come in mirrored pairs: a draw of the normal law and its reflection, which has the same law. */
size_t gbose__best_arm_law(double *pmf, struct gbose__round *round, size_t first, size_t dim, double scale,
                           size_t draws, struct gbose__rng *rng)
{
    const double *score = round->score;
    size_t leader = first + gbose__argmax(score + first, round->n - first), columns, rivals = 0;
    size_t *rival = round->live, stride = round->stride, height;
    double *swing = round->swing, *z = round->centre, *column;

    memset(pmf, 0, round->n * sizeof *pmf);
    for (size_t i = first; i < round->n; i++) {
        double distance = sqrt(gbose__distance2(image(round, i), image(round, leader), round->stride));
        if (i != leader && score[leader] - score[i] < CANNOT_WIN * scale * distance)
            rival[rivals++] = i;
    }
    if (rivals == 0) {
        pmf[leader] = 1;
        return 0;
    }
    if (rivals == 1) {
        size_t i = rival[0];
        double distance = sqrt(gbose__distance2(image(round, i), image(round, leader), round->stride));
        double sds = (score[leader] - score[i]) / (scale * distance);

        pmf[leader] = gbose__normal_cdf(sds);
        pmf[i] = gbose__normal_cdf(-sds);
        return 0;
    }

    height = gbose__pad(rivals);
    /* D into `matrix`; its factor, if that is smaller, into `image`; what is used, column by column, into
     * the other of the two */
    for (size_t a = 0; a < rivals; a++)
        for (size_t i = 0; i < stride; i++)
            round->matrix[a * stride + i] = image(round, rival[a])[i] - image(round, leader)[i];
    if (rivals <= dim) {
        factor_covariance(round->image, round->matrix, rivals, stride);
        columns = rivals;
        column = round->matrix;
        transpose(column, round->image, rivals, columns, stride, scale);
    } else {
        columns = dim;
        column = round->image;
        transpose(column, round->matrix, rivals, columns, stride, scale);
    }
    for (size_t m = 0; m < draws; m += 2) {
        gbose__rng_normals(rng, z, columns);
        memset(swing, 0, height * sizeof(double));
        for (size_t k = 0; k < columns; k++)
            gbose__axpy(swing, z[k], column + k * height, height);
        pmf[winner(round, leader, rivals, 1)]++;
        if (m + 1 < draws)
            pmf[winner(round, leader, rivals, -1)]++;
    }
    for (size_t i = first; i < round->n; i++)
        pmf[i] /= (double)draws;
    return draws;
}

void gbose__thompson_decide(const gbose *g, struct gbose__round *round)
{
    struct gbose__rng rng;

    gbose__images(g, round);
    gbose__decision_rng(g, round, &rng, GBOSE__SCORES);
    round->draws = gbose__best_arm_law(round->pmf, round, 0, g->model.dim, g->set.gamma, g->set.draws, &rng);
}
