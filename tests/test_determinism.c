/* Randomness: the same seed and the same calls give the same bytes, and nothing else has an influence. */
#include "support/players.h"

#include <string.h>

#define DIM 4

static void check_same_seed(const char *spec)
{
    gbose *a = new_player(spec, DIM), *b = new_player(spec, DIM);
    struct random rng = {21};
    struct bytes bytes;

    assert_play_alike(a, b, 150, &rng);
    bytes = saved(a);
    assert_unchanged(b, &bytes);
    bytes_free(&bytes);
    gbose_free(a);
    gbose_free(b);
}

static void one_seed_gives_the_same_bytes(void **state)
{
    (void)state;
    for_each_spec(check_same_seed, INTERCEPT | FORGET);
}

/* How often two learners choose different arms for the same contexts. Neither learns, so the law stays the
 * prior's. */
static size_t disagreements(gbose *a, gbose *b, size_t rounds)
{
    struct random rng = {22};
    size_t count = 0;

    for (size_t t = 0; t < rounds; t++) {
        struct arms arms;
        gbose_decision d, e;

        random_arms(&arms, DIM, &rng);
        assert_int_equal(decide_arms(a, &d, arms.context, arms.n), GBOSE_OK);
        assert_int_equal(decide_arms(b, &e, arms.context, arms.n), GBOSE_OK);
        count += d.arm != e.arm;
    }
    return count;
}

/* lin-ucb and eps-greedy with a small epsilon hardly draw. */
static int is_random(const char *spec)
{
    return strncmp(spec, "lin-ucb", 7) && strncmp(spec, "eps-greedy", 10);
}

static void check_other_seed(const char *spec)
{
    char seeded[SPEC_SIZE];
    gbose *a = new_player(spec, DIM), *b = new_player(spec_seeded(seeded, spec, 12), DIM);
    size_t count = disagreements(a, b, 200);

    if (is_random(spec))
        assert_in_range(count, 30, 170);
    gbose_free(a);
    gbose_free(b);
}

static void another_seed_draws_otherwise(void **state)
{
    (void)state;
    for_each_spec(check_other_seed, PLAIN);
}

static void check_streams(const char *spec)
{
    gbose *a = new_player(spec, DIM), *b = new_player(spec, DIM);
    size_t count;

    assert_int_equal(gbose_stream(b, 1), GBOSE_OK);
    count = disagreements(a, b, 200);
    if (is_random(spec))
        assert_in_range(count, 30, 170);
    assert_int_equal(gbose_stream(a, UINT32_MAX), GBOSE_OK);
    count = disagreements(a, b, 200);
    if (is_random(spec))
        assert_in_range(count, 30, 170);
    gbose_free(a);
    gbose_free(b);
}

static void another_stream_draws_otherwise(void **state)
{
    (void)state;
    for_each_spec(check_streams, PLAIN);
}

/* A stream begins at its decision 0, whatever was drawn before. A learner that changes stream in the middle
 * goes on like one with the same evidence that was there from the beginning. */
static void check_stream_begins_anew(const char *spec)
{
    gbose *wanderer = new_player(spec, DIM), *settler = new_player(spec, DIM);
    struct random rng = {23};
    struct outcome outcomes[40];

    assert_int_equal(gbose_stream(settler, 5), GBOSE_OK);
    play(wanderer, COUNT(outcomes), &rng, outcomes);
    for (size_t i = 0; i < COUNT(outcomes); i++)
        learn_outcome(settler, &outcomes[i]);
    assert_int_equal(gbose_decisions(wanderer), COUNT(outcomes));
    assert_int_equal(gbose_stream(wanderer, 5), GBOSE_OK);
    assert_int_equal(gbose_decisions(wanderer), 0);
    assert_int_equal(gbose_rounds(wanderer), COUNT(outcomes));
    assert_play_alike(wanderer, settler, 40, &rng);
    /* there and back again: the same draws for the same contexts */
    assert_int_equal(gbose_stream(wanderer, 0), GBOSE_OK);
    assert_int_equal(gbose_stream(wanderer, 5), GBOSE_OK);
    assert_int_equal(gbose_stream(settler, 5), GBOSE_OK);
    assert_play_alike(wanderer, settler, 40, &rng);
    gbose_free(wanderer);
    gbose_free(settler);
}

