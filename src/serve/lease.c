/* Decision numbers that this server may use: runs of them, leased from a store that others share.
 *
 * More are asked for when half of them are used, so that a decision never waits for them. A bandit that
 * another server has made is not known here before it has numbers. */
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "serve/service.h"

/* Microseconds that numbers are used for, so that they are nearly in the order of time. */
#define LEASE_LASTS 60000000

struct lease {
    struct gbose__job job;
    struct gbose__change change;
};

static void leased(struct gbose__service *service, struct gbose__job *job)
{
    struct gbose__bandit *b = job->bandit;
    const struct gbose__lease_change *it = &job->change->of.lease;
    struct gbose__numbers fresh = {it->first, it->first + it->n, gbose__monotonic(), it->first};

    pthread_mutex_lock(&b->lock);
    b->leasing = 0;
    if (!job->rc && job->change->result == GBOSE__DONE && fresh.end <= GBOSE__MAX_NUMBER + 1) {
        if (b->numbers.next == b->numbers.end || fresh.since - b->numbers.since > LEASE_LASTS)
            b->numbers = fresh;
        else
            b->spare = fresh;
    }
    pthread_mutex_unlock(&b->lock);
    if (!job->rc)
        gbose__trainer_wake(service);
}

void gbose__lease_more(struct gbose__service *service, struct gbose__bandit *b)
{
    struct gbose__arena arena = {0};
    struct lease *l;
    int64_t now = gbose__monotonic();
    int few;

    pthread_mutex_lock(&b->lock);
    few = !b->leasing &&
          ((b->numbers.end - b->numbers.next < GBOSE__LEASED / 2 && b->spare.next == b->spare.end) ||
           (b->numbers.used != b->numbers.next && now - b->numbers.since > LEASE_LASTS));
    b->leasing |= few;
    if (few)
        b->numbers.used = b->numbers.next;
    pthread_mutex_unlock(&b->lock);
    if (!few)
        return;
    l = gbose__arena_take(&arena, sizeof *l);
    if (!l) {
        b->leasing = 0;
        return;
    }
    memset(l, 0, sizeof *l);
    l->change = (struct gbose__change){.kind = GBOSE__LEASE_NUMBERS, .of.lease = {b->id, GBOSE__LEASED, 0}};
    l->job.arena = arena;
    l->job.bandit = b;
    l->job.change = &l->change;
    l->job.n = 1;
    l->job.hook = leased;
    gbose__writer_submit(service, &l->job);
}

/* ---- bandits that are new here ---- */

void gbose__lease_first(struct gbose__service *service, struct gbose__bandit *b)
{
    b->next = service->fleet.newcomers;
    service->fleet.newcomers = b;
    gbose__lease_more(service, b);
}

int gbose__lease_welcome(struct gbose__service *service)
{
    int any = 0;

    for (struct gbose__bandit **at = &service->fleet.newcomers; *at;) {
        struct gbose__bandit *b = *at;
        int has;

        pthread_mutex_lock(&b->lock);
        has = b->numbers.next < b->numbers.end || b->spare.next < b->spare.end;
        pthread_mutex_unlock(&b->lock);
        if (!has) {
            gbose__lease_more(service, b);
            at = &b->next;
            continue;
        }
        *at = b->next;
        any = 1;
        if (gbose__registry_add(service, b))
            gbose__bandit_release(b);
    }
    return any;
}

void gbose__lease_clear(struct gbose__service *service)
{
    while (service->fleet.newcomers) {
        struct gbose__bandit *b = service->fleet.newcomers;

        service->fleet.newcomers = b->next;
        gbose__bandit_release(b);
    }
}

/* ---- at the start ---- */

int gbose__lease_all(struct gbose__service *service, struct gbose__bandit **all, size_t n, gbose_error *err)
{
    struct gbose__change *changes = calloc(n + 1, sizeof *changes);
    int rc = changes ? GBOSE_OK : gbose__no_memory(err);

    for (size_t i = 0; i < n && !rc; i++)
        changes[i] =
            (struct gbose__change){.kind = GBOSE__LEASE_NUMBERS, .of.lease = {all[i]->id, GBOSE__LEASED, 0}};
    if (!rc && n)
        rc = service->store->apply(service->store, changes, n, err);
    for (size_t i = 0; i < n && !rc; i++)
        all[i]->numbers =
            (struct gbose__numbers){changes[i].of.lease.first, changes[i].of.lease.first + GBOSE__LEASED,
                                    gbose__monotonic(), changes[i].of.lease.first};
    free(changes);
    return rc;
}
