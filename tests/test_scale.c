/* The scale of residuals, against its definition: discounted sums over all residuals, formed anew each
 * time. */
#include "support/check.h"
#include "support/random.h"

#include <math.h>

#include "learners/auto/scale.h"

enum { ROUNDS = 400 };

static const struct gbose__tuning tuning = {.scale_memory = {0.95, 0.97, 0.99, 0.999},
                                            .scale_clip = 9,
                                            .scale_room = 1.5,
                                            .first_rounds = 7,
                                            .ties_memory = 0.99,
                                            .rare_ties = 0.1,
                                            .enough_residuals = 15,
                                            .worth_ratio = 1e300, /* the worth has a test of its own */
                                            .worth_limit = 1e8};

/* The mean of the first n squares, the last of which counts most. */
static long double mean(const long double *square, size_t n, long double memory)
{
    long double sum = 0, count = 0;

    for (size_t i = 0; i < n; i++) {
        long double age = powl(memory, (long double)(n - 1 - i));

        sum += age * square[i];
        count += age;
    }
    return count > 0 ? sum / count : 0;
}

/* Residuals that grow by a factor of 30 in the middle, with outliers; the least long mean stays. */
static void the_scale_is_what_its_definition_says(void **state)
{
    struct gbose__scale scale = {.known = 0};
    struct gbose__rewards rewards = {.count = 0};
    struct random r = {11};
    long double square[ROUNDS], least = 0;
    int clipped = 0, light = 0;

    (void)state;
    for (size_t t = 0; t < ROUNDS; t++) {
        double e = random_normal(&r) * (t % 200 < 100 ? 0.1 : 3),
               w = gbose__scale_weight(&scale, &tuning, &rewards);
        long double recent = mean(square, t, 0.95), room = 1.5L * least;

        assert_close(w, t > 7 && recent > room ? room / recent : 1, 1e-9);
        assert_true(gbose__scale_worth(&scale, &tuning) == 1);
        if (t > 0)
            assert_close(gbose__scale_unit(&scale, &tuning), sqrtl(least), 1e-9);
        light += w < 0.1;

        square[t] = (long double)e * e;
        if (t + 1 > 7 && square[t] > 9 * recent) {
            square[t] = 9 * recent;
            clipped++;
        }
        gbose__rewards_learn(&rewards, &tuning, e); /* no two are equal */
        gbose__scale_learn(&scale, &tuning, &rewards, e);
        if (t + 1 <= 7)
            least = mean(square, t + 1, 0.999);
        else if (t + 1 == 8)
            least = mean(square, t + 1, 0.97);
        else
            least = fminl(least, mean(square, t + 1, 0.97));
        assert_close(gbose__scale_recent(&scale), mean(square, t + 1, 0.95), 1e-9);
        assert_close(scale.least, least, 1e-9);
        assert_true(gbose__scale_is_sane(&scale));
    }
    assert_true(clipped > 3 && light > 20); /* both were seen */
}

/* Residuals are next to nothing for a while, then one in five is large; in another run all are just larger by then. */
static void a_quiet_stretch_is_taken_back(void **state)
{
    struct gbose__tuning quick = tuning;
    int taken = 0, kept = 0;

    (void)state;
    quick.scale_clip = 1e300;
    quick.quiet_rounds = 16;
    quick.quiet_rise = 3;
    quick.quiet_few = 4;
    quick.quiet_far = 1e300;
    for (int run = 0; run < 2; run++) {
        struct gbose__scale scale = {.known = 0};
        struct gbose__rewards rewards = {.count = 0};
        struct random r = {13};
        long double square[ROUNDS], fourth[ROUNDS], least = INFINITY, count = 0, latest = INFINITY;

        for (size_t t = 0, check = 16; t < ROUNDS; t++) {
            double e = random_normal(&r) * (t < (run ? 30 : 12)               ? 0.01
                                            : run || random_uniform(&r) < 0.2 ? 1
                                                                              : 0.05);
            long double now;

            square[t] = (long double)e * e;
            fourth[t] = square[t] * square[t];
            gbose__rewards_learn(&rewards, &quick, e);
            gbose__scale_learn(&scale, &quick, &rewards, e);
            now = t + 1 > 7 ? mean(square, t + 1, 0.97) : INFINITY;
            latest = fminl(latest, now);
            if (now < least) {
                least = now;
                count = (1 - powl(0.97, (long double)(t + 1))) / 0.03L;
            }
            if (t + 1 == check) {
                long double all = mean(square, t + 1, 0.999),
                            few = count * all * all / mean(fourth, t + 1, 0.999);

                taken += latest > 3 * least && few < 4;
                kept += latest > 3 * least && few >= 4;
                if (latest > 3 * least && few < 4) {
                    least = latest;
                    count = (1 - powl(0.97, (long double)(t + 1))) / 0.03L;
                }
                latest = INFINITY;
                check *= 2;
            }
            if (t + 1 > 7)
                assert_close(scale.least, least, 1e-9);
        }
        assert_true(gbose__scale_is_sane(&scale));
        assert_true(gbose__scale_worth(&scale, &quick) == 1);
    }
    assert_true(taken > 0 && kept > 0); /* both were seen */
}

