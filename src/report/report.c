#include "report/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "io/file.h"
#include "report/findings.h"
#include "report/format.h"
#include "report/groups.h"
#include "report/html.h"
#include "report/printed.h"
#include "report/tables.h"

/* ---- figures ---- */

/* For narrow pages: the panels below each other, each cut from the drawing that is there already. Panels
 * that share names on their left have them beside each. */
static void put_panels(FILE *to, const struct gbose__figure *f, size_t number)
{
    for (size_t i = 0; i < f->n_panels; i++) {
        const struct gbose__box *b = &f->panel[i];
        double names = b->x > 0 ? f->names : 0;

        fprintf(to, "<svg class=\"panel\" aria-hidden=\"true\" viewBox=\"0 0 %.0f %.0f\">", names + b->width,
                b->height);
        if (names > 0)
            fprintf(to,
                    "<svg width=\"%.0f\" height=\"%.0f\" viewBox=\"0 %.0f %.0f %.0f\">"
                    "<use href=\"#f%zu-gnuplot_canvas\"/></svg>",
                    names, b->height, b->y, names, b->height, number);
        fprintf(to,
                "<svg x=\"%.0f\" width=\"%.0f\" height=\"%.0f\" viewBox=\"%.0f %.0f %.0f %.0f\">"
                "<use href=\"#f%zu-gnuplot_canvas\"/></svg></svg>\n",
                names, b->width, b->height, b->x, b->y, b->width, b->height, number);
    }
}

static int put_figure(FILE *to, const struct gbose__figure *figure, size_t number, const char *dir,
                      gbose_error *err)
{
    char file[160];
    int rc;

    fprintf(to, "<figure%s>\n<div class=\"wide%s\">", figure->n_panels > 1 ? "" : " class=\"single\"",
            figure->n_panels > 1 ? " stacks" : "");
    snprintf(file, sizeof file, "figures/%s.svg", figure->name);
    rc = gbose__html_svg(to, dir, file, number, figure->caption, err);
    if (rc)
        return rc;
    if (figure->n_panels > 1)
        put_panels(to, figure, number);
    fputs("</div>\n<figcaption>", to);
    gbose__format_html(to, figure->caption);
    fprintf(to,
            " As <a href=\"figures/%s.svg\">SVG</a>, <a href=\"figures/%s.png\">PNG</a>, "
            "<a href=\"figures/%s.pdf\">PDF</a>.</figcaption>\n</figure>\n",
            figure->name, figure->name, figure->name);
    return GBOSE_OK;
}

/* ---- tables ---- */

static void put_number(FILE *to, const char *class, double x, int bold)
{
    char buf[GBOSE__NUMBER_SIZE];

    fprintf(to, bold ? "<td class=\"%s\"><b>%s</b></td>" : "<td class=\"%s\">%s</td>", class,
            gbose__format_rounded(buf, x));
}

static void put_cell(FILE *to, const char *text, int bold)
{
    fputs(bold ? "<td><b>" : "<td>", to);
    gbose__format_html(to, text);
    fputs(bold ? "</b></td>" : "</td>", to);
}

/* A setup as in Table 1. */
static void put_paper_table(FILE *to, const struct gbose__study *s, const struct gbose__summary *all,
                            const struct gbose__group *g, int printed)
{
    const struct gbose__plan *plan = s->plan;
    int across = 1 + (plan->fresh > 0) + (printed != 0);

    fprintf(to,
            "<h3>%s</h3>\n<div class=\"wide sides\"><table>\n<thead>\n<tr><th rowspan=\"2\">algorithm</th>",
            g->title);
    for (size_t i = 0; i < g->n; i++) {
        fprintf(to, "<th class=\"edge\" colspan=\"%d\" title=\"", across);
        gbose__format_html(to, gbose__groups_formula(g, i, plan));
        fprintf(to, "\">%s</th>", gbose__groups_label(g, i, plan));
    }
    fputs("</tr>\n<tr>", to);
    for (size_t i = 0; i < g->n; i++)
        fprintf(to, "<th class=\"edge\">best</th>%s%s", plan->fresh ? "<th>fresh</th>" : "",
                printed ? "<th>printed</th>" : "");
    fputs("</tr>\n</thead>\n<tbody>\n", to);
    for (size_t l = 0; l < plan->n_learners; l++) {
        fputs("<tr>", to);
        put_cell(to, plan->learner[l].label, 0);
        for (size_t i = 0; i < g->n; i++) {
            const struct gbose__summary *u = gbose__summary_of(s, all, g->world[i], l);

            put_number(to, "edge", u->tuned.median, gbose__tables_is_best(s, all, u));
            if (plan->fresh)
                put_number(to, "", u->fresh.median, 0);
            if (printed)
                put_number(to, "more", gbose__printed_for(plan, u->world, l), 0);
        }
        fputs("</tr>\n", to);
    }
    fputs("</tbody>\n</table></div>\n", to);
}

