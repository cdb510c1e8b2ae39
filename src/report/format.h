/* Numbers and text as tables and pages have them. */
#ifndef GBOSE_REPORT_FORMAT_H
#define GBOSE_REPORT_FORMAT_H

#include <stdio.h>

/* The shortest decimal that reads back as x; an empty text for NaN. */
#define GBOSE__NUMBER_SIZE 32
const char *gbose__format_number(char buf[GBOSE__NUMBER_SIZE], double x);

/* A number for people: one decimal from 1 to 9999.9, more below, none above; "-" for NaN. */
const char *gbose__format_rounded(char buf[GBOSE__NUMBER_SIZE], double x);

/* The same with as many decimals as a number of magnitude `like` would have, and with `sign` a plus before
 * what is positive. */
const char *gbose__format_rounded_like(char buf[GBOSE__NUMBER_SIZE], double x, double like, int sign);

/* Text in HTML, fit for an element and for an attribute in either kind of quotes. */
void gbose__format_html(FILE *to, const char *text);

#endif
