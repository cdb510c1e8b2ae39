/* A learner's life: making it, asking what it knows, freeing it. */
#include "learners/learner.h"

#include <string.h>

#include "core/memory.h"
#include "learners/gauge.h"
#include "learners/lineage.h"

/* ---- what an init may call ---- */

const struct gbose__value *gbose__learner_option(const gbose *g, const char *name)
{
    size_t i = gbose__option_index(&g->kind->info, name);

    return i < g->kind->info.n_options ? &g->value[i] : NULL;
}

int gbose__learner_fit(gbose *g, size_t dim, double lambda)
{
    int rc = gbose__ridge_init(&g->fit[g->n_fits], dim, lambda, gbose__learner_option(g, "forget")->number);

    if (!rc)
        g->n_fits++;
    return rc;
}

int gbose__learner_gauge(gbose *g)
{
    g->gauge = gbose__gauge_new(g->dim);
    return g->gauge ? GBOSE_OK : GBOSE_ENOMEM;
}

const double *gbose__learner_coef(const gbose *g, size_t fit)
{
    return g->gauge ? g->gauge->coef + fit * g->fit[fit].stride : g->fit[fit].mu;
}

int gbose__learner_state(gbose *g, size_t n)
{
    g->state = gbose__alloc(n, sizeof *g->state);
    if (!g->state)
        return GBOSE_ENOMEM;
    g->n_state = n;
    return GBOSE_OK;
}

/* ---- creation ---- */

/* The canonical spec, and the fingerprint that learners share whose tickets and evidence mean the same. */
static int name_learner(gbose *g)
{
    const gbose_info *info = &g->kind->info;
    char spec[GBOSE__MAX_SPEC];

    if (gbose__spec_write(spec, info, g->value, "seed"))
        return GBOSE_ENOMEM;
    g->fingerprint = gbose__mix(gbose__mix_text(1, spec), g->dim);
    if (g->schema)
        g->fingerprint = gbose__mix(g->fingerprint, g->schema);
    if (gbose__spec_write(spec, info, g->value, NULL))
        return GBOSE_ENOMEM;
    g->spec = gbose__alloc(strlen(spec) + 1, 1);
    if (!g->spec)
        return GBOSE_ENOMEM;
    memcpy(g->spec, spec, strlen(spec) + 1);
    return GBOSE_OK;
}

static int build(gbose *g, gbose_error *err)
{
    int rc;

    g->seed = gbose__learner_option(g, "seed")->integer;
    g->floor = gbose__learner_option(g, "floor")->number;
    g->max_terms = 1;
    if (g->dim > SIZE_MAX / 64)
        return GBOSE_ESIZE;
    rc = name_learner(g);
    if (rc)
        return rc;
    g->lineage = gbose__lineage_new();
    g->own = gbose__alloc(1, g->kind->own_size);
    if (!g->lineage || !g->own)
        return GBOSE_ENOMEM;
    return g->kind->init(g, err);
}

int gbose__new(gbose **out, const char *spec, size_t dim, uint64_t schema, gbose_error *err)
{
    struct gbose__value value[GBOSE__MAX_OPTIONS];
    size_t which;
    gbose *g;
    int rc;

    if (!out || !spec || !dim)
        return gbose__fail(err, GBOSE_EINVAL, "%s",
                           !dim ? "dim must be at least 1" : gbose_strerror(GBOSE_EINVAL));
    rc = gbose__spec_parse(&which, value, spec, &gbose__learners, err);
    if (rc)
        return rc;
    gbose__fail(err, GBOSE_OK, "%s", "");
    g = gbose__alloc(1, sizeof *g);
    if (!g)
        return gbose__no_memory(err);
    g->kind = gbose__learner_at(which);
    g->dim = dim;
    g->schema = schema;
    memcpy(g->value, value, g->kind->info.n_options * sizeof *value);
    rc = build(g, err);
    if (rc) {
        gbose_free(g);
        return err && err->code == rc ? rc : gbose__fail(err, rc, "%s", gbose_strerror(rc));
    }
    *out = g;
    return GBOSE_OK;
}

int gbose_new(gbose **out, const char *spec, size_t dim, gbose_error *err)
{
    return gbose__new(out, spec, dim, 0, err);
}

void gbose_free(gbose *g)
{
    if (!g)
        return;
    if (g->own && g->kind->clear)
        g->kind->clear(g);
    for (size_t i = 0; i < g->n_fits; i++)
        gbose__ridge_clear(&g->fit[i]);
    gbose__round_clear(&g->scratch);
    gbose__lineage_free(g->lineage);
    gbose__gauge_free(g->gauge);
    gbose__free(g->own);
    gbose__free(g->state);
    gbose__free(g->spec);
    gbose__free(g);
}

/* ---- what it knows ---- */

const double *gbose_coef(const gbose *g)
{
    return gbose__learner_coef(g, 0);
}

const double *gbose_coef_of(const gbose *g, const char *name)
{
    return g && name && g->kind->coef_of ? g->kind->coef_of(g, name) : NULL;
}

double gbose_width(const gbose *g, const double *x)
{
    if (g->kind->width)
        return g->kind->width(g, x);
    return gbose__ridge_width(&g->fit[0], x, g->gauge ? g->gauge->down : NULL, g->dim);
}

uint64_t gbose_rounds(const gbose *g)
{
    return g->learned;
}

uint64_t gbose_decisions(const gbose *g)
{
    return g->decisions;
}

size_t gbose_dim(const gbose *g)
{
    return g->dim;
}

size_t gbose_round_features(const gbose *g)
{
    return g->round_features;
}

uint64_t gbose_schema_of(const gbose *g)
{
    return g->schema;
}

const char *gbose_spec(const gbose *g)
{
    return g->spec;
}

/* The learner's effect along an x in the caller's units. */
static int effect_along(const gbose *g, const double *x, double alpha, double *estimate, double *lower,
                        double *upper)
{
    double *own;
    int rc;

    if (!g->gauge)
        return g->kind->effect(g, x, alpha, estimate, lower, upper);
    own = gbose__alloc(g->dim, sizeof *own);
    if (!own)
        return GBOSE_ENOMEM;
    for (size_t j = 0; j < g->dim; j++)
        own[j] = x[j] * g->gauge->down[j];
    rc = g->kind->effect(g, own, alpha, estimate, lower, upper);
    gbose__free(own);
    return rc;
}

int gbose_effect(const gbose *g, const double *x, double level, double *estimate, double *lower,
                 double *upper)
{
    double value, low, high;
    int rc;

    if (!g || !x || !estimate || !lower || !upper || !(level > 0 && level < 1))
        return GBOSE_EINVAL;
    if (!gbose__kernels->within(x, g->dim, GBOSE_MAX_INPUT))
        return GBOSE_ENUMERIC;
    if (!g->kind->effect)
        return GBOSE_ELEARNER;
    rc = effect_along(g, x, 1 - level, &value, &low, &high);
    if (!rc) {
        *estimate = value;
        *lower = low;
        *upper = high;
    }
    return rc;
}

int gbose_diagnose(const gbose *g, gbose_diagnosis *out)
{
    gbose_diagnosis diagnosis;
    int rc;

    if (!g || !out)
        return GBOSE_EINVAL;
    if (!g->kind->diagnose)
        return GBOSE_ELEARNER;
    rc = g->kind->diagnose(g, &diagnosis);
    if (!rc)
        *out = diagnosis;
    return rc;
}

int gbose_stream(gbose *g, uint32_t stream)
{
    if (!g)
        return GBOSE_EINVAL;
    g->stream = stream;
    g->decisions = 0;
    return GBOSE_OK;
}
