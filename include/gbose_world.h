/* gbose worlds: simulated environments in which learners can be tried.
 *
 * A world hands out rounds: the contexts of the arms, what each arm is worth on average, and the
 * confounder and the noise that come on top. It is stepped by hand:
 *
 *     gbose_world *w;
 *     gbose_world_round round;
 *     double reward, regret;
 *
 *     gbose_world_new(&w, "paper:shift=log-sine", 1, 0, &err);        seed, repetition
 *     while (gbose_world_rounds(w) < 10000) {
 *         gbose_world_next(w, &round);
 *         gbose_decide(g, &d, round.contexts, round.n_arms);
 *         gbose_world_play(w, d.arm, &reward, &regret);
 *         gbose_learn(g, d.ticket, d.ticket_size, reward);
 *     }
 *     gbose_world_free(w);
 *
 * gbose_study.h plays whole studies. The functions are in the library gbose_study; the rules are those of
 * gbose.h: errors are codes, outputs are written only on success, nothing is printed. Different worlds are
 * independent; calls on one must not run at the same time. */
#ifndef GBOSE_WORLD_H
#define GBOSE_WORLD_H

#include "gbose.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gbose__world gbose_world;

/* A round. The reward of arm i is means[i] + shift + noise, clipped to what the world allows. */
typedef struct {
    size_t n_arms;          /* at least 1; may differ from round to round */
    const double *contexts; /* n_arms rows of dim doubles */
    const double *means;    /* n_arms: b'mu, what regret is measured by */
    double shift;           /* v: the same for all arms */
    double noise;           /* the same whichever arm is played */
} gbose_world_round;

/* Make a world.
 *   spec        "NAME" or "NAME:OPTION=VALUE,..."; gbose_world_at() lists all worlds. Borrowed.
 *   seed, repetition  determine its random streams: the same two give the same rounds.
 *   err         may be NULL.
 * GBOSE_ESPEC, GBOSE_ENOMEM, GBOSE_EINVAL if a pointer is NULL. */
GBOSE_API int gbose_world_new(gbose_world **out, const char *spec, uint64_t seed, uint32_t repetition,
                              gbose_error *err);

/* NULL is allowed. */
GBOSE_API void gbose_world_free(gbose_world *w);

/* Move on to the next round; the first call makes the first one. What `out` points to belongs to the world
 * and is valid until the next call. GBOSE_EINVAL if a pointer is NULL. Never allocates. */
GBOSE_API int gbose_world_next(gbose_world *w, gbose_world_round *out);

/* Play an arm of the current round.
 *   reward  of the arm.
 *   regret  how much more the best arm of the round would bring on average; may be NULL.
 * A world whose confounder depends on past rewards remembers this one. GBOSE_EINVAL if w or reward is NULL, if
 * there is no round yet, or no such arm. */
GBOSE_API int gbose_world_play(gbose_world *w, size_t arm, double *reward, double *regret);

/* Features of an arm, the most arms that a round can have, and the number of rounds made. */
GBOSE_API size_t gbose_world_dim(const gbose_world *w);
GBOSE_API size_t gbose_world_max_arms(const gbose_world *w);
GBOSE_API uint64_t gbose_world_rounds(const gbose_world *w);

/* World number i of the table, in the order of the documentation, or NULL past the last. Static memory. */
GBOSE_API const gbose_info *gbose_world_at(size_t i);

/* ---- worlds of your own ---------------------------------------------------------------------------- */

/* A world given by callbacks, for a study (gbose_study_join_world()). They return GBOSE_OK, or any other
 * code after filling err: the study then ends with that code and text. Callbacks are never called for two
 * runs at the same time (of any learner or world of a study), but perhaps from another thread than that of
 * gbose_study_play(). */
typedef struct {
    const char *name;
    void *user;
    size_t dim, max_arms; /* at least 1 */
    int (*begin)(void **state, void *user, uint64_t seed, uint32_t repetition, gbose_error *err);
    /* Make round number `round`, from 1. What `out` points to must stay valid until the next call; it is
     * checked (n_arms from 1 to max_arms, all numbers finite) and copied. */
    int (*next)(void *state, uint64_t round, gbose_world_round *out, gbose_error *err);
    /* The arm was played and gave this reward. May be NULL. */
    int (*observe)(void *state, size_t arm, double reward, gbose_error *err);
    /* May be NULL. */
    void (*end)(void *state);
} gbose_study_world;

#ifdef __cplusplus
}
#endif
#endif
