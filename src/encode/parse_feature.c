/* Lines "NAME TYPE ...": a feature that may come. */
#include <stdio.h>
#include <string.h>

#include "core/bytes.h"
#include "core/decimal.h"
#include "core/names.h"
#include "encode/parse.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

static const char *const type_names[] = {"number", "category", "set", "vector", "flag", "cycle"};

/* The options that a type has, and what a line of it looks like. */
static const struct {
    const char *options[4];
    size_t n_options;
    const char *example;
} types[] = {
    [TYPE_NUMBER] = {{"scale", "offset", "missing"}, 3, "number scale=10"},
    [TYPE_CATEGORY] = {{"hash", "other", "missing"}, 3, "category a, b, c"},
    [TYPE_SET] = {{"hash", "other", "missing"}, 3, "set a, b, c"},
    [TYPE_VECTOR] = {{"scale", "missing"}, 2, "vector 16"},
    [TYPE_FLAG] = {{"missing"}, 1, "flag"},
    [TYPE_CYCLE] = {{"missing"}, 1, "cycle 24"},
};

/* ---- names and types ---- */

/* The first character that no name has, or 0. */
static char odd_character(const char *name)
{
    for (; *name; name++) {
        char c = *name;

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
              c == '-' || c == '.' || (unsigned char)c >= 128))
            return c;
    }
    return 0;
}

static int has_empty_part(const char *name)
{
    return name[0] == '.' || name[strlen(name) - 1] == '.' || strstr(name, "..");
}

int gbose__schema_name_fits(const char *name)
{
    return strchr(name, '.') && strlen(name) <= GBOSE__MAX_NAME && !has_empty_part(name) &&
           !odd_character(name);
}

static int check_name(struct parser *p, const char *name, int line)
{
    if (!strchr(name, '.'))
        return gbose__parse_fail(
            p, line,
            "'%.40s' does not say whose feature it is: write action.%.40s, or user.%.40s, "
            "time.%.40s or the like",
            name, name, name, name);
    if (has_empty_part(name))
        return gbose__parse_fail(
            p, line, "'%.60s' has an empty part; a name is parts with single dots between, as in user.age",
            name);
    if (odd_character(name))
        return gbose__parse_fail(p, line, "'%.60s' holds '%c'; a name is letters, digits, '_', '-' and '.'",
                                 name, odd_character(name));
    for (size_t i = 0; i < p->n_features; i++)
        if (!strcmp(p->feature[i].name, name))
            return gbose__parse_fail(p, line, "'%.60s' is declared already, on line %d", name,
                                     p->feature[i].line);
    return GBOSE_OK;
}

static int read_type(struct parser *p, struct gbose__schema_feature *f)
{
    if (p->token != TOKEN_WORD)
        return gbose__parse_fail(
            p, f->line, "'%.60s' has no type; the types are number, category, set, vector, flag and cycle",
            f->name);
    for (f->type = 0; strcmp(type_names[f->type], p->word); f->type++)
        if (f->type + 1 == (int)COUNT(type_names))
            return gbose__parse_fail(
                p, p->line,
                "there is no type '%.40s'; did you mean '%s'? The types are number, category, "
                "set, vector, flag and cycle",
                p->word, gbose__names_nearest(p->word, type_names, COUNT(type_names)));
    return gbose__parse_next(p);
}

/* ---- options ---- */

static int read_number(struct parser *p, double *out, const char *option, double min, double max)
{
    double x;

    if (!gbose__decimal_read(&x, p->word) || x < min || x > max) {
        if (min < 0)
            return gbose__parse_fail(p, p->line, "%s must be a number; got '%.40s'", option, p->word);
        return gbose__parse_fail(p, p->line, "%s must be a number from %g to %g; got '%.40s'", option, min,
                                 max, p->word);
    }
    *out = x;
    return GBOSE_OK;
}

static int read_count(struct parser *p, uint32_t *out, const char *option, double min)
{
    double x;

    if (!gbose__decimal_read(&x, p->word) || x < min || x > GBOSE__MAX_COLUMNS || x != (uint32_t)x)
        return gbose__parse_fail(p, p->line, "%s must be a whole number from %g to %d; got '%.40s'", option,
                                 min, GBOSE__MAX_COLUMNS, p->word);
    *out = (uint32_t)x;
    return GBOSE_OK;
}

