/* What the figures' gnuplot scripts have in common: a page of panels, ticks, colours. */
#ifndef GBOSE_REPORT_PLOT_H
#define GBOSE_REPORT_PLOT_H

#include <stddef.h>
#include <stdio.h>

#include "report/groups.h"
#include "study/plan.h"

#define GBOSE__FONT_SIZE 13
#define GBOSE__LETTER 7.6 /* width of a letter, generously, in the same units */

/* Said with every axis: "unset xtics" forgets it. */
#define GBOSE__TICK_STYLE "nomirror out scale 0.5 textcolor rgb \"black\""

/* A page of panels, measured in pixels of the SVG. */
struct gbose__page {
    size_t columns, rows;
    double left, gap; /* beside the first panel of a row, and between the others */
    double right;     /* of every panel */
    double header;    /* above the first row */
    double top, bottom;
    double panel_width, panel_height;
};

/* A part of the page. */
struct gbose__box {
    double x, y, width, height;
};

/* Panel i with what belongs to it: labels on its right, ticks below, title above, and on its left
 * `margin`, or everything if it is the first of its row. */
struct gbose__box gbose__plot_box(const struct gbose__page *p, size_t i, double margin);

/* Rows and columns for n panels. */
void gbose__plot_grid(struct gbose__page *p, size_t n);

/* The script up to the first panel, and after the last one: what is between is drawn once a terminal. */
void gbose__plot_begin(FILE *to, const struct gbose__page *p, const char *name, const char *title);
void gbose__plot_end(FILE *to);

/* Where panel i stands, and its title. */
void gbose__plot_panel(FILE *to, const struct gbose__page *p, size_t i);
void gbose__plot_title(FILE *to, const struct gbose__page *p, const struct gbose__group *g, size_t i,
                       const struct gbose__plan *plan);
/* The most lines that a title of the group takes. */
size_t gbose__plot_title_lines(const struct gbose__page *p, const struct gbose__group *g,
                               const struct gbose__plan *plan);

/* "set xtics (...)" with at most about `most` round numbers from low to high; axis is 'x' or 'y'. */
void gbose__plot_ticks(FILE *to, char axis, double low, double high, int most);

/* The colour of a learner, 0xRRGGBB: that of its name in all studies, with Okabe and Ito's, which
 * colour-blind readers can tell apart, for those of the paper; and the number of its dash type: 1, solid,
 * for the first learner of a colour. */
#define GBOSE__HIGHLIGHT 0xB00020 /* of gbose-auto, whose line is thick and on top */
unsigned gbose__plot_colour(const struct gbose__plan *plan, size_t learner);
/* The same by its spec; 0, which is black, for a learner that is not one of ours. */
unsigned gbose__plot_own_colour(const char *spec);
unsigned gbose__plot_dash(const struct gbose__plan *plan, size_t learner);

/* A learner's label, shortened if it is long. */
#define GBOSE__LABEL_SIZE 64
const char *gbose__plot_label(char buf[GBOSE__LABEL_SIZE], const struct gbose__plan *plan, size_t learner);
/* The width of the longest. */
double gbose__plot_label_width(const struct gbose__plan *plan);

/* Move positions apart until neighbours in rising order differ by at least `gap`, as little as possible in
 * the sense of least squares, within [low, high] if they fit. x is in rising order before and after. */
void gbose__plot_spread_apart(double *x, size_t n, double gap, double low, double high);

#endif
