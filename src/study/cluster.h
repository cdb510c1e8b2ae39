/* The other ranks of an MPI job. Rank 0 owns the study: it deals out runs, one at a time since their costs
 * differ a hundredfold, and gathers the results; the others only play. Built without MPI, or started without
 * a launcher, there is rank 0 and no other. */
#ifndef GBOSE_STUDY_CLUSTER_H
#define GBOSE_STUDY_CLUSTER_H

#include <stdatomic.h>

#include "study/plan.h"
#include "study/pool.h"

/* Join the job, if this process was started by an MPI launcher. Ranks other than 0 fall silent. */
void gbose__cluster_begin(void);
void gbose__cluster_end(void);

int gbose__cluster_rank(void);
int gbose__cluster_size(void);

/* Rank 0: the others, for a pool; send them home. */
extern const struct gbose__ranks gbose__cluster;
void gbose__cluster_dismiss(void);

/* The other ranks: play what is given until sent home. */
void gbose__cluster_serve(const struct gbose__plan *plan, const atomic_int *stop);

#endif
