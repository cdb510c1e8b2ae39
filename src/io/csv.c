#include "io/csv.h"

#include <stdlib.h>
#include <string.h>

#include "core/error.h"

struct gbose__csv {
    struct gbose__lines *lines;
    size_t most;
    uint64_t line; /* where the record began */
    char *text;    /* the record's fields, each with a zero behind it */
    size_t length, room;
    size_t *begin; /* where each field begins in text */
    size_t n, n_room;
    char **name;
    size_t n_columns;
};

/* ---- one record ---- */

static int bad(struct gbose__csv *c, uint64_t line, const char *what, gbose_error *err)
{
    return gbose__fail(err, GBOSE_EINVAL, "%s: line %llu: %s", gbose__lines_path(c->lines),
                       (unsigned long long)line, what);
}

static int put_byte(struct gbose__csv *c, char byte, gbose_error *err)
{
    if (c->length == c->room) {
        size_t room = 2 * c->room + 256;
        char *text = realloc(c->text, room);

        if (!text)
            return gbose__no_memory(err);
        c->text = text;
        c->room = room;
    }
    c->text[c->length++] = byte;
    return GBOSE_OK;
}

static int begin_field(struct gbose__csv *c, gbose_error *err)
{
    if (c->n == c->n_room) {
        size_t room = 2 * c->n_room + 16, *begin = realloc(c->begin, room * sizeof *begin);

        if (!begin)
            return gbose__no_memory(err);
        c->begin = begin;
        c->n_room = room;
    }
    c->begin[c->n++] = c->length;
    return GBOSE_OK;
}

/* Where a record is being read: within its present line. */
struct place {
    char *at, *end;
    uint64_t quote; /* the line on which the open quote stands */
};

/* The next line of a quoted field. */
static int go_on(struct gbose__csv *c, struct place *p, gbose_error *err)
{
    char *line;
    size_t length;
    int rc = put_byte(c, '\n', err);

    if (!rc)
        rc = gbose__lines_next(c->lines, &line, &length, err);
    if (rc == 0)
        return bad(c, p->quote, "a quote that is never closed", err);
    if (rc < 0)
        return rc == GBOSE_ESIZE ? bad(c, p->quote, "a quote that is not closed for too long", err) : rc;
    p->at = line;
    p->end = line + length;
    return GBOSE_OK;
}

/* From behind the opening quote to behind the closing one. */
static int quoted(struct gbose__csv *c, struct place *p, gbose_error *err)
{
    int rc = GBOSE_OK;

    p->quote = gbose__lines_number(c->lines);
    while (!rc) {
        if (c->length > c->most)
            return bad(c, p->quote, "a quote that is not closed for too long", err);
        if (p->at == p->end)
            rc = go_on(c, p, err);
        else if (*p->at != '"')
            rc = put_byte(c, *p->at++, err);
        else if (p->at + 1 < p->end && p->at[1] == '"') {
            rc = put_byte(c, '"', err);
            p->at += 2;
        } else {
            p->at++;
            return GBOSE_OK;
        }
    }
    return rc;
}

/* A line's carriage return belongs to its end, outside of quotes. */
static int at_line_end(const struct place *p)
{
    return p->at == p->end || (p->at + 1 == p->end && *p->at == '\r');
}

static int field(struct gbose__csv *c, struct place *p, gbose_error *err)
{
    int rc = begin_field(c, err);

    if (!rc && p->at < p->end && *p->at == '"') {
        p->at++;
        rc = quoted(c, p, err);
        if (!rc && !at_line_end(p) && *p->at != ',')
            rc = bad(c, gbose__lines_number(c->lines),
                     "text behind a closing quote; a quote in a field is doubled", err);
    }
    while (!rc && !at_line_end(p) && *p->at != ',') {
        if (*p->at == '"')
            return bad(c, gbose__lines_number(c->lines),
                       "a quote inside a field that does not begin with one; such a field goes in quotes",
                       err);
        rc = put_byte(c, *p->at++, err);
    }
    return rc ? rc : put_byte(c, 0, err);
}

/* 1, 0 or an error, as gbose__csv_next(), but for the number of fields. */
static int record(struct gbose__csv *c, gbose_error *err)
{
    struct place p = {0};
    char *line;
    size_t length;
    int rc;

    do {
        rc = gbose__lines_next(c->lines, &line, &length, err);
        if (rc == GBOSE_ESIZE)
            return GBOSE_EINVAL;
        if (rc <= 0)
            return rc;
        p.at = line;
        p.end = line + length;
    } while (at_line_end(&p));
    c->line = gbose__lines_number(c->lines);
    c->n = c->length = 0;
    do
        rc = field(c, &p, err);
    while (!rc && p.at < p.end && *p.at++ == ',');
    if (rc)
        return rc;
    for (size_t i = 0; i < c->n; i++) {
        size_t end = i + 1 < c->n ? c->begin[i + 1] : c->length;
        if (strlen(c->text + c->begin[i]) + 1 != end - c->begin[i])
            return bad(c, c->line, "a zero byte", err);
    }
    return 1;
}

/* ---- whole files ---- */

