#include "support/players.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "learners/gauge.h"
#include "learners/learner.h"
#include "support/dense.h"

double random_between(struct random *rng, double low, double high)
{
    return low + (high - low) * random_uniform(rng);
}

/* ---- learners of every kind ---- */

int has_option(const gbose_info *info, const char *name)
{
    for (size_t i = 0; i < info->n_options; i++)
        if (!strcmp(info->options[i].name, name))
            return 1;
    return 0;
}

const char *spec_with(char *buf, const char *spec, const char *more)
{
    int length = snprintf(buf, SPEC_SIZE, "%s%c%s", spec, strchr(spec, ':') ? ',' : ':', more);

    assert_in_range(length, 1, SPEC_SIZE - 1);
    return buf;
}

const char *spec_seeded(char *buf, const char *spec, unsigned seed)
{
    char digits[8], *at;

    assert_true(strlen(spec) < SPEC_SIZE);
    strcpy(buf, spec);
    at = strstr(buf, "seed=");
    assert_non_null(at);
    snprintf(digits, sizeof digits, "%02u", seed);
    memcpy(at + strlen("seed="), digits, 2);
    return buf;
}

int has_note(const char *spec)
{
    return !strncmp(spec, "gbose-auto", 10);
}

enum { MAX_VARIANTS = 8 };

/* Options that change what a learner keeps. Returns how many. */
static size_t list_variants(const char *variant[MAX_VARIANTS], const gbose_info *info)
{
    size_t n = 0;

    variant[n++] = NULL;
    for (size_t i = 0; i < info->n_options; i++)
        if (!strcmp(info->options[i].name, "intercept"))
            variant[n++] = info->options[i].value[0] == '1' ? "intercept=0" : "intercept=1";
    variant[n++] = "floor=0.2";
    if (has_option(info, "safe"))
        variant[n++] = "safe=1";
    if (has_option(info, "round"))
        variant[n++] = "round=2";
    if (has_option(info, "width"))
        variant[n++] = "width=certified";
    assert_in_range(n, 1, MAX_VARIANTS);
    return n;
}

static char current[SPEC_SIZE]; /* empty when no test is under way */

int name_failed_spec(void **state)
{
    (void)state;
    if (current[0])
        print_error("the spec was %s\n", current);
    current[0] = 0;
    return 0;
}

void for_each_spec(void (*test)(const char *spec), int flavours)
{
    const gbose_info *info;

    for (size_t i = 0; (info = gbose_learner_at(i)); i++) {
        const char *variant[MAX_VARIANTS];
        size_t n_variants = list_variants(variant, info);

        for (size_t k = 0; k < 2 * n_variants; k++) {
            char spec[SPEC_SIZE], more[SPEC_SIZE];
            const char *with = variant[k / 2];

            if ((with && !(flavours & INTERCEPT)) || (k % 2 && !(flavours & FORGET)))
                continue;
            if (k % 2 && with && !strcmp(with, "width=certified")) /* refused */
                continue;
            snprintf(spec, sizeof spec, "%s:lambda=2.5,seed=11", info->name);
            if (has_option(info, "gamma"))
                strcpy(spec, spec_with(more, spec, "gamma=0.3"));
            if (has_option(info, "draws"))
                strcpy(spec, spec_with(more, spec, "draws=40"));
            if (with)
                strcpy(spec, spec_with(more, spec, with));
            if (k % 2)
                strcpy(spec, spec_with(more, spec, "forget=0.97"));
            strcpy(current, spec);
            test(spec);
            current[0] = 0;
        }
    }
}

gbose *new_player(const char *spec, size_t dim)
{
    gbose *g = NULL;
    gbose_error err;

    if (gbose_new(&g, spec, dim, &err) != GBOSE_OK)
        fail_msg("gbose_new(\"%s\", %zu): %s", spec, dim, err.text);
    assert_non_null(g);
    return g;
}

/* ---- rounds ---- */

void random_arms(struct arms *arms, size_t dim, struct random *rng)
{
    assert_in_range(dim, 1, MAX_DIM);
    arms->n = 1 + random_below(rng, MAX_ARMS);
    for (size_t i = 0; i < arms->n * dim; i++)
        arms->context[i] = random_between(rng, -1, 1);
}

int decide_arms(gbose *g, gbose_decision *d, const double *contexts, size_t n_arms)
{
    double round[2];

    if (!g || !gbose_round_features(g))
        return gbose_decide(g, d, contexts, n_arms);
    assert_int_equal(gbose_round_features(g), 2);
    round[0] = (double)(gbose_decisions(g) * 3 % 7) - 2.5;
    round[1] = 1e3 + (double)(gbose_decisions(g) * 5 % 11);
    return gbose_decide_in(g, d, contexts, n_arms, round);
}

