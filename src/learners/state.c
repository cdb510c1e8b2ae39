/* Saving, loading and merging.
 *
 * A saved state is 8-byte little-endian words:
 *     magic, version, spec, dim, schema, stream, decisions, learned, lineage, the regressions, the
 *     learner's state (if it has one), what else it keeps, what was said of its units (if it has units), checksum */
#include "learners/learner.h"

#include <string.h>

#include "core/memory.h"
#include "core/normal.h"
#include "learners/gauge.h"
#include "learners/lineage.h"

#define STATE_MAGIC UINT64_C(0x31545345534f4247) /* the bytes "GBOSEST1" */
#define PLAIN_VERSION 2                          /* of a learner that keeps nothing but regressions */
#define STATE_VERSION 11                         /* of one with a state of its own */

static uint64_t version_of(const gbose *g)
{
    return g->n_state ? STATE_VERSION : PLAIN_VERSION;
}

static void write_state(const gbose *g, struct gbose__writer *w)
{
    gbose__put_u64(w, STATE_MAGIC);
    gbose__put_u64(w, version_of(g));
    gbose__put_text(w, g->spec);
    gbose__put_u64(w, g->dim);
    gbose__put_u64(w, g->schema);
    gbose__put_u64(w, g->stream);
    gbose__put_u64(w, g->decisions);
    gbose__put_u64(w, g->learned);
    gbose__lineage_write(g->lineage, w);
    for (size_t i = 0; i < g->n_fits; i++)
        gbose__ridge_write(&g->fit[i], w);
    gbose__put_doubles(w, g->state, g->n_state);
    if (g->kind->write)
        g->kind->write(g, w);
    if (g->gauge)
        gbose__gauge_write(g->gauge, w);
    gbose__put_u64(w, w->at ? gbose__checksum(w->at, w->size) : 0);
}

int gbose_save(const gbose *g, void *buf, size_t capacity, size_t *size)
{
    struct gbose__writer count = {NULL, 0, 0, 0}, w = {buf, 0, capacity, 0};

    if (!g || !size || (!buf && capacity))
        return GBOSE_EINVAL;
    write_state(g, &count);
    *size = count.size;
    if (!buf)
        return GBOSE_OK;
    if (capacity < count.size)
        return GBOSE_EBUFFER;
    write_state(g, &w);
    return GBOSE_OK;
}

/* What a learner of this spec and dimension goes on with. GBOSE_OK, GBOSE_ESTATE, GBOSE_ENOMEM. */
static int read_evidence(gbose *g, struct gbose__reader *r, uint64_t checksum)
{
    uint64_t stream = gbose__get_u64(r);
    int rc;

    r->bad |= stream > UINT32_MAX;
    g->stream = (uint32_t)stream;
    g->decisions = gbose__get_u64(r);
    r->bad |= g->decisions > GBOSE__MAX_DECISIONS;
    g->learned = gbose__get_u64(r);
    rc = gbose__lineage_read(g->lineage, r);
    if (rc)
        return rc;
    if (r->bad)
        return GBOSE_ESTATE;
    r->bad = g->learned < g->lineage->point[g->lineage->n - 1].learned;
    for (size_t i = 0; i < g->n_fits && !r->bad; i++) {
        gbose__ridge_read(&g->fit[i], r);
        r->bad |= g->fit[i].steps > g->learned;
    }
    if (!r->bad && g->state)
        gbose__get_doubles(r, g->state, g->n_state);
    if (!r->bad && g->kind->read)
        g->kind->read(g, r);
    if (!r->bad && g->gauge) {
        gbose__gauge_read(g->gauge, r, g->learned);
        gbose__gauge_refresh(g);
    }
    if (r->bad || r->left || (g->kind->check && !g->kind->check(g)))
        return GBOSE_ESTATE;
    return gbose__lineage_loaded(g->lineage, checksum, g);
}

