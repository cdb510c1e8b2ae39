/* What gbose-auto keeps beside its regressions, from its beginning to saving, merging and growing. */
#include <string.h>

#include "core/kernels.h"
#include "learners/auto/auto_inner.h"

enum { STATE_NUMBERS = sizeof(struct gbose__auto_state) / sizeof(double) };

/* How many numbers of a state the rows mean_common and totals take. */
static size_t count_means(const gbose *g)
{
    return ((const struct gbose__auto *)g->own)->note.has_offer ? 2 * gbose__pad(g->dim) : 0;
}

/* Where mean_common, baseline and diagnosis are in a state of g's shape. */
static double *mean_common_of(const gbose *g, double *state)
{
    return ((const struct gbose__auto *)g->own)->note.has_offer ? state + gbose__pad(STATE_NUMBERS) : NULL;
}

static void view(const gbose *g, double *state, const struct gbose__tuning *tuning,
                 struct gbose__baseline *baseline, struct gbose__diagnosis *diagnosis)
{
    int flexible = ((const struct gbose__auto *)g->own)->note.has_offer;
    double *at = state + gbose__pad(STATE_NUMBERS) + count_means(g);

    gbose__baseline_view(baseline, tuning, g->dim, g->round_features, flexible, at);
    *diagnosis = (struct gbose__diagnosis){tuning, g->dim,
                                           at + gbose__baseline_size(g->dim, g->round_features, flexible)};
}

size_t gbose__auto_state_size(const gbose *g)
{
    const struct gbose__auto *own = g->own;

    return gbose__pad(STATE_NUMBERS) + count_means(g) +
           gbose__baseline_size(g->dim, g->round_features, own->note.has_offer) +
           gbose__diagnosis_size(g->dim);
}

void gbose__auto_state_begin(gbose *g, const struct gbose__tuning *tuning)
{
    struct gbose__auto *own = g->own;

    double *kept = own->baseline.hindsight.rows, /* they are the learner's own, and stay */
        *near = own->baseline.neighbours.rows;

    own->tuning = tuning;
    view(g, g->state, tuning, &own->baseline, &own->diagnosis);
    own->baseline.hindsight.rows = kept;
    own->baseline.neighbours.rows = near;
    own->mean_common = mean_common_of(g, g->state);
    g->totals = own->totals = own->mean_common ? own->mean_common + gbose__pad(g->dim) : NULL;
    gbose__baseline_init(&own->baseline);
    gbose__auto_state_of(g)->worth = 1;
    gbose__auto_state_of(g)->contest.full_chooses = own->may_choose;
    gbose__auto_state_of(g)->origin.relative = own->mean_common != NULL;
}

int gbose__auto_state_check(const gbose *g)
{
    const struct gbose__auto *own = g->own;
    const struct gbose__auto_state *state = gbose__auto_state_of(g);

    return gbose__kernels->within(g->state, g->n_state, 1e300) && /* what is only padding, too */
           state->rounds >= 0 && state->worth >= 1 && state->began >= 0 && state->weights >= 0 &&
           state->anew >= 0 && state->dark >= 0 && state->contest.coins <= state->rounds &&
           gbose__contest_is_sane(&state->contest, own->tuning, own->may_choose) &&
           gbose__rewards_are_sane(&state->rewards) && gbose__scale_is_sane(&state->by_ticket) &&
           gbose__scale_is_sane(&state->by_present) && gbose__baseline_is_sane(&own->baseline) &&
           gbose__users_are_sane(&state->users) &&
           gbose__origin_is_sane(&state->origin, own->mean_common != NULL) &&
           gbose__length_is_sane(&state->length) && gbose__diagnosis_is_sane(&own->diagnosis);
}

int gbose__auto_state_holds(size_t fit, const double *state, const double *earlier)
{
    return fit == ORTHOGONAL || ((const struct gbose__auto_state *)state)->anew ==
                                    ((const struct gbose__auto_state *)earlier)->anew;
}

/* Baseline and contest stay those of the learner that goes on; the scales, by which evidence is weighed,
 * are those of the one that has learned more. The rounds that were kept are no longer all of its evidence, so that it must not
 * learn them, and nothing else, again. */
