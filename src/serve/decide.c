#include "serve/decide.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/pack.h"
#include "store/sum.h"

/* Fields of a request: those of gbose__ask_fields first. */
enum { EVENT = GBOSE__IN_FIELDS, UNIT, DEFER, CHOICE, PMF, N_FIELDS };

static const struct gbose__field own_fields[N_FIELDS - GBOSE__IN_FIELDS] = {
    {"event", GBOSE__IS(GBOSE__TEXT), 0, 0},
    {"unit", GBOSE__IS(GBOSE__TEXT), 0, 0},
    {"defer", GBOSE__IS_FLAG, 0, 0},
    {"choice", GBOSE__IS(GBOSE__TEXT) | GBOSE__IS(GBOSE__NUMBER), 0, 0},
    {"pmf", GBOSE__IS(GBOSE__LIST), 0, 0},
};

/* What all items of a request share. */
struct deciding {
    struct gbose__service *service;
    struct gbose__desk *desk;
    struct gbose__bandit *bandit;
    struct gbose__model *model;
    struct gbose__settings settings;
    struct gbose__arena *arena;
    int64_t now;
    struct gbose__problem *p;
};

static int no_memory(struct gbose__problem *p)
{
    return gbose__problem(p, 503, "no_memory", "", "", "out of memory");
}

/* The features of a request as they will be kept: {"round":...,"user":...,"arms":...}, in this order; packed, if the
 * store wants that. */
static int keep_body(struct deciding *d, const struct gbose__document *doc, const struct gbose__field *f,
                     struct gbose__event_row *event)
{
    struct gbose__text *text = &d->desk->text;
    int packs = d->service->store->packs && !event->name;
    void *kept;

    gbose__text_reset(text);
    for (int i = 0; i < GBOSE__IN_FIELDS; i++) {
        const struct gbose__value_at *v = &doc->value[f[i].at];

        if (!f[i].at)
            continue;
        gbose__text_add(text, text->size ? ",\"" : "{\"");
        gbose__text_add(text, f[i].name);
        gbose__text_bytes(text, "\":", 2);
        gbose__text_bytes(text, doc->text + v->begin, v->end - v->begin);
    }
    gbose__text_add(text, text->size ? "}" : "{}");
    kept = text->bad ? NULL : gbose__arena_take(d->arena, packs ? gbose__pack_bound(text->size) : text->size);
    if (!kept)
        return no_memory(d->p);
    event->body_size = text->size;
    if (packs) {
        event->packed_size = gbose__pack(kept, text->at, text->size);
        event->packed = kept;
        gbose__arena_shorten(d->arena, kept, event->packed_size);
        event->sum =
            gbose__sum_packed_event(event); /* all else of it is known by now, and its bytes are at hand */
    } else {
        memcpy(kept, text->at, text->size);
        event->body = kept;
    }
    return 0;
}

/* The arm that is played when the learner is not asked: the base arm, or the first one that is left. */
static size_t base_arm(const struct gbose__ask *ask, const struct gbose__settings *settings)
{
    char index[24];

    for (size_t i = 0; i < ask->n_arms && *settings->base_arm; i++) {
        snprintf(index, sizeof index, "%zu", i);
        if (!strcmp(ask->id ? ask->id[i] : index, settings->base_arm) && !(ask->excluded && ask->excluded[i]))
            return i;
    }
    for (size_t i = 0; i < ask->n_arms; i++)
        if (!(ask->excluded && ask->excluded[i]))
            return i;
    return 0;
}

