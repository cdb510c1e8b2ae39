/* gbose effects: what features of arms do to the reward, from a log. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/log_answers.h"
#include "cli/logs.h"
#include "cli/trial.h"
#include "core/error.h"
#include "report/effects_page.h"

#define GROUPS_MOST 200

struct asking {
    struct logs logs;
    double level;
    const char *unit;
    size_t dim;
    struct names groups; /* one called "" without --by */
    gbose_effects **f;
    struct arg *contrasts;
};

static int group_of(struct asking *q, const struct gbose__record *r, gbose_effects **out, gbose_error *err)
{
    char text[256] = "";
    size_t at, before = q->groups.n;

    if (q->logs.by)
        logs_by(&q->logs, r, text, sizeof text);
    if (names_find(&q->groups, text, &at))
        return gbose__no_memory(err);
    if (q->groups.n > before) {
        gbose_effects **grown = realloc(q->f, q->groups.n * sizeof *grown);

        if (!grown)
            return gbose__no_memory(err);
        q->f = grown;
        q->f[at] = NULL;
        if (q->groups.n > GROUPS_MOST)
            return gbose__fail(err, GBOSE_ESPEC,
                               "'%s' has more than %d values; --by %s:N takes the first N characters",
                               q->logs.by, GROUPS_MOST, q->logs.by);
    }
    if (!q->f[at]) {
        int rc = gbose_effects_new(&q->f[at], q->dim, q->unit != NULL, err);
        if (rc)
            return rc;
    }
    *out = q->f[at];
    return GBOSE_OK;
}

static int take(void *user, const struct gbose__record *r, gbose_error *err)
{
    struct asking *q = user;
    gbose_effects *f = NULL;
    gbose_logged row;
    int rc;

    if (!r->has_reward) {
        q->logs.missing++;
        return GBOSE_OK;
    }
    if (r->partial)
        return gbose__fail(err, GBOSE_EINVAL,
                           "only the played arm's probability is logged; effects need those of all arms");
    if (!r->dim)
        return gbose__fail(err, GBOSE_EINVAL,
                           "there are no contexts ('x'); give --schema to make them of features by name");
    rc = logs_row(&q->logs, r, &row, err);
    q->dim = rc ? q->dim : r->dim;
    if (!rc && q->unit) {
        const char *text = gbose__record_column(r, q->unit);
        size_t unit;

        if (!text)
            return gbose__fail(err, GBOSE_EINVAL, "there is no '%s' to tell units apart", q->unit);
        if (names_find(&q->logs.units, text, &unit))
            return gbose__no_memory(err);
        row.unit = unit;
    }
    rc = rc ? rc : group_of(q, r, &f, err);
    return rc ? rc : gbose_effects_add(f, &row, err);
}

/* ---- rows of the table ---- */

static void write_column(const struct asking *q, size_t i, char *buf, size_t size)
{
    if (q->logs.schema)
        gbose_schema_column(q->logs.schema, i, buf, size);
    else if (q->logs.columns.n == q->dim)
        snprintf(buf, size, "%s", q->logs.columns.text[i]);
    else
        snprintf(buf, size, "x%zu", i);
}

/* What an effect of column i is for each of. NULL: out of memory. */
static char *unit_of(const struct asking *q, size_t i)
{
    char buf[1300] = "unit";

    if (q->logs.schema)
        gbose_schema_unit(q->logs.schema, i, buf, sizeof buf);
    else if (q->logs.with_constants && q->logs.columns.n == q->dim && !strchr(q->logs.columns.text[i], '*'))
        *buf = 0;
    return strdup(buf);
}

static int ask(const struct asking *q, size_t g, const double *x, struct gbose__effect_row *row)
{
    row->known = gbose_effects_at(q->f[g], x, q->level, &row->value) == GBOSE_OK;
    return row->known;
}

/* Column i alone; or, as long as that cannot be told, against the column that the schema compares it with, and both
 * with their parts. x is room for three rows. */
