/* Tickets: what gbose_learn() takes and what it refuses, and what gbose_decide() refuses. A refusal leaves
 * the learner bit for bit as it was. */
#include "support/players.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"

#define DIM 3

/* A learner that knows something, its saved state, and an intact ticket of it with at least one term. */
struct desk {
    gbose *g;
    struct bytes before, ticket;
};

static struct desk open_desk(const char *spec, size_t dim)
{
    struct random rng = {5};
    struct outcome outcome;
    struct desk desk;

    desk.g = new_player(spec, dim);
    play(desk.g, 4, &rng, NULL);
    for (int tries = 0; tries < 1000; tries++) {
        decide_once(desk.g, &outcome, &rng);
        desk.ticket = bytes_copy(outcome.ticket, outcome.size);
        if (word_at(&desk.ticket, TICKET_TERMS) > 0 || has_note(spec)) { /* a note teaches something always */
            desk.before = saved(desk.g);
            return desk;
        }
        bytes_free(&desk.ticket);
    }
    fail_msg("1000 decisions and none of them would teach anything");
    return desk;
}

static void close_desk(struct desk *desk)
{
    assert_unchanged(desk->g, &desk->before);
    /* and what was refused has not spoiled the right one */
    assert_int_equal(gbose_learn(desk->g, desk->ticket.at, desk->ticket.size, 0.5), GBOSE_OK);
    bytes_free(&desk->before);
    bytes_free(&desk->ticket);
    gbose_free(desk->g);
}

static void assert_ticket_refused(struct desk *desk, const void *ticket, size_t size, int code)
{
    assert_int_equal(gbose_learn(desk->g, ticket, size, 0.5), code);
    assert_unchanged(desk->g, &desk->before);
}

/* ---- damaged tickets ---- */

static void check_truncation(const char *spec)
{
    struct desk desk = open_desk(spec, DIM);

    for (size_t n = 0; n < desk.ticket.size; n++) {
        /* memory of exactly this size, so that a sanitizer sees a read past its end */
        struct bytes part = bytes_copy(desk.ticket.at, n);

        assert_ticket_refused(&desk, part.at, part.size, GBOSE_ETICKET);
        /* from the other end */
        memcpy(part.at, desk.ticket.at + desk.ticket.size - n, n);
        assert_ticket_refused(&desk, part.at, part.size, GBOSE_ETICKET);
        bytes_free(&part);
    }
    close_desk(&desk);
}

static void truncated_tickets_are_refused(void **state)
{
    (void)state;
    for_each_spec(check_truncation, INTERCEPT);
}

static void check_flips(const char *spec)
{
    struct desk desk = open_desk(spec, DIM);

    for (size_t i = 0; i < desk.ticket.size; i++)
        for (int bit = 0; bit <= 8; bit++) {
            unsigned char mask = (unsigned char)(bit < 8 ? 1 << bit : 0xff);

            desk.ticket.at[i] ^= mask;
            assert_ticket_refused(&desk, desk.ticket.at, desk.ticket.size,
                                  i == TICKET_VERSION ? GBOSE_EVERSION : GBOSE_ETICKET);
            desk.ticket.at[i] ^= mask;
        }
    close_desk(&desk);
}

static void flipped_bits_are_refused(void **state)
{
    (void)state;
    for_each_spec(check_flips, INTERCEPT);
}

static void check_extension(const char *spec)
{
    struct desk desk = open_desk(spec, DIM);

    for (size_t more = 1; more <= 40; more++) {
        struct bytes longer = {calloc(desk.ticket.size + more, 1), desk.ticket.size + more};

        assert_non_null(longer.at);
        memcpy(longer.at, desk.ticket.at, desk.ticket.size);
        assert_ticket_refused(&desk, longer.at, longer.size, GBOSE_ETICKET);
        if (longer.size % 8 == 0) { /* with the right checksum its size is still wrong */
            reseal(&longer);
            assert_ticket_refused(&desk, longer.at, longer.size, GBOSE_ETICKET);
        }
        bytes_free(&longer);
    }
    close_desk(&desk);
}

static void extended_tickets_are_refused(void **state)
{
    (void)state;
    for_each_spec(check_extension, INTERCEPT);
}

