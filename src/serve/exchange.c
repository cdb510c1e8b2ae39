/* A request and its answer: their memory, waiting, and what is sent in front of an answer. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "serve/http_inner.h"
#include "serve/percent.h"

#define KEEP_BODY 65536 /* bytes of a buffer that is kept for the next request */
#define MOST_SPARE 1024
#define MOST_ANSWERS 32 /* that a loop takes at once: other loops may have the rest */
#define PIECE 65536     /* bytes of an answer that comes piece by piece */

/* ---- memory ---- */

struct gbose__exchange *gbose__exchange_new(struct gbose__link *link)
{
    struct gbose__loop *loop = link->loop;
    struct gbose__exchange *x = loop->spare;

    if (x) {
        loop->spare = x->next;
        loop->n_spare--;
        x->next = NULL;
    } else {
        x = calloc(1, sizeof *x);
    }
    if (x) {
        x->http = loop->http;
        x->link = link;
        x->service = loop->http->options.service;
    }
    return x;
}

void gbose__exchange_free(struct gbose__exchange *x)
{
    gbose__arena_clear(&x->arena);
    gbose__text_clear(&x->out);
    gbose__text_clear(&x->received);
    gbose__text_clear(&x->head);
    free(x);
}

void gbose__exchange_end(struct gbose__exchange *x)
{
    struct gbose__loop *loop = x->link->loop;

    if (x->more_done)
        x->more_done(x->more_context);
    if (loop->n_spare >= MOST_SPARE || x->out.capacity > KEEP_BODY || x->received.capacity > KEEP_BODY ||
        x->head.capacity > 2 * PIECE) {
        gbose__exchange_free(x);
        return;
    }
    gbose__arena_reset(&x->arena);
    gbose__text_reset(&x->out);
    gbose__text_reset(&x->received);
    gbose__text_reset(&x->head);
    x->status = x->n_headers = x->phase = x->keeps = x->bare = x->last = 0;
    x->request.query = NULL;
    x->request.n_headers = x->request.is_1_0 = 0;
    x->type = NULL;
    x->fixed = x->body = NULL;
    x->fixed_size = x->body_size = x->head_size = x->searched = x->sent = 0;
    x->more = NULL;
    x->more_done = NULL;
    x->more_context = x->work = NULL;
    x->finish = NULL;
    x->chunks = (struct gbose__chunks){0};
    x->next = loop->spare;
    loop->spare = x;
    loop->n_spare++;
}

/* ---- answers ---- */

static const char *reason(int status)
{
    static const struct {
        int status;
        const char *reason;
    } all[] = {{200, "OK"},
               {201, "Created"},
               {202, "Accepted"},
               {204, "No Content"},
               {400, "Bad Request"},
               {401, "Unauthorized"},
               {403, "Forbidden"},
               {404, "Not Found"},
               {405, "Method Not Allowed"},
               {409, "Conflict"},
               {413, "Content Too Large"},
               {417, "Expectation Failed"},
               {431, "Request Header Fields Too Large"},
               {500, "Internal Server Error"},
               {501, "Not Implemented"},
               {503, "Service Unavailable"},
               {505, "HTTP Version Not Supported"},
               {507, "Insufficient Storage"}};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].status == status)
            return all[i].reason;
    return status < 400 ? "OK" : "Error";
}

#define PROTECTION "X-Content-Type-Options", "nosniff"

/* The date, in English in every locale, and what begins with it: once a second. */
static void renew_date(struct gbose__loop *loop)
{
    static const char days[] = "SunMonTueWedThuFriSat", months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    time_t now = time(NULL);
    struct tm t;

    if (now != loop->date_of && gmtime_r(&now, &t)) {
        loop->date_of = now;
        snprintf(loop->date, sizeof loop->date, "%.3s, %02d %.3s %04d %02d:%02d:%02d GMT",
                 days + 3 * t.tm_wday, t.tm_mday, months + 3 * t.tm_mon, (1900 + t.tm_year) % 10000,
                 t.tm_hour, t.tm_min, t.tm_sec);
        loop->usual_size =
            (size_t)snprintf(loop->usual, sizeof loop->usual,
                             "HTTP/1.1 200 OK\r\nDate: %s\r\nContent-Type: application/json\r\n"
                             "%s: %s\r\nContent-Length: ",
                             loop->date, PROTECTION);
    }
}

static void header(struct gbose__text *head, const char *name, const char *value)
{
    gbose__text_add(head, name);
    gbose__text_bytes(head, ": ", 2);
    gbose__text_add(head, value);
    gbose__text_bytes(head, "\r\n", 2);
}

