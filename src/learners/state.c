/* Saving, loading and merging.
 *
 * A saved state is 8-byte little-endian words:
 *     magic, version, spec, dim, stream, decisions, learned, lineage, model, level (if any), what a
 *     learner keeps beside them (if anything), checksum */
#include "learners/learner.h"

#include <string.h>

#include "core/normal.h"
#include "learners/lineage.h"

#define STATE_MAGIC UINT64_C(0x31545345534f4247) /* the bytes "GBOSEST1" */
#define STATE_VERSION 1

static void write_state(const gbose *g, struct gbose__writer *w)
{
    gbose__put_u64(w, STATE_MAGIC);
    gbose__put_u64(w, STATE_VERSION);
    gbose__put_text(w, g->spec);
    gbose__put_u64(w, g->dim);
    gbose__put_u64(w, g->stream);
    gbose__put_u64(w, g->decisions);
    gbose__put_u64(w, g->learned);
    gbose__lineage_write(g->lineage, w);
    gbose__ridge_write(&g->model, w);
    if (g->level.dim)
        gbose__ridge_write(&g->level, w);
    gbose__put_doubles(w, g->own, g->n_own);
    gbose__put_u64(w, w->at ? gbose__checksum(w->at, w->size) : 0);
}

int gbose_save(const gbose *g, void *buf, size_t capacity, size_t *size)
{
    struct gbose__writer count = {NULL, 0}, w = {buf, 0};

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

/* What follows magic and version, of bytes whose checksum is right. */
static int read_state(gbose **out, struct gbose__reader *r, uint64_t checksum, gbose_error *err)
{
    char spec[GBOSE__MAX_SPEC];
    uint64_t dim, stream;
    gbose *g;
    int rc;

    gbose__get_text(r, spec, sizeof spec);
    dim = gbose__get_u64(r);
    if (r->bad || !dim || dim > r->left / 8 || dim * (dim + 1) / 2 > r->left / 8)
        return GBOSE_ESTATE;
    rc = gbose_new(&g, spec, (size_t)dim, err);
    if (rc)
        return rc;
    stream = gbose__get_u64(r);
    r->bad |= stream > UINT32_MAX;
    g->stream = (uint32_t)stream;
    g->decisions = gbose__get_u64(r);
    g->learned = gbose__get_u64(r);
    rc = gbose__lineage_read(g->lineage, r);
    if (!rc && !r->bad)
        r->bad = g->learned < g->lineage->point[g->lineage->n - 1].learned;
    if (!rc && !r->bad)
        gbose__ridge_read(&g->model, r);
    if (!rc && !r->bad && g->level.dim)
        gbose__ridge_read(&g->level, r);
    if (!rc && !r->bad && g->own) {
        gbose__get_doubles(r, g->own, g->n_own);
        r->bad |= !g->kind->extra->own_is_sane(g);
    }
    r->bad |= g->model.steps > g->learned || g->level.steps > g->learned;
    if (!rc && (r->bad || r->left))
        rc = GBOSE_ESTATE;
    if (!rc)
        rc = gbose__lineage_loaded(g->lineage, checksum, g->learned, &g->model, &g->level, g->own, g->n_own);
    if (rc) {
        gbose_free(g);
        return rc;
    }
    *out = g;
    return GBOSE_OK;
}

int gbose_load(gbose **out, const void *buf, size_t size, gbose_error *err)
{
    struct gbose__reader r = {buf, size, 0}, tail = {NULL, 8, 0};
    uint64_t magic, version, checksum;
    int rc = GBOSE_ESTATE;

    if (!out || !buf)
        return gbose__fail(err, GBOSE_EINVAL, "%s", gbose_strerror(GBOSE_EINVAL));
    gbose__fail(err, GBOSE_OK, "%s", "");
    if (size >= 24 && size % 8 == 0) {
        magic = gbose__get_u64(&r);
        version = gbose__get_u64(&r);
        r.left -= 8;
        tail.at = r.at + r.left;
        checksum = gbose__get_u64(&tail);
        if (magic == STATE_MAGIC && checksum == gbose__checksum(buf, size - 8))
            rc = version == STATE_VERSION ? read_state(out, &r, checksum, err) : GBOSE_EVERSION;
    }
    if (rc && !(err && err->code == rc))
        gbose__fail(err, rc, "%s", gbose_strerror(rc));
    return rc;
}

int gbose_merge(gbose *into, const gbose *from)
{
    struct gbose__ridge model, level;
    struct gbose__common common;
    const struct gbose__ridge *old_model = NULL, *old_level = NULL;
    uint64_t since;
    int rc;

    if (!into || !from || into == from)
        return GBOSE_EINVAL;
    if (into->fingerprint != from->fingerprint)
        return GBOSE_EMISMATCH;
    rc = gbose__lineage_common(&common, into->lineage, from->lineage);
    if (rc)
        return rc;
    if (common.holder) {
        old_model = &common.holder->model;
        old_level = &common.holder->level;
    }
    since = from->learned - from->lineage->point[common.from].learned;
    rc = gbose__lineage_reserve(into->lineage, from->lineage, &common);
    if (rc)
        return rc;
    rc = gbose__ridge_merge(&model, &into->model, &from->model, old_model);
    if (rc)
        return rc;
    if (into->level.dim) {
        rc = gbose__ridge_merge(&level, &into->level, &from->level, old_level);
        if (rc) {
            gbose__ridge_clear(&model);
            return rc;
        }
        gbose__ridge_clear(&into->level);
        into->level = level;
    }
    gbose__ridge_clear(&into->model);
    into->model = model;
    into->learned += since;
    if (into->kind->extra) {
        double remains = 0;
        if (common.holder)
            remains =
                gbose__exp((double)(from->model.steps - old_model->steps) * gbose__log(from->set.forget));
        into->kind->extra->merged(into, from, common.holder ? common.holder->own : NULL, remains);
    }
    gbose__lineage_join(into->lineage, from->lineage, &common);
    return GBOSE_OK;
}
