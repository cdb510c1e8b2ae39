/* A regression tree on what is on offer: steps, which no sum of smooth functions makes.
 *
 * A ring of the latest rounds is kept: the user's coordinates z (offer.h), each in one of
 * GBOSE__TREE_BINS bins, and the target, the reward less the score of the arm played and the level of the
 * time. After GBOSE__TREE_FIRST rounds, and again whenever their number has doubled (later: whenever the
 * ring is new), a tree of up to GBOSE__TREE_LEAVES leaves is grown on it, the split that explains most
 * first. Which leaf a user is in is known before the arm is drawn; a tracker learns the rest from it
 * (tracker.h). */
#ifndef GBOSE_LEARNERS_AUTO_TREE_H
#define GBOSE_LEARNERS_AUTO_TREE_H

#include <stddef.h>

#include "learners/auto/offer.h"

#define GBOSE__TREE_LEAVES 16
#define GBOSE__TREE_NODES (2 * GBOSE__TREE_LEAVES - 1)
#define GBOSE__TREE_RING 512
#define GBOSE__TREE_FIRST 128
#define GBOSE__TREE_BINS 128

/* Doubles, since they are saved; zeros at first: one leaf. */
struct gbose__tree {
    double seen;   /* rounds so far */
    double grown;  /* rounds when the tree was grown */
    double leaves; /* 0 before the first tree */
    /* Of a node: its left child, the right one being next; 0 for a leaf. */
    double child[GBOSE__TREE_NODES];
    double coordinate[GBOSE__TREE_NODES]; /* of a leaf: its number */
    double bin[GBOSE__TREE_NODES];        /* the least of the right child */
    double mean[GBOSE__TREE_LEAVES];      /* of the targets when it was grown */
    double code[GBOSE__TREE_RING];        /* all bins of a round in one number */
    double target[GBOSE__TREE_RING];
};

/* The bins of `count` coordinates as one number. */
double gbose__tree_code(const double *z, size_t count);

/* The leaf of a round. */
size_t gbose__tree_leaf(const struct gbose__tree *tree, double code);

/* Learn a round; 1 if a new tree was grown. */
int gbose__tree_learn(struct gbose__tree *tree, double code, double target);

/* The share of each leaf in the latest rounds, where one that is k rounds old counts memory^k. */
void gbose__tree_shares(const struct gbose__tree *tree, double *share, double memory);

int gbose__tree_is_sane(const struct gbose__tree *tree);

#endif
