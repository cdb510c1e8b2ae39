/* HTTP/1.1: requests in, answers out. Nothing else in the tree knows sockets.
 *
 * A server has one loop per thread. Connections go to the loops in turn; a loop that has done its own looks whether another one
 * has more than it can do, and helps. A request that has arrived whole is handed to `handle` on a loop's thread. The handler
 * either fills in the answer, or parks the exchange and has it answered later, from any thread, by
 * gbose__http_answer(): a loop, not always the same, is woken and goes on with the connection itself.
 *
 * Clients that are slow to send are cut off: a connection on which no whole request arrives for a while is
 * closed; and so is one that does not take its answer.
 *
 * libmicrohttpd did this before. A request that waits for the disk had to be suspended and resumed, or asked again and
 * again, and each connection's memory was cleared for each request: docs/service.md has the measurement. */
#ifndef GBOSE_SERVE_HTTP_H
#define GBOSE_SERVE_HTTP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "gbose.h"
#include "serve/arena.h"
#include "serve/request.h"
#include "serve/text.h"

struct gbose__http;
struct gbose__loop;
struct gbose__link;

/* A request and its answer. */
struct gbose__exchange {
    const char *method, *path; /* the path without the query, percent signs as they came */
    const char *body;          /* with a zero behind it */
    size_t body_size;
    void *service; /* of gbose__http_start() */
    void *own;     /* of the loop that has it now, made by `loop_begin` */
    struct gbose__arena arena;

    int status;             /* set by the handler */
    const char *type;       /* content type; NULL: application/json */
    struct gbose__text out; /* the answer */
    const void *fixed;      /* an answer that needs no copy and outlives the server, instead of `out` */
    size_t fixed_size;
    const char *header[3][2]; /* further headers; borrowed from the arena or static */
    int n_headers;
    /* An answer that comes piece by piece: fills at most `most` bytes and returns how many, 0: not the end
     * yet, -1: the end, -2: it cannot go on. */
    ssize_t (*more)(struct gbose__exchange *x, char *to, size_t most);
    void *more_context;
    void (*more_done)(void *more_context);

    void (*finish)(
        struct gbose__exchange *x); /* of a parked exchange: called on a loop's thread before it is sent */
    void *work;                     /* free for the handler */
    struct gbose__exchange *next;   /* free for the owner while it is parked */
    /* Of the seam: */
    struct gbose__http *http;
    struct gbose__link *link;
    int phase; /* see http_inner.h */
    struct gbose__request request;
    struct gbose__text received; /* the request as it comes */
    size_t head_size;            /* 0: not whole yet */
    size_t searched;             /* bytes in which its end was looked for */
    struct gbose__chunks chunks;
    struct gbose__text head; /* of the answer, or a piece of one that comes by pieces */
    size_t sent;             /* bytes of head and answer */
    int keeps;               /* the connection stays open */
    int bare;                /* only the head of the answer was asked for */
    int last;                /* the last piece has been put together */
};

struct gbose__http_options {
    const char *listen; /* address, such as 127.0.0.1 or :: */
    int port;           /* 0: any; see gbose__http_port() */
    int threads;
    size_t max_body;       /* bytes */
    unsigned connections;  /* at most, all loops together */
    unsigned slow_seconds; /* for a whole request to arrive */
    void *service;
    void (*handle)(struct gbose__exchange *x);
    void (*answered)(struct gbose__exchange *x);  /* before the answer is sent, also one of HTTP itself */
    int (*loop_begin)(void *service, void **own); /* 0, or it is not started; called on the starting thread */
    void (*loop_end)(void *service, void *own);
};

/* The body of a refusal that HTTP itself makes (too long, too slow), written by the owner of the format. */
void gbose__http_refuse(struct gbose__exchange *x, int status, const char *code, const char *message);

/* Start to listen. GBOSE_OK, or an error with a sentence. */
int gbose__http_start(struct gbose__http **out, const struct gbose__http_options *options, gbose_error *err);
int gbose__http_port(const struct gbose__http *http);
uint64_t gbose__http_connections(const struct gbose__http *http);

/* Accept no more connections, answer what has arrived, and end. Waits at most `seconds` for clients. */
void gbose__http_stop(struct gbose__http *http, int seconds);

/* In a handler: the answer will come later. */
void gbose__http_park(struct gbose__exchange *x);
/* In a handler or in `finish`: what is to be done may take long. `finish`, as it is set now, is called when the loop has answered all else
 * that has come, and other loops mind its connections meanwhile. At most all loops but one do such things at a time. */
void gbose__http_later(struct gbose__exchange *x);
/* From any thread, once for each park. After it the exchange belongs to the loops again. */
void gbose__http_answer(struct gbose__exchange *x);
/* A whole list, linked by next: one wake for each loop. */
void gbose__http_answer_all(struct gbose__exchange *list);

/* What stands behind name= in the query, decoded; NULL: not given, or not decodable; "": without a value. */
const char *gbose__http_query(struct gbose__exchange *x, const char *name);
const char *gbose__http_header(struct gbose__exchange *x, const char *name);

#endif