/* The caller's own choice, and the probabilities that it was drawn with. */
static int callers_choice(struct deciding *d, const struct gbose__document *doc, const struct gbose__field *f,
                          const struct gbose__ask *ask, double *pmf, size_t *arm, const char *where)
{
    double sum = 0;
    long choice;

    *arm = base_arm(ask, &d->settings);
    if (f[CHOICE].at) {
        choice = gbose__ask_arm(ask, doc, f[CHOICE].at);
        if (choice < 0)
            return gbose__problem(d->p, 400, "no_such_arm", where, "choice",
                                  "'choice' is not one of the arms");
        *arm = (size_t)choice;
    }
    for (size_t i = 0; i < ask->n_arms; i++)
        pmf[i] = i == *arm;
    if (!f[PMF].at)
        return 0;
    if (doc->value[f[PMF].at].count != ask->n_arms)
        return gbose__problem(d->p, 400, "wrong_size", where, "pmf",
                              "'pmf' must have a probability for each of %zu arms", ask->n_arms);
    for (size_t i = 0; i < ask->n_arms; i++) {
        if (gbose__fields_number(doc, f[PMF].at + 1 + (uint32_t)i, 0, 1, &pmf[i], where, "pmf", d->p))
            return -1;
        sum += pmf[i];
    }
    if (!(fabs(sum - 1) < 1e-6) || !(pmf[*arm] > 0))
        return gbose__problem(d->p, 400, "bad_pmf", where, "pmf",
                              "'pmf' must add up to 1, and be positive for the arm that was chosen");
    for (size_t i = 0; i < ask->n_arms; i++)
        pmf[i] /= sum;
    return 0;
}

static int choose(struct deciding *d, const struct gbose__document *doc, const struct gbose__field *f,
                  struct gbose__decided *item, struct gbose__event_row *event, const char *where)
{
    struct gbose__ask *ask = &item->ask;
    double *pmf = gbose__arena_take(d->arena, 2 * ask->n_arms * sizeof *pmf), *learners = pmf;
    int callers = d->settings.mode != GBOSE__ONLINE || d->settings.fallback;
    size_t arm = 0;
    int rc;

    if (!pmf)
        return no_memory(d->p);
    if (!callers && (f[CHOICE].at || f[PMF].at))
        return gbose__problem(d->p, 400, "not_apprentice", where, f[CHOICE].at ? "choice" : "pmf",
                              "the caller chooses only in the modes apprentice and log-only");
    if (gbose__bandit_number(d->bandit, &event->number))
        return d->service->store->fleet
                   ? gbose__problem(d->p, 503, "storage", where, "",
                                    "this server has no decision numbers left, and cannot get more from the "
                                    "database now")
                   : gbose__problem(d->p, 507, "full", where, "",
                                    "this bandit has made all the decisions that it can number");
    if (callers) {
        if (callers_choice(d, doc, f, ask, pmf, &arm, where))
            return -1;
        event->flags |= GBOSE__CALLERS;
        event->arm = (uint32_t)arm;
        if (d->settings.mode == GBOSE__APPRENTICE)
            event->shadow = learners = pmf + ask->n_arms;
    }
    if (!callers || event->shadow) {
        event->flags |= gbose__cap_flags(d->settings.cap);
        rc = gbose__model_decide(d->model, d->desk, ask, d->settings.cap, d->bandit->id, event->number,
                                 learners, &arm);
        if (rc)
            return gbose__problem(d->p, rc == GBOSE_ENOMEM ? 503 : 400,
                                  rc == GBOSE_ENOMEM ? "no_memory" : "cannot_decide", where, "", "%s",
                                  gbose_strerror(rc));
        if (!callers)
            event->arm = (uint32_t)arm;
    }
    event->pmf = item->pmf = pmf;
    return 0;
}

static int read_name(struct deciding *d, const struct gbose__document *doc, uint32_t at, const char **out,
                     size_t *size, const char *where, const char *field)
{
    char *text;

    *size = doc->value[at].end - doc->value[at].begin;
    if (!*size || *size > GBOSE__MAX_NAME)
        return gbose__problem(d->p, 400, "bad_id", where, field, "'%s' must have 1 to %d bytes", field,
                              GBOSE__MAX_NAME);
    text = gbose__arena_take(d->arena, *size + 1);
    if (!text)
        return no_memory(d->p);
    *size = gbose__document_text(doc, at, text);
    *out = text;
    return 0;
}

static int decide_one(struct deciding *d, uint32_t object, struct gbose__decided *item,
                      struct gbose__change *change, const char *where)
{
    const struct gbose__document *doc = &d->desk->document;
    struct gbose__field f[N_FIELDS];
    struct gbose__event_row *event = &change->of.event;
    const char *unit;
    unsigned char *hash;
    size_t size;

