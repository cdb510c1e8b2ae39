/* The noter: decisions go into the store's journal, all that have come while the last ones were synced at once; then they are
 * answered, and left to the writer, as decisions that were answered before they were stored. So the disk is waited for while the
 * processor works on requests and the store, and the store has large transactions.
 *
 * Whatever the journal does not take goes to the writer as it came. */
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "serve/turns.h"
#include "serve/writer.h"

#define MOST_BYTES ((size_t)512 << 10) /* of a note */
#define MOST_SPARE 64                  /* notes whose memory is kept */
#define LARGE ((size_t)256 << 10)      /* bytes of one that is not kept */
#define RESTS 3          /* times as long as a note takes: between two of them, if clients are expected, */
#define MOST_REST 500000 /* but no longer than so many nanoseconds */
#define MOST_AHEAD 4096  /* changes that the writer may be behind, when it notes more */
#define MOMENT 200000    /* nanoseconds between two looks at that */

/* A batch in the journal, and the jobs that bring it into the store: one for each run of events of one bandit. */
struct gbose__note {
    struct gbose__note *next;
    struct gbose__batch batch;
    struct gbose__job *job;
    size_t n_jobs, capacity;
    size_t left; /* jobs that the writer has not done */
};

static void free_note(struct gbose__note *note)
{
    gbose__batch_clear(&note->batch);
    free(note->job);
    free(note);
}

static struct gbose__note *take_note(struct gbose__noter *t)
{
    struct gbose__note *note;

    pthread_mutex_lock(&t->lock);
    note = t->spare;
    if (note) {
        t->spare = note->next;
        t->n_spare--;
    }
    pthread_mutex_unlock(&t->lock);
    return note ? note : calloc(1, sizeof *note);
}

static void give_note(struct gbose__noter *t, struct gbose__note *note)
{
    pthread_mutex_lock(&t->lock);
    if (t->n_spare < MOST_SPARE && note->batch.capacity <= LARGE) {
        note->next = t->spare;
        t->spare = note;
        t->n_spare++;
        note = NULL;
    }
    pthread_mutex_unlock(&t->lock);
    if (note)
        free_note(note);
}

/* On the writer's thread: a job of a note is done. */
static void written(struct gbose__service *service, struct gbose__job *job)
{
    struct gbose__note *note = job->context;

    if (!--note->left)
        give_note(&service->noter, note);
}

/* Copy the events of jobs, which follow each other, as many as there is room for. Returns the first that was not copied. */
static struct gbose__job *copy(struct gbose__note *note, struct gbose__job *jobs)
{
    struct gbose__batch *batch = &note->batch;

    gbose__batch_begin(batch);
    for (; jobs && batch->size < MOST_BYTES; jobs = jobs->next) {
        size_t n = batch->n, size = batch->size;
        uint64_t sum = batch->sum;

        for (size_t i = 0; i < jobs->n; i++)
            if (gbose__batch_add(batch, &jobs->change[i].of.event)) {
                batch->n = n;
                batch->size = size;
                batch->sum = sum;
                return jobs;
            }
    }
    return jobs;
}

/* The jobs of a note for the writer. 0, or there is no memory. */
static int prepare(struct gbose__note *note, const struct gbose__job *jobs, const struct gbose__job *end)
{
    size_t at = 0;

    if (gbose__batch_open(&note->batch))
        return -1;
    if (note->capacity < note->batch.n) {
        void *more = realloc(note->job, 2 * note->batch.n * sizeof *note->job);

        if (!more)
            return -1;
        note->job = more;
        note->capacity = 2 * note->batch.n;
    }
    note->n_jobs = 0;
    for (; jobs != end; at += jobs->n, jobs = jobs->next) {
        struct gbose__job *last = note->n_jobs ? &note->job[note->n_jobs - 1] : NULL;

        if (!last || last->bandit != jobs->bandit) {
            last = &note->job[note->n_jobs++];
            *last = (struct gbose__job){.bandit = jobs->bandit,
                                        .change = note->batch.change + at,
                                        .hook = written,
                                        .context = note,
                                        .kept = 1};
        }
        last->n += jobs->n;
    }
    note->left = note->n_jobs;
    return 0;
}

/* It is in the journal: the writer has it from here on, and those who asked are answered. */
static void pass_on(struct gbose__service *service, struct gbose__note *note, struct gbose__job *jobs,
                    const struct gbose__job *end)
{
    struct gbose__exchange *answers = NULL;
    uint64_t place = note->batch.last - note->batch.n;
    size_t n = note->n_jobs;

    for (size_t i = 0; i < n;
         i++) { /* the last one may be done, and its memory gone, as soon as it is queued */
        struct gbose__job *job = &note->job[i];

        place += job->n;
        job->place = place;
        atomic_fetch_add(&job->bandit->references, 1);
        atomic_fetch_add(&service->writer.noted, 1);
        gbose__writer_queue(&service->writer, job);
    }
    while (jobs != end) {
        struct gbose__job *job = jobs;
        struct gbose__exchange *x = job->exchange;
        struct gbose__bandit *bandit = job->bandit;

        jobs = job->next;
        job->rc = GBOSE_OK;
        for (size_t i = 0; i < job->n; i++)
            job->change[i].result = GBOSE__DONE;
        job->hook(service, job);
        gbose__bandit_release(bandit);
        x->next = answers;
        answers = x;
    }
    gbose__http_answer_all(answers);
}

