#include "io/scan.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MOST 64
#define DIGITS_MOST 19 /* decimal digits that fit into 64 bits */

static int fail(struct gbose__scan *s, const char *wrong)
{
    if (!s->wrong)
        s->wrong = wrong;
    return -1;
}

char gbose__scan_peek(struct gbose__scan *s)
{
    while (*s->at == ' ' || *s->at == '\t' || *s->at == '\r' || *s->at == '\n')
        s->at++;
    return *s->at;
}

int gbose__scan_open(struct gbose__scan *s, char bracket)
{
    if (s->wrong || gbose__scan_peek(s) != bracket)
        return fail(s, bracket == '{' ? "an object is expected" : "a list is expected");
    s->at++;
    return 1;
}

int gbose__scan_item(struct gbose__scan *s, size_t *n)
{
    char c = gbose__scan_peek(s);

    if (s->wrong)
        return -1;
    if (c == ']') {
        s->at++;
        return 0;
    }
    if (*n > 0) {
        if (c != ',')
            return fail(s, "',' or ']' is expected");
        s->at++;
    }
    ++*n;
    return 1;
}

int gbose__scan_key(struct gbose__scan *s, size_t *n, char **key)
{
    char c = gbose__scan_peek(s);

    if (s->wrong)
        return -1;
    if (c == '}') {
        s->at++;
        return 0;
    }
    if (*n > 0) {
        if (c != ',')
            return fail(s, "',' or '}' is expected");
        s->at++;
        gbose__scan_peek(s);
    }
    ++*n;
    if (gbose__scan_text(s, key) < 0)
        return -1;
    if (gbose__scan_peek(s) != ':')
        return fail(s, "':' is expected");
    s->at++;
    return 1;
}

int gbose__scan_end(struct gbose__scan *s)
{
    if (s->wrong || gbose__scan_peek(s))
        return fail(s, "nothing may follow the object");
    return 1;
}

/* ---- numbers ---- */

/* digits * 10^exponent by one operation on 64 bits of precision: right unless its last bits leave open which
 * double is the nearest one. 0 then, and where long double has another size. */
static int near(double *out, uint64_t digits, int exponent)
{
#if LDBL_MANT_DIG == 64
    static const long double ten[] = {1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,  1e7L,  1e8L,  1e9L,
                                      1e10L, 1e11L, 1e12L, 1e13L, 1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L,
                                      1e20L, 1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L};
    long double x = (long double)digits;
    uint64_t mantissa;
    unsigned tail;

    if (exponent < -27 || exponent > 27)
        return 0;
    x = exponent < 0 ? x / ten[-exponent] : x * ten[exponent];
    memcpy(&mantissa, &x, sizeof mantissa); /* its first eight bytes */
    tail = (unsigned)mantissa & 0x7ff;
    *out = (double)x;
    return tail - 0x3ffu > 2u; /* not within one unit of half a double's last digit */
#else
    (void)out;
    (void)digits;
    (void)exponent;
    return 0;
#endif
}

int gbose__scan_number(struct gbose__scan *s, double *out)
{
    char *begin, *p, *end;
    uint64_t digits = 0;
    int exponent = 0, count = 0, negative = 0, more = 0, sign = 1;

    if (s->wrong)
        return -1;
    gbose__scan_peek(s);
    begin = p = s->at;
    if (*p == '-') {
        negative = 1;
        p++;
    }
    if (!(*p >= '0' && *p <= '9'))
        return fail(s, "a number is expected");
    if (*p == '0' && p[1] >= '0' && p[1] <= '9')
        return fail(s, "a number does not begin with 0");
    for (; *p >= '0' && *p <= '9'; p++) {
        digits = digits * 10 + (uint64_t)(*p - '0');
        count += digits > 0;
    }
    if (*p == '.') {
        const char *point = ++p;

        for (; *p >= '0' && *p <= '9'; p++) {
            digits = digits * 10 + (uint64_t)(*p - '0');
            count += digits > 0;
        }
        if (p == point)
            return fail(s, "a digit is expected behind the decimal point");
        exponent = (int)(point - p);
    }
    if (*p == 'e' || *p == 'E') {
        p++;
        if (*p == '+' || *p == '-')
            sign = *p++ == '-' ? -1 : 1;
        if (!(*p >= '0' && *p <= '9'))
            return fail(s, "an exponent is expected");
        for (; *p >= '0' && *p <= '9'; p++)
            more = more < 100000 ? more * 10 + (*p - '0') : more;
        exponent += sign * more;
    }
    s->at = p;
    if (count > DIGITS_MOST || (digits && !near(out, digits, exponent))) {
        *out = strtod(begin, &end);
        if (!isfinite(*out)) {
            s->at = begin;
            return fail(s, "a number is too large");
        }
        return 1;
    }
    *out = digits ? *out : 0;
    if (negative)
        *out = -*out;
    return 1;
}