void decide_once(gbose *g, struct outcome *outcome, struct random *rng)
{
    size_t dim = gbose_dim(g);
    struct arms arms;
    gbose_decision d;

    random_arms(&arms, dim, rng);
    assert_int_equal(decide_arms(g, &d, arms.context, arms.n), GBOSE_OK);
    assert_in_range(d.ticket_size, 8, sizeof outcome->ticket);
    memcpy(outcome->ticket, d.ticket, d.ticket_size);
    outcome->size = d.ticket_size;
    outcome->reward = 3 + random_between(rng, -0.5, 0.5);
    for (size_t i = 0; i < dim; i++)
        outcome->reward += arms.context[d.arm * dim + i] * (i % 2 ? -0.7 : 0.4);
}

void learn_outcome(gbose *g, const struct outcome *outcome)
{
    assert_int_equal(gbose_learn(g, outcome->ticket, outcome->size, outcome->reward), GBOSE_OK);
}

void play(gbose *g, size_t rounds, struct random *rng, struct outcome *outcomes)
{
    struct outcome one;

    for (size_t t = 0; t < rounds; t++) {
        struct outcome *outcome = outcomes ? &outcomes[t] : &one;

        decide_once(g, outcome, rng);
        learn_outcome(g, outcome);
    }
}

void shuffle(struct outcome *outcomes, size_t n, struct random *rng)
{
    for (size_t i = n; i > 1; i--) {
        size_t k = random_below(rng, i);
        struct outcome swap = outcomes[k];

        outcomes[k] = outcomes[i - 1];
        outcomes[i - 1] = swap;
    }
}

void assert_play_alike(gbose *a, gbose *b, size_t rounds, struct random *rng)
{
    size_t dim = gbose_dim(a);

    assert_int_equal(gbose_dim(b), dim);
    for (size_t t = 0; t < rounds; t++) {
        struct arms arms;
        gbose_decision d, e;
        double reward = random_between(rng, -2, 2);

        random_arms(&arms, dim, rng);
        assert_int_equal(decide_arms(a, &d, arms.context, arms.n), GBOSE_OK);
        assert_int_equal(decide_arms(b, &e, arms.context, arms.n), GBOSE_OK);
        assert_int_equal(d.arm, e.arm);
        assert_int_equal(d.draws, e.draws);
        assert_memory_equal(&d.probability, &e.probability, sizeof d.probability);
        assert_memory_equal(d.pmf, e.pmf, arms.n * sizeof *d.pmf);
        assert_int_equal(d.ticket_size, e.ticket_size);
        assert_memory_equal(d.ticket, e.ticket, d.ticket_size);
        assert_int_equal(gbose_learn(a, d.ticket, d.ticket_size, reward), GBOSE_OK);
        assert_int_equal(gbose_learn(b, e.ticket, e.ticket_size, reward), GBOSE_OK);
        assert_memory_equal(gbose_coef(a), gbose_coef(b), dim * sizeof(double));
    }
    assert_int_equal(gbose_rounds(a), gbose_rounds(b));
    assert_int_equal(gbose_decisions(a), gbose_decisions(b));
}

/* ---- bytes ---- */

struct bytes bytes_copy(const void *at, size_t size)
{
    struct bytes bytes = {malloc(size ? size : 1), size};

    assert_non_null(bytes.at);
    memcpy(bytes.at, at, size);
    return bytes;
}

struct bytes saved(const gbose *g)
{
    struct bytes bytes = {NULL, 0};
    size_t written;

    assert_int_equal(gbose_save(g, NULL, 0, &bytes.size), GBOSE_OK);
    bytes.at = malloc(bytes.size);
    assert_non_null(bytes.at);
    assert_int_equal(gbose_save(g, bytes.at, bytes.size, &written), GBOSE_OK);
    assert_int_equal(written, bytes.size);
    return bytes;
}

void bytes_free(struct bytes *bytes)
{
    free(bytes->at);
    bytes->at = NULL;
    bytes->size = 0;
}

gbose *loaded(const struct bytes *bytes)
{
    gbose *g = NULL;
    gbose_error err;

    if (gbose_load(&g, bytes->at, bytes->size, &err) != GBOSE_OK)
        fail_msg("gbose_load: %s", err.text);
    assert_non_null(g);
    return g;
}

gbose *duplicate(const gbose *g)
{
    struct bytes bytes = saved(g);
    gbose *copy = loaded(&bytes);

    bytes_free(&bytes);
    return copy;
}

gbose *seasoned_player(const char *spec, size_t dim)
{
    gbose *young = new_player(spec, dim), *g;
    struct random rng = {31};

    play(young, 20, &rng, NULL);
    g = duplicate(young);
    gbose_free(young);
    assert_int_equal(gbose_stream(g, 3), GBOSE_OK);
    play(g, 20, &rng, NULL);
    return g;
}

size_t byte_step(size_t i, size_t size)
{
    return i < 1500 || i + 100 > size ? 1 : 37 + size / 300;
}