/* Residuals that are 300 times as large after 300 rounds: at the next doubling but one nothing of before is left in that time. */
static void noise_of_another_time_is_taken_back(void **state)
{
    struct gbose__scale scale = {.known = 0};
    struct gbose__rewards rewards = {.count = 0};
    struct random r = {14};

    (void)state;
    for (int t = 0; t < 900; t++) {
        double e = random_normal(&r) * (t < 300 ? 0.01 : 3);

        gbose__rewards_learn(&rewards, &gbose__tuning_default, e);
        gbose__scale_learn(&scale, &gbose__tuning_default, &rewards, e);
        if (t + 1 == 799)
            assert_true(sqrt(scale.least) < 0.02);
        if (t + 1 == 800)
            assert_true(sqrt(scale.least) > 1 && sqrt(scale.least) < 4);
    }
    assert_true(gbose__scale_weight(&scale, &gbose__tuning_default, &rewards) > 0.5);
}

/* Rewards are an effect and noise. The estimate is right, then it says the opposite, then nothing. */
static void the_width_is_less_where_effects_explain_rewards(void **state)
{
    static const double estimate[] = {1, -1, 0};

    (void)state;
    for (size_t k = 0; k < 3; k++) {
        struct gbose__tuning narrow = tuning;
        struct gbose__scale scale = {.known = 0};
        struct gbose__rewards rewards = {.count = 0};
        struct random r = {12};
        long double sum = 0, squares = 0, share;

        narrow.scale_clip = 1e300;
        narrow.narrow_from = 0.7;
        narrow.narrow_least = 0.1;
        assert_true(gbose__scale_narrow(&scale, &narrow) == 1);
        for (size_t t = 0; t < ROUNDS; t++) {
            double truth = random_normal(&r), reward = truth + random_normal(&r),
                   effect = estimate[k] * truth, e = reward - effect;

            sum = 0.95L * sum + (long double)reward * reward - (long double)e * e;
            squares = 0.95L * squares + (long double)e * e;
            gbose__scale_learn(&scale, &narrow, &rewards, e);
            gbose__scale_learn_effect(&scale, &narrow, effect, e);
        }
        assert_true(gbose__scale_is_sane(&scale));
        share = 0.7L * squares / sum;
        assert_close(gbose__scale_narrow(&scale, &narrow), k == 0 ? share * share : 1, 1e-9);
        assert_true(k > 0 || (share < 0.95L && share * share > 0.1L));
        narrow.narrow_least = 0.99;
        assert_true(gbose__scale_narrow(&scale, &narrow) == (k == 0 ? 0.99 : 1));
    }
}

static void what_cannot_be_is_not_sane(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(struct gbose__scale) / sizeof(double); i++) {
        struct gbose__scale scale = {{1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}, 1, 1, 1, 1, 1, 1, 1};

        assert_true(gbose__scale_is_sane(&scale));
        ((double *)&scale)[i] = -1e-300;
        assert_true(gbose__scale_is_sane(&scale) == (scale.explained < 0)); /* nothing else can be negative */
        ((double *)&scale)[i] = NAN;
        assert_false(gbose__scale_is_sane(&scale));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_scale_is_what_its_definition_says),
        cmocka_unit_test(a_quiet_stretch_is_taken_back),
        cmocka_unit_test(noise_of_another_time_is_taken_back),
        cmocka_unit_test(the_width_is_less_where_effects_explain_rewards),
        cmocka_unit_test(what_cannot_be_is_not_sane),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
