/* What a ticket of gbose-auto holds beside its terms: all that learning the reward needs to know of the
 * decision. */
#ifndef GBOSE_LEARNERS_AUTO_NOTE_H
#define GBOSE_LEARNERS_AUTO_NOTE_H

#include "core/bytes.h"
#include "learners/gauge.h"

/* These are written as they are. The features of the round as the caller gave them follow, then the rows of
 * struct gbose__note_rows. "In use" is the estimate that chose. */
struct gbose__note {
    double probability;       /* of the arm; 1: no coin, and X = 0 */
    double weight;            /* of the orthogonal regression's term */
    double shift;             /* vhat */
    double score;             /* of the arm, by the estimate that predicts rewards */
    double centre;            /* bbar'mu, by the same */
    double believable_centre; /* the same, so that vhat + bbar'mu is within reach of the rewards there were */
    double effect_orthogonal; /* X'mu, by the orthogonal estimate */
    double effect_full;       /* X'mu, by the full estimate */
    double clock;             /* rewards learned here before the arm was drawn */
    double best;              /* of all arms' scores, by the estimate in use */
    double common;            /* of the arms' common part, by the estimate that predicts rewards */
    double arms;              /* of the round */
    double spread;            /* of the orthogonal estimate's scores: the largest less the smallest */
};

/* The shape of a note. */
struct gbose__note_shape {
    size_t dim;
    size_t round;  /* features of the round */
    int has_full;  /* is there a full estimate? */
    int has_offer; /* is there a flexible tracker, which needs the mean context on offer? */
};

/* Rows of dim numbers. */
struct gbose__note_rows {
    double *played;  /* b_a */
    double *centred; /* X */
    double *best;    /* b_best; not there without a full estimate */
    double *offer;   /* the mean context on offer; not there without a flexible tracker */
    uint64_t *where; /* gbose__origin_words(): where what arms have in common is found; not there either */
};

/* The same, to be written. */
struct gbose__note_parts {
    const double *played, *centred, *best, *offer;
    const uint64_t *where;
};

/* Its length in numbers. */
size_t gbose__note_words(const struct gbose__note_shape *shape);

/* Rows are given in the units `up`, and written in the caller's (learners/gauge.h). */
void gbose__note_write(struct gbose__writer *to, const struct gbose__note_shape *shape,
                       const struct gbose__note *note, const double *round, const double *up,
                       const struct gbose__note_parts *rows);

/* May it be believed? */
int gbose__note_is_sane(struct gbose__reader from, const struct gbose__note_shape *shape);

/* Read a note that is sane; rows in the learner's units. */
void gbose__note_read(struct gbose__reader from, const struct gbose__note_shape *shape,
                      const struct gbose__gauge *gauge, struct gbose__note *note, double *round,
                      const struct gbose__note_rows *rows);

#endif
