/* Cumulative regret over rounds: a panel a world, a line a learner. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "core/error.h"
#include "report/figure.h"
#include "report/format.h"
#include "report/gnuplot.h"
#include "report/tables.h"

#define LOG_RATIO 30 /* of the largest to the smallest final median, beyond which an axis is logarithmic */

/* A learner's line in a panel. */
struct line {
    size_t learner;
    size_t index; /* of its block in the data file */
    double end;   /* final median */
    double label; /* height of its label, as a share of the panel's */
};

struct panel {
    struct line *line; /* n of them */
    size_t n;
    double start, least, most; /* the smallest positive median; the least and the largest at the end */
    double low, high;          /* of the regret axis */
    int log;
};

static int by_end(const void *a, const void *b)
{
    const struct line *x = a, *y = b;

    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return (x->learner < y->learner) - (x->learner > y->learner); /* the first one on top */
}

/* Write the data of a panel, and find its lines and its axis. */
static int write_curves(FILE *to, struct panel *panel, struct gbose__spread *curve, size_t *index,
                        const struct gbose__study *s, const struct gbose__summary *all, size_t world,
                        gbose_error *err)
{
    const struct gbose__plan *plan = s->plan;

    panel->n = 0;
    panel->high = panel->most = 0;
    panel->start = panel->least = INFINITY;
    for (size_t l = 0; l < plan->n_learners; l++) {
        const struct gbose__summary *u = &all[world * plan->n_learners + l];
        int rc =
            u->value == GBOSE__NO_VALUE ? GBOSE_OK : gbose__summary_curve(curve, s, world, l, u->value, err);
        if (rc)
            return rc;
        if (u->value == GBOSE__NO_VALUE || !plan->n_points || !curve[plan->n_points - 1].n)
            continue;
        fprintf(to, "%s# %s, %s: round, first quartile, median, third quartile\n0 0 0 0\n",
                *index ? "\n\n" : "", plan->world[world], plan->learner[l].label);
        for (size_t k = 0; k < plan->n_points; k++) {
            fprintf(to, "%" PRIu64 " %.9g %.9g %.9g\n", plan->point[k], curve[k].q1, curve[k].median,
                    curve[k].q3);
            if (curve[k].q3 > panel->high)
                panel->high = curve[k].q3;
            if (curve[k].median > 0 && curve[k].median < panel->start)
                panel->start = curve[k].median;
        }
        panel->line[panel->n].learner = l;
        panel->line[panel->n].index = (*index)++;
        panel->line[panel->n].end = curve[plan->n_points - 1].median;
        panel->least = fmin(panel->least, panel->line[panel->n].end);
        panel->most = fmax(panel->most, panel->line[panel->n].end);
        panel->n++;
    }
    return GBOSE_OK;
}

/* One regret axis for all panels of a figure, so that they can be compared by eye: logarithmic if final
 * regrets are far apart. */
static void share_axis(struct panel *panel, size_t n)
{
    struct panel all = {.start = INFINITY, .least = INFINITY};

    for (size_t i = 0; i < n; i++) {
        all.n += panel[i].n;
        all.start = fmin(all.start, panel[i].start);
        all.least = fmin(all.least, panel[i].least);
        all.most = fmax(all.most, panel[i].most);
        all.high = fmax(all.high, panel[i].high);
    }
    all.log = all.n && all.least > 0 && all.most / all.least > LOG_RATIO;
    all.low = !all.log ? 0 : fmax(all.start, all.least / 100);
    all.high = all.high > 0 ? all.high * (all.log ? 1.3 : 1.04) : 1;
    for (size_t i = 0; i < n; i++) {
        panel[i].log = all.log;
        panel[i].low = all.low;
        panel[i].high = all.high;
    }
}

static double height_in(const struct panel *p, double y)
{
    if (!p->log)
        return y / p->high;
    return y > p->low ? log(y / p->low) / log(p->high / p->low) : 0;
}

static int place_labels(struct panel *p, double gap, gbose_error *err)
{
    double *x = calloc(p->n + 1, sizeof *x);

    if (!x)
        return gbose__no_memory(err);
    qsort(p->line, p->n, sizeof *p->line, by_end);
    for (size_t i = 0; i < p->n; i++)
        x[i] = height_in(p, p->line[i].end);
    gbose__plot_spread_apart(x, p->n, gap, 0, 1.02);
    for (size_t i = 0; i < p->n; i++)
        p->line[i].label = x[i];
    free(x);
    return GBOSE_OK;
}

static void draw_labels(FILE *to, const struct panel *p, const struct gbose__page *page,
                        const struct gbose__plan *plan)
{
    double near = 1 + 4 / page->panel_width, far = 1 + 16 / page->panel_width,
           text = 1 + 21 / page->panel_width;
    char label[GBOSE__LABEL_SIZE];

    fputs("unset arrow\n", to);
    for (size_t i = 0; i < p->n; i++) {
        const struct line *line = &p->line[i];
        double end = height_in(p, line->end);

        fprintf(to,
                "set arrow from graph 1, graph %.5f to graph %.5f, graph %.5f nohead lw 1 lc rgb \"#%06X\"\n",
                end, near, end, gbose__plot_colour(plan, line->learner));
        fprintf(
            to,
            "set arrow from graph %.5f, graph %.5f to graph %.5f, graph %.5f nohead lw 1 lc rgb \"#%06X\"\n",
            near, end, far, line->label, gbose__plot_colour(plan, line->learner));
        fprintf(to, "set label %zu ", i + 1);
        gbose__gnuplot_string(to, gbose__plot_label(label, plan, line->learner));
        fprintf(to, " at graph %.5f, graph %.5f left noenhanced%s\n", text, line->label,
                gbose__tables_is_own(plan, line->learner) ? " font \":Bold\"" : "");
    }
}

