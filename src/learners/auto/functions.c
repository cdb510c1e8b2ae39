#include "learners/auto/functions.h"

#include <math.h>
#include <string.h>

#include "core/dense.h"

enum { COORDINATES = GBOSE__OFFER_COORDINATES, MOST = GBOSE__FUNCTIONS };

/* A function of one coordinate has the number kind * COORDINATES + i, and z_i z_j, i < j, the number
 * (OF_ONE + i) * COORDINATES + j. */
enum { LINEAR, SQUARE, WAVES, WAVES_OF_ONE = 6, OF_ONE = WAVES + WAVES_OF_ONE };
enum { TRIANGLE = MOST * (MOST + 8) / 2 }; /* gbose__triangle(MOST), a multiple of 8 */
enum { NUMBERS = (OF_ONE + COORDINATES) * COORDINATES };

#define ROOT_2 0x1.6a09e667f3bcdp0

/* Of what explains more: so many are chosen at a time; and to be chosen a function must explain this many times the
 * variance that is left, which the best of some hundred would hardly do by chance. */
#define AT_A_TIME 8
#define LEAST_GAIN 12
#define PENALTY 0.1 /* of the least squares, in rounds */

/* ---- values ---- */

/* Sine and cosine of a number within 4, from arithmetic alone, so that they are the same bytes
 * everywhere: their series at a quarter of it, and two doublings. Errors are below 1e-6. */
static void sine_and_cosine(double *sine, double *cosine, double z)
{
    double y = z / 4, y2 = y * y;
    double s = y * (1 - y2 / 6 * (1 - y2 / 20 * (1 - y2 / 42 * (1 - y2 / 72))));
    double c = 1 - y2 / 2 * (1 - y2 / 12 * (1 - y2 / 30 * (1 - y2 / 56 * (1 - y2 / 90))));

    for (int i = 0; i < 2; i++) {
        double twice = 2 * s * c;

        c = c * c - s * s;
        s = twice;
    }
    *sine = s;
    *cosine = c;
}

/* All functions of one coordinate, each at its number. */
static void of_one(double *all, const double *z, size_t coordinates)
{
    for (size_t i = 0; i < coordinates; i++) {
        double *at = all + i, sine, cosine, s, c;

        sine_and_cosine(&sine, &cosine, z[i]);
        s = ROOT_2 * sine;
        c = ROOT_2 * cosine;
        at[LINEAR * COORDINATES] = z[i];
        at[SQUARE * COORDINATES] = (z[i] * z[i] - 1) / ROOT_2;
        for (size_t k = 0; k < WAVES_OF_ONE; k += 2) {
            double next = s * cosine + c * sine; /* the next multiple of z */

            at[(WAVES + k) * COORDINATES] = s;
            at[(WAVES + k + 1) * COORDINATES] = c;
            c = c * cosine - s * sine;
            s = next;
        }
    }
}

static int is_of_one(size_t number)
{
    return number < (size_t)OF_ONE * COORDINATES;
}

/* A function, by its number; all those of one coordinate are known. */
static double value_of(size_t number, const double *all, const double *z)
{
    if (is_of_one(number))
        return all[number];
    return z[number / COORDINATES - OF_ONE] * z[number % COORDINATES];
}

void gbose__functions_values(const struct gbose__functions *functions, double *values, const double *z)
{
    double all[OF_ONE * COORDINATES];
    size_t count = (size_t)functions->count;

    of_one(all, z, (size_t)functions->coordinates);
    for (size_t k = 0; k < count; k++)
        values[k] = value_of((size_t)functions->which[k], all, z);
    memset(values + count, 0, (MOST - count) * sizeof *values);
}

/* ---- which there are ---- */

static void add(struct gbose__functions *functions, size_t number)
{
    if (functions->count < MOST)
        functions->which[(size_t)functions->count++] = (double)number;
}

static void add_kind(struct gbose__functions *functions, size_t kind)
{
    for (size_t i = 0; i < (size_t)functions->coordinates; i++)
        add(functions, kind * COORDINATES + i);
}

