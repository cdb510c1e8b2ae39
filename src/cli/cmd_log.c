/* gbose log: check a log, or convert it. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/log_table.h"
#include "cli/logs.h"
#include "core/error.h"
#include "io/lines.h"

/* ---- check ---- */

struct checking {
    struct logs logs;
    gbose_evaluation *e;
    int partial, without_id;
    uint64_t rounds, duplicates, out_of_order, rewarded;
    double reward_low, reward_high, reward_sum;
    size_t arms_least, arms_most;
    char last_time[64];
    struct names seen; /* ids */
};

static void note_time(struct checking *c, const char *time)
{
    char *end, *last_end;
    double now, last;

    if (!time)
        return;
    now = strtod(time, &end);
    last = strtod(c->last_time, &last_end);
    if (c->last_time[0] && !*end &&
        !*last_end) /* numbers, such as seconds; other times are ordered as texts */
        c->out_of_order += now < last;
    else if (c->last_time[0] && strlen(time) == strlen(c->last_time))
        c->out_of_order += strcmp(time, c->last_time) < 0;
    snprintf(c->last_time, sizeof c->last_time, "%s", time);
}

/* A decision that is right. */
static int note_line(struct checking *c, const struct gbose__record *r, gbose_error *err)
{
    size_t before = c->seen.n, at;

    if (r->id && names_find(&c->seen, r->id, &at))
        return gbose__no_memory(err);
    c->duplicates += r->id && c->seen.n == before;
    c->without_id |= !r->id;
    note_time(c, r->time);
    c->partial |= r->partial;
    c->arms_least = c->rounds && c->arms_least < r->n_arms ? c->arms_least : r->n_arms;
    c->arms_most = c->arms_most > r->n_arms ? c->arms_most : r->n_arms;
    c->rounds++;
    if (!r->has_reward) {
        c->logs.missing++;
        return GBOSE_OK;
    }
    c->reward_low = c->rewarded ? fmin(c->reward_low, r->reward) : r->reward;
    c->reward_high = c->rewarded ? fmax(c->reward_high, r->reward) : r->reward;
    c->reward_sum += r->reward;
    c->rewarded++;
    return GBOSE_OK;
}

static int check_line(void *user, const struct gbose__record *r, gbose_error *err)
{
    struct checking *c = user;
    gbose_logged row;
    const double *pmf[1];
    int rc = logs_row(&c->logs, r, &row, err);

    if (rc)
        return rc;
    if (!c->e) {
        rc = gbose_evaluation_new(&c->e, 1, r->partial ? 0 : r->dim, NULL, err);
        if (rc)
            return rc;
    }
    if (!r->has_reward)
        row.reward = c->rewarded ? c->reward_sum / (double)c->rewarded : 0; /* the audit is about draws */
    pmf[0] = row.pmf;
    rc = gbose_evaluation_add(c->e, &row, pmf, err);
    return rc ? rc : note_line(c, r, err);
}

static void print_check(struct checking *c)
{
    gbose_audit audit;

    gbose_evaluation_audit(c->e, &audit);
    printf("decisions       %" PRIu64 "\n", c->rounds);
    printf("broken lines    %" PRIu64 "%s%s\n", c->logs.bad, c->logs.bad ? ", the first: " : "",
           c->logs.bad ? c->logs.first_bad.text : "");
    printf("without reward  %" PRIu64 " (%.2f%%)\n", c->rounds - c->rewarded,
           100.0 * (double)(c->rounds - c->rewarded) / (double)c->rounds);
    if (c->rewarded)
        printf("rewards         from %g to %g, mean %.6g\n", c->reward_low, c->reward_high,
               c->reward_sum / (double)c->rewarded);
    printf("arms            %zu to %zu a round", c->arms_least, c->arms_most);
    if (c->logs.ids.n)
        printf(", %zu different ones", c->logs.ids.n);
    printf("\nduplicate ids   ");
    if (c->without_id)
        printf("unknown: there are lines without 'id'\n");
    else
        printf("%" PRIu64 "%s\n", c->duplicates,
               c->duplicates
                   ? ":\n                a decision that is counted twice makes every interval too narrow"
                   : "");
    printf("time order      %s", c->last_time[0] ? "" : "unknown: there is no 't'\n");
    if (c->last_time[0])
        printf("%" PRIu64 " line%s earlier than the one before%s\n", c->out_of_order,
               c->out_of_order == 1 ? " is" : "s are",
               c->out_of_order
                   ? ":\n                sort the log, since what is learned must not know the future"
                   : "");
    printf("support         %.2f%% of arms had probability 0, %.2f%% of rounds had only one\n"
           "                possible arm; the smallest probability of an arm that was\n"
           "                played is %.3g\n",
           100 * audit.unplayable, 100 * audit.certain, audit.least_p);
    if (c->partial) {
        printf("propensities    only the played arm's is logged, so that they cannot be audited\n");
        return;
    }
    printf("propensities    %s (p = %.3g): by arm\n                %.3g standard errors",
           audit.p < 0.001 ? "NOT as drawn" : "as drawn, as far as can be seen", audit.p, audit.arm);
    if (audit.worst_arm < c->logs.ids.n)
        printf(" ('%s')", c->logs.ids.text[audit.worst_arm]);
    printf(", by size %.3g, by score %.3g\n", audit.bin, audit.score);
    if (audit.p < 0.001)
        printf("                Arms did not come as often as their probabilities say.\n"
               "                Evaluations of this log mean nothing until it is known which\n"
               "                probabilities were used.\n");
}

