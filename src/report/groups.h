/* How a study's worlds are laid out in tables and figures: the paper's by setup (N, d) with one column for
 * each v(t), others in the order of the plan. */
#ifndef GBOSE_REPORT_GROUPS_H
#define GBOSE_REPORT_GROUPS_H

#include <stddef.h>

#include "study/plan.h"

#define GBOSE__GROUP_WORLDS 6

/* Worlds that share a figure and, in a study of the paper, a block of its table. */
struct gbose__group {
    char name[64];  /* fit for a file name: "2x10"; "worlds-1" */
    char title[64]; /* "N = 2, d = 10"; "" if the worlds' names say it all */
    int paper;      /* a setup of the paper: columns are (i), (ii), (iii) */
    size_t n;
    size_t world[GBOSE__GROUP_WORLDS];
};

/* The groups of a plan, to be freed with free(). GBOSE_OK or GBOSE_ENOMEM. */
int gbose__groups(struct gbose__group **out, size_t *n, const struct gbose__plan *plan, gbose_error *err);

/* What a world is called inside its group: "(ii)", or its spec. Valid as long as the plan. */
const char *gbose__groups_label(const struct gbose__group *g, size_t i, const struct gbose__plan *plan);

/* v(t) of a paper's world in words; "" for others. */
const char *gbose__groups_formula(const struct gbose__group *g, size_t i, const struct gbose__plan *plan);

#endif
