#include "learners/auto/baseline.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/kernels.h"
#include "gbose.h"
#include "learners/auto/clip.h"

enum { STATE_NUMBERS = sizeof(struct gbose__baseline_state) / sizeof(double) };
enum { FUNCTION_NUMBERS = sizeof(struct gbose__functions) / sizeof(double) };
enum { INDEX_NUMBERS = sizeof(struct gbose__index) / sizeof(double) };
enum { TREE_NUMBERS = sizeof(struct gbose__tree) / sizeof(double) };

/* What is known of users. */
static size_t count_user_numbers(size_t dim)
{
    return gbose__offer_size(dim) + FUNCTION_NUMBERS + INDEX_NUMBERS + TREE_NUMBERS;
}

/* Those before the trackers. */
static size_t count_numbers(size_t dim, size_t round, int flexible)
{
    return gbose__pad(STATE_NUMBERS + gbose__given_size(round) + (flexible ? count_user_numbers(dim) : 0));
}

static size_t offer_of(int flexible)
{
    return flexible ? GBOSE__FUNCTIONS : 0;
}

size_t gbose__baseline_size(size_t dim, size_t round, int flexible)
{
    return count_numbers(dim, round, flexible) + gbose__trackers_size(dim, round, offer_of(flexible));
}

void gbose__baseline_view(struct gbose__baseline *baseline, const struct gbose__tuning *tuning, size_t dim,
                          size_t round, int flexible, double *at)
{
    double *users = at + STATE_NUMBERS + gbose__given_size(round);

    baseline->state = (struct gbose__baseline_state *)at;
    gbose__given_view(&baseline->given, round, at + STATE_NUMBERS);
    gbose__offer_view(&baseline->offer, dim, users);
    baseline->functions = (struct gbose__functions *)(users + gbose__offer_size(dim));
    baseline->index = (struct gbose__index *)((double *)baseline->functions + FUNCTION_NUMBERS);
    baseline->tree = (struct gbose__tree *)((double *)baseline->index + INDEX_NUMBERS);
    gbose__trackers_view(&baseline->trackers, tuning, dim, round, offer_of(flexible),
                         at + count_numbers(dim, round, flexible));
    baseline->hindsight = (struct gbose__hindsight){round, dim, &baseline->state->kept, NULL};
    baseline->neighbours =
        (struct gbose__neighbours){dim, gbose__pad(dim), &baseline->state->neighbours, NULL};
}

void gbose__baseline_init(const struct gbose__baseline *baseline)
{
    gbose__trackers_init(&baseline->trackers);
}

void gbose__baseline_grow(const struct gbose__baseline *to, const struct gbose__baseline *from)
{
    *to->state = *from->state;
    gbose__given_grow(&to->given, &from->given);
    if (from->trackers.offer) {
        gbose__offer_grow(&to->offer, &from->offer);
        *to->functions = *from->functions;
        *to->index = *from->index;
        *to->tree = *from->tree;
        gbose__hindsight_grow(&to->hindsight, &from->hindsight);
        gbose__neighbours_grow(&to->neighbours, &from->neighbours);
    }
    to->state->leader = (double)gbose__trackers_place(&to->trackers, gbose__baseline_leader(from));
    gbose__trackers_grow(&to->trackers, &from->trackers);
}

void gbose__baseline_rescale(const struct gbose__baseline *baseline, size_t j, double factor)
{
    gbose__trackers_rescale(&baseline->trackers, j, factor);
    if (baseline->trackers.offer) {
        gbose__offer_rescale(&baseline->offer, j, factor);
        gbose__hindsight_rescale(&baseline->hindsight, j, factor);
        gbose__neighbours_rescale(&baseline->neighbours, j, factor);
    }
}

