/* All that a finished study leaves in its directory. */
#ifndef GBOSE_REPORT_OUTPUTS_H
#define GBOSE_REPORT_OUTPUTS_H

#include <stdio.h>

#include "io/file.h"
#include "report/gnuplot.h"
#include "report/print.h"
#include "study/plan.h"

/* Write runs.csv, curves.csv, table.csv, table.md, figures/ and report.html into a directory, which is
 * made if it is missing. Each file is in place whole or not at all.
 *   command_line  for the report; may be NULL.
 * GBOSE_OK; GBOSE__ENOPLOT or GBOSE__EBADPLOT if gnuplot is missing or failed: all else is there then, and
 * err holds the line to tell the user; GBOSE__EWRITE, GBOSE__EREAD, GBOSE_ENOMEM. */
int gbose__outputs_write(const struct gbose__study *s, const char *dir, const char *command_line,
                         gbose_error *err);

/* The table for the terminal. */
void gbose__outputs_print(FILE *to, const struct gbose__study *s, const struct gbose__print_style *style);

#endif
