/* Generations of a bandit: a new spec or schema learns the log, and takes over; and erasing a unit, which
 * is the same without the unit's events. */
#include "serve/service.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_SPEC "gbose-auto"

/* ---- making ---- */

/* The learner of a spec. A schema's features of the round go to gbose-auto, which has an option for their
 * number. */
static gbose *make_learner(const char *spec, size_t dim, size_t n_round, gbose_error *err)
{
    char longer[1100];
    gbose *g;

    if (gbose_new(&g, spec, dim, err))
        return NULL;
    if (!n_round || gbose_round_features(g) || strncmp(gbose_spec(g), "gbose-auto", 10))
        return g;
    snprintf(longer, sizeof longer, "%s%sround=%zu", gbose_spec(g), strchr(gbose_spec(g), ':') ? "," : ":",
             n_round);
    gbose_free(g);
    return gbose_new(&g, longer, dim, err) ? NULL : g;
}

struct gbose__generation *gbose__generation_make(const char *spec, const char *schema, size_t dim,
                                                 struct gbose__problem *p)
{
    struct gbose__encoder *encoder;
    struct gbose__generation *generation = NULL;
    gbose_error err;
    gbose *g;

    if (!schema && !dim) {
        gbose__problem(p, 400, "missing", "", "schema",
                       "a bandit needs a 'schema', or 'dim', the number of features of an arm");
        return NULL;
    }
    encoder = gbose__encoder_new(schema, dim, 0, &err);
    if (!encoder) {
        gbose__problem(p, 400, "bad_schema", "", "schema", "%s", err.text);
        return NULL;
    }
    if (encoder->dim > GBOSE__MAX_DIM) {
        gbose__problem(p, 400, "too_large", "", schema ? "schema" : "dim", "%zu features are more than %d",
                       encoder->dim, GBOSE__MAX_DIM);
        gbose__encoder_release(encoder);
        return NULL;
    }
    g = make_learner(spec, encoder->dim, encoder->schema ? gbose_schema_round(encoder->schema) : 0, &err);
    if (!g) {
        gbose__problem(p, err.code == GBOSE_ENOMEM ? 503 : 400, "bad_spec", "", "spec", "%s", err.text);
        gbose__encoder_release(encoder);
        return NULL;
    }
    if (schema && gbose_round_features(g) && gbose_round_features(g) != gbose_schema_round(encoder->schema)) {
        gbose__problem(p, 400, "bad_spec", "", "spec",
                       "the spec has round=%zu, and the schema %zu features of the round",
                       gbose_round_features(g), gbose_schema_round(encoder->schema));
    } else {
        struct gbose__generation_row row = {0,
                                            1,
                                            gbose_spec(g),
                                            encoder->schema ? gbose_schema_text(encoder->schema) : NULL,
                                            (uint32_t)encoder->dim,
                                            (uint32_t)gbose_round_features(g),
                                            0,
                                            gbose__now(),
                                            0};

        generation = gbose__generation_new(&row, &err);
        if (generation && !(generation->model = gbose__model_new(g, generation->encoder, 1, 0))) {
            gbose__generation_free(generation);
            generation = NULL;
        }
        if (!generation)
            gbose__problem(p, 503, "no_memory", "", "", "out of memory");
    }
    gbose_free(g);
    gbose__encoder_release(encoder);
    return generation;
}

struct gbose__generation_row gbose__generation_row(const struct gbose__generation *g, uint32_t bandit)
{
    return (struct gbose__generation_row){bandit,
                                          g->number,
                                          g->spec,
                                          g->schema,
                                          (uint32_t)g->encoder->dim,
                                          (uint32_t)g->encoder->n_round,
                                          atomic_load(&g->ready),
                                          g->created,
                                          atomic_load(&g->wanted) != 0};
}

static char *take_text(struct gbose__exchange *x, const struct gbose__document *d, uint32_t at)
{
    char *text = gbose__arena_take(&x->arena, d->value[at].end - d->value[at].begin + 1);

    if (text)
        gbose__document_text(d, at, text);
    return text;
}

