#include "learners/auto/length.h"

#include <math.h>
#include <string.h>

#include "learners/auto/clip.h"

#define EFFECT_MOST 1e6 /* in units of s */
#define SUM_MOST 1e20   /* more than sums of squares of them come to */

int gbose__length_learn(struct gbose__length *length, const struct gbose__tuning *tuning, double variance,
                        double predicted, double seen)
{
    double memory = tuning->length_memory, scale = sqrt(variance), p, e;

    if (!(variance > 0))
        return 0;
    p = gbose__clip(predicted / scale, EFFECT_MOST);
    e = p + gbose__clip(seen / scale - p, tuning->surprise_limit);
    length->products = memory * length->products + p * e;
    length->squares = memory * length->squares + p * p;
    return length->products + tuning->length_errors * sqrt(length->squares) <
           tuning->length_slope * length->squares;
}

void gbose__length_shorten(struct gbose__length *length, const struct gbose__tuning *tuning,
                           struct gbose__ridge *fit, size_t count, double unit, double *scratch)
{
    double weight = 3 * (fit->lambda + length->weight); /* four times what it was */

    if (!(length->weight < tuning->length_most))
        return;
    memset(scratch, 0, fit->stride * sizeof *scratch);
    for (size_t j = 0; j < fit->dim; j++) {
        scratch[j] = 1;
        for (size_t i = 0; i < count; i++)
            gbose__ridge_term(&fit[i], scratch, unit * weight, 0);
        scratch[j] = 0;
    }
    *length = (struct gbose__length){.weight = length->weight + weight};
}

int gbose__length_is_sane(const struct gbose__length *length)
{
    return fabs(length->products) <= SUM_MOST && length->squares >= 0 && length->squares <= SUM_MOST &&
           length->weight >= 0;
}
