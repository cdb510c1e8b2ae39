/* JSON as it streams by: values are read in their order, straight into where they belong, and no tree is
 * made.
 *
 * The text must end with a zero byte and is written to: texts lose their escapes in place. Every function
 * leaves `at` behind what it read, or sets `wrong` to a text that says what was expected at `at`, and answers
 * -1 from then on.
 *
 *     gbose__scan_open(&s, '{');
 *     for (n = 0; gbose__scan_key(&s, &n, &key) > 0;)
 *         if (!strcmp(key, "pmf"))
 *             ...
 *         else
 *             gbose__scan_skip(&s); */
#ifndef GBOSE_IO_SCAN_H
#define GBOSE_IO_SCAN_H

#include <stddef.h>

struct gbose__scan {
    char *at;
    const char *wrong;
};

/* The next character that is not white space, without reading it: what kind of value follows. */
char gbose__scan_peek(struct gbose__scan *s);

/* '{' or '['. 1, or -1. */
int gbose__scan_open(struct gbose__scan *s, char bracket);

/* The next key of an object, or item of a list, and whether there is one: 1, or 0 at its end, which is read.
 * n counts them, from 0. */
int gbose__scan_key(struct gbose__scan *s, size_t *n, char **key);
int gbose__scan_item(struct gbose__scan *s, size_t *n);

/* A value. 1, or -1. Numbers are rounded to the nearest double, as strtod() does. */
int gbose__scan_number(struct gbose__scan *s, double *out);
int gbose__scan_text(struct gbose__scan *s, char **out);
int gbose__scan_null(struct gbose__scan *s);
int gbose__scan_skip(struct gbose__scan *s);

/* After the outermost value nothing may follow. 1, or -1. */
int gbose__scan_end(struct gbose__scan *s);

#endif
