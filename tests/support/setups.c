#include "support/setups.h"

void setups_for_filters(const struct game *game)
{
    static const struct setup sets[] = {
        {.gamma = 0.9, .lambda = 2.5, .dim = 5, .max_arms = 12, .rounds = 400, .seed = 1},
        {.gamma = 0.9, .lambda = 2.5, .intercept = 1, .dim = 5, .max_arms = 12, .rounds = 400, .seed = 2},
        {.gamma = 0.7, .lambda = 0.3, .dim = 9, .max_arms = 12, .rounds = 300, .seed = 3},
        {.gamma = 0.4, .lambda = 17, .intercept = 1, .dim = 2, .max_arms = 12, .rounds = 300, .seed = 4},
        {.gamma = 0.8, .lambda = 2.5, .forget = 0.97, .dim = 7, .max_arms = 12, .rounds = 400, .seed = 5},
        {.gamma = 0.8,
         .lambda = 2.5,
         .forget = 0.97,
         .intercept = 1,
         .dim = 4,
         .max_arms = 12,
         .rounds = 400},
    };

    play_setups(game, sets, sizeof sets / sizeof *sets, "apmr", 10);
}

void setups_of_two_arms(const struct game *game, size_t least)
{
    const struct setup sets[] = {
        {.gamma = 0.6, .lambda = 2.5, .dim = 5, .max_arms = 2, .rounds = 500, .seed = 6},
        {.gamma = 0.6, /* the intercept is the other way round than its default */
         .lambda = 2.5,
         .intercept = !game->linear,
         .no_intercept = game->linear,
         .dim = 3,
         .max_arms = 2,
         .rounds = 500,
         .seed = 7},
    };

    play_setups(game, sets, sizeof sets / sizeof *sets, "p", least);
}

void setups_of_many_draws(const struct game *game)
{
    static const struct setup sets[] = {
        {.gamma = 0.7, .lambda = 2.5, .draws = 300000, .dim = 4, .max_arms = 6, .rounds = 6, .seed = 9},
        {.gamma = 0.7, .lambda = 2.5, .draws = 100000, .dim = 9, .max_arms = 7, .rounds = 5, .seed = 10},
    };

    play_setups(game, sets, sizeof sets / sizeof *sets, "m", 2);
}

const struct setup setup_forgetting = {
    .gamma = 0.7, .lambda = 2.5, .forget = 0.97, .intercept = 1, .dim = 4, .max_arms = 12, .rounds = 300};
