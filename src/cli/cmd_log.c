/* gbose log: check a log, or convert it. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/logs.h"
#include "core/error.h"
#include "io/csv.h"
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
    if (!time)
        return;
    /* ISO times are ordered as texts, and numbers of the same length too. */
    if (c->last_time[0] && strlen(time) == strlen(c->last_time) && strcmp(time, c->last_time) < 0)
        c->out_of_order++;
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
               c->duplicates ? ": a decision that is counted twice makes every interval too narrow" : "");
    printf("time order      %s", c->last_time[0] ? "" : "unknown: there is no 't'\n");
    if (c->last_time[0])
        printf("%" PRIu64 " lines are earlier than the one before%s\n", c->out_of_order,
               c->out_of_order ? ": sort the log, since what is learned must not know the future" : "");
    printf("support         %.2f%% of arms had probability 0, %.2f%% of rounds had only one possible arm; "
           "the smallest probability of an "
           "arm that was played is %.3g\n",
           100 * audit.unplayable, 100 * audit.certain, audit.least_p);
    if (c->partial) {
        printf("propensities    only the played arm's is logged, so that they cannot be audited\n");
        return;
    }
    printf("propensities    %s (p = %.3g): by arm %.2f standard errors",
           audit.p < 0.001 ? "NOT as drawn" : "as drawn, as far as can be seen", audit.p, audit.arm);
    if (audit.worst_arm < c->logs.ids.n)
        printf(" ('%s')", c->logs.ids.text[audit.worst_arm]);
    printf(", by size %.2f, by score %.2f\n", audit.bin, audit.score);
    if (audit.p < 0.001)
        printf("                Arms did not come as often as their probabilities say. Evaluations of this "
               "log mean nothing until it is known "
               "which probabilities were used.\n");
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
    size_t n_arms, dim; /* of a table: those of its first decision */
    uint64_t written;
};

/* A decision's own columns, without the arm's. */
static void print_first(struct converting *c, const struct gbose__record *r)
{
    const char *text[] = {r->id, r->time, r->unit, r->schema};
    char number[24];

    snprintf(number, sizeof number, "%" PRIu64, c->written); /* rows are told apart by it */
    for (int i = 0; i < 4; i++) {
        gbose__csv_print(c->line, text[i] ? text[i] : i ? "" : number);
        fputc(',', c->line);
    }
}

static void print_id(struct converting *c, const struct gbose__record *r, size_t a, const char *before)
{
    char name[300];

    if (r->n_ids)
        snprintf(name, sizeof name, "%s%s", before, r->arms[a]);
    else
        snprintf(name, sizeof name, "%s%zu", before, a);
    gbose__csv_print(c->line, name);
}

/* A row for each arm, with its contexts (io/logtable.h). */
static void print_long(struct converting *c, const struct gbose__record *r)
{
    char buf[GBOSE__RECORD_NUMBER];

    if (!c->written) {
        fputs("id,t,unit,schema,arm,played,probability,reward", c->line);
        for (size_t i = 0; i < r->dim; i++)
            fprintf(c->line, ",x:%zu", i);
        fputc('\n', c->line);
    }
    for (size_t a = 0; a < r->n_arms; a++) {
        print_first(c, r);
        print_id(c, r, a, "");
        fprintf(c->line, ",%d,%s,", a == r->arm, gbose__record_number(buf, r->pmf[a]));
        fputs(a == r->arm && r->has_reward ? gbose__record_number(buf, r->reward) : "", c->line);
        for (size_t i = 0; i < r->dim; i++)
            fprintf(c->line, ",%s", gbose__record_number(buf, r->x[a * r->dim + i]));
        fputc('\n', c->line);
    }
}

