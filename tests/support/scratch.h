/* A directory of the test's own, and files in it. */
#ifndef TESTS_SCRATCH_H
#define TESTS_SCRATCH_H

#include <stddef.h>

/* Make a new directory under $TMPDIR or /tmp; free the name with scratch_remove(), which removes all in
 * it. */
char *scratch_new(void);
void scratch_remove(char *dir);

/* "DIR/NAME". The last eight results stay valid. */
const char *scratch_path(const char *dir, const char *name);

int scratch_exists(const char *dir, const char *name);

/* The number of files in DIR whose name has this in it. */
size_t scratch_count(const char *dir, const char *part);

/* All bytes of a file with a zero behind them, to be freed; fails the test if it is not there. */
char *scratch_read(const char *dir, const char *name, size_t *size);
void scratch_write(const char *dir, const char *name, const char *text, unsigned mode);

#endif
