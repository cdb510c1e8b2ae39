/* The pruned filter and farthest pair against the plain ones, bit for bit, and both against the definition in
 * long double where rounding does not decide. */
#include "support/check.h"
#include "support/clouds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/arms.h"
#include "core/memory.h"

struct set {
    size_t n, dim, stride;
    double *points, *score, *radius, *centre;
    size_t *keep, *plain, *order;
};

static void set_init(struct set *s, size_t n, size_t dim)
{
    s->n = n;
    s->dim = dim;
    s->stride = gbose__pad(dim);
    s->points = gbose__alloc(n, s->stride * sizeof(double));
    s->score = calloc(2 * n, sizeof(double));
    s->radius = s->score + n;
    s->centre = gbose__alloc(s->stride, sizeof(double));
    s->keep = calloc(3 * n, sizeof(size_t));
    s->plain = s->keep + n;
    s->order = s->plain + n;
}

static void set_clear(struct set *s)
{
    gbose__free(s->points);
    gbose__free(s->centre);
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
    size_t count = gbose__filter(s->keep, s->radius, s->points, s->score, s->n, s->stride, gamma), k = 0,
           l = 0, pk = 0, pl = 0;

    assert_int_equal(count, gbose__filter_plain(s->plain, s->points, s->score, s->n, s->stride, gamma));
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
        gbose__farthest_pair(&k, &l, s->radius, s->order, s->centre, s->points, s->keep, count, s->stride);
        gbose__farthest_pair_plain(&pk, &pl, s->points, s->keep, count, s->stride);
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
        removed += gbose__filter(s.keep, s.radius, s.points, s.score, s.n, s.stride, gamma) < s.n;
        several += gbose__filter(s.keep, s.radius, s.points, s.score, s.n, s.stride, gamma) > 2;
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

/* On an axis with integer coordinates and scores gamma times them, lead = gamma distance for all pairs, exactly:
 * the rule says <=, so every arm stays. One unit more in a score and arms fall. */
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
        assert_int_equal(gbose__filter(s.keep, s.radius, s.points, s.score, s.n, s.stride, gammas[g]), s.n);
        check_set(&s, gammas[g]);
        s.score[7] = nextafter(s.score[gbose__argmax(s.score, s.n)] + 100 * gammas[g], INFINITY);
        assert_true(gbose__filter(s.keep, s.radius, s.points, s.score, s.n, s.stride, gammas[g]) < s.n);
        check_set(&s, gammas[g]);
        set_clear(&s);
    }
}

/* The leader alone does not decide. With gamma 0.5 it leads arm 1 by 2.5 <= 2.66 and arm 2 by 3.3 <= 3.36, but
 * arm 1 leads arm 2 by 0.8 > 0.71. */
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
    assert_int_equal(gbose__filter(s.keep, s.radius, s.points, s.score, 3, s.stride, 0.5), 2);
    assert_int_equal(s.keep[0], 0);
    assert_int_equal(s.keep[1], 1);
    set_clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pruning_returns_what_brute_force_returns),
        cmocka_unit_test(large_sets),
        cmocka_unit_test(equality_keeps),
        cmocka_unit_test(the_second_best_beats_others_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