static void put_world_table(FILE *to, const struct gbose__study *s, const struct gbose__summary *all,
                            const struct gbose__group *g, size_t i, int printed)
{
    const struct gbose__plan *plan = s->plan;
    int swept = gbose__tables_any_swept(plan);
    char buf[GBOSE__CELL_SIZE];

    fputs("<h3>", to);
    if (g->paper)
        fprintf(to, "%s, %s: ", g->title, gbose__groups_label(g, i, plan));
    fputs("<code>", to);
    gbose__format_html(to, plan->world[g->world[i]]);
    fputs("</code></h3>\n<div class=\"wide sides\"><table>\n<thead><tr><th>learner</th>", to);
    if (swept) {
        fputs("<th>", to);
        gbose__format_html(to, gbose__tables_value_heading(plan));
        fputs("</th>", to);
    }
    fprintf(to, "<th>median [quartiles]</th>%s", plan->fresh ? "<th>fresh [quartiles]</th>" : "");
    if (plan->n_learners > 1) {
        fputs("<th>difference from ", to);
        gbose__format_html(to, plan->learner[0].label);
        fputs(" [95% CI]</th>", to);
    }
    fprintf(to, "<th>reward</th><th>lone</th>%s</tr></thead>\n<tbody>\n", printed ? "<th>printed</th>" : "");
    for (size_t l = 0; l < plan->n_learners; l++) {
        const struct gbose__summary *u = gbose__summary_of(s, all, g->world[i], l);

        fputs("<tr>", to);
        put_cell(to, plan->learner[l].label, 0);
        if (swept)
            put_cell(to, gbose__tables_cell_value(buf, plan, u), 0);
        put_cell(to, gbose__tables_cell_spread(buf, &u->tuned), gbose__tables_is_best(s, all, u));
        if (plan->fresh)
            put_cell(to, gbose__tables_cell_spread(buf, &u->fresh), 0);
        if (plan->n_learners > 1)
            put_cell(to, gbose__tables_cell_difference(buf, &u->to_first), 0);
        put_number(to, "", u->reward, 0);
        put_number(to, "", u->lone, 0);
        if (printed)
            put_number(to, "more", gbose__printed_for(plan, u->world, l), 0);
        fputs("</tr>\n", to);
    }
    fputs("</tbody>\n</table></div>\n", to);
}

static void put_tables(FILE *to, const struct gbose__study *s, const struct gbose__summary *all,
                       const struct gbose__group *groups, size_t n)
{
    static const char lone[] =
        "<li>Lone: the share of rounds in which one arm had probability 1, so that there was "
        "nothing to compare.</li>\n</ul>\n";
    int printed = gbose__tables_any_printed(s->plan), paper = n && groups[0].paper;

    fprintf(to, "<h2>Final regret after %" PRIu64 " rounds</h2>\n<ul>\n", s->plan->rounds);
    gbose__tables_explain(to, s->plan, !paper, "<li>", "</li>\n", gbose__format_html);
    fputs("<li>Bold: the lowest median in its world.</li>\n", to);
    fputs(paper ? "</ul>\n" : lone, to);
    for (size_t i = 0; i < n && paper; i++)
        put_paper_table(to, s, all, &groups[i], printed);
    if (paper) {
        fputs("<details><summary>Parameters, quartiles and differences of every cell</summary>\n<ul>\n", to);
        gbose__tables_explain_differences(to, s->plan, "<li>", "</li>\n", gbose__format_html);
        fputs(lone, to);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < groups[i].n; k++)
            put_world_table(to, s, all, &groups[i], k, printed);
    if (paper)
        fputs("</details>\n", to);
}

/* ---- the page ---- */

