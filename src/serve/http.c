#include "serve/http.h"

#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "core/error.h"

#ifndef SO_REUSEPORT
#define SO_REUSEPORT 15 /* hidden by strict POSIX headers; Linux's number */
#endif

#define BACKLOG 1024
#define CONNECTION_MEMORY 12288 /* bytes for headers and buffers of a connection */
#define PIECE 65536             /* bytes of an answer that comes piece by piece */
#define KEEP_BODY 65536         /* bytes of a buffer that is kept for the next request */

enum { READING, PARKED, READY, ANSWERED };

struct link { /* a connection, as its loop sees it */
    struct link *before, *after;
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
    struct link links; /* a ring */
    struct gbose__exchange *spare;
    size_t n_spare;
    atomic_uint_fast64_t connections;
    uint64_t parked;
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

static int64_t monotonic(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- memory of a request ---- */

struct gbose__arena_block {
    struct gbose__arena_block *older;
    size_t size, used;
    _Alignas(max_align_t) unsigned char bytes[];
};

void *gbose__arena_take(struct gbose__arena *arena, size_t size)
{
    struct gbose__arena_block *block = arena->block;
    void *at;

    size = (size + 15) & ~(size_t)15;
    if (!block || block->size - block->used < size) {
        size_t room = size > 4096 ? size : 4096;

        block = malloc(sizeof *block + room);
        if (!block)
            return NULL;
        *block = (struct gbose__arena_block){.older = arena->block, .size = room};
        arena->block = block;
    }
    at = block->bytes + block->used;
    block->used += size;
    return at;
}

/* Give back all, but for a first block of ordinary size. */
static void arena_reset(struct gbose__arena *arena, int all)
{
    while (arena->block && (all || arena->block->older || arena->block->size > 4096)) {
        struct gbose__arena_block *older = arena->block->older;

        free(arena->block);
        arena->block = older;
    }
    if (arena->block)
        arena->block->used = 0;
}

void gbose__arena_clear(struct gbose__arena *arena)
{
    arena_reset(arena, 1);
}

static struct gbose__exchange *exchange_new(struct gbose__loop *loop)
{
    struct gbose__exchange *x = loop->spare;

    if (x) {
        loop->spare = x->next;
        loop->n_spare--;
        x->next = NULL;
        return x;
    }
    x = calloc(1, sizeof *x);
    if (x)
        x->loop = loop;
    return x;
}

static void exchange_free(struct gbose__exchange *x)
{
    arena_reset(&x->arena, 1);
    gbose__text_clear(&x->out);
    gbose__text_clear(&x->received);
    free(x);
}

/* Keep it for the next request, unless it has grown large. */
static void exchange_end(struct gbose__exchange *x)
{
    struct gbose__loop *loop = x->loop;
    struct gbose__exchange clean = {.loop = loop, .arena = x->arena, .out = x->out, .received = x->received};

    if (x->more_done)
        x->more_done(x->more_context);
    if (loop->n_spare >= 1024 || x->out.capacity > KEEP_BODY || x->received.capacity > KEEP_BODY) {
        exchange_free(x);
        return;
    }
    arena_reset(&clean.arena, 0);
    gbose__text_reset(&clean.out);
    gbose__text_reset(&clean.received);
    clean.next = loop->spare;
    *x = clean;
    loop->spare = x;
    loop->n_spare++;
}

/* ---- answering ---- */

static ssize_t more(void *context, uint64_t position, char *to, size_t most)
{
    struct gbose__exchange *x = context;
    ssize_t n = x->more(x, to, most);

    (void)position;
    return n == -1 ? MHD_CONTENT_READER_END_OF_STREAM : n < 0 ? MHD_CONTENT_READER_END_WITH_ERROR : n;
}

static enum MHD_Result send_answer(struct gbose__exchange *x)
{
    struct MHD_Response *response;
    enum MHD_Result rc;
    int no_memory = x->out.bad;

    if (no_memory) {
        gbose__text_clear(&x->out);
        x->status = 500;
    }
    if (x->more)
        response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, PIECE, more, x, NULL);
    else if (x->fixed)
        response = MHD_create_response_from_buffer(x->fixed_size, (void *)x->fixed, MHD_RESPMEM_PERSISTENT);
    else /* the exchange outlives the response: it ends when the request is completed */
        response = MHD_create_response_from_buffer(x->out.size, x->out.at, MHD_RESPMEM_PERSISTENT);
    if (!response)
        return MHD_NO;
    if (x->status != 204)
        MHD_add_response_header(response, "Content-Type", x->type ? x->type : "application/json");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    for (int i = 0; i < x->n_headers; i++)
        MHD_add_response_header(response, x->header[i][0], x->header[i][1]);
    if (atomic_load(&x->loop->http->stopping))
        MHD_add_response_header(response, "Connection", "close");
    x->phase = ANSWERED;
    rc = MHD_queue_response(x->connection, (unsigned)x->status, response);
    MHD_destroy_response(response);
    return rc;
}

void gbose__http_park(struct gbose__exchange *x)
{
    x->phase = PARKED;
    x->loop->parked++;
    MHD_suspend_connection(x->connection);
}

void gbose__http_answer_all(struct gbose__exchange *list)
{
    while (list) {
        struct gbose__exchange *first = list, **rest = &list, *mine = NULL;
        struct gbose__loop *loop = first->loop;
        uint64_t one = 1;

        while (*rest) { /* take out those of this loop */
            struct gbose__exchange *x = *rest;

            if (x->loop == loop) {
                *rest = x->next;
                x->next = mine;
                mine = x;
            } else {
                rest = &x->next;
            }
        }
        pthread_mutex_lock(&loop->lock);
        while (mine) {
            struct gbose__exchange *x = mine;

            mine = x->next;
            x->next = loop->done;
            loop->done = x;
        }
        pthread_mutex_unlock(&loop->lock);
        while (write(loop->wake, &one, sizeof one) < 0 && errno == EINTR)
            ;
    }
}

void gbose__http_answer(struct gbose__exchange *x)
{
    x->next = NULL;
    gbose__http_answer_all(x);
}

const char *gbose__http_query(struct gbose__exchange *x, const char *name)
{
    const char *value = NULL;
    size_t size;

    if (MHD_lookup_connection_value_n(x->connection, MHD_GET_ARGUMENT_KIND, name, strlen(name), &value,
                                      &size) != MHD_YES)
        return NULL;
    return value ? value : "";
}

const char *gbose__http_header(struct gbose__exchange *x, const char *name)
{
    return MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, name);
}

