#include "learners/auto/note.h"

#include <math.h>

#include "learners/auto/clip.h"
#include "learners/auto/origin.h"
#include "learners/learner.h"

/* Far above what a round can be worth (scale.h). */
#define GBOSE__NOTE_MAX_WEIGHT 1e12

/* The entries of rows, in any units; X is the difference of two contexts. */
#define MAX_ENTRY (2 * GBOSE_MAX_INPUT)

enum { NUMBERS = sizeof(struct gbose__note) / sizeof(double) };

static size_t where_words(const struct gbose__note_shape *shape)
{
    return shape->has_offer ? gbose__origin_words(shape->dim) : 0;
}

size_t gbose__note_words(const struct gbose__note_shape *shape)
{
    return NUMBERS + shape->round + (2 + (size_t)shape->has_full + (size_t)shape->has_offer) * shape->dim +
           where_words(shape);
}

void gbose__note_write(struct gbose__writer *to, const struct gbose__note_shape *shape,
                       const struct gbose__note *note, const double *round, const double *up,
                       const struct gbose__note_parts *rows)
{
    gbose__put_doubles(to, (const double *)note, NUMBERS);
    gbose__put_doubles(to, round, shape->round);
    gbose__gauge_put(to, rows->played, up, shape->dim);
    gbose__gauge_put(to, rows->centred, up, shape->dim);
    if (shape->has_full)
        gbose__gauge_put(to, rows->best, up, shape->dim);
    if (shape->has_offer)
        gbose__gauge_put(to, rows->offer, up, shape->dim);
    gbose__put_words(to, rows->where, where_words(shape));
}

int gbose__note_is_sane(struct gbose__reader from, const struct gbose__note_shape *shape)
{
    const double most = GBOSE__CLIP_RESIDUAL;
    struct gbose__note note;
    int fine;

    gbose__get_doubles(&from, (double *)&note, NUMBERS);
    fine = note.probability > 0 && note.probability <= 1 && note.weight >= 0 &&
           note.weight <= GBOSE__NOTE_MAX_WEIGHT;
    fine &= fabs(note.shift) <= GBOSE_MAX_INPUT && fabs(note.believable_centre) <= GBOSE_MAX_INPUT;
    fine &= note.clock >= 0 && note.clock <= 1e18;
    fine &= fabs(note.score) <= most && fabs(note.centre) <= most && fabs(note.effect_orthogonal) <= most &&
            fabs(note.effect_full) <= most && fabs(note.best) <= most && fabs(note.common) <= most &&
            note.spread >= 0 && note.spread <= 2 * most;
    fine &= note.arms >= 1 && note.arms <= 1e18;
    /* the features of the round, b_a, X, b_best and what is on offer */
    fine = fine &&
           gbose__ticket_within(&from, gbose__note_words(shape) - NUMBERS - where_words(shape), MAX_ENTRY);
    return fine && (!shape->has_offer || gbose__origin_may_be(&from, shape->dim));
}

void gbose__note_read(struct gbose__reader from, const struct gbose__note_shape *shape,
                      const struct gbose__gauge *gauge, struct gbose__note *note, double *round,
                      const struct gbose__note_rows *rows)
{
    gbose__get_doubles(&from, (double *)note, NUMBERS);
    gbose__get_doubles(&from, round, shape->round);
    gbose__gauge_get(&from, rows->played, gauge, shape->dim, MAX_ENTRY);
    gbose__gauge_get(&from, rows->centred, gauge, shape->dim, MAX_ENTRY);
    if (shape->has_full)
        gbose__gauge_get(&from, rows->best, gauge, shape->dim, MAX_ENTRY);
    if (shape->has_offer)
        gbose__gauge_get(&from, rows->offer, gauge, shape->dim, MAX_ENTRY);
    gbose__get_words(&from, rows->where, where_words(shape));
}
