#include "io/logtable.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/decimal.h"
#include "core/error.h"
#include "io/csv.h"

#define RECORD_MOST ((size_t)1 << 28) /* bytes of a row */
#define ARMS_MOST 100000
#define NAME_MOST 400 /* bytes of a feature's full name: longer than any that a schema can use */

/* -1 where there is none. */
struct columns {
    long arm, reward, probability, id, time, unit, played, schema;
    long *pmf; /* by arm, when all probabilities are there */
    long *x;
    size_t n_x;
};

struct gbose__logtable {
    struct gbose__log_options set;
    struct gbose__csv *csv;
    struct columns columns;
    int is_long, with_features;
    char **arms; /* ids of a wide table's arms */
    size_t n_arms, arms_room;
    int held; /* the present row begins the next decision */
    char *id; /* of the decision that is being read */
    uint64_t line;
};

/* ---- columns ---- */

static int add_arm(struct gbose__logtable *t, const char *id, size_t *at, gbose_error *err)
{
    for (*at = 0; *at < t->n_arms; ++*at)
        if (!strcmp(t->arms[*at], id))
            return GBOSE_OK;
    if (t->n_arms == ARMS_MOST)
        return gbose__fail(err, GBOSE_EINVAL, "there are more than %d arms", ARMS_MOST);
    if (t->n_arms == t->arms_room) {
        size_t more = t->arms_room ? 2 * t->arms_room : 64;
        char **grown = realloc(t->arms, more * sizeof *grown);

        if (!grown)
            return gbose__no_memory(err);
        t->arms = grown;
        t->arms_room = more;
    }
    t->arms[t->n_arms] = strdup(id);
    if (!t->arms[t->n_arms])
        return gbose__no_memory(err);
    t->n_arms++;
    return GBOSE_OK;
}

static long find(const struct gbose__logtable *t, const char *given, const char *usual)
{
    return gbose__csv_find(t->csv, given ? given : usual);
}

static int need(const struct gbose__logtable *t, long column, const char *given, const char *usual,
                const char *option, gbose_error *err)
{
    if (column >= 0)
        return GBOSE_OK;
    return gbose__fail(err, GBOSE_EINVAL, "%.100s: there is no column '%s'; say which one it is with --%s",
                       gbose__csv_path(t->csv), given ? given : usual, option);
}

