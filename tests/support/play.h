/* Rounds played side by side by a learner and by the definition of its algorithm.
 *
 * The oracle sees what a user sees: contexts, the reported probabilities, the arm, the reward. From these it
 * forms B and y (support/dense.h) and says what the law of the next round should be. */
#ifndef TESTS_PLAY_H
#define TESTS_PLAY_H

#include "gbose.h"
#include "support/dense.h"
#include "support/random.h"
#include "support/stats.h"

/* A learner's options; zero: not given. The spec is made from it. */
struct setup {
    const char *label;
    double gamma, lambda, epsilon, p_min, p_max, forget;
    const char *gamma_word, *lambda_word; /* "theory", with what gamma and lambda should then be above */
    double delta;
    size_t horizon, draws;
    int no_intercept, intercept, half;
    size_t dim, max_arms, rounds;
    uint64_t seed;
};

struct play {
    const struct game *game;
    struct setup set; /* with defaults filled in */
    gbose *g;
    size_t dim;
    int intercept;
    struct dense model; /* of dimension dim + 1 for a linear game with an intercept: it is the last one */
    struct dense level; /* the regression whose intercept is subtracted */
    struct random rng;
    double truth[64];

    /* this round */
    size_t round, n;
    double *contexts; /* n rows of dim */
    gbose_decision d;
    double *pmf; /* a copy of d.pmf */
    double reward;
    long double baseline; /* what is subtracted from the reward */

    /* over all rounds */
    size_t borderline;        /* rounds that rounding may decide */
    size_t alone, pair, more; /* rounds with one, two, more survivors (or arms that can win) */
    size_t removed;           /* rounds in which the filter removed an arm and left several */
    struct stats_chi2 chi2;   /* sampled laws against the oracle's own samples */
};

/* What is special about a learner. */
struct game {
    const char *name;
    int linear;
    void (*law)(struct play *p); /* check d.pmf */
    /* Add the round to p->model. NULL: B += x x', y += r x, in a linear game with x = (b_a, 1), and otherwise with
     * x = b_a - sum pmf_i b_i and r less the baseline. */
    void (*learn)(struct play *p);
};

/* A learner and its oracle, before the first round; and the end of both. */
void play_begin(struct play *p, const struct game *game, const struct setup *set);
void play_end(struct play *p);

/* Play set->rounds rounds of each setup: after each round, coefficients and widths must be those of the
 * oracle. At least `least` rounds of each kind that p counts must have come up, kinds
 * being a string of the letters a(lone) p(air) m(ore) r(emoved). */
void play_setups(const struct game *game, const struct setup *sets, size_t n, const char *kinds,
                 size_t least);

/* One round in pieces: contexts and decision; reward and both sides' learning. */
void play_decide(struct play *p, size_t n);
void play_reward(struct play *p);

const double *play_context(const struct play *p, size_t arm);

/* The definitions that several learners share. */

/* Arms that no other beats, by brute force; keep[i] is 0 or 1. Returns how many, or 0 if rounding decides. */
size_t play_survivors(struct play *p, int *keep);

/* Are these the survivors that the library found? */
void play_same_survivors(const struct play *p, const int *keep);

/* share[i] is the reported probability that i is the best of the arms from `first` on, d.draws the samples
 * behind it. Exact for at most two that can win; else against as many samples of mu itself. */
void play_best_arm_law(struct play *p, size_t first, const double *share);

/* game.law for learners whose pmf is that law, of all arms. */
void play_thompson_law(struct play *p);

/* x = b_a - sum_i pmf_i b_i */
void play_centred(const struct play *p, size_t arm, long double *x);

/* gamma and lambda by name: compares the values in use with ALGORITHMS.md, section 1. */
void play_theory(const char *learner);

#endif
