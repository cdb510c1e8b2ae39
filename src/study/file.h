/* Files that appear whole or not at all, and the small formats that the study's outputs share.
 *
 * What is printed to `to` is kept in memory. gbose__file_close() writes it to DIR/NAME.tmp, makes sure that
 * it has reached the disk, and renames it to DIR/NAME: until then a file of that name is what it was. */
#ifndef GBOSE_STUDY_FILE_H
#define GBOSE_STUDY_FILE_H

#include <stddef.h>
#include <stdio.h>

#include "gbose.h"

/* What can go wrong in the outputs, beside the codes of gbose.h. */
enum {
    GBOSE__EWRITE = -101,   /* a file or directory cannot be written */
    GBOSE__EREAD = -102,    /* a file cannot be read back */
    GBOSE__ENOPLOT = -103,  /* gnuplot is not installed */
    GBOSE__EBADPLOT = -104, /* gnuplot was started and failed */
};

struct gbose__file {
    FILE *to;
    char *path, *tmp;
    char *text;
    size_t size;
};

/* Begin DIR/NAME. GBOSE_OK or GBOSE_ENOMEM. Ends with exactly one of the two functions after it. */
int gbose__file_open(struct gbose__file *f, const char *dir, const char *name, gbose_error *err);

/* Put the file in place. GBOSE_OK, GBOSE_ENOMEM, or GBOSE__EWRITE with a text like "cannot write
 * DIR/NAME: No space left on device"; then DIR/NAME is as it was, and DIR/NAME.tmp is gone. */
int gbose__file_close(struct gbose__file *f, gbose_error *err);

/* Forget it. */
void gbose__file_abandon(struct gbose__file *f);

/* Make a directory unless it is there. GBOSE_OK or GBOSE__EWRITE. */
int gbose__dir_make(const char *dir, gbose_error *err);

/* "DIR/NAME", to be freed; NULL: out of memory. */
char *gbose__path(const char *dir, const char *name);

/* A file's bytes with a zero behind them, to be freed. GBOSE_OK, GBOSE_ENOMEM, GBOSE__EREAD. */
int gbose__file_read(char **text, size_t *size, const char *path, gbose_error *err);

/* The shortest decimal that reads back as x; an empty text for NaN. */
#define GBOSE__NUMBER_SIZE 32
const char *gbose__number(char buf[GBOSE__NUMBER_SIZE], double x);

/* A number for people: one decimal from 1 to 9999.9, more below, none above; "-" for NaN. */
const char *gbose__rounded(char buf[GBOSE__NUMBER_SIZE], double x);

/* The same with as many decimals as a number of magnitude `like` would have, and with `sign` a plus before
 * what is positive. */
const char *gbose__rounded_like(char buf[GBOSE__NUMBER_SIZE], double x, double like, int sign);

/* A field of a CSV line (RFC 4180): in quotes if it must be. No comma is added. */
void gbose__csv_field(FILE *to, const char *text);

/* Text in HTML, fit for an element and for an attribute in either kind of quotes. */
void gbose__html_text(FILE *to, const char *text);

#endif
