/* gbose simulate --log: one learner in one world, written down as a log. */
#ifndef GBOSE_CLI_SIMULATE_LOG_H
#define GBOSE_CLI_SIMULATE_LOG_H

#include <stdint.h>

/* An exit code, having said why if it is not EXIT_FINE. */
int simulate_log(const char *command, const char *world, const char *learner, uint64_t rounds, uint64_t seed,
                 const char *path);

#endif
