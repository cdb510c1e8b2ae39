/* gnuplot, started without a shell. */
#ifndef GBOSE_REPORT_GNUPLOT_H
#define GBOSE_REPORT_GNUPLOT_H

#include <stdio.h>

#include "gbose.h"

/* Codes beside those of gbose.h and io/file.h. */
enum {
    GBOSE__ENOPLOT = -103,  /* gnuplot is not installed */
    GBOSE__EBADPLOT = -104, /* gnuplot was started and failed */
};

/* Run DIR/NAME.gp, which must set its outputs to out.".svg", out.".png" and out.".pdf", with `out` set to
 * a temporary name, and put what it made in place as DIR/NAME.svg, .png and .pdf if it is whole. The same
 * script and data give the same bytes with the same gnuplot: the date in the PDF is set to 1970.
 * GBOSE__ENOPLOT if there is no gnuplot; GBOSE__EBADPLOT, with the first line that it said, if it failed
 * or left a file out or unfinished; GBOSE__EWRITE, GBOSE_ENOMEM. After an error none of the three is
 * there. */
int gbose__gnuplot(const char *dir, const char *name, gbose_error *err);

/* A figure that is not there because gnuplot is not installed is no error, since pages say so; any other reason is: the code,
 * and its text in err. */
int gbose__gnuplot_missed(int drawn, const gbose_error *drawing, gbose_error *err);

/* The end of a script: `draw`, once for each output, on so many pixels. */
void gbose__gnuplot_outputs(FILE *to, double width, double height, const char *draw);

/* A string of a gnuplot script, in quotes. */
void gbose__gnuplot_string(FILE *to, const char *text);

/* The same as the label of a tic. */
void gbose__gnuplot_tic(FILE *to, const char *text);

#endif