static int check(int argc, char **argv)
{
    struct arg args[] = {LOG_ARGS, {.name = NULL}};
    struct checking c = {0};
    int rc = args_parse(argc, argv, args);

    if (!rc)
        rc = logs_options(&c.logs, "log check", args);
    c.logs.skip_bad = 1; /* they are counted */
    if (!rc)
        rc = logs_each(&c.logs, check_line, &c);
    if (!rc && !c.rounds)
        rc = usage_error("log check", "there is no decision%s%s",
                         c.logs.bad ? "; the first broken line: " : "",
                         c.logs.bad ? c.logs.first_bad.text : "");
    if (!rc) {
        gbose_audit audit;

        print_check(&c);
        gbose_evaluation_audit(c.e, &audit);
        rc = c.logs.bad || c.duplicates || (!c.partial && audit.p < 0.001) ? EXIT_BROKEN : EXIT_FINE;
    }
    gbose_evaluation_free(c.e);
    names_clear(&c.seen);
    logs_clear(&c.logs);
    args_clear(args);
    return rc;
}

/* ---- convert ---- */

struct converting {
    struct logs logs;
    enum gbose__log_format to;
    struct gbose__lines_writer *writer;
    FILE *line;
    char *text;
    size_t size;
    struct log_table table;
    int left_out[12], columns_left_out; /* by places[], below */
};

/* What a record may have that a format has no place for. */
static const char *const places[] = {"bandit", "model", "spec", "schema", "stream", "n",
                                     "round",  "rt",    "why",  "unit",   "drop",   "policies"};
#define PLACES (sizeof places / sizeof *places)

/* Note what of a record is left out: our own format has a place for everything. */
static void note_left_out(struct converting *c, const struct gbose__record *r)
{
    int is_csv = c->to == GBOSE__LOG_CSV;
    const int left_out[PLACES] = {r->bandit != NULL,
                                  !isnan(r->model),
                                  r->spec != NULL,
                                  !is_csv && r->schema,
                                  !isnan(r->stream),
                                  !isnan(r->number),
                                  r->n_round > 0 && !c->logs.schema,
                                  r->reward_time != NULL,
                                  r->why != NULL,
                                  !is_csv && r->unit,
                                  is_csv && r->kept<1, r->n_policies> 0};

    for (size_t i = 0; i < PLACES && c->to != GBOSE__LOG_JSON; i++)
        c->left_out[i] |= left_out[i];
    c->columns_left_out |= c->to == GBOSE__LOG_DSJSON && r->n_columns > 0;
}

static void say_left_out(const struct converting *c)
{
    int n = 0;

    for (size_t i = 0; i < PLACES; i++)
        if (c->left_out[i])
            fprintf(
                stderr, "%s'%s'",
                n++ ? ", " : "gbose log convert: what the format has no place for is left out: ", places[i]);
    if (c->columns_left_out)
        fprintf(stderr, "%s",
                n++ ? ", values to group by"
                    : "gbose log convert: what the format has no place for is left out: values to group by");
    if (n)
        fputc('\n', stderr);
}

