/* What a learner is, inside the library.
 *
 * A learner is a row of the table in table.c. It has a struct of its own (g->own) for its options,
 * declares the regressions it keeps (g->fit), and answers two questions:
 *
 *     decide    with what probability should each arm of this round be played?
 *     explain   an arm was drawn from these probabilities: what will its reward teach?
 *
 * The second answer is a list of terms, each of which says for one of the regressions
 *
 *     B += w x x',    y += c (reward - offset) x
 *
 * and this list, as bytes, is the ticket. So learning, saving, loading, merging and growing are the same
 * code for all. A learner that keeps more than regressions declares a note (words that stand behind the
 * terms in its tickets) and a state (a row of doubles that is saved and loaded), and says itself what they
 * mean: src/learners/auto/ does.
 *
 * A round goes through prepare, decide, the floor, the draw and explain (round.c, ticket.c). What prepare
 * computes is a function of the learner and the input alone, and explain uses nothing else, so that it can
 * be asked about a decision that somebody else made. */
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

#define GBOSE__MAX_FITS 3

/* Limits that keep every later product finite: contexts are at most GBOSE_MAX_INPUT, centred ones twice
 * that; an offset or a score beyond these can only come from sums that have already lost all meaning. */
#define GBOSE__MAX_FEATURE (4 * GBOSE_MAX_INPUT)
#define GBOSE__MAX_OFFSET 1e140
#define GBOSE__MAX_SCORE 1e250

/* The largest w and the largest |c| of a term. */
#define GBOSE__MAX_WEIGHT 8

/* ---- a round ---- */

/* The arms of a round as a learner sees them: a function of the learner and of what the caller gave. */
struct gbose__input {
    size_t n;            /* arms */
    size_t stride;       /* of a row of `context` */
    double *context;     /* n rows, padded with zeros; with a last feature 1 where fit[0] has an intercept */
    const double *up;    /* a row: the units in which the contexts are (gauge.h); NULL: they are as given */
    double *score;       /* n: b'mu by fit[0], less its intercept where it has one */
    double *other_score; /* n: filled by a learner's own prepare, if it has one and needs them */
    size_t best;         /* an arm: likewise */
    const double *round; /* features of the round, as the caller gave them; NULL when there are none */
    /* Rows, with a gauge only: the smallest and the largest of every feature over the arms, and the mean. When explain is
     * called they are there if the ticket has_columns; if not, the mean is there if the learner has totals. */
    double *least, *most, *mean;
    double *own_up; /* for the gauge to work in */
    int has_new;    /* with a gauge only: is there a feature, other than zero, that has no unit? */
};

/* What `decide` fills, and memory for it to work in. */
struct gbose__round {
    uint32_t stream; /* names the random numbers of this decision, with `number` */
    uint64_t number;
    double *pmf;  /* n: the probabilities, to be filled by decide */
    size_t draws; /* samples that pmf rests on; 0: it is exact */
    /* scratch; n is the number of arms */
    double *first, *second; /* n each */
    double *narrowed;       /* n: what `narrow` may return */
    double *lead;           /* n: used by thompson.c */
    double *image;          /* n rows, and room for samples: R b (core/ridge.h) */
    double *matrix;         /* the same size */
    size_t *live;           /* n: indices of the arms still in play */
    size_t n_live;
    struct gbose__arms arms; /* its `tiles` are `matrix` under another name */
    struct gbose__ball ball;
};

/* The ticket that `explain` writes to (ticket.c), and memory for it to work in. */
struct gbose__ticket {
    struct gbose__writer writer; /* refuses to write more than the learner declared */
    size_t dim;
    uint64_t n_terms; /* written so far */
    double *centre;   /* a row */
    double *x;        /* a row */
    uint64_t *words;  /* room for as many words as a row has numbers; with a gauge only */
    int has_columns;  /* are the columns of the contexts known? */
};

/* The part of a ticket that a reward is applied to, after it was checked. */
struct gbose__lesson {
    uint64_t version; /* of the ticket */
    uint64_t number;  /* of the decision in its stream; GBOSE_LOGGED: of somebody else */
    struct gbose__reader terms;
    uint64_t n_terms;
    struct gbose__reader note;
    struct gbose__reader gauge; /* what the round says of the features' units (gauge.h) */
};

/* ---- a learner ---- */

struct gbose__learner {
    gbose_info info; /* name, summary, options: see GBOSE__INFO in options.h */
    size_t own_size; /* bytes of the learner's own struct */
    int samples;     /* 1: decide needs room to draw samples (thompson.h) */
    int ball;        /* 1: decide needs room for the enclosing ball (core/ball.h) */

    /* Read the options into g->own (zeroed) and declare the regressions: GBOSE_OK, or an error that needs
     * no undoing. It may change what a ticket can hold: g->max_terms and the fields next to it. */
    int (*init)(gbose *g, gbose_error *err);

    /* Fill round->pmf, and round->draws if pmf rests on samples (it is 0 before). Cannot fail, and draws
     * no arm. */
    void (*decide)(const gbose *g, const struct gbose__input *in, struct gbose__round *round);

