#include "cli/store_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"

#ifdef GBOSE_SERVE

#include <signal.h>
#include <sodium.h>
#include <unistd.h>

#include "io/file.h"
#include "serve/service.h"

static int put(void *context, const char *text, size_t size)
{
    return gbose__file_write_all(*(int *)context, text, size);
}

static void *run(void *context)
{
    struct store_log *s = context;

    s->rc = gbose__events_export(s->store, s->bandit, put, &s->pipe, &s->err);
    close(s->pipe);
    return NULL;
}

static int broken(const char *command, const char *text)
{
    fprintf(stderr, "gbose %s: %s\n", command, text);
    return EXIT_BROKEN;
}

static void clear(struct store_log *s)
{
    if (s->store)
        ((struct gbose__store *)s->store)->close(s->store);
    free(s->bandit);
    s->store = NULL;
    s->bandit = NULL;
}

int store_log_begin(struct store_log *s, const char *command)
{
    int postgres = gbose__store_is_postgres(s->path);
    char *dir = strdup(s->path), *colon = dir ? strrchr(dir, postgres ? '#' : ':') : NULL;
    struct gbose__store *store;
    struct stat st;
    int ends[2], rc;

    if (!dir)
        return broken(command, "out of memory");
    if ((postgres || stat(dir, &st)) && colon && colon[1]) {
        *colon = 0;
        s->bandit = strdup(colon + 1);
    }
    if (!postgres && (stat(dir, &st) || !S_ISDIR(st.st_mode))) {
        free(dir);
        clear(s);
        return EXIT_FINE; /* a file like any other, or none */
    }
    rc = gbose__store_open(&store, dir, 0, 1, &s->err);
    free(dir);
    if (rc == GBOSE__EABSENT && !postgres) {
        clear(s);
        return usage_error(command, "%s is a folder, and no service keeps its store there; a log is a file",
                           s->path);
    }
    if (rc || sodium_init() < 0) {
        clear(s);
        return command_failed(command, &s->err);
    }
    s->store = store;
    signal(SIGPIPE, SIG_IGN); /* the reader may stop at a broken line */
    if (pipe(ends)) {
        clear(s);
        return broken(command, "cannot make a pipe");
    }
    s->reading = ends[0];
    s->pipe = ends[1];
    snprintf(s->name, sizeof s->name, "/dev/fd/%d", ends[0]);
    if (pthread_create(&s->thread, NULL, run, s)) {
        close(ends[0]);
        close(ends[1]);
        clear(s);
        return broken(command, "cannot start a thread");
    }
    s->path = s->name;
    return EXIT_FINE;
}

int store_log_end(struct store_log *s, const char *command)
{
    int rc;

    if (!s->store)
        return EXIT_FINE;
    close(s->reading);
    pthread_join(s->thread, NULL);
    rc = s->rc ? command_failed(command, &s->err) : EXIT_FINE;
    clear(s);
    return rc;
}

#else

int store_log_begin(struct store_log *s, const char *command)
{
    (void)s;
    (void)command;
    return EXIT_FINE;
}

int store_log_end(struct store_log *s, const char *command)
{
    (void)s;
    (void)command;
    return EXIT_FINE;
}

#endif
