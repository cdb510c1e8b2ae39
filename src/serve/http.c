/* The loops of the HTTP server: listening, threads, and who is cut off. */
#define _GNU_SOURCE /* accept4(), SO_REUSEPORT */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "core/error.h"
#include "serve/http_inner.h"
#include "serve/turns.h"

#define BACKLOG 1024
#define MOST_EVENTS 256
#define MOST_ACCEPTED 64 /* in one turn */
#define MOST_TOGETHER 32 /* connections that are looked at before what was answered is sent */
#define LOOK_EVERY 500   /* milliseconds between two looks at who is slow */
#define TAKING 4         /* times as long as for sending a request: to take a part of the answer */

int64_t gbose__http_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC_COARSE,
                  &t); /* a few milliseconds do not matter, and it is read for every request */
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Cut off connections on which no whole request has arrived for too long, and those that do not take their
 * answer; and, when stopping, all that are idle. */
static void cut_off(struct gbose__loop *loop, int64_t now, int idle)
{
    int64_t limit = (int64_t)loop->http->options.slow_seconds * 1000;

    for (struct gbose__link *link = loop->links.after, *after; link != &loop->links; link = after) {
        int phase = link->x ? link->x->phase : GBOSE__READING;

        after = link->after;
        if (phase == GBOSE__READING ? idle || now - link->since > limit
                                    : phase == GBOSE__SENDING && now - link->since > TAKING * limit)
            gbose__link_close(link);
    }
}

/* Listen for new connections, or do not. */
static void listen_for_more(struct gbose__loop *loop, int wanted)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &loop->socket};

    if (loop->socket < 0 || loop->deaf == !wanted ||
        epoll_ctl(loop->epoll, wanted ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, loop->socket, &event))
        return;
    loop->deaf = !wanted;
}

static uint64_t most_connections(const struct gbose__loop *loop)
{
    const struct gbose__http_options *o = &loop->http->options;

    return 1 + (o->connections - 1) / (unsigned)o->threads;
}

/* Those that find no room wait in the system's queue. */
static void accept_some(struct gbose__loop *loop)
{
    for (int i = 0; i < MOST_ACCEPTED; i++) {
        int s;

        if (atomic_load(&loop->connections) >= most_connections(loop)) {
            listen_for_more(loop, 0);
            return;
        }
        s = accept4(loop->socket, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (s >= 0) {
            gbose__link_new(loop, s);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            listen_for_more(loop, 0); /* until the next look */
            return;
        } else if (errno != EINTR && errno != ECONNABORTED) {
            return;
        }
    }
}

static void on_event(struct gbose__link *link, uint32_t events)
{
    if (link->dead)
        return;
    if (events & (EPOLLERR | EPOLLHUP)) {
        gbose__link_close(link);
        return;
    }
    link->over |= (events & EPOLLRDHUP) != 0;
    link->readable |= (events & (EPOLLIN | EPOLLRDHUP)) != 0;
    gbose__link_go(link);
}

/* Those that had more to do than there was time for. */
static void go_on(struct gbose__loop *loop)
{
    struct gbose__link *list = loop->again;

    loop->collecting = 0;
    loop->again = NULL;
    while (list) {
        struct gbose__link *link = list;

        list = link->next;
        link->listed = 0;
        if (link->dead) {
            link->next = loop->dead;
            loop->dead = link;
        } else {
            gbose__link_go(link);
        }
    }
}

static void free_dead(struct gbose__loop *loop)
{
    while (loop->dead) {
        struct gbose__link *link = loop->dead;

        loop->dead = link->next;
        free(link);
    }
}

static void *run(void *context)
{
    struct gbose__loop *loop = context;
    struct gbose__http *http = loop->http;
    int64_t looked = 0;

    prctl(PR_SET_NAME, "gbose-http"); /* for top -H */
    gbose__turns_patient();
    for (;;) {
        struct epoll_event events[MOST_EVENTS];
        int n = epoll_wait(loop->epoll, events, MOST_EVENTS, loop->again ? 0 : LOOK_EVERY);
        int64_t now;

        for (int i = 0; i < n; i++) {
            if (i % MOST_TOGETHER == 0)
                go_on(loop);
            loop->collecting = 1;
            if (events[i].data.ptr == &loop->socket)
                accept_some(loop);
            else if (events[i].data.ptr == &loop->wake)
                gbose__exchange_take_answers(loop);
            else
                on_event(events[i].data.ptr, events[i].events);
        }
        go_on(loop);
        free_dead(loop);
        now = gbose__http_clock();
        if (now - looked >= LOOK_EVERY) {
            cut_off(loop, now, 0);
            looked = now;
        }
        if (loop->deaf && atomic_load(&loop->connections) < most_connections(loop))
            listen_for_more(loop, 1);
        if (!atomic_load(&http->stopping))
            continue;
        if (loop->socket >= 0)
            close(loop->socket);
        loop->socket = -1;
        cut_off(loop, now, 1);
        if (!loop->parked && (!atomic_load(&loop->connections) || now > http->stop_until))
            return NULL;
    }
}

/* A listening socket, which may share its port with others that say the same. -1 with errno. */
static int listen_on(const char *address, int port, int shared)
{
    struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICHOST, .ai_socktype = SOCK_STREAM}, *found;
    char service[16];
    int s, one = 1;

    snprintf(service, sizeof service, "%d", port);
    if (getaddrinfo(address, service, &hints, &found)) {
        errno = EADDRNOTAVAIL;
        return -1;
    }
    s = socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (s >= 0 && (setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) ||
                   setsockopt(s, SOL_SOCKET, SO_REUSEPORT, &shared, sizeof shared) ||
                   bind(s, found->ai_addr, found->ai_addrlen) || listen(s, BACKLOG))) {
        int error = errno;

        close(s);
        errno = error;
        s = -1;
    }
    freeaddrinfo(found);
    return s;
}

