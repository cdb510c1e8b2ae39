#include "learners/auto/scale.h"

#include <math.h>

double gbose__scale_weight(const struct gbose__scale *scale, const struct gbose__tuning *tuning,
                           double rounds)
{
    double recent = gbose__scale_recent(scale), room = tuning->scale_room * scale->least;

    return rounds > tuning->first_rounds && recent > room ? room / recent : 1;
}

double gbose__scale_least(const struct gbose__scale *scale, const struct gbose__tuning *tuning, double rounds)
{
    return sqrt(rounds > tuning->first_rounds ? scale->least : gbose__scale_recent(scale));
}

void gbose__scale_learn(struct gbose__scale *scale, const struct gbose__tuning *tuning, double rounds,
                        double residual)
{
    double square = residual * residual, recent = gbose__scale_recent(scale);
    double memory = tuning->scale_memory, long_memory = tuning->scale_long_memory;

    if (rounds > tuning->first_rounds && square > tuning->scale_clip * recent)
        square = tuning->scale_clip * recent;
    scale->squares = memory * scale->squares + square;
    scale->count = memory * scale->count + 1;
    scale->long_squares = long_memory * scale->long_squares + square;
    scale->long_count = long_memory * scale->long_count + 1;
    if (rounds <= tuning->first_rounds)
        scale->least = gbose__scale_recent(scale);
    else if (scale->long_squares / scale->long_count < scale->least)
        scale->least = scale->long_squares / scale->long_count;
    if (!(scale->least > 0)) /* the first rewards were all the same: nothing is known of s yet */
        scale->least = scale->long_squares / scale->long_count;
}

int gbose__scale_is_sane(const struct gbose__scale *scale)
{
    return scale->squares >= 0 && scale->count >= 0 && scale->long_squares >= 0 && scale->long_count >= 0 &&
           scale->least >= 0;
}