static void add_products(struct gbose__functions *functions)
{
    size_t coordinates = (size_t)functions->coordinates;

    for (size_t i = 0; i < coordinates; i++)
        for (size_t j = i + 1; j < coordinates; j++)
            add(functions, (OF_ONE + i) * COORDINATES + j);
}

/* Of n coordinates there are OF_ONE n + n (n - 1) / 2 functions. */
static int has_choice(const struct gbose__functions *functions)
{
    double n = functions->coordinates;

    return OF_ONE * n + n * (n - 1) / 2 > MOST;
}

void gbose__functions_begin(struct gbose__functions *functions, size_t coordinates)
{
    *functions = (struct gbose__functions){.coordinates = (double)coordinates};
    add_kind(functions, LINEAR);
    add_kind(functions, SQUARE);
    if (!has_choice(functions))
        add_products(functions);
    for (size_t k = 0; k < WAVES_OF_ONE; k += 2)
        for (size_t i = 0; i < coordinates; i++) {
            add(functions, (WAVES + k) * COORDINATES + i);
            add(functions, (WAVES + k + 1) * COORDINATES + i);
        }
}

int gbose__functions_are_sane(const struct gbose__functions *functions)
{
    double coordinates = functions->coordinates, count = functions->count;
    int fine = coordinates >= 0 && coordinates <= COORDINATES && floor(coordinates) == coordinates &&
               count >= 0 && count <= MOST && floor(count) == count;

    for (size_t k = 0; fine && k < (size_t)count; k++) {
        double which = functions->which[k];

        fine &=
            which >= 0 && which < NUMBERS && floor(which) == which && fmod(which, COORDINATES) < coordinates;
        fine = fine &&
               (is_of_one((size_t)which) || (double)((size_t)which / COORDINATES - OF_ONE) < coordinates);
    }
    return fine;
}

/* ---- the choice ---- */

/* Least squares of the target on the functions chosen so far, all less their means. */
struct choice {
    const struct gbose__hindsight *hindsight;
    struct gbose__functions chosen;
    double rounds;
    double target;         /* its mean */
    double mean[NUMBERS];  /* of all functions there are */
    double about[NUMBERS]; /* their sums of squares about it; 0 if they are none */
    double along[NUMBERS]; /* sums of what is left of the target times them */
    double left;           /* sum of squares of what is left of it */
    double slope[MOST];
    double products[TRIANGLE]; /* of those chosen: the sums of each with each */
};

/* A round, with all functions of one coordinate. */
struct met {
    struct gbose__hindsight_round round;
    double all[OF_ONE * COORDINATES];
};

static void meet(struct met *met, const struct choice *choice, size_t t)
{
    met->round = gbose__hindsight_at(choice->hindsight, t);
    of_one(met->all, met->round.z, (size_t)choice->chosen.coordinates);
}

/* sum[f] += by f for all functions, and the same with squares if they are wanted. */
static void add_all(const struct choice *choice, const struct met *met, double by, double *sum,
                    double *squares)
{
    size_t n = (size_t)choice->chosen.coordinates;
    const double *z = met->round.z;

    for (size_t row = 0; row < OF_ONE + n; row++) {
        size_t first = row < OF_ONE ? 0 : row - OF_ONE + 1, at = row * COORDINATES;
        const double *value = row < OF_ONE ? met->all + at : z;
        double factor = row < OF_ONE ? 1 : z[row - OF_ONE], scaled = factor * by;

        for (size_t i = first; i < n; i++)
            sum[at + i] += scaled * value[i];
        for (size_t i = first; squares && i < n; i++)
            squares[at + i] += factor * value[i] * factor * value[i];
    }
}

static void find_means(struct choice *choice)
{
    struct met met;

    for (size_t t = 0; t < (size_t)choice->rounds; t++) {
        meet(&met, choice, t);
        choice->target += met.round.target / choice->rounds;
        add_all(choice, &met, 1, choice->mean, choice->about);
    }
    for (size_t f = 0; f < NUMBERS; f++) {
        choice->mean[f] /= choice->rounds;
        choice->about[f] -= choice->rounds * choice->mean[f] * choice->mean[f];
    }
}

