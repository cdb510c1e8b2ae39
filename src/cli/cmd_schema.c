/* gbose schema: look at a schema, hold it against a log, or propose one from a log. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/logs.h"
#include "cli/schema_check.h"
#include "core/error.h"
#include "io/features.h"

#define MOST_ROUND 64 /* features of the round that gbose-auto takes */
#define MOST_WRONG 5  /* rounds that do not fit and are shown */

/* An error to standard error, and the exit code that it means: 1 for what the machine could not do, else
 * 2. */
static int complain(const char *where, const gbose_error *err)
{
    fprintf(stderr, "gbose schema: %s%s%s\n", where, *where ? ": " : "", err->text);
    return err->code == GBOSE_ENOMEM ? EXIT_BROKEN : EXIT_USAGE;
}

/* ---- columns ---- */

static int print_columns(const gbose_schema *schema)
{
    size_t room = 4000;
    char *name = malloc(room);

    if (!name) {
        fprintf(stderr, "gbose: out of memory\n");
        return EXIT_BROKEN;
    }
    for (size_t i = 0; i < gbose_schema_dim(schema); i++) {
        gbose_schema_column(schema, i, name, room);
        printf("arm    %zu  %s\n", i, name);
    }
    for (size_t i = 0; i < gbose_schema_round(schema); i++) {
        gbose_schema_round_column(schema, i, name, room);
        printf("round  %zu  %s\n", i, name);
    }
    free(name);
    return EXIT_FINE;
}

/* ---- check ---- */

static void print_terms(const struct gbose__terms *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++)
        printf("  %-12s%s: %u column%s\n", name, list->at[i].text, (unsigned)list->at[i].width,
               list->at[i].width > 1 ? "s" : "");
}

static void print_schema(const gbose_schema *schema, const char *path)
{
    printf("%s: %zu columns for an arm, %zu for the round; hash %016llx\n", path, gbose_schema_dim(schema),
           gbose_schema_round(schema), (unsigned long long)gbose_schema_hash(schema));
    print_terms(&schema->arm, "arm");
    print_terms(&schema->round, "round");
    for (size_t i = 0; i < schema->n_unused; i++)
        printf("  %-12s%s, on line %d\n", "unused", schema->unused[i].name, schema->unused[i].line);
    if (gbose_schema_round(schema) > MOST_ROUND)
        printf("  %-12sgbose-auto takes at most %d columns of the round\n", "note", MOST_ROUND);
}

struct checking {
    const gbose_schema *schema;
    struct schema_columns columns;
    struct gbose__profile profile;
    struct gbose__round_features features;
    uint64_t wrong; /* rounds that cannot be read or encoded */
    gbose_error shown[MOST_WRONG];
};

static void note_wrong(void *user, const gbose_error *err)
{
    struct checking *c = user;

    if (c->wrong < MOST_WRONG)
        c->shown[c->wrong] = *err;
    c->wrong++;
}

static int check_round(void *user, const struct gbose__record *r, gbose_error *err)
{
    struct checking *c = user;
    struct gbose__round_features *f = &c->features;
    int rc = gbose__features_from_json(f, r->features, err);

    if (rc)
        return rc;
    if (gbose__profile_add(&c->profile, &f->shared, f->actions, f->n_arms))
        return gbose__no_memory(err);
    return schema_columns_add(&c->columns, &f->shared, f->actions, f->n_arms, err);
}

/* What the rounds were like. Returns an exit code. */
static int print_findings(struct checking *c)
{
    int remarks = 0, more = 0;

    for (uint64_t i = 0; i < c->wrong && i < MOST_WRONG; i++)
        printf("  %-12s%s\n", "wrong", c->shown[i].text);
    printf("  %-12s%llu rounds, %llu arms\n", "read", (unsigned long long)c->profile.rounds,
           (unsigned long long)c->profile.arms);
    if (c->profile.rounds) {
        remarks = schema_check_features(c->schema, &c->profile);
        more = schema_check_columns(&c->columns);
    }
    if (remarks < 0 || more < 0) {
        fprintf(stderr, "gbose: out of memory\n");
        return EXIT_BROKEN;
    }
    if (c->wrong)
        printf("  %-12s%llu round%s not fit the schema\n", "wrong", (unsigned long long)c->wrong,
               c->wrong == 1 ? " does" : "s do");
    else if (remarks + more == 0 && c->profile.rounds)
        printf("  %-12snothing to remark\n", "fine");
    return c->wrong ? EXIT_BROKEN : EXIT_FINE;
}

/* The log is read before anything is printed. */
static int check(const gbose_schema *schema, const char *schema_path, struct logs *logs)
{
    struct checking c = {.schema = schema};
    gbose_error err;
    int rc;

    if (schema_columns_init(&c.columns, schema, &err) || gbose__profile_init(&c.profile)) {
        fprintf(stderr, "gbose: out of memory\n");
        rc = EXIT_BROKEN;
    } else {
        logs->on_bad = note_wrong;
        rc = logs_each(logs, check_round, &c);
    }
    if (!rc)
        print_schema(schema, schema_path);
    if (!rc && logs->n) {
        printf("%s\n", logs->path[0]);
        rc = print_findings(&c);
    }
    schema_columns_clear(&c.columns);
    gbose__profile_clear(&c.profile);
    gbose__features_clear(&c.features);
    return rc;
}

