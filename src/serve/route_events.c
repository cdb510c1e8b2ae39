/* GET events and the log: what was decided, why, and what came of it. */
#include "serve/decide.h"
#include "serve/fold.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"

#define LOG_PIECE 32 /* events read at a time */

/* ---- an event as JSON ---- */

/* Who decided, if the generation is still there: its spec (to be freed), and the hash of its schema, 0 for none. */
static char *decided_by(struct gbose__bandit *b, uint32_t generation, uint64_t *schema)
{
    struct gbose__generation *g;
    char *spec;

    pthread_mutex_lock(&b->lock);
    g = gbose__generation_find(b, generation);
    spec = g ? strdup(g->spec) : NULL;
    *schema = g && g->encoder && g->encoder->schema ? gbose_schema_hash(g->encoder->schema) : 0;
    pthread_mutex_unlock(&b->lock);
    return spec;
}

static void write_pmf(struct gbose__text *out, const double *pmf, size_t n)
{
    gbose__text_add(out, "[");
    for (size_t i = 0; i < n; i++) {
        gbose__text_add(out, i ? ", " : "");
        gbose__text_number(out, pmf[i]);
    }
    gbose__text_add(out, "]");
}

static const char *why_of(const struct gbose__case *it)
{
    if (!it->outcome)
        return NULL;
    if (it->outcome->why == GBOSE__DEFAULTED)
        for (size_t i = 0; i < it->n_rewards; i++)
            if (it->rewards[i].late)
                return "late";
    return it->outcome->why == GBOSE__REWARDED    ? "reward"
           : it->outcome->why == GBOSE__DEFAULTED ? "default"
                                                  : "unused";
}

/* The features as they came, under the names of the log format: contexts are x, arms are actions. */
static void write_features(struct gbose__text *out, struct gbose__desk *desk,
                           const struct gbose__event_row *event)
{
    static const char *const names[GBOSE__IN_FIELDS] = {"round", "user", "actions", "x", NULL, NULL};
    struct gbose__field f[GBOSE__IN_FIELDS];
    struct gbose__problem p;
    const char *message;
    size_t at;

    memcpy(f, gbose__ask_fields, sizeof f);
    if (gbose__document_read(&desk->stored, event->body, event->body_size, &message, &at) ||
        gbose__fields_read(&desk->stored, 0, f, GBOSE__IN_FIELDS, "", &p))
        return;
    for (int i = 0; i < GBOSE__IN_FIELDS; i++) {
        const struct gbose__value_at *v = &desk->stored.value[f[i].at];

        if (!f[i].at || !names[i])
            continue;
        gbose__text_format(out, ", \"%s\": ", names[i]);
        gbose__text_bytes(out, event->body + v->begin, v->end - v->begin);
    }
}

