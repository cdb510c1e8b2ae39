/* gbose serve: decisions over HTTP. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "serve/service.h"

static int serve(const char *command, const struct gbose__service_options *options)
{
    struct gbose__service *service;
    char name[500];
    gbose_error err;
    sigset_t signals;
    int signal;

    /* All threads are started with these blocked, and this one waits for them. A client that goes away is
     * no reason to end, nor is a file that has reached its limit: both are errors of a call. */
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
    sigaction(SIGXFSZ, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
    if (gbose__service_start(&service, options, &err)) {
        fprintf(stderr, "gbose %s: %s\n", command, err.text);
        return err.code == GBOSE_EINVAL ? EXIT_USAGE : EXIT_BROKEN;
    }
    gbose__store_name(name, sizeof name, options->data);
    fprintf(stderr, "gbose serve: http://%s%s%s:%d/ on %s\n", strchr(options->listen, ':') ? "[" : "",
            options->listen, strchr(options->listen, ':') ? "]" : "", gbose__service_port(service), name);
    sigwait(&signals, &signal);
    fprintf(stderr, "gbose serve: %s, finishing what is under way\n",
            signal == SIGINT ? "interrupted" : "told to stop");
    gbose__service_stop(service);
    return EXIT_FINE;
}

/* A copy of a store's URL. What stands on the command line can be read by everybody on the machine, so its password is
 * overwritten there. */
static char *take_url(char *given)
{
    char *url = strdup(given), *user = strstr(given, "://"), *at, *colon;

    if (!url || !user)
        return url;
    user += 3;
    at = user + strcspn(user, "/?");
    while (at > user && *at != '@')
        at--;
    colon = at > user ? memchr(user, ':', (size_t)(at - user)) : NULL;
    if (colon)
        memset(colon + 1, 'x', (size_t)(at - colon - 1));
    if ((colon = strstr(at, "password=")))
        memset(colon + 9, 'x', strcspn(colon + 9, "&"));
    return url;
}

static int run(int argc, char **argv)
{
    struct arg args[] = {
        {"data", 1, NULL, 0, 0},    {"listen", 1, NULL, 0, 0},   {"port", 1, NULL, 0, 0},
        {"threads", 1, NULL, 0, 0}, {"max-body", 1, NULL, 0, 0}, {"connections", 1, NULL, 0, 0},
        {"slow", 1, NULL, 0, 0},    {"store", 1, NULL, 0, 0},    {NULL, 0, NULL, 0, 0}};
    char *url = NULL;
    struct gbose__service_options options = {.data = "decisions",
                                             .listen = "127.0.0.1",
                                             .port = 8790,
                                             .threads = 2,
                                             .max_body = 4 << 20,
                                             .connections = 4096,
                                             .slow_seconds = 30};
    struct {
        uint64_t min, max, value;
    } number[7] = {
        {0}, {0}, {0, 65535, 8790}, {1, 256, 2}, {1024, 1 << 30, 4 << 20}, {1, 100000, 4096}, {1, 3600, 30}};
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int rc = args_parse(argc, argv, args);

    number[3].value = cores > 0 && cores < 256 ? (uint64_t)cores : 2;
    for (int i = 2; i < 7 && !rc; i++)
        if (args[i].n)
            rc = parse_count(&number[i].value, argv[0], args[i].name, args[i].value[0], number[i].min,
                             number[i].max);
    if (!rc) {
        if (args[0].n && args[7].n)
            rc = usage_error(argv[0], "give --data DIR or --store URL, not both");
        else if (args[7].n && !gbose__store_is_postgres(args[7].value[0]))
            rc = usage_error(
                argv[0],
                "--store is postgresql://USER@HOST/DATABASE, not '%s'; a directory is given by --data",
                args[7].value[0]);
        if (args[0].n)
            options.data = args[0].value[0];
        if (args[7].n && !rc)
            options.data = url = take_url(args[7].value[0]);
        if (args[1].n)
            options.listen = args[1].value[0];
        options.port = (int)number[2].value;
        options.threads = (int)number[3].value;
        options.max_body = number[4].value;
        options.connections = (unsigned)number[5].value;
        options.slow_seconds = (unsigned)number[6].value;
        if (!rc)
            rc = serve(argv[0], &options);
    }
    free(url);
    args_clear(args);
    return rc;
}

const struct command cmd_serve = {
    "serve", "decisions over HTTP, with a durable log",
    "Usage: gbose serve [--data DIR | --store URL] [--port N] [--listen ADDRESS] ...\n"
    "\n"
    "  --data DIR       where everything is kept; created if it does not exist (decisions)\n"
    "  --store URL      instead of --data: postgresql://USER@HOST/DATABASE, which any number of servers may "
    "share\n"
    "                   (docs/fleet.md); give the password by PGPASSFILE or PGPASSWORD\n"
    "  --port N         the port (8790); 0 takes a free one, and says which\n"
    "  --listen ADDRESS where to listen (127.0.0.1). Anywhere else needs a key: gbose key add DIR --role "
    "admin\n"
    "  --threads N      threads that answer requests (one per core)\n"
    "  --max-body N     the most bytes a request may have (4194304)\n"
    "  --connections N  the most connections open at a time (4096)\n"
    "  --slow N         seconds within which a whole request must arrive (30)\n"
    "\n"
    "SIGTERM or Ctrl-C ends it, after the requests under way are answered. Killing it loses nothing that was "
    "acknowledged as durable. docs/service.md is the guide.\n"
    "\n"
    "Examples:\n"
    "  gbose serve --data ./decisions\n"
    "  gbose serve --store postgresql://gbose@db.example/gbose --listen 0.0.0.0\n",
    run};
