/* A learner's life and its rounds: gbose_new() to gbose_learn(). */
#include "learners/learner.h"

#include <math.h>
#include <string.h>

#include "core/kernels.h"
#include "core/memory.h"
#include "core/normal.h"
#include "learners/lineage.h"

#define TICKET_MAGIC UINT64_C(0x314b5445534f4247) /* the bytes "GBOSETK1" */
#define TICKET_HEADER 8                           /* words before the level and the terms */

#define MAX_SCORE 1e250 /* see GBOSE__MAX_LEVEL */

/* The counter of a random stream has this much room for the number of the decision (core/rng.h). */
#define MAX_DECISIONS (UINT64_C(1) << 56)

/* ---- settings ---- */

static void read_settings(struct gbose__settings *set, const gbose_info *info,
                          const struct gbose__value *value)
{
    const struct {
        const char *name;
        double *to;
    } numbers[] = {{"gamma", &set->gamma},     {"lambda", &set->lambda}, {"delta", &set->delta},
                   {"epsilon", &set->epsilon}, {"p_min", &set->p_min},   {"p_max", &set->p_max},
                   {"forget", &set->forget},   {"noise", &set->noise},   {"range", &set->range},
                   {"norm", &set->norm}};

    memset(set, 0, sizeof *set);
    for (size_t i = 0; i < info->n_options; i++) {
        const char *name = info->options[i].name;
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
            if (!strcmp(name, numbers[k].name))
                *numbers[k].to = value[i].number;
        if (!strcmp(name, "horizon"))
            set->horizon = (double)value[i].integer;
        if (!strcmp(name, "draws"))
            set->draws = (size_t)value[i].integer;
        if (!strcmp(name, "intercept"))
            set->intercept = (int)value[i].integer;
        if (!strcmp(name, "lone"))
            set->lone = value[i].word;
        if (!strcmp(name, "safe"))
            set->safe = (int)value[i].integer;
        if (!strcmp(name, "width"))
            set->certified = value[i].word == 1;
        if (!strcmp(name, "round"))
            set->round = (size_t)value[i].integer;
    }
}

/* lambda=theory, gamma=theory (both of Algorithm 1) and gamma=lemma1 (Lemma 1). */
static void apply_theory(struct gbose__settings *set, size_t dim, const gbose_info *info,
                         const struct gbose__value *value)
{
    double d = (double)dim, T = set->horizon, log_4T_delta, log_T_delta;

    if (!(T > 0))
        return;
    log_4T_delta = gbose__log(4 * T / set->delta);
    log_T_delta = gbose__log(T / set->delta);
    if (value[gbose__option_index(info, "lambda")].word == 0)
        set->lambda = 4 * d * gbose__log(9 * T) + 8 * log_4T_delta;
    switch (value[gbose__option_index(info, "gamma")].word) {
    case 0:
        set->gamma = sqrt(set->lambda) + sqrt(27 * d * gbose__log(1 + 2 * T / d) + 54 * log_4T_delta);
        break;
    case 1:
        set->gamma =
            sqrt(set->lambda) + sqrt(9 * d * gbose__log(1 + T / (d * set->lambda)) + 18 * log_T_delta);
        break;
    default:
        break;
    }
}

/* ---- creation ---- */

/* Is an intercept subtracted from rewards? */
static int has_level(const gbose *g)
{
    return !g->kind->linear && g->set.intercept;
}

static int build_extra(gbose *g)
{
    const struct gbose__extra *extra = g->kind->extra;

    if (!extra)
        return GBOSE_OK;
    g->n_own = extra->numbers(g);
    g->own = gbose__alloc(g->n_own, sizeof(double));
    g->spare = gbose__alloc(2 * g->model.stride, sizeof(double));
    return g->own && g->spare ? extra->init(g) : GBOSE_ENOMEM;
}

