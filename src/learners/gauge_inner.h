/* What gauge.c, which keeps what rounds have said, and gauge_round.c, which says it, share. */
#ifndef GBOSE_LEARNERS_GAUGE_INNER_H
#define GBOSE_LEARNERS_GAUGE_INNER_H

#include "learners/gauge.h"

/* What a round says of a feature: 16 bits, the exponent and whether it is that of a range; 0 if it says
 * nothing. */
#define CODE_BITS 16
#define CODES_IN_WORD 4
#define CODE_ZERO 1024 /* the code of exponent 0, over 2 */
#define GAP_PLACE 12   /* above the exponent, in three bits: the gap and 1, or 0 if nothing is said of it */
#define GAP_MOST 6

static inline int decode(unsigned code)
{
    return (int)((code & ((1 << GAP_PLACE) - 1)) >> 1) - CODE_ZERO;
}

static inline int is_known(const struct gbose__unit *unit)
{
    return unit->ranges > 0 || unit->sizes > 0;
}

/* e, which all features share. */
static inline int common_exponent(const struct gbose__gauge *gauge)
{
    return (int)gauge->unit[gauge->dim].exponent;
}

#endif
