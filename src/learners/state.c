/* Saving, loading and merging.
 *
 * A saved state is 8-byte little-endian words:
 *     magic, version, spec, dim, schema, stream, decisions, learned, lineage, the regressions, the
 *     learner's state (if it has one), checksum */
#include "learners/learner.h"

#include <string.h>

#include "core/normal.h"
#include "learners/lineage.h"

#define STATE_MAGIC UINT64_C(0x31545345534f4247) /* the bytes "GBOSEST1" */
#define STATE_VERSION 2

static void write_state(const gbose *g, struct gbose__writer *w)
{
    gbose__put_u64(w, STATE_MAGIC);
    gbose__put_u64(w, STATE_VERSION);
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
    if (r->bad || r->left || (g->kind->check && !g->kind->check(g)))
        return GBOSE_ESTATE;
    return gbose__lineage_loaded(g->lineage, checksum, g);
}

/* What follows magic and version, of bytes whose checksum is right. Version 1 knew of no schema, and what
 * gbose-auto kept beside its regressions was laid out in another way. */
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
    rc = version == 1 && g->n_state ? GBOSE_EVERSION : read_evidence(g, r, checksum);
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

/* The sums of all regressions. On an error nothing is left to clear. */
static int merge_fits(struct gbose__ridge *sum, const gbose *into, const gbose *from,
                      const struct gbose__lineage *common)
{
    for (size_t i = 0; i < into->n_fits; i++) {
        int rc = gbose__ridge_merge(&sum[i], &into->fit[i], &from->fit[i], common ? &common->fit[i] : NULL);

        if (rc) {
            while (i--)
                gbose__ridge_clear(&sum[i]);
            return rc;
        }
    }
    return GBOSE_OK;
}

/* The share of the common evidence that forgetting has left in `from`. */
static double remaining(const gbose *from, const struct gbose__lineage *common)
{
    const struct gbose__ridge *fit = &from->fit[0];

    return common ? gbose__exp((double)(fit->steps - common->fit[0].steps) * gbose__log(fit->forget)) : 0;
}

int gbose_merge(gbose *into, const gbose *from)
{
    struct gbose__ridge sum[GBOSE__MAX_FITS];
    struct gbose__common common;
    uint64_t since;
    int rc;

    if (!into || !from || into == from)
        return GBOSE_EINVAL;
    if (into->fingerprint != from->fingerprint)
        return GBOSE_EMISMATCH;
    rc = gbose__lineage_common(&common, into->lineage, from->lineage);
    if (rc)
        return rc;
    since = from->learned - from->lineage->point[common.from].learned;
    rc = gbose__lineage_reserve(into->lineage, from->lineage, &common);
    if (!rc)
        rc = merge_fits(sum, into, from, common.holder);
    if (rc)
        return rc;
    for (size_t i = 0; i < into->n_fits; i++) {
        gbose__ridge_clear(&into->fit[i]);
        into->fit[i] = sum[i];
    }
    into->learned += since;
    if (into->kind->merge)
        into->kind->merge(into, from, common.holder ? common.holder->state : NULL,
                          remaining(from, common.holder));
    gbose__lineage_join(into->lineage, from->lineage, &common);
    return GBOSE_OK;
}
