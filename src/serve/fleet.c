/* One of many servers on a store that all of them share.
 *
 * Servers are alike and hold nothing that is not in the store. Each follows it: bandits, generations, keys and settings that
 * others changed, and the models that a bandit's leader publishes. The leader of a bandit, whoever holds its lock,
 * closes its events and learns them. All of this is on the trainer's thread. */
#include "serve/fold.h"
#include "serve/service.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/error.h"

#define LOOK_EVERY 200000   /* microseconds; and at once when somebody has told us */
#define LEAD_EVERY 500000   /* attempts to lead, and signs of life */
#define BEAT_EVERY 1000000  /* signs of life */
#define SHOW_EVERY 400000   /* models that are shown to others */
#define TEND_EVERY 60000000 /* days that are made and dropped */

/* ---- models ---- */

struct taking {
    struct gbose__encoder *encoder;
    struct gbose__model *model;
};

static int take_model(void *context, const struct gbose__snapshot_row *row)
{
    struct taking *t = context;
    gbose *g;
    int rc = gbose_load(&g, row->bytes, row->size, NULL);

    if (!rc) {
        t->model = gbose__model_of(g, t->encoder, row->generation, row->learned);
        rc = t->model ? GBOSE_OK : GBOSE_ENOMEM;
    }
    return rc;
}

/* Decide by the model that the leader has published; or, where it has not, by one that is made of the log. */
static int follow_model(struct gbose__service *service, struct gbose__bandit *b, struct gbose__generation *g,
                        gbose_error *err)
{
    struct gbose__trainer *t = &service->trainer;
    struct taking taking = {g->encoder, NULL};
    uint64_t outcomes = atomic_load(&b->outcomes);
    gbose *learner;
    int rc = service->store->fleet->published(service->store, b->id, g->number, take_model, &taking, err);

    if (rc == GBOSE__EABSENT && !g->model) {
        rc = gbose__fold_upto(t->view, t->desk, b->id, g, outcomes, 0, &learner, err);
        if (!rc && !(taking.model = gbose__model_of(learner, g->encoder, g->number, outcomes)))
            rc = gbose__no_memory(err);
    }
    if (!rc && taking.model) {
        atomic_store(&g->progress, taking.model->learned);
        gbose__trainer_publish(b, g, taking.model);
    }
    return rc == GBOSE__EABSENT ? GBOSE_OK : rc;
}

/* Show what the generations that learn here have learned. */
static void show_models(struct gbose__service *service, struct gbose__bandit *b)
{
    int64_t now = gbose__monotonic();

    /* Only this thread frees generations, and new ones come at the head. */
    pthread_mutex_lock(&b->lock);
    for (struct gbose__generation *g = b->generations, *next; g; g = next) {
        struct gbose__snapshot_row row = {.bandit = b->id, .generation = g->number, .learned = g->known};
        gbose_error err;
        void *bytes;

        next = g->next;
        if (g->dropped || !g->learning || g->shown == g->known + 1 || now - g->shown_at < SHOW_EVERY)
            continue;
        pthread_mutex_unlock(&b->lock);
        bytes = gbose__model_save(g->learning, &row.size);
        row.bytes = bytes;
        if (bytes && !service->store->fleet->publish(service->store, &row, &err))
            g->shown = row.learned + 1;
        g->shown_at = now;
        free(bytes);
        pthread_mutex_lock(&b->lock);
    }
    pthread_mutex_unlock(&b->lock);
}

/* ---- following the store ---- */

struct following {
    struct gbose__service *service;
    struct gbose__bandit **all; /* by id */
    size_t n;
    struct gbose__bandit *bandit;
    uint32_t active;
    uint32_t seen[GBOSE__KEPT_GENERATIONS * 4];
    size_t n_seen;
    unsigned char *there; /* of each of all */
    gbose_error *err;
};

static int by_id(const void *a, const void *b)
{
    uint32_t x = (*(struct gbose__bandit *const *)a)->id, y = (*(struct gbose__bandit *const *)b)->id;

    return (x > y) - (x < y);
}

