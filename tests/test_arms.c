/* The pruned filter and farthest pair against the plain ones, bit for bit and with every instruction set,
 * and both against the definition in long double where rounding does not decide. */
#include "support/check.h"
#include "support/clouds.h"
#include "support/kernels_other.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/arms.h"
#include "core/kernels.h"
#include "core/memory.h"
#include "core/ridge.h"
#include "gbose.h"

struct set {
    size_t n, dim, stride;
    double *points, *score;
    size_t *keep, *plain;
    struct gbose__arms scratch;
};

static void set_init(struct set *s, size_t n, size_t dim)
{
    s->n = n;
    s->dim = dim;
    s->stride = gbose__pad(dim);
    s->points = gbose__alloc(n, s->stride * sizeof(double));
    s->score = calloc(3 * n, sizeof(double));
    s->scratch.radius = s->score + n;
    s->scratch.square = s->score + 2 * n;
    s->scratch.centre = gbose__alloc(s->stride, sizeof(double));
    s->scratch.tiles = gbose__alloc(gbose__arms_tiles(n, s->stride), sizeof(float));
    s->keep = calloc(3 * n, sizeof(size_t));
    s->plain = s->keep + n;
    s->scratch.order = s->plain + n;
}

/* All arms through the filter. */
static size_t filter(struct set *s, double gamma)
{
    for (size_t i = 0; i < s->n; i++)
        s->keep[i] = i;
    return gbose__arms_filter(s->keep, s->n, &s->scratch, s->points, s->score, s->stride, gamma);
}

static void set_clear(struct set *s)
{
    gbose__free(s->points);
    gbose__free(s->scratch.centre);
    gbose__free(s->scratch.tiles);
    free(s->score);
    free(s->keep);
}

static long double distance(const struct set *s, size_t i, size_t j)
{
    return sqrtl(cloud_distance2(s->points + i * s->stride, s->points + j * s->stride, s->dim));
}

/* A double's error in a distance: see slack() in src/core/arms.c; squares below 1e-300 are lost. */
#define RELATIVE 1e-13L
#define ABSOLUTE 1e-150L

/* Who must stay and who must go, whatever rounding does. */
static void filter_obeys_definition(const struct set *s, size_t count, double gamma)
{
    for (size_t i = 0, c = 0; i < s->n; i++) {
        int must_go = 0, may_go = 0, kept = c < count && s->keep[c] == i;

        for (size_t j = 0; j < s->n; j++) {
            long double lead = (long double)s->score[j] - s->score[i], d = distance(s, i, j);
            long double error = gamma * (RELATIVE * d + ABSOLUTE) + RELATIVE * fabsl(lead);
            must_go |= lead > gamma * d + error;
            may_go |= lead > gamma * d - error && lead > 0;
        }
        assert_true(!(kept && must_go));
        assert_true(kept || may_go);
        c += (size_t)kept;
    }
}

static void check_set(struct set *s, double gamma)
{
    size_t count = filter(s, gamma), k = 0, l = 0, pk = 0, pl = 0;

    assert_int_equal(count, gbose__arms_filter_plain(s->plain, s->points, s->score, s->n, s->stride, gamma));
    assert_memory_equal(s->keep, s->plain, count * sizeof(size_t));
    assert_true(count >= 1);
    filter_obeys_definition(s, count, gamma);

    /* the farthest pair of the survivors, and of all */
    for (int all = 0; all < 2; all++) {
        if (all)
            for (count = 0; count < s->n; count++)
                s->keep[count] = count;
        if (count < 2)
            continue;
        gbose__arms_farthest_pair(&k, &l, &s->scratch, s->points, s->keep, count, s->stride);
        gbose__arms_farthest_pair_plain(&pk, &pl, s->points, s->keep, count, s->stride);
        assert_int_equal(k, pk);
        assert_int_equal(l, pl);
        assert_true(k < l);
        for (size_t a = 0; a < count; a++)
            for (size_t b = 0; b < a; b++)
                assert_true(distance(s, s->keep[a], s->keep[b]) <=
                            distance(s, k, l) * (1 + RELATIVE) + ABSOLUTE);
    }
}

