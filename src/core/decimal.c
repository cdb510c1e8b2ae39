#include "core/decimal.h"

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
