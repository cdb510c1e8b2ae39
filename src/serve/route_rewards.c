/* POST /v1/bandits/{bandit}/rewards and /activate */
#include "serve/service.h"

#include <stdio.h>
#include <string.h>

struct rewards {
    struct gbose__job job;
    size_t n;
    int batch;
};

enum { EVENT, REWARD, ID, FINAL, N_FIELDS };

static const struct gbose__field fields[N_FIELDS] = {
    [EVENT] = {"event", GBOSE__IS(GBOSE__TEXT), 1, 0},
    [REWARD] = {"reward", GBOSE__IS(GBOSE__NUMBER), 0, 0},
    [ID] = {"id", GBOSE__IS(GBOSE__TEXT), 0, 0},
    [FINAL] = {"final", GBOSE__IS_FLAG, 0, 0},
};

static const char *take_name(struct gbose__exchange *x, const struct gbose__document *d, uint32_t at,
                             const char *where, const char *field, struct gbose__problem *p)
{
    size_t size = d->value[at].end - d->value[at].begin;
    char *text;

    if (!size || size > GBOSE__MAX_NAME) {
        gbose__problem(p, 400, "bad_id", where, field, "'%s' must have 1 to %d bytes", field,
                       GBOSE__MAX_NAME);
        return NULL;
    }
    text = gbose__arena_take(&x->arena, size + 1);
    if (text)
        gbose__document_text(d, at, text);
    else
        gbose__problem(p, 503, "no_memory", "", "", "out of memory");
    return text;
}

static int read_one(struct gbose__exchange *x, struct gbose__bandit *bandit, uint32_t object, int activate,
                    struct gbose__change *change, const char *where, struct gbose__problem *p)
{
    const struct gbose__document *d = &((struct gbose__desk *)x->own)->document;
    struct gbose__field f[N_FIELDS];
    struct gbose__reward_change *it = &change->of.reward;
    const char *event;

    memcpy(f, fields, sizeof f);
    if (gbose__fields_read(d, object, f, activate ? 1 : N_FIELDS, where, p))
        return -1;
    event = take_name(x, d, f[EVENT].at, where, "event", p);
    if (!event)
        return -1;
    memset(change, 0, sizeof *change);
    change->kind = activate ? GBOSE__ACTIVATE_EVENT : GBOSE__ADD_REWARD;
    it->bandit = bandit->id;
    it->now = gbose__now();
    it->id = "";
    if (!gbose__event_number(event, x->service, bandit->id, &it->number))
        it->name = event;
    if (activate)
        return 0;
    it->final = f[FINAL].at && d->value[f[FINAL].at].kind == GBOSE__TRUE;
    it->no_value = !f[REWARD].at;
    if (it->no_value && !it->final)
        return gbose__problem(
            p, 400, "missing", where, "reward",
            "'reward' is missing; without one, 'final' must be true, which closes the event");
    if (f[REWARD].at && gbose__fields_number(d, f[REWARD].at, -GBOSE_MAX_INPUT, GBOSE_MAX_INPUT, &it->value,
                                             where, "reward", p))
        return -1;
    if (f[ID].at && !(it->id = take_name(x, d, f[ID].at, where, "id", p)))
        return -1;
    return 0;
}

static void finish(struct gbose__exchange *x)
{
    static const char *const results[] = {"accepted", "repeated", "conflict", "missing"};
    struct rewards *all = x->work;
    struct gbose__service *service = x->service;

    if (all->job.rc) {
        gbose__answer_failed(x, &all->job);
        return;
    }
    x->status = 200;
    if (all->batch)
        gbose__text_add(&x->out, "[");
    for (size_t i = 0; i < all->n; i++) {
        const struct gbose__change *c = &all->job.change[i];
        const struct gbose__reward_change *it = &c->of.reward;

        atomic_fetch_add(&service->metrics.counter[GBOSE__N_REWARD], c->result == GBOSE__DONE);
        atomic_fetch_add(&service->metrics.counter[GBOSE__N_LATE], c->result == GBOSE__DONE && it->late);
        if (!all->batch && c->result == GBOSE__MISSING) {
            gbose__answer_error(x, 404, "no_such_event", "event", "there is no such event");
            return;
        }
        if (!all->batch && c->result == GBOSE__CONFLICT) {
            gbose__answer_error(
                x, 409, "conflict", "id",
                "another reward is there already; give each reward of an event an 'id' of its own");
            return;
        }
        gbose__text_format(&x->out, "%s{\"result\": \"%s\", \"late\": %s%s}", i ? ",\n " : "",
                           results[c->result], it->late ? "true" : "false",
                           it->closed ? ", \"closed\": true" : "");
    }
    gbose__text_add(&x->out, all->batch ? "]\n" : "\n");
}

static void take(struct gbose__exchange *x, struct gbose__bandit *bandit, int activate)
{
    const struct gbose__document *d = &((struct gbose__desk *)x->own)->document;
    struct rewards *all;
    struct gbose__problem p = {0};
    struct gbose__settings settings;
    char where[32] = "";
    uint32_t at;

    if (gbose__answer_document(x))
        return;
    all = gbose__arena_take(&x->arena, sizeof *all);
    if (!all) {
        gbose__answer_error(x, 503, "no_memory", "", "out of memory");
        return;
    }
    memset(all, 0, sizeof *all);
    all->batch = d->value[0].kind == GBOSE__LIST;
    all->n = all->batch ? d->value[0].count : 1;
    if (!all->n || all->n > GBOSE__MAX_BATCH) {
        gbose__answer_error(x, 400, "wrong_size", "", "a list of 1 to %d was expected", GBOSE__MAX_BATCH);
        return;
    }
    all->job.change = gbose__arena_take(&x->arena, all->n * sizeof *all->job.change);
    pthread_mutex_lock(&bandit->lock);
    settings = bandit->settings;
    pthread_mutex_unlock(&bandit->lock);
    at = (uint32_t)all->batch;
    for (size_t i = 0; i < all->n && all->job.change; i++, at = d->value[at].next) {
        if (all->batch)
            snprintf(where, sizeof where, "[%zu]", i);
        if (read_one(x, bandit, at, activate, &all->job.change[i], where, &p)) {
            gbose__answer_problem(x, &p);
            return;
        }
        all->job.change[i].of.reward.aggregate = settings.aggregate;
        all->job.change[i].of.reward.default_reward = settings.default_reward;
    }
    all->job.n = all->n;
    all->job.bandit = bandit;
    all->job.exchange = x;
    x->work = all;
    x->finish = finish;
    gbose__http_park(x);
    gbose__writer_submit(x->service, &all->job);
}

void gbose__route_rewards(struct gbose__exchange *x, const struct gbose__route_args *args)
{
    take(x, args->bandit, 0);
}

void gbose__route_activate(struct gbose__exchange *x, const struct gbose__route_args *args)
{
    take(x, args->bandit, 1);
}

size_t gbose__route_rewards_fields(const struct gbose__field **out)
{
    *out = fields;
    return N_FIELDS;
}
