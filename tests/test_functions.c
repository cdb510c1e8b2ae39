/* Which functions of the user the flexible tracker of gbose-auto has. */
#include "support/check.h"
#include "support/random.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "learners/auto/functions.h"

enum { Z = GBOSE__OFFER_COORDINATES, MOST = GBOSE__FUNCTIONS };

/* Rounds with users of so many coordinates, of which the target is told; to be ended. */
static struct gbose__hindsight keep(double *count, size_t rounds, size_t coordinates,
                                    double (*target)(const double *z, struct random *r), uint64_t seed)
{
    struct gbose__hindsight kept = {.dim = 1, .count = count};
    struct random r = {seed};
    double played[8] = {1};

    *count = 0;
    kept.rows = gbose__alloc_raw(gbose__hindsight_size(1, 0), sizeof(double));
    assert_non_null(kept.rows);
    for (size_t t = 0; t < rounds; t++) {
        struct gbose__hindsight_round round = {.played = played};

        for (size_t i = 0; i < coordinates; i++)
            round.z[i] = fmax(-4, fmin(4, random_normal(&r)));
        round.target = target(round.z, &r);
        gbose__hindsight_learn(&kept, &round);
    }
    return kept;
}

/* Is there one among those in use that is this function, at a few users? */
static int has(const struct gbose__functions *functions, double (*wanted)(const double *z))
{
    struct random r = {97};
    int is[MOST], found = 0;

    for (size_t k = 0; k < MOST; k++)
        is[k] = 1;
    for (int t = 0; t < 20; t++) {
        double z[Z] = {0}, values[MOST];

        for (size_t i = 0; i < (size_t)functions->coordinates; i++)
            z[i] = fmax(-4, fmin(4, random_normal(&r)));
        gbose__functions_values(functions, values, z);
        for (size_t k = 0; k < MOST; k++)
            is[k] &= fabs(values[k] - wanted(z)) < 1e-4;
    }
    for (size_t k = 0; k < MOST; k++)
        found += is[k];
    return found;
}

static double product(const double *z)
{
    return z[3] * z[17];
}

static double wave(const double *z)
{
    return sqrt(2) * sin(2 * z[11]);
}

static double parabola(const double *z)
{
    return (z[20] * z[20] - 1) / sqrt(2);
}

static double last(const double *z)
{
    return z[20];
}

static double some_of_many(const double *z, struct random *r)
{
    return 100 + 2 * product(z) - 3 * wave(z) + 1.5 * parabola(z) + random_normal(r);
}

static double some_of_few(const double *z, struct random *r)
{
    return z[0] + z[2] * z[5] + 0.8 * cos(z[4]) + random_normal(r);
}

static double noise(const double *z, struct random *r)
{
    (void)z;
    return random_normal(r);
}

static void those_that_explain_rewards_are_chosen(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        double count;
        struct gbose__hindsight kept = keep(&count, 400, Z, some_of_many, seed);
        struct gbose__functions functions;

        gbose__functions_begin(&functions, Z);
        assert_true(gbose__functions_are_sane(&functions));
        assert_false(has(&functions, product));
        assert_int_equal(gbose__functions_choose(&functions, &kept), 1);
        assert_true(gbose__functions_are_sane(&functions));
        assert_int_equal(has(&functions, product), 1);
        assert_int_equal(has(&functions, wave), 1);
        assert_int_equal(has(&functions, parabola), 1);
        assert_int_equal(has(&functions, last), 1);                      /* as all coordinates are */
        assert_int_equal(gbose__functions_choose(&functions, &kept), 0); /* the same again */
        gbose__hindsight_end(&kept);
    }
}

static void noise_chooses_few(void **state)
{
    double more = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        double count;
        struct gbose__hindsight kept = keep(&count, 300, Z, noise, seed);
        struct gbose__functions functions;

        gbose__functions_begin(&functions, Z);
        gbose__functions_choose(&functions, &kept);
        more += (functions.count - Z) / 20;
        gbose__hindsight_end(&kept);
    }
    assert_that(more < 1, "%g functions of noise on average", more);
}

/* Up to five coordinates there is room for all functions, and nothing to choose. */
static void few_coordinates_have_all(void **state)
{
    double count;
    struct gbose__hindsight kept = keep(&count, 200, 5, noise, 3);
    struct gbose__functions functions, before;

    (void)state;
    gbose__functions_begin(&functions, 5);
    before = functions;
    assert_true(functions.count == 5 * 8 + 10);
    assert_int_equal(gbose__functions_choose(&functions, &kept), 0);
    assert_memory_equal(&functions, &before, sizeof functions);
    gbose__hindsight_end(&kept);
}

/* y less what x explains of it. */
static void take_out(double *y, const double *x, size_t n)
{
    double along = 0, square = 0;

    for (size_t t = 0; t < n; t++) {
        along += x[t] * y[t];
        square += x[t] * x[t];
    }
    for (size_t t = 0; t < n; t++)
        y[t] -= along / square * x[t];
}

/* The first one that is chosen is the one that explains most beside the coordinates themselves, by least squares on each
 * alone: columns made orthogonal to the coordinates by Gram and Schmidt. */
static void the_first_is_the_best_one(void **state)
{
    enum { ROUNDS = 150, FEW = 7 };
    static double x[FEW + 1][ROUNDS], y[ROUNDS], f[ROUNDS];
    double count;
    struct gbose__hindsight kept = keep(&count, ROUNDS, FEW, some_of_few, 29);
    struct gbose__functions functions, one = {.coordinates = FEW, .count = 1};
    double most = 0, best = -1;

    (void)state;
    gbose__functions_begin(&functions, FEW);
    assert_int_equal(gbose__functions_choose(&functions, &kept), 1);
    for (size_t t = 0; t < ROUNDS; t++) {
        struct gbose__hindsight_round round = gbose__hindsight_at(&kept, t);

        x[FEW][t] = 1;
        for (size_t i = 0; i < FEW; i++)
            x[i][t] = round.z[i];
        y[t] = round.target;
    }
    for (size_t i = FEW + 1; i-- > 0;) /* the constant first */
        for (size_t k = FEW; k > i; k--)
            take_out(x[i], x[k], ROUNDS);
    for (size_t i = 0; i <= FEW; i++)
        take_out(y, x[i], ROUNDS);
    for (int which = Z; which < (8 + FEW) * Z; which++) {
        double values[MOST], along = 0, square = 0;

        one.which[0] = which;
        if (which % Z >= FEW || (which >= 8 * Z && which % Z <= which / Z - 8) ||
            !gbose__functions_are_sane(&one))
            continue;
        for (size_t t = 0; t < ROUNDS; t++) {
            gbose__functions_values(&one, values, gbose__hindsight_at(&kept, t).z);
            f[t] = values[0];
        }
        take_out(f, x[FEW], ROUNDS); /* its gain is by its own sum of squares, about the mean */
        for (size_t t = 0; t < ROUNDS; t++) {
            along += f[t] * y[t];
            square += f[t] * f[t];
        }
        if (along * along / square > most) {
            most = along * along / square;
            best = which;
        }
    }
    assert_true(functions.which[FEW] == best);
    gbose__hindsight_end(&kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_that_explain_rewards_are_chosen),
        cmocka_unit_test(noise_chooses_few),
        cmocka_unit_test(few_coordinates_have_all),
        cmocka_unit_test(the_first_is_the_best_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
