#include "learners/auto/tree.h"

#include <math.h>
#include <string.h>

#include "learners/auto/clip.h"

enum { COORDINATES = GBOSE__OFFER_COORDINATES, BINS = GBOSE__TREE_BINS, ROUNDS = GBOSE__HINDSIGHT_ROUNDS };

#define LEAST_SAMPLES 5 /* in a leaf */
#define LEAST_GAIN 12   /* of a split, in units of the variance within its node: more than noise would give */

/* Bins are about equally likely for a normal z. */
struct gbose__tree_code gbose__tree_code(const double *z)
{
    struct gbose__tree_code code;

    for (size_t i = 0; i < COORDINATES; i++)
        code.bin[i] = (unsigned char)(BINS / 2 * (1 + z[i] / sqrt(z[i] * z[i] + 2)));
    return code;
}

static size_t node_of(const struct gbose__tree *tree, const struct gbose__tree_code *code)
{
    size_t node = 0;

    while (tree->child[node] > 0)
        node = (size_t)tree->child[node] + (code->bin[(size_t)tree->coordinate[node]] >= tree->bin[node]);
    return node;
}

size_t gbose__tree_leaf(const struct gbose__tree *tree, const struct gbose__tree_code *code)
{
    return (size_t)tree->coordinate[node_of(tree, code)];
}

/* ---- growing ---- */

struct split {
    double gain;
    size_t coordinate, bin;
};

struct growth {
    struct gbose__tree *tree;
    const struct gbose__tree_code *code; /* of each round */
    const double *target;
    size_t count; /* rounds */
    size_t coordinates;
    size_t nodes;
    unsigned char node[ROUNDS]; /* of each round */
    struct split best[GBOSE__TREE_NODES];
};

/* The best split of a node. */
static void look(struct growth *growth, size_t node)
{
    const double *target = growth->target;
    double sum[COORDINATES][BINS], number[COORDINATES][BINS], all = 0, squares = 0, n = 0, variance;
    struct split best = {0, 0, 0};

    memset(sum, 0, growth->coordinates * sizeof *sum);
    memset(number, 0, growth->coordinates * sizeof *number);
    for (size_t i = 0; i < growth->count; i++) {
        if (growth->node[i] != node)
            continue;
        for (size_t k = 0; k < growth->coordinates; k++) {
            size_t bin = growth->code[i].bin[k];

            sum[k][bin] += target[i];
            number[k][bin]++;
        }
        all += target[i];
        squares += target[i] * target[i];
        n++;
    }
    variance = n > 0 ? squares - all * all / n : 0;
    for (size_t k = 0; k < growth->coordinates; k++) {
        double left = 0, left_number = 0;

        for (size_t bin = 1; bin < BINS; bin++) {
            double right, right_number, gain;

            left += sum[k][bin - 1];
            left_number += number[k][bin - 1];
            right = all - left;
            right_number = n - left_number;
            if (left_number < LEAST_SAMPLES || right_number < LEAST_SAMPLES)
                continue;
            gain = left * left / left_number + right * right / right_number - all * all / n;
            if (gain > best.gain)
                best = (struct split){gain, k, bin};
        }
    }
    if (best.gain * n < LEAST_GAIN * variance)
        best.gain = 0;
    growth->best[node] = best;
}

static void split(struct growth *growth, size_t node)
{
    struct gbose__tree *tree = growth->tree;
    struct split *best = &growth->best[node];
    size_t child = growth->nodes;

    tree->child[node] = (double)child;
    tree->coordinate[node] = (double)best->coordinate;
    tree->bin[node] = (double)best->bin;
    best->gain = 0;
    for (size_t i = 0; i < growth->count; i++)
        if (growth->node[i] == node)
            growth->node[i] = (unsigned char)(child + (growth->code[i].bin[best->coordinate] >= best->bin));
    growth->nodes += 2;
    look(growth, child);
    look(growth, child + 1);
}

void gbose__tree_grow(struct gbose__tree *tree, const struct gbose__tree_code *code, const double *target,
                      size_t count, size_t coordinates)
{
    struct growth growth = {
        .tree = tree, .code = code, .target = target, .count = count, .coordinates = coordinates, .nodes = 1};
    size_t leaf = 0;

    memset(tree, 0, sizeof *tree);
    look(&growth, 0);
    while (growth.nodes < GBOSE__TREE_NODES) {
        size_t best = 0;

        for (size_t k = 1; k < growth.nodes; k++)
            if (growth.best[k].gain > growth.best[best].gain)
                best = k;
        if (!(growth.best[best].gain > 0))
            break;
        split(&growth, best);
    }
    for (size_t k = 0; k < growth.nodes; k++)
        if (!(tree->child[k] > 0))
            tree->coordinate[k] = (double)leaf++;
    tree->leaves = (double)leaf;
}

int gbose__tree_is_sane(const struct gbose__tree *tree)
{
    int fine = tree->leaves >= 0 && tree->leaves <= GBOSE__TREE_LEAVES;

    for (size_t k = 0; k < GBOSE__TREE_NODES; k++) {
        double most = tree->child[k] > 0 ? COORDINATES : GBOSE__TREE_LEAVES;

        fine &= tree->child[k] == 0 || (tree->child[k] > (double)k && tree->child[k] + 1 < GBOSE__TREE_NODES);
        fine &= floor(tree->child[k]) == tree->child[k] && tree->bin[k] >= 0 && tree->bin[k] < BINS;
        fine &= tree->coordinate[k] >= 0 && tree->coordinate[k] < most &&
                floor(tree->coordinate[k]) == tree->coordinate[k];
    }
    return fine;
}
