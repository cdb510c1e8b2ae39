#include "learners/auto/scale.h"

#include <math.h>

#include "learners/auto/clip.h"

/* ---- rewards ---- */

void gbose__rewards_learn(struct gbose__rewards *rewards, const struct gbose__tuning *tuning, double reward)
{
    double memory = tuning->ties_memory, tie = reward == rewards->last;

    if (rewards->count > 1)
        rewards->ties = memory * rewards->ties + (1 - memory) * tie;
    else if (rewards->count > 0)
        rewards->ties = tie;
    if (!(rewards->count > 0) || reward < rewards->lowest)
        rewards->lowest = reward;
    if (!(rewards->count > 0) || reward > rewards->highest)
        rewards->highest = reward;
    rewards->last = reward;
    rewards->count++;
}

int gbose__rewards_are_sane(const struct gbose__rewards *rewards)
{
    return rewards->count >= 0 && rewards->ties >= 0 && rewards->ties <= 1 &&
           rewards->lowest <= rewards->highest;
}

/* ---- residuals ---- */

/* The mean of e^2 in a window. */
static double mean_of(const struct gbose__scale *scale, size_t window)
{
    return scale->counts[window] > 0 ? scale->squares[window] / scale->counts[window] : 0;
}

/* How many of n residuals decide what their mean square is, if they are like all so far: of normal ones a third, of clicks those that
 * came. */
static double deciding(const struct gbose__scale *scale, double n)
{
    const size_t all = GBOSE__WINDOWS - 1;

    return scale->fourths[all] > 0 ? n * mean_of(scale, all) * (scale->squares[all] / scale->fourths[all])
                                   : 0;
}

/* The mean of e^2 in the shortest window but the first that can be relied on; 0 if there is none. */
static double reliable(const struct gbose__scale *scale, const struct gbose__tuning *tuning,
                       const struct gbose__rewards *rewards)
{
    if (!gbose__rewards_are_rare(rewards, tuning))
        return scale->rounds > tuning->first_rounds ? mean_of(scale, 1) : 0;
    if (!(rewards->highest > rewards->lowest)) /* nothing has happened yet */
        return 0;
    for (size_t k = 1; k < GBOSE__WINDOWS; k++)
        if (deciding(scale, scale->counts[k]) >= tuning->enough_residuals)
            return mean_of(scale, k);
    return 0;
}

/* Is an outlier a surprise that does not count as much as it is large? */
static int clips(const struct gbose__scale *scale, const struct gbose__tuning *tuning,
                 const struct gbose__rewards *rewards)
{
    return scale->rounds > tuning->first_rounds && !gbose__rewards_are_rare(rewards, tuning);
}

double gbose__scale_weight(const struct gbose__scale *scale, const struct gbose__tuning *tuning,
                           const struct gbose__rewards *rewards)
{
    int rare = gbose__rewards_are_rare(rewards, tuning);
    double recent = rare ? reliable(scale, tuning, rewards) : gbose__scale_recent(scale);
    double room = tuning->scale_room * scale->least;

    return scale->known > 0 && recent > room ? room / recent : 1;
}

double gbose__scale_worth(const struct gbose__scale *scale, const struct gbose__tuning *tuning)
{
    double ratio, worth;

    if (!(scale->known > 0) || !(scale->least > 0))
        return 1;
    ratio = scale->start / scale->least;
    worth = ratio * (ratio < tuning->worth_ratio ? ratio / tuning->worth_ratio : 1);
    return gbose__clip(gbose__clip_below(worth, 1), tuning->worth_limit);
}

double gbose__scale_unit(const struct gbose__scale *scale, const struct gbose__tuning *tuning)
{
    return scale->least > 0 ? sqrt(scale->least * gbose__scale_worth(scale, tuning)) : INFINITY;
}

double gbose__scale_surprise(const struct gbose__scale *scale, const struct gbose__tuning *tuning,
                             const struct gbose__rewards *rewards)
{
    double recent = gbose__scale_recent(scale);

    return clips(scale, tuning, rewards) && recent > 0 ? tuning->surprise_limit * sqrt(recent) : INFINITY;
}

double gbose__scale_narrow(const struct gbose__scale *scale, const struct gbose__tuning *tuning)
{
    double share;

    if (!(scale->explained > tuning->narrow_from * scale->squares[0]))
        return 1;
    share = tuning->narrow_from * scale->squares[0] / scale->explained;
    return gbose__clip_below(share * share, tuning->narrow_least);
}

void gbose__scale_learn_effect(struct gbose__scale *scale, const struct gbose__tuning *tuning, double effect,
                               double residual)
{
    scale->explained = tuning->scale_memory[0] * scale->explained +
                       gbose__clip(effect * (effect + 2 * residual), GBOSE__CLIP_RESIDUAL);
}

static void set_least(struct gbose__scale *scale, double least)
{
    scale->least = least;
    scale->least_count = scale->counts[1];
}

/* Take back an s_min^2 that rests on a few quiet rounds, or is of another time altogether. */
static void doubt_least(struct gbose__scale *scale, const struct gbose__tuning *tuning)
{
    int few = deciding(scale, scale->least_count) < tuning->quiet_few;

    if (scale->known > 0 && scale->latest > (few ? tuning->quiet_rise : tuning->quiet_far) * scale->least) {
        set_least(scale, scale->latest);
        scale->start = gbose__clip_below(scale->start, scale->least);
    }
    scale->latest = 0;
}

/* Is it a power of two, 1 or more? */
static int is_doubling(double x)
{
    int exponent;

    return x >= 1 && frexp(x, &exponent) == 0.5;
}

void gbose__scale_learn(struct gbose__scale *scale, const struct gbose__tuning *tuning,
                        const struct gbose__rewards *rewards, double residual)
{
    double square = residual * residual, recent = gbose__scale_recent(scale), now;

    scale->rounds++;
    if (clips(scale, tuning, rewards) && recent > 0)
        square = gbose__clip(square, tuning->scale_clip * recent);
    square = gbose__clip(square, GBOSE__CLIP_RESIDUAL);
    for (size_t k = 0; k < GBOSE__WINDOWS; k++) {
        double memory = tuning->scale_memory[k];

        scale->squares[k] = memory * scale->squares[k] + square;
        scale->fourths[k] = memory * scale->fourths[k] + square * square;
        scale->counts[k] = memory * scale->counts[k] + 1;
    }
    now = reliable(scale, tuning, rewards);
    if (now > 0 && (!(scale->known > 0) || now < scale->least)) {
        set_least(scale, now);
        if (!(scale->known > 0) || scale->rounds <= tuning->start_rounds)
            scale->start = now;
        scale->known = 1;
    }
    if (now > 0 && (!(scale->latest > 0) || now < scale->latest))
        scale->latest = now;
    if (is_doubling(scale->rounds / tuning->quiet_rounds))
        doubt_least(scale, tuning);
    if (!(scale->known > 0))
        scale->least = mean_of(scale, GBOSE__WINDOWS - 1);
}

int gbose__scale_is_sane(const struct gbose__scale *scale)
{
    int fine = scale->rounds >= 0 && scale->least >= 0 && scale->start >= 0 && scale->least_count >= 0 &&
               scale->latest >= 0 && fabs(scale->explained) < INFINITY &&
               (scale->known == 0 || scale->known == 1);

    for (size_t k = 0; k < GBOSE__WINDOWS; k++)
        fine &= scale->squares[k] >= 0 && scale->fourths[k] >= 0 && scale->counts[k] >= 0;
    return fine;
}
