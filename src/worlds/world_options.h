/* The rows that worlds' option tables share. */
#ifndef GBOSE_WORLDS_WORLD_OPTIONS_H
#define GBOSE_WORLDS_WORLD_OPTIONS_H

#include "learners/options.h"

#define GBOSE__WORLD_MAX_ARMS 1000
#define GBOSE__WORLD_MAX_BLOCK 1000
#define GBOSE__WORLD_MAX_NOISE 1e6

#define OPTION_ARMS(standard)                                                                                \
    {                                                                                                        \
        "arms", GBOSE_INTEGER, 2, GBOSE__WORLD_MAX_ARMS, NULL, standard, "number of arms"                    \
    }
#define OPTION_NOISE(standard)                                                                               \
    {                                                                                                        \
        "noise", GBOSE_NUMBER, 0, GBOSE__WORLD_MAX_NOISE, NULL, standard,                                    \
            "standard deviation of the noise in a reward"                                                    \
    }

#endif
