/* What HTTP alone costs: bare libmicrohttpd that sends every body back. Usage: gbose_bench_echo PORT THREADS */
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct body {
    char *at;
    size_t size, capacity;
};

static enum MHD_Result echo(void *context, struct MHD_Connection *connection, const char *url,
                            const char *method, const char *version, const char *upload, size_t *upload_size,
                            void **state)
{
    struct body *body = *state;
    struct MHD_Response *response;
    enum MHD_Result rc;

    (void)context;
    (void)url;
    (void)method;
    (void)version;
    if (!body) {
        *state = calloc(1, sizeof *body);
        return *state ? MHD_YES : MHD_NO;
    }
    if (*upload_size) {
        if (body->size + *upload_size > body->capacity) {
            char *more = realloc(body->at, body->capacity = 2 * (body->size + *upload_size));

            if (!more)
                return MHD_NO;
            body->at = more;
        }
        memcpy(body->at + body->size, upload, *upload_size);
        body->size += *upload_size;
        *upload_size = 0;
        return MHD_YES;
    }
    response = MHD_create_response_from_buffer(body->size, body->at, MHD_RESPMEM_PERSISTENT);
    if (!response)
        return MHD_NO;
    MHD_add_response_header(response, "Content-Type", "application/json");
    rc = MHD_queue_response(connection, 200, response);
    MHD_destroy_response(response);
    return rc;
}

static void completed(void *context, struct MHD_Connection *connection, void **state,
                      enum MHD_RequestTerminationCode how)
{
    struct body *body = *state;

    (void)context;
    (void)connection;
    (void)how;
    if (body)
        free(body->at);
    free(body);
    *state = NULL;
}

int main(int argc, char **argv)
{
    unsigned threads = argc > 2 ? (unsigned)atoi(argv[2]) : 2;
    struct MHD_Daemon *daemon =
        MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD, (uint16_t)(argc > 1 ? atoi(argv[1]) : 8799), NULL,
                         NULL, echo, NULL, MHD_OPTION_THREAD_POOL_SIZE, threads, MHD_OPTION_NOTIFY_COMPLETED,
                         completed, NULL, MHD_OPTION_CONNECTION_LIMIT, 4096U,
                         MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)12288, MHD_OPTION_END);

    if (!daemon) {
        fprintf(stderr, "gbose_bench_echo: it does not start\n");
        return 1;
    }
    for (;;)
        pause();
}
