/* The writer: the only thread that changes the store.
 *
 * Group commit: it takes everything that is queued, writes it in one transaction, and tells all who wait.
 * While it writes, the next group gathers: the busier the service, the larger the groups, without any
 * setting. It also closes events whose deadline has passed, and drops old ones.
 *
 * A decision that was answered before it is stored is kept until it is: while the store fails it goes back to the
 * front of the queue. If the database went away in the middle of a commit, it is asked what became of the group before
 * anything else is written. What cannot be stored in the end is counted, and said. */
#include "serve/writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "core/error.h"
#include "serve/turns.h"

#define MOST_CLOSED 1000   /* of one bandit, in one transaction */
#define TICK 50            /* milliseconds at the most between two looks at deadlines */
#define MOST_DROPPED 1000  /* of one bandit, in one transaction */
#define RETAIN_EVERY 10000 /* milliseconds */
#define MOST_TRIES 50      /* of a decision that the store, which is there, refuses */
#define LAST_TRIES 5000    /* milliseconds: how long what is queued may take to be written at the end */
#define SAY_EVERY 10000000 /* microseconds between two lines about what waits for a store that fails */
#define FAILING_PAUSE 50   /* milliseconds between two attempts on a store that fails */
#define MOST_SPARE 1024    /* jobs that are done whose memory is kept for requests */

/* Changes of a group, put together from its jobs, and taken apart again. */
struct group {
    struct gbose__change *change;
    size_t n, capacity;
};

static int add(struct group *g, const struct gbose__change *changes, size_t n)
{
    if (!n) /* a job that only waits for those before it */
        return 0;
    if (g->n + n > g->capacity) {
        size_t capacity = 2 * (g->n + n) + 64;
        void *more = realloc(g->change, capacity * sizeof *g->change);

        if (!more)
            return -1;
        g->change = more;
        g->capacity = capacity;
    }
    memcpy(g->change + g->n, changes, n * sizeof *changes);
    g->n += n;
    return 0;
}

/* What the commit of a job means for the bandit in memory. Returns 1 if there is something to learn. */
static int note(struct gbose__service *service, struct gbose__bandit *b, const struct gbose__change *changes,
                size_t n)
{
    uint64_t closed = 0;

    for (size_t i = 0; i < n; i++) {
        const struct gbose__change *c = &changes[i];

        if (c->kind == GBOSE__ADD_EVENT && c->result == GBOSE__DONE &&
            c->of.event.deadline < atomic_load(&b->due))
            atomic_store(&b->due, c->of.event.deadline);
        if (c->kind == GBOSE__ADD_REWARD)
            closed += (uint64_t)c->of.reward.closed;
        if (c->kind == GBOSE__CLOSE_DUE) {
            closed += c->of.close.closed;
            atomic_store(&b->due, c->of.close.next);
        }
    }
    if (!service->store->fleet) /* else others close, too: the trainer asks the store */
        atomic_fetch_add(&b->outcomes, closed);
    return closed > 0;
}

/* Closing and dropping: changes for each bandit that needs some, two at the most; owner says whose each of them is. */
static void add_housekeeping(struct group *g, struct gbose__bandit **all, size_t n,
                             struct gbose__bandit **owner)
{
    int64_t now = gbose__now();

    for (size_t i = 0; i < n; i++) {
        struct gbose__bandit *b = all[i];
        struct gbose__settings settings;
        struct gbose__change close = {.kind = GBOSE__CLOSE_DUE}, retain = {.kind = GBOSE__RETAIN};

        if (atomic_load(&b->gone) || !atomic_load(&b->leads))
            continue;
        pthread_mutex_lock(&b->lock);
        settings = b->settings;
        pthread_mutex_unlock(&b->lock);
        retain.of.erase = (struct gbose__erase_change){
            .bandit = b->id, .before = now - settings.retention, .most = MOST_DROPPED};
        close.of.close = (struct gbose__close_change){
            b->id, now, MOST_CLOSED, settings.aggregate, settings.default_reward, 0, INT64_MAX};
        if (settings.retention && now - b->retained > RETAIN_EVERY && !add(g, &retain, 1)) {
            b->retained = now;
            *owner++ = b;
        }
        if (atomic_load(&b->due) <= now && !add(g, &close, 1))
            *owner++ = b;
    }
}

