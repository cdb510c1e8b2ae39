/* POST /v1/bandits/{bandit}/decide */
#include "serve/decide.h"

#include <stdio.h>
#include <string.h>

struct repeat {
    struct gbose__exchange *x;
    struct gbose__text *out;
};

/* An event that was decided before, as its first answer was. */
static int write_stored(void *context, const struct gbose__case *it)
{
    struct repeat *r = context;
    struct gbose__desk *desk = r->x->own;
    const char **ids = gbose__decide_stored_ids(desk, it->event, &r->x->arena);

    gbose__decide_write(r->out, r->x->service, it->event, ids, 1);
    return 0;
}

static void finish(struct gbose__exchange *x)
{
    struct gbose__decisions *all = x->work;
    struct gbose__service *service = x->service;
    struct gbose__desk *desk = x->own;
    struct repeat repeat = {x, &x->out};
    gbose_error err;

    if (all->job.rc) {
        gbose__answer_failed(x, &all->job);
        return;
    }
    x->status = 200;
    if (all->batch)
        gbose__text_add(&x->out, "[");
    for (size_t i = 0; i < all->n; i++) {
        const struct gbose__change *change = &all->job.change[i];

        if (i)
            gbose__text_add(&x->out, ",\n ");
        if (change->result == GBOSE__DONE) {
            gbose__decide_write(&x->out, service, &change->of.event, all->item[i].ask.id, 1);
        } else if (change->result == GBOSE__REPEATED) {
            atomic_fetch_add(&service->metrics.counter[GBOSE__N_REPEATED], 1);
            if (desk->view->event(desk->view, change->of.event.bandit, change->of.event.number, NULL,
                                  write_stored, &repeat, &err)) {
                gbose__answer_error(x, 503, "storage", "", "%s", err.text);
                return;
            }
        } else if (change->result == GBOSE__MISSING) {
            gbose__answer_error(x, 404, "no_such_bandit", "", "the bandit was deleted");
            return;
        } else if (!all->batch) {
            gbose__answer_error(x, 409, "conflict", "event", "event '%.64s' was decided for another request",
                                all->item[i].name);
            return;
        } else {
            gbose__text_add(&x->out, "{\"event\": ");
            gbose__text_quoted(&x->out, all->item[i].name);
            gbose__text_add(&x->out,
                            ", \"error\": {\"code\": \"conflict\", \"message\": \"it was decided for another "
                            "request\", \"at\": \"event\"}}");
        }
    }
    gbose__text_add(&x->out, all->batch ? "]\n" : "\n");
}

/* The answer goes first, and the disk has the event a moment later: memory of the request goes with the
 * job. */
static void answer_now(struct gbose__exchange *x, struct gbose__decisions *all)
{
    struct gbose__desk *desk = x->own;

    x->status = 200;
    if (all->batch)
        gbose__text_add(&x->out, "[");
    for (size_t i = 0; i < all->n; i++) {
        if (i)
            gbose__text_add(&x->out, ",\n ");
        gbose__decide_write(&x->out, x->service, &all->job.change[i].of.event, all->item[i].ask.id, 0);
    }
    gbose__text_add(&x->out, all->batch ? "]\n" : "\n");
    gbose__answer_store(x);
    all->job.kept = 1;
    all->job.arena = x->arena;
    gbose__writer_spare(x->service, &x->arena, &desk->spare);
    gbose__writer_submit(x->service, &all->job);
}

void gbose__route_decide(struct gbose__exchange *x, const struct gbose__route_args *args)
{
    struct gbose__problem problem = {0};
    struct gbose__decisions *all;
    int now;

    if (gbose__answer_document(x))
        return;
    if (gbose__decide(x, args->bandit, &all, &now, &problem))
        gbose__answer_problem(x, &problem);
    else if (now)
        answer_now(x, all);
    else
        gbose__decide_store(x, all, finish);
}