void gbose__exchange_answer(struct gbose__exchange *x)
{
    struct gbose__text *head = &x->head;
    struct gbose__loop *loop = x->link->loop;

    x->phase = GBOSE__SENDING;
    x->sent = 0;
    x->keeps = x->keeps && !atomic_load(&x->http->stopping) && !(x->more && x->request.is_1_0);
    if (x->out.bad) {
        gbose__text_clear(&x->out);
        x->status = 500;
    }
    x->http->options.answered(x);
    renew_date(loop);
    gbose__text_reset(head);
    if (x->status == 200 && x->keeps && !x->type && !x->fixed && !x->more && !x->n_headers && !x->bare &&
        !x->request.is_1_0) {
        gbose__text_bytes(head, loop->usual, loop->usual_size);
        gbose__text_integer(head, x->out.size);
        gbose__text_bytes(head, "\r\n\r\n", 4);
        return;
    }
    gbose__text_add(head, "HTTP/1.1 ");
    gbose__text_integer(head, (uint64_t)x->status);
    gbose__text_bytes(head, " ", 1);
    gbose__text_add(head, reason(x->status));
    gbose__text_bytes(head, "\r\n", 2);
    header(head, "Date", loop->date);
    if (x->status != 204) {
        header(head, "Content-Type", x->type ? x->type : "application/json");
        if (!x->more) {
            gbose__text_add(head, "Content-Length: ");
            gbose__text_integer(head, x->fixed ? x->fixed_size : x->out.size);
            gbose__text_bytes(head, "\r\n", 2);
        } else if (!x->request.is_1_0) {
            header(head, "Transfer-Encoding", "chunked");
        }
    }
    header(head, PROTECTION);
    for (int i = 0; i < x->n_headers; i++)
        header(head, x->header[i][0], x->header[i][1]);
    if (!x->keeps)
        header(head, "Connection", "close");
    else if (x->request.is_1_0)
        header(head, "Connection", "keep-alive");
    gbose__text_bytes(head, "\r\n", 2);
    if (x->bare) { /* the head is all */
        gbose__text_reset(&x->out);
        x->fixed_size = 0;
        x->last = 1;
    }
    if (head->bad) /* not even that: the connection is closed */
        x->keeps = 0;
}

int gbose__exchange_more(struct gbose__exchange *x)
{
    struct gbose__text *piece = &x->head;
    size_t front =
        x->request.is_1_0 ? 0 : 10; /* the size of a chunk: eight digits, and the end of the line */
    char size[11];
    ssize_t n;

    gbose__text_reset(piece);
    x->sent = 0;
    if (piece->capacity < PIECE + 32) {
        char *more = realloc(piece->at, PIECE + 32);

        if (!more)
            return -1;
        piece->at = more;
        piece->capacity = PIECE + 32;
    }
    x->own = x->link->loop->own;
    n = x->more(x, piece->at + front, PIECE);
    if (n < -1 || n == 0)
        return -1;
    x->last = n == -1;
    if (x->request.is_1_0) {
        piece->size = x->last ? 0 : (size_t)n;
        return 0;
    }
    if (x->last) {
        gbose__text_bytes(piece, "0\r\n\r\n", 5);
        return 0;
    }
    snprintf(size, sizeof size, "%08x\r\n", (unsigned)n);
    memcpy(piece->at, size, front);
    memcpy(piece->at + front + n, "\r\n", 2);
    piece->size = front + (size_t)n + 2;
    return 0;
}

/* ---- waiting ---- */

void gbose__http_park(struct gbose__exchange *x)
{
    x->phase = GBOSE__PARKED;
}

void gbose__http_later(struct gbose__exchange *x)
{
    struct gbose__loop *loop = x->link->loop;

    gbose__http_park(x);
    x->next = NULL;
    *loop->last_later = x;
    loop->last_later = &x->next;
}

void gbose__http_answer_all(struct gbose__exchange *list)
{
    while (list) {
        struct gbose__loop *home = list->link->home;
        struct gbose__exchange **rest = &list, *found = NULL, **last = &found;

        while (*rest) { /* take out those of this loop */
            struct gbose__exchange *x = *rest;

            if (x->link->home == home) {
                *rest = x->next;
                *last = x;
                last = &x->next;
            } else {
                rest = &x->next;
            }
        }
        *last = NULL;
        pthread_mutex_lock(&home->lock);
        *home->last_done = found;
        home->last_done = last;
        gbose__loop_wake(home); /* as long as nobody can answer them: after that the server may be gone */
        pthread_mutex_unlock(&home->lock);
    }
}

void gbose__http_answer(struct gbose__exchange *x)
{
    x->next = NULL;
    gbose__http_answer_all(x);
}

int gbose__exchange_resume(struct gbose__exchange *x)
{
    void (*finish)(struct gbose__exchange *) = x->finish;

    x->finish = NULL;
    x->phase = GBOSE__READING;
    x->own = x->link->loop->own;
    if (finish)
        finish(x);
    return x->phase == GBOSE__PARKED;
}

void gbose__exchange_take_answers(struct gbose__loop *loop, struct gbose__loop *home)
{
    struct gbose__exchange *list, **end;
    size_t n = 0;
    int more;

    pthread_mutex_lock(&home->lock);
    list = home->done;
    for (end = &list; *end && n < MOST_ANSWERS; n++)
        end = &(*end)->next;
    home->done = *end;
    *end = NULL;
    more = home->done != NULL;
    if (!more)
        home->last_done = &home->done;
    pthread_mutex_unlock(&home->lock);
    if (more)
        gbose__loop_wake(home); /* another loop may have them, or this one in its next turn */
    while (list) {
        struct gbose__exchange *x = list;

        list = x->next;
        x->next = NULL;
        gbose__link_tell(loop, x->link, GBOSE__READY);
    }
}

/* ---- what was asked ---- */

const char *gbose__http_query(struct gbose__exchange *x, const char *name)
{
    size_t size = strlen(name);

    for (const char *at = x->request.query; at; at = strchr(at, '&') ? strchr(at, '&') + 1 : NULL)
        if (!strncmp(at, name, size) && (at[size] == '=' || at[size] == '&' || !at[size])) {
            const char *from = at + size + (at[size] == '=');
            size_t n = strcspn(from, "&");
            char *copy = gbose__arena_take(&x->arena, n + 1);

            if (!copy)
                return NULL;
            for (size_t i = 0; i < n; i++)
                copy[i] = from[i] == '+' ? ' ' : from[i];
            copy[n] = 0;
            return gbose__percent_decode(copy) ? NULL : copy;
        }
    return NULL;
}

const char *gbose__http_header(struct gbose__exchange *x, const char *name)
{
    return gbose__request_header(&x->request, name);
}