/* It is done. Returns 1 if there is something to learn. */
static int note_housekeeping(struct gbose__service *service, const struct gbose__change *changes, size_t n,
                             struct gbose__bandit **owner)
{
    int learn = 0;

    for (size_t i = 0; i < n; i++) {
        if (changes[i].kind == GBOSE__RETAIN && changes[i].of.erase.erased == MOST_DROPPED)
            owner[i]->retained = 0; /* there is more to drop: at the next look */
        learn |= note(service, owner[i], &changes[i], 1);
    }
    return learn;
}

/* Does it change what other servers follow, and this one must not follow at the same moment? */
static int is_followed(const struct gbose__change *change)
{
    return change->kind < GBOSE__ADD_SNAPSHOT || change->kind == GBOSE__ERASE_UNIT;
}

/* The loops have the memory of jobs that are done, if they have used up what they had. */
static void hand_out(struct gbose__writer_thread *w)
{
    pthread_mutex_lock(&w->lock);
    if (!w->spare.block) {
        w->spare = w->finished;
        w->finished.block = NULL;
        w->n_finished = 0;
    }
    pthread_mutex_unlock(&w->lock);
}

/* A job is over. Returns the exchange that is to be answered, or NULL. */
static struct gbose__exchange *finish(struct gbose__service *service, struct gbose__job *job)
{
    struct gbose__writer_thread *w = &service->writer;
    struct gbose__exchange *x = job->exchange;
    struct gbose__bandit *bandit = job->bandit;
    struct gbose__arena arena = job->arena; /* the job may lie in it */

    if (job->place && job->kept)
        atomic_fetch_sub(&w->noted, 1);
    if (job->hook)
        job->hook(service, job); /* perhaps the end of the job's memory */
    if (!x) {
        if (w->n_finished++ < MOST_SPARE)
            gbose__arena_give(&w->finished, &arena);
        gbose__arena_clear(&arena);
    }
    gbose__bandit_release(bandit);
    return x;
}

/* A decision that was answered and cannot be stored. */
static void lose(struct gbose__service *service, struct gbose__job *job, const char *why)
{
    const struct gbose__event_row *event = &job->change->of.event;

    atomic_fetch_add(&service->metrics.counter[GBOSE__N_LOST], job->n);
    fprintf(stderr,
            "gbose serve: LOST %zu decisions of bandit '%s' from number %" PRIu64
            " on, which had been answered as not durable: %s\n",
            job->n, job->bandit->name, event->number, why);
    job->rc = GBOSE__ESTORE;
    finish(service, job);
}

/* What became of a group whose commit was not answered? 0, or it is not known yet. */
static int settle(struct gbose__service *service, gbose_error *err)
{
    struct gbose__writer_thread *w = &service->writer;
    struct gbose__job *jobs = w->doubtful;
    int happened = 0, rc = jobs ? service->store->fleet->settle(service->store, &happened, err) : GBOSE_OK;

    if (rc || !jobs)
        return rc;
    w->doubtful = NULL;
    if (!happened) {
        gbose__writer_put_back(w, jobs);
        return GBOSE_OK;
    }
    while (jobs) {
        struct gbose__job *job = jobs;

        jobs = job->next;
        job->rc = GBOSE_OK;
        finish(service, job);
    }
    return GBOSE_OK;
}

/* For the service's log: the store fails, and how much would be lost with this process; and it works again. A disk on
 * which a small group finds room and a large one does not fails again and again: that is said every few seconds. */
