/* Trackers: each predicts the reward from what is known before the arm is drawn.
 *
 * A tracker predicts the reward r, and the context b of the arm that is played, from q features x of the
 * round. It is a least squares with an intercept in which a round that is k rounds old counts forget^k:
 *
 *     n     <- forget n + 1            xbar, rbar, bbar: the weighted means
 *     C     = P + sum forget^k (x - xbar)(x - xbar)'
 *     slope = C^-1 sum forget^k (x - xbar)(target - its mean)
 *     rhat  = rbar + (x - xbar)'slope_r,      bhat likewise
 *
 * These have two memories: slopes forget little or nothing, and means forget fast. So a function of who
 * is asked, which is learned slowly, and a level that moves with time add up.
 *
 * Four have features of the user (offer.h): her coordinates, functions of her index (index.h), which leaf of a
 * tree she is in (tree.h), and functions of her coordinates (functions.h), which is the flexible one.
 *
 * The intercept has no prior, so a level of any size is learned at once. P is a prior on the slopes,
 * tuning->slope_prior in every entry. Forgetting wears its entries too; one that has worn to prior_worn of
 * it is put back, in turn, after the round that wore it. So C^-1 is bounded whatever the features do:
 * constant, collinear or zero for ever. C^-1 = R'R is kept as the triangle R, by the step of core/ridge.h.
 * Features are scaled by their running size, and clipped, before they come here (baseline.h).
 *
 * All that a tracker knows is numbers in a row that the caller keeps, saves and loads. */
#ifndef GBOSE_LEARNERS_AUTO_TRACKER_H
#define GBOSE_LEARNERS_AUTO_TRACKER_H

#include <stddef.h>

#include "learners/auto/functions.h"
#include "learners/auto/given.h"
#include "learners/auto/index.h"
#include "learners/auto/offer.h"
#include "learners/auto/tree.h"
#include "learners/auto/tuning.h"

/* The features there are, each at most tuning->feature_limit in magnitude but for the time: the best of
 * the arms' estimated scores, and the root of its magnitude; the time, of any origin; then the caller's
 * own, the user's coordinates (offer.h), functions of them (functions.h), those of the index (index.h), and a 0 or 1 for each leaf (tree.h). */
enum { GBOSE__FEATURE_BEST, GBOSE__FEATURE_ROOT, GBOSE__FEATURE_TIME, GBOSE__FEATURE_ROUND };
#define GBOSE__USER_FEATURES                                                                                 \
    (GBOSE__OFFER_COORDINATES + GBOSE__FUNCTIONS + GBOSE__INDEX_FEATURES + GBOSE__TREE_LEAVES)
#define GBOSE__MAX_TRACKERS 15
#define GBOSE__MAX_ROUND 64
#define GBOSE__MAX_FEATURES (GBOSE__FEATURE_ROUND + GBOSE__MAX_ROUND + GBOSE__USER_FEATURES)
/* A number for each tracker and each of its features. */
#define GBOSE__MAX_ALONG (21 + 4 * GBOSE__MAX_ROUND + GBOSE__USER_FEATURES)

/* A tracker: its numbers, and their names. */
struct gbose__tracker {
    const struct gbose__tuning *tuning;
    size_t kind;      /* which one of the table */
    int features;     /* which kind of features it has */
    const char *name; /* static memory */
    double forget;    /* of the slopes */
    double level;     /* of the means */
    size_t first;     /* where its features begin among all, if they are in one piece */
    size_t q;         /* features */
    size_t stride;    /* of a row: dim, padded */
    double *loss;     /* belongs to the caller: how well it has done */
    double *plain;    /* likewise, with mu left out; an outlier counts only as one */
    double *n, *turn; /* turn: the entry of P that is next to be put back */
    double *rbar;     /* 1 */
    double *xbar;     /* q */
    double *prior;    /* q: P */
    double *slope_r;  /* q */
    double *root;     /* R: a padded triangle (core/ridge.h) */
    double *bbar;     /* a row */
    double *slope_b;  /* q rows, behind that of bbar */
};

/* All of them: a view of gbose__trackers_size() numbers. */
struct gbose__trackers {
    const struct gbose__tuning *tuning;
    size_t dim;   /* of a context */
    size_t round; /* number of the caller's features */
    size_t offer; /* number of functions of the user: GBOSE__FUNCTIONS, or 0 without trackers on users */
    double *at;   /* the numbers */
    double *rows; /* those of all trackers' contexts, one after the other, at the end of the numbers */
    size_t n_rows;
    size_t count;
    struct gbose__tracker tracker[GBOSE__MAX_TRACKERS];
};

