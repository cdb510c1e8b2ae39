/* The model is a fold of the log: one function learns an outcome, for the trainer, for a rebuild and for
 * `recompute`.
 *
 * A learner that was saved and loaded remembers it (its lineage), so bytes depend on when that happened.
 * It therefore happens at fixed places, whoever folds: between two outcomes of different thousands
 * (GBOSE__CHECKPOINT). Only there are snapshots stored. So a service that was killed, one that never was,
 * and a rebuild from nothing all come to the same bytes. */
#include "serve/fold.h"

#include <stdlib.h>

#include "core/error.h"

int gbose__fold_begin(struct gbose__fold *fold, const struct gbose__generation *generation, gbose_error *err)
{
    *fold = (struct gbose__fold){.encoder = generation->encoder};
    return gbose_new(&fold->g, generation->spec, generation->encoder->dim, err);
}

static int take_snapshot(void *context, const struct gbose__snapshot_row *row)
{
    struct gbose__fold *fold = context;
    gbose *g;
    int rc = gbose_load(&g, row->bytes, row->size, fold->err);

    if (rc)
        return rc;
    gbose_free(fold->g);
    fold->g = g;
    fold->learned = fold->checkpoint = row->learned;
    return GBOSE_OK;
}

int gbose__fold_resume(struct gbose__fold *fold, struct gbose__view *view, uint32_t bandit,
                       uint32_t generation, uint64_t most, gbose_error *err)
{
    int rc;

    fold->err = err;
    rc = view->snapshot(view, bandit, generation, most, take_snapshot, fold, err);
    return rc == GBOSE__EABSENT ? GBOSE_OK : rc;
}

/* Are these of different thousands? Outcomes are numbered from 1. */
static int crosses(uint64_t learned, uint64_t next)
{
    return learned && (learned - 1) / GBOSE__CHECKPOINT != (next - 1) / GBOSE__CHECKPOINT;
}

int gbose__fold_add(struct gbose__fold *fold, struct gbose__desk *desk, const struct gbose__case *it,
                    void **bytes, size_t *size)
{
    int rc;

    *bytes = NULL;
    if (crosses(fold->learned, it->outcome->number) && fold->checkpoint != fold->learned) {
        gbose *g;
        void *saved = gbose__model_save(fold->g, size);

        if (!saved || gbose_load(&g, saved, *size, NULL)) {
            free(saved);
            return GBOSE_ENOMEM;
        }
        gbose_free(fold->g);
        fold->g = g;
        fold->checkpoint = fold->learned;
        *bytes = saved;
    }
    rc = gbose__model_learn(fold->g, fold->encoder, desk, it);
    if (rc == GBOSE_ENOMEM)
        return rc;
    fold->skipped += rc != GBOSE_OK;
    fold->learned = it->outcome->number;
    return GBOSE_OK;
}

struct folding {
    struct gbose__fold *fold;
    struct gbose__desk *desk;
    size_t n;
};

static int fold_case(void *context, const struct gbose__case *it)
{
    struct folding *f = context;
    void *bytes;
    size_t size;
    int rc = gbose__fold_add(f->fold, f->desk, it, &bytes, &size);

    free(bytes);
    f->n++;
    return rc;
}

/* Where folding from nothing begins: with nothing; or, where old events were dropped, with the oldest
 * snapshot, which stands for them. */
static int resume_oldest(struct gbose__fold *fold, struct gbose__view *view, uint32_t bandit,
                         uint32_t generation, gbose_error *err)
{
    struct gbose__counts counts;
    uint64_t most = UINT64_MAX;
    int rc = view->counts(view, bandit, &counts, err);

    if (rc || !counts.dropped)
        return rc;
    for (fold->err = err; !rc && most; most = fold->learned ? fold->learned - 1 : 0)
        rc = view->snapshot(view, bandit, generation, most, take_snapshot, fold, err);
    return rc == GBOSE__EABSENT ? GBOSE_OK : rc;
}

int gbose__fold_upto(struct gbose__view *view, struct gbose__desk *desk, uint32_t bandit,
                     const struct gbose__generation *generation, uint64_t learned, int from_nothing,
                     gbose **out, gbose_error *err)
{
    struct gbose__fold fold;
    struct folding f = {&fold, desk, 1};
    int rc = gbose__fold_begin(&fold, generation, err);

    if (!rc && !from_nothing)
        rc = gbose__fold_resume(&fold, view, bandit, generation->number, learned, err);
    if (!rc && from_nothing)
        rc = resume_oldest(&fold, view, bandit, generation->number, err);
    while (!rc && f.n && fold.learned < learned) {
        f.n = 0;
        rc = view->outcomes(view, bandit, fold.learned, learned, 1000, fold_case, &f, err);
    }
    if (rc) {
        gbose_free(fold.g);
        return rc;
    }
    *out = fold.g;
    return GBOSE_OK;
}
