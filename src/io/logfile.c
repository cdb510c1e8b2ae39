#include "io/logfile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/decimal.h"
#include "core/error.h"
#include "io/csv.h"
#include "io/features.h"
#include "io/lines.h"

#define LINE_MOST ((size_t)1 << 28) /* bytes of a line */
#define ARMS_MOST 100000            /* of a table */

/* A table's columns: -1 where there is none. */
struct columns {
    long arm, reward, probability, id, time, unit;
    long *pmf; /* by arm, when all probabilities are there */
    long *x;   /* features of the round */
    size_t n_x;
};

struct gbose__log {
    struct gbose__log_options set;
    struct gbose__lines *lines; /* one of the two */
    struct gbose__csv *csv;
    struct gbose__record record;
    struct gbose__round_features features;
    struct columns columns;
    char **arms; /* ids of a table's arms */
    size_t n_arms, arms_room;
};

int gbose__log_format_named(const char *name)
{
    static const char *const names[] = {"auto", "json", "dsjson", "csv", "obd"};

    for (int i = 0; i < 5; i++)
        if (!strcmp(names[i], name))
            return i;
    return -1;
}

/* ---- tables ---- */

static int add_arm(struct gbose__log *log, const char *id, size_t *at)
{
    for (*at = 0; *at < log->n_arms; ++*at)
        if (!strcmp(log->arms[*at], id))
            return GBOSE_OK;
    if (log->n_arms == ARMS_MOST)
        return GBOSE_ESIZE;
    if (log->n_arms == log->arms_room) {
        size_t more = log->arms_room ? 2 * log->arms_room : 64;
        char **grown = realloc(log->arms, more * sizeof *grown);

        if (!grown)
            return GBOSE_ENOMEM;
        log->arms = grown;
        log->arms_room = more;
    }
    log->arms[log->n_arms] = strdup(id);
    if (!log->arms[log->n_arms])
        return GBOSE_ENOMEM;
    log->n_arms++;
    return GBOSE_OK;
}

static long find(const struct gbose__log *log, const char *given, const char *usual)
{
    return gbose__csv_find(log->csv, given ? given : usual);
}

static int need(long column, const char *given, const char *usual, const char *option, gbose_error *err)
{
    if (column >= 0)
        return GBOSE_OK;
    return gbose__fail(err, GBOSE_EINVAL, "there is no column '%s'; say which one it is with --%s",
                       given ? given : usual, option);
}

/* Columns whose names begin with "p:" and "x:". */
static int find_blocks(struct gbose__log *log, gbose_error *err)
{
    struct columns *c = &log->columns;
    size_t n = gbose__csv_columns(log->csv), at;

    c->pmf = malloc(n * sizeof *c->pmf);
    c->x = malloc(n * sizeof *c->x);
    if (!c->pmf || !c->x)
        return gbose__no_memory(err);
    for (size_t i = 0; i < n; i++) {
        const char *name = gbose__csv_name(log->csv, i);

        if (!strncmp(name, "p:", 2)) {
            if (add_arm(log, name + 2, &at))
                return gbose__no_memory(err);
            c->pmf[at] = (long)i;
        } else if (!strncmp(name, "x:", 2)) {
            c->x[c->n_x++] = (long)i;
        }
    }
    return GBOSE_OK;
}

static int open_table(struct gbose__log *log, const char *path, gbose_error *err)
{
    struct gbose__log_options *set = &log->set;
    struct columns *c = &log->columns;
    int rc = gbose__csv_open(&log->csv, path, LINE_MOST, err);

    if (rc)
        return rc;
    if (set->format == GBOSE__LOG_OBD) {
        set->arm = set->arm ? set->arm : "item_id";
        set->reward = set->reward ? set->reward : "click";
        set->probability = set->probability ? set->probability : "propensity_score";
        set->time = set->time ? set->time : "timestamp";
    }
    c->arm = find(log, set->arm, "arm");
    c->reward = find(log, set->reward, "reward");
    c->probability = find(log, set->probability, "probability");
    c->id = find(log, set->id, "id");
    c->time = find(log, set->time, "t");
    c->unit = find(log, set->unit, "unit");
    rc = find_blocks(log, err);
    rc = rc ? rc : need(c->arm, set->arm, "arm", "arm", err);
    rc = rc ? rc : need(c->reward, set->reward, "reward", "reward", err);
    if (!rc && !log->n_arms)
        rc = need(c->probability, set->probability, "probability", "probability", err);
    for (size_t i = 0; i < set->arms && !rc; i++) { /* they are numbered */
        char id[24];
        size_t at;

        snprintf(id, sizeof id, "%zu", i);
        rc = add_arm(log, id, &at) ? gbose__no_memory(err) : GBOSE_OK;
    }
    return rc;
}

static int number(const struct gbose__log *log, long column, double *out, gbose_error *err)
{
    const char *text = gbose__csv_field(log->csv, (size_t)column);
    char *end;

    *out = strtod(text, &end);
    if (end == text || *end || !isfinite(*out))
        return gbose__fail(err, GBOSE_EINVAL, "'%s' must be a number; got '%.40s'",
                           gbose__csv_name(log->csv, (size_t)column), text);
    return GBOSE_OK;
}