struct gbose__generation *gbose__generation_read(struct gbose__exchange *x, const struct gbose__document *d,
                                                 uint32_t spec, uint32_t schema, uint32_t dim,
                                                 const struct gbose__generation *like,
                                                 struct gbose__problem *p)
{
    const char *spec_text = spec ? take_text(x, d, spec) : like ? like->spec : DEFAULT_SPEC;
    const char *schema_text = schema ? take_text(x, d, schema) : like && !dim ? like->schema : NULL;
    double n = like ? (double)like->encoder->dim : 0;

    if (!spec_text || (schema && !schema_text)) {
        gbose__problem(p, 503, "no_memory", "", "", "out of memory");
        return NULL;
    }
    if (schema && dim) {
        gbose__problem(p, 400, "both", "", "dim",
                       "a schema says how many features there are: leave 'dim' out");
        return NULL;
    }
    if (dim && gbose__fields_number(d, dim, 1, GBOSE__MAX_DIM, &n, "", "dim", p))
        return NULL;
    if (n != (double)(size_t)n) {
        gbose__problem(p, 400, "out_of_range", "", "dim", "'dim' must be a whole number");
        return NULL;
    }
    return gbose__generation_make(spec_text, schema_text, (size_t)n, p);
}

void gbose__generation_take(struct gbose__bandit *b, struct gbose__generation *generation, int wanted)
{
    size_t n = 0;

    if (gbose__generation_find(b, generation->number)) { /* this server has just read it from the store */
        gbose__generation_free(generation);
        return;
    }
    gbose__model_release(generation->model); /* the one that knew nothing: the trainer will make another */
    generation->model = NULL;
    atomic_store(&generation->wanted, wanted);
    generation->next = b->generations;
    b->generations = generation;
    for (struct gbose__generation *g = b->generations; g; g = g->next)
        n += !g->dropped;
    for (; n > GBOSE__KEPT_GENERATIONS; n--) { /* the oldest that is not at work goes */
        struct gbose__generation *oldest = NULL;

        for (struct gbose__generation *g = b->generations; g; g = g->next)
            if (!g->dropped && g != b->active && g != generation)
                oldest = g;
        if (oldest)
            oldest->dropped = 1;
    }
}

/* ---- routes ---- */

static void write_generation(struct gbose__text *out, const struct gbose__generation *g,
                             const struct gbose__bandit *b, uint64_t outcomes)
{
    gbose__text_format(out, "{\"generation\": %u, \"active\": %s, \"ready\": %s, \"spec\": ", g->number,
                       g == b->active ? "true" : "false", atomic_load(&g->ready) ? "true" : "false");
    gbose__text_quoted(out, g->spec);
    gbose__text_format(out, ", \"dim\": %zu, \"schema\": ", g->encoder->dim);
    gbose__text_quoted(out, g->schema);
    gbose__text_format(out, ", \"learned\": %" PRIuFAST64 ", \"of\": %" PRIu64 ", \"created\": ",
                       atomic_load(&g->progress), outcomes);
    gbose__text_time(out, g->created);
    gbose__text_add(out, "}");
}

static void write_generations(struct gbose__exchange *x, struct gbose__bandit *b)
{
    int any = 0;

    gbose__text_add(&x->out, "{\"generations\": [");
    pthread_mutex_lock(&b->lock);
    for (struct gbose__generation *g = b->generations; g; g = g->next) {
        if (g->dropped)
            continue;
        gbose__text_add(&x->out, any++ ? ",\n " : "");
        write_generation(&x->out, g, b, atomic_load(&b->outcomes));
    }
    pthread_mutex_unlock(&b->lock);
    gbose__text_add(&x->out, "]}\n");
}

void gbose__route_generations(struct gbose__exchange *x, const struct gbose__route_args *args)
{
    x->status = 200;
    write_generations(x, args->bandit);
}

