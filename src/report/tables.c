#include "report/tables.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "io/csv.h"
#include "io/file.h"
#include "report/findings.h"
#include "report/format.h"
#include "report/printed.h"

/* ---- shared by all tables ---- */

int gbose__tables_is_best(const struct gbose__study *s, const struct gbose__summary *all,
                          const struct gbose__summary *u)
{
    if (!u->tuned.n)
        return 0;
    for (size_t l = 0; l < s->plan->n_learners; l++) {
        const struct gbose__summary *other = gbose__summary_of(s, all, u->world, l);
        if (other->tuned.n && other->tuned.median < u->tuned.median)
            return 0;
    }
    return 1;
}

int gbose__tables_is_own(const struct gbose__plan *plan, size_t learner)
{
    const char *spec = plan->learner[learner].spec;

    return strcspn(spec, ":") == 10 && !strncmp(spec, "gbose-auto", 10);
}

int gbose__tables_any_printed(const struct gbose__plan *plan)
{
    for (size_t w = 0; w < plan->n_worlds; w++)
        for (size_t l = 0; l < plan->n_learners; l++)
            if (!isnan(gbose__printed_for(plan, w, l)))
                return 1;
    return 0;
}

int gbose__tables_any_swept(const struct gbose__plan *plan)
{
    for (size_t l = 0; l < plan->n_learners; l++)
        if (plan->learner[l].option)
            return 1;
    return 0;
}

/* The option that every sweep is about; "" if there are several or none. */
static const char *common_option(const struct gbose__plan *plan)
{
    const char *option = "";

    for (size_t l = 0; l < plan->n_learners; l++) {
        const char *own = plan->learner[l].option;
        if (own && *option && strcmp(own, option))
            return "";
        if (own)
            option = own;
    }
    return option;
}

const char *gbose__tables_value_heading(const struct gbose__plan *plan)
{
    const char *option = common_option(plan);

    return *option ? option : "parameter";
}

const char *gbose__tables_cell_value(char buf[GBOSE__CELL_SIZE], const struct gbose__plan *plan,
                                     const struct gbose__summary *u)
{
    const struct gbose__entry *e = &plan->learner[u->learner];

    if (!e->option || u->value == GBOSE__NO_VALUE)
        snprintf(buf, GBOSE__CELL_SIZE, "-");
    else if (*common_option(plan))
        snprintf(buf, GBOSE__CELL_SIZE, "%s", e->value[u->value]);
    else
        snprintf(buf, GBOSE__CELL_SIZE, "%s = %s", e->option, e->value[u->value]);
    return buf;
}

const char *gbose__tables_cell_spread(char buf[GBOSE__CELL_SIZE], const struct gbose__spread *d)
{
    char q1[GBOSE__NUMBER_SIZE], median[GBOSE__NUMBER_SIZE], q3[GBOSE__NUMBER_SIZE];

    if (!d->n)
        snprintf(buf, GBOSE__CELL_SIZE, "-");
    else
        snprintf(
            buf, GBOSE__CELL_SIZE, "%s [%s, %s]", gbose__format_rounded_like(median, d->median, d->q3, 0),
            gbose__format_rounded_like(q1, d->q1, d->q3, 0), gbose__format_rounded_like(q3, d->q3, d->q3, 0));
    return buf;
}

const char *gbose__tables_cell_difference(char buf[GBOSE__CELL_SIZE], const struct gbose__difference *d)
{
    char mean[GBOSE__NUMBER_SIZE], low[GBOSE__NUMBER_SIZE], high[GBOSE__NUMBER_SIZE];
    double like = d->n < 2 ? d->mean : fmax(fabs(d->low), fabs(d->high));

    gbose__format_rounded_like(mean, d->mean, like, 1);
    if (d->n < 2)
        snprintf(buf, GBOSE__CELL_SIZE, "%s", mean);
    else
        snprintf(buf, GBOSE__CELL_SIZE, "%s [%s, %s]", mean, gbose__format_rounded_like(low, d->low, like, 0),
                 gbose__format_rounded_like(high, d->high, like, 0));
    return buf;
}

void gbose__tables_explain_differences(FILE *to, const struct gbose__plan *plan, const char *before,
                                       const char *after, void (*text)(FILE *to, const char *text))
{
    char line[512];

    if (plan->n_learners < 2)
        return;
    snprintf(
        line, sizeof line,
        "Difference: mean of final regret minus that of %.100s on the same %srepetitions [95%% confidence "
        "interval, Student's t]; above 0, %.100s did better.",
        plan->learner[0].label, plan->fresh ? "fresh " : "", plan->learner[0].label);
    fputs(before, to);
    text(to, line);
    fputs(after, to);
}