static void check_garbage(const char *spec)
{
    struct desk desk = open_desk(spec, DIM);
    struct random rng = {6};
    unsigned char bytes[512];

    for (int k = 0; k < 300; k++) {
        size_t size = random_below(&rng, sizeof bytes + 1);

        for (size_t i = 0; i < size; i++)
            bytes[i] = (unsigned char)random_u64(&rng);
        if (k % 2 && size >= TICKET_NUMBERS) /* garbage that begins well */
            memcpy(bytes, desk.ticket.at, TICKET_NUMBERS);
        assert_ticket_refused(&desk, bytes, size, GBOSE_ETICKET);
    }
    memset(bytes, 0, sizeof bytes);
    for (size_t size = 0; size <= sizeof bytes; size++)
        assert_ticket_refused(&desk, bytes, size, GBOSE_ETICKET);
    assert_ticket_refused(&desk, NULL, 0, GBOSE_EINVAL);
    assert_ticket_refused(&desk, NULL, desk.ticket.size, GBOSE_EINVAL);
    assert_int_equal(gbose_learn(NULL, desk.ticket.at, desk.ticket.size, 0.5), GBOSE_EINVAL);
    /* a saved state is not a ticket */
    assert_ticket_refused(&desk, desk.before.at, desk.before.size, GBOSE_ETICKET);
    close_desk(&desk);
}

static void garbage_is_refused(void **state)
{
    (void)state;
    for_each_spec(check_garbage, PLAIN);
}

/* ---- forged tickets: the checksum is right ---- */

static void check_forged_numbers(const char *spec)
{
    static const double bad[] = {NAN, -NAN, INFINITY, -INFINITY, 1e200, -1e200, 1.7e308};
    struct desk desk = open_desk(spec, DIM);
    struct bytes forged = bytes_copy(desk.ticket.at, desk.ticket.size);
    size_t last = forged.size - 8, first_weight = TICKET_NUMBERS;

    for (size_t at = TICKET_NUMBERS; at < last; at += 8)
        for (size_t k = 0; k < COUNT(bad); k++) {
            uint64_t right = word_at(&forged, at);

            set_double(&forged, at, bad[k]);
            reseal(&forged);
            assert_ticket_refused(&desk, forged.at, forged.size, GBOSE_ETICKET);
            set_word(&forged, at, right);
        }
    /* a negative weight would make B indefinite */
    first_weight += TERM_WEIGHT; /* that of a note is its second number too */
    set_double(&forged, first_weight, -1);
    reseal(&forged);
    assert_ticket_refused(&desk, forged.at, forged.size, GBOSE_ETICKET);
    bytes_free(&forged);
    close_desk(&desk);
}

static void forged_numbers_are_refused(void **state)
{
    (void)state;
    for_each_spec(check_forged_numbers, INTERCEPT);
}

static void check_forged_counts(const char *spec)
{
    struct desk desk = open_desk(spec, DIM);
    struct bytes forged = bytes_copy(desk.ticket.at, desk.ticket.size);
    uint64_t right = word_at(&forged, TICKET_TERMS);
    /* the last ones would wrap around in a careless size calculation */
    const uint64_t counts[] = {right + 1,
                               right - 1,
                               right + 1000,
                               UINT64_MAX,
                               UINT64_C(1) << 32,
                               UINT64_C(1) << 61,
                               UINT64_C(1) << 63,
                               right + (UINT64_C(1) << 61),
                               right + (UINT64_C(1) << 32)};

    for (size_t k = 0; k < COUNT(counts); k++) {
        set_word(&forged, TICKET_TERMS, counts[k]);
        reseal(&forged);
        assert_ticket_refused(&desk, forged.at, forged.size, GBOSE_ETICKET);
    }
    set_word(&forged, TICKET_TERMS, right);
    set_word(&forged, TICKET_FINGERPRINT, ~word_at(&forged, TICKET_FINGERPRINT));
    reseal(&forged);
    assert_ticket_refused(&desk, forged.at, forged.size, GBOSE_EFOREIGN);
    bytes_free(&forged);
    close_desk(&desk);
}

static void forged_counts_are_refused(void **state)
{
    (void)state;
    for_each_spec(check_forged_counts, INTERCEPT);
}

/* ---- tickets of others ---- */

static const char *home; /* the spec whose ticket is being offered to others */

static void offer_to_another_learner(const char *spec)
{
    struct desk from = open_desk(home, DIM), to = open_desk(spec, DIM);

    if (strcmp(home, spec) != 0)
        assert_ticket_refused(&to, from.ticket.at, from.ticket.size, GBOSE_EFOREIGN);
    close_desk(&from);
    close_desk(&to);
}