int gbose__baseline_is_sane(const struct gbose__baseline *baseline)
{
    const struct gbose__baseline_state *state = baseline->state;
    int fine = state->leader >= 0 && state->leader < (double)baseline->trackers.count &&
               state->leader == floor(state->leader) && state->led >= 0 && state->led <= 1e300 &&
               state->best_square >= 0;

    fine = fine && gbose__given_are_sane(&baseline->given) &&
           (!baseline->trackers.offer ||
            (gbose__offer_is_sane(&baseline->offer) && gbose__functions_are_sane(baseline->functions) &&
             baseline->functions->coordinates == baseline->offer.state->count &&
             gbose__index_is_sane(baseline->index) && gbose__tree_is_sane(baseline->tree) &&
             gbose__hindsight_is_sane(&baseline->hindsight) &&
             gbose__neighbours_are_sane(&baseline->neighbours)));
    return fine && gbose__trackers_are_sane(&baseline->trackers);
}

const struct gbose__tracker *gbose__baseline_leader(const struct gbose__baseline *baseline)
{
    return &baseline->trackers.tracker[(size_t)baseline->state->leader];
}

double gbose__baseline_leader_features(const struct gbose__baseline *baseline)
{
    const struct gbose__trackers *trackers = &baseline->trackers;
    const struct gbose__tracker *leader = gbose__baseline_leader(baseline);
    double q = (double)leader->q;

    if (!gbose__tracker_is_of_user(leader))
        return q;
    if (leader == gbose__trackers_flexible(trackers))
        return q - GBOSE__FUNCTIONS + baseline->functions->count;
    if (leader == gbose__trackers_tree(trackers))
        return q;
    return q - GBOSE__OFFER_COORDINATES + baseline->offer.state->count; /* linear, or the index */
}

/* ---- who learns ---- */

/* How much trackers on users learn from a round. After a fair time they, which cost most, learn from a few rounds only as
 * long as none of them leads. The flexible one, which is the largest, does so if another leads, and its slopes learn
 * from a few rounds only if it leads itself. Which rounds depends on nothing that happens in them. */
enum effort { RESTS, LEVEL_ONLY, LEARNS };
struct efforts {
    enum effort flexible, others;
};

static struct efforts efforts_of(const struct gbose__baseline *baseline, double rounds)
{
    const struct gbose__trackers *trackers = &baseline->trackers;
    const struct gbose__tuning *tuning = trackers->tuning;
    const struct gbose__tracker *leader = gbose__baseline_leader(baseline);
    uint64_t number = (uint64_t)rounds;
    struct efforts efforts = {LEARNS, LEARNS};

    if (rounds < tuning->user_trial || number % tuning->user_rest == 0)
        return efforts;
    efforts.others = gbose__tracker_is_of_user(leader) ? LEARNS : RESTS;
    efforts.flexible = RESTS;
    if (leader == gbose__trackers_flexible(trackers))
        efforts.flexible = number % tuning->flexible_lead_rest == 0 ? LEARNS : LEVEL_ONLY;
    return efforts;
}

static enum effort effort_of_user(const struct gbose__baseline *baseline, const struct efforts *efforts,
                                  const struct gbose__tracker *tracker)
{
    return tracker == gbose__trackers_flexible(&baseline->trackers) ? efforts->flexible : efforts->others;
}

/* Do any trackers on users learn from a round? */
static int users_learn(const struct gbose__baseline *baseline, double rounds)
{
    return baseline->trackers.offer && efforts_of(baseline, rounds).others != RESTS;
}

/* ---- features ---- */

/* A feature, scaled by the root of the mean square of what came before. The first one ever is of size 1. */
static double scaled(double value, double mean_square, double most)
{
    double scale = mean_square > 0 ? sqrt(mean_square) : fabs(value);

    return scale > 0 ? gbose__clip(value / scale, most) : 0;
}

/* Those of the user with coordinates z: these, functions of them, of her index, and her leaf. */
static void user_features(const struct gbose__baseline *baseline, double *features, const double *z)
{
    double *functions = features + GBOSE__OFFER_COORDINATES, *index = functions + GBOSE__FUNCTIONS,
           *leaf = index + GBOSE__INDEX_FEATURES;
    struct gbose__tree_code code = gbose__tree_code(z);

    memcpy(features, z, GBOSE__OFFER_COORDINATES * sizeof *z);
    gbose__functions_values(baseline->functions, functions, z);
    gbose__index_features(baseline->index, index, z, (size_t)baseline->offer.state->count);
    memset(leaf, 0, GBOSE__TREE_LEAVES * sizeof *leaf);
    leaf[gbose__tree_leaf(baseline->tree, &code)] = 1;
}

