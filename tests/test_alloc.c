/* Memory: allocation 1, 2, 3, ... fails until none is left to fail; each time the answer is GBOSE_ENOMEM, the
 * learner is bit for bit what it was and nothing is leaked. And where the manual says that a call does not
 * allocate, it does not. */
#include "support/players.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/faults.h"

#define DIM 3

/* ---- the sweep ---- */

/* A call under test: 0 or a status code. It owns what it makes, and frees it on success. */
struct sweep {
    gbose *g;
    const gbose *from;
    const char *spec;
    const struct bytes *bytes;
    const double *contexts;
    size_t n_arms;
};

/* Fail the allocations of `call` one after the other, on the learner that `prepare` makes anew each time.
 * Returns how many there are. */
static long fail_each(struct sweep *s, int (*call)(struct sweep *), gbose *(*prepare)(struct sweep *))
{
    for (long n = 0;; n++) {
        struct bytes before = {NULL, 0};
        long live;
        int rc;

        s->g = prepare ? prepare(s) : NULL;
        if (s->g)
            before = saved(s->g);
        live = heap.live;
        watch(n);
        rc = call(s);
        stop_watching();
        if (rc == GBOSE_OK) {
            assert_false(heap.failed);
            bytes_free(&before);
            gbose_free(s->g);
            return n;
        }
        assert_int_equal(rc, GBOSE_ENOMEM);
        assert_true(heap.failed);
        assert_int_equal(heap.live, live);
        if (s->g)
            assert_unchanged(s->g, &before);
        /* with memory at hand again, the same call succeeds */
        assert_int_equal(call(s), GBOSE_OK);
        bytes_free(&before);
        gbose_free(s->g);
        assert_true(n < 1000);
    }
}

/* Make a learner from s->bytes or, if there are none, from s->spec. */
static int call_create(struct sweep *s)
{
    gbose *mark = (gbose *)&mark, *g = mark;
    gbose_error err = {77, "untouched"};
    int rc =
        s->bytes ? gbose_load(&g, s->bytes->at, s->bytes->size, &err) : gbose_new(&g, s->spec, DIM, &err);

    assert_int_equal(err.code, rc);
    if (rc) {
        assert_ptr_equal(g, mark);
        assert_string_equal(err.text, gbose_strerror(rc));
    } else {
        gbose_free(g);
    }
    return rc;
}

static void check_new(const char *spec)
{
    struct sweep s = {.spec = spec};
    long live = heap.live, n = fail_each(&s, call_create, NULL);

    assert_in_range(n, 4, 100);
    assert_int_equal(heap.live, live);
}

static void creation_survives_failure(void **state)
{
    (void)state;
    for_each_spec(check_new, INTERCEPT | FORGET);
}

static void check_load(const char *spec)
{
    gbose *g = new_player(spec, DIM), *copy;
    struct random rng = {61};
    struct bytes bytes;
    struct sweep s = {.bytes = &bytes};
    long live;

    play(g, 10, &rng, NULL);
    copy = duplicate(g);
    play(copy, 10, &rng, NULL); /* a lineage of two points */
    bytes = saved(copy);
    gbose_free(g);
    gbose_free(copy);
    live = heap.live;
    assert_in_range(fail_each(&s, call_create, NULL), 6, 100);
    assert_int_equal(heap.live, live);
    bytes_free(&bytes);
}

static void loading_survives_failure(void **state)
{
    (void)state;
    for_each_spec(check_load, INTERCEPT | FORGET);
}

/* ---- growing ---- */

static int call_grow(struct sweep *s)
{
    gbose *mark = (gbose *)&mark, *g = mark;
    gbose_error err = {77, "untouched"};
    int rc = gbose_grow(&g, s->g, DIM + 2, &err);

    assert_int_equal(err.code, rc);
    if (rc)
        assert_ptr_equal(g, mark);
    else
        gbose_free(g);
    return rc;
}

