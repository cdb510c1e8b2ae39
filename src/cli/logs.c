#include "cli/logs.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/store_log.h"
#include "core/error.h"
#include "io/file.h"
#include "io/lines.h"

/* ---- names ---- */

static uint64_t hash_of(const char *text)
{
    uint64_t h = 0xcbf29ce484222325; /* Fowler, Noll and Vo */

    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001b3;
    return h ^ h >> 29;
}

static size_t slot_of(const struct names *names, const char *text)
{
    size_t at = (size_t)hash_of(text) & (names->slots - 1);

    while (names->slot[at] && strcmp(names->text[names->slot[at] - 1], text))
        at = (at + 1) & (names->slots - 1);
    return at;
}

static int names_grow(struct names *names)
{
    struct names more = *names;

    more.room = names->room ? 2 * names->room : 64;
    more.slots = 2 * more.room;
    more.text = realloc(names->text, more.room * sizeof *more.text);
    if (!more.text)
        return GBOSE_ENOMEM;
    names->text = more.text;
    more.slot = calloc(more.slots, sizeof *more.slot);
    if (!more.slot)
        return GBOSE_ENOMEM;
    for (size_t i = 0; i < names->n; i++)
        more.slot[slot_of(&more, more.text[i])] = (uint32_t)(i + 1);
    free(names->slot);
    *names = more;
    return GBOSE_OK;
}

int names_find(struct names *names, const char *text, size_t *at)
{
    size_t slot;

    if (names->n == names->room && names_grow(names))
        return GBOSE_ENOMEM;
    slot = slot_of(names, text);
    if (!names->slot[slot]) {
        names->text[names->n] = strdup(text);
        if (!names->text[names->n])
            return GBOSE_ENOMEM;
        names->slot[slot] = (uint32_t)++names->n;
    }
    *at = names->slot[slot] - 1;
    return GBOSE_OK;
}

size_t names_known(const struct names *names, const char *text)
{
    size_t slot = names->n ? names->slot[slot_of(names, text)] : 0;

    return slot ? slot - 1 : names->n;
}

void names_clear(struct names *names)
{
    for (size_t i = 0; i < names->n; i++)
        free(names->text[i]);
    free(names->text);
    free(names->slot);
}

/* ---- options ---- */

static const char *value_of(struct arg *args, const char *name)
{
    struct arg *arg = args_named(args, name);

    return arg->n ? arg->value[0] : NULL;
}

int logs_schema(gbose_schema **out, const char *command, const char *path)
{
    gbose_error err;
    char *text;
    size_t size;
    int rc, zero;

    if (gbose__file_read(&text, &size, path, &err))
        return usage_error(command, "%s", err.text);
    zero = strlen(text) != size;
    rc = zero ? GBOSE_ESCHEMA : gbose_schema_new(out, text, &err);
    free(text);
    if (!rc)
        return EXIT_FINE;
    return usage_error(command, "%s: %s", path, zero ? "there is a zero byte; a schema is a text" : err.text);
}

int logs_format(struct logs *logs, struct arg *args)
{
    const char *format = value_of(args, "format");
    int known = format ? gbose__log_format_named(format) : GBOSE__LOG_AUTO;

    if (known < 0)
        return usage_error(logs->command, "--format must be json, dsjson, csv, obd or trial; got '%s'",
                           format);
    logs->set.format = (enum gbose__log_format)known;
    return EXIT_FINE;
}

