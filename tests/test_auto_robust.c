/* gbose-auto must never freeze: rewards that begin all alike, rare rewards, batches, ties, absurd
 * estimates; and the parts that see to it. Seeds are fixed, so an outcome is fixed; limits are far from
 * what was seen (given beside them). */
#include "support/any_world.h"
#include "support/check.h"
#include "support/players.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "learners/auto/contest.h"
#include "learners/auto/functions.h"
#include "learners/auto/offer.h"
#include "learners/auto/scale.h"

static const struct gbose__tuning *const tuning = &gbose__tuning_default;

/* The regret of this many rounds of a repetition. */
static double regret_of_one(const char *learner, const char *world, int rounds, uint32_t rep)
{
    struct gbose__world *w = new_world(world, 31, rep);
    gbose *g = new_player(learner, w->dim);
    double sum = 0;

    assert_int_equal(gbose_stream(g, rep), GBOSE_OK);
    for (int t = 0; t < rounds; t++) {
        gbose_decision d;
        double regret;

        gbose__world_next(w);
        assert_int_equal(gbose_decide(g, &d, w->contexts, w->n_arms), GBOSE_OK);
        assert_int_equal(gbose_learn(g, d.ticket, d.ticket_size, gbose__world_play(w, d.arm, &regret)),
                         GBOSE_OK);
        sum += regret;
    }
    gbose_free(g);
    gbose__world_free(w);
    return sum;
}

/* The same summed over repetitions, and their median. */
static double regret_of(const char *learner, const char *world, int rounds, uint32_t reps)
{
    double sum = 0;

    for (uint32_t rep = 0; rep < reps; rep++)
        sum += regret_of_one(learner, world, rounds, rep);
    return sum;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median_regret(const char *learner, const char *world, int rounds)
{
    enum { REPS = 101 };
    double regret[REPS];

    for (uint32_t rep = 0; rep < REPS; rep++)
        regret[rep] = regret_of_one(learner, world, rounds, rep);
    qsort(regret, REPS, sizeof *regret, by_size);
    return regret[REPS / 2];
}

/* A random vector that is added to the contexts of all arms may cost a tenth. Seen: 1.01 to 1.05 times as much. Before
 * contexts were measured from their common part it was 15 to 25 times as much. */
static void what_arms_have_in_common_does_not_matter(void **state)
{
    static const char *const worlds[] = {"gallery:contexts=blocks,arms=2,dim=10,shift=zero",
                                         "gallery:contexts=blocks,arms=5,dim=4,shift=zero"};

    (void)state;
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++)
        for (int offset = 1; offset <= 10; offset += 9) {
            char world[100];
            double plain = median_regret("gbose-auto", worlds[i], 300), moved;

            snprintf(world, sizeof world, "%s,offset=%d", worlds[i], offset);
            moved = median_regret("gbose-auto", world, 300);
            assert_that(moved < 1.1 * plain, "%s: regret %g instead of %g", world, moved, plain);
        }
}

/* Nor does it hide the user where v depends on her: trackers know her from what arms differ by. Seen: 1.14 times as much. */
static void what_arms_have_in_common_does_not_hide_the_user(void **state)
{
    static const char *const world = "gallery:contexts=shared,arms=4,dim=6,shift=user-product",
                             *const moved_world =
                                 "gallery:contexts=shared,arms=4,dim=6,shift=user-product,offset=1";
    double plain = regret_of("gbose-auto", world, 1500, 9),
           moved = regret_of("gbose-auto", moved_world, 1500, 9);

    (void)state;
    assert_that(moved < 2 * plain, "regret %g instead of %g", moved, plain);
}

/* While nothing happens a round costs 0.57, as for everyone; afterwards the world is as easy as ever. */
static void equal_first_rewards(void **state)
{
    static const int quiet[] = {5, 10, 11, 20, 50};

    (void)state;
    for (size_t i = 0; i < sizeof quiet / sizeof *quiet; i++) {
        char world[60];
        double regret;

        snprintf(world, sizeof world, "gallery:shift=zero,quiet=%d", quiet[i]);
        regret = regret_of("gbose-auto", world, 2000, 5) / 5;
        assert_that(regret < 0.8 * quiet[i] + 30, "%d equal rewards: regret %g", quiet[i], regret);
    }
}

/* Seen: 0.63, 0.48 and 0.11 of uniform play at 0.5, 2 and 8% (before: 1.0, 0.8 and 0.2, and single runs
 * frozen). */
