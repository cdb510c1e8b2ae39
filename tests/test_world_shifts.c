/* Simulated worlds against their definitions: the shift that moves the rewards of all arms, clicks, and heartsteps. */
#include "support/any_world.h"
#include "support/check.h"
#include "support/laws.h"
#include "support/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "worlds/draw.h"

#define PI 3.14159265358979323846

static double largest_mean(const struct gbose__world *w)
{
    double best = -INFINITY;

    for (size_t i = 0; i < w->n_arms; i++)
        best = fmax(best, w->mean[i]);
    return best;
}

static void shifts_of_the_papers(void **state)
{
    struct gbose__world *w[8] = {
        new_world("paper:shift=zero", 1, 0),
        new_world("paper:shift=log-sine", 1, 0),
        new_world("paper:shift=cos-best", 1, 0),
        new_world("kim-paik:shift=zero", 1, 0),
        new_world("kim-paik:shift=minus-best", 1, 0),
        new_world("kim-paik:shift=log", 1, 0),
        new_world("krishnamurthy:arms=5", 1, 0),
        new_world("krishnamurthy:arms=5,features=dirichlet", 1, 0),
    };

    (void)state;
    for (int n = 1; n <= 20000; n++) {
        double t = n;
        for (size_t i = 0; i < 8; i++)
            gbose__world_next(w[i]);
        assert_true(w[0]->shift == 0 && w[3]->shift == 0);
        assert_near(w[1]->shift, log2(t + 1) * pow(sin(0.0005 * t), 2) + pow(t, 0.25), 1e-13);
        assert_near(w[2]->shift, -cos(0.0005 * t) * sqrt(fabs(largest_mean(w[2]))), 1e-13);
        assert_near(w[4]->shift, -largest_mean(w[4]), 0);
        assert_near(w[5]->shift, log(t + 1), 1e-13);
        assert_near(w[6]->shift, -largest_mean(w[6]), 0);
        assert_near(w[7]->shift, -largest_mean(w[7]), 0);
    }
    for (size_t i = 0; i < 8; i++)
        gbose__world_free(w[i]);
}

static void shift_season(void **state)
{
    struct gbose__world *w = new_world("gallery:shift=season,scale=3,day=24", 1, 0);

    (void)state;
    for (int t = 1; t <= 5000; t++) {
        gbose__world_next(w);
        assert_near(w->shift, 3 * (0.6 * sin(2 * PI * t / 24) + 0.4 * sin(2 * PI * t / 168)), 1e-11);
    }
    gbose__world_free(w);
}

static void shift_random_walk(void **state)
{
    enum { N = 100000 };
    static double step[N];
    struct gbose__world *w = new_world("gallery:shift=random-walk,scale=3,arms=2,dim=1", 1, 0);
    double last = 0, squares = 0;

    (void)state;
    for (size_t t = 0; t < N; t++) {
        gbose__world_next(w);
        step[t] = (w->shift - last) / 0.03;
        squares += step[t] * step[t];
        last = w->shift;
    }
    assert_law(step, N, stats_normal_cdf);
    assert_mean(squares / N, 1, sqrt(2), N);
    gbose__world_free(w);
}

static void shift_jumps(void **state)
{
    enum { N = 200000 };
    static double level[N];
    struct gbose__world *w = new_world("gallery:shift=jumps,scale=3,arms=2,dim=1", 1, 0);
    double last = NAN;
    size_t jumps = 0;

    (void)state;
    for (size_t t = 0; t < N; t++) {
        gbose__world_next(w);
        if (w->shift != last)
            level[jumps++] = (w->shift / 3 + 1) / 2;
        last = w->shift;
    }
    assert_mean((double)jumps / N, 0.005, sqrt(0.005), N);
    assert_law(level, jumps, uniform_cdf);
    gbose__world_free(w);
}

/* With one feature the direction w is 1 or -1, and all else of the formula can be seen from outside. */
static void shift_context_sine(void **state)
{
    struct gbose__world *w = new_world("gallery:shift=context-sine,scale=3,day=10,arms=3,dim=1", 1, 0);
    double sign = 0;

    (void)state;
    for (int t = 1; t <= 2000; t++) {
        double q, expected;
        gbose__world_next(w);
        q = (w->contexts[0] + w->contexts[1] + w->contexts[2]) / sqrt(3);
        expected = 3 * sin(2 * PI * t / 1000) * sin(PI / 2 * sqrt(3) * q);
        if (t == 1)
            sign = w->shift * expected > 0 ? 1 : -1;
        assert_near(w->shift, sign * expected, 1e-11);
    }
    gbose__world_free(w);
}