static int convert_line(void *user, const struct gbose__record *r, gbose_error *err)
{
    struct converting *c = user;
    int rc = GBOSE_OK;

    rewind(c->line);
    if (c->to == GBOSE__LOG_CSV)
        rc = log_table_put(&c->table, r, c->line, err);
    else if (c->to == GBOSE__LOG_DSJSON)
        gbose__record_print_dsjson(r, c->line);
    else
        gbose__record_print(r, c->line);
    if (rc)
        return rc;
    if (fflush(c->line))
        return gbose__no_memory(err);
    note_left_out(c, r);
    return gbose__lines_put(c->writer, c->text, c->size, err);
}

static int convert(int argc, char **argv)
{
    struct arg args[] = {LOG_ARGS, {.name = "to", .most = 1}, {.name = "out", .most = 1}, {.name = NULL}};
    struct converting c = {.to = GBOSE__LOG_JSON};
    gbose_error err;
    int rc = args_parse(argc, argv, args);

    if (!rc)
        rc = logs_options(&c.logs, "log convert", args);
    if (!rc && args_named(args, "to")->given) {
        int to = gbose__log_format_named(args_named(args, "to")->value[0]);

        if (to != GBOSE__LOG_JSON && to != GBOSE__LOG_DSJSON && to != GBOSE__LOG_CSV)
            rc = usage_error("log convert", "--to must be json, dsjson or csv; got '%s'",
                             args_named(args, "to")->value[0]);
        c.to = (enum gbose__log_format)to;
    }
    c.logs.set.keep_features = 1;
    if (!rc) {
        c.line = open_memstream(&c.text, &c.size);
        if (!c.line ||
            gbose__lines_create(
                &c.writer, args_named(args, "out")->given ? args_named(args, "out")->value[0] : "-", &err)) {
            fprintf(stderr, "gbose log convert: %s\n", c.line ? err.text : "out of memory");
            rc = EXIT_BROKEN;
        } else {
            rc = logs_each(&c.logs, convert_line, &c);
            if (rc)
                gbose__lines_abandon(c.writer);
            else if (gbose__lines_finish(c.writer, &err)) {
                fprintf(stderr, "gbose log convert: %s\n", err.text);
                rc = EXIT_BROKEN;
            }
        }
    }
    if (!rc && c.logs.bad)
        fprintf(stderr, "gbose log convert: %" PRIu64 " broken line%s skipped, the first: %s\n", c.logs.bad,
                c.logs.bad == 1 ? " was" : "s were", c.logs.first_bad.text);
    if (!rc)
        say_left_out(&c);
    if (c.line)
        fclose(c.line);
    log_table_clear(&c.table);
    free(c.text);
    logs_clear(&c.logs);
    args_clear(args);
    return rc;
}

static int run(int argc, char **argv)
{
    static char check_name[] = "log check", convert_name[] = "log convert"; /* what messages call them */

    if (argc > 1 && !strcmp(argv[1], "check")) {
        argv[1] = check_name;
        return check(argc - 1, argv + 1);
    }
    if (argc > 1 && !strcmp(argv[1], "convert")) {
        argv[1] = convert_name;
        return convert(argc - 1, argv + 1);
    }
    return usage_error("log", "it is gbose log check or gbose log convert; see gbose help log");
}

const struct command cmd_log = {
    "log", "check a log of decisions, or convert it",
    "Usage: gbose log check LOG...\n"
    "       gbose log convert LOG... --to json|dsjson|csv [--out FILE]\n\n"
    "check counts decisions, missing rewards, duplicates and broken lines. It tests whether the arms were\n"
    "really drawn with the probabilities that the log states, and tells which arms could never be drawn.\n"
    "Its exit code is 1 if lines are broken, if an id occurs twice, or if arms were not drawn as stated.\n\n"
    "convert reads any format and writes another. Features by name stay as they are; with --schema they\n"
    "become contexts. A CSV has a row for each arm if there are contexts or features of arms, and else a\n"
    "row for each decision. What the new format cannot hold is named on standard error.\n\n"
    "  --to F          the format to write: json, dsjson or csv (json)\n"
    "  --out FILE      the file to write (standard output); a name that ends in .gz is compressed\n" LOG_HELP
    "\nExamples:\n"
    "  gbose log check monday.jsonl.gz\n"
    "  gbose log convert personalizer.dsjson --out monday.jsonl.gz\n",
    run};
