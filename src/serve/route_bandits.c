/* PUT, GET and DELETE /v1/bandits/{bandit}, and the list of all. */
#include "serve/service.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPEC = GBOSE__SET_FIELDS, SCHEMA, DIM, N_FIELDS };

static const struct gbose__field own_fields[N_FIELDS - GBOSE__SET_FIELDS] = {
    {"spec", GBOSE__IS(GBOSE__TEXT), 0, 0},
    {"schema", GBOSE__IS(GBOSE__TEXT), 0, 0},
    {"dim", GBOSE__IS(GBOSE__NUMBER), 0, 0},
};

/* A change to a bandit on its way to the store. It lies in the exchange's arena. */
struct putting {
    struct gbose__job job;
    struct gbose__change change[3];
    char name[GBOSE__MAX_BANDIT_NAME + 1];
    struct gbose__settings settings;
    struct gbose__generation *generation; /* new, to be taken over; or NULL */
    struct gbose__text text;
    int made;
};

/* ---- showing ---- */

static int take_time(void *context, const struct gbose__case *it)
{
    *(int64_t *)context = it->outcome->time;
    return 0;
}

/* When the last event that the model knows was closed: how old the model is. */
static void write_learned_at(struct gbose__text *out, const struct gbose__bandit *b, uint64_t learned,
                             struct gbose__desk *desk)
{
    struct gbose__view *view = desk->view;
    int64_t time = -1;
    gbose_error err;

    if (learned)
        view->outcomes(view, b->id, learned - 1, learned, 1, take_time, &time, &err);
    gbose__text_add(out, ", \"learned_at\": ");
    if (time < 0) /* nothing was learned, or that event was erased or is too old to be kept */
        gbose__text_add(out, "null");
    else
        gbose__text_time(out, time);
}

int gbose__bandit_write(struct gbose__text *out, struct gbose__bandit *b, struct gbose__desk *desk,
                        gbose_error *err)
{
    struct gbose__counts counts = {0};
    struct gbose__model *model;
    struct gbose__settings settings;
    int rc = desk->view->counts(desk->view, b->id, &counts, err);

    model = gbose__bandit_model(b, &settings);
    gbose__text_add(out, "{\"name\": ");
    gbose__text_quoted(out, b->name);
    gbose__text_add(out, ", \"spec\": ");
    gbose__text_quoted(out, gbose_spec(model->g));
    gbose__text_format(out, ", \"dim\": %zu, \"round\": %zu, \"schema\": ", model->encoder->dim,
                       model->encoder->n_round);
    gbose__text_quoted(out, model->encoder->schema ? gbose_schema_text(model->encoder->schema) : NULL);
    gbose__text_add(out, ", ");
    gbose__settings_write(&settings, out);
    gbose__text_format(out, ", \"model\": %u, \"learned\": ", model->generation);
    gbose__text_integer(out, model->learned);
    write_learned_at(out, b, model->learned, desk);
    gbose__text_add(out, ", \"created\": ");
    gbose__text_time(out, b->created);
    gbose__text_format(
        out,
        ", \"counts\": {\"events\": %llu, \"pending\": %llu, \"outcomes\": %llu, \"rewarded\": %llu, "
        "\"defaulted\": %llu, \"unused\": %llu, \"rewards\": %llu, \"late\": %llu}}",
        (unsigned long long)counts.events, (unsigned long long)counts.pending,
        (unsigned long long)counts.outcomes, (unsigned long long)counts.rewarded,
        (unsigned long long)counts.defaulted, (unsigned long long)counts.unused,
        (unsigned long long)counts.rewards, (unsigned long long)counts.late);
    gbose__model_release(model);
    return rc;
}

