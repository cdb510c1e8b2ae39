/* Final regret minus that of the first learner: mean and 95% confidence interval, a panel a world. */
#include <math.h>

#include "report/figure.h"
#include "report/gnuplot.h"
#include "report/tables.h"

static int has_interval(const struct gbose__summary *u)
{
    return u->to_first.n > 1 && isfinite(u->to_first.low) && isfinite(u->to_first.high);
}

int gbose__figure_has_differences(const struct gbose__study *s, const struct gbose__summary *all,
                                  const struct gbose__group *g)
{
    for (size_t i = 0; i < g->n; i++)
        for (size_t l = 1; l < s->plan->n_learners; l++)
            if (has_interval(&all[g->world[i] * s->plan->n_learners + l]))
                return 1;
    return 0;
}

/* The learners' names down the left side. */
static void draw_rows(FILE *to, const struct gbose__plan *plan)
{
    char label[GBOSE__LABEL_SIZE];

    for (size_t l = 1; l < plan->n_learners; l++) {
        fputs(l > 1 ? ", " : "set ytics nomirror scale 0 textcolor rgb \"black\" (", to);
        gbose__gnuplot_tic(to, gbose__plot_label(label, plan, l));
        fprintf(to, " %zu", l);
    }
    fputs(") noenhanced\n", to);
}

static void draw_differences(FILE *script, FILE *data, const struct gbose__page *page, size_t *index,
                             const struct gbose__study *s, const struct gbose__summary *all,
                             const struct gbose__group *g, size_t i)
{
    const struct gbose__plan *plan = s->plan;
    char label[GBOSE__LABEL_SIZE], axis[GBOSE__LABEL_SIZE + 40];
    double low = 0, high = 0;
    size_t n = 0;
    int own = 0;

    for (size_t l = 1; l < plan->n_learners; l++) {
        const struct gbose__summary *u = &all[g->world[i] * plan->n_learners + l];
        if (!has_interval(u))
            continue;
        own |= gbose__tables_is_own(plan, l);
        if (!n++)
            fprintf(data, "%s# %s: row, mean, low, high, colour, learner\n", *index ? "\n\n" : "",
                    plan->world[u->world]);
        fprintf(data, "%zu %.9g %.9g %.9g %u \"%s\"\n", l, u->to_first.mean, u->to_first.low,
                u->to_first.high, gbose__plot_colour(plan, l), plan->learner[l].label);
        low = u->to_first.low < low ? u->to_first.low : low;
        high = u->to_first.high > high ? u->to_first.high : high;
    }
    if (!(high > low))
        high = low + 1;
    gbose__plot_panel(script, page, i);
    gbose__plot_title(script, page, g, i, plan);
    fprintf(script, "set xrange [%.9g:%.9g]\nset yrange [%zu.5:0.5]\n", low - 0.05 * (high - low),
            high + 0.05 * (high - low), plan->n_learners - 1);
    gbose__plot_ticks(script, 'x', low - 0.05 * (high - low), high + 0.05 * (high - low), 5);
    gbose__plot_label(label, plan, 0);
    snprintf(axis, sizeof axis, "← better than %s | worse →", label);
    fputs("set xlabel ", script);
    gbose__gnuplot_string(script, axis);
    fputs(" noenhanced offset 0,0.4\n", script);
    if (i % page->columns == 0)
        draw_rows(script, plan);
    else
        fputs("unset ytics\n", script);
    fputs("set border 1\nset grid xtics back linetype 1 linecolor rgb \"#DDDDDD\" linewidth 1\n", script);
    fputs("unset arrow\nset arrow from 0, graph 0 to 0, graph 1 nohead back lw 1 lc rgb \"#808080\"\n",
          script);
    if (n) { /* the highlighted learner again, larger, on top of itself */
        fprintf(script,
                "plot data index %zu using 2:1:3:4:5 with xerrorbars pt 7 ps 0.7 lw 2 lc rgb variable "
                "notitle%s\n",
                *index, own ? ", \\" : "");
        if (own)
            fprintf(script,
                    "    data index %zu using ($5 == %u ? $2 : NaN):1:3:4:5 with xerrorbars pt 7 ps 1.1 lw 4 "
                    "lc rgb "
                    "variable notitle\n",
                    *index, GBOSE__HIGHLIGHT);
        (*index)++;
    }
    if (!n)
        fputs("plot NaN notitle\n", script);
}

int gbose__figure_differences(struct gbose__figure *figure, const struct gbose__study *s,
                              const struct gbose__summary *all, const struct gbose__group *g, const char *dir,
                              gbose_error *err)
{
    const struct gbose__plan *plan = s->plan;
    struct gbose__page page = {.gap = 30, .right = 20, .bottom = 56, .header = *g->title ? 30 : 6};
    struct gbose__file script, data;
    size_t index = 0;
    int rc = gbose__figure_begin(&script, &data, dir, figure->name, err);

    if (rc)
        return rc;
    gbose__plot_grid(&page, g->n);
    page.left = 22 + gbose__plot_label_width(plan);
    page.panel_width = page.columns == 1 ? 520 : page.columns == 2 ? 380 : 300;
    page.panel_height = 24 * (double)(plan->n_learners - 1) + 8;
    page.top = 14 + 1.25 * GBOSE__FONT_SIZE * (double)gbose__plot_title_lines(&page, g, plan);
    gbose__plot_begin(script.to, &page, figure->name, g->title);
    gbose__figure_keep_boxes(figure, &page, g->n, 0);
    for (size_t i = 0; i < g->n; i++)
        draw_differences(script.to, data.to, &page, &index, s, all, g, i);
    gbose__plot_end(script.to);
    return gbose__figure_finish(&script, &data, GBOSE_OK, err);
}
