#include "core/bytes.h"

#include <string.h>

#define ODD_A UINT64_C(0x9e3779b97f4a7c15) /* 2^64 / golden ratio */
#define ODD_B UINT64_C(0xd6e8feb86659fd93)

static uint64_t load_word(const unsigned char *p)
{
    return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24 |
           (uint64_t)p[4] << 32 | (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 | (uint64_t)p[7] << 56;
}

static void store_word(unsigned char *p, uint64_t word)
{
    for (int i = 0; i < 8; i++)
        p[i] = (unsigned char)(word >> (8 * i));
}

/* A bijection of value for every hash, and of hash for every value. */
uint64_t gbose__mix(uint64_t hash, uint64_t value)
{
    uint64_t x = (hash ^ value) * ODD_A;

    x = (x ^ x >> 32) * ODD_B;
    return x ^ x >> 29;
}

uint64_t gbose__mix_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = gbose__mix(hash, (unsigned char)*text);
    return gbose__mix(hash, 256);
}

/* Four chains side by side, so that the multiplications do not wait for each other. */
uint64_t gbose__checksum(const void *bytes, size_t size)
{
    const unsigned char *p = bytes;
    uint64_t chain[4] = {1, 2, 3, 4}, hash = size;
    size_t n = size / 8;

    for (size_t i = 0; i < n; i++) {
        uint64_t x = (chain[i & 3] ^ load_word(p + 8 * i)) * ODD_A;
        chain[i & 3] = x ^ x >> 32;
    }
    for (int k = 0; k < 4; k++)
        hash = gbose__mix(hash, chain[k]);
    return hash;
}

void gbose__put_u64(struct gbose__writer *w, uint64_t value)
{
    if (w->at)
        store_word(w->at + w->size, value);
    w->size += 8;
}

void gbose__put_double(struct gbose__writer *w, double value)
{
    uint64_t word;

    memcpy(&word, &value, 8);
    gbose__put_u64(w, word);
}

void gbose__put_doubles(struct gbose__writer *w, const double *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        gbose__put_double(w, values[i]);
}

void gbose__put_text(struct gbose__writer *w, const char *text)
{
    size_t length = strlen(text), words = (length + 7) / 8;

    gbose__put_u64(w, length);
    if (w->at) {
        memset(w->at + w->size, 0, 8 * words);
        memcpy(w->at + w->size, text, length);
    }
    w->size += 8 * words;
}

uint64_t gbose__get_u64(struct gbose__reader *r)
{
    uint64_t word;

    if (r->left < 8) {
        r->bad = 1;
        return 0;
    }
    word = load_word(r->at);
    r->at += 8;
    r->left -= 8;
    return word;
}

double gbose__get_double(struct gbose__reader *r)
{
    uint64_t word = gbose__get_u64(r);
    double value;

    memcpy(&value, &word, 8);
    return value;
}

void gbose__get_doubles(struct gbose__reader *r, double *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        values[i] = gbose__get_double(r);
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