static int read_stray(struct parser *p, int *out, const char *option)
{
    static const char *const words[] = {"column", "off", "error"};

    for (size_t i = 0; i < COUNT(words); i++)
        if (!strcmp(words[i], p->word)) {
            *out = (int)i;
            return GBOSE_OK;
        }
    return gbose__parse_fail(p, p->line, "%s must be 'column', 'off' or 'error'; got '%.40s'", option,
                             p->word);
}

/* NAME=VALUE; the token is the VALUE. */
static int set_option(struct parser *p, struct gbose__schema_feature *f, const char *name, unsigned *seen)
{
    const char *const *options = types[f->type].options;
    size_t n = types[f->type].n_options, i;

    for (i = 0; i < n && strcmp(options[i], name); i++)
        ;
    if (i == n)
        return gbose__parse_fail(p, p->line, "a %s has no option '%.40s'; did you mean '%s'?",
                                 type_names[f->type], name, gbose__names_nearest(name, options, n));
    if (*seen >> i & 1)
        return gbose__parse_fail(p, p->line, "option '%s' is given twice", name);
    *seen |= 1u << i;
    if (!strcmp(name, "scale"))
        return read_number(p, &f->scale, name, 1e-100, 1e100);
    if (!strcmp(name, "offset"))
        return read_number(p, &f->offset, name, -1e100, 1e100);
    if (!strcmp(name, "hash"))
        return read_count(p, &f->buckets, name, 2);
    return read_stray(p, strcmp(name, "other") ? &f->missing : &f->other, name);
}

/* ---- listed values ---- */

static int add_value(struct parser *p, struct gbose__schema_feature *f, uint32_t *room)
{
    if (!*p->word)
        return gbose__parse_fail(p, p->line, "a value cannot be empty: the empty text is a missing value");
    if (f->n_values == GBOSE__MAX_COLUMNS)
        return gbose__parse_fail(p, p->line, "'%.60s' has more than %d values; use hash=", f->name,
                                 GBOSE__MAX_COLUMNS);
    if (f->n_values == *room) {
        uint32_t more = *room ? 2 * *room : 8;
        const char **value = gbose__schema_alloc(p->schema, more, sizeof *value);

        if (!value)
            return gbose__no_memory(p->err);
        if (f->n_values)
            memcpy(value, f->value, f->n_values * sizeof *value);
        f->value = value;
        *room = more;
    }
    f->value[f->n_values] = gbose__parse_copy(p, p->word);
    return f->value[f->n_values++] ? GBOSE_OK : gbose__no_memory(p->err);
}

/* The hash table of the values. Its load is at most a half. */
static int index_values(struct parser *p, struct gbose__schema_feature *f)
{
    uint32_t size = 4;

    while (size < 2 * f->n_values)
        size *= 2;
    f->mask = size - 1;
    f->place = gbose__schema_alloc(p->schema, size, sizeof *f->place);
    f->key = gbose__schema_alloc(p->schema, f->n_values + 1, sizeof *f->key);
    if (!f->place || !f->key)
        return gbose__no_memory(p->err);
    for (uint32_t i = 0; i < f->n_values; i++) {
        struct gbose__piece text = {f->value[i], strlen(f->value[i])};
        uint64_t key = gbose__value_key(p->schema->c_locale, f->seed, text);
        int64_t same = gbose__value_find(f, key);
        uint32_t at = (uint32_t)key & f->mask;

        if (same >= 0 && !strcmp(f->value[same], f->value[i]))
            return gbose__parse_fail(p, f->line, "'%.60s' lists the value '%.60s' twice", f->name,
                                     f->value[i]);
        if (same >= 0)
            return gbose__parse_fail(p, f->line, "the values '%.60s' and '%.60s' of '%.40s' are the same",
                                     f->value[same], f->value[i], f->name);
        while (f->place[at])
            at = (at + 1) & f->mask;
        f->key[i] = key;
        f->place[at] = i + 1;
    }
    return GBOSE_OK;
}

/* ---- the whole line ---- */

/* What of a line has been read behind its type. */
struct rest {
    unsigned seen;                                         /* options, a bit each */
    uint32_t room;                                         /* for listed values */
    enum { BEHIND_NOTHING, BEHIND_BARE, BEHIND_COMMA } at; /* the last thing that was no option */
};

static int lists_values(const struct gbose__schema_feature *f)
{
    return f->type == TYPE_CATEGORY || f->type == TYPE_SET;
}

static int unexpected(struct parser *p, const struct gbose__schema_feature *f, const char *what)
{
    return gbose__parse_fail(p, p->line, "'%.40s' is not expected here; such a line looks like: %.60s %s",
                             what, f->name, types[f->type].example);
}