/* What follows magic and version, of bytes whose checksum is right. Version 1 knew of no schema. Before version
 * 10 what gbose-auto keeps beside its regressions was laid out in another way. */
static int read_state(gbose **out, struct gbose__reader *r, uint64_t version, uint64_t checksum,
                      gbose_error *err)
{
    char spec[GBOSE__MAX_SPEC];
    uint64_t dim, schema;
    gbose *g;
    int rc;

    gbose__get_text(r, spec, sizeof spec);
    dim = gbose__get_u64(r);
    schema = version > 1 ? gbose__get_u64(r) : 0;
    if (r->bad || !dim || dim > r->left / 8 || dim * (dim + 1) / 2 > r->left / 8)
        return GBOSE_ESTATE;
    rc = gbose__new(&g, spec, (size_t)dim, schema, err);
    if (rc)
        return rc;
    rc = version == version_of(g) || (version == 1 && !g->n_state) ? read_evidence(g, r, checksum)
                                                                   : GBOSE_EVERSION;
    if (rc) {
        gbose_free(g);
        return rc;
    }
    *out = g;
    return GBOSE_OK;
}

/* The version is looked at before the checksum: a format of another version may have another checksum. */
static int open_state(gbose **out, const void *buf, size_t size, gbose_error *err)
{
    struct gbose__reader r = {buf, size, 0}, tail = {NULL, 8, 0};
    uint64_t version, checksum;

    if (size < 24 || gbose__get_u64(&r) != STATE_MAGIC)
        return GBOSE_ESTATE;
    version = gbose__get_u64(&r);
    if (version < 1 || version > STATE_VERSION)
        return GBOSE_EVERSION;
    if (size % 8)
        return GBOSE_ESTATE;
    r.left -= 8;
    tail.at = r.at + r.left;
    checksum = gbose__get_u64(&tail);
    if (checksum != gbose__checksum(buf, size - 8))
        return GBOSE_ESTATE;
    return read_state(out, &r, version, checksum, err);
}

int gbose_load(gbose **out, const void *buf, size_t size, gbose_error *err)
{
    int rc;

    if (!out || !buf)
        return gbose__fail(err, GBOSE_EINVAL, "%s", gbose_strerror(GBOSE_EINVAL));
    gbose__fail(err, GBOSE_OK, "%s", "");
    rc = open_state(out, buf, size, err);
    if (rc && !(err && err->code == rc))
        gbose__fail(err, rc, "%s", gbose_strerror(rc));
    return rc;
}

/* ---- merging ---- */

/* What is known at some time: a copy that may be moved to other units. */
struct evidence {
    struct gbose__ridge fit[GBOSE__MAX_FITS];
    size_t n_fits;
    double *state;
};

static void evidence_clear(struct evidence *e)
{
    while (e->n_fits > 0)
        gbose__ridge_clear(&e->fit[--e->n_fits]);
    gbose__free(e->state);
    e->state = NULL;
}

/* Copy regressions and state of g's shape; e is zeroed before. From one gauge, if there is any, they are moved
 * to another. GBOSE_OK or GBOSE_ENOMEM. */
static int evidence_copy(struct evidence *e, const gbose *g, const struct gbose__ridge *fit,
                         const double *state, const struct gbose__gauge *gauge, const struct gbose__gauge *to)
{
    for (; e->n_fits < g->n_fits; e->n_fits++)
        if (gbose__ridge_copy(&e->fit[e->n_fits], &fit[e->n_fits]))
            return GBOSE_ENOMEM;
    if (g->n_state) {
        e->state = gbose__alloc(g->n_state, sizeof *e->state);
        if (!e->state)
            return GBOSE_ENOMEM;
        memcpy(e->state, state, g->n_state * sizeof *e->state);
    }
    if (gauge)
        gbose__gauge_move(g, e->fit, e->state, gauge, to);
    return GBOSE_OK;
}