/* A row for each decision, with a column for the probability of each arm. */
static void print_wide(struct converting *c, const struct gbose__record *r)
{
    char buf[GBOSE__RECORD_NUMBER];

    if (!c->written) {
        fputs("id,t,unit,schema,arm,reward", c->line);
        if (r->partial)
            fputs(",probability", c->line);
        for (size_t a = 0; a < r->n_arms && !r->partial; a++) {
            fputc(',', c->line);
            print_id(c, r, a, "p:");
        }
        fputc('\n', c->line);
    }
    print_first(c, r);
    print_id(c, r, r->arm, "");
    fprintf(c->line, ",%s", r->has_reward ? gbose__record_number(buf, r->reward) : "");
    if (r->partial)
        fprintf(c->line, ",%s", gbose__record_number(buf, r->pmf[r->arm]));
    for (size_t a = 0; a < r->n_arms && !r->partial; a++)
        fprintf(c->line, ",%s", gbose__record_number(buf, r->pmf[a]));
    fputc('\n', c->line);
}

/* Contexts need a row for each arm. What the first decision is like, all must be. */
static int print_csv(struct converting *c, const struct gbose__record *r, gbose_error *err)
{
    if (!c->written) {
        c->n_arms = r->n_arms;
        c->dim = r->partial ? 0 : r->dim;
    }
    if (c->dim && (r->dim != c->dim || r->partial))
        return gbose__fail(err, GBOSE_EINVAL,
                           "contexts have %zu features, and those of the first line had %zu; convert to json",
                           r->dim, c->dim);
    if (!c->dim && r->n_arms != c->n_arms && !r->partial)
        return gbose__fail(
            err, GBOSE_EINVAL,
            "a CSV has the same arms in every round, and this one has %zu instead of %zu; convert to json",
            r->n_arms, c->n_arms);
    if (c->dim)
        print_long(c, r);
    else
        print_wide(c, r);
    return GBOSE_OK;
}

static int convert_line(void *user, const struct gbose__record *r, gbose_error *err)
{
    struct converting *c = user;
    int rc = GBOSE_OK;

    rewind(c->line);
    if (c->to == GBOSE__LOG_CSV)
        rc = print_csv(c, r, err);
    else if (c->to == GBOSE__LOG_DSJSON)
        gbose__record_print_dsjson(r, c->line);
    else
        gbose__record_print(r, c->line);
    if (rc)
        return rc;
    if (fflush(c->line))
        return gbose__no_memory(err);
    c->written++;
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
        fprintf(stderr, "gbose log convert: %" PRIu64 " broken lines were skipped, the first: %s\n",
                c.logs.bad, c.logs.first_bad.text);
    if (c.line)
        fclose(c.line);
    free(c.text);
    logs_clear(&c.logs);
    args_clear(args);
    return rc;
}

static int run(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "check"))
        return check(argc - 1, argv + 1);
    if (argc > 1 && !strcmp(argv[1], "convert"))
        return convert(argc - 1, argv + 1);
    return usage_error("log", "it is gbose log check or gbose log convert; see gbose help log");
}

const struct command cmd_log = {"log", "check a log of decisions, or convert it",
                                "Usage: gbose log check LOG...\n"
                                "       gbose log convert LOG... --to json|dsjson|csv [--out FILE]\n\n"
                                "check counts decisions, rewards that are missing, duplicates and broken "
                                "lines, and finds out whether arms were drawn with the\n"
                                "probabilities that are logged, and whether all arms could be. Its exit code "
                                "is 1 if something is wrong.\n"
                                "convert reads any format and writes one; features by name stay as they are, "
                                "or become contexts with --schema.\n"
                                "A CSV of a log with contexts has a row for each arm, and one without a row "
                                "for each decision.\n\n"
                                "  --to F          what to write (json)\n"
                                "  --out FILE      where (standard output); .gz packs it\n" LOG_HELP
                                "\nExamples:\n"
                                "  gbose log check monday.jsonl.gz\n"
                                "  gbose log convert personalizer.dsjson --out monday.jsonl.gz\n",
                                run};
