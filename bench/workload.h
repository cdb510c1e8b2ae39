/* What every contender is timed on: rounds of contexts with their rewards, and the state of the regression
 * they begin from. `gbose_bench prepare` writes it to a file, all others read it. */
#ifndef GBOSE_BENCH_WORKLOAD_H
#define GBOSE_BENCH_WORKLOAD_H

#include <stddef.h>

/* The file: the sizes as three int64, then the arrays in this order, as doubles. */
struct workload {
    size_t n_rounds, n_arms, dim;
    double *B;        /* dim x dim: the design matrix, lambda I with lambda = 1 for a fresh learner */
    double *mu;       /* dim: the estimate */
    double *contexts; /* n_rounds x n_arms x dim */
    double *rewards;  /* n_rounds x n_arms; all zero for a fresh learner, which then has no favourite */
};

#define GAMMA 1.0 /* of every contender */

/* 0, or -1: out of memory, or (reading) the file is not there or too short. */
int workload_allocate(struct workload *w, size_t n_rounds, size_t n_arms, size_t dim);
int workload_read(struct workload *w, const char *path);
int workload_write(const struct workload *w, const char *path);
void workload_clear(struct workload *w);

/* Seconds of CPU that this process has used. */
double cpu_seconds(void);

/* Call play(state, t) for t = 0, 1, 2, ... until `seconds` of CPU are used; the CPU time of a call in
 * microseconds. */
double time_rounds(void (*play)(void *state, size_t t), void *state, double seconds);

#endif
