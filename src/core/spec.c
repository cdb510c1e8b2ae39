#include "core/spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/decimal.h"
#include "core/names.h"

/* ---- values ---- */

static int read_integer(uint64_t *out, const char *text)
{
    uint64_t n = 0;

    if (!*text)
        return 0;
    for (; *text; text++) {
        unsigned digit = (unsigned)(*text - '0');
        if (digit > 9 || n > (UINT64_MAX - digit) / 10)
            return 0;
        n = 10 * n + digit;
    }
    *out = n;
    return 1;
}

/* The position of text in a list "one|two|three", or -1. */
static int find_word(const char *words, const char *text)
{
    size_t length = strlen(text);
    int i = 0;

    while (words) {
        size_t n = strcspn(words, "|");
        if (n == length && !memcmp(words, text, n))
            return i;
        words = words[n] ? words + n + 1 : NULL;
        i++;
    }
    return -1;
}

static void write_word(char *buf, size_t capacity, const char *words, int i)
{
    while (i--)
        words += strcspn(words, "|") + 1;
    snprintf(buf, capacity, "%.*s", (int)strcspn(words, "|"), words);
}

/* ---- what an option accepts, in words ---- */

static int describe(char *buf, size_t capacity, const gbose_option *o, int with_range)
{
    char text[256];
    size_t used = 0;

#define ADD(...)                                                                                             \
    do {                                                                                                     \
        if (used < sizeof text) {                                                                            \
            int more = snprintf(text + used, sizeof text - used, __VA_ARGS__);                               \
            used += more > 0 ? (size_t)more : 0;                                                             \
        }                                                                                                    \
    } while (0)
    text[0] = 0;
    if (o->type == GBOSE_POSITIVE && !with_range)
        ADD("a positive number");
    else if (o->type == GBOSE_POSITIVE || o->type == GBOSE_NUMBER)
        ADD("a number from %g to %g", o->min, o->max);
    else if (o->type == GBOSE_INTEGER && o->max >= 18446744073709551615.0)
        ADD("a whole number from %g to 2^64 - 1", o->min);
    else if (o->type == GBOSE_INTEGER)
        ADD("a whole number from %.0f to %.0f", o->min, o->max);
    for (const char *w = o->words; w;) {
        size_t n = strcspn(w, "|");
        const char *next = w[n] ? w + n + 1 : NULL;
        ADD("%s'%.*s'", !used ? "" : next ? ", " : " or ", (int)n, w);
        w = next;
    }
#undef ADD
    return snprintf(buf, capacity, "%s", text);
}

int gbose_option_accepts(char *buf, size_t capacity, const gbose_option *option)
{
    struct gbose__decimal point;
    int switched = !gbose__decimal_begin(&point), length = describe(buf, capacity, option, 0);

    if (switched)
        gbose__decimal_end(&point);
    return length;
}

/* ---- reading ---- */

static int read_value(struct gbose__value *v, const gbose_option *o, const char *text, gbose_error *err)
{
    char accepts[200];
    int is_number = 0, in_range = 0;

    v->number = 0;
    v->integer = 0;
    v->word = find_word(o->words, text);
    if (v->word >= 0)
        return GBOSE_OK;
    if (o->type == GBOSE_INTEGER) {
        is_number = read_integer(&v->integer, text);
        in_range = is_number && (double)v->integer >= o->min && (double)v->integer <= o->max;
    } else if (o->type != GBOSE_WORD) {
        is_number = gbose__decimal_read(&v->number, text);
        in_range = is_number && v->number >= o->min && v->number <= o->max;
    }
    if (in_range)
        return GBOSE_OK;
    describe(accepts, sizeof accepts, o, is_number && v->number > 0);
    return gbose__fail(err, GBOSE_ESPEC, "%s must be %s; got '%.40s'", o->name, accepts, text);
}

/* ---- finding names ---- */

