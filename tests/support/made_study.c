#include "support/made_study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"

struct gbose__study *made_study(const char *name, const char *const *worlds, const char *const *learners,
                                const char *values, uint64_t rounds, size_t reps, size_t fresh)
{
    struct gbose__plan *plan = gbose__plan_new(name, rounds, reps, 7);
    struct gbose__study *s;
    gbose_error err;

    assert_non_null(plan);
    plan->fresh = fresh;
    for (; *worlds; worlds++)
        assert_that(!gbose__plan_add_world(plan, *worlds, &err), "%s", err.text);
    for (; *learners; learners++)
        assert_that(!(values ? gbose__plan_sweep_learner(plan, *learners, NULL, "gamma", values, &err)
                             : gbose__plan_add_learner(plan, *learners, NULL, NULL, NULL, 0, &err)),
                    "%s", err.text);
    s = gbose__study_new(plan);
    assert_non_null(s);
    return s;
}

void made_run(struct gbose__study *s, size_t world, size_t learner, size_t value, size_t rep, double regret)
{
    struct gbose__run_id id = {world, learner, value, rep};
    struct gbose__result *run = &s->result[gbose__plan_run_index(s->plan, id)];
    size_t n = s->plan->n_points;

    if (!run->curve)
        run->curve = calloc(n, sizeof *run->curve);
    assert_non_null(run->curve);
    for (size_t k = 0; k < n; k++)
        run->curve[k] = (float)(regret * sqrt((double)s->plan->point[k] / (double)s->plan->rounds));
    run->done = 1;
    run->regret = regret;
    run->reward = 1000 - regret / 3;
    run->lone = 0.25 + 0.01 * (double)rep;
}

struct gbose__study *made_paper_study(size_t reps, size_t fresh)
{
    static const char *const worlds[] = {
        "paper:arms=2,dim=10,shift=zero",      "paper:arms=2,dim=10,shift=log-sine",
        "paper:arms=2,dim=10,shift=cos-best",  "paper:arms=10,dim=2,shift=zero",
        "paper:arms=10,dim=2,shift=log-sine",  "paper:arms=10,dim=2,shift=cos-best",
        "paper:arms=10,dim=10,shift=zero",     "paper:arms=10,dim=10,shift=log-sine",
        "paper:arms=10,dim=10,shift=cos-best", NULL};
    static const char *const learners[] = {"gbose",   "bose",   "gbose:lone=half", "action-ts",
                                           "semi-ts", "lin-ts", "lin-ucb",         NULL};
    static const double centre[9][7] = {
        {19.7, 19.7, 19.5, 17.9, 18.7, 2.4, 2.9},   {577, 577, 560, 546, 660, 1508, 1700},
        {24, 24, 23.5, 23.3, 22.9, 102, 131},       {93, 71, 31.6, 301, 79, 17.9, 19.4},
        {1674, 1450, 1239, 2514, 1804, 3548, 3700}, {150, 128, 82, 462, 112, 490, 530},
        {345, 290, 117, 552, 279, 61.5, 66},        {3021, 2650, 1304, 3431, 2966, 4252, 4400},
        {567, 480, 164, 1013, 397, 512, 560},
    };
    struct gbose__study *s = made_study("paper", worlds, learners, "0.01,0.05,0.2", 10000, reps, fresh);
    uint64_t state = 1;

    for (size_t w = 0; w < 9; w++)
        for (size_t l = 0; l < 7; l++)
            for (size_t v = 0; v < 3; v++)
                for (size_t r = 0; r < reps + (v == 1 ? fresh : 0); r++) {
                    double u;
                    state = state * 6364136223846793005u + 1442695040888963407u;
                    u = (double)(state >> 11) * 0x1p-53 - 0.5;
                    made_run(s, w, l, v, r,
                             centre[w][l] * (v == 1 ? 1 : 1.9) * (1 + 0.5 * u) * (r < reps ? 1 : 1.06));
                }
    return s;
}
