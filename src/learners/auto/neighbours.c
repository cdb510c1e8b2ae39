#include "learners/auto/neighbours.h"

#include <math.h>
#include <string.h>

#include "core/kernels.h"
#include "core/memory.h"
#include "gbose.h"
#include "learners/auto/clip.h"

enum { ROUNDS = GBOSE__NEIGHBOURS, KNOWN = 2 }; /* numbers of a round beside its context */

size_t gbose__neighbours_size(size_t dim)
{
    return ROUNDS * (KNOWN + gbose__pad(dim));
}

/* The rounds that are kept. */
static size_t count_of(const struct gbose__neighbours *neighbours)
{
    return neighbours->state->seen < ROUNDS ? (size_t)neighbours->state->seen : ROUNDS;
}

static double *known_of(const struct gbose__neighbours *neighbours, size_t i)
{
    return neighbours->rows + KNOWN * i;
}

static double *played_of(const struct gbose__neighbours *neighbours, size_t i)
{
    return neighbours->rows + KNOWN * ROUNDS + i * neighbours->stride;
}

void gbose__neighbours_grow(const struct gbose__neighbours *to, const struct gbose__neighbours *from)
{
    if (!to->rows || !from->rows)
        return;
    for (size_t i = 0; i < count_of(from); i++) {
        memcpy(known_of(to, i), known_of(from, i), KNOWN * sizeof(double));
        memset(played_of(to, i), 0, to->stride * sizeof(double));
        memcpy(played_of(to, i), played_of(from, i), from->dim * sizeof(double));
    }
}

void gbose__neighbours_rescale(const struct gbose__neighbours *neighbours, size_t j, double factor)
{
    for (size_t i = 0; neighbours->rows && i < count_of(neighbours); i++)
        played_of(neighbours, i)[j] *= factor;
}

static int is_state(const struct gbose__neighbours_state *state)
{
    int fine =
        state->seen >= 0 && state->seen <= 1e18 && floor(state->seen) == state->seen && state->newest >= 0;

    for (size_t i = 0; i < 2; i++)
        fine &= state->losses[i] >= 0 && state->losses[i] <= 1e300;
    return fine;
}

int gbose__neighbours_are_sane(const struct gbose__neighbours *neighbours)
{
    int fine = is_state(neighbours->state);

    for (size_t i = 0; fine && neighbours->rows && i < count_of(neighbours); i++) {
        fine &= known_of(neighbours, i)[0] >= 0 && known_of(neighbours, i)[0] <= 0x1p64 &&
                fabs(known_of(neighbours, i)[1]) <= GBOSE_MAX_INPUT;
        fine &= gbose__kernels->within(played_of(neighbours, i), neighbours->stride, 1e300);
    }
    return fine;
}

void gbose__neighbours_write(const struct gbose__neighbours *neighbours, struct gbose__writer *w)
{
    for (size_t i = 0; i < count_of(neighbours); i++) {
        gbose__put_doubles(w, known_of(neighbours, i), KNOWN);
        gbose__put_doubles(w, played_of(neighbours, i), neighbours->dim);
    }
}

void gbose__neighbours_read(const struct gbose__neighbours *neighbours, struct gbose__reader *r)
{
    r->bad |= !is_state(neighbours->state) || (neighbours->state->seen > 0 && !neighbours->rows);
    for (size_t i = 0; !r->bad && i < count_of(neighbours); i++) {
        gbose__get_doubles(r, known_of(neighbours, i), KNOWN);
        memset(played_of(neighbours, i), 0, neighbours->stride * sizeof(double));
        gbose__get_doubles(r, played_of(neighbours, i), neighbours->dim);
    }
}

void gbose__neighbours_clear(const struct gbose__neighbours *neighbours)
{
    neighbours->state->seen = 0;
}

int gbose__neighbours_meet(const struct gbose__neighbours *neighbours, double number)
{
    if (number < neighbours->state->newest)
        return 1;
    neighbours->state->newest = number + 1;
    return 0;
}

/* What a round counts that is so many decisions away. */
static double weight_at(const struct gbose__tuning *tuning, double distance)
{
    double w = 1;

    for (; distance > 0; distance--)
        w *= tuning->neighbour_memory;
    return w;
}

int gbose__neighbours_predict(const struct gbose__neighbours *neighbours, const struct gbose__tuning *tuning,
                              double number, double *rhat, double *bhat)
{
    double sum = 0;

    *rhat = 0;
    memset(bhat, 0, neighbours->stride * sizeof *bhat);
    for (size_t i = 0; i < count_of(neighbours); i++) {
        double distance = fabs(known_of(neighbours, i)[0] - number), w;

        if (distance > tuning->neighbour_reach)
            continue;
        w = weight_at(tuning, distance);
        sum += w;
        *rhat += w * known_of(neighbours, i)[1];
        gbose__kernels->axpy(bhat, w, played_of(neighbours, i), neighbours->stride);
    }
    if (sum < tuning->neighbour_least)
        return 0;
    *rhat /= sum;
    for (size_t j = 0; j < neighbours->stride; j++)
        bhat[j] /= sum;
    return 1;
}

int gbose__neighbours_lead(const struct gbose__neighbours *neighbours, const struct gbose__tuning *tuning)
{
    return neighbours->state->seen > tuning->neighbour_settle &&
           neighbours->state->losses[0] < neighbours->state->losses[1];
}

void gbose__neighbours_compare(const struct gbose__neighbours *neighbours, const struct gbose__tuning *tuning,
                               double error, double leaders_error)
{
    double errors[2] = {error, leaders_error};

    for (size_t i = 0; i < 2; i++) {
        double e = gbose__clip(errors[i], GBOSE__CLIP_RESIDUAL);

        neighbours->state->losses[i] += (1 - tuning->loss_memory) * (e * e - neighbours->state->losses[i]);
    }
}

void gbose__neighbours_keep(const struct gbose__neighbours *neighbours, double number, double reward,
                            const double *played)
{
    size_t at = (size_t)fmod(neighbours->state->seen, ROUNDS);

    known_of(neighbours, at)[0] = number;
    known_of(neighbours, at)[1] = reward;
    memcpy(played_of(neighbours, at), played, neighbours->stride * sizeof *played);
    neighbours->state->seen++;
}
