#include "serve/document.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/decimal.h"
#include "serve/numbers.h"

struct reader {
    struct gbose__document *d;
    const char *text;
    size_t size, at;
    const char *message;
    int no_memory;
};

static int wrong(struct reader *r, const char *message)
{
    if (!r->message)
        r->message = message;
    return -1;
}

static void skip_space(struct reader *r)
{
    while (r->at < r->size && (r->text[r->at] == ' ' || r->text[r->at] == '\n' || r->text[r->at] == '\t' ||
                               r->text[r->at] == '\r'))
        r->at++;
}

/* A new value; its index, or -1. */
static int64_t add(struct reader *r, enum gbose__kind kind, size_t begin, size_t end)
{
    struct gbose__document *d = r->d;

    if (d->n == d->capacity) {
        size_t capacity = d->capacity ? 2 * d->capacity : 256;
        void *values, *numbers;

        if (d->n >= GBOSE__MAX_VALUES)
            return wrong(r, "there are too many values");
        values = realloc(d->value, capacity * sizeof *d->value);
        if (values)
            d->value = values;
        numbers = realloc(d->number, capacity * sizeof *d->number);
        if (numbers)
            d->number = numbers;
        if (!values || !numbers) {
            r->no_memory = 1;
            return -1;
        }
        d->capacity = capacity;
    }
    d->value[d->n] = (struct gbose__value_at){
        .kind = kind, .begin = (uint32_t)begin, .end = (uint32_t)end, .next = (uint32_t)d->n + 1};
    return (int64_t)d->n++;
}

/* ---- texts ---- */

