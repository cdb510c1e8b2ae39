/* Spec strings: "NAME" or "NAME:OPTION=VALUE,OPTION=VALUE", read with the table that lists what there is. */
#ifndef GBOSE_CORE_SPEC_H
#define GBOSE_CORE_SPEC_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "gbose.h"

#define GBOSE__MAX_OPTIONS 16
#define GBOSE__MAX_SPEC 1024 /* bytes of a spec, the final zero included */

/* The value of an option: a word of its table entry, or a number. */
struct gbose__value {
    int word;         /* index into the option's words, or -1: a number */
    double number;    /* of a GBOSE_POSITIVE or GBOSE_NUMBER */
    uint64_t integer; /* of a GBOSE_INTEGER */
};

/* A table: `noun` is what it lists ("learner"), `at` gives entry i, or NULL past the end. */
struct gbose__catalog {
    const char *noun;
    const gbose_info *(*at)(size_t i);
};

/* Read a spec: `which` entry, and a value for each of its options (GBOSE__MAX_OPTIONS of them at most).
 * GBOSE_OK, GBOSE_ESPEC or GBOSE_ENOMEM; err may be NULL. */
int gbose__spec_parse(size_t *which, struct gbose__value *values, const char *spec,
                      const struct gbose__catalog *catalog, gbose_error *err);

/* Write the canonical spec into buf (GBOSE__MAX_SPEC bytes), leaving out the option named `skip` (or NULL).
 * GBOSE_OK, or GBOSE_ENOMEM. */
int gbose__spec_write(char *buf, const gbose_info *info, const struct gbose__value *values, const char *skip);

/* The position of the option of exactly this name; SIZE_MAX if there is none. */
size_t gbose__option_index(const gbose_info *info, const char *name);

#endif
