#include "study/plan.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "learners/learner.h"
#include "study/file.h"
#include "worlds/world.h"

#define CURVE_POINTS 200

/* A hash of the sources that results depend on, from the build: runs of other code are not taken for these. */
#ifndef GBOSE_CODE
#define GBOSE_CODE "unknown"
#endif

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

size_t gbose__run_index(const struct gbose__plan *plan, struct gbose__run_id id)
{
    size_t values = values_before(plan, plan->n_learners);

    return (id.world * values + values_before(plan, id.learner) + id.value) * all_reps(plan) + id.rep;
}

struct gbose__run_id gbose__run_at(const struct gbose__plan *plan, size_t index)
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

void gbose__run_spec(char *buf, const struct gbose__plan *plan, struct gbose__run_id id)
{
    const struct gbose__entry *e = &plan->learner[id.learner];

    if (e->option)
        snprintf(buf, GBOSE__MAX_SPEC, "%s%c%s=%s", e->spec, strchr(e->spec, ':') ? ',' : ':', e->option,
                 e->value[id.value]);
    else
        snprintf(buf, GBOSE__MAX_SPEC, "%s", e->spec);
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
}

void gbose__plan_free(struct gbose__plan *plan)
{
    if (!plan)
        return;
    for (size_t i = 0; i < plan->n_worlds; i++)
        free(plan->world[i]);
    for (size_t i = 0; i < plan->n_learners; i++)
        entry_clear(&plan->learner[i]);
    free(plan->world);
    free(plan->learner);
    free(plan->point);
    free(plan->name);
    free(plan);
}

int gbose__plan_add_world(struct gbose__plan *plan, const char *spec, gbose_error *err)
{
    char canonical[GBOSE__MAX_SPEC];
    char **more;
    int rc = gbose__world_canonical(canonical, spec, err);

    if (rc)
        return rc;
    for (size_t i = 0; i < plan->n_worlds; i++)
        if (!strcmp(plan->world[i], canonical))
            return gbose__fail(err, GBOSE_ESPEC, "world '%s' is given twice", canonical);
    more = grow(plan->world, plan->n_worlds, sizeof *more);
    if (!more)
        return gbose__no_memory(err);
    plan->world = more;
    plan->world[plan->n_worlds] = strdup(canonical);
    if (!plan->world[plan->n_worlds])
        return gbose__no_memory(err);
    plan->n_worlds++;
    return GBOSE_OK;
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

int gbose__learner_has(const char *spec, const char *option)
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

    gbose__run_spec(spec, plan, id);
    rc = gbose_new(&g, spec, 1, err);
    if (rc)
        return rc;
    if (gbose_round_features(g))
        rc = gbose__fail(err, GBOSE_ESPEC, "%s: worlds have no features of the round; leave out 'round'",
                         spec);
    gbose_free(g);
    return rc;
}

/* The canonical spec as an entry keeps it: without the swept option, but with a seed that was named, even if it is
 * the default one: without it the learner gets the study's. */
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

