/* A log as a table, for gbose log convert: a row for each arm, or, where nothing is known of arms but what they are
 * called, a row for each decision (io/logtable.h reads both).
 *
 * The first decision says which columns there are. Rows that were written cannot be changed, so a later decision that
 * has more is refused: nothing is left out in silence. */
#ifndef GBOSE_CLI_LOG_TABLE_H
#define GBOSE_CLI_LOG_TABLE_H

#include "cli/logs.h"

/* Zeroed memory is a table that has not begun. */
struct log_table {
    uint64_t written; /* decisions */
    int is_long, partial;
    size_t dim;
    struct names arms;    /* of a row for each decision */
    struct names columns; /* values to group by, and features by name, as user.device */
    char **field;         /* theirs in the row that is being written; NULL: empty */
};

/* Write a decision. GBOSE_OK, GBOSE_ENOMEM; GBOSE_EINVAL if it does not fit: then nothing of what was written to `to` counts. */
int log_table_put(struct log_table *t, const struct gbose__record *r, FILE *to, gbose_error *err);

void log_table_clear(struct log_table *t);

#endif
