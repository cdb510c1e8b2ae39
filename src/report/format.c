#include "report/format.h"

#include <math.h>
#include <stdlib.h>

const char *gbose__format_number(char buf[GBOSE__NUMBER_SIZE], double x)
{
    buf[0] = 0;
    if (isnan(x))
        return buf;
    if (floor(x) == x && fabs(x) < 1e15) { /* counts are written out */
        snprintf(buf, GBOSE__NUMBER_SIZE, "%.0f", x);
        return buf;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(buf, GBOSE__NUMBER_SIZE, "%.*g", digits, x);
        if (strtod(buf, NULL) == x)
            break;
    }
    return buf;
}

const char *gbose__format_rounded_like(char buf[GBOSE__NUMBER_SIZE], double x, double like, int sign)
{
    double size = fabs(like);

    if (isnan(x))
        snprintf(buf, GBOSE__NUMBER_SIZE, "-");
    else if (size >= 1e7 || (size < 0.001 && size > 0))
        snprintf(buf, GBOSE__NUMBER_SIZE, sign ? "%+.3g" : "%.3g", x);
    else
        snprintf(buf, GBOSE__NUMBER_SIZE, sign ? "%+.*f" : "%.*f",
                 size >= 9999.95  ? 0
                 : size >= 0.9995 ? 1
                                  : 3,
                 x);
    return buf;
}

const char *gbose__format_rounded(char buf[GBOSE__NUMBER_SIZE], double x)
{
    return gbose__format_rounded_like(buf, x, x, 0);
}

const char *gbose__format_to_width(char buf[GBOSE__NUMBER_SIZE], double x, double width)
{
    int digits = width > 0 && isfinite(width) ? (int)ceil(1.3 - log10(width)) : 4;

    if (isnan(x))
        snprintf(buf, GBOSE__NUMBER_SIZE, "-");
    else if (fabs(x) >= 1e15)
        snprintf(buf, GBOSE__NUMBER_SIZE, "%.4g", x);
    else
        snprintf(buf, GBOSE__NUMBER_SIZE, "%.*f", digits < 0 ? 0 : digits > 9 ? 9 : digits, x);
    return buf;
}

const char *gbose__format_interval(char buf[GBOSE__INTERVAL_SIZE], double x, double lower, double upper)
{
    char a[GBOSE__NUMBER_SIZE], b[GBOSE__NUMBER_SIZE], c[GBOSE__NUMBER_SIZE];
    double width = upper - lower;

    gbose__format_to_width(a, x, width);
    if (isfinite(width))
        snprintf(buf, GBOSE__INTERVAL_SIZE, "%s [%s, %s]", a, gbose__format_to_width(b, lower, width),
                 gbose__format_to_width(c, upper, width));
    else
        snprintf(buf, GBOSE__INTERVAL_SIZE, "%s%s", a, isnan(width) ? "" : " (not yet known)");
    return buf;
}

void gbose__format_html(FILE *to, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '&':
            fputs("&amp;", to);
            break;
        case '<':
            fputs("&lt;", to);
            break;
        case '>':
            fputs("&gt;", to);
            break;
        case '"':
            fputs("&quot;", to);
            break;
        case '\'':
            fputs("&#39;", to);
            break;
        default:
            putc(*text, to);
        }
}