static const char *field_if(const struct gbose__log *log, long column)
{
    const char *text = column >= 0 ? gbose__csv_field(log->csv, (size_t)column) : NULL;

    return text && *text ? text : NULL;
}

static int table_pmf(struct gbose__log *log, gbose_error *err)
{
    struct gbose__record *r = &log->record;
    double own = 1, p;
    int whole = gbose__csv_columns(log->csv) > 0 && log->columns.probability < 0, rc = GBOSE_OK;

    if (!whole)
        rc = number(log, log->columns.probability, &own, err);
    for (size_t a = 0; a < log->n_arms && !rc; a++) {
        if (whole)
            rc = number(log, log->columns.pmf[a], &p, err);
        else
            p = a == r->arm ? log->n_arms > 1 ? own : 1 : (1 - own) / (double)(log->n_arms - 1);
        if (!rc &&
            (gbose__record_push(&r->pmf, &r->pmf_room, a, p) || gbose__record_push_arm(r, log->arms[a])))
            rc = gbose__no_memory(err);
    }
    r->n_arms = log->n_arms;
    r->partial = !whole && log->n_arms > 1;
    return rc;
}

/* Features of the round, a block for each arm but the first. */
static int table_contexts(struct gbose__log *log, gbose_error *err)
{
    struct gbose__record *r = &log->record;
    size_t n_x = log->columns.n_x, q = 1 + n_x, dim = q * (r->n_arms - 1);
    int rc = GBOSE_OK;

    if (!n_x || r->partial || r->n_arms < 2)
        return GBOSE_OK;
    for (size_t i = 0; i < r->n_arms * dim && !rc; i++)
        rc = gbose__record_push(&r->x, &r->x_room, i, 0) ? gbose__no_memory(err) : GBOSE_OK;
    for (size_t i = 0; i < n_x && !rc; i++) {
        double value;

        rc = number(log, log->columns.x[i], &value, err);
        for (size_t a = 1; a < r->n_arms && !rc; a++) {
            r->x[a * dim + (a - 1) * q] = 1;
            r->x[a * dim + (a - 1) * q + 1 + i] = value;
        }
    }
    r->dim = rc ? 0 : dim;
    return rc;
}

static int take_row(struct gbose__log *log, gbose_error *err)
{
    struct gbose__record *r = &log->record;
    const struct columns *c = &log->columns;
    const char *arm = gbose__csv_field(log->csv, (size_t)c->arm);
    int rc;

    if (c->probability < 0) {
        for (r->arm = 0; r->arm < log->n_arms && strcmp(log->arms[r->arm], arm); r->arm++)
            ;
        if (r->arm == log->n_arms)
            return gbose__fail(err, GBOSE_EINVAL, "arm '%.40s' has no column 'p:%.40s'", arm, arm);
    } else if (add_arm(log, arm, &r->arm)) {
        return gbose__no_memory(err);
    }
    rc = table_pmf(log, err);
    rc = rc ? rc : table_contexts(log, err);
    if (rc)
        return rc;
    r->has_reward = field_if(log, c->reward) != NULL;
    if (r->has_reward)
        rc = number(log, c->reward, &r->reward, err);
    r->id = field_if(log, c->id);
    r->time = field_if(log, c->time);
    r->unit = field_if(log, c->unit);
    for (size_t i = 0; i < gbose__csv_columns(log->csv) && r->n_columns < GBOSE__RECORD_COLUMNS; i++)
        if ((long)i != c->arm && (long)i != c->reward && (long)i != c->id && (long)i != c->time &&
            (long)i != c->unit && strncmp(gbose__csv_name(log->csv, i), "p:", 2) &&
            strncmp(gbose__csv_name(log->csv, i), "x:", 2))
            r->column[r->n_columns++] =
                (struct gbose__column){gbose__csv_name(log->csv, i), gbose__csv_field(log->csv, i)};
    return rc ? rc : gbose__record_check(r, err);
}

static int next_row(struct gbose__log *log, gbose_error *err)
{
    struct gbose__decimal decimal;
    int rc = gbose__csv_next(log->csv, err), set;

    if (rc != 1)
        return rc;
    set = gbose__decimal_begin(&decimal) == GBOSE_OK;
    rc = take_row(log, err);
    if (set)
        gbose__decimal_end(&decimal);
    return rc ? rc : 1;
}

/* ---- lines ---- */

static int looks_like_dsjson(const char *line)
{
    return strstr(line, "\"_label_cost\"") || (strstr(line, "\"_multi\"") && strstr(line, "\"EventId\""));
}