static int build(gbose *g, const struct gbose__value *value, size_t dim, gbose_error *err)
{
    const gbose_info *info = &g->kind->info;
    char spec[GBOSE__MAX_SPEC];
    size_t model_dim = dim;
    int rc;

    memcpy(g->value, value, info->n_options * sizeof *value);
    g->dim = dim;
    g->seed = value[gbose__option_index(info, "seed")].integer;
    read_settings(&g->set, info, value);
    apply_theory(&g->set, dim, info, value);
    rc = g->kind->check ? g->kind->check(&g->set, err) : GBOSE_OK;
    if (rc)
        return rc;

    if (gbose__spec_write(spec, info, value, "seed"))
        return GBOSE_ENOMEM;
    g->fingerprint = gbose__mix(gbose__mix_text(1, spec), dim);
    if (gbose__spec_write(spec, info, value, NULL))
        return GBOSE_ENOMEM;
    g->spec = gbose__alloc(strlen(spec) + 1, 1);
    g->lineage = g->spec ? gbose__lineage_new() : NULL;
    if (!g->lineage)
        return GBOSE_ENOMEM;
    memcpy(g->spec, spec, strlen(spec) + 1);

    if (dim == SIZE_MAX)
        return GBOSE_ESIZE;
    if (g->kind->linear && g->set.intercept)
        model_dim++;
    rc = gbose__ridge_init(&g->model, model_dim, g->set.lambda, g->set.forget);
    if (!rc && has_level(g))
        rc = gbose__ridge_init(&g->level, dim + 1, 1, g->set.forget);
    return rc ? rc : build_extra(g);
}

int gbose_new(gbose **out, const char *spec, size_t dim, gbose_error *err)
{
    struct gbose__value value[GBOSE__MAX_OPTIONS];
    size_t which;
    gbose *g;
    int rc;

    if (!out || !spec || !dim)
        return gbose__fail(err, GBOSE_EINVAL, "%s",
                           !dim ? "dim must be at least 1" : gbose_strerror(GBOSE_EINVAL));
    rc = gbose__spec_parse(&which, value, spec, &gbose__learners, err);
    if (rc)
        return rc;
    gbose__fail(err, GBOSE_OK, "%s", "");
    g = gbose__alloc(1, sizeof *g);
    if (!g)
        return gbose__fail(err, GBOSE_ENOMEM, "%s", gbose_strerror(GBOSE_ENOMEM));
    g->kind = gbose__learner_at(which);
    rc = build(g, value, dim, err);
    if (rc) {
        gbose_free(g);
        return err && err->code == rc ? rc : gbose__fail(err, rc, "%s", gbose_strerror(rc));
    }
    *out = g;
    return GBOSE_OK;
}

static void round_clear(struct gbose__round *round)
{
    gbose__free(round->context);
    gbose__free(round->matrix);
    gbose__free(round->score);
    gbose__free(round->live);
    gbose__ball_clear(&round->ball);
    gbose__free(round->ticket);
}

void gbose_free(gbose *g)
{
    if (!g)
        return;
    round_clear(&g->round);
    gbose__ridge_clear(&g->model);
    gbose__ridge_clear(&g->level);
    gbose__lineage_free(g->lineage);
    gbose__free(g->own);
    gbose__free(g->spare);
    gbose__free(g->spec);
    gbose__free(g);
}

/* ---- what it knows ---- */

const double *gbose_coef(const gbose *g)
{
    return g->model.mu;
}

double gbose_width(const gbose *g, const double *x)
{
    return g->kind->extra ? g->kind->extra->width(g, x) : gbose__ridge_width(&g->model, x, g->dim);
}

uint64_t gbose_rounds(const gbose *g)
{
    return g->learned;
}

uint64_t gbose_decisions(const gbose *g)
{
    return g->decisions;
}

size_t gbose_dim(const gbose *g)
{
    return g->dim;
}

size_t gbose_round_features(const gbose *g)
{
    return g->set.round;
}

const char *gbose_spec(const gbose *g)
{
    return g->spec;
}

int gbose_diagnose(const gbose *g, gbose_diagnosis *out)
{
    gbose_diagnosis diagnosis;
    int rc;

    if (!g || !out)
        return GBOSE_EINVAL;
    if (!g->kind->extra)
        return GBOSE_ELEARNER;
    rc = g->kind->extra->diagnose(g, &diagnosis);
    if (!rc)
        *out = diagnosis;
    return rc;
}

int gbose_stream(gbose *g, uint32_t stream)
{
    if (!g)
        return GBOSE_EINVAL;
    g->stream = stream;
    g->decisions = 0;
    return GBOSE_OK;
}

/* ---- a decision ---- */

/* The most terms that a ticket may hold. */
static size_t max_terms(const gbose *g, size_t n_arms)
{
    return g->kind->term_per_arm ? n_arms : 1;
}

static size_t ticket_words(const gbose *g, size_t terms)
{
    return TICKET_HEADER + (has_level(g) ? 1 + g->dim : 0) + terms * (2 + g->dim) +
           (g->kind->extra ? g->kind->extra->note_words(g) : 0) + 1;
}

/* Doubles in the matrix: n rows, and those of samples, or the arms in tiles. */
static size_t matrix_size(size_t n, size_t sample_rows, size_t stride)
{
    size_t rows = (n + sample_rows) * stride, tiles = gbose__tiles(n, stride) / 2;

    return rows > tiles ? rows : tiles;
}

