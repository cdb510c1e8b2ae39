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

#include "report/figure.h"
#include "study/plan.h"
#include "study/summary.h"

/* Make them, and the directory.
 *   out, n  the figures that are there afterwards, to be freed with free(); set on every return, perhaps to
 *           NULL and 0.
 * GBOSE_OK; GBOSE__ENOPLOT if gnuplot is missing: scripts and data are there all the same; GBOSE__EBADPLOT,
 * GBOSE__EWRITE, GBOSE_ENOMEM. */
int gbose__figures_write(struct gbose__figure **out, size_t *n, const struct gbose__study *s,
                         const struct gbose__summary *all, const char *dir, gbose_error *err);

#endif