static struct gbose__bandit **find(struct following *f, uint32_t id)
{
    size_t lo = 0, hi = f->n;

    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;

        if (f->all[middle]->id < id)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo < f->n && f->all[lo]->id == id ? &f->all[lo] : NULL;
}

static int follow_generation(void *context, const struct gbose__generation_row *row)
{
    struct following *f = context;
    struct gbose__bandit *b = f->bandit;
    struct gbose__generation *g, *fresh = NULL;

    if (f->n_seen < sizeof f->seen / sizeof *f->seen)
        f->seen[f->n_seen++] = row->number;
    pthread_mutex_lock(&b->lock);
    g = gbose__generation_find(b, row->number);
    pthread_mutex_unlock(&b->lock);
    if (!g && !(fresh = gbose__generation_new(row, f->err)))
        return f->err->code ? f->err->code : GBOSE_ENOMEM;
    pthread_mutex_lock(&b->lock);
    if (fresh) {
        fresh->next = b->generations;
        b->generations = fresh;
        if (b->next_generation <= fresh->number)
            b->next_generation = fresh->number + 1;
    } else {
        if (row->ready)
            atomic_store(&g->ready, 1);
        if (atomic_load(&g->wanted) != 2)
            atomic_store(&g->wanted, row->wanted);
    }
    pthread_mutex_unlock(&b->lock);
    return 0;
}

/* Generations that others have dropped; and the one that decides, when it can. */
static int follow_active(struct following *f)
{
    struct gbose__bandit *b = f->bandit;
    struct gbose__generation *active;
    int rc = GBOSE_OK;

    pthread_mutex_lock(&b->lock);
    for (struct gbose__generation *g = b->generations; g; g = g->next) {
        int there = f->n_seen == sizeof f->seen / sizeof *f->seen;

        for (size_t i = 0; i < f->n_seen; i++)
            there |= f->seen[i] == g->number;
        if (!there)
            g->dropped = 1;
    }
    active = b->active->number == f->active ? NULL : gbose__generation_find(b, f->active);
    pthread_mutex_unlock(&b->lock);
    if (!active || !atomic_load(&active->ready))
        return GBOSE_OK;
    if (!active->model)
        rc = follow_model(f->service, b, active, f->err);
    if (!rc && active->model) {
        pthread_mutex_lock(&b->lock);
        b->active = active;
        pthread_mutex_unlock(&b->lock);
    }
    return rc;
}

/* A bandit that another server has made. */
static int follow_new(struct following *f, const struct gbose__bandit_row *row)
{
    struct gbose__bandit *b, *old = gbose__registry_find(f->service, row->name);
    int rc;

    if (old && old->id != row->id && !atomic_load(&old->gone))
        gbose__registry_remove(f->service, old); /* it was dropped and made again */
    else if (old) {
        gbose__bandit_release(old);
        return GBOSE_OK;
    }
    gbose__bandit_release(old);
    rc = gbose__bandit_load(&b, f->service->trainer.view, row, f->err);
    if (rc)
        return rc;
    rc = follow_model(f->service, b, b->active, f->err);
    if (rc)
        gbose__bandit_release(b);
    else
        gbose__lease_first(f->service, b);
    return rc;
}

static int follow_bandit(void *context, const struct gbose__bandit_row *row)
{
    struct following *f = context;
    struct gbose__view *view = f->service->trainer.view;
    struct gbose__bandit **at = find(f, row->id);
    struct gbose__settings settings = gbose__settings_default;
    int rc;

    if (!at)
        return follow_new(f, row);
    f->there[at - f->all] = 1;
    f->bandit = *at;
    f->active = row->active;
    f->n_seen = 0;
    rc = gbose__bandit_settings(&settings, row->settings, row->name, f->err);
    if (rc)
        return rc;
    pthread_mutex_lock(&f->bandit->lock);
    f->bandit->settings = settings;
    pthread_mutex_unlock(&f->bandit->lock);
    rc = view->generations(view, row->id, follow_generation, f, f->err);
    return rc ? rc : follow_active(f);
}