int logs_options(struct logs *logs, const char *command, struct arg *args)
{
    const struct arg *paths = args_named(args, "");
    const char *schema = value_of(args, "schema");
    int rc;

    logs->command = command;
    logs->path = paths->value;
    logs->n = paths->n;
    logs->skip_bad = args_named(args, "skip-bad")->given;
    logs->set.any_schema = args_named(args, "any-schema")->given;
    if (!logs->n)
        return usage_error(command, "no log is given; see gbose help %s", command);
    if (logs_format(logs, args))
        return EXIT_USAGE;
    logs->set.arms = value_of(args, "arms");
    logs->set.arm = value_of(args, "arm");
    logs->set.reward = value_of(args, "reward");
    logs->set.probability = value_of(args, "probability");
    logs->set.id = value_of(args, "id");
    logs->set.time = value_of(args, "time");
    logs->set.unit = value_of(args, "unit");
    logs->set.available = value_of(args, "available");
    if (schema) {
        rc = logs_schema(&logs->schema, command, schema);
        if (rc)
            return rc;
        logs->set.schema = logs->schema;
    }
    return EXIT_FINE;
}

void logs_clear(struct logs *logs)
{
    gbose_schema_free(logs->schema);
    names_clear(&logs->ids);
    names_clear(&logs->units);
    names_clear(&logs->columns);
    free(logs->label);
}

/* ---- lines ---- */

static int is_lines_fault(int rc)
{
    return rc == GBOSE_EINVAL || rc == GBOSE_ENUMERIC || rc == GBOSE_EVALUE || rc == GBOSE_EPMF ||
           rc == GBOSE_ESIZE;
}

static int complain(const struct logs *logs, int rc, const gbose_error *err)
{
    fprintf(stderr, "gbose %s: %s%s\n", logs->command, err->text,
            is_lines_fault(rc) ? " (--skip-bad goes on behind it)" : "");
    return rc == GBOSE_ENOMEM || rc == GBOSE__EREAD || rc == GBOSE__EWRITE ? EXIT_BROKEN : EXIT_USAGE;
}

/* Contexts of all lines must have been made by one schema: a column would mean something else. */
static int check_schema(struct logs *logs, const struct gbose__record *r, gbose_error *err)
{
    if (!r->schema || !r->dim)
        return GBOSE_OK;
    if (!*logs->schema_seen)
        snprintf(logs->schema_seen, sizeof logs->schema_seen, "%s", r->schema);
    if (!strcmp(logs->schema_seen, r->schema))
        return GBOSE_OK;
    return gbose__fail(err, GBOSE_ESCHEMA,
                       "its contexts were made by the schema %s, and those before by %s; give --schema",
                       r->schema, logs->schema_seen);
}

int logs_by_option(struct logs *logs, struct arg *args)
{
    static const char *const after[] = {"arm", "played", "r", "reward", "rt", "why", "p", "pmf"};
    const struct arg *by = args_named(args, "by");
    char *colon = by->given ? strrchr(by->value[0], ':') : NULL;
    uint64_t length = 0;

    if (!by->given)
        return EXIT_FINE;
    if (colon && parse_count(&length, logs->command, "by COLUMN:N", colon + 1, 1, 200))
        return EXIT_USAGE;
    if (colon)
        *colon = 0;
    logs->by = by->value[0];
    logs->by_length = (size_t)length;
    logs->set.keep_features |= strchr(logs->by, '.') != NULL; /* a feature by name */
    for (size_t i = 0; i < sizeof after / sizeof *after; i++)
        if (!strcmp(logs->by, after[i]))
            return usage_error(
                logs->command,
                "--by must be something that was known before the draw, and '%s' came of it: its groups "
                "would tell nothing",
                logs->by);
    return EXIT_FINE;
}

void logs_by(struct logs *logs, const struct gbose__record *r, char *buf, size_t size)
{
    const char *text = gbose__record_column(r, logs->by);
    size_t length = logs->by_length && logs->by_length < size ? logs->by_length : size - 1;

    snprintf(buf, size, "%.*s", text ? (int)length : 6, text ? text : "(none)");
    logs->by_seen |= text != NULL;
}

int logs_by_seen(const struct logs *logs)
{
    if (!logs->by || logs->by_seen)
        return EXIT_FINE;
    return usage_error(logs->command, "no line has a value '%s' to go by", logs->by);
}