static void rare_rewards(void **state)
{
    static const struct {
        const char *world;
        double most;
    } cases[] = {{"gallery:shift=zero,arms=5,clicks=0.005", 0.95},
                 {"gallery:shift=zero,arms=5,clicks=0.02", 0.7},
                 {"gallery:shift=zero,arms=5,clicks=0.08", 0.35}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double regret = regret_of("gbose-auto", cases[i].world, 5000, 6);
        double uniform = regret_of("uniform", cases[i].world, 5000, 6);

        assert_that(regret < cases[i].most * uniform, "%s: regret %g, uniform %g", cases[i].world, regret,
                    uniform);
    }
}

/* Rewards come after 1000 decisions. Contexts in blocks are all equally far apart, and each arm gets its
 * share. */
static void batches(void **state)
{
    static const char *const learners[] = {"gbose-auto", "gbose:gamma=0.3"};
    enum { BATCH = 1000, ARMS = 5, DIM = 24 };
    static unsigned char *ticket[BATCH];
    static size_t size[BATCH];
    static double reward[BATCH];

    (void)state;
    for (size_t i = 0; i < sizeof learners / sizeof *learners; i++) {
        struct gbose__world *w = new_world("gallery:contexts=shared,shift=zero,arms=5,dim=6", 3, 0);
        gbose *g = new_player(learners[i], w->dim);
        double sum[2] = {0, 0}, none[2] = {0, 0};
        size_t plays[ARMS] = {0};

        assert_int_equal(w->dim, DIM);
        for (int batch = 0; batch < 2; batch++) {
            for (size_t t = 0; t < BATCH; t++) {
                gbose_decision d;
                double regret;

                gbose__world_next(w);
                assert_int_equal(gbose_decide(g, &d, w->contexts, w->n_arms), GBOSE_OK);
                plays[d.arm] += !batch;
                ticket[t] = malloc(d.ticket_size);
                assert_non_null(ticket[t]);
                memcpy(ticket[t], d.ticket, d.ticket_size);
                size[t] = d.ticket_size;
                reward[t] = gbose__world_play(w, d.arm, &regret);
                sum[batch] += regret;
                for (size_t a = 0; a < ARMS; a++)
                    none[batch] += (gbose__world_best(w) - w->mean[a]) / ARMS;
            }
            for (size_t t = 0; t < BATCH; t++) {
                assert_int_equal(gbose_learn(g, ticket[t], size[t], reward[t]), GBOSE_OK);
                free(ticket[t]);
            }
        }
        for (size_t a = 0; a < ARMS; a++) /* arm 0, the zero context, is nearer to all others */
            assert_that(plays[a] < 350 && (a == 0 || plays[a] > 150), "%s: arm %zu has %zu of 1000",
                        learners[i], a, plays[a]);
        assert_that(sum[1] < 0.3 * none[1], "%s: regret %g of %g", learners[i], sum[1], none[1]);
        gbose_free(g);
        gbose__world_free(w);
    }
}

/* A reward that never changes says nothing of the arms: all of them go on being played, and nothing is
 * learned. */
static void a_reward_that_never_changes(void **state)
{
    static const double values[] = {0, 1, -7.5};

    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct gbose__world *w = new_world("gallery:contexts=shared,shift=zero,arms=4,dim=3", 3, 0);
        gbose *g = new_player("gbose-auto", w->dim);
        size_t plays[4] = {0};
        gbose_diagnosis diagnosis;

        for (int t = 0; t < 2000; t++) {
            gbose_decision d;

            gbose__world_next(w);
            assert_int_equal(gbose_decide(g, &d, w->contexts, w->n_arms), GBOSE_OK);
            plays[d.arm]++;
            assert_int_equal(gbose_learn(g, d.ticket, d.ticket_size, values[i]), GBOSE_OK);
        }
        for (size_t a = 1; a < 4; a++) /* arm 0, the zero context, is nearer to all others */
            assert_that(plays[a] > 20, "arm %zu has %zu of 2000", a, plays[a]);
        for (size_t j = 0; j < w->dim; j++)
            assert_near(gbose_coef(g)[j], 0, 0.1 * (1 + fabs(values[i]))); /* the first reward's surprise */
        assert_int_equal(gbose_diagnose(g, &diagnosis), GBOSE_OK);
        assert_non_null(strstr(diagnosis.advice, "all rewards so far are equal"));
        assert_true(diagnosis.scale == 0 && diagnosis.coins > 0 && diagnosis.coins <= 2000);
        gbose_free(g);
        gbose__world_free(w);
    }
}