void gbose__auto_state_merge(gbose *into, const double *from, const double *common, double remains)
{
    static const struct gbose__auto_state nothing;
    const struct gbose__auto_state *old = common ? (const struct gbose__auto_state *)common : &nothing,
                                   *theirs = (const struct gbose__auto_state *)from;
    struct gbose__auto *own = into->own;
    struct gbose__auto_state *state = gbose__auto_state_of(into);
    size_t before = (size_t)(own->diagnosis.at - into->state);

    gbose__diagnosis_merge(&own->diagnosis, from + before, common ? common + before : NULL, remains);
    for (size_t j = 0, at = own->totals ? (size_t)(own->totals - into->state) : 0; j < into->dim && at; j++)
        own->totals[j] += from[at + j] - (common ? common[at + j] : 0);
    if (theirs->rounds > state->rounds) {
        state->by_ticket = theirs->by_ticket;
        state->by_present = theirs->by_present;
        state->rewards = theirs->rewards;
        state->worth = theirs->worth;
        state->began = theirs->began;
        state->users = theirs->users;
    }
    state->weights += theirs->weights - (common ? remains * old->weights : 0);
    state->contest.coins += theirs->contest.coins - old->contest.coins;
    state->rounds += theirs->rounds - old->rounds;
    gbose__hindsight_end(&own->baseline.hindsight);
    gbose__neighbours_clear(&own->baseline.neighbours);
}

/* A feature that is new was zero in every round so far. */
void gbose__auto_state_grow(const gbose *g, double *state, const gbose *from, const double *from_state)
{
    struct gbose__auto *own = g->own;
    struct gbose__baseline baseline, old_baseline;
    struct gbose__diagnosis diagnosis, old_diagnosis;

    view(g, state, own->tuning, &baseline, &diagnosis);
    view(from, (double *)from_state, own->tuning, &old_baseline, &old_diagnosis);
    memcpy(state, from_state, STATE_NUMBERS * sizeof *state);
    for (size_t i = 0; i < 2 && own->mean_common; i++)
        memcpy(mean_common_of(g, state) + i * gbose__pad(g->dim),
               mean_common_of(from, (double *)from_state) + i * gbose__pad(from->dim),
               from->dim * sizeof *state);
    if (state == g->state) {
        baseline.hindsight.rows = own->baseline.hindsight.rows;
        old_baseline.hindsight.rows = ((const struct gbose__auto *)from->own)->baseline.hindsight.rows;
        baseline.neighbours.rows = own->baseline.neighbours.rows;
        old_baseline.neighbours.rows = ((const struct gbose__auto *)from->own)->baseline.neighbours.rows;
    }
    gbose__baseline_grow(&baseline, &old_baseline);
    gbose__diagnosis_grow(&diagnosis, &old_diagnosis);
    if (state == g->state && !old_baseline.hindsight.rows)
        gbose__hindsight_end(&own->baseline.hindsight);
}

void gbose__auto_state_rescale(const gbose *g, double *state, size_t j, double factor)
{
    const struct gbose__auto *own = g->own;
    struct gbose__baseline baseline;
    struct gbose__diagnosis diagnosis;

    view(g, state, own->tuning, &baseline, &diagnosis);
    if (state == g->state) {
        baseline.hindsight.rows = own->baseline.hindsight.rows;
        baseline.neighbours.rows = own->baseline.neighbours.rows;
    }
    for (size_t i = 0; i < 2 && own->mean_common; i++)
        mean_common_of(g, state)[i * gbose__pad(g->dim) + j] *= factor;
    gbose__baseline_rescale(&baseline, j, factor);
    gbose__diagnosis_rescale(&diagnosis, j, factor);
}

void gbose__auto_state_write(const gbose *g, struct gbose__writer *w)
{
    const struct gbose__auto *own = g->own;

    gbose__hindsight_write(&own->baseline.hindsight, w);
    gbose__neighbours_write(&own->baseline.neighbours, w);
}

void gbose__auto_state_read(gbose *g, struct gbose__reader *r)
{
    struct gbose__auto *own = g->own;

    if (*own->baseline.hindsight.count == GBOSE__HINDSIGHT_OVER)
        gbose__hindsight_end(&own->baseline.hindsight);
    gbose__hindsight_read(&own->baseline.hindsight, r);
    gbose__neighbours_read(&own->baseline.neighbours, r);
}
