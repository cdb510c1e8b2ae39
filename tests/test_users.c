/* What gbose-auto finds out about users: the tree and the index that its trackers learn from, who is understood, and
 * how long mu is, and when the full estimate is doubted. */
#include "support/check.h"
#include "support/random.h"

#include <math.h>
#include <string.h>

#include "core/ridge.h"
#include "gbose.h"
#include "learners/auto/doubt.h"
#include "learners/auto/index.h"
#include "learners/auto/length.h"
#include "learners/auto/tree.h"
#include "learners/auto/users.h"

enum { Z = GBOSE__OFFER_COORDINATES };

static void draw(double *z, size_t count, struct random *r)
{
    for (size_t i = 0; i < Z; i++)
        z[i] = i < count ? random_normal(r) : 0;
}

/* Two steps, of which the second is on one side of the first only. */
static double steps(const double *z)
{
    return z[2] > 0.3 ? 5 : z[0] > -0.5 ? -1 : 2;
}

static void a_tree_finds_steps(void **state)
{
    enum { ROUNDS = 700, TRIALS = 500 };
    static struct gbose__tree_code code[ROUNDS];
    static double target[ROUNDS];
    struct random r = {41};
    struct gbose__tree tree = {0};
    double z[Z], sum[GBOSE__TREE_LEAVES] = {0}, count[GBOSE__TREE_LEAVES] = {0}, error = 0;

    (void)state;
    for (int t = 0; t < ROUNDS; t++) {
        draw(z, 4, &r);
        code[t] = gbose__tree_code(z);
        target[t] = steps(z) + 0.3 * random_normal(&r);
    }
    assert_true(gbose__tree_is_sane(&tree) && gbose__tree_leaf(&tree, &code[0]) == 0);
    gbose__tree_grow(&tree, code, target, ROUNDS, 4);
    assert_true(gbose__tree_is_sane(&tree));
    assert_true(tree.leaves >= 3 && tree.leaves <= GBOSE__TREE_LEAVES);
    for (int t = 0; t < ROUNDS; t++) {
        sum[gbose__tree_leaf(&tree, &code[t])] += target[t];
        count[gbose__tree_leaf(&tree, &code[t])]++;
    }
    for (int t = 0; t < TRIALS; t++) {
        struct gbose__tree_code where;
        size_t leaf;
        double off;

        draw(z, 4, &r);
        where = gbose__tree_code(z);
        leaf = gbose__tree_leaf(&tree, &where);
        assert_true(count[leaf] > 0);
        off = sum[leaf] / count[leaf] - steps(z);
        error += off * off / TRIALS;
    }
    assert_that(error < 0.25, "mean squared error %g of a variance of 7", error); /* a bin is 1/128 of all */
}

/* The sum of squares about the mean of targets with a coordinate on one side of a cut. */
static double about_mean(double (*z)[Z], const double *target, size_t n, size_t k, double cut, int above)
{
    double count = 0, mean = 0, sum = 0;

    for (size_t i = 0; i < n; i++)
        if ((z[i][k] >= cut) == above) {
            count++;
            mean += target[i];
        }
    mean /= count > 0 ? count : 1;
    for (size_t i = 0; i < n; i++)
        if ((z[i][k] >= cut) == above)
            sum += (target[i] - mean) * (target[i] - mean);
    return count >= 5 ? sum : INFINITY;
}

/* Cuts between bins, by the definition of bins: z / sqrt(z^2 + 2) = 2 bin / 128 - 1. */
static double cut_of(size_t bin)
{
    double t = 2.0 * (double)bin / GBOSE__TREE_BINS - 1;

    return t * sqrt(2 / (1 - t * t));
}

static void the_first_split_is_the_best_one(void **state)
{
    enum { ROUNDS = 128 };
    static double z[ROUNDS][Z], target[ROUNDS];
    static struct gbose__tree_code code[ROUNDS];
    struct random r = {43};

    (void)state;
    for (int trial = 0; trial < 20; trial++) {
        struct gbose__tree tree = {0};
        double least = INFINITY;

        for (size_t i = 0; i < ROUNDS; i++) {
            draw(z[i], Z, &r);
            code[i] = gbose__tree_code(z[i]);
            target[i] = 3 * (z[i][trial % Z] > 0.2) + sin(z[i][1]) + 0.5 * random_normal(&r);
        }
        gbose__tree_grow(&tree, code, target, ROUNDS, Z);
        assert_true(tree.leaves > 1);
        for (size_t k = 0; k < Z; k++)
            for (size_t bin = 1; bin < GBOSE__TREE_BINS; bin++)
                least = fmin(least, about_mean(z, target, ROUNDS, k, cut_of(bin), 0) +
                                        about_mean(z, target, ROUNDS, k, cut_of(bin), 1));
        assert_close(
            about_mean(z, target, ROUNDS, (size_t)tree.coordinate[0], cut_of((size_t)tree.bin[0]), 0) +
                about_mean(z, target, ROUNDS, (size_t)tree.coordinate[0], cut_of((size_t)tree.bin[0]), 1),
            least, 1e-9);
    }
}

