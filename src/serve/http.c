/* The loops of the HTTP server: listening, threads, and when to look at who is slow. */
#define _GNU_SOURCE /* accept4() */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
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
#define MOST_TOGETHER 8  /* events that a loop takes before it sends answers: others may have the rest */
#define MOST_ACCEPTED 64 /* in one turn */
#define LOOK_EVERY 500   /* milliseconds between two looks at who is slow */
#define MIND_EVERY 1     /* milliseconds between two looks at what comes for a loop that is away */

/* What epoll calls those that are no connections. */
#define SOCKET UINT64_MAX
#define WAKE (UINT64_MAX - 1)

int64_t gbose__http_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC_COARSE,
                  &t); /* a few milliseconds do not matter, and it is read for every request */
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Each write is an event of its own (edge-triggered), so nobody need read them. */
void gbose__loop_wake(struct gbose__loop *loop)
{
    uint64_t one = 1;

    while (write(loop->wake, &one, sizeof one) < 0 && errno == EINTR)
        ;
}

/* The first loop listens for all. One at a time accepts: epoll reports the socket once (EPOLLONESHOT), until it is asked to again. */
static int listen_again(struct gbose__http *http, int how)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.u64 = SOCKET};

    return epoll_ctl(http->loop->epoll, how, http->socket, &event);
}

void gbose__http_room(struct gbose__http *http)
{
    if (atomic_load(&http->deaf) && atomic_exchange(&http->deaf, 0))
        listen_again(http, EPOLL_CTL_MOD);
}

/* Those that find no room wait in the system's queue. */
static void accept_some(struct gbose__loop *loop)
{
    struct gbose__http *http = loop->http;

    for (int i = 0; i < MOST_ACCEPTED; i++) {
        int s = -1, full = atomic_load(&http->connections) >= http->options.connections;

        if (!full)
            s = accept4(http->socket, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (s >= 0) {
            gbose__link_new(
                loop, &http->loop[atomic_fetch_add(&http->accepted, 1) % (unsigned)http->options.threads], s);
        } else if (full || errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            atomic_store(&http->deaf, 1); /* until a connection is closed, or until the next look */
            if (full && atomic_load(&http->connections) < http->options.connections)
                gbose__http_room(http); /* one was closed just before that */
            return;
        } else if (errno != EINTR && errno != ECONNABORTED) {
            break;
        }
    }
    if (!atomic_load(&http->stopping))
        listen_again(http, EPOLL_CTL_MOD);
}

/* Take some of what has come for a loop, this one or another. Returns how much there was. */
static int take_some(struct gbose__loop *loop, struct gbose__loop *home, int milliseconds)
{
    struct epoll_event events[MOST_TOGETHER];
    int n = epoll_wait(home->epoll, events, MOST_TOGETHER, milliseconds);

    loop->collecting = 1;
    for (int i = 0; i < n; i++) {
        uint64_t name = events[i].data.u64;
        uint32_t e = events[i].events;

        if (name == SOCKET)
            accept_some(loop);
        else if (name == WAKE)
            gbose__exchange_take_answers(loop, home);
        else
            gbose__link_report(loop, name,
                               (e & EPOLLIN ? GBOSE__MORE : 0u) | (e & EPOLLRDHUP ? GBOSE__OVER : 0u) |
                                   (e & EPOLLOUT ? GBOSE__ROOM : 0u) |
                                   (e & (EPOLLERR | EPOLLHUP) ? GBOSE__GONE : 0u));
    }
    gbose__loop_go_on(loop);
    return n > 0 ? n : 0;
}

/* One loop looks at all connections, now and then. */
static void look(struct gbose__loop *loop, int64_t now)
{
    struct gbose__http *http = loop->http;
    int64_t looked = atomic_load(&http->looked);

    if (now - looked < LOOK_EVERY || !atomic_compare_exchange_strong(&http->looked, &looked, now))
        return;
    gbose__link_tell_all(loop, GBOSE__LOOK);
    gbose__http_room(http);
}

static void wake_all(struct gbose__http *http)
{
    for (int i = 0; i < http->options.threads; i++)
        gbose__loop_wake(&http->loop[i]);
}

/* Take what has come for others: for those that are away, and in every second turn for another one, which may wait for a core while
 * others run there. (In each turn it costs a tenth more of the processor.) Returns how much there was. */
static int help(struct gbose__loop *loop, unsigned *turn)
{
    struct gbose__http *http = loop->http;
    unsigned threads = (unsigned)http->options.threads, self = (unsigned)(loop - http->loop);
    int found = 0;

    for (unsigned i = 0; atomic_load(&http->away) && i < threads; i++)
        if (i != self && atomic_load(&http->loop[i].away))
            found += take_some(loop, &http->loop[i], 0);
    if (threads > 1 && *turn % 2)
        found += take_some(loop, &http->loop[(self + 1 + *turn / 2 % (threads - 1)) % threads], 0);
    *turn += !found; /* where there was something there may be more */
    return found;
}

/* May a loop go away? One at least stays. */
static int may_go(struct gbose__http *http)
{
    int away = atomic_load(&http->away);

    do
        if (away && away >= http->options.threads - 1)
            return 0;
    while (!atomic_compare_exchange_weak(&http->away, &away, away + 1));
    return 1;
}

/* Do one thing that may take long. */
static void do_later(struct gbose__loop *loop)
{
    struct gbose__http *http = loop->http;
    struct gbose__exchange *x = loop->later;

    if (!x || !may_go(http))
        return;
    if (gbose__link_take(loop, x->link)) { /* else another loop hears something of it just now */
        loop->later = x->next;
        if (!loop->later)
            loop->last_later = &loop->later;
        x->next = NULL;
        atomic_store(&loop->away, 1);
        wake_all(http);
        gbose__link_resume(x->link);
        gbose__loop_go_on(loop);
        atomic_store(&loop->away, 0);
    }
    atomic_fetch_sub(&http->away, 1);
}

/* How long a loop waits for events, in milliseconds. */
static int patience(const struct gbose__loop *loop, int found)
{
    if (loop->again || found)
        return 0;
    return loop->later || atomic_load(&loop->http->away) ? MIND_EVERY : LOOK_EVERY;
}

static void *run(void *context)
{
    struct gbose__loop *loop = context;
    struct gbose__http *http = loop->http;
    unsigned turn = 0;
    int found = 0;

    prctl(PR_SET_NAME, "gbose-http"); /* for top -H */
    gbose__turns_patient();
    for (;;) {
        int64_t now;

        take_some(loop, loop, patience(loop, found));
        found = help(loop, &turn);
        do_later(loop);
        now = gbose__http_clock();
        look(loop, now);
        gbose__turns_seat((size_t)(loop - http->loop), (size_t)http->options.threads, &http->busy);
        if (!atomic_load(&http->stopping))
            continue;
        gbose__link_tell_all(loop, GBOSE__LOOK);
        if (!atomic_load(&http->connections)) {
            wake_all(http); /* the others see it, too */
            return NULL;
        }
    }
}

/* A listening socket. -1 with errno. */
static int listen_on(const char *address, int port)
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

static int cannot_start(gbose_error *err)
{
    return gbose__fail(err, GBOSE_ENOMEM, "cannot start the HTTP loops: %s", strerror(errno));
}

/* The loops as others see them, before any of them runs. */
static int loops_make(struct gbose__http *http, gbose_error *err)
{
    http->loop = calloc((size_t)http->options.threads, sizeof *http->loop);
    http->link = calloc(http->options.connections, sizeof *http->link);
    if (!http->loop || !http->link)
        return gbose__no_memory(err);
    for (int i = 0; i < http->options.threads; i++) {
        struct gbose__loop *loop = &http->loop[i];
        struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.u64 = WAKE};

        loop->http = http;
        loop->last_done = &loop->done;
        loop->last_later = &loop->later;
        pthread_mutex_init(&loop->lock, NULL);
        loop->epoll = epoll_create1(EPOLL_CLOEXEC);
        loop->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
        if (loop->epoll < 0 || loop->wake < 0 || epoll_ctl(loop->epoll, EPOLL_CTL_ADD, loop->wake, &event))
            return cannot_start(err);
    }
    return GBOSE_OK;
}

