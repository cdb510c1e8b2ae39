/* How often intervals miss the truth, over many simulated logs of one world and logger. */
#ifndef TESTS_SUPPORT_COVERAGE_H
#define TESTS_SUPPORT_COVERAGE_H

#include <stdint.h>

#include "support/logged.h"

struct coverage {
    const char *name; /* for the table that is printed */
    struct logged_plan plan;
    double low, high; /* between which its rewards are */
    int logs;
};

/* Of each log, was the truth outside at any of the times that were looked at (effect_fixed: at the end)?
 * Counts of logs. Policies are a greedy one that is nearly right, and the logger itself, each against
 * uniform. */
struct misses {
    int greedy, logger; /* phi */
    int greedy_paired, logger_paired;
    int level;        /* of any of the three policies */
    int weight, peek; /* false alarms of the checks */
    int audit;        /* p below 0.001, at the end */
    int effect_anytime, effect_fixed;
    int unknown;                 /* effects that were not identified */
    double phi_width, ips_width; /* means, of greedy, at the end */
};

void coverage_count(struct misses *out, const struct coverage *c);

/* One row; coverage_header() before the first. */
void coverage_header(void);
void coverage_print(const struct coverage *c, const struct misses *m);

#endif