static char *ask_column(const struct asking *q, size_t g, size_t i, double *x, struct gbose__effect_row *row)
{
    const gbose_schema *schema = q->logs.schema;
    size_t reference = schema ? gbose_schema_reference(schema, i) : i;
    double *parts = x + q->dim, *other_parts = parts + q->dim;
    char name[1000], other[1000] = "", both[2100];
    int with_parts = 0;

    x[i] = 1;
    write_column(q, i, name, sizeof name);
    if (ask(q, g, x, row) || !schema)
        return strdup(name);
    if (reference != i) {
        x[reference] = -1;
        write_column(q, reference, other, sizeof other);
        ask(q, g, x, row);
    }
    if (!row->known) {
        gbose_schema_parts(schema, i, parts);
        gbose_schema_parts(schema, reference, other_parts);
        for (size_t k = 0; k < q->dim && reference != i; k++)
            parts[k] -= other_parts[k];
        with_parts = ask(q, g, parts, row);
    }
    snprintf(both, sizeof both, "%s%s%s%s", name, *other ? " less " : "", other,
             with_parts ? ", with parts" : "");
    return strdup(row->known ? both : name);
}

/* Is column i what others are compared with, and itself unknown? Then the others say all. */
static int is_reference(const struct asking *q, const struct gbose__effect_row *rows, size_t i)
{
    if (!q->logs.schema || rows[i].known)
        return 0;
    for (size_t k = 0; k < q->dim; k++)
        if (k != i && rows[k].known && gbose_schema_reference(q->logs.schema, k) == i)
            return 1;
    return 0;
}

static void clear_row(struct gbose__effect_row *row)
{
    free(row->name);
    free(row->unit);
}

/* Leave out references: `each` rows of every group, of which fewer are left. */
static void drop_references(const struct asking *q, struct gbose__effect_row *rows, size_t *n, size_t each)
{
    char *drop = calloc(*n, 1);
    size_t left = 0;

    for (size_t k = 0; drop && k < *n; k++)
        drop[k] = (char)is_reference(q, rows + k / each * each, k % each);
    for (size_t k = 0; drop && k < *n; k++)
        if (drop[k])
            clear_row(rows + k);
        else
            rows[left++] = rows[k];
    *n = drop ? left : *n;
    free(drop);
}

static char *with_group(const struct asking *q, size_t g, char *name)
{
    char buf[1300];

    if (!q->logs.by || !name)
        return name;
    snprintf(buf, sizeof buf, "%s, %s=%s", name, q->logs.by, q->groups.text[g]);
    free(name);
    return strdup(buf);
}

/* The column of a name, or dim. */
static size_t find_column(const struct asking *q, const char *name, size_t length)
{
    char buf[1000];
    size_t i = 0;

    for (; i < q->dim; i++) {
        write_column(q, i, buf, sizeof buf);
        if (strlen(buf) == length && !strncmp(buf, name, length))
            break;
    }
    return i;
}

/* "1,0,-2", or "COLUMN", or "COLUMN less COLUMN" as a row of features. The (first) column that is named goes to `named`: dim if
 * there is none. */
static int read_contrast(const struct asking *q, const char *text, double *x, size_t *named)
{
    static const char minus[] = " less ";
    const char *less = strstr(text, minus), *from = text;
    size_t first = find_column(q, text, less ? (size_t)(less - text) : strlen(text)),
           second = less ? find_column(q, less + strlen(minus), strlen(less + strlen(minus))) : first;
    char *end;
    int all_zero = 1;

    *named = first < q->dim && second < q->dim ? first : q->dim;
    if (less && first == second && first < q->dim)
        return usage_error(q->logs.command, "--x '%s' asks for nothing: it is the same column twice", text);
    if (*named < q->dim) {
        x[first] = 1;
        x[second] = less ? x[second] - 1 : 1;
        return EXIT_FINE;
    }
    for (size_t i = 0; i < q->dim; i++) {
        x[i] = strtod(from, &end);
        if (end == from || *end != (i + 1 < q->dim ? ',' : 0) || !isfinite(x[i]))
            return usage_error(
                q->logs.command,
                "--x must be the name of a column, 'NAME less NAME', or %zu numbers with commas "
                "between them; got '%s'",
                q->dim, text);
        from = end + 1;
        all_zero &= x[i] == 0;
    }
    if (all_zero)
        return usage_error(q->logs.command, "--x %s asks for nothing: all of its numbers are 0", text);
    return EXIT_FINE;
}

