/* The trainer: learns closed events in the order of their closing, and publishes models.
 *
 * It takes a slice of each bandit in turn, so that a long log that a new generation has to learn does not
 * keep others waiting. What it has learned is lost with the process, and learned again from the last
 * snapshot: the log is the truth. */
#include "serve/fold.h"
#include "serve/service.h"

#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "core/error.h"

#define SLICE 256           /* outcomes learned of one generation at a time */
#define PUBLISH_EVERY 50000 /* microseconds at the least between two models of a generation that is behind */
#define NAP 100             /* milliseconds */
#define SMALL_SNAPSHOT (64 << 10) /* bytes */

void gbose__trainer_wake(struct gbose__service *service)
{
    struct gbose__trainer *t = &service->trainer;

    pthread_mutex_lock(&t->lock);
    t->work = 1;
    pthread_mutex_unlock(&t->lock);
    pthread_cond_signal(&t->wake);
}

/* ---- changes to the store ---- */

struct order { /* a job of the trainer's, with the one change that it has, and memory to be freed with it */
    struct gbose__job job;
    struct gbose__change change[2];
    void *bytes;
    struct gbose__generation *generation;
};

static struct order *order_new(struct gbose__bandit *bandit)
{
    struct gbose__arena arena = {0};
    struct order *o = gbose__arena_take(&arena, sizeof *o);

    if (!o)
        return NULL;
    memset(o, 0, sizeof *o);
    o->job.arena = arena;
    o->job.bandit = bandit;
    o->job.change = o->change;
    o->job.n = 1;
    return o;
}

static void snapshot_written(struct gbose__service *service, struct gbose__job *job)
{
    struct order *o = job->context;

    if (!job->rc)
        atomic_fetch_add(&service->metrics.counter[GBOSE__N_SNAPSHOTS], 1);
    free(o->bytes);
}

/* A snapshot is kept for `recompute`, and as the one that stands for events that `retention` drops up to it:
 * each of them if it is small beside the thousand events between two of them, else each sixteenth. */
static int is_kept(uint64_t learned, size_t size)
{
    return size <= SMALL_SNAPSHOT || learned / GBOSE__CHECKPOINT % 16 == 0;
}

/* Store what a generation knew after `learned` outcomes. If it cannot be, the next one will be. */
static void store_snapshot(struct gbose__service *service, struct gbose__bandit *bandit, uint32_t generation,
                           uint64_t learned, void *bytes, size_t size)
{
    struct order *o = order_new(bandit);
    int renewed;

    if (!o) {
        free(bytes);
        return;
    }
    o->bytes = bytes;
    o->job.context = o;
    o->job.hook = snapshot_written;
    o->change[0] = (struct gbose__change){
        .kind = GBOSE__ADD_SNAPSHOT,
        .of.snapshot = {bandit->id, generation, learned, bytes, size, is_kept(learned, size),
                        service->store->fleet ? service->store->fleet->history(service->store, &renewed)
                                              : 0}};
    gbose__writer_submit(service, &o->job);
}

/* A generation has learned the log, and the store knows: it may decide, and does if somebody asked for it. */
static void now_ready(struct gbose__service *service, struct gbose__job *job)
{
    struct order *o = job->context;
    struct gbose__bandit *b = job->bandit;

    (void)service;
    pthread_mutex_lock(&b->lock);
    if (!job->rc && job->change->result == GBOSE__DONE && !o->generation->dropped) {
        o->generation->ready = 1;
        if (job->n == 2)
            b->active = o->generation;
    }
    o->generation->wanted = job->rc ? 1 : 0;
    pthread_mutex_unlock(&b->lock);
    free(o->bytes);
}

static void make_ready(struct gbose__service *service, struct gbose__bandit *b, struct gbose__generation *g,
                       int activate)
{
    struct order *o = order_new(b);

    if (!o)
        return;
    pthread_mutex_lock(&b->lock);
    g->wanted = 2; /* under way */
    pthread_mutex_unlock(&b->lock);
    o->generation = g;
    o->job.context = o;
    o->job.hook = now_ready;
    o->job.n = activate ? 2 : 1;
    o->change[0] = (struct gbose__change){.kind = GBOSE__SET_READY,
                                          .of.generation = {.bandit = b->id, .number = g->number}};
    o->change[1] = (struct gbose__change){.kind = GBOSE__PUT_BANDIT,
                                          .chained = 1,
                                          .of.bandit = {.id = b->id, .name = b->name, .active = g->number}};
    gbose__writer_submit(service, &o->job);
}

