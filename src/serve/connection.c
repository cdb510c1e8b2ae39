/* A connection: requests are read, handled one after the other, and their answers sent. */
#define _GNU_SOURCE /* MSG_NOSIGNAL among strict headers */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "serve/http_inner.h"

#define FIRST_ROOM 4096     /* bytes of a request for which there is room at first */
#define MOST_ON_TRUST 65536 /* bytes of a body for which there is room before any of it has come */
#define MOST_AT_ONCE 16     /* requests of a connection that are answered before others have their turn */
#define MOST_PIECES 4       /* of an answer that comes piece by piece, likewise */
#define MOST_DRAINED 64     /* reads of what is thrown away, in one turn */
#define SMALL                                                                                                \
    1024 /* bytes of an answer that is sent in one piece with its head, which costs the system less */

void gbose__link_close(struct gbose__link *link)
{
    if (link->closed)
        return;
    close(link->socket);
    link->closed = 1;
    if (link->then)
        gbose__exchange_end(link->then);
    link->then = NULL;
    if (!link->x || link->x->phase == GBOSE__PARKED)
        return; /* it is still needed by whoever answers it */
    gbose__exchange_end(link->x);
    link->x = NULL;
}

/* ---- sending ---- */

/* Others have their turn before it goes on. */
static void let_others_go(struct gbose__link *link)
{
    if (link->listed)
        return;
    link->listed = 1;
    link->next = link->loop->again;
    link->loop->again = link;
}

/* 1: all of it is sent, 0: not all of it can be sent now, -1: the client has gone. */
static int send_answer(struct gbose__link *link)
{
    int pieces = 0;
    struct gbose__exchange *x = link->x;
    const char *body = x->fixed ? x->fixed : x->out.at;
    size_t size = x->more ? 0 : x->fixed ? x->fixed_size : x->out.size;

    if (!x->fixed && !x->more && size <= SMALL) {
        gbose__text_bytes(&x->head, x->out.at, size);
        gbose__text_reset(&x->out);
        size = 0;
    }

    for (;;) {
        size_t of_head = x->sent < x->head.size ? x->sent : x->head.size, of_body = x->sent - of_head;
        struct iovec part[2] = {{x->head.at + of_head, x->head.size - of_head},
                                {(char *)body + of_body, size - of_body}};
        struct msghdr message = {.msg_iov = part, .msg_iovlen = size > of_body ? 2 : 1};
        ssize_t n;

        if (x->head.bad)
            return -1;
        if (x->sent == x->head.size + size) {
            if (!x->more || x->last)
                return 1;
            if (pieces++ == MOST_PIECES) {
                let_others_go(link);
                return 0;
            }
            if (gbose__exchange_more(x))
                return -1;
            continue;
        }
        n = message.msg_iovlen == 1 ? send(link->socket, part[0].iov_base, part[0].iov_len, MSG_NOSIGNAL)
                                    : sendmsg(link->socket, &message, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : -1;
        x->sent += (size_t)n;
        if (x->sent < x->head.size + size || x->more)
            link->since = gbose__http_clock();
    }
}

/* An answer was sent. */
static void answered(struct gbose__link *link)
{
    int keeps = link->x->keeps, unread = !link->x->body || link->then || link->readable;

    gbose__exchange_end(link->x);
    link->x = link->then;
    link->then = NULL;
    link->since = gbose__http_clock();
    if (keeps)
        return;
    if (!unread || shutdown(link->socket, SHUT_WR)) {
        gbose__link_close(link);
        return;
    }
    link->draining = 1; /* to close now would reset the connection, and the answer could be lost with it */
    if (link->x)
        gbose__exchange_end(link->x);
    link->x = NULL;
}

/* ---- reading ---- */

static int make_room(struct gbose__text *t, size_t size)
{
    char *more;

    if (t->capacity >= size)
        return 0;
    more = realloc(t->at, size);
    if (!more)
        return -1;
    t->at = more;
    t->capacity = size;
    return 0;
}

static void refuse(struct gbose__exchange *x, int status, const char *code, const char *message)
{
    x->keeps = 0;
    x->body = NULL;
    gbose__http_refuse(x, status, code, message);
    gbose__exchange_answer(x);
}

static void refuse_length(struct gbose__exchange *x)
{
    char message[80];

    snprintf(message, sizeof message, "the body is longer than the %zu bytes that this server accepts",
             x->http->options.max_body);
    refuse(x, 413, "too_long", message);
}

/* The head of a request, if it has come. 1: it has, 0: not yet, -1: it is refused, -2: no memory. */
static int read_head(struct gbose__exchange *x)
{
    struct gbose__text *in = &x->received;
    size_t limit = x->http->options.max_body;
    const char *message = "";
    char *head;
    int status;

    x->head_size = gbose__request_end(in->at, in->size, x->searched);
    x->searched = in->size;
    if (x->head_size > GBOSE__MAX_HEAD || (!x->head_size && in->size >= GBOSE__MAX_HEAD)) {
        refuse(x, 431, "too_long", "the head of the request is longer than this server accepts");
        return -1;
    }
    if (!x->head_size)
        return 0;
    head = gbose__arena_take(&x->arena, x->head_size); /* `received` moves when it grows */
    if (!head)
        return -2;
    memcpy(head, in->at, x->head_size);
    status = gbose__request_read(&x->request, head, x->head_size, &message);
    if (status) {
        refuse(x, status, status == 431 ? "too_long" : "bad_request", message);
        return -1;
    }
    x->chunks.from = x->chunks.to = x->head_size;
    x->keeps = x->request.keeps;
    x->method = x->request.method;
    x->path = x->request.path;
    x->bare = !strcmp(x->method, "HEAD");
    if (x->request.length > limit) {
        refuse_length(x);
        return -1;
    }
    if (x->request.expects && (x->request.chunked || in->size < x->head_size + x->request.length)) {
        static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";

        if (send(x->link->socket, go_on, sizeof go_on - 1, MSG_NOSIGNAL) < 0)
            return 1; /* it sends its body after a while all the same, or it has gone */
    }
    return 1;
}

/* A body in chunks: *end is where it and its request end. 1: it is whole, 0: not yet, -1: it is refused. */
static int read_chunks(struct gbose__exchange *x, size_t *end)
{
    int rc = gbose__chunks_read(&x->chunks, x->received.at, x->received.size);

    if (rc >= 0 && x->chunks.to - x->head_size > x->http->options.max_body) {
        refuse_length(x);
        return -1;
    }
    if (rc < 0) {
        refuse(x, 400, "bad_request", "the chunks of the body are not well formed");
        return -1;
    }
    if (rc) {
        *end = x->chunks.from;
        x->request.length = x->chunks.to - x->head_size;
        return 1;
    }
    /* What was read of it has been moved together: what comes next goes behind that. */
    x->received.size = x->chunks.from = x->chunks.to;
    return 0;
}

/* Handle a request, if it is whole. 1: it is handled or refused, 0: not yet, -1: no memory. */
static int take_request(struct gbose__link *link)
{
    struct gbose__exchange *x = link->x;
    struct gbose__text *in = &x->received;
    size_t end;
    int rc = x->head_size ? 1 : read_head(x);

    if (rc <= 0)
        return rc == -2 ? -1 : rc < 0;
    end = x->head_size + (size_t)x->request.length;
    if (x->request.chunked)
        rc = read_chunks(x, &end);
    else
        rc = in->size >= end;
    if (rc <= 0)
        return rc < 0;
    if (in->size > end) { /* the next request has begun */
        link->then = gbose__exchange_new(link);
        if (!link->then)
            return -1;
        gbose__text_bytes(&link->then->received, in->at + end, in->size - end);
        if (link->then->received.bad)
            return -1;
    }
    if (make_room(in, x->head_size + (size_t)x->request.length + 1))
        return -1;
    x->body = in->at + x->head_size;
    x->body_size = (size_t)x->request.length;
    in->at[x->head_size + x->body_size] = 0;
    x->own = link->loop->own;
    x->http->options.handle(x);
    if (x->phase != GBOSE__PARKED)
        gbose__exchange_answer(x);
    return 1;
}

/* 1: something has come, 0: nothing now, -1: it is over. */
static int receive(struct gbose__link *link)
{
    struct gbose__exchange *x = link->x ? link->x : (link->x = gbose__exchange_new(link));
    struct gbose__text *in = x ? &x->received : NULL;
    size_t want = FIRST_ROOM, whole;
    ssize_t n;

    if (!x)
        return -1;
    if (in->size + FIRST_ROOM / 2 > want)
        want = 2 * in->size;
    whole = x->head_size + (size_t)x->request.length + 1; /* with the zero behind it */
    if (x->head_size && !x->request.chunked && whole > want) {
        want = want > MOST_ON_TRUST ? want : MOST_ON_TRUST;
        want = want < whole ? want : whole;
    }
    if (make_room(in, want))
        return -1;
    n = recv(link->socket, in->at + in->size, in->capacity - 1 - in->size, 0);
    if (n < 0)
        link->readable = errno == EINTR;
    if (n <= 0)
        return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) ? 0 : -1;
    if ((size_t)n < in->capacity - 1 - in->size && !link->over)
        link->readable = 0; /* that was all there was: what comes later is reported */
    in->size += (size_t)n;
    return 1;
}