static void check_foreign(const char *spec)
{
    static const char *const others[] = {"lambda=2", "gamma=0.4", "draws=41", "forget=0.9", "delta=0.1"};
    struct desk desk = open_desk(spec, DIM), other;
    gbose *g;

    home = spec;
    for_each_spec(offer_to_another_learner, INTERCEPT | FORGET);
    other = open_desk(spec, DIM + 1);
    assert_ticket_refused(&desk, other.ticket.at, other.ticket.size, GBOSE_EFOREIGN);
    assert_ticket_refused(&other, desk.ticket.at, desk.ticket.size, GBOSE_EFOREIGN);
    close_desk(&other);
    for (size_t k = 0; k < COUNT(others); k++) {
        /* the same learner, all of whose other options have their defaults */
        char name[SPEC_SIZE], changed[SPEC_SIZE];

        strcpy(name, spec);
        *strchr(name, ':') = 0;
        if (gbose_new(&g, spec_with(changed, name, others[k]), DIM, NULL) != GBOSE_OK)
            continue;
        gbose_free(g);
        other = open_desk(changed, DIM);
        assert_ticket_refused(&desk, other.ticket.at, other.ticket.size, GBOSE_EFOREIGN);
        assert_ticket_refused(&other, desk.ticket.at, desk.ticket.size, GBOSE_EFOREIGN);
        close_desk(&other);
    }
    close_desk(&desk);
}

static void foreign_tickets_are_refused(void **state)
{
    (void)state;
    for_each_spec(check_foreign, PLAIN);
}

static void check_other_seed(const char *spec)
{
    char seeded[SPEC_SIZE];
    gbose *a = new_player(spec, DIM), *b = new_player(spec_seeded(seeded, spec, 29), DIM);
    struct random rng = {7};
    struct outcome outcomes[50];

    play(a, COUNT(outcomes), &rng, outcomes);
    for (size_t i = 0; i < COUNT(outcomes); i++)
        learn_outcome(b, &outcomes[i]);
    assert_memory_equal(gbose_coef(a), gbose_coef(b), DIM * sizeof(double));
    gbose_free(a);
    gbose_free(b);
}

static void tickets_of_another_seed_are_accepted(void **state)
{
    (void)state;
    for_each_spec(check_other_seed, INTERCEPT | FORGET);
}

/* ---- late, elsewhere, in any order ---- */

static void check_unaligned(const char *spec)
{
    gbose *a = new_player(spec, DIM), *b = new_player(spec, DIM);
    unsigned char room[sizeof(struct outcome) + 8];
    struct random rng = {8};

    for (size_t t = 0; t < 32; t++) {
        struct outcome outcome;

        decide_once(a, &outcome, &rng);
        learn_outcome(a, &outcome);
        memcpy(room + t % 8, outcome.ticket, outcome.size);
        assert_int_equal(gbose_learn(b, room + t % 8, outcome.size, outcome.reward), GBOSE_OK);
    }
    assert_memory_equal(gbose_coef(a), gbose_coef(b), DIM * sizeof(double));
    gbose_free(a);
    gbose_free(b);
}

static void a_ticket_needs_no_alignment(void **state)
{
    (void)state;
    for_each_spec(check_unaligned, INTERCEPT);
}

#define MANY 400
static struct outcome many[MANY];

static void check_any_order(const char *spec)
{
    gbose *in_order = new_player(spec, DIM), *late = new_player(spec, DIM), *elsewhere;
    struct random rng = {9};

    play(in_order, MANY, &rng, many);
    for (int k = 0; k < 3; k++) {
        gbose *shuffled = new_player(spec, DIM);

        shuffle(many, MANY, &rng);
        for (size_t i = 0; i < MANY; i++)
            learn_outcome(shuffled, &many[i]);
        assert_same_estimates(shuffled, in_order, 1e-9);
        gbose_free(shuffled);
    }
    /* the first half here; the other half by a copy in "another process" */
    for (size_t i = 0; i < MANY / 2; i++)
        learn_outcome(late, &many[i]);
    elsewhere = duplicate(late);
    for (size_t i = MANY / 2; i < MANY; i++)
        learn_outcome(elsewhere, &many[i]);
    assert_same_estimates(elsewhere, in_order, 1e-9);
    gbose_free(in_order);
    gbose_free(late);
    gbose_free(elsewhere);
}

static void tickets_may_come_in_any_order(void **state)
{
    (void)state;
    for_each_spec(check_any_order, INTERCEPT);
}

static void check_twice(const char *spec)
{
    gbose *g = new_player(spec, DIM);
    struct random rng = {10};
    struct outcome outcome;

    decide_once(g, &outcome, &rng);
    learn_outcome(g, &outcome);
    learn_outcome(g, &outcome);
    assert_int_equal(gbose_rounds(g), 2);
    assert_int_equal(gbose_decisions(g), 1);
    gbose_free(g);
}

