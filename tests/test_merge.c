/* Merging: the evidence of both, each reward once, or a refusal that changes nothing. */
#include "support/players.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "learners/learner.h"
#include "support/dense.h"

#define DIM 3
#define CLOSE 1e-9

/* ---- workers and the learner that saw everything ---- */

#define MAX_EVENTS 2000
static struct outcome event[MAX_EVENTS]; /* what all of a test's learners have learned since its beginning */
static size_t n_events;

/* Play as worker number `stream`, and note what was learned. */
static void work(gbose *g, size_t rounds, struct random *rng)
{
    assert_true(n_events + rounds <= MAX_EVENTS);
    play(g, rounds, rng, event + n_events);
    n_events += rounds;
}

/* One learner that learns all the events, from `start` on (NULL: from nothing). */
static gbose *witness(const char *spec, const struct bytes *start)
{
    gbose *g = start ? loaded(start) : new_player(spec, DIM);

    for (size_t i = 0; i < n_events; i++)
        learn_outcome(g, &event[i]);
    return g;
}

static gbose *worker(const struct bytes *start, uint32_t stream)
{
    gbose *g = loaded(start);

    assert_int_equal(gbose_stream(g, stream), GBOSE_OK);
    return g;
}

static void assert_merges(gbose *into, const gbose *from)
{
    struct bytes before = saved(from);

    assert_int_equal(gbose_merge(into, from), GBOSE_OK);
    assert_unchanged(from, &before);
    bytes_free(&before);
}

static void assert_refuses(gbose *into, const gbose *from, int code)
{
    struct bytes a = saved(into), b = {NULL, 0};

    if (from)
        b = saved(from);
    assert_int_equal(gbose_merge(into, from), code);
    assert_unchanged(into, &a);
    if (from)
        assert_unchanged(from, &b);
    bytes_free(&a);
    bytes_free(&b);
}

static void replace(gbose **g, gbose *by)
{
    gbose_free(*g);
    *g = by;
}