/* Those chosen, less their means. */
static void chosen_values(const struct choice *choice, const struct met *met, double *x)
{
    for (size_t k = 0; k < (size_t)choice->chosen.count; k++) {
        size_t number = (size_t)choice->chosen.which[k];

        x[k] = value_of(number, met->all, met->round.z) - choice->mean[number];
    }
}

/* Functions from number `from` of the chosen on are new: add their products with all, and fit. */
static void fit(struct choice *choice, size_t from)
{
    size_t count = (size_t)choice->chosen.count;
    double factor[TRIANGLE], inverse[TRIANGLE], x[MOST], right[MOST] = {0}, half[MOST];
    struct met met;

    for (size_t k = from; k < count; k++)
        memset(gbose__dense_row(choice->products, k), 0, (k + 1) * sizeof(double));
    for (size_t t = 0; t < (size_t)choice->rounds; t++) {
        meet(&met, choice, t);
        chosen_values(choice, &met, x);
        for (size_t k = from; k < count; k++)
            for (size_t i = 0; i <= k; i++)
                gbose__dense_row(choice->products, k)[i] += x[k] * x[i];
        for (size_t k = 0; k < count; k++)
            right[k] += x[k] * (met.round.target - choice->target);
    }
    for (size_t k = from; k < count; k++)
        gbose__dense_row(choice->products, k)[k] += PENALTY;
    memcpy(factor, choice->products, gbose__triangle(count) * sizeof *factor);
    memset(choice->slope, 0, sizeof choice->slope);
    if (!gbose__dense_factor(factor, count))
        return;
    gbose__dense_invert(inverse, factor, count);
    gbose__dense_times(half, inverse, right, count);
    gbose__dense_times_transposed(choice->slope, inverse, half, count);
}

/* What those chosen leave of the target, and how it goes along with every function. */
static void look_at_rest(struct choice *choice)
{
    double x[MOST];
    struct met met;

    choice->left = 0;
    memset(choice->along, 0, sizeof choice->along);
    for (size_t t = 0; t < (size_t)choice->rounds; t++) {
        double rest;

        meet(&met, choice, t);
        chosen_values(choice, &met, x);
        rest = met.round.target - choice->target;
        for (size_t k = 0; k < (size_t)choice->chosen.count; k++)
            rest -= choice->slope[k] * x[k];
        choice->left += rest * rest;
        add_all(choice, &met, rest, choice->along, NULL);
    }
    for (size_t k = 0; k < (size_t)choice->chosen.count; k++) /* it has its part already */
        choice->about[(size_t)choice->chosen.which[k]] = 0;
}

/* Choose the function that explains most of what is left; 0 if none explains enough. */
static int choose_next(struct choice *choice)
{
    double spare = choice->rounds - choice->chosen.count - 1, most = 0;
    size_t best = 0;

    for (size_t f = 0; f < NUMBERS; f++) {
        double gain = choice->about[f] > PENALTY ? choice->along[f] * choice->along[f] / choice->about[f] : 0;

        if (gain > most) {
            most = gain;
            best = f;
        }
    }
    if (!(spare > 0) || !(most * spare > LEAST_GAIN * choice->left))
        return 0;
    choice->about[best] = 0;
    add(&choice->chosen, best);
    return 1;
}

int gbose__functions_choose(struct gbose__functions *functions, const struct gbose__hindsight *hindsight)
{
    struct choice choice = {.hindsight = hindsight,
                            .chosen = {.coordinates = functions->coordinates},
                            .rounds = (double)gbose__hindsight_count(hindsight)};
    int more = has_choice(functions);

    if (!more)
        return 0;
    find_means(&choice);
    add_kind(&choice.chosen, LINEAR);
    for (size_t from = 0; more && choice.chosen.count < MOST;) {
        size_t chosen = (size_t)choice.chosen.count;

        fit(&choice, from);
        look_at_rest(&choice);
        from = chosen;
        for (int i = 0; i < AT_A_TIME && more && choice.chosen.count < MOST; i++)
            more = choose_next(&choice);
        more = (size_t)choice.chosen.count > chosen;
    }
    if (!memcmp(&choice.chosen, functions, sizeof *functions))
        return 0;
    *functions = choice.chosen;
    return 1;
}