static void write_case(struct gbose__text *out, struct gbose__desk *desk, struct gbose__bandit *b,
                       const struct gbose__case *it)
{
    const struct gbose__event_row *e = it->event;
    struct gbose__arena arena = {0};
    const char **ids = gbose__decide_stored_ids(desk, e, &arena);
    uint64_t schema;
    char id[GBOSE__EVENT_ID], *spec = decided_by(b, e->generation, &schema);

    gbose__event_id(id, desk->service, e->bandit, e->number, e->time);
    gbose__text_add(out, "{\"v\": 1, \"id\": ");
    gbose__text_quoted(out, e->name ? e->name : id);
    gbose__text_add(out, ", \"t\": ");
    gbose__text_time(out, e->time);
    gbose__text_add(out, ", \"bandit\": ");
    gbose__text_quoted(out, b->name);
    gbose__text_format(out, ", \"model\": %u, \"learned\": %" PRIu64 ", \"spec\": ", e->generation,
                       e->learned);
    gbose__text_quoted(out, spec);
    if (schema)
        gbose__text_format(out, ", \"schema\": \"%016" PRIx64 "\"", schema);
    gbose__text_format(out, ", \"stream\": %u, \"n\": %" PRIu64 ", \"arms\": [", e->bandit, e->number);
    for (size_t i = 0; i < e->n_arms; i++) {
        char index[24];

        snprintf(index, sizeof index, "%zu", i);
        gbose__text_add(out, i ? ", " : "");
        gbose__text_quoted(out, ids ? ids[i] : index);
    }
    gbose__text_format(out, "], \"arm\": %u, \"pmf\": ", e->arm);
    write_pmf(out, e->pmf, e->n_arms);
    if (e->shadow) {
        gbose__text_add(out, ", \"policies\": {\"shadow\": ");
        write_pmf(out, e->shadow, e->n_arms);
        gbose__text_add(out, "}");
    }
    write_features(out, desk, e);
    gbose__text_add(out, ", \"r\": ");
    if (it->outcome && it->outcome->why != GBOSE__UNUSED)
        gbose__text_number(out, it->outcome->reward);
    else
        gbose__text_add(out, "null");
    if (it->outcome) {
        gbose__text_add(out, ", \"rt\": ");
        gbose__text_time(out, it->outcome->time);
    }
    gbose__text_add(out, ", \"why\": ");
    gbose__text_quoted(out, why_of(it));
    if (e->unit) {
        gbose__text_add(out, ", \"unit\": \"");
        for (int i = 0; i < GBOSE__UNIT_SIZE; i++)
            gbose__text_format(out, "%02x", ((const unsigned char *)e->unit)[i]);
        gbose__text_add(out, "\"");
    }
    free(spec);
    gbose__arena_clear(&arena);
}

/* ---- one event ---- */

/* An event kept beyond the visit, to be decided again. */
struct asked {
    struct gbose__exchange *x;
    struct gbose__bandit *bandit;
    int recompute;
};

/* Decide it again, from the model of that moment. The answer says whether every probability has the same
 * bits. */
static void recompute(struct gbose__text *out, struct gbose__desk *desk, struct gbose__bandit *b,
                      const struct gbose__event_row *e, struct gbose__arena *arena)
{
    struct gbose__generation_row row = {0};
    struct gbose__generation *g, *mine = NULL;
    struct gbose__model model = {.generation = e->generation, .learned = e->learned};
    struct gbose__field f[GBOSE__IN_FIELDS];
    struct gbose__problem p = {0};
    struct gbose__ask ask;
    const double *decided = e->shadow ? e->shadow : e->pmf;
    double *pmf = gbose__arena_take(arena, e->n_arms * sizeof *pmf);
    const char *message;
    gbose_error err = {0};
    size_t arm, at;

    pthread_mutex_lock(&b->lock);
    g = gbose__generation_find(b, e->generation);
    if (g) {
        row = gbose__generation_row(g, b->id);
        mine = gbose__generation_new(&row, &err);
    }
    pthread_mutex_unlock(&b->lock);
    gbose__text_add(out, ", \"recomputed\": ");
    memcpy(f, gbose__ask_fields, sizeof f);
    if (e->flags & GBOSE__CALLERS && !e->shadow) {
        gbose__text_add(
            out, "{\"possible\": false, \"because\": \"the caller chose, and the learner was not asked\"}");
    } else if (!mine) {
        gbose__text_add(out, "{\"possible\": false, \"because\": \"the generation that decided is gone\"}");
    } else if (!pmf || gbose__fold_upto(desk->view, desk, b->id, mine, e->learned, 0, &model.g, &err)) {
        gbose__text_add(out, "{\"possible\": false, \"because\": ");
        gbose__text_quoted(out, err.text);
        gbose__text_add(out, "}");
    } else {
        model.encoder = mine->encoder;
        if (gbose__document_read(&desk->stored, e->body, e->body_size, &message, &at) ||
            gbose__fields_read(&desk->stored, 0, f, GBOSE__IN_FIELDS, "", &p) ||
            gbose__ask_read(&ask, mine->encoder, desk, &desk->stored, f, arena, 1, "", &p) ||
            ask.n_arms != e->n_arms ||
            gbose__model_decide(&model, desk, &ask, gbose__cap_of(e->flags), e->bandit, e->number, pmf,
                                &arm)) {
            gbose__text_add(out,
                            "{\"possible\": false, \"because\": \"the features cannot be read any more\"}");
        } else {
            int same = !memcmp(pmf, decided, e->n_arms * sizeof *pmf) && (e->shadow || arm == e->arm);

            gbose__text_format(out, "{\"possible\": true, \"same\": %s, \"arm\": %zu, \"pmf\": ",
                               same ? "true" : "false", arm);
            write_pmf(out, pmf, e->n_arms);
            gbose__text_add(out, "}");
        }
    }
    gbose_free(model.g);
    gbose__generation_free(mine);
}

