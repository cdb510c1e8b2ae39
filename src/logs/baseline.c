#include "logs/baseline.h"

#include <math.h>
#include <string.h>

#include "core/kernels.h"
#include "core/memory.h"
#include "gbose.h"

/* The constants of gbose-auto (docs/learners/gbose-auto.md). */
#define LOSS_FORGET 0.98 /* a round's squared error counts this much less with every later round */
#define LEAD 1.05        /* another tracker leads when its error is less by this factor */
#define TIME_SCALE 100.0 /* rounds that are one unit of time to the tracker of trends */
#define SETTLE 5.0       /* rounds for each feature before a tracker may lead */
#define SCORE_FORGET 0.999
#define ERROR_MOST 1e140 /* errors are clipped to this, so that their squares are finite */

static double clip(double x, double most)
{
    return x > most ? most : x < -most ? -most : x;
}

int gbose__baseline_init(struct gbose__baseline *baseline, size_t dim)
{
    size_t size = gbose__trackers_size(dim, 0);

    memset(baseline, 0, sizeof *baseline);
    baseline->stride = gbose__pad(dim);
    baseline->memory = gbose__alloc(size + baseline->stride, sizeof(double));
    if (!baseline->memory)
        return GBOSE_ENOMEM;
    baseline->scratch = baseline->memory + size;
    baseline->trackers = (struct gbose__trackers){dim, 0, baseline->memory};
    gbose__trackers_init(&baseline->trackers);
    return GBOSE_OK;
}

void gbose__baseline_clear(struct gbose__baseline *baseline)
{
    gbose__free(baseline->memory);
}

static void features(const struct gbose__baseline *baseline, double *phi, double best)
{
    double scale = baseline->score_square > 0 ? sqrt(baseline->score_square) : fabs(best);

    phi[GBOSE__PHI_BEST] = scale > 0 ? clip(best / scale, GBOSE__PHI_MOST) : 0;
    phi[GBOSE__PHI_ROOT] = sqrt(fabs(phi[GBOSE__PHI_BEST]));
    phi[GBOSE__PHI_TIME] = baseline->rounds / TIME_SCALE;
}

double gbose__baseline_predict(const struct gbose__baseline *baseline, const double *mu, double best)
{
    struct gbose__tracker leader = gbose__tracker_at(&baseline->trackers, baseline->leader);
    double phi[GBOSE__MAX_PHI], rhat;

    features(baseline, phi, best);
    rhat = gbose__tracker_predict(&leader, phi, baseline->scratch);
    return clip(rhat - gbose__dot(baseline->scratch, mu, baseline->stride), GBOSE_MAX_INPUT);
}

void gbose__baseline_learn(struct gbose__baseline *baseline, const double *mu, double best, const double *b,
                           double reward)
{
    struct gbose__tracker v = gbose__tracker_at(&baseline->trackers, 0);
    double phi[GBOSE__MAX_PHI], rows[GBOSE__MAX_SEEN], *seen = rows,
                                                       own = reward - gbose__dot(b, mu, baseline->stride);
    size_t count = gbose__trackers_count(0), first = 0;
    double least = INFINITY, lead = INFINITY;

    features(baseline, phi, best);
    gbose__trackers_see(&baseline->trackers, rows, mu);
    for (; v.k < count; seen += 1 + v.q, gbose__tracker_next(&baseline->trackers, &v)) {
        double error = clip(own - gbose__tracker_baseline(&v, phi, seen), ERROR_MOST);

        *v.loss = LOSS_FORGET * *v.loss + (1 - LOSS_FORGET) * error * error;
        gbose__tracker_learn(&v, phi, reward, b, baseline->scratch);
        if (v.k == baseline->leader)
            lead = *v.loss;
        if (baseline->rounds >= SETTLE * (double)v.q && *v.loss < least) {
            least = *v.loss;
            first = v.k;
        }
    }
    if (LEAD * least < lead)
        baseline->leader = first;
    baseline->score_square = baseline->rounds > 0
                                 ? SCORE_FORGET * baseline->score_square + (1 - SCORE_FORGET) * best * best
                                 : best * best;
    baseline->rounds++;
}
