/* Threads: different learners are independent, and calls on one learner that promise not to change it may run
 * at the same time. The thread sanitizer is the real judge; without it this still compares the bytes. */
#include "support/players.h"

#include <pthread.h>
#include <string.h>

#define DIM 4
#define MAX_PLAYERS 64
#define MAX_STATE (1 << 17)

/* ---- one learner on each thread ---- */

/* The thread itself asserts nothing: cmocka's assertions belong to the main thread. */
struct player {
    char spec[SPEC_SIZE];
    size_t dim, rounds, size;
    int rc;
    unsigned char state[MAX_STATE];
};

static void *play_alone(void *arg)
{
    struct player *p = arg;
    struct random rng = {71};
    gbose *g = NULL, *copy = NULL;

    p->rc = gbose_new(&g, p->spec, p->dim, NULL);
    for (size_t t = 0; t < p->rounds && !p->rc; t++) {
        double contexts[MAX_ARMS * DIM];
        size_t n = 1 + random_below(&rng, MAX_ARMS);
        gbose_decision d;

        for (size_t i = 0; i < n * p->dim; i++)
            contexts[i] = random_between(&rng, -1, 1);
        p->rc = decide_arms(g, &d, contexts, n);
        if (!p->rc)
            p->rc = gbose_learn(g, d.ticket, d.ticket_size, random_between(&rng, -1, 1));
        if (!p->rc && t % 50 == 49) { /* through bytes and back */
            p->rc = gbose_save(g, p->state, sizeof p->state, &p->size);
            if (!p->rc)
                p->rc = gbose_load(&copy, p->state, p->size, NULL);
            if (!p->rc) {
                gbose_free(g);
                g = copy;
            }
        }
    }
    if (!p->rc)
        p->rc = gbose_save(g, p->state, sizeof p->state, &p->size);
    gbose_free(g);
    return NULL;
}

static struct player together[MAX_PLAYERS], alone[MAX_PLAYERS];
static size_t n_players;

static void add_player(const char *spec)
{
    struct player *p = &together[n_players];

    assert_true(n_players < MAX_PLAYERS);
    memset(p, 0, sizeof *p);
    strcpy(p->spec, spec);
    p->dim = DIM;
    p->rounds = 300;
    alone[n_players++] = *p;
}

static void learners_on_different_threads_are_independent(void **state)
{
    pthread_t thread[MAX_PLAYERS];

    (void)state;
    n_players = 0;
    for_each_spec(add_player, INTERCEPT | FORGET);
    for (size_t i = 0; i < n_players; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, play_alone, &together[i]), 0);
    for (size_t i = 0; i < n_players; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    for (size_t i = 0; i < n_players; i++) {
        play_alone(&alone[i]);
        assert_int_equal(alone[i].rc, GBOSE_OK);
        assert_int_equal(together[i].rc, GBOSE_OK);
        assert_int_equal(together[i].size, alone[i].size);
        assert_memory_equal(together[i].state, alone[i].state, alone[i].size);
    }
}

/* ---- one learner asked by many threads ---- */

#define READERS 4

struct reader {
    const gbose *g;
    gbose *into; /* one's own, to merge g into */
    const struct bytes *state;
    const double *coef, *x;
    double width;
    int wrong; /* answers that were not the expected ones */
};

static void *read_often(void *arg)
{
    struct reader *r = arg;
    unsigned char state[MAX_STATE];

    for (int k = 0; k < 200; k++) {
        size_t size = 0;
        double width = gbose_width(r->g, r->x);

        r->wrong += memcmp(&width, &r->width, sizeof width) != 0;
        r->wrong += memcmp(gbose_coef(r->g), r->coef, DIM * sizeof(double)) != 0;
        r->wrong += gbose_save(r->g, state, sizeof state, &size) != GBOSE_OK;
        r->wrong += size != r->state->size || memcmp(state, r->state->at, size) != 0;
        r->wrong += gbose_rounds(r->g) != 40 || gbose_decisions(r->g) != 40 || gbose_dim(r->g) != DIM;
        r->wrong += gbose_spec(r->g)[0] == 0;
        if (k == 100)
            r->wrong += gbose_merge(r->into, r->g) != GBOSE_OK;
    }
    return NULL;
}

static void check_readers(const char *spec)
{
    gbose *g = new_player(spec, DIM);
    struct random rng = {72};
    const double x[DIM] = {0.5, -1, 0.25, 2};
    double coef[DIM];
    struct reader reader[READERS];
    pthread_t thread[READERS];
    struct bytes state;

    play(g, 40, &rng, NULL);
    state = saved(g);
    memcpy(coef, gbose_coef(g), sizeof coef);
    for (size_t i = 0; i < READERS; i++)
        reader[i] = (struct reader){g, new_player(spec, DIM), &state, coef, x, gbose_width(g, x), 0};
    for (size_t i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, read_often, &reader[i]), 0);
    for (size_t i = 0; i < READERS; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
        assert_int_equal(reader[i].wrong, 0);
        assert_same_estimates(reader[i].into, g, 1e-9);
        gbose_free(reader[i].into);
    }
    assert_unchanged(g, &state);
    bytes_free(&state);
    gbose_free(g);
}

static void one_learner_may_be_read_by_many_threads(void **state)
{
    (void)state;
    for_each_spec(check_readers, INTERCEPT);
}

/* ---- creation, the table and errors from many threads: a spec is parsed in a locale of its own ---- */

static void *parse_often(void *arg)
{
    int *wrong = arg;

    for (int k = 0; k < 200; k++) {
        gbose *g = NULL;
        gbose_error err;
        char accepts[100];

        *wrong += gbose_new(&g, "gbose:gamma=0.25,lambda=2.5", 2, &err) != GBOSE_OK;
        if (g)
            *wrong += strcmp(gbose_spec(g), "gbose:gamma=0.25,lambda=2.5") != 0;
        gbose_free(g);
        *wrong += gbose_new(&g, "gbose:gamma=x", 2, &err) != GBOSE_ESPEC;
        *wrong += strcmp(err.text, "gamma must be a positive number, 'theory' or 'lemma1'; got 'x'") != 0;
        *wrong += gbose_option_accepts(accepts, sizeof accepts, gbose_learner_at(0)->options) <= 0;
        *wrong += gbose_strerror(-k)[0] == 0;
    }
    return NULL;
}

static void specs_may_be_read_by_many_threads(void **state)
{
    pthread_t thread[READERS];
    int wrong[READERS] = {0};

    (void)state;
    for (size_t i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, parse_often, &wrong[i]), 0);
    for (size_t i = 0; i < READERS; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
        assert_int_equal(wrong[i], 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        spec_test(learners_on_different_threads_are_independent),
        spec_test(one_learner_may_be_read_by_many_threads),
        spec_test(specs_may_be_read_by_many_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
