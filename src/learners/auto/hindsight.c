#include "learners/auto/hindsight.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/memory.h"
#include "gbose.h"

enum { ROUNDS = GBOSE__HINDSIGHT_ROUNDS, COORDINATES = GBOSE__OFFER_COORDINATES };

/* Coordinates are at most Z_MOST in magnitude, and kept to STEPS of them, three in a number: they are many, and that is
 * more than exact enough. */
#define Z_MOST 4.0
#define STEPS 131072 /* 2 to 17 */
#define MOST_PACKED 0x1p51
enum { IN_NUMBER = 3, PACKED = COORDINATES / IN_NUMBER };
_Static_assert(COORDINATES % IN_NUMBER == 0, "a number would not be full");

static void pack(double *to, const double *z)
{
    memset(to, 0, PACKED * sizeof *to);
    for (size_t i = 0; i < COORDINATES; i++) {
        double step = floor((z[i] + Z_MOST) / (2 * Z_MOST) * STEPS + 0.5);

        to[i / IN_NUMBER] = to[i / IN_NUMBER] * STEPS + (step < STEPS - 1 ? step : STEPS - 1);
    }
}

static void unpack(double *z, const double *from)
{
    for (size_t k = 0; k < PACKED; k++) {
        uint64_t rest = (uint64_t)from[k];

        for (size_t i = (k + 1) * IN_NUMBER; i-- > k * IN_NUMBER; rest /= STEPS) /* the last is lowest */
            z[i] = (double)(rest % STEPS) / STEPS * (2 * Z_MOST) - Z_MOST;
    }
}

/* Numbers of a round before its context. */
static size_t count_known(size_t round)
{
    return 2 + PACKED + round;
}

static size_t width_of(const struct gbose__hindsight *hindsight)
{
    return count_known(hindsight->round) + hindsight->dim;
}

size_t gbose__hindsight_size(size_t dim, size_t round)
{
    return ROUNDS * (count_known(round) + dim);
}

static double *row_of(const struct gbose__hindsight *hindsight, size_t k)
{
    return hindsight->rows + k * width_of(hindsight);
}

static double *played_of(const struct gbose__hindsight *hindsight, size_t k)
{
    return row_of(hindsight, k) + count_known(hindsight->round);
}

size_t gbose__hindsight_count(const struct gbose__hindsight *hindsight)
{
    return hindsight->rows && *hindsight->count > 0 ? (size_t)*hindsight->count : 0;
}

void gbose__hindsight_grow(const struct gbose__hindsight *to, const struct gbose__hindsight *from)
{
    *to->count = *from->count;
    for (size_t k = 0; k < gbose__hindsight_count(to); k++) {
        memset(row_of(to, k), 0, width_of(to) * sizeof(double));
        memcpy(row_of(to, k), row_of(from, k), count_known(from->round) * sizeof(double));
        memcpy(played_of(to, k), played_of(from, k), from->dim * sizeof(double));
    }
}

void gbose__hindsight_rescale(const struct gbose__hindsight *hindsight, size_t j, double factor)
{
    for (size_t k = 0; k < gbose__hindsight_count(hindsight); k++)
        played_of(hindsight, k)[j] *= factor;
}

static int is_count(double count)
{
    return count == GBOSE__HINDSIGHT_OVER || (count >= 0 && count <= ROUNDS && floor(count) == count);
}

int gbose__hindsight_is_sane(const struct gbose__hindsight *hindsight)
{
    int fine = is_count(*hindsight->count);

    for (size_t k = 0; fine && k < gbose__hindsight_count(hindsight); k++) {
        for (size_t i = 0; i < count_known(hindsight->round); i++)
            fine &= fabs(row_of(hindsight, k)[i]) <= 2 * GBOSE_MAX_INPUT;
        for (size_t i = 0; i < PACKED; i++)
            fine &= row_of(hindsight, k)[2 + i] >= 0 && row_of(hindsight, k)[2 + i] < MOST_PACKED;
        for (size_t i = 0; i < hindsight->dim; i++)
            fine &= fabs(played_of(hindsight, k)[i]) <= 1e300;
    }
    return fine;
}

void gbose__hindsight_write(const struct gbose__hindsight *hindsight, struct gbose__writer *w)
{
    gbose__put_doubles(w, hindsight->rows, gbose__hindsight_count(hindsight) * width_of(hindsight));
}

void gbose__hindsight_read(const struct gbose__hindsight *hindsight, struct gbose__reader *r)
{
    r->bad |= !is_count(*hindsight->count);
    if (!r->bad)
        gbose__get_doubles(r, hindsight->rows, gbose__hindsight_count(hindsight) * width_of(hindsight));
}

void gbose__hindsight_learn(const struct gbose__hindsight *hindsight,
                            const struct gbose__hindsight_round *round)
{
    size_t k = gbose__hindsight_count(hindsight);
    double *row;

    if (!hindsight->rows || k == ROUNDS)
        return;
    row = row_of(hindsight, k);
    row[0] = round->reward;
    row[1] = round->target;
    pack(row + 2, round->z);
    if (hindsight->round)
        memcpy(row + 2 + PACKED, round->round, hindsight->round * sizeof(double));
    memcpy(played_of(hindsight, k), round->played, hindsight->dim * sizeof(double));
    ++*hindsight->count;
}

struct gbose__hindsight_round gbose__hindsight_at(const struct gbose__hindsight *hindsight, size_t k)
{
    const double *row = row_of(hindsight, k);

    struct gbose__hindsight_round round = {
        .reward = row[0], .target = row[1], .round = row + 2 + PACKED, .played = played_of(hindsight, k)};

    unpack(round.z, row + 2);
    return round;
}

void gbose__hindsight_clear(const struct gbose__hindsight *hindsight)
{
    if (*hindsight->count > 0)
        *hindsight->count = 0;
}

void gbose__hindsight_end(struct gbose__hindsight *hindsight)
{
    if (hindsight->rows)
        *hindsight->count = GBOSE__HINDSIGHT_OVER;
    gbose__free(hindsight->rows);
    hindsight->rows = NULL;
}
