/* Reading a schema: tokens, and which lines there are. parse_feature.c and parse_terms.c read the two
 * kinds of lines. */
#include "encode/parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/names.h"

int gbose__parse_fail(struct parser *p, int line, const char *format, ...)
{
    char text[240];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return gbose__fail(p->err, GBOSE_ESCHEMA, "line %d: %s", line, text);
}

char *gbose__parse_copy(struct parser *p, const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = gbose__schema_alloc(p->schema, n, 1);

    return copy ? memcpy(copy, text, n) : NULL;
}

/* ---- tokens ---- */

static int take(struct parser *p, size_t *n, char c)
{
    if (*n == GBOSE__MAX_NAME) {
        p->word[40] = 0;
        return gbose__parse_fail(p, p->line, "'%s...' is longer than %d bytes", p->word, GBOSE__MAX_NAME);
    }
    p->word[(*n)++] = c;
    return GBOSE_OK;
}

static int read_quoted(struct parser *p)
{
    size_t n = 0;
    int rc;

    p->token = TOKEN_QUOTED;
    for (p->at++; *p->at != '"'; p->at++) {
        if (*p->at == '\\' && (p->at[1] == '"' || p->at[1] == '\\'))
            p->at++;
        if (!*p->at || *p->at == '\n' || *p->at == '\r')
            return gbose__parse_fail(p, p->line, "a quote \" is opened and not closed on the same line");
        if (((unsigned char)*p->at < ' ' && *p->at != '\t') || *p->at == 127)
            return gbose__parse_fail(p, p->line, "there is a control character (byte %d)", *p->at);
        rc = take(p, &n, *p->at);
        if (rc)
            return rc;
    }
    p->at++;
    p->word[n] = 0;
    return GBOSE_OK;
}

static int read_word(struct parser *p)
{
    size_t n = 0;
    int rc;

    p->token = TOKEN_WORD;
    for (; *p->at && !strchr(" \t\r\n,=*#\"", *p->at); p->at++) {
        if ((unsigned char)*p->at < ' ' || *p->at == 127)
            return gbose__parse_fail(p, p->line, "there is a control character (byte %d)", *p->at);
        rc = take(p, &n, *p->at);
        if (rc)
            return rc;
    }
    p->word[n] = 0;
    return GBOSE_OK;
}

static int next_token(struct parser *p)
{
    p->at += strspn(p->at, " \t\r");
    if (*p->at == '#')
        p->at += strcspn(p->at, "\n");
    p->line = p->next_line;
    switch (*p->at) {
    case 0:
        p->token = TOKEN_END;
        return GBOSE_OK;
    case '\n':
        p->token = TOKEN_LINE;
        p->next_line++;
        break;
    case ',':
        p->token = TOKEN_COMMA;
        break;
    case '=':
        p->token = TOKEN_EQUALS;
        break;
    case '*':
        p->token = TOKEN_STAR;
        break;
    case '"':
        return read_quoted(p);
    default:
        return read_word(p);
    }
    p->at++;
    return GBOSE_OK;
}

int gbose__parse_next(struct parser *p)
{
    struct parser ahead;
    int rc = next_token(p);

    if (rc || p->token != TOKEN_COMMA)
        return rc;
    ahead = *p; /* the comma stays the token; the ends of lines behind it are passed over */
    while (!(rc = next_token(&ahead)) && ahead.token == TOKEN_LINE) {
        p->at = ahead.at;
        p->next_line = ahead.next_line;
    }
    return GBOSE_OK; /* what is wrong behind the comma is found when it is read */
}

/* ---- lines ---- */

static int read_line(struct parser *p)
{
    static const char *const lists[] = {"arm", "round"};
    char name[GBOSE__MAX_NAME + 1];
    int line = p->line, rc, is_arm;

    if (p->token != TOKEN_WORD)
        return gbose__parse_fail(p, line,
                                 "a line is 'NAME TYPE ...', 'arm = ...' or 'round = ...'; this one begins "
                                 "with neither a name nor a word");
    strcpy(name, p->word);
    rc = gbose__parse_next(p);
    if (rc)
        return rc;
    is_arm = !strcmp(name, "arm");
    if (p->token != TOKEN_EQUALS && (is_arm || !strcmp(name, "round")))
        return gbose__parse_fail(p, line, "'=' is missing: %s = TERM TERM ...", name);
    if (p->token != TOKEN_EQUALS)
        return gbose__parse_feature(p, name, line);
    if (!is_arm && strcmp(name, "round"))
        return gbose__parse_fail(
            p, line, "only 'arm = ...' and 'round = ...' are lists; '%.40s' is neither; did you mean '%s'?",
            name, gbose__names_nearest(name, lists, 2));
    return gbose__parse_terms(p, is_arm ? &p->schema->arm : &p->schema->round, is_arm);
}

static int read_lines(struct parser *p)
{
    int rc = gbose__parse_next(p);

    while (!rc && p->token != TOKEN_END)
        rc = p->token == TOKEN_LINE ? gbose__parse_next(p) : read_line(p);
    if (!rc && !p->schema->arm.n)
        rc = gbose__parse_fail(p, p->line,
                               "there is no line 'arm = ...', which says what differs between arms");
    return rc;
}

/* Features in the order of their first use, then those that no term uses. */
static int sort_features(struct parser *p)
{
    gbose_schema *s = p->schema;
    size_t n_unused = 0;

    s->feature = gbose__schema_alloc(s, p->n_used + 1, sizeof *s->feature);
    s->unused = gbose__schema_alloc(s, p->n_features - p->n_used + 1, sizeof *s->unused);
    if (!s->feature || !s->unused)
        return gbose__no_memory(p->err);
    for (size_t i = 0; i < p->n_features; i++)
        if (p->used[i])
            s->feature[p->used[i] - 1] = p->feature[i];
        else
            s->unused[n_unused++] = p->feature[i];
    s->n_features = p->n_used;
    s->n_unused = n_unused;
    return GBOSE_OK;
}

int gbose__parse_schema(gbose_schema *schema, const char *text, gbose_error *err)
{
    struct parser p = {.schema = schema, .err = err, .at = text, .line = 1, .next_line = 1};
    locale_t old;
    int rc;

    if (!strncmp(text, "\xef\xbb\xbf", 3)) /* the mark with which some editors begin a file */
        p.at += 3;
    p.used = gbose__schema_alloc(schema, GBOSE__MAX_FEATURES, sizeof *p.used);
    if (!p.used)
        return gbose__no_memory(err);
    old = uselocale(schema->c_locale);
    rc = read_lines(&p);
    if (!rc)
        rc = sort_features(&p);
    uselocale(old);
    return rc;
}