void gbose__baseline_features(const struct gbose__baseline *baseline, double *features,
                              const struct gbose__features *round, double rounds)
{
    const struct gbose__tuning *tuning = baseline->trackers.tuning;
    const double most = tuning->feature_limit;
    double *of_user = features + GBOSE__FEATURE_ROUND + baseline->trackers.round;
    double z[GBOSE__OFFER_COORDINATES];

    features[GBOSE__FEATURE_BEST] = scaled(round->best, baseline->state->best_square, most);
    features[GBOSE__FEATURE_TIME] = round->clock / tuning->rounds_per_time;
    features[GBOSE__FEATURE_ROOT] = sqrt(fabs(features[GBOSE__FEATURE_BEST]));
    gbose__given_features(&baseline->given, baseline->trackers.tuning, features + GBOSE__FEATURE_ROUND,
                          round->round);
    if (!gbose__tracker_is_of_user(gbose__baseline_leader(baseline)) &&
        !(rounds >= 0 && users_learn(baseline, rounds)))
        return;
    gbose__offer_coordinates(&baseline->offer, z, round->offer, round->common);
    user_features(baseline, of_user, z);
}

void gbose__baseline_features_again(const struct gbose__baseline *baseline, double *features,
                                    const struct gbose__hindsight_round *round)
{
    gbose__given_features(&baseline->given, baseline->trackers.tuning, features + GBOSE__FEATURE_ROUND,
                          round->round);
    user_features(baseline, features + GBOSE__FEATURE_ROUND + baseline->trackers.round, round->z);
}

/* Update the size by which the best score is scaled. */
static void update_scale(const struct gbose__baseline *baseline, const struct gbose__features *round,
                         double rounds)
{
    double memory = baseline->trackers.tuning->best_memory, square = round->best * round->best;
    double *best_square = &baseline->state->best_square;

    *best_square = rounds > 0 ? memory * *best_square + (1 - memory) * square : square;
}

void gbose__baseline_meet(const struct gbose__baseline *baseline, const struct gbose__features *round,
                          double rounds)
{
    const struct gbose__trackers *trackers = &baseline->trackers;
    struct gbose__given_move move[GBOSE__MAX_ROUND];

    gbose__given_learn(&baseline->given, trackers->tuning, move, round->round, rounds);
    for (size_t i = 0; i < trackers->round; i++)
        if (move[i].factor != 1)
            gbose__trackers_move_given(trackers, i, &move[i]);
}

/* ---- predictions ---- */

struct gbose__prediction gbose__baseline_predict(const struct gbose__baseline *baseline,
                                                 const double *features, const double *mu, double *bhat)
{
    const struct gbose__tracker *leader = gbose__baseline_leader(baseline);
    struct gbose__prediction prediction = {0, 0, 0};
    double x[GBOSE__CENTRED];

    if (!leader->tuning->use_baseline) {
        memset(bhat, 0, leader->stride * sizeof *bhat);
        return prediction;
    }
    gbose__tracker_centre(leader, x, features);
    prediction.reward = gbose__clip(gbose__tracker_predict(leader, x, bhat), GBOSE_MAX_INPUT);
    if (!gbose__kernels->within(bhat, leader->stride, GBOSE_MAX_INPUT))
        for (size_t i = 0; i < leader->stride; i++)
            bhat[i] = gbose__clip(bhat[i], GBOSE_MAX_INPUT);
    prediction.effect = gbose__dot(bhat, mu, leader->stride);
    prediction.shift = gbose__clip(prediction.reward - prediction.effect, GBOSE_MAX_INPUT);
    return prediction;
}

