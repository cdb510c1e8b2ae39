/* The rows that learners' option tables share. */
#ifndef GBOSE_LEARNERS_OPTIONS_H
#define GBOSE_LEARNERS_OPTIONS_H

#include "core/spec.h"
#include "gbose.h"

#define GBOSE__SMALLEST 1e-12
#define GBOSE__LARGEST 1e12

#define OPTION_GAMMA_WIDTH                                                                                   \
    {                                                                                                        \
        "gamma", GBOSE_POSITIVE, GBOSE__SMALLEST, GBOSE__LARGEST, "theory|lemma1", "0.1",                    \
            "width of the confidence set: an arm is eliminated when another one's lead exceeds gamma "       \
            "times the distance between them. 'theory' is Algorithm 1's value, 'lemma1' that of Lemma 1; "   \
            "both use delta and horizon"                                                                     \
    }
#define OPTION_GAMMA_SAMPLE                                                                                  \
    {                                                                                                        \
        "gamma", GBOSE_POSITIVE, GBOSE__SMALLEST, GBOSE__LARGEST, NULL, "0.1",                               \
            "scale of the sampled estimates: they have covariance gamma^2 B^-1"                              \
    }
#define OPTION_GAMMA_BONUS                                                                                   \
    {                                                                                                        \
        "gamma", GBOSE_POSITIVE, GBOSE__SMALLEST, GBOSE__LARGEST, NULL, "0.1",                               \
            "optimism: an arm's index is its estimate plus gamma times its width"                            \
    }
#define OPTION_LAMBDA                                                                                        \
    {                                                                                                        \
        "lambda", GBOSE_POSITIVE, GBOSE__SMALLEST, GBOSE__LARGEST, NULL, "1",                                \
            "ridge penalty: B begins as lambda times the identity"                                           \
    }
#define OPTION_LAMBDA_THEORY                                                                                 \
    {                                                                                                        \
        "lambda", GBOSE_POSITIVE, GBOSE__SMALLEST, GBOSE__LARGEST, "theory", "1",                            \
            "ridge penalty: B begins as lambda times the identity. 'theory' is Algorithm 1's value, "        \
            "from delta and horizon"                                                                         \
    }
#define OPTION_DELTA                                                                                         \
    {                                                                                                        \
        "delta", GBOSE_NUMBER, 1e-12, 0.5, NULL, "0.05",                                                     \
            "failure probability in the theory's values of gamma and lambda"                                 \
    }
#define OPTION_HORIZON                                                                                       \
    {                                                                                                        \
        "horizon", GBOSE_INTEGER, 1, 1e15, NULL, "10000",                                                    \
            "number of rounds in the theory's values of gamma and lambda"                                    \
    }
#define OPTION_CENTRED_INTERCEPT                                                                             \
    {                                                                                                        \
        "intercept", GBOSE_INTEGER, 0, 1, NULL, "0",                                                         \
            "1: subtract from rewards the intercept of a ridge regression (lambda 1) of past rewards "       \
            "on (1, context)"                                                                                \
    }
#define OPTION_LINEAR_INTERCEPT                                                                              \
    {                                                                                                        \
        "intercept", GBOSE_INTEGER, 0, 1, NULL, "1", "1: add a constant feature to the regression"           \
    }
#define OPTION_DRAWS                                                                                         \
    {                                                                                                        \
        "draws", GBOSE_INTEGER, 1, 1e6, NULL, "1000",                                                        \
            "samples behind the probabilities when more than two arms can win"                               \
    }
#define OPTION_FORGET                                                                                        \
    {                                                                                                        \
        "forget", GBOSE_NUMBER, 0.5, 1, NULL, "1",                                                           \
            "factor by which each learned reward discounts the evidence before it; 1 forgets nothing"        \
    }
#define OPTION_FLOOR                                                                                         \
    {                                                                                                        \
        "floor", GBOSE_NUMBER, 0, 1, NULL, "0",                                                              \
            "share of every decision that is uniform over the arms: each has at least this probability, "    \
            "divided by their number"                                                                        \
    }
#define OPTION_SEED                                                                                          \
    {                                                                                                        \
        "seed", GBOSE_INTEGER, 0, 18446744073709551615.0, NULL, "1", "names the random stream"               \
    }

/* What every learner has: the end of its table. */
#define OPTIONS_OF_ALL OPTION_FORGET, OPTION_FLOOR, OPTION_SEED

#define GBOSE__COUNT(array) (sizeof(array) / sizeof *(array))

/* The `info` of a learner. Does not compile if there are more options than a spec has room for. */
#define GBOSE__INFO(name, summary, options)                                                                  \
    {                                                                                                        \
        name, summary, options,                                                                              \
            GBOSE__COUNT(options) + 0 * sizeof(char[GBOSE__COUNT(options) <= GBOSE__MAX_OPTIONS ? 1 : -1])   \
    }

#endif