static void shift_reward_driven(void **state)
{
    struct gbose__world *w = new_world("gallery:shift=reward-driven,scale=3,noise=0.4", 1, 0);
    double average = 0;

    (void)state;
    for (size_t t = 1; t <= 3000; t++) {
        size_t arm = t % 10;
        double v = -3 * average;
        gbose__world_next(w);
        assert_near(w->shift, v, 1e-12);
        average = 0.95 * average + 0.05 * (gbose__world_play(w, arm, NULL) - w->shift);
    }
    gbose__world_free(w);
}

/* What is in the block of every arm but arm 0: the user, and v is a function of nothing else. */
static void users_are_shown_and_decide_v(void **state)
{
    static const char *const shifts[] = {"user-sine", "user-tree", "user-product", "user-exp", "user-uplift"};
    enum { ROUNDS = 20000, D = 4 };
    static double x[ROUNDS * (D - 1)];

    (void)state;
    for (size_t i = 0; i < sizeof shifts / sizeof *shifts; i++) {
        char spec[120];
        struct gbose__world *w, *other;
        double v = 0, v2 = 0;

        snprintf(spec, sizeof spec, "gallery:contexts=shared,arms=3,dim=4,scale=3,shift=%s", shifts[i]);
        w = new_world(spec, 5, 1);
        snprintf(spec, sizeof spec, "gallery:contexts=shared,arms=3,dim=4,scale=6,shift=%s,walk=2",
                 shifts[i]);
        other = new_world(spec, 5, 1);
        for (size_t t = 0; t < ROUNDS; t++) {
            const double *b = w->contexts;

            gbose__world_next(w);
            gbose__world_next(other);
            assert_true(length(b, 2 * D) == 0 && length(b + 3 * D, D) == 0 && length(b + 4 * D, D) == 0);
            assert_true(b[2 * D] == 1);
            assert_memory_equal(b + 2 * D, b + 5 * D, D * sizeof *b);
            for (size_t j = 0; j < D - 1; j++)
                x[t * (D - 1) + j] = 2 * b[2 * D + 1 + j];
            if (t == 0) /* the walk has just begun */
                assert_near(other->shift, 2 * w->shift, 0.1);
            v += w->shift / ROUNDS;
            v2 += w->shift * w->shift / ROUNDS;
        }
        assert_law(x, ROUNDS * (D - 1), stats_normal_cdf);
        assert_true(sqrt(v2 - v * v) > 0.3 * 3 && sqrt(v2 - v * v) < 3 * 3);
        gbose__world_free(w);
        gbose__world_free(other);
    }
}

/* With two features one normal is left, and the functions can be seen from outside: v / scale as a
 * function of u. */
static void functions_of_the_user(void **state)
{
    struct gbose__world *product =
        new_world("gallery:contexts=shared,dim=2,shift=user-product,scale=2", 3, 0);
    struct gbose__world *spend = new_world("gallery:contexts=shared,dim=2,shift=user-exp,scale=2", 3, 0);
    struct gbose__world *tree = new_world("gallery:contexts=shared,dim=2,shift=user-tree,scale=2", 3, 0);
    double values[8], sign = 0, g = 0;
    size_t n = 0;

    (void)state;
    for (int t = 0; t < 2000; t++) {
        double u, expected;
        size_t k = 0;

        gbose__world_next(product);
        gbose__world_next(spend);
        gbose__world_next(tree);
        u = 2 * product->contexts[product->dim + 1];
        sign = t ? sign : copysign(1, product->shift);
        assert_near(product->shift, 2 * sign * u * u, 1e-9);
        u = 2 * spend->contexts[spend->dim + 1];
        g = t ? g : (spend->shift > 2 * (1 - exp(0.5)) / sqrt(exp(2) - exp(1))) == (u > 0) ? 1 : -1;
        expected = (exp(g * u) - exp(0.5)) / sqrt(exp(2) - exp(1));
        assert_near(spend->shift, 2 * expected, 1e-5 * (1 + fabs(expected)));
        assert_true(fabs(tree->shift) <= 2 * 1.7);
        while (k < n && values[k] != tree->shift)
            k++;
        if (k == n) {
            assert_true(n < 8);
            values[n++] = tree->shift;
        }
    }
    assert_true(n > 1);
    gbose__world_free(product);
    gbose__world_free(spend);
    gbose__world_free(tree);
}