static void a_stream_begins_at_its_first_decision(void **state)
{
    (void)state;
    assert_int_equal(gbose_stream(NULL, 1), GBOSE_EINVAL);
    for_each_spec(check_stream_begins_anew, INTERCEPT);
}

/* Learning from others' tickets does not move the random stream; decisions without rewards do, by one
 * each. */
static void check_only_decisions_move_the_stream(const char *spec)
{
    gbose *a = new_player(spec, DIM), *b = new_player(spec, DIM);
    struct random rng = {24};
    struct outcome outcome;

    for (int t = 0; t < 30; t++)
        decide_once(a, &outcome, &rng);
    assert_int_equal(gbose_decisions(a), 30);
    for (int t = 0; t < 30; t++)
        decide_once(b, &outcome, &rng); /* other contexts, no matter */
    assert_play_alike(a, b, 30, &rng);
    gbose_free(a);
    gbose_free(b);
}

static void only_decisions_move_the_stream(void **state)
{
    (void)state;
    for_each_spec(check_only_decisions_move_the_stream, PLAIN);
}

/* One learner has had to make room for many arms, the other has not. */
static void check_arm_counts(const char *spec)
{
    enum { CROWD = 150 };
    static double crowd[CROWD * DIM];
    gbose *a = new_player(spec, DIM), *b = new_player(spec, DIM);
    struct random rng = {25};
    gbose_decision d;

    for (size_t t = 0; t < 20; t++) {
        for (size_t i = 0; i < CROWD * DIM; i++)
            crowd[i] = random_between(&rng, -1, 1) * (t % 2 ? 1e6 : 1);
        assert_int_equal(decide_arms(a, &d, crowd, CROWD - t), GBOSE_OK);
        assert_int_equal(decide_arms(b, &d, crowd, 1 + t % 3), GBOSE_OK);
        assert_play_alike(a, b, 3, &rng);
    }
    assert_same_but_lineage(a, b);
    gbose_free(a);
    gbose_free(b);
}

static void a_decision_does_not_depend_on_earlier_arm_counts(void **state)
{
    (void)state;
    for_each_spec(check_arm_counts, INTERCEPT | FORGET);
}

/* b plays among the turns of other learners, a plays alone first. */
static gbose *bystander;

static void check_bystanders(const char *spec)
{
    gbose *a = new_player(spec, DIM), *b = new_player(spec, DIM), *other = new_player("semi-ts:draws=5", 2);
    struct random rng = {26}, again = {26}, noise = {27};

    play(a, 60, &rng, NULL);
    for (int t = 0; t < 60; t++) {
        play(bystander, 1, &noise, NULL);
        play(b, 1, &again, NULL);
        play(other, 2, &noise, NULL);
    }
    assert_same_but_lineage(a, b);
    gbose_free(a);
    gbose_free(b);
    gbose_free(other);
}

static void other_learners_have_no_influence(void **state)
{
    (void)state;
    bystander = new_player("lin-ts:seed=11,draws=40,gamma=0.3,lambda=2.5", DIM);
    for_each_spec(check_bystanders, PLAIN);
    gbose_free(bystander);
}

/* Asking does not change the answer. */
static void check_questions(const char *spec)
{
    gbose *a = new_player(spec, DIM), *b = new_player(spec, DIM);
    struct random rng = {28}, again = {28};
    double x[DIM] = {0.5, -1, 2, 0};

    for (int t = 0; t < 40; t++) {
        struct bytes bytes = saved(a);

        (void)gbose_width(a, x);
        (void)gbose_coef(a);
        (void)gbose_spec(a);
        play(a, 1, &rng, NULL);
        play(b, 1, &again, NULL);
        bytes_free(&bytes);
    }
    assert_same_but_lineage(a, b);
    gbose_free(a);
    gbose_free(b);
}

static void questions_change_nothing(void **state)
{
    (void)state;
    for_each_spec(check_questions, PLAIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        spec_test(one_seed_gives_the_same_bytes),
        spec_test(another_seed_draws_otherwise),
        spec_test(another_stream_draws_otherwise),
        spec_test(a_stream_begins_at_its_first_decision),
        spec_test(only_decisions_move_the_stream),
        spec_test(a_decision_does_not_depend_on_earlier_arm_counts),
        spec_test(other_learners_have_no_influence),
        spec_test(questions_change_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
