/* Text files of any length, line by line and in constant memory, plain or compressed by gzip.
 *
 * Reading: a file that begins with gzip's two magic bytes is unpacked (all of its members), whatever its
 * name; any other is taken as it is. Writing: a path that ends in ".gz" is packed. The path "-" stands for
 * standard input or output. Errors name the file and, where it helps, the line: a read that fails, gzip
 * data that is cut off or damaged, a full disk. Objects belong to one thread at a time. */
#ifndef GBOSE_IO_LINES_H
#define GBOSE_IO_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "gbose.h"
#include "io/file.h"

/* ---- reading ---- */

struct gbose__lines;

/* Open a file.
 *   most  the longest line that is accepted, in bytes without its newline. Memory grows with the longest line met.
 * GBOSE_OK, GBOSE_ENOMEM, GBOSE__EREAD. */
int gbose__lines_open(struct gbose__lines **out, const char *path, size_t most, gbose_error *err);

/* The next line: 1; or 0 at the end of the file, or an error.
 *   line    valid until the next call: its bytes without the newline (a carriage return before it stays), followed by a
 *           zero. The caller may write to them. Bytes of any value may occur, zeros too.
 *   length  their number.
 * The last line of a file counts even without a newline (see gbose__lines_torn()). A byte order mark at
 * the beginning of the file is left out. GBOSE_ESIZE: the line is too long; the next call goes on behind
 * it. GBOSE__EREAD: the file cannot be read any further, and every later call says so again. GBOSE_ENOMEM:
 * the same. */
int gbose__lines_next(struct gbose__lines *r, char **line, size_t *length, gbose_error *err);

/* The number of the line that the last call of gbose__lines_next() gave or refused, from 1. */
uint64_t gbose__lines_number(const struct gbose__lines *r);

/* Did that line end with the file instead of a newline? */
int gbose__lines_torn(const struct gbose__lines *r);

/* The path, for messages. */
const char *gbose__lines_path(const struct gbose__lines *r);

/* NULL is allowed. */
void gbose__lines_close(struct gbose__lines *r);

/* ---- writing ---- */

struct gbose__lines_writer;

/* Begin a file. It is written as PATH.tmp and takes the place of PATH when it is finished: until then a
 * file of that name is what it was. What is there and no regular file (a pipe, a device) is written
 * directly. GBOSE_OK, GBOSE_ENOMEM, GBOSE__EWRITE. Ends with exactly one of gbose__lines_finish() and
 * gbose__lines_abandon(). */
int gbose__lines_create(struct gbose__lines_writer **out, const char *path, gbose_error *err);

/* Add bytes; newlines are the caller's. GBOSE_OK, GBOSE_ENOMEM, GBOSE__EWRITE; after an error, and
 * gbose__lines_finish() then fails too. */
int gbose__lines_put(struct gbose__lines_writer *w, const char *text, size_t size, gbose_error *err);

/* Write the rest, make sure that it has reached the disk, and put the file in its place; frees the writer
 * in any case. After an error PATH is what it was, and PATH.tmp is gone. */
int gbose__lines_finish(struct gbose__lines_writer *w, gbose_error *err);

/* Forget it. NULL is allowed. */
void gbose__lines_abandon(struct gbose__lines_writer *w);

#endif
