/* Lines "arm = ..." and "round = ...": terms, each a product of features. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/names.h"
#include "encode/parse.h"

/* ---- names ---- */

/* Does `name` end with ".word"? */
static int ends_with(const char *name, const char *word)
{
    size_t n = strlen(name), m = strlen(word);

    return n > m && name[n - m - 1] == '.' && !strcmp(name + n - m, word);
}

/* The nearest name in the form that the word has: without what stands before the last dot, if it has no
 * dot. */
static int unknown(struct parser *p, const char *word)
{
    const char *nearest = NULL;
    size_t best = SIZE_MAX;

    for (size_t i = 0; i < p->n_features; i++) {
        const char *name = p->feature[i].name, *brief = strrchr(name, '.') + 1;
        const char *other = strchr(word, '.') ? name : brief;
        size_t distance = gbose__names_distance(word, other);

        if (distance < best) {
            best = distance;
            nearest = other;
        }
    }
    if (!nearest)
        return gbose__parse_fail(
            p, p->line,
            "unknown feature '%.60s'; features are declared before they are used: action.%.60s "
            "number",
            word, word);
    return gbose__parse_fail(p, p->line, "unknown feature '%.60s'; did you mean '%.60s'?", word, nearest);
}

/* The feature that a word means: its full name, or the end of just one name. */
static int find_feature(struct parser *p, uint32_t *out, const char *word)
{
    size_t found = SIZE_MAX;

    for (size_t i = 0; i < p->n_features; i++)
        if (!strcmp(p->feature[i].name, word)) {
            *out = (uint32_t)i;
            return GBOSE_OK;
        }
    for (size_t i = 0; i < p->n_features; i++) {
        if (!ends_with(p->feature[i].name, word))
            continue;
        if (found != SIZE_MAX)
            return gbose__parse_fail(p, p->line, "'%.40s' may be '%.60s' or '%.60s'; write the full name",
                                     word, p->feature[found].name, p->feature[i].name);
        found = i;
    }
    if (found == SIZE_MAX)
        return unknown(p, word);
    *out = (uint32_t)found;
    return GBOSE_OK;
}

/* ---- one term ---- */

static int add_factor(struct parser *p, struct gbose__term *t, const char *word)
{
    uint32_t i = 0, degree = 0;
    int rc = find_feature(p, &i, word);

    if (rc)
        return rc;
    for (uint32_t k = 0; k < t->n_factors; k++)
        degree += t->factor[k].power;
    if (degree == GBOSE__MAX_FACTORS)
        return gbose__parse_fail(p, p->line, "a product has at most %d features", GBOSE__MAX_FACTORS);
    for (uint32_t k = 0; k < t->n_factors; k++) {
        if (t->factor[k].feature != i)
            continue;
        if (p->feature[i].type != TYPE_NUMBER)
            return gbose__parse_fail(
                p, p->line, "'%.60s' is twice in one product; only a number times itself is something new",
                p->feature[i].name);
        t->factor[k].power++;
        t->factor[k].width = 1;
        return GBOSE_OK;
    }
    t->factor[t->n_factors++] = (struct gbose__factor){i, 1, p->feature[i].width, 0};
    return GBOSE_OK;
}

/* WORD*WORD*...; the token is then behind it. */
static int read_product(struct parser *p, struct gbose__term *t, char *source, size_t room)
{
    size_t used = 0;
    int rc;

    for (;;) {
        if (p->token != TOKEN_WORD)
            return gbose__parse_fail(p, p->line, "a feature's name is missing %s '*'",
                                     used ? "behind" : "before");
        if (used < room)
            used += (size_t)snprintf(source + used, room - used, "%s%s", used ? "*" : "", p->word);
        rc = strcmp(p->word, "1") ? add_factor(p, t, p->word) : GBOSE_OK;
        if (!rc)
            rc = gbose__parse_next(p);
        if (rc || p->token != TOKEN_STAR)
            return rc;
        rc = gbose__parse_next(p);
        if (rc)
            return rc;
    }
}

static int check_owner(struct parser *p, const struct gbose__term *t, const char *source, int is_arm,
                       int line)
{
    const char *action = NULL;

    for (uint32_t k = 0; k < t->n_factors; k++)
        if (p->feature[t->factor[k].feature].is_action)
            action = p->feature[t->factor[k].feature].name;
    if (is_arm && !action)
        return gbose__parse_fail(
            p, line,
            "'%.60s' holds nothing of action.: it is the same for all arms and cancels. Move it to "
            "'round = ...', or multiply it with a feature of the action",
            source);
    if (!is_arm && action)
        return gbose__parse_fail(p, line,
                                 "'%.60s' holds '%.60s', which differs between arms: move it to 'arm = ...'",
                                 source, action);
    if (!t->n_factors)
        return gbose__parse_fail(p, line, "a constant of the round needs no feature: leave out '%.60s'",
                                 source);
    return GBOSE_OK;
}

