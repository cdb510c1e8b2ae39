/* What a request must look like: the fields of an object, and what is wrong with them in words for a
 * person. */
#ifndef GBOSE_SERVE_FIELDS_H
#define GBOSE_SERVE_FIELDS_H

#include <stddef.h>
#include <stdint.h>

#include "serve/document.h"

/* Why a request is refused. */
struct gbose__problem {
    int status;       /* of HTTP; 0: there is no problem */
    const char *code; /* one word for programs; static */
    char at[200];     /* the field: "arms[2].price"; "" when it is about the whole */
    char message[400];
};

/* Fill a problem and return -1. `where` and `field` make its place. */
int gbose__problem(struct gbose__problem *p, int status, const char *code, const char *where,
                   const char *field, const char *format, ...) __attribute__((format(printf, 6, 7)));

#define GBOSE__IS(kind) (1u << (kind))
#define GBOSE__IS_FLAG (GBOSE__IS(GBOSE__TRUE) | GBOSE__IS(GBOSE__FALSE))

struct gbose__field {
    const char *name;
    unsigned kinds; /* that are accepted, GBOSE__IS(...) */
    int needed;
    uint32_t at; /* set to the index of the value; 0: not given, or null */
};

/* Look the members of an object up. 0, or -1 with a problem: it is not an object; a field is unknown (the
 * nearest name is suggested), given twice, of another kind, or missing. */
int gbose__fields_read(const struct gbose__document *d, uint32_t object, struct gbose__field *fields,
                       size_t n, const char *where, struct gbose__problem *p);

/* A number from min to max. 0, or -1 with a problem. */
int gbose__fields_number(const struct gbose__document *d, uint32_t at, double min, double max, double *out,
                         const char *where, const char *field, struct gbose__problem *p);

#endif
