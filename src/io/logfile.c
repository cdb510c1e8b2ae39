#include "io/logfile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "io/features.h"
#include "io/lines.h"
#include "io/logtable.h"

#define LINE_MOST ((size_t)1 << 28) /* bytes of a line */

struct gbose__log {
    struct gbose__log_options set;
    struct gbose__lines *lines; /* one of the two */
    struct gbose__logtable *table;
    struct gbose__record record;
    struct gbose__round_features features;
    uint64_t before;   /* hash of a schema that ours appends terms to, and that lines were made by; or 0 */
    size_t dim, round; /* of that one */
    char schema[17];   /* our schema's hash, as records have it */
};

int gbose__log_format_named(const char *name)
{
    static const char *const names[] = {"auto", "json", "dsjson", "csv", "obd", "trial"};

    for (int i = 0; i < 6; i++)
        if (!strcmp(names[i], name))
            return i;
    return -1;
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
    if (log->set.format == GBOSE__LOG_AUTO && line[strspn(line, " \t")] != '{')
        return gbose__fail(err, GBOSE_EINVAL,
                           "an object {...} is expected; if this is a table, say --format csv");
    if (log->set.format == GBOSE__LOG_AUTO)
        log->set.format = looks_like_dsjson(line) ? GBOSE__LOG_DSJSON : GBOSE__LOG_JSON;
    if (log->set.format == GBOSE__LOG_DSJSON)
        rc = gbose__dsjson_read(&log->record, line, length, log->set.features_only, err);
    else
        rc = gbose__jsonlog_read(&log->record, line, length,
                                 log->set.features_only                      ? GBOSE__FEATURES_ONLY
                                 : log->set.schema || log->set.keep_features ? GBOSE__FEATURES_TOO
                                                                             : GBOSE__NUMBERS_ONLY,
                                 err);
    return rc ? rc : 1;
}

/* ---- both ---- */

/* The schema that a line says it was made by: ours, or one that ours only appends terms to; or, with
 * features by name and if that is wanted, any. */
static int check_schema(struct gbose__log *log, gbose_error *err)
{
    const struct gbose__record *r = &log->record;
    const gbose_schema *schema = log->set.schema;
    gbose_schema *before;
    uint64_t hash;
    int rc;

    if (!r->schema || !strcmp(r->schema, log->schema) || (log->set.any_schema && r->features))
        return GBOSE_OK;
    hash = strtoull(r->schema, NULL, 16);
    if (log->before && hash == log->before)
        return GBOSE_OK;
    rc = gbose_schema_before(&before, schema, hash, NULL);
    if (rc == GBOSE_ENOMEM)
        return gbose__no_memory(err);
    if (rc)
        return gbose__fail(err, GBOSE_ESCHEMA, "it was made by the schema %s, and the one given is %s%s",
                           r->schema, log->schema,
                           r->features ? "; --any-schema makes contexts anew of the features by name" : "");
    log->before = hash;
    log->dim = gbose_schema_dim(before);
    log->round = gbose_schema_round(before);
    gbose_schema_free(before);
    return GBOSE_OK;
}

/* Contexts that were made by an earlier schema: what terms were appended since were 0, as gbose_grow_for()
 * has it. */
static int widen(struct gbose__record *r, size_t dim, size_t round, gbose_error *err)
{
    for (size_t i = r->n_arms * r->dim; i < r->n_arms * dim; i++)
        if (gbose__record_push(&r->x, &r->x_room, i, 0))
            return gbose__no_memory(err);
    for (size_t a = r->n_arms; a-- > 0;) {
        memmove(r->x + a * dim, r->x + a * r->dim, r->dim * sizeof *r->x);
        memset(r->x + a * dim + r->dim, 0, (dim - r->dim) * sizeof *r->x);
    }
    for (; r->n_round && r->n_round < round; r->n_round++)
        if (gbose__record_push(&r->round, &r->round_room, r->n_round, 0))
            return gbose__no_memory(err);
    r->dim = dim;
    return GBOSE_OK;
}

