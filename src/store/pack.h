/* The text of an event in fewer bytes. Most of it is numbers, and the sixteen characters that lists of numbers are made of
 * take half a byte each; all else stays as it is. */
#ifndef GBOSE_STORE_PACK_H
#define GBOSE_STORE_PACK_H

#include <stddef.h>

/* Bytes that a packed text has at the most. */
size_t gbose__pack_bound(size_t size);

/* Pack a text into `to`, of gbose__pack_bound(size) bytes. Returns how many it took. */
size_t gbose__pack(void *to, const char *text, size_t size);

/* Are these bytes a packed text? The first one tells: no JSON begins with it. */
int gbose__is_packed(const void *bytes, size_t size);

/* Characters of a packed text; 0: it is not well formed. */
size_t gbose__unpacked_size(const void *bytes, size_t size);

/* Unpack a well-formed one into `to`, which has room for that many. */
void gbose__unpack(char *to, const void *bytes, size_t size);

#endif
