/* Values on their way to PostgreSQL and back: parameters, array literals, rows of a binary COPY, results. */
#include "store/postgres_inner.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"

/* ---- parameters ---- */

void gbose__pg_arg_int(struct gbose__pg_args *a, int64_t x)
{
    snprintf(a->number[a->n], sizeof a->number[a->n], "%" PRId64, x);
    a->format[a->n] = 0;
    a->value[a->n] = a->number[a->n];
    a->n++;
}

void gbose__pg_arg_text(struct gbose__pg_args *a, const char *text)
{
    a->format[a->n] = 0;
    a->value[a->n++] = text;
}

void gbose__pg_arg_bytes(struct gbose__pg_args *a, const void *bytes, size_t size)
{
    a->format[a->n] = 1;
    a->length[a->n] = (int)size;
    a->value[a->n++] = bytes ? bytes : NULL;
}

/* ---- bytes that grow ---- */

static void put(struct gbose__pg_bytes *b, const void *bytes, size_t size)
{
    if (b->size + size > b->capacity && !b->bad) {
        size_t capacity = 2 * (b->size + size) + 256;
        char *more = realloc(b->at, capacity);

        b->bad = !more;
        if (more) {
            b->at = more;
            b->capacity = capacity;
        }
    }
    if (b->bad || !size)
        return;
    memcpy(b->at + b->size, bytes, size);
    b->size += size;
}

void gbose__pg_clear(struct gbose__pg_bytes *b)
{
    free(b->at);
    *b = (struct gbose__pg_bytes){0};
}

/* ---- array literals ---- */

static void add_text(struct gbose__pg_bytes *b, const char *text, size_t size)
{
    put(b, b->size ? "," : "{", 1);
    put(b, text, size);
}

void gbose__pg_add_int(struct gbose__pg_bytes *b, int64_t x)
{
    char text[24];

    add_text(b, text, (size_t)snprintf(text, sizeof text, "%" PRId64, x));
}

void gbose__pg_add_double(struct gbose__pg_bytes *b, double x)
{
    char text[32];
    int n = snprintf(text, sizeof text, "%.17g", x);

    for (int i = 0; i < n; i++) /* the decimal point of this locale */
        if (text[i] == ',')
            text[i] = '.';
    add_text(b, text, (size_t)n);
}

void gbose__pg_add_blob(struct gbose__pg_bytes *b, const void *bytes, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *from = bytes;

    if (!bytes) {
        add_text(b, "NULL", 4);
        return;
    }
    add_text(b, "\"\\\\x", 4);
    for (size_t i = 0; i < size; i++)
        put(b, (const char[]){digits[from[i] >> 4], digits[from[i] & 15]}, 2);
    put(b, "\"", 1);
}

const char *gbose__pg_close(struct gbose__pg_bytes *b)
{
    put(b, b->size ? "}" : "{}", b->size ? 2 : 3); /* with the zero */
    return b->at;
}

/* ---- rows of a COPY ---- */

static void put_int2(struct gbose__pg_bytes *b, int16_t x)
{
    uint16_t word = htons((uint16_t)x);

    put(b, &word, sizeof word);
}

static void put_int4(struct gbose__pg_bytes *b, int32_t x)
{
    uint32_t word = htonl((uint32_t)x);

    put(b, &word, sizeof word);
}

void gbose__pg_row(struct gbose__pg_bytes *b, int fields)
{
    put_int2(b, (int16_t)fields);
}

void gbose__pg_field_int2(struct gbose__pg_bytes *b, int16_t x)
{
    put_int4(b, 2);
    put_int2(b, x);
}

void gbose__pg_field_int4(struct gbose__pg_bytes *b, int32_t x)
{
    put_int4(b, 4);
    put_int4(b, x);
}

void gbose__pg_field_int8(struct gbose__pg_bytes *b, int64_t x)
{
    put_int4(b, 8);
    put_int4(b, (int32_t)(x >> 32));
    put_int4(b, (int32_t)(uint32_t)x);
}

void gbose__pg_field_bool(struct gbose__pg_bytes *b, int x)
{
    put_int4(b, 1);
    put(b, x ? "\1" : "\0", 1);
}

void gbose__pg_field_double(struct gbose__pg_bytes *b, double x)
{
    int64_t word;

    memcpy(&word, &x, sizeof word);
    gbose__pg_field_int8(b, word);
}

void gbose__pg_field_bytes(struct gbose__pg_bytes *b, const void *bytes, size_t size)
{
    put_int4(b, bytes ? (int32_t)size : -1);
    if (bytes)
        put(b, bytes, size);
}

/* ---- results ---- */

uint64_t gbose__pg_changed(const PGresult *r)
{
    return strtoull(PQcmdTuples((PGresult *)r), NULL, 10);
}

int64_t gbose__pg_int(const PGresult *r, int row, int column)
{
    const unsigned char *at = (const unsigned char *)PQgetvalue(r, row, column);
    int size = PQgetlength(r, row, column);
    uint64_t x = 0;

    for (int i = 0; i < size; i++)
        x = x << 8 | at[i];
    if (size == 2)
        return (int16_t)x;
    return size == 4 ? (int32_t)x : (int64_t)x;
}

double gbose__pg_double(const PGresult *r, int row, int column)
{
    int64_t word = gbose__pg_int(r, row, column);
    double x;

    memcpy(&x, &word, sizeof x);
    return x;
}

const char *gbose__pg_text(const PGresult *r, int row, int column)
{
    return PQgetisnull(r, row, column) ? NULL : PQgetvalue(r, row, column);
}

const void *gbose__pg_blob(const PGresult *r, int row, int column, size_t *size)
{
    *size = (size_t)PQgetlength(r, row, column);
    return PQgetisnull(r, row, column) ? NULL : PQgetvalue(r, row, column);
}