double gbose__baseline_gain(const struct gbose__baseline *baseline)
{
    double least = INFINITY;

    for (size_t k = 0; k < baseline->trackers.count; k++) {
        const struct gbose__tracker *tracker = &baseline->trackers.tracker[k];

        if (!gbose__tracker_is_of_user(tracker) && *tracker->loss < least)
            least = *tracker->loss;
    }
    return least / *gbose__baseline_leader(baseline)->loss;
}

double gbose__baseline_reaction(const struct gbose__baseline *baseline, const double *features,
                                const double *mu)
{
    const struct gbose__tracker *leader = gbose__baseline_leader(baseline);
    const struct gbose__tuning *tuning = leader->tuning;
    double slope = gbose__tracker_slope(leader, features, mu), scale = sqrt(baseline->state->best_square);
    double least = tuning->reaction_errors * tuning->reaction_errors * *leader->loss;

    if (slope == 0 || !(scale > 0) || slope * slope < least * gbose__tracker_slope_error(leader, features))
        return 0;
    return gbose__clip(slope / scale, tuning->reaction_limit);
}

/* Rounds until a tracker may lead. */
static double rounds_to_settle(const struct gbose__baseline *baseline, const struct gbose__tracker *tracker)
{
    const struct gbose__tuning *tuning = tracker->tuning;

    if (gbose__tracker_is_of_round(tracker))
        return tuning->given_settle + (double)tracker->q;
    if (!gbose__tracker_is_of_user(tracker))
        return tuning->settle_rounds * (double)tracker->q;
    if (tracker == gbose__trackers_flexible(&baseline->trackers))
        return tuning->flexible_settle;
    if (tracker == gbose__trackers_tree(&baseline->trackers))
        return tuning->tree_settle;
    return tracker == gbose__trackers_linear(&baseline->trackers) ? tuning->linear_settle
                                                                  : tuning->index_settle;
}

/* A discounted mean of squares, in which an outlier counts only as an outlier. */
static void approach_square(double *mean, const struct gbose__tuning *tuning, double error)
{
    double square = gbose__clip(error, GBOSE__CLIP_RESIDUAL);

    square *= square;
    if (*mean > 0)
        square = gbose__clip(square, tuning->scale_clip * *mean);
    *mean += (1 - tuning->plain_memory) * (square - *mean);
}

/* Update trackers and their losses, then pick the leader. `along` is by gbose__trackers_along(). */
static void learn_trackers(const struct gbose__baseline *baseline,
                           const struct gbose__baseline_lesson *lesson, const double *along, double *scratch)
{
    const struct gbose__trackers *trackers = &baseline->trackers;
    const struct gbose__tuning *tuning = trackers->tuning;
    const struct gbose__tracker *leader = gbose__baseline_leader(baseline), *best = NULL;
    struct efforts efforts = efforts_of(baseline, lesson->rounds);
    double memory = tuning->loss_memory, square;
    double most = 0; /* that a squared error of a tracker on users counts; these come after the others */
    int compares = efforts.others != RESTS; /* rounds are the same for all */

    for (size_t k = 0; k < trackers->count; k++) {
        const struct gbose__tracker *tracker = &trackers->tracker[k];
        int of_user = gbose__tracker_is_of_user(tracker);
        enum effort effort = of_user ? effort_of_user(baseline, &efforts, tracker) : LEARNS;
        double x[GBOSE__CENTRED], error;

        if (effort == RESTS)
            continue;
        gbose__tracker_centre(tracker, x, lesson->features);
        error = lesson->reward - lesson->score -
                gbose__tracker_baseline(tracker, x, along + gbose__tracker_row(trackers, tracker));
        error = gbose__clip(error, GBOSE__CLIP_RESIDUAL);
        if (compares && tracker == leader)
            approach_square(&baseline->state->led, tuning, error);
        if (compares)
            approach_square(tracker->plain, tuning, lesson->reward - gbose__tracker_plain(tracker, x));
        square = error * error;
        if (!of_user)
            most = gbose__clip_below(most, gbose__clip_below(square, tuning->loss_reach * *tracker->loss));
        else if (square > most)
            square = most;
        *tracker->loss = memory * *tracker->loss + (1 - memory) * square;
        gbose__tracker_learn(tracker, x, lesson->reward, lesson->played, effort == LEARNS, scratch);
        if ((!best || *tracker->loss < *best->loss) && lesson->rounds >= rounds_to_settle(baseline, tracker))
            best = tracker;
    }
    if (tuning->lead_factor * *best->loss < *leader->loss)
        baseline->state->leader = (double)(best - trackers->tracker);
}