void gbose__route_get_bandit(struct gbose__exchange *x, const struct gbose__route_args *args)
{
    gbose_error err;

    x->status = 200;
    if (gbose__bandit_write(&x->out, args->bandit, x->own, &err))
        gbose__answer_error(x, 503, "storage", "", "%s", err.text);
    else
        gbose__text_add(&x->out, "\n");
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(struct gbose__bandit *const *)a)->name, (*(struct gbose__bandit *const *)b)->name);
}

void gbose__route_bandits(struct gbose__exchange *x, const struct gbose__route_args *args)
{
    size_t n;
    struct gbose__bandit **all = gbose__registry_all(x->service, &n);
    gbose_error err;
    int rc = GBOSE_OK;

    (void)args;
    x->status = 200;
    if (all)
        qsort(all, n, sizeof(struct gbose__bandit *), by_name);
    gbose__text_add(&x->out, "{\"bandits\": [");
    for (size_t i = 0; i < n; i++) {
        gbose__text_add(&x->out, i ? ",\n " : "");
        rc = rc ? rc : gbose__bandit_write(&x->out, all[i], x->own, &err);
        gbose__bandit_release(all[i]);
    }
    gbose__text_add(&x->out, "]}\n");
    free(all);
    if (rc)
        gbose__answer_error(x, 503, "storage", "", "%s", err.text);
}

/* ---- making and changing ---- */

static void made(struct gbose__service *service, struct gbose__job *job)
{
    struct putting *p = job->context;
    struct gbose__bandit *b;
    struct gbose__bandit_row row;

    gbose__text_clear(&p->text);
    if (job->rc || job->change[0].result != GBOSE__DONE) {
        gbose__generation_free(p->generation);
        p->generation = NULL;
        return;
    }
    row = job->change[0].of.bandit;
    row.name = p->name;
    b = gbose__bandit_new(&row);
    if (!b) { /* it is in the store, and there after the next start */
        gbose__generation_free(p->generation);
        job->rc = GBOSE_ENOMEM;
        return;
    }
    b->settings = p->settings;
    b->generations = b->active = p->generation;
    b->next_generation = 2;
    b->numbers.end = GBOSE__MAX_NUMBER + 1;
    if (service->store->fleet)
        b->numbers = (struct gbose__numbers){job->change[2].of.lease.first,
                                             job->change[2].of.lease.first + job->change[2].of.lease.n,
                                             gbose__monotonic(), 0};
    else
        atomic_store(&b->leads, 1);
    atomic_store(&b->due, INT64_MAX);
    p->made = 1;
    if (gbose__registry_add(service, b)) /* this server has just read it from the store */
        gbose__bandit_release(b);
}

static void changed(struct gbose__service *service, struct gbose__job *job)
{
    struct putting *p = job->context;
    struct gbose__bandit *b = job->bandit;

    gbose__text_clear(&p->text);
    if (job->rc) {
        gbose__generation_free(p->generation);
        return;
    }
    if (p->generation && p->change[1].result != GBOSE__DONE) { /* another one was made at the same moment */
        gbose__generation_free(p->generation);
        p->generation = NULL;
    }
    pthread_mutex_lock(&b->lock);
    b->settings = p->settings;
    if (p->generation)
        gbose__generation_take(b, p->generation, 1);
    pthread_mutex_unlock(&b->lock);
    gbose__trainer_wake(service);
}

static struct putting *putting_new(struct gbose__exchange *x, const char *name)
{
    struct putting *p = gbose__arena_take(&x->arena, sizeof *p);

    if (!p)
        return NULL;
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "%s", name);
    p->job.change = p->change;
    p->job.context = p;
    p->job.exchange = x;
    return p;
}

static void submit(struct gbose__exchange *x, struct putting *p, void (*finish)(struct gbose__exchange *x))
{
    gbose__text_add(&p->text, "{");
    gbose__settings_write(&p->settings, &p->text);
    gbose__text_add(&p->text, "}");
    p->change[0].of.bandit.settings = p->text.at;
    x->work = p;
    x->finish = finish;
    gbose__http_park(x);
    gbose__writer_submit(x->service, &p->job);
}

