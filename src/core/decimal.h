/* Numbers as text, with a decimal point whatever the locale of the process says. */
#ifndef GBOSE_CORE_DECIMAL_H
#define GBOSE_CORE_DECIMAL_H

#include <locale.h>
#include <stddef.h>

struct gbose__decimal {
    locale_t old, c;
};

/* From begin to end, this thread reads and writes numbers as in the "C" locale. GBOSE_OK; or GBOSE_ENOMEM,
 * and then there is nothing to end. */
int gbose__decimal_begin(struct gbose__decimal *d);
void gbose__decimal_end(struct gbose__decimal *d);

/* The finite number that a text is, the whole of it: returns 1, or 0 if it is none. To be called between begin
 * and end. */
int gbose__decimal_read(double *out, const char *text);

/* Write the shortest text that reads back as the same number; of two that are equally short, the one without
 * an exponent.
 * To be called between begin and end. */
void gbose__decimal_write(char *buf, size_t capacity, double x);

#endif