/* Of the trackers for which `is_such` holds, and which may lead, the one that is best with mu left out; NULL if there is none whose
 * mean squared error is below `most`, which is asked first, since it hardly ever is. */
static const struct gbose__tracker *best_plain(const struct gbose__baseline *baseline, double rounds,
                                               double most,
                                               int (*is_such)(const struct gbose__tracker *tracker))
{
    const struct gbose__tracker *best = NULL;

    for (size_t k = 0; k < baseline->trackers.count; k++) {
        const struct gbose__tracker *tracker = &baseline->trackers.tracker[k];

        if (*tracker->plain < most && (!best || *tracker->plain < *best->plain) && is_such(tracker) &&
            rounds >= rounds_to_settle(baseline, tracker))
            best = tracker;
    }
    return best;
}

static int is_of_round_or_user(const struct gbose__tracker *tracker)
{
    return gbose__tracker_is_of_round(tracker) || gbose__tracker_is_of_user(tracker);
}

/* A tracker leads from now on, by the errors without mu. */
static void lead_without(const struct gbose__baseline *baseline, const struct gbose__tracker *tracker)
{
    const struct gbose__trackers *trackers = &baseline->trackers;

    baseline->state->leader = (double)(tracker - trackers->tracker);
    baseline->state->led = *tracker->plain;
    for (size_t k = 0; k < trackers->count; k++)
        *trackers->tracker[k].loss = *trackers->tracker[k].plain;
}

int gbose__baseline_does_without(const struct gbose__baseline *baseline, double rounds, double variance)
{
    const struct gbose__trackers *trackers = &baseline->trackers;
    const struct gbose__tuning *tuning = trackers->tuning;
    const struct gbose__tracker *best =
        best_plain(baseline, rounds, variance / tuning->anew_factor, is_of_round_or_user);

    for (size_t k = 0; k < trackers->count && best; k++)
        if (gbose__tracker_is_of_time(&trackers->tracker[k]) &&
            !(tuning->anew_gain * *best->plain < *trackers->tracker[k].plain))
            best = NULL;
    if (best)
        lead_without(baseline, best);
    return best != NULL;
}

int gbose__baseline_has_jumped(const struct gbose__baseline *baseline, double rounds, double variance)
{
    double most = gbose__clip(baseline->state->led, variance) / baseline->trackers.tuning->anew_time;
    const struct gbose__tracker *best = best_plain(baseline, rounds, most, gbose__tracker_is_of_time);

    if (best)
        lead_without(baseline, best);
    return best != NULL;
}

/* Is it time to learn all rounds that are kept again? */
static int is_due(const struct gbose__baseline *baseline)
{
    const struct gbose__tuning *tuning = baseline->trackers.tuning;
    double kept = baseline->state->kept, next = tuning->hindsight_first;

    while (next < kept)
        next = floor(next * tuning->hindsight_factor);
    return next == kept || kept == GBOSE__HINDSIGHT_ROUNDS;
}

void gbose__baseline_grow_tree(const struct gbose__baseline *baseline, double *played, double *scratch)
{
    const struct gbose__hindsight *hindsight = &baseline->hindsight;
    struct gbose__tree_code code[GBOSE__HINDSIGHT_ROUNDS];
    double target[GBOSE__HINDSIGHT_ROUNDS];
    size_t count = gbose__hindsight_count(hindsight);

    for (size_t k = 0; k < count; k++) {
        struct gbose__hindsight_round round = gbose__hindsight_at(hindsight, k);

        code[k] = gbose__tree_code(round.z);
        target[k] = round.target;
    }
    gbose__tree_grow(baseline->tree, code, target, count, (size_t)baseline->offer.state->count);
    gbose__baseline_learn_again(baseline, gbose__trackers_tree(&baseline->trackers), played, scratch);
}

