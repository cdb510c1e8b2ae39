#include "io/features.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "io/json.h"

#define CHUNK 4096   /* bytes of names and values taken at a time; more for what needs more */
#define MAX_NAME 400 /* bytes of a full name: longer than any that a schema can use */
#define MAX_DEPTH 16 /* of objects within objects */

/* ---- memory ---- */

struct gbose__feature_chunk {
    struct gbose__feature_chunk *next;
    size_t used, room;
};

static void *take(struct gbose__round_features *f, size_t count, size_t size)
{
    struct gbose__feature_chunk *c = f->chunks;
    size_t bytes = (count * size + 15) / 16 * 16;
    void *p;

    if (!c || c->room - c->used < bytes) {
        size_t room = bytes > CHUNK ? bytes : CHUNK;

        c = malloc(sizeof *c + room);
        if (!c)
            return NULL;
        c->used = 0;
        c->room = room;
        c->next = f->chunks;
        f->chunks = c;
    }
    p = (char *)(c + 1) + c->used;
    c->used += bytes;
    return p;
}

static char *take_text(struct gbose__round_features *f, const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = take(f, n, 1);

    return copy ? memcpy(copy, text, n) : NULL;
}

/* Free the chunks but for one, which is used again. */
static void empty(struct gbose__round_features *f)
{
    while (f->chunks && f->chunks->next) {
        struct gbose__feature_chunk *next = f->chunks->next;

        free(f->chunks);
        f->chunks = next;
    }
    if (f->chunks)
        f->chunks->used = 0;
}

void gbose__features_clear(struct gbose__round_features *f)
{
    empty(f);
    free(f->chunks);
    free(f->feature);
    free(f->first);
    free(f->actions);
    memset(f, 0, sizeof *f);
}

/* ---- lists of features ---- */

static int begin_list(struct gbose__round_features *f, gbose_error *err)
{
    if (f->n_lists == f->list_room) {
        size_t room = f->list_room ? 2 * f->list_room : 16;
        size_t *first = realloc(f->first, room * sizeof *first);
        gbose_features *actions;

        if (!first)
            return gbose__no_memory(err);
        f->first = first;
        actions = realloc(f->actions, room * sizeof *actions);
        if (!actions)
            return gbose__no_memory(err);
        f->actions = actions;
        f->list_room = room;
    }
    f->first[f->n_lists++] = f->n_features;
    return GBOSE_OK;
}

/* A further feature, all zero but for its name; NULL: out of memory. */
static gbose_feature *add(struct gbose__round_features *f, const char *name)
{
    gbose_feature *to;

    if (f->n_features == f->feature_room) {
        size_t room = f->feature_room ? 2 * f->feature_room : 64;

        to = realloc(f->feature, room * sizeof *to);
        if (!to)
            return NULL;
        f->feature = to;
        f->feature_room = room;
    }
    to = &f->feature[f->n_features];
    memset(to, 0, sizeof *to);
    to->name = take_text(f, name);
    if (!to->name)
        return NULL;
    f->n_features++;
    return to;
}

static int begin_round(struct gbose__round_features *f, gbose_error *err)
{
    empty(f);
    f->n_features = f->n_lists = f->n_arms = 0;
    return begin_list(f, err);
}

static int end_round(struct gbose__round_features *f, gbose_error *err)
{
    f->n_arms = f->n_lists - 1;
    for (size_t i = 0; i < f->n_lists; i++) {
        size_t end = i + 1 < f->n_lists ? f->first[i + 1] : f->n_features;
        gbose_features *list = i ? &f->actions[i - 1] : &f->shared;

        list->at = f->feature + f->first[i];
        list->n = end - f->first[i];
    }
    return err ? gbose__fail(err, GBOSE_OK, "%s", "") : GBOSE_OK;
}

/* ---- JSON ---- */

static int list_wrong(const char *where, gbose_error *err)
{
    return gbose__json_wrong(where, err, "a list must be all numbers or all texts");
}

static const char *word_of(const json_t *value)
{
    return json_is_true(value) ? "true" : json_is_false(value) ? "false" : json_string_value(value);
}

