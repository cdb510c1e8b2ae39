/* Requests as JSON (RFC 8259), read in one pass into a flat list of values that point into the text.
 *
 * A general parser builds a tree of small allocations, which for a decision among ten arms costs more than
 * everything else together (50 us against 3 us, docs/service.md). Here nothing is copied, memory is reused
 * from request to request, and every value knows where it stands, so that an error can say so. Text must
 * be valid UTF-8. */
#ifndef GBOSE_SERVE_DOCUMENT_H
#define GBOSE_SERVE_DOCUMENT_H

#include <stddef.h>
#include <stdint.h>

enum gbose__kind {
    GBOSE__NULL,
    GBOSE__FALSE,
    GBOSE__TRUE,
    GBOSE__NUMBER,
    GBOSE__TEXT,
    GBOSE__LIST,
    GBOSE__OBJECT
};

/* A value. Those inside a list follow it; those inside an object follow it in pairs of a name and a value. */
struct gbose__value_at {
    unsigned kind : 4;    /* enum gbose__kind */
    unsigned escaped : 1; /* of a text: it holds a backslash */
    unsigned plain : 1;  /* of a list: nothing but numbers, which are known, one behind the other, and at most
                             GBOSE__MAX_PLAIN in magnitude */
    unsigned count : 26; /* of a list: its entries; of an object: its members */
    uint32_t begin,
        end; /* its bytes in the text; of a text without the quotes; not set for numbers of a list that are
                             known */
    uint32_t next; /* the index after it and all that is inside */
};

struct gbose__document {
    const char *text;
    size_t size;
    struct gbose__value_at *value; /* [0] is the whole */
    double *number; /* of each value that is a number; NaN: gbose__document_number() has more work to do */
    size_t n, capacity;
};

#define GBOSE__MAX_DEPTH 12
#define GBOSE__MAX_VALUES 1000000
#define GBOSE__MAX_COUNT ((1u << 26) - 1)

/* The number of bytes of the UTF-8 character that begins here, 0 if none does. */
size_t gbose__document_utf8(const char *text, size_t left);

/* Read a text, which is borrowed as long as the document is used. 0; or -1 with what is wrong in `message`
 * and where in *at (a byte of the text); -2: no memory. A document may be used again and again, and must
 * be zeroed before. */
int gbose__document_read(struct gbose__document *d, const char *text, size_t size, const char **message,
                         size_t *at);
void gbose__document_clear(struct gbose__document *d);

/* A number as the nearest double. 0, or -1: it is beyond all doubles. */
int gbose__document_number(const struct gbose__document *d, uint32_t index, double *out);

/* A text without its escapes, with a zero behind it, in `to` of at least size + 1 bytes, where size is end
 * - begin. Returns its length. */
size_t gbose__document_text(const struct gbose__document *d, uint32_t index, char *to);

/* Is the text exactly this? (One with escapes is compared as well.) */
int gbose__document_is(const struct gbose__document *d, uint32_t index, const char *text);

/* "a text", "a list", ... */
const char *gbose__document_kind(const struct gbose__document *d, uint32_t index);

#endif
