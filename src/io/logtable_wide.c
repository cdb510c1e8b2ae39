/* A table in which a row is a decision. In one of a trial its arms are 0 and 1, treated, and the probability is that of 1. */
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "io/logtable_inner.h"

/* Where only the played arm's probability is known the others share the rest. */
static int take_pmf(struct gbose__logtable *t, struct gbose__record *r, gbose_error *err)
{
    double own = 1, p;
    int whole = t->columns.n_pmf > 0,
        rc = whole ? GBOSE_OK : gbose__logtable_fields_number(t, t->columns.probability, &own, err);

    if (!rc && !(own >= 0 && own <= 1))
        return gbose__fail(err, GBOSE_EINVAL, "the probability is %g: it must be from 0 to 1", own);
    if (t->set.format == GBOSE__LOG_TRIAL && r->arm == 0)
        own = 1 - own;
    for (size_t a = 0; a < t->n_arms && !rc; a++) {
        if (whole)
            rc = gbose__logtable_fields_number(t, t->columns.pmf[a], &p, err);
        else
            p = a == r->arm ? own : (1 - own) / (double)(t->n_arms - 1);
        if (!rc && (gbose__record_push(&r->pmf, &r->pmf_room, a, p) || gbose__record_push_arm(r, t->arms[a])))
            rc = gbose__no_memory(err);
    }
    r->n_arms = t->n_arms;
    r->partial = !whole && t->n_arms > 1 && t->set.format != GBOSE__LOG_TRIAL;
    return rc;
}

/* Features of the round, a block for each arm but the first: a constant and the features. */
static int make_contexts(struct gbose__logtable *t, struct gbose__record *r, gbose_error *err)
{
    size_t n_x = t->columns.n_x, q = 1 + n_x, dim = q * (r->n_arms - 1);
    int rc = GBOSE_OK;

    if ((!n_x && t->set.format != GBOSE__LOG_TRIAL) || r->partial || r->n_arms < 2)
        return GBOSE_OK;
    for (size_t i = 0; i < r->n_arms * dim && !rc; i++)
        rc = gbose__record_push(&r->x, &r->x_room, i, 0) ? gbose__no_memory(err) : GBOSE_OK;
    for (size_t a = 1; a < r->n_arms && !rc; a++)
        r->x[a * dim + (a - 1) * q] = 1;
    for (size_t i = 0; i < n_x && !rc; i++) {
        double value;

        rc = gbose__logtable_fields_number(t, t->columns.x[i], &value, err);
        for (size_t a = 1; a < r->n_arms && !rc; a++)
            r->x[a * dim + (a - 1) * q + 1 + i] = value;
    }
    r->dim = rc ? 0 : dim;
    return rc;
}

static int take_features(const struct gbose__logtable *t, struct gbose__record *r, gbose_error *err)
{
    char name[GBOSE__FEATURE_NAME];
    int rc = gbose__logtable_fields_begin(r, err);

    rc = rc ? rc : gbose__logtable_fields_put_all(t, r->features, NULL, err);
    for (size_t a = 0; a < t->n_arms && !rc; a++) {
        json_t *action = gbose__logtable_fields_action(r);

        rc = action ? gbose__logtable_fields_put(NULL, action, "action.id", t->arms[a], err)
                    : gbose__no_memory(err);
    }
    for (size_t i = 0; i < gbose__csv_columns(t->csv) && !rc; i++) {
        const char *text = gbose__csv_field(t->csv, i);
        long of;
        size_t at = 0;

        if (!*text || !gbose__logtable_fields_name(t, i, name, &of) || of < 0)
            continue;
        while (at < t->n_arms && strtol(t->arms[at], NULL, 10) != of)
            at++;
        if (at < t->n_arms)
            rc = gbose__logtable_fields_put(NULL, json_array_get(json_object_get(r->features, "actions"), at),
                                            name, text, err);
    }
    return rc;
}

/* The arm that was played, in the list. Features need no list: it grows by what comes. */
static int find_played(struct gbose__logtable *t, struct gbose__record *r, gbose_error *err)
{
    const char *arm = gbose__csv_field(t->csv, (size_t)t->columns.arm);
    double action;
    int rc;

    if (t->set.format == GBOSE__LOG_TRIAL) {
        rc = gbose__logtable_fields_number(t, t->columns.arm, &action, err);
        if (!rc && action != 0 && action != 1)
            rc = gbose__fail(err, GBOSE_EINVAL, "the action is %g: it must be 0 or 1", action);
        r->arm = !rc && action == 1;
        return rc;
    }
    r->arm = gbose__logtable_find_arm(t, arm);
    if (r->arm < t->n_arms)
        return GBOSE_OK;
    if (t->set.features_only)
        return gbose__logtable_add_arm(t, arm, err);
    if (t->columns.n_pmf)
        return gbose__fail(err, GBOSE_EINVAL, "arm '%.40s' has no column 'p:%.40s'", arm, arm);
    return gbose__fail(err, GBOSE_EINVAL, "arm '%.40s' is not among the %zu of --arms", arm, t->n_arms);
}

static int take_row(struct gbose__logtable *t, struct gbose__record *r, gbose_error *err)
{
    const struct gbose__log_columns *c = &t->columns;
    int rc = find_played(t, r, err);

    if (!rc && t->with_features)
        rc = take_features(t, r, err);
    if (rc || t->set.features_only)
        return rc;
    rc = take_pmf(t, r, err);
    rc = rc ? rc : make_contexts(t, r, err);
    if (rc)
        return rc;
    r->has_reward = gbose__logtable_fields_text(t, c->reward) != NULL;
    if (r->has_reward)
        rc = gbose__logtable_fields_number(t, c->reward, &r->reward, err);
    r->id = gbose__logtable_fields_text(t, c->id);
    r->time = gbose__logtable_fields_text(t, c->time);
    r->unit = gbose__logtable_fields_text(t, c->unit);
    r->schema = gbose__logtable_fields_text(t, c->schema);
    gbose__logtable_fields_others(t, r);
    return rc ? rc : gbose__record_check(r, err);
}

int gbose__logtable_wide_next(struct gbose__logtable *t, struct gbose__record *r, gbose_error *err)
{
    double available;
    int rc;

    do { /* where no treatment was possible nothing was drawn */
        available = 1;
        rc = gbose__csv_next(t->csv, err);
        if (rc != 1)
            return rc;
        rc = t->columns.available < 0
                 ? GBOSE_OK
                 : gbose__logtable_fields_number(t, t->columns.available, &available, err);
        if (rc)
            return rc;
    } while (available == 0);
    rc = take_row(t, r, err);
    return rc ? rc : 1;
}
