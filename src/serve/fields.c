#include "serve/fields.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/names.h"

int gbose__problem(struct gbose__problem *p, int status, const char *code, const char *where,
                   const char *field, const char *format, ...)
{
    va_list list;

    p->status = status;
    p->code = code;
    snprintf(p->at, sizeof p->at, "%s%s%s", where, *where && *field && *field != '[' ? "." : "", field);
    va_start(list, format);
    vsnprintf(p->message, sizeof p->message, format, list);
    va_end(list);
    return -1;
}

/* "a text or a number" */
static void describe(char *buf, size_t size, unsigned kinds)
{
    static const struct {
        unsigned bits;
        const char *name;
    } names[] = {{GBOSE__IS_FLAG, "true or false"},
                 {GBOSE__IS(GBOSE__NUMBER), "a number"},
                 {GBOSE__IS(GBOSE__TEXT), "a text"},
                 {GBOSE__IS(GBOSE__LIST), "a list"},
                 {GBOSE__IS(GBOSE__OBJECT), "an object"}};
    size_t used = 0;

    buf[0] = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names && used < size; i++)
        if (kinds & names[i].bits)
            used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? " or " : "", names[i].name);
}

static int unknown(const struct gbose__document *d, uint32_t name, const struct gbose__field *fields,
                   size_t n, const char *where, struct gbose__problem *p)
{
    const char *names[32] = {""};
    char text[64];
    size_t size = d->value[name].end - d->value[name].begin;

    if (size >= sizeof text)
        return gbose__problem(p, 400, "unknown_field", where, "",
                              "a field with a name of %zu bytes is not known", size);
    gbose__document_text(d, name, text);
    for (size_t i = 0; i < n; i++)
        names[i] = fields[i].name;
    return gbose__problem(p, 400, "unknown_field", where, text, "there is no field '%s'; did you mean '%s'?",
                          text, gbose__names_nearest(text, names, n));
}

int gbose__fields_read(const struct gbose__document *d, uint32_t object, struct gbose__field *fields,
                       size_t n, const char *where, struct gbose__problem *p)
{
    uint32_t seen = 0;
    char accepts[100];

    if (d->value[object].kind != GBOSE__OBJECT)
        return gbose__problem(p, 400, "not_an_object", where, "", "this must be an object, not %s",
                              gbose__document_kind(d, object));
    for (size_t i = 0; i < n; i++)
        fields[i].at = 0;
    for (uint32_t at = object + 1; at < d->value[object].next; at = d->value[at + 1].next) {
        size_t i = 0;

        while (i < n && !gbose__document_is(d, at, fields[i].name))
            i++;
        if (i == n)
            return unknown(d, at, fields, n, where, p);
        if (seen & 1u << i)
            return gbose__problem(p, 400, "twice", where, fields[i].name, "'%s' is given twice",
                                  fields[i].name);
        seen |= 1u << i;
        if (d->value[at + 1].kind == GBOSE__NULL)
            continue;
        if (!(fields[i].kinds & GBOSE__IS(d->value[at + 1].kind))) {
            describe(accepts, sizeof accepts, fields[i].kinds);
            return gbose__problem(p, 400, "wrong_type", where, fields[i].name, "'%s' must be %s, not %s",
                                  fields[i].name, accepts, gbose__document_kind(d, at + 1));
        }
        fields[i].at = at + 1;
    }
    for (size_t i = 0; i < n; i++)
        if (fields[i].needed && !fields[i].at)
            return gbose__problem(p, 400, "missing", where, fields[i].name, "'%s' is missing",
                                  fields[i].name);
    return 0;
}

int gbose__fields_number(const struct gbose__document *d, uint32_t at, double min, double max, double *out,
                         const char *where, const char *field, struct gbose__problem *p)
{
    double x;

    if (d->value[at].kind != GBOSE__NUMBER)
        return gbose__problem(p, 400, "wrong_type", where, field, "'%s' must be a number, not %s", field,
                              gbose__document_kind(d, at));
    if (gbose__document_number(d, at, &x) || x < min || x > max)
        return gbose__problem(p, 400, "out_of_range", where, field, "'%s' must be a number from %g to %g",
                              field, min, max);
    *out = x;
    return 0;
}