static void noise_grows_few_leaves(void **state)
{
    enum { ROUNDS = 512 };
    static struct gbose__tree_code code[ROUNDS];
    static double target[ROUNDS];
    struct random r = {47};
    double leaves = 0, z[Z];

    (void)state;
    for (int trial = 0; trial < 20; trial++) {
        struct gbose__tree tree = {0};

        for (size_t i = 0; i < ROUNDS; i++) {
            draw(z, Z, &r);
            code[i] = gbose__tree_code(z);
            target[i] = random_normal(&r);
        }
        gbose__tree_grow(&tree, code, target, ROUNDS, Z);
        leaves += tree.leaves / 20;
    }
    assert_that(leaves < 8, "%g leaves on average, where one would do", leaves);
}

/* With the right weights, a spend is one of the features, and a parabola a sum of them. */
static void the_index_is_scaled(void **state)
{
    static const double slope[Z] = {4, -1, 2};
    struct random r = {59};
    struct gbose__index index = {0};
    double z[Z], features[GBOSE__INDEX_FEATURES], mean = 0, square = 0, s;

    (void)state;
    for (int t = 0; t < 4000; t++) {
        draw(z, 3, &r);
        z[1] += 0.5;
        gbose__index_learn(&index, slope, z, 3);
    }
    assert_true(gbose__index_is_sane(&index));
    for (int t = 0; t < 4000; t++) {
        draw(z, 3, &r);
        z[1] += 0.5;
        gbose__index_features(&index, features, z, 3);
        mean += features[0] / 4000;
        square += features[0] * features[0] / 4000;
    }
    assert_near(mean, 0, 0.2);
    assert_near(square, 1, 0.3);
    s = features[0];
    assert_close(features[1], (s * s - 1) / sqrt(2), 1e-12);
    assert_close(features[4], exp(s) / 7, 1e-9);
    assert_close(features[4] * features[5], 1.0 / 49, 1e-12);
    assert_close(features[6], z[0] * exp(s) / 28, 1e-9);
    assert_true(features[9] == 0); /* there are three coordinates */
    for (size_t i = 0; i < Z; i++)
        z[i] = i == 1 ? -4 : 4; /* as far as coordinates go */
    gbose__index_features(&index, features, z, 3);
    assert_true(features[0] == 4);
    for (size_t i = 0; i < GBOSE__INDEX_FEATURES; i++)
        assert_true(fabs(features[i]) <= 11); /* within what trackers take for sane */
}

/* Users of whom much is expected have residuals that are five times as large. */
static void those_who_are_understood_count_more(void **state)
{
    const struct gbose__tuning *tuning = &gbose__tuning_default;
    struct random r = {61};
    struct gbose__users users = {0};
    double small, large;

    (void)state;
    assert_true(gbose__users_weight(&users, tuning, 3) == 1);
    for (int t = 0; t < 3000; t++) {
        double shift = 10 + 4 * random_normal(&r);

        gbose__users_learn(&users, tuning, shift, (shift > 10 ? 2.5 : 0.5) * random_normal(&r));
        assert_true(gbose__users_are_sane(&users));
    }
    small = gbose__users_weight(&users, tuning, 4);
    large = gbose__users_weight(&users, tuning, 16);
    /* the mean square of all is 3.25; the prior of 10 rounds draws both towards 1 */
    assert_that(small > 4 && small < 13, "weight %g, not 13", small);
    assert_that(large > 0.35 && large < 0.75, "weight %g, not 0.52", large);
    for (int t = 0; t < 5000; t++) /* all alike, at a tenth of the size */
        gbose__users_learn(&users, tuning, 10, 0.1);
    assert_near(gbose__users_weight(&users, tuning, 10), 1, 0.2);
}

