/* The queue in front of the writer: who is in it, and when a group begins. */
#include "serve/writer.h"

#include <time.h>

#define MOST_CHANGES 1024 /* in one transaction */
#define MOST_REST 10000   /* microseconds that changes for which nobody waits may wait for others */
#define ENOUGH 512        /* changes for which nobody waits: a group that costs little for each of them */

static void smooth(int64_t *mean, int64_t x)
{
    *mean += (x - *mean) / 4;
}

void gbose__writer_submit(struct gbose__service *service, struct gbose__job *job)
{
    struct gbose__writer_thread *w = &service->writer;

    if (job->bandit)
        atomic_fetch_add(&job->bandit->references, 1);
    if (job->brief && job->exchange && service->noter.started && !atomic_load(&w->failing))
        gbose__noter_submit(service, job);
    else
        gbose__writer_queue(w, job);
}

void gbose__writer_queue(struct gbose__writer_thread *w, struct gbose__job *job)
{
    int wake;

    job->next = NULL;
    pthread_mutex_lock(&w->lock);
    wake = !w->first;
    *w->last = job;
    w->last = &job->next;
    w->queued += job->n;
    w->wanted += !job->kept;
    wake |= w->resting && (w->wanted || w->queued >= ENOUGH);
    if (job->exchange) {
        w->waiting++;
        if (++w->returned == w->answered) {
            smooth(&w->return_time, gbose__monotonic() - w->answered_at);
            wake |= w->gathering;
        }
    }
    pthread_mutex_unlock(&w->lock);
    if (wake)
        pthread_cond_signal(&w->wake);
}

void gbose__writer_spare(struct gbose__service *service, struct gbose__arena *arena, struct gbose__arena *own)
{
    struct gbose__writer_thread *w = &service->writer;

    if (!own->block) {
        pthread_mutex_lock(&w->lock);
        *own = w->spare;
        w->spare.block = NULL;
        pthread_mutex_unlock(&w->lock);
    }
    gbose__arena_take_spare(arena, own);
}

void gbose__writer_answered(struct gbose__writer_thread *w, size_t n, int64_t now, int64_t began)
{
    pthread_mutex_lock(&w->lock);
    if (w->returned < w->answered && now - w->answered_at > w->return_time)
        w->return_time = now - w->answered_at; /* the last ones have not come back yet */
    w->answered = n;
    w->returned = 0;
    w->answered_at = now;
    smooth(&w->commit_time, now - began);
    pthread_mutex_unlock(&w->lock);
}

void gbose__writer_put_back(struct gbose__writer_thread *w, struct gbose__job *jobs)
{
    struct gbose__job *last = jobs;
    size_t n = jobs ? jobs->n : 0;

    if (!jobs)
        return;
    for (; last->next; last = last->next)
        n += last->next->n;
    pthread_mutex_lock(&w->lock);
    last->next = w->first;
    if (!w->first)
        w->last = &last->next;
    w->first = jobs;
    w->queued += n;
    pthread_mutex_unlock(&w->lock);
}

static void wait_for(struct gbose__writer_thread *w, int64_t microseconds)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until); /* the time of day may be set back */
    until.tv_sec += microseconds / 1000000;
    until.tv_nsec += microseconds % 1000000 * 1000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&w->wake, &w->lock, &until);
}

/* Nobody waits for what is queued, since all of it was answered before: it waits for more, so that the group is large and
 * costs little for each; but not for long, since it would be lost if the process died now. */
static void rest(struct gbose__writer_thread *w)
{
    int64_t until = gbose__monotonic() + MOST_REST, wait;

    w->resting = 1;
    while (!w->wanted && w->queued < ENOUGH && !w->stopping && (wait = until - gbose__monotonic()) > 0)
        wait_for(w, wait);
    w->resting = 0;
}

/* Clients that have just been answered often ask again at once, and would then wait for the whole of the
 * group that is about to begin. If the disk is slow and they are quick, then it is better for all together
 * to begin when they are there: if what they gain, (commit - wait) each, is more than what those lose who
 * are here, wait each. */
static void gather(struct gbose__writer_thread *w)
{
    int64_t until = w->answered_at + w->return_time, wait = until - gbose__monotonic();
    int64_t missing = (int64_t)w->answered - (int64_t)w->returned;

    if (missing <= 0 || wait <= 0 || missing * (w->commit_time - wait) <= (int64_t)w->waiting * wait)
        return;
    w->gathering = 1;
    while (w->returned < w->answered && !w->stopping && (wait = until - gbose__monotonic()) > 0)
        wait_for(w, wait);
    w->gathering = 0;
}

/* Take jobs of about MOST_CHANGES changes off the queue; or one alone, if it may be the one that is refused. Where the
 * store fails, those who wait for an answer do not wait behind those that are kept; but if some of these are in the journal, which
 * must be written first, all are taken. */
static struct gbose__job *take(struct gbose__writer_thread *w)
{
    struct gbose__jobs taken = {NULL, &taken.first};
    struct gbose__job **at = &w->first;
    int failing = atomic_load(&w->failing), all = failing && atomic_load(&w->noted);
    size_t n = 0;

    while (*at) {
        struct gbose__job *job = *at;
        int fits = all || !n || (!w->alone && n + job->n <= MOST_CHANGES);

        if (!fits && !(failing && job->exchange)) {
            if (!failing)
                break;
            at = &job->next;
            continue;
        }
        *at = job->next;
        if (w->last == &job->next)
            w->last = at;
        gbose__jobs_append(&taken, job);
        n += job->n;
        w->waiting -= job->exchange != NULL;
        w->wanted -= !job->kept;
    }
    w->queued -= n;
    w->alone -= w->alone > 0;
    return taken.first;
}

struct gbose__job *gbose__writer_take(struct gbose__writer_thread *w, int64_t microseconds, int *stopping)
{
    struct gbose__job *jobs;

    pthread_mutex_lock(&w->lock);
    if (!w->first && !w->stopping)
        wait_for(w, microseconds);
    if (w->first && !w->wanted)
        rest(w);
    if (w->first)
        gather(w);
    jobs = take(w);
    *stopping = w->stopping;
    pthread_mutex_unlock(&w->lock);
    return jobs;
}
