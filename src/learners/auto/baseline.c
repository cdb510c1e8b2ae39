#include "learners/auto/baseline.h"

#include <math.h>
#include <string.h>

#include "core/kernels.h"
#include "gbose.h"
#include "learners/auto/clip.h"

enum { STATE_NUMBERS = sizeof(struct gbose__baseline_state) / sizeof(double) };

/* Those before the trackers. */
static size_t count_numbers(size_t dim, size_t round, int flexible)
{
    return gbose__pad(STATE_NUMBERS + 2 * round + (flexible ? gbose__offer_size(dim) : 0));
}

static size_t offer_of(int flexible)
{
    return flexible ? GBOSE__OFFER_FEATURES : 0;
}

size_t gbose__baseline_size(size_t dim, size_t round, int flexible)
{
    return count_numbers(dim, round, flexible) + gbose__trackers_size(dim, round, offer_of(flexible));
}

void gbose__baseline_view(struct gbose__baseline *baseline, const struct gbose__tuning *tuning, size_t dim,
                          size_t round, int flexible, double *at)
{
    baseline->state = (struct gbose__baseline_state *)at;
    baseline->mean = at + STATE_NUMBERS;
    baseline->variance = baseline->mean + round;
    gbose__offer_view(&baseline->offer, dim, baseline->variance + round);
    gbose__trackers_view(&baseline->trackers, tuning, dim, round, offer_of(flexible),
                         at + count_numbers(dim, round, flexible));
}

void gbose__baseline_init(const struct gbose__baseline *baseline)
{
    gbose__trackers_init(&baseline->trackers);
}

void gbose__baseline_grow(const struct gbose__baseline *to, const struct gbose__baseline *from)
{
    size_t round = from->trackers.round;

    *to->state = *from->state;
    if (round) {
        memcpy(to->mean, from->mean, round * sizeof(double));
        memcpy(to->variance, from->variance, round * sizeof(double));
    }
    if (from->trackers.offer)
        gbose__offer_grow(&to->offer, &from->offer);
    to->state->leader = (double)gbose__trackers_place(&to->trackers, gbose__baseline_leader(from));
    gbose__trackers_grow(&to->trackers, &from->trackers);
}

void gbose__baseline_rescale(const struct gbose__baseline *baseline, size_t j, double factor)
{
    gbose__trackers_rescale(&baseline->trackers, j, factor);
    if (baseline->trackers.offer)
        gbose__offer_rescale(&baseline->offer, j, factor);
}

int gbose__baseline_is_sane(const struct gbose__baseline *baseline)
{
    const struct gbose__baseline_state *state = baseline->state;
    size_t round = baseline->trackers.round;
    int fine = state->leader >= 0 && state->leader < (double)baseline->trackers.count &&
               state->leader == floor(state->leader) && state->best_square >= 0;

    for (size_t i = 0; i < round; i++)
        fine &= fabs(baseline->mean[i]) <= 2 * GBOSE_MAX_INPUT && baseline->variance[i] >= 0;
    fine = fine && (!baseline->trackers.offer || gbose__offer_is_sane(&baseline->offer));
    return fine && gbose__trackers_are_sane(&baseline->trackers);
}

const struct gbose__tracker *gbose__baseline_leader(const struct gbose__baseline *baseline)
{
    return &baseline->trackers.tracker[(size_t)baseline->state->leader];
}

/* ---- features ---- */

/* A feature, scaled by the root of the mean square of what came before. The first one ever is of size 1. */
static double scaled(double value, double mean_square, double most)
{
    double scale = mean_square > 0 ? sqrt(mean_square) : fabs(value);

    return scale > 0 ? gbose__clip(value / scale, most) : 0;
}

void gbose__baseline_features(const struct gbose__baseline *baseline, double *features,
                              const struct gbose__features *round)
{
    const struct gbose__tuning *tuning = baseline->trackers.tuning;
    const double *mean = baseline->mean, *variance = baseline->variance, most = tuning->feature_limit;

    features[GBOSE__FEATURE_BEST] = scaled(round->best, baseline->state->best_square, most);
    features[GBOSE__FEATURE_TIME] = round->clock / tuning->rounds_per_time;
    features[GBOSE__FEATURE_ROOT] = sqrt(fabs(features[GBOSE__FEATURE_BEST]));
    for (size_t i = 0; i < baseline->trackers.round; i++)
        features[GBOSE__FEATURE_ROUND + i] =
            variance[i] > 0 ? scaled(round->round[i] - mean[i], variance[i], most) : 0;
    if (baseline->trackers.offer)
        gbose__offer_features(&baseline->offer, features + GBOSE__FEATURE_ROUND + baseline->trackers.round,
                              round->offer);
}

