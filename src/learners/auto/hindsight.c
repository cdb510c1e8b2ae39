#include "learners/auto/hindsight.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "gbose.h"

enum { ROUNDS = GBOSE__HINDSIGHT_ROUNDS, COORDINATES = GBOSE__OFFER_COORDINATES };

/* Numbers of a round beside its context. */
static size_t count_known(size_t round)
{
    return 2 + COORDINATES + round;
}

/* Those before the contexts. */
static size_t count_numbers(size_t round)
{
    return gbose__pad(1 + ROUNDS * count_known(round));
}

size_t gbose__hindsight_size(size_t dim, size_t round)
{
    return count_numbers(round) + ROUNDS * gbose__pad(dim);
}

void gbose__hindsight_view(struct gbose__hindsight *hindsight, size_t dim, size_t round, double *at)
{
    *hindsight =
        (struct gbose__hindsight){round, dim, gbose__pad(dim), at, at + 1, at + count_numbers(round)};
}

static double *known_of(const struct gbose__hindsight *hindsight, size_t i)
{
    return hindsight->known + i * count_known(hindsight->round);
}

void gbose__hindsight_grow(const struct gbose__hindsight *to, const struct gbose__hindsight *from)
{
    *to->seen = *from->seen;
    for (size_t i = 0; i < ROUNDS; i++) {
        memcpy(known_of(to, i), known_of(from, i), count_known(from->round) * sizeof(double));
        memcpy(to->played + i * to->stride, from->played + i * from->stride, from->dim * sizeof(double));
    }
}

void gbose__hindsight_rescale(const struct gbose__hindsight *hindsight, size_t j, double factor)
{
    for (size_t i = 0; i < gbose__hindsight_count(hindsight); i++)
        hindsight->played[i * hindsight->stride + j] *= factor;
}

int gbose__hindsight_is_sane(const struct gbose__hindsight *hindsight)
{
    int fine =
        *hindsight->seen >= 0 && *hindsight->seen <= 1e18 && floor(*hindsight->seen) == *hindsight->seen;

    for (size_t i = 0; i < ROUNDS * count_known(hindsight->round); i++)
        fine &= fabs(hindsight->known[i]) <= 2 * GBOSE_MAX_INPUT;
    return fine;
}

void gbose__hindsight_learn(const struct gbose__hindsight *hindsight,
                            const struct gbose__hindsight_round *round)
{
    size_t at = (size_t)fmod(*hindsight->seen, ROUNDS);
    double *known = known_of(hindsight, at);

    known[0] = round->reward;
    known[1] = round->target;
    memcpy(known + 2, round->z, COORDINATES * sizeof(double));
    if (hindsight->round)
        memcpy(known + 2 + COORDINATES, round->round, hindsight->round * sizeof(double));
    memcpy(hindsight->played + at * hindsight->stride, round->played, hindsight->stride * sizeof(double));
    ++*hindsight->seen;
}

size_t gbose__hindsight_count(const struct gbose__hindsight *hindsight)
{
    return *hindsight->seen < ROUNDS ? (size_t)*hindsight->seen : ROUNDS;
}

int gbose__hindsight_is_whole(const struct gbose__hindsight *hindsight)
{
    return *hindsight->seen <= ROUNDS;
}

struct gbose__hindsight_round gbose__hindsight_at(const struct gbose__hindsight *hindsight, size_t k)
{
    size_t i = *hindsight->seen < ROUNDS ? k : (size_t)fmod(*hindsight->seen + (double)k, ROUNDS);
    const double *known = known_of(hindsight, i);

    return (struct gbose__hindsight_round){known[0], known[1], known + 2, known + 2 + COORDINATES,
                                           hindsight->played + i * hindsight->stride};
}

void gbose__hindsight_clear(const struct gbose__hindsight *hindsight)
{
    *hindsight->seen = 0;
}
