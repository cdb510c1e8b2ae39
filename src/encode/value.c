/* Values of categories, sets and numbers: what is equal to what, whichever way it was written. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "encode/schema.h"

/* "true", "True" or "TRUE": 1; the same with false: 0; else -1. */
static int truth(struct gbose__piece text)
{
    static const char *const words[] = {"false", "true", "False", "True", "FALSE", "TRUE"};

    if (text.n != 4 && text.n != 5)
        return -1;
    for (int i = 0; i < 6; i++)
        if (strlen(words[i]) == text.n && !memcmp(words[i], text.at, text.n))
            return i % 2;
    return -1;
}

/* Made of what numbers are made of? Most texts end at their first letter. */
static int looks_like_number(struct gbose__piece text)
{
    for (size_t i = 0; i < text.n; i++) {
        char c = text.at[i];

        if ((c < '0' || c > '9') && c != '.' && c != '-' && c != '+' && ((c != 'e' && c != 'E') || !i))
            return 0;
    }
    return text.n > 0;
}

int gbose__value_number(locale_t c_locale, double *out, struct gbose__piece text, int words)
{
    locale_t old;
    char *end;
    int word;

    if (!looks_like_number(text)) {
        word = words ? truth(text) : -1;
        *out = word;
        return word >= 0;
    }
    old = uselocale(c_locale);
    *out = strtod(text.at, &end) + 0.0; /* -0 is 0 */
    uselocale(old);
    return end == text.at + text.n && isfinite(*out);
}

uint64_t gbose__value_key_of_number(uint64_t seed, double number)
{
    uint64_t word;

    number += 0.0; /* -0 is 0 */
    memcpy(&word, &number, sizeof word);
    return gbose__mix(gbose__mix(seed, 1), word);
}

uint64_t gbose__value_key(locale_t c_locale, uint64_t seed, struct gbose__piece text)
{
    double number;
    int word;

    if (gbose__value_number(c_locale, &number, text, 0))
        return gbose__value_key_of_number(seed, number);
    word = truth(text);
    return word < 0 ? gbose__mix_bytes(seed, text.at, text.n)
                    : gbose__mix(gbose__mix(seed, 2), (uint64_t)word);
}

int64_t gbose__value_find(const struct gbose__schema_feature *feature, uint64_t key)
{
    for (uint32_t i = (uint32_t)key & feature->mask; feature->place[i]; i = (i + 1) & feature->mask)
        if (feature->key[feature->place[i] - 1] == key)
            return feature->place[i] - 1;
    return -1;
}

uint32_t gbose__value_bucket(const struct gbose__schema_feature *feature, uint64_t key, double *sign)
{
    *sign = key >> 63 ? -1 : 1;
    return (uint32_t)((key & UINT64_MAX >> 1) % feature->buckets);
}

size_t gbose__value_write(char *buf, size_t capacity, const char *value)
{
    char text[2 * GBOSE__MAX_NAME + 3];
    size_t n = 0;

    if (*value && !value[strcspn(value, " \t\",=*#\\")])
        return (size_t)snprintf(buf, capacity, "%s", value);
    text[n++] = '"';
    for (; *value; value++) {
        if (*value == '"' || *value == '\\')
            text[n++] = '\\';
        text[n++] = *value;
    }
    text[n++] = '"';
    text[n] = 0;
    return (size_t)snprintf(buf, capacity, "%s", text);
}
