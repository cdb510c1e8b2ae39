/* Sets of points and scores for the geometry of arms: random ones, and those made to break it. */
#ifndef TESTS_CLOUDS_H
#define TESTS_CLOUDS_H

#include <stddef.h>

#include "support/random.h"

enum { CLOUD_KINDS = 16, SCORE_KINDS = 5 };

/* n rows of `stride` doubles, a multiple of 8; what is beyond dim is 0. Kinds: normal; integer lattice;
 * duplicates; collinear; all zero; one scale from 1e-100 to 1e100; a scale for each point; on a sphere; a
 * tight cluster far from the origin with an outlier; so small that squares underflow; integers on an axis;
 * all equal; on a sphere and rounded to 6 decimals, as embeddings are; the same in pairs that are 1e-9
 * apart; the same with one point a thousand times as far out; unit vectors along the axes. */
void cloud_points(struct random *r, size_t kind, double *points, size_t n, size_t dim, size_t stride);

/* Scores for them. Kinds: normal times the cloud's scale; all equal; linear in the point, as a learner's are;
 * small integers; gamma times the first coordinate, so that on an axis every comparison is an equality. */
void cloud_scores(struct random *r, size_t kind, double *score, const double *points, size_t n, size_t stride,
                  double gamma);

/* ||i - j||^2, in long double. */
long double cloud_distance2(const double *a, const double *b, size_t dim);

#endif