/* A generation that nobody needs any more goes from the store, too. */
static void forget(struct gbose__service *service, struct gbose__bandit *b, uint32_t number)
{
    struct order *o = order_new(b);

    if (!o)
        return;
    o->change[0] = (struct gbose__change){.kind = GBOSE__DROP_GENERATION,
                                          .of.generation = {.bandit = b->id, .number = number}};
    gbose__writer_submit(service, &o->job);
}

/* ---- learning ---- */

struct slice {
    struct gbose__service *service;
    struct gbose__bandit *bandit;
    struct gbose__generation *generation;
    struct gbose__fold fold;
    size_t n;
};

static int learn(void *context, const struct gbose__case *it)
{
    struct slice *s = context;
    void *bytes;
    size_t size;
    int rc = gbose__fold_add(&s->fold, s->service->trainer.desk, it, &bytes, &size);

    if (bytes)
        store_snapshot(s->service, s->bandit, s->generation->number, s->fold.checkpoint, bytes, size);
    s->n += rc == GBOSE_OK;
    return rc;
}

void gbose__trainer_publish(struct gbose__bandit *b, struct gbose__generation *g, struct gbose__model *model)
{
    struct gbose__model *old = model;

    pthread_mutex_lock(&b->lock);
    if (!g->model || g->stale ||
        g->model->learned <= model->learned) { /* else a new leader is still on its way to where we were */
        old = g->model;
        g->model = model;
        g->stale = 0;
    }
    pthread_mutex_unlock(&b->lock);
    gbose__model_release(old);
}

static void publish(struct gbose__bandit *b, struct gbose__generation *g)
{
    struct gbose__model *model = gbose__model_new(g->learning, g->encoder, g->number, g->known);

    if (!model)
        return;
    gbose__trainer_publish(b, g, model);
    g->published = gbose__monotonic();
}

/* Learn a slice. 1: there is more to learn; 0: it is up to date; or an error. */
static int train(struct gbose__service *service, struct gbose__bandit *b, struct gbose__generation *g,
                 size_t most, gbose_error *err)
{
    struct gbose__view *view = service->trainer.view;
    struct slice s = {.service = service, .bandit = b, .generation = g};
    uint64_t outcomes = atomic_load(&b->outcomes);
    int rc = GBOSE_OK;

    if (!g->learning) {
        rc = gbose__fold_begin(&s.fold, g, err);
        if (!rc)
            rc = gbose__fold_resume(&s.fold, view, b->id, g->number, UINT64_MAX, err);
        if (rc) {
            gbose_free(s.fold.g);
            return rc;
        }
        g->known = 0;
    } else {
        s.fold = (struct gbose__fold){
            .encoder = g->encoder, .g = g->learning, .learned = g->learned, .checkpoint = g->checkpoint};
    }
    if (s.fold.learned < outcomes && g->known < outcomes)
        rc = view->outcomes(view, b->id, s.fold.learned, outcomes, most, learn, &s, err);
    if (!rc && s.n < most && g->known < outcomes)
        g->known = outcomes;
    if (g->known < s.fold.learned)
        g->known = s.fold.learned;
    g->learning = s.fold.g;
    g->learned = s.fold.learned;
    g->checkpoint = s.fold.checkpoint;
    atomic_store(&g->progress, g->known);
    atomic_fetch_add(&service->metrics.counter[GBOSE__N_LEARNED], s.n);
    if (!g->model || g->stale ||
        (g->model->learned < g->known && (s.n < most || gbose__monotonic() - g->published > PUBLISH_EVERY)))
        publish(b, g);
    return rc ? rc : s.n == most;
}

/* Which generations learn: the active one, those that are not ready, and one that is wanted. Others rest
 * until they are wanted. */
