/* Bandits and their generations in memory. */
#include "serve/service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "core/error.h"

#define BUCKETS (sizeof((struct gbose__registry *)0)->bucket / sizeof(struct gbose__bandit *))

static size_t bucket_of(const char *name)
{
    return gbose__mix_text(1, name) % BUCKETS;
}

/* ---- generations ---- */

struct gbose__generation *gbose__generation_new(const struct gbose__generation_row *row, gbose_error *err)
{
    struct gbose__generation *g = calloc(1, sizeof *g);

    if (!g) {
        gbose__no_memory(err);
        return NULL;
    }
    g->number = row->number;
    g->created = row->created;
    g->ready = row->ready;
    g->wanted = row->wanted;
    g->spec = strdup(row->spec);
    g->schema = row->schema ? strdup(row->schema) : NULL;
    if (!g->spec || (row->schema && !g->schema))
        gbose__no_memory(err);
    else
        g->encoder = gbose__encoder_new(row->schema, row->dim, row->n_round, err);
    if (!g->encoder) {
        gbose__generation_free(g);
        return NULL;
    }
    return g;
}

void gbose__generation_free(struct gbose__generation *g)
{
    if (!g)
        return;
    gbose__model_release(g->model);
    gbose__encoder_release(g->encoder);
    gbose_free(g->learning);
    free(g->spec);
    free(g->schema);
    free(g);
}

struct gbose__generation *gbose__generation_find(struct gbose__bandit *bandit, uint32_t number)
{
    for (struct gbose__generation *g = bandit->generations; g; g = g->next)
        if (g->number == number && !g->dropped)
            return g;
    return NULL;
}

/* ---- bandits ---- */

struct gbose__bandit *gbose__bandit_new(const struct gbose__bandit_row *row)
{
    struct gbose__bandit *b = calloc(1, sizeof *b);

    if (!b)
        return NULL;
    atomic_store(&b->references, 1);
    b->id = row->id;
    b->created = row->created;
    b->settings = gbose__settings_default;
    snprintf(b->name, sizeof b->name, "%s", row->name);
    pthread_mutex_init(&b->lock, NULL);
    pthread_mutex_init(&b->monitor_lock, NULL);
    return b;
}

void gbose__bandit_release(struct gbose__bandit *b)
{
    if (!b || atomic_fetch_sub(&b->references, 1) != 1)
        return;
    while (b->generations) {
        struct gbose__generation *g = b->generations;

        b->generations = g->next;
        gbose__generation_free(g);
    }
    gbose__monitor_free(b->monitor);
    pthread_mutex_destroy(&b->lock);
    pthread_mutex_destroy(&b->monitor_lock);
    free(b);
}

struct gbose__model *gbose__bandit_model(struct gbose__bandit *b, struct gbose__settings *settings)
{
    struct gbose__model *model;

    pthread_mutex_lock(&b->lock);
    model = b->active->model;
    atomic_fetch_add(&model->references, 1);
    if (settings)
        *settings = b->settings;
    pthread_mutex_unlock(&b->lock);
    return model;
}

struct gbose__bandit *gbose__registry_find(struct gbose__service *service, const char *name)
{
    struct gbose__registry *r = &service->registry;
    struct gbose__bandit *b;

    pthread_rwlock_rdlock(&r->lock);
    for (b = r->bucket[bucket_of(name)]; b; b = b->next_of_name)
        if (!strcmp(b->name, name)) {
            atomic_fetch_add(&b->references, 1);
            break;
        }
    pthread_rwlock_unlock(&r->lock);
    return b;
}

struct gbose__bandit **gbose__registry_all(struct gbose__service *service, size_t *n)
{
    struct gbose__registry *r = &service->registry;
    struct gbose__bandit **all;

    *n = 0;
    pthread_rwlock_rdlock(&r->lock);
    all = malloc((r->n + 1) * sizeof(struct gbose__bandit *));
    for (struct gbose__bandit *b = all ? r->all : NULL; b; b = b->next) {
        atomic_fetch_add(&b->references, 1);
        all[(*n)++] = b;
    }
    pthread_rwlock_unlock(&r->lock);
    return all;
}

int gbose__registry_add(struct gbose__service *service, struct gbose__bandit *bandit)
{
    struct gbose__registry *r = &service->registry;
    struct gbose__bandit **bucket = &r->bucket[bucket_of(bandit->name)];
    int taken = 0;

    pthread_rwlock_wrlock(&r->lock);
    for (struct gbose__bandit *b = *bucket; b; b = b->next_of_name)
        taken |= !strcmp(b->name, bandit->name);
    if (!taken) {
        bandit->next_of_name = *bucket;
        *bucket = bandit;
        bandit->next = r->all;
        r->all = bandit;
        r->n++;
    }
    pthread_rwlock_unlock(&r->lock);
    return taken ? -1 : 0;
}

