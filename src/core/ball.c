/* max over the simplex of f(p) = sum_j p_j ||x_j - c||^2 with c = sum_j p_j x_j (the dual of the minimum
 * enclosing ball). f is concave; at its maximum every point is within the weighted mean squared distance.
 *
 * A support set grows by the point farthest from the centre (Badoiu and Clarkson's core sets); within it f
 * is maximised by moving weight between two points at a time with an exact line search (the pairwise step
 * of Frank-Wolfe, or of sequential minimal optimisation). With q_ij = ||x_i - x_j||^2 and g = Q p:
 *     f(p) = 1/2 p'Q p,   f(p + s (e_i - e_j)) = f(p) + s (g_i - g_j) - s^2 q_ij. */
#include "core/ball.h"

#include <string.h>

#include "core/kernels.h"

/* Within the support the optimum is found to this relative precision, far below the ball's tolerance. */
#define INNER_TOLERANCE 1e-9

static double *between(const struct gbose__ball *s, size_t i, size_t j)
{
    return &s->between[i * s->capacity + j];
}

/* Put point x at place i of a support of size n. */
static void place(struct gbose__ball *s, size_t i, size_t n, size_t x, const double *points, size_t stride)
{
    s->support[i] = x;
    *between(s, i, i) = 0;
    for (size_t j = 0; j < n; j++) {
        double q = gbose__distance2(points + x * stride, points + s->support[j] * stride, stride);
        *between(s, i, j) = *between(s, j, i) = q;
    }
}

/* Drop the point at place i of a support of size n: the last one takes its place. Returns the new size. */
static size_t drop(struct gbose__ball *s, size_t i, size_t n)
{
    size_t last = n - 1;

    s->support[i] = s->support[last];
    s->weight[i] = s->weight[last];
    for (size_t j = 0; j < n; j++)
        *between(s, i, j) = *between(s, j, i) = *between(s, last, j);
    *between(s, i, i) = 0;
    return last;
}

/* The best weights within a support of size n. */
static void maximise(struct gbose__ball *s, size_t n)
{
    double *g = s->pull, *p = s->weight;

    for (size_t i = 0; i < n; i++) {
        g[i] = 0;
        for (size_t j = 0; j < n; j++)
            g[i] += *between(s, i, j) * p[j];
    }
    for (size_t step = 0; step < 100 + 50 * n * n; step++) {
        size_t i = 0, j = n;
        double spread = 0, gain, s_ij, q;

        for (size_t a = 0; a < n; a++) {
            if (g[a] > g[i])
                i = a;
            if (p[a] > 0 && (j == n || g[a] < g[j]))
                j = a;
            spread += p[a] * g[a];
        }
        gain = g[i] - g[j];
        if (!(gain > INNER_TOLERANCE * spread))
            return;
        q = *between(s, i, j);
        s_ij = gain / (2 * q);
        if (!(s_ij < p[j])) {
            s_ij = p[j];
            p[j] = 0;
        } else {
            p[j] -= s_ij;
        }
        p[i] += s_ij;
        for (size_t a = 0; a < n; a++)
            g[a] += s_ij * (*between(s, a, i) - *between(s, a, j));
    }
}

/* Drop what has no weight; returns the support's new size. */
static size_t shrink(struct gbose__ball *s, size_t n)
{
    for (size_t i = 0; i < n;)
        if (s->weight[i] > 0)
            i++;
        else
            n = drop(s, i, n);
    return n;
}

/* Take point x into the support, in the place of the lightest one if there is no room; returns its size. */
static size_t include(struct gbose__ball *s, size_t n, size_t x, const double *points, size_t stride)
{
    size_t light = 0, heavy = 0;

    for (size_t i = 0; i < n; i++) {
        if (s->support[i] == x)
            return n;
        if (s->weight[i] < s->weight[light])
            light = i;
        if (s->weight[i] > s->weight[heavy])
            heavy = i;
    }
    if (n == s->capacity) {
        s->weight[heavy] += s->weight[light];
        n = drop(s, light, n);
    }
    place(s, n, n, x, points, stride);
    s->weight[n] = 0;
    return n + 1;
}

void gbose__ball_weights(double *p, struct gbose__ball *s, const double *points, const size_t *keep,
                         size_t count, size_t stride, size_t k, size_t l)
{
    size_t n = 2;
    double total = 0;

    place(s, 0, 0, k, points, stride);
    place(s, 1, 1, l, points, stride);
    s->weight[0] = s->weight[1] = 0.5;
    for (size_t round = 0; count > 2 && round < 100 + 20 * s->capacity; round++) {
        double spread = 0, reach = -1;
        size_t far = 0, i;

        memset(s->centre, 0, stride * sizeof(double));
        for (i = 0; i < n; i++)
            gbose__kernels->axpy(s->centre, s->weight[i], points + s->support[i] * stride, stride);
        for (i = 0; i < n; i++)
            spread += s->weight[i] * gbose__distance2(points + s->support[i] * stride, s->centre, stride);
        for (i = 0; i < count; i++) {
            double d = gbose__distance2(points + keep[i] * stride, s->centre, stride);
            if (d > reach) {
                reach = d;
                far = keep[i];
            }
        }
        if (reach <= (1 + GBOSE__BALL_TOLERANCE) * spread)
            break;
        n = include(s, n, far, points, stride);
        maximise(s, n);
        n = shrink(s, n);
    }
    for (size_t i = 0; i < count; i++)
        p[keep[i]] = 0;
    for (size_t i = 0; i < n; i++)
        total += s->weight[i];
    for (size_t i = 0; i < n; i++)
        p[s->support[i]] = s->weight[i] / total;
}
