#include "learners/auto/width.h"

#include <math.h>

#include "core/arms.h"
#include "core/kernels.h"
#include "core/normal.h"
#include "learners/auto/clip.h"

#define ROUNDING 1e-9 /* far more than an image's relative error */

/* The share of the full estimate's slope that it has after so many rounds. */
static double ramp_of(const struct gbose__tuning *tuning, double rounds, double dim)
{
    double most = tuning->ramp_most * gbose__clip(tuning->ramp_dim / dim, 1);

    return gbose__clip(
        gbose__clip_below((rounds + 1) / gbose__clip(tuning->ramp * dim, most), tuning->ramp_least), 1);
}

struct gbose__width gbose__width_of(const struct gbose__tuning *tuning, enum gbose__chooser chooser,
                                    double scale, double rounds, double weights, size_t dim)
{
    struct gbose__width width = {tuning, chooser == GBOSE__FULL_OF_USERS, tuning->fixed_slope, weights + 1,
                                 (double)dim};
    double factor = chooser == GBOSE__ALONE ? tuning->alone_slope : tuning->orthogonal_slope;

    if (chooser == GBOSE__FULL || chooser == GBOSE__FULL_OF_USERS)
        factor =
            tuning->full_slope * ramp_of(tuning, rounds, (double)dim) *
            gbose__clip(gbose__clip_below(sqrt(tuning->slope_dim / (double)dim), tuning->slope_least), 1);
    if (!(width.slope > 0))
        width.slope = factor * scale;
    return width;
}

/* f(h) / h relative to its minimum: 1 where rounds teach all directions alike, larger where they do not. */
static double widening(const struct gbose__width *width, double h)
{
    const struct gbose__tuning *tuning = width->tuning;
    double u = h * h * width->weight / width->dim;

    if (width->wary)
        return gbose__clip_below(u / tuning->expected_u, 1);
    return gbose__clip_below(u / tuning->strange_u, 1) *
           (u > tuning->expected_u ? sqrt(1 + tuning->widening_log * gbose__log(u / tuning->expected_u)) : 1);
}

double gbose__width_at(const struct gbose__width *width, double h)
{
    return widening(width, h) * width->slope * h;
}

/* At least that, without a logarithm: log t <= (t - 1) / sqrt t. */
static double widening_at_most(const struct gbose__width *width, double h)
{
    const struct gbose__tuning *tuning = width->tuning;
    double u = h * h * width->weight / width->dim, t = u / tuning->expected_u;

    if (width->wary || !(t > 1))
        return gbose__clip_below(t, 1);
    return (1 + ROUNDING) * gbose__clip_below(u / tuning->strange_u, 1) *
           sqrt(1 + tuning->widening_log * (t - 1) / sqrt(t));
}

/* Keep those of the `count` arms in round->live that are at most f behind the best one, and return how many.
 * round->arms.square holds their squared distances from it, and h is at most reach (distance + error). The
 * least slope of f decides for most of them. */
static size_t keep_near(const struct gbose__width *width, const double *score, struct gbose__round *round,
                        size_t best, size_t count, double reach, double error)
{
    const double *square = round->arms.square;
    double slope = width->slope;
    size_t kept = 0;

    for (size_t a = 0; a < count; a++) {
        size_t i = round->live[a];
        double lead = score[best] - score[i], h = reach * (sqrt(square[a]) + error);

        round->live[kept] = i;
        kept += i == best || lead <= slope * h ||
                (lead <= widening_at_most(width, h) * slope * h && lead <= widening(width, h) * slope * h);
    }
    return kept;
}

/* The norm of R is at most fit->reach, so that contexts alone eliminate most arms; images, which cost dim
 * times as much, are computed for the others. */
void gbose__width_filter(const struct gbose__width *width, const struct gbose__ridge *fit,
                         const struct gbose__input *in, const double *score, struct gbose__round *round,
                         size_t best)
{
    const double *context = gbose__context(in, best);
    double norm = sqrt(gbose__dot(context, context, in->stride)), *square = round->arms.square;
    size_t count = in->n, even = 0;

    for (size_t i = 0; i < in->n; i++) {
        round->live[i] = i;
        even += score[i] == score[best];
    }
    if (even < in->n) {
        gbose__kernels->squares(square, in->context, NULL, context, count, in->stride);
        count = keep_near(width, score, round, best, count, fit->reach * (1 + ROUNDING), ROUNDING * norm);
    }
    if (count > 1)
        gbose__ridge_apply(fit, round->image, in->context, round->live, count);
    if (count > 1 && even < in->n) {
        gbose__kernels->squares(square, round->image, round->live, round->image + best * in->stride, count,
                                in->stride);
        count = keep_near(width, score, round, best, count, 1, 0);
    }
    round->n_live = count;
}

void gbose__width_coin(const struct gbose__width *width, const struct gbose__input *in, const double *score,
                       struct gbose__round *round, size_t k, size_t l)
{
    size_t better = score[l] > score[k] ? l : k, other = better == k ? l : k;
    double lead = score[better] - score[other], most = width->tuning->highest_probability, p = 0.5, h;

    if (lead > 0) {
        h = sqrt(gbose__distance2(round->image + k * in->stride, round->image + l * in->stride, in->stride));
        p = gbose__normal_cdf(lead / gbose__width_at(width, h));
    }
    round->pmf[better] = p < most ? p : most; /* a NaN, when lead and width overflow, is the highest too */
    round->pmf[other] = 1 - round->pmf[better];
}