/* Update the sizes by which features are scaled: discounted, and at first those of all rounds. */
static void update_scales(const struct gbose__baseline *baseline, const struct gbose__features *round,
                          double rounds)
{
    const struct gbose__tuning *tuning = baseline->trackers.tuning;
    double *mean = baseline->mean, *variance = baseline->variance, memory = tuning->best_memory;
    double share = gbose__clip_below(1 / (rounds + 1), 1 - tuning->round_memory);
    double *best_square = &baseline->state->best_square, square = round->best * round->best;

    for (size_t i = 0; i < baseline->trackers.round; i++) {
        double off = round->round[i] - mean[i];
        mean[i] += share * off;
        variance[i] = (1 - share) * (variance[i] + share * off * off);
    }
    *best_square = rounds > 0 ? memory * *best_square + (1 - memory) * round->best * round->best : square;
}

/* ---- predictions ---- */

struct gbose__prediction gbose__baseline_predict(const struct gbose__baseline *baseline,
                                                 const double *features, const double *mu, double *bhat)
{
    const struct gbose__tracker *leader = gbose__baseline_leader(baseline);
    struct gbose__prediction prediction = {0, 0, 0};

    if (!leader->tuning->use_baseline) {
        memset(bhat, 0, leader->stride * sizeof *bhat);
        return prediction;
    }
    prediction.reward = gbose__clip(gbose__tracker_predict(leader, features, bhat), GBOSE_MAX_INPUT);
    if (!gbose__kernels->within(bhat, leader->stride, GBOSE_MAX_INPUT))
        for (size_t i = 0; i < leader->stride; i++)
            bhat[i] = gbose__clip(bhat[i], GBOSE_MAX_INPUT);
    prediction.effect = gbose__dot(bhat, mu, leader->stride);
    prediction.shift = gbose__clip(prediction.reward - prediction.effect, GBOSE_MAX_INPUT);
    return prediction;
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

    if (tracker == gbose__trackers_flexible(&baseline->trackers))
        return tuning->flexible_settle;
    return tuning->settle_rounds * (double)tracker->q;
}

/* How much of the flexible tracker, which costs most, learns this round: after a fair time its slopes
 * learn from a few rounds only, and if it does not lead, so does all of it. Which rounds depends on
 * nothing that happens in them. */
enum effort { RESTS, LEVEL_ONLY, LEARNS };

static enum effort flexible_effort(const struct gbose__baseline *baseline, double rounds)
{
    const struct gbose__trackers *trackers = &baseline->trackers;
    const struct gbose__tuning *tuning = trackers->tuning;
    int leads = gbose__baseline_leader(baseline) == gbose__trackers_flexible(trackers);

    if (rounds < tuning->flexible_trial ||
        fmod(rounds, leads ? tuning->flexible_lead_rest : tuning->flexible_rest) == 0)
        return LEARNS;
    return leads ? LEVEL_ONLY : RESTS;
}

/* Update trackers and their losses, then pick the leader. */
static void learn_trackers(const struct gbose__baseline *baseline,
                           const struct gbose__baseline_lesson *lesson, double *scratch)
{
    const struct gbose__trackers *trackers = &baseline->trackers;
    const struct gbose__tuning *tuning = trackers->tuning;
    const struct gbose__tracker *leader = gbose__baseline_leader(baseline), *best = NULL,
                                *flexible = gbose__trackers_flexible(trackers);
    enum effort effort = flexible_effort(baseline, lesson->rounds);
    double rows[GBOSE__MAX_ALONG], *along = rows, memory = tuning->loss_memory;
    size_t count = trackers->count - (flexible && effort == RESTS ? 1 : 0);

    gbose__trackers_along(trackers, count, rows, lesson->mu);
    for (size_t k = 0; k < count; k++) {
        const struct gbose__tracker *tracker = &trackers->tracker[k];
        double shift = gbose__tracker_baseline(tracker, lesson->features, along);
        double error = gbose__clip(lesson->reward - lesson->score - shift, GBOSE__CLIP_RESIDUAL);

        *tracker->loss = memory * *tracker->loss + (1 - memory) * error * error;
        gbose__tracker_learn(tracker, lesson->features, lesson->reward, lesson->played,
                             tracker != flexible || effort == LEARNS, scratch);
        if (lesson->rounds >= rounds_to_settle(baseline, tracker) && (!best || *tracker->loss < *best->loss))
            best = tracker;
        along += 1 + tracker->q;
    }
    if (tuning->lead_factor * *best->loss < *leader->loss)
        baseline->state->leader = (double)(best - trackers->tracker);
}

void gbose__baseline_learn(const struct gbose__baseline *baseline,
                           const struct gbose__baseline_lesson *lesson, double *scratch)
{
    learn_trackers(baseline, lesson, scratch);
    update_scales(baseline, lesson->round, lesson->rounds);
    if (baseline->trackers.offer)
        gbose__offer_learn(&baseline->offer, lesson->round->offer);
}
