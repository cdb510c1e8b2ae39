/* Numbers with commas between them, as a list of JSON has them, into an array: what most of a request is made of. */
#ifndef GBOSE_SERVE_NUMBERS_H
#define GBOSE_SERVE_NUMBERS_H

#include <stddef.h>

/* No number that is read here is larger than this in magnitude. */
#define GBOSE__MAX_PLAIN 1e7

/* Reads numbers from *at, which must be before `end`, on, up to `room` of them, each as the nearest double. Returns how many. *at is then where the first
 * other thing begins: a comma with something else behind it, the closing bracket of the list, or a number that is not of
 * the plain kind (at most seven digits on each side of the point, no exponent, no space but one behind a comma). */
size_t gbose__numbers_read(double *to, size_t room, const char **at, const char *end);

#endif