/* Room for n arms. What is there already stays in use until all of the new memory is at hand. */
static int round_reserve(const gbose *g, struct gbose__round *old, size_t n)
{
    struct gbose__round round;
    size_t stride = g->model.stride, row = stride * sizeof(double),
           sample_rows = g->kind->samples ? GBOSE__BATCH : 0;

    if (n <= old->capacity && old->shape == g->fingerprint)
        return GBOSE_OK;
    if (n > SIZE_MAX / 64 / row)
        return GBOSE_ESIZE;
    round = *old;
    round.stride = stride;
    round.shape = g->fingerprint;
    round.ticket_capacity = 8 * ticket_words(g, max_terms(g, n));
    round.context = gbose__alloc(2 * n + sample_rows + 2, row);
    round.matrix = gbose__alloc(matrix_size(n, sample_rows, stride), sizeof(double));
    round.score = gbose__alloc(6 * n, sizeof(double));
    round.live = gbose__alloc(2 * n, sizeof(size_t));
    gbose__ball_init(&round.ball, g->kind->ball ? n : 0, g->model.dim);
    round.ticket = gbose__alloc(round.ticket_capacity, 1);
    if (!round.context || !round.matrix || !round.score || !round.live || !round.ball.memory ||
        !round.ticket) {
        round_clear(&round);
        return GBOSE_ENOMEM;
    }
    round.image = round.context + n * stride;
    round.centre = round.image + (n + sample_rows) * stride;
    round.pmf = round.score + n;
    round.aside = round.pmf + n;
    round.radius = round.aside + n;
    round.swing = round.radius + n;
    round.order = round.live + n;
    round.arms = (struct gbose__arms){.radius = round.radius,
                                      .square = round.swing + n,
                                      .order = round.order,
                                      .centre = round.centre,
                                      .tiles = (float *)round.matrix};
    round.capacity = n;
    round_clear(old);
    *old = round;
    return GBOSE_OK;
}

void gbose__images(const gbose *g, struct gbose__round *round)
{
    gbose__ridge_apply(&g->model, round->image, round->context, NULL, round->n);
}

void gbose__decision_rng(const gbose *g, const struct gbose__round *round, struct gbose__rng *rng,
                         unsigned purpose)
{
    gbose__rng_init(rng, g->seed, round->stream, purpose, round->number);
}

/* What off-policy evaluation stands on: probabilities, one for each arm, that add up to 1. */
static int is_distribution(const double *pmf, size_t n)
{
    double sum = 0;
    int fine = 1;

    for (size_t i = 0; i < n; i++) {
        fine &= pmf[i] >= 0;
        sum += pmf[i];
    }
    return fine && fabs(sum - 1) < 1e-9;
}

/* The one place where arms are drawn. An arm of probability zero is never drawn, whatever rounding does. */
static size_t draw(const gbose *g, const struct gbose__round *round)
{
    struct gbose__rng rng;
    size_t arm = gbose__argmax(round->pmf, round->n);
    double u;

    if (round->pmf[arm] == 1) /* it needs no number */
        return arm;
    gbose__decision_rng(g, round, &rng, GBOSE__DRAW);
    u = gbose__rng_uniform(&rng);
    for (size_t i = 0; i < round->n; i++) {
        if (!(round->pmf[i] > 0))
            continue;
        arm = i;
        u -= round->pmf[i];
        if (u < 0)
            break;
    }
    return arm;
}

void gbose__term(const gbose *g, struct gbose__round *round, double w, double c, const double *x)
{
    gbose__put_double(&round->writer, w);
    gbose__put_double(&round->writer, c);
    gbose__put_doubles(&round->writer, x, g->dim);
    round->n_terms++;
}

/* Header, level, terms, checksum. */
static void write_ticket(const gbose *g, struct gbose__round *round, size_t arm)
{
    struct gbose__writer *w = &round->writer, count;

    w->at = round->ticket;
    w->size = 0;
    round->n_terms = 0;
    gbose__put_u64(w, TICKET_MAGIC);
    gbose__put_u64(w, g->fingerprint);
    gbose__put_u64(w, g->seed);
    gbose__put_u64(w, round->stream);
    gbose__put_u64(w, round->number);
    gbose__put_u64(w, arm);
    gbose__put_double(w, round->pmf[arm]);
    count = *w;
    gbose__put_u64(w, 0);
    if (has_level(g)) {
        gbose__put_double(w, round->level);
        gbose__put_doubles(w, round->context + arm * round->stride, g->dim);
    }
    g->kind->explain(g, round, arm);
    gbose__put_u64(&count, round->n_terms);
    gbose__put_u64(w, gbose__checksum(w->at, w->size));
}

