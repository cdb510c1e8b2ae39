/* Random streams: Philox's published answers, and the laws of what is made from it. Each statistical check
 * has error probability 1e-6; seeds are fixed. */
#include "support/check.h"
#include "support/kernels_other.h"
#include "support/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernels.h"
#include "core/normal.h"
#include "core/rng.h"

/* philox4x32-10 in Random123's kat_vectors. */
static void known_answers(void **state)
{
    static const struct {
        uint32_t counter[4], key[2], block[4];
    } kat[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct gbose__rng rng;

        gbose__rng_init(&rng, 0, 0, 0, 0);
        memcpy(rng.counter, kat[i].counter, sizeof rng.counter);
        memcpy(rng.key, kat[i].key, sizeof rng.key);
        assert_true(gbose__rng_u64(&rng) == ((uint64_t)kat[i].block[1] << 32 | kat[i].block[0]));
        assert_true(gbose__rng_u64(&rng) == ((uint64_t)kat[i].block[3] << 32 | kat[i].block[2]));
    }
}

/* The names of streams reach every bit of key and counter. */
static void names_become_counters(void **state)
{
    struct gbose__rng rng;

    (void)state;
    gbose__rng_init(&rng, 0, 0, 0, 0);
    assert_true(gbose__rng_u64(&rng) == UINT64_C(0xe169c58d6627e8d5));
    gbose__rng_init(&rng, UINT64_C(0x299f31d0a4093822), 0x03707344, 0x2e, UINT64_C(0x13198a85a308d3));
    rng.counter[0] = 0x243f6a88;
    assert_true(gbose__rng_u64(&rng) == UINT64_C(0x94fdccebd16cfe09));
}