/* ---- what is right ---- */

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
            double number[DIM + 2];

            for (size_t k = 0; k < DIM + 2; k++, at += 8) {
                uint64_t word = word_at(&ticket, at);
                memcpy(&number[k], &word, sizeof word);
            }
            for (size_t k = 0; k < DIM; k++)
                x[k] = number[2 + k];
            dense_add(m, number[0], number[1] * (long double)event[i].reward, x);
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

    if (base->kind->linear || base->level.dim) { /* their tickets have more in them than replay() reads */
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

/* ---- what is wrong ---- */

static void check_wrong_arguments(const char *spec)
{
    static const char *const others[] = {"lambda=2", "gamma=0.4", "draws=41", "forget=0.9", "intercept=1"};
    gbose *a = new_player(spec, DIM), *other;
    struct random rng = {50};
    char name[SPEC_SIZE], changed[SPEC_SIZE];

    play(a, 10, &rng, NULL);
    assert_refuses(a, a, GBOSE_EINVAL);
    assert_refuses(a, NULL, GBOSE_EINVAL);
    assert_int_equal(gbose_merge(NULL, a), GBOSE_EINVAL);
    assert_int_equal(gbose_merge(NULL, NULL), GBOSE_EINVAL);

    other = new_player(spec, DIM + 1);
    assert_refuses(a, other, GBOSE_EMISMATCH);
    play(other, 5, &rng, NULL);
    assert_refuses(a, other, GBOSE_EMISMATCH);
    assert_refuses(other, a, GBOSE_EMISMATCH);
    gbose_free(other);
    strcpy(name, spec);
    *strchr(name, ':') = 0;
    for (size_t k = 0; k < COUNT(others); k++) {
        if (gbose_new(&other, spec_with(changed, name, others[k]), DIM, NULL) != GBOSE_OK)
            continue;
        assert_refuses(a, other, GBOSE_EMISMATCH);
        assert_refuses(other, a, GBOSE_EMISMATCH);
        gbose_free(other);
    }
    other = new_player(strcmp(name, "gbose") ? "gbose" : "bose", DIM);
    assert_refuses(a, other, GBOSE_EMISMATCH);
    gbose_free(other);
    gbose_free(a);
}

static void wrong_arguments_are_refused(void **state)
{
    (void)state;
    for_each_spec(check_wrong_arguments, PLAIN);
}

/* From nothing and from a common state: the same learner again, when it has grown, as a copy, as a copy that
 * went on, by way of another learner. */
static void check_overlap(const char *spec)
{
    for (int with_common = 0; with_common < 2; with_common++) {
        gbose *base = new_player(spec, DIM), *centre, *w, *copy, *copy_of_centre, *third;
        struct random rng = {51};
        struct bytes start;

        play(base, with_common ? 20 : 0, &rng, NULL);
        start = saved(base);
        gbose_free(base);
        centre = loaded(&start);
        w = worker(&start, 1);
        play(w, 10, &rng, NULL);
        copy = duplicate(w);
        assert_refuses(w, copy, GBOSE_EOVERLAP);
        assert_refuses(copy, w, GBOSE_EOVERLAP);
        assert_merges(centre, w);
        assert_refuses(centre, w, GBOSE_EOVERLAP);
        assert_refuses(w, centre, GBOSE_EOVERLAP);
        assert_refuses(centre, copy, GBOSE_EOVERLAP);
        play(w, 10, &rng, NULL);
        assert_refuses(centre, w, GBOSE_EOVERLAP);
        play(copy, 10, &rng, NULL);
        assert_refuses(centre, copy, GBOSE_EOVERLAP);
        assert_refuses(w, copy, GBOSE_EOVERLAP);
        assert_refuses(copy, w, GBOSE_EOVERLAP);

        /* the centre's own copies, and a third party that knows w too */
        copy_of_centre = duplicate(centre);
        assert_refuses(centre, copy_of_centre, GBOSE_EOVERLAP);
        assert_refuses(copy_of_centre, centre, GBOSE_EOVERLAP);
        assert_refuses(copy_of_centre, w, GBOSE_EOVERLAP);
        third = worker(&start, 3);
        play(third, 5, &rng, NULL);
        assert_merges(third, w);
        assert_refuses(centre, third, GBOSE_EOVERLAP);
        assert_refuses(third, centre, GBOSE_EOVERLAP);
        assert_refuses(third, copy_of_centre, GBOSE_EOVERLAP);
        gbose_free(centre);
        gbose_free(w);
        gbose_free(copy);
        gbose_free(copy_of_centre);
        gbose_free(third);
        bytes_free(&start);
    }
}

static void shared_evidence_is_refused(void **state)
{
    (void)state;
    for_each_spec(check_overlap, INTERCEPT);
}

/* p and q begin from one state. q takes in z, which began from nothing; p takes in q, and so has z. */
static void evidence_that_came_by_way_of_another_is_refused(void **state)
{
    gbose *base = new_player("uniform", DIM), *z = new_player("uniform", DIM), *p, *q;
    struct random rng = {52};
    struct bytes start;

    (void)state;
    play(base, 5, &rng, NULL);
    assert_int_equal(gbose_stream(z, 1), GBOSE_OK);
    play(z, 5, &rng, NULL);
    start = saved(base);
    p = loaded(&start);
    q = loaded(&start);
    assert_merges(q, z);
    assert_merges(p, q);
    assert_int_equal(gbose_rounds(p), 10);
    assert_refuses(p, z, GBOSE_EOVERLAP);
    bytes_free(&start);
    gbose_free(base);
    gbose_free(z);
    gbose_free(p);
    gbose_free(q);
}

/* Two that have both been saved and loaded since their common state: its evidence is at hand nowhere. Loading
 * it again, as the error text says, is the way out. */
static void check_history(const char *spec)
{
    gbose *base = new_player(spec, DIM), *a, *b, *centre, *both;
    struct random rng = {53};
    struct bytes start;

    play(base, 20, &rng, NULL);
    start = saved(base);
    gbose_free(base);
    n_events = 0;
    a = worker(&start, 1);
    b = worker(&start, 2);
    work(a, 10, &rng);
    work(b, 10, &rng);
    replace(&a, duplicate(a));
    replace(&b, duplicate(b));
    assert_refuses(a, b, GBOSE_EHISTORY);
    work(a, 5, &rng);
    assert_refuses(a, b, GBOSE_EHISTORY);
    assert_refuses(b, a, GBOSE_EHISTORY);
    centre = loaded(&start);
    assert_merges(centre, a);
    assert_merges(centre, b);
    both = witness(spec, &start);
    assert_same_estimates(centre, both, CLOSE);
    gbose_free(a);
    gbose_free(b);
    gbose_free(centre);
    gbose_free(both);
    bytes_free(&start);
}

static void a_lost_common_state_is_named(void **state)
{
    (void)state;
    for_each_spec(check_history, INTERCEPT);
}

/* A lineage holds sixteen points, "nothing" being the first. */
static void a_state_is_remembered_for_sixteen_loads(void **state)
{
    struct random rng = {54};
    gbose *base = new_player("uniform", DIM), *old;
    struct bytes start;

    (void)state;
    play(base, 3, &rng, NULL);
    start = saved(base);
    gbose_free(base);
    old = worker(&start, 1);
    for (int loads = 1; loads <= 20; loads++) {
        gbose *centre = loaded(&start), *fresh = new_player("uniform", DIM);
        struct bytes bytes = saved(old);
        struct layout at = layout_of(&bytes, old);
        int points = loads + 1 < 16 ? loads + 1 : 16;

        assert_int_equal(word_at(&bytes, at.lineage), points);
        bytes_free(&bytes);
        play(fresh, 1, &rng, NULL);
        /* old came through nothing, start, and loads - 1 states of its own */
        if (loads <= 15)
            assert_merges(fresh, old);
        else
            assert_refuses(fresh, old, GBOSE_EHISTORY);
        if (loads <= 16)
            assert_merges(centre, old);
        else
            assert_refuses(centre, old, GBOSE_EHISTORY);
        gbose_free(centre);
        gbose_free(fresh);
        play(old, 1, &rng, NULL);
        replace(&old, duplicate(old));
    }
    gbose_free(old);
    bytes_free(&start);
}

/* B formed from contexts of 1e120 has lost its prior to rounding. It may be refused, but not spoiled. */
static void a_sum_that_cannot_be_represented_is_refused(void **state)
{
    gbose *a = new_player("lin-ucb:intercept=0", DIM), *b = new_player("lin-ucb:intercept=0", DIM);
    double contexts[2 * DIM] = {1e120, 1e120, 1e120, -1e120, 1e120, 1e120};
    gbose *each[] = {a, b};
    int rc;

    (void)state;
    assert_int_equal(gbose_stream(b, 1), GBOSE_OK);
    for (int k = 0; k < 2; k++) {
        gbose_decision d;

        assert_int_equal(gbose_decide(each[k], &d, contexts, 2), GBOSE_OK);
        assert_int_equal(gbose_learn(each[k], d.ticket, d.ticket_size, 1), GBOSE_OK);
    }
    {
        struct bytes before = saved(a);

        rc = gbose_merge(a, b);
        assert_true(rc == GBOSE_OK || rc == GBOSE_ENUMERIC);
        if (rc == GBOSE_ENUMERIC)
            assert_unchanged(a, &before);
        for (size_t i = 0; i < DIM; i++)
            assert_true(isfinite(gbose_coef(a)[i]));
        bytes_free(&before);
    }
    gbose_free(a);
    gbose_free(b);
}

/* ---- any history at all ----
 *
 * Learners are made, saved, loaded, merged and taught at random, and for each we know which rewards it holds.
 * Whatever a merge answers must fit: after GBOSE_OK `into` holds the union, each reward once (x is 1 for all of
 * them, so B is lambda plus their number); after a refusal it holds what it held. Seeds are fixed. */

#define CAST 8
#define MAX_REWARDS 256

struct role {
    gbose *g;
    unsigned char holds[MAX_REWARDS];
};

static size_t n_held(const struct role *r)
{
    size_t n = 0;

    for (size_t i = 0; i < MAX_REWARDS; i++)
        n += r->holds[i];
    return n;
}

static void assert_holds(const struct role *r)
{
    const double x[1] = {1};
    double width = gbose_width(r->g, x);

    assert_int_equal(gbose_rounds(r->g), n_held(r));
    assert_close(1 / (width * width), 2.5 + (double)n_held(r), 1e-6);
}

static void any_history(uint64_t seed, size_t steps, size_t *merged, size_t *refused)
{
    static const char spec[] = "lin-ucb:lambda=2.5,intercept=0";
    struct role cast[CAST] = {{NULL, {0}}};
    struct random rng = {seed};
    struct bytes shelf[4] = {{NULL, 0}}; /* saved states, and what they hold */
    struct role shelved[4];
    size_t rewards = 0;
    uint32_t stream = 0;

    for (size_t i = 0; i < CAST; i++) {
        cast[i].g = new_player(spec, 1);
        assert_int_equal(gbose_stream(cast[i].g, stream++), GBOSE_OK);
    }
    for (size_t step = 0; step < steps; step++) {
        struct role *a = &cast[random_below(&rng, CAST)], *b = &cast[random_below(&rng, CAST)];
        size_t k = random_below(&rng, COUNT(shelf));
        const double x[1] = {1};
        gbose_decision d;

        switch (random_below(&rng, 8)) {
        case 0: /* begin anew */
            replace(&a->g, new_player(spec, 1));
            assert_int_equal(gbose_stream(a->g, stream++), GBOSE_OK);
            memset(a->holds, 0, sizeof a->holds);
            break;
        case 1: /* save */
            bytes_free(&shelf[k]);
            shelf[k] = saved(a->g);
            shelved[k] = *a;
            break;
        case 2:
        case 3: /* load */
            if (shelf[k].at) {
                replace(&a->g, loaded(&shelf[k]));
                assert_int_equal(gbose_stream(a->g, stream++), GBOSE_OK);
                memcpy(a->holds, shelved[k].holds, sizeof a->holds);
            }
            break;
        case 4:
        case 5: /* learn */
            if (rewards < MAX_REWARDS) {
                assert_int_equal(gbose_decide(a->g, &d, x, 1), GBOSE_OK);
                assert_int_equal(gbose_learn(a->g, d.ticket, d.ticket_size, (double)rewards), GBOSE_OK);
                a->holds[rewards++] = 1;
            }
            break;
        default: /* merge */
            if (a == b)
                break;
            if (gbose_merge(a->g, b->g) == GBOSE_OK) {
                for (size_t i = 0; i < MAX_REWARDS; i++)
                    a->holds[i] |= b->holds[i];
                ++*merged;
            } else {
                ++*refused;
            }
            break;
        }
        assert_holds(a);
    }
    for (size_t i = 0; i < CAST; i++)
        gbose_free(cast[i].g);
    for (size_t k = 0; k < COUNT(shelf); k++)
        bytes_free(&shelf[k]);
}

static void no_history_makes_a_reward_count_twice(void **state)
{
    size_t merged = 0, refused = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 1500; seed++)
        any_history(1000 * seed, 60, &merged, &refused);
    assert_true(merged > 1000);
    assert_true(refused > 1000);
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
        spec_test(forgetting_goes_on_after_a_merge),
        spec_test(wrong_arguments_are_refused),
        spec_test(shared_evidence_is_refused),
        spec_test(evidence_that_came_by_way_of_another_is_refused),
        spec_test(a_lost_common_state_is_named),
        spec_test(a_state_is_remembered_for_sixteen_loads),
        spec_test(a_sum_that_cannot_be_represented_is_refused),
        spec_test(no_history_makes_a_reward_count_twice),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
