#include "learners/lineage.h"

#include <string.h>

#include "core/memory.h"
#include "gbose.h"
#include "learners/gauge.h"

static int point_init(struct gbose__point *p, uint64_t state, uint64_t learned, size_t capacity)
{
    p->state = state;
    p->learned = learned;
    p->n_marks = 0;
    p->capacity = capacity ? capacity : 1;
    p->mark = gbose__alloc(p->capacity, sizeof *p->mark);
    return p->mark ? GBOSE_OK : GBOSE_ENOMEM;
}

struct gbose__lineage *gbose__lineage_new(void)
{
    struct gbose__lineage *lineage = gbose__alloc(1, sizeof *lineage);

    if (!lineage)
        return NULL;
    if (point_init(&lineage->point[0], 0, 0, 1)) {
        gbose__free(lineage);
        return NULL;
    }
    lineage->n = 1;
    return lineage;
}

void gbose__lineage_free(struct gbose__lineage *lineage)
{
    if (!lineage)
        return;
    for (size_t i = 0; i < lineage->n; i++)
        gbose__free(lineage->point[i].mark);
    for (size_t i = 0; i < lineage->n_fits; i++)
        gbose__ridge_clear(&lineage->fit[i]);
    gbose__free(lineage->state);
    gbose__gauge_free(lineage->gauge);
    gbose__free(lineage);
}

void gbose__lineage_learned(struct gbose__lineage *lineage, uint64_t mark)
{
    struct gbose__point *last = &lineage->point[lineage->n - 1];

    if (!last->n_marks)
        last->mark[last->n_marks++] = mark;
}

static int keep_evidence(struct gbose__lineage *lineage, const gbose *g)
{
    for (; lineage->n_fits < g->n_fits; lineage->n_fits++)
        if (gbose__ridge_copy(&lineage->fit[lineage->n_fits], &g->fit[lineage->n_fits]))
            return GBOSE_ENOMEM;
    if (g->gauge) {
        lineage->gauge = gbose__gauge_copy(g->gauge);
        if (!lineage->gauge)
            return GBOSE_ENOMEM;
    }
    if (!g->state)
        return GBOSE_OK;
    lineage->state = gbose__alloc(g->n_state, sizeof *g->state);
    if (!lineage->state)
        return GBOSE_ENOMEM;
    memcpy(lineage->state, g->state, g->n_state * sizeof *g->state);
    return GBOSE_OK;
}

int gbose__lineage_loaded(struct gbose__lineage *lineage, uint64_t checksum, const gbose *g)
{
    struct gbose__point *last = &lineage->point[lineage->n - 1];

    if (last->n_marks) {
        struct gbose__point next;
        if (point_init(&next, checksum, g->learned, 1))
            return GBOSE_ENOMEM;
        if (lineage->n == GBOSE__MAX_POINTS) {
            gbose__free(lineage->point[0].mark);
            memmove(lineage->point, lineage->point + 1, (GBOSE__MAX_POINTS - 1) * sizeof *lineage->point);
            lineage->n--;
        }
        lineage->point[lineage->n++] = next;
    } else if (!last->state) {
        return GBOSE_OK;
    }
    return keep_evidence(lineage, g);
}

static int copy_points(struct gbose__lineage *to, const struct gbose__lineage *from)
{
    gbose__free(to->point[0].mark);
    for (to->n = 0; to->n < from->n; to->n++) {
        const struct gbose__point *p = &from->point[to->n];
        struct gbose__point *copy = &to->point[to->n];

        if (point_init(copy, p->state, p->learned, p->n_marks))
            return GBOSE_ENOMEM;
        copy->n_marks = p->n_marks;
        memcpy(copy->mark, p->mark, p->n_marks * sizeof *p->mark);
    }
    return GBOSE_OK;
}

int gbose__lineage_grow(gbose *g, const gbose *from)
{
    struct gbose__lineage *to = g->lineage;
    const struct gbose__lineage *old = from->lineage;

    if (copy_points(to, old))
        return GBOSE_ENOMEM;
    for (; to->n_fits < old->n_fits; to->n_fits++) {
        int rc = gbose__ridge_grow(&to->fit[to->n_fits], &old->fit[to->n_fits], from->dim, g->dim - from->dim,
                                   g->fit[to->n_fits].lambda);
        if (rc)
            return rc;
    }
    if (old->gauge) {
        to->gauge = gbose__gauge_new(g->dim);
        if (!to->gauge)
            return GBOSE_ENOMEM;
        gbose__gauge_grow(to->gauge, old->gauge);
    }
    if (!old->state)
        return GBOSE_OK;
    to->state = gbose__alloc(g->n_state, sizeof *to->state);
    if (!to->state)
        return GBOSE_ENOMEM;
    g->kind->grow(g, to->state, from, old->state);
    return GBOSE_OK;
}

