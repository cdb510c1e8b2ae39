/* A service's store read as a log file: `gbose log check DATA`, or DATA:BANDIT when it has several; in PostgreSQL it is
 * URL#BANDIT. */
#ifndef GBOSE_CLI_STORE_LOG_H
#define GBOSE_CLI_STORE_LOG_H

#include <pthread.h>

#include "gbose.h"

struct store_log {
    const char *path; /* what the caller was given; afterwards what to open */
    char name[32];
    void *store;
    char *bandit;
    int pipe, reading; /* ends of a pipe, while `store` is not NULL */
    pthread_t thread;
    gbose_error err;
    int rc;
};

/* If the path is a directory with a store or a URL, set it to one that can be opened instead, into which a thread
 * writes the log. EXIT_FINE, or an exit code after a message. */
int store_log_begin(struct store_log *s, const char *command);

/* When it has been read and closed. EXIT_FINE, or EXIT_BROKEN after a message. */
int store_log_end(struct store_log *s, const char *command);

#endif
