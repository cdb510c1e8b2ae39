#include "study/run.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/spec.h"
#include "worlds/world.h"

/* Who plays: a learner of the library, or one that is given by callbacks. */
struct player {
    gbose *g;
    const void *ticket;
    size_t ticket_size;
    const gbose_study_learner *joined; /* NULL: g plays */
    void *state;
    int begun;
};

/* The run's spec, with the study's seed if it names none of its own. */
static int make_learner(gbose **g, const struct gbose__plan *plan, struct gbose__run_id id, size_t dim,
                        gbose_error *err)
{
    char spec[GBOSE__MAX_SPEC];
    int rc;

    gbose__plan_run_spec(spec, plan, id);
    if (!strstr(spec, "seed=")) {
        size_t used = strlen(spec);
        snprintf(spec + used, sizeof spec - used, "%cseed=%" PRIu64, strchr(spec, ':') ? ',' : ':',
                 plan->seed);
    }
    rc = gbose_new(g, spec, dim, err);
    return rc ? rc : gbose_stream(*g, (uint32_t)id.rep);
}

static int begin(struct player *p, const struct gbose__plan *plan, struct gbose__run_id id, size_t dim,
                 gbose_error *err)
{
    int rc;

    p->joined = plan->learner[id.learner].joined;
    if (!p->joined)
        return make_learner(&p->g, plan, id, dim, err);
    rc = p->joined->begin(&p->state, p->joined->user, dim, plan->seed, (uint32_t)id.rep, err);
    p->begun = !rc;
    return rc;
}

static int decide(struct player *p, size_t *arm, double *probability, const struct gbose__world *world,
                  gbose_error *err)
{
    gbose_decision d;
    int rc;

    if (p->joined) {
        rc = p->joined->decide(p->state, arm, probability, world->contexts, world->n_arms, err);
        if (!rc && *arm >= world->n_arms)
            rc = gbose__fail(err, GBOSE_EINVAL, "learner '%s' chose arm %zu of %zu", p->joined->name, *arm,
                             world->n_arms);
        return rc;
    }
    rc = gbose_decide(p->g, &d, world->contexts, world->n_arms);
    if (rc)
        return gbose__fail(err, rc, "%s", gbose_strerror(rc));
    p->ticket = d.ticket;
    p->ticket_size = d.ticket_size;
    *arm = d.arm;
    *probability = d.probability;
    return GBOSE_OK;
}

static int learn(struct player *p, double reward, gbose_error *err)
{
    int rc;

    if (p->joined)
        return p->joined->learn(p->state, reward, err);
    rc = gbose_learn(p->g, p->ticket, p->ticket_size, reward);
    return rc ? gbose__fail(err, rc, "%s", gbose_strerror(rc)) : GBOSE_OK;
}

static void end(struct player *p)
{
    if (p->begun && p->joined->end)
        p->joined->end(p->state);
    gbose_free(p->g);
}

static int make_world(struct gbose__world **world, const struct gbose__plan *plan, size_t which, size_t rep,
                      gbose_error *err)
{
    if (plan->joined[which])
        return gbose__world_join(world, plan->joined[which], plan->seed, (uint32_t)rep, err);
    return gbose__world_new(world, plan->world[which], plan->seed, (uint32_t)rep, err);
}

/* One round of a run. */
static int play_round(struct gbose__result *result, struct player *p, struct gbose__world *world,
                      uint64_t *lone, gbose_error *err)
{
    double reward, regret, probability = NAN;
    size_t arm = 0;
    int rc = gbose__world_next(world);

    if (rc)
        return gbose__fail(err, rc, "%s", world->err.text);
    rc = decide(p, &arm, &probability, world, err);
    if (rc)
        return rc;
    reward = gbose__world_play(world, arm, &regret);
    if (world->err.code)
        return gbose__fail(err, world->err.code, "%s", world->err.text);
    result->regret += regret;
    result->reward += reward;
    *lone += probability == 1;
    return learn(p, reward, err);
}

int gbose__run_play(struct gbose__result *result, const struct gbose__plan *plan, size_t index,
                    const atomic_int *stop, gbose_error *err)
{
    struct gbose__run_id id = gbose__plan_run_at(plan, index);
    struct gbose__world *world = NULL;
    struct player player = {0};
    gbose_error why = {0, ""};
    uint64_t lone = 0;
    size_t next_point = 0;
    int rc;

    result->done = 0;
    result->regret = result->reward = 0;
    rc = make_world(&world, plan, id.world, id.rep, err);
    if (!rc)
        rc = begin(&player, plan, id, world->dim, err);
    for (uint64_t t = 1; t <= plan->rounds && !rc; t++) {
        if (stop && t % 256 == 0 && *stop)
            break;
        rc = play_round(result, &player, world, &lone, &why);
        if (rc)
            gbose__fail(err, rc, "round %" PRIu64 ": %s", t, why.text);
        else if (t == plan->point[next_point])
            result->curve[next_point++] = (float)result->regret;
    }
    result->lone = (double)lone / (double)plan->rounds;
    result->done = !rc && next_point == plan->n_points;
    end(&player);
    gbose__world_free(world);
    return rc;
}

double gbose__run_cost(const struct gbose__plan *plan, size_t index)
{
    struct gbose__run_id id = gbose__plan_run_at(plan, index);
    struct gbose__world *world;
    double cost = 1;

    if (gbose__plan_run_alone(plan, index))
        return 1e5 * (double)plan->rounds;
    if (!gbose__world_new(&world, plan->world[id.world], plan->seed, 0, NULL)) {
        double n = (double)world->max_arms, d = (double)world->dim;
        cost = 300 + n * (40 + 2 * d + d * d / 16) + d * d;
        if (n > 2 && strstr(plan->learner[id.learner].spec, "semi-ts"))
            cost += 7000;
        gbose__world_free(world);
    }
    return cost * (double)plan->rounds;
}
