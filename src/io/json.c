#include "io/json.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/error.h"

json_t *gbose__json_parse(const char *text, size_t size, gbose_error *err)
{
    json_error_t at;
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &at);

    if (root)
        return root;
    if (json_error_code(&at) == json_error_out_of_memory)
        gbose__no_memory(err);
    else
        gbose__fail(err, GBOSE_EINVAL, "line %d, column %d: %s", at.line, at.column, at.text);
    return NULL;
}

const char *gbose__json_kind(const json_t *value)
{
    if (!value)
        return "missing";
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "a list";
    case JSON_STRING:
        return "a text";
    case JSON_INTEGER:
    case JSON_REAL:
        return "a number";
    case JSON_NULL:
        return "null";
    default:
        return "true or false";
    }
}

int gbose__json_wrong(const char *where, gbose_error *err, const char *format, ...)
{
    char words[200];
    va_list list;

    va_start(list, format);
    vsnprintf(words, sizeof words, format, list);
    va_end(list);
    return gbose__fail(err, GBOSE_EINVAL, "%s%s%s", where, *where ? ": " : "", words);
}

/* The value of a key, if it is there; else an error. */
static int get(const json_t **out, const json_t *object, const char *key, const char *wanted,
               const char *where, gbose_error *err)
{
    if (!json_is_object(object))
        return gbose__json_wrong(where, err, "must be an object, not %s", gbose__json_kind(object));
    *out = json_object_get(object, key);
    return *out ? GBOSE_OK : gbose__json_wrong(where, err, "'%s' is missing; it must be %s", key, wanted);
}

static int other(const char *key, const char *wanted, const json_t *value, const char *where,
                 gbose_error *err)
{
    return gbose__json_wrong(where, err, "'%s' must be %s, not %s", key, wanted, gbose__json_kind(value));
}

int gbose__json_text(const char **out, const json_t *object, const char *key, const char *where,
                     gbose_error *err)
{
    const json_t *value;
    int rc = get(&value, object, key, "a text", where, err);

    if (rc)
        return rc;
    if (!json_is_string(value))
        return other(key, "a text", value, where, err);
    *out = json_string_value(value);
    return GBOSE_OK;
}

int gbose__json_integer(int64_t *out, const json_t *object, const char *key, int64_t min, int64_t max,
                        const char *where, gbose_error *err)
{
    const json_t *value;
    char wanted[80];
    int rc;

    snprintf(wanted, sizeof wanted, "a whole number from %lld to %lld", (long long)min, (long long)max);
    rc = get(&value, object, key, wanted, where, err);
    if (rc)
        return rc;
    if (!json_is_integer(value))
        return other(key, wanted, value, where, err);
    if (json_integer_value(value) < min || json_integer_value(value) > max)
        return gbose__json_wrong(where, err, "'%s' must be %s; got %lld", key, wanted,
                                 (long long)json_integer_value(value));
    *out = json_integer_value(value);
    return GBOSE_OK;
}

int gbose__json_list(const json_t **out, const json_t *object, const char *key, size_t least,
                     const char *where, gbose_error *err)
{
    const json_t *value;
    int rc = get(&value, object, key, "a list", where, err);

    if (rc)
        return rc;
    if (!json_is_array(value))
        return other(key, "a list", value, where, err);
    if (json_array_size(value) < least)
        return gbose__json_wrong(where, err, "'%s' must have at least %zu %s", key, least,
                                 least == 1 ? "entry" : "entries");
    *out = value;
    return GBOSE_OK;
}
