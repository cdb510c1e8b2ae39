/* Names that a person may have mistyped. */
#ifndef GBOSE_CORE_NAMES_H
#define GBOSE_CORE_NAMES_H

#include <stddef.h>

/* The number of insertions, deletions and substitutions that turn one name into another. Only the first 63
 * bytes of each are compared. */
size_t gbose__names_distance(const char *a, const char *b);

/* Is the name so similar to the other one that it may be a typing error: one begins with the other (with at
 * least three letters of it), or at most two letters in five are wrong? Upper and lower case are the same. */
int gbose__names_near(const char *name, const char *other);

/* The name at the smallest distance among n > 0 of them; the first one of several. */
const char *gbose__names_nearest(const char *name, const char *const *list, size_t n);

#endif
