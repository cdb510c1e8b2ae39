/* The rounds that gbose-auto keeps, and what it learns from them again. */
#include "support/check.h"
#include "support/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "gbose.h"
#include "learners/auto/auto.h"
#include "learners/auto/auto_inner.h"
#include "learners/auto/hindsight.h"

enum { ARMS = 3, USER = 3, DIM = (ARMS - 1) * USER, KEPT = GBOSE__HINDSIGHT_ROUNDS };

/* ---- the rows ---- */

enum { COORDINATES = GBOSE__OFFER_COORDINATES };

/* Coordinates from -4 to 4, both ends and zero among them. */
static double z_of(double number, size_t i)
{
    return i == 4 ? 0 : 4 * cos(number * (double)(i + 1));
}

static void learn_number(const struct gbose__hindsight *hindsight, double number)
{
    double round[2] = {number + 2, number + 3}, played[8] = {0};
    struct gbose__hindsight_round lesson = {
        .reward = number, .target = number + 0.5, .round = round, .played = played};

    for (size_t i = 0; i < hindsight->dim; i++)
        played[i] = number + 10 + (double)i;
    for (size_t i = 0; i < COORDINATES; i++)
        lesson.z[i] = z_of(number, i);
    gbose__hindsight_learn(hindsight, &lesson);
}

/* Coordinates come back as they were, to 8 / 2^17, and zero as zero. */
static void assert_z(const struct gbose__hindsight_round *round, double number)
{
    for (size_t i = 0; i < COORDINATES; i++)
        assert_near(round->z[i], z_of(number, i), i == 4 ? 0 : 1e-4);
}

static void the_first_rounds_are_kept_in_order(void **state)
{
    static const int seen[] = {0, 1, 7, KEPT, KEPT + 1, 3 * KEPT + 5};

    (void)state;
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++) {
        double number = 0, *rows = gbose__alloc(gbose__hindsight_size(3, 1), sizeof *rows);
        struct gbose__hindsight hindsight = {1, 3, &number, rows};
        size_t count = (size_t)(seen[i] < KEPT ? seen[i] : KEPT);

        for (int t = 0; t < seen[i]; t++)
            learn_number(&hindsight, t);
        assert_true(gbose__hindsight_is_sane(&hindsight));
        assert_int_equal(gbose__hindsight_count(&hindsight), count);
        for (size_t k = 0; k < count; k++) {
            struct gbose__hindsight_round round = gbose__hindsight_at(&hindsight, k);
            double t = (double)k;

            assert_true(round.reward == t && round.target == t + 0.5);
            assert_true(round.round[0] == t + 2);
            assert_true(round.played[0] == t + 10 && round.played[2] == t + 12);
            assert_z(&round, t);
        }
        gbose__hindsight_end(&hindsight);
        learn_number(&hindsight, 5);
        gbose__hindsight_clear(&hindsight);
        assert_int_equal(gbose__hindsight_count(&hindsight), 0);
        assert_true(number == GBOSE__HINDSIGHT_OVER && gbose__hindsight_is_sane(&hindsight));
    }
}

static void kept_rounds_grow_and_change_units(void **state)
{
    double count[2] = {0}, *small = gbose__alloc(gbose__hindsight_size(2, 1), sizeof *small),
           *large = gbose__alloc(gbose__hindsight_size(3, 2), sizeof *large);
    struct gbose__hindsight from = {1, 2, &count[0], small}, to = {2, 3, &count[1], large};

    (void)state;
    for (int t = 0; t < KEPT - 9; t++)
        learn_number(&from, t);
    gbose__hindsight_grow(&to, &from);
    gbose__hindsight_rescale(&to, 1, 4);
    assert_int_equal(gbose__hindsight_count(&to), KEPT - 9);
    for (size_t k = 0; k < KEPT - 9; k++) {
        struct gbose__hindsight_round round = gbose__hindsight_at(&to, k);
        double number = (double)k;

        assert_true(round.reward == number);
        assert_z(&round, number);
        assert_true(round.round[0] == number + 2 && round.round[1] == 0);
        assert_true(round.played[0] == number + 10 && round.played[1] == 4 * (number + 11));
        assert_true(round.played[2] == 0);
    }
    gbose__free(small);
    gbose__free(large);
}

/* ---- a shift that depends on the user ---- */

static const double mu[DIM] = {0.2, 0.6, -0.5, -0.1, -0.4, 0.7};

struct player {
    gbose *g;
    struct random r;
    double regret; /* of the latest rounds */
    double again;  /* how often the full estimate has begun anew in all */
};

/* A spend, many times what arms differ by. */
static double shift_of(const double *user)
{
    return 6 * exp(user[1] - 0.5 * user[2]);
}

static void play(struct player *p, int rounds)
{
    p->regret = 0;
    for (int t = 0; t < rounds; t++) {
        double contexts[ARMS * DIM] = {0}, user[USER] = {1, random_normal(&p->r), random_normal(&p->r)};
        double mean[ARMS] = {0}, best = 0, noise = 0.1 * random_normal(&p->r);
        gbose_decision d;

        for (size_t a = 1; a < ARMS; a++)
            for (size_t j = 0; j < USER; j++) {
                contexts[a * DIM + (a - 1) * USER + j] = user[j];
                mean[a] += user[j] * mu[(a - 1) * USER + j];
                best = mean[a] > best && j == USER - 1 ? mean[a] : best;
            }
        assert_int_equal(gbose_decide(p->g, &d, contexts, ARMS), GBOSE_OK);
        assert_int_equal(gbose_learn(p->g, d.ticket, d.ticket_size, mean[d.arm] + shift_of(user) + noise),
                         GBOSE_OK);
        p->regret += best - mean[d.arm];
    }
    p->again = gbose__auto_state_of(p->g)->anew;
}

