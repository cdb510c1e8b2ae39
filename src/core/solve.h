/* A linear system that may not have full rank. */
#ifndef GBOSE_CORE_SOLVE_H
#define GBOSE_CORE_SOLVE_H

#include <stddef.h>

/* A is positive semidefinite and given by its lower triangle, padded (core/dense.h). The factor leaves out
 * rows that depend on earlier ones: their part of a solution is 0, as a regression would alias a column. */
void gbose__solve_factor(double *factor, const double *A, size_t dim);

/* Solve A u = x, if there is a solution; gbose__solve_holds() tells. u may be x. */
void gbose__solve_by(double *u, const double *factor, const double *x, size_t dim);

/* Is A u = x, up to rounding? */
int gbose__solve_holds(const double *u, const double *A, const double *x, size_t dim);

/* x'u with A u = x, for an x that has a solution; scratch: dim numbers. */
double gbose__solve_square(const double *factor, const double *x, double *scratch, size_t dim);

#endif
