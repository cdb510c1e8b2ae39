/* Functions of who is asked: by how much people differ in what they buy, click or walk, whatever they are
 * shown.
 *
 * x is a user of dim features: the constant 1, and dim - 1 normals with standard deviation 1/2; u_j = 2
 * x_j are the standardised ones, n = dim - 1 of them. A function is drawn once, and has a standard
 * deviation of about 1.
 *
 *   sine      sum_j [sin(a_j u_j + c_j) + q_j (u_j^2 - 1)] / sqrt(n), with a_j uniform in (1, 3), c_j in
 *             (0, 2 pi) and q_j in (-1, 1)
 *   tree      a tree of depth 3: a node asks whether a random u_j is above a threshold drawn from N(0, 1/4); its
 *             8 leaves are uniform in (-1.7, 1.7)
 *   product   sum_j s_j u_j u_k / sqrt(n), k the next feature in a ring, s_j a random sign; with one feature its
 *             square
 *   exp       (exp(g'u) - exp(1/2)) / 2.16, g uniform on the unit sphere: a log-normal spend */
#ifndef GBOSE_WORLDS_USER_H
#define GBOSE_WORLDS_USER_H

#include "core/rng.h"

enum gbose__user_kind { GBOSE__USER_SINE, GBOSE__USER_TREE, GBOSE__USER_PRODUCT, GBOSE__USER_EXP };

/* How many numbers a function of users with dim >= 2 features is. */
size_t gbose__user_size(size_t dim);

/* Draw a function. */
void gbose__user_draw(double *function, enum gbose__user_kind kind, size_t dim, struct gbose__rng *rng);

/* Its value for the user x. */
double gbose__user_value(const double *function, enum gbose__user_kind kind, const double *x, size_t dim);

#endif
