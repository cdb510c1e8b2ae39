/* The calls of Azure Personalizer (rank, reward, activate; one slot), at its paths, so that a product that
 * used it moves by changing an address. They work on the bandit `personalizer`, which is made on first
 * use.
 *
 * Its features are any JSON, without a schema. They are turned into words ("os=ios", "price~2^3" for a
 * number, whose size it is that matters), and the words are hashed: those of the action into 16 columns,
 * and their products with those of the context into 128. */
#include "serve/decide.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BANDIT "personalizer"
#define SPEC "gbose-auto:floor=0.2" /* Personalizer's explorationPercentage is 20% by default */
#define MOST_WORDS 200              /* of an action or a context */

static const char schema[] = "action.words set hash=16\n"
                             "user.words set hash=8\n"
                             "arm = action.words  action.words*user.words\n"
                             "round = user.words\n";

/* ---- features to words ---- */

struct words {
    struct gbose__text *out;
    const struct gbose__document *d;
    size_t n;
};

static void add_word(struct words *w, const char *name, const char *link, const char *value)
{
    char word[700];

    if (w->n >= MOST_WORDS)
        return;
    snprintf(word, sizeof word, "%s%s%s", name, link, value);
    gbose__text_add(w->out, w->n++ ? "," : "");
    gbose__text_quoted(w->out, word);
}

static void add_value(struct words *w, const char *name, uint32_t at)
{
    const struct gbose__document *d = w->d;
    char text[300];
    double x;
    int exponent;

    switch (d->value[at].kind) {
    case GBOSE__NUMBER:
        if (gbose__document_number(d, at, &x))
            return;
        frexp(x, &exponent);
        snprintf(text, sizeof text, x == 0 ? "0" : "%s2^%d", x < 0 ? "-" : "", exponent);
        add_word(w, name, "~", text);
        break;
    case GBOSE__TEXT:
        if (d->value[at].end - d->value[at].begin < sizeof text) {
            gbose__document_text(d, at, text);
            add_word(w, name, "=", text);
        }
        break;
    case GBOSE__TRUE:
    case GBOSE__FALSE:
        add_word(w, name, "=", d->value[at].kind == GBOSE__TRUE ? "true" : "false");
        break;
    case GBOSE__OBJECT:
        for (uint32_t i = at + 1; i < d->value[at].next; i = d->value[i + 1].next) {
            char inner[300];
            size_t used = strlen(name), size = d->value[i].end - d->value[i].begin;

            if (used + size + 2 > sizeof inner)
                continue;
            snprintf(inner, sizeof inner, "%s%s", name, used ? "." : "");
            gbose__document_text(d, i, inner + used + (used > 0));
            add_value(w, inner, i + 1);
        }
        break;
    case GBOSE__LIST:
        for (uint32_t i = at + 1; i < d->value[at].next; i = d->value[i].next)
            add_value(w, name, i);
        break;
    default:
        break;
    }
}

static void write_words(struct gbose__text *out, const struct gbose__document *d, uint32_t features,
                        const char *id)
{
    struct words w = {out, d, 0};

    gbose__text_add(out, "\"words\": [");
    if (id)
        add_word(&w, "id", "=", id);
    if (features)
        add_value(&w, "", features);
    gbose__text_add(out, "]");
}

/* ---- rank ---- */

static void copy_text(struct gbose__text *out, const char *name, const struct gbose__document *d, uint32_t at)
{
    gbose__text_format(out, ", \"%s\": \"", name);
    gbose__text_bytes(out, d->text + d->value[at].begin, d->value[at].end - d->value[at].begin);
    gbose__text_add(out, "\"");
}

static int write_actions(struct gbose__text *out, const struct gbose__document *d, uint32_t list,
                         struct gbose__problem *p)
{
    uint32_t at = list + 1;

    gbose__text_add(out, ", \"arms\": [");
    for (uint32_t i = 0; i < d->value[list].count; i++, at = d->value[at].next) {
        struct gbose__field f[] = {{"id", GBOSE__IS(GBOSE__TEXT), 1, 0},
                                   {"features", GBOSE__IS(GBOSE__LIST), 0, 0}};
        char where[32], id[GBOSE__MAX_NAME + 1];

        snprintf(where, sizeof where, "actions[%u]", i);
        if (gbose__fields_read(d, at, f, 2, where, p))
            return -1;
        if (d->value[f[0].at].end - d->value[f[0].at].begin > GBOSE__MAX_NAME)
            return gbose__problem(p, 400, "bad_id", where, "id", "an id has at most %d bytes",
                                  GBOSE__MAX_NAME);
        gbose__document_text(d, f[0].at, id);
        gbose__text_add(out, i ? ", {\"id\": " : "{\"id\": ");
        gbose__text_quoted(out, id);
        gbose__text_add(out, ", ");
        write_words(out, d, f[1].at, id);
        gbose__text_add(out, "}");
    }
    gbose__text_add(out, "]");
    return 0;
}

