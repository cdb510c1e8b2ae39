/* Bold claims are put to the test.
 *
 * The full estimate learns from rounds with one survivor, and where v is a function of the user that the baseline
 * follows only in part, it takes the rest for effects: whom it plays which arm is a function of the user too. It
 * is then sure of itself, tosses no coin where it could be refuted, and stays wrong. So when it leaves one
 * arm, by a lead that is large beside the residuals, and the orthogonal estimate, by its own width, does not see that
 * lead, the arm that the two disagree about most has a small chance: a coin that only one of them can be right
 * about, and that the contest learns from.
 *
 * It is done only where the leading tracker explains clearly more than those do that know nothing of users: elsewhere v does not depend
 * on the user in a way that anybody has seen. */
#ifndef GBOSE_LEARNERS_AUTO_DOUBT_H
#define GBOSE_LEARNERS_AUTO_DOUBT_H

#include "learners/auto/tuning.h"
#include "learners/learner.h"

/* What is known when one arm is left. */
struct gbose__doubt {
    const struct gbose__ridge
        *orthogonal; /* the regression; in->score has its scores, in->other_score the full one's */
    double residual; /* s */
    double unit;     /* of the orthogonal estimate's width */
};

/* Should the arm that is left have a rival? Which one? The scratch is a row. */
int gbose__doubt_finds(const struct gbose__doubt *doubt, const struct gbose__tuning *tuning,
                       const struct gbose__input *in, size_t best, size_t *rival, double *scratch);

#endif