/* Rounds that leave no choice, or none that matters. */
static void one_arm_and_equal_contexts(void **state)
{
    const double same[3 * 2] = {0.5, -1, 0.5, -1, 0.5, -1}, apart[2 * 2] = {1, 0, 0, 1};
    gbose *g = new_player("gbose-auto", 2);
    struct random r = {5};
    gbose_decision d;

    (void)state;
    for (int t = 0; t < 1000; t++) {
        assert_int_equal(gbose_decide(g, &d, same, t % 2 ? 1 : 3), GBOSE_OK);
        assert_int_equal(gbose_learn(g, d.ticket, d.ticket_size, random_normal(&r)), GBOSE_OK);
    }
    for (int t = 0; t < 400; t++) { /* and then a choice: the first arm is better by 1 */
        assert_int_equal(gbose_decide(g, &d, apart, 2), GBOSE_OK);
        assert_int_equal(
            gbose_learn(g, d.ticket, d.ticket_size, (d.arm == 0 ? 1 : 0) + 0.1 * random_normal(&r)),
            GBOSE_OK);
    }
    assert_int_equal(gbose_decide(g, &d, apart, 2), GBOSE_OK);
    assert_int_equal(d.arm, 0);
    gbose_free(g);
}

/* Both can be read: where few rounds had a coin the full one is nearer to the truth. */
static void estimates_by_name(void **state)
{
    struct gbose__world *w = new_world("gallery:shift=zero,noise=0.3", 8, 0);
    gbose *g = new_player("gbose-auto", w->dim), *safe = new_player("gbose-auto:safe=1", w->dim),
          *other = new_player("lin-ts", w->dim);
    double *mu = regress_mu(w, 50), off[2] = {0, 0};
    gbose_diagnosis diagnosis;

    (void)state;
    for (int t = 0; t < 3000; t++) {
        gbose_decision d;

        gbose__world_next(w);
        assert_int_equal(gbose_decide(g, &d, w->contexts, w->n_arms), GBOSE_OK);
        assert_int_equal(gbose_learn(g, d.ticket, d.ticket_size, gbose__world_play(w, d.arm, NULL)),
                         GBOSE_OK);
    }
    assert_ptr_equal(gbose_coef_of(g, "orthogonal"), gbose_coef(g));
    for (size_t j = 0; j < w->dim; j++) {
        off[0] += fabs(gbose_coef(g)[j] - mu[j]);
        off[1] += fabs(gbose_coef_of(g, "full")[j] - mu[j]);
    }
    assert_that(off[1] < 0.25 && off[1] < off[0], "%g and %g", off[0], off[1]);
    assert_null(gbose_coef_of(g, "plain"));
    assert_null(gbose_coef_of(g, NULL));
    assert_null(gbose_coef_of(NULL, "full"));
    assert_null(gbose_coef_of(safe, "full"));
    assert_null(gbose_coef_of(other, "full"));
    assert_int_equal(gbose_diagnose(g, &diagnosis), GBOSE_OK);
    assert_string_equal(diagnosis.advice, "");
    assert_near(diagnosis.scale, 0.3, 0.15);
    assert_near(diagnosis.scale_recent, 0.3, 0.15);
    free(mu);
    gbose_free(g);
    gbose_free(safe);
    gbose_free(other);
    gbose__world_free(w);
}

/* Who is asked moves the rewards of all arms. Seen: 0.13 and 0.37 of what baseline=simple has. */
static void a_shift_that_depends_on_who_is_asked(void **state)
{
    static const char *const worlds[] = {"gallery:contexts=shared,arms=4,dim=6,shift=user-product",
                                         "gallery:contexts=shared,arms=4,dim=6,shift=user-sine,walk=5"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        double flexible = regret_of("gbose-auto", worlds[i], 3000, 6);
        double simple = regret_of("gbose-auto:baseline=simple", worlds[i], 3000, 6);

        assert_that(flexible < 0.5 * simple, "%s: regret %g, simple %g", worlds[i], flexible, simple);
    }
}

/* ---- the parts ---- */

/* A user far from all others, of whom far too much is expected, does not cost the tracker that knows users its lead for long: it is the
 * best one for everybody else. Rewards are ordinary in all rounds, so trackers without users err as usual. Seen: 148 rounds; without
 * the limit on what one round counts, all that were played. */