void gbose__tables_explain(FILE *to, const struct gbose__plan *plan, int details, const char *before,
                           const char *after, void (*text)(FILE *to, const char *text))
{
    char line[512];
    const char *option = common_option(plan), *quartiles = details ? " [quartiles]" : "";
    int swept = 0;

    for (size_t l = 0; l < plan->n_learners; l++)
        swept |= plan->learner[l].n_values > 1;
    if (swept)
        snprintf(line, sizeof line,
                 "Best in hindsight: median final regret%s over %zu repetition%s, with the %s that was "
                 "best on these same repetitions. Choosing and reporting on the same runs looks better than "
                 "it is.",
                 quartiles, plan->reps, plan->reps == 1 ? "" : "s", *option ? option : "parameter");
    else
        snprintf(line, sizeof line, "Median: final regret%s over %zu repetition%s.", quartiles, plan->reps,
                 plan->reps == 1 ? "" : "s");
    fputs(before, to);
    text(to, line);
    fputs(after, to);
    if (plan->fresh) {
        snprintf(
            line, sizeof line,
            "Fresh: the same, with that %s, on %zu other repetition%s that played no part in choosing it.",
            *option ? option : "parameter", plan->fresh, plan->fresh == 1 ? "" : "s");
        fputs(before, to);
        text(to, line);
        fputs(after, to);
    }
    if (details)
        gbose__tables_explain_differences(to, plan, before, after, text);
    if (gbose__tables_any_printed(plan)) {
        fputs(before, to);
        text(to, "Printed (paper): the median in the paper's Table 1, which is best in hindsight.");
        fputs(after, to);
    }
    for (size_t l = 0; l < plan->n_learners; l++)
        if (gbose__tables_is_own(plan, l) && gbose__findings_of_paper(plan)) {
            snprintf(
                line, sizeof line,
                "%s is not in the paper, so there is no printed value. It has no parameter, so nothing was "
                "chosen in hindsight either.",
                plan->learner[l].label);
            fputs(before, to);
            text(to, line);
            fputs(after, to);
        }
}

/* ---- runs.csv, curves.csv, table.csv ---- */

/* Strings in quotes if they must be; after the last one no comma. */
static void csv_start(FILE *to, const struct gbose__plan *plan, size_t world, size_t learner, size_t value)
{
    const struct gbose__entry *e = &plan->learner[learner];

    gbose__csv_print(to, plan->world[world]);
    putc(',', to);
    gbose__csv_print(to, e->label);
    putc(',', to);
    gbose__csv_print(to, e->spec);
    putc(',', to);
    gbose__csv_print(to, e->option ? e->option : "");
    putc(',', to);
    gbose__csv_print(to, value == GBOSE__NO_VALUE ? "" : e->value[value]);
}

static void csv_number(FILE *to, double x)
{
    char buf[GBOSE__NUMBER_SIZE];

    fprintf(to, ",%s", gbose__format_number(buf, x));
}

static int write_runs(const struct gbose__study *s, const char *dir, gbose_error *err)
{
    struct gbose__file f;
    int rc = gbose__file_open(&f, dir, "runs.csv", err);

    if (rc)
        return rc;
    fputs("world,learner,spec,option,value,repetition,phase,regret,reward,lone\n", f.to);
    for (size_t i = 0; i < s->n_runs; i++) {
        const struct gbose__result *run = &s->result[i];
        struct gbose__run_id id = gbose__plan_run_at(s->plan, i);

        if (!run->done)
            continue;
        csv_start(f.to, s->plan, id.world, id.learner, id.value);
        fprintf(f.to, ",%zu,%s", id.rep, id.rep < s->plan->reps ? "tune" : "fresh");
        csv_number(f.to, run->regret);
        csv_number(f.to, run->reward);
        csv_number(f.to, run->lone);
        putc('\n', f.to);
    }
    return gbose__file_close(&f, err);
}