static int take_header(struct gbose__csv *c, gbose_error *err)
{
    int rc = record(c, err);

    if (rc == 0)
        return gbose__fail(err, GBOSE__EREAD, "%s: no header: the first line must name the columns",
                           gbose__lines_path(c->lines));
    if (rc < 0)
        return rc == GBOSE_EINVAL ? GBOSE__EREAD : rc;
    c->name = calloc(c->n, sizeof *c->name);
    if (!c->name)
        return gbose__no_memory(err);
    for (; c->n_columns < c->n; c->n_columns++) {
        const char *name = c->text + c->begin[c->n_columns];

        if (gbose__csv_find(c, name) >= 0)
            return gbose__fail(err, GBOSE__EREAD, "%s: two columns are called '%.60s'",
                               gbose__lines_path(c->lines), name);
        c->name[c->n_columns] = strdup(name);
        if (!c->name[c->n_columns])
            return gbose__no_memory(err);
    }
    return GBOSE_OK;
}

int gbose__csv_open(struct gbose__csv **out, const char *path, size_t most, gbose_error *err)
{
    struct gbose__csv *c = calloc(1, sizeof *c);
    int rc;

    if (!c)
        return gbose__no_memory(err);
    c->most = most;
    rc = gbose__lines_open(&c->lines, path, most, err);
    if (!rc)
        rc = take_header(c, err);
    if (rc) {
        if (err)
            err->code = rc;
        gbose__csv_close(c);
        return rc;
    }
    *out = c;
    return GBOSE_OK;
}

void gbose__csv_close(struct gbose__csv *c)
{
    if (!c)
        return;
    gbose__lines_close(c->lines);
    for (size_t i = 0; i < c->n_columns; i++)
        free(c->name[i]);
    free(c->name);
    free(c->text);
    free(c->begin);
    free(c);
}

size_t gbose__csv_columns(const struct gbose__csv *c)
{
    return c->n_columns;
}

const char *gbose__csv_name(const struct gbose__csv *c, size_t column)
{
    return column < c->n_columns ? c->name[column] : NULL;
}

long gbose__csv_find(const struct gbose__csv *c, const char *name)
{
    for (size_t i = 0; i < c->n_columns; i++)
        if (!strcmp(c->name[i], name))
            return (long)i;
    return -1;
}

int gbose__csv_no_column(const struct gbose__csv *c, const char *name, const char *option, gbose_error *err)
{
    char list[100] = "";
    size_t used = 0, n = gbose__csv_columns(c), i = 0;

    if (n == 1 && strpbrk(gbose__csv_name(c, 0), ";\t"))
        return gbose__fail(err, GBOSE_EINVAL,
                           "%.90s: columns must have commas between them; the header is '%.80s'",
                           gbose__csv_path(c), gbose__csv_name(c, 0));
    for (; i < n && used + strlen(gbose__csv_name(c, i)) + 10 < sizeof list; i++)
        used +=
            (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", gbose__csv_name(c, i));
    return gbose__fail(err, GBOSE_EINVAL,
                       "%.60s: there is no column '%.40s'; say which one it is with --%s: %s%s",
                       gbose__csv_path(c), name, option, list, i < n ? ", ..." : "");
}

int gbose__csv_next(struct gbose__csv *c, gbose_error *err)
{
    char words[80];
    int rc = record(c, err);

    if (rc == 1 && c->n != c->n_columns) {
        snprintf(words, sizeof words, "%zu fields, where the header has %zu", c->n, c->n_columns);
        rc = bad(c, c->line, words, err);
    }
    if (rc < 0) {
        c->n = 0;
        if (err)
            err->code = rc;
    }
    return rc;
}

const char *gbose__csv_field(const struct gbose__csv *c, size_t column)
{
    return column < c->n ? c->text + c->begin[column] : NULL;
}

uint64_t gbose__csv_line(const struct gbose__csv *c)
{
    return c->line;
}

const char *gbose__csv_path(const struct gbose__csv *c)
{
    return gbose__lines_path(c->lines);
}

/* ---- writing ---- */

/* Hand a field on, piece by piece. A field that is empty needs no quotes, but a record that is one empty
 * field does, or it would read as a blank line: gbose__csv_put_record() sees to that. */
static int quote(int (*emit)(void *to, const char *text, size_t size, gbose_error *err), void *to,
                 const char *text, gbose_error *err)
{
    int rc;

    if (!text[strcspn(text, ",\"\r\n")])
        return emit(to, text, strlen(text), err);
    rc = emit(to, "\"", 1, err);
    while (!rc && *text) {
        size_t n = strcspn(text, "\"");

        rc = emit(to, text, n, err);
        if (!rc && text[n])
            rc = emit(to, "\"\"", 2, err);
        text += n + !!text[n];
    }
    return rc ? rc : emit(to, "\"", 1, err);
}

static int emit_print(void *to, const char *text, size_t size, gbose_error *err)
{
    (void)err;
    fwrite(text, 1, size, to);
    return GBOSE_OK;
}

static int emit_put(void *to, const char *text, size_t size, gbose_error *err)
{
    return gbose__lines_put(to, text, size, err);
}

void gbose__csv_print(FILE *to, const char *text)
{
    quote(emit_print, to, text, NULL);
}

int gbose__csv_put(struct gbose__lines_writer *to, const char *text, gbose_error *err)
{
    return quote(emit_put, to, text, err);
}

int gbose__csv_put_record(struct gbose__lines_writer *to, const char *const *text, size_t n, gbose_error *err)
{
    int rc = GBOSE_OK;

    if (n == 1 && !*text[0])
        return gbose__lines_put(to, "\"\"\n", 3, err);
    for (size_t i = 0; i < n && !rc; i++) {
        rc = i ? gbose__lines_put(to, ",", 1, err) : GBOSE_OK;
        if (!rc)
            rc = gbose__csv_put(to, text[i], err);
    }
    return rc ? rc : gbose__lines_put(to, "\n", 1, err);
}
