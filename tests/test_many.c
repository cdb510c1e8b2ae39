/* gbose_decide_many(): the same bytes as one decision after the other, from any number of threads, and errors
 * that leave nothing behind. */
#include "support/players.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define DIM 5
#define ARMS 6
#define ROUNDS 60
#define SIZE (ARMS * DIM)
#define ROOM 1024 /* bytes: enough for any ticket here */
#define STREAM 17
#define ROUND_FEATURES 4 /* at most, of the learners here */

/* What the calls write. */
struct filled {
    size_t arm[ROUNDS], ticket_size[ROUNDS];
    double probability[ROUNDS], pmf[ROUNDS * ARMS];
    size_t draws[ROUNDS];
    unsigned char tickets[ROUNDS * ROOM];
};

static gbose_choices choices(struct filled *f, size_t first, size_t room)
{
    return (gbose_choices){f->arm + first,   f->probability + first,    f->pmf + first * ARMS,
                           f->draws + first, f->tickets + first * room, f->ticket_size + first};
}

static void fill_contexts(double *contexts, size_t n, uint64_t seed)
{
    struct random rng = {seed};

    for (size_t i = 0; i < n; i++)
        contexts[i] = random_between(&rng, -1, 1);
}

static gbose *trained(const char *spec)
{
    gbose *g = new_player(spec, DIM);
    struct random rng = {91};

    play(g, 40, &rng, NULL);
    return g;
}

/* Round t is what a copy of the learner decides as number first + t of the stream. */
static void check_one_after_the_other(const char *spec)
{
    enum { FIRST = 7 };
    static struct filled f;
    double contexts[ROUNDS * SIZE], round[ROUNDS * ROUND_FEATURES];
    gbose *g = trained(spec), *copy;
    struct bytes before;
    gbose_scratch *scratch = NULL;
    size_t room = gbose_ticket_room(g, ARMS), features = gbose_round_features(g);
    gbose_choices out = choices(&f, 0, room);
    gbose_decision d;

    assert_true(features <= ROUND_FEATURES);
    copy = duplicate(g);
    before = saved(g);
    assert_in_range(room, 8, ROOM);
    fill_contexts(contexts, ROUNDS * SIZE, 92);
    fill_contexts(round, ROUNDS * ROUND_FEATURES, 96);
    assert_int_equal(gbose_scratch_new(&scratch), GBOSE_OK);
    assert_int_equal(
        gbose_decide_many(g, scratch, &out, STREAM, FIRST, contexts, features ? round : NULL, ROUNDS, ARMS),
        GBOSE_OK);
    if (features)
        assert_int_equal(gbose_decide_many(g, scratch, &out, STREAM, FIRST, contexts, NULL, ROUNDS, ARMS),
                         GBOSE_EINVAL);
    assert_unchanged(g, &before);

    assert_int_equal(gbose_stream(copy, STREAM), GBOSE_OK);
    for (size_t t = 0; t < FIRST; t++)
        assert_int_equal(gbose_decide_in(copy, &d, contexts, 1, round), GBOSE_OK);
    for (size_t t = 0; t < ROUNDS; t++) {
        assert_int_equal(gbose_decide_in(copy, &d, contexts + t * SIZE, ARMS, round + t * features),
                         GBOSE_OK);
        assert_int_equal(d.arm, f.arm[t]);
        assert_int_equal(d.draws, f.draws[t]);
        assert_memory_equal(&d.probability, &f.probability[t], sizeof(double));
        assert_memory_equal(d.pmf, f.pmf + t * ARMS, ARMS * sizeof(double));
        assert_int_equal(d.ticket_size, f.ticket_size[t]);
        assert_memory_equal(d.ticket, f.tickets + t * room, d.ticket_size);
        assert_int_equal(gbose_learn(g, f.tickets + t * room, f.ticket_size[t], 0.5), GBOSE_OK);
    }
    gbose_scratch_free(scratch);
    bytes_free(&before);
    gbose_free(copy);
    gbose_free(g);
}

static void many_are_one_after_the_other(void **state)
{
    (void)state;
    for_each_spec(check_one_after_the_other, INTERCEPT | FORGET);
}

/* ---- threads ---- */

#define THREADS 4

struct share {
    const gbose *g;
    const double *contexts, *round;
    struct filled *f;
    size_t begin, end, room;
    int rc;
};

static void *decide_share(void *arg)
{
    struct share *s = arg;
    gbose_scratch *scratch = NULL;
    gbose_choices out = choices(s->f, s->begin, s->room);

    s->rc = gbose_scratch_new(&scratch);
    if (!s->rc)
        s->rc = gbose_decide_many(s->g, scratch, &out, STREAM, s->begin, s->contexts + s->begin * SIZE,
                                  s->round + s->begin * gbose_round_features(s->g), s->end - s->begin, ARMS);
    gbose_scratch_free(scratch);
    return NULL;
}

