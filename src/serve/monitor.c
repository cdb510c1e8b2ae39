#include "serve/monitor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/decide.h"

const char *const gbose__monitor_policies[GBOSE__POLICIES] = {"logged", "base", "uniform", "shadow"};

#define FIRST_POINT                                                                                          \
    8 /* outcomes in a point at the beginning; twice as many each time that the points have run out */
#define MOST_DIM 256 /* beyond it effects and the regression inside the evaluation would take too long */

void gbose__monitor_free(struct gbose__monitor *m)
{
    if (!m)
        return;
    gbose_evaluation_free(m->evaluation);
    gbose_effects_free(m->effects);
    gbose__encoder_release(m->encoder);
    for (size_t i = 0; i < m->n_arms; i++)
        free(m->arm[i]);
    free(m);
}

static struct gbose__monitor *monitor_new(struct gbose__bandit *b)
{
    struct gbose__monitor *m = calloc(1, sizeof *m);
    struct gbose__model *model;
    size_t dim;

    if (!m)
        return NULL;
    model = gbose__bandit_model(b, NULL);
    m->generation = model->generation;
    m->encoder = model->encoder;
    atomic_fetch_add(&m->encoder->references, 1);
    gbose__model_release(model);
    m->per_point = FIRST_POINT;
    dim = m->encoder->dim <= MOST_DIM ? m->encoder->dim : 0;
    if (gbose_evaluation_new(&m->evaluation, GBOSE__POLICIES, dim, NULL, NULL) ||
        (dim && gbose_effects_new(&m->effects, dim, 0, NULL))) {
        gbose__monitor_free(m);
        return NULL;
    }
    return m;
}

struct gbose__monitor *gbose__monitor_lock(struct gbose__bandit *b)
{
    pthread_mutex_lock(&b->monitor_lock);
    if (!b->monitor && !(b->monitor = monitor_new(b))) {
        pthread_mutex_unlock(&b->monitor_lock);
        return NULL;
    }
    return b->monitor;
}

void gbose__monitor_unlock(struct gbose__bandit *b)
{
    pthread_mutex_unlock(&b->monitor_lock);
}

/* ---- the history ---- */

static size_t label_of(struct gbose__monitor *m, const char *id)
{
    for (size_t i = 0; i < m->n_arms; i++)
        if (!strcmp(m->arm[i], id))
            return i;
    if (m->n_arms < GBOSE__MONITOR_ARMS && (m->arm[m->n_arms] = strdup(id)))
        return m->n_arms++;
    return GBOSE__MONITOR_ARMS;
}

/* Two neighbours become one. */
static void halve(struct gbose__monitor *m)
{
    for (size_t i = 0; i + 1 < m->n_points; i += 2) {
        struct gbose__monitor_point *a = &m->point[i], *b = &m->point[i + 1], both = *b;

        both.n += a->n;
        both.defaulted += a->defaulted;
        both.reward += a->reward;
        both.level += a->level;
        for (size_t k = 0; k <= GBOSE__MONITOR_ARMS; k++)
            both.played[k] += a->played[k];
        m->point[i / 2] = both;
    }
    m->n_points /= 2;
    m->per_point *= 2;
}

static void add_point(struct gbose__monitor *m, const struct gbose__case *it, const char *arm, double level)
{
    struct gbose__monitor_point *p = m->n_points ? &m->point[m->n_points - 1] : NULL;

    if (!p || p->n >= m->per_point) {
        if (m->n_points == GBOSE__MONITOR_POINTS)
            halve(m);
        p = &m->point[m->n_points++];
        memset(p, 0, sizeof *p);
    }
    p->time = it->outcome->time;
    p->n++;
    p->defaulted += it->outcome->why == GBOSE__DEFAULTED;
    p->reward += it->outcome->reward;
    p->level += level;
    p->played[label_of(m, arm)]++;
    if (p->n == m->per_point || p->n == 1)
        for (size_t i = 1; i < GBOSE__POLICIES; i++) {
            gbose_difference d;

            if (!gbose_evaluation_difference(m->evaluation, i, &d))
                p->difference[i] = d.phi;
        }
}

/* ---- a closed event ---- */

struct extending {
    struct gbose__monitor *monitor;
    struct gbose__desk *desk;
    struct gbose__model *model; /* whose estimate tells the level from the effects */
    const char *base;
    size_t n;
    int rc;
};

/* What other policies would have played: the base arm (the first one, if it was not among them) and all
 * alike. */
