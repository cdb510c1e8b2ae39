/* The head of an HTTP/1.1 request, and bodies in chunks (RFC 9112), read in place.
 *
 * It is strict: what two programs could read in two ways is refused, so that no proxy in front of the service sees other
 * requests than the service does. */
#ifndef GBOSE_SERVE_REQUEST_H
#define GBOSE_SERVE_REQUEST_H

#include <stddef.h>
#include <stdint.h>

#define GBOSE__MAX_HEAD 16384 /* bytes of a request line and its headers */
#define GBOSE__MAX_HEADERS 64

struct gbose__request {
    const char *method, *path,
        *query; /* the path without the query, percent signs as they came; query: NULL if none */
    struct {
        const char *name, *value;
    } header[GBOSE__MAX_HEADERS];
    int n_headers;
    int is_1_0;
    int keeps;   /* the connection may be used again */
    int expects; /* it waits for "100 Continue" before it sends the body */
    int chunked;
    uint64_t length; /* of the body, unless it comes in chunks */
};

/* The size of the head that begins here, with the empty line that ends it; 0: there is more to come. `seen` bytes were
 * looked at before. Empty lines in front of it belong to it. */
size_t gbose__request_end(const char *text, size_t size, size_t seen);

/* Read a whole head. `text` is changed, and what `out` says points into it. 0, or the status of a refusal with a
 * sentence. */
int gbose__request_read(struct gbose__request *out, char *text, size_t size, const char **message);

/* The value of a header by its name, in any case; NULL: it is not there. */
const char *gbose__request_header(const struct gbose__request *r, const char *name);

/* A body in chunks. Set `from` and `to` to where it begins, and the rest to 0. */
struct gbose__chunks {
    size_t from;    /* the first byte that was not looked at yet */
    size_t to;      /* the end of what was read, which is moved together to where the body began */
    uint64_t left;  /* of the chunk that has begun */
    unsigned state; /* see request.c */
    unsigned line;  /* bytes of the line that has begun; and of all lines behind the last chunk */
};

/* Go on with all that is there. 1: the body is whole, 0: there is more to come, -1: it is wrong. */
int gbose__chunks_read(struct gbose__chunks *c, char *text, size_t size);

#endif