/* A line, with a title for who points at it. */
static void draw_line(FILE *to, const struct line *line, const struct gbose__plan *plan, int own,
                      const char *after)
{
    char number[GBOSE__NUMBER_SIZE], label[GBOSE__LABEL_SIZE], title[2 * GBOSE__LABEL_SIZE + 40];

    snprintf(title, sizeof title, "%s: final regret %s (median)",
             gbose__plot_label(label, plan, line->learner), gbose__format_rounded(number, line->end));
    fprintf(to, "    data index %zu using 1:(up($3)) with lines lw %d dt %u lc rgb \"#%06X\" title ",
            line->index, own ? 4 : 2, own ? 1 : gbose__plot_dash(plan, line->learner),
            gbose__plot_colour(plan, line->learner));
    gbose__gnuplot_string(to, title);
    fprintf(to, " noenhanced%s\n", after);
}

static void draw_panel(FILE *to, const struct panel *p, const struct gbose__page *page,
                       const struct gbose__group *g, size_t i, const struct gbose__plan *plan)
{
    size_t left = p->n;

    gbose__plot_panel(to, page, i);
    for (size_t k = 0; k < plan->n_learners; k++)
        fprintf(to, "unset label %zu\n", k + 1);
    gbose__plot_title(to, page, g, i, plan);
    if (!p->n) {
        fputs("set label 1 \"no finished runs\" at graph 0.5, graph 0.5 center\n", to);
        fputs("unset xlabel\nunset ylabel\nunset xtics\nunset ytics\nunset arrow\nunset logscale y\n"
              "plot [0:1][0:1] NaN notitle\n",
              to);
        return;
    }
    draw_labels(to, p, page, plan);
    fprintf(to, "set xrange [0:%" PRIu64 "]\nset yrange [%.9g:%.9g]\n", plan->rounds, p->low, p->high);
    fputs(p->log ? "set logscale y\nset ytics " GBOSE__TICK_STYLE " autofreq\nset format y \"%g\"\n"
                 : "unset logscale y\n",
          to);
    if (!p->log)
        gbose__plot_ticks(to, 'y', 0, p->high, 5);
    gbose__plot_ticks(to, 'x', 0, (double)plan->rounds, page->panel_width > 300 ? 5 : 2);
    fputs("set grid ytics back linetype 1 linecolor rgb \"#DDDDDD\" linewidth 1\n", to);
    fputs(i + page->columns >= g->n ? "set xlabel \"round\" offset 0,0.5\n" : "unset xlabel\n", to);
    fputs(i % page->columns == 0 ? "set ylabel \"cumulative regret\" offset 0.5,0\n" : "unset ylabel\n", to);
    fprintf(to, "up(y) = y > %.9g ? y : %.9g\nplot \\\n", p->low, p->low);
    for (size_t k = 0; k < p->n; k++)
        fprintf(
            to,
            "    data index %zu using 1:(up($2)):(up($4)) with filledcurves lc rgb \"#%06X\" notitle, \\\n",
            p->line[k].index, gbose__plot_colour(plan, p->line[k].learner));
    /* In the plan's order from its end, so that the first learner is on top; but above all the highlighted
     * one. */
    for (int own = 0; own < 2; own++)
        for (size_t l = plan->n_learners; l-- > 0;)
            for (size_t k = 0; k < p->n; k++)
                if (p->line[k].learner == l && gbose__tables_is_own(plan, l) == own)
                    draw_line(to, &p->line[k], plan, own, --left ? ", \\" : "");
}

int gbose__figure_regret(struct gbose__figure *figure, const struct gbose__study *s,
                         const struct gbose__summary *all, const struct gbose__group *g, const char *dir,
                         gbose_error *err)
{
    const struct gbose__plan *plan = s->plan;
    double label_gap = 1.2 * GBOSE__FONT_SIZE, labels = label_gap * (double)plan->n_learners;
    struct gbose__page page = {.left = 72, .gap = 46, .bottom = 52, .header = *g->title ? 30 : 6};
    struct gbose__spread *curve = calloc(plan->n_points + 1, sizeof *curve);
    struct line *lines = calloc(GBOSE__GROUP_WORLDS * plan->n_learners, sizeof *lines);
    struct panel panel[GBOSE__GROUP_WORLDS] = {0};
    struct gbose__file script, data;
    size_t index = 0;
    int rc =
        curve && lines ? gbose__figure_begin(&script, &data, dir, figure->name, err) : gbose__no_memory(err);

    if (rc) {
        free(curve);
        free(lines);
        return rc;
    }
    gbose__plot_grid(&page, g->n);
    page.right = 24 + gbose__plot_label_width(plan);
    page.panel_width = page.columns == 1 ? 520 : page.columns == 2 ? 320 : 232;
    page.panel_height = labels + 16 > 240 ? labels + 16 : 240;
    page.top = 14 + 1.25 * GBOSE__FONT_SIZE * (double)gbose__plot_title_lines(&page, g, plan);
    gbose__plot_begin(script.to, &page, figure->name, g->title);
    for (size_t i = 0; i < g->n && !rc; i++) {
        panel[i].line = lines + i * plan->n_learners;
        rc = write_curves(data.to, &panel[i], curve, &index, s, all, g->world[i], err);
    }
    share_axis(panel, g->n);
    for (size_t i = 0; i < g->n && !rc; i++) {
        rc = place_labels(&panel[i], label_gap / page.panel_height, err);
        if (!rc)
            draw_panel(script.to, &panel[i], &page, g, i, plan);
    }
    gbose__plot_end(script.to);
    gbose__figure_keep_boxes(figure, &page, g->n, page.gap);
    free(curve);
    free(lines);
    return gbose__figure_finish(&script, &data, rc, err);
}