struct adding {
    struct gbose__job job;
    struct gbose__change change[GBOSE__KEPT_GENERATIONS + 5];
    struct gbose__generation *generation;
    struct gbose__bandit *bandit; /* a reference */
    struct gbose__text settings;
    int wanted;
    int exact; /* of an erasure: nothing of the unit is left, not even in sums */
};

static struct adding *adding_new(struct gbose__exchange *x, struct gbose__bandit *b)
{
    struct adding *a = gbose__arena_take(&x->arena, sizeof *a);

    if (!a) {
        gbose__answer_error(x, 503, "no_memory", "", "out of memory");
        return NULL;
    }
    memset(a, 0, sizeof *a);
    a->job.change = a->change;
    a->job.context = a;
    a->job.bandit = b;
    a->job.exchange = x;
    a->bandit = b;
    return a;
}

static void submit(struct gbose__exchange *x, struct adding *a, void (*finish)(struct gbose__exchange *x))
{
    atomic_fetch_add(&a->bandit->references, 1);
    x->work = a;
    x->finish = finish;
    gbose__http_park(x);
    gbose__writer_submit(x->service, &a->job);
}

static void added(struct gbose__service *service, struct gbose__job *job)
{
    struct adding *a = job->context;

    if (job->rc || a->change[0].result != GBOSE__DONE) {
        gbose__generation_free(a->generation);
        return;
    }
    pthread_mutex_lock(&job->bandit->lock);
    gbose__generation_take(job->bandit, a->generation, a->wanted);
    pthread_mutex_unlock(&job->bandit->lock);
    gbose__trainer_wake(service);
}

static void finish_add(struct gbose__exchange *x)
{
    struct adding *a = x->work;

    if (a->job.rc) {
        gbose__answer_failed(x, &a->job);
    } else if (a->change[0].result != GBOSE__DONE) {
        gbose__answer_error(x, 409, "busy", "", "another generation was made at the same moment");
    } else {
        x->status = 202;
        write_generations(x, a->bandit);
    }
    gbose__bandit_release(a->bandit);
}

/* Learning the log again costs memory and time: one at a time. */
static int is_busy(struct gbose__bandit *b)
{
    int busy = 0;

    for (struct gbose__generation *g = b->generations; g; g = g->next)
        busy |= !g->dropped && !atomic_load(&g->ready);
    return busy;
}

void gbose__route_add_generation(struct gbose__exchange *x, const struct gbose__route_args *args)
{
    enum { SPEC, SCHEMA, DIM, ACTIVATE, N_FIELDS };
    struct gbose__field f[N_FIELDS] = {{"spec", GBOSE__IS(GBOSE__TEXT), 0, 0},
                                       {"schema", GBOSE__IS(GBOSE__TEXT), 0, 0},
                                       {"dim", GBOSE__IS(GBOSE__NUMBER), 0, 0},
                                       {"activate", GBOSE__IS_FLAG, 0, 0}};
    const struct gbose__document *d = &((struct gbose__desk *)x->own)->document;
    struct gbose__bandit *b = args->bandit;
    struct gbose__generation like = {0};
    struct gbose__problem p = {0};
    struct adding *a;
    int busy, inherited;

    if (gbose__answer_document(x))
        return;
    if (gbose__fields_read(d, 0, f, N_FIELDS, "", &p)) {
        gbose__answer_problem(x, &p);
        return;
    }
    a = adding_new(x, b);
    if (!a)
        return;
    pthread_mutex_lock(&b->lock);
    like.spec = strdup(b->active->spec);
    like.schema = b->active->schema ? strdup(b->active->schema) : NULL;
    like.encoder = b->active->encoder;
    atomic_fetch_add(&like.encoder->references, 1);
    busy = is_busy(b);
    pthread_mutex_unlock(&b->lock);
    if (busy)
        gbose__problem(&p, 409, "busy", "", "", "another generation is still learning the log");
    else
        a->generation = gbose__generation_read(x, d, f[SPEC].at, f[SCHEMA].at, f[DIM].at, &like, &p);
    free(like.spec);
    free(like.schema);
    gbose__encoder_release(like.encoder);
    if (!a->generation) {
        gbose__answer_problem(x, &p);
        return;
    }
    pthread_mutex_lock(&b->lock);
    a->generation->number = b->next_generation++;
    pthread_mutex_unlock(&b->lock);
    a->wanted = f[ACTIVATE].at && d->value[f[ACTIVATE].at].kind == GBOSE__TRUE;
    atomic_store(&a->generation->wanted, a->wanted);
    a->change[0] = (struct gbose__change){.kind = GBOSE__ADD_GENERATION,
                                          .of.generation = gbose__generation_row(a->generation, b->id)};
    inherited = gbose__inherit(x, b, a->generation, &a->change[1]);
    if (inherited < 0) {
        gbose__generation_free(a->generation);
        gbose__answer_error(x, 503, "storage", "", "what old events taught cannot be read");
        return;
    }
    a->job.n = 1 + (size_t)inherited;
    a->job.hook = added;
    submit(x, a, finish_add);
}