/* Bandits, generations and keys have changed. */
static int follow_all(struct following *f)
{
    struct gbose__view *view = f->service->trainer.view;
    int rc;

    gbose__lease_clear(f->service); /* those that are still there are found again */
    pthread_mutex_lock(&f->service->fleet.lock);
    f->there = calloc(f->n + 1, 1);
    rc = f->there ? view->bandits(view, follow_bandit, f, f->err) : gbose__no_memory(f->err);
    for (size_t i = 0; i < f->n && !rc; i++)
        if (!f->there[i] && !atomic_load(&f->all[i]->gone))
            gbose__registry_remove(f->service, f->all[i]);
    free(f->there);
    pthread_mutex_unlock(&f->service->fleet.lock);
    return rc ? rc : gbose__keys_load(f->service, view, f->err);
}

static int take_news(void *context, const struct gbose__news_row *row)
{
    struct following *f = context;
    struct gbose__bandit **at = find(f, row->bandit);
    struct gbose__generation *g;
    int follows;

    if (!at)
        return 0;
    if (atomic_load(&(*at)->outcomes) < row->outcomes)
        atomic_store(&(*at)->outcomes, row->outcomes);
    if (atomic_load(&(*at)->leads))
        atomic_store(&(*at)->due, row->due);
    if (!row->generation)
        return 0;
    pthread_mutex_lock(&(*at)->lock);
    g = gbose__generation_find(*at, row->generation);
    follows = g && !g->learning && (!g->model || g->stale || g->model->learned < row->learned);
    pthread_mutex_unlock(&(*at)->lock);
    if (follows)
        follow_model(f->service, *at, g, f->err);
    return 0;
}

static void look(struct gbose__service *service)
{
    struct gbose__fleet_state *s = &service->fleet;
    gbose_error err = {0};
    struct following f = {.service = service, .err = &err};
    uint64_t version = s->version;

    f.all = gbose__registry_all(service, &f.n);
    if (f.all && f.n)
        qsort(f.all, f.n, sizeof(struct gbose__bandit *), by_id);
    if (f.all && !service->store->fleet->news(service->store, &version, take_news, &f, &err) &&
        version != s->version && !follow_all(&f))
        s->version = version;
    for (size_t i = 0; i < f.n; i++)
        gbose__bandit_release(f.all[i]);
    free(f.all);
}

/* A standby has taken the place of the database. What was learned from outcomes that it does not have is forgotten:
 * everything is read again. Decisions are made by the models of before until then. */
static void begin_again(struct gbose__service *service)
{
    size_t n;
    struct gbose__bandit **all = gbose__registry_all(service, &n);

    for (size_t i = 0; i < n; i++) {
        struct gbose__bandit *b = all[i];

        pthread_mutex_lock(&b->lock);
        for (struct gbose__generation *g = b->generations; g; g = g->next) {
            gbose_free(g->learning);
            g->learning = NULL;
            g->shown = 0;
            g->stale = 1;
        }
        pthread_mutex_unlock(&b->lock);
        atomic_store(&b->leads, 0);
        atomic_store(&b->outcomes, 0);
        pthread_mutex_lock(&b->monitor_lock);
        gbose__monitor_free(b->monitor);
        b->monitor = NULL;
        pthread_mutex_unlock(&b->monitor_lock);
        gbose__bandit_release(b);
    }
    free(all);
    gbose__lease_clear(service);
    service->fleet.version = 0;
    service->fleet.led = service->fleet.news = 0;
}

/* Returns 0 if there is a database to work on. */
static int adopt(struct gbose__service *service)
{
    const struct gbose__fleet *fleet = service->store->fleet;
    gbose_error err;
    int renewed, rc;
    unsigned before = fleet->history(service->store, &renewed);

    if (!renewed)
        return GBOSE_OK;
    begin_again(service);
    rc = fleet->adopt(service->store, &err);
    if (!rc)
        fprintf(stderr,
                "gbose serve: a standby has taken the place of the database (timeline %u after %u): "
                "everything is read again\n",
                fleet->history(service->store, &renewed), before);
    return rc;
}