/* NAME=VALUE; the token is the '='. */
static int read_option(struct parser *p, struct gbose__schema_feature *f, struct rest *rest, const char *name)
{
    int line = p->line, rc;

    if (rest->at == BEHIND_COMMA)
        return gbose__parse_fail(p, line, "a value is missing between ',' and '%.40s='", name);
    rc = gbose__parse_next(p);
    if (!rc && p->token != TOKEN_WORD && p->token != TOKEN_QUOTED)
        rc = gbose__parse_fail(p, line, "option '%.40s=' has no value", name);
    if (!rc)
        rc = set_option(p, f, name, &rest->seen);
    return rc ? rc : gbose__parse_next(p);
}

/* What is not NAME=VALUE: a length, a period, `log`, or a value of a list with the comma behind it. */
static int read_bare(struct parser *p, struct gbose__schema_feature *f, struct rest *rest)
{
    int rc = GBOSE_OK, first = rest->at == BEHIND_NOTHING;

    if (lists_values(f) && rest->at == BEHIND_BARE)
        return gbose__parse_fail(p, p->line, "values have commas between them; there is none before '%.40s'",
                                 p->word);
    if (lists_values(f))
        rc = add_value(p, f, &rest->room);
    else if (f->type == TYPE_NUMBER && !strcmp(p->word, "log") && !f->logarithm)
        f->logarithm = 1;
    else if (f->type == TYPE_VECTOR && first)
        rc = read_count(p, &f->length, "the length of a vector", 1);
    else if (f->type == TYPE_CYCLE && first)
        rc = read_number(p, &f->period, "the period of a cycle", 1e-100, 1e100);
    else
        rc = unexpected(p, f, p->word);
    if (!rc)
        rc = gbose__parse_next(p);
    rest->at = BEHIND_BARE;
    if (!rc && lists_values(f) && p->token == TOKEN_COMMA) {
        rest->at = BEHIND_COMMA;
        rc = gbose__parse_next(p);
    }
    return rc;
}

static int read_rest(struct parser *p, struct gbose__schema_feature *f)
{
    struct rest rest = {0, 0, BEHIND_NOTHING};
    int rc = GBOSE_OK;

    while (!rc && (p->token == TOKEN_WORD || p->token == TOKEN_QUOTED)) {
        struct parser ahead = *p; /* whether a word is an option's name shows behind it */

        rc = gbose__parse_next(&ahead);
        if (!rc && p->token == TOKEN_WORD && ahead.token == TOKEN_EQUALS) {
            char name[GBOSE__MAX_NAME + 1];

            strcpy(name, p->word);
            *p = ahead;
            rc = read_option(p, f, &rest, name);
        } else if (!rc) {
            rc = read_bare(p, f, &rest);
        }
    }
    if (!rc && rest.at == BEHIND_COMMA)
        rc = gbose__parse_fail(p, p->line, "a value is missing behind ','");
    if (!rc && p->token != TOKEN_LINE && p->token != TOKEN_END)
        rc = unexpected(p, f, p->token == TOKEN_COMMA ? "," : p->token == TOKEN_EQUALS ? "=" : "*");
    return rc;
}

/* What the line must have said. */
static int check_rest(struct parser *p, const struct gbose__schema_feature *f)
{
    if (f->type == TYPE_VECTOR && !f->length)
        return gbose__parse_fail(p, f->line, "a vector needs its length: %.60s vector 16", f->name);
    if (f->type == TYPE_CYCLE && f->period == 0)
        return gbose__parse_fail(p, f->line, "a cycle needs its period: %.60s cycle 24", f->name);
    if ((f->type == TYPE_CATEGORY || f->type == TYPE_SET) && !f->n_values && !f->buckets)
        return gbose__parse_fail(p, f->line,
                                 "'%.60s' needs its values, as in %s; or hash=32, if they cannot be listed",
                                 f->name, types[f->type].example);
    if (f->n_values && f->buckets)
        return gbose__parse_fail(
            p, f->line, "'%.60s' lists its values and hashes them; it can have one of both", f->name);
    return GBOSE_OK;
}

/* A column for strays: that of the listed value of this name, or a further one. */
static uint32_t stray_column(struct gbose__schema_feature *f, int stray, const char *value)
{
    if (stray != STRAY_COLUMN)
        return GBOSE__NO_COLUMN;
    for (uint32_t i = 0; i < f->n_values; i++)
        if (!strcmp(f->value[i], value))
            return i;
    return f->width++;
}

