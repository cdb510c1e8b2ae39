/* Percent signs in paths and queries. */
#ifndef GBOSE_SERVE_PERCENT_H
#define GBOSE_SERVE_PERCENT_H

/* Replace percent signs and two digits by what they stand for, in place. 0, or -1: that would not be a text,
 * but a zero, half a code, or what is not UTF-8. */
int gbose__percent_decode(char *text);

#endif
