/* HeartSteps: when to send a suggestion to be active.
 *
 * Two arms, send or not, at 5 decision points a day for 42 days with each user, user after user. The outcome
 * is the logarithm of the steps in the half hour that follows. The numbers were fitted to the
 * micro-randomised trial HeartSteps V1 (Klasnja et al., "Efficacy of contextually tailored suggestions for
 * physical activity", Annals of Behavioral Medicine, 2019) for Qian et al., "The microrandomized trial for
 * developing digital interventions", Psychological Methods 27, 2022; the R package MRTAnalysis has the model
 * as the generator of its data set data_mimicHeartSteps.
 *
 *   day               0 to 41
 *   p                 steps before, min(log(max(N(20, 50^2), 0) + 0.5), 8.5)
 *   l                 at home or work, Bernoulli(0.3624668)
 *   available         with probability 0.8038462; otherwise the round has one arm, not to send
 *   previous          the outcome observed before, 0 at a user's first decision point
 *   effect            0.442889 - 0.017908 day + 0.101423 l
 *   outcome           1.755916 + 0.403241 p + 0.063676 previous - 0.009488 day + 0.119917 l
 *                       + (send - 0.6) effect + N(0, 2.716^2), clipped to [log 0.5, 8.5]
 *
 * As a semiparametric bandit: arm 0, not to send, has the zero context; arm 1 has
 * b = (1, day / 42, l) / sqrt 3, which is in the unit ball, and mu = sqrt 3 (0.442889, -42 * 0.017908,
 * 0.101423), so that b'mu is the effect. Everything else, -0.6 effect included, is v. Regret is that of the
 * unclipped means: the effect when the sign was wrong. To send pays until about day 25, or day 30 at home or
 * work.
 *
 * Readings: days count from 0 and a user's first previous outcome is 0, as in MRTAnalysis. */
#include <math.h>

#include "core/normal.h"
#include "worlds/draw.h"
#include "worlds/world_options.h"

#define DAYS 42
#define TIMES_A_DAY 5

static const double at_home_or_work = 0.3624668, available = 0.8038462;

struct own {
    double mu[3];
    double noise;
    double previous;
};

static int init(struct gbose__world *w, gbose_error *err)
{
    struct own *own = w->own;

    (void)err;
    own->noise = gbose__world_option(w, "noise")->number;
    own->mu[0] = sqrt(3) * 0.442889;
    own->mu[1] = sqrt(3) * -0.017908 * DAYS;
    own->mu[2] = sqrt(3) * 0.101423;
    w->dim = 3;
    w->max_arms = 2;
    w->low = gbose__log(0.5);
    w->high = 8.5;
    return GBOSE_OK;
}

static void next(struct gbose__world *w)
{
    struct own *own = w->own;
    struct gbose__rng rng;
    uint64_t point = (w->round - 1) % (DAYS * TIMES_A_DAY);
    double day = (double)(point / TIMES_A_DAY), steps, p, l, effect;
    double *b = w->contexts + w->dim;
    int is_available;

    gbose__world_rng(w, &rng, GBOSE__WORLD_CONTEXT);
    l = gbose__rng_uniform(&rng) < at_home_or_work;
    is_available = gbose__rng_uniform(&rng) < available;
    gbose__world_rng(w, &rng, GBOSE__WORLD_SHIFT);
    steps = 20 + 50 * gbose__rng_normal(&rng);
    p = gbose__log((steps > 0 ? steps : 0) + 0.5);
    if (p > w->high)
        p = w->high;
    if (point == 0)
        own->previous = 0;

    b[0] = 1 / sqrt(3);
    b[1] = day / DAYS / sqrt(3);
    b[2] = l / sqrt(3);
    effect = gbose__draw_inner(b, own->mu, 3);
    w->mean[0] = 0;
    w->mean[1] = effect;
    w->n_arms = is_available ? 2 : 1;
    w->shift =
        1.755916 + 0.403241 * p + 0.063676 * own->previous - 0.009488 * day + 0.119917 * l - 0.6 * effect;
    gbose__world_rng(w, &rng, GBOSE__WORLD_NOISE);
    w->noise = own->noise * gbose__rng_normal(&rng);
}

static void observe(struct gbose__world *w, size_t arm, double reward)
{
    (void)arm;
    ((struct own *)w->own)->previous = reward;
}

static const gbose_option options[] = {
    OPTION_NOISE("2.716"),
};

const struct gbose__world_kind gbose__world_heartsteps = {
    .info = {"heartsteps", "a model of the HeartSteps trial: when to suggest a walk", options,
             GBOSE__COUNT(options)},
    .own_size = sizeof(struct own),
    .init = init,
    .next = next,
    .observe = observe,
};