/* All that a merge works on, in the units of the merged learner. */
struct merger {
    struct gbose__gauge *gauge; /* NULL: those of the caller */
    struct evidence into, from, common;
    int has_common;
};

static void merger_clear(struct merger *m)
{
    gbose__gauge_free(m->gauge);
    evidence_clear(&m->into);
    evidence_clear(&m->from);
    evidence_clear(&m->common);
}

/* GBOSE_OK or GBOSE_ENOMEM; to be cleared in any case. */
static int merger_init(struct merger *m, const gbose *into, const gbose *from,
                       const struct gbose__lineage *common)
{
    int rc;

    memset(m, 0, sizeof *m);
    m->has_common = common != NULL;
    if (into->gauge) {
        m->gauge = gbose__gauge_copy(into->gauge);
        if (!m->gauge)
            return GBOSE_ENOMEM;
        gbose__gauge_merge(m->gauge, from->gauge, common ? common->gauge : NULL);
    }
    rc = evidence_copy(&m->into, into, into->fit, into->state, into->gauge, m->gauge);
    if (!rc)
        rc = evidence_copy(&m->from, into, from->fit, from->state, from->gauge, m->gauge);
    if (!rc && common)
        rc = evidence_copy(&m->common, into, common->fit, common->state, common->gauge, m->gauge);
    return rc;
}

/* m->into.fit becomes the sum of all regressions. */
static int merge_fits(struct merger *m, const struct gbose__learner *kind)
{
    for (size_t i = 0; i < m->into.n_fits; i++) {
        int holds = m->has_common && (!kind->holds || kind->holds(i, m->from.state, m->common.state));
        struct gbose__ridge sum;
        int rc = gbose__ridge_merge(&sum, &m->into.fit[i], &m->from.fit[i], holds ? &m->common.fit[i] : NULL);

        if (rc)
            return rc;
        gbose__ridge_clear(&m->into.fit[i]);
        m->into.fit[i] = sum;
    }
    return GBOSE_OK;
}

/* The share of the common evidence that forgetting has left in `from`. */
static double remaining(const gbose *from, const struct gbose__lineage *common)
{
    const struct gbose__ridge *fit = &from->fit[0];

    return common ? gbose__exp((double)(fit->steps - common->fit[0].steps) * gbose__log(fit->forget)) : 0;
}

/* Put what was merged in the place of what was there, which m has then. */
static void exchange(gbose *into, struct merger *m)
{
    struct gbose__gauge *gauge = into->gauge;

    for (size_t i = 0; i < into->n_fits; i++) {
        struct gbose__ridge fit = into->fit[i];

        into->fit[i] = m->into.fit[i];
        m->into.fit[i] = fit;
    }
    if (into->n_state)
        memcpy(into->state, m->into.state, into->n_state * sizeof *into->state);
    into->gauge = m->gauge;
    m->gauge = gauge;
}

int gbose_merge(gbose *into, const gbose *from)
{
    struct gbose__common common;
    struct merger m;
    int rc;

    if (!into || !from || into == from)
        return GBOSE_EINVAL;
    if (into->fingerprint != from->fingerprint)
        return GBOSE_EMISMATCH;
    rc = gbose__lineage_common(&common, into->lineage, from->lineage);
    if (rc)
        return rc;
    rc = gbose__lineage_reserve(into->lineage, from->lineage, &common);
    if (rc)
        return rc;
    rc = merger_init(&m, into, from, common.holder);
    if (!rc)
        rc = merge_fits(&m, into->kind);
    if (!rc) {
        exchange(into, &m);
        into->learned += from->learned - from->lineage->point[common.from].learned;
        if (into->kind->merge)
            into->kind->merge(into, m.from.state, m.common.state, remaining(from, common.holder));
        if (into->gauge)
            gbose__gauge_refresh(into);
        gbose__lineage_join(into->lineage, from->lineage, &common);
    }
    merger_clear(&m);
    return rc;
}
