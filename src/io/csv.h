/* Comma-separated values (RFC 4180), record by record and in constant memory, plain or gzip (io/lines.h).
 *
 * The first record names the columns. Fields may be in double quotes and then hold commas, newlines and
 * doubled quotes. Lines end with a newline, with or without a carriage return; blank lines are passed
 * over. */
#ifndef GBOSE_IO_CSV_H
#define GBOSE_IO_CSV_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "gbose.h"
#include "io/lines.h"

/* ---- reading ---- */

struct gbose__csv;

/* Open a file and read its header.
 *   most  the longest record that is accepted, in bytes.
 * GBOSE_OK, GBOSE_ENOMEM; GBOSE__EREAD, also for a file without a header or with two columns of one name. */
int gbose__csv_open(struct gbose__csv **out, const char *path, size_t most, gbose_error *err);

/* The columns: how many there are, what they are called, and which has this name (-1: none). */
size_t gbose__csv_columns(const struct gbose__csv *c);
const char *gbose__csv_name(const struct gbose__csv *c, size_t column);
long gbose__csv_find(const struct gbose__csv *c, const char *name);

/* Say that a column is missing, which ones there are, and by which option another is named; or, of a header that has other
 * separators, that commas are expected. GBOSE_EINVAL. */
int gbose__csv_no_column(const struct gbose__csv *c, const char *name, const char *option, gbose_error *err);

/* The next record: 1; or 0 at the end, or an error whose text has the file and the line. GBOSE__EREAD or
 * GBOSE_ENOMEM: nothing follows. GBOSE_EINVAL: the record is not well-formed (a number of fields that is
 * not the header's, a quote where none may be, a quote that is never closed, a zero byte) or too long; the
 * next call goes on with the next line. */
int gbose__csv_next(struct gbose__csv *c, gbose_error *err);

/* A field of the record, a zero behind it, until the next call. */
const char *gbose__csv_field(const struct gbose__csv *c, size_t column);

/* The line on which the record began, from 1; and the path, for messages. */
uint64_t gbose__csv_line(const struct gbose__csv *c);
const char *gbose__csv_path(const struct gbose__csv *c);

/* NULL is allowed. */
void gbose__csv_close(struct gbose__csv *c);

/* ---- writing ---- */

/* A field, in quotes if it must be; no comma is added. To a stdio stream, or to a file of lines. */
void gbose__csv_print(FILE *to, const char *text);
int gbose__csv_put(struct gbose__lines_writer *to, const char *text, gbose_error *err);

/* A record of n fields and its newline. GBOSE_OK, or what gbose__lines_put() says. */
int gbose__csv_put_record(struct gbose__lines_writer *to, const char *const *field, size_t n,
                          gbose_error *err);

#endif