/* Note as many of the jobs as there is room for. Returns the rest. */
static struct gbose__job *note_some(struct gbose__service *service, struct gbose__job *jobs)
{
    int failing = atomic_load(&service->writer.failing); /* then nothing is noted that could not be written */
    struct gbose__note *note = failing ? NULL : take_note(&service->noter);
    struct gbose__job *end = note ? copy(note, jobs) : jobs;
    uint64_t place;
    gbose_error err;
    int placed;

    if (note && end != jobs && !prepare(note, jobs, end) &&
        !service->store->note(service->store, &note->batch, &err)) {
        pass_on(service, note, jobs, end);
        return end;
    }
    placed = note && note->batch.last;
    place = placed ? note->batch.last - note->batch.n : 0;
    do { /* one at least: it cannot be noted, alone or with others */
        struct gbose__job *job = jobs;

        jobs = job->next;
        if (placed)
            job->place = place += job->n;
        gbose__writer_queue(&service->writer, job);
    } while (jobs && jobs != end);
    if (note)
        give_note(&service->noter, note);
    return jobs;
}

static int64_t nanoseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Wait until so many jobs are queued, or until that time has come. */
static void wait_for(struct gbose__noter *t, size_t enough, int64_t until)
{
    const struct timespec end = {until / 1000000000, until % 1000000000};

    t->enough = enough;
    while (t->queued < enough && !t->stopping)
        if (!until)
            pthread_cond_wait(&t->wake, &t->lock);
        else if (pthread_cond_timedwait(&t->wake, &t->lock, &end))
            break;
}

/* Take what is queued, when it is time. Clients that were just answered often ask again at once: the next note waits for two thirds of
 * those that were in the last one or came meanwhile, so that notes are large, and while the disk has one of them the loops work on
 * another; but for no longer than `until`. */
static struct gbose__job *take(struct gbose__noter *t, size_t expected, int64_t until, int *stopping)
{
    struct gbose__job *jobs;

    pthread_mutex_lock(&t->lock);
    expected = (expected + t->queued) * 2 / 3;
    wait_for(t, 1, 0);
    if (until > nanoseconds())
        wait_for(t, expected, until);
    jobs = t->first;
    t->first = NULL;
    t->last = &t->first;
    t->queued = 0;
    *stopping = t->stopping;
    pthread_mutex_unlock(&t->lock);
    return jobs;
}

/* Clients who wait here wait until the writer has done a part of what it has, and not until it has done all of it. */
static void wait_for_writer(struct gbose__writer_thread *w)
{
    const struct timespec moment = {0, MOMENT};

    while (atomic_load(&w->queued) > MOST_AHEAD && !atomic_load(&w->failing))
        nanosleep(&moment, NULL);
}

static void *run(void *context)
{
    struct gbose__service *service = context;
    struct gbose__noter *t = &service->noter;
    int64_t began, ended = 0, usual = 0; /* nanoseconds: of a note, and how long one takes, smoothed */
    size_t n = 0;                        /* jobs that were answered last */
    int stopping;

    prctl(PR_SET_NAME, "gbose-noter"); /* for top -H */
    gbose__turns_short();
    do {
        int64_t rest = RESTS * usual < MOST_REST ? RESTS * usual : MOST_REST;
        struct gbose__job *jobs;

        wait_for_writer(&service->writer);
        jobs = take(t, n, ended + rest, &stopping);
        n = 0;
        began = nanoseconds();
        for (const struct gbose__job *job = jobs; job; job = job->next)
            n++;
        while (jobs)
            jobs = note_some(service, jobs);
        ended = nanoseconds();
        usual += (ended - began - usual) / 8;
    } while (!stopping);
    return NULL;
}

void gbose__noter_submit(struct gbose__service *service, struct gbose__job *job)
{
    struct gbose__noter *t = &service->noter;
    int wake;

    job->next = NULL;
    pthread_mutex_lock(&t->lock);
    wake = ++t->queued == t->enough;
    *t->last = job;
    t->last = &job->next;
    pthread_mutex_unlock(&t->lock);
    if (wake)
        pthread_cond_signal(&t->wake);
}

int gbose__noter_start(struct gbose__service *service)
{
    struct gbose__noter *t = &service->noter;

    pthread_mutex_init(&t->lock, NULL);
    gbose__wake_init(&t->wake);
    t->last = &t->first;
    if (pthread_create(&t->thread, NULL, run, service))
        return -1;
    t->started = 1;
    return 0;
}

void gbose__noter_stop(struct gbose__service *service)
{
    struct gbose__noter *t = &service->noter;

    if (!t->started)
        return;
    pthread_mutex_lock(&t->lock);
    t->stopping = 1;
    pthread_mutex_unlock(&t->lock);
    pthread_cond_signal(&t->wake);
    pthread_join(t->thread, NULL);
    t->started = 0;
}

void gbose__noter_clear(struct gbose__service *service)
{
    struct gbose__note *note;

    while ((note = service->noter.spare)) {
        service->noter.spare = note->next;
        free_note(note);
    }
}