void gbose__baseline_choose_functions(const struct gbose__baseline *baseline, double *played, double *scratch)
{
    if (gbose__functions_choose(baseline->functions, &baseline->hindsight))
        gbose__baseline_learn_again(baseline, gbose__trackers_flexible(&baseline->trackers), played, scratch);
}

void gbose__baseline_learn_again(const struct gbose__baseline *baseline, const struct gbose__tracker *tracker,
                                 double *played, double *scratch)
{
    double features[GBOSE__MAX_FEATURES], x[GBOSE__CENTRED];

    gbose__tracker_begin(tracker);
    for (size_t k = 0; k < gbose__hindsight_count(&baseline->hindsight); k++) {
        struct gbose__hindsight_round round = gbose__hindsight_at(&baseline->hindsight, k);

        gbose__baseline_features_again(baseline, features, &round);
        memcpy(played, round.played, baseline->trackers.dim * sizeof *played);
        gbose__tracker_centre(tracker, x, features);
        gbose__tracker_learn(tracker, x, round.reward, played, 1, scratch);
    }
}

/* What index and tree are to learn from a round. */
struct user_lesson {
    double slope[GBOSE__OFFER_COORDINATES]; /* of v, by the linear tracker */
    double target; /* what is left of the reward beside the arm's effect and the level of the time */
};

static struct user_lesson user_lesson_of(const struct gbose__baseline *baseline,
                                         const struct gbose__baseline_lesson *lesson, const double *along)
{
    const struct gbose__trackers *trackers = &baseline->trackers;
    const struct gbose__tracker *linear = gbose__trackers_linear(trackers),
                                *tree = gbose__trackers_tree(trackers);
    const double *linear_along = along + gbose__tracker_row(trackers, linear) + 1;
    static const double zeros[GBOSE__TREE_LEAVES + 1];
    struct user_lesson user;

    for (size_t i = 0; i < linear->q; i++)
        user.slope[i] = linear->slope_r[i] - linear_along[i];
    user.target = lesson->reward - gbose__tracker_level(tree, zeros);
    return user;
}

static int learn_user(const struct gbose__baseline *baseline, const struct gbose__baseline_lesson *lesson,
                      const struct user_lesson *user)
{
    const double *z = lesson->features + gbose__trackers_linear(&baseline->trackers)->first;
    size_t count = (size_t)baseline->offer.state->count;
    struct gbose__hindsight_round round;

    if (!count)
        return 0;
    gbose__index_learn(baseline->index, user->slope, z, count);
    if (!baseline->hindsight.rows)
        return 0;
    round = (struct gbose__hindsight_round){.reward = lesson->reward,
                                            .target = user->target,
                                            .round = lesson->round->round,
                                            .played = lesson->played};
    memcpy(round.z, z, sizeof round.z);
    gbose__hindsight_learn(&baseline->hindsight, &round);
    return is_due(baseline);
}

int gbose__baseline_learn(const struct gbose__baseline *baseline, const struct gbose__baseline_lesson *lesson,
                          double *scratch)
{
    const struct gbose__trackers *trackers = &baseline->trackers;
    int users = users_learn(baseline, lesson->rounds), due = 0;
    double along[GBOSE__MAX_ALONG];
    struct user_lesson user;

    gbose__trackers_along(trackers, users, along, lesson->mu);
    if (users)
        user = user_lesson_of(baseline, lesson, along);
    learn_trackers(baseline, lesson, along, scratch);
    if (users)
        due = learn_user(baseline, lesson, &user);
    update_scale(baseline, lesson->round, lesson->rounds);
    if (baseline->trackers.offer &&
        gbose__offer_learn(&baseline->offer, lesson->round->offer, lesson->round->common))
        gbose__functions_begin(baseline->functions, (size_t)baseline->offer.state->count);
    return due;
}