    memcpy(f, gbose__ask_fields, sizeof gbose__ask_fields);
    memcpy(f + GBOSE__IN_FIELDS, own_fields, sizeof own_fields);
    if (gbose__fields_read(doc, object, f, N_FIELDS, where, d->p) ||
        gbose__ask_read(&item->ask, d->model->encoder, d->desk, doc, f, d->arena, 1, where, d->p))
        return -1;
    memset(change, 0, sizeof *change);
    change->kind = GBOSE__ADD_EVENT;
    *event = (struct gbose__event_row){.bandit = d->bandit->id,
                                       .time = d->now,
                                       .deadline = d->now + d->settings.wait,
                                       .generation = d->model->generation,
                                       .learned = d->model->learned,
                                       .n_arms = (uint32_t)item->ask.n_arms};
    if (f[EVENT].at && read_name(d, doc, f[EVENT].at, &event->name, &size, where, "event"))
        return -1;
    if (f[UNIT].at) {
        hash = gbose__arena_take(d->arena, GBOSE__UNIT_SIZE);
        if (!hash)
            return no_memory(d->p);
        if (read_name(d, doc, f[UNIT].at, &unit, &size, where, "unit"))
            return -1;
        gbose__unit_hash(hash, d->service, d->bandit->id, unit, size);
        event->unit = hash;
    }
    if (f[DEFER].at && doc->value[f[DEFER].at].kind == GBOSE__TRUE)
        event->flags |= GBOSE__DEFERRED;
    item->name = event->name;
    return choose(d, doc, f, item, event, where) ? -1 : keep_body(d, doc, f, event);
}

static void done(struct gbose__service *service, struct gbose__job *job)
{
    struct gbose__decisions *all = job->context;

    if (!job->rc)
        atomic_fetch_add(&service->metrics.counter[GBOSE__N_DECIDE], all->n);
    gbose__metrics_time(service->metrics.decide_bucket, &service->metrics.decide_microseconds,
                        gbose__monotonic() - all->began);
}

int gbose__decide(struct gbose__exchange *x, struct gbose__bandit *bandit, struct gbose__decisions **out,
                  int *now, struct gbose__problem *p)
{
    struct gbose__desk *desk = x->own;
    const struct gbose__document *doc = &desk->document;
    struct gbose__decisions *all = gbose__arena_take(&x->arena, sizeof *all);
    struct deciding d = {.service = x->service, .desk = desk, .bandit = bandit, .arena = &x->arena, .p = p};
    uint32_t at = 0;
    char where[32] = "";
    int rc = 0, named = 0;

    if (!all)
        return no_memory(p);
    memset(all, 0, sizeof *all);
    all->began = gbose__monotonic();
    all->batch = doc->value[0].kind == GBOSE__LIST;
    all->n = all->batch ? doc->value[0].count : 1;
    if (!all->n || all->n > GBOSE__MAX_BATCH)
        return gbose__problem(p, 400, "wrong_size", "", "", "a list of 1 to %d requests was expected",
                              GBOSE__MAX_BATCH);
    all->item = gbose__arena_take(&x->arena, all->n * sizeof *all->item);
    all->job.change = gbose__arena_take(&x->arena, all->n * sizeof *all->job.change);
    if (!all->item || !all->job.change)
        return no_memory(p);
    d.now = gbose__now();
    d.model = gbose__bandit_model(bandit, &d.settings);
    at = (uint32_t)all->batch;
    for (size_t i = 0; i < all->n && !rc; i++, at = doc->value[at].next) {
        if (all->batch)
            snprintf(where, sizeof where, "[%zu]", i);
        memset(&all->item[i], 0, sizeof all->item[i]);
        rc = decide_one(&d, at, &all->item[i], &all->job.change[i], where);
        named |= all->item[i].name != NULL;
    }
    gbose__model_release(d.model);
    if (rc)
        return -1;
    all->bandit = bandit;
    all->job.n = all->n;
    all->job.bandit = bandit;
    all->job.context = all;
    all->job.hook = done;
    all->job.brief = !named && d.service->store->packs && all->n <= GBOSE__MOST_BRIEF;
    *out = all;
    *now = d.settings.relaxed && !named && atomic_load(&d.service->writer.queued) < GBOSE__MOST_BEHIND;
    return 0;
}

