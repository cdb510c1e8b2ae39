#include "logs/level.h"

#include <math.h>
#include <string.h>

#include "core/kernels.h"
#include "core/memory.h"
#include "gbose.h"

int gbose__level_init(struct gbose__level *level, size_t dim)
{
    size_t size = gbose__baseline_size(dim, 0, 0);

    memset(level, 0, sizeof *level);
    level->stride = gbose__pad(dim);
    level->memory = gbose__alloc(size + level->stride, sizeof(double));
    if (!level->memory)
        return GBOSE_ENOMEM;
    level->scratch = level->memory + size;
    gbose__baseline_view(&level->baseline, &gbose__tuning_default, dim, 0, 0, level->memory);
    gbose__baseline_init(&level->baseline);
    return GBOSE_OK;
}

void gbose__level_clear(struct gbose__level *level)
{
    gbose__free(level->memory);
}

double gbose__level_within(const struct gbose__level *level, double reward)
{
    double span = level->high - level->low;

    return level->rounds > 0 ? fmin(level->high + span, fmax(level->low - span, reward)) : reward;
}

double gbose__level_predict(const struct gbose__level *level, const double *mu, double best, double mean)
{
    struct gbose__features round = {.best = best, .clock = level->rounds};
    double features[GBOSE__MAX_FEATURES], shift;

    gbose__baseline_features(&level->baseline, features, &round, -1);
    shift = gbose__baseline_predict(&level->baseline, features, mu, level->scratch).shift;
    return gbose__level_within(level, shift + mean) - mean;
}

void gbose__level_learn(struct gbose__level *level, const double *mu, double best, const double *b,
                        double reward)
{
    struct gbose__features round = {.best = best, .clock = level->rounds};
    double features[GBOSE__MAX_FEATURES], score = gbose__dot(b, mu, level->stride);
    struct gbose__baseline_lesson lesson = {&round, features, mu, level->rounds, b, score, reward};

    gbose__baseline_features(&level->baseline, features, &round, level->rounds);
    gbose__baseline_learn(&level->baseline, &lesson, level->scratch);
    level->low = level->rounds > 0 ? fmin(level->low, reward) : reward;
    level->high = level->rounds > 0 ? fmax(level->high, reward) : reward;
    level->rounds++;
}