/* ---- signs of life ---- */

static int beat(struct gbose__service *service, gbose_error *err)
{
    struct gbose__fleet_state *s = &service->fleet;
    struct gbose__text report = {0};
    size_t n;
    struct gbose__bandit **all = gbose__registry_all(service, &n);
    int rc = GBOSE_OK;

    gbose__servers_report(service, &report, all, atomic_load(&service->ready) ? n : 0);
    if (!report.bad)
        rc = service->store->fleet->beat(service->store, s->name, report.at, &s->stream, err);
    gbose__text_clear(&report);
    for (size_t i = 0; i < n; i++)
        gbose__bandit_release(all[i]);
    free(all);
    return rc;
}

static void lead(struct gbose__service *service, struct gbose__bandit *b)
{
    gbose_error err;
    int leads = 0;

    if (service->store->fleet->lead(service->store, b->id, &leads, &err))
        leads = 0;
    atomic_store(&b->leads, leads);
}

void gbose__fleet_live(struct gbose__service *service)
{
    struct gbose__fleet_state *s = &service->fleet;
    int64_t now = gbose__monotonic();
    gbose_error err;

    if (!service->store->fleet || now - s->beat <= BEAT_EVERY)
        return;
    s->beat = now;
    if (beat(service, &err) ==
        GBOSE__EAWAY) /* the writer, who may have nothing to write, looks whether it is so */
        atomic_store(&service->writer.failing, 1);
}

void gbose__fleet_turn(struct gbose__service *service)
{
    const struct gbose__fleet *fleet = service->store->fleet;
    struct gbose__fleet_state *s = &service->fleet;
    int64_t now = gbose__monotonic();
    struct gbose__bandit **all;
    gbose_error err;
    size_t n;
    int leads;

    if (!fleet || adopt(service))
        return;
    if (gbose__lease_welcome(service))
        s->version = 0; /* they may have been changed meanwhile */
    if (fleet->told(service->store) || service->trainer.woken || now - s->news > LOOK_EVERY) {
        s->news = now;
        look(service);
    }
    gbose__fleet_live(service);
    leads = now - s->led > LEAD_EVERY;
    if (leads)
        s->led = now;
    all = gbose__registry_all(service, &n);
    for (size_t i = 0; i < n; i++) {
        if (leads)
            lead(service, all[i]);
        if (atomic_load(&all[i]->leads))
            show_models(service, all[i]);
        gbose__lease_more(service, all[i]);
        gbose__bandit_release(all[i]);
    }
    free(all);
    if (now - s->tended > TEND_EVERY) {
        s->tended = now;
        fleet->tend(service->store, &err);
    }
}

/* ---- starting ---- */

int gbose__fleet_start(struct gbose__service *service, gbose_error *err)
{
    struct gbose__fleet_state *s = &service->fleet;
    struct gbose__bandit **all;
    char host[80] = "server";
    size_t n;
    int rc;

    if (!service->store->fleet)
        return GBOSE_OK;
    gethostname(host, sizeof host - 1);
    snprintf(s->name, sizeof s->name, "%s:%ld", host, (long)getpid());
    rc = beat(service, err);
    if (!rc)
        rc = service->store->fleet->tend(service->store, err);
    s->tended = gbose__monotonic();
    all = gbose__registry_all(service, &n);
    if (!rc)
        rc = gbose__lease_all(service, all, n, err);
    for (size_t i = 0; i < n; i++) {
        if (!rc)
            lead(service, all[i]);
        gbose__bandit_release(all[i]);
    }
    free(all);
    return rc;
}

int gbose__fleet_follow(struct gbose__service *service, struct gbose__bandit *b, gbose_error *err)
{
    return follow_model(service, b, b->active, err);
}
