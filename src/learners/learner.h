/* What a learner is, inside the library.
 *
 * A learner is a row of the table in table.c: its name and options (public), a `decide` that turns a
 * round's arms into probabilities, and an `explain` that says what the drawn arm's reward will teach. What
 * it teaches is always a list of rank-one terms (w, c, x):
 *
 *     B += w x x',    y += c (reward - level) x
 *
 * and this list is the ticket. So learning, saving, loading and merging are the same code for all.
 *
 * A learner that keeps more than regressions adds a `gbose__extra`: a note of its own in the ticket instead of
 * terms, what the note and the reward do, and its state as a row of numbers that is saved and loaded. */
#ifndef GBOSE_LEARNERS_LEARNER_H
#define GBOSE_LEARNERS_LEARNER_H

#include <stddef.h>
#include <stdint.h>

#include "core/arms.h"
#include "core/ball.h"
#include "core/bytes.h"
#include "core/ridge.h"
#include "core/rng.h"
#include "core/spec.h"
#include "gbose.h"

/* A round's arms, and scratch to choose among them. Grown to the largest round seen. */
struct gbose__round {
    size_t capacity; /* arms there is room for */
    size_t n;        /* arms of this round */
    size_t stride;   /* of a row below */
    uint64_t shape;  /* fingerprint of the learner that there is room for */
    uint32_t stream; /* names the random numbers of this decision, with `number` */
    uint64_t number;
    size_t draws;          /* samples behind pmf, 0: exact */
    double level;          /* to be subtracted from this round's reward; 0 where there is no intercept */
    const double *feature; /* of the round: set.round numbers, the caller's; NULL when there are none */
    double *context; /* n rows: the contexts, padded; with a last feature 1 where there is an intercept */
    double *image;   /* n rows, and room for samples: R b */
    double *score;   /* n: b'mu */
    double *pmf;     /* n: filled by decide */
    double *aside;   /* n: scratch, free for the learner to use between decide and explain */
    double *radius;  /* n: scratch */
    double *swing;   /* n: scratch */
    double *centre;  /* one row: scratch */
    double *matrix;  /* n rows, and room for samples: scratch */
    size_t *live;    /* n: indices of the arms still in play */
    size_t n_live;
    size_t *order;           /* n: scratch */
    struct gbose__arms arms; /* scratch: `radius`, `order`, `centre`, `matrix` under other names */
    struct gbose__ball ball;
    unsigned char *ticket;
    size_t ticket_capacity;
    struct gbose__writer writer;
    size_t n_terms; /* written to the ticket so far */
};

/* The options as numbers, for those that the learner has. */
struct gbose__settings {
    double gamma, lambda, delta, horizon, epsilon, p_min, p_max, forget, noise, range, norm;
    size_t draws, round;
    int intercept, lone, safe, certified;
};

/* What a learner has beside its regression: numbers of its own, g->own, that are saved and loaded as they are, and
 * perhaps a second regression in g->level. Its tickets hold a note instead of terms. None of it fails or
 * allocates, but for init and diagnose. */
struct gbose__extra {
    size_t (*numbers)(const gbose *g);    /* how many numbers of its own */
    int (*init)(gbose *g);                /* g->own is there, zeroed. GBOSE_OK or an error; nothing to undo */
    size_t (*note_words)(const gbose *g); /* length of the note that explain writes */
    int (*note_is_sane)(const gbose *g, struct gbose__reader r);    /* before any of it is believed */
    void (*learn)(gbose *g, struct gbose__reader r, double reward); /* right after that, of the same note */
    int (*own_is_sane)(const gbose *g); /* numbers that were read, before they are believed */
    /* The regressions have been merged, and the numbers of `from` are to be. `common` is the row that both had
     * at the state they share (NULL: they began new), and `remains` what forgetting has left of it in from. */
    void (*merged)(gbose *into, const gbose *from, const double *common, double remains);
    int (*diagnose)(const gbose *g, gbose_diagnosis *out); /* GBOSE_OK or GBOSE_ENOMEM */
    double (*width)(const gbose *g, const double *x);      /* gbose_width() */
};

struct gbose__learner {
    gbose_info info;
    int linear;       /* 1: ridge on the raw contexts; 0: on centred ones */
    int term_per_arm; /* 1: a ticket may hold a term for every arm, 0: one term at the most */
    int samples;      /* 1: needs room to draw samples (thompson.h) */
    int ball;         /* 1: needs room for the enclosing ball (core/ball.h) */
    int (*check)(const struct gbose__settings *set, gbose_error *err); /* may be NULL: any settings do */
    void (*decide)(const gbose *g, struct gbose__round *round);
    void (*explain)(const gbose *g, struct gbose__round *round, size_t arm);
    const struct gbose__extra *extra; /* NULL: regressions and terms are all there is */
};

struct gbose {
    const struct gbose__learner *kind;
    struct gbose__value value[GBOSE__MAX_OPTIONS];
    char *spec;           /* canonical */
    uint64_t fingerprint; /* of the canonical spec without its seed, and dim */
    size_t dim;
    uint64_t seed;
    uint32_t stream;
    uint64_t decisions, learned;
    struct gbose__settings set;
    struct gbose__ridge model; /* mu; of dimension dim, or dim + 1 with an intercept as the last one */
    struct gbose__ridge level; /* the intercept that is subtracted from rewards, or an extra's second
                                  regression; dim 0 when there is none */
    double *own;               /* the extra's numbers; NULL when there is no extra */
    double *spare;             /* two rows for its learn to use, padded with zeros; NULL likewise */
    size_t n_own;
    struct gbose__round round;
    struct gbose__lineage *lineage; /* what the evidence is made of, for merging (lineage.h) */
};

/* Limits that keep every later product finite: contexts are at most GBOSE_MAX_INPUT, centred ones twice
 * that; an intercept or a score beyond these can only come from sums that have already lost all meaning. */
#define GBOSE__MAX_FEATURE (4 * GBOSE_MAX_INPUT)
#define GBOSE__MAX_LEVEL 1e140

/* Fill round->image with R b of every arm; scores and contexts are there when decide is called. */
void gbose__images(const gbose *g, struct gbose__round *round);

/* The random stream of this decision for a purpose. */
void gbose__decision_rng(const gbose *g, const struct gbose__round *round, struct gbose__rng *rng,
                         unsigned purpose);

/* Write a term to the ticket; x has g->dim entries (an intercept's 1 is implied). */
void gbose__term(const gbose *g, struct gbose__round *round, double w, double c, const double *x);

extern const struct gbose__catalog gbose__learners;
const struct gbose__learner *gbose__learner_at(size_t i);

#endif