/* ---- requests ---- */

static struct link *link_of(struct gbose__exchange *x)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(x->connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

    return info ? info->socket_context : NULL;
}

static enum MHD_Result refuse(struct gbose__exchange *x, int status, const char *code, const char *message)
{
    gbose__http_refuse(x, status, code, message);
    return send_answer(x);
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **state)
{
    struct gbose__loop *loop = context;
    struct gbose__exchange *x = *state;
    struct link *link;

    (void)version;
    if (!x) { /* the headers have arrived */
        const char *length = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Length");

        *state = x = exchange_new(loop);
        if (!x)
            return MHD_NO;
        x->connection = connection;
        x->service = loop->http->options.service;
        x->own = loop->own;
        x->method = method;
        x->path = url;
        x->phase = READING;
        if (length && strtoull(length, NULL, 10) > loop->http->options.max_body)
            return refuse(x, 413, "too_long", "the body is longer than this server accepts");
        return MHD_YES;
    }
    if (x->phase == READING && *upload_size) {
        if (x->received.size + *upload_size > loop->http->options.max_body)
            x->status = 413; /* said when all of it has been thrown away */
        else
            gbose__text_bytes(&x->received, upload, *upload_size);
        *upload_size = 0;
        return x->received.bad ? MHD_NO : MHD_YES;
    }
    if (x->phase == READING) {
        link = link_of(x);
        if (link)
            link->busy = 1;
        if (x->status == 413)
            return refuse(x, 413, "too_long", "the body is longer than this server accepts");
        x->body = x->received.at ? x->received.at : "";
        x->body_size = x->received.size;
        loop->http->options.handle(x);
        return x->phase == PARKED ? MHD_YES : send_answer(x);
    }
    if (x->phase != READY)
        return MHD_YES;
    if (x->finish) {
        void (*finish)(struct gbose__exchange *) = x->finish;

        x->finish = NULL;
        finish(x);
    }
    return x->phase == PARKED ? MHD_YES : send_answer(x); /* finishing one thing may have begun another */
}

