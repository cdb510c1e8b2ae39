/* Merging: the evidence of both, each reward once. What is refused is in test_merge_refusals.c. */
#include "support/workers.h"

#include <math.h>
#include <string.h>

#include "learners/learner.h"
#include "support/dense.h"

#define DIM WORKER_DIM
#define CLOSE MERGE_CLOSE

static void check_from_nothing(const char *spec)
{
    gbose *a = new_player(spec, DIM), *b = new_player(spec, DIM), *both;
    struct random rng = {41};

    n_events = 0;
    assert_int_equal(gbose_stream(b, 1), GBOSE_OK);
    work(a, 70, &rng);
    work(b, 50, &rng);
    assert_merges(a, b);
    both = witness(spec, NULL);
    assert_same_estimates(a, both, CLOSE);
    /* a goes on, and learns as one learner would */
    work(a, 30, &rng);
    replace(&both, witness(spec, NULL));
    assert_same_estimates(a, both, CLOSE);
    gbose_free(a);
    gbose_free(b);
    gbose_free(both);
}

static void two_that_began_new(void **state)
{
    (void)state;
    for_each_spec(check_from_nothing, INTERCEPT);
}

/* The common state is learned by both and counts once; either order; then the same again from the result. */
static void check_from_common(const char *spec)
{
    gbose *base = new_player(spec, DIM), *a, *b, *both;
    struct random rng = {42};
    struct bytes start;

    play(base, 60, &rng, NULL);
    start = saved(base);
    gbose_free(base);
    for (int order = 0; order < 2; order++) {
        n_events = 0;
        a = worker(&start, 1);
        b = worker(&start, 2);
        work(a, 40, &rng);
        work(b, 50, &rng);
        if (order)
            assert_merges(b, a);
        else
            assert_merges(a, b);
        both = witness(spec, &start);
        assert_same_estimates(order ? b : a, both, CLOSE);
        gbose_free(a);
        gbose_free(b);
        gbose_free(both);
    }
    bytes_free(&start);
}

static void two_that_began_from_one_state(void **state)
{
    (void)state;
    for_each_spec(check_from_common, INTERCEPT);
}

/* Workers are saved and loaded along the way, before and after; the centre is loaded from the start. */
static void check_checkpoints(const char *spec)
{
    gbose *base = new_player(spec, DIM), *centre, *both;
    struct random rng = {43};
    struct bytes start;

    play(base, 30, &rng, NULL);
    start = saved(base);
    gbose_free(base);
    n_events = 0;
    centre = loaded(&start);
    for (uint32_t w = 1; w <= 4; w++) {
        gbose *g = worker(&start, w);

        for (uint32_t checkpoint = 0; checkpoint < w; checkpoint++) {
            work(g, 15, &rng);
            replace(&g, duplicate(g));
        }
        work(g, w % 2 ? 10 : 0, &rng);
        assert_merges(centre, g);
        gbose_free(g);
    }
    both = witness(spec, &start);
    assert_same_estimates(centre, both, CLOSE);
    gbose_free(centre);
    gbose_free(both);
    bytes_free(&start);
}

static void workers_with_checkpoints(void **state)
{
    (void)state;
    for_each_spec(check_checkpoints, INTERCEPT);
}

static void check_many(const char *spec)
{
    gbose *centre = new_player(spec, DIM), *both;
    struct random rng = {44};

    n_events = 0;
    for (uint32_t w = 0; w < 40; w++) {
        gbose *g = new_player(spec, DIM);

        assert_int_equal(gbose_stream(g, w), GBOSE_OK);
        work(g, 1 + w % 7, &rng);
        assert_merges(centre, g);
        gbose_free(g);
    }
    both = witness(spec, NULL);
    assert_same_estimates(centre, both, CLOSE);
    gbose_free(centre);
    gbose_free(both);
}

static void many_workers(void **state)
{
    (void)state;
    for_each_spec(check_many, INTERCEPT);
}

/* The parameter server of the manual, for more epochs than a lineage has points, and a second level of it:
 * the centre's own rewards and a worker that stays away for an epoch with nothing to tell. */
static void check_server(const char *spec)
{
    gbose *first = new_player(spec, DIM), *both;
    struct bytes state = saved(first);
    struct random rng = {45};

    gbose_free(first);
    n_events = 0;
    for (uint32_t epoch = 0; epoch < 20; epoch++) {
        gbose *centre = loaded(&state);

        if (epoch % 3 == 2) {
            assert_int_equal(gbose_stream(centre, 100 + epoch), GBOSE_OK);
            work(centre, 3, &rng);
        }
        for (uint32_t w = 0; w < 3; w++) {
            gbose *g = worker(&state, 10 * epoch + w);

            work(g, w == epoch % 4 ? 0 : 8, &rng);
            replace(&g, duplicate(g)); /* sent over the wire */
            assert_merges(centre, g);
            gbose_free(g);
        }
        bytes_free(&state);
        state = saved(centre);
        gbose_free(centre);
        both = witness(spec, NULL);
        centre = loaded(&state);
        assert_same_estimates(centre, both, CLOSE);
        gbose_free(centre);
        gbose_free(both);
    }
    bytes_free(&state);
}

