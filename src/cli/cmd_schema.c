/* gbose schema: look at a schema, hold it against a log, or propose one from a log. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/schema_check.h"
#include "io/file.h"
#include "io/rounds.h"

#define MOST_ROUND 64 /* features of the round that gbose-auto takes */
#define MOST_WRONG 5  /* rounds that do not fit and are shown */

/* An error to standard error, and the exit code that it means: 1 for what the machine could not do, else
 * 2. */
static int complain(const char *where, const gbose_error *err)
{
    fprintf(stderr, "gbose schema: %s%s%s\n", where, *where ? ": " : "", err->text);
    return err->code == GBOSE_ENOMEM ? EXIT_BROKEN : EXIT_USAGE;
}

static int read_schema(gbose_schema **out, const char *path)
{
    gbose_error err;
    char *text = NULL;
    size_t size;
    int rc = gbose__file_read(&text, &size, path, &err);

    if (rc)
        return complain("", &err);
    rc = strlen(text) == size ? gbose_schema_new(out, text, &err) : GBOSE_ESCHEMA;
    if (rc && strlen(text) != size)
        snprintf(err.text, sizeof err.text, "there is a zero byte; a schema is a text");
    free(text);
    return rc ? complain(path, &err) : EXIT_FINE;
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

/* A round that does not fit: the first few are shown. */
static void show_wrong(uint64_t *wrong, uint64_t round, const gbose_error *err)
{
    if ((*wrong)++ >= MOST_WRONG)
        return;
    if (round)
        printf("  %-12sround %llu: %s\n", "wrong", (unsigned long long)round, err->text);
    else
        printf("  %-12s%s\n", "wrong", err->text);
}

/* Read the whole log. Returns an exit code; `wrong` counts rounds that cannot be read or encoded. */
static int read_log(struct gbose__rounds *log, struct schema_columns *columns, struct gbose__profile *profile,
                    uint64_t *wrong)
{
    const struct gbose__round_features *f;
    gbose_error err;
    int rc;

    while ((rc = gbose__rounds_next(log, &f, &err)) != 0) {
        if (rc == GBOSE_EINVAL) {
            show_wrong(wrong, 0, &err); /* the text has the line */
            continue;
        }
        if (rc < 0)
            return complain("", &err);
        if (gbose__profile_add(profile, &f->shared, f->actions, f->n_arms)) {
            fprintf(stderr, "gbose: out of memory\n");
            return EXIT_BROKEN;
        }
        rc = schema_columns_add(columns, &f->shared, f->actions, f->n_arms, &err);
        if (rc == GBOSE_ENOMEM)
            return complain("", &err);
        if (rc)
            show_wrong(wrong, profile->rounds, &err);
    }
    return EXIT_FINE;
}

/* Both files are opened before anything is printed. */
static int check(const gbose_schema *schema, const char *schema_path, const char *path)
{
    struct schema_columns columns = {0};
    struct gbose__profile profile = {0};
    struct gbose__rounds *log = NULL;
    uint64_t wrong = 0;
    gbose_error err;
    int rc, remarks = 0, more = 0;

    if ((path && gbose__rounds_open(&log, path, &err)) || schema_columns_init(&columns, schema, &err)) {
        gbose__rounds_close(log);
        return complain("", &err);
    }
    print_schema(schema, schema_path);
    if (!path) {
        schema_columns_clear(&columns);
        return EXIT_FINE;
    }
    rc = gbose__profile_init(&profile) ? EXIT_BROKEN : EXIT_FINE;
    printf("%s\n", path);
    if (!rc)
        rc = read_log(log, &columns, &profile, &wrong);
    if (!rc) {
        printf("  %-12s%llu rounds, %llu arms\n", "read", (unsigned long long)profile.rounds,
               (unsigned long long)profile.arms);
        remarks = profile.rounds ? schema_check_features(schema, &profile) : 0;
        more = profile.rounds ? schema_check_columns(&columns) : 0;
        if (wrong)
            printf("  %-12s%llu rounds do not fit the schema\n", "wrong", (unsigned long long)wrong);
        else if (remarks + more == 0 && profile.rounds)
            printf("  %-12snothing to remark\n", "fine");
    }
    if (remarks < 0 || more < 0) {
        fprintf(stderr, "gbose: out of memory\n");
        rc = EXIT_BROKEN;
    }
    gbose__rounds_close(log);
    schema_columns_clear(&columns);
    gbose__profile_clear(&profile);
    return rc ? rc : wrong ? EXIT_BROKEN : EXIT_FINE;
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

static int fit_log(const char *path)
{
    const struct gbose__round_features *f;
    struct gbose__rounds *log = NULL;
    gbose_fit *fit = NULL;
    gbose_error err;
    int rc = gbose__rounds_open(&log, path, &err), more = 1;

    if (!rc)
        rc = gbose_fit_new(&fit, &err);
    while (!rc && (more = gbose__rounds_next(log, &f, &err)) != 0)
        rc = more < 0 ? more : gbose_fit_add(fit, &f->shared, f->actions, f->n_arms, &err);
    rc = rc ? complain("", &err) : print_fit(fit);
    gbose__rounds_close(log);
    gbose_fit_free(fit);
    return rc;
}

/* ---- the command ---- */

static int run_words(char **word, int n)
{
    static const char *const verbs[] = {"check", "columns", "fit"};
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
    if (verb == 2)
        return fit_log(word[1]);
    rc = read_schema(&schema, word[1]);
    if (!rc && verb == 1)
        rc = print_columns(schema);
    else if (!rc)
        rc = check(schema, word[1], n > 2 ? word[2] : NULL);
    gbose_schema_free(schema);
    return rc;
}

static int run(int argc, char **argv)
{
    struct arg args[] = {{.name = "", .most = MANY}, {.name = NULL}};
    int rc = args_parse(argc, argv, args);

    if (!rc)
        rc = run_words(args[0].value, args[0].n);
    args_clear(args);
    return rc;
}

const struct command cmd_schema = {
    "schema", "look at a schema, hold it against a log, or propose one",
    "Usage: gbose schema check FILE [LOG]\n"
    "       gbose schema columns FILE\n"
    "       gbose schema fit LOG\n\n"
    "A schema says what is made of the features of users and actions (docs/features.md).\n\n"
    "  check     its terms; with a log: values never seen, not listed or missing, scales far from 1, "
    "columns\n"
    "            that are constant or determined by others, collisions of hashed values, rounds that do not "
    "fit\n"
    "            (then the exit code is 1)\n"
    "  columns   the names of its columns, one a line\n"
    "  fit       propose a schema, with scales and values from a log, to be edited\n\n"
    "A log is JSON lines with user, actions and the like in each, or a .csv file whose columns are called\n"
    "action.price, user.device and so on, a row for each arm; either may be packed by gzip.\n\n"
    "Examples:\n"
    "  gbose schema fit clicks.jsonl >news.schema\n"
    "  gbose schema check news.schema clicks.jsonl\n",
    run};