static const char *option_name(const void *info, size_t i)
{
    const gbose_info *list = info;

    return i < list->n_options ? list->options[i].name : NULL;
}

static const char *entry_name(const void *catalog, size_t i)
{
    const gbose_info *info = ((const struct gbose__catalog *)catalog)->at(i);

    return info ? info->name : NULL;
}

/* The position of a name in a list that `at` walks. `found`: 1 if it is there; -1 if not, and the position
 * is that of a name that may be meant; 0 if there is none of these either. */
static size_t find_name(int *found, const char *name, const char *(*at)(const void *, size_t),
                        const void *list)
{
    const char *other;
    size_t nearest = 0, best = SIZE_MAX;

    *found = 0;
    for (size_t i = 0; (other = at(list, i)); i++) {
        size_t distance = gbose__names_distance(name, other);
        if (distance < best && gbose__names_near(name, other)) {
            best = distance;
            nearest = i;
            *found = distance ? -1 : 1;
        }
    }
    return nearest;
}

/* The names of a list, with commas, as many as fit. */
static void list_names(char *buf, size_t capacity, const char *(*at)(const void *, size_t), const void *list)
{
    const char *name;
    size_t used = 0;

    for (size_t i = 0; (name = at(list, i)); i++) {
        if (used + strlen(name) + 8 > capacity) {
            snprintf(buf + used, capacity - used, ", ...");
            return;
        }
        used += (size_t)snprintf(buf + used, capacity - used, "%s%s", i ? ", " : "", name);
    }
}

size_t gbose__option_index(const gbose_info *info, const char *name)
{
    size_t i = 0;

    while (i < info->n_options && strcmp(info->options[i].name, name) != 0)
        i++;
    return i < info->n_options ? i : SIZE_MAX;
}

/* ---- whole specs ---- */

/* `near`: the name that may be meant, or NULL. */
static int unknown_option(const char *text, const char *near, const gbose_info *info, gbose_error *err)
{
    char names[160] = "";

    if (near)
        return gbose__fail(err, GBOSE_ESPEC, "%s has no option '%.40s'; did you mean '%s'?", info->name, text,
                           near);
    list_names(names, sizeof names, option_name, info);
    return gbose__fail(err, GBOSE_ESPEC, "%s has no option '%.40s'; it has %s", info->name, text, names);
}

/* "OPTION=VALUE,OPTION=VALUE"; text is cut to pieces. */
static int read_options(struct gbose__value *values, char *text, const gbose_info *info, gbose_error *err)
{
    unsigned seen = 0;

    if (text && !info->n_options)
        return gbose__fail(err, GBOSE_ESPEC, "%s takes no options; got '%.40s'", info->name, text);
    while (text) {
        char *next = strchr(text, ','), *value;
        size_t i;
        int rc, found;

        if (next)
            *next++ = 0;
        value = strchr(text, '=');
        if (!value)
            return gbose__fail(err, GBOSE_ESPEC, "expected OPTION=VALUE after '%s:'; got '%.40s'", info->name,
                               text);
        *value++ = 0;
        i = find_name(&found, text, option_name, info);
        if (found < 1)
            return unknown_option(text, found ? info->options[i].name : NULL, info, err);
        if (seen >> i & 1)
            return gbose__fail(err, GBOSE_ESPEC, "option '%s' is given twice", text);
        seen |= 1u << i;
        rc = read_value(&values[i], &info->options[i], value, err);
        if (rc)
            return rc;
        text = next;
    }
    return GBOSE_OK;
}

/* The name is cut at the first character that no name has, to see whether a wrong one stands for the
 * colon, or between two names. `near`: the name that may be meant, or NULL. */
