/* What the two files of the HTTP seam share: a loop and its connections (http.c), and the requests on them
 * (exchange.c). */
#ifndef GBOSE_SERVE_HTTP_INNER_H
#define GBOSE_SERVE_HTTP_INNER_H

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>

#include "serve/http.h"

struct gbose__link { /* a connection, as its loop sees it */
    struct gbose__link *before, *after;
    int socket;
    int64_t since; /* when it last had nothing to wait for: accepted, or a request answered */
    int busy;      /* a whole request is here */
};

struct gbose__loop {
    struct gbose__http *http;
    struct MHD_Daemon *daemon;
    pthread_t thread;
    int started, socket, epoll, wake;
    void *own;
    struct gbose__link links; /* a ring */
    struct gbose__exchange *spare;
    size_t n_spare;
    atomic_uint_fast64_t connections;
    uint64_t parked; /* exchanges that wait for an answer; */
    uint64_t held;   /* so many of them without being suspended */
    int moved;       /* something happened since it was last set to 0: there may be more to do at once */
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

/* The library's callbacks for a request; `context` is the loop. */
enum MHD_Result gbose__exchange_request(void *context, struct MHD_Connection *connection, const char *url,
                                        const char *method, const char *version, const char *upload,
                                        size_t *upload_size, void **state);
void gbose__exchange_completed(void *context, struct MHD_Connection *connection, void **state,
                               enum MHD_RequestTerminationCode how);
/* On the loop's thread: resume those whose answers are ready. */
void gbose__exchange_take_answers(struct gbose__loop *loop);
void gbose__exchange_free(struct gbose__exchange *x);

#endif