/* Throw away what still comes. */
static void drain(struct gbose__link *link)
{
    char rubbish[16384];

    for (int i = 0; i < MOST_DRAINED && link->readable; i++) {
        ssize_t n = recv(link->socket, rubbish, sizeof rubbish, 0);

        if (n > 0 || (n < 0 && errno == EINTR))
            continue;
        link->readable = 0;
        if (!n || (errno != EAGAIN && errno != EWOULDBLOCK)) {
            gbose__link_close(link);
            return;
        }
    }
}

void gbose__link_go(struct gbose__link *link)
{
    int handled = 0;

    while (!link->closed && !link->draining) {
        struct gbose__exchange *x = link->x;
        int rc;

        if (x && x->phase == GBOSE__PARKED)
            return;
        if (x && x->phase == GBOSE__SENDING) {
            if (link->loop
                    ->collecting) { /* clients that wait are woken by one answer and find more of them */
                let_others_go(link);
                return;
            }
            rc = send_answer(link);
            if (rc < 0)
                gbose__link_close(link);
            if (rc <= 0)
                return;
            answered(link);
            continue;
        }
        rc = x && x->received.size ? take_request(link) : 0;
        if (rc < 0) {
            gbose__link_close(link);
            return;
        }
        if (rc) {
            if (++handled < MOST_AT_ONCE)
                continue;
            let_others_go(link);
            return;
        }
        if (!link->readable)
            return;
        rc = receive(link);
        if (rc < 0)
            gbose__link_close(link);
        if (rc <= 0)
            return;
    }
    if (!link->closed && link->readable)
        drain(link);
}