static void a_parameter_server_over_epochs(void **state)
{
    (void)state;
    for_each_spec(check_server, INTERCEPT);
}

static void check_empty(const char *spec)
{
    gbose *full = new_player(spec, DIM), *empty = new_player(spec, DIM), *other, *same;
    struct random rng = {46};

    play(full, 40, &rng, NULL);
    same = duplicate(full);
    assert_merges(full, empty); /* adds nothing, as often as one likes */
    assert_merges(full, empty);
    assert_same_estimates(full, same, CLOSE);
    other = new_player(spec, DIM);
    assert_merges(empty, other);
    assert_same_estimates(empty, other, CLOSE);
    assert_int_equal(gbose_rounds(empty), 0);
    assert_merges(empty, full);
    assert_same_estimates(empty, full, CLOSE);
    assert_refuses(empty, full, GBOSE_EOVERLAP);
    assert_refuses(full, empty, GBOSE_EOVERLAP);
    gbose_free(full);
    gbose_free(empty);
    gbose_free(other);
    gbose_free(same);
}

static void learners_without_evidence(void **state)
{
    (void)state;
    for_each_spec(check_empty, INTERCEPT);
}

static void check_seeds(const char *spec)
{
    char seeded[SPEC_SIZE];
    gbose *a = new_player(spec, DIM), *b = new_player(spec_seeded(seeded, spec, 77), DIM), *both;
    struct random rng = {47};

    n_events = 0;
    work(a, 30, &rng);
    work(b, 30, &rng);
    assert_merges(a, b);
    both = witness(spec, NULL);
    assert_same_estimates(a, both, CLOSE);
    assert_string_equal(gbose_spec(a), gbose_spec(both)); /* a keeps its seed, */
    assert_int_equal(gbose_decisions(a), 30);             /* and its place in the stream */
    gbose_free(a);
    gbose_free(b);
    gbose_free(both);
}

static void learners_of_different_seeds(void **state)
{
    (void)state;
    for_each_spec(check_seeds, INTERCEPT);
}

/* A merge takes the random stream of `into` no step further. */
static void check_stream_stays(const char *spec)
{
    gbose *a = new_player(spec, DIM), *b = new_player(spec, DIM), *copy;
    struct random rng = {48};

    play(a, 10, &rng, NULL);
    assert_int_equal(gbose_stream(b, 1), GBOSE_OK);
    play(b, 10, &rng, NULL);
    assert_merges(a, b);
    copy = duplicate(a);
    assert_same_but_lineage(a, copy);
    assert_play_alike(a, copy, 30, &rng);
    gbose_free(a);
    gbose_free(b);
    gbose_free(copy);
}

static void a_merged_learner_is_saved_and_loaded_bit_for_bit(void **state)
{
    (void)state;
    for_each_spec(check_stream_stays, INTERCEPT | FORGET);
}

/* ---- with forget ----
 *
 * "Each learner's evidence keeps the age it had." Evidence is B - P and y, P being the prior's diagonal, and
 * discounted once for each reward its own learner has learned since. So what must come out, in exact numbers:
 *
 *     B - P_into = (B_into - P_into) + (B_from - P_from) - forget^s (B_common - P_common),    y likewise
 *
 * where s is the number of rewards `from` has learned since the common state. Each learner is replayed from
 * its tickets by the dense oracle, which shares no code with the library; P_into is what into had before. */

/* Replay events begin..end into the evidence of m. The ticket's terms are read here by hand. */
static void replay(struct dense *m, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++) {
        struct bytes ticket = {event[i].ticket, event[i].size};
        size_t terms = (size_t)word_at(&ticket, TICKET_TERMS), at = TICKET_NUMBERS;

        dense_begin(m);
        while (terms--) {
            long double x[DIM];
            double number[DIM + 4]; /* regression, w, c, offset, x */

            for (size_t k = 0; k < DIM + 4; k++, at += 8) {
                uint64_t word = word_at(&ticket, at);
                memcpy(&number[k], &word, sizeof word);
            }
            for (size_t k = 0; k < DIM; k++)
                x[k] = number[4 + k];
            dense_add(m, number[1], number[2] * (long double)event[i].reward, x);
        }
    }
}

