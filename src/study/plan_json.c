#include "study/plan_json.h"

#include <jansson.h>
#include <stdlib.h>

#include "core/spec.h"

/* A hash of the sources that results depend on, from the build: runs of other code are not taken for these. */
#ifndef GBOSE_CODE
#define GBOSE_CODE "unknown"
#endif

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