static void a_ticket_learned_twice_counts_twice(void **state)
{
    (void)state;
    for_each_spec(check_twice, PLAIN);
}

/* The manual's own loop: the ticket is used where it lies, inside the learner. */
static void check_in_place(const char *spec)
{
    gbose *a = new_player(spec, DIM), *b = new_player(spec, DIM);
    struct random rng = {11}, again = {11};
    struct arms arms;
    gbose_decision d;

    for (int t = 0; t < 30; t++) {
        struct outcome outcome;

        random_arms(&arms, DIM, &rng);
        assert_int_equal(decide_arms(a, &d, arms.context, arms.n), GBOSE_OK);
        assert_int_equal(gbose_learn(a, d.ticket, d.ticket_size, 0.25), GBOSE_OK);
        random_arms(&arms, DIM, &again);
        assert_int_equal(decide_arms(b, &d, arms.context, arms.n), GBOSE_OK);
        memcpy(outcome.ticket, d.ticket, d.ticket_size);
        assert_int_equal(gbose_learn(b, outcome.ticket, d.ticket_size, 0.25), GBOSE_OK);
    }
    assert_same_but_lineage(a, b);
    gbose_free(a);
    gbose_free(b);
}

static void a_ticket_may_be_learned_in_place(void **state)
{
    (void)state;
    for_each_spec(check_in_place, INTERCEPT | FORGET);
}

/* ---- numbers that are refused ---- */

static const double unfit[] = {NAN, -NAN, INFINITY, -INFINITY, 1e31, -1e31, 1.0000000001e30, 1.7e308};

static void check_rewards(const char *spec)
{
    struct desk desk = open_desk(spec, DIM);

    for (size_t k = 0; k < COUNT(unfit); k++) {
        assert_int_equal(gbose_learn(desk.g, desk.ticket.at, desk.ticket.size, unfit[k]), GBOSE_ENUMERIC);
        assert_unchanged(desk.g, &desk.before);
    }
    close_desk(&desk);
    desk = open_desk(spec, DIM);
    assert_int_equal(gbose_learn(desk.g, desk.ticket.at, desk.ticket.size, GBOSE_MAX_INPUT), GBOSE_OK);
    assert_int_equal(gbose_learn(desk.g, desk.ticket.at, desk.ticket.size, -GBOSE_MAX_INPUT), GBOSE_OK);
    for (size_t i = 0; i < DIM; i++)
        assert_true(isfinite(gbose_coef(desk.g)[i]));
    bytes_free(&desk.before);
    bytes_free(&desk.ticket);
    gbose_free(desk.g);
}

static void unfit_rewards_are_refused(void **state)
{
    (void)state;
    for_each_spec(check_rewards, INTERCEPT | FORGET);
}

/* A refused decision leaves the output, the learner and its count of decisions alone. */
static void assert_decide_refused(struct desk *desk, const double *contexts, size_t n_arms, int code)
{
    gbose_decision out, before;

    memset(&before, 0x5a, sizeof before);
    out = before;
    assert_int_equal(decide_arms(desk->g, &out, contexts, n_arms), code);
    assert_memory_equal(&out, &before, sizeof out);
    assert_unchanged(desk->g, &desk->before);
}

static void check_contexts(const char *spec)
{
    struct desk desk = open_desk(spec, DIM);
    uint64_t decisions = gbose_decisions(desk.g);
    double contexts[5 * DIM];
    struct random rng = {12};
    gbose_decision d;

    for (size_t i = 0; i < 5 * DIM; i++)
        contexts[i] = random_between(&rng, -1, 1);
    for (size_t n = 1; n <= 5; n++)
        for (size_t i = 0; i < n * DIM; i++)
            for (size_t k = 0; k < COUNT(unfit); k++) {
                double right = contexts[i];

                contexts[i] = unfit[k];
                assert_decide_refused(&desk, contexts, n, GBOSE_ENUMERIC);
                contexts[i] = right;
            }
    assert_decide_refused(&desk, contexts, 0, GBOSE_EINVAL);
    assert_decide_refused(&desk, NULL, 3, GBOSE_EINVAL);
    assert_decide_refused(&desk, NULL, 0, GBOSE_EINVAL);
    assert_int_equal(decide_arms(desk.g, NULL, contexts, 3), GBOSE_EINVAL);
    assert_int_equal(decide_arms(NULL, &d, contexts, 3), GBOSE_EINVAL);
    assert_int_equal(gbose_decisions(desk.g), decisions);
    assert_int_equal(decide_arms(desk.g, &d, contexts, 5), GBOSE_OK);
    assert_int_equal(gbose_decisions(desk.g), decisions + 1);
    bytes_free(&desk.before);
    desk.before = saved(desk.g);
    close_desk(&desk);
}

