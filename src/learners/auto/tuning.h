/* The constants of gbose-auto, in one place.
 *
 * All values were chosen on repetitions of seed 101 in the worlds of docs/learners/gbose-auto.md, unless a
 * comment says otherwise; the page says which seeds were looked at and what did not help. None has the unit
 * of a reward or of a context (but for `fixed_slope`, which is off), so that rewards may be rescaled, and
 * contexts together with lambda.
 *
 * "Memory" is a factor: what is known counts this much after one more round. A memory of 0.99 is one of about
 * 100 rounds. Which trackers there are, and their memories, is the table in learners/auto/tracker.c. */
#ifndef GBOSE_LEARNERS_AUTO_TUNING_H
#define GBOSE_LEARNERS_AUTO_TUNING_H

/* Windows in which the scale of residuals is measured: a short one for the present, and three for what is
 * reliable. */
#define GBOSE__WINDOWS 4

struct gbose__tuning {
    /* ---- the baseline (baseline.h, tracker.h) ---- */

    int use_baseline; /* 0: vhat is 0, for the ablation */

    /* Slopes of a tracker have a prior of this precision, in squared units of its features, which have size
     * 1. Small, so that a slope is learned within a few rounds; not zero, so that useless features do no
     * harm. */
    double slope_prior;
    double prior_worn; /* share of slope_prior at which an entry that forgetting has worn is put back */

    double feature_limit; /* features of a round are clipped to this many times their usual size */
    /* Rounds that are a unit of time to a tracker: about as many as that tracker remembers. */
    double rounds_per_time;

    /* The slope of sqrt|m| is that of sqrt(|m| + this), so that it is finite; in units of the usual best
     * score m. */
    double root_floor;

    double best_memory; /* of the mean square of the best score, by which that score is scaled as a feature */
    double given_limit; /* the caller's features are clipped to this many of their units (given.h) */
    double given_memory; /* of their mean and variance: 16384 rounds */

    double loss_memory; /* of the squared errors by which trackers are compared */
    /* A squared error of a tracker on users counts as no more than this many times the usual one of a tracker that knows nothing of
     * users, or than that one's in the same round. A wild prediction for one unusual user then costs a good tracker its lead for no
     * longer than it deserves. 10 leaves nearly every round as it is, and a wild one counts 10 (1 - loss_memory) = a fifth of what
     * a tracker without users misses. */
    double loss_reach;
    /* The leading tracker changes when the loss of another one is smaller by this factor. */
    double lead_factor;
    double settle_rounds; /* for each feature, before a tracker may lead */

    double given_settle;    /* more than it has features, before one on the caller's features may lead */
    double flexible_settle; /* rounds before the flexible tracker may lead */
    /* After user_trial rounds, to save time, trackers on users learn from one round in user_rest if none of them
     * leads. So does the flexible one if another leads; if it leads, its slopes learn from one in
     * flexible_lead_rest. */
    double user_trial;
    unsigned user_rest, flexible_lead_rest;

    double linear_settle, index_settle, tree_settle; /* rounds before the other trackers on users may lead */

    /* ---- what is learned again (hindsight.h, auto_hindsight.c) ---- */

    /* Rounds that are kept are learned again when there are so many of them, and again when there are so many times more; the last time
     * when no more are kept. */
    double hindsight_first, hindsight_factor;
    double hindsight_spare; /* degrees of freedom that residuals in hindsight have at least */
    /* The mean square of residuals in the first rounds must have been this many times that in hindsight; infinite: the full estimate
     * learns nothing again, for the ablation. */
    double hindsight_gain;

    /* ---- rewards that come late (neighbours.h); chosen on repetitions 200 to 203 of real data ---- */

    double neighbour_memory; /* what a neighbour counts for each decision that it is away */
    double neighbour_reach;  /* decisions: those farther away do not count */
    double neighbour_least;  /* sum of what they count, below which they are too few */
    double neighbour_settle; /* rounds before they may lead; infinite: never, for the ablation */

    /* ---- where contexts are measured from (origin.h) ---- */

    double origin_rounds; /* the trial lasts so many rounds */
    double origin_first;  /* until so many are learned, contexts decide and not errors */
    double
        origin_varies; /* the common part moves much if its squares are this many times those of what arms differ by */
    double origin_memory; /* of the squared errors by which both are compared */
    double origin_factor; /* by which that of the other one must be smaller */

    /* ---- arms as a whole (auto_full.c); chosen on seed 101 and, of Wine and Breast cancer as they are, repetitions 200 to 219 ---- */

    double level_rounds; /* the first rounds, each of which says that arms are alike */
    double level_dims;   /* together they say it with the weight of a round for so many features */
    double level_most;   /* and of so many rounds at most; 0: they do not, for the ablation */

    double reaction_errors; /* standard errors that the slope of v on m must have, to be acted on */
    double
        reaction_limit; /* most of |v'|, in units of v for each unit of m; 0: no reaction, for the ablation */

    /* ---- the scale of residuals, and weights (scale.h) ---- */

