/* Random numbers from counters (Philox 4x32-10; Salmon et al., SC 2011).
 *
 * A stream is named by what it is for: (seed, stream, purpose, number). Streams with different names are
 * independent, and a stream is reached without drawing those before it: to save a place in it, save the
 * name. Results depend on nothing but the name and the number of values drawn. */
#ifndef GBOSE_CORE_RNG_H
#define GBOSE_CORE_RNG_H

#include <stddef.h>
#include <stdint.h>

/* Purposes below 64 belong to learners, those from 64 on to simulated worlds. */
enum gbose__purpose {
    GBOSE__DRAW = 1,   /* which arm */
    GBOSE__SCORES = 2, /* samples of the arms' scores */
    GBOSE__RIVAL = 3,  /* action-ts: which arm stood against the base arm */
    GBOSE__TIE = 4,    /* which of several pairs that are equally far apart */
    GBOSE__WORLD = 64
};

struct gbose__rng {
    uint32_t key[2];
    uint32_t counter[4];
    uint32_t block[4];
    unsigned used; /* words of the block that are spent */
};

/* purpose < 256, number < 2^56. */
void gbose__rng_init(struct gbose__rng *rng, uint64_t seed, uint32_t stream, unsigned purpose,
                     uint64_t number);

uint64_t gbose__rng_u64(struct gbose__rng *rng);

/* In [0, 1): a multiple of 2^-53. */
double gbose__rng_uniform(struct gbose__rng *rng);

/* Standard normal, by inversion of one uniform; and n of them, the same as one after the other. */
double gbose__rng_normal(struct gbose__rng *rng);
void gbose__rng_normals(struct gbose__rng *rng, double *z, size_t n);

/* n of them, a multiple of 4, for sampling by the thousand: in single precision, from 32 bits each. They
 * differ from the exact inverse by less than 2e-6, and none exceeds 6.34. Whole blocks are used up; of
 * every GBOSE__ROUGH_BLOCKS blocks (kernels.h), or what is left, all first and second words come first,
 * then all third and fourth. */
void gbose__rng_rough_normals(struct gbose__rng *rng, double *z, size_t n);

#endif
