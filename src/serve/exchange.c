/* Requests and their answers, as libmicrohttpd brings and takes them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "serve/http_inner.h"
#include "serve/percent.h"

#define PIECE 65536     /* bytes of an answer that comes piece by piece */
#define KEEP_BODY 65536 /* bytes of a buffer that is kept for the next request */
#define MOST_HELD 128   /* connections of a loop that wait without being suspended */

enum { READING, PARKED, READY, ANSWERED };

/* ---- memory of a request ---- */

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

void gbose__exchange_free(struct gbose__exchange *x)
{
    gbose__arena_clear(&x->arena);
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
        gbose__exchange_free(x);
        return;
    }
    gbose__arena_reset(&clean.arena);
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

    x->loop->moved = 1;
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

/* To suspend a connection and to resume it costs the library two changes to its epoll, a read in vain and
 * an event in vain: for a decision more than everything else that HTTP does. A connection whose handler
 * does not answer is merely asked again whenever the library runs, which is cheap as long as not too many
 * are held like this. Unlike one that is suspended it may end meanwhile: see `orphan`. */
void gbose__http_park(struct gbose__exchange *x)
{
    struct gbose__loop *loop = x->loop;

    x->phase = PARKED;
    loop->parked++;
    x->held = x->orphan || loop->held < MOST_HELD;
    if (x->held)
        loop->held++;
    else
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
    char *copy;
    size_t size;

    if (MHD_lookup_connection_value_n(x->connection, MHD_GET_ARGUMENT_KIND, name, strlen(name), &value,
                                      &size) != MHD_YES)
        return NULL;
    if (!value)
        return "";
    copy = gbose__arena_take(&x->arena, strlen(value) + 1);
    if (!copy)
        return NULL;
    strcpy(copy, value);
    return gbose__percent_decode(copy) ? NULL : copy;
}

const char *gbose__http_header(struct gbose__exchange *x, const char *name)
{
    return MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, name);
}

/* What was waited for has come. Returns 1 if there is something else to wait for. */
static int go_on(struct gbose__exchange *x)
{
    void (*finish)(struct gbose__exchange *) = x->finish;

    x->finish = NULL;
    if (finish)
        finish(x);
    return x->phase == PARKED;
}

void gbose__exchange_take_answers(struct gbose__loop *loop)
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
        loop->moved = 1;
        if (x->held)
            loop->held--;
        else
            MHD_resume_connection(x->connection);
        if (x->orphan && !go_on(x))
            exchange_end(x);
    }
}

/* ---- requests ---- */

static struct gbose__link *link_of(struct gbose__exchange *x)
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

enum MHD_Result gbose__exchange_request(void *context, struct MHD_Connection *connection, const char *url,
                                        const char *method, const char *version, const char *upload,
                                        size_t *upload_size, void **state)
{
    struct gbose__loop *loop = context;
    struct gbose__exchange *x = *state;
    struct gbose__link *link;

    (void)version;
    if (x && x->phase == PARKED)
        return MHD_YES;
    loop->moved = 1;
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
    return x->phase != READY || go_on(x) ? MHD_YES : send_answer(x);
}

void gbose__exchange_completed(void *context, struct MHD_Connection *connection, void **state,
                               enum MHD_RequestTerminationCode how)
{
    struct gbose__loop *loop = context;
    struct gbose__exchange *x = *state;
    struct gbose__link *link;

    (void)connection;
    (void)how;
    if (!x)
        return;
    link = link_of(x);
    if (link) {
        link->busy = 0;
        link->since = gbose__http_clock();
    }
    *state = NULL;
    loop->moved = 1;
    if (x->phase == PARKED) { /* the client has gone; the exchange is still needed by whoever answers it */
        x->orphan = 1;
        x->connection = NULL;
    } else {
        exchange_end(x);
    }
}