    /* Say what the reward of `arm`, drawn from pmf, will teach. pmf is any distribution that is positive
     * for arm, not only one that decide has made. */
    void (*explain)(const gbose *g, const struct gbose__input *in, const double *pmf, size_t arm,
                    struct gbose__ticket *to);

    /* All that follows is optional. */

    /* Free what init took. It is called even if init failed. */
    void (*clear)(gbose *g);

    /* Compute more of the input: GBOSE_OK, or GBOSE_ENUMERIC if numbers have become absurd. */
    int (*prepare)(const gbose *g, struct gbose__input *in);

    /* Called between draw and explain, after a decision of this learner without a floor: returns the
     * probabilities for explain to use given more than the arm, or round->pmf. */
    const double *(*narrow)(const gbose *g, const struct gbose__input *in, struct gbose__round *round,
                            size_t arm);

    /* For a learner with a note: may it be believed, and what does the reward teach? Learn must begin
     * every fit (gbose__ridge_begin) and apply the terms (gbose__ticket_apply). */
    int (*note_is_sane)(const gbose *g, struct gbose__reader note);
    void (*learn)(gbose *g, const struct gbose__lesson *lesson, double reward);

    /* For a learner with a state. May the state that was loaded be believed? Then, when the regressions of
     * `into` and another learner have been merged, merge the other's state: `common` is the state that both
     * had at the saved state they share (NULL: they began new), and `remains` is the share of that evidence
     * that forgetting has left in `from`. Before, where a regression may begin anew: does regression `fit` of a learner with this
     * state still hold the evidence that it had in an earlier state? If not, that is not subtracted. Last, fill the zeroed state of a grown learner of more features. */
    int (*check)(const gbose *g);
    int (*holds)(size_t fit, const double *state, const double *earlier);
    void (*merge)(gbose *into, const double *from, const double *common, double remains);
    void (*grow)(const gbose *g, double *state, const gbose *from, const double *from_state);

    /* For a learner with units (gbose__learner_gauge()): feature j comes as `factor` times what it was, which
     * is a power of two; make the state such as it would be if it always had. */
    void (*rescale)(const gbose *g, double *state, size_t j, double factor);

    /* For a learner that keeps more than regressions and state, which nobody else needs: write it, and read it back, when the state
     * has been read and is not checked yet; r->bad on nonsense. */
    void (*write)(const gbose *g, struct gbose__writer *w);
    void (*read)(gbose *g, struct gbose__reader *r);

    const double *(*coef_of)(const gbose *g, const char *name); /* gbose_coef_of(); absent: there is none */
    int (*diagnose)(const gbose *g, gbose_diagnosis *out); /* gbose_diagnose(): GBOSE_OK or GBOSE_ENOMEM */
    /* gbose_effect(), with x in the learner's units: GBOSE_OK, GBOSE_EUNSEEN or GBOSE_ENOMEM. */
    int (*effect)(const gbose *g, const double *x, double alpha, double *estimate, double *lower,
                  double *upper);
    double (*width)(const gbose *g, const double *x); /* gbose_width(); absent: that of fit[0] */
};

/* Memory for one decision at a time. It grows to the largest round seen. */
struct gbose_scratch {
    uint64_t shape;  /* fingerprint of the learner that there is room for */
    size_t capacity; /* arms that there is room for */
    struct gbose__input in;
    struct gbose__round round;
    struct gbose__ticket ticket;
    unsigned char *bytes; /* of the ticket */
    size_t bytes_capacity;
};

struct gbose {
    const struct gbose__learner *kind;
    struct gbose__value value[GBOSE__MAX_OPTIONS];
    char *spec;           /* canonical */
    uint64_t schema;      /* hash of the schema that contexts are encoded by; 0: none */
    uint64_t fingerprint; /* of the canonical spec without its seed, dim, and schema */
    size_t dim;
    uint64_t seed;
    double floor; /* share of every decision that is uniform over the arms */
    uint32_t stream;
    uint64_t decisions, learned;

    /* declared by the learner's init */
    struct gbose__ridge fit[GBOSE__MAX_FITS]; /* gbose_coef() is the estimate of fit[0] */
    size_t n_fits;
    void *own;
    struct gbose__gauge *gauge; /* of the features (gauge.h); NULL: those of the caller */
    /* A row in `state`: the sum of all contexts on offer in the rounds learned; NULL: it is not kept. */
    const double *totals;
    double *state; /* n_state numbers; NULL when there is none */
    size_t n_state;
    size_t max_terms, max_terms_per_arm; /* of a ticket: 1 and 0 unless init says otherwise */
    size_t note_words;                   /* behind the terms of every ticket: 0 unless init says otherwise */
    size_t round_features;               /* that a round must have: 0 unless init says otherwise */

    struct gbose__lineage *lineage; /* what the evidence is made of, for merging (lineage.h) */
    struct gbose_scratch scratch;   /* of decisions that change the learner's place in its stream */
};

