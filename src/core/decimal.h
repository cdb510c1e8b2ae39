/* Text and numbers with a decimal point, whatever the locale of the process says. */
#ifndef GBOSE_CORE_DECIMAL_H
#define GBOSE_CORE_DECIMAL_H

#include <locale.h>

struct gbose__decimal {
    locale_t old, c;
};

/* From begin to end, this thread reads and writes numbers as in the "C" locale. GBOSE_OK; or GBOSE_ENOMEM,
 * and then there is nothing to end. */
int gbose__decimal_begin(struct gbose__decimal *d);
void gbose__decimal_end(struct gbose__decimal *d);

#endif