/* The store knows that it is wanted: whoever trains the bandit lets it decide when it has learned what it has missed. */
static void wanted(struct gbose__service *service, struct gbose__job *job)
{
    struct gbose__bandit *b = job->bandit;

    if (job->rc || job->change->result != GBOSE__DONE)
        return;
    pthread_mutex_lock(&b->lock);
    for (struct gbose__generation *g = b->generations; g; g = g->next)
        if (atomic_load(&g->wanted) != 2)
            atomic_store(&g->wanted, g->number == job->change->of.generation.number);
    pthread_mutex_unlock(&b->lock);
    gbose__trainer_wake(service);
}

static void finish_want(struct gbose__exchange *x)
{
    struct adding *a = x->work;

    if (a->job.rc) {
        gbose__answer_failed(x, &a->job);
    } else if (a->change[0].result != GBOSE__DONE) {
        gbose__answer_error(x, 404, "no_such_generation", "", "this generation was dropped");
    } else {
        x->status = a->wanted ? 202 : 200;
        write_generations(x, a->bandit);
    }
    gbose__bandit_release(a->bandit);
}

void gbose__route_activate_generation(struct gbose__exchange *x, const struct gbose__route_args *args)
{
    struct gbose__bandit *b = args->bandit;
    struct gbose__generation *g;
    struct adding *a;
    char *end;
    unsigned long number = strtoul(args->rest, &end, 10);
    int there = 0;

    pthread_mutex_lock(&b->lock);
    g = *end || !*args->rest ? NULL : gbose__generation_find(b, (uint32_t)number);
    if (g)
        there = 1 + (g == b->active);
    pthread_mutex_unlock(&b->lock);
    if (!there) {
        gbose__answer_error(x, 404, "no_such_generation", "", "there is no generation '%.20s'", args->rest);
        return;
    }
    a = adding_new(x, b);
    if (!a)
        return;
    a->wanted = there == 1; /* if it is at work already, no other one is wanted any more */
    a->change[0] = (struct gbose__change){
        .kind = GBOSE__WANT_GENERATION,
        .of.generation = {.bandit = b->id, .number = a->wanted ? (uint32_t)number : 0}};
    a->job.n = 1;
    a->job.hook = wanted;
    submit(x, a, finish_want);
}

/* ---- erasing ---- */

static void erased(struct gbose__service *service, struct gbose__job *job)
{
    struct adding *a = job->context;
    struct gbose__bandit *b = job->bandit;

    gbose__text_clear(&a->settings);
    if (job->rc || a->change[0].result != GBOSE__DONE) {
        gbose__generation_free(a->generation);
        return;
    }
    pthread_mutex_lock(&b->lock);
    for (struct gbose__generation *g = b->generations; g; g = g->next)
        g->dropped = 1;
    gbose__generation_take(b, a->generation, 1);
    pthread_mutex_unlock(&b->lock);
    pthread_mutex_lock(&b->monitor_lock);
    gbose__monitor_free(b->monitor);
    b->monitor = NULL;
    pthread_mutex_unlock(&b->monitor_lock);
    gbose__trainer_wake(service);
}