void gbose__bandit_make(struct gbose__exchange *x, const char *name, const struct gbose__settings *settings,
                        struct gbose__generation *generation, void (*finish)(struct gbose__exchange *x))
{
    struct putting *p = putting_new(x, name);

    if (!p) {
        gbose__generation_free(generation);
        gbose__answer_error(x, 503, "no_memory", "", "out of memory");
        return;
    }
    p->settings = *settings;
    p->generation = generation;
    atomic_store(&generation->ready, 1);
    p->change[0] =
        (struct gbose__change){.kind = GBOSE__PUT_BANDIT, .of.bandit = {0, p->name, NULL, 1, gbose__now()}};
    p->change[1] = (struct gbose__change){
        .kind = GBOSE__ADD_GENERATION, .chained = 1, .of.generation = gbose__generation_row(generation, 0)};
    p->change[2] =
        (struct gbose__change){.kind = GBOSE__LEASE_NUMBERS, .chained = 1, .of.lease = {.n = GBOSE__LEASED}};
    p->job.n = ((struct gbose__service *)x->service)->store->fleet ? 3 : 2;
    p->job.hook = made;
    submit(x, p, finish);
}

static void finish_put(struct gbose__exchange *x)
{
    struct putting *p = x->work;
    struct gbose__bandit *b;
    gbose_error err;

    if (p->job.rc) {
        gbose__answer_failed(x, &p->job);
        return;
    }
    if (p->change[0].result == GBOSE__CONFLICT) {
        gbose__answer_error(x, 409, "conflict", "", "somebody else made bandit '%s' at the same moment",
                            p->name);
        return;
    }
    b = gbose__registry_find(x->service, p->name);
    if (!b) {
        gbose__answer_error(x, 404, "no_such_bandit", "", "the bandit was deleted");
        return;
    }
    x->status = p->made ? 201 : p->job.n > 1 ? 202 : 200;
    if (gbose__bandit_write(&x->out, b, x->own, &err))
        gbose__answer_error(x, 503, "storage", "", "it is done, but cannot be shown: %s", err.text);
    else
        gbose__text_add(&x->out, "\n");
    gbose__bandit_release(b);
}

static int name_is_fine(const char *name)
{
    size_t n = strlen(name);

    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)name[i]) && !strchr("-_.", name[i]))
            return 0;
    return n > 0 && n <= GBOSE__MAX_BANDIT_NAME && name[0] != '.';
}

static void change_bandit(struct gbose__exchange *x, struct gbose__bandit *b, const struct gbose__document *d,
                          const struct gbose__field *f)
{
    struct gbose__problem problem = {0};
    struct putting *p = putting_new(x, b->name);
    struct gbose__generation like = {0};
    int inherited;

    if (!p) {
        gbose__answer_error(x, 503, "no_memory", "", "out of memory");
        return;
    }
    pthread_mutex_lock(&b->lock);
    p->settings = b->settings;
    like.spec = strdup(b->active->spec);
    like.schema = b->active->schema ? strdup(b->active->schema) : NULL;
    like.encoder = b->active->encoder;
    atomic_fetch_add(&like.encoder->references, 1);
    p->change[0] =
        (struct gbose__change){.kind = GBOSE__PUT_BANDIT, .of.bandit = {b->id, b->name, NULL, 0, b->created}};
    pthread_mutex_unlock(&b->lock);
    if (!gbose__settings_read(&p->settings, d, f, &problem) && (f[SPEC].at || f[SCHEMA].at || f[DIM].at))
        p->generation = gbose__generation_read(x, d, f[SPEC].at, f[SCHEMA].at, f[DIM].at, &like, &problem);
    if (p->generation && !strcmp(p->generation->spec, like.spec) &&
        !strcmp(p->generation->schema ? p->generation->schema : "", like.schema ? like.schema : "") &&
        p->generation->encoder->dim == like.encoder->dim) {
        gbose__generation_free(p->generation); /* nothing new */
        p->generation = NULL;
    }
    free(like.spec);
    free(like.schema);
    gbose__encoder_release(like.encoder);
    if (problem.status) {
        gbose__answer_problem(x, &problem);
        return;
    }
    p->job.n = 1;
    if (p->generation) {
        pthread_mutex_lock(&b->lock);
        p->generation->number = b->next_generation++;
        pthread_mutex_unlock(&b->lock);
        atomic_store(&p->generation->wanted, 1);
        p->change[1] = (struct gbose__change){.kind = GBOSE__ADD_GENERATION,
                                              .of.generation = gbose__generation_row(p->generation, b->id)};
        inherited = gbose__inherit(x, b, p->generation, &p->change[2]);
        if (inherited < 0) {
            gbose__generation_free(p->generation);
            gbose__answer_error(x, 503, "storage", "", "what old events taught cannot be read");
            return;
        }
        p->job.n = 2 + (size_t)inherited;
    }
    p->job.bandit = b;
    p->job.hook = changed;
    submit(x, p, finish_put);
}

