/* A log, whatever its format: records one after the other, in constant memory. */
#ifndef GBOSE_IO_LOGFILE_H
#define GBOSE_IO_LOGFILE_H

#include <stdint.h>

#include "gbose_schema.h"
#include "io/record.h"

enum gbose__log_format {
    GBOSE__LOG_AUTO,
    GBOSE__LOG_JSON,
    GBOSE__LOG_DSJSON,
    GBOSE__LOG_CSV,
    GBOSE__LOG_OBD,
    GBOSE__LOG_TRIAL /* a micro-randomised trial */
};

/* How to read it. Zeroed memory is: find the format out, and names of columns as they are. */
struct gbose__log_options {
    enum gbose__log_format format;
    const gbose_schema *schema; /* makes contexts of features by name; NULL: contexts are as logged */
    int any_schema;             /* 1: also of lines that say that they were made by another schema */
    int keep_features;          /* 1: keep features by name, for writing them again */
    int features_only; /* 1: lines need not be decisions, and records hold nothing but their features */
    /* Of a CSV: names of columns; NULL: "arm", "reward", "probability", "id", "t", "unit" (io/logtable.h); of a trial
     * "action", "outcome" and "available". */
    const char *arm, *reward, *probability, *id, *time, *unit, *available;
    const char
        *arms; /* of a CSV with one probability, and needed then: how many arms there are, as "34" for those
                       * called 0 to 33, or their ids, as "a,b,c". Not needed if features_only */
};

struct gbose__log;

/* The format of a name: "json", "dsjson", "csv", "obd", "trial"; -1: there is none. */
int gbose__log_format_named(const char *name);

/* Is it a table, by its format or, as long as that is to be found out, by its name? */
int gbose__log_is_table(const char *path, enum gbose__log_format format);

/* GBOSE_OK, GBOSE_ENOMEM, GBOSE__EREAD, GBOSE_EINVAL. Options are copied; what they point to is borrowed
 * until it is closed. */
int gbose__log_open(struct gbose__log **out, const char *path, const struct gbose__log_options *options,
                    gbose_error *err);

/* The next record: 1, and `out` points to it until the next call; 0 at the end; or an error whose text has
 * the file and the line. After GBOSE_EINVAL the next call goes on behind what was wrong. GBOSE_ESCHEMA: the
 * line was made by another schema than that of the options, which does not only append terms to it. */
int gbose__log_next(struct gbose__log *log, const struct gbose__record **out, gbose_error *err);

/* Where it is: the number of the line, from 1. */
uint64_t gbose__log_line(const struct gbose__log *log);

/* What column i of the contexts is called, of a table whose columns 'x:NAME' they were made of; 0: it has no name, 1: it is an arm's constant,
 * 2: a feature. Of a table with a row
 * for each decision it is the arm's id, ID, for its constant, and ID*NAME for its features; the arm of a trial is called treatment. */
int gbose__log_column(const struct gbose__log *log, size_t i, char *buf, size_t size);

/* NULL is allowed. */
void gbose__log_close(struct gbose__log *log);

#endif