size_t gbose__trackers_size(size_t dim, size_t round, size_t offer);
void gbose__trackers_view(struct gbose__trackers *trackers, const struct gbose__tuning *tuning, size_t dim,
                          size_t round, size_t offer, double *at);
void gbose__trackers_init(const struct gbose__trackers *trackers); /* of numbers that are zero */
/* Copy trackers of a smaller dim, or of fewer features of the round, into numbers that are zero: what is new
 * was zero in every round. */
void gbose__trackers_grow(const struct gbose__trackers *to, const struct gbose__trackers *from);
/* Feature j of all contexts comes as `factor` times what it was. */
void gbose__trackers_rescale(const struct gbose__trackers *trackers, size_t j, double factor);
/* The caller's feature i moves. */
void gbose__trackers_move_given(const struct gbose__trackers *trackers, size_t i,
                                const struct gbose__given_move *move);
/* All contexts come with `sign` times `by`, a padded row, added; and what moves with the user has begun or ceased to do so. */
void gbose__trackers_move(const struct gbose__trackers *trackers, const double *by, double sign);
int gbose__trackers_are_sane(const struct gbose__trackers *trackers);

/* x: those features of a round that a tracker has, less their means. There is room in it to be padded. */
#define GBOSE__CENTRED (GBOSE__MAX_FEATURES + 8)
void gbose__tracker_centre(const struct gbose__tracker *tracker, double *x, const double *features);

/* rhat; bhat is written, a padded row. */
double gbose__tracker_predict(const struct gbose__tracker *tracker, const double *x, double *bhat);

/* The number among them of the tracker of the same kind, perhaps of other trackers. */
size_t gbose__trackers_place(const struct gbose__trackers *trackers, const struct gbose__tracker *tracker);

/* The flexible tracker, which is the last, or NULL if there is none. */
const struct gbose__tracker *gbose__trackers_flexible(const struct gbose__trackers *trackers);

/* Those on the user's coordinates and on the leaves of a tree, of which there must be some. */
const struct gbose__tracker *gbose__trackers_linear(const struct gbose__trackers *trackers);
const struct gbose__tracker *gbose__trackers_tree(const struct gbose__trackers *trackers);

/* Does it know nothing but the time? */
int gbose__tracker_is_of_time(const struct gbose__tracker *tracker);

/* Does it have the caller's features, and none of the user? */
int gbose__tracker_is_of_round(const struct gbose__tracker *tracker);

/* Does it have features of the user? */
int gbose__tracker_is_of_user(const struct gbose__tracker *tracker);

/* mu' times the bbar and slopes of all trackers, but for those on users without `users`: 1 + q numbers each, the
 * first of which is number gbose__tracker_row(). mu is padded. */
void gbose__trackers_along(const struct gbose__trackers *trackers, int users, double *along,
                           const double *mu);
size_t gbose__tracker_row(const struct gbose__trackers *trackers, const struct gbose__tracker *tracker);

/* rhat - bhat'mu; `along` is where the tracker's numbers begin in what gbose__trackers_along() wrote. */
double gbose__tracker_baseline(const struct gbose__tracker *tracker, const double *x, const double *along);

/* rhat alone. */
double gbose__tracker_plain(const struct gbose__tracker *tracker, const double *x);

/* By how much rhat - bhat'mu moves with the best score, as it is in `features`; 0 for a tracker that does not
 * use it. */
double gbose__tracker_slope(const struct gbose__tracker *tracker, const double *features, const double *mu);

/* Its squared standard error, in units of the variance of the residuals. */
double gbose__tracker_slope_error(const struct gbose__tracker *tracker, const double *features);

/* The same where all features are zero. */
double gbose__tracker_level(const struct gbose__tracker *tracker, const double *along);

/* Begin anew with other features, of which means are known, and slopes of the reward that are worth so many
 * rounds each. */
void gbose__tracker_restart(const struct gbose__tracker *tracker, const double *xbar, const double *slope,
                            double rounds);

/* Begin anew: with nothing learned; or with means that know nothing, and slopes as they are. */
void gbose__tracker_begin(const struct gbose__tracker *tracker);
void gbose__tracker_begin_means(const struct gbose__tracker *tracker);

/* Learn a round; b and the scratch are padded rows, and x is padded. Without slopes, which cost most, only the means
 * learn it. */
void gbose__tracker_learn(const struct gbose__tracker *tracker, double *x, double reward, const double *b,
                          int slopes, double *scratch);

#endif
