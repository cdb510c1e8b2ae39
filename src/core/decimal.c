#include "core/decimal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gbose.h"

int gbose__decimal_begin(struct gbose__decimal *d)
{
    d->c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!d->c)
        return GBOSE_ENOMEM;
    d->old = uselocale(d->c);
    return GBOSE_OK;
}

void gbose__decimal_end(struct gbose__decimal *d)
{
    uselocale(d->old);
    freelocale(d->c);
}

int gbose__decimal_read(double *out, const char *text)
{
    char *end;

    if (!*text || text[strspn(text, "0123456789+-.eE")])
        return 0;
    *out = strtod(text, &end) + 0.0; /* -0 is 0 */
    return !*end && isfinite(*out);
}

void gbose__decimal_write(char *buf, size_t capacity, double x)
{
    char text[32];

    snprintf(buf, capacity, "%.17g", x);
    for (int digits = 17; digits > 0; digits--) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        if (strtod(text, NULL) == x && strlen(text) < strlen(buf))
            snprintf(buf, capacity, "%s", text);
    }
}