static int show_event(void *context, const struct gbose__case *it)
{
    struct asked *a = context;
    struct gbose__exchange *x = a->x;
    struct gbose__desk *desk = x->own;
    struct gbose__model *model = gbose__bandit_model(a->bandit, NULL);
    const char *state = it->outcome                                                   ? why_of(it)
                        : it->event->flags & GBOSE__DEFERRED && !it->event->activated ? "deferred"
                                                                                      : "pending";

    write_case(&x->out, desk, a->bandit, it);
    gbose__text_add(&x->out, ", \"state\": ");
    gbose__text_quoted(&x->out, state);
    gbose__text_add(&x->out, ", \"reward\": ");
    if (it->outcome && it->outcome->why != GBOSE__UNUSED)
        gbose__text_number(&x->out, it->outcome->reward);
    else
        gbose__text_add(&x->out, "null");
    gbose__text_format(
        &x->out, ", \"learnt\": %s, \"deadline\": ",
        it->outcome && it->outcome->why != GBOSE__UNUSED && it->outcome->number <= model->learned ? "true"
                                                                                                  : "false");
    gbose__text_time(&x->out, it->event->deadline);
    gbose__text_add(&x->out, ", \"rewards\": [");
    for (size_t i = 0; i < it->n_rewards; i++) {
        gbose__text_add(&x->out, i ? ", {\"id\": " : "{\"id\": ");
        gbose__text_quoted(&x->out, *it->rewards[i].id ? it->rewards[i].id : NULL);
        gbose__text_add(&x->out, ", \"reward\": ");
        gbose__text_number(&x->out, it->rewards[i].value);
        gbose__text_add(&x->out, ", \"t\": ");
        gbose__text_time(&x->out, it->rewards[i].time);
        gbose__text_format(&x->out, ", \"late\": %s}", it->rewards[i].late ? "true" : "false");
    }
    gbose__text_add(&x->out, "]");
    gbose__model_release(model);
    if (a->recompute) {
        struct gbose__view *view = desk->view;
        gbose_error err;

        /* This visit is a reading of desk->view: decide again by another one. */
        if (desk->service->store->view(desk->service->store, &desk->view, &err)) {
            desk->view = view;
            return GBOSE__ESTORE;
        }
        recompute(&x->out, desk, a->bandit, it->event, &x->arena);
        desk->view->close(desk->view);
        desk->view = view;
    }
    gbose__text_add(&x->out, "}");
    return 0;
}

void gbose__route_event(struct gbose__exchange *x, const struct gbose__route_args *args)
{
    struct gbose__desk *desk = x->own;
    struct asked asked = {x, args->bandit, gbose__http_query(x, "recompute") != NULL};
    gbose_error err = {0};
    uint64_t number = 0;
    const char *name = args->rest;
    int rc;

    if (gbose__event_number(name, x->service, args->bandit->id, &number))
        name = NULL;
    x->status = 200;
    rc = desk->view->event(desk->view, args->bandit->id, number, name, show_event, &asked, &err);
    if (rc == GBOSE__EABSENT)
        gbose__answer_error(x, 404, "no_such_event", "", "there is no such event");
    else if (rc)
        gbose__answer_error(x, 503, "storage", "", "%s", err.text);
    else
        gbose__text_add(&x->out, "\n");
}

/* ---- the last events ---- */