static gbose *prepare_grow(struct sweep *s)
{
    gbose *g = new_player(s->spec, DIM), *copy;
    struct random rng = {67};

    play(g, 10, &rng, NULL);
    copy = duplicate(g); /* it keeps the evidence at that state */
    play(copy, 10, &rng, NULL);
    gbose_free(g);
    return copy;
}

static void check_grow(const char *spec)
{
    struct sweep s = {.spec = spec};

    assert_in_range(fail_each(&s, call_grow, prepare_grow), 8, 200);
}

static void growing_survives_failure(void **state)
{
    (void)state;
    for_each_spec(check_grow, INTERCEPT | FORGET);
}

/* ---- the diagnosis ---- */

static int call_diagnose(struct sweep *s)
{
    gbose_diagnosis out, untouched;
    int rc;

    memset(&untouched, 0x5a, sizeof untouched);
    out = untouched;
    rc = gbose_diagnose(s->g, &out);
    if (rc)
        assert_memory_equal(&out, &untouched, sizeof out);
    return rc;
}

static gbose *prepare_diagnose(struct sweep *s)
{
    gbose *g = new_player(s->spec, DIM);
    struct random rng = {66};

    play(g, 30, &rng, NULL);
    return g;
}

static void diagnosing_survives_failure(void **state)
{
    struct sweep s = {.spec = "gbose-auto"};

    (void)state;
    assert_in_range(fail_each(&s, call_diagnose, prepare_diagnose), 1, 10);
}

static int call_effect(struct sweep *s)
{
    const double x[DIM] = {1, 0, 0};
    double estimate = 77, lower = 78, upper = 79;
    int rc = gbose_effect(s->g, x, 0.9, &estimate, &lower, &upper);

    if (rc)
        assert_true(estimate == 77 && lower == 78 && upper == 79);
    return rc;
}

static void effects_survive_failure(void **state)
{
    struct sweep s = {.spec = "gbose-auto:floor=0.3"};

    (void)state;
    assert_in_range(fail_each(&s, call_effect, prepare_diagnose), 1, 10);
}

/* ---- decisions ---- */

#define CROWD 90
static double crowd[CROWD * DIM];

static gbose *player_of(struct sweep *s)
{
    gbose *g = new_player(s->spec, DIM);
    struct random rng = {62};

    if (s->from) /* not a learner that has never decided */
        play(g, 20, &rng, NULL);
    return g;
}

static int call_decide(struct sweep *s)
{
    gbose_decision out, before;
    int rc;

    memset(&before, 0x5a, sizeof before);
    out = before;
    rc = decide_arms(s->g, &out, s->contexts, s->n_arms);
    if (rc)
        assert_memory_equal(&out, &before, sizeof out);
    return rc;
}

static void check_decide(const char *spec)
{
    gbose *any = new_player(spec, DIM);
    struct sweep s = {.spec = spec, .contexts = crowd, .n_arms = 5};
    struct random rng = {63};
    long live;

    for (size_t i = 0; i < COUNT(crowd); i++)
        crowd[i] = random_between(&rng, -1, 1);
    live = heap.live;
    assert_in_range(fail_each(&s, call_decide, player_of), 1, 100); /* the first decision */
    s.from = any;
    s.n_arms = CROWD;
    assert_in_range(fail_each(&s, call_decide, player_of), 1, 100); /* more arms than ever */
    assert_int_equal(heap.live, live);
    gbose_free(any);
}

static void decisions_survive_failure(void **state)
{
    (void)state;
    for_each_spec(check_decide, INTERCEPT | FORGET);
}

/* ---- decisions in a scratch, which is made and freed here ---- */

static const double round_features[2] = {-0.5, 1004};

