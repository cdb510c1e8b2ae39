#include "serve/numbers.h"

#include <stdint.h>
#include <string.h>

#include "core/bytes.h"

#define BLOCK 64 /* bytes in which ends of numbers are looked for together */
#define AHEAD 16 /* bytes that may be looked at behind the end of a number */

typedef uint8_t bytes16 __attribute__((vector_size(16)));
typedef char chars16 __attribute__((vector_size(16)));

/* Where a block has a comma or a closing bracket: a bit for each of its bytes. */
static inline uint64_t ends_of_block(const char *at)
{
    uint64_t ends = 0;

    for (int i = 0; i < BLOCK; i += 16) {
        bytes16 c, found;

        memcpy(&c, at + i, sizeof c);
        found = (bytes16)((c == ',') | (c == ']'));
#ifdef __SSE2__
        ends |= (uint64_t)(unsigned)__builtin_ia32_pmovmskb128((chars16)found) << i;
#else
        for (int k = 0; k < 16;
             k += 8) { /* a bit of each of eight bytes, and their sum in the highest byte */
            uint64_t word;

            memcpy(&word, (const char *)&found + k, 8);
            word = (gbose__little_endian(word) & 0x8040201008040201) * 0x0101010101010101;
            ends |= (word >> 56) << (i + k);
        }
#endif
    }
    return ends;
}

static inline uint64_t eight_bytes(const char *at)
{
    uint64_t word;

    memcpy(&word, at, 8);
    return gbose__little_endian(word);
}

/* Digits as the values of bytes: is one of them 10 or more? */
static inline int not_digits(uint64_t word)
{
    return (((word + 0x7676767676767676) | word) & 0x8080808080808080) != 0;
}

/* Eight digits as one number: neighbours are put together three times, digits to pairs, pairs to fours, fours to eight. */
static inline int64_t value_of(uint64_t word)
{
    word = word * 10 + (word >> 8);
    return (int64_t)(((word & 0x000000ff000000ff) * (100 + (UINT64_C(1000000) << 32)) +
                      ((word >> 16) & 0x000000ff000000ff) * (1 + (UINT64_C(10000) << 32))) >>
                     32);
}

/* The digits from p up to stop, 1 to 7 of them. 0, or -1: they are not. */
static int few_digits(const char *p, const char *stop, int64_t *value)
{
    size_t n = (size_t)(stop - p);
    uint64_t word;

    if (n - 1 >= 7)
        return -1;
    word = (eight_bytes(p) ^ 0x3030303030303030) << (8 * (8 - n));
    *value = value_of(word);
    return -not_digits(word);
}

/* A number without a sign from p up to stop. Returns its decimals, with its digits as a whole number; -1: it is not plain. */
static int read_plain(const char *p, const char *stop, int64_t *mantissa)
{
    static const int32_t power[8] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
    const char *point = memchr(p, '.', (size_t)(stop - p)), *whole = point ? point : stop;
    int64_t decimals;

    if (few_digits(p, whole, mantissa) || (*p == '0' && whole - p > 1))
        return -1;
    if (!point)
        return 0;
    if (few_digits(point + 1, stop, &decimals))
        return -1;
    *mantissa = *mantissa * power[stop - point - 1] + decimals;
    return (int)(stop - point - 1);
}

static int begins_number(char c)
{
    return c == '-' || (unsigned char)(c - '0') < 10;
}

/* As gbose__numbers_read(), as long as there are whole blocks. Where numbers end is known before they are read, and those
 * with one digit before the point are read without a branch that cannot be foreseen, whatever their signs and lengths. */
static size_t read_blocks(double *to, size_t room, const char **from, const char *end)
{
    static const double power[2][8] = {{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7},
                                       {-1e0, -1e1, -1e2, -1e3, -1e4, -1e5, -1e6, -1e7}};
    const char *at = *from, *comma = at;
    double *first = to;
    int goes_on = 1;

    for (const char *block = at; goes_on && end - block >= BLOCK + AHEAD &&
                                 room - (size_t)(to - first) >= BLOCK / 2; /* each takes two bytes or more */
         block += BLOCK) {
        for (uint64_t ends = ends_of_block(block); ends; ends &= ends - 1) {
            const char *stop = block + __builtin_ctzll(ends);
            size_t negative = *at == '-', decimals;
            const char *p = at + negative;
            int64_t mantissa;

            goes_on = 0;
            decimals = (size_t)(stop - p) - 2; /* if there is one digit before the point */
            if (p[1] == '.' && decimals - 1 < 6) {
                /* The digit takes the place of the point, and zeros are moved in in front of it. */
                uint64_t word = (eight_bytes(p + 1) & ~(uint64_t)0xff) | (unsigned char)*p;

                word = (word ^ 0x3030303030303030) << (8 * (7 - decimals));
                if (not_digits(word))
                    break;
                mantissa = value_of(word);
            } else {
                int found = read_plain(p, stop, &mantissa);

                if (found < 0)
                    break;
                decimals = (size_t)found;
            }
            *to++ = (double)mantissa / power[negative][decimals];
            at = comma = stop;
            if (*stop == ']')
                break;
            at += stop[1] == ' ' ? 2 : 1;
            goes_on = 1;
        }
    }
    *from = to > first && !begins_number(*at) ? comma : at;
    return (size_t)(to - first);
}

size_t gbose__numbers_read(double *to, size_t room, const char **from, const char *end)
{
    const char *at = *from;
    size_t n = begins_number(*at) ? read_blocks(to, room, &at, end) : 0, left = (size_t)(end - at);

    if (left < BLOCK + AHEAD && begins_number(*at)) { /* the last ones, with zeros behind them */
        char copy[2 * (BLOCK + AHEAD)] = {0};
        const char *in_copy = copy;

        memcpy(copy, at, left);
        n += read_blocks(to + n, room - n, &in_copy, copy + sizeof copy);
        at += in_copy - copy;
    }
    *from = at;
    return n;
}
