/* Merges that are refused and change nothing; and that no history at all makes a reward count twice. */
#include "support/workers.h"

#include <math.h>
#include <string.h>

#define DIM WORKER_DIM
#define CLOSE MERGE_CLOSE

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

/* B formed from contexts of 1e30 has lost its prior to rounding. It may be refused, but not spoiled. */
static void a_sum_that_cannot_be_represented_is_refused(void **state)
{
    gbose *a = new_player("lin-ucb:intercept=0", DIM), *b = new_player("lin-ucb:intercept=0", DIM);
    double contexts[2 * DIM] = {1e30, 1e30, 1e30, -1e30, 1e30, 1e30};
    gbose *each[] = {a, b};
    int rc;

    (void)state;
    assert_int_equal(gbose_stream(b, 1), GBOSE_OK);
    for (int k = 0; k < 2; k++) {
        gbose_decision d;

        assert_int_equal(decide_arms(each[k], &d, contexts, 2), GBOSE_OK);
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
 * Learners are made, saved, loaded, merged and taught at random, and for each we know which rewards it
 * holds. Whatever a merge answers must fit: after GBOSE_OK `into` holds the union, each reward once (x is
 * 1 for all of them, so B is lambda plus their number); after a refusal it holds what it held. Seeds are
 * fixed. */

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
                assert_int_equal(decide_arms(a->g, &d, x, 1), GBOSE_OK);
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
