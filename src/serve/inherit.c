/* What a new generation begins with.
 *
 * As long as the whole log is there it begins with nothing and learns the log, by its own spec and schema: a
 * feature that is new to the schema is learned from old events too, as far as they have it. Where `retention`
 * has dropped events, the oldest snapshot of the generation at work stands for them. A new generation with
 * the same spec, and a schema that is the same or only appends terms (then what is new was 0, gbose_grow()),
 * takes it over and learns the rest. Any other begins with the log that is left. */
#include "serve/service.h"

#include <stdlib.h>
#include <string.h>

struct oldest {
    gbose *g;
    uint64_t learned;
    gbose_error err;
};

static int take_snapshot(void *context, const struct gbose__snapshot_row *row)
{
    struct oldest *o = context;
    gbose *g;
    int rc = gbose_load(&g, row->bytes, row->size, &o->err);

    if (rc)
        return rc;
    gbose_free(o->g);
    o->g = g;
    o->learned = row->learned;
    return GBOSE_OK;
}

/* The oldest snapshot of a generation; g stays NULL if there is none. */
static int find_oldest(struct gbose__view *view, uint32_t bandit, uint32_t generation, struct oldest *out)
{
    uint64_t most = UINT64_MAX;
    int rc = GBOSE_OK;

    while (!rc && most) {
        rc = view->snapshot(view, bandit, generation, most, take_snapshot, out, &out->err);
        most = out->learned ? out->learned - 1 : 0;
    }
    return rc == GBOSE__EABSENT ? GBOSE_OK : rc;
}

/* Do contexts of one mean the same to the other, but for what is appended? */
static int is_grown(const struct gbose__encoder *from, const struct gbose__encoder *to)
{
    if (!from->schema != !to->schema || from->n_round != to->n_round || from->dim > to->dim)
        return 0;
    return !from->schema || !gbose_schema_compatible(from->schema, to->schema, NULL);
}

int gbose__inherit(struct gbose__exchange *x, struct gbose__bandit *b, const struct gbose__generation *heir,
                   struct gbose__change *change)
{
    struct gbose__desk *desk = x->own;
    struct gbose__encoder *encoder;
    struct gbose__counts counts;
    struct oldest oldest = {0};
    gbose *grown = NULL;
    uint32_t active;
    void *bytes = NULL, *kept = NULL;
    size_t size = 0;
    int same, rc;

    pthread_mutex_lock(&b->lock);
    active = b->active->number;
    encoder = b->active->encoder;
    atomic_fetch_add(&encoder->references, 1);
    same = !strcmp(b->active->spec, heir->spec) && is_grown(encoder, heir->encoder);
    pthread_mutex_unlock(&b->lock);
    gbose__encoder_release(encoder);
    rc = desk->view->counts(desk->view, b->id, &counts, &oldest.err);
    if (rc || !counts.dropped || !same)
        return rc;
    rc = find_oldest(desk->view, b->id, active, &oldest);
    if (!rc && oldest.g) {
        if (gbose_dim(oldest.g) < heir->encoder->dim)
            rc = gbose_grow(&grown, oldest.g, heir->encoder->dim, &oldest.err);
        bytes = rc ? NULL : gbose__model_save(grown ? grown : oldest.g, &size);
        kept = bytes ? gbose__arena_take(&x->arena, size) : NULL;
        if (!rc && !kept)
            rc = GBOSE_ENOMEM;
    }
    if (kept) {
        memcpy(kept, bytes, size);
        *change =
            (struct gbose__change){.kind = GBOSE__ADD_SNAPSHOT,
                                   .chained = 1,
                                   .of.snapshot = {b->id, heir->number, oldest.learned, kept, size, 1, 0}};
    }
    free(bytes);
    gbose_free(grown);
    gbose_free(oldest.g);
    return rc ? rc : kept != NULL;
}
