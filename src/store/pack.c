/* A byte that says so, and then runs: two bytes with the number of characters and, in the lowest bit, their kind; then the
 * characters as they are, or two of them in a byte, the first one in its lower half. */
#include "store/pack.h"

#include <stdint.h>
#include <string.h>

#define PACKED 1        /* the first byte */
#define MOST_RUN 0x7ff0 /* characters of a run */
#define STEP 16         /* characters that are looked at together, and the shortest run that is packed */

static const char letters[16] =
    "0123456789 [,-.]"; /* where they can, their lowest four bits are their place */

typedef uint8_t bytes16 __attribute__((vector_size(STEP)));
typedef uint16_t words8 __attribute__((vector_size(STEP)));
typedef uint8_t bytes8 __attribute__((vector_size(STEP / 2)));

static int place(char c)
{
    const char *at = memchr(letters, c, sizeof letters);

    return at ? (int)(at - letters) : -1;
}

/* Sixteen characters in eight bytes; 0, with nothing written: not all of them are letters of ours. */
static inline int pack_step(unsigned char *to, const char *text)
{
    bytes16 c, code, other;
    words8 pair;
    uint64_t half[2];
    bytes8 packed;

    memcpy(&c, text, sizeof c);
    other = ~(bytes16)((c - '0' < 10) | (c - ',' < 3) | (c == ' ') | (c == '[') | (c == ']'));
    memcpy(half, &other, sizeof half);
    if (half[0] | half[1])
        return 0;
    code = (c & 15) + ((bytes16)(c == ' ') & 10) + ((bytes16)(c == ']') & 2);
    memcpy(&pair, &code, sizeof pair);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    pair = (pair >> 8) | (pair << 4);
#else
    pair = pair | (pair >> 4);
#endif
    packed = __builtin_convertvector(pair & 0xff, bytes8);
    memcpy(to, &packed, sizeof packed);
    return 1;
}

size_t gbose__pack_bound(size_t size)
{
    return size + size / 1024 + 16; /* what is packed saves more than the bytes in front of runs */
}

static void put_header(unsigned char *at, size_t n, int packed)
{
    at[0] = (unsigned char)(n << 1 | (unsigned)packed);
    at[1] = (unsigned char)(n >> 7);
}

/* Up to where the next sixteen letters of ours begin, or the end. */
static size_t others(const char *text, size_t size)
{
    unsigned char unused[STEP / 2];
    size_t at = 0;

    while (size - at >= STEP && !pack_step(unused, text + at)) {
        size_t last = STEP;

        while (place(text[at + last - 1]) >= 0)
            last--;
        at += last;
    }
    return size - at >= STEP ? at : size;
}

size_t gbose__pack(void *to, const char *text, size_t size)
{
    unsigned char *out = to;
    size_t at = 0;

    *out++ = PACKED;
    while (at < size) {
        size_t n = others(text + at, size - at), limit;
        unsigned char *head;

        while (n) {
            size_t part = n < MOST_RUN ? n : MOST_RUN;

            put_header(out, part, 0);
            memcpy(out + 2, text + at, part);
            out += 2 + part;
            at += part;
            n -= part;
        }
        head = out;
        out += 2;
        limit = size - at < MOST_RUN ? size - at : MOST_RUN;
        while (limit - n >= STEP && pack_step(out, text + at + n)) {
            n += STEP;
            out += STEP / 2;
        }
        for (int a, b = 0; n < limit && b >= 0 && (a = place(text[at + n])) >= 0; out++) {
            b = ++n < limit ? place(text[at + n]) : -1;
            n += b >= 0;
            *out = (unsigned char)(a | (b >= 0 ? b << 4 : 0));
        }
        put_header(head, n, 1);
        if (!n)
            out = head;
        at += n;
    }
    return (size_t)(out - (unsigned char *)to);
}

int gbose__is_packed(const void *bytes, size_t size)
{
    return size && *(const unsigned char *)bytes == PACKED;
}

/* The run at `at`: its characters, with their bytes in *size and their kind. */
static size_t read_header(const unsigned char *at, size_t *size, int *packed)
{
    size_t n = at[0] >> 1 | (size_t)at[1] << 7;

    *packed = at[0] & 1;
    *size = *packed ? (n + 1) / 2 : n;
    return n;
}

size_t gbose__unpacked_size(const void *bytes, size_t size)
{
    const unsigned char *at = bytes, *end = at + size;
    size_t all = 0, n;
    int packed;

    for (at++; end - at >= 2; at += n) {
        all += read_header(at, &n, &packed);
        at += 2;
        if (n > (size_t)(end - at))
            return 0;
    }
    return at == end ? all : 0;
}

void gbose__unpack(char *to, const void *bytes, size_t size)
{
    const unsigned char *at = bytes, *end = at + size;

    at++;
    while (at < end) {
        size_t n_bytes, n;
        int packed;

        n = read_header(at, &n_bytes, &packed);
        at += 2;
        if (!packed)
            memcpy(to, at, n);
        for (size_t i = 0; packed && i + 1 < n; i += 2) {
            to[i] = letters[at[i / 2] & 15];
            to[i + 1] = letters[at[i / 2] >> 4];
        }
        if (packed && n % 2)
            to[n - 1] = letters[at[n / 2] & 15];
        to += n;
        at += n_bytes;
    }
}
