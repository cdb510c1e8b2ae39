/* Baseline trackers: what the reward will be, from what is known before the arm is drawn.
 *
 * A tracker predicts the reward r, and the context b of the arm that is played, from features x of the round. It
 * is a least squares with an intercept in which a round that is k rounds old counts forget^k:
 *
 *     n     <- forget n + 1            xbar, rbar, bbar: the weighted means
 *     C     = P + sum forget^k (x - xbar)(x - xbar)'
 *     slope = C^-1 sum forget^k (x - xbar)(target - its mean)
 *     rhat  = rbar + (x - xbar)'slope_r,      bhat likewise
 *
 * The intercept has no prior, so a level of any size is met at once. P is a prior on the slopes. Forgetting wears
 * its entries too; one that has worn to 0.9 PRIOR is put back, in turn, after the round that wore it. So C^-1 is at
 * most 1 / (0.9 PRIOR) whatever the features do: constant, collinear or zero for ever. C^-1 = R'R is kept as the triangle R, by the step of core/ridge.h. Features are scaled by their running
 * size, and clipped, before they come here.
 *
 * All that a tracker knows is numbers in a row that the caller keeps, saves and loads. */
#ifndef GBOSE_LEARNERS_TRACKERS_H
#define GBOSE_LEARNERS_TRACKERS_H

#include <stddef.h>

/* The features there are, each between -GBOSE__PHI_MOST and GBOSE__PHI_MOST but for the time: of the arms' estimated scores
 * the best, and the root of its magnitude; the time, of any origin; then the caller's own. */
enum { GBOSE__PHI_BEST, GBOSE__PHI_ROOT, GBOSE__PHI_TIME, GBOSE__PHI_ROUND };
#define GBOSE__MAX_ROUND 64
#define GBOSE__MAX_PHI (GBOSE__PHI_ROUND + GBOSE__MAX_ROUND)
#define GBOSE__MAX_SEEN (16 + 3 * GBOSE__MAX_ROUND) /* a number for each tracker and each of its features */
#define GBOSE__PHI_MOST 8.0
#define GBOSE__TRACKER_PRIOR 0.1 /* PRIOR */

struct gbose__trackers {
    size_t dim;   /* of a context */
    size_t round; /* the caller's features */
    double *at;   /* gbose__trackers_size() numbers */
};

/* One of them: its numbers, and their names. */
struct gbose__tracker {
    size_t k;         /* its number in the table */
    const char *name; /* static memory */
    double forget;
    size_t q;         /* features */
    size_t stride;    /* of a row: dim, padded */
    double *loss;     /* belongs to the caller: how well it has done */
    double *n, *turn; /* turn: the entry of P that is next to be put back */
    double *rbar;     /* 1 */
    double *xbar;     /* q */
    double *prior;    /* q: P */
    double *slope_r;  /* q */
    double *root;     /* R: row after row of the lower triangle */
    double *bbar;     /* a row */
    double *slope_b;  /* q rows, behind that of bbar */
};

size_t gbose__trackers_count(size_t round);
size_t gbose__trackers_size(size_t dim, size_t round);
void gbose__trackers_init(const struct gbose__trackers *t); /* of numbers that are zero */
/* Copy trackers of a smaller dim into numbers that are zero: what is new in a context was zero in every round. */
void gbose__trackers_grow(const struct gbose__trackers *to, const struct gbose__trackers *from);
int gbose__trackers_are_sane(const struct gbose__trackers *t);

/* Tracker k. To visit all: begin with 0, and let v->k run to the count. */
struct gbose__tracker gbose__tracker_at(const struct gbose__trackers *t, size_t k);
void gbose__tracker_next(const struct gbose__trackers *t, struct gbose__tracker *v);

/* rhat; bhat is written, a padded row. */
double gbose__tracker_predict(const struct gbose__tracker *v, const double *phi, double *bhat);

/* mu'times each tracker's bbar and slopes, one tracker after the other: 1 + q numbers each. mu is padded. */
void gbose__trackers_see(const struct gbose__trackers *t, double *seen, const double *mu);

/* rhat - bhat'mu, from where in `seen` the tracker's numbers begin. */
double gbose__tracker_baseline(const struct gbose__tracker *v, const double *phi, const double *seen);

/* By how much rhat - bhat'mu moves with the best score, as it is in phi; 0 for a tracker that has no use for it. */
double gbose__tracker_slope(const struct gbose__tracker *v, const double *phi, const double *mu);

/* Learn a round; b and the scratch are padded rows. */
void gbose__tracker_learn(const struct gbose__tracker *v, const double *phi, double reward, const double *b,
                          double *scratch);

#endif