static void finish_erase(struct gbose__exchange *x)
{
    struct adding *a = x->work;

    if (a->job.rc) {
        gbose__answer_failed(x, &a->job);
    } else if (a->change[0].result == GBOSE__MISSING) {
        gbose__answer_error(x, 404, "no_such_unit", "", "there is nothing of this unit");
    } else {
        x->status = 202;
        gbose__text_format(&x->out, "{\"erased\": %" PRIu64 ", \"generation\": %u, \"exact\": %s}\n",
                           a->change[0].of.erase.erased, a->change[1].of.generation.number,
                           a->exact ? "true" : "false");
    }
    gbose__bandit_release(a->bandit);
}

/* The unit's rows go, and with them every snapshot that has learned from them: a new generation learns
 * what is left. Until it has, the model in memory decides. All that is stored happens in one transaction.
 *
 * What events taught that `retention` has dropped is no longer known by unit, but only as sums over all of
 * them. It stays, unless ?exact=1 asks to begin with nothing: else each erasure would cost all that is older
 * than the log. */
void gbose__route_erase_unit(struct gbose__exchange *x, const struct gbose__route_args *args)
{
    struct gbose__service *service = x->service;
    struct gbose__bandit *b = args->bandit;
    struct adding *a = adding_new(x, b);
    unsigned char *hash = gbose__arena_take(&x->arena, GBOSE__UNIT_SIZE);
    struct gbose__problem p = {0};
    char *spec, *schema;
    size_t dim, n = 2;
    int inherited = 0;

    if (!a || !hash)
        return;
    gbose__unit_hash(hash, service, b->id, args->rest, strlen(args->rest));
    pthread_mutex_lock(&b->lock);
    spec = strdup(b->active->spec);
    schema = b->active->schema ? strdup(b->active->schema) : NULL;
    dim = b->active->encoder->dim;
    gbose__text_add(&a->settings, "{");
    gbose__settings_write(&b->settings, &a->settings);
    gbose__text_add(&a->settings, "}");
    pthread_mutex_unlock(&b->lock);
    a->generation = spec ? gbose__generation_make(spec, schema, schema ? 0 : dim, &p) : NULL;
    free(spec);
    free(schema);
    if (a->generation) {
        pthread_mutex_lock(&b->lock);
        a->generation->number = b->next_generation++;
        pthread_mutex_unlock(&b->lock);
        if (!gbose__http_query(x, "exact"))
            inherited = gbose__inherit(x, b, a->generation, &a->change[n]);
    }
    if (!a->generation || inherited < 0) {
        gbose__text_clear(&a->settings);
        gbose__generation_free(a->generation);
        gbose__answer_error(x, 503, "no_memory", "",
                            "out of memory, or what old events taught cannot be read");
        return;
    }
    a->exact = !inherited;
    n += (size_t)inherited;
    atomic_store(&a->generation->wanted, 1);
    a->change[0] =
        (struct gbose__change){.kind = GBOSE__ERASE_UNIT, .of.erase = {.bandit = b->id, .unit = hash}};
    a->change[1] = (struct gbose__change){.kind = GBOSE__ADD_GENERATION,
                                          .chained = 1,
                                          .of.generation = gbose__generation_row(a->generation, b->id)};
    a->change[n++] = (struct gbose__change){
        .kind = GBOSE__PUT_BANDIT,
        .chained = 1,
        .of.bandit = {b->id, b->name, a->settings.at, a->generation->number, b->created}};
    pthread_mutex_lock(&b->lock);
    for (struct gbose__generation *g = b->generations; g && n < GBOSE__KEPT_GENERATIONS + 5; g = g->next)
        if (!g->dropped)
            a->change[n++] = (struct gbose__change){.kind = GBOSE__DROP_GENERATION,
                                                    .chained = 1,
                                                    .of.generation = {.bandit = b->id, .number = g->number}};
    pthread_mutex_unlock(&b->lock);
    a->job.n = n;
    a->job.hook = erased;
    submit(x, a, finish_erase);
}
