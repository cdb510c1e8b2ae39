/* The features of a log's rounds, one after the other: from JSON lines, or from a CSV file, plain or gzip.
 *
 * A line of JSON is a round (io/features.h). In CSV, a path that ends in .csv or .csv.gz, columns whose
 * names have a dot are features, as action.price and user.device; the fields of a set or vector have '|'
 * between them. A row is an arm. Rows that follow each other with the same text in the column `id` are the
 * arms of one round; without that column every row is a round of its own. The features of the round are
 * those of its first row. */
#ifndef GBOSE_IO_ROUNDS_H
#define GBOSE_IO_ROUNDS_H

#include <stdint.h>

#include "io/features.h"

struct gbose__rounds;

/* GBOSE_OK, GBOSE_ENOMEM; GBOSE__EREAD; GBOSE_EINVAL if a CSV file has no column with a dot. */
int gbose__rounds_open(struct gbose__rounds **out, const char *path, gbose_error *err);

/* The next round: 1, and `out` points to its features until the next call; 0 at the end; or an error whose
 * text has the file and the line. After GBOSE_EINVAL the next call goes on behind what was wrong. */
int gbose__rounds_next(struct gbose__rounds *r, const struct gbose__round_features **out, gbose_error *err);

/* NULL is allowed. */
void gbose__rounds_close(struct gbose__rounds *r);

#endif
