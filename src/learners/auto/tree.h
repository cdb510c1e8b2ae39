/* A regression tree on what is on offer: steps, which no sum of smooth functions makes.
 *
 * It has up to GBOSE__TREE_LEAVES leaves and is grown on rounds of the past, the split that explains most first: the user's
 * coordinates z (offer.h), each in one of GBOSE__TREE_BINS bins, and the target, the reward less the level of the time. Which leaf
 * a user is in is known before the arm is drawn; a tracker learns the rest from it (tracker.h). */
#ifndef GBOSE_LEARNERS_AUTO_TREE_H
#define GBOSE_LEARNERS_AUTO_TREE_H

#include <stddef.h>

#include "learners/auto/hindsight.h"

#define GBOSE__TREE_LEAVES 16
#define GBOSE__TREE_NODES (2 * GBOSE__TREE_LEAVES - 1)
#define GBOSE__TREE_BINS 128

/* Doubles, since they are saved; zeros at first: one leaf. */
struct gbose__tree {
    double leaves; /* 0 before the first tree */
    /* Of a node: its left child, the right one being next; 0 for a leaf. */
    double child[GBOSE__TREE_NODES];
    double coordinate[GBOSE__TREE_NODES]; /* of a leaf: its number */
    double bin[GBOSE__TREE_NODES];        /* the least of the right child */
};

/* The bins of a user's coordinates. */
struct gbose__tree_code {
    unsigned char bin[GBOSE__OFFER_COORDINATES];
};

struct gbose__tree_code gbose__tree_code(const double *z);

/* The leaf of a user. */
size_t gbose__tree_leaf(const struct gbose__tree *tree, const struct gbose__tree_code *code);

/* Grow a new tree on `count` rounds, GBOSE__HINDSIGHT_ROUNDS at most, with users of so many coordinates. */
void gbose__tree_grow(struct gbose__tree *tree, const struct gbose__tree_code *code, const double *target,
                      size_t count, size_t coordinates);

int gbose__tree_is_sane(const struct gbose__tree *tree);

#endif