static void pruning_returns_what_brute_force_returns(void **state)
{
    static const double gammas[] = {1e-12, 0.05, 0.5, 1, 2, 1e12};
    struct random r = {42};
    size_t removed = 0, several = 0;

    (void)state;
    for (int t = 0; t < 12000; t++) {
        size_t dim = 1 + random_below(&r, 20);
        double gamma = gammas[random_below(&r, 6)];
        struct set s;

        set_init(&s, 1 + random_below(&r, t % 4 ? 12 : 48), dim);
        cloud_points(&r, (size_t)t % CLOUD_KINDS, s.points, s.n, dim, s.stride);
        cloud_scores(&r, (size_t)t / CLOUD_KINDS % SCORE_KINDS, s.score, s.points, s.n, s.stride, gamma);
        check_set(&s, gamma);
        removed += filter(&s, gamma) < s.n;
        several += filter(&s, gamma) > 2;
        set_clear(&s);
    }
    assert_true(removed > 1000 && several > 1000);
}

/* Large sets, where nearly everything is pruned. */
static void large_sets(void **state)
{
    struct random r = {43};

    (void)state;
    for (size_t kind = 0; kind < CLOUD_KINDS; kind++) {
        struct set s;

        set_init(&s, 300, 6);
        cloud_points(&r, kind, s.points, s.n, s.dim, s.stride);
        cloud_scores(&r, 2, s.score, s.points, s.n, s.stride, 0.8);
        check_set(&s, 0.8);
        set_clear(&s);
    }
}

/* More than fit into one tile, or just as many, and coordinates beyond a few vectors. Wide confidence sets
 * let nearly all arms survive, so that every pair of them is asked about. */
static void tiles_return_what_brute_force_returns(void **state)
{
    static const size_t sizes[] = {33, 63, 64, 65, 128, 200}, dims[] = {1, 7, 24, 64};
    static const double gammas[] = {0.05, 0.6, 1.5, 4};
    struct random r = {45};
    size_t nearly_all = 0, some = 0;

    (void)state;
    for (size_t t = 0; t < 6 * 4 * CLOUD_KINDS; t++) {
        struct set s;
        double gamma = gammas[random_below(&r, 4)];
        size_t count;

        set_init(&s, sizes[t % 6], dims[t / 6 % 4]);
        cloud_points(&r, t / 24, s.points, s.n, s.dim, s.stride);
        cloud_scores(&r, random_below(&r, SCORE_KINDS), s.score, s.points, s.n, s.stride, gamma);
        check_set(&s, gamma);
        count = filter(&s, gamma);
        nearly_all += count > s.n * 9 / 10;
        some += count > 2 && count < s.n / 2;
        set_clear(&s);
    }
    assert_true(nearly_all > 40 && some > 20);
}

/* Arms whose images were never formed are those that the plain filter removes with all images formed, and
 * the others do not miss them. */