/* Arm 0 leads by 8 in the full estimate's view; the orthogonal one sees nothing, little or all of it. */
static void bold_claims_are_doubted(void **state)
{
    enum { DIM = 2, STRIDE = 8 };
    static const double contexts[3 * STRIDE] = {1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0.5};
    const struct gbose__tuning *tuning = &gbose__tuning_default;
    double full[3] = {8, 0, 4}, seen[3] = {0, 0, 0}, scratch[STRIDE] = {0};
    struct gbose__input in = {
        .context = (double *)contexts, .n = 3, .stride = STRIDE, .score = seen, .other_score = full};
    struct gbose__ridge fit;
    struct gbose__doubt doubt = {&fit, 1, 1};
    size_t rival = 9;

    (void)state;
    assert_int_equal(gbose__ridge_init(&fit, DIM, 0.5, 1), 0); /* |b_0 - b_1| in its metric is 2 */
    assert_true(gbose__doubt_finds(&doubt, tuning, &in, 0, &rival, scratch));
    assert_int_equal(rival, 1);
    seen[0] = 1.9;
    assert_true(gbose__doubt_finds(&doubt, tuning, &in, 0, &rival, scratch));
    seen[0] = 2.1; /* confirmed */
    assert_false(gbose__doubt_finds(&doubt, tuning, &in, 0, &rival, scratch));
    seen[0] = 0;
    doubt.residual = 3; /* not bold */
    assert_false(gbose__doubt_finds(&doubt, tuning, &in, 0, &rival, scratch));
    in.n = 1;
    doubt.residual = 1;
    assert_false(gbose__doubt_finds(&doubt, tuning, &in, 0, &rival, scratch));
    gbose__ridge_clear(&fit);
}

/* ---- how long mu is ---- */

/* How often coins say that an estimate is too long which is so many times what it should be. */
static int times_too_long(double factor, double effect, uint64_t seed)
{
    const struct gbose__tuning *tuning = &gbose__tuning_default;
    struct gbose__length length = {0};
    struct random r = {seed};
    int times = 0;

    for (int t = 0; t < 200; t++) {
        double truth = effect * random_normal(&r);

        times += gbose__length_learn(&length, tuning, 4, factor * truth, truth + 2 * random_normal(&r));
        assert_true(gbose__length_is_sane(&length));
    }
    return times;
}

static void coins_tell_the_length_of_mu(void **state)
{
    (void)state;
    assert_true(times_too_long(10, 1, 1) > 150);
    assert_int_equal(times_too_long(1, 3, 2), 0);
    assert_int_equal(times_too_long(0, 1, 3), 0);   /* nothing predicted, nothing said */
    assert_int_equal(times_too_long(0.3, 3, 4), 0); /* too short */
}

/* What a regression is told is what a larger penalty says, and no more than a limit. */
static void telling_that_mu_is_small_is_a_penalty(void **state)
{
    enum { DIM = 5, STRIDE = 8 };
    const struct gbose__tuning *tuning = &gbose__tuning_default;
    struct gbose__ridge told[2], expected;
    struct gbose__length length = {.products = 3, .squares = 7};
    struct random r = {61};
    double x[STRIDE] = {0}, scratch[STRIDE];

    (void)state;
    for (int i = 0; i < 2; i++)
        assert_int_equal(gbose__ridge_init(&told[i], DIM, 0.7, 1), GBOSE_OK);
    assert_int_equal(gbose__ridge_init(&expected, DIM, 16 * 0.7, 1), GBOSE_OK);
    for (int t = 0; t < 30; t++) {
        double response = 3 * random_normal(&r);

        for (size_t i = 0; i < DIM; i++)
            x[i] = random_normal(&r);
        for (int i = 0; i < 2; i++)
            gbose__ridge_term(&told[i], x, 1.5, response);
        gbose__ridge_term(&expected, x, 1.5, response);
    }
    for (int times = 0; times < 2; times++) /* four times the penalty, twice */
        gbose__length_shorten(&length, tuning, told, 2, 1, scratch);
    assert_true(length.products == 0 && length.squares == 0);
    for (size_t i = 0; i < DIM; i++) {
        assert_near(told[0].mu[i], expected.mu[i], 1e-12);
        assert_true(told[0].mu[i] == told[1].mu[i]);
    }
    for (int times = 0; times < 100; times++)
        gbose__length_shorten(&length, tuning, told, 2, 1, scratch);
    assert_true(length.weight < 4 * tuning->length_most + 4);
    for (int i = 0; i < 2; i++)
        gbose__ridge_clear(&told[i]);
    gbose__ridge_clear(&expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tree_finds_steps),
        cmocka_unit_test(the_first_split_is_the_best_one),
        cmocka_unit_test(noise_grows_few_leaves),
        cmocka_unit_test(bold_claims_are_doubted),
        cmocka_unit_test(coins_tell_the_length_of_mu),
        cmocka_unit_test(telling_that_mu_is_small_is_a_penalty),
        cmocka_unit_test(the_index_is_scaled),
        cmocka_unit_test(those_who_are_understood_count_more),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
