/* A log that is a table (CSV, plain or gzip), as records. There are two shapes.
 *
 * wide   A row is a decision: the columns `arm` (the id of the arm played), `reward`, and `p:ID`, the
 *        probability of every arm, or, where only that of the arm played is known, `probability`; the options
 *        then say which arms there are. Columns `x:NAME` are features of the round, of which every arm but
 *        the first gets a block.
 * long   A row is an arm, and rows that follow each other with the same `id` are one decision: the columns
 *        `probability` of that arm, `played` (1 for the arm that was; without it, the one that has a
 *        reward) and `reward`. Columns `x:NAME` are the arm's contexts. A table is long if it has a column
 *        `played` or one that begins with `action.`.
 *
 * In both, `schema` is the hash of the schema that decided, and columns whose names have another dot are features by name, as
 * user.device; the values of a set or vector have '|' between them. In a wide table an arm's only feature is its action.id. Features of the
 * round are those of a decision's first row. The Open Bandit Dataset is a wide table whose columns have
 * names of their own: user_feature_K is user.feature_K, user-item_affinity_K the action.affinity of item K,
 * and position is page.position. */
#ifndef GBOSE_IO_LOGTABLE_H
#define GBOSE_IO_LOGTABLE_H

#include "io/logfile.h"

struct gbose__logtable;

/* GBOSE_OK, GBOSE_ENOMEM, GBOSE__EREAD; GBOSE_EINVAL: a column is missing. What options point to is
 * borrowed. */
int gbose__logtable_open(struct gbose__logtable **out, const char *path,
                         const struct gbose__log_options *options, gbose_error *err);

/* The next decision into a record that was reset: 1; 0 at the end; or an error. After GBOSE_EINVAL the next
 * call goes on with the next decision. */
int gbose__logtable_next(struct gbose__logtable *t, struct gbose__record *r, gbose_error *err);

/* The line on which the decision began, and the path. */
uint64_t gbose__logtable_line(const struct gbose__logtable *t);
const char *gbose__logtable_path(const struct gbose__logtable *t);

/* As gbose__log_column(). */
int gbose__logtable_column(const struct gbose__logtable *t, size_t i, char *buf, size_t size);

/* NULL is allowed. */
void gbose__logtable_close(struct gbose__logtable *t);

#endif
