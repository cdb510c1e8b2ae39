/* Simulated worlds: what a learner is tried in.
 *
 * A world hands out rounds. Contexts, confounder and noise come from random streams of its own, keyed by
 * seed, repetition, purpose and round: every learner that plays the same repetition meets the same rounds,
 * whatever it plays and whatever else runs. Only a world whose confounder follows past rewards (`observe`)
 * depends on the play, and then only through v. */
#ifndef GBOSE_WORLDS_WORLD_H
#define GBOSE_WORLDS_WORLD_H

#include <stddef.h>
#include <stdint.h>

#include "core/rng.h"
#include "core/spec.h"
#include "gbose_world.h"

struct gbose__world;

/* A row of the table of worlds. `own` is a zeroed block of own_size bytes for what the world keeps. */
struct gbose__world_kind {
    gbose_info info;
    size_t own_size;
    /* Read the options, set dim and max_arms, and prepare what does not change (mu, drawn from
     * gbose__world_rng(w, &rng, GBOSE__WORLD_SETTING)). contexts and mean are not there yet. */
    int (*init)(struct gbose__world *w, gbose_error *err);
    /* Make round number w->round (from 1): n_arms, contexts (zeroed before), mean, shift, noise. */
    void (*next)(struct gbose__world *w);
    /* May be NULL: the arm was played and gave this reward. */
    void (*observe)(struct gbose__world *w, size_t arm, double reward);
    /* May be NULL: free what init took. */
    void (*clear)(struct gbose__world *w);
};

struct gbose__world {
    const struct gbose__world_kind *kind;
    struct gbose__value value[GBOSE__MAX_OPTIONS];
    uint64_t seed;
    uint32_t repetition;
    size_t dim, max_arms;
    uint64_t round;   /* 0 before the first */
    size_t n_arms;    /* of this round, 1 to max_arms */
    double *contexts; /* n_arms rows of dim */
    double *mean;     /* n_arms: b'mu, what regret is measured by */
    double shift;     /* v */
    double noise;     /* the same whichever arm is played */
    /* At least 0: the reward is 1 if toss < mean + shift + noise, else 0. -1: it is that sum. */
    double toss;
    double low, high; /* rewards are clipped to [low, high]; infinite unless the world sets them */
    void *own;
    const gbose_study_world *joined; /* of a world given by callbacks, else NULL */
    gbose_error err;                 /* what one of them said was wrong; code 0: nothing */
};

/* What a round's random numbers are for. */
enum gbose__world_purpose {
    GBOSE__WORLD_SETTING = GBOSE__WORLD, /* drawn once: mu and the like */
    GBOSE__WORLD_CONTEXT,
    GBOSE__WORLD_NOISE,
    GBOSE__WORLD_SHIFT,
    GBOSE__WORLD_WALK,
    GBOSE__WORLD_USER,
    GBOSE__WORLD_OFFSET
};

/* GBOSE_OK, GBOSE_ESPEC, GBOSE_ENOMEM. */
int gbose__world_new(struct gbose__world **out, const char *spec, uint64_t seed, uint32_t repetition,
                     gbose_error *err);
void gbose__world_free(struct gbose__world *w);

/* The same for a world given by callbacks, which must live as long. */
int gbose__world_join(struct gbose__world **out, const gbose_study_world *joined, uint64_t seed,
                      uint32_t repetition, gbose_error *err);

/* Go on to the next round. Only a world given by callbacks can fail; then w->err is what it returns. */
int gbose__world_next(struct gbose__world *w);

/* Play an arm of this round: returns its reward, and sets `regret` to how much more the best arm brings on
 * average. A world given by callbacks may fail: see w->err. */
double gbose__world_play(struct gbose__world *w, size_t arm, double *regret);

/* The mean of the best arm of this round. */
double gbose__world_best(const struct gbose__world *w);

/* The stream for a purpose in this round. */
void gbose__world_rng(const struct gbose__world *w, struct gbose__rng *rng,
                      enum gbose__world_purpose purpose);

/* The value of an option by its name, which must exist. */
const struct gbose__value *gbose__world_option(const struct gbose__world *w, const char *name);

/* World number i, or NULL past the last. */
const gbose_info *gbose__world_at(size_t i);
extern const struct gbose__catalog gbose__worlds;

/* Write the canonical spec of a world to buf (GBOSE__MAX_SPEC bytes). GBOSE_OK, GBOSE_ESPEC, GBOSE_ENOMEM. */
int gbose__world_canonical(char *buf, const char *spec, gbose_error *err);

#endif
