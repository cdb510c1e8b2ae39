/* Logs of which everything is known: a world played by a logger, with the expected reward of every arm. */
#ifndef TESTS_SUPPORT_LOGGED_H
#define TESTS_SUPPORT_LOGGED_H

#include <stddef.h>
#include <stdint.h>

#include "gbose_log.h"

struct logged_plan {
    const char *world;  /* spec */
    const char *logger; /* spec of a learner */
    double floor;       /* share of rounds in which an arm is played at random instead, and not learned */
    double bound;       /* 0: rewards are the world's. Else they are 0 or 1, and 1 with probability
                           1/2 + (b'mu + v) / (2 bound) */
    uint64_t rounds, seed;
};

/* A round, and the expected reward of each arm given all that was known before the draw. */
typedef void logged_round(void *user, const gbose_logged *row, const double *expected);

void logged_play(const struct logged_plan *plan, uint32_t repetition, logged_round *take, void *user);

size_t logged_dim(const struct logged_plan *plan);

/* The world's mu, from means that are b'mu: found by solving, without knowing the world. */
void logged_mu(const struct logged_plan *plan, uint32_t repetition, double *mu);

#endif
