/* A learner gets more features, and keeps what it knows. */
#include "learners/learner.h"

#include "core/error.h"
#include "learners/gauge.h"
#include "learners/lineage.h"

/* Everything of `from` that does not depend on the dimension, and its regressions and state with zeros for
 * what is new. A constant feature stays the last one. */
static int take_over(gbose *g, const gbose *from)
{
    g->stream = from->stream;
    g->decisions = from->decisions;
    g->learned = from->learned;
    for (size_t i = 0; i < g->n_fits; i++) {
        struct gbose__ridge grown;
        int rc = gbose__ridge_grow(&grown, &from->fit[i], from->dim, g->dim - from->dim, g->fit[i].lambda);

        if (rc)
            return rc;
        gbose__ridge_clear(&g->fit[i]);
        g->fit[i] = grown;
    }
    if (g->gauge) {
        gbose__gauge_grow(g->gauge, from->gauge);
        gbose__gauge_refresh(g);
    }
    if (g->state)
        g->kind->grow(g, g->state, from, from->state);
    return gbose__lineage_grow(g, from);
}

int gbose__grow(gbose **out, const gbose *g, const char *spec, size_t dim, uint64_t schema, gbose_error *err)
{
    gbose *grown;
    int rc;

    if (!out || !g)
        return gbose__fail_plainly(err, GBOSE_EINVAL);
    if (dim < g->dim)
        return gbose__fail(err, GBOSE_EINVAL, "a learner cannot lose features: it has %zu, and dim is %zu",
                           g->dim, dim);
    rc = gbose__new(&grown, spec, dim, schema, err);
    if (rc)
        return rc;
    rc = take_over(grown, g);
    if (rc) {
        gbose_free(grown);
        return gbose__fail_plainly(err, rc);
    }
    *out = grown;
    return GBOSE_OK;
}

int gbose_grow(gbose **out, const gbose *g, size_t dim, gbose_error *err)
{
    if (g && g->schema)
        return gbose__fail(err, GBOSE_EINVAL,
                           "the contexts of this learner come from a schema, and grow with it");
    return gbose__grow(out, g, g ? g->spec : NULL, dim, 0, err);
}
