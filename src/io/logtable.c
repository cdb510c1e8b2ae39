#include "io/logtable.h"

#include <stdlib.h>
#include <string.h>

#include "core/decimal.h"
#include "core/error.h"
#include "io/logtable_inner.h"

#define RECORD_MOST ((size_t)1 << 28) /* bytes of a row */
#define ARMS_MOST 100000

/* ---- arms of a wide table ---- */

size_t gbose__logtable_find_arm(const struct gbose__logtable *t, const char *id)
{
    size_t at = 0;

    while (at < t->n_arms && strcmp(t->arms[at], id))
        at++;
    return at;
}

int gbose__logtable_add_arm(struct gbose__logtable *t, const char *id, gbose_error *err)
{
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

/* The list that --arms gives, of ids, when they are no columns: "34" for 0 to 33, or "a,b,c". */
static int list_arms(struct gbose__logtable *t, gbose_error *err)
{
    const char *from = t->set.arms;
    size_t digits = strspn(from, "0123456789"), count = strtoul(from, NULL, 10);
    char id[GBOSE__FEATURE_NAME];
    int rc = GBOSE_OK;

    if (digits && !from[digits]) {
        if (digits > 6 || count < 1 || count > ARMS_MOST)
            return gbose__fail(err, GBOSE_EINVAL, "--arms must be from 1 to %d, or ids; got '%.40s'",
                               ARMS_MOST, from);
        for (size_t i = 0; i < count && !rc; i++) {
            snprintf(id, sizeof id, "%zu", i);
            rc = gbose__logtable_add_arm(t, id, err);
        }
        return rc;
    }
    for (;; from++) {
        size_t length = strcspn(from, ",");

        if (!length || length >= sizeof id)
            return gbose__fail(err, GBOSE_EINVAL,
                               "--arms must be how many there are, or their ids as a,b,c; got '%.100s'",
                               t->set.arms);
        snprintf(id, sizeof id, "%.*s", (int)length, from);
        if (gbose__logtable_find_arm(t, id) < t->n_arms)
            return gbose__fail(err, GBOSE_EINVAL, "--arms names '%.40s' twice", id);
        rc = gbose__logtable_add_arm(t, id, err);
        from += length;
        if (rc || !*from)
            return rc;
    }
}

/* ---- columns ---- */

static long find(const struct gbose__logtable *t, const char *given, const char *usual)
{
    return gbose__csv_find(t->csv, given ? given : usual);
}

static int need(const struct gbose__logtable *t, long column, const char *given, const char *usual,
                const char *option, gbose_error *err)
{
    return column >= 0 ? GBOSE_OK : gbose__csv_no_column(t->csv, given ? given : usual, option, err);
}

/* Columns whose names begin with "p:" and "x:". */
static int find_blocks(struct gbose__logtable *t, gbose_error *err)
{
    struct gbose__log_columns *c = &t->columns;
    size_t n = gbose__csv_columns(t->csv);

    c->pmf = malloc(n * sizeof *c->pmf);
    c->x = malloc(n * sizeof *c->x);
    if (!c->pmf || !c->x)
        return gbose__no_memory(err);
    for (size_t i = 0; i < n; i++) {
        const char *name = gbose__csv_name(t->csv, i);

        if (gbose__logtable_fields_begins(name, "p:")) {
            int rc = gbose__logtable_add_arm(t, name + 2, err);

            if (rc)
                return rc;
            c->pmf[c->n_pmf++] = (long)i;
        } else if (gbose__logtable_fields_begins(name, "x:")) {
            c->x[c->n_x++] = (long)i;
        }
    }
    return GBOSE_OK;
}

static int check_columns(struct gbose__logtable *t, gbose_error *err)
{
    const struct gbose__log_options *set = &t->set;
    const struct gbose__log_columns *c = &t->columns;
    char name[GBOSE__FEATURE_NAME];
    long of;
    int named = 0, rc = GBOSE_OK;

    for (size_t i = 0; i < gbose__csv_columns(t->csv); i++)
        named |= gbose__logtable_fields_name(t, i, name, &of);
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
        if (!rc && !c->n_pmf)
            rc = need(t, c->probability, set->probability, "probability", "probability", err);
        if (!rc && !t->n_arms)
            rc = gbose__fail(
                err, GBOSE_EINVAL,
                "%.100s: only the played arm's probability is there. To evaluate, say which arms there "
                "are: --arms 34 for 0 to 33, or --arms a,b,c; effects and learning need those of all "
                "arms, in columns 'p:ID'",
                gbose__csv_path(t->csv));
    }
    if (!rc && set->id)
        rc = need(t, c->id, set->id, "id", "id", err);
    if (!rc && set->time)
        rc = need(t, c->time, set->time, "t", "time", err);
    if (!rc && set->unit)
        rc = need(t, c->unit, set->unit, "unit", "unit", err);
    if (!rc && set->available)
        rc = need(t, c->available, set->available, "available", "available", err);
    return rc ? rc : need(t, c->reward, set->reward, "reward", "reward", err);
}

