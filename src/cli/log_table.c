#include "cli/log_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "io/csv.h"

#define NAME_MOST 400 /* bytes of a column's name */

static size_t find(const struct names *names, const char *text)
{
    size_t at = 0;

    while (at < names->n && strcmp(names->text[at], text))
        at++;
    return at;
}

/* ---- columns beside the log's own ---- */

static void empty_fields(struct log_table *t)
{
    for (size_t i = 0; i < t->columns.n; i++) {
        free(t->field[i]);
        t->field[i] = NULL;
    }
}

/* Put a text, which then belongs to the table, into the column of that name. */
static int put_text(struct log_table *t, const char *name, char *text, gbose_error *err)
{
    size_t at = find(&t->columns, name);

    if (!text)
        return gbose__no_memory(err);
    if (at == t->columns.n && t->written) {
        free(text);
        return gbose__fail(
            err, GBOSE_EINVAL,
            "it has '%.100s', and the first decision had not: a CSV has one header; convert to json", name);
    }
    if (at == t->columns.n) {
        char **grown = realloc(t->field, (at + 1) * sizeof *grown);

        t->field = grown ? grown : t->field;
        if (!grown || names_find(&t->columns, name, &at)) {
            free(text);
            return gbose__no_memory(err);
        }
        t->field[at] = NULL;
    }
    free(t->field[at]);
    t->field[at] = text;
    return GBOSE_OK;
}

/* A value as a field; entries of a list have '|' between them. NULL: out of memory. */
static char *field_of(const json_t *value)
{
    char buf[GBOSE__RECORD_NUMBER], *text = NULL;
    size_t size;
    FILE *to;

    if (json_is_string(value))
        return strdup(json_string_value(value));
    if (json_is_real(value))
        return strdup(gbose__record_number(buf, json_real_value(value)));
    if (!json_is_array(value))
        return json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    to = open_memstream(&text, &size);
    for (size_t i = 0; to && i < json_array_size(value); i++) {
        char *entry = field_of(json_array_get(value, i));

        fprintf(to, "%s%s", i ? "|" : "", entry ? entry : "");
        free(entry);
    }
    return to && !fclose(to) ? text : NULL;
}

/* A feature, and of an object all that is in it, under full names. */
static int put_value(struct log_table *t, const char *name, const json_t *value, gbose_error *err)
{
    char inner[NAME_MOST];
    const char *key;
    json_t *part;
    int rc = GBOSE_OK;

    if (json_is_null(value))
        return GBOSE_OK;
    if (!json_is_object(value))
        return put_text(t, name, field_of(value), err);
    json_object_foreach((json_t *)(uintptr_t)value, key, part)
    {
        if (rc)
            break;
        if (snprintf(inner, sizeof inner, "%s.%s", name, key) >= (int)sizeof inner)
            return gbose__fail(err, GBOSE_EINVAL, "a feature's name is longer than %d bytes", NAME_MOST - 1);
        rc = put_value(t, inner, part, err);
    }
    return rc;
}

/* What all arms of a decision have in common. */
static int put_round(struct log_table *t, const struct gbose__record *r, gbose_error *err)
{
    const char *key;
    json_t *value;
    int rc = GBOSE_OK;

    json_object_foreach(r->features, key, value) if (!rc && strcmp(key, "actions")) rc =
        put_value(t, key, value, err);
    for (size_t i = 0; i < r->n_columns && !rc; i++)
        if (!json_object_get(r->features, r->column[i].name))
            rc = put_text(t, r->column[i].name, strdup(r->column[i].text), err);
    return rc;
}

static const json_t *action_of(const struct gbose__record *r, size_t a)
{
    return json_array_get(json_object_get(r->features, "actions"), a);
}

static int put_action(struct log_table *t, const struct gbose__record *r, size_t a, gbose_error *err)
{
    const json_t *action = action_of(r, a);

    return action ? put_value(t, json_is_object(action) ? "action" : "action.id", action, err) : GBOSE_OK;
}

/* ---- rows ---- */

/* What an arm is called: its id, or that among its features, or its place. */
static void write_id(const struct gbose__record *r, size_t a, char buf[NAME_MOST])
{
    const json_t *action = action_of(r, a);
    const char *id =
        json_is_object(action) ? json_string_value(json_object_get(action, "id")) : json_string_value(action);

    id = r->n_ids ? r->arms[a] : id;
    if (id)
        snprintf(buf, NAME_MOST, "%s", id);
    else
        snprintf(buf, NAME_MOST, "%zu", a);
}

/* Is there something to tell arms apart by, beside their ids? */
static int has_contexts(const struct gbose__record *r)
{
    for (size_t a = 0; a < r->n_arms && !r->partial; a++) {
        const json_t *action = action_of(r, a);

        if (json_object_size(action) > (json_object_get(action, "id") != NULL))
            return 1;
    }
    return !r->partial && r->dim > 0;
}

/* The columns that both shapes begin with. Rows of a decision without an id are told apart by its number. */
static void print_first(const struct log_table *t, const struct gbose__record *r, FILE *to)
{
    const char *text[] = {r->id, r->time, r->unit, r->schema};
    char number[24];

    snprintf(number, sizeof number, "%" PRIu64, t->written);
    for (int i = 0; i < 4; i++) {
        gbose__csv_print(to, text[i] ? text[i] : i ? "" : number);
        fputc(',', to);
    }
}

