/* Files that appear whole or not at all, and directories.
 *
 * What is printed to `to` is kept in memory. gbose__file_close() writes it to DIR/NAME.tmp, makes sure that
 * it has reached the disk, and renames it to DIR/NAME: until then a file of that name is what it was. */
#ifndef GBOSE_IO_FILE_H
#define GBOSE_IO_FILE_H

#include <stddef.h>
#include <stdio.h>

#include "gbose.h"

/* What can go wrong with files, beside the codes of gbose.h. */
enum {
    GBOSE__EWRITE = -101, /* a file or directory cannot be written */
    GBOSE__EREAD = -102,  /* a file cannot be read back */
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
int gbose__file_make_dir(const char *dir, gbose_error *err);

/* The same for DIR and all directories that lead to it. GBOSE_ENOMEM too. */
int gbose__file_make_dirs(const char *dir, gbose_error *err);

/* "DIR/NAME", to be freed; NULL: out of memory. */
char *gbose__file_path(const char *dir, const char *name);

/* Three texts in one, to be freed; NULL: out of memory. */
char *gbose__file_join(const char *a, const char *b, const char *c);

/* Write all bytes, whatever interrupts it; make sure that they have reached the disk, where a file system
 * can tell (a pipe or a device cannot, which is no error). 0, or the errno of what failed. */
int gbose__file_write_all(int fd, const void *bytes, size_t size);
int gbose__file_sync(int fd);

/* A file's bytes with a zero behind them, to be freed. GBOSE_OK, GBOSE_ENOMEM, GBOSE__EREAD. */
int gbose__file_read(char **text, size_t *size, const char *path, gbose_error *err);

#endif