static void put_facts(FILE *to, const struct gbose__study *s, const char *command_line)
{
    const struct gbose__plan *plan = s->plan;
    size_t done = 0;

    for (size_t i = 0; i < s->n_runs; i++)
        done += s->result[i].done != 0;
    fputs("<dl>\n", to);
    if (command_line) {
        fputs("<dt>command</dt><dd><code>", to);
        gbose__format_html(to, command_line);
        fputs("</code></dd>\n", to);
    }
    fputs("<dt>learners</dt><dd>", to);
    for (size_t l = 0; l < plan->n_learners; l++) {
        const struct gbose__entry *e = &plan->learner[l];

        fputs(l ? "<br>" : "", to);
        gbose__format_html(to, e->label);
        if (strcmp(e->label, e->spec)) {
            fputs(": <code>", to);
            gbose__format_html(to, e->spec);
            fputs("</code>", to);
        }
        for (size_t v = 0; e->option && v < e->n_values; v++) {
            fputs(v ? " " : ", ", to);
            if (!v) {
                gbose__format_html(to, e->option);
                fputs(" in ", to);
            }
            gbose__format_html(to, e->value[v]);
        }
    }
    fprintf(to, "</dd>\n<dt>rounds</dt><dd>%" PRIu64 "</dd>\n<dt>repetitions</dt><dd>%zu", plan->rounds,
            plan->reps);
    if (plan->fresh)
        fprintf(to, ", and %zu fresh ones with the chosen parameter", plan->fresh);
    fprintf(to,
            "</dd>\n<dt>finished runs</dt><dd>%zu</dd>\n<dt>seed</dt><dd>%" PRIu64
            "</dd>\n<dt>version</dt><dd>gbose %s</dd>\n</dl>\n",
            done, plan->seed, gbose_version());
}

static int put_page(FILE *to, const struct gbose__study *s, const struct gbose__summary *all,
                    const struct gbose__group *groups, size_t n_groups, const struct gbose__figure *figures,
                    size_t n, const char *no_figures, const char *dir, const char *command_line,
                    gbose_error *err)
{
    const char *title = n_groups && groups[0].paper ? "The paper's simulation study" : "Simulation study";
    int rc = GBOSE_OK;

    gbose__html_begin(to, title);
    fputs("<p class=\"found\">", to);
    gbose__findings_say(to, s, all, " ", gbose__format_html);
    fputs("</p>\n", to);
    gbose__findings_define(to, s->plan, "<p>", "</p>\n", gbose__format_html);
    put_tables(to, s, all, groups, n_groups);
    fputs("<h2>Figures</h2>\n", to);
    if (no_figures) {
        fputs("<p>", to);
        gbose__format_html(to, no_figures);
        fputs("</p>\n", to);
    }
    for (size_t i = 0; i < n && !rc; i++)
        rc = put_figure(to, &figures[i], i + 1, dir, err);
    fputs("<h2>How it was played</h2>\n", to);
    put_facts(to, s, command_line);
    fputs(
        "<h2>Files</h2>\n<ul>\n"
        "<li><a href=\"runs.csv\">runs.csv</a>: one row per run</li>\n"
        "<li><a href=\"curves.csv\">curves.csv</a>: quartiles of cumulative regret over the rounds</li>\n"
        "<li><a href=\"table.csv\">table.csv</a>, <a href=\"table.md\">table.md</a>: the tables above</li>\n"
        "<li><a href=\"study.json\">study.json</a>: what is needed to run it again</li>\n"
        "<li><a href=\"figures/\">figures/</a>: every figure as SVG, PNG and PDF, with its gnuplot script "
        "and "
        "data</li>\n</ul>\n",
        to);
    gbose__html_end(to);
    return rc;
}

int gbose__report_write(const struct gbose__study *s, const struct gbose__summary *all,
                        const struct gbose__figure *figures, size_t n, const char *no_figures,
                        const char *dir, const char *command_line, gbose_error *err)
{
    struct gbose__group *groups;
    struct gbose__file f;
    size_t n_groups;
    int rc = gbose__groups(&groups, &n_groups, s->plan, err);

    if (rc)
        return rc;
    rc = gbose__file_open(&f, dir, "report.html", err);
    if (!rc) {
        rc = put_page(f.to, s, all, groups, n_groups, figures, n, no_figures, dir, command_line, err);
        if (rc)
            gbose__file_abandon(&f);
        else
            rc = gbose__file_close(&f, err);
    }
    free(groups);
    return rc;
}
