#include "learners/auto/offer.h"

#include <math.h>
#include <string.h>

#include "gbose.h"
#include "learners/auto/clip.h"

#define COORDINATES GBOSE__OFFER_COORDINATES
#define SAMPLE GBOSE__OFFER_SAMPLE
#define FEW 12 /* coordinates, which a sample of GBOSE__OFFER_EARLY can tell apart */

/* A coordinate must vary by more than this share of its size, which rounding would do too, and this share
 * of its variance must be its own. */
#define LEAST_VARIANCE 1e-18
#define OWN_SHARE 0.05
#define LEAST_APART                                                                                          \
    1e-12 /* a common part differs from the mean by more than this share of both: more than rounding */

#define Z_MOST 4.0 /* standard deviations: beyond, a user is taken for one at the edge */

enum { STATE_NUMBERS = sizeof(struct gbose__offer_state) / sizeof(double) };

size_t gbose__offer_size(size_t dim)
{
    return STATE_NUMBERS + 2 * SAMPLE * dim;
}

void gbose__offer_view(struct gbose__offer *offer, size_t dim, double *at)
{
    offer->dim = dim;
    offer->state = (struct gbose__offer_state *)at;
    offer->sample = at + STATE_NUMBERS;
    offer->common = offer->sample + SAMPLE * dim;
}

void gbose__offer_grow(const struct gbose__offer *to, const struct gbose__offer *from)
{
    *to->state = *from->state;
    for (size_t i = 0; i < 2 * SAMPLE; i++) /* the common parts are behind the means */
        memcpy(to->sample + i * to->dim, from->sample + i * from->dim, from->dim * sizeof(double));
}

void gbose__offer_rescale(const struct gbose__offer *offer, size_t j, double factor)
{
    struct gbose__offer_state *state = offer->state;

    for (size_t i = 0; i < 2 * SAMPLE; i++)
        offer->sample[i * offer->dim + j] *= factor;
    for (size_t k = 0; k < (size_t)state->count; k++)
        if (state->coordinate[k] == (double)j) {
            state->mean[k] *= factor;
            state->deviation[k] *= factor;
        }
}

int gbose__offer_is_sane(const struct gbose__offer *offer)
{
    const struct gbose__offer_state *state = offer->state;
    int fine = state->seen >= 0 && state->seen <= SAMPLE && floor(state->seen) == state->seen;

    fine &= state->count >= 0 && state->count <= COORDINATES && floor(state->count) == state->count;
    fine &= state->relative == 0 || state->relative == 1;
    for (size_t k = 0; k < COORDINATES; k++)
        fine &= state->less[k] == 0 || state->less[k] == 1;
    for (size_t k = 0; fine && k < (size_t)state->count; k++)
        fine &= state->coordinate[k] >= 0 && state->coordinate[k] < (double)offer->dim &&
                floor(state->coordinate[k]) == state->coordinate[k] && state->deviation[k] > 0;
    return fine;
}

/* ---- the choice ---- */

/* What has been chosen: orthonormal vectors of the sample. */
struct basis {
    size_t rounds; /* in the sample */
    size_t count;
    double vector[COORDINATES][SAMPLE];
};

/* A coordinate in the sample. */
struct column {
    int less; /* is it taken less the common part? */
    double mean, deviation;
    double x[SAMPLE]; /* standardised, less what the basis explains of it; zeros if it does not vary */
    double left;      /* of the sum of their squares, which was 1 */
};

/* Is the common part of coordinate j something else than the mean in all rounds? */
static int is_apart(const struct gbose__offer *offer, size_t rounds, size_t j)
{
    int apart = 1;

    for (size_t i = 0; i < rounds; i++) {
        double mean = offer->sample[i * offer->dim + j], common = offer->common[i * offer->dim + j];

        apart &= fabs(mean - common) > LEAST_APART * (fabs(mean) + fabs(common));
    }
    return apart;
}

/* Coordinate j in round i of the sample. */
static double value_of(const struct gbose__offer *offer, size_t i, size_t j, int less)
{
    return offer->sample[i * offer->dim + j] - (less ? offer->common[i * offer->dim + j] : 0);
}