static void say(struct gbose__service *service, int rc, const gbose_error *err)
{
    struct gbose__writer_thread *w = &service->writer;
    int64_t now = gbose__monotonic();

    if (!rc && w->told)
        fprintf(stderr, "gbose serve: the store can be written again\n");
    w->told = rc && w->told;
    if (!rc || (w->said && now - w->said < SAY_EVERY))
        return;
    if (!w->told)
        fprintf(stderr, "gbose serve: the store cannot be written: %s\n", err->text);
    else if (atomic_load(&w->queued))
        fprintf(
            stderr,
            "gbose serve: %zu changes wait in memory for the store, and are lost if this process is killed\n",
            (size_t)atomic_load(&w->queued));
    w->told = 1;
    w->said = now;
}

/* The changes of the group are made, or not. */
static int apply(struct gbose__service *service, struct group *g, gbose_error *err)
{
    int64_t began = gbose__monotonic();
    int rc = service->store->apply(service->store, g->change, g->n, err);

    atomic_fetch_add(&service->metrics.counter[rc ? GBOSE__N_FAILED_GROUPS : GBOSE__N_GROUPS], 1);
    atomic_fetch_add(&service->metrics.counter[GBOSE__N_CHANGES], rc ? 0 : g->n);
    gbose__metrics_time(service->metrics.commit_bucket, &service->metrics.commit_microseconds,
                        gbose__monotonic() - began);
    service->writer.failing = rc != 0;
    say(service, rc, err);
    return rc;
}

/* Tell all jobs of a group what became of it. Returns 1 if there is something to learn. */
static int tell(struct gbose__service *service, const struct group *g, struct gbose__job *jobs, int rc,
                const gbose_error *err, int64_t began, size_t *answered)
{
    struct gbose__writer_thread *w = &service->writer;
    struct gbose__exchange *answers = NULL, *x;
    struct gbose__jobs again = {NULL, &again.first}, doubtful = {NULL, &doubtful.first};
    size_t at = 0, n = 0;
    int learn = 0;

    while (jobs) {
        struct gbose__job *job = jobs;

        jobs = job->next;
        n++;
        if (!job->rc) {
            if (!rc && job->n)
                memcpy(job->change, g->change + at, job->n * sizeof *job->change);
            at += job->n;
            job->rc = rc;
            if (rc)
                job->err = *err;
        }
        if (job->rc && job->kept && job->rc != GBOSE__EABSENT) {
            if (job->rc == GBOSE__EDOUBT)
                gbose__jobs_append(&doubtful, job);
            else if (job->place || job->rc == GBOSE__EAWAY || ++job->tries < MOST_TRIES)
                gbose__jobs_append(&again, job);
            else
                lose(service, job, err->text);
            continue;
        }
        if (!job->rc && job->bandit)
            learn |= note(service, job->bandit, job->change, job->n);
        x = finish(service, job);
        if (x) {
            ++*answered;
            x->next = answers;
            answers = x;
        }
    }
    gbose__writer_put_back(w, again.first);
    if (doubtful.first)
        w->doubtful = doubtful.first;
    if (rc && rc != GBOSE__EAWAY && rc != GBOSE__EDOUBT && n > 1)
        w->alone = n;
    if (*answered)
        gbose__writer_answered(w, *answered, gbose__monotonic(), began);
    gbose__http_answer_all(answers);
    if (w->n_finished)
        hand_out(w);
    return learn;
}

