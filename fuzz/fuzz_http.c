/* Any bytes on a connection, in any pieces: the same requests are handled and the same answers sent as when all of
 * them come at once; what is no request is refused, and nothing is read past its end. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "serve/http_inner.h"

#define MOST_BODY 5000
#define MOST_BYTES 60000 /* of an input: what the socket takes without anybody reading */

static struct gbose__text handled, sent;

void gbose__http_refuse(struct gbose__exchange *x, int status, const char *code, const char *message)
{
    if (status < 400 || status > 599 || !*code || !*message)
        abort();
    x->status = status;
    gbose__text_add(&x->out, message);
}

static void finish(struct gbose__exchange *x)
{
    x->status = 200;
    gbose__text_bytes(&x->out, x->body, x->body_size);
}

/* Notes what it is asked, and answers with the body: at once, or later. */
static void handle(struct gbose__exchange *x)
{
    const char *value = gbose__http_query(x, "a"), *header = gbose__http_header(x, "X-A");

    if (x->body_size > MOST_BODY || x->body[x->body_size])
        abort();
    gbose__text_add(&handled, x->method);
    gbose__text_add(&handled, " ");
    gbose__text_add(&handled, x->path);
    gbose__text_add(&handled, value ? value : "-");
    gbose__text_add(&handled, header ? header : "-");
    gbose__text_bytes(&handled, x->body, x->body_size);
    gbose__text_add(&handled, "\n");
    if (x->body_size % 2) {
        x->finish = finish;
        gbose__http_park(x);
        gbose__http_answer(x);
    } else {
        finish(x);
    }
}

static void count(struct gbose__exchange *x)
{
    if (x->status < 200 || x->status > 599)
        abort();
}

static void take_answers(int socket)
{
    char buffer[65536];
    ssize_t n;

    while ((n = recv(socket, buffer, sizeof buffer, MSG_DONTWAIT)) > 0)
        gbose__text_bytes(&sent, buffer, (size_t)n);
}

/* `pieces`: how long each is; 0: all at once. */
static void play(const uint8_t *data, size_t size, const uint8_t *pieces, size_t n_pieces)
{
    struct gbose__link link = {0};
    struct gbose__loop loop = {.epoll = epoll_create1(0), .wake = eventfd(0, EFD_NONBLOCK)};
    struct gbose__http http = {.options = {.threads = 1,
                                           .max_body = MOST_BODY,
                                           .handle = handle,
                                           .answered = count,
                                           .connections = 1},
                               .loop = &loop,
                               .link = &link};
    int pair[2], over = 0;
    size_t at = 0;

    loop.http = &http;
    loop.last_done = &loop.done;
    loop.last_later = &loop.later;
    pthread_mutex_init(&loop.lock, NULL);
    pthread_mutex_init(&http.lock, NULL);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair))
        abort();
    gbose__link_new(&loop, &loop, pair[0]);
    for (size_t i = 0; !over && atomic_load(&http.connections); i++) {
        size_t n = n_pieces ? 1 + pieces[i % n_pieces] : size;

        n = n < size - at ? n : size - at;
        if (n && send(pair[1], data + at, n, MSG_NOSIGNAL) != (ssize_t)n)
            abort();
        at += n;
        if (at == size) {
            shutdown(pair[1], SHUT_WR);
            over = 1;
        }
        gbose__link_tell(&loop, &link, GBOSE__MORE | (over ? GBOSE__OVER : 0u));
        while (loop.again || loop.done) {
            if (loop.done)
                gbose__exchange_take_answers(&loop, &loop);
            gbose__loop_go_on(&loop);
            take_answers(pair[1]);
        }
        take_answers(pair[1]);
    }
    if (over && atomic_load(&http.connections))
        abort(); /* the client has gone, and the connection is still there */
    gbose__link_tell(&loop, &link, GBOSE__GONE);
    while (loop.spare) {
        struct gbose__exchange *x = loop.spare;

        loop.spare = x->next;
        gbose__exchange_free(x);
    }
    close(pair[1]);
    close(loop.epoll);
    close(loop.wake);
    pthread_mutex_destroy(&loop.lock);
    pthread_mutex_destroy(&http.lock);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An input: the number of pieces' lengths, these, and what is sent. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gbose__text once, once_sent;
    size_t n = size ? data[0] % 16 + 1 : 0;

    if (size < n + 1 || size > MOST_BYTES)
        return 0;
    play(data + n + 1, size - n - 1, NULL, 0);
    once = handled;
    once_sent = sent;
    handled = sent = (struct gbose__text){0};
    play(data + n + 1, size - n - 1, data + 1, n);
    if (once.size != handled.size || memcmp(once.at ? once.at : "", handled.at ? handled.at : "", once.size))
        abort();
    if (sent.size && (sent.size < 9 || memcmp(sent.at, "HTTP/1.1 ", 9)))
        abort();
    gbose__text_clear(&once);
    gbose__text_clear(&once_sent);
    gbose__text_clear(&handled);
    gbose__text_clear(&sent);
    return 0;
}