/* v is taken out of the reward, and all else is as it was. */
static void known_takes_v_out(void **state)
{
    struct gbose__world *w = new_world("gallery:contexts=shared,shift=user-sine,walk=2", 4, 0);
    struct gbose__world *known = new_world("gallery:contexts=shared,shift=user-sine,walk=2,known=1", 4, 0);

    (void)state;
    for (int t = 0; t < 100; t++) {
        gbose__world_next(w);
        gbose__world_next(known);
        assert_true(known->shift == 0 && w->shift != 0);
        assert_near(gbose__world_play(w, 3, NULL) - w->shift, gbose__world_play(known, 3, NULL), 1e-12);
    }
    gbose__world_free(w);
    gbose__world_free(known);
}

static void clicks_have_their_rate(void **state)
{
    enum { N = 200000 };
    struct gbose__world *w = new_world("gallery:shift=zero,clicks=0.08,arms=3", 4, 0);
    double clicks = 0, expected = 0, covariance = 0, variance = 0;

    (void)state;
    for (int t = 0; t < N; t++) {
        double mean, reward, regret;

        gbose__world_next(w);
        mean = w->mean[1] / 0.08; /* b'mu: its length is at most that of b */
        assert_true(fabs(mean) <= 1);
        reward = gbose__world_play(w, 1, &regret);
        assert_true(reward == 0 || reward == 1);
        assert_near(regret, gbose__world_best(w) - w->mean[1], 1e-15);
        clicks += reward;
        expected += 0.08 * (1 + mean);
        covariance += mean * (reward - 0.08);
        variance += mean * mean;
    }
    assert_mean(clicks / N, expected / N, 0.28, N);
    assert_near(covariance / variance, 0.08, 5 * 0.28 / sqrt(variance));
    gbose__world_free(w);
}

static void quiet_rewards_are_all_zero(void **state)
{
    struct gbose__world *w = new_world("gallery:quiet=7", 4, 0);

    (void)state;
    for (int t = 1; t <= 20; t++) {
        gbose__world_next(w);
        assert_int_equal(gbose__world_play(w, 2, NULL) == 0, t <= 7);
    }
    gbose__world_free(w);
}

/* The offset is normal, the same for all arms, and moves neither rewards nor regret. */
static void an_offset_is_added_to_all_arms(void **state)
{
    enum { N = 4000, ARMS = 3, DIM = 4 };
    struct gbose__world *w = new_world("gallery:arms=3,dim=4,shift=context-sine", 4, 0);
    struct gbose__world *moved = new_world("gallery:arms=3,dim=4,shift=context-sine,offset=2.5", 4, 0);
    double sum = 0, squares = 0;

    (void)state;
    for (int t = 0; t < N; t++) {
        double regret[2];

        gbose__world_next(w);
        gbose__world_next(moved);
        for (size_t j = 0; j < DIM; j++) {
            double offset = moved->contexts[j] - w->contexts[j];

            for (size_t i = 1; i < ARMS; i++)
                assert_near(moved->contexts[i * DIM + j] - w->contexts[i * DIM + j], offset, 1e-14);
            sum += offset;
            squares += offset * offset;
        }
        assert_true(gbose__world_play(w, 1, &regret[0]) == gbose__world_play(moved, 1, &regret[1]));
        assert_true(regret[0] == regret[1]);
    }
    assert_mean(sum / (N * DIM), 0, 2.5, N * DIM);
    assert_mean(squares / (N * DIM), 6.25, 6.25 * sqrt(2), N * DIM);
    gbose__world_free(w);
    gbose__world_free(moved);
}

/* The gallery's v moves rewards much more than its arms do. */
static void gallery_confounds(void **state)
{
    static const char *const shifts[] = {"random-walk", "jumps", "season", "context-sine", "reward-driven"};

    (void)state;
    for (size_t i = 0; i < sizeof shifts / sizeof *shifts; i++) {
        char spec[80];
        struct gbose__world *w;
        double v = 0, v2 = 0, mean2 = 0;

        snprintf(spec, sizeof spec, "gallery:shift=%s", shifts[i]);
        w = new_world(spec, 5, 0);
        for (int t = 0; t < 10000; t++) {
            size_t best = 0;
            gbose__world_next(w);
            v += w->shift / 10000;
            v2 += w->shift * w->shift / 10000;
            mean2 += w->mean[0] * w->mean[0] / 10000;
            for (size_t a = 1; a < w->n_arms; a++)
                best = w->mean[a] > w->mean[best] ? a : best;
            gbose__world_play(w, t % 1000 < 500 ? best : 0, NULL);
        }
        assert_true(sqrt(v2 - v * v) > 3 * sqrt(mean2));
        gbose__world_free(w);
    }
}

