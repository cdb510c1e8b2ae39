#include "study/plan_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "io/file.h"
#include "io/json.h"

#define MOST_ROUNDS INT64_C(1000000000000)
#define MOST_REPS 1000000

/* Put the place of an error before what was said about it. */
static int at(const char *where, int rc, gbose_error *err)
{
    char said[sizeof err->text];

    if (!rc || !err)
        return rc;
    memcpy(said, err->text, sizeof said);
    return gbose__fail(err, rc, "%s: %s", where, said);
}

static int own(const json_t *entry, const char *where, gbose_error *err)
{
    const char *name = json_string_value(json_object_get(entry, "own"));

    return name
               ? gbose__json_wrong(where, err, "'%s' is a program's own: only that program can play it", name)
               : GBOSE_OK;
}

static int read_world(struct gbose__plan *plan, const json_t *entry, const char *where, gbose_error *err)
{
    int rc = own(entry, where, err);

    if (rc)
        return rc;
    if (!json_is_string(entry))
        return gbose__json_wrong(where, err, "must be a text, not %s", gbose__json_kind(entry));
    return at(where, gbose__plan_add_world(plan, json_string_value(entry), err), err);
}

static int read_learner(struct gbose__plan *plan, const json_t *entry, const char *where, gbose_error *err)
{
    const char *label = NULL, *spec = NULL, *option = NULL, **text;
    const json_t *values = NULL;
    size_t n;
    int rc = own(entry, where, err);

    if (!rc)
        rc = gbose__json_text(&label, entry, "label", where, err);
    if (!rc)
        rc = gbose__json_text(&spec, entry, "spec", where, err);
    if (!rc && json_object_get(entry, "sweep"))
        rc = gbose__json_text(&option, entry, "sweep", where, err);
    if (!rc)
        rc = gbose__json_list(&values, entry, "values", option ? 1 : 0, where, err);
    if (rc)
        return rc;
    n = json_array_size(values);
    text = calloc(n + 1, sizeof *text);
    if (!text)
        return gbose__no_memory(err);
    for (size_t v = 0; v < n && !rc; v++) {
        text[v] = json_string_value(json_array_get(values, v));
        if (!text[v])
            rc = gbose__json_wrong(where, err, "value %zu must be a text, not %s", v + 1,
                                   gbose__json_kind(json_array_get(values, v)));
    }
    if (!rc)
        rc = at(where, gbose__plan_add_learner(plan, spec, label, option, text, n, err), err);
    free(text);
    return rc;
}

static int read_entries(struct gbose__plan *plan, const json_t *list, const char *name,
                        int (*read)(struct gbose__plan *, const json_t *, const char *, gbose_error *),
                        gbose_error *err)
{
    int rc = GBOSE_OK;

    for (size_t i = 0; i < json_array_size(list) && !rc; i++) {
        char where[40];

        snprintf(where, sizeof where, "%s[%zu]", name, i);
        rc = read(plan, json_array_get(list, i), where, err);
    }
    return rc;
}

static int read_plan(struct gbose__plan **out, const json_t *root, gbose_error *err)
{
    const json_t *worlds = NULL, *learners = NULL;
    int64_t rounds = 0, reps = 0, fresh = 0, seed = 0;
    struct gbose__plan *plan = NULL;
    const char *name = NULL;
    int rc = gbose__json_text(&name, root, "study", "", err);

    if (!rc)
        rc = gbose__json_list(&worlds, root, "worlds", 1, "", err);
    if (!rc)
        rc = gbose__json_list(&learners, root, "learners", 1, "", err);
    if (!rc)
        rc = gbose__json_integer(&rounds, root, "rounds", 1, MOST_ROUNDS, "", err);
    if (!rc)
        rc = gbose__json_integer(&reps, root, "repetitions", 1, MOST_REPS, "", err);
    if (!rc)
        rc = gbose__json_integer(&fresh, root, "fresh", 0, MOST_REPS, "", err);
    if (!rc)
        rc = gbose__json_integer(&seed, root, "seed", 0, INT64_MAX, "", err);
    if (!rc && !(plan = gbose__plan_new(name, (uint64_t)rounds, (size_t)reps, (uint64_t)seed)))
        rc = gbose__no_memory(err);
    if (!rc)
        rc = read_entries(plan, worlds, "worlds", read_world, err);
    if (!rc)
        rc = read_entries(plan, learners, "learners", read_learner, err);
    if (rc) {
        gbose__plan_free(plan);
        return rc;
    }
    plan->fresh = (size_t)fresh;
    *out = plan;
    return GBOSE_OK;
}

struct gbose__plan *gbose__plan_json_read(const char *text, gbose_error *err)
{
    json_t *root = gbose__json_parse(text, strlen(text), err);
    struct gbose__plan *plan = NULL;

    if (root && read_plan(&plan, root, err))
        plan = NULL;
    json_decref(root);
    return plan;
}

struct gbose__plan *gbose__plan_json_load(const char *path, gbose_error *err)
{
    struct gbose__plan *plan = NULL;
    char *text;
    size_t size;

    if (gbose__file_read(&text, &size, path, err))
        return NULL;
    plan = gbose__plan_json_read(text, err);
    if (!plan)
        at(path, err ? err->code : GBOSE_EINVAL, err);
    free(text);
    return plan;
}
