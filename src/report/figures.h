/* A study's figures, drawn by gnuplot, under DIR/figures: for each group of worlds
 *
 *   regret-GROUP       cumulative regret, a panel a world, a line a learner: median and quartiles
 *   difference-GROUP   final regret minus that of the first learner: mean and 95% confidence interval
 *
 * each as .svg, .png and .pdf, with the script (.gp) and the data (.dat) that it was made from. To restyle a
 * figure, edit its script and run `gnuplot NAME.gp` in that directory. */
#ifndef GBOSE_REPORT_FIGURES_H
#define GBOSE_REPORT_FIGURES_H

#include <stddef.h>

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

/* Make them, and the directory.
 *   out, n  the figures that are there afterwards, to be freed with free(); set on every return, perhaps to
 *           NULL and 0.
 * GBOSE_OK; GBOSE__ENOPLOT if gnuplot is missing: scripts and data are there all the same; GBOSE__EBADPLOT,
 * GBOSE__EWRITE, GBOSE_ENOMEM. */
int gbose__figures_write(struct gbose__figure **out, size_t *n, const struct gbose__study *s,
                         const struct gbose__summary *all, const char *dir, gbose_error *err);

/* Move positions apart until neighbours in rising order differ by at least `gap`, as little as possible in the
 * sense of least squares, within [low, high] if they fit. x is in rising order before and after. */
void gbose__figures_spread_apart(double *x, size_t n, double gap, double low, double high);

#endif
