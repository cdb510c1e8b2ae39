/* Starting and stopping: the store first and last, then what writes, what learns, what answers. */
#include "serve/service.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"

#define DRAIN_SECONDS 10

static int loop_begin(void *service, void **own)
{
    *own = gbose__desk_new(service);
    return *own ? 0 : -1;
}

static void loop_end(void *service, void *own)
{
    (void)service;
    gbose__desk_free(own);
}

static int start(struct gbose__service *s, const struct gbose__service_options *o, gbose_error *err)
{
    struct gbose__http_options http = {.listen = o->listen,
                                       .port = o->port,
                                       .threads = o->threads,
                                       .max_body = o->max_body,
                                       .connections = o->connections,
                                       .slow_seconds = o->slow_seconds,
                                       .service = s,
                                       .handle = gbose__route,
                                       .answered = gbose__metrics_answer,
                                       .loop_begin = loop_begin,
                                       .loop_end = loop_end};
    int local = !strncmp(o->listen, "127.", 4) || !strcmp(o->listen, "::1");
    struct gbose__view *view = NULL;
    int rc = gbose__store_open(&s->store, o->data, 1, 0, err);

    if (!rc)
        rc = s->store->view(s->store, &view, err);
    if (!rc)
        rc = gbose__keys_load(s, view, err);
    if (view)
        view->close(view);
    if (!rc && !local && !s->n_keys)
        rc = gbose__fail(
            err, GBOSE_EINVAL,
            "there is no key, so it listens on 127.0.0.1 only; make one with: gbose key add %s --role admin",
            gbose__store_is_postgres(o->data) ? "URL" : o->data);
    if (!rc)
        rc = gbose__registry_load(s, err);
    if (!rc)
        rc = gbose__fleet_start(s, err);
    if (!rc && gbose__writer_start(s))
        rc = gbose__fail(err, GBOSE_ENOMEM, "cannot start a thread");
    if (!rc)
        rc = gbose__trainer_start(s, err);
    if (!rc)
        rc = gbose__http_start(&s->http, &http, err);
    if (!rc) {
        atomic_store(&s->port, gbose__http_port(s->http));
        atomic_store(&s->ready, 1);
    }
    return rc;
}

int gbose__service_start(struct gbose__service **out, const struct gbose__service_options *options,
                         gbose_error *err)
{
    struct gbose__service *s = calloc(1, sizeof *s);
    int rc;

    if (!s || sodium_init() < 0) {
        free(s);
        return gbose__no_memory(err);
    }
    s->started = gbose__now();
    pthread_rwlock_init(&s->registry.lock, NULL);
    pthread_rwlock_init(&s->key_lock, NULL);
    pthread_mutex_init(&s->fleet.lock, NULL);
    rc = start(s, options, err);
    if (rc) {
        gbose__service_stop(s);
        return rc;
    }
    *out = s;
    return GBOSE_OK;
}

int gbose__service_port(const struct gbose__service *service)
{
    return atomic_load(&service->port);
}

void gbose__service_stop(struct gbose__service *s)
{
    if (s->http)
        gbose__http_stop(s->http, DRAIN_SECONDS); /* needs the writer: answers wait for the disk */
    if (s->trainer.started || s->trainer.view)
        gbose__trainer_stop(s);
    gbose__writer_stop(s);
    gbose__lease_clear(s);
    gbose__registry_clear(s);
    if (s->store)
        s->store->close(s->store);
    free(s->key);
    pthread_rwlock_destroy(&s->registry.lock);
    pthread_rwlock_destroy(&s->key_lock);
    pthread_mutex_destroy(&s->fleet.lock);
    free(s);
}
