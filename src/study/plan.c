#include "study/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/spec.h"
#include "learners/learner.h"
#include "worlds/world.h"

#define CURVE_POINTS 200

/* ---- runs and their numbers ---- */

static size_t values_before(const struct gbose__plan *plan, size_t learner)
{
    size_t n = 0;

    for (size_t l = 0; l < learner; l++)
        n += plan->learner[l].n_values;
    return n;
}

static size_t all_reps(const struct gbose__plan *plan)
{
    return plan->reps + plan->fresh;
}

size_t gbose__plan_runs(const struct gbose__plan *plan)
{
    return plan->n_worlds * values_before(plan, plan->n_learners) * all_reps(plan);
}

size_t gbose__plan_run_index(const struct gbose__plan *plan, struct gbose__run_id id)
{
    size_t values = values_before(plan, plan->n_learners);

    return (id.world * values + values_before(plan, id.learner) + id.value) * all_reps(plan) + id.rep;
}

struct gbose__run_id gbose__plan_run_at(const struct gbose__plan *plan, size_t index)
{
    struct gbose__run_id id = {0, 0, 0, index % all_reps(plan)};
    size_t values = values_before(plan, plan->n_learners);

    index /= all_reps(plan);
    id.world = index / values;
    id.value = index % values;
    while (id.value >= plan->learner[id.learner].n_values)
        id.value -= plan->learner[id.learner++].n_values;
    return id;
}

void gbose__plan_run_spec(char *buf, const struct gbose__plan *plan, struct gbose__run_id id)
{
    const struct gbose__entry *e = &plan->learner[id.learner];

    if (e->option)
        snprintf(buf, GBOSE__MAX_SPEC, "%s%c%s=%s", e->spec, strchr(e->spec, ':') ? ',' : ':', e->option,
                 e->value[id.value]);
    else
        snprintf(buf, GBOSE__MAX_SPEC, "%s", e->spec);
}

int gbose__plan_run_alone(const struct gbose__plan *plan, size_t index)
{
    struct gbose__run_id id = gbose__plan_run_at(plan, index);

    return plan->joined[id.world] || plan->learner[id.learner].joined;
}

/* ---- making ---- */

/* One more element at the end of an array. */
static void *grow(void *array, size_t n, size_t size)
{
    return realloc(array, (n + 1) * size);
}

struct gbose__plan *gbose__plan_new(const char *name, uint64_t rounds, size_t reps, uint64_t seed)
{
    struct gbose__plan *plan = calloc(1, sizeof *plan);

    if (!plan)
        return NULL;
    plan->name = strdup(name);
    plan->point = calloc(CURVE_POINTS, sizeof *plan->point);
    if (!plan->name || !plan->point) {
        gbose__plan_free(plan);
        return NULL;
    }
    plan->rounds = rounds;
    plan->reps = reps;
    plan->seed = seed;
    for (uint64_t k = 1; k <= CURVE_POINTS; k++) {
        uint64_t t = rounds / CURVE_POINTS * k + rounds % CURVE_POINTS * k / CURVE_POINTS;
        if (t > (plan->n_points ? plan->point[plan->n_points - 1] : 0))
            plan->point[plan->n_points++] = t;
    }
    return plan;
}

static void entry_clear(struct gbose__entry *e)
{
    for (size_t i = 0; i < e->n_values; i++)
        free(e->value[i]);
    free(e->value);
    free(e->label);
    free(e->spec);
    free(e->option);
    free(e->joined);
}

void gbose__plan_free(struct gbose__plan *plan)
{
    if (!plan)
        return;
    for (size_t i = 0; i < plan->n_worlds; i++) {
        free(plan->world[i]);
        free(plan->joined[i]);
    }
    for (size_t i = 0; i < plan->n_learners; i++)
        entry_clear(&plan->learner[i]);
    free(plan->world);
    free(plan->joined);
    free(plan->learner);
    free(plan->point);
    free(plan->name);
    free(plan);
}