int logs_suits(const gbose *g, const char *name, const struct gbose__record *r, gbose_error *err)
{
    uint64_t of = gbose_schema_of(g);

    if (of && r->schema && strtoull(r->schema, NULL, 16) != of)
        return gbose__fail(err, GBOSE_ESCHEMA,
                           "'%s' was made for the schema %016llx, and contexts by the schema %s", name,
                           (unsigned long long)of, r->schema);
    if (!r->dim)
        return gbose__fail(
            err, GBOSE_EINVAL,
            "there are no contexts ('x'), which '%s' needs; give --schema to make them of features by "
            "name",
            name);
    if (r->dim != gbose_dim(g))
        return gbose__fail(err, GBOSE_EINVAL, "contexts have %zu features, and '%s' takes %zu", r->dim, name,
                           gbose_dim(g));
    if (gbose_round_features(g) && gbose_round_features(g) != r->n_round)
        return gbose__fail(err, GBOSE_EINVAL, "the round has %zu features ('round'), and '%s' takes %zu",
                           r->n_round, name, gbose_round_features(g));
    return GBOSE_OK;
}

/* What a table calls the columns of its contexts. */
static int name_columns(struct logs *logs, const struct gbose__log *log, size_t dim, gbose_error *err)
{
    char name[1000];
    int kind;
    size_t at;

    for (size_t i = 0; i < dim && (kind = gbose__log_column(log, i, name, sizeof name)) != 0; i++) {
        logs->with_constants |= kind == 1;
        if (names_find(&logs->columns, name, &at))
            return gbose__no_memory(err);
    }
    return GBOSE_OK;
}

static int each_of(struct logs *logs, const char *path,
                   int (*take)(void *, const struct gbose__record *, gbose_error *), void *user)
{
    struct gbose__log *log;
    const struct gbose__record *r;
    gbose_error err;
    struct store_log store = {.path = path};
    int rc, exit_code = store_log_begin(&store, logs->command);

    if (exit_code)
        return exit_code;
    rc = gbose__log_open(&log, store.path, &logs->set, &err);
    if (rc)
        store_log_end(&store, logs->command);
    if (rc) {
        fprintf(stderr, "gbose %s: %s\n", logs->command, err.text);
        return rc == GBOSE_ENOMEM ? EXIT_BROKEN : EXIT_USAGE;
    }
    while ((rc = gbose__log_next(log, &r, &err)) != 0) {
        if (rc == 1) {
            gbose_error inner;

            logs->lines++;
            rc = check_schema(logs, r, &inner);
            rc = rc || logs->columns.n ? rc : name_columns(logs, log, r->dim, &inner);
            rc = rc ? rc : take(user, r, &inner);
            if (rc == GBOSE_OK)
                continue;
            if (is_lines_fault(rc) || rc == GBOSE_ESCHEMA)
                gbose__fail(&err, rc, "%.90s, line %" PRIu64 ": %.140s", path, gbose__log_line(log),
                            inner.text);
            else
                err = inner;
        }
        if (logs->on_bad && is_lines_fault(rc)) {
            logs->on_bad(user, &err);
            continue;
        }
        if (!logs->skip_bad || !is_lines_fault(rc)) {
            exit_code = complain(logs, rc, &err);
            break;
        }
        if (logs->bad++ == 0)
            logs->first_bad = err;
    }
    gbose__log_close(log);
    rc = store_log_end(&store, logs->command);
    return exit_code ? exit_code : rc;
}

int logs_each(struct logs *logs, int (*take)(void *user, const struct gbose__record *r, gbose_error *err),
              void *user)
{
    int rc = EXIT_FINE;

    for (int i = 0; i < logs->n && rc == EXIT_FINE; i++)
        rc = each_of(logs, logs->path[i], take, user);
    return rc;
}

int logs_thinned(struct logs *logs, const struct gbose__record *r, gbose_error *err)
{
    if (logs->kept > 0 && fabs(r->kept - logs->kept) > 1e-12)
        return gbose__fail(
            err, GBOSE_EINVAL,
            "this line was kept with probability %g and others with %g ('drop'): a log that was "
            "thinned unevenly cannot be judged",
            r->kept, logs->kept);
    logs->kept = r->kept;
    return GBOSE_OK;
}