static int show_one_of_many(void *context, const struct gbose__case *it)
{
    struct asked *a = context;

    gbose__text_add(&a->x->out, a->recompute++ ? ",\n " : "");
    a->recompute = 1;
    {
        struct asked one = {a->x, a->bandit, 0};

        return show_event(&one, it);
    }
}

void gbose__route_events(struct gbose__exchange *x, const struct gbose__route_args *args)
{
    struct gbose__desk *desk = x->own;
    struct asked asked = {x, args->bandit, 0};
    const char *most = gbose__http_query(x, "last");
    long n = most ? strtol(most, NULL, 10) : 20;
    gbose_error err;

    if (n < 1 || n > 1000) {
        gbose__answer_error(x, 400, "out_of_range", "last", "'last' must be from 1 to 1000");
        return;
    }
    x->status = 200;
    gbose__text_add(&x->out, "{\"events\": [");
    if (desk->view->events(desk->view, args->bandit->id, UINT64_MAX, (size_t)n, 1, show_one_of_many, &asked,
                           &err)) {
        gbose__answer_error(x, 503, "storage", "", "%s", err.text);
        return;
    }
    gbose__text_add(&x->out, "]}\n");
}

/* ---- the log, piece by piece ---- */

struct stream {
    struct gbose__bandit *bandit; /* a reference */
    uint64_t next;
    int64_t from, to; /* time, to exclusive */
    int mixed;        /* several servers decide: numbers are not in the order of time */
    struct gbose__text text;
    size_t sent;
    int end;
    size_t seen;
    struct gbose__desk *desk;
};

static int add_line(void *context, const struct gbose__case *it)
{
    struct stream *s = context;

    s->seen++;
    s->next = it->event->number + 1;
    if (it->event->time >= s->to && !s->mixed) {
        s->end = 1;
        return 1;
    }
    if (it->event->time < s->from || it->event->time >= s->to)
        return 0;
    write_case(&s->text, s->desk, s->bandit, it);
    gbose__text_add(&s->text, "}\n");
    return 0;
}

static ssize_t more_log(struct gbose__exchange *x, char *to, size_t most)
{
    struct stream *s = x->more_context;
    struct gbose__desk *desk = x->own;
    gbose_error err;
    size_t n;

    while (s->sent == s->text.size && !s->end) {
        int rc;

        gbose__text_reset(&s->text);
        s->sent = s->seen = 0;
        s->desk = desk;
        rc = desk->view->events(desk->view, s->bandit->id, s->next, LOG_PIECE, 0, add_line, s, &err);
        if (rc < 0 || s->text.bad)
            return -2;
        s->end |= s->seen < LOG_PIECE;
    }
    n = s->text.size - s->sent;
    if (!n)
        return -1;
    n = n < most ? n : most;
    memcpy(to, s->text.at + s->sent, n);
    s->sent += n;
    return (ssize_t)n;
}

static void log_done(void *context)
{
    struct stream *s = context;

    gbose__bandit_release(s->bandit);
    gbose__text_clear(&s->text);
    free(s);
}

static int note_time(void *context, const struct gbose__case *it)
{
    *(int64_t *)context = it->event->time;
    return 1;
}

/* The first number whose event is at or after a time, give or take a few: clocks are not quite in the
 * order of numbers. */