void gbose__decide_store(struct gbose__exchange *x, struct gbose__decisions *all,
                         void (*finish)(struct gbose__exchange *x))
{
    all->job.exchange = x;
    x->work = all;
    x->finish = finish;
    gbose__http_park(x);
    gbose__writer_submit(x->service, &all->job);
}

void gbose__decide_write(struct gbose__text *out, const struct gbose__service *service,
                         const struct gbose__event_row *event, const char *const *ids, int durable)
{
    char id[GBOSE__EVENT_ID];

    if (event->name) {
        gbose__text_add(out, "{\"event\": ");
        gbose__text_quoted(out, event->name);
    } else {
        gbose__event_id(id, service, event->bandit, event->number, event->time);
        gbose__text_add(out, "{\"event\": \"");
        gbose__text_bytes(out, id, sizeof id - 1); /* it needs no escapes */
        gbose__text_add(out, "\"");
    }
    gbose__text_add(out, ", \"arm\": ");
    if (ids)
        gbose__text_quoted(out, ids[event->arm]);
    else
        gbose__text_integer(out, event->arm);
    gbose__text_add(out, ", \"probability\": ");
    gbose__text_number(out, event->pmf[event->arm]);
    gbose__text_add(out, ids ? ", \"pmf\": {" : ", \"pmf\": [");
    for (size_t i = 0; i < event->n_arms; i++) {
        if (i)
            gbose__text_bytes(out, ", ", 2);
        if (ids) {
            gbose__text_quoted(out, ids[i]);
            gbose__text_bytes(out, ": ", 2);
        }
        gbose__text_number(out, event->pmf[i]);
    }
    gbose__text_add(out, ids ? "}, \"model\": " : "], \"model\": ");
    gbose__text_integer(out, event->generation);
    gbose__text_add(out, ", \"learned\": ");
    gbose__text_integer(out, event->learned);
    gbose__text_add(out, durable ? "}" : ", \"durable\": false}");
}

const char **gbose__decide_stored_ids(struct gbose__desk *desk, const struct gbose__event_row *event,
                                      struct gbose__arena *arena)
{
    struct gbose__field f[GBOSE__IN_FIELDS];
    struct gbose__problem p;
    const struct gbose__document *d = &desk->stored;
    const char *message, **ids;
    uint32_t list, at;
    size_t where;

    memcpy(f, gbose__ask_fields, sizeof f);
    if (gbose__document_read(&desk->stored, event->body, event->body_size, &message, &where) ||
        gbose__fields_read(d, 0, f, GBOSE__IN_FIELDS, "", &p))
        return NULL;
    list = f[GBOSE__IN_ARMS].at ? f[GBOSE__IN_ARMS].at : f[GBOSE__IN_IDS].at;
    if (!list || d->value[list].count != event->n_arms)
        return NULL;
    ids = gbose__arena_take(arena, event->n_arms * sizeof *ids);
    at = list + 1;
    for (size_t i = 0; i < event->n_arms && ids; i++, at = d->value[at].next) {
        uint32_t id = at;
        char *text;

        if (f[GBOSE__IN_ARMS].at)
            for (id = at + 1; id < d->value[at].next && !gbose__document_is(d, id, "id");
                 id = d->value[id + 1].next)
                ;
        if (f[GBOSE__IN_ARMS].at)
            id++;
        if (id >= list + 1 && id >= d->value[list].next)
            return NULL;
        text = gbose__arena_take(arena, d->value[id].end - d->value[id].begin + 1);
        if (!text)
            return NULL;
        gbose__document_text(d, id, text);
        ids[i] = text;
    }
    return ids;
}

size_t gbose__route_decide_fields(const struct gbose__field **out)
{
    *out = own_fields;
    return N_FIELDS - GBOSE__IN_FIELDS;
}
