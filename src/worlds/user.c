#include "worlds/user.h"

#include <math.h>

#include "core/normal.h"
#include "worlds/draw.h"

#define TWO_PI 0x1.921fb54442d18p2
#define NODES 7               /* of a tree of depth 3, which has one leaf more */
#define LEAF_MOST 1.7         /* sd 1 */
#define SPEND_MEAN 1.64872127 /* of exp(N(0, 1)), and its standard deviation */
#define SPEND_SD 2.16119742

static const double sd = 0.5; /* of a user's features */

/* A tree: feature and threshold of each node, then the leaves. Node i has the children 2 i + 1 and 2 i +
 * 2. */
enum { TREE_SIZE = 2 * NODES + NODES + 1 };

size_t gbose__user_size(size_t dim)
{
    size_t additive = 3 * (dim - 1);

    return additive > TREE_SIZE ? additive : TREE_SIZE;
}

static double uniform(double low, double high, struct gbose__rng *rng)
{
    return low + (high - low) * gbose__rng_uniform(rng);
}

static void draw_tree(double *f, size_t n, struct gbose__rng *rng)
{
    for (size_t i = 0; i < NODES; i++) {
        f[2 * i] = floor(uniform(0, (double)n, rng));
        f[2 * i + 1] = 0.5 * gbose__rng_normal(rng);
    }
    for (size_t i = 0; i <= NODES; i++)
        f[2 * NODES + i] = uniform(-LEAF_MOST, LEAF_MOST, rng);
}

void gbose__user_draw(double *function, enum gbose__user_kind kind, size_t dim, struct gbose__rng *rng)
{
    double *f = function;
    size_t n = dim - 1;

    switch (kind) {
    case GBOSE__USER_TREE:
        draw_tree(f, n, rng);
        break;
    case GBOSE__USER_EXP:
        gbose__draw_sphere(f, n, rng);
        break;
    case GBOSE__USER_PRODUCT:
        for (size_t j = 0; j < n; j++)
            f[j] = gbose__rng_uniform(rng) < 0.5 ? -1 : 1;
        break;
    default:
        for (size_t j = 0; j < n; j++) {
            f[3 * j] = uniform(1, 3, rng);
            f[3 * j + 1] = uniform(0, TWO_PI, rng);
            f[3 * j + 2] = uniform(-1, 1, rng);
        }
    }
}

static double tree(const double *f, const double *x)
{
    size_t node = 0;

    while (node < NODES)
        node = 2 * node + (x[(size_t)f[2 * node]] > sd * f[2 * node + 1] ? 2 : 1);
    return f[2 * NODES + node - NODES];
}

double gbose__user_value(const double *function, enum gbose__user_kind kind, const double *x, size_t dim)
{
    const double *f = function;
    size_t n = dim - 1;
    double sum = 0;

    x++; /* the constant has no part */
    switch (kind) {
    case GBOSE__USER_TREE:
        return tree(f, x);
    case GBOSE__USER_EXP:
        return (gbose__exp(gbose__draw_inner(f, x, n) / sd) - SPEND_MEAN) / SPEND_SD;
    case GBOSE__USER_PRODUCT:
        for (size_t j = 0; j < n; j++)
            sum += f[j] * x[j] * x[(j + 1) % n] / (sd * sd);
        break;
    default:
        for (size_t j = 0; j < n; j++) {
            double u = x[j] / sd;
            sum += gbose__draw_sine(f[3 * j] * u + f[3 * j + 1]) + f[3 * j + 2] * (u * u - 1);
        }
    }
    return sum / sqrt((double)n);
}
