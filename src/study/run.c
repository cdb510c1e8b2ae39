#include "study/run.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/spec.h"
#include "worlds/world.h"

/* The run's spec, with the study's seed if it names none of its own. */
static int make_learner(gbose **g, const struct gbose__plan *plan, struct gbose__run_id id, size_t dim,
                        gbose_error *err)
{
    char spec[GBOSE__MAX_SPEC];
    int rc;

    gbose__run_spec(spec, plan, id);
    if (!strstr(spec, "seed=")) {
        size_t used = strlen(spec);
        snprintf(spec + used, sizeof spec - used, "%cseed=%" PRIu64, strchr(spec, ':') ? ',' : ':',
                 plan->seed);
    }
    rc = gbose_new(g, spec, dim, err);
    return rc ? rc : gbose_stream(*g, (uint32_t)id.rep);
}

int gbose__run_play(struct gbose__result *result, const struct gbose__plan *plan, size_t index,
                    const atomic_int *stop, gbose_error *err)
{
    struct gbose__run_id id = gbose__run_at(plan, index);
    struct gbose__world *world = NULL;
    uint64_t lone = 0;
    gbose *g = NULL;
    size_t next_point = 0;
    int rc;

    result->done = 0;
    result->regret = result->reward = 0;
    rc = gbose__world_new(&world, plan->world[id.world], plan->seed, (uint32_t)id.rep, err);
    if (!rc)
        rc = make_learner(&g, plan, id, world->dim, err);
    for (uint64_t t = 1; t <= plan->rounds && !rc; t++) {
        gbose_decision decision;
        double reward, regret;

        if (stop && t % 256 == 0 && *stop)
            break;
        gbose__world_next(world);
        rc = gbose_decide(g, &decision, world->contexts, world->n_arms);
        if (rc) {
            gbose__fail(err, rc, "round %" PRIu64 ": %s", t, gbose_strerror(rc));
            break;
        }
        reward = gbose__world_play(world, decision.arm, &regret);
        rc = gbose_learn(g, decision.ticket, decision.ticket_size, reward);
        if (rc) {
            gbose__fail(err, rc, "round %" PRIu64 ": %s", t, gbose_strerror(rc));
            break;
        }
        result->regret += regret;
        result->reward += reward;
        lone += decision.probability == 1;
        if (t == plan->point[next_point])
            result->curve[next_point++] = (float)result->regret;
    }
    result->lone = (double)lone / (double)plan->rounds;
    result->done = !rc && next_point == plan->n_points;
    gbose_free(g);
    gbose__world_free(world);
    return rc;
}

double gbose__run_cost(const struct gbose__plan *plan, size_t index)
{
    struct gbose__run_id id = gbose__run_at(plan, index);
    struct gbose__world *world;
    double cost = 1;

    if (!gbose__world_new(&world, plan->world[id.world], plan->seed, 0, NULL)) {
        double n = (double)world->max_arms, d = (double)world->dim;
        cost = 300 + n * (40 + 2 * d + d * d / 16) + d * d;
        if (n > 2 && strstr(plan->learner[id.learner].spec, "semi-ts"))
            cost += 7000;
        gbose__world_free(world);
    }
    return cost * (double)plan->rounds;
}