static int fill(const struct asking *q, struct gbose__effect_row **rows, size_t *n)
{
    size_t each = q->contrasts->n ? (size_t)q->contrasts->n : q->dim;
    double *x = calloc(q->dim, 3 * sizeof *x);
    int rc = EXIT_FINE;

    *n = each * q->groups.n;
    *rows = calloc(*n ? *n : 1, sizeof **rows);
    for (size_t k = 0; *rows && x && k < *n && !rc; k++) {
        struct gbose__effect_row *row = *rows + k;
        size_t g = k / each, i = k % each, named;

        memset(x, 0, q->dim * sizeof *x);
        if (q->contrasts->n) {
            rc = read_contrast(q, q->contrasts->value[i], x, &named);
            row->name = strdup(q->contrasts->value[i]);
            row->unit = !rc && named < q->dim ? unit_of(q, named) : NULL;
            row->known = !rc && gbose_effects_at(q->f[g], x, q->level, &row->value) == GBOSE_OK;
        } else {
            row->name = ask_column(q, g, i, x, row);
            row->unit = unit_of(q, i);
        }
        row->name = with_group(q, g, row->name);
        if (!row->name)
            rc = EXIT_BROKEN;
    }
    if (!*rows || !x)
        rc = EXIT_BROKEN;
    if (!rc && !q->contrasts->n)
        drop_references(q, *rows, n, each);
    free(x);
    return rc;
}

static int answer(struct asking *q, struct arg *args)
{
    struct gbose__effect_row *rows = NULL;
    struct gbose__effects_table table = {.title = q->logs.path[0], .level = q->level};
    const struct arg *out = args_named(args, "out");
    int trial = args_named(args, "wcls")->given, rc;
    gbose_error err;
    size_t n = 0;

    if (trial) {
        rc = trial_rows(&rows, &n, &q->logs, args, q->level);
    } else {
        rc = logs_each(&q->logs, take, q);
        if (!rc && !q->groups.n)
            rc = logs_nothing(&q->logs);
        rc = rc ? rc : logs_by_seen(&q->logs);
        rc = rc ? rc : fill(q, &rows, &n);
        if (!rc)
            logs_summary(&q->logs, stdout);
    }
    if (!rc)
        answers_print_effects(stdout, rows, n, q->level, trial);
    if (!rc && out->given) {
        table.row = rows;
        table.n = n;
        table.anytime = !trial;
        if (gbose__effects_write(&table, out->value[0], &err)) {
            fprintf(stderr, "gbose %s: %s\n", q->logs.command, err.text);
            rc = EXIT_BROKEN;
        } else {
            printf("The report is in %s/report.html\n", out->value[0]);
        }
    }
    for (size_t i = 0; rows && i < n; i++)
        clear_row(rows + i);
    free(rows);
    return rc;
}

/* What belongs to a trial alone, and what it has no use for. */
static int check_shape(const char *command, struct arg *args)
{
    static const char *const of_trial[] = {"controls", "moderators", "numerator"}, *const of_log[] = {
                                                                                       "x", "by", "schema"};
    int trial = args_named(args, "wcls")->given;

    for (size_t i = 0; i < sizeof of_trial / sizeof *of_trial && !trial; i++)
        if (args_named(args, of_trial[i])->given)
            return usage_error(command, "--%s is for a micro-randomised trial; give --wcls, too",
                               of_trial[i]);
    for (size_t i = 0; i < sizeof of_log / sizeof *of_log && trial; i++)
        if (args_named(args, of_log[i])->given)
            return usage_error(command,
                               "--%s is not for --wcls; --moderators names what the effect may depend on",
                               of_log[i]);
    return EXIT_FINE;
}

