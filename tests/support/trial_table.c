#include "support/trial_table.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_REPETITIONS = 1000 };

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void print_head(const struct trial_table *table)
{
    printf("| %s |", table->heading);
    for (size_t k = 0; k < table->n_columns; k++)
        printf(" %s |", table->column(k));
    printf("\n|---|");
    for (size_t k = 0; k < table->n_columns; k++)
        printf("---|");
}

int trial_table_main(const struct trial_table *table, int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 41;
    size_t n = argc > 2 ? strtoul(argv[2], NULL, 10) : 20;
    double regret[MOST_REPETITIONS];

    if (n < 1 || n > MOST_REPETITIONS) {
        fprintf(stderr, "usage: %s SEED REPETITIONS, 1 to %d repetitions\n", argv[0], MOST_REPETITIONS);
        return 2;
    }
    print_head(table);
    for (size_t i = 0; i < table->n_rows; i++) {
        printf("\n| `%s` |", table->rows[i]);
        for (size_t k = 0; k < table->n_columns; k++) {
            for (size_t r = 0; r < n; r++)
                regret[r] = table->play(table->rows[i], k, seed, (uint32_t)r);
            qsort(regret, n, sizeof *regret, by_size);
            printf(" %.1f", (regret[(n - 1) / 2] + regret[n / 2]) / 2);
            if (table->worst)
                printf(" (%.1f)", regret[n - 1]);
            printf(" |");
            fflush(stdout);
        }
    }
    printf("\n");
    return 0;
}
