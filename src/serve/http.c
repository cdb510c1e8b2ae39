/* The loops of the HTTP server: listening, connections, threads. */
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

#ifndef SO_REUSEPORT
#define SO_REUSEPORT 15 /* hidden by strict POSIX headers; Linux's number */
#endif

#define BACKLOG 1024
#define CONNECTION_MEMORY 12288 /* bytes for headers and buffers of a connection */
/* Milliseconds. As long as connections are held, the library always has something to do. Nearly always it is
 * just these; what else it may be is looked at after this pause. */
#define HELD_PAUSE 2

int64_t gbose__http_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void on_connection(void *context, struct MHD_Connection *connection, void **state,
                          enum MHD_ConnectionNotificationCode what)
{
    struct gbose__loop *loop = context;
    struct gbose__link *link = *state;

    loop->moved = 1;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        int one = 1;

        link = calloc(1, sizeof *link);
        if (!link || !info) {
            free(link);
            return;
        }
        setsockopt(info->connect_fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        *link =
            (struct gbose__link){&loop->links, loop->links.after, info->connect_fd, gbose__http_clock(), 0};
        link->after->before = link;
        loop->links.after = link;
        *state = link;
        atomic_fetch_add(&loop->connections, 1);
    } else if (link) {
        link->before->after = link->after;
        link->after->before = link->before;
        free(link);
        *state = NULL;
        atomic_fetch_sub(&loop->connections, 1);
    }
}

/* Cut off connections on which no whole request has arrived for too long; and, when stopping, all that are
 * idle. */
static void cut_off(struct gbose__loop *loop, int64_t now, int idle)
{
    int64_t limit = (int64_t)loop->http->options.slow_seconds * 1000;

    for (struct gbose__link *link = loop->links.after; link != &loop->links; link = link->after)
        if (!link->busy && (idle || now - link->since > limit))
            shutdown(link->socket, SHUT_RDWR);
}

static void *run(void *context)
{
    struct gbose__loop *loop = context;
    struct gbose__http *http = loop->http;
    int64_t looked = 0;
    int quiet = 0;

    prctl(PR_SET_NAME, "gbose-http"); /* for top -H */
    for (;;) {
        struct epoll_event events[2];
        MHD_UNSIGNED_LONG_LONG wait;
        int timeout = 500, n;
        int64_t now;

        if (MHD_get_timeout(loop->daemon, &wait) == MHD_YES && wait < 500)
            timeout = (int)wait;
        if (!timeout && loop->held && !loop->moved)
            timeout = HELD_PAUSE;
        loop->moved = 0;
        n = epoll_wait(loop->epoll, events, 2, timeout);
        for (int i = 0; i < n; i++)
            if (events[i].data.fd == loop->wake)
                gbose__exchange_take_answers(loop);
        MHD_run(loop->daemon);
        now = gbose__http_clock();
        if (now - looked > 500) {
            cut_off(loop, now, 0);
            looked = now;
        }
        if (!atomic_load(&http->stopping))
            continue;
        if (!quiet) {
            MHD_socket s = MHD_quiesce_daemon(loop->daemon);

            if (s != MHD_INVALID_SOCKET)
                close(s);
            loop->socket = -1;
            quiet = 1;
        }
        cut_off(loop, now, 1);
        if (!loop->parked && (!atomic_load(&loop->connections) || now > http->stop_until))
            return NULL;
    }
}

/* A listening socket that shares its port with those of the other loops. -1 with errno. */
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
                   setsockopt(s, SOL_SOCKET, SO_REUSEPORT, &one, sizeof one) ||
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

/* Percent signs are left to whoever knows what is between slashes: a name may have one. */
static size_t leave_escaped(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context;
    (void)connection;
    return strlen(text);
}

static int loop_start(struct gbose__http *http, struct gbose__loop *loop, gbose_error *err)
{
    const struct gbose__http_options *o = &http->options;
    const union MHD_DaemonInfo *info;
    struct epoll_event event = {.events = EPOLLIN};

    loop->http = http;
    loop->links.before = loop->links.after = &loop->links;
    loop->socket = loop->epoll = loop->wake = -1;
    pthread_mutex_init(&loop->lock, NULL);
    loop->socket = listen_on(o->listen, http->port);
    if (loop->socket < 0)
        return gbose__fail(err, GBOSE_EINVAL, "cannot listen on %s port %d: %s", o->listen, http->port,
                           strerror(errno));
    if (!http->port)
        http->port = port_of(loop->socket);
    loop->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, gbose__exchange_request, loop,
        MHD_OPTION_LISTEN_SOCKET, loop->socket, MHD_OPTION_CONNECTION_LIMIT,
        1 + (o->connections - 1) / (unsigned)o->threads, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)CONNECTION_MEMORY, MHD_OPTION_NOTIFY_COMPLETED, gbose__exchange_completed, loop,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, loop, MHD_OPTION_CONNECTION_TIMEOUT, 4 * o->slow_seconds,
        MHD_OPTION_UNESCAPE_CALLBACK, leave_escaped, NULL, MHD_OPTION_END);
    if (!loop->daemon)
        return gbose__fail(err, GBOSE_ENOMEM, "cannot start the HTTP library");
    info = MHD_get_daemon_info(loop->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    loop->epoll = epoll_create1(EPOLL_CLOEXEC);
    loop->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (!info || loop->epoll < 0 || loop->wake < 0)
        return gbose__fail(err, GBOSE_ENOMEM, "cannot start the HTTP loop: %s", strerror(errno));
    event.data.fd = info->epoll_fd;
    epoll_ctl(loop->epoll, EPOLL_CTL_ADD, info->epoll_fd, &event);
    event.data.fd = loop->wake;
    epoll_ctl(loop->epoll, EPOLL_CTL_ADD, loop->wake, &event);
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
    if (loop->daemon)
        MHD_stop_daemon(loop->daemon); /* closes the socket, unless it was quiesced */
    else if (loop->socket >= 0)
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
    int rc = GBOSE_OK;

    if (!http || !(http->loop = calloc((size_t)options->threads, sizeof *http->loop))) {
        free(http);
        return gbose__no_memory(err);
    }
    http->options = *options;
    http->port = options->port;
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