/* Contexts by the schema. */
static int encode(struct gbose__log *log, gbose_error *err)
{
    const gbose_schema *schema = log->set.schema;
    struct gbose__record *r = &log->record;
    size_t dim = gbose_schema_dim(schema), round = gbose_schema_round(schema);
    int rc = check_schema(log, err);

    if (rc)
        return rc;
    if (!r->features) {
        size_t was = !r->schema || !strcmp(r->schema, log->schema) ? dim : log->dim;

        if (r->dim == was && (r->schema || !log->table)) { /* made already */
            r->schema = log->schema;
            return was == dim ? GBOSE_OK : widen(r, dim, round, err);
        }
        return gbose__fail(err, GBOSE_EINVAL,
                           "there are no features by name ('actions'), which the schema needs");
    }
    r->schema = log->schema;
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

int gbose__log_is_table(const char *path, enum gbose__log_format format)
{
    if (format == GBOSE__LOG_AUTO)
        return has_end(path, ".csv") || has_end(path, ".csv.gz");
    return format == GBOSE__LOG_CSV || format == GBOSE__LOG_OBD || format == GBOSE__LOG_TRIAL;
}

int gbose__log_open(struct gbose__log **out, const char *path, const struct gbose__log_options *options,
                    gbose_error *err)
{
    struct gbose__log *log = calloc(1, sizeof *log);
    int rc;

    if (!log)
        return gbose__no_memory(err);
    log->set = *options;
    if (log->set.format == GBOSE__LOG_AUTO && gbose__log_is_table(path, log->set.format))
        log->set.format = GBOSE__LOG_CSV;
    if (log->set.schema)
        snprintf(log->schema, sizeof log->schema, "%016llx",
                 (unsigned long long)gbose_schema_hash(log->set.schema));
    if (gbose__log_is_table(path, log->set.format))
        rc = gbose__logtable_open(&log->table, path, &log->set, err);
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
    return log->table ? gbose__logtable_line(log->table) : gbose__lines_number(log->lines);
}

int gbose__log_next(struct gbose__log *log, const struct gbose__record **out, gbose_error *err)
{
    struct gbose__record *r = &log->record;
    int rc;

    gbose__record_reset(r);
    rc = log->table ? gbose__logtable_next(log->table, r, err) : next_line(log, err);
    if (rc == 1 && log->set.schema) {
        rc = encode(log, err);
        rc = rc ? rc : 1;
    }
    if (rc == 1) {
        normalise(r->pmf, r->n_arms);
        for (size_t i = 0; i < r->n_policies; i++)
            normalise(r->column_pmf + r->policy[i].first, r->n_arms);
        *out = r;
    } else if (rc == GBOSE_EINVAL || rc == GBOSE_ENUMERIC || rc == GBOSE_EVALUE || rc == GBOSE_ESCHEMA) {
        const char *path = log->table ? gbose__logtable_path(log->table) : gbose__lines_path(log->lines);
        gbose_error inner = *err;

        rc = rc == GBOSE_ESCHEMA ? rc : GBOSE_EINVAL;
        if (strncmp(inner.text, path, strlen(path)))
            gbose__fail(err, rc, "%.90s, line %llu: %.160s", path, (unsigned long long)gbose__log_line(log),
                        inner.text);
    }
    return rc;
}

int gbose__log_column(const struct gbose__log *log, size_t i, char *buf, size_t size)
{
    return log->table && !log->set.schema ? gbose__logtable_column(log->table, i, buf, size) : 0;
}

void gbose__log_close(struct gbose__log *log)
{
    if (!log)
        return;
    gbose__lines_close(log->lines);
    gbose__logtable_close(log->table);
    gbose__record_clear(&log->record);
    gbose__features_clear(&log->features);
    free(log);
}