static int write_curve(FILE *to, struct gbose__spread *curve, const struct gbose__study *s,
                       const struct gbose__summary *u, gbose_error *err)
{
    int rc = gbose__summary_curve(curve, s, u->world, u->learner, u->value, err);

    for (size_t k = 0; k < s->plan->n_points && !rc; k++) {
        if (!curve[k].n)
            continue;
        csv_start(to, s->plan, u->world, u->learner, u->value);
        fprintf(to, ",%" PRIu64, s->plan->point[k]);
        csv_number(to, curve[k].q1);
        csv_number(to, curve[k].median);
        csv_number(to, curve[k].q3);
        putc('\n', to);
    }
    return rc;
}

static int write_curves(const struct gbose__study *s, const struct gbose__summary *all, const char *dir,
                        gbose_error *err)
{
    struct gbose__spread *curve = calloc(s->plan->n_points + 1, sizeof *curve);
    struct gbose__file f;
    int rc = curve ? gbose__file_open(&f, dir, "curves.csv", err) : gbose__no_memory(err);

    if (rc) {
        free(curve);
        return rc;
    }
    fputs("world,learner,spec,option,value,round,q1,median,q3\n", f.to);
    for (size_t i = 0; i < s->plan->n_worlds * s->plan->n_learners && !rc; i++)
        if (all[i].value != GBOSE__NO_VALUE)
            rc = write_curve(f.to, curve, s, &all[i], err);
    free(curve);
    if (rc) {
        gbose__file_abandon(&f);
        return rc;
    }
    return gbose__file_close(&f, err);
}

static void csv_spread(FILE *to, const struct gbose__spread *d)
{
    fprintf(to, ",%zu", d->n);
    csv_number(to, d->median);
    csv_number(to, d->q1);
    csv_number(to, d->q3);
}

static int write_table_csv(const struct gbose__study *s, const struct gbose__summary *all, const char *dir,
                           gbose_error *err)
{
    struct gbose__file f;
    int rc = gbose__file_open(&f, dir, "table.csv", err);

    if (rc)
        return rc;
    fputs("world,learner,spec,option,value,repetitions,median,q1,q3,fresh_repetitions,fresh_median,fresh_q1,"
          "fresh_q3,pairs,difference,difference_low,difference_high,reward,lone,printed\n",
          f.to);
    for (size_t i = 0; i < s->plan->n_worlds * s->plan->n_learners; i++) {
        const struct gbose__summary *u = &all[i];

        csv_start(f.to, s->plan, u->world, u->learner, u->value);
        csv_spread(f.to, &u->tuned);
        csv_spread(f.to, &u->fresh);
        fprintf(f.to, ",%zu", u->to_first.n);
        csv_number(f.to, u->to_first.mean);
        csv_number(f.to, u->to_first.low);
        csv_number(f.to, u->to_first.high);
        csv_number(f.to, u->reward);
        csv_number(f.to, u->lone);
        csv_number(f.to, gbose__printed_for(s->plan, u->world, u->learner));
        putc('\n', f.to);
    }
    return gbose__file_close(&f, err);
}

/* ---- table.md ---- */

/* Text between bars. */
static void md_text(FILE *to, const char *text)
{
    for (; *text; text++) {
        if (strchr("\\`*_[]<>|", *text))
            putc('\\', to);
        putc(*text, to);
    }
}

/* Table 1: algorithms down, v(t) across; beside each median the fresh and the printed one. */
static void md_paper_block(FILE *to, const struct gbose__study *s, const struct gbose__summary *all,
                           const struct gbose__group *g, int printed)
{
    const struct gbose__plan *plan = s->plan;
    char buf[GBOSE__NUMBER_SIZE];

    fprintf(to, "\n### %s\n\n| algorithm |", g->title);
    for (size_t i = 0; i < g->n; i++)
        fprintf(to, " %s |%s%s", gbose__groups_label(g, i, plan), plan->fresh ? " fresh |" : "",
                printed ? " printed |" : "");
    fputs("\n|---|", to);
    for (size_t i = 0; i < g->n; i++)
        fprintf(to, "---:|%s%s", plan->fresh ? "---:|" : "", printed ? "---:|" : "");
    for (size_t l = 0; l < plan->n_learners; l++) {
        fputs("\n| ", to);
        md_text(to, plan->learner[l].label);
        fputs(" |", to);
        for (size_t i = 0; i < g->n; i++) {
            const struct gbose__summary *u = gbose__summary_of(s, all, g->world[i], l);
            const char *bold = gbose__tables_is_best(s, all, u) ? "**" : "";

            fprintf(to, " %s%s%s |", bold, gbose__format_rounded(buf, u->tuned.median), bold);
            if (plan->fresh)
                fprintf(to, " %s |", gbose__format_rounded(buf, u->fresh.median));
            if (printed)
                fprintf(to, " %s |", gbose__format_rounded(buf, gbose__printed_for(plan, u->world, l)));
        }
    }
    putc('\n', to);
}