static void check_threads(const char *spec)
{
    static struct filled together, alone;
    double contexts[ROUNDS * SIZE], round[ROUNDS * ROUND_FEATURES];
    gbose *g = trained(spec);
    struct share whole = {g, contexts, round, &alone, 0, ROUNDS, gbose_ticket_room(g, ARMS), 0},
                 share[THREADS];
    pthread_t thread[THREADS];

    memset(&together, 0, sizeof together);
    memset(&alone, 0, sizeof alone);
    fill_contexts(contexts, ROUNDS * SIZE, 93);
    fill_contexts(round, ROUNDS * ROUND_FEATURES, 97);
    for (size_t i = 0; i < THREADS; i++) {
        share[i] = whole;
        share[i].f = &together;
        share[i].begin = i * i * ROUNDS / (THREADS * THREADS); /* shares of different sizes */
        share[i].end = (i + 1) * (i + 1) * ROUNDS / (THREADS * THREADS);
        assert_int_equal(pthread_create(&thread[i], NULL, decide_share, &share[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
        assert_int_equal(share[i].rc, GBOSE_OK);
    }
    decide_share(&whole);
    assert_int_equal(whole.rc, GBOSE_OK);
    assert_memory_equal(&together, &alone, sizeof alone);
    gbose_free(g);
}

static void threads_share_the_rounds(void **state)
{
    (void)state;
    for_each_spec(check_threads, INTERCEPT);
}

/* ---- one scratch, other learners ---- */

static void a_scratch_fits_itself_to_any_learner(void **state)
{
    static struct filled fresh, used;
    static const size_t dims[] = {3, 40, 1, 17}, arms[] = {2, 6, 6, 1};
    gbose_scratch *one = NULL;
    double contexts[ARMS * 40];

    (void)state;
    fill_contexts(contexts, ARMS * 40, 94);
    assert_int_equal(gbose_scratch_new(&one), GBOSE_OK);
    for (size_t i = 0; i < COUNT(dims); i++) {
        gbose *g = new_player(i % 2 ? "semi-ts:gamma=3,draws=50" : "bose:gamma=3", dims[i]);
        gbose_scratch *own = NULL;
        gbose_choices a = choices(&fresh, 0, 0), b = choices(&used, 0, 0);

        a.tickets = b.tickets = NULL;
        a.ticket_size = b.ticket_size = NULL;
        assert_int_equal(gbose_scratch_new(&own), GBOSE_OK);
        assert_int_equal(gbose_decide_many(g, own, &a, 1, 0, contexts, NULL, 1, arms[i]), GBOSE_OK);
        assert_int_equal(gbose_decide_many(g, one, &b, 1, 0, contexts, NULL, 1, arms[i]), GBOSE_OK);
        assert_memory_equal(&fresh, &used, sizeof used);
        gbose_scratch_free(own);
        gbose_free(g);
    }
    gbose_scratch_free(one);
    gbose_scratch_free(NULL);
}

/* ---- errors ---- */

static void refused(const gbose *g, gbose_scratch *scratch, const gbose_choices *out, uint64_t first,
                    const double *contexts, size_t rounds, size_t arms, int code)
{
    assert_int_equal(gbose_decide_many(g, scratch, out, 0, first, contexts, NULL, rounds, arms), code);
}

static void errors_write_nothing(void **state)
{
    static struct filled f, untouched;
    gbose *g = new_player("gbose", DIM);
    gbose_scratch *scratch = NULL;
    double contexts[3 * SIZE];
    gbose_choices out = choices(&f, 0, gbose_ticket_room(g, ARMS)), half = out, armless = out;

    (void)state;
    memset(&f, 7, sizeof f);
    untouched = f;
    fill_contexts(contexts, 3 * SIZE, 95);
    assert_int_equal(gbose_scratch_new(NULL), GBOSE_EINVAL);
    assert_int_equal(gbose_scratch_new(&scratch), GBOSE_OK);
    half.ticket_size = NULL;
    armless.arm = NULL;
    refused(NULL, scratch, &out, 0, contexts, 3, ARMS, GBOSE_EINVAL);
    refused(g, NULL, &out, 0, contexts, 3, ARMS, GBOSE_EINVAL);
    refused(g, scratch, NULL, 0, contexts, 3, ARMS, GBOSE_EINVAL);
    refused(g, scratch, &half, 0, contexts, 3, ARMS, GBOSE_EINVAL);
    refused(g, scratch, &armless, 0, contexts, 3, ARMS, GBOSE_EINVAL);
    refused(g, scratch, &out, 0, NULL, 3, ARMS, GBOSE_EINVAL);
    refused(g, scratch, &out, 0, contexts, 3, 0, GBOSE_EINVAL);
    refused(g, scratch, &out, (UINT64_C(1) << 56) - 2, contexts, 3, ARMS, GBOSE_EINVAL);
    refused(g, scratch, &out, UINT64_MAX, contexts, 3, ARMS, GBOSE_EINVAL);
    refused(g, scratch, &out, 0, contexts, 3, SIZE_MAX / 8, GBOSE_ESIZE);
    refused(g, scratch, &out, 0, contexts, (size_t)1 << 55, ARMS * 1000, GBOSE_ESIZE);
    contexts[3 * SIZE - 1] = NAN; /* in the last round: the others must not come out either */
    refused(g, scratch, &out, 0, contexts, 3, ARMS, GBOSE_ENUMERIC);
    assert_memory_equal(&f, &untouched, sizeof f);

    contexts[3 * SIZE - 1] = 0;
    refused(g, scratch, &out, (UINT64_C(1) << 56) - 3, contexts, 3, ARMS, GBOSE_OK);
    refused(g, scratch, &out, 0, contexts, 0, ARMS, GBOSE_OK);
    assert_int_equal(gbose_ticket_room(g, SIZE_MAX / 2), 0);
    gbose_scratch_free(scratch);
    gbose_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        spec_test(many_are_one_after_the_other),
        spec_test(threads_share_the_rounds),
        cmocka_unit_test(a_scratch_fits_itself_to_any_learner),
        cmocka_unit_test(errors_write_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
