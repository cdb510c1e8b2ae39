/* The baseline: what the reward will be, whichever arm is drawn.
 *
 * Trackers (tracker.h) predict the reward and the context of the arm played, rhat and bhat, from features
 * of the round: none (a level), the time, functions of the best estimated score m, the caller's own, or
 * those of the user, by what is on offer (offer.h, functions.h, index.h, tree.h). The one with the least
 * discounted error e = (r - rhat) - (b_a - bhat)'mu leads, and vhat = rhat - bhat'mu is the baseline.
 *
 * Where the leading tracker has found that v moves with m, by v' for each unit, v' is the reaction. */
#ifndef GBOSE_LEARNERS_AUTO_BASELINE_H
#define GBOSE_LEARNERS_AUTO_BASELINE_H

#include "learners/auto/hindsight.h"
#include "learners/auto/neighbours.h"
#include "learners/auto/tracker.h"

/* What is kept in front of the rest: doubles, since they are saved. */
struct gbose__baseline_state {
    double leader;      /* which tracker */
    double led;         /* discounted mean square of the leaders' errors; an outlier counts only as one */
    double best_square; /* discounted mean of m^2, by which scores are scaled as features */
    double kept;        /* rounds, for hindsight */
    struct gbose__neighbours_state neighbours;
};

/* The baseline's numbers in the learner's state, and their names. */
struct gbose__baseline {
    struct gbose__baseline_state *state;
    struct gbose__given given; /* the caller's features */
    struct gbose__offer offer;
    struct gbose__functions *functions; /* these three not without trackers on users */
    struct gbose__index *index;
    struct gbose__tree *tree;
    struct gbose__trackers trackers;
    struct gbose__hindsight hindsight; /* likewise, and these */
    struct gbose__neighbours neighbours;
};

/* A round as the baseline meets it. */
struct gbose__features {
    double best;          /* m, by the estimate in use */
    double clock;         /* rewards learned before the arm was drawn */
    const double *round;  /* the caller's features; may be NULL when there are none */
    const double *offer;  /* the mean context on offer; not used without trackers on users */
    const double *common; /* their common part, for trackers on users; NULL: the mean */
};

/* What the leading tracker predicts, clipped to what rewards and contexts can be. */
struct gbose__prediction {
    double reward; /* rhat */
    double effect; /* bhat'mu */
    double shift;  /* vhat = rhat - bhat'mu */
};

/* flexible: with trackers on users? */
size_t gbose__baseline_size(size_t dim, size_t round, int flexible);

/* A view of gbose__baseline_size() numbers, which are zero before gbose__baseline_init(). Rows for hindsight are the caller's to
 * set; without them no rounds are kept. */
void gbose__baseline_view(struct gbose__baseline *baseline, const struct gbose__tuning *tuning, size_t dim,
                          size_t round, int flexible, double *at);
void gbose__baseline_init(const struct gbose__baseline *baseline);
/* Copy a baseline of a smaller dim, or of fewer features of the round, into numbers that are zero. */
void gbose__baseline_grow(const struct gbose__baseline *to, const struct gbose__baseline *from);
/* Feature j of all contexts comes as `factor`, a power of two, times what it was. */
void gbose__baseline_rescale(const struct gbose__baseline *baseline, size_t j, double factor);
int gbose__baseline_is_sane(const struct gbose__baseline *baseline);

const struct gbose__tracker *gbose__baseline_leader(const struct gbose__baseline *baseline);

/* How many features the leader has that are not always zero. */
double gbose__baseline_leader_features(const struct gbose__baseline *baseline);

/* A round is to be learned, after so many others: units are found for the caller's features. */
void gbose__baseline_meet(const struct gbose__baseline *baseline, const struct gbose__features *round,
                          double rounds);

/* The features of a round, scaled, GBOSE__MAX_FEATURES at most: all that the leader needs, and what those need
 * that learn from the round, which is learned after so many others; `rounds` is negative if it is not learned. */
void gbose__baseline_features(const struct gbose__baseline *baseline, double *features,
                              const struct gbose__features *round, double rounds);

/* Those of trackers on users, of a round that is kept. */
void gbose__baseline_features_again(const struct gbose__baseline *baseline, double *features,
                                    const struct gbose__hindsight_round *round);

/* What the leader predicts; bhat is written, a padded row. mu is that of the estimate in use. */
struct gbose__prediction gbose__baseline_predict(const struct gbose__baseline *baseline,
                                                 const double *features, const double *mu, double *bhat);

/* How many times larger the discounted squared error is by the best tracker that knows nothing of users. */
double gbose__baseline_gain(const struct gbose__baseline *baseline);

/* v', by the leader. */
double gbose__baseline_reaction(const struct gbose__baseline *baseline, const double *features,
                                const double *mu);

/* Grow a new tree on the rounds that are kept, and choose functions of the user by them. `played` and the scratch are rows. */
void gbose__baseline_grow_tree(const struct gbose__baseline *baseline, double *played, double *scratch);
void gbose__baseline_choose_functions(const struct gbose__baseline *baseline, double *played,
                                      double *scratch);

/* A tracker on users learns all rounds that are kept, and nothing else. */
void gbose__baseline_learn_again(const struct gbose__baseline *baseline, const struct gbose__tracker *tracker,
                                 double *played, double *scratch);

/* A reward that is learned. */
struct gbose__baseline_lesson {
    const struct gbose__features *round;
    const double *features; /* made of it by gbose__baseline_features() */
    const double *mu;       /* of the estimate in use */
    double rounds;          /* learned before */
    const double *played;   /* the context played, a padded row */
    double score;           /* of that context, by mu */
    double reward;
};

/* Update every tracker, pick the leader, and update the scales of the features. 1 if the round is kept, and it is time to learn
 * all that are kept again. The scratch is a row. */
int gbose__baseline_learn(const struct gbose__baseline *baseline, const struct gbose__baseline_lesson *lesson,
                          double *scratch);

/* Would some tracker on the caller's features or on users predict rewards far better with mu left out than anybody has done
 * with it, `variance` being the least mean square of the residuals? Far better than the time alone, too, so that it is not
 * the time that mu gets wrong. If so it leads from now on. */
int gbose__baseline_does_without(const struct gbose__baseline *baseline, double rounds, double variance);

/* The same for one that knows the time alone, which must be far better than the leaders of the latest rounds, too: a jump of v in the
 * very first rounds is taken for effects, and mu is then wrong for hundreds of rounds. It is asked in the first rounds only. Later it
 * would prove nothing: who plays well has much the same reward in every round. */
int gbose__baseline_has_jumped(const struct gbose__baseline *baseline, double rounds, double variance);

#endif