/* Write a list of jobs as one group. Returns how many exchanges were answered. */
static size_t write_group(struct gbose__service *service, struct group *g, struct gbose__job *jobs,
                          int housekeeping)
{
    struct gbose__bandit **all = NULL, **owner = NULL;
    size_t n_bandits = 0, own, answered = 0;
    int64_t began = gbose__monotonic();
    gbose_error err = {0};
    struct gbose__change pass = {.kind = GBOSE__PASS};
    int rc = settle(service, &err), learn = 0, follows = 0;

    g->n = 0;
    for (struct gbose__job *job = jobs; job; job = job->next) {
        job->rc = job->bandit && atomic_load(&job->bandit->gone) ? GBOSE__EABSENT : GBOSE_OK;
        if (!job->rc && add(g, job->change, job->n))
            job->rc = GBOSE_ENOMEM;
        if (job->rc == GBOSE_ENOMEM && job->place && !rc)
            rc = gbose__no_memory(&err); /* nothing is written that comes behind it in the journal */
        if (job->place)
            pass.of.pass = job->place;
    }
    if (pass.of.pass && !rc && add(g, &pass, 1))
        rc = gbose__no_memory(&err);
    own = g->n;
    for (size_t i = 0; i < own && service->store->fleet; i++)
        follows |= is_followed(&g->change[i]);
    if (housekeeping && !rc) {
        all = gbose__registry_all(service, &n_bandits);
        owner = malloc((2 * n_bandits + 1) * sizeof *owner);
        if (all && owner)
            add_housekeeping(g, all, n_bandits, owner);
    }
    if (follows)
        pthread_mutex_lock(&service->fleet.lock);
    if ((g->n || service->writer.failing) && !rc) /* nothing at all, too, tells whether the store is back */
        rc = apply(service, g, &err);
    if (!rc)
        learn = note_housekeeping(service, g->change + own, g->n - own, owner);
    learn |= tell(service, g, jobs, rc, &err, began, &answered);
    if (follows)
        pthread_mutex_unlock(&service->fleet.lock);
    for (size_t i = 0; i < n_bandits; i++)
        gbose__bandit_release(all[i]);
    free(all);
    free(owner);
    if (learn)
        gbose__trainer_wake(service);
    return answered;
}

/* It ends, and the store cannot be written: what was answered is lost, but not silently. */
static void give_up(struct gbose__service *service)
{
    struct gbose__writer_thread *w = &service->writer;

    gbose__writer_put_back(w, w->doubtful);
    w->doubtful = NULL;
    while (w->first) {
        struct gbose__job *job = w->first;

        w->first = job->next;
        if (job->kept && !job->place) /* else it is in the journal */
            lose(service, job, "the store cannot be written");
        else {
            job->rc = GBOSE__EAWAY;
            finish(service, job);
        }
    }
    w->last = &w->first;
}

static void *run(void *context)
{
    struct gbose__service *service = context;
    struct gbose__writer_thread *w = &service->writer;
    struct group group = {0};
    int64_t looked = 0;

    prctl(PR_SET_NAME, "gbose-writer"); /* for top -H */
    gbose__turns_short();
    for (;;) {
        struct gbose__job *jobs;
        size_t answered = 0;
        int64_t now;
        int stopping, look;

        jobs = gbose__writer_take(w, TICK * 1000, &stopping);
        now = gbose__monotonic() / 1000;
        look = now - looked >= TICK && atomic_load(&service->ready);
        if (look)
            looked = now;
        if (jobs || look || w->doubtful)
            answered = write_group(service, &group, jobs, look);
        else if (stopping)
            break;
        if (look && service->store->tidy)
            service->store->tidy(service->store);
        if (stopping && service->writer.failing && now > w->stop_by) {
            give_up(service);
            break;
        }
        if (service->writer.failing && !answered) { /* do not hammer a disk that is full */
            struct timespec pause = {0, FAILING_PAUSE * 1000000};
            nanosleep(&pause, NULL);
        }
    }
    free(group.change);
    gbose__arena_clear(&w->finished);
    return NULL;
}

int gbose__writer_start(struct gbose__service *service)
{
    struct gbose__writer_thread *w = &service->writer;

    pthread_mutex_init(&w->lock, NULL);
    gbose__wake_init(&w->wake);
    w->last = &w->first;
    if (pthread_create(&w->thread, NULL, run, service))
        return -1;
    w->started = 1;
    return service->store->note ? gbose__noter_start(service) : 0;
}

void gbose__writer_stop(struct gbose__service *service)
{
    struct gbose__writer_thread *w = &service->writer;

    if (!w->started)
        return;
    gbose__noter_stop(service);
    pthread_mutex_lock(&w->lock);
    w->stopping = 1;
    w->stop_by = gbose__monotonic() / 1000 + LAST_TRIES;
    pthread_mutex_unlock(&w->lock);
    pthread_cond_signal(&w->wake);
    pthread_join(w->thread, NULL);
    gbose__noter_clear(service);
    gbose__arena_clear(&w->spare);
    w->started = 0;
}
