/* Little-endian words in memory, for tickets and saved states, and their checksum. */
#ifndef GBOSE_CORE_BYTES_H
#define GBOSE_CORE_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A checksum of whole 8-byte words. Every step is a bijection of the word and of the sum so far, so a
 * change that stays within one word is always seen; any other escapes with probability 2^-64. */
uint64_t gbose__checksum(const void *bytes, size_t size);

#define GBOSE__ODD_A UINT64_C(0x9e3779b97f4a7c15) /* 2^64 / golden ratio */
#define GBOSE__ODD_B UINT64_C(0xd6e8feb86659fd93)

/* A hash for fingerprints: a further value mixed into one so far. A bijection of value for every hash, and
 * of hash for every value. */
static inline uint64_t gbose__mix(uint64_t hash, uint64_t value)
{
    uint64_t x = (hash ^ value) * GBOSE__ODD_A;

    x = (x ^ x >> 32) * GBOSE__ODD_B;
    return x ^ x >> 29;
}

uint64_t gbose__mix_text(uint64_t hash, const char *text);
uint64_t gbose__mix_bytes(uint64_t hash, const void *bytes, size_t n); /* faster: eight bytes at a time */

/* Writes words one after the other. With `at` NULL it only counts. What has no room is not written, and
 * `bad` is set. */
struct gbose__writer {
    unsigned char *at;
    size_t size;     /* bytes written or counted so far */
    size_t capacity; /* bytes that there is room for at `at` */
    int bad;
};

/* Where the next `bytes` go, which are then counted; NULL: nowhere. */
static inline unsigned char *gbose__writer_next(struct gbose__writer *w, size_t bytes)
{
    unsigned char *at = NULL;

    if (w->at && bytes > w->capacity - w->size) {
        w->bad = 1;
        return NULL;
    }
    if (w->at)
        at = w->at + w->size;
    w->size += bytes;
    return at;
}

/* A word in memory, or there from memory: the bytes turned round where the processor has them in the other
 * order. */
static inline uint64_t gbose__little_endian(uint64_t word)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap64(word);
#else
    return word;
#endif
}

static inline void gbose__put_u64(struct gbose__writer *w, uint64_t value)
{
    unsigned char *at = gbose__writer_next(w, 8);

    value = gbose__little_endian(value);
    if (at)
        memcpy(at, &value, 8);
}

/* A few words, whose number the compiler knows. */
static inline void gbose__put_words(struct gbose__writer *w, const uint64_t *words, size_t n)
{
    unsigned char *at = gbose__writer_next(w, 8 * n);

    for (size_t i = 0; i < n && at; i++) {
        uint64_t word = gbose__little_endian(words[i]);

        memcpy(at + 8 * i, &word, 8);
    }
}

static inline void gbose__put_double(struct gbose__writer *w, double value)
{
    uint64_t word;

    memcpy(&word, &value, 8);
    gbose__put_u64(w, word);
}

void gbose__put_doubles(struct gbose__writer *w, const double *values, size_t n);
/* The length, then the bytes, filled up to a whole word with zeros. */
void gbose__put_text(struct gbose__writer *w, const char *text);

/* Reads them back. Past the end it gives zeros and `bad` is set. */
struct gbose__reader {
    const unsigned char *at;
    size_t left;
    int bad;
};

static inline uint64_t gbose__get_u64(struct gbose__reader *r)
{
    uint64_t word;

    if (r->left < 8) {
        r->bad = 1;
        return 0;
    }
    memcpy(&word, r->at, 8);
    r->at += 8;
    r->left -= 8;
    return gbose__little_endian(word);
}

/* A few words, whose number the compiler knows. */
static inline void gbose__get_words(struct gbose__reader *r, uint64_t *words, size_t n)
{
    if (n > r->left / 8) {
        r->bad = 1;
        r->left = 0;
        memset(words, 0, 8 * n);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        memcpy(&words[i], r->at + 8 * i, 8);
        words[i] = gbose__little_endian(words[i]);
    }
    r->at += 8 * n;
    r->left -= 8 * n;
}

static inline double gbose__get_double(struct gbose__reader *r)
{
    uint64_t word = gbose__get_u64(r);
    double value;

    memcpy(&value, &word, 8);
    return value;
}

void gbose__get_doubles(struct gbose__reader *r, double *values, size_t n);
/* A text shorter than capacity; else `bad` is set and buf is empty. */
void gbose__get_text(struct gbose__reader *r, char *buf, size_t capacity);

#endif