static void find_column(struct column *column, const struct gbose__offer *offer, const struct basis *basis,
                        size_t j)
{
    size_t rounds = basis->rounds;
    int less = is_apart(offer, rounds, j);
    double value[SAMPLE], mean = 0, sum = 0, root;

    for (size_t i = 0; i < rounds; i++) {
        value[i] = value_of(offer, i, j, less);
        mean += value[i] / (double)rounds;
    }
    for (size_t i = 0; i < rounds; i++)
        sum += (value[i] - mean) * (value[i] - mean);
    root = sqrt(sum);
    *column = (struct column){.less = less, .mean = mean, .deviation = root / sqrt((double)rounds)};
    if (!(sum > LEAST_VARIANCE * (double)rounds * mean * mean))
        return;
    for (size_t i = 0; i < rounds; i++)
        column->x[i] = (value[i] - mean) / root;
    for (size_t k = 0; k < basis->count; k++) {
        double dot = 0;

        for (size_t i = 0; i < rounds; i++)
            dot += column->x[i] * basis->vector[k][i];
        for (size_t i = 0; i < rounds; i++)
            column->x[i] -= dot * basis->vector[k][i];
    }
    for (size_t i = 0; i < rounds; i++)
        column->left += column->x[i] * column->x[i];
}

/* x' all x. */
static double quadratic(double (*all)[SAMPLE], const double *x, size_t rounds)
{
    double sum = 0;

    for (size_t i = 0; i < rounds; i++)
        for (size_t k = 0; k < rounds; k++)
            sum += x[i] * all[i][k] * x[k];
    return sum;
}

/* all += x x'. */
static void add_square(double (*all)[SAMPLE], const double *x, size_t rounds)
{
    for (size_t i = 0; i < rounds; i++)
        for (size_t k = 0; k < rounds; k++)
            all[i][k] += x[i] * x[k];
}

/* The coordinate that explains most of what is left of all of them, which is the sum over them of (x'y)^2 / x'x; 0 if
 * there is none that has enough of its own. */
static int find_next(struct column *best, double *coordinate, const struct gbose__offer *offer,
                     const struct basis *basis)
{
    double all[SAMPLE][SAMPLE] = {{0}}, most = 0;
    struct column column;

    for (size_t j = 0; j < offer->dim; j++) {
        find_column(&column, offer, basis, j);
        add_square(all, column.x, basis->rounds);
    }
    for (size_t j = 0; j < offer->dim; j++) {
        double explained;

        find_column(&column, offer, basis, j);
        explained = column.left > OWN_SHARE ? quadratic(all, column.x, basis->rounds) / column.left : 0;
        if (!(explained > most))
            continue;
        most = explained;
        *best = column;
        *coordinate = (double)j;
    }
    return most > 0;
}

/* Choose by so many rounds; 0 if more are needed. */
static int choose(const struct gbose__offer *offer, size_t rounds)
{
    struct gbose__offer_state *state = offer->state;
    struct basis basis = {.rounds = rounds};
    struct column next;

    while (basis.count < COORDINATES && find_next(&next, &state->coordinate[basis.count], offer, &basis)) {
        if (rounds < SAMPLE && basis.count == FEW)
            return 0;
        state->less[basis.count] = next.less;
        state->mean[basis.count] = next.mean;
        state->deviation[basis.count] = next.deviation;
        for (size_t i = 0; i < rounds; i++)
            basis.vector[basis.count][i] = next.x[i] / sqrt(next.left);
        basis.count++;
    }
    for (size_t k = 0; k < basis.count; k++)
        state->relative = state->less[k] > 0 ? 1 : state->relative;
    state->count = (double)basis.count;
    return 1;
}

int gbose__offer_learn(const struct gbose__offer *offer, const double *mean, const double *common)
{
    struct gbose__offer_state *state = offer->state;
    size_t at = (size_t)state->seen;

    if (at == SAMPLE)
        return 0;
    memcpy(offer->sample + at * offer->dim, mean, offer->dim * sizeof *mean);
    memcpy(offer->common + at * offer->dim, common ? common : mean, offer->dim * sizeof *mean);
    state->seen++;
    if ((at + 1 != GBOSE__OFFER_EARLY && at + 1 != SAMPLE) || !choose(offer, at + 1))
        return 0;
    state->seen = SAMPLE;
    return 1;
}

/* ---- coordinates ---- */

void gbose__offer_coordinates(const struct gbose__offer *offer, double *z, const double *mean,
                              const double *common)
{
    const struct gbose__offer_state *state = offer->state;

    memset(z, 0, COORDINATES * sizeof *z);
    for (size_t i = 0; i < (size_t)state->count; i++) {
        size_t j = (size_t)state->coordinate[i];
        double value = mean[j] - (state->less[i] > 0 ? (common ? common : mean)[j] : 0);

        z[i] = gbose__clip((value - state->mean[i]) / state->deviation[i], Z_MOST);
    }
}