static int call_decide_at(struct sweep *s)
{
    gbose_input in = {crowd, CROWD, round_features};
    gbose_decision out, before;
    gbose_scratch *scratch;
    int rc = gbose_scratch_new(&scratch);

    if (rc)
        return rc;
    memset(&before, 0x5a, sizeof before);
    out = before;
    rc = gbose_decide_at(s->g, scratch, &out, &in, 3, 5);
    if (rc)
        assert_memory_equal(&out, &before, sizeof out);
    gbose_scratch_free(scratch);
    return rc;
}

static int call_decide_many(struct sweep *s)
{
    enum { ROUNDS = 2, ARMS = CROWD / ROUNDS };
    static const double round[2 * ROUNDS] = {-0.5, 1004, 1.5, 1001};
    size_t arm[ROUNDS], before[ROUNDS];
    gbose_choices out = {.arm = arm};
    gbose_scratch *scratch;
    int rc = gbose_scratch_new(&scratch);

    if (rc)
        return rc;
    memset(before, 0x5a, sizeof before);
    memcpy(arm, before, sizeof arm);
    rc = gbose_decide_many(s->g, scratch, &out, 3, 5, crowd, round, ROUNDS, ARMS);
    if (rc)
        assert_memory_equal(arm, before, sizeof arm);
    gbose_scratch_free(scratch);
    return rc;
}

static int call_ticket_for(struct sweep *s)
{
    gbose_input in = {crowd, 2, round_features};
    const double pmf[2] = {0.3, 0.7};
    const void *ticket = s;
    size_t size = 77;
    gbose_scratch *scratch;
    int rc = gbose_scratch_new(&scratch);

    if (rc)
        return rc;
    rc = gbose_ticket_for(s->g, scratch, &ticket, &size, &in, pmf, 1);
    if (rc)
        assert_true(ticket == s && size == 77);
    gbose_scratch_free(scratch);
    return rc;
}

static int call_check_input(struct sweep *s)
{
    gbose_input in = {crowd, CROWD, round_features};
    gbose_error err;
    int rc = gbose_check_input(s->g, &in, &err);

    assert_int_equal(err.code, rc);
    return rc;
}

static void check_scratch(const char *spec)
{
    int (*const calls[])(struct sweep *) = {call_decide_at, call_decide_many, call_ticket_for,
                                            call_check_input};
    gbose *any = new_player(spec, DIM);
    struct sweep s = {.spec = spec, .from = any};
    long live = heap.live;

    for (size_t i = 0; i < COUNT(calls); i++)
        assert_in_range(fail_each(&s, calls[i], player_of), 2, 100);
    assert_int_equal(heap.live, live);
    gbose_free(any);
}

static void decisions_in_a_scratch_survive_failure(void **state)
{
    (void)state;
    for_each_spec(check_scratch, INTERCEPT);
}

/* After a failed growth the old room is still there: the learner goes on like one that never tried. */
static void check_goes_on(const char *spec)
{
    for (long n = 0; n < 12; n++) {
        gbose *a = new_player(spec, DIM), *b = new_player(spec, DIM);
        struct random rng = {64};
        gbose_decision d;
        int rc;

        assert_play_alike(a, b, 10, &rng);
        watch(n);
        rc = decide_arms(a, &d, crowd, CROWD);
        stop_watching();
        if (rc == GBOSE_OK)
            assert_int_equal(decide_arms(b, &d, crowd, CROWD), GBOSE_OK);
        assert_play_alike(a, b, 10, &rng);
        gbose_free(a);
        gbose_free(b);
    }
}

static void a_learner_goes_on_after_failure(void **state)
{
    (void)state;
    for_each_spec(check_goes_on, INTERCEPT);
}

/* ---- merging ---- */

static gbose *base_of(struct sweep *s)
{
    return loaded(s->bytes);
}

static int call_merge(struct sweep *s)
{
    return gbose_merge(s->g, s->from);
}

