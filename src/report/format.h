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

/* A number with as many decimals as the width of its interval makes sense of; "-" for NaN. And the number with its limits,
 * "0.81 [0.78, 0.83]": alone where there are none (NaN), and "0.81 (not yet known)" where they are infinite. */
#define GBOSE__INTERVAL_SIZE 120
const char *gbose__format_to_width(char buf[GBOSE__NUMBER_SIZE], double x, double width);
const char *gbose__format_interval(char buf[GBOSE__INTERVAL_SIZE], double x, double lower, double upper);

/* Text in HTML, fit for an element and for an attribute in either kind of quotes. */
void gbose__format_html(FILE *to, const char *text);

#endif