void gbose__registry_remove(struct gbose__service *service, struct gbose__bandit *bandit)
{
    struct gbose__registry *r = &service->registry;
    struct gbose__bandit **at;

    atomic_store(&bandit->gone, 1);
    pthread_rwlock_wrlock(&r->lock);
    for (at = &r->bucket[bucket_of(bandit->name)]; *at != bandit; at = &(*at)->next_of_name)
        ;
    *at = bandit->next_of_name;
    for (at = &r->all; *at != bandit; at = &(*at)->next)
        ;
    *at = bandit->next;
    r->n--;
    pthread_rwlock_unlock(&r->lock);
    gbose__bandit_release(bandit);
}

int gbose__bandit_number(struct gbose__bandit *b, uint64_t *number)
{
    int rc = 0;

    pthread_mutex_lock(&b->lock);
    if (b->numbers.next == b->numbers.end) {
        b->numbers = b->spare;
        b->spare = (struct gbose__numbers){0};
    }
    if (b->numbers.next < b->numbers.end)
        *number = b->numbers.next++;
    else
        rc = -1;
    pthread_mutex_unlock(&b->lock);
    return rc;
}

/* ---- from the store ---- */

struct loading {
    struct gbose__service *service;
    struct gbose__view *view;
    struct gbose__bandit *bandit;
    uint32_t active;
    gbose_error *err;
};

static int load_generation(void *context, const struct gbose__generation_row *row)
{
    struct loading *l = context;
    struct gbose__generation *g = gbose__generation_new(row, l->err);

    if (!g)
        return l->err->code ? l->err->code : GBOSE_ENOMEM;
    g->next = l->bandit->generations;
    l->bandit->generations = g;
    l->bandit->next_generation = g->number + 1; /* they come in order */
    if (g->number == l->active)
        l->bandit->active = g;
    return 0;
}

int gbose__bandit_settings(struct gbose__settings *settings, const char *text, const char *name,
                           gbose_error *err)
{
    struct gbose__field fields[GBOSE__SET_FIELDS];
    struct gbose__document d = {0};
    struct gbose__problem p = {0};
    const char *message;
    size_t at;
    int bad;

    memcpy(fields, gbose__settings_fields, sizeof fields);
    bad = gbose__document_read(&d, text, strlen(text), &message, &at) ||
          gbose__fields_read(&d, 0, fields, GBOSE__SET_FIELDS, "", &p) ||
          gbose__settings_read(settings, &d, fields, &p);
    gbose__document_clear(&d);
    return bad ? gbose__fail(err, GBOSE__ECORRUPT, "the settings of bandit '%s' cannot be read: %s", name,
                             p.message)
               : GBOSE_OK;
}

int gbose__bandit_load(struct gbose__bandit **out, struct gbose__view *view,
                       const struct gbose__bandit_row *row, gbose_error *err)
{
    struct gbose__bandit *b = gbose__bandit_new(row);
    struct loading l = {.view = view, .bandit = b, .active = row->active, .err = err};
    struct gbose__counts counts;
    int rc;

    if (!b)
        return gbose__no_memory(err);
    rc = gbose__bandit_settings(&b->settings, row->settings, b->name, err);
    if (!rc)
        rc = view->generations(view, b->id, load_generation, &l, err);
    if (!rc)
        rc = view->counts(view, b->id, &counts, err);
    if (!rc && !b->active)
        rc =
            gbose__fail(err, GBOSE__ECORRUPT, "the store is damaged: bandit '%s' has no generation", b->name);
    if (rc) {
        gbose__bandit_release(b);
        return rc;
    }
    atomic_store(&b->outcomes, counts.outcomes);
    b->numbers.next = b->numbers.end = counts.next_number;
    *out = b;
    return GBOSE_OK;
}

static int load_bandit(void *context, const struct gbose__bandit_row *row)
{
    struct loading *l = context;
    struct gbose__bandit *b;
    int rc = gbose__bandit_load(&b, l->view, row, l->err);

    if (rc)
        return rc;
    if (!l->service->store->fleet) { /* all numbers that are left are ours */
        b->numbers.end = GBOSE__MAX_NUMBER + 1;
        atomic_store(&b->leads, 1);
    }
    return gbose__registry_add(l->service, b);
}

int gbose__registry_load(struct gbose__service *service, gbose_error *err)
{
    struct loading l = {.service = service, .err = err};
    struct gbose__view *second;
    int rc = service->store->view(service->store, &l.view, err);

    if (rc)
        return rc;
    rc = service->store->view(service->store, &second, err);
    if (!rc) {
        rc = second->bandits(second, load_bandit, &l, err);
        second->close(second);
    }
    l.view->close(l.view);
    return rc;
}

void gbose__registry_clear(struct gbose__service *service)
{
    while (service->registry.all)
        gbose__registry_remove(service, service->registry.all);
}
