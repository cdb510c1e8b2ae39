/* The table of learners, in the order in which people are shown them. A new one is a file of its own and a word here
 * (docs/adding-a-learner.md). */
#include "learners/learner.h"
#include "learners/options.h"

#define LEARNERS(X)                                                                                          \
    X(gbose_auto) X(gbose) X(bose) X(action_ts) X(semi_ts) X(lin_ts) X(lin_ucb) X(eps_greedy) X(uniform)

#define DECLARE(name) extern const struct gbose__learner gbose__##name;
LEARNERS(DECLARE)

#define REFER(name) &gbose__##name,
static const struct gbose__learner *const table[] = {LEARNERS(REFER)};

const struct gbose__learner *gbose__learner_at(size_t i)
{
    return i < GBOSE__COUNT(table) ? table[i] : NULL;
}

const gbose_info *gbose_learner_at(size_t i)
{
    const struct gbose__learner *kind = gbose__learner_at(i);

    return kind ? &kind->info : NULL;
}

const struct gbose__catalog gbose__learners = {"learner", gbose_learner_at};