static void unfit_contexts_are_refused(void **state)
{
    (void)state;
    for_each_spec(check_contexts, INTERCEPT);
}

/* Contexts and rewards of one size; coefficients, widths and probabilities stay numbers. When the sums have
 * lost all meaning to rounding a decision may be refused, and is then refused as a whole. */
static void play_at_scale(const char *spec, double scale, double reward, int may_refuse)
{
    gbose *g = new_player(spec, DIM);
    double contexts[4 * DIM];
    struct random rng = {13};

    for (int t = 0; t < 20; t++) {
        struct bytes before = saved(g);
        gbose_decision d;
        double sum = 0;
        int rc;

        for (size_t i = 0; i < 4 * DIM; i++)
            contexts[i] = random_below(&rng, 2) ? scale : -scale;
        rc = decide_arms(g, &d, contexts, 4);
        if (may_refuse && rc == GBOSE_ENUMERIC) {
            assert_unchanged(g, &before);
        } else {
            assert_int_equal(rc, GBOSE_OK);
            for (size_t i = 0; i < 4; i++)
                sum += d.pmf[i];
            assert_near(sum, 1, 1e-9);
            assert_int_equal(gbose_learn(g, d.ticket, d.ticket_size, t % 2 ? reward : -reward), GBOSE_OK);
        }
        for (size_t i = 0; i < DIM; i++)
            assert_true(isfinite(gbose_coef(g)[i]));
        assert_true(isfinite(gbose_width(g, contexts)));
        bytes_free(&before);
    }
    gbose_free(g);
}

static void check_scales(const char *spec)
{
    play_at_scale(spec, 1e28, 1, 0);
    play_at_scale(spec, 1e-100, 1, 0);
    play_at_scale(spec, 1, GBOSE_MAX_INPUT, 0);
    play_at_scale(spec, GBOSE_MAX_INPUT, GBOSE_MAX_INPUT, 1);
}

static void numbers_of_any_legal_size_are_accepted(void **state)
{
    (void)state;
    for_each_spec(check_scales, INTERCEPT | FORGET);
}

/* No object is larger than PTRDIFF_MAX bytes: such a claim can be refused without a look at the contexts. */
static void check_absurd_sizes(const char *spec)
{
    for (size_t dim = 1; dim <= 3; dim++) {
        double context[3] = {0.5, 0.25, 0.125};
        const size_t sizes[] = {SIZE_MAX,
                                SIZE_MAX - 1,
                                SIZE_MAX / 2,
                                SIZE_MAX / 4 + 1,
                                SIZE_MAX / 8 + 1,
                                SIZE_MAX / dim,
                                SIZE_MAX / 8 / dim + 1,
                                SIZE_MAX / 8 / dim,
                                (size_t)PTRDIFF_MAX / 8 / dim + 1};
        struct random rng = {14};
        struct desk desk;

        desk.g = new_player(spec, dim);
        play(desk.g, 4, &rng, NULL);
        desk.before = saved(desk.g);
        for (size_t k = 0; k < COUNT(sizes); k++)
            assert_decide_refused(&desk, context, sizes[k], GBOSE_ESIZE);
        bytes_free(&desk.before);
        gbose_free(desk.g);
    }
}

static void absurd_numbers_of_arms_are_refused(void **state)
{
    (void)state;
    for_each_spec(check_absurd_sizes, PLAIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        spec_test(truncated_tickets_are_refused),
        spec_test(flipped_bits_are_refused),
        spec_test(extended_tickets_are_refused),
        spec_test(garbage_is_refused),
        spec_test(forged_numbers_are_refused),
        spec_test(forged_counts_are_refused),
        spec_test(foreign_tickets_are_refused),
        spec_test(tickets_of_another_seed_are_accepted),
        spec_test(a_ticket_needs_no_alignment),
        spec_test(tickets_may_come_in_any_order),
        spec_test(a_ticket_learned_twice_counts_twice),
        spec_test(a_ticket_may_be_learned_in_place),
        spec_test(unfit_rewards_are_refused),
        spec_test(unfit_contexts_are_refused),
        spec_test(numbers_of_any_legal_size_are_accepted),
        spec_test(absurd_numbers_of_arms_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
