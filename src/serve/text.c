#include "serve/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "serve/document.h"

void gbose__text_clear(struct gbose__text *t)
{
    free(t->at);
    *t = (struct gbose__text){0};
}

void gbose__text_reset(struct gbose__text *t)
{
    t->size = 0;
    t->bad = 0;
}

char *gbose__text_room(struct gbose__text *t, size_t more)
{
    if (t->bad)
        return NULL;
    if (t->capacity - t->size <= more) {
        size_t capacity = t->capacity ? t->capacity : 512;
        char *at;

        while (capacity - t->size <= more)
            capacity *= 2;
        at = realloc(t->at, capacity);
        if (!at) {
            t->bad = 1;
            return NULL;
        }
        t->at = at;
        t->capacity = capacity;
    }
    return t->at + t->size;
}

void gbose__text_format(struct gbose__text *t, const char *format, ...)
{
    va_list list;
    char *at;
    int n;

    va_start(list, format);
    n = vsnprintf(NULL, 0, format, list);
    va_end(list);
    at = n < 0 ? NULL : gbose__text_room(t, (size_t)n);
    if (!at)
        return;
    va_start(list, format);
    vsnprintf(at, (size_t)n + 1, format, list);
    va_end(list);
    t->size += (size_t)n;
}

void gbose__text_integer(struct gbose__text *t, uint64_t n)
{
    char digits[20];
    size_t i = sizeof digits;

    do
        digits[--i] = (char)('0' + n % 10);
    while (n /= 10);
    gbose__text_bytes(t, digits + i, sizeof digits - i);
}

/* Most probabilities and rewards are short decimals. If x = m / 10^15 with m whole, then m / 10^15 in at
 * most 15 digits reads back as x, and so do these digits without their final zeros. */
static int short_decimal(struct gbose__text *t, double x)
{
    char digits[17];
    double scaled = fabs(x) * 1e15;
    uint64_t m;
    size_t n = 15;

    if (!(scaled < 1e15))
        return 0;
    m = (uint64_t)(scaled + 0.5);
    if ((double)m / 1e15 != fabs(x))
        return 0;
    for (size_t i = 15; i-- > 0; m /= 10)
        digits[i] = (char)('0' + m % 10);
    while (n > 1 && digits[n - 1] == '0')
        n--;
    gbose__text_add(t, x < 0 ? "-0." : "0.");
    gbose__text_bytes(t, digits, n);
    return 1;
}

void gbose__text_number(struct gbose__text *t, double x)
{
    char buf[40];

    if (!isfinite(x)) {
        gbose__text_add(t, "null");
    } else if (x == 0) {
        gbose__text_add(t, "0");
    } else if (x == floor(x) && fabs(x) < 1e15) {
        if (x < 0)
            gbose__text_add(t, "-");
        gbose__text_integer(t, (uint64_t)fabs(x));
    } else if (!short_decimal(t, x)) {
        for (int digits = 15; digits <= 17; digits++) {
            snprintf(buf, sizeof buf, "%.*g", digits, x);
            if (strtod(buf, NULL) == x)
                break;
        }
        gbose__text_add(t, buf);
    }
}

void gbose__text_quoted_bytes(struct gbose__text *t, const char *text, size_t size)
{
    size_t from = 0;

    gbose__text_bytes(t, "\"", 1);
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        size_t wide = c < 0x80 ? 0 : gbose__document_utf8(text + i, size - i);

        if (wide) {
            i += wide - 1;
            continue;
        }
        if (c >= 0x20 && c != '"' && c != '\\' && c < 0x7f)
            continue;
        gbose__text_bytes(t, text + from, i - from);
        from = i + 1;
        if (c == '"' || c == '\\')
            gbose__text_format(t, "\\%c", c);
        else
            gbose__text_format(t, "\\u%04x", c < 0x80 ? c : 0xfffdu); /* not UTF-8: said to be unknown */
    }
    gbose__text_bytes(t, text + from, size - from);
    gbose__text_bytes(t, "\"", 1);
}

void gbose__text_quoted(struct gbose__text *t, const char *text)
{
    if (text)
        gbose__text_quoted_bytes(t, text, strlen(text));
    else
        gbose__text_add(t, "null");
}

void gbose__text_time(struct gbose__text *t, int64_t milliseconds)
{
    time_t seconds = (time_t)(milliseconds / 1000);
    struct tm tm;
    char buf[40];

    gmtime_r(&seconds, &tm);
    strftime(buf, sizeof buf, "%Y-%m-%dT%H:%M:%S", &tm);
    gbose__text_format(t, "\"%s.%03dZ\"", buf, (int)(milliseconds % 1000));
}
