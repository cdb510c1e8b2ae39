/* A study's table on the terminal. */
#ifndef GBOSE_REPORT_PRINT_H
#define GBOSE_REPORT_PRINT_H

#include <stddef.h>
#include <stdio.h>

#include "study/summary.h"

/* What the terminal can show. */
struct gbose__print_style {
    size_t width; /* columns: tables that are wider are folded, notes are wrapped */
    int utf8;     /* letters beyond ASCII */
    int colour;   /* the best of a column stands out */
    int notes;    /* what was found, and what the columns mean */
};

/* Print it: a study of the paper as its Table 1, others world by world. Prints one line instead when
 * memory is short. */
void gbose__print_table(FILE *to, const struct gbose__study *s, const struct gbose__summary *all,
                        const struct gbose__print_style *style);

#endif