static int begins(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

/* Columns whose names begin with "p:" and "x:". */
static int find_blocks(struct gbose__logtable *t, gbose_error *err)
{
    struct columns *c = &t->columns;
    size_t n = gbose__csv_columns(t->csv), at;

    c->pmf = malloc(n * sizeof *c->pmf);
    c->x = malloc(n * sizeof *c->x);
    if (!c->pmf || !c->x)
        return gbose__no_memory(err);
    for (size_t i = 0; i < n; i++) {
        const char *name = gbose__csv_name(t->csv, i);

        if (begins(name, "p:")) {
            int rc = add_arm(t, name + 2, &at, err);

            if (rc)
                return rc;
            c->pmf[at] = (long)i;
        } else if (begins(name, "x:")) {
            c->x[c->n_x++] = (long)i;
        }
    }
    return GBOSE_OK;
}

/* The full name of the feature that a column holds: 1, or 0 if it holds none. An affinity of the Open Bandit
 * Dataset is of the arm with the number that is left in `of`; any other feature's is -1. */
static int feature_name(const struct gbose__logtable *t, size_t column, char name[NAME_MOST], long *of)
{
    static const char user[] = "user_feature_", affinity[] = "user-item_affinity_";
    const char *header = gbose__csv_name(t->csv, column);

    *of = -1;
    if (t->set.format != GBOSE__LOG_OBD) {
        snprintf(name, NAME_MOST, "%s", header);
        return strchr(header, '.') && !begins(header, "x:") && !begins(header, "p:") &&
               strlen(header) < NAME_MOST;
    }
    if (begins(header, user))
        snprintf(name, NAME_MOST, "user.feature_%.100s", header + sizeof user - 1);
    else if (!strcmp(header, "position"))
        snprintf(name, NAME_MOST, "page.position");
    else if (begins(header, affinity)) {
        snprintf(name, NAME_MOST, "action.affinity");
        *of = strtol(header + sizeof affinity - 1, NULL, 10);
    } else
        return 0;
    return 1;
}

static int check_columns(struct gbose__logtable *t, gbose_error *err)
{
    const struct gbose__log_options *set = &t->set;
    const struct columns *c = &t->columns;
    char name[NAME_MOST];
    long of;
    int named = 0, rc = GBOSE_OK;

    for (size_t i = 0; i < gbose__csv_columns(t->csv); i++)
        named |= feature_name(t, i, name, &of);
    t->with_features &= named || !t->is_long;
    if (set->features_only)
        return named ? GBOSE_OK
                     : gbose__fail(err, GBOSE_EINVAL,
                                   "%.100s: no column is a feature; their names have a dot, as action.price "
                                   "and user.age",
                                   gbose__csv_path(t->csv));
    if (t->is_long) {
        rc = need(t, c->id, set->id, "id", "id", err);
        rc = rc ? rc : need(t, c->probability, set->probability, "probability", "probability", err);
    } else {
        rc = need(t, c->arm, set->arm, "arm", "arm", err);
        if (!rc && !t->n_arms)
            rc = need(t, c->probability, set->probability, "probability", "probability", err);
    }
    return rc ? rc : need(t, c->reward, set->reward, "reward", "reward", err);
}

static int find_columns(struct gbose__logtable *t, gbose_error *err)
{
    struct gbose__log_options *set = &t->set;
    struct columns *c = &t->columns;
    int rc;

    if (set->format == GBOSE__LOG_OBD) {
        set->arm = set->arm ? set->arm : "item_id";
        set->reward = set->reward ? set->reward : "click";
        set->probability = set->probability ? set->probability : "propensity_score";
        set->time = set->time ? set->time : "timestamp";
    }
    c->arm = find(t, set->arm, "arm");
    c->reward = find(t, set->reward, "reward");
    c->probability = find(t, set->probability, "probability");
    c->id = find(t, set->id, "id");
    c->time = find(t, set->time, "t");
    c->unit = find(t, set->unit, "unit");
    c->played = gbose__csv_find(t->csv, "played");
    c->schema = gbose__csv_find(t->csv, "schema");
    t->is_long = c->played >= 0 || (set->features_only && c->arm < 0);
    for (size_t i = 0; i < gbose__csv_columns(t->csv); i++)
        t->is_long |= begins(gbose__csv_name(t->csv, i), "action.");
    rc = find_blocks(t, err);
    return rc ? rc : check_columns(t, err);
}

int gbose__logtable_open(struct gbose__logtable **out, const char *path,
                         const struct gbose__log_options *options, gbose_error *err)
{
    struct gbose__logtable *t = calloc(1, sizeof *t);
    int rc;

    if (!t)
        return gbose__no_memory(err);
    t->set = *options;
    t->with_features = options->schema || options->keep_features || options->features_only;
    rc = gbose__csv_open(&t->csv, path, RECORD_MOST, err);
    rc = rc ? rc : find_columns(t, err);
    for (size_t i = 0; i < options->arms && !rc; i++) { /* they are numbered */
        char id[24];
        size_t at;

        snprintf(id, sizeof id, "%zu", i);
        rc = add_arm(t, id, &at, err);
    }
    if (rc) {
        gbose__logtable_close(t);
        return rc;
    }
    *out = t;
    return GBOSE_OK;
}

void gbose__logtable_close(struct gbose__logtable *t)
{
    if (!t)
        return;
    gbose__csv_close(t->csv);
    for (size_t i = 0; i < t->n_arms; i++)
        free(t->arms[i]);
    free(t->arms);
    free(t->columns.pmf);
    free(t->columns.x);
    free(t->id);
    free(t);
}

uint64_t gbose__logtable_line(const struct gbose__logtable *t)
{
    return t->line ? t->line : gbose__csv_line(t->csv);
}

const char *gbose__logtable_path(const struct gbose__logtable *t)
{
    return gbose__csv_path(t->csv);
}

/* ---- fields ---- */

static int number(const struct gbose__logtable *t, long column, double *out, gbose_error *err)
{
    const char *text = gbose__csv_field(t->csv, (size_t)column);
    char *end;

    *out = strtod(text, &end);
    if (end == text || *end || !isfinite(*out))
        return gbose__fail(err, GBOSE_EINVAL, "'%.60s' must be a number; got '%.40s'",
                           gbose__csv_name(t->csv, (size_t)column), text);
    return GBOSE_OK;
}

static const char *field_if(const struct gbose__logtable *t, long column)
{
    const char *text = column >= 0 ? gbose__csv_field(t->csv, (size_t)column) : NULL;

    return text && *text ? text : NULL;
}

/* Put a feature under its full name into an object of scopes, or, an action's, into that action. */
static int put_feature(json_t *features, json_t *action, const char *name, const char *text, gbose_error *err)
{
    const char *dot = strchr(name, '.');
    char scope[NAME_MOST];
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
static int put_features(const struct gbose__logtable *t, json_t *features, json_t *action, gbose_error *err)
{
    char name[NAME_MOST];
    int rc = GBOSE_OK;

    for (size_t i = 0; i < gbose__csv_columns(t->csv) && !rc; i++) {
        const char *text = gbose__csv_field(t->csv, i);
        long of;

        if (*text && feature_name(t, i, name, &of) && of < 0 && begins(name, "action.") == (action != NULL))
            rc = put_feature(features, action, name, text, err);
    }
    return rc;
}

static int begin_features(struct gbose__record *r, gbose_error *err)
{
    r->features = json_object();
    r->has_features = 1;
    if (!r->features || json_object_set_new(r->features, "actions", json_array()))
        return gbose__no_memory(err);
    return GBOSE_OK;
}

static json_t *add_action(struct gbose__record *r)
{
    json_t *action = json_object();

    return json_array_append_new(json_object_get(r->features, "actions"), action) ? NULL : action;
}

/* What is no column of the log's own: a value to group by. */
static void take_columns(const struct gbose__logtable *t, struct gbose__record *r)
{
    const struct columns *c = &t->columns;
    char name[NAME_MOST];
    long of;

    for (size_t i = 0; i < gbose__csv_columns(t->csv) && r->n_columns < GBOSE__RECORD_COLUMNS; i++) {
        const char *header = gbose__csv_name(t->csv, i);
        long own = (long)i;

        if (own == c->arm || own == c->reward || own == c->id || own == c->time || own == c->unit ||
            own == c->schema || begins(header, "p:") || begins(header, "x:") ||
            (r->features && feature_name(t, i, name, &of)))
            continue;
        r->column[r->n_columns++] = (struct gbose__column){header, gbose__csv_field(t->csv, i)};
    }
}

/* ---- wide ---- */

static int wide_pmf(struct gbose__logtable *t, struct gbose__record *r, gbose_error *err)
{
    double own = 1, p;
    int whole = t->columns.probability < 0, rc = GBOSE_OK;

    if (!whole)
        rc = number(t, t->columns.probability, &own, err);
    for (size_t a = 0; a < t->n_arms && !rc; a++) {
        if (whole)
            rc = number(t, t->columns.pmf[a], &p, err);
        else
            p = a == r->arm ? t->n_arms > 1 ? own : 1 : (1 - own) / (double)(t->n_arms - 1);
        if (!rc && (gbose__record_push(&r->pmf, &r->pmf_room, a, p) || gbose__record_push_arm(r, t->arms[a])))
            rc = gbose__no_memory(err);
    }
    r->n_arms = t->n_arms;
    r->partial = !whole && t->n_arms > 1;
    return rc;
}

/* Features of the round, a block for each arm but the first. */
static int wide_contexts(struct gbose__logtable *t, struct gbose__record *r, gbose_error *err)
{
    size_t n_x = t->columns.n_x, q = 1 + n_x, dim = q * (r->n_arms - 1);
    int rc = GBOSE_OK;

    if (!n_x || r->partial || r->n_arms < 2)
        return GBOSE_OK;
    for (size_t i = 0; i < r->n_arms * dim && !rc; i++)
        rc = gbose__record_push(&r->x, &r->x_room, i, 0) ? gbose__no_memory(err) : GBOSE_OK;
    for (size_t i = 0; i < n_x && !rc; i++) {
        double value;

        rc = number(t, t->columns.x[i], &value, err);
        for (size_t a = 1; a < r->n_arms && !rc; a++) {
            r->x[a * dim + (a - 1) * q] = 1;
            r->x[a * dim + (a - 1) * q + 1 + i] = value;
        }
    }
    r->dim = rc ? 0 : dim;
    return rc;
}

static int wide_features(const struct gbose__logtable *t, struct gbose__record *r, gbose_error *err)
{
    char name[NAME_MOST];
    int rc = begin_features(r, err);

    rc = rc ? rc : put_features(t, r->features, NULL, err);
    for (size_t a = 0; a < t->n_arms && !rc; a++) {
        json_t *action = add_action(r);

        rc = action ? put_feature(NULL, action, "action.id", t->arms[a], err) : gbose__no_memory(err);
    }
    for (size_t i = 0; i < gbose__csv_columns(t->csv) && !rc; i++) {
        const char *text = gbose__csv_field(t->csv, i);
        long of;
        size_t at = 0;

        if (!*text || !feature_name(t, i, name, &of) || of < 0)
            continue;
        while (at < t->n_arms && strtol(t->arms[at], NULL, 10) != of)
            at++;
        if (at < t->n_arms)
            rc = put_feature(NULL, json_array_get(json_object_get(r->features, "actions"), at), name, text,
                             err);
    }
    return rc;
}

static int take_wide(struct gbose__logtable *t, struct gbose__record *r, gbose_error *err)
{
    const struct columns *c = &t->columns;
    const char *arm = gbose__csv_field(t->csv, (size_t)c->arm);
    int rc = GBOSE_OK;

    if (c->probability < 0 && !t->set.features_only) {
        for (r->arm = 0; r->arm < t->n_arms && strcmp(t->arms[r->arm], arm); r->arm++)
            ;
        if (r->arm == t->n_arms)
            return gbose__fail(err, GBOSE_EINVAL, "arm '%.40s' has no column 'p:%.40s'", arm, arm);
    } else {
        rc = add_arm(t, arm, &r->arm, err);
    }
    if (!rc && t->with_features)
        rc = wide_features(t, r, err);
    if (rc || t->set.features_only)
        return rc;
    rc = wide_pmf(t, r, err);
    rc = rc ? rc : wide_contexts(t, r, err);
    if (rc)
        return rc;
    r->has_reward = field_if(t, c->reward) != NULL;
    if (r->has_reward)
        rc = number(t, c->reward, &r->reward, err);
    r->id = field_if(t, c->id);
    r->time = field_if(t, c->time);
    r->unit = field_if(t, c->unit);
    r->schema = field_if(t, c->schema);
    take_columns(t, r);
    return rc ? rc : gbose__record_check(r, err);
}

static int next_wide(struct gbose__logtable *t, struct gbose__record *r, gbose_error *err)
{
    int rc = gbose__csv_next(t->csv, err);

    if (rc != 1)
        return rc;
    rc = take_wide(t, r, err);
    return rc ? rc : 1;
}

/* ---- long ---- */

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
    const struct columns *c = &t->columns;
    const char *texts[] = {field_if(t, c->id), field_if(t, c->time), field_if(t, c->unit),
                           field_if(t, c->schema)};
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
        rc = begin_features(r, err);
        rc = rc ? rc : put_features(t, r->features, NULL, err);
    }
    return rc;
}