static void check_forget(const char *spec, int with_common)
{
    gbose *base = new_player(spec, DIM), *a, *b;
    struct random rng = {49};
    struct bytes start;
    struct dense A, B, C;
    size_t common, own_a, own_b;
    long double discount;

    if (base->fit[0].dim > DIM || base->note_words ||
        base->n_fits > 1) { /* replay() does not read their tickets */
        gbose_free(base);
        return;
    }
    n_events = 0;
    if (with_common)
        work(base, 25, &rng);
    common = n_events;
    start = saved(base);
    gbose_free(base);
    a = worker(&start, 1);
    b = worker(&start, 2);
    work(a, 30, &rng);
    own_a = n_events;
    work(b, 17, &rng);
    own_b = n_events;

    dense_init(&A, DIM, 2.5, 0.97);
    dense_init(&B, DIM, 2.5, 0.97);
    dense_init(&C, DIM, 2.5, 0.97);
    replay(&A, 0, own_a);
    replay(&B, 0, common);
    replay(&B, own_a, own_b);
    replay(&C, 0, common);
    discount = powl(0.97L, (long double)(own_b - own_a));
    for (size_t i = 0; i < DIM * DIM; i++)
        A.evidence[i] += B.evidence[i] - discount * C.evidence[i];
    for (size_t i = 0; i < DIM; i++)
        A.y[i] += B.y[i] - discount * C.y[i];
    dense_solve(&A);

    assert_merges(a, b);
    assert_int_equal(gbose_rounds(a), own_b);
    for (size_t i = 0; i < DIM; i++)
        assert_near(gbose_coef(a)[i], A.mu[i], CLOSE);
    for (int k = 0; k < 10; k++) {
        double x[DIM] = {random_between(&rng, -1, 1), random_between(&rng, -1, 1),
                         random_between(&rng, -1, 1)};

        assert_close(gbose_width(a, x), dense_width(&A, x, DIM), CLOSE);
    }
    dense_clear(&A);
    dense_clear(&B);
    dense_clear(&C);
    bytes_free(&start);
    gbose_free(a);
    gbose_free(b);
}

static void check_forget_from_nothing(const char *spec)
{
    if (strstr(spec, "forget"))
        check_forget(spec, 0);
}

static void check_forget_from_common(const char *spec)
{
    if (strstr(spec, "forget"))
        check_forget(spec, 1);
}

static void evidence_keeps_its_age(void **state)
{
    (void)state;
    for_each_spec(check_forget_from_nothing, FORGET);
    for_each_spec(check_forget_from_common, FORGET);
}

/* The same evidence by way of another: w went on from a state, mid took in w; merging mid is merging w.
 * Merged rewards do not age what was there before. */
static void check_forget_by_way_of_another(const char *spec)
{
    gbose *base = new_player(spec, DIM), *w, *mid, *direct, *by_way;
    struct random rng = {56};
    struct bytes start;

    n_events = 0;
    work(base, 20, &rng);
    start = saved(base);
    gbose_free(base);
    w = worker(&start, 1);
    work(w, 30, &rng);
    mid = loaded(&start);
    direct = loaded(&start);
    by_way = loaded(&start);
    assert_merges(mid, w);
    assert_merges(direct, w);
    assert_merges(by_way, mid);
    assert_same_estimates(by_way, direct, CLOSE);
    bytes_free(&start);
    gbose_free(w);
    gbose_free(mid);
    gbose_free(direct);
    gbose_free(by_way);
}

static void evidence_by_way_of_another_keeps_its_age(void **state)
{
    (void)state;
    for_each_spec(check_forget_by_way_of_another, INTERCEPT | FORGET);
}

/* Forgetting goes on as before: merging a learner that knows nothing changes no later round. */
static void check_forget_goes_on(const char *spec)
{
    gbose *a = new_player(spec, DIM), *b = new_player(spec, DIM), *empty = new_player(spec, DIM);
    struct random rng = {55};
    struct outcome outcomes[60];

    play(a, 20, &rng, outcomes);
    for (size_t i = 0; i < 20; i++)
        learn_outcome(b, &outcomes[i]);
    assert_merges(a, empty);
    play(b, COUNT(outcomes), &rng, outcomes);
    for (size_t i = 0; i < COUNT(outcomes); i++)
        learn_outcome(a, &outcomes[i]);
    assert_same_estimates(a, b, CLOSE);
    gbose_free(a);
    gbose_free(b);
    gbose_free(empty);
}

static void forgetting_goes_on_after_a_merge(void **state)
{
    (void)state;
    for_each_spec(check_forget_goes_on, INTERCEPT | FORGET);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        spec_test(two_that_began_new),
        spec_test(two_that_began_from_one_state),
        spec_test(workers_with_checkpoints),
        spec_test(many_workers),
        spec_test(a_parameter_server_over_epochs),
        spec_test(learners_without_evidence),
        spec_test(learners_of_different_seeds),
        spec_test(a_merged_learner_is_saved_and_loaded_bit_for_bit),
        spec_test(evidence_keeps_its_age),
        spec_test(evidence_by_way_of_another_keeps_its_age),
        spec_test(forgetting_goes_on_after_a_merge),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