static void md_world(FILE *to, const struct gbose__study *s, const struct gbose__summary *all,
                     const struct gbose__group *g, size_t i, int printed)
{
    const struct gbose__plan *plan = s->plan;
    int swept = gbose__tables_any_swept(plan);
    char buf[GBOSE__CELL_SIZE], number[GBOSE__NUMBER_SIZE];

    fputs("\n### ", to);
    if (g->paper)
        fprintf(to, "%s, %s: ", g->title, gbose__groups_label(g, i, plan));
    fprintf(to, "`%s`\n\n| learner |", plan->world[g->world[i]]);
    if (swept)
        fprintf(to, " %s |", gbose__tables_value_heading(plan));
    fputs(" median [quartiles] |", to);
    if (plan->fresh)
        fputs(" fresh |", to);
    if (plan->n_learners > 1) {
        fputs(" difference from ", to);
        md_text(to, plan->learner[0].label);
        fputs(" |", to);
    }
    fprintf(to, " reward | lone |%s\n|---|%s---:|%s%s---:|---:|%s\n", printed ? " printed |" : "",
            swept ? "---:|" : "", plan->fresh ? "---:|" : "", plan->n_learners > 1 ? "---:|" : "",
            printed ? "---:|" : "");
    for (size_t l = 0; l < plan->n_learners; l++) {
        const struct gbose__summary *u = gbose__summary_of(s, all, g->world[i], l);
        const char *bold = gbose__tables_is_best(s, all, u) ? "**" : "";

        fputs("| ", to);
        md_text(to, plan->learner[l].label);
        fputs(" |", to);
        if (swept)
            fprintf(to, " %s |", gbose__tables_cell_value(buf, plan, u));
        fprintf(to, " %s%s%s |", bold, gbose__tables_cell_spread(buf, &u->tuned), bold);
        if (plan->fresh)
            fprintf(to, " %s |", gbose__tables_cell_spread(buf, &u->fresh));
        if (plan->n_learners > 1)
            fprintf(to, " %s |", gbose__tables_cell_difference(buf, &u->to_first));
        fprintf(to, " %s |", gbose__format_rounded(number, u->reward));
        fprintf(to, " %s |", gbose__format_rounded(number, u->lone));
        if (printed)
            fprintf(to, " %s |", gbose__format_rounded(number, gbose__printed_for(plan, u->world, l)));
        putc('\n', to);
    }
}

static int write_table_md(const struct gbose__study *s, const struct gbose__summary *all, const char *dir,
                          gbose_error *err)
{
    const struct gbose__plan *plan = s->plan;
    int printed = gbose__tables_any_printed(plan);
    struct gbose__group *groups;
    struct gbose__file f;
    size_t n;
    int rc = gbose__groups(&groups, &n, plan, err);

    if (rc)
        return rc;
    rc = gbose__file_open(&f, dir, "table.md", err);
    if (rc) {
        free(groups);
        return rc;
    }
    fprintf(f.to, "# Final regret after %" PRIu64 " rounds\n\n", plan->rounds);
    gbose__findings_say(f.to, s, all, " ", md_text);
    fputs("\n\n", f.to);
    gbose__findings_define(f.to, plan, "- ", "\n", md_text);
    gbose__tables_explain(f.to, plan, 1, "- ", "\n", md_text);
    fputs("- Lone: the share of rounds in which one arm had probability 1. Bold: the lowest median in its "
          "world.\n",
          f.to);
    if (groups[0].paper) {
        fputs("\n## As in Table 1\n", f.to);
        for (size_t i = 0; i < n; i++)
            md_paper_block(f.to, s, all, &groups[i], printed);
    }
    fputs("\n## Every world\n", f.to);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < groups[i].n; k++)
            md_world(f.to, s, all, &groups[i], k, printed);
    free(groups);
    return gbose__file_close(&f, err);
}

int gbose__tables_write(const struct gbose__study *s, const struct gbose__summary *all, const char *dir,
                        gbose_error *err)
{
    int rc = write_runs(s, dir, err);

    if (!rc)
        rc = write_curves(s, all, dir, err);
    if (!rc)
        rc = write_table_csv(s, all, dir, err);
    if (!rc)
        rc = write_table_md(s, all, dir, err);
    return rc;
}