/* A world by its name; `joined` is its callbacks, or NULL. */
static int add_world(struct gbose__plan *plan, const char *name, const gbose_study_world *joined,
                     gbose_error *err)
{
    gbose_study_world **joineds, *own = NULL;
    char **names;

    for (size_t i = 0; i < plan->n_worlds; i++)
        if (!strcmp(plan->world[i], name))
            return gbose__fail(err, GBOSE_ESPEC, "world '%s' is given twice", name);
    names = grow(plan->world, plan->n_worlds, sizeof *names);
    if (!names)
        return gbose__no_memory(err);
    plan->world = names;
    joineds = grow(plan->joined, plan->n_worlds, sizeof *joineds);
    if (!joineds)
        return gbose__no_memory(err);
    plan->joined = joineds;
    names[plan->n_worlds] = strdup(name);
    if (joined)
        own = malloc(sizeof *own);
    if (!names[plan->n_worlds] || (joined && !own)) {
        free(names[plan->n_worlds]);
        free(own);
        return gbose__no_memory(err);
    }
    if (joined) {
        *own = *joined;
        own->name = names[plan->n_worlds];
    }
    joineds[plan->n_worlds++] = own;
    return GBOSE_OK;
}

int gbose__plan_add_world(struct gbose__plan *plan, const char *spec, gbose_error *err)
{
    char canonical[GBOSE__MAX_SPEC];
    int rc = gbose__world_canonical(canonical, spec, err);

    return rc ? rc : add_world(plan, canonical, NULL, err);
}

int gbose__plan_join_world(struct gbose__plan *plan, const gbose_study_world *world, gbose_error *err)
{
    if (!world->name || !world->begin || !world->next || !world->dim || !world->max_arms)
        return gbose__fail(err, GBOSE_EINVAL, "a world needs a name, dim, max_arms, begin and next");
    if (world->max_arms > SIZE_MAX / sizeof(double) / world->dim)
        return gbose__fail(err, GBOSE_ESIZE, "%s", gbose_strerror(GBOSE_ESIZE));
    return add_world(plan, world->name, world, err);
}

/* The canonical spec of a learner, without one option (or NULL). */
static int canonical_learner(char *buf, const char *spec, const char *skip, gbose_error *err)
{
    struct gbose__value value[GBOSE__MAX_OPTIONS];
    size_t which;
    int rc = gbose__spec_parse(&which, value, spec, &gbose__learners, err);

    if (rc)
        return rc;
    if (gbose__spec_write(buf, gbose_learner_at(which), value, skip))
        return gbose__no_memory(err);
    return GBOSE_OK;
}

int gbose__plan_learner_has(const char *spec, const char *option)
{
    struct gbose__value value[GBOSE__MAX_OPTIONS];
    const gbose_info *info;
    size_t which;

    if (gbose__spec_parse(&which, value, spec, &gbose__learners, NULL))
        return 0;
    info = gbose_learner_at(which);
    for (size_t i = 0; i < info->n_options; i++)
        if (!strcmp(info->options[i].name, option))
            return 1;
    return 0;
}

/* Is the learner's spec good for this value? A learner of dimension 1 is made and freed. */
static int check_value(const struct gbose__plan *plan, size_t learner, size_t value, gbose_error *err)
{
    struct gbose__run_id id = {0, learner, value, 0};
    char spec[GBOSE__MAX_SPEC];
    gbose *g;
    int rc;

    gbose__plan_run_spec(spec, plan, id);
    rc = gbose_new(&g, spec, 1, err);
    if (rc)
        return rc;
    if (gbose_round_features(g))
        rc = gbose__fail(err, GBOSE_ESPEC, "%s: worlds have no features of the round; leave out 'round'",
                         spec);
    gbose_free(g);
    return rc;
}

/* The canonical spec as an entry keeps it: without the swept option, but with a seed that was named, even
 * if it is the default one: without it the learner gets the study's. */
static int entry_spec(char *buf, const char *spec, const char *option, gbose_error *err)
{
    int rc = canonical_learner(buf, spec, option, err);
    size_t used = strlen(buf);

    if (!rc && strstr(spec, "seed=") && !strstr(buf, "seed="))
        snprintf(buf + used, GBOSE__MAX_SPEC - used, "%cseed=1", strchr(buf, ':') ? ',' : ':');
    return rc;
}

