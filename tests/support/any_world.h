/* What the tests of simulated worlds share. */
#ifndef TESTS_ANY_WORLD_H
#define TESTS_ANY_WORLD_H

#include <stddef.h>
#include <stdint.h>

#include "worlds/world.h"

/* A world; fails the test if it cannot be had. */
struct gbose__world *new_world(const char *spec, uint64_t seed, uint32_t repetition);

/* mu as least squares finds it from the means of this many further rounds; to be freed. */
double *regress_mu(struct gbose__world *w, int rounds);

/* ||x|| of d numbers. */
double length(const double *x, size_t d);

#endif