static void one_unusual_user_does_not_change_the_lead_for_long(void **state)
{
    enum { FEATURES = 4, ARMS = 3, WIDTH = FEATURES * (ARMS - 1), ROUNDS = 1500, AFTER = 300 };
    struct random r = {31};
    gbose *g = NULL;
    gbose_error err;
    int lost = 0;

    (void)state;
    assert_int_equal(gbose_new(&g, "gbose-auto", WIDTH, &err), GBOSE_OK);
    for (int t = 0; t < ROUNDS + AFTER; t++) {
        double rows[ARMS * WIDTH] = {0}, user[FEATURES] = {1}, v, effect = 0;
        gbose_decision decision;
        gbose_diagnosis found;

        for (size_t i = 1; i < FEATURES; i++)
            user[i] = t == ROUNDS ? 2.5 : 0.5 * random_normal(&r);
        for (size_t a = 1; a < ARMS; a++)
            memcpy(rows + a * WIDTH + (a - 1) * FEATURES, user, sizeof user);
        v = t == ROUNDS ? 0 : 3 * user[1] * user[2] + 2 * sin(2 * user[3]);
        assert_int_equal(gbose_decide(g, &decision, rows, ARMS), GBOSE_OK);
        for (size_t i = 0; i < WIDTH; i++)
            effect += (i % 3 ? 0.3 : -0.2) * rows[decision.arm * WIDTH + i];
        assert_int_equal(
            gbose_learn(g, decision.ticket, decision.ticket_size, effect + v + 0.1 * random_normal(&r)),
            GBOSE_OK);
        if (t < ROUNDS - 1 || (t >= ROUNDS && t < ROUNDS + AFTER - 50))
            continue;
        assert_int_equal(gbose_diagnose(g, &found), GBOSE_OK);
        lost += strcmp(found.tracker, "flexible") != 0;
    }
    assert_int_equal(lost, 0);
    gbose_free(g);
}

static void learn_scale(struct gbose__scale *scale, struct gbose__rewards *rewards, double reward,
                        double residual)
{
    gbose__rewards_learn(rewards, tuning, reward);
    gbose__scale_learn(scale, tuning, rewards, residual);
}

/* Clicks at 2%, the residual being the click less its rate: s_min^2 is their variance, however long there
 * was no click, and no click is clipped. */
static void the_scale_of_rare_rewards(void **state)
{
    struct gbose__scale scale = {.known = 0};
    struct gbose__rewards rewards = {.count = 0};
    const double rate = 0.02, variance = rate * (1 - rate);
    struct random r = {8};

    (void)state;
    for (int t = 0; t < 20000; t++) {
        double click = random_uniform(&r) < rate;

        learn_scale(&scale, &rewards, click, click - rate);
    }
    assert_true(gbose__rewards_are_rare(&rewards, tuning));
    assert_true(scale.known == 1);
    assert_that(scale.least > variance / 3 && scale.least < variance * 1.5, "%g, not %g", scale.least,
                variance);
    assert_true(isinf(gbose__scale_surprise(&scale, tuning, &rewards)));
    assert_true(gbose__scale_is_sane(&scale) && gbose__rewards_are_sane(&rewards));
}

/* Normal residuals of sd 2 after ten that are all zero, and a reward that does not repeat. */
static void the_scale_after_nothing(void **state)
{
    struct gbose__scale scale = {.known = 0};
    struct gbose__rewards rewards = {.count = 0};
    struct random r = {9};

    (void)state;
    assert_true(isinf(gbose__scale_unit(&scale, tuning)));
    for (int t = 0; t < 10; t++)
        learn_scale(&scale, &rewards, 3, 0);
    assert_true(isinf(gbose__scale_unit(&scale, tuning)));
    assert_true(gbose__scale_weight(&scale, tuning, &rewards) == 1);
    for (int t = 0; t < 5000; t++) {
        double e = 2 * random_normal(&r);

        learn_scale(&scale, &rewards, 3 + e, e);
    }
    assert_true(!gbose__rewards_are_rare(&rewards, tuning));
    assert_near(gbose__scale_unit(&scale, tuning), 2, 0.8); /* the least of many means */
    assert_true(gbose__scale_surprise(&scale, tuning, &rewards) < 4 * 2 * 1.6);
}

/* Residuals that become 50 times smaller make a round worth 2500 times as much, in units in which the
 * width stays. */
static void what_is_learned_in_the_light_counts_more(void **state)
{
    struct gbose__scale scale = {.known = 0};
    struct gbose__rewards rewards = {.count = 0};
    struct random r = {10};
    double worth, first;

    (void)state;
    for (int t = 0; t < 50; t++) {
        double e = 5 * random_normal(&r);

        learn_scale(&scale, &rewards, e, e);
    }
    assert_true(gbose__scale_worth(&scale, tuning) == 1);
    first = gbose__scale_unit(&scale, tuning);
    for (int t = 0; t < 3000; t++) {
        double e = 0.1 * random_normal(&r);

        learn_scale(&scale, &rewards, e, e);
    }
    worth = gbose__scale_worth(&scale, tuning);
    assert_that(worth > 500 && worth < 10000, "worth %g", worth);
    assert_near(gbose__scale_unit(&scale, tuning), first, 0.6 * first);
}