    /* Of the windows: the first is that of s^2, the recent mean square of the residuals; the second that
     * of the longer mean whose least value is s_min^2; the others serve when rewards are rare, each ten
     * times as long. */
    double scale_memory[GBOSE__WINDOWS];
    double scale_clip;   /* a squared residual counts at most this many times s^2 */
    double scale_room;   /* s^2 may be this many times s_min^2 before rounds count less */
    double first_rounds; /* rounds before weights and clipping begin */
    /* A quiet stretch. Chosen on seed 101 and on clicks with a slow shift (tests/test_auto_robust.c). */
    double
        quiet_rounds; /* s_min^2 is doubted after so many rounds, and when they are twice as many, and again */
    double quiet_rise;  /* by how many times the mean must have been larger since half that time */
    double quiet_few;   /* residuals that decide, below which s_min^2 does not stand that */
    double quiet_far;   /* by how many times it must have been larger where there were more of them */
    double ties_memory; /* of the share of rewards that are equal to the one before */
    double rare_ties;   /* a share above this: rewards are of few values, such as clicks */

    /* (sum e^2)^2 / sum e^4 that is to be expected in a window of rare rewards, for it to be relied on:
     * about a third of the number of normal residuals, and the number of clicks. */
    double enough_residuals;
    double worth_ratio; /* start / s_min^2 from which on the worth of a round is all of that ratio */
    double
        start_rounds; /* the start lasts so many rounds: until then residuals are large because mu is unknown */
    double worth_limit; /* most of the worth, so that numbers stay within bounds where there is no noise */
    double
        surprise_limit; /* the full estimate's response is at most this many s away from what was expected: a jump of v
                            * counts, but does not rule */

    /* The mean square of effects, in units of s^2, beyond which the full estimate's width is less, and the least share of it. */
    double narrow_from, narrow_least;

    /* The mean of the first two rewards, in units of their difference, from which on they are taken for a level. */
    double level_doubt;

    /* ---- who is understood (users.h) ---- */

    double user_memory;  /* of squared residuals */
    double user_prior;   /* rounds of the usual size of residuals that each class begins with */
    double user_limit;   /* most of the weight, and one over the least */
    double user_rounds;  /* before it begins */
    double shift_memory; /* of mean and variance of vhat */

    /* ---- beginning anew (auto_anew.c) ---- */

    double plain_memory; /* of the squared errors that trackers make when mu is left out */
    double anew_factor;  /* by which those must be smaller than the least mean square of residuals */
    double anew_gain;    /* and smaller than those of the trackers that know only the time */
    /* In the first start_rounds: the factor for those themselves, beside residuals at their least and of the latest rounds. */
    double anew_time;
    double anew_rounds; /* rounds before it may happen */
    double anew_worth;  /* what a round is worth from then on, in units of what it was */
    double anew_most;   /* most of the product of these */

    /* ---- the width (width.h); u is h^2 (sum of weights) / dim ---- */

    double full_slope; /* f(h) / (s_min h) of the full estimate where u is small */
    /* From so many features on it is less, by the root of their number, down to that share: contexts of many features differ so
     * much from round to round that greed explores by itself. Chosen on repetitions 200 to 203 of real data. */
    double slope_dim, slope_least;
    double ramp; /* rounds for each dimension until full_slope is reached: all is learned at once before */
    double ramp_most; /* rounds until then at most, for contexts of many features of which each arm has few */
    /* With more features than this ramp_most is less in proportion: not all is learned at once any more, and greed stays with the first
     * arms that were lucky. Chosen on Digits, repetitions 300 to 307 and 400 to 415. */
    double ramp_dim;
    double ramp_least;       /* share of full_slope that the ramp begins with */
    double orthogonal_slope; /* f(h) / (s_min h) of the orthogonal estimate where u is small */
    double alone_slope;      /* the same where it is the only one: nobody else explores for it */
    double widening_log;     /* factor of log(u / expected_u) in the square of what widens it */
    double expected_u;       /* u up to here is that of rounds that teach all directions alike: no widening */
    double strange_u;   /* beyond this u the width grows with u itself: nothing like this arm is played */
    double fixed_slope; /* if positive: f(h) = fixed_slope h, in units of reward, for the ablation */
    double highest_probability; /* of the better arm of a pair */

    /* The orthogonal regression's baseline is clipped to the range of all rewards, this many times that
     * range beyond either end. It is still known before the draw, and a wild estimate cannot feed on
     * itself. */
    double baseline_room;

    /* ---- where v follows users (auto.c) ---- */

    double
        users_gain; /* it does where the mean square of residuals by trackers that know nothing of users is this many times the leader's */

    /* ---- bold claims (doubt.h) ---- */

    double bold_claim; /* a lead of so many s is bold */
    double confirmed;  /* widths of the orthogonal estimate by which it must see that lead, too */

    /* ---- how long mu is (length.h) ---- */

    double length_memory; /* of coins */
    double length_slope;  /* of effects seen on those predicted, below which the estimate is too long */
    double length_errors; /* by so many standard errors */
    double length_most;   /* weight, in rounds, beyond which the regression is told no more */

    /* ---- the contest of the two estimates (contest.h); evidence is half a difference of squared errors,
     * in units of the residual variance ---- */

