/* What the files of the HTTP seam share: loops (http.c), which of them has a connection (links.c), what it does with it
 * (connection.c), and exchanges (exchange.c). */
#ifndef GBOSE_SERVE_HTTP_INNER_H
#define GBOSE_SERVE_HTTP_INNER_H

#include <pthread.h>
#include <stdatomic.h>

#include "serve/http.h"

/* READING: not whole yet; PARKED: its answer comes later; SENDING: its answer is on its way. */
enum { GBOSE__READING, GBOSE__PARKED, GBOSE__SENDING };

/* News for a connection. */
enum {
    GBOSE__MORE = 4,   /* there may be something to read */
    GBOSE__OVER = 8,   /* the client sends no more: what it has sent is still read, up to the end */
    GBOSE__ROOM = 16,  /* there may be room to send */
    GBOSE__GONE = 32,  /* the client has gone */
    GBOSE__READY = 64, /* the answer for which it is parked is ready */
    GBOSE__LOOK = 128, /* is it too slow? */
    GBOSE__NEWS = 4 | 8 | 16 | 32 | 64 | 128
};

/* A connection. One loop at a time has it and may look at anything but `state`: see links.c. Its socket reports each change
 * once (edge-triggered epoll), so what was reported is kept here. */
struct gbose__link {
    atomic_uint_fast64_t state; /* which use of this memory it is, whether a loop has it, and its news */
    struct gbose__loop *loop;   /* that has it */
    struct gbose__loop *home;   /* whose epoll it is in */
    struct gbose__link *next;   /* in the loop's `again`, or among the links that are free */
    int socket;
    struct gbose__exchange *x;    /* what is read or answered now; NULL: nothing has come */
    struct gbose__exchange *then; /* the beginning of the next request, if that has come already */
    int64_t
        since; /* when it last had nothing to wait for (accepted, or a request answered), or last took bytes of an answer */
    int readable, over; /* GBOSE__MORE and GBOSE__OVER were heard */
    int draining; /* it is about to be closed: what still comes is thrown away, so that the last answer arrives */
    int listed; /* in `again` */
    int closed; /* but it may still be needed by a parked exchange */
};

/* A thread, and what it needs. Other loops may help it with what its epoll reports, answers that are ready among that. */
struct gbose__loop {
    struct gbose__http *http;
    pthread_t thread;
    int started, epoll, wake;
    void *own;
    int collecting;            /* answers are sent when all that has come is handled: see gbose__link_go() */
    struct gbose__link *again; /* connections that it has and goes on with at once */
    struct gbose__exchange *later, **last_later; /* what may take long, by age */
    atomic_int away;                             /* it does something that may take long */
    struct gbose__exchange *spare;
    size_t n_spare;
    char date[40]; /* of answers, at second `date_of` */
    int64_t date_of;
    char usual[256]; /* the head of most answers then, up to the length of their body */
    size_t usual_size;
    pthread_mutex_t lock;
    /* Guarded by lock: */
    struct gbose__exchange *done, **last_done; /* parked exchanges whose answers are ready, by age */
};

struct gbose__http {
    struct gbose__http_options options;
    struct gbose__loop *loop;
    int port, socket;
    atomic_int deaf;         /* nobody listens for new connections: there are too many, or no descriptors */
    atomic_uint connections; /* and those that are closed, while an exchange needs them */
    atomic_uint accepted;    /* connections ever, which go to the loops in turn */
    atomic_int_fast64_t looked; /* when somebody last looked at who is slow */
    atomic_size_t busy;         /* loops that are: see turns.h */
    atomic_int away;            /* loops that are */
    atomic_int stopping;
    int64_t stop_until;
    struct gbose__link *link; /* as many as there may be connections */
    pthread_mutex_t lock;
    /* Guarded by lock: */
    struct gbose__link *free;
    size_t n_used; /* links that have ever been used */
};

#define GBOSE__TAKING 4 /* times as long as for sending a request: to take a part of the answer */

/* Milliseconds of a clock that never goes back. */
int64_t gbose__http_clock(void);
/* The loop goes on, or another one for it, and takes answers that are ready. */
void gbose__loop_wake(struct gbose__loop *loop);
/* There is room for a connection: if there was none, the loops listen again. */
void gbose__http_room(struct gbose__http *http);

/* ---- links.c ---- */

/* A new connection on a socket, which is closed if it cannot be had; `home`: whose epoll reports it. */
void gbose__link_new(struct gbose__loop *loop, struct gbose__loop *home, int socket);
/* Tell a connection news. If nobody has it, the loop takes it, and does all that can be done now. */
void gbose__link_tell(struct gbose__loop *loop, struct gbose__link *link, unsigned news);
/* The same by what epoll says, which may be about an earlier connection that had the same memory. */
void gbose__link_report(struct gbose__loop *loop, uint64_t name, unsigned news);
/* The same for all connections that there are. */
void gbose__link_tell_all(struct gbose__loop *loop, unsigned news);
/* Take a connection, unless another loop has it: 1, or 0. */
int gbose__link_take(struct gbose__loop *loop, struct gbose__link *link);
/* Of one that the loop has taken: what it is parked for has come. */
void gbose__link_resume(struct gbose__link *link);
/* Go on with those in `again`. */
void gbose__loop_go_on(struct gbose__loop *loop);

/* ---- connection.c: of a link that the loop has ---- */

/* Do all that can be done now: read, handle, send. */
void gbose__link_go(struct gbose__link *link);
void gbose__link_close(struct gbose__link *link);

/* ---- exchange.c ---- */

struct gbose__exchange *gbose__exchange_new(struct gbose__link *link); /* NULL: no memory */
void gbose__exchange_end(struct gbose__exchange *x); /* kept for the next request, if it is small */
void gbose__exchange_free(struct gbose__exchange *x);
/* Its handler has filled in the answer: put its head together. */
void gbose__exchange_answer(struct gbose__exchange *x);
/* More of an answer that comes piece by piece. 0, or -1: it cannot go on. */
int gbose__exchange_more(struct gbose__exchange *x);
/* What it was parked for has come. 0, or there is something else to wait for. */
int gbose__exchange_resume(struct gbose__exchange *x);
/* Tell connections that their answers are ready, some of those that `home` has. */
void gbose__exchange_take_answers(struct gbose__loop *loop, struct gbose__loop *home);

#endif