/* ---- life (learner.c, grow.c) ---- */

/* gbose_new() for contexts that a schema encodes; `schema` is its hash, 0 for none. */
int gbose__new(gbose **out, const char *spec, size_t dim, uint64_t schema, gbose_error *err);

/* gbose_grow() for a learner whose schema grows too. `spec` is that of g, but for more features of the
 * round. */
int gbose__grow(gbose **out, const gbose *g, const char *spec, size_t dim, uint64_t schema, gbose_error *err);

/* The value of an option; NULL if the learner has none of that name. */
const struct gbose__value *gbose__learner_option(const gbose *g, const char *name);

/* Declare the next regression of a learner, of `dim` features: g->dim, or one more for a constant feature,
 * which is the last. It forgets as the option `forget` says. GBOSE_OK, GBOSE_ENOMEM, GBOSE_ESIZE. */
int gbose__learner_fit(gbose *g, size_t dim, double lambda);

/* Declare that the learner measures features in units of its own. GBOSE_OK or GBOSE_ENOMEM. */
int gbose__learner_gauge(gbose *g);

/* The estimate of a regression, in the caller's units. */
const double *gbose__learner_coef(const gbose *g, size_t fit);

/* Declare the state: n doubles, zeroed. GBOSE_OK or GBOSE_ENOMEM. */
int gbose__learner_state(gbose *g, size_t n);

/* ---- a decision (round.c) ---- */

/* Free the memory. */
void gbose__round_clear(struct gbose_scratch *scratch);

/* Make room for n arms of this learner. GBOSE_OK, GBOSE_ESIZE, GBOSE_ENOMEM. */
int gbose__round_resize(const gbose *g, struct gbose_scratch *scratch, size_t n);
static inline int gbose__round_reserve(const gbose *g, struct gbose_scratch *scratch, size_t n)
{
    return n <= scratch->capacity && scratch->shape == g->fingerprint ? GBOSE_OK
                                                                      : gbose__round_resize(g, scratch, n);
}

/* What the caller gave, checked and padded, and the scores. There must be room. GBOSE_OK or
 * GBOSE_ENUMERIC. */
int gbose__round_prepare(const gbose *g, struct gbose_scratch *scratch, const gbose_input *in);

/* Prepare, decide, floor and draw: the decision number `number` of a stream. GBOSE_OK or GBOSE_ENUMERIC. */
int gbose__round_decide(const gbose *g, struct gbose_scratch *scratch, size_t *arm, const gbose_input *in,
                        uint32_t stream, uint64_t number);

/* The ticket of the decision that was just made. GBOSE_OK, or GBOSE_EBUFFER if the learner wrote more than it
 * declared. */
int gbose__round_explain(const gbose *g, struct gbose_scratch *scratch, size_t arm);

/* 1 if these are probabilities that add up to 1: what evaluation of logged decisions stands on. */
int gbose__round_is_distribution(const double *pmf, size_t n);

/* The random numbers of this decision for a purpose. */
void gbose__round_rng(const gbose *g, const struct gbose__round *round, struct gbose__rng *rng,
                      unsigned purpose);

/* round->image = R b of every arm, by fit[0]. */
void gbose__round_images(const gbose *g, const struct gbose__input *in, struct gbose__round *round);

/* Row i of the contexts. */
static inline const double *gbose__context(const struct gbose__input *in, size_t i)
{
    return in->context + i * in->stride;
}

/* The decisions of a stream: the counter of its random numbers has no room for more (core/rng.h). */
#define GBOSE__MAX_DECISIONS (UINT64_C(1) << 56)

/* ---- a ticket (ticket.c) ---- */

/* Write a term for regression `fit`; x has g->dim entries (the 1 of a constant feature is implied). */
void gbose__ticket_term(struct gbose__ticket *to, size_t fit, double w, double c, double offset,
                        const double *x);

/* Write a ticket. GBOSE_OK, or GBOSE_EBUFFER if the learner wrote more than it declared. */
int gbose__ticket_write(const gbose *g, struct gbose_scratch *scratch, uint32_t stream, uint64_t number,
                        const double *pmf, const double *narrowed, size_t arm);

/* The size of a ticket of so many terms, in 8-byte words. */
size_t gbose__ticket_words(const gbose *g, size_t terms);

/* 1 if the next n doubles are there and at most `most` in magnitude: a part of a note or a term that is
 * checked. */
int gbose__ticket_within(struct gbose__reader *r, size_t n, double most);

/* What gbose_learn() would return. */
int gbose__ticket_check(const gbose *g, const void *ticket, size_t size, double reward);

/* Apply the terms of a lesson. Every fit that they name must have begun the reward (gbose__ridge_begin). */
void gbose__ticket_apply(gbose *g, const struct gbose__lesson *lesson, double reward);

/* ---- the table (table.c) ---- */

extern const struct gbose__catalog gbose__learners;
const struct gbose__learner *gbose__learner_at(size_t i);

#endif
