#include "report/figures.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/error.h"
#include "io/file.h"
#include "report/gnuplot.h"
#include "report/groups.h"
#include "report/tables.h"

/* What is drawn thick, in words: " The thick line is LABEL." or "". */
static const char *highlighted(char buf[160], const struct gbose__plan *plan)
{
    *buf = 0;
    for (size_t l = 0; l < plan->n_learners; l++)
        if (gbose__tables_is_own(plan, l) && !*buf)
            snprintf(buf, 160, " The thick line is %.100s.", plan->learner[l].label);
    return buf;
}

static void describe_regret(struct gbose__figure *figure, const struct gbose__plan *plan,
                            const struct gbose__group *g)
{
    char thick[160];

    snprintf(figure->name, sizeof figure->name, "regret-%s", g->name);
    snprintf(figure->caption, sizeof figure->caption,
             "Cumulative regret%s%s: median (line) and quartiles (band) over %zu repetition%s%s.%s%s",
             *g->title ? " for " : "", g->title, plan->reps, plan->reps == 1 ? "" : "s",
             plan->learner[0].option ? ", with the parameter that was best on them" : "",
             highlighted(thick, plan), g->n > 1 ? " All panels have the same scale." : "");
}

static void describe_differences(struct gbose__figure *figure, const struct gbose__plan *plan,
                                 const struct gbose__group *g)
{
    snprintf(figure->name, sizeof figure->name, "difference-%s", g->name);
    snprintf(
        figure->caption, sizeof figure->caption,
        "Final regret%s%s minus that of %.100s on the same %srepetitions: mean and 95%% confidence interval. "
        "Right of the line at 0, %.100s did better.%s",
        *g->title ? " for " : "", g->title, plan->learner[0].label, plan->fresh ? "fresh " : "",
        plan->learner[0].label, g->n > 1 ? " Each panel has a scale of its own." : "");
}

/* Scripts and data; the figures' names and captions. */
static int write_scripts(struct gbose__figure *figures, size_t *n, const struct gbose__study *s,
                         const struct gbose__summary *all, const struct gbose__group *groups, size_t n_groups,
                         const char *dir, gbose_error *err)
{
    int rc = GBOSE_OK;

    for (size_t i = 0; i < n_groups && !rc; i++) {
        describe_regret(&figures[*n], s->plan, &groups[i]);
        rc = gbose__figure_regret(&figures[(*n)++], s, all, &groups[i], dir, err);
        if (rc || !gbose__figure_has_differences(s, all, &groups[i]))
            continue;
        describe_differences(&figures[*n], s->plan, &groups[i]);
        rc = gbose__figure_differences(&figures[(*n)++], s, all, &groups[i], dir, err);
    }
    return rc;
}

int gbose__figures_write(struct gbose__figure **out, size_t *n, const struct gbose__study *s,
                         const struct gbose__summary *all, const char *dir, gbose_error *err)
{
    struct gbose__group *groups;
    size_t n_groups, count = 0;
    struct gbose__figure *figures = NULL;
    char *where = NULL;
    int rc = gbose__groups(&groups, &n_groups, s->plan, err);

    *out = NULL;
    *n = 0;
    if (rc)
        return rc;
    figures = calloc(2 * n_groups + 1, sizeof *figures);
    where = gbose__file_path(dir, "figures");
    rc = figures && where ? gbose__file_make_dir(where, err) : gbose__no_memory(err);
    if (!rc)
        rc = write_scripts(figures, &count, s, all, groups, n_groups, where, err);
    for (size_t i = 0; i < count && !rc; i++) {
        rc = gbose__gnuplot(where, figures[i].name, err);
        *n += !rc;
    }
    if (*n)
        *out = figures;
    else
        free(figures);
    free(where);
    free(groups);
    return rc;
}