static int next_line(struct gbose__log *log, gbose_error *err)
{
    char *line;
    size_t length;
    int rc;

    do
        rc = gbose__lines_next(log->lines, &line, &length, err);
    while (rc == 1 && line[strspn(line, " \t\r")] == 0 && strlen(line) == length); /* blank */
    if (rc != 1)
        return rc;
    if (log->set.format == GBOSE__LOG_AUTO)
        log->set.format = looks_like_dsjson(line) ? GBOSE__LOG_DSJSON : GBOSE__LOG_JSON;
    if (log->set.format == GBOSE__LOG_DSJSON)
        rc = gbose__dsjson_read(&log->record, line, length, err);
    else
        rc = gbose__jsonlog_read(&log->record, line, length, log->set.schema || log->set.keep_features, err);
    return rc ? rc : 1;
}

/* ---- both ---- */

/* Contexts by the schema. */
static int encode(struct gbose__log *log, gbose_error *err)
{
    const gbose_schema *schema = log->set.schema;
    struct gbose__record *r = &log->record;
    size_t dim = gbose_schema_dim(schema), round = gbose_schema_round(schema);
    int rc;

    if (!r->features) {
        if (r->dim == dim)
            return GBOSE_OK; /* encoded already */
        return gbose__fail(err, GBOSE_EINVAL,
                           "there are no features by name ('actions'), which the schema needs");
    }
    rc = gbose__features_from_json(&log->features, r->features, err);
    if (rc)
        return rc;
    if (log->features.n_arms != r->n_arms)
        return gbose__fail(err, GBOSE_EINVAL, "'actions' has %zu entries, and there are %zu arms",
                           log->features.n_arms, r->n_arms);
    for (size_t i = 0; i < r->n_arms * dim; i++)
        if (gbose__record_push(&r->x, &r->x_room, i, 0))
            return gbose__no_memory(err);
    for (size_t i = 0; i < round; i++)
        if (gbose__record_push(&r->round, &r->round_room, i, 0))
            return gbose__no_memory(err);
    r->dim = dim;
    r->n_round = round;
    return gbose_encode(schema, r->x, round ? r->round : NULL, &log->features.shared, log->features.actions,
                        r->n_arms, err);
}

/* Probabilities that were rounded when they were written add up to 1 again. */
static void normalise(double *pmf, size_t n)
{
    double sum = 0;

    for (size_t a = 0; a < n; a++)
        sum += pmf[a];
    if (fabs(sum - 1) > 1e-12)
        for (size_t a = 0; a < n; a++)
            pmf[a] /= sum;
}

static int has_end(const char *path, const char *end)
{
    size_t n = strlen(path), m = strlen(end);

    return n >= m && !strcmp(path + n - m, end);
}

int gbose__log_open(struct gbose__log **out, const char *path, const struct gbose__log_options *options,
                    gbose_error *err)
{
    struct gbose__log *log = calloc(1, sizeof *log);
    int rc;

    if (!log)
        return gbose__no_memory(err);
    log->set = *options;
    if (log->set.format == GBOSE__LOG_AUTO && (has_end(path, ".csv") || has_end(path, ".csv.gz")))
        log->set.format = GBOSE__LOG_CSV;
    if (log->set.format == GBOSE__LOG_CSV || log->set.format == GBOSE__LOG_OBD)
        rc = open_table(log, path, err);
    else
        rc = gbose__lines_open(&log->lines, path, LINE_MOST, err);
    if (rc) {
        gbose__log_close(log);
        return rc;
    }
    *out = log;
    return GBOSE_OK;
}

uint64_t gbose__log_line(const struct gbose__log *log)
{
    return log->csv ? gbose__csv_line(log->csv) : gbose__lines_number(log->lines);
}

int gbose__log_next(struct gbose__log *log, const struct gbose__record **out, gbose_error *err)
{
    int rc;

    gbose__record_reset(&log->record);
    rc = log->csv ? next_row(log, err) : next_line(log, err);
    if (rc == 1 && log->set.schema) {
        rc = encode(log, err);
        rc = rc ? rc : 1;
    }
    if (rc == 1) {
        normalise(log->record.pmf, log->record.n_arms);
        for (size_t i = 0; i < log->record.n_policies; i++)
            normalise(log->record.column_pmf + log->record.policy[i].first, log->record.n_arms);
        *out = &log->record;
    } else if (rc == GBOSE_EINVAL || rc == GBOSE_ENUMERIC || rc == GBOSE_EVALUE) {
        const char *path = log->csv ? gbose__csv_path(log->csv) : gbose__lines_path(log->lines);
        gbose_error inner = *err;

        if (strncmp(inner.text, path, strlen(path)))
            gbose__fail(err, GBOSE_EINVAL, "%.90s, line %llu: %.140s", path,
                        (unsigned long long)gbose__log_line(log), inner.text);
        return GBOSE_EINVAL;
    }
    return rc;
}

void gbose__log_close(struct gbose__log *log)
{
    if (!log)
        return;
    gbose__lines_close(log->lines);
    gbose__csv_close(log->csv);
    gbose__record_clear(&log->record);
    gbose__features_clear(&log->features);
    for (size_t i = 0; i < log->n_arms; i++)
        free(log->arms[i]);
    free(log->arms);
    free(log->columns.pmf);
    free(log->columns.x);
    free(log);
}
