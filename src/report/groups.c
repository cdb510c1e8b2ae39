#include "report/groups.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "report/printed.h"

static int of_paper(const struct gbose__plan *plan)
{
    struct gbose__printed_cell cell;

    for (size_t w = 0; w < plan->n_worlds; w++)
        if (!gbose__printed_cell(&cell, plan->world[w]))
            return 0;
    return !strcmp(plan->name, "paper");
}

/* Into the group of its setup, or a new one. */
static size_t add_paper_world(struct gbose__group *all, size_t n, const struct gbose__plan *plan,
                              size_t world)
{
    struct gbose__printed_cell cell = {0, 0, 0};
    struct gbose__group g = {.paper = 1, .n = 1, .world = {world}};

    gbose__printed_cell(&cell, plan->world[world]);
    snprintf(g.name, sizeof g.name, "%" PRIu64 "x%" PRIu64, cell.arms, cell.dim);
    snprintf(g.title, sizeof g.title, "N = %" PRIu64 ", d = %" PRIu64, cell.arms, cell.dim);
    for (size_t i = 0; i < n; i++)
        if (!strcmp(all[i].name, g.name) && all[i].n < GBOSE__GROUP_WORLDS) {
            all[i].world[all[i].n++] = world;
            return n;
        }
    all[n] = g;
    return n + 1;
}

int gbose__groups(struct gbose__group **out, size_t *n, const struct gbose__plan *plan, gbose_error *err)
{
    struct gbose__group *all = calloc(plan->n_worlds + 1, sizeof *all);
    int paper = of_paper(plan);
    size_t count = 0;

    if (!all)
        return gbose__no_memory(err);
    for (size_t w = 0; w < plan->n_worlds; w++) {
        if (paper) {
            count = add_paper_world(all, count, plan, w);
            continue;
        }
        if (w % GBOSE__GROUP_WORLDS == 0) {
            snprintf(all[count].name, sizeof all[count].name, "worlds-%zu", count + 1);
            count++;
        }
        all[count - 1].world[all[count - 1].n++] = w;
    }
    *out = all;
    *n = count;
    return GBOSE_OK;
}

const char *gbose__groups_label(const struct gbose__group *g, size_t i, const struct gbose__plan *plan)
{
    struct gbose__printed_cell cell;
    const char *spec = plan->world[g->world[i]];

    return g->paper && gbose__printed_cell(&cell, spec) ? gbose__printed_shift_numeral(cell.shift) : spec;
}

const char *gbose__groups_formula(const struct gbose__group *g, size_t i, const struct gbose__plan *plan)
{
    struct gbose__printed_cell cell;

    return g->paper && gbose__printed_cell(&cell, plan->world[g->world[i]])
               ? gbose__printed_shift_formula(cell.shift)
               : "";
}
