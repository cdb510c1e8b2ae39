/* The main program of a trial that prints a table for docs/learners/gbose-auto.md: a row for each world, a column for each
 * variant, and the median regret of the repetitions in each cell. */
#ifndef GBOSE_TESTS_SUPPORT_TRIAL_TABLE_H
#define GBOSE_TESTS_SUPPORT_TRIAL_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct trial_table {
    const char *heading; /* of the first column */
    const char *const *rows;
    size_t n_rows, n_columns;
    const char *(*column)(size_t k);                                               /* its name */
    double (*play)(const char *row, size_t k, uint64_t seed, uint32_t repetition); /* the regret of a run */
    int worst; /* also show the worst run, in brackets */
};

/* Arguments: SEED REPETITIONS. What main() is to return. */
int trial_table_main(const struct trial_table *table, int argc, char **argv);

#endif
