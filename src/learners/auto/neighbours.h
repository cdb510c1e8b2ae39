/* Rounds in the order of their draws, for rewards that come in another one.
 *
 * When a reward comes late, others of rounds drawn just before and just after it may be in already. They say what v was at that
 * time, where trackers, which learn in the order in which rewards come, know it only as a mean over many times. So the latest rounds
 * are kept, and a round is compared with its neighbours: rhat and bhat are their mean reward and mean context, in
 * which a neighbour that was drawn k decisions before or after it counts neighbour_memory^k.
 *
 * The full estimate looks back by neighbours instead of by the leading tracker as long as they have the smaller discounted squared
 * error. Where rewards come in the order of their draws, at once or late, nothing is kept, and it costs nothing. */
#ifndef GBOSE_LEARNERS_AUTO_NEIGHBOURS_H
#define GBOSE_LEARNERS_AUTO_NEIGHBOURS_H

#include <stddef.h>

#include "core/bytes.h"
#include "learners/auto/tuning.h"

#define GBOSE__NEIGHBOURS 512 /* rounds that are kept */

/* Zeros at first. Doubles, since they are saved. */
struct gbose__neighbours_state {
    double seen;   /* rounds so far */
    double newest; /* one more than the highest number of a decision so far */
    double losses
        [2]; /* discounted mean squared errors: of neighbours, and of the leading tracker in the same rounds */
};

/* A view of these, and of memory for the rounds. */
struct gbose__neighbours {
    size_t dim, stride;
    struct gbose__neighbours_state *state;
    /* gbose__neighbours_size() numbers: of each round the number of the decision, the reward, and behind those of all rounds the context
     * played, a padded row; NULL where they are of no interest. */
    double *rows;
};

size_t gbose__neighbours_size(size_t dim);
/* Copy those of a smaller dim. */
void gbose__neighbours_grow(const struct gbose__neighbours *to, const struct gbose__neighbours *from);
/* Feature j of all contexts comes as `factor` times what it was. */
void gbose__neighbours_rescale(const struct gbose__neighbours *neighbours, size_t j, double factor);
int gbose__neighbours_are_sane(const struct gbose__neighbours *neighbours);

/* The rounds, as bytes; reading needs a state that is right, or sets r->bad. */
void gbose__neighbours_write(const struct gbose__neighbours *neighbours, struct gbose__writer *w);
void gbose__neighbours_read(const struct gbose__neighbours *neighbours, struct gbose__reader *r);

/* Forget all rounds. */
void gbose__neighbours_clear(const struct gbose__neighbours *neighbours);

/* Has a decision of a higher number been met before? Such numbers are not those of the decisions of others, GBOSE_LOGGED. */
int gbose__neighbours_meet(const struct gbose__neighbours *neighbours, double number);

/* The mean reward and context of a round's neighbours; 0 if there are too few of them. bhat is a padded row. */
int gbose__neighbours_predict(const struct gbose__neighbours *neighbours, const struct gbose__tuning *tuning,
                              double number, double *rhat, double *bhat);

/* Have neighbours been better than the leading tracker? */
int gbose__neighbours_lead(const struct gbose__neighbours *neighbours, const struct gbose__tuning *tuning);

/* The errors of both in a round that has neighbours. */
void gbose__neighbours_compare(const struct gbose__neighbours *neighbours, const struct gbose__tuning *tuning,
                               double error, double leaders_error);

/* Keep a round. */
void gbose__neighbours_keep(const struct gbose__neighbours *neighbours, double number, double reward,
                            const double *played);

#endif