/* ---- texts ---- */

static int hex4(const char *p, unsigned *out)
{
    *out = 0;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
                         : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A' + 10)
                                                : 16;

        if (digit == 16)
            return 0;
        *out = *out * 16 + digit;
    }
    return 1;
}

static char *put_utf8(char *to, unsigned code)
{
    if (code < 0x80) {
        *to++ = (char)code;
    } else if (code < 0x800) {
        *to++ = (char)(0xc0 | code >> 6);
        *to++ = (char)(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        *to++ = (char)(0xe0 | code >> 12);
        *to++ = (char)(0x80 | (code >> 6 & 0x3f));
        *to++ = (char)(0x80 | (code & 0x3f));
    } else {
        *to++ = (char)(0xf0 | code >> 18);
        *to++ = (char)(0x80 | (code >> 12 & 0x3f));
        *to++ = (char)(0x80 | (code >> 6 & 0x3f));
        *to++ = (char)(0x80 | (code & 0x3f));
    }
    return to;
}

/* What follows a backslash, to *to; both move on. 0 if it is no escape. What is written is never longer than
 * what is read. */
static int escape(char **from, char **to)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    const char *at = **from ? strchr(names, **from) : NULL;
    unsigned code, low;

    if (at) {
        *(*to)++ = values[at - names];
        ++*from;
        return 1;
    }
    if (**from != 'u' || !hex4(*from + 1, &code) || code == 0 || (code >= 0xdc00 && code < 0xe000))
        return 0;
    *from += 5;
    if (code >= 0xd800 && code < 0xdc00) {
        if ((*from)[0] != '\\' || (*from)[1] != 'u' || !hex4(*from + 2, &low) || low < 0xdc00 ||
            low >= 0xe000)
            return 0;
        *from += 6;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    *to = put_utf8(*to, code);
    return 1;
}

int gbose__scan_text(struct gbose__scan *s, char **out)
{
    char *p, *to;

    if (s->wrong || gbose__scan_peek(s) != '"')
        return fail(s, "a text in quotes is expected");
    p = to = ++s->at;
    while (*p != '"' && *p != '\\' && (unsigned char)*p >= ' ')
        p++;
    for (to = p; *p != '"';) {
        if ((unsigned char)*p < ' ') {
            s->at = p;
            return fail(s, "the text does not end");
        }
        if (*p != '\\') {
            *to++ = *p++;
            continue;
        }
        p++;
        if (!escape(&p, &to)) {
            s->at = p;
            return fail(s, "a backslash is not followed by an escape");
        }
    }
    *to = 0;
    *out = s->at;
    s->at = p + 1;
    return 1;
}

/* ---- what is passed over ---- */

static int word(struct gbose__scan *s, const char *text)
{
    size_t length = strlen(text);

    if (strncmp(s->at, text, length))
        return fail(s, "a value is expected");
    s->at += length;
    return 1;
}

int gbose__scan_null(struct gbose__scan *s)
{
    gbose__scan_peek(s);
    return s->wrong ? -1 : word(s, "null");
}

static int skip(struct gbose__scan *s, int depth)
{
    char c = gbose__scan_peek(s), *text;
    double number;
    size_t n = 0;
    int more;

    if (s->wrong)
        return -1;
    if (depth == DEPTH_MOST)
        return fail(s, "objects and lists are nested too deeply");
    switch (c) {
    case '"':
        return gbose__scan_text(s, &text);
    case '{':
        s->at++;
        while ((more = gbose__scan_key(s, &n, &text)) > 0)
            if (skip(s, depth + 1) < 0)
                return -1;
        return more < 0 ? -1 : 1;
    case '[':
        s->at++;
        while ((more = gbose__scan_item(s, &n)) > 0)
            if (skip(s, depth + 1) < 0)
                return -1;
        return more < 0 ? -1 : 1;
    case 't':
        return word(s, "true");
    case 'f':
        return word(s, "false");
    case 'n':
        return word(s, "null");
    default:
        return gbose__scan_number(s, &number);
    }
}

int gbose__scan_skip(struct gbose__scan *s)
{
    return skip(s, 0);
}
