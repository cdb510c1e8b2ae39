#include "serve/percent.h"

#include <stddef.h>

#include "serve/document.h"

static int hex(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

int gbose__percent_decode(char *text)
{
    char *from = text, *to = text;

    while (*from) {
        if (*from != '%') {
            *to++ = *from++;
            continue;
        }
        if (hex(from[1]) < 0 || hex(from[2]) < 0 || !(hex(from[1]) | hex(from[2])))
            return -1;
        *to++ = (char)(hex(from[1]) << 4 | hex(from[2]));
        from += 3;
    }
    *to = 0;
    for (const char *at = text; at < to;) {
        size_t n = gbose__document_utf8(at, (size_t)(to - at));

        if (!n)
            return -1;
        at += n;
    }
    return 0;
}
