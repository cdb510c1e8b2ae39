/* What the files of logtable.h share. */
#ifndef GBOSE_IO_LOGTABLE_INNER_H
#define GBOSE_IO_LOGTABLE_INNER_H

#include "io/csv.h"
#include "io/logtable.h"

#define GBOSE__FEATURE_NAME 400 /* bytes of a feature's full name: longer than any that a schema can use */

/* Where the log's own columns are; -1 where there is none. */
struct gbose__log_columns {
    long arm, reward, probability, id, time, unit, played, schema, available;
    long *pmf; /* of each arm, in the order of a wide table's arms */
    size_t n_pmf;
    long *x;
    size_t n_x;
};

struct gbose__logtable {
    struct gbose__log_options set;
    struct gbose__csv *csv;
    struct gbose__log_columns columns;
    int is_long, with_features;
    char **arms; /* ids of a wide table's arms */
    size_t n_arms, arms_room;
    int held; /* the present row begins the next decision */
    char *id; /* of the decision that is being read */
    uint64_t line;
};

/* The number of an arm in a wide table's list, or n_arms; and append one that is not in it. GBOSE_OK, GBOSE_ENOMEM;
 * GBOSE_EINVAL if there are too many. */
size_t gbose__logtable_find_arm(const struct gbose__logtable *t, const char *id);
int gbose__logtable_add_arm(struct gbose__logtable *t, const char *id, gbose_error *err);

/* The next decision of a table of each shape, as gbose__logtable_next() returns it. */
int gbose__logtable_wide_next(struct gbose__logtable *t, struct gbose__record *r, gbose_error *err);
int gbose__logtable_long_next(struct gbose__logtable *t, struct gbose__record *r, gbose_error *err);

/* Does a text begin with another one? */
int gbose__logtable_fields_begins(const char *text, const char *with);

/* The field of the present row in a column: a number, or GBOSE_EINVAL; a text, or NULL if the field is empty or there is no
 * such column. */
int gbose__logtable_fields_number(const struct gbose__logtable *t, long column, double *out,
                                  gbose_error *err);
const char *gbose__logtable_fields_text(const struct gbose__logtable *t, long column);

/* The full name of the feature that a column holds: 1, or 0 if it holds none. An affinity of the Open Bandit
 * Dataset is of the arm with the number that is left in `of`; any other feature's is -1. */
int gbose__logtable_fields_name(const struct gbose__logtable *t, size_t column,
                                char name[GBOSE__FEATURE_NAME], long *of);

/* Features by name of a record: begin them, append an action (NULL: out of memory), put one feature, or all of the present
 * row: those of the round (action is NULL) or of its action. */
int gbose__logtable_fields_begin(struct gbose__record *r, gbose_error *err);
json_t *gbose__logtable_fields_action(struct gbose__record *r);
int gbose__logtable_fields_put(json_t *features, json_t *action, const char *name, const char *text,
                               gbose_error *err);
int gbose__logtable_fields_put_all(const struct gbose__logtable *t, json_t *features, json_t *action,
                                   gbose_error *err);

/* What is no column of the log's own: values to group by. */
void gbose__logtable_fields_others(const struct gbose__logtable *t, struct gbose__record *r);

#endif