static struct player new_player(const struct gbose__tuning *tuning, const char *spec, uint64_t seed)
{
    struct player p = {.r = {seed}};
    gbose_error err;

    assert_int_equal(gbose__auto_new(&p.g, spec, DIM, tuning, &err), GBOSE_OK);
    return p;
}

/* What was learned before v was found out is learned again: so that after 500 rounds arms are chosen well, in most runs. */
static void what_was_learned_in_the_dark_is_learned_again(void **state)
{
    struct gbose__tuning without = gbose__tuning_default;
    double regret = 0, regret_without = 0;
    int again = 0, better = 0;

    (void)state;
    without.hindsight_gain = INFINITY;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct player p = new_player(&gbose__tuning_default, "gbose-auto", seed),
                      other = new_player(&without, "gbose-auto", seed);

        play(&p, 400);
        play(&other, 400);
        again += p.again > 0;
        assert_true(other.again <= 1); /* after the first round, perhaps */
        play(&p, 600);
        play(&other, 600);
        better += p.regret < other.regret;
        regret += p.regret;
        regret_without += other.regret;
        gbose_free(p.g);
        gbose_free(other.g);
    }
    assert_true(again > 15 && better > 14);
    assert_that(regret < 0.6 * regret_without, "%g, without %g", regret, regret_without);
}

/* Replicas of one state that have all begun anew since still merge, and know the effects. */
static void learners_that_began_anew_merge(void **state)
{
    struct player first = new_player(&gbose__tuning_default, "gbose-auto", 5);
    unsigned char *bytes;
    size_t size;
    const double *coef;
    gbose *centre;
    gbose_error err;

    (void)state;
    play(&first, 90);
    assert_int_equal(gbose_save(first.g, NULL, 0, &size), GBOSE_OK);
    bytes = malloc(size);
    assert_non_null(bytes);
    assert_int_equal(gbose_save(first.g, bytes, size, &size), GBOSE_OK);
    assert_int_equal(gbose_load(&centre, bytes, size, &err), GBOSE_OK);
    for (uint32_t k = 1; k <= 3; k++) {
        struct player p = {.r = {70 + k}};

        assert_int_equal(gbose_load(&p.g, bytes, size, &err), GBOSE_OK);
        assert_int_equal(gbose_stream(p.g, k), GBOSE_OK);
        play(&p, 900);
        assert_true(p.again > first.again);
        assert_int_equal(gbose_merge(centre, p.g), GBOSE_OK);
        gbose_free(p.g);
    }
    coef = gbose_coef_of(centre, "full");
    for (size_t j = 0; j < DIM; j++)
        assert_near(coef[j], mu[j], 0.2);
    free(bytes);
    gbose_free(first.g);
    gbose_free(centre);
}

static gbose *reloaded(const gbose *g, size_t *size)
{
    unsigned char *bytes;
    gbose_error err;
    gbose *copy;

    assert_int_equal(gbose_save(g, NULL, 0, size), GBOSE_OK);
    bytes = malloc(*size);
    assert_non_null(bytes);
    assert_int_equal(gbose_save(g, bytes, *size, size), GBOSE_OK);
    assert_int_equal(gbose_load(&copy, bytes, *size, &err), GBOSE_OK);
    free(bytes);
    return copy;
}

/* A learner that is saved and loaded goes on as if it had not been, and rounds are saved only as long as they are kept. */
static void kept_rounds_are_saved_until_it_is_over(void **state)
{
    struct player p = new_player(&gbose__tuning_default, "gbose-auto", 9), other;
    size_t fresh, early, late;

    (void)state;
    gbose_free(reloaded(p.g, &fresh));
    play(&p, 200);
    other = p;
    other.g = reloaded(p.g, &early);
    play(&p, 1300);
    play(&other, 1300);
    assert_true(p.again > 0 && p.again == other.again);
    for (size_t j = 0; j < DIM; j++)
        assert_true(gbose_coef_of(p.g, "full")[j] == gbose_coef_of(other.g, "full")[j]);
    gbose_free(other.g);
    other.g = reloaded(p.g, &late);
    assert_true(early > fresh + (size_t)8 * 150 * DIM && late < fresh + 100);
    play(&p, 100);
    play(&other, 100);
    assert_true(p.regret >= 0 && gbose_coef_of(p.g, "full")[1] == gbose_coef_of(other.g, "full")[1]);
    gbose_free(other.g);
    gbose_free(p.g);
}

/* What was merged in was not kept, and would be lost if kept rounds were learned again. */
static void a_merged_learner_keeps_what_was_merged(void **state)
{
    struct player p = new_player(&gbose__tuning_default, "gbose-auto", 9),
                  other = new_player(&gbose__tuning_default, "gbose-auto:seed=3", 10);
    double again;

    (void)state;
    play(&p, 100);
    play(&other, 600);
    assert_int_equal(gbose_merge(p.g, other.g), GBOSE_OK);
    again = gbose__auto_state_of(p.g)->anew;
    play(&p, 600);
    assert_true(p.again == again);
    gbose_free(p.g);
    gbose_free(other.g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_rounds_are_kept_in_order),
        cmocka_unit_test(kept_rounds_grow_and_change_units),
        cmocka_unit_test(what_was_learned_in_the_dark_is_learned_again),
        cmocka_unit_test(learners_that_began_anew_merge),
        cmocka_unit_test(kept_rounds_are_saved_until_it_is_over),
        cmocka_unit_test(a_merged_learner_keeps_what_was_merged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
