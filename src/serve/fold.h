/* Learning the log in its order; see fold.c. */
#ifndef GBOSE_SERVE_FOLD_H
#define GBOSE_SERVE_FOLD_H

#include "serve/service.h"

/* A learner on its way through the outcomes. */
struct gbose__fold {
    struct gbose__encoder *encoder; /* borrowed */
    gbose *g;                       /* to be freed by the owner */
    uint64_t learned;               /* number of the last outcome */
    uint64_t checkpoint;            /* what that was when it was last saved and loaded */
    uint64_t skipped;               /* outcomes whose features this generation cannot read */
    gbose_error *err;
};

/* Begin with a new learner. GBOSE_OK or an error. */
int gbose__fold_begin(struct gbose__fold *fold, const struct gbose__generation *generation, gbose_error *err);

/* Continue from the newest snapshot with learned <= most, if there is one. */
int gbose__fold_resume(struct gbose__fold *fold, struct gbose__view *view, uint32_t bandit,
                       uint32_t generation, uint64_t most, gbose_error *err);

/* Learn an outcome. If that was a place for a snapshot, *bytes is set to the state before it (checkpoint
 * says after how many outcomes), to be freed; else to NULL. GBOSE_OK, or GBOSE_ENOMEM: nothing was
 * learned. */
int gbose__fold_add(struct gbose__fold *fold, struct gbose__desk *desk, const struct gbose__case *it,
                    void **bytes, size_t *size);

/* The learner of a generation after exactly `learned` outcomes, from the nearest snapshot or
 * (from_nothing) without any. */
int gbose__fold_upto(struct gbose__view *view, struct gbose__desk *desk, uint32_t bandit,
                     const struct gbose__generation *generation, uint64_t learned, int from_nothing,
                     gbose **out, gbose_error *err);

#endif