int gbose__plan_add_learner(struct gbose__plan *plan, const char *spec, const char *label, const char *option,
                            const char *const *values, size_t n_values, gbose_error *err)
{
    char canonical[GBOSE__MAX_SPEC];
    struct gbose__entry *more, *e;
    int rc = entry_spec(canonical, spec, option, err);

    if (rc)
        return rc;
    if (option && !n_values)
        return gbose__fail(err, GBOSE_ESPEC, "no values of %s to sweep", option);
    more = grow(plan->learner, plan->n_learners, sizeof *more);
    if (!more)
        return gbose__no_memory(err);
    plan->learner = more;
    e = &plan->learner[plan->n_learners];
    memset(e, 0, sizeof *e);
    plan->n_learners++;
    e->spec = strdup(canonical);
    if (!e->spec || entry_fill(e, label, option, values, n_values))
        return gbose__no_memory(err);
    for (size_t i = 0; i + 1 < plan->n_learners; i++)
        if (!strcmp(plan->learner[i].label, e->label))
            return gbose__fail(err, GBOSE_ESPEC, "learner '%s' is given twice", e->label);
    for (size_t v = 0; v < e->n_values && !rc; v++)
        rc = check_value(plan, plan->n_learners - 1, v, err);
    return rc;
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

/* ---- JSON ---- */

char *gbose__plan_write(const struct gbose__plan *plan)
{
    json_t *root = json_object(), *worlds = json_array(), *learners = json_array();
    char *text;

    for (size_t i = 0; i < plan->n_worlds; i++)
        json_array_append_new(worlds, json_string(plan->world[i]));
    for (size_t i = 0; i < plan->n_learners; i++) {
        const struct gbose__entry *e = &plan->learner[i];
        json_t *entry = json_object(), *values = json_array();

        for (size_t v = 0; e->option && v < e->n_values; v++)
            json_array_append_new(values, json_string(e->value[v]));
        json_object_set_new(entry, "label", json_string(e->label));
        json_object_set_new(entry, "spec", json_string(e->spec));
        if (e->option)
            json_object_set_new(entry, "sweep", json_string(e->option));
        json_object_set_new(entry, "values", values);
        json_array_append_new(learners, entry);
    }
    json_object_set_new(root, "gbose", json_string(gbose_version()));
    json_object_set_new(root, "code", json_string(GBOSE_CODE));
    json_object_set_new(root, "study", json_string(plan->name));
    json_object_set_new(root, "worlds", worlds);
    json_object_set_new(root, "learners", learners);
    json_object_set_new(root, "rounds", json_integer((json_int_t)plan->rounds));
    json_object_set_new(root, "repetitions", json_integer((json_int_t)plan->reps));
    json_object_set_new(root, "fresh", json_integer((json_int_t)plan->fresh));
    json_object_set_new(root, "seed", json_integer((json_int_t)plan->seed));
    text = json_dumps(root, JSON_INDENT(2));
    json_decref(root);
    return text;
}

static int read_learner(struct gbose__plan *plan, const json_t *entry, gbose_error *err)
{
    const char *label = json_string_value(json_object_get(entry, "label"));
    const char *spec = json_string_value(json_object_get(entry, "spec"));
    const char *option = json_string_value(json_object_get(entry, "sweep"));
    const json_t *values = json_object_get(entry, "values");
    size_t n = json_array_size(values);
    const char **text;
    int rc = GBOSE_OK;

    if (!spec || !label)
        return gbose__fail(err, GBOSE_ESPEC, "a learner without a spec or a label");
    text = calloc(n + 1, sizeof *text);
    if (!text)
        return gbose__no_memory(err);
    for (size_t v = 0; v < n && !rc; v++) {
        text[v] = json_string_value(json_array_get(values, v));
        if (!text[v])
            rc = gbose__fail(err, GBOSE_ESPEC, "a value that is no text");
    }
    if (!rc)
        rc = gbose__plan_add_learner(plan, spec, label, option, text, n, err);
    free(text);
    return rc;
}

struct gbose__plan *gbose__plan_read(const char *text, gbose_error *err)
{
    json_error_t where;
    json_t *root = json_loads(text, 0, &where);
    const json_t *worlds = json_object_get(root, "worlds"), *learners = json_object_get(root, "learners");
    const char *name = json_string_value(json_object_get(root, "study"));
    json_int_t rounds = json_integer_value(json_object_get(root, "rounds"));
    json_int_t reps = json_integer_value(json_object_get(root, "repetitions"));
    json_int_t fresh = json_integer_value(json_object_get(root, "fresh"));
    json_int_t seed = json_integer_value(json_object_get(root, "seed"));
    struct gbose__plan *plan = NULL;
    int rc = GBOSE_OK;

    if (!root)
        rc = gbose__fail(err, GBOSE_ESPEC, "line %d: %s", where.line, where.text);
    else if (!name || rounds < 1 || reps < 1 || fresh < 0 || !json_array_size(worlds) ||
             !json_array_size(learners))
        rc = gbose__fail(err, GBOSE_ESPEC, "not the description of a study");
    else if (!(plan = gbose__plan_new(name, (uint64_t)rounds, (size_t)reps, (uint64_t)seed)))
        rc = gbose__no_memory(err);
    for (size_t i = 0; i < json_array_size(worlds) && !rc; i++) {
        const char *spec = json_string_value(json_array_get(worlds, i));
        rc = spec ? gbose__plan_add_world(plan, spec, err)
                  : gbose__fail(err, GBOSE_ESPEC, "a world that is no text");
    }
    for (size_t i = 0; i < json_array_size(learners) && !rc; i++)
        rc = read_learner(plan, json_array_get(learners, i), err);
    if (plan)
        plan->fresh = (size_t)fresh;
    json_decref(root);
    if (rc) {
        gbose__plan_free(plan);
        return NULL;
    }
    return plan;
}

/* ---- results ---- */

struct gbose__study *gbose__study_new(struct gbose__plan *plan)
{
    struct gbose__study *study = calloc(1, sizeof *study);

    if (!study)
        return NULL;
    study->plan = plan;
    study->n_runs = gbose__plan_runs(plan);
    study->result = calloc(study->n_runs, sizeof *study->result);
    if (!study->result) {
        free(study);
        return NULL;
    }
    return study;
}

void gbose__study_free(struct gbose__study *study)
{
    if (!study)
        return;
    for (size_t i = 0; i < study->n_runs; i++)
        free(study->result[i].curve);
    free(study->result);
    gbose__plan_free(study->plan);
    free(study);
}