static int port_of(int s)
{
    struct sockaddr_storage at;
    socklen_t size = sizeof at;

    if (getsockname(s, (struct sockaddr *)&at, &size))
        return 0;
    return ntohs(at.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&at)->sin6_port
                                          : ((struct sockaddr_in *)&at)->sin_port);
}

static int cannot_listen(const struct gbose__http *http, gbose_error *err)
{
    return gbose__fail(err, GBOSE_EINVAL, "cannot listen on %s port %d: %s", http->options.listen, http->port,
                       strerror(errno));
}

/* The loops share the port among themselves; but the system would let them share it with another server of the same user, too. */
static int check_port(const struct gbose__http *http, gbose_error *err)
{
    int s = listen_on(http->options.listen, http->port, 0);

    if (s < 0)
        return cannot_listen(http, err);
    close(s);
    return GBOSE_OK;
}

static int loop_start(struct gbose__http *http, struct gbose__loop *loop, gbose_error *err)
{
    const struct gbose__http_options *o = &http->options;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &loop->wake};

    loop->http = http;
    loop->links.before = loop->links.after = &loop->links;
    loop->socket = loop->epoll = loop->wake = -1;
    loop->deaf = 1;
    pthread_mutex_init(&loop->lock, NULL);
    loop->socket = listen_on(o->listen, http->port, 1);
    if (loop->socket < 0)
        return cannot_listen(http, err);
    if (!http->port)
        http->port = port_of(loop->socket);
    loop->epoll = epoll_create1(EPOLL_CLOEXEC);
    loop->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (loop->epoll < 0 || loop->wake < 0 || epoll_ctl(loop->epoll, EPOLL_CTL_ADD, loop->wake, &event))
        return gbose__fail(err, GBOSE_ENOMEM, "cannot start the HTTP loop: %s", strerror(errno));
    listen_for_more(loop, 1);
    if (o->loop_begin(o->service, &loop->own))
        return gbose__fail(err, GBOSE_ENOMEM, "cannot start the HTTP loop: out of memory");
    if (pthread_create(&loop->thread, NULL, run, loop))
        return gbose__fail(err, GBOSE_ENOMEM, "cannot start a thread");
    loop->started = 1;
    return GBOSE_OK;
}

static void loop_stop(struct gbose__loop *loop)
{
    if (loop->started)
        pthread_join(loop->thread, NULL);
    while (loop->links.after && loop->links.after != &loop->links)
        gbose__link_close(loop->links.after);
    go_on(loop);
    free_dead(loop);
    if (loop->socket >= 0)
        close(loop->socket);
    while (loop->spare) {
        struct gbose__exchange *x = loop->spare;

        loop->spare = x->next;
        gbose__exchange_free(x);
    }
    if (loop->own)
        loop->http->options.loop_end(loop->http->options.service, loop->own);
    if (loop->epoll >= 0)
        close(loop->epoll);
    if (loop->wake >= 0)
        close(loop->wake);
    pthread_mutex_destroy(&loop->lock);
}

int gbose__http_start(struct gbose__http **out, const struct gbose__http_options *options, gbose_error *err)
{
    struct gbose__http *http = calloc(1, sizeof *http);
    int rc;

    if (!http || !(http->loop = calloc((size_t)options->threads, sizeof *http->loop))) {
        free(http);
        return gbose__no_memory(err);
    }
    http->options = *options;
    http->port = options->port;
    rc = check_port(http, err);
    for (int i = 0; i < options->threads && !rc; i++)
        rc = loop_start(http, &http->loop[i], err);
    if (rc) {
        gbose__http_stop(http, 0);
        return rc;
    }
    *out = http;
    return GBOSE_OK;
}

int gbose__http_port(const struct gbose__http *http)
{
    return http->port;
}

uint64_t gbose__http_connections(const struct gbose__http *http)
{
    uint64_t n = 0;

    for (int i = 0; i < http->options.threads; i++)
        n += atomic_load(&http->loop[i].connections);
    return n;
}

void gbose__http_stop(struct gbose__http *http, int seconds)
{
    uint64_t one = 1;

    http->stop_until = gbose__http_clock() + (int64_t)seconds * 1000;
    atomic_store(&http->stopping, 1);
    for (int i = 0; i < http->options.threads; i++)
        if (http->loop[i].started)
            while (write(http->loop[i].wake, &one, sizeof one) < 0 && errno == EINTR)
                ;
    for (int i = 0; i < http->options.threads; i++)
        if (http->loop[i].http)
            loop_stop(&http->loop[i]);
    free(http->loop);
    free(http);
}