static void check_merge(const char *spec)
{
    for (size_t common = 0; common <= 10; common += 10) {
        gbose *base = new_player(spec, DIM), *from, *second;
        struct random rng = {65};
        struct bytes bytes, before;
        struct sweep s = {.bytes = &bytes};
        long live;

        play(base, common, &rng, NULL);
        bytes = saved(base);
        from = loaded(&bytes);
        second = loaded(&bytes);
        assert_int_equal(gbose_stream(from, 1), GBOSE_OK);
        assert_int_equal(gbose_stream(second, 2), GBOSE_OK);
        play(from, 10, &rng, NULL);
        play(second, 10, &rng, NULL);
        assert_int_equal(gbose_merge(second, from), GBOSE_OK); /* two marks to take over */
        before = saved(second);
        s.from = second;
        live = heap.live;
        assert_in_range(fail_each(&s, call_merge, base_of), 4, 100);
        assert_int_equal(heap.live, live);
        assert_unchanged(second, &before);
        gbose_free(base);
        gbose_free(from);
        gbose_free(second);
        bytes_free(&bytes);
        bytes_free(&before);
    }
}

static void merging_survives_failure(void **state)
{
    (void)state;
    for_each_spec(check_merge, INTERCEPT | FORGET);
}

/* ---- what does not allocate ---- */

static void check_no_allocation(const char *spec)
{
    gbose *g = new_player(spec, DIM);
    struct random rng = {66};
    static unsigned char room[400000];
    gbose_decision d;
    size_t size;

    assert_int_equal(decide_arms(g, &d, crowd, MAX_ARMS), GBOSE_OK);
    watch(-1);
    play(g, 100, &rng, NULL);
    assert_int_equal(gbose_save(g, NULL, 0, &size), GBOSE_OK);
    assert_int_equal(gbose_save(g, room, sizeof room, &size), GBOSE_OK);
    assert_int_equal(gbose_save(g, room, 1, &size), GBOSE_EBUFFER);
    (void)gbose_coef(g);
    if (!strstr(spec, "certified"))
        (void)gbose_width(g, crowd);
    (void)gbose_rounds(g);
    (void)gbose_spec(g);
    assert_int_equal(gbose_stream(g, 4), GBOSE_OK);
    assert_int_equal(decide_arms(g, &d, crowd, MAX_ARMS), GBOSE_OK);
    assert_int_equal(gbose_learn(g, d.ticket, d.ticket_size - 8, 1), GBOSE_ETICKET);
    assert_int_equal(stop_watching(), 0);
    gbose_free(g);
}

/* The certified width needs room; without it the width is infinite, and so still a bound. */
static void a_width_without_memory_is_infinite(void **state)
{
    gbose *g = new_player("gbose-auto:width=certified", DIM);
    struct random rng = {67};
    double width;

    (void)state;
    play(g, 20, &rng, NULL);
    watch(0);
    width = gbose_width(g, crowd);
    stop_watching();
    assert_true(isinf(width) && width > 0);
    watch(-1);
    width = gbose_width(g, crowd);
    assert_int_equal(stop_watching(), 1);
    assert_true(isfinite(width) && width > 0);
    gbose_free(g);
}

static void rounds_do_not_allocate(void **state)
{
    (void)state;
    for_each_spec(check_no_allocation, INTERCEPT | FORGET);
}

/* learn and save on a learner that has never decided */
static void check_learning_alone(const char *spec)
{
    gbose *g = new_player(spec, DIM), *listener = new_player(spec, DIM);
    struct random rng = {67};
    struct outcome outcomes[20];
    size_t size;

    play(g, COUNT(outcomes), &rng, outcomes);
    watch(-1);
    for (size_t i = 0; i < COUNT(outcomes); i++)
        learn_outcome(listener, &outcomes[i]);
    assert_int_equal(gbose_save(listener, NULL, 0, &size), GBOSE_OK);
    assert_int_equal(stop_watching(), 0);
    gbose_free(g);
    gbose_free(listener);
}

static void learning_does_not_allocate(void **state)
{
    (void)state;
    for_each_spec(check_learning_alone, INTERCEPT | FORGET);
}