static int entry_fill(struct gbose__entry *e, const char *label, const char *option,
                      const char *const *values, size_t n_values)
{
    size_t n = option ? n_values : 1;

    e->label = strdup(label ? label : e->spec);
    e->option = option ? strdup(option) : NULL;
    e->value = calloc(n, sizeof *e->value);
    if (!e->label || (option && !e->option) || !e->value)
        return GBOSE_ENOMEM;
    for (; e->n_values < n; e->n_values++) {
        e->value[e->n_values] = strdup(option ? values[e->n_values] : "");
        if (!e->value[e->n_values])
            return GBOSE_ENOMEM;
    }
    return GBOSE_OK;
}

/* Tables and figures have one line for each. */
static int is_one_line(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 127)
            return 0;
    return 1;
}

/* Check entry number n_learners, which has been filled in and does not count yet. */
static int entry_check(const struct gbose__plan *plan, gbose_error *err)
{
    const struct gbose__entry *e = &plan->learner[plan->n_learners];
    int rc = GBOSE_OK;

    if (!*e->label || !is_one_line(e->label))
        return gbose__fail(err, GBOSE_ESPEC, "the label of a learner must be one line of text");
    for (size_t i = 0; i < plan->n_learners; i++)
        if (!strcmp(plan->learner[i].label, e->label))
            return gbose__fail(err, GBOSE_ESPEC, "learner '%s' is given twice", e->label);
    for (size_t v = 0; v < e->n_values && !e->joined && !rc; v++)
        rc = check_value(plan, plan->n_learners, v, err);
    return rc;
}

/* A learner by its canonical spec, or its name and callbacks. After a failure the plan is what it was. */
static int add_learner(struct gbose__plan *plan, const char *spec, const char *label, const char *option,
                       const char *const *values, size_t n_values, const gbose_study_learner *joined,
                       gbose_error *err)
{
    struct gbose__entry *e = grow(plan->learner, plan->n_learners, sizeof *e);
    int rc = GBOSE_OK;

    if (!e)
        return gbose__no_memory(err);
    plan->learner = e;
    e += plan->n_learners;
    memset(e, 0, sizeof *e);
    e->spec = strdup(spec);
    if (joined)
        e->joined = malloc(sizeof *e->joined);
    if (!e->spec || (joined && !e->joined) || entry_fill(e, label, option, values, n_values))
        rc = gbose__no_memory(err);
    if (!rc && joined) {
        *e->joined = *joined;
        e->joined->name = e->spec;
    }
    if (!rc)
        rc = entry_check(plan, err);
    if (rc)
        entry_clear(e);
    else
        plan->n_learners++;
    return rc;
}

int gbose__plan_add_learner(struct gbose__plan *plan, const char *spec, const char *label, const char *option,
                            const char *const *values, size_t n_values, gbose_error *err)
{
    char canonical[GBOSE__MAX_SPEC];
    int rc = entry_spec(canonical, spec, option, err);

    if (rc)
        return rc;
    if (option && !n_values)
        return gbose__fail(err, GBOSE_ESPEC, "no values of %s to sweep", option);
    return add_learner(plan, canonical, label, option, values, n_values, NULL, err);
}

int gbose__plan_join_learner(struct gbose__plan *plan, const gbose_study_learner *learner, gbose_error *err)
{
    if (!learner->name || !learner->begin || !learner->decide || !learner->learn)
        return gbose__fail(err, GBOSE_EINVAL, "a learner needs a name, begin, decide and learn");
    return add_learner(plan, learner->name, NULL, NULL, NULL, 0, learner, err);
}

void gbose__plan_set_fresh(struct gbose__plan *plan)
{
    plan->fresh = 0;
    for (size_t i = 0; i < plan->n_learners; i++)
        if (plan->learner[i].n_values > 1)
            plan->fresh = plan->reps;
}

int gbose__plan_sweep_learner(struct gbose__plan *plan, const char *spec, const char *label,
                              const char *option, const char *list, gbose_error *err)
{
    char *text = strdup(list);
    const char **values = calloc(strlen(list) + 1, sizeof *values);
    size_t n = 0;
    int rc;

    for (char *p = text; text && values && p; n++) {
        char *comma = strchr(p, ',');
        values[n] = p;
        if (comma)
            *comma++ = 0;
        p = comma;
    }
    rc = text && values ? gbose__plan_add_learner(plan, spec, label, option, values, n, err)
                        : gbose__no_memory(err);
    free(values);
    free(text);
    return rc;
}