static int run(int argc, char **argv)
{
    struct arg args[] = {LOG_ARGS,
                         {.name = "x", .most = MANY},
                         {.name = "by", .most = 1},
                         {.name = "level", .most = 1},
                         {.name = "wcls", .most = 0},
                         {.name = "controls", .most = MANY},
                         {.name = "moderators", .most = MANY},
                         {.name = "numerator", .most = 1},
                         {.name = "out", .most = 1},
                         {.name = NULL}};
    struct asking q = {.level = 0.95};
    int rc = args_parse(argc, argv, args);

    if (!rc)
        rc = logs_options(&q.logs, argv[0], args);
    if (!rc && args_named(args, "level")->given) {
        char *end;
        const char *text = args_named(args, "level")->value[0];

        q.level = strtod(text, &end);
        if (end == text || *end || !(q.level > 0 && q.level < 1))
            rc = usage_error(argv[0], "--level must be between 0 and 1; got '%s'", text);
    }
    if (!rc) {
        q.contrasts = args_named(args, "x");
        q.logs.set.keep_features |= q.logs.set.unit && strchr(q.logs.set.unit, '.');
        q.unit = q.logs.set.unit; /* a key of the line; of a table, the column that its reader takes for it */
        if (q.unit && gbose__log_is_table(q.logs.path[0], q.logs.set.format))
            q.unit = "unit";
        rc = logs_by_option(&q.logs, args);
        rc = rc ? rc : check_shape(argv[0], args);
        rc = rc ? rc : answer(&q, args);
    }
    for (size_t i = 0; i < q.groups.n; i++)
        gbose_effects_free(q.f[i]);
    free(q.f);
    names_clear(&q.groups);
    logs_clear(&q.logs);
    args_clear(args);
    return rc;
}

const struct command cmd_effects = {
    "effects", "what features do to the reward, with intervals. From a log",
    "Usage: gbose effects LOG... [--x WHAT...] [--by COLUMN] [--unit COLUMN] [--out DIR]\n"
    "       gbose effects TABLE --wcls --controls NAME... --moderators NAME... [--numerator P]\n\n"
    "Estimates what each feature adds to the reward. Whatever moves the level of the rewards causes no\n"
    "bias, and the intervals hold for logs that a learner made, too. There are two: one for a single look\n"
    "at a time chosen beforehand, and a wider one for looks as often as you like.\n\n"
    "  --x WHAT        what to estimate, instead of every column: names of columns, as action.price;\n"
    "                  differences of two, as 'action.topic=travel less action.topic=sports'; or rows of\n"
    "                  features, as 1,0,-1\n"
    "  --by COLUMN     a result for each value of a column of the log (a moderator); COLUMN:N takes the\n"
    "                  first N characters of the value\n"
    "  --unit COLUMN   outcomes of one unit, such as a user, may be correlated: errors are clustered by it\n"
    "  --level P       the level of confidence (0.95)\n"
    "  --wcls          analyse a micro-randomised trial by weighted and centred least squares with the\n"
    "                  small-sample correction. TABLE is a CSV with columns unit, action, probability,\n"
    "                  outcome, and perhaps available; --unit, --arm, --probability, --reward and\n"
    "                  --available give them other names\n"
    "  --controls, --moderators   with --wcls: columns that explain the outcome, and columns that the "
    "effect\n"
    "                             may depend on\n"
    "  --numerator P   with --wcls: the probability that weights are centred by (the mean probability)\n"
    "  --out DIR       where to put report.html with a forest plot, and effects.csv\n" LOG_HELP
    "\nExamples:\n"
    "  gbose effects monday.jsonl.gz --schema shop.schema --unit user\n"
    "  gbose effects trial.csv --wcls --controls logstep_30min_lag1 --moderators decision_point\n",
    run};
