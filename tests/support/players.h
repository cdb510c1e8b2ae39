/* What the tests of the API share: learners of every kind that are made to play, their bytes, and ways to
 * forge bytes. Everything asserts with cmocka, so a helper that returns has succeeded. */
#ifndef GBOSE_TESTS_PLAYERS_H
#define GBOSE_TESTS_PLAYERS_H

#include <stddef.h>
#include <stdint.h>

#include "gbose.h"
#include "support/check.h"
#include "support/random.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

double random_between(struct random *rng, double low, double high);

/* ---- learners of every kind ---- */

enum flavour {
    PLAIN = 0,
    /* Also with each option that changes what is kept or how arms are drawn: the intercept that is not the
     * default, floor=0.2, safe=1, round=2, width=certified. */
    INTERCEPT = 1,
    FORGET = 2 /* also with forget=0.97, alone and with INTERCEPT */
};

/* Call test(spec) for every learner of the table, in every flavour asked for. Where a learner has them,
 * gamma, lambda and seed are neither 0 nor 1, and draws is small enough to be quick. */
void for_each_spec(void (*test)(const char *spec), int flavours);

/* A test that uses it: when it fails, the spec it failed with is printed. */
#define spec_test(function) cmocka_unit_test_teardown(function, name_failed_spec)
int name_failed_spec(void **state);

int has_option(const gbose_info *info, const char *name);

/* Do the tickets of this spec hold a note instead of terms? */
int has_note(const char *spec);

/* A spec with further options; the result is in buf, of SPEC_SIZE bytes. */
#define SPEC_SIZE 256
const char *spec_with(char *buf, const char *spec, const char *more);

/* The same spec with another seed, of two digits as those of for_each_spec() have. */
const char *spec_seeded(char *buf, const char *spec, unsigned seed);

gbose *new_player(const char *spec, size_t dim);

/* ---- rounds ---- */

#define MAX_ARMS 7
#define MAX_DIM 8

/* A round's arms: between 1 and MAX_ARMS of them, of dimension dim <= MAX_DIM. */
struct arms {
    size_t n;
    double context[MAX_ARMS * MAX_DIM];
};

void random_arms(struct arms *arms, size_t dim, struct random *rng);

/* A decision whose reward has come, kept by the caller. */
struct outcome {
    unsigned char ticket[8 * (24 + (MAX_ARMS + 2) * (MAX_DIM + 4))];
    size_t size;
    double reward;
};

/* Where a ticket's words are, in bytes: magic (its last byte is the version), fingerprint, seed, stream,
 * decision, dim, number of arms, arm, probability, number of terms; then the terms (regression, w, c,
 * offset, x), then the note. */
enum {
    TICKET_VERSION = 7,
    TICKET_FINGERPRINT = 8,
    TICKET_STREAM = 24,
    TICKET_NUMBER = 32,
    TICKET_DIM = 40,
    TICKET_TERMS = 72,
    TICKET_NUMBERS = 80,
    TERM_WEIGHT = 8,   /* in a term */
    TERM_NUMBERS = 32, /* before x */
};

/* gbose_decide_in(), with features of the round where the learner has them: they depend on the number of
 * the decision alone. */
int decide_arms(gbose *g, gbose_decision *d, const double *contexts, size_t n_arms);

/* Decide on random arms and copy the ticket; the reward is linear in the arm with a trend and noise. */
void decide_once(gbose *g, struct outcome *outcome, struct random *rng);
void learn_outcome(gbose *g, const struct outcome *outcome);

/* Rounds of decide and learn. `outcomes` may be NULL, or have room for them all. */
void play(gbose *g, size_t rounds, struct random *rng, struct outcome *outcomes);

void shuffle(struct outcome *outcomes, size_t n, struct random *rng);

/* Play the same rounds on both, and assert that arms, probabilities, tickets and coefficients agree in
 * every bit. */
void assert_play_alike(gbose *a, gbose *b, size_t rounds, struct random *rng);

/* ---- bytes ---- */

struct bytes {
    unsigned char *at;
    size_t size;
};

struct bytes bytes_copy(const void *at, size_t size);
struct bytes saved(const gbose *g); /* free with bytes_free() */
void bytes_free(struct bytes *bytes);
gbose *loaded(const struct bytes *bytes);
gbose *duplicate(const gbose *g); /* load(save(g)) */

/* A learner with a past: a saved state that it came through, evidence since, a stream of its own. */
gbose *seasoned_player(const char *spec, size_t dim);

/* Bytes from one that is looked at to the next: all of the beginning and the end, and of the long rows of a large
 * state some. The checksum is over all of them, so that time grows with the square of the size. */
size_t byte_step(size_t i, size_t size);

/* Is g what it was when `before` was saved? */
void assert_unchanged(const gbose *g, const struct bytes *before);

uint64_t word_at(const struct bytes *bytes, size_t offset);
void set_word(struct bytes *bytes, size_t offset, uint64_t word);
void set_double(struct bytes *bytes, size_t offset, double value);
/* Make the last word the right checksum of what is before it. */
void reseal(struct bytes *bytes);

/* Where things begin in a saved state, in bytes, and the dimensions of its regressions; level_dim is 0
 * when there is one only. `own` equals `checksum` when the learner keeps nothing else. */
struct layout {
    size_t version, spec, dim, schema, stream, decisions, learned, lineage, model, level, own, checksum;
    size_t model_dim, level_dim;
};

struct layout layout_of(const struct bytes *state, const gbose *g);

/* Do two saved states agree in all but their lineage and their checksum? */
void assert_same_but_lineage(const gbose *a, const gbose *b);

/* ---- estimates ---- */

/* Coefficients, widths along random directions and the number of rounds. The tolerance is relative for
 * numbers above 1 in magnitude. */
void assert_same_estimates(const gbose *a, const gbose *b, double tolerance);

/* B of the first regression, dim x dim, of at most MAX_DIM features, from its widths alone: the entries of
 * B^-1 by polarisation, then elimination. */
void read_B(const gbose *g, size_t dim, long double *B);

#endif
