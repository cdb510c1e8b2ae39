/* What the writer (writer.c) and the queue in front of it (writer_queue.c) share. */
#ifndef GBOSE_SERVE_WRITER_H
#define GBOSE_SERVE_WRITER_H

#include "serve/service.h"

/* A list of jobs, in their order; to begin with {NULL, &first}. */
struct gbose__jobs {
    struct gbose__job *first, **last;
};

static inline void gbose__jobs_append(struct gbose__jobs *list, struct gbose__job *job)
{
    job->next = NULL;
    *list->last = job;
    list->last = &job->next;
}

/* Put it into the writer's queue. */
void gbose__writer_queue(struct gbose__writer_thread *w, struct gbose__job *job);

/* The noter's thread, where the store has a journal. */
int gbose__noter_start(struct gbose__service *service);
void gbose__noter_stop(struct gbose__service *service);  /* what it has goes to the writer */
void gbose__noter_clear(struct gbose__service *service); /* free its memory, when the writer has ended */
void gbose__noter_submit(struct gbose__service *service, struct gbose__job *job);

/* The jobs of the next group, when it is time to begin with it. NULL: there are none, after so long. */
struct gbose__job *gbose__writer_take(struct gbose__writer_thread *w, int64_t microseconds, int *stopping);
/* Jobs that were not written come before those that wait. */
void gbose__writer_put_back(struct gbose__writer_thread *w, struct gbose__job *jobs);
/* A group that began at that time is about to be answered: n exchanges. */
void gbose__writer_answered(struct gbose__writer_thread *w, size_t n, int64_t now, int64_t began);

#endif