static void suspects_are_enough(void **state)
{
    static const double gammas[] = {0.01, 0.3, 3};
    struct random r = {46};
    size_t spared = 0, all = 0;

    (void)state;
    for (size_t t = 0; t < 3000; t++) {
        size_t dim = 1 + random_below(&r, 30), n = 2 + random_below(&r, t % 10 ? 15 : 80), count;
        double gamma = gammas[random_below(&r, 3)];
        struct gbose__ridge m;
        struct set context, s;

        assert_int_equal(gbose__ridge_init(&m, dim, 2.5, t % 3 ? 1 : 0.9), GBOSE_OK);
        for (size_t k = random_below(&r, 70); k > 0; k--) {
            gbose__ridge_begin(&m);
            for (size_t i = 0; i < dim; i++)
                m.x[i] = random_normal(&r) * (i % 2 ? 1 : 3);
            gbose__ridge_term(&m, m.x, 1, random_normal(&r));
        }
        set_init(&context, n, dim);
        set_init(&s, n, dim);
        cloud_points(&r, t % CLOUD_KINDS, context.points, n, dim, s.stride);
        gbose__ridge_apply(&m, s.points, context.points, NULL, n);
        if (t % 2) /* as a learner's scores are */
            gbose__kernels->dots(s.score, context.points, m.mu, n, s.stride);
        else
            cloud_scores(&r, t / 2 % SCORE_KINDS, s.score, s.points, n, s.stride, gamma);
        count =
            gbose__arms_suspects(s.keep, &s.scratch, context.points, s.score, n, s.stride, gamma, m.reach);
        assert_in_range(count, 1, n);
        spared += n - count;
        all += n;
        count = gbose__arms_filter(s.keep, count, &s.scratch, s.points, s.score, s.stride, gamma);
        assert_int_equal(count, gbose__arms_filter_plain(s.plain, s.points, s.score, n, s.stride, gamma));
        assert_memory_equal(s.keep, s.plain, count * sizeof(size_t));
        set_clear(&context);
        set_clear(&s);
        gbose__ridge_clear(&m);
    }
    assert_true(spared > all / 10 && spared < all);
}

/* On an axis with integer coordinates and scores gamma times them, lead = gamma distance for all pairs,
 * exactly: the rule says <=, so every arm stays. One unit more in a score and arms fall. */
static void equality_keeps(void **state)
{
    static const double gammas[] = {0.5, 1, 3, 0x1p-30};
    struct random r = {44};

    (void)state;
    for (size_t g = 0; g < 4; g++) {
        struct set s;

        set_init(&s, 40, 3);
        cloud_points(&r, 10, s.points, s.n, s.dim, s.stride);
        cloud_scores(&r, 4, s.score, s.points, s.n, s.stride, gammas[g]);
        assert_int_equal(filter(&s, gammas[g]), s.n);
        check_set(&s, gammas[g]);
        s.score[7] = nextafter(s.score[gbose__arms_argmax(s.score, s.n)] + 100 * gammas[g], INFINITY);
        assert_true(filter(&s, gammas[g]) < s.n);
        check_set(&s, gammas[g]);
        set_clear(&s);
    }
}

/* The leader alone does not decide. With gamma 0.5 it leads arm 1 by 2.5 <= 2.66 and arm 2 by 3.3 <= 3.36,
 * but arm 1 leads arm 2 by 0.8 > 0.71. */
static void the_second_best_beats_others_too(void **state)
{
    struct set s;

    (void)state;
    set_init(&s, 3, 2);
    s.points[1 * s.stride] = 3.5;
    s.points[1 * s.stride + 1] = 4;
    s.points[2 * s.stride] = 4.5;
    s.points[2 * s.stride + 1] = 5;
    s.score[0] = 10;
    s.score[1] = 7.5;
    s.score[2] = 6.7;
    assert_int_equal(filter(&s, 0.5), 2);
    assert_int_equal(s.keep[0], 0);
    assert_int_equal(s.keep[1], 1);
    set_clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pruning_returns_what_brute_force_returns),
        cmocka_unit_test(large_sets),
        cmocka_unit_test(tiles_return_what_brute_force_returns),
        cmocka_unit_test(suspects_are_enough),
        cmocka_unit_test(equality_keeps),
        cmocka_unit_test(the_second_best_beats_others_too),
    };

    static const char *const isas[] = {"avx512", "avx2", "baseline"};
    int failed = 0;

    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++)
        if (gbose__kernels_use(isas[i]))
            failed += cmocka_run_group_tests_name(isas[i], tests, NULL, NULL);
    gbose__kernels = &kernels_narrow;
    failed += cmocka_run_group_tests_name("narrow", tests, NULL, NULL);
    gbose__kernels = &kernels_wide;
    failed += cmocka_run_group_tests_name("wide", tests, NULL, NULL);
    return failed;
}
