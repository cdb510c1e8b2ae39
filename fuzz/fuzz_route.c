/* Any request to any route of a real service, with its writer, its trainer and its store: an answer each
 * time, with a status that is not "our fault", and a sentence if it is a refusal.
 *
 * An input is a request: "METHOD PATH?QUERY", the value of the Authorization header on a line of its own,
 * and the body behind it. HTTP itself is fuzz_http.c's: this file stands in for the seam over it (http.h). */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "serve/percent.h"
#include "serve/service.h"

#define MOST_INPUTS 20000 /* until the service begins again with an empty store */
#define MOST_PIECES 100   /* of an answer that comes piece by piece */

struct gbose__http {
    struct gbose__http_options options;
    void *own;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t answered = PTHREAD_COND_INITIALIZER;
static const char *query, *authorization;
static int waiting;

/* ---- the seam ---- */

int gbose__http_start(struct gbose__http **out, const struct gbose__http_options *options, gbose_error *err)
{
    (void)err;
    *out = calloc(1, sizeof **out);
    (*out)->options = *options;
    return options->loop_begin(options->service, &(*out)->own);
}

int gbose__http_port(const struct gbose__http *http)
{
    (void)http;
    return 1;
}

uint64_t gbose__http_connections(const struct gbose__http *http)
{
    (void)http;
    return 1;
}

void gbose__http_stop(struct gbose__http *http, int seconds)
{
    (void)seconds;
    http->options.loop_end(http->options.service, http->own);
    free(http);
}

void gbose__http_park(struct gbose__exchange *x)
{
    (void)x;
    waiting = 1;
}

void gbose__http_answer(struct gbose__exchange *x)
{
    (void)x;
    pthread_mutex_lock(&lock);
    waiting = 0;
    pthread_cond_signal(&answered);
    pthread_mutex_unlock(&lock);
}

void gbose__http_later(struct gbose__exchange *x)
{
    void (*finish)(struct gbose__exchange *) = x->finish;

    x->finish = NULL;
    finish(x);
}

void gbose__http_answer_all(struct gbose__exchange *list)
{
    if (list)
        gbose__http_answer(list);
}

const char *gbose__http_query(struct gbose__exchange *x, const char *name)
{
    size_t size = strlen(name);

    for (const char *at = query; at; at = strchr(at, '&') ? strchr(at, '&') + 1 : NULL)
        if (!strncmp(at, name, size) && (at[size] == '=' || at[size] == '&' || !at[size])) {
            const char *from = at + size + (at[size] == '=');
            size_t n = strcspn(from, "&");
            char *copy = gbose__arena_take(&x->arena, n + 1);

            memcpy(copy, from, n);
            copy[n] = 0;
            return gbose__percent_decode(copy) ? NULL : copy;
        }
    return NULL;
}

const char *gbose__http_header(struct gbose__exchange *x, const char *name)
{
    (void)x;
    return strcmp(name, "Authorization") ? NULL : authorization;
}

/* ---- the service ---- */

static char directory[64];

static void remove_store(void)
{
    static const char *const files[] = {"gbose.sqlite3", "gbose.sqlite3-wal", "gbose.sqlite3-shm",
                                        "gbose.journal", "gbose.texts",       "lock"};
    char path[128];

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, files[i]);
        unlink(path);
    }
    rmdir(directory);
}

static void ask(struct gbose__service *service, const char *method, const char *path, const char *text,
                size_t size);

static struct gbose__service *begin(void)
{
    struct gbose__service_options options = {.data = directory, .listen = "127.0.0.1", .threads = 1};
    struct gbose__service *service;
    gbose_error err = {0};
    static const char rows[] = "{\"spec\": \"gbose-auto\", \"dim\": 2, \"wait\": \"10ms\"}",
                      named[] =
                          "{\"spec\": \"gbose-auto:floor=0.1\", \"schema\": \"action.topic category a, b\\n"
                          "user.device category x, y\\ntime.hour cycle 24\\narm = 1*topic topic*device\\n"
                          "round = hour device\", \"wait\": \"1h\"}";

    snprintf(directory, sizeof directory, "/dev/shm/gbose-fuzz-%d", (int)getpid());
    remove_store();
    if (gbose__service_start(&service, &options, &err)) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
    query = authorization = NULL;
    ask(service, "PUT", "/v1/bandits/r", rows, sizeof rows - 1);
    ask(service, "PUT", "/v1/bandits/n", named, sizeof named - 1);
    return service;
}

/* The body of a refusal is JSON with a sentence. */
static void check_refusal(const struct gbose__exchange *x)
{
    struct gbose__document d = {0};
    const char *message;
    size_t at;

    if (x->status >= 500 && x->status != 503 && x->status != 507)
        abort();
    if (gbose__document_read(&d, x->out.at, x->out.size, &message, &at) || d.value[0].kind != GBOSE__OBJECT ||
        !strstr(x->out.at, "message"))
        abort();
    gbose__document_clear(&d);
}

static void ask(struct gbose__service *service, const char *method, const char *path, const char *text,
                size_t size)
{
    struct gbose__exchange x = {
        .method = method, .path = path, .body = text, .body_size = size, .service = service};
    char piece[4096];

    x.own = service->http->own;
    gbose__route(&x);
    for (;;) {
        void (*finish)(struct gbose__exchange *);

        pthread_mutex_lock(&lock);
        while (waiting)
            pthread_cond_wait(&answered, &lock);
        pthread_mutex_unlock(&lock);
        finish = x.finish;
        x.finish = NULL;
        if (!finish)
            break;
        finish(&x);
    }
    if (x.status < 200 || x.status > 599)
        abort();
    if (x.status >= 400)
        check_refusal(&x);
    for (int i = 0; x.more && i < MOST_PIECES && x.more(&x, piece, sizeof piece) >= 0; i++)
        ;
    if (x.more_done)
        x.more_done(x.more_context);
    gbose__arena_clear(&x.arena);
    gbose__text_clear(&x.out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static struct gbose__service *service;
    static unsigned n;
    char *text = malloc(size + 1), *path, *body, *end;

    if (!service || ++n % MOST_INPUTS == 0) {
        if (service)
            gbose__service_stop(service);
        else
            atexit(remove_store);
        service = begin();
    }
    memcpy(text, bytes, size);
    text[size] = 0;
    end = strchr(text, '\n');
    body = end ? strchr(end + 1, '\n') : NULL;
    path = strchr(text, ' ');
    if (body && path && path < end && end[-1] != ' ' && path[1] == '/') {
        char *mark = memchr(path, '?', (size_t)(end - path));

        *end = *path++ = *body++ = 0;
        authorization = end[1] ? end + 1 : NULL;
        if (mark)
            *mark++ = 0;
        query = mark;
        ask(service, text, path, body, size - (size_t)(body - text));
    }
    free(text);
    return 0;
}