static int has_mark(const struct gbose__point *p, uint64_t mark)
{
    for (size_t i = 0; i < p->n_marks; i++)
        if (p->mark[i] == mark)
            return 1;
    return 0;
}

static int share_mark(const struct gbose__point *a, const struct gbose__point *b)
{
    for (size_t i = 0; i < a->n_marks; i++)
        if (has_mark(b, a->mark[i]))
            return 1;
    return 0;
}

int gbose__lineage_common(struct gbose__common *common, const struct gbose__lineage *into,
                          const struct gbose__lineage *from)
{
    for (size_t i = into->n; i-- > 0;)
        for (size_t j = from->n; j-- > 0;) {
            const struct gbose__point *a = &into->point[i], *b = &from->point[j];

            if (a->state != b->state || a->learned != b->learned)
                continue;
            if (share_mark(a, b))
                return GBOSE_EOVERLAP;
            common->into = i;
            common->from = j;
            common->holder = NULL;
            if (a->state == 0)
                return GBOSE_OK;
            common->holder = i == into->n - 1 ? into : j == from->n - 1 ? from : NULL;
            return common->holder ? GBOSE_OK : GBOSE_EHISTORY;
        }
    return GBOSE_EHISTORY;
}

int gbose__lineage_reserve(struct gbose__lineage *into, const struct gbose__lineage *from,
                           const struct gbose__common *common)
{
    size_t more = from->point[common->from].n_marks;

    for (size_t i = 0; i < into->n; i++) {
        struct gbose__point *p = &into->point[i];
        uint64_t *mark;

        if (p->capacity >= p->n_marks + more)
            continue;
        mark = gbose__alloc(2 * (p->n_marks + more), sizeof *mark);
        if (!mark)
            return GBOSE_ENOMEM;
        memcpy(mark, p->mark, p->n_marks * sizeof *mark);
        gbose__free(p->mark);
        p->mark = mark;
        p->capacity = 2 * (p->n_marks + more);
    }
    return GBOSE_OK;
}

/* All points get them, those before the common one too: what came since that came since them as well. */
void gbose__lineage_join(struct gbose__lineage *into, const struct gbose__lineage *from,
                         const struct gbose__common *common)
{
    const struct gbose__point *other = &from->point[common->from];

    for (size_t i = 0; i < into->n; i++)
        for (size_t k = 0; k < other->n_marks; k++)
            if (!has_mark(&into->point[i], other->mark[k]))
                into->point[i].mark[into->point[i].n_marks++] = other->mark[k];
}

void gbose__lineage_write(const struct gbose__lineage *lineage, struct gbose__writer *w)
{
    gbose__put_u64(w, lineage->n);
    for (size_t i = 0; i < lineage->n; i++) {
        const struct gbose__point *p = &lineage->point[i];
        gbose__put_u64(w, p->state);
        gbose__put_u64(w, p->learned);
        gbose__put_u64(w, p->n_marks);
        for (size_t k = 0; k < p->n_marks; k++)
            gbose__put_u64(w, p->mark[k]);
    }
}

int gbose__lineage_read(struct gbose__lineage *lineage, struct gbose__reader *r)
{
    uint64_t n = gbose__get_u64(r), before = 0;

    if (n < 1 || n > GBOSE__MAX_POINTS) {
        r->bad = 1;
        return GBOSE_OK;
    }
    gbose__free(lineage->point[0].mark);
    lineage->n = 0;
    while (lineage->n < n) {
        struct gbose__point *p = &lineage->point[lineage->n];
        uint64_t state = gbose__get_u64(r), learned = gbose__get_u64(r), marks = gbose__get_u64(r);

        r->bad |= learned < before; /* rewards learned never become fewer */
        before = learned;
        if (marks > r->left / 8) {
            r->bad = 1;
            marks = 0;
        }
        if (point_init(p, state, learned, (size_t)marks))
            return GBOSE_ENOMEM;
        lineage->n++;
        while (p->n_marks < marks)
            p->mark[p->n_marks++] = gbose__get_u64(r);
    }
    return GBOSE_OK;
}
