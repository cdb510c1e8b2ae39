/* The statistics of a study: for each learner in each world, the parameter that came out best and how it did.
 *
 * A run that is not done counts nowhere, so the summary of a study that was stopped is that of its finished
 * runs. */
#ifndef GBOSE_STUDY_SUMMARY_H
#define GBOSE_STUDY_SUMMARY_H

#include <stddef.h>
#include <stdint.h>

#include "study/plan.h"

#define GBOSE__NO_VALUE SIZE_MAX

/* Median and quartiles of n numbers; NaN if n is 0. */
struct gbose__spread {
    size_t n;
    double q1, median, q3;
};

/* The mean of n differences, and the ends of its 95% confidence interval (Student's): NaN if n is below 2. */
struct gbose__difference {
    size_t n;
    double mean, low, high;
};

struct gbose__summary {
    size_t world, learner;
    size_t value;                      /* the one of least median final regret over the tuning repetitions;
                                           ties: the first. GBOSE__NO_VALUE if none was run */
    struct gbose__spread tuned;        /* its final regret over the tuning repetitions: best in hindsight */
    struct gbose__spread fresh;        /* over the fresh ones; n is 0 if there are none */
    struct gbose__difference to_first; /* final regret minus the first learner's, on the same repetitions: the
                                           fresh ones if the plan has any, else the tuning ones. n is 0 for the
                                           first learner itself */
    double reward, lone;               /* means over those repetitions */
};

/* Summaries of all (world, learner), learners within worlds: n_worlds * n_learners of them, to be freed with
 * free(). GBOSE_OK or GBOSE_ENOMEM. */
int gbose__summary_make(struct gbose__summary **out, const struct gbose__study *s, gbose_error *err);

/* The best value of each (world, learner), from the tuning repetitions alone.
 *   chosen  room for n_worlds * n_learners, learners within worlds; GBOSE__NO_VALUE where no run is done.
 * GBOSE_OK or GBOSE_ENOMEM. */
int gbose__summary_choose(size_t *chosen, const struct gbose__study *s, gbose_error *err);

/* Quartiles of the cumulative regret at each of the plan's points (n_points of them), over the tuning
 * repetitions of one value. GBOSE_OK or GBOSE_ENOMEM. */
int gbose__summary_curve(struct gbose__spread *out, const struct gbose__study *s, size_t world,
                         size_t learner, size_t value, gbose_error *err);

/* Quantile p of n sorted numbers by linear interpolation between order statistics (type 7 of Hyndman and
 * Fan, the default of R and NumPy). NaN if n is 0. */
double gbose__summary_quantile(const double *sorted, size_t n, double p);

/* Sort x and take its quartiles. NaN goes last. */
struct gbose__spread gbose__summary_spread(double *x, size_t n);

#endif