/* Strides, the last factor's columns next to each other; and the canonical text. */
static int lay_out(struct parser *p, struct gbose__term *t, const char *source, int line)
{
    size_t room = 1, n = 0;
    uint64_t width = 1;
    char *text;

    for (uint32_t k = t->n_factors; k-- > 0;) {
        t->factor[k].stride = (uint32_t)width;
        width *= t->factor[k].width;
        if (width > GBOSE__MAX_COLUMNS)
            return gbose__parse_fail(
                p, line, "'%.60s' would have more than %d columns; use hash=, or list fewer values", source,
                GBOSE__MAX_COLUMNS);
        room += (strlen(p->feature[t->factor[k].feature].name) + 1) * t->factor[k].power;
    }
    t->width = (uint32_t)width;
    t->text = text = gbose__schema_alloc(p->schema, room, 1);
    if (!text)
        return gbose__no_memory(p->err);
    for (uint32_t k = 0; k < t->n_factors; k++)
        for (uint32_t i = 0; i < t->factor[k].power; i++)
            n += (size_t)snprintf(text + n, room - n, "%s%s", n ? "*" : "",
                                  p->feature[t->factor[k].feature].name);
    return GBOSE_OK;
}

/* The same features to the same powers, in any order? */
static int same_product(const struct gbose__term *a, const struct gbose__term *b)
{
    uint32_t same = 0;

    for (uint32_t k = 0; k < a->n_factors; k++)
        for (uint32_t l = 0; l < b->n_factors; l++)
            same += a->factor[k].feature == b->factor[l].feature && a->factor[k].power == b->factor[l].power;
    return a->n_factors == b->n_factors && same == a->n_factors;
}

/* ---- the whole line ---- */

static int append(struct parser *p, struct gbose__terms *to, const struct gbose__term *t)
{
    struct gbose__term *own;
    size_t bytes = t->n_factors * sizeof *t->factor;

    if (!to->at)
        to->at = gbose__schema_alloc(p->schema, GBOSE__MAX_TERMS, sizeof *to->at);
    if (!to->at)
        return gbose__no_memory(p->err);
    own = &to->at[to->n];
    *own = *t;
    own->factor = gbose__schema_alloc(p->schema, 1, bytes);
    if (!own->factor)
        return gbose__no_memory(p->err);
    memcpy(own->factor, t->factor, bytes);
    own->first = to->columns;
    to->columns += t->width;
    to->n++;
    return GBOSE_OK;
}

/* Features are numbered in the order of their first use. */
static void number_features(struct parser *p, struct gbose__term *t)
{
    for (uint32_t k = 0; k < t->n_factors; k++) {
        int *used = &p->used[t->factor[k].feature];

        if (!*used)
            *used = (int)++p->n_used;
        t->factor[k].feature = (uint32_t)*used - 1;
    }
}

static int read_term(struct parser *p, struct gbose__terms *to, int is_arm)
{
    struct gbose__factor factor[GBOSE__MAX_FACTORS];
    struct gbose__term t = {.factor = factor};
    char source[80] = "";
    int line = p->line, rc = read_product(p, &t, source, sizeof source);

    if (!rc)
        rc = check_owner(p, &t, source, is_arm, line);
    if (!rc)
        rc = lay_out(p, &t, source, line);
    if (rc)
        return rc;
    number_features(p, &t);
    for (size_t i = 0; i < to->n; i++)
        if (same_product(&t, &to->at[i]))
            return gbose__parse_fail(p, line, "'%.60s' is there already, as '%.80s'", source, to->at[i].text);
    if (to->n == GBOSE__MAX_TERMS)
        return gbose__parse_fail(p, line, "there are more than %d terms", GBOSE__MAX_TERMS);
    return append(p, to, &t);
}

int gbose__parse_terms(struct parser *p, struct gbose__terms *to, int is_arm)
{
    int rc = gbose__parse_next(p);

    if (!rc && (p->token == TOKEN_LINE || p->token == TOKEN_END))
        return gbose__parse_fail(p, p->line, "'%s =' names no terms", is_arm ? "arm" : "round");
    while (!rc && p->token != TOKEN_LINE && p->token != TOKEN_END) {
        if (p->token == TOKEN_COMMA)
            return gbose__parse_fail(p, p->line, "terms have spaces between them, and no commas");
        if (p->token == TOKEN_EQUALS || p->token == TOKEN_QUOTED)
            return gbose__parse_fail(p, p->line,
                                     "a term is a product of features' names, as in topic*device");
        rc = read_term(p, to, is_arm);
    }
    return rc;
}
