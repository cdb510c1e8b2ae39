#include "learners/auto/tree.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "learners/auto/clip.h"

enum { COORDINATES = GBOSE__OFFER_COORDINATES, BINS = GBOSE__TREE_BINS, RING = GBOSE__TREE_RING };
enum { BITS = 8 }; /* of a bin in a code */

#define TARGET_MOST 1e100 /* squares of sums of them are finite */
#define LEAST_SAMPLES 5   /* in a leaf */
#define LEAST_GAIN 12 /* of a split, in units of the variance within its node: more than noise would give */

/* Bins are about equally likely for a normal z. */
double gbose__tree_code(const double *z, size_t count)
{
    uint64_t code = 0;

    for (size_t i = 0; i < COORDINATES; i++) {
        double t = i < count ? z[i] / sqrt(z[i] * z[i] + 2) : 0; /* in (-1, 1) */

        code = code << BITS | (uint64_t)(BINS / 2 * (1 + t));
    }
    return (double)code;
}

static size_t bin_of(uint64_t code, size_t coordinate)
{
    return code >> BITS * (COORDINATES - 1 - coordinate) & ((1 << BITS) - 1);
}

static size_t node_of(const struct gbose__tree *tree, uint64_t code)
{
    size_t node = 0;

    while (tree->child[node] > 0)
        node = (size_t)tree->child[node] +
               (bin_of(code, (size_t)tree->coordinate[node]) >= (size_t)tree->bin[node]);
    return node;
}

size_t gbose__tree_leaf(const struct gbose__tree *tree, double code)
{
    return (size_t)tree->coordinate[node_of(tree, (uint64_t)code)];
}

/* ---- growing ---- */

struct split {
    double gain;
    size_t coordinate, bin;
};

struct growth {
    struct gbose__tree *tree;
    size_t count; /* rounds in the ring */
    size_t nodes;
    unsigned char node[RING]; /* of each round */
    struct split best[GBOSE__TREE_NODES];
    double mean[GBOSE__TREE_NODES];
};

/* The best split of a node. */
static void look(struct growth *growth, size_t node)
{
    const struct gbose__tree *tree = growth->tree;
    double sum[COORDINATES][BINS], number[COORDINATES][BINS], all = 0, squares = 0, n = 0, variance;
    struct split best = {0, 0, 0};

    memset(sum, 0, sizeof sum);
    memset(number, 0, sizeof number);
    for (size_t i = 0; i < growth->count; i++) {
        uint64_t code = (uint64_t)tree->code[i];

        if (growth->node[i] != node)
            continue;
        for (size_t k = COORDINATES; k-- > 0; code >>= BITS) {
            size_t bin = code & ((1 << BITS) - 1);

            sum[k][bin] += tree->target[i];
            number[k][bin]++;
        }
        all += tree->target[i];
        squares += tree->target[i] * tree->target[i];
        n++;
    }
    growth->mean[node] = n > 0 ? all / n : 0;
    variance = n > 0 ? squares - all * all / n : 0;
    for (size_t k = 0; k < COORDINATES; k++) {
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
            growth->node[i] =
                (unsigned char)(child + (bin_of((uint64_t)tree->code[i], best->coordinate) >= best->bin));
    growth->nodes += 2;
    look(growth, child);
    look(growth, child + 1);
}

static void grow(struct gbose__tree *tree)
{
    struct growth growth = {.tree = tree, .count = tree->seen < RING ? (size_t)tree->seen : RING, .nodes = 1};
    size_t leaf = 0;

    memset(tree->child, 0, sizeof tree->child);
    memset(tree->coordinate, 0, sizeof tree->coordinate);
    memset(tree->bin, 0, sizeof tree->bin);
    memset(tree->mean, 0, sizeof tree->mean);
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
        if (!(tree->child[k] > 0)) {
            tree->mean[leaf] = growth.mean[k];
            tree->coordinate[k] = (double)leaf++;
        }
    tree->leaves = (double)leaf;
    tree->grown = tree->seen;
}

int gbose__tree_learn(struct gbose__tree *tree, double code, double target)
{
    size_t at = (size_t)fmod(tree->seen, RING);
    double wait = tree->grown > 0 ? gbose__clip(tree->grown, RING) : GBOSE__TREE_FIRST;

    tree->code[at] = code;
    tree->target[at] = gbose__clip(target, TARGET_MOST);
    tree->seen++;
    if (tree->seen < tree->grown + wait)
        return 0;
    grow(tree);
    return 1;
}

void gbose__tree_shares(const struct gbose__tree *tree, double *share, double memory)
{
    size_t rounds = tree->seen < RING ? (size_t)tree->seen : RING, now = (size_t)fmod(tree->seen, RING);
    double weight = 1, sum = 0;

    memset(share, 0, GBOSE__TREE_LEAVES * sizeof *share);
    for (size_t k = 0; k < rounds && k < GBOSE__TREE_FIRST; k++) {
        share[gbose__tree_leaf(tree, tree->code[(now + RING - 1 - k) % RING])] += weight;
        sum += weight;
        weight *= memory;
    }
    for (size_t i = 0; i < GBOSE__TREE_LEAVES; i++)
        share[i] /= sum;
}

int gbose__tree_is_sane(const struct gbose__tree *tree)
{
    const double codes = (double)((uint64_t)1 << BITS * COORDINATES);
    int fine = tree->seen >= 0 && tree->seen <= 1e18 && floor(tree->seen) == tree->seen && tree->grown >= 0 &&
               tree->grown <= tree->seen && tree->leaves >= 0 && tree->leaves <= GBOSE__TREE_LEAVES;

    for (size_t k = 0; k < GBOSE__TREE_NODES; k++) {
        double most = tree->child[k] > 0 ? COORDINATES : GBOSE__TREE_LEAVES;

        fine &= tree->child[k] == 0 || (tree->child[k] > (double)k && tree->child[k] + 1 < GBOSE__TREE_NODES);
        fine &= floor(tree->child[k]) == tree->child[k] && tree->bin[k] >= 0 && tree->bin[k] < BINS;
        fine &= tree->coordinate[k] >= 0 && tree->coordinate[k] < most &&
                floor(tree->coordinate[k]) == tree->coordinate[k];
    }
    for (size_t i = 0; i < RING; i++)
        fine &= tree->code[i] >= 0 && tree->code[i] < codes && floor(tree->code[i]) == tree->code[i] &&
                fabs(tree->target[i]) <= TARGET_MOST;
    return fine;
}