/* ---- fit ---- */

static int print_fit(const gbose_fit *fit)
{
    gbose_error err;
    size_t size = 0;
    char *text = NULL;
    int rc = gbose_fit_text(fit, NULL, 0, &size, &err);

    if (rc == GBOSE_EBUFFER) {
        text = malloc(size);
        if (!text) {
            fprintf(stderr, "gbose: out of memory\n");
            return EXIT_BROKEN;
        }
        rc = gbose_fit_text(fit, text, size, &size, &err);
    }
    if (!rc)
        fputs(text, stdout);
    free(text);
    return rc ? complain("", &err) : EXIT_FINE;
}

struct fitting {
    gbose_fit *fit;
    struct gbose__round_features features;
};

static int fit_round(void *user, const struct gbose__record *r, gbose_error *err)
{
    struct fitting *t = user;
    struct gbose__round_features *f = &t->features;
    int rc = gbose__features_from_json(f, r->features, err);

    return rc ? rc : gbose_fit_add(t->fit, &f->shared, f->actions, f->n_arms, err);
}

static int fit_log(struct logs *logs)
{
    struct fitting t = {0};
    gbose_error err;
    int rc = gbose_fit_new(&t.fit, &err) ? complain("", &err) : logs_each(logs, fit_round, &t);

    rc = rc ? rc : print_fit(t.fit);
    gbose__features_clear(&t.features);
    gbose_fit_free(t.fit);
    return rc;
}

/* ---- the command ---- */

/* `word` holds what to do and the files, and args the options of the log. */
static int run_words(char **word, int n, struct arg *args)
{
    static const char *const verbs[] = {"check", "columns", "fit"};
    struct logs logs = {.command = "schema", .set.features_only = 1};
    gbose_schema *schema = NULL;
    int rc, verb = 0;

    if (!n)
        return usage_error("schema", "what to do is missing: check FILE [LOG], columns FILE or fit LOG");
    while (verb < 3 && strcmp(verbs[verb], word[0]))
        verb++;
    if (verb == 3)
        return usage_error(
            "schema", "there is no 'schema %s'; there are: check FILE [LOG], columns FILE, fit LOG", word[0]);
    if (n < 2)
        return usage_error("schema", "'schema %s' needs a file; see gbose help schema", word[0]);
    if (n > (verb == 0 ? 3 : 2))
        return usage_error("schema", "unexpected '%s'; see gbose help schema", word[verb == 0 ? 3 : 2]);
    rc = logs_format(&logs, args);
    logs.skip_bad = args_named(args, "skip-bad")->given;
    logs.set.id = args_named(args, "id")->n ? args_named(args, "id")->value[0] : NULL;
    logs.set.arm = args_named(args, "arm")->n ? args_named(args, "arm")->value[0] : NULL;
    logs.path = word + (verb == 2 ? 1 : 2);
    logs.n = n - (verb == 2 ? 1 : 2);
    if (!rc && verb == 2)
        rc = fit_log(&logs);
    else if (!rc)
        rc = logs_schema(&schema, "schema", word[1]);
    if (!rc && verb == 1)
        rc = print_columns(schema);
    else if (!rc && verb == 0)
        rc = check(schema, word[1], &logs);
    gbose_schema_free(schema);
    logs_clear(&logs);
    return rc;
}

static int run(int argc, char **argv)
{
    struct arg args[] = {{.name = "", .most = MANY},      {.name = "format", .most = 1},
                         {.name = "id", .most = 1},       {.name = "arm", .most = 1},
                         {.name = "skip-bad", .most = 0}, {.name = NULL}};
    int rc = args_parse(argc, argv, args);

    if (!rc)
        rc = run_words(args[0].value, args[0].n, args);
    args_clear(args);
    return rc;
}

const struct command cmd_schema = {
    "schema", "look at a schema, hold it against a log, or propose one",
    "Usage: gbose schema check FILE [LOG] [--format F]\n"
    "       gbose schema columns FILE\n"
    "       gbose schema fit LOG [--format F] [--skip-bad]\n\n"
    "A schema says what is made of the features of users and actions (docs/features.md).\n\n"
    "  check     its terms; with a log: values never seen, not listed or missing, scales far from 1, "
    "columns\n"
    "            that are constant or determined by others, collisions of hashed values, rounds that do not "
    "fit\n"
    "            (then the exit code is 1)\n"
    "  columns   the names of its columns, one a line\n"
    "  fit       propose a schema, with scales and values from a log, to be edited\n\n"
    "A log is what other commands read too: JSON lines with user, actions and the like in each, dsjson, the "
    "Open\n"
    "Bandit Dataset, or a .csv file whose columns are called action.price, user.device and so on, a row for "
    "each arm;\n"
    "plain or packed by gzip. Lines need not be decisions: features are all that is looked at.\n\n"
    "  --format F      json (ours), dsjson, csv, obd or trial; if left out, it is recognised from the file\n"
    "  --skip-bad      skip broken lines and count them, instead of stopping at the first\n"
    "  --id, --arm     the columns of a CSV that tell decisions, and name the arm played (id, arm)\n"
    "\nExamples:\n"
    "  gbose schema fit clicks.jsonl >news.schema\n"
    "  gbose schema check news.schema clicks.jsonl\n",
    run};
