/* One figure: a gnuplot script, its data, and where its panels are. */
#ifndef GBOSE_REPORT_FIGURE_H
#define GBOSE_REPORT_FIGURE_H

#include <stddef.h>

#include "io/file.h"
#include "report/groups.h"
#include "report/plot.h"
#include "study/plan.h"
#include "study/summary.h"

struct gbose__figure {
    char name[96]; /* DIR/figures/NAME.svg and so on */
    char caption[512];
    size_t n_panels;
    struct gbose__box panel[GBOSE__GROUP_WORLDS]; /* where they are, in pixels of the SVG */
    double names; /* the width of what stands on the left of a row for all of its panels; 0: nothing */
};

/* Open NAME.gp and NAME.dat in a directory; and put both in place, or forget them if rc is an error, which
 * is returned. */
int gbose__figure_begin(struct gbose__file *script, struct gbose__file *data, const char *dir,
                        const char *name, gbose_error *err);
int gbose__figure_finish(struct gbose__file *script, struct gbose__file *data, int rc, gbose_error *err);

/* Note where the panels are, for a narrow page. `margin` is what belongs to a panel on its left, unless it
 * is the first of its row; 0: the row shares what is on the left of the first. */
void gbose__figure_keep_boxes(struct gbose__figure *figure, const struct gbose__page *page, size_t n,
                              double margin);

/* Write script and data of a figure that has its name: cumulative regret, a panel a world; and final
 * regret minus that of the first learner, if there are intervals to show
 * (gbose__figure_has_differences()). */
int gbose__figure_regret(struct gbose__figure *figure, const struct gbose__study *s,
                         const struct gbose__summary *all, const struct gbose__group *g, const char *dir,
                         gbose_error *err);
int gbose__figure_differences(struct gbose__figure *figure, const struct gbose__study *s,
                              const struct gbose__summary *all, const struct gbose__group *g, const char *dir,
                              gbose_error *err);
int gbose__figure_has_differences(const struct gbose__study *s, const struct gbose__summary *all,
                                  const struct gbose__group *g);

#endif