static void on_completed(void *context, struct MHD_Connection *connection, void **state,
                         enum MHD_RequestTerminationCode how)
{
    struct gbose__exchange *x = *state;
    struct link *link;

    (void)context;
    (void)connection;
    (void)how;
    if (!x)
        return;
    link = link_of(x);
    if (link) {
        link->busy = 0;
        link->since = monotonic();
    }
    *state = NULL;
    exchange_end(x);
}

static void on_connection(void *context, struct MHD_Connection *connection, void **state,
                          enum MHD_ConnectionNotificationCode what)
{
    struct gbose__loop *loop = context;
    struct link *link = *state;

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
        *link = (struct link){&loop->links, loop->links.after, info->connect_fd, monotonic(), 0};
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

/* ---- loops ---- */

/* Cut off connections on which no whole request has arrived for too long; and, when stopping, all that are
 * idle. */
static void cut_off(struct gbose__loop *loop, int64_t now, int idle)
{
    int64_t limit = (int64_t)loop->http->options.slow_seconds * 1000;

    for (struct link *link = loop->links.after; link != &loop->links; link = link->after)
        if (!link->busy && (idle || now - link->since > limit))
            shutdown(link->socket, SHUT_RDWR);
}

static void take_answers(struct gbose__loop *loop)
{
    struct gbose__exchange *list;
    uint64_t count;

    while (read(loop->wake, &count, sizeof count) < 0 && errno == EINTR)
        ;
    pthread_mutex_lock(&loop->lock);
    list = loop->done;
    loop->done = NULL;
    pthread_mutex_unlock(&loop->lock);
    while (list) {
        struct gbose__exchange *x = list;

        list = x->next;
        x->next = NULL;
        x->phase = READY;
        loop->parked--;
        MHD_resume_connection(x->connection);
    }
}

static void *run(void *context)
{
    struct gbose__loop *loop = context;
    struct gbose__http *http = loop->http;
    int64_t looked = 0;
    int quiet = 0;

    for (;;) {
        struct epoll_event events[2];
        MHD_UNSIGNED_LONG_LONG wait;
        int timeout = 500, n;
        int64_t now;

        if (MHD_get_timeout(loop->daemon, &wait) == MHD_YES && wait < 500)
            timeout = (int)wait;
        n = epoll_wait(loop->epoll, events, 2, timeout);
        for (int i = 0; i < n; i++)
            if (events[i].data.fd == loop->wake)
                take_answers(loop);
        MHD_run(loop->daemon);
        now = monotonic();
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
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, on_request, loop, MHD_OPTION_LISTEN_SOCKET,
        loop->socket, MHD_OPTION_CONNECTION_LIMIT, 1 + (o->connections - 1) / (unsigned)o->threads,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY, MHD_OPTION_NOTIFY_COMPLETED,
        on_completed, loop, MHD_OPTION_NOTIFY_CONNECTION, on_connection, loop, MHD_OPTION_CONNECTION_TIMEOUT,
        4 * o->slow_seconds, MHD_OPTION_END);
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
        exchange_free(x);
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

    http->stop_until = monotonic() + (int64_t)seconds * 1000;
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
