/* A table in which a row is an arm, and rows with the same id are a decision. */
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "io/logtable_inner.h"

/* A copy of a text that lives as long as the record. NULL: out of memory. */
static const char *keep(struct gbose__record *r, const char *text)
{
    json_t *copy = json_string_nocheck(text);

    if (!r->document)
        r->document = json_array();
    return json_array_append_new(r->document, copy) ? NULL : json_string_value(copy);
}

/* What all rows of a decision have in common, from the first one. */
static int begin_long(struct gbose__logtable *t, struct gbose__record *r, gbose_error *err)
{
    const struct gbose__log_columns *c = &t->columns;
    const char *texts[] = {gbose__logtable_fields_text(t, c->id), gbose__logtable_fields_text(t, c->time),
                           gbose__logtable_fields_text(t, c->unit),
                           gbose__logtable_fields_text(t, c->schema)};
    const char **to[] = {&r->id, &r->time, &r->unit, &r->schema};
    int rc = GBOSE_OK;

    free(t->id);
    t->id = strdup(c->id >= 0 ? gbose__csv_field(t->csv, (size_t)c->id) : "");
    if (!t->id)
        return gbose__no_memory(err);
    for (int i = 0; i < 4; i++)
        if (texts[i]) {
            *to[i] = keep(r, texts[i]);
            if (!*to[i])
                return gbose__no_memory(err);
        }
    if (t->with_features) {
        rc = gbose__logtable_fields_begin(r, err);
        rc = rc ? rc : gbose__logtable_fields_put_all(t, r->features, NULL, err);
    }
    gbose__logtable_fields_others(t, r);
    for (size_t i = 0; i < r->n_columns && !rc; i++) {
        r->column[i].text = keep(r, r->column[i].text);
        rc = r->column[i].text ? GBOSE_OK : gbose__no_memory(err);
    }
    return rc;
}

/* Was the arm of the present row played? 1 or 0; GBOSE_EINVAL if 'played' says neither. */
static int is_played(const struct gbose__logtable *t, gbose_error *err)
{
    static const char *const words[] = {"0",    "1",     "false", "true", "False",
                                        "True", "FALSE", "TRUE",  "0.0",  "1.0"};
    const char *text = gbose__logtable_fields_text(t, t->columns.played);

    if (t->columns.played < 0)
        return gbose__logtable_fields_text(t, t->columns.reward) != NULL;
    for (size_t i = 0; i < sizeof words / sizeof *words && text; i++)
        if (!strcmp(text, words[i]))
            return i % 2;
    return text ? gbose__fail(err, GBOSE_EINVAL, "'played' must be 1 or 0; got '%.40s'", text) : 0;
}

/* The present row is a further arm. `played` counts those that were. */
static int take_arm(struct gbose__logtable *t, struct gbose__record *r, int *played, gbose_error *err)
{
    const struct gbose__log_columns *c = &t->columns;
    const char *reward = gbose__logtable_fields_text(t, c->reward),
               *id = gbose__logtable_fields_text(t, c->arm);
    size_t a;
    double p;
    int rc = GBOSE_OK;

    if (t->with_features) {
        json_t *action = gbose__logtable_fields_action(r);

        rc = action ? gbose__logtable_fields_put_all(t, NULL, action, err) : gbose__no_memory(err);
    }
    if (rc || t->set.features_only)
        return rc;
    a = r->n_arms++;
    rc = gbose__logtable_fields_number(t, c->probability, &p, err);
    if (!rc && gbose__record_push(&r->pmf, &r->pmf_room, a, p))
        rc = gbose__no_memory(err);
    for (size_t i = 0; i < c->n_x && !rc; i++) {
        double value;

        rc = gbose__logtable_fields_number(t, c->x[i], &value, err);
        if (!rc && gbose__record_push(&r->x, &r->x_room, a * c->n_x + i, value))
            rc = gbose__no_memory(err);
    }
    id = id ? id : gbose__logtable_fields_text(t, gbose__csv_find(t->csv, "action.id"));
    if (!rc && id && r->n_ids == a) {
        id = keep(r, id);
        if (!id || gbose__record_push_arm(r, id))
            rc = gbose__no_memory(err);
    }
    rc = rc ? rc : is_played(t, err);
    if (rc != 1)
        return rc;
    r->arm = a;
    ++*played;
    r->has_reward = reward != NULL;
    return reward ? gbose__logtable_fields_number(t, c->reward, &r->reward, err) : GBOSE_OK;
}

static int end_long(struct gbose__logtable *t, struct gbose__record *r, int played, gbose_error *err)
{
    if (t->set.features_only)
        return GBOSE_OK;
    if (played != 1)
        return gbose__fail(
            err, GBOSE_EINVAL,
            "decision '%.40s' has %zu arms, of which %d were played instead of one ('played' is "
            "1, or without that column the reward is there)",
            t->id, r->n_arms, played);
    if (r->n_ids != r->n_arms)
        r->n_ids = 0;
    r->dim = t->columns.n_x;
    return gbose__record_check(r, err);
}

/* The rows of a decision. After an error its other rows are passed over. */
int gbose__logtable_long_next(struct gbose__logtable *t, struct gbose__record *r, gbose_error *err)
{
    gbose_error later;
    int rc = GBOSE_OK, played = 0, more = t->held ? 1 : gbose__csv_next(t->csv, err);

    t->held = 0;
    if (more != 1)
        return more;
    t->line = gbose__csv_line(t->csv);
    rc = begin_long(t, r, err);
    do {
        rc = rc ? rc : take_arm(t, r, &played, err);
        if (t->columns.id < 0)
            break;
        more = gbose__csv_next(t->csv, rc ? &later : err);
        if (more < 0 && !rc)
            rc = more;
        if (more == 1 && strcmp(t->id, gbose__csv_field(t->csv, (size_t)t->columns.id))) {
            t->held = 1;
            break;
        }
    } while (more == 1 || more == GBOSE_EINVAL);
    rc = rc ? rc : end_long(t, r, played, err);
    return rc ? rc : 1;
}