static int read_list(struct gbose__round_features *f, gbose_feature *to, const json_t *list,
                     const char *where, gbose_error *err)
{
    size_t n = json_array_size(list);
    int numbers = n && json_is_number(json_array_get(list, 0));
    double *number = numbers ? take(f, n, sizeof *number) : NULL;
    const char **text = numbers ? NULL : take(f, n + 1, sizeof *text);

    if (!number && !text)
        return gbose__no_memory(err);
    for (size_t i = 0; i < n; i++) {
        const json_t *value = json_array_get(list, i);

        if (numbers) {
            if (!json_is_number(value))
                return list_wrong(where, err);
            number[i] = json_number_value(value);
            continue;
        }
        if (!word_of(value))
            return list_wrong(where, err);
        text[i] = take_text(f, word_of(value));
        if (!text[i])
            return gbose__no_memory(err);
    }
    to->kind = numbers ? GBOSE_FEATURE_NUMBERS : GBOSE_FEATURE_TEXTS;
    to->n = n;
    if (numbers)
        to->as.numbers = number;
    else
        to->as.texts = text;
    return GBOSE_OK;
}

static int read_object(struct gbose__round_features *f, const char *scope, json_t *object, const char *where,
                       int depth, gbose_error *err);

/* `name` is the feature's full name, `where` its place in the document. */
static int read_value(struct gbose__round_features *f, const char *name, json_t *value, const char *where,
                      int depth, gbose_error *err)
{
    gbose_feature *to;

    if (json_is_object(value))
        return read_object(f, name, value, where, depth + 1, err);
    to = add(f, name);
    if (!to)
        return gbose__no_memory(err);
    if (json_is_array(value))
        return read_list(f, to, value, where, err);
    if (json_is_number(value)) {
        to->kind = GBOSE_FEATURE_NUMBER;
        to->as.number = json_number_value(value);
    } else if (!json_is_null(value)) {
        to->kind = GBOSE_FEATURE_TEXT;
        to->as.text = take_text(f, word_of(value));
        if (!to->as.text)
            return gbose__no_memory(err);
    }
    return GBOSE_OK;
}

static int read_object(struct gbose__round_features *f, const char *scope, json_t *object, const char *where,
                       int depth, gbose_error *err)
{
    const char *key;
    json_t *value;
    int rc = GBOSE_OK;

    if (depth > MAX_DEPTH)
        return gbose__json_wrong(where, err, "objects are nested more than %d deep", MAX_DEPTH);
    json_object_foreach(object, key, value)
    {
        char name[MAX_NAME], place[MAX_NAME];

        if ((size_t)snprintf(name, sizeof name, "%s.%s", scope, key) >= sizeof name)
            return gbose__json_wrong(where, err, "a name is longer than %d bytes", MAX_NAME - 1);
        snprintf(place, sizeof place, "%s.%s", where, key);
        rc = read_value(f, name, value, place, depth, err);
        if (rc)
            break;
    }
    return rc;
}

static int read_actions(struct gbose__round_features *f, const json_t *actions, gbose_error *err)
{
    int rc = GBOSE_OK;

    if (!json_is_array(actions))
        return gbose__json_wrong("", err, "'actions' must be a list, not %s", gbose__json_kind(actions));
    for (size_t i = 0; i < json_array_size(actions) && !rc; i++) {
        json_t *action = json_array_get(actions, i);
        char where[40];

        snprintf(where, sizeof where, "actions[%zu]", i);
        rc = begin_list(f, err);
        if (rc)
            return rc;
        if (json_is_object(action))
            rc = read_object(f, "action", action, where, 1, err);
        else if (json_is_string(action) || json_is_number(action))
            rc = read_value(f, "action.id", action, where, 1, err);
        else
            rc = gbose__json_wrong(
                where, err, "an action is an object of features, or a text or number that names it; not %s",
                gbose__json_kind(action));
    }
    return rc;
}

int gbose__features_from_json(struct gbose__round_features *f, const json_t *record, gbose_error *err)
{
    const json_t *actions = json_object_get(record, "actions");
    const char *key;
    json_t *value;
    int rc;

    if (!json_is_object(record))
        return gbose__json_wrong("", err, "a round must be an object, not %s", gbose__json_kind(record));
    rc = begin_round(f, err);
    json_object_foreach((json_t *)(uintptr_t)record, key, value)
    {
        if (rc)
            return rc;
        if (json_is_object(value) && strcmp(key, "actions"))
            rc = read_object(f, key, value, key, 1, err);
    }
    if (!rc && actions && !json_is_null(actions))
        rc = read_actions(f, actions, err);
    return rc ? rc : end_round(f, err);
}