static void print_fields(const struct log_table *t, FILE *to)
{
    for (size_t i = 0; i < t->columns.n; i++) {
        fputc(',', to);
        gbose__csv_print(to, t->field[i] ? t->field[i] : "");
    }
    fputc('\n', to);
}

static int print_long(struct log_table *t, const struct gbose__record *r, FILE *to, gbose_error *err)
{
    char buf[GBOSE__RECORD_NUMBER], id[NAME_MOST];
    int rc = GBOSE_OK;

    for (size_t a = 0; a < r->n_arms && !rc; a++) {
        empty_fields(t);
        rc = put_round(t, r, err);
        rc = rc ? rc : put_action(t, r, a, err);
        print_first(t, r, to);
        write_id(r, a, id);
        gbose__csv_print(to, id);
        fprintf(to, ",%d,%s,", a == r->arm, gbose__record_number(buf, r->pmf[a]));
        fputs(a == r->arm && r->has_reward ? gbose__record_number(buf, r->reward) : "", to);
        for (size_t i = 0; i < r->dim; i++)
            fprintf(to, ",%s", gbose__record_number(buf, r->x[a * r->dim + i]));
        print_fields(t, to);
    }
    return rc;
}

/* The probabilities go by the ids of the first decision, in whatever order this one has its arms. */
static int print_wide(struct log_table *t, const struct gbose__record *r, FILE *to, gbose_error *err)
{
    char buf[GBOSE__RECORD_NUMBER], id[NAME_MOST];
    int rc;

    empty_fields(t);
    rc = put_round(t, r, err);
    print_first(t, r, to);
    write_id(r, r->arm, id);
    gbose__csv_print(to, id);
    fprintf(to, ",%s", r->has_reward ? gbose__record_number(buf, r->reward) : "");
    if (r->partial)
        fprintf(to, ",%s", gbose__record_number(buf, r->pmf[r->arm]));
    for (size_t k = 0; k < t->arms.n && !rc; k++) {
        size_t a = 0;

        for (; a < r->n_arms; a++) {
            write_id(r, a, id);
            if (!strcmp(id, t->arms.text[k]))
                break;
        }
        if (a == r->n_arms || r->n_arms != t->arms.n)
            return gbose__fail(
                err, GBOSE_EINVAL,
                "its arms are not those of the first decision, which a CSV needs; convert to json");
        fprintf(to, ",%s", gbose__record_number(buf, r->pmf[a]));
    }
    print_fields(t, to);
    return rc;
}

/* ---- the first decision ---- */

static int begin(struct log_table *t, const struct gbose__record *r, FILE *to, gbose_error *err)
{
    char id[NAME_MOST];
    size_t at;
    int rc = put_round(t, r, err);

    t->partial = r->partial;
    t->is_long = has_contexts(r);
    t->dim = t->is_long ? r->dim : 0;
    for (size_t a = 0; a < r->n_arms && !rc && t->is_long; a++)
        rc = put_action(t, r, a, err);
    for (size_t a = 0; a < r->n_arms && !rc && !t->is_long && !t->partial; a++) {
        write_id(r, a, id);
        rc = names_find(&t->arms, id, &at) ? gbose__no_memory(err) : GBOSE_OK;
    }
    if (rc)
        return rc;
    fputs(t->is_long ? "id,t,unit,schema,arm,played,probability,reward" : "id,t,unit,schema,arm,reward", to);
    if (t->partial)
        fputs(",probability", to);
    for (size_t i = 0; i < t->dim; i++)
        fprintf(to, ",x:%zu", i);
    for (size_t a = 0; a < t->arms.n; a++) {
        fputc(',', to);
        snprintf(id, sizeof id, "p:%.390s", t->arms.text[a]);
        gbose__csv_print(to, id);
    }
    for (size_t i = 0; i < t->columns.n; i++) {
        fputc(',', to);
        gbose__csv_print(to, t->columns.text[i]);
    }
    fputc('\n', to);
    return GBOSE_OK;
}

int log_table_put(struct log_table *t, const struct gbose__record *r, FILE *to, gbose_error *err)
{
    int rc = t->written ? GBOSE_OK : begin(t, r, to, err);

    if (!rc && r->partial != t->partial)
        rc = gbose__fail(
            err, GBOSE_EINVAL,
            "some decisions have the probabilities of all arms and some have not; convert to json");
    if (!rc && t->is_long && r->dim != t->dim)
        rc = gbose__fail(
            err, GBOSE_EINVAL,
            "contexts have %zu features, and those of the first decision had %zu; convert to json", r->dim,
            t->dim);
    if (!rc && !t->is_long && has_contexts(r))
        rc = gbose__fail(err, GBOSE_EINVAL,
                         "it has contexts, and the first decision had none; convert to json");
    if (!rc)
        rc = t->is_long ? print_long(t, r, to, err) : print_wide(t, r, to, err);
    t->written += !rc;
    return rc;
}

void log_table_clear(struct log_table *t)
{
    empty_fields(t);
    free(t->field);
    names_clear(&t->arms);
    names_clear(&t->columns);
}