static int start(struct gbose__http *http, gbose_error *err)
{
    const struct gbose__http_options *o = &http->options;
    int rc = loops_make(http, err);

    if (rc)
        return rc;
    http->socket = listen_on(o->listen, o->port);
    if (http->socket < 0)
        return gbose__fail(err, GBOSE_EINVAL, "cannot listen on %s port %d: %s", o->listen, o->port,
                           strerror(errno));
    http->port = port_of(http->socket);
    if (listen_again(http, EPOLL_CTL_ADD))
        return cannot_start(err);
    for (int i = 0; i < o->threads; i++)
        if (o->loop_begin(o->service, &http->loop[i].own))
            return gbose__fail(err, GBOSE_ENOMEM, "cannot start the HTTP loops: out of memory");
    for (int i = 0; i < o->threads; i++) {
        if (pthread_create(&http->loop[i].thread, NULL, run, &http->loop[i]))
            return gbose__fail(err, GBOSE_ENOMEM, "cannot start a thread");
        http->loop[i].started = 1;
    }
    return GBOSE_OK;
}

static void loop_clear(struct gbose__loop *loop)
{
    if (!loop->http)
        return;
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

    if (!http)
        return gbose__no_memory(err);
    http->options = *options;
    http->socket = -1;
    pthread_mutex_init(&http->lock, NULL);
    rc = start(http, err);
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
    return atomic_load(&http->connections);
}

void gbose__http_stop(struct gbose__http *http, int seconds)
{
    int threads = http->loop ? http->options.threads : 0;

    http->stop_until = gbose__http_clock() + (int64_t)seconds * 1000;
    atomic_store(&http->stopping, 1);
    if (http->socket >= 0)
        shutdown(http->socket, SHUT_RDWR); /* from here on the system refuses new connections */
    if (threads && http->loop->started)
        wake_all(http);
    for (int i = 0; i < threads; i++)
        if (http->loop[i].started)
            pthread_join(http->loop[i].thread, NULL);
    for (int i = 0; i < threads; i++)
        loop_clear(&http->loop[i]);
    if (http->socket >= 0)
        close(http->socket);
    pthread_mutex_destroy(&http->lock);
    free(http->loop);
    free(http->link);
    free(http);
}