/* Our own request, of theirs. */
static int translate(struct gbose__text *out, const struct gbose__document *d, struct gbose__problem *p)
{
    enum { CONTEXT, ACTIONS, EXCLUDED, EVENT, DEFER, N };
    struct gbose__field f[N] = {[CONTEXT] = {"contextFeatures", GBOSE__IS(GBOSE__LIST), 0, 0},
                                [ACTIONS] = {"actions", GBOSE__IS(GBOSE__LIST), 1, 0},
                                [EXCLUDED] = {"excludedActions", GBOSE__IS(GBOSE__LIST), 0, 0},
                                [EVENT] = {"eventId", GBOSE__IS(GBOSE__TEXT), 0, 0},
                                [DEFER] = {"deferActivation", GBOSE__IS_FLAG, 0, 0}};

    if (gbose__fields_read(d, 0, f, N, "", p))
        return -1;
    gbose__text_add(out, "{\"user\": {");
    write_words(out, d, f[CONTEXT].at, NULL);
    gbose__text_add(out, "}");
    if (write_actions(out, d, f[ACTIONS].at, p))
        return -1;
    if (f[EXCLUDED].at) {
        gbose__text_add(out, ", \"exclude\": ");
        gbose__text_bytes(out, d->text + d->value[f[EXCLUDED].at].begin,
                          d->value[f[EXCLUDED].at].end - d->value[f[EXCLUDED].at].begin);
    }
    if (f[EVENT].at)
        copy_text(out, "event", d, f[EVENT].at);
    if (f[DEFER].at)
        gbose__text_format(out, ", \"defer\": %s",
                           d->value[f[DEFER].at].kind == GBOSE__TRUE ? "true" : "false");
    gbose__text_add(out, "}");
    return 0;
}

static void write_ranking(struct gbose__exchange *x, const struct gbose__event_row *e, const char *const *ids)
{
    char id[GBOSE__EVENT_ID];

    gbose__event_id(id, x->service, e->bandit, e->number, e->time);
    x->status = 201;
    gbose__text_add(&x->out, "{\"ranking\": [");
    for (size_t i = 0; i < e->n_arms; i++) {
        gbose__text_add(&x->out, i ? ", {\"id\": " : "{\"id\": ");
        gbose__text_quoted(&x->out, ids[i]);
        gbose__text_add(&x->out, ", \"probability\": ");
        gbose__text_number(&x->out, e->pmf[i]);
        gbose__text_add(&x->out, "}");
    }
    gbose__text_add(&x->out, "], \"eventId\": ");
    gbose__text_quoted(&x->out, e->name ? e->name : id);
    gbose__text_add(&x->out, ", \"rewardActionId\": ");
    gbose__text_quoted(&x->out, ids[e->arm]);
    gbose__text_add(&x->out, "}\n");
}

static int rank_stored(void *context, const struct gbose__case *it)
{
    struct gbose__exchange *x = context;
    const char **ids = gbose__decide_stored_ids(x->own, it->event, &x->arena);

    if (!ids)
        return GBOSE_ENOMEM;
    write_ranking(x, it->event, ids);
    return 0;
}

static void finish_rank(struct gbose__exchange *x)
{
    struct gbose__decisions *all = x->work;
    struct gbose__desk *desk = x->own;
    const struct gbose__change *c = all->job.change;
    gbose_error err = {0};

    if (all->job.rc)
        gbose__answer_failed(x, &all->job);
    else if (c->result == GBOSE__MISSING)
        gbose__answer_error(x, 404, "no_such_bandit", "", "the bandit was deleted");
    else if (c->result == GBOSE__CONFLICT)
        gbose__answer_error(x, 409, "conflict", "eventId", "this event was ranked for another request");
    else if (c->result == GBOSE__DONE)
        write_ranking(x, &c->of.event, all->item->ask.id);
    else if (desk->view->event(desk->view, c->of.event.bandit, c->of.event.number, NULL, rank_stored, x,
                               &err))
        gbose__answer_error(x, 503, "storage", "", "%s", err.text);
}