static int unknown_name(const char *text, const char *near, const struct gbose__catalog *catalog,
                        gbose_error *err)
{
    size_t length = strcspn(text, ",; =");
    const char *rest = text[length] ? text + length + 1 : "";
    char head[GBOSE__MAX_SPEC], names[160] = "";
    int found, again;

    memcpy(head, text, length);
    head[length] = 0;
    find_name(&found, head, entry_name, catalog);
    if (found > 0 && *rest) {
        memcpy(names, rest, strcspn(rest, ",; =:") < sizeof names ? strcspn(rest, ",; =:") : 0);
        find_name(&again, names, entry_name, catalog);
        if (again > 0)
            return gbose__fail(err, GBOSE_ESPEC, "unknown %s '%.40s'; give %ss one by one: %s %.40s",
                               catalog->noun, text, catalog->noun, head, rest);
        return gbose__fail(err, GBOSE_ESPEC, "unknown %s '%.40s'; did you mean '%s:%.40s'?", catalog->noun,
                           text, head, rest);
    }
    if (found > 0 || near)
        return gbose__fail(err, GBOSE_ESPEC, "unknown %s '%.40s'; did you mean '%s'?", catalog->noun, text,
                           found > 0 ? head : near);
    list_names(names, sizeof names, entry_name, catalog);
    return gbose__fail(err, GBOSE_ESPEC, "unknown %s '%.40s'; there are %s", catalog->noun, text, names);
}

int gbose__spec_parse(size_t *which, struct gbose__value *values, const char *spec,
                      const struct gbose__catalog *catalog, gbose_error *err)
{
    char text[GBOSE__MAX_SPEC], *options;
    struct gbose__value parsed[GBOSE__MAX_OPTIONS];
    const gbose_info *info;
    struct gbose__decimal point;
    size_t entry;
    int rc = GBOSE_OK, found;

    if (strlen(spec) >= sizeof text)
        return gbose__fail(err, GBOSE_ESPEC, "the spec is longer than %d characters", GBOSE__MAX_SPEC - 1);
    memcpy(text, spec, strlen(spec) + 1);
    options = strchr(text, ':');
    if (options)
        *options++ = 0;
    entry = find_name(&found, text, entry_name, catalog);
    info = catalog->at(entry);
    if (found < 1)
        return unknown_name(text, found ? info->name : NULL, catalog, err);

    if (gbose__decimal_begin(&point))
        return gbose__no_memory(err);
    for (size_t i = 0; i < info->n_options && !rc; i++)
        rc = read_value(&parsed[i], &info->options[i], info->options[i].value, err);
    if (!rc)
        rc = read_options(parsed, options, info, err);
    gbose__decimal_end(&point);
    if (rc)
        return rc;
    memcpy(values, parsed, info->n_options * sizeof *values);
    *which = entry;
    return GBOSE_OK;
}

int gbose__spec_write(char *buf, const gbose_info *info, const struct gbose__value *values, const char *skip)
{
    struct gbose__decimal point;
    size_t used;
    char separator = ':';

    if (gbose__decimal_begin(&point))
        return GBOSE_ENOMEM;
    used = (size_t)snprintf(buf, GBOSE__MAX_SPEC, "%s", info->name);
    for (size_t i = 0; i < info->n_options; i++) {
        const gbose_option *o = &info->options[i];
        struct gbose__value standard;
        char text[64];

        read_value(&standard, o, o->value, NULL);
        if ((skip && !strcmp(o->name, skip)) ||
            (values[i].word == standard.word && values[i].number == standard.number &&
             values[i].integer == standard.integer))
            continue;
        if (values[i].word >= 0)
            write_word(text, sizeof text, o->words, values[i].word);
        else if (o->type == GBOSE_INTEGER)
            snprintf(text, sizeof text, "%llu", (unsigned long long)values[i].integer);
        else
            gbose__decimal_write(text, sizeof text, values[i].number);
        used += (size_t)snprintf(buf + used, GBOSE__MAX_SPEC - used, "%c%s=%s", separator, o->name, text);
        separator = ',';
    }
    gbose__decimal_end(&point);
    return GBOSE_OK;
}
