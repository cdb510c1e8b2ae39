/* The other ranks of an MPI job. Rank 0 owns the study: it deals out runs, one at a time since their costs
 * differ a hundredfold, and gathers the results; the others only play. Built without MPI, or started without
 * a launcher, there is rank 0 and no other. */
#ifndef GBOSE_STUDY_CLUSTER_H
#define GBOSE_STUDY_CLUSTER_H

#include <stdatomic.h>

#include "study/plan.h"
#include "study/pool.h"

/* Join the job, if this process was started by an MPI launcher. Ranks other than 0 print nothing from then
 * on. */
void gbose__cluster_begin(void);
void gbose__cluster_end(void);

int gbose__cluster_rank(void);
int gbose__cluster_size(void);

/* For rank 0: the other ranks, as a pool sees them; and telling them that there is nothing left to do. */
extern const struct gbose__ranks gbose__cluster;
void gbose__cluster_dismiss(void);

/* For the other ranks: play the runs that rank 0 gives, until it says that there are no more. */
void gbose__cluster_serve(const struct gbose__plan *plan, const atomic_int *stop);

#endif
