#include "core/bytes.h"

#include <string.h>

uint64_t gbose__mix_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = gbose__mix(hash, (unsigned char)*text);
    return gbose__mix(hash, 256);
}

uint64_t gbose__mix_bytes(uint64_t hash, const void *bytes, size_t n)
{
    const unsigned char *at = bytes;
    uint64_t word;

    for (; n >= 8; n -= 8, at += 8) {
        memcpy(&word, at, 8);
        hash = gbose__mix(hash, gbose__little_endian(word));
    }
    word = n; /* tells "a" from "a" and a zero byte */
    for (size_t i = 0; i < n; i++)
        word |= (uint64_t)at[i] << (8 * i + 8);
    return gbose__mix(hash, word);
}

static inline uint64_t add_word(uint64_t chain, const unsigned char *at)
{
    uint64_t word, x;

    memcpy(&word, at, 8);
    x = (chain ^ gbose__little_endian(word)) * GBOSE__ODD_A;
    return x ^ x >> 32;
}

/* Four chains side by side, so that the multiplications do not wait for each other. */
uint64_t gbose__checksum(const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    uint64_t chain[4] = {1, 2, 3, 4}, hash = size;
    size_t words = size / 8;

    for (; words >= 4; words -= 4, at += 32)
        for (int k = 0; k < 4; k++)
            chain[k] = add_word(chain[k], at + 8 * k);
    for (size_t k = 0; k < words; k++)
        chain[k] = add_word(chain[k], at + 8 * k);
    for (int k = 0; k < 4; k++)
        hash = gbose__mix(hash, chain[k]);
    return hash;
}

/* n doubles to bytes, or back. */
static void copy_doubles(void *to, const void *from, size_t n)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    for (size_t i = 0; i < n; i++) {
        uint64_t word;

        memcpy(&word, (const unsigned char *)from + 8 * i, 8);
        word = gbose__little_endian(word);
        memcpy((unsigned char *)to + 8 * i, &word, 8);
    }
#else
    memcpy(to, from, 8 * n);
#endif
}

void gbose__put_doubles(struct gbose__writer *w, const double *values, size_t n)
{
    unsigned char *at = gbose__writer_next(w, 8 * n);

    if (at && n)
        copy_doubles(at, values, n);
}

void gbose__put_text(struct gbose__writer *w, const char *text)
{
    size_t length = strlen(text), words = (length + 7) / 8;
    unsigned char *at;

    gbose__put_u64(w, length);
    at = gbose__writer_next(w, 8 * words);
    if (at) {
        memset(at, 0, 8 * words);
        memcpy(at, text, length);
    }
}

void gbose__get_doubles(struct gbose__reader *r, double *values, size_t n)
{
    if (n > r->left / 8) {
        r->bad = 1;
        r->left = 0;
        memset(values, 0, n * sizeof *values);
        return;
    }
    if (n)
        copy_doubles(values, r->at, n);
    r->at += 8 * n;
    r->left -= 8 * n;
}

void gbose__get_text(struct gbose__reader *r, char *buf, size_t capacity)
{
    uint64_t length = gbose__get_u64(r);
    size_t padded;

    buf[0] = 0;
    if (length >= capacity || length > r->left) {
        r->bad = 1;
        return;
    }
    padded = ((size_t)length + 7) / 8 * 8;
    if (padded > r->left) {
        r->bad = 1;
        return;
    }
    memcpy(buf, r->at, (size_t)length);
    buf[length] = 0;
    r->at += padded;
    r->left -= padded;
}