static void other_policies(struct gbose__monitor *m, const struct gbose__event_row *e, const char *const *ids,
                           const char *base, double *at[GBOSE__POLICIES])
{
    size_t n = e->n_arms, arm = 0;
    char index[24];

    for (size_t i = 0; i < n; i++) {
        snprintf(index, sizeof index, "%zu", i);
        if (*base && !strcmp(ids ? ids[i] : index, base))
            arm = i;
    }
    for (size_t i = 0; i < n; i++) {
        at[GBOSE__LOGGED][i] = e->pmf[i];
        at[GBOSE__BASE][i] = i == arm;
        at[GBOSE__UNIFORM][i] = 1 / (double)n;
        at[GBOSE__SHADOW][i] = e->shadow ? e->shadow[i] : e->pmf[i];
    }
    m->has_base = 1;
    m->has_shadow |= e->shadow != NULL;
}

static void take_in(struct extending *x, const struct gbose__case *it, struct gbose__arena *arena)
{
    struct gbose__monitor *m = x->monitor;
    const struct gbose__event_row *e = it->event;
    struct gbose__field f[GBOSE__IN_FIELDS];
    struct gbose__problem p;
    struct gbose__ask ask;
    const char **ids = gbose__decide_stored_ids(x->desk, e, arena), *message;
    double *pmf[GBOSE__POLICIES],
        *room = gbose__arena_take(arena, GBOSE__POLICIES * e->n_arms * sizeof *room);
    double level = it->outcome->reward;
    char index[24];
    size_t at;
    gbose_logged row;

    memcpy(f, gbose__ask_fields, sizeof f);
    if (!room || gbose__document_read(&x->desk->stored, e->body, e->body_size, &message, &at) ||
        gbose__fields_read(&x->desk->stored, 0, f, GBOSE__IN_FIELDS, "", &p) ||
        gbose__ask_read(&ask, m->encoder, x->desk, &x->desk->stored, f, arena, 0, "", &p) ||
        ask.n_arms != e->n_arms) {
        m->unreadable++;
        return;
    }
    for (size_t i = 0; i < GBOSE__POLICIES; i++)
        pmf[i] = room + i * e->n_arms;
    other_policies(m, e, ids, x->base, pmf);
    row = (gbose_logged){.n_arms = e->n_arms,
                         .arm = e->arm,
                         .pmf = e->pmf,
                         .reward = it->outcome->reward,
                         .contexts = m->effects ? ask.rows : NULL};
    if (gbose_evaluation_add(m->evaluation, &row, (const double *const *)pmf, NULL)) {
        m->unreadable++;
        return;
    }
    if (m->effects)
        gbose_effects_add(m->effects, &row, NULL);
    if (gbose_dim(x->model->g) == m->encoder->dim)
        for (size_t i = 0; i < m->encoder->dim; i++)
            level -= ask.rows[e->arm * m->encoder->dim + i] * gbose_coef(x->model->g)[i];
    snprintf(index, sizeof index, "%u", e->arm);
    add_point(m, it, ids ? ids[e->arm] : index, level);
    m->rounds++;
}

static int extend(void *context, const struct gbose__case *it)
{
    struct extending *x = context;
    struct gbose__arena arena = {0};

    if (it->outcome->why != GBOSE__UNUSED)
        take_in(x, it, &arena);
    gbose__arena_clear(&arena);
    x->monitor->seen = it->outcome->number;
    x->n++;
    return 0;
}

int gbose__monitor_extend(struct gbose__bandit *b, struct gbose__trainer *trainer, size_t most)
{
    struct extending x = {.desk = trainer->desk};
    struct gbose__settings settings;
    uint64_t outcomes = atomic_load(&b->outcomes);
    gbose_error err;

    pthread_mutex_lock(&b->monitor_lock);
    if (b->monitor) {
        x.model = gbose__bandit_model(b, &settings);
        x.base = settings.base_arm;
        if (x.model->generation != b->monitor->generation) { /* other features: begin again */
            struct gbose__monitor *fresh = monitor_new(b);

            if (fresh) {
                gbose__monitor_free(b->monitor);
                b->monitor = fresh;
            }
        }
        x.monitor = b->monitor;
        if (x.monitor->seen < outcomes)
            trainer->view->outcomes(trainer->view, b->id, x.monitor->seen, outcomes, most, extend, &x, &err);
        gbose__model_release(x.model);
    }
    pthread_mutex_unlock(&b->monitor_lock);
    return x.n == most;
}
