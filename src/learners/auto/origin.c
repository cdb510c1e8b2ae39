#include "learners/auto/origin.h"

#include <math.h>
#include <string.h>

/* The mean of values of which all but one are equal is this near to what it must be, in units of their size. */
#define ROUNDING 0x1p-40

/* The common part of a feature: the mean, the value played, or, all others being equal, theirs. */
enum { MEAN, PLAYED, OTHERS, WHERE_BITS = 2, IN_WORD = 64 / WHERE_BITS };

size_t gbose__origin_words(size_t dim)
{
    return dim / IN_WORD + 1;
}

/* The common part is what one of two arms has. */
static unsigned of_pair(double first, double second, size_t arm)
{
    size_t which = second == 0 && first != 0;

    return arm == which ? PLAYED : OTHERS;
}

static unsigned where_is(const struct gbose__input *in, size_t arm, size_t j)
{
    double least = in->least[j], most = in->most[j], step = (most - least) / (double)in->n;
    double near = ROUNDING * (fabs(most) + fabs(least)), played = in->context[arm * in->stride + j];

    if (in->n == 2)
        return of_pair(in->context[j], in->context[in->stride + j], arm);
    if (fabs(in->mean[j] - least - step) <= near)
        return played == least ? PLAYED : OTHERS;
    if (fabs(most - in->mean[j] - step) <= near)
        return played == most ? PLAYED : OTHERS;
    return MEAN;
}

static void say(uint64_t *where, const struct gbose__input *in, size_t arm, size_t j)
{
    where[j / IN_WORD] |= (uint64_t)where_is(in, arm, j) << (WHERE_BITS * (j % IN_WORD));
}

void gbose__origin_say(uint64_t *where, const struct gbose__input *in, size_t arm, size_t dim)
{
    memset(where, 0, gbose__origin_words(dim) * sizeof *where);
    for (size_t j = 0; j < dim; j++)
        say(where, in, arm, j);
}

void gbose__origin_say_few(uint64_t *where, const struct gbose__input *in, size_t arm, size_t dim,
                           const double *feature, size_t count)
{
    memset(where, 0, gbose__origin_words(dim) * sizeof *where);
    for (size_t k = 0; k < count; k++)
        say(where, in, arm, (size_t)feature[k]);
}

/* No pair is 11, and what is left of the last word is zero. */
int gbose__origin_may_be(struct gbose__reader *where, size_t dim)
{
    const uint64_t low = UINT64_C(0x5555555555555555);
    uint64_t word = 0;
    int fine = 1;

    for (size_t i = 0; i < gbose__origin_words(dim); i++) {
        word = gbose__get_u64(where);
        fine &= !(word & word >> 1 & low);
    }
    return fine && !(word >> (WHERE_BITS * (dim % IN_WORD)));
}

void gbose__origin_find(double *common, const uint64_t *where, const double *played, const double *mean,
                        double arms, size_t dim)
{
    for (size_t j = 0; j < dim; j++) {
        uint64_t at = where[j / IN_WORD] >> (WHERE_BITS * (j % IN_WORD)) & ((1 << WHERE_BITS) - 1);

        common[j] = mean[j];
        if (at == PLAYED)
            common[j] = played[j];
        if (at == OTHERS && arms > 1)
            common[j] = (arms * mean[j] - played[j]) / (arms - 1);
    }
}

/* Is the other one better? */
static int is_to_change(const struct gbose__origin *origin, const struct gbose__tuning *tuning, double rounds)
{
    int used = origin->relative > 0;

    if (rounds < tuning->origin_first)
        return rounds > 0 && (origin->moved > tuning->origin_varies * origin->apart) != used;
    return tuning->origin_factor * origin->losses[!used] < origin->losses[used];
}

int gbose__origin_learn(struct gbose__origin *origin, const struct gbose__tuning *tuning,
                        const struct gbose__origin_round *round)
{
    double memory = tuning->origin_memory;

    for (int i = 0; i < 2; i++)
        origin->losses[i] = memory * origin->losses[i] + (1 - memory) * round->error[i] * round->error[i];
    origin->moved += round->moved;
    origin->apart += round->apart;
    if (!is_to_change(origin, tuning, round->rounds))
        return 0;
    origin->relative = !(origin->relative > 0);
    return 1;
}

int gbose__origin_is_sane(const struct gbose__origin *origin, int may_be_relative)
{
    return (origin->relative == 0 || (origin->relative == 1 && may_be_relative)) && origin->losses[0] >= 0 &&
           origin->losses[1] >= 0 && origin->moved >= 0 && origin->apart >= 0;
}