void assert_unchanged(const gbose *g, const struct bytes *before)
{
    struct bytes now = saved(g);

    assert_int_equal(now.size, before->size);
    assert_memory_equal(now.at, before->at, now.size);
    bytes_free(&now);
}

uint64_t word_at(const struct bytes *bytes, size_t offset)
{
    struct gbose__reader r = {bytes->at + offset, 8, 0};

    assert_true(offset + 8 <= bytes->size);
    return gbose__get_u64(&r);
}

void set_word(struct bytes *bytes, size_t offset, uint64_t word)
{
    struct gbose__writer w = {bytes->at + offset, 0, 8, 0};

    assert_true(offset + 8 <= bytes->size);
    gbose__put_u64(&w, word);
}

void set_double(struct bytes *bytes, size_t offset, double value)
{
    uint64_t word;

    memcpy(&word, &value, sizeof word);
    set_word(bytes, offset, word);
}

void reseal(struct bytes *bytes)
{
    set_word(bytes, bytes->size - 8, gbose__checksum(bytes->at, bytes->size - 8));
}

static size_t ridge_size(size_t dim)
{
    return 8 * (dim * (dim + 1) / 2 + dim + dim + 2);
}

struct layout layout_of(const struct bytes *state, const gbose *g)
{
    struct layout at = {.version = 8, .spec = 16, .checksum = state->size - 8};
    struct gbose__writer kept = {NULL, 0, 0, 0}; /* it only counts */
    size_t points;

    if (g->kind->write)
        g->kind->write(g, &kept);
    at.dim = at.spec + 8 + (size_t)(word_at(state, at.spec) + 7) / 8 * 8;
    at.schema = at.dim + 8;
    at.stream = at.schema + 8;
    at.decisions = at.stream + 8;
    at.learned = at.decisions + 8;
    at.lineage = at.learned + 8;
    at.model = at.lineage + 8;
    points = (size_t)word_at(state, at.lineage);
    while (points--)
        at.model += 24 + 8 * (size_t)word_at(state, at.model + 16);
    at.model_dim = g->fit[0].dim;
    at.level_dim = g->n_fits > 1 ? g->fit[1].dim : 0;
    at.level = at.model + ridge_size(at.model_dim);
    at.own = at.level;
    for (size_t i = 1; i < g->n_fits; i++)
        at.own += ridge_size(g->fit[i].dim);
    assert_int_equal(at.own + kept.size +
                         8 * (g->n_state + (g->gauge ? (7 + GBOSE__GAUGE_BITS) * (gbose_dim(g) + 1) : 0)),
                     at.checksum);
    return at;
}

void assert_same_but_lineage(const gbose *a, const gbose *b)
{
    struct bytes x = saved(a), y = saved(b);
    struct layout p = layout_of(&x, a), q = layout_of(&y, b);

    assert_int_equal(p.lineage, q.lineage);
    assert_memory_equal(x.at, y.at, p.lineage);
    assert_int_equal(p.checksum - p.model, q.checksum - q.model);
    assert_memory_equal(x.at + p.model, y.at + q.model, p.checksum - p.model);
    bytes_free(&x);
    bytes_free(&y);
}

/* ---- estimates ---- */

static void check_same(double a, double b, double tolerance)
{
    assert_near(a, b, tolerance * fmax(1, fabs(b)));
}

void assert_same_estimates(const gbose *a, const gbose *b, double tolerance)
{
    struct random rng = {17};
    size_t dim = gbose_dim(a);

    assert_int_equal(gbose_dim(b), dim);
    assert_int_equal(gbose_rounds(a), gbose_rounds(b));
    for (size_t i = 0; i < dim; i++)
        check_same(gbose_coef(a)[i], gbose_coef(b)[i], tolerance);
    for (int k = 0; k < 10; k++) {
        double x[MAX_DIM];

        for (size_t i = 0; i < dim; i++)
            x[i] = random_between(&rng, -1, 1);
        check_same(gbose_width(a, x), gbose_width(b, x), tolerance);
    }
}

void read_B(const gbose *g, size_t dim, long double *B)
{
    struct dense inverse;

    assert_in_range(dim, 1, MAX_DIM);
    dense_init(&inverse, dim, 1, 1);
    for (size_t i = 0; i < dim; i++) {
        inverse.prior[i] = 0;
        for (size_t j = 0; j < dim; j++) {
            double sum[MAX_DIM] = {0}, difference[MAX_DIM] = {0};
            long double s, t;

            sum[i] += 1;
            sum[j] += 1;
            difference[i] += 1;
            difference[j] -= 1;
            s = gbose__ridge_width(&g->fit[0], sum, NULL, dim);
            t = gbose__ridge_width(&g->fit[0], difference, NULL, dim);
            inverse.evidence[i * dim + j] = (s * s - t * t) / 4;
        }
    }
    dense_solve(&inverse);
    memcpy(B, inverse.inverse, dim * dim * sizeof *B);
    dense_clear(&inverse);
}