/* The probabilities of a round, and the arm drawn from them. */
static int decide_round(const gbose *g, struct gbose__round *round, size_t *arm, const double *contexts,
                        size_t n_arms)
{
    round->n = n_arms;
    round->draws = 0;
    if (!gbose__kernels->take(round->context, contexts, n_arms, g->dim, round->stride, GBOSE_MAX_INPUT))
        return GBOSE_ENUMERIC;
    for (size_t i = 0; i < n_arms && g->model.dim > g->dim; i++)
        round->context[i * round->stride + g->dim] = 1;
    gbose__kernels->dots(round->score, round->context, g->model.mu, n_arms, round->stride);
    round->level = has_level(g) ? g->level.mu[g->dim] : 0;
    if (!gbose__kernels->within(round->score, n_arms, MAX_SCORE) || !(fabs(round->level) <= GBOSE__MAX_LEVEL))
        return GBOSE_ENUMERIC;

    g->kind->decide(g, round);
    if (!is_distribution(round->pmf, n_arms))
        return GBOSE_ENUMERIC;
    *arm = draw(g, round);
    return GBOSE_OK;
}

int gbose_decide(gbose *g, gbose_decision *out, const double *contexts, size_t n_arms)
{
    return gbose_decide_in(g, out, contexts, n_arms, NULL);
}

int gbose_decide_in(gbose *g, gbose_decision *out, const double *contexts, size_t n_arms,
                    const double *feature)
{
    struct gbose__round *round;
    size_t arm;
    int rc;

    if (!g || !out || !contexts || !n_arms || (g->set.round && !feature))
        return GBOSE_EINVAL;
    if (n_arms > SIZE_MAX / sizeof(double) / g->dim)
        return GBOSE_ESIZE;
    round = &g->round;
    rc = round_reserve(g, round, n_arms); /* before the contexts are read: an absurd n_arms ends here */
    if (rc)
        return rc;
    if (g->set.round && !gbose__kernels->within(feature, g->set.round, GBOSE_MAX_INPUT))
        return GBOSE_ENUMERIC;
    round->feature = feature;
    round->stream = g->stream;
    round->number = g->decisions;
    rc = decide_round(g, round, &arm, contexts, n_arms);
    if (rc)
        return rc;
    write_ticket(g, round, arm);
    round->feature = NULL;
    g->decisions++;
    out->arm = arm;
    out->probability = round->pmf[arm];
    out->n_arms = n_arms;
    out->pmf = round->pmf;
    out->draws = round->draws;
    out->ticket = round->ticket;
    out->ticket_size = round->writer.size;
    return GBOSE_OK;
}

/* ---- many decisions ---- */

struct gbose_scratch {
    struct gbose__round round;
};

int gbose_scratch_new(gbose_scratch **out)
{
    gbose_scratch *scratch;

    if (!out)
        return GBOSE_EINVAL;
    scratch = gbose__alloc(1, sizeof *scratch);
    if (!scratch)
        return GBOSE_ENOMEM;
    *out = scratch;
    return GBOSE_OK;
}

void gbose_scratch_free(gbose_scratch *scratch)
{
    if (!scratch)
        return;
    round_clear(&scratch->round);
    gbose__free(scratch);
}

size_t gbose_ticket_room(const gbose *g, size_t n_arms)
{
    return n_arms < SIZE_MAX / 64 / (g->dim + 2) ? 8 * ticket_words(g, max_terms(g, n_arms)) : 0;
}

