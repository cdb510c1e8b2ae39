/* What a run gave, in memory and as bytes: the journal and other ranks use the same ones. */
#ifndef GBOSE_STUDY_RESULT_H
#define GBOSE_STUDY_RESULT_H

#include <stddef.h>

#include "core/bytes.h"

struct gbose__result {
    int done;
    double regret; /* at the end */
    double reward; /* sum */
    double lone;   /* share of rounds in which one arm had probability 1 */
    float *curve;  /* n_points: cumulative regret */
};

/* The number of bytes of a result with a curve of n_points. */
size_t gbose__result_size(size_t n_points);

/* Write a result that is done, and read one back: `curve` must have room for the points. */
void gbose__result_write(struct gbose__writer *w, const struct gbose__result *result, size_t n_points);
void gbose__result_read(struct gbose__reader *r, struct gbose__result *result, size_t n_points);

#endif