static uint64_t first_number(struct gbose__desk *desk, uint32_t bandit, int64_t from, uint64_t end)
{
    uint64_t low = 0, high = end;
    gbose_error err;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        int64_t time = INT64_MAX;

        desk->view->events(desk->view, bandit, middle, 1, 0, note_time, &time, &err);
        if (time < from - 1000)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Milliseconds since 1970, or "2026-11-16", or with a time and Z. 0, or -1. */
static int read_time(const char *text, int64_t *out)
{
    int year, month, day, hour = 0, minute = 0, second = 0, n = 0;
    char *end;

    *out = strtoll(text, &end, 10);
    if (*text && !*end)
        return 0;
    if (sscanf(text, "%4d-%2d-%2d%n", &year, &month, &day, &n) != 3 ||
        (text[n] && sscanf(text + n, "T%2d:%2d:%2d", &hour, &minute, &second) != 3) || year < 1970 ||
        month < 1 || month > 12 || day < 1 || day > 31)
        return -1;
    /* Days since 1970 of the Gregorian calendar, March being the first month of a year. */
    year -= month <= 2;
    *out = 365 * (int64_t)year + year / 4 - year / 100 + year / 400 +
           (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1 - 719468;
    *out = ((*out * 24 + hour) * 60 + minute) * 60000 + second * INT64_C(1000);
    return 0;
}

void gbose__route_log(struct gbose__exchange *x, const struct gbose__route_args *args)
{
    const char *from = gbose__http_query(x, "from"), *to = gbose__http_query(x, "to");
    struct gbose__desk *desk = x->own;
    struct stream *s = calloc(1, sizeof *s);
    struct gbose__counts counts;
    gbose_error err;

    if (!s) {
        gbose__answer_error(x, 503, "no_memory", "", "out of memory");
        return;
    }
    s->to = INT64_MAX;
    if ((from && read_time(from, &s->from)) || (to && read_time(to, &s->to))) {
        free(s);
        gbose__answer_error(x, 400, "bad_time", from && read_time(from, &(int64_t){0}) ? "from" : "to",
                            "a time is milliseconds since 1970, or like 2026-11-16 or 2026-11-16T12:00:00Z");
        return;
    }
    s->bandit = args->bandit;
    atomic_fetch_add(&s->bandit->references, 1);
    s->mixed = desk->service->store->fleet != NULL;
    if (s->from && !s->mixed && !desk->view->counts(desk->view, s->bandit->id, &counts, &err))
        s->next = first_number(desk, s->bandit->id, s->from, counts.next_number);
    x->status = 200;
    x->type = "application/x-ndjson";
    x->more = more_log;
    x->more_context = s;
    x->more_done = log_done;
}

/* ---- the log without a service ---- */

/* The bandit of that name, or the only one. NULL with an error. */
static struct gbose__bandit *bandit_of(struct gbose__service *service, const char *name, gbose_error *err)
{
    struct gbose__bandit *b = name ? gbose__registry_find(service, name) : NULL;

    if (!name && service->registry.n == 1) {
        b = service->registry.all;
        atomic_fetch_add(&b->references, 1);
    }
    if (!b && name)
        gbose__fail(err, GBOSE__EABSENT, "there is no bandit '%s' in this store", name);
    else if (!b && !service->registry.n)
        gbose__fail(err, GBOSE__EABSENT, "there is no bandit in this store yet");
    else if (!b)
        gbose__fail(err, GBOSE__EABSENT,
                    "this store has %zu bandits: say which, as DATA:BANDIT (or URL#BANDIT)",
                    service->registry.n);
    return b;
}

int gbose__events_export(struct gbose__store *store, const char *bandit,
                         int (*put)(void *context, const char *text, size_t size), void *context,
                         gbose_error *err)
{
    struct gbose__service service = {.store = store};
    struct stream s = {.to = INT64_MAX};
    int rc;

    pthread_rwlock_init(&service.registry.lock, NULL);
    rc = gbose__registry_load(&service, err);
    s.desk = rc ? NULL : gbose__desk_new(&service);
    s.bandit = s.desk ? bandit_of(&service, bandit, err) : NULL;
    if (!rc && !s.bandit)
        rc = s.desk ? GBOSE__EABSENT : gbose__no_memory(err);
    while (!rc && !s.end) {
        s.seen = 0;
        gbose__text_reset(&s.text);
        rc = s.desk->view->events(s.desk->view, s.bandit->id, s.next, LOG_PIECE, 0, add_line, &s, err);
        s.end |= s.seen < LOG_PIECE;
        if (!rc && s.text.bad)
            rc = gbose__no_memory(err);
        if (!rc && s.text.size && put(context, s.text.at, s.text.size))
            break; /* the reader has had enough */
    }
    gbose__text_clear(&s.text);
    gbose__bandit_release(s.bandit);
    gbose__desk_free(s.desk);
    gbose__registry_clear(&service);
    pthread_rwlock_destroy(&service.registry.lock);
    return rc;
}