    double contest_coins; /* coins for each dimension before it begins */
    double contest_share; /* of the difference of squared errors: 1/2, as in a log-likelihood */
    /* Most evidence of one coin: a jump of v is not taken for evidence. Made for a run of seed 3. */
    double contest_step;
    double contest_memory; /* of evidence, for each coin */
    /* Evidence above which the orthogonal estimate begins to choose; it does until there is none. As much as contest_step, so that one
     * coin alone, which a jump of v may have spoiled, never is enough. */
    double contest_high;
    /* While the orthogonal estimate chooses, the unit of evidence is at most this many times s_min^2: residuals that are larger by then
     * are as likely its own doing. Of 4, 10 and 20 the one with which no run of 200 of context-sine (seed 321) and of user-sine,scale=20
     * (seed 341) had ten times the median. */
    double contest_reach;
    double contest_least; /* the full estimate cannot earn more credit than this */
    double contest_most;

    /* Scores of the orthogonal estimate that are apart by more than this many times the range of all
     * rewards cannot be true: the full estimate chooses until they have come to their senses. */
    double contest_absurd;
    double coin_memory; /* of the mean squared residual of coins, the contest's unit */

    /* ---- the diagnosis (diagnosis.h): conventions, which no decision depends on ---- */

    double recent_memory;  /* of the recent shift */
    double earlier_memory; /* of the shift that it is compared with for the drift */
    double present_memory; /* of the scale of residuals and of the share of variance removed */
    double misled_level;   /* p-value up to which a plain learner is called misled */
};

static const struct gbose__tuning gbose__tuning_default = {
    .use_baseline = 1,
    .slope_prior = 0.1,
    .prior_worn = 0.9,
    .feature_limit = 8,
    .rounds_per_time = 100,
    .root_floor = 0.01,
    .best_memory = 0.999,
    .given_limit = 64,
    .given_memory = 1 - 1.0 / 16384,
    .loss_memory = 0.98,
    .loss_reach = 10,
    .lead_factor = 1.05,
    .settle_rounds = 5,
    .given_settle = 4,
    .flexible_settle = 40,
    .user_trial = 500,
    .user_rest = 16,
    .flexible_lead_rest = 4,
    .linear_settle = 30,
    .index_settle = 60,
    .tree_settle = 64,
    .hindsight_first = 48,
    .hindsight_factor = 1.4,
    .hindsight_spare = 10,
    .hindsight_gain = 1.5,
    .neighbour_memory = 0.37,
    .neighbour_reach = 6,
    .neighbour_least = 0.1,
    .neighbour_settle = 20,
    .origin_rounds = 256,
    .origin_first = 5,
    .origin_varies = 0.5,
    .origin_memory = 0.95,
    .origin_factor = 1.25,
    .level_rounds = 20,
    .level_dims = 4,
    .level_most = 10,
    .reaction_errors = 2.5,
    .reaction_limit = 2,

    .scale_memory = {0.98, 0.99, 0.999, 0.9999},
    .scale_clip = 16,
    .scale_room = 2,
    .first_rounds = 10,
    .quiet_rounds = 100,
    .quiet_rise = 12,
    .quiet_few = 4,
    .quiet_far = 100,
    .ties_memory = 0.99,
    .rare_ties = 0.1,
    .enough_residuals = 15,
    .worth_ratio = 20,
    .start_rounds = 50,
    .user_memory = 0.998,
    .user_prior = 10,
    .user_limit = 50,
    .user_rounds = 50,
    .shift_memory = 0.98,
    .worth_limit = 1e8,
    .surprise_limit = 4,
    .narrow_from = 0.7,
    .narrow_least = 0.3,
    .level_doubt = 1,

    .plain_memory = 0.9,
    .anew_factor = 4,
    .anew_gain = 3,
    .anew_time = 3,
    .anew_rounds = 10,
    .anew_worth = 1000,
    .anew_most = 1e6,

    .full_slope = 0.5,
    .slope_dim = 20,
    .slope_least = 0.7,
    .ramp = 4,
    .ramp_most = 400,
    .ramp_dim = 150,
    .ramp_least = 0.1,
    .orthogonal_slope = 0.35,
    .alone_slope = 0.6,
    .widening_log = 4,
    .expected_u = 2,
    .strange_u = 60,
    .fixed_slope = 0,
    .highest_probability = 0.95,
    .baseline_room = 1,

    .users_gain = 1.5,

    .bold_claim = 4,
    .confirmed = 1,

    .length_memory = 0.98,
    .length_slope = 0.7,
    .length_errors = 1.3,
    .length_most = 250,

    .contest_coins = 2,
    .contest_share = 0.5,
    .contest_step = 1,
    .contest_memory = 0.999,
    .contest_high = 1,
    .contest_reach = 20,
    .contest_least = -2,
    .contest_most = 50,
    .contest_absurd = 2,
    .coin_memory = 0.999,

    .recent_memory = 0.98,
    .earlier_memory = 0.995,
    .present_memory = 0.999,
    .misled_level = 0.05,
};

#endif
