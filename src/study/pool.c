#include "study/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "core/error.h"
#include "study/run.h"

/* A finished run, waiting for the main thread to report it. */
struct finished {
    size_t index;
    int code;
    gbose_error err;
};

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t news;
    struct gbose__study *study;
    const size_t *todo;
    size_t n_alone;            /* runs at the front that go one at a time */
    size_t next_alone;         /* the next of them */
    int alone;                 /* is one of them being played? */
    size_t n, next;            /* all runs, and the next of the others */
    struct finished *finished; /* n, filled from the front */
    size_t n_finished;
    size_t busy;     /* threads that have not ended */
    float *spare;    /* a curve's room, for results that arrive */
    atomic_int halt; /* deal out no more, and give up what is being played */
};

static void queue_init(struct queue *q)
{
    pthread_condattr_t clock;

    pthread_mutex_init(&q->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&q->news, &clock);
    pthread_condattr_destroy(&clock);
}

/* The next run. `alone`: it is of those that go one at a time; who plays it sets q->alone back. */
static int deal(struct queue *q, size_t *index, int *alone)
{
    *alone = !q->alone && q->next_alone < q->n_alone;
    if (q->halt || (!*alone && q->next == q->n))
        return 0;
    *index = q->todo[*alone ? q->next_alone++ : q->next++];
    q->alone |= *alone;
    return 1;
}

static void *work(void *argument)
{
    struct queue *q = argument;
    struct finished f;
    int alone;

    pthread_mutex_lock(&q->lock);
    while (deal(q, &f.index, &alone)) {
        pthread_mutex_unlock(&q->lock);
        f.err.text[0] = 0;
        f.code = gbose__run_play(&q->study->result[f.index], q->study->plan, f.index, &q->halt, &f.err);
        pthread_mutex_lock(&q->lock);
        if (alone)
            q->alone = 0;
        q->finished[q->n_finished++] = f;
        pthread_cond_signal(&q->news);
    }
    q->busy--;
    pthread_cond_signal(&q->news);
    pthread_mutex_unlock(&q->lock);
    return NULL;
}

/* Give a rank its next run. 1: it is playing. */
static int employ(const struct gbose__pool *pool, struct queue *q, int rank)
{
    size_t index = 0;
    int more;

    pthread_mutex_lock(&q->lock);
    more = !q->halt && q->next < q->n;
    if (more)
        index = q->todo[q->next++];
    pthread_mutex_unlock(&q->lock);
    if (more)
        pool->ranks->give(rank, index);
    return more;
}

/* On the monotonic clock: the time of day may be set back. */
static void wait_for_news(struct queue *q, long milliseconds)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += milliseconds * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&q->news, &q->lock, &until);
}

/* Take in what other ranks have finished, and keep them at work. `playing` counts those that are. */
static void receive(const struct gbose__pool *pool, struct queue *q, size_t *playing)
{
    struct gbose__result result = {.curve = q->spare};
    struct finished f;
    int rank;

    while (pool->ranks &&
           pool->ranks->take(&rank, &f.index, &result, q->study->plan->n_points, &f.code, &f.err)) {
        struct gbose__result *slot = &q->study->result[f.index];

        q->spare = slot->curve; /* the two change places */
        *slot = result;
        result.curve = q->spare;
        pthread_mutex_lock(&q->lock);
        q->finished[q->n_finished++] = f;
        pthread_mutex_unlock(&q->lock);
        *playing -= (size_t)!employ(pool, q, rank);
    }
}

/* Until every thread has ended, every rank has answered, and every finished run has been reported. */
static int attend(const struct gbose__pool *pool, struct queue *q, size_t playing, gbose_error *err)
{
    size_t reported = 0, n_finished, busy;
    int rc = GBOSE_OK;

    do {
        receive(pool, q, &playing);
        pthread_mutex_lock(&q->lock);
        if (reported == q->n_finished && (q->busy || playing))
            wait_for_news(q, playing ? 2 : 100);
        n_finished = q->n_finished;
        busy = q->busy;
        pthread_mutex_unlock(&q->lock);
        for (; reported < n_finished; reported++) {
            const struct finished *f = &q->finished[reported];
            if (!rc && f->code)
                rc = gbose__fail(err, f->code, "%s", f->err.text);
            if (!rc && q->study->result[f->index].done)
                rc = pool->finished(pool->user, f->index, err);
            else
                q->halt = 1; /* an error, or somebody was told to stop: here, or another rank */
        }
        if (rc || *pool->stop)
            q->halt = 1;
        pool->tick(pool->user);
    } while (busy || playing || reported < n_finished);
    return rc;
}

int gbose__pool_play(const struct gbose__pool *pool, struct gbose__study *study, const size_t *todo, size_t n,
                     gbose_error *err)
{
    struct queue q = {.study = study, .todo = todo, .n = n};
    size_t threads = pool->threads < n ? pool->threads : n, started = 0, playing = 0;
    pthread_t *thread;
    int rc = GBOSE_OK;

    if (!n)
        return GBOSE_OK;
    thread = calloc(threads, sizeof *thread);
    q.finished = calloc(n, sizeof *q.finished);
    q.spare = calloc(study->plan->n_points, sizeof *q.spare);
    for (size_t i = 0; i < n; i++) {
        struct gbose__result *r = &study->result[todo[i]];
        if (!r->curve)
            r->curve = calloc(study->plan->n_points, sizeof *r->curve);
        if (!r->curve)
            rc = GBOSE_ENOMEM;
    }
    if (!thread || !q.finished || !q.spare || rc) {
        free(thread);
        free(q.finished);
        free(q.spare);
        return gbose__no_memory(err);
    }
    queue_init(&q);
    while (q.n_alone < n && gbose__plan_run_alone(study->plan, todo[q.n_alone]))
        q.n_alone++;
    q.next = q.n_alone;
    for (int rank = 1; pool->ranks && rank < pool->ranks->size(); rank++)
        playing += (size_t)employ(pool, &q, rank);
    pthread_mutex_lock(&q.lock);
    while (started < threads && !pthread_create(&thread[started], NULL, work, &q))
        started++;
    q.busy = started;
    pthread_mutex_unlock(&q.lock);
    if (!started && !playing)
        rc = gbose__fail(err, GBOSE_ENOMEM, "cannot start a thread");
    else
        rc = attend(pool, &q, playing, err);
    for (size_t i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    pthread_cond_destroy(&q.news);
    pthread_mutex_destroy(&q.lock);
    free(q.finished);
    free(q.spare);
    free(thread);
    return rc;
}