/* ---- heartsteps ---- */

static double presteps_cdf(double x)
{
    return (stats_normal_cdf((x - 20) / 50) - stats_normal_cdf(-0.4)) / stats_normal_cdf(0.4);
}

/* The published model from the outside: day from the round, l from the context, the previous outcome as it
 * was played; what is left of v must be 0.403241 p with p of the stated law. */
static void heartsteps_is_the_published_model(void **state)
{
    enum { N = 525000 }; /* 2500 users */
    static double steps[N];
    struct gbose__world *w = new_world("heartsteps", 31, 0), *other = new_world("heartsteps", 31, 1);
    double previous = 0, presteps = 0;
    size_t home = 0, available = 0, none = 0, walked = 0, lowest = 0, highest = 0, other_home = 0;

    (void)state;
    assert_near(w->low, log(0.5), 1e-15);
    assert_true(w->high == 8.5);
    for (size_t t = 0; t < N; t++) {
        double day = (double)(t % 210 / 5), l, effect, p, reward, regret;
        const double *b = w->contexts;
        size_t arm;

        gbose__world_next(w);
        gbose__world_next(other);
        if (t % 210 == 0)
            previous = 0;
        available += w->n_arms == 2;
        l = b[5] > 0;
        home += b[5] > 0;
        other_home += (b[5] > 0) == (other->contexts[5] > 0);
        effect = 0.442889 - 0.017908 * day + 0.101423 * l;
        assert_true(b[0] == 0 && b[1] == 0 && b[2] == 0 && w->mean[0] == 0);
        if (w->n_arms == 2) {
            assert_near(b[3] * sqrt(3), 1, 1e-15);
            assert_near(b[4] * sqrt(3), day / 42, 1e-15);
            assert_near(b[5] * sqrt(3), l, 1e-15);
            assert_near(w->mean[1], effect, 1e-14);
        }
        p = (w->shift - (1.755916 + 0.063676 * previous - 0.009488 * day + 0.119917 * l - 0.6 * effect)) /
            0.403241;
        if (p < log(0.5) + 1e-9)
            none++;
        else
            presteps += steps[walked++] = exp(p) - 0.5;
        assert_true(p > log(0.5) - 1e-9 && p <= 8.5);
        arm = t * t % 3 % w->n_arms;
        reward = gbose__world_play(w, arm, &regret);
        assert_near(reward, fmin(8.5, fmax(log(0.5), w->shift + w->noise + (arm ? effect : 0))), 1e-14);
        assert_near(regret, w->n_arms == 1 ? 0 : fmax(0, effect) - (arm ? effect : 0), 1e-14);
        previous = reward;
        lowest += reward == w->low;
        highest += reward == w->high;
    }
    assert_mean((double)home / N, 0.3624668, sqrt(0.3624668 * 0.6375332), N);
    assert_mean((double)available / N, 0.8038462, sqrt(0.8038462 * 0.1961538), N);
    assert_mean((double)none / N, stats_normal_cdf(-0.4), 0.5, N);
    assert_law(steps, walked, presteps_cdf);
    /* E max(N(20, 50^2), 0) = 20 Phi(0.4) + 50 phi(0.4); its sd is below 35 */
    assert_mean(presteps / N, 20 * stats_normal_cdf(0.4) + 50 * exp(-0.08) / sqrt(2 * PI), 35, N);
    assert_true(lowest > N / 20 && highest > N / 100);
    /* two repetitions agree in l as often as independent ones */
    assert_mean((double)other_home / N, 0.3624668 * 0.3624668 + 0.6375332 * 0.6375332, 0.5, N);
    gbose__world_free(w);
    gbose__world_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shifts_of_the_papers),
        cmocka_unit_test(shift_season),
        cmocka_unit_test(shift_random_walk),
        cmocka_unit_test(shift_jumps),
        cmocka_unit_test(shift_context_sine),
        cmocka_unit_test(shift_reward_driven),
        cmocka_unit_test(users_are_shown_and_decide_v),
        cmocka_unit_test(functions_of_the_user),
        cmocka_unit_test(known_takes_v_out),
        cmocka_unit_test(clicks_have_their_rate),
        cmocka_unit_test(quiet_rewards_are_all_zero),
        cmocka_unit_test(an_offset_is_added_to_all_arms),
        cmocka_unit_test(gallery_confounds),
        cmocka_unit_test(heartsteps_is_the_published_model),
    };

    return cmocka_run_group_tests_name("shifts of worlds", tests, NULL, NULL);
}
