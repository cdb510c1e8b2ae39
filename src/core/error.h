/* Errors: a code, and a line of text for a person. */
#ifndef GBOSE_CORE_ERROR_H
#define GBOSE_CORE_ERROR_H

#include "gbose.h"

/* Fill err (may be NULL) and return code. Numbers in the text have a decimal point in every locale. */
int gbose__fail(gbose_error *err, int code, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* The same with the text of gbose_strerror(code), which suits codes that need no further words. */
int gbose__fail_plainly(gbose_error *err, int code);

/* The same for "out of memory"; returns GBOSE_ENOMEM. */
int gbose__no_memory(gbose_error *err);

#endif
