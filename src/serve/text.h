/* Text that grows: answers, and JSON in them. A failed allocation is remembered in `bad`, and what is
 * added later is left out, so that it is enough to look once, at the end. */
#ifndef GBOSE_SERVE_TEXT_H
#define GBOSE_SERVE_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct gbose__text {
    char *at;
    size_t size, capacity;
    int bad;
};

void gbose__text_clear(struct gbose__text *t); /* frees */
void gbose__text_reset(struct gbose__text *t); /* empties, and keeps the memory */

/* Room for `more` bytes at the end, and a zero. NULL: no memory. */
char *gbose__text_room(struct gbose__text *t, size_t more);

/* Here, so that short texts that are known to the compiler are written without a call. */
static inline void gbose__text_bytes(struct gbose__text *t, const void *bytes, size_t size)
{
    char *at = t->capacity - t->size > size && !t->bad ? t->at + t->size : gbose__text_room(t, size);

    if (!at)
        return;
    if (size)
        memcpy(at, bytes, size);
    at[size] = 0;
    t->size += size;
}

static inline void gbose__text_add(struct gbose__text *t, const char *text)
{
    gbose__text_bytes(t, text, strlen(text));
}
void gbose__text_format(struct gbose__text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A number that reads back as x, as short as it can be; null if it is not finite. */
void gbose__text_number(struct gbose__text *t, double x);
void gbose__text_integer(struct gbose__text *t, uint64_t n);

/* Text between quotes, escaped. NULL gives null. */
void gbose__text_quoted(struct gbose__text *t, const char *text);
void gbose__text_quoted_bytes(struct gbose__text *t, const char *text, size_t size);

/* "2026-11-16T12:36:02.123Z", with quotes. */
void gbose__text_time(struct gbose__text *t, int64_t milliseconds);

#endif