static void lay_out(struct gbose__schema_feature *f)
{
    switch (f->type) {
    case TYPE_CATEGORY:
    case TYPE_SET:
        f->width = f->buckets ? f->buckets : f->n_values;
        break;
    case TYPE_VECTOR:
        f->width = f->length;
        break;
    case TYPE_CYCLE:
        f->width = 2;
        break;
    default:
        f->width = 1;
    }
    f->other_column = f->n_values ? stray_column(f, f->other, "other") : GBOSE__NO_COLUMN;
    f->missing_column = stray_column(f, f->missing, "missing");
}

/* ---- canonical form ---- */

static int write_line(struct parser *p, struct gbose__schema_feature *f)
{
    static const char *const strays[] = {"column", "off", "error"};
    size_t room = 3 * GBOSE__MAX_NAME, n;
    char *text, number[40];

    for (uint32_t i = 0; i < f->n_values; i++)
        room += gbose__value_write(NULL, 0, f->value[i]) + 2;
    text = gbose__schema_alloc(p->schema, room, 1);
    if (!text)
        return gbose__no_memory(p->err);
    n = (size_t)snprintf(text, room, "%s %s", f->name, type_names[f->type]);
    if (f->logarithm)
        n += (size_t)snprintf(text + n, room - n, " log");
    if (f->length)
        n += (size_t)snprintf(text + n, room - n, " %u", (unsigned)f->length);
    if (f->period != 0) {
        gbose__decimal_write(number, sizeof number, f->period);
        n += (size_t)snprintf(text + n, room - n, " %s", number);
    }
    for (uint32_t i = 0; i < f->n_values; i++) {
        n += (size_t)snprintf(text + n, room - n, i ? ", " : " ");
        n += gbose__value_write(text + n, room - n, f->value[i]);
    }
    if (f->scale != 1) {
        gbose__decimal_write(number, sizeof number, f->scale);
        n += (size_t)snprintf(text + n, room - n, " scale=%s", number);
    }
    if (f->offset != 0) {
        gbose__decimal_write(number, sizeof number, f->offset);
        n += (size_t)snprintf(text + n, room - n, " offset=%s", number);
    }
    if (f->buckets)
        n += (size_t)snprintf(text + n, room - n, " hash=%u", (unsigned)f->buckets);
    if (f->other != STRAY_COLUMN)
        n += (size_t)snprintf(text + n, room - n, " other=%s", strays[f->other]);
    if (f->missing != (f->type == TYPE_SET ? STRAY_OFF : STRAY_COLUMN))
        n += (size_t)snprintf(text + n, room - n, " missing=%s", strays[f->missing]);
    f->text = text;
    return GBOSE_OK;
}

static int append(struct parser *p, const struct gbose__schema_feature *f)
{
    if (p->n_features == p->room) {
        size_t more = p->room ? 2 * p->room : 16;
        struct gbose__schema_feature *list = gbose__schema_alloc(p->schema, more, sizeof *list);

        if (!list)
            return gbose__no_memory(p->err);
        if (p->n_features)
            memcpy(list, p->feature, p->n_features * sizeof *list);
        p->feature = list;
        p->room = more;
    }
    p->feature[p->n_features++] = *f;
    return GBOSE_OK;
}

int gbose__parse_feature(struct parser *p, const char *name, int line)
{
    struct gbose__schema_feature f = {.line = line, .scale = 1};
    int rc = check_name(p, name, line);

    if (!rc && p->n_features == GBOSE__MAX_FEATURES)
        rc = gbose__parse_fail(p, line, "there are more than %d features; a vector holds many numbers in one",
                               GBOSE__MAX_FEATURES);
    if (rc)
        return rc;
    f.name = gbose__parse_copy(p, name);
    if (!f.name)
        return gbose__no_memory(p->err);
    f.is_action = !strncmp(name, "action.", 7);
    f.seed = gbose__mix_text(0, name);
    rc = read_type(p, &f);
    if (!rc && f.type == TYPE_SET)
        f.missing = STRAY_OFF; /* nothing given and nothing in it are the same */
    if (!rc)
        rc = read_rest(p, &f);
    if (!rc)
        rc = check_rest(p, &f);
    if (!rc)
        rc = index_values(p, &f);
    if (rc)
        return rc;
    lay_out(&f);
    rc = write_line(p, &f);
    return rc ? rc : append(p, &f);
}