static int turn(struct gbose__service *service, struct gbose__bandit *b)
{
    struct gbose__generation *learns[GBOSE__KEPT_GENERATIONS + 2], *dropped = NULL, **at;
    gbose_error err;
    size_t n = 0;
    int more = 0, leads = atomic_load(&b->leads);

    pthread_mutex_lock(&b->lock);
    for (at = &b->generations; *at;) {
        struct gbose__generation *g = *at;

        if (g->dropped && g->wanted != 2 && g != b->active) {
            *at = g->next;
            g->next = dropped;
            dropped = g;
            continue;
        }
        if ((g == b->active || !g->ready || g->wanted == 1) && !g->dropped && leads &&
            n < GBOSE__KEPT_GENERATIONS + 2)
            learns[n++] = g;
        if (!leads && g->learning) { /* another server learns now */
            gbose_free(g->learning);
            g->learning = NULL;
        }
        at = &g->next;
    }
    pthread_mutex_unlock(&b->lock);
    while (dropped) {
        struct gbose__generation *g = dropped;

        dropped = g->next;
        forget(service, b, g->number);
        gbose__generation_free(g);
    }
    for (size_t i = 0; i < n && !atomic_load(&b->gone); i++) {
        int rc = train(service, b, learns[i], SLICE, &err);

        more |= rc > 0;
        if (rc == 0 && (!learns[i]->ready || learns[i]->wanted == 1) && learns[i]->wanted != 2)
            make_ready(service, b, learns[i], learns[i]->wanted == 1);
    }
    return more | gbose__monitor_extend(b, &service->trainer, SLICE);
}

static void *run(void *context)
{
    struct gbose__service *service = context;
    struct gbose__trainer *t = &service->trainer;
    int64_t keys = gbose__monotonic();
    int more = 0;

    prctl(PR_SET_NAME, "gbose-trainer"); /* for top -H */
    for (;;) {
        struct gbose__bandit **all;
        gbose_error err;
        struct timespec until;
        size_t n;
        int stopping;

        pthread_mutex_lock(&t->lock);
        if (!t->work && !more && !t->stopping) {
            clock_gettime(CLOCK_MONOTONIC, &until);
            until.tv_nsec += NAP * 1000000;
            until.tv_sec += until.tv_nsec / 1000000000;
            until.tv_nsec %= 1000000000;
            pthread_cond_timedwait(&t->wake, &t->lock, &until);
        }
        t->woken = t->work;
        t->work = 0;
        stopping = t->stopping;
        pthread_mutex_unlock(&t->lock);
        if (stopping)
            return NULL;
        if (gbose__monotonic() - keys > 1000000 &&
            !service->store->fleet) { /* `gbose key`, another process */
            gbose__keys_load(service, t->view, &err);
            keys = gbose__monotonic();
        }
        gbose__fleet_turn(service);
        more = 0;
        all = gbose__registry_all(service, &n);
        for (size_t i = 0; i < n; i++) {
            more |= turn(service, all[i]);
            gbose__bandit_release(all[i]);
        }
        free(all);
    }
}

int gbose__trainer_start(struct gbose__service *service, gbose_error *err)
{
    struct gbose__trainer *t = &service->trainer;
    struct gbose__bandit **all;
    size_t n;
    int rc = service->store->view(service->store, &t->view, err);

    pthread_mutex_init(&t->lock, NULL);
    gbose__wake_init(&t->wake);
    if (rc)
        return rc;
    t->desk = gbose__desk_new(service);
    if (!t->desk)
        return gbose__no_memory(err);
    /* Active generations are up to date before the first request: at most a checkpoint's worth of events
     * each. */
    all = gbose__registry_all(service, &n);
    for (size_t i = 0; i < n; i++) {
        if (!atomic_load(&all[i]->leads))
            rc = rc < 0 ? rc : gbose__fleet_follow(service, all[i], err);
        else
            while (rc >= 0 && (rc = train(service, all[i], all[i]->active, 1000, err)) > 0)
                gbose__fleet_live(service);
        gbose__bandit_release(all[i]);
    }
    free(all);
    if (rc < 0)
        return rc;
    if (pthread_create(&t->thread, NULL, run, service))
        return gbose__fail(err, GBOSE_ENOMEM, "cannot start a thread");
    t->started = 1;
    return GBOSE_OK;
}

void gbose__trainer_stop(struct gbose__service *service)
{
    struct gbose__trainer *t = &service->trainer;

    if (t->started) {
        pthread_mutex_lock(&t->lock);
        t->stopping = 1;
        pthread_mutex_unlock(&t->lock);
        pthread_cond_signal(&t->wake);
        pthread_join(t->thread, NULL);
    }
    gbose__desk_free(t->desk);
    if (t->view)
        t->view->close(t->view);
    t->desk = NULL;
    t->view = NULL;
    t->started = 0;
}