static void rank(struct gbose__exchange *x)
{
    struct gbose__bandit *b = gbose__registry_find(x->service, BANDIT);
    struct gbose__desk *desk = x->own;
    struct gbose__problem p = {0};
    struct gbose__decisions *all;
    struct gbose__text text = {0};
    const char *message;
    char *body;
    size_t at;
    int now;

    if (!b) {
        gbose__answer_error(x, 503, "storage", "", "the bandit '%s' could not be made", BANDIT);
        return;
    }
    if (gbose__answer_document(x)) {
        gbose__bandit_release(b);
        return;
    }
    if (!translate(&text, &desk->document, &p)) {
        body = text.bad ? NULL : gbose__arena_take(&x->arena, text.size + 1);
        if (!body)
            gbose__problem(&p, 503, "no_memory", "", "", "out of memory");
        else if (memcpy(body, text.at, text.size + 1),
                 gbose__document_read(&desk->document, body, text.size, &message, &at))
            gbose__problem(&p, 400, "not_json", "", "", "%s", message);
        else if (!gbose__decide(x, b, &all, &now, &p))
            gbose__decide_store(x, all,
                                finish_rank); /* a ranking is always on the disk before it is answered */
    }
    gbose__text_clear(&text);
    if (p.status)
        gbose__answer_problem(x, &p);
    gbose__bandit_release(b);
}

/* The bandit is there now: made by this request, or by another at the same moment. */
static void made(struct gbose__exchange *x)
{
    gbose__text_reset(&x->out);
    rank(x);
}

void gbose__route_rank(struct gbose__exchange *x, const struct gbose__route_args *args)
{
    struct gbose__bandit *b = gbose__registry_find(x->service, BANDIT);
    struct gbose__generation *generation;
    struct gbose__problem p = {0};

    (void)args;
    if (b) {
        gbose__bandit_release(b);
        rank(x);
        return;
    }
    generation = gbose__generation_make(SPEC, schema, 0, &p);
    if (generation)
        gbose__bandit_make(x, BANDIT, &gbose__settings_default, generation, made);
    else
        gbose__answer_problem(x, &p);
}

/* ---- reward and activate ---- */

struct telling {
    struct gbose__job job;
    struct gbose__change change;
    char id[48];
};

static void finish_tell(struct gbose__exchange *x)
{
    struct telling *t = x->work;

    if (t->job.rc)
        gbose__answer_failed(x, &t->job);
    else if (t->change.result == GBOSE__MISSING)
        gbose__answer_error(x, 404, "no_such_event", "", "there is no such event");
    else
        x->status = 204;
}

static void tell(struct gbose__exchange *x, const char *event, int activate)
{
    static atomic_uint_fast64_t calls;
    struct gbose__desk *desk = x->own;
    struct gbose__bandit *b = gbose__registry_find(x->service, BANDIT);
    struct gbose__field f[] = {{"value", GBOSE__IS(GBOSE__NUMBER), 1, 0}};
    struct telling *t = gbose__arena_take(&x->arena, sizeof *t);
    char *name = gbose__arena_take(&x->arena, strlen(event) + 1);
    struct gbose__problem p = {0};
    struct gbose__reward_change *it;

    if (!t || !name || !b) {
        gbose__answer_error(x, b ? 503 : 404, b ? "no_memory" : "no_such_event", "",
                            b ? "out of memory" : "there is no such event");
        gbose__bandit_release(b);
        return;
    }
    memset(t, 0, sizeof *t);
    it = &t->change.of.reward;
    if (!activate && !gbose__answer_document(x) &&
        (gbose__fields_read(&desk->document, 0, f, 1, "", &p) ||
         gbose__fields_number(&desk->document, f[0].at, -GBOSE_MAX_INPUT, GBOSE_MAX_INPUT, &it->value, "",
                              "value", &p)))
        gbose__answer_problem(x, &p);
    if (x->status) {
        gbose__bandit_release(b);
        return;
    }
    strcpy(name, event);
    it->bandit = b->id;
    it->now = gbose__now();
    if (!gbose__event_number(name, x->service, b->id, &it->number))
        it->name = name;
    /* Theirs have no id, and each counts. */
    snprintf(t->id, sizeof t->id, "%llu-%llu", (unsigned long long)it->now,
             (unsigned long long)atomic_fetch_add(&calls, 1));
    it->id = t->id;
    pthread_mutex_lock(&b->lock);
    it->aggregate = b->settings.aggregate;
    it->default_reward = b->settings.default_reward;
    pthread_mutex_unlock(&b->lock);
    t->change.kind = activate ? GBOSE__ACTIVATE_EVENT : GBOSE__ADD_REWARD;
    t->job.change = &t->change;
    t->job.n = 1;
    t->job.bandit = b;
    t->job.exchange = x;
    x->work = t;
    x->finish = finish_tell;
    gbose__http_park(x);
    gbose__writer_submit(x->service, &t->job);
    gbose__bandit_release(b);
}

void gbose__route_rank_reward(struct gbose__exchange *x, const struct gbose__route_args *args)
{
    tell(x, args->rest, 0);
}

void gbose__route_rank_activate(struct gbose__exchange *x, const struct gbose__route_args *args)
{
    tell(x, args->rest, 1);
}