static int hex4(const char *at, unsigned *out)
{
    unsigned n = 0;

    for (int i = 0; i < 4; i++) {
        char c = at[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;

        if (digit < 0)
            return 0;
        n = n << 4 | (unsigned)digit;
    }
    *out = n;
    return 1;
}

size_t gbose__document_utf8(const char *text, size_t left)
{
    const unsigned char *s = (const unsigned char *)text;

    if (left && s[0] < 0x80)
        return 1;
    if (s[0] >= 0xc2 && s[0] <= 0xdf)
        return left >= 2 && (s[1] & 0xc0) == 0x80 ? 2 : 0;
    if ((s[0] & 0xf0) == 0xe0)
        return left >= 3 && (s[1] & 0xc0) == 0x80 && (s[2] & 0xc0) == 0x80 &&
                       !(s[0] == 0xe0 && s[1] < 0xa0) && !(s[0] == 0xed && s[1] >= 0xa0)
                   ? 3
                   : 0;
    if (s[0] >= 0xf0 && s[0] <= 0xf4)
        return left >= 4 && (s[1] & 0xc0) == 0x80 && (s[2] & 0xc0) == 0x80 && (s[3] & 0xc0) == 0x80 &&
                       !(s[0] == 0xf0 && s[1] < 0x90) && !(s[0] == 0xf4 && s[1] >= 0x90)
                   ? 4
                   : 0;
    return 0;
}

/* An escape, r->at at its backslash. */
static int read_escape(struct reader *r)
{
    unsigned high, low;

    if (r->size - r->at < 2)
        return wrong(r, "the text ends inside an escape");
    if (r->text[r->at + 1] != 'u') {
        if (!memchr("\"\\/bfnrt", r->text[r->at + 1], 8))
            return wrong(r, "no such escape");
        r->at += 2;
        return 0;
    }
    if (r->size - r->at < 6 || !hex4(r->text + r->at + 2, &high))
        return wrong(r, "\\u needs four hexadecimal digits");
    if (high == 0)
        return wrong(r, "a zero character is not accepted");
    if (high >= 0xd800 && high < 0xe000) {
        if (high >= 0xdc00 || r->size - r->at < 12 || r->text[r->at + 6] != '\\' ||
            r->text[r->at + 7] != 'u' || !hex4(r->text + r->at + 8, &low) || low < 0xdc00 || low >= 0xe000)
            return wrong(r, "half of a character (a lone surrogate)");
        r->at += 6;
    }
    r->at += 6;
    return 0;
}

/* A text, r->at at its quote. Its index, or -1. */
static int64_t read_text(struct reader *r)
{
    size_t begin = ++r->at;
    unsigned escaped = 0;
    int64_t index;

    for (;;) {
        unsigned char c;

        if (r->at >= r->size)
            return wrong(r, "a text is not closed");
        c = (unsigned char)r->text[r->at];
        if (c == '"')
            break;
        if (c == '\\') {
            escaped = 1;
            if (read_escape(r))
                return -1;
        } else if (c < 0x20) {
            return wrong(r, "a control character in a text must be escaped");
        } else if (c < 0x80) {
            r->at++;
        } else {
            size_t n = gbose__document_utf8(r->text + r->at, r->size - r->at);

            if (!n)
                return wrong(r, "this is not UTF-8");
            r->at += n;
        }
    }
    index = add(r, GBOSE__TEXT, begin, r->at++);
    if (index >= 0)
        r->d->value[index].escaped = escaped & 1;
    return index;
}

/* ---- numbers and words ---- */

#define MOST_DIGITS 18 /* of a number that is read at once: its digits as a whole number fit 64 bits */

/* Pass over digits, and put them behind those of `mantissa`, which wraps when there are too many. Returns
 * how many. */
static size_t digits(struct reader *r, uint64_t *mantissa)
{
    const char *from = r->text + r->at, *end = r->text + r->size, *p = from;
    uint64_t m = *mantissa;

    for (; p < end && (unsigned char)(*p - '0') < 10; p++)
        m = m * 10 + (uint64_t)(*p - '0');
    *mantissa = m;
    r->at += (size_t)(p - from);
    return (size_t)(p - from);
}

/* Few digits and a small power of ten give the right double at once: both are exact, and one division
 * rounds once. All else waits for strtod(), until somebody asks for it. */
static int64_t read_number(struct reader *r)
{
    static const double ten[MOST_DIGITS + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
                                                1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};
    size_t begin = r->at, whole, decimals = 0;
    uint64_t mantissa = 0;
    int negative = r->text[r->at] == '-', power = 0;
    int64_t index;

    r->at += (size_t)negative;
    whole = digits(r, &mantissa);
    if (!whole)
        return wrong(r, "a value was expected");
    if (whole > 1 && r->text[r->at - whole] == '0')
        return wrong(r, "a number must not begin with zeros");
    if (r->at < r->size && r->text[r->at] == '.') {
        r->at++;
        decimals = digits(r, &mantissa);
        if (!decimals)
            return wrong(r, "digits were expected");
    }
    if (r->at < r->size && (r->text[r->at] == 'e' || r->text[r->at] == 'E')) {
        uint64_t exponent = 0;

        power = 1;
        r->at++;
        if (r->at < r->size && (r->text[r->at] == '+' || r->text[r->at] == '-'))
            r->at++;
        if (!digits(r, &exponent))
            return wrong(r, "digits were expected");
    }
    index = add(r, GBOSE__NUMBER, begin, r->at);
    if (index >= 0) {
        double x = NAN;

        if (!power && whole + decimals <= MOST_DIGITS && mantissa <= UINT64_C(1) << 53)
            x = (double)mantissa / ten[decimals];
        r->d->number[index] = negative ? -x : x;
    }
    return index;
}

typedef uint32_t words4 __attribute__((vector_size(sizeof(struct gbose__value_at))));

/* Plain numbers of a list. Returns how many; r->at is where the first other thing begins. */
static uint32_t read_numbers(struct reader *r)
{
    struct gbose__document *d = r->d;
    struct gbose__value_at *to = d->value + d->n, value = {.kind = GBOSE__NUMBER, .next = (uint32_t)d->n + 1};
    const char *at = r->text + r->at;
    size_t n = gbose__numbers_read(d->number + d->n, d->capacity - d->n, &at, r->text + r->size);
    words4 words;

    memcpy(&words, &value, sizeof words);
    for (size_t i = 0; i < n; i++, words += (words4){0, 0, 0, 1}) /* the last word is `next` */
        memcpy(to + i, &words, sizeof words);
    d->n += n;
    r->at = (size_t)(at - r->text);
    return (uint32_t)n;
}

static int64_t read_word(struct reader *r)
{
    static const struct {
        const char *word;
        size_t size;
        enum gbose__kind kind;
    } words[] = {{"null", 4, GBOSE__NULL}, {"false", 5, GBOSE__FALSE}, {"true", 4, GBOSE__TRUE}};

    for (size_t i = 0; i < 3; i++)
        if (r->size - r->at >= words[i].size && !memcmp(r->text + r->at, words[i].word, words[i].size)) {
            r->at += words[i].size;
            return add(r, words[i].kind, r->at - words[i].size, r->at);
        }
    return wrong(r, "a value was expected");
}

/* ---- the whole ---- */

static int64_t read_simple(struct reader *r)
{
    char c = r->text[r->at];

    if (c == '"')
        return read_text(r);
    if (c == '-' || (c >= '0' && c <= '9'))
        return read_number(r);
    return read_word(r);
}

/* The name of a member and its colon. */
static int read_name(struct reader *r)
{
    skip_space(r);
    if (r->at >= r->size || r->text[r->at] != '"')
        return wrong(r, "a name in quotes was expected");
    if (read_text(r) < 0)
        return -1;
    skip_space(r);
    if (r->at >= r->size || r->text[r->at] != ':')
        return wrong(r, "':' was expected");
    r->at++;
    return 0;
}

static int read_all(struct reader *r)
{
    uint32_t open[GBOSE__MAX_DEPTH];
    int depth = 0;
    struct gbose__document *d = r->d;

    for (;;) {
        int64_t index;
        char c;

        skip_space(r);
        if (r->at >= r->size)
            return wrong(r, "the text ends too early");
        c = r->text[r->at];
        if (c == '{' || c == '[') {
            if (depth == GBOSE__MAX_DEPTH)
                return wrong(r, "it is nested too deeply");
            index = add(r, c == '{' ? GBOSE__OBJECT : GBOSE__LIST, r->at++, 0);
            if (index < 0)
                return -1;
            open[depth++] = (uint32_t)index;
            skip_space(r);
            if (r->at >= r->size || r->text[r->at] != (c == '{' ? '}' : ']')) {
                if (c == '{' && read_name(r))
                    return -1;
                continue; /* with its first value */
            }
        } else {
            struct gbose__value_at *in = depth ? &d->value[open[depth - 1]] : NULL;
            uint32_t n = in && in->kind == GBOSE__LIST ? read_numbers(r) : 0;

            if (n && r->text[r->at] == ']') {
                in->plain = !in->count;
            } else if (!n || r->text[r->at] != ',') { /* there is one for the others to read */
                if (read_simple(r) < 0)
                    return -1;
                n++;
            }
            if (depth) /* what is open may have moved */
                d->value[open[depth - 1]].count += n & GBOSE__MAX_COUNT;
        }
        /* A value has ended, or an empty list or object is about to. */
        for (;;) {
            struct gbose__value_at *in;

            if (!depth)
                return 0;
            in = &d->value[open[depth - 1]];
            skip_space(r);
            if (r->at < r->size && r->text[r->at] == (in->kind == GBOSE__OBJECT ? '}' : ']')) {
                in->end = (uint32_t)++r->at;
                in->next = (uint32_t)d->n;
                if (--depth)
                    d->value[open[depth - 1]].count++;
                continue;
            }
            if (r->at >= r->size || r->text[r->at] != ',')
                return wrong(r, in->kind == GBOSE__OBJECT ? "',' or '}' was expected"
                                                          : "',' or ']' was expected");
            r->at++;
            if (in->kind == GBOSE__OBJECT && read_name(r))
                return -1;
            break;
        }
    }
}

int gbose__document_read(struct gbose__document *d, const char *text, size_t size, const char **message,
                         size_t *at)
{
    struct reader r = {.d = d, .text = text, .size = size};
    int rc;

    d->text = text;
    d->size = size;
    d->n = 0;
    if (size > UINT32_MAX / 2)
        rc = wrong(&r, "it is too long");
    else
        rc = read_all(&r);
    skip_space(&r);
    if (!rc && r.at < size)
        rc = wrong(&r, "nothing more was expected");
    *message = r.message;
    *at = r.at;
    return r.no_memory ? -2 : rc;
}

void gbose__document_clear(struct gbose__document *d)
{
    free(d->value);
    free(d->number);
    memset(d, 0, sizeof *d);
}

/* ---- values ---- */

static double slow_number(const char *at, size_t size)
{
    char small[64], *copy = size < sizeof small ? small : malloc(size + 1);
    struct gbose__decimal decimal;
    double x = NAN;

    if (!copy)
        return x;
    memcpy(copy, at, size);
    copy[size] = 0;
    if (!gbose__decimal_begin(&decimal)) {
        x = strtod(copy, NULL);
        gbose__decimal_end(&decimal);
    }
    if (copy != small)
        free(copy);
    return x;
}

int gbose__document_number(const struct gbose__document *d, uint32_t index, double *out)
{
    const struct gbose__value_at *v = &d->value[index];
    double x = d->number[index];

    if (isnan(x))
        x = slow_number(d->text + v->begin, v->end - v->begin);
    if (!isfinite(x))
        return -1;
    *out = x;
    return 0;
}

static size_t put_utf8(char *to, unsigned c)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        to[0] = (char)(0xc0 | c >> 6);
        to[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        to[0] = (char)(0xe0 | c >> 12);
        to[1] = (char)(0x80 | (c >> 6 & 0x3f));
        to[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    to[0] = (char)(0xf0 | c >> 18);
    to[1] = (char)(0x80 | (c >> 12 & 0x3f));
    to[2] = (char)(0x80 | (c >> 6 & 0x3f));
    to[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

size_t gbose__document_text(const struct gbose__document *d, uint32_t index, char *to)
{
    const char *at = d->text + d->value[index].begin, *end = d->text + d->value[index].end;
    static const char letters[] = "bfnrt", codes[] = "\b\f\n\r\t";
    char *start = to;

    while (at < end) {
        const char *letter;
        unsigned high = 0, low = 0;

        if (*at != '\\') {
            *to++ = *at++;
        } else if (at[1] != 'u') {
            letter = strchr(letters, at[1]);
            *to++ = letter ? codes[letter - letters] : at[1];
            at += 2;
        } else {
            hex4(at + 2, &high);
            at += 6;
            if (high >= 0xd800 && high < 0xdc00) {
                hex4(at + 2, &low);
                high = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                at += 6;
            }
            to += put_utf8(to, high);
        }
    }
    *to = 0;
    return (size_t)(to - start);
}

int gbose__document_is(const struct gbose__document *d, uint32_t index, const char *text)
{
    const struct gbose__value_at *v = &d->value[index];
    size_t size = v->end - v->begin, n = strlen(text);
    char small[256];

    if (v->kind != GBOSE__TEXT)
        return 0;
    if (!v->escaped)
        return size == n && !memcmp(d->text + v->begin, text, n);
    if (size >= sizeof small)
        return 0;
    return gbose__document_text(d, index, small) == n && !memcmp(small, text, n);
}

const char *gbose__document_kind(const struct gbose__document *d, uint32_t index)
{
    static const char *const kinds[] = {"null", "false", "true", "a number", "a text", "a list", "an object"};

    return kinds[d->value[index].kind];
}
