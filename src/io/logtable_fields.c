/* Fields of a log's table, and features by name. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "io/logtable_inner.h"

int gbose__logtable_fields_begins(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

/* The full name of the feature that a column holds: 1, or 0 if it holds none. An affinity of the Open Bandit
 * Dataset is of the arm with the number that is left in `of`; any other feature's is -1. */
int gbose__logtable_fields_name(const struct gbose__logtable *t, size_t column,
                                char name[GBOSE__FEATURE_NAME], long *of)
{
    static const char user[] = "user_feature_", affinity[] = "user-item_affinity_";
    const char *header = gbose__csv_name(t->csv, column);

    *of = -1;
    if (t->set.format != GBOSE__LOG_OBD) {
        snprintf(name, GBOSE__FEATURE_NAME, "%s", header);
        return strchr(header, '.') && !gbose__logtable_fields_begins(header, "x:") &&
               !gbose__logtable_fields_begins(header, "p:") && strlen(header) < GBOSE__FEATURE_NAME;
    }
    if (gbose__logtable_fields_begins(header, user))
        snprintf(name, GBOSE__FEATURE_NAME, "user.feature_%.100s", header + sizeof user - 1);
    else if (!strcmp(header, "position"))
        snprintf(name, GBOSE__FEATURE_NAME, "page.position");
    else if (gbose__logtable_fields_begins(header, affinity)) {
        snprintf(name, GBOSE__FEATURE_NAME, "action.affinity");
        *of = strtol(header + sizeof affinity - 1, NULL, 10);
    } else
        return 0;
    return 1;
}

int gbose__logtable_fields_number(const struct gbose__logtable *t, long column, double *out, gbose_error *err)
{
    const char *text = gbose__csv_field(t->csv, (size_t)column);
    char *end;

    *out = strtod(text, &end);
    if (end == text || *end || !isfinite(*out))
        return gbose__fail(err, GBOSE_EINVAL, "'%.60s' must be a number; got '%.40s'",
                           gbose__csv_name(t->csv, (size_t)column), text);
    return GBOSE_OK;
}

const char *gbose__logtable_fields_text(const struct gbose__logtable *t, long column)
{
    const char *text = column >= 0 ? gbose__csv_field(t->csv, (size_t)column) : NULL;

    return text && *text ? text : NULL;
}

/* Put a feature under its full name into an object of scopes, or, an action's, into that action. */
int gbose__logtable_fields_put(json_t *features, json_t *action, const char *name, const char *text,
                               gbose_error *err)
{
    const char *dot = strchr(name, '.');
    char scope[GBOSE__FEATURE_NAME];
    json_t *to = action, *value = json_string(text);

    snprintf(scope, sizeof scope, "%.*s", (int)(dot - name), name);
    if (!to) {
        to = json_object_get(features, scope);
        if (!to && !json_object_set_new(features, scope, json_object()))
            to = json_object_get(features, scope);
    }
    if (!value)
        return gbose__fail(err, GBOSE_EINVAL, "'%.60s' must be a text in UTF-8", name);
    return json_object_set_new(to, dot + 1, value) ? gbose__no_memory(err) : GBOSE_OK;
}

/* The features of the present row: those of the round, or those of its action. */
int gbose__logtable_fields_put_all(const struct gbose__logtable *t, json_t *features, json_t *action,
                                   gbose_error *err)
{
    char name[GBOSE__FEATURE_NAME];
    int rc = GBOSE_OK;

    for (size_t i = 0; i < gbose__csv_columns(t->csv) && !rc; i++) {
        const char *text = gbose__csv_field(t->csv, i);
        long of;

        if (*text && gbose__logtable_fields_name(t, i, name, &of) && of < 0 &&
            gbose__logtable_fields_begins(name, "action.") == (action != NULL))
            rc = gbose__logtable_fields_put(features, action, name, text, err);
    }
    return rc;
}

int gbose__logtable_fields_begin(struct gbose__record *r, gbose_error *err)
{
    r->features = json_object();
    r->has_features = 1;
    if (!r->features || json_object_set_new(r->features, "actions", json_array()))
        return gbose__no_memory(err);
    return GBOSE_OK;
}

json_t *gbose__logtable_fields_action(struct gbose__record *r)
{
    json_t *action = json_object();

    return json_array_append_new(json_object_get(r->features, "actions"), action) ? NULL : action;
}

/* What is no column of the log's own: a value to group by. */
void gbose__logtable_fields_others(const struct gbose__logtable *t, struct gbose__record *r)
{
    const struct gbose__log_columns *c = &t->columns;
    char name[GBOSE__FEATURE_NAME];
    long of;

    for (size_t i = 0; i < gbose__csv_columns(t->csv) && r->n_columns < GBOSE__RECORD_COLUMNS; i++) {
        const char *header = gbose__csv_name(t->csv, i);
        long own = (long)i;

        if (own == c->arm || own == c->reward || own == c->id || own == c->time || own == c->unit ||
            own == c->schema || own == c->probability || own == c->played ||
            gbose__logtable_fields_begins(header, "p:") || gbose__logtable_fields_begins(header, "x:") ||
            (r->features && gbose__logtable_fields_name(t, i, name, &of) && strcmp(header, "position")))
            continue; /* the position of the Open Bandit Dataset is a feature, and a value to group by, too */
        r->column[r->n_columns++] = (struct gbose__column){header, gbose__csv_field(t->csv, i)};
    }
}