/* Refused input costs no memory, except that a decision may have made room for its arms before it looked. */
static void check_refusals(const char *spec)
{
    gbose *g = new_player(spec, DIM), *out = NULL;
    struct bytes bytes = saved(g);
    double x[DIM] = {1, 2, 3};
    gbose_decision d;

    bytes.at[bytes.size / 2] ^= 1;
    watch(-1);
    assert_int_equal(decide_arms(g, &d, x, 0), GBOSE_EINVAL);
    assert_int_equal(decide_arms(g, &d, x, SIZE_MAX), GBOSE_ESIZE);
    assert_int_equal(gbose_load(&out, bytes.at, bytes.size, NULL), GBOSE_ESTATE);
    assert_int_equal(gbose_new(&out, "no-such-learner", DIM, NULL), GBOSE_ESPEC);
    assert_int_equal(gbose_merge(g, g), GBOSE_EINVAL);
    assert_int_equal(stop_watching(), 0);
    bytes_free(&bytes);
    gbose_free(g);
}

static void refusals_do_not_allocate(void **state)
{
    (void)state;
    for_each_spec(check_refusals, PLAIN);
}

/* When the matrix of a huge dim cannot be had, the vectors, which are gigabytes too, must not be taken and
 * cleared before saying so: that takes many seconds, or wakes the kernel's killer. */
static void check_huge_dim(const char *spec)
{
    gbose *g = NULL;
    long live = heap.live;
    int rc;

    heap.most = (size_t)1 << 28;
    watch(-1);
    rc = gbose_new(&g, spec, (size_t)1 << 24, NULL);
    stop_watching();
    heap.most = 0;
    assert_int_equal(rc, GBOSE_ENOMEM);
    assert_int_equal(heap.live, live);
    assert_int_equal(heap.after_failure, 0);
}

static void creation_gives_up_at_the_first_failure(void **state)
{
    (void)state;
    for_each_spec(check_huge_dim, PLAIN);
}

/* A plain learner is a triangle, some vectors and a fixed rest: for dim 32 and more less than 1.2 dim^2
 * doubles. What a round needs beside that is proportional to the arms, and is not square in dim
 * (docs/performance.md). */
static void a_learner_is_small(void **state)
{
    static const size_t dims[] = {32, 64, 99, 100, 250, 1000};

    (void)state;
    for (size_t i = 0; i < COUNT(dims); i++) {
        size_t d = dims[i], stride = (d + 7) / 8 * 8;
        double *contexts = calloc(2 * d, sizeof(double));
        gbose_decision decision;
        gbose *g;

        watch(-1);
        assert_int_equal(gbose_new(&g, "gbose", d, NULL), GBOSE_OK);
        stop_watching();
        assert_in_range(heap.bytes, d * d / 2 * sizeof(double), d * d * 12 / 10 * sizeof(double));
        watch(-1);
        assert_int_equal(gbose_decide(g, &decision, contexts, 2), GBOSE_OK);
        stop_watching();
        assert_in_range(heap.bytes, 1, 16 * stride * sizeof(double) + 2048);
        gbose_free(g);
        free(contexts);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        spec_test(creation_survives_failure),
        spec_test(loading_survives_failure),
        spec_test(growing_survives_failure),
        cmocka_unit_test(diagnosing_survives_failure),
        cmocka_unit_test(effects_survive_failure),
        spec_test(decisions_survive_failure),
        spec_test(decisions_in_a_scratch_survive_failure),
        spec_test(a_learner_goes_on_after_failure),
        spec_test(merging_survives_failure),
        spec_test(rounds_do_not_allocate),
        cmocka_unit_test(a_width_without_memory_is_infinite),
        spec_test(learning_does_not_allocate),
        spec_test(refusals_do_not_allocate),
        spec_test(creation_gives_up_at_the_first_failure),
        cmocka_unit_test(a_learner_is_small),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
