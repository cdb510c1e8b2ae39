/* A study's table on the terminal. */
#ifndef GBOSE_REPORT_PRINT_H
#define GBOSE_REPORT_PRINT_H

#include <stdio.h>

#include "study/summary.h"

/* Print it: a study of the paper as its Table 1, others world by world. Prints one line instead when memory is
 * short. */
void gbose__print_table(FILE *to, const struct gbose__study *s, const struct gbose__summary *all);

#endif
