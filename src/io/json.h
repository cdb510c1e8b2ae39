/* JSON by jansson, with errors that say where.
 *
 * `where` is the place of an object in its document, such as "learners[2]"; "" for the outermost. A getter
 * looks at one key of it; what is missing or of another type fails with GBOSE_EINVAL and a text like
 * "learners[2]: 'spec' must be a text, not a number". Texts are borrowed from the document. */
#ifndef GBOSE_IO_JSON_H
#define GBOSE_IO_JSON_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "gbose.h"

/* Parse a document, which need not end with a zero; duplicate keys are refused. NULL with GBOSE_EINVAL and
 * a text like "line 3, column 7: '}' expected", or with GBOSE_ENOMEM. Freed by json_decref(). */
json_t *gbose__json_parse(const char *text, size_t size, gbose_error *err);

/* The value of a key. GBOSE_OK or GBOSE_EINVAL. */
int gbose__json_text(const char **out, const json_t *object, const char *key, const char *where,
                     gbose_error *err);
int gbose__json_integer(int64_t *out, const json_t *object, const char *key, int64_t min, int64_t max,
                        const char *where, gbose_error *err);
/* A list with at least `least` entries. */
int gbose__json_list(const json_t **out, const json_t *object, const char *key, size_t least,
                     const char *where, gbose_error *err);

/* What a value is, in words: "a text", "a number", "a list"; "missing" for NULL. */
const char *gbose__json_kind(const json_t *value);

/* Fail about a place: "WHERE: ..." with the text and GBOSE_EINVAL. */
int gbose__json_wrong(const char *where, gbose_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