static int is_true(const char *text)
{
    return text && (!strcmp(text, "1") || !strcmp(text, "true") || !strcmp(text, "True"));
}

/* The present row is a further arm. `played` counts those that were. */
static int take_arm(struct gbose__logtable *t, struct gbose__record *r, int *played, gbose_error *err)
{
    const struct columns *c = &t->columns;
    const char *reward = field_if(t, c->reward), *id = field_if(t, c->arm);
    size_t a;
    double p;
    int rc = GBOSE_OK;

    if (t->with_features) {
        json_t *action = add_action(r);

        rc = action ? put_features(t, NULL, action, err) : gbose__no_memory(err);
    }
    if (rc || t->set.features_only)
        return rc;
    a = r->n_arms++;
    rc = number(t, c->probability, &p, err);
    if (!rc && gbose__record_push(&r->pmf, &r->pmf_room, a, p))
        rc = gbose__no_memory(err);
    for (size_t i = 0; i < c->n_x && !rc; i++) {
        double value;

        rc = number(t, c->x[i], &value, err);
        if (!rc && gbose__record_push(&r->x, &r->x_room, a * c->n_x + i, value))
            rc = gbose__no_memory(err);
    }
    id = id ? id : field_if(t, gbose__csv_find(t->csv, "action.id"));
    if (!rc && id && r->n_ids == a) {
        id = keep(r, id);
        if (!id || gbose__record_push_arm(r, id))
            rc = gbose__no_memory(err);
    }
    if (rc || !(c->played >= 0 ? is_true(field_if(t, c->played)) : reward != NULL))
        return rc;
    r->arm = a;
    ++*played;
    r->has_reward = reward != NULL;
    return reward ? number(t, c->reward, &r->reward, err) : GBOSE_OK;
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
static int next_long(struct gbose__logtable *t, struct gbose__record *r, gbose_error *err)
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

/* ---- both ---- */

int gbose__logtable_next(struct gbose__logtable *t, struct gbose__record *r, gbose_error *err)
{
    struct gbose__decimal decimal;
    int rc, set = gbose__decimal_begin(&decimal) == GBOSE_OK;

    t->line = 0;
    rc = t->is_long ? next_long(t, r, err) : next_wide(t, r, err);
    if (set)
        gbose__decimal_end(&decimal);
    return rc;
}
