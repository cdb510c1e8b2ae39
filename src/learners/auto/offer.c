#include "learners/auto/offer.h"

#include <math.h>
#include <string.h>

#include "core/kernels.h"
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

#define TIE (1 + 1e-9) /* two numbers that differ by less are equal, but for rounding */
#define Z_MOST 4.0     /* standard deviations: beyond, a user is taken for one at the edge */

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

/* What has been chosen: orthonormal vectors of the sample, and sum x x' of what they leave of all coordinates, each of length 1 at
 * first. */
struct basis {
    size_t rounds; /* in the sample */
    size_t count;
    double vector[COORDINATES][SAMPLE];
    double all[SAMPLE][SAMPLE];
};

/* A coordinate in the sample. */
struct column {
    int less; /* is it taken less the common part? */
    double mean, deviation;
    double x[SAMPLE]; /* standardised, such that the sum of squares is 1; zeros if it does not vary */
};

/* Is the common part of coordinate j something else than the mean in all rounds? */
static int is_apart(const struct gbose__offer *offer, size_t rounds, size_t j)
{
    for (size_t i = 0; i < rounds; i++) {
        double mean = offer->sample[i * offer->dim + j], common = offer->common[i * offer->dim + j];

        if (!(fabs(mean - common) > LEAST_APART * (fabs(mean) + fabs(common))))
            return 0;
    }
    return 1;
}

/* Coordinate j in round i of the sample. */
static double value_of(const struct gbose__offer *offer, size_t i, size_t j, int less)
{
    return offer->sample[i * offer->dim + j] - (less ? offer->common[i * offer->dim + j] : 0);
}

static void find_column(struct column *column, const struct gbose__offer *offer, size_t rounds, size_t j)
{
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
}

static double dot(const double *x, const double *y)
{
    return gbose__dot(x, y, SAMPLE);
}

/* How much of x, whose sum of squares is 1, the basis does not explain. */
static double left_of(const struct basis *basis, const double *x)
{
    double along[COORDINATES], left = dot(x, x);

    gbose__kernels->dots(along, basis->vector[0], x, basis->count, SAMPLE);
    for (size_t k = 0; k < basis->count; k++)
        left -= along[k] * along[k];
    return left;
}

/* all += x x'. */
static void add_square(struct basis *basis, const double *x)
{
    for (size_t i = 0; i < basis->rounds; i++)
        gbose__kernels->axpy(basis->all[i], x[i], x, SAMPLE);
}

/* x'all x, in which only what the basis leaves of x counts. */
static double explained_by(const struct basis *basis, const double *x)
{
    double along[SAMPLE], sum = 0;

    gbose__kernels->dots(along, basis->all[0], x, basis->rounds, SAMPLE);
    for (size_t i = 0; i < basis->rounds; i++)
        sum += x[i] * along[i];
    return sum;
}

/* all becomes (I - v v') all (I - v v'). */
static void take_out(struct basis *basis, const double *v)
{
    double along[SAMPLE] = {0}, twice = 0;

    gbose__kernels->dots(along, basis->all[0], v, basis->rounds, SAMPLE);
    twice = dot(along, v);
    for (size_t i = 0; i < basis->rounds; i++) {
        gbose__kernels->axpy(basis->all[i], -along[i], v, SAMPLE);
        gbose__kernels->axpy(basis->all[i], -v[i], along, SAMPLE);
        gbose__kernels->axpy(basis->all[i], v[i] * twice, v, SAMPLE);
    }
}

static void add_to_basis(struct basis *basis, const double *x)
{
    double *v = basis->vector[basis->count], length;

    memcpy(v, x, SAMPLE * sizeof *x);
    for (size_t k = 0; k < basis->count; k++)
        gbose__kernels->axpy(v, -dot(v, basis->vector[k]), basis->vector[k], SAMPLE);
    length = sqrt(dot(v, v));
    for (size_t i = 0; i < SAMPLE; i++)
        v[i] /= length;
    basis->count++;
    take_out(basis, v);
}

/* The coordinate that explains most of what is left of all of them, which is the sum over them of (x'y)^2 / x'x; 0 if
 * there is none that has enough of its own. Of those that explain as much, the one that has most of its own. */
static int find_next(struct column *best, double *coordinate, const struct gbose__offer *offer,
                     const struct basis *basis)
{
    double most = 0, most_left = 0;

    for (size_t j = 0; j < offer->dim; j++) {
        struct column column;
        double left, explained;

        find_column(&column, offer, basis->rounds, j);
        left = left_of(basis, column.x);
        explained = left > OWN_SHARE ? explained_by(basis, column.x) / left : 0;
        if (!(explained > TIE * most || (TIE * explained > most && left > TIE * most_left)))
            continue;
        most = explained;
        most_left = left;
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

    for (size_t j = 0; j < offer->dim; j++) {
        find_column(&next, offer, rounds, j);
        add_square(&basis, next.x);
    }
    while (basis.count < COORDINATES && find_next(&next, &state->coordinate[basis.count], offer, &basis)) {
        if (rounds < SAMPLE && basis.count == FEW)
            return 0;
        state->less[basis.count] = next.less;
        state->mean[basis.count] = next.mean;
        state->deviation[basis.count] = next.deviation;
        add_to_basis(&basis, next.x);
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