void gbose__route_put_bandit(struct gbose__exchange *x, const struct gbose__route_args *args)
{
    const struct gbose__document *d = &((struct gbose__desk *)x->own)->document;
    struct gbose__settings settings = gbose__settings_default;
    struct gbose__generation *generation;
    struct gbose__field f[N_FIELDS];
    struct gbose__problem problem = {0};

    if (gbose__answer_document(x))
        return;
    memcpy(f, gbose__settings_fields, sizeof gbose__settings_fields);
    memcpy(f + GBOSE__SET_FIELDS, own_fields, sizeof own_fields);
    if (gbose__fields_read(d, 0, f, N_FIELDS, "", &problem)) {
        gbose__answer_problem(x, &problem);
        return;
    }
    if (args->bandit) {
        change_bandit(x, args->bandit, d, f);
        return;
    }
    if (!name_is_fine(args->rest)) {
        gbose__answer_error(x, 400, "bad_name", "",
                            "a bandit's name has 1 to %d letters, digits, '-', '_' and '.'",
                            GBOSE__MAX_BANDIT_NAME);
        return;
    }
    if (gbose__settings_read(&settings, d, f, &problem) ||
        !(generation = gbose__generation_read(x, d, f[SPEC].at, f[SCHEMA].at, f[DIM].at, NULL, &problem))) {
        gbose__answer_problem(x, &problem);
        return;
    }
    gbose__bandit_make(x, args->rest, &settings, generation, finish_put);
}

/* ---- deleting ---- */

static void dropped(struct gbose__service *service, struct gbose__job *job)
{
    if (!job->rc && !atomic_load(&job->bandit->gone))
        gbose__registry_remove(service, job->bandit);
}

static void finish_drop(struct gbose__exchange *x)
{
    struct putting *p = x->work;

    if (p->job.rc)
        gbose__answer_failed(x, &p->job);
    else
        x->status = 204;
}

void gbose__route_drop_bandit(struct gbose__exchange *x, const struct gbose__route_args *args)
{
    struct putting *p = putting_new(x, args->bandit->name);

    if (!p) {
        gbose__answer_error(x, 503, "no_memory", "", "out of memory");
        return;
    }
    p->change[0] = (struct gbose__change){.kind = GBOSE__DROP_BANDIT, .of.bandit = {.id = args->bandit->id}};
    p->job.n = 1;
    p->job.bandit = args->bandit;
    p->job.hook = dropped;
    x->work = p;
    x->finish = finish_drop;
    gbose__http_park(x);
    gbose__writer_submit(x->service, &p->job);
}

size_t gbose__route_bandit_fields(const struct gbose__field **out)
{
    *out = own_fields;
    return N_FIELDS - GBOSE__SET_FIELDS;
}