static void an_absurd_estimate_does_not_choose(void **state)
{
    struct gbose__contest contest = {.full_chooses = 0, .evidence = 7, .coins = 100};

    (void)state;
    gbose__contest_disqualify(&contest);
    assert_true(contest.full_chooses == 1 && contest.evidence == 0);
    assert_true(gbose__contest_is_sane(&contest, tuning, 1));
}

static void find_features(const struct gbose__offer *offer, double *features, const double *mean,
                          const double *common)
{
    double z[GBOSE__OFFER_COORDINATES];

    struct gbose__functions functions;

    gbose__functions_begin(&functions, (size_t)offer->state->count);
    gbose__offer_coordinates(offer, z, mean, common);
    gbose__functions_values(&functions, features, z);
}

/* Six coordinates: a constant, x, twice x, y, x + y, and x again in other units. Chosen are x and y, and a
 * power of two in the units changes no bit. */
static void coordinates_of_what_is_on_offer(void **state)
{
    enum { DIM = 6 };
    double *at = calloc(gbose__offer_size(DIM), sizeof(double)),
           *other = calloc(gbose__offer_size(DIM), sizeof(double));
    struct gbose__offer offer, scaled;
    struct random r = {11};
    double f[GBOSE__FUNCTIONS], g[GBOSE__FUNCTIONS];

    (void)state;
    assert_non_null(at);
    assert_non_null(other);
    gbose__offer_view(&offer, DIM, at);
    gbose__offer_view(&scaled, DIM, other);
    for (int t = 0; t < 200; t++) {
        double x = random_normal(&r), y = random_normal(&r), m[DIM] = {1, x, 2 * x, y, x + y, 1e-4 * x},
               n[DIM], z[2];

        for (size_t j = 0; j < DIM; j++)
            n[j] = ldexp(m[j], (int)(7 * j) - 20);
        find_features(&offer, f, m, NULL);
        find_features(&scaled, g, n, NULL);
        assert_memory_equal(f, g, sizeof f);
        gbose__offer_learn(&offer, m, NULL);
        gbose__offer_learn(&scaled, n, NULL);
        if (t < GBOSE__OFFER_EARLY) {
            for (size_t k = 0; k < GBOSE__FUNCTIONS; k++)
                assert_true(f[k] == 0);
            continue;
        }
        for (size_t k = 0; k < 2; k++)
            z[k] = fmax(-4, fmin(4, (m[2 * k + 1] - offer.state->mean[k]) / offer.state->deviation[k]));
        assert_near(f[0], z[0], 1e-12);
        assert_near(f[1], z[1], 1e-12);
        assert_near(f[4], z[0] * z[1], 1e-12);
        for (size_t k = 0; k < 3; k++)
            for (size_t c = 0; c < 2; c++) {
                assert_near(f[5 + 4 * k + 2 * c], sqrt(2) * sin((double)(k + 1) * z[c]), 1e-4);
                assert_near(f[6 + 4 * k + 2 * c], sqrt(2) * cos((double)(k + 1) * z[c]), 1e-4);
            }
        for (size_t k = 17; k < GBOSE__FUNCTIONS; k++)
            assert_true(f[k] == 0);
    }
    assert_true(offer.state->count == 2 && offer.state->coordinate[0] == 1 &&
                offer.state->coordinate[1] == 3);
    assert_true(gbose__offer_is_sane(&offer));
    free(at);
    free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_first_rewards),
        cmocka_unit_test(what_arms_have_in_common_does_not_matter),
        cmocka_unit_test(what_arms_have_in_common_does_not_hide_the_user),
        cmocka_unit_test(rare_rewards),
        cmocka_unit_test(batches),
        cmocka_unit_test(a_reward_that_never_changes),
        cmocka_unit_test(one_arm_and_equal_contexts),
        cmocka_unit_test(estimates_by_name),
        cmocka_unit_test(a_shift_that_depends_on_who_is_asked),
        cmocka_unit_test(one_unusual_user_does_not_change_the_lead_for_long),
        cmocka_unit_test(the_scale_of_rare_rewards),
        cmocka_unit_test(the_scale_after_nothing),
        cmocka_unit_test(what_is_learned_in_the_light_counts_more),
        cmocka_unit_test(an_absurd_estimate_does_not_choose),
        cmocka_unit_test(coordinates_of_what_is_on_offer),
    };

    return cmocka_run_group_tests_name("gbose-auto never freezes", tests, NULL, NULL);
}