static int find_columns(struct gbose__logtable *t, gbose_error *err)
{
    struct gbose__log_options *set = &t->set;
    struct gbose__log_columns *c = &t->columns;
    int rc;

    if (set->format == GBOSE__LOG_OBD) {
        set->arm = set->arm ? set->arm : "item_id";
        set->reward = set->reward ? set->reward : "click";
        set->probability = set->probability ? set->probability : "propensity_score";
        set->time = set->time ? set->time : "timestamp";
    }
    if (set->format == GBOSE__LOG_CSV && !set->arm && gbose__csv_find(t->csv, "arm") < 0 &&
        gbose__csv_find(t->csv, "action") >= 0 && gbose__csv_find(t->csv, "outcome") >= 0)
        set->format = GBOSE__LOG_TRIAL;
    if (set->format == GBOSE__LOG_TRIAL) {
        set->arm = set->arm ? set->arm : "action";
        set->reward = set->reward ? set->reward : "outcome";
    }
    c->available =
        set->available || set->format == GBOSE__LOG_TRIAL ? find(t, set->available, "available") : -1;
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
        t->is_long |= gbose__logtable_fields_begins(gbose__csv_name(t->csv, i), "action.");
    if (set->format == GBOSE__LOG_TRIAL) {
        t->is_long = 0;
        rc = gbose__logtable_add_arm(t, "0", err);
        rc = rc ? rc : gbose__logtable_add_arm(t, "1", err);
        if (rc)
            return rc;
    }
    rc = find_blocks(t, err);
    if (!rc && set->arms && !c->n_pmf && !t->is_long)
        rc = list_arms(t, err);
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

int gbose__logtable_column(const struct gbose__logtable *t, size_t i, char *buf, size_t size)
{
    const struct gbose__log_columns *c = &t->columns;
    size_t q = 1 + c->n_x, arm = 1 + i / q;
    const char *id, *name;

    if (t->is_long) {
        if (i >= c->n_x)
            return 0;
        name = gbose__csv_name(t->csv, (size_t)c->x[i]) + 2;
        snprintf(buf, size, "%s%s", name[strspn(name, "0123456789")] ? "" : "x",
                 name); /* x0 as in other formats */
        return 2;
    }
    if (arm >= t->n_arms)
        return 0;
    id = t->set.format == GBOSE__LOG_TRIAL ? "treatment" : t->arms[arm];
    name = i % q ? gbose__csv_name(t->csv, (size_t)c->x[i % q - 1]) + 2 : "";
    snprintf(buf, size, "%s%s%s", id, *name ? "*" : "", name);
    return *name ? 2 : 1;
}

/* ---- decisions ---- */

int gbose__logtable_next(struct gbose__logtable *t, struct gbose__record *r, gbose_error *err)
{
    struct gbose__decimal decimal;
    int rc, set = gbose__decimal_begin(&decimal) == GBOSE_OK;

    t->line = 0;
    rc = t->is_long ? gbose__logtable_long_next(t, r, err) : gbose__logtable_wide_next(t, r, err);
    if (set)
        gbose__decimal_end(&decimal);
    return rc;
}
