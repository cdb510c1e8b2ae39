/* An allocator that is watched, and fails when it is told to. Only the programs test_alloc* have it: they are
 * linked with malloc, calloc, realloc, aligned_alloc and free wrapped. */
#ifndef TESTS_FAULTS_H
#define TESTS_FAULTS_H

#include <stddef.h>

struct heap {
    long live;           /* allocations not yet freed */
    long calls;          /* allocations asked for while watched */
    size_t bytes;        /* what they asked for */
    long until_failure;  /* allocations that still succeed; -1: all */
    long after_failure;  /* asked for after one failed */
    size_t most;         /* larger requests fail; 0: no limit */
    int watched, failed; /* failed: one has */
};

extern struct heap heap;

/* From here on allocations are counted, and all after `successes` fail (-1: none). */
void watch(long successes);

/* Every allocation succeeds again. Returns how many were asked for. */
long stop_watching(void);

#endif
