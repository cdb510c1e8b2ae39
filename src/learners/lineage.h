/* Where a learner's evidence comes from, so that merging never counts anything twice.
 *
 * A point is a saved state that the learner came through; the first one is "nothing". Each point has the
 * marks of what was learned next after it: one mark for the learner's own evidence (a fingerprint of the
 * first ticket and reward), and those that merged learners brought along. Two learners that share a point
 * share what came before it; a mark that both have after that point is evidence they share beyond it. */
#ifndef GBOSE_LEARNERS_LINEAGE_H
#define GBOSE_LEARNERS_LINEAGE_H

#include "core/bytes.h"
#include "learners/learner.h"

#define GBOSE__MAX_POINTS 16

struct gbose__point {
    uint64_t state;   /* checksum of the saved state; 0: nothing */
    uint64_t learned; /* rewards learned up to it */
    size_t n_marks;
    size_t capacity; /* at least 1: a learner's own mark needs no allocation */
    uint64_t *mark;
};

struct gbose__lineage {
    size_t n;
    struct gbose__point point[GBOSE__MAX_POINTS];
    /* the evidence at the last point, when that is not "nothing": no regressions and NULL otherwise */
    struct gbose__ridge fit[GBOSE__MAX_FITS];
    size_t n_fits;
    double *state;
    struct gbose__gauge *gauge;
};

/* A lineage that begins from nothing, or NULL: out of memory. */
struct gbose__lineage *gbose__lineage_new(void);
void gbose__lineage_free(struct gbose__lineage *lineage);

/* A reward was learned whose fingerprint is `mark`. */
void gbose__lineage_learned(struct gbose__lineage *lineage, uint64_t mark);

/* The learner was loaded from a saved state, whose checksum is given: it is now a point, unless nothing
 * was learned since the last one; a copy of the learner's evidence is kept. GBOSE_OK or GBOSE_ENOMEM. */
int gbose__lineage_loaded(struct gbose__lineage *lineage, uint64_t checksum, const gbose *g);

/* Give a grown learner the past of the learner that it grew from: its points and marks, and the evidence
 * at the last point, grown likewise. So two that grew from a common past can be merged as if they had
 * always had the new features. GBOSE_OK, GBOSE_ENOMEM, GBOSE_ENUMERIC. */
int gbose__lineage_grow(gbose *g, const gbose *from);

/* What a merge has to subtract: the last point common to both, and the lineage that keeps its evidence (NULL: the
 * point is "nothing"). GBOSE_OK, GBOSE_EOVERLAP or GBOSE_EHISTORY. */
struct gbose__common {
    size_t into, from; /* positions of the point */
    const struct gbose__lineage *holder;
};
int gbose__lineage_common(struct gbose__common *common, const struct gbose__lineage *into,
                          const struct gbose__lineage *from);

/* Take over the marks that `from` has at the common point. Reserve first (it may fail), then join. */
int gbose__lineage_reserve(struct gbose__lineage *into, const struct gbose__lineage *from,
                           const struct gbose__common *common);
void gbose__lineage_join(struct gbose__lineage *into, const struct gbose__lineage *from,
                         const struct gbose__common *common);

void gbose__lineage_write(const struct gbose__lineage *lineage, struct gbose__writer *w);
/* Into a new lineage, whose only point is replaced. GBOSE_OK, GBOSE_ENOMEM; r->bad on nonsense. */
int gbose__lineage_read(struct gbose__lineage *lineage, struct gbose__reader *r);

#endif
