#include "learners/auto/origin.h"

#include <math.h>
#include <string.h>

/* The mean of values of which all but one are equal is this near to what it must be, in units of their size. */
#define ROUNDING 0x1p-40

void gbose__origin_common(double *common, const struct gbose__input *in)
{
    const double *least = in->least, *most = in->most, *mean = in->mean;
    double share = 1 / (double)in->n;

    if (in->n == 2) {
        memcpy(common, in->context, in->stride * sizeof *common);
        return;
    }
    for (size_t j = 0; j < in->stride; j++) {
        double step = share * (most[j] - least[j]), near = ROUNDING * (fabs(most[j]) + fabs(least[j]));
        double low = fabs(mean[j] - least[j] - step), high = fabs(most[j] - mean[j] - step);

        common[j] = low <= near ? least[j] : high <= near ? most[j] : mean[j];
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
    return (origin->relative == 0 || (origin->relative == 1 && may_be_relative)) && origin->losses[0] >= 0 && origin->losses[1] >= 0 &&
           origin->moved >= 0 && origin->apart >= 0;
}