int logs_row(struct logs *logs, const struct gbose__record *r, gbose_logged *row, gbose_error *err)
{
    size_t dim = r->partial ? 0 : r->dim;

    if (logs->kept > 0 && r->partial != logs->partial)
        return gbose__fail(
            err, GBOSE_EINVAL,
            r->partial
                ? "only the played arm's probability is logged ('p'), and before it those of all arms were"
                : "the probabilities of all arms are logged, and before it only the played arm's were");
    if (logs->kept > 0 && dim != logs->dim)
        return gbose__fail(err, GBOSE_EINVAL, "contexts have %zu features, and those before had %zu", dim,
                           logs->dim);
    logs->dim = dim;
    logs->partial = r->partial;
    if (logs_thinned(logs, r, err))
        return GBOSE_EINVAL;
    if (r->n_ids > logs->label_room) {
        size_t *grown = realloc(logs->label, r->n_ids * sizeof *grown);

        if (!grown)
            return gbose__no_memory(err);
        logs->label = grown;
        logs->label_room = r->n_ids;
    }
    for (size_t a = 0; a < r->n_ids; a++)
        if (names_find(&logs->ids, r->arms[a], logs->label + a))
            return gbose__no_memory(err);
    *row = (gbose_logged){.n_arms = r->n_arms,
                          .arm = r->arm,
                          .pmf = r->pmf,
                          .reward = r->reward,
                          .contexts = dim ? r->x : NULL,
                          .label = r->n_ids ? logs->label : NULL,
                          .partial = r->partial};
    return GBOSE_OK;
}

void logs_summary(const struct logs *logs, FILE *to)
{
    fprintf(to, "%" PRIu64 " decision%s", logs->lines, logs->lines == 1 ? "" : "s");
    if (logs->missing)
        fprintf(to, "; %" PRIu64 " without a reward %s left out", logs->missing,
                logs->missing == 1 ? "is" : "are");
    if (logs->bad)
        fprintf(to, "; %" PRIu64 " broken line%s skipped, the first: %s", logs->bad,
                logs->bad == 1 ? " was" : "s were", logs->first_bad.text);
    fputc('\n', to);
}

int logs_nothing(const struct logs *logs)
{
    if (!logs->bad)
        return usage_error(logs->command, "the log has no decision with a reward");
    return usage_error(logs->command,
                       "the log has no decision with a reward; %" PRIu64
                       " broken line%s skipped, the first: %s",
                       logs->bad, logs->bad == 1 ? " was" : "s were", logs->first_bad.text);
}

/* ---- saved learners ---- */

int logs_load(gbose **out, const char *command, const char *path)
{
    gbose_error err;
    char *bytes;
    size_t size;
    int rc;

    if (gbose__file_read(&bytes, &size, path, &err))
        return usage_error(command, "%s", err.text);
    rc = gbose_load(out, bytes, size, &err);
    free(bytes);
    return rc ? usage_error(command, "%s: %s", path, err.text) : EXIT_FINE;
}

int logs_save(const gbose *g, const char *command, const char *path)
{
    struct gbose__lines_writer *writer;
    gbose_error err = {0, ""};
    size_t size;
    char *bytes;
    int rc;

    gbose_save(g, NULL, 0, &size);
    bytes = malloc(size);
    rc = !bytes ? gbose__no_memory(&err) : gbose_save(g, bytes, size, &size);
    if (!rc)
        rc = gbose__lines_create(&writer, path, &err);
    if (!rc) {
        rc = gbose__lines_put(writer, bytes, size, &err);
        if (rc)
            gbose__lines_abandon(writer);
        else
            rc = gbose__lines_finish(writer, &err);
    }
    free(bytes);
    if (rc)
        fprintf(stderr, "gbose %s: %s\n", command, err.text);
    return rc ? EXIT_BROKEN : EXIT_FINE;
}
