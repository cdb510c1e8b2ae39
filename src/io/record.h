/* One logged decision, as files have it: what all formats are read into and written from.
 *
 * A record keeps its memory from one line to the next. Texts are borrowed from the line that it was read
 * from, and valid as long as that is. */
#ifndef GBOSE_IO_RECORD_H
#define GBOSE_IO_RECORD_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "gbose.h"

#define GBOSE__LOG_VERSION 1
#define GBOSE__RECORD_COLUMNS 32 /* further values that a record can hold, and columns of probabilities */

/* A value that is none of the record's own: for "by day" and the like. */
struct gbose__column {
    const char *name, *text;
};

/* Probabilities that another policy would have had: n_arms numbers from `first` in the record's `column_pmf`.
 * */
struct gbose__pmf_column {
    const char *name;
    size_t first, n;
};

struct gbose__record {
    const char *id, *time, *bandit, *spec, *unit, *why, *reward_time; /* NULL: not there */
    const char *schema; /* hash of the schema that decided, or made x: 16 hexadecimal digits; NULL: none */
    double model, stream, number; /* generation, stream and number of the decision; NaN: not there */
    size_t n_arms, arm;
    const char **arms; /* n_arms ids, or n_ids is 0 */
    size_t n_ids;
    double *pmf; /* n_arms */
    int partial; /* 1: only pmf[arm] was logged, and the others share the rest evenly */
    double *x;   /* n_arms rows of dim numbers; dim 0: none */
    size_t dim;
    double *round; /* n_round numbers: features of the round */
    size_t n_round;
    int has_reward;
    double reward;
    double kept;      /* probability with which the line was kept, when a log is a sample of itself; 1 */
    json_t *features; /* users and actions by their names (io/features.h); NULL: none. Owned */
    json_t *document; /* what texts are borrowed from, when it is not the line; NULL: the line. Owned */
    int has_features; /* the line has them, and `features` may not have been made */
    struct gbose__column column[GBOSE__RECORD_COLUMNS];
    size_t n_columns;
    struct gbose__pmf_column policy[GBOSE__RECORD_COLUMNS];
    size_t n_policies;
    double *column_pmf;
    size_t n_column_pmf;
    char *feature_text; /* of a feature that was asked for as a column. Owned */
    /* memory */
    size_t arms_room, pmf_room, x_room, round_room, column_room;
};

/* Zeroed memory is a record. Empty it for the next line; free what it owns. */
void gbose__record_reset(struct gbose__record *r);
void gbose__record_clear(struct gbose__record *r);

/* Append to a growing array: GBOSE_OK or GBOSE_ENOMEM. `at` is the number of entries that it has. */
int gbose__record_push(double **array, size_t *room, size_t at, double value);
int gbose__record_push_arm(struct gbose__record *r, const char *id);

/* What every record must be: arms, one that was played, probabilities that add up to 1. GBOSE_OK, or
 * GBOSE_EINVAL and a text that says what is wrong. */
int gbose__record_check(const struct gbose__record *r, gbose_error *err);

/* The text of a column, also of the record's own (id, t, bandit, unit, why, arm), and, if features were read, of one of the
 * round by its full name (user.device); NULL: there is none. Valid until the next call. */
const char *gbose__record_column(const struct gbose__record *r, const char *name);

/* As one line: of our format, or of dsjson. */
void gbose__record_print(const struct gbose__record *r, FILE *to);
void gbose__record_print_dsjson(const struct gbose__record *r, FILE *to);

/* A number as the shortest decimal that reads back the same. */
#define GBOSE__RECORD_NUMBER 32
const char *gbose__record_number(char buf[GBOSE__RECORD_NUMBER], double x);

/* What is read of a line beside its numbers. Making `features` is slow. */
enum gbose__reading { GBOSE__NUMBERS_ONLY, GBOSE__FEATURES_TOO, GBOSE__FEATURES_ONLY };

/* Read a line, which is written to, into a record that was reset. GBOSE_OK, GBOSE_ENOMEM; GBOSE_EINVAL: the
 * text has the column. The record is checked, unless only its features are wanted. dsjson always has
 * features. */
int gbose__jsonlog_read(struct gbose__record *r, char *line, size_t length, enum gbose__reading reading,
                        gbose_error *err);
int gbose__dsjson_read(struct gbose__record *r, const char *line, size_t length, int features_only,
                       gbose_error *err);

#endif
