/* What the files of the HTTP seam share: loops (http.c), connections (connection.c), and exchanges (exchange.c). */
#ifndef GBOSE_SERVE_HTTP_INNER_H
#define GBOSE_SERVE_HTTP_INNER_H

#include <pthread.h>
#include <stdatomic.h>

#include "serve/http.h"

/* READING: not whole yet; PARKED: its answer comes later; SENDING: its answer is on its way. */
enum { GBOSE__READING, GBOSE__PARKED, GBOSE__SENDING };

/* A connection. Its socket reports each change once (edge-triggered epoll), so what was reported is kept here. */
struct gbose__link {
    struct gbose__link *before, *after; /* all of the loop, a ring */
    struct gbose__link *next;           /* in one of the loop's lists: `again` or `dead` */
    struct gbose__loop *loop;
    int socket;
    struct gbose__exchange *x;    /* what is read or answered now; NULL: nothing has come */
    struct gbose__exchange *then; /* the beginning of the next request, if that has come already */
    int64_t
        since; /* when it last had nothing to wait for (accepted, or a request answered), or last took bytes of an answer */
    int readable; /* there may be something to read */
    int over;     /* the client sends no more: what it has sent is still read, up to the end */
    int draining; /* it is about to be closed: what still comes is thrown away, so that the last answer arrives */
    int listed, dead; /* in `again`; closed */
};

struct gbose__loop {
    struct gbose__http *http;
    pthread_t thread;
    int started, socket, epoll, wake;
    int deaf; /* the listening socket is not in the epoll: there are too many connections, or no descriptors */
    void *own;
    int collecting;           /* answers are sent when all that has come is handled: see gbose__link_go() */
    struct gbose__link links; /* a ring */
    struct gbose__link *again,
        *dead; /* with more to do at once; closed, and freed when nothing points to them */
    struct gbose__exchange *spare;
    size_t n_spare;
    atomic_uint_fast64_t connections;
    uint64_t parked; /* exchanges that wait for an answer */
    char date[40];   /* of answers, at second `date_of` */
    int64_t date_of;
    char usual[256]; /* the head of most answers then, up to the length of their body */
    size_t usual_size;
    pthread_mutex_t lock;
    struct gbose__exchange *done; /* guarded by lock: answers that are ready */
};

struct gbose__http {
    struct gbose__http_options options;
    struct gbose__loop *loop;
    int port;
    atomic_int stopping;
    int64_t stop_until;
};

/* Milliseconds of a clock that never goes back. */
int64_t gbose__http_clock(void);

/* A new connection on a socket, which is closed if there is no memory. */
void gbose__link_new(struct gbose__loop *loop, int socket);
/* Do all that can be done now: read, handle, send. */
void gbose__link_go(struct gbose__link *link);
void gbose__link_close(struct gbose__link *link);

struct gbose__exchange *gbose__exchange_new(struct gbose__link *link); /* NULL: no memory */
void gbose__exchange_end(struct gbose__exchange *x); /* kept for the next request, if it is small */
void gbose__exchange_free(struct gbose__exchange *x);
/* Its handler has filled in the answer: put its head together. */
void gbose__exchange_answer(struct gbose__exchange *x);
/* More of an answer that comes piece by piece. 0, or -1: it cannot go on. */
int gbose__exchange_more(struct gbose__exchange *x);
/* On the loop's thread: go on with those whose answers are ready. */
void gbose__exchange_take_answers(struct gbose__loop *loop);

#endif
