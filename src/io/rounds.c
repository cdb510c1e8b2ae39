#include "io/rounds.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "io/csv.h"
#include "io/json.h"
#include "io/lines.h"

#define MOST                                                                                                 \
    ((size_t)64 << 20) /* bytes of a line: a round of many arms is long, a file of another kind is longer */

struct gbose__rounds {
    struct gbose__lines *lines; /* of JSON, or */
    struct gbose__csv *csv;
    long id_column; /* -1: there is none */
    int held;       /* the present record of the CSV file begins the next round */
    char *id;       /* of the round that is being read */
    struct gbose__round_features features;
};

static int ends_with(const char *path, const char *end)
{
    size_t n = strlen(path), m = strlen(end);

    return n >= m && !strcmp(path + n - m, end);
}

static int check_columns(struct gbose__rounds *r, gbose_error *err)
{
    r->id_column = gbose__csv_find(r->csv, "id");
    for (size_t i = 0; i < gbose__csv_columns(r->csv); i++)
        if (strchr(gbose__csv_name(r->csv, i), '.'))
            return GBOSE_OK;
    return gbose__fail(err, GBOSE_EINVAL,
                       "%s: no column is a feature; their names have a dot, as action.price and user.age",
                       gbose__csv_path(r->csv));
}

int gbose__rounds_open(struct gbose__rounds **out, const char *path, gbose_error *err)
{
    struct gbose__rounds *r = calloc(1, sizeof *r);
    int rc;

    if (!r)
        return gbose__no_memory(err);
    if (ends_with(path, ".csv") || ends_with(path, ".csv.gz")) {
        rc = gbose__csv_open(&r->csv, path, MOST, err);
        if (!rc)
            rc = check_columns(r, err);
    } else {
        rc = gbose__lines_open(&r->lines, path, MOST, err);
    }
    if (rc) {
        gbose__rounds_close(r);
        return rc;
    }
    *out = r;
    return GBOSE_OK;
}

void gbose__rounds_close(struct gbose__rounds *r)
{
    if (!r)
        return;
    gbose__lines_close(r->lines);
    gbose__csv_close(r->csv);
    gbose__features_clear(&r->features);
    free(r->id);
    free(r);
}

/* ---- JSON lines ---- */

static int next_json(struct gbose__rounds *r, gbose_error *err)
{
    gbose_error inner;
    size_t length;
    json_t *record;
    char *line;
    int rc;

    do {
        rc = gbose__lines_next(r->lines, &line, &length, err);
        if (rc != 1)
            return rc;
    } while (line[strspn(line, " \t\r")] == 0 && strlen(line) == length);
    record = gbose__json_parse(line, length, &inner);
    rc = record ? gbose__features_from_json(&r->features, record, &inner) : inner.code;
    json_decref(record);
    if (rc)
        return gbose__fail(err, rc, "%s, line %" PRIu64 ": %s", gbose__lines_path(r->lines),
                           gbose__lines_number(r->lines), inner.text);
    return 1;
}

/* ---- CSV ---- */

static int is_action(const char *name)
{
    return !strncmp(name, "action.", 7);
}

static int add_fields(struct gbose__rounds *r, int of_action, gbose_error *err)
{
    int rc = GBOSE_OK;

    for (size_t i = 0; i < gbose__csv_columns(r->csv) && !rc; i++) {
        const char *name = gbose__csv_name(r->csv, i);

        if (strchr(name, '.') && is_action(name) == of_action)
            rc = gbose__features_add_text(&r->features, name, gbose__csv_field(r->csv, i), err);
    }
    return rc;
}

/* Does the present record belong to the round that is being read? */
static int same_round(const struct gbose__rounds *r)
{
    return r->id && !strcmp(r->id, gbose__csv_field(r->csv, (size_t)r->id_column));
}

static int begin_round(struct gbose__rounds *r, gbose_error *err)
{
    int rc = gbose__features_begin(&r->features, err);

    free(r->id);
    r->id = NULL;
    if (!rc && r->id_column >= 0) {
        r->id = strdup(gbose__csv_field(r->csv, (size_t)r->id_column));
        if (!r->id)
            rc = gbose__no_memory(err);
    }
    return rc ? rc : add_fields(r, 0, err);
}

static int next_csv(struct gbose__rounds *r, gbose_error *err)
{
    int more = r->held ? 1 : gbose__csv_next(r->csv, err), rc;

    r->held = 0;
    if (more != 1)
        return more;
    rc = begin_round(r, err);
    while (!rc && more == 1) {
        rc = gbose__features_next_action(&r->features, err);
        if (!rc)
            rc = add_fields(r, 1, err);
        if (rc || r->id_column < 0)
            break;
        more = gbose__csv_next(r->csv, err);
        if (more < 0)
            return more;
        if (more && !same_round(r)) {
            r->held = 1;
            break;
        }
    }
    if (!rc)
        rc = gbose__features_end(&r->features, err);
    return rc ? rc : 1;
}

int gbose__rounds_next(struct gbose__rounds *r, const struct gbose__round_features **out, gbose_error *err)
{
    int rc = r->csv ? next_csv(r, err) : next_json(r, err);

    if (rc == 1)
        *out = &r->features;
    return rc;
}