static int by_value(const void *a, const void *b)
{
    uint64_t x, y;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

/* Different names give different numbers: 2^64 values, 25000 draws, a chance meeting has probability
 * 2e-11. */
static void streams_are_distinct(void **state)
{
    enum { NAMES = 6 * 6 * 5 * 70, EACH = 2 };
    const uint64_t seeds[] = {0, 1, 2, UINT64_C(1) << 32, UINT64_MAX, 12345}, high = UINT64_C(1) << 55;
    const uint32_t streams[] = {0, 1, 2, 256, 65536, UINT32_MAX};
    uint64_t *drawn = calloc(NAMES * EACH, sizeof *drawn);
    size_t n = 0;

    (void)state;
    for (size_t a = 0; a < 6; a++)
        for (size_t b = 0; b < 6; b++)
            for (unsigned purpose = 0; purpose < 5; purpose++)
                for (uint64_t number = 0; number < 70; number++) {
                    struct gbose__rng rng;
                    gbose__rng_init(&rng, seeds[a], streams[b], purpose,
                                    number < 60 ? number : high + number);
                    for (int k = 0; k < EACH; k++)
                        drawn[n++] = gbose__rng_u64(&rng);
                }
    assert_int_equal(n, NAMES * EACH);
    qsort(drawn, n, sizeof *drawn, by_value);
    for (size_t i = 1; i < n; i++)
        assert_true(drawn[i - 1] != drawn[i]);
    free(drawn);
}

/* The n-th number of a stream, or the first of the n-th stream: both must look random. */
static double next(struct gbose__rng *rng, size_t i, int across, double (*draw)(struct gbose__rng *))
{
    if (across)
        gbose__rng_init(rng, 77, 3, GBOSE__DRAW, i);
    return draw(rng);
}

enum { DRAWS = 400000 };

static void check_fit(const double *observed, size_t bins)
{
    double *expected = calloc(bins, sizeof *expected);
    struct stats_chi2 chi2;

    for (size_t i = 0; i < bins; i++)
        expected[i] = DRAWS / (double)bins;
    chi2 = stats_fit(observed, expected, bins);
    assert_that(stats_tail(&chi2) > 1e-6 && stats_tail(&chi2) < 1 - 1e-6,
                "chi-square %g, %g degrees of freedom", chi2.sum, chi2.df);
    free(expected);
}

static void uniforms(void **state)
{
    (void)state;
    for (int across = 0; across < 2; across++) {
        static double ones[256], low[256], pairs[256];
        struct gbose__rng rng;
        double last = 0.5, sum = 0, squares = 0;

        memset(ones, 0, sizeof ones);
        memset(low, 0, sizeof low);
        memset(pairs, 0, sizeof pairs);
        gbose__rng_init(&rng, 5, 0, GBOSE__WORLD, 9);
        for (size_t i = 0; i < DRAWS; i++) {
            double u = next(&rng, i, across, gbose__rng_uniform), high = floor(u * 0x1p45);

            assert_true(u >= 0 && u < 1);
            ones[(size_t)(u * 256)]++;
            low[(size_t)(u * 0x1p53 - high * 256)]++; /* the eight lowest bits */
            pairs[(size_t)(last * 16) * 16 + (size_t)(u * 16)]++;
            sum += u;
            squares += u * u;
            last = u;
        }
        check_fit(ones, 256);
        check_fit(low, 256);
        check_fit(pairs, 256);
        /* 4.9 standard errors: 1e-6, both sides */
        assert_near(sum / DRAWS, 0.5, 4.9 * sqrt(1.0 / 12 / DRAWS));
        assert_near(squares / DRAWS, 1.0 / 3, 4.9 * sqrt(4.0 / 45 / DRAWS));
    }
}

static void normals(void **state)
{
    (void)state;
    for (int across = 0; across < 2; across++) {
        static double bins[128], pairs[256];
        struct gbose__rng rng;
        double moment[5] = {0}, last = 0.5;

        memset(bins, 0, sizeof bins);
        memset(pairs, 0, sizeof pairs);
        gbose__rng_init(&rng, 6, 1, GBOSE__WORLD, 4);
        for (size_t i = 0; i < DRAWS; i++) {
            double z = next(&rng, i, across, gbose__rng_normal), u = stats_normal_cdf(z), power = 1;

            bins[(size_t)(u * 128)]++;
            pairs[(size_t)(last * 16) * 16 + (size_t)(u * 16)]++;
            for (int k = 1; k <= 4; k++)
                moment[k] += (power *= z) / DRAWS;
            last = u;
        }
        check_fit(bins, 128);
        check_fit(pairs, 256);
        /* the variances of z, z^2, z^3, z^4 are 1, 2, 15, 96; 4.9 standard errors: 1e-6 */
        assert_near(moment[1], 0, 4.9 * sqrt(1.0 / DRAWS));
        assert_near(moment[2], 1, 4.9 * sqrt(2.0 / DRAWS));
        assert_near(moment[3], 0, 4.9 * sqrt(15.0 / DRAWS));
        assert_near(moment[4], 3, 4.9 * sqrt(96.0 / DRAWS));
    }
}

/* Many normals at once are those that come one after the other, and leave the stream where these do. */
static void check_normals_at_once(void)
{
    for (size_t n = 0; n < 1000; n += n < 40 ? 1 : 131) {
        struct gbose__rng a, b;
        double z[1000];

        gbose__rng_init(&a, 8, 1, GBOSE__SCORES, n);
        gbose__rng_init(&b, 8, 1, GBOSE__SCORES, n);
        gbose__rng_normals(&a, z, n);
        for (size_t i = 0; i < n; i++)
            assert_true(z[i] == gbose__rng_normal(&b));
        assert_true(gbose__rng_u64(&a) == gbose__rng_u64(&b));
    }
}

/* Rough normals are near the quantiles of the words they are made from, whatever the number, and use up
 * whole blocks. */
static void check_rough_normals(void)
{
    for (size_t blocks = 0; blocks < 300; blocks += blocks < 20 ? 1 : 37) {
        struct gbose__rng a, b;
        double z[4 * 300];

        gbose__rng_init(&a, 9, 2, GBOSE__SCORES, blocks);
        gbose__rng_init(&b, 9, 2, GBOSE__SCORES, blocks);
        gbose__rng_rough_normals(&a, z, 4 * blocks);
        for (size_t begin = 0; begin < blocks; begin += GBOSE__ROUGH_BLOCKS) {
            size_t size = blocks - begin < GBOSE__ROUGH_BLOCKS ? blocks - begin : GBOSE__ROUGH_BLOCKS;

            for (size_t i = 0; i < size; i++)
                for (size_t half = 0; half < 2; half++) {
                    uint64_t u = gbose__rng_u64(&b);
                    for (size_t k = 0; k < 2; k++, u >>= 32) {
                        double p = 0.5 + ((double)(int32_t)(uint32_t)u + 0.5) * 0x1p-32;
                        assert_true(fabs(z[4 * begin + 2 * size * half + 2 * i + k] -
                                         gbose__normal_quantile(p)) < 2e-6);
                    }
                }
        }
        assert_true(gbose__rng_u64(&a) == gbose__rng_u64(&b));
    }
}

static void normals_at_once(void **state)
{
    static const char *const isas[] = {"avx512", "avx2", "baseline"};

    (void)state;
    for (size_t i = 0; i < 3; i++)
        if (gbose__kernels_use(isas[i])) {
            check_normals_at_once();
            check_rough_normals();
        }
    for (size_t i = 0; i < 2; i++) {
        gbose__kernels = i ? &kernels_narrow : &kernels_wide;
        check_normals_at_once();
        check_rough_normals();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(names_become_counters),
        cmocka_unit_test(streams_are_distinct),
        cmocka_unit_test(uniforms),
        cmocka_unit_test(normals),
        cmocka_unit_test(normals_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
