/* What HTTP alone costs: libmicrohttpd, as the service uses it, that sends every body back. Usage:
 * gbose_bench_echo PORT THREADS */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "serve/http.h"

static void echo(struct gbose__exchange *x)
{
    x->status = 200;
    gbose__text_bytes(&x->out, x->body, x->body_size);
}

void gbose__http_refuse(struct gbose__exchange *x, int status, const char *code, const char *message)
{
    (void)code;
    x->status = status;
    gbose__text_add(&x->out, message);
}

static int begin(void *service, void **own)
{
    *own = service;
    return 0;
}

static void end(void *service, void *own)
{
    (void)service;
    (void)own;
}

int main(int argc, char **argv)
{
    struct gbose__http_options options = {.listen = "127.0.0.1",
                                          .port = argc > 1 ? atoi(argv[1]) : 8799,
                                          .threads = argc > 2 ? atoi(argv[2]) : 2,
                                          .max_body = 1 << 20,
                                          .connections = 4096,
                                          .slow_seconds = 30,
                                          .handle = echo,
                                          .loop_begin = begin,
                                          .loop_end = end};
    struct gbose__http *http;
    gbose_error err;

    if (gbose__http_start(&http, &options, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    for (;;)
        pause();
}