int gbose_decide_many(const gbose *g, gbose_scratch *scratch, const gbose_choices *out, uint32_t stream,
                      uint64_t first, const double *contexts, size_t n_rounds, size_t n_arms)
{
    struct gbose__round *round;
    size_t size, room;
    int rc;

    if (!g || !scratch || !out || !out->arm || !out->tickets != !out->ticket_size || !contexts || !n_arms ||
        g->set.round || first > MAX_DECISIONS || n_rounds > MAX_DECISIONS - first)
        return GBOSE_EINVAL;
    if (n_arms > SIZE_MAX / sizeof(double) / g->dim ||
        n_rounds > SIZE_MAX / sizeof(double) / (n_arms * g->dim))
        return GBOSE_ESIZE;
    round = &scratch->round;
    rc = round_reserve(g, round, n_arms);
    if (rc)
        return rc;
    size = n_arms * g->dim;
    room = gbose_ticket_room(g, n_arms);
    if (!gbose__kernels->within(contexts, n_rounds * size, GBOSE_MAX_INPUT))
        return GBOSE_ENUMERIC;
    round->stream = stream;
    for (size_t t = 0; t < n_rounds; t++) {
        round->number = first + t;
        rc = decide_round(g, round, &out->arm[t], contexts + t * size, n_arms);
        if (rc)
            return rc;
        if (out->probability)
            out->probability[t] = round->pmf[out->arm[t]];
        if (out->pmf)
            memcpy(out->pmf + t * n_arms, round->pmf, n_arms * sizeof(double));
        if (out->tickets) {
            write_ticket(g, round, out->arm[t]);
            memcpy((unsigned char *)out->tickets + t * room, round->ticket, round->writer.size);
            out->ticket_size[t] = round->writer.size;
        }
    }
    return GBOSE_OK;
}

/* ---- a reward ---- */

/* The numbers behind the header, before any of them is believed. */
static int terms_are_sane(const gbose *g, struct gbose__reader r, uint64_t terms)
{
    int fine = 1;

    if (has_level(g)) {
        fine &= fabs(gbose__get_double(&r)) <= GBOSE__MAX_LEVEL;
        for (size_t i = 0; i < g->dim; i++)
            fine &= fabs(gbose__get_double(&r)) <= GBOSE__MAX_FEATURE;
    }
    while (terms--) {
        double w = gbose__get_double(&r), c = gbose__get_double(&r);
        fine &= w >= 0 && w <= 4 && fabs(c) <= 4;
        for (size_t i = 0; i < g->dim; i++)
            fine &= fabs(gbose__get_double(&r)) <= GBOSE__MAX_FEATURE;
    }
    return fine && !r.bad;
}

/* The next dim numbers as an x of regression m, with a constant feature where it has one. */
static void read_x(const gbose *g, struct gbose__ridge *m, struct gbose__reader *r)
{
    gbose__get_doubles(r, m->x, g->dim);
    if (m->dim > g->dim)
        m->x[g->dim] = 1;
}

/* The level and the terms, which have been checked. */
static void apply_terms(gbose *g, struct gbose__reader r, uint64_t terms, double reward)
{
    double level = 0;

    if (has_level(g)) {
        level = gbose__get_double(&r);
        read_x(g, &g->level, &r);
        gbose__ridge_begin(&g->level);
        gbose__ridge_term(&g->level, g->level.x, 1, reward);
    }
    gbose__ridge_begin(&g->model);
    while (terms--) {
        double w = gbose__get_double(&r), c = gbose__get_double(&r);
        read_x(g, &g->model, &r);
        gbose__ridge_term(&g->model, g->model.x, w, c * (reward - level));
    }
}

int gbose_learn(gbose *g, const void *ticket, size_t ticket_size, double reward)
{
    struct gbose__reader r = {ticket, ticket_size, 0}, tail = {NULL, 8, 0};
    uint64_t checksum, terms, reward_bits;

    if (!g || !ticket)
        return GBOSE_EINVAL;
    if (ticket_size % 8 || ticket_size < 8 * (TICKET_HEADER + 1))
        return GBOSE_ETICKET;
    tail.at = r.at + ticket_size - 8;
    checksum = gbose__get_u64(&tail);
    if (gbose__get_u64(&r) != TICKET_MAGIC || checksum != gbose__checksum(ticket, ticket_size - 8))
        return GBOSE_ETICKET;
    if (gbose__get_u64(&r) != g->fingerprint)
        return GBOSE_EFOREIGN;
    for (int i = 0; i < 5; i++) /* seed, stream, decision, arm, probability: they make the checksum unique */
        gbose__get_u64(&r);
    terms = gbose__get_u64(&r);
    if (terms > ticket_size || ticket_size != 8 * ticket_words(g, (size_t)terms))
        return GBOSE_ETICKET;
    if (g->kind->extra ? terms || !g->kind->extra->note_is_sane(g, r) : !terms_are_sane(g, r, terms))
        return GBOSE_ETICKET;
    if (!(fabs(reward) <= GBOSE_MAX_INPUT))
        return GBOSE_ENUMERIC;

    if (g->kind->extra)
        g->kind->extra->learn(g, r, reward);
    else
        apply_terms(g, r, terms, reward);
    g->learned++;
    memcpy(&reward_bits, &reward, sizeof reward_bits);
    gbose__lineage_learned(g->lineage, gbose__mix(checksum, reward_bits));
    return GBOSE_OK;
}
