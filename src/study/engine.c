#include "study/engine.h"

#include <stdlib.h>

#include "core/error.h"
#include "study/run.h"
#include "study/summary.h"

/* ---- what is to be played ---- */

static size_t fresh_runs(const struct gbose__plan *plan)
{
    return plan->n_worlds * plan->n_learners * plan->fresh;
}

size_t gbose__engine_needed(const struct gbose__study *study, size_t shard, size_t shards)
{
    const struct gbose__plan *plan = study->plan;
    size_t tuning = study->n_runs / (plan->reps + plan->fresh) * plan->reps;

    return shards > 1 ? (tuning + shards - 1 - shard) / shards : tuning + fresh_runs(plan);
}

size_t gbose__engine_done(const struct gbose__study *study)
{
    size_t n = 0;

    for (size_t i = 0; i < study->n_runs; i++)
        n += (size_t)study->result[i].done;
    return n;
}

/* The state of a study being played. */
struct play {
    struct gbose__study *study;
    const struct gbose__engine_settings *set;
    struct gbose__progress progress;
    double *cost; /* of a run, by world and learner */
    size_t *todo; /* room for all runs */
    size_t n_todo;
};

static double cost_of(const struct play *s, size_t index)
{
    struct gbose__run_id id = gbose__plan_run_at(s->study->plan, index);

    return s->cost[id.world * s->study->plan->n_learners + id.learner];
}

static int measure_costs(struct play *s)
{
    const struct gbose__plan *plan = s->study->plan;

    s->cost = calloc(plan->n_worlds * plan->n_learners, sizeof *s->cost);
    for (size_t w = 0; s->cost && w < plan->n_worlds; w++)
        for (size_t l = 0; l < plan->n_learners; l++) {
            struct gbose__run_id id = {w, l, 0, 0};
            s->cost[w * plan->n_learners + l] = gbose__run_cost(plan, gbose__plan_run_index(plan, id));
        }
    return s->cost ? GBOSE_OK : GBOSE_ENOMEM;
}

struct task {
    size_t index;
    double cost;
    int alone;
};

/* Runs that must go one at a time come first, then the expensive ones: those that end last are then short,
 * and no thread waits long for another. */
static int in_order(const void *a, const void *b)
{
    const struct task *s = a, *t = b;

    if (s->alone != t->alone)
        return t->alone - s->alone;
    if (s->cost != t->cost)
        return s->cost > t->cost ? -1 : 1;
    return s->index < t->index ? -1 : 1;
}

static int sort_listed(struct play *s)
{
    struct task *task = calloc(s->n_todo + 1, sizeof *task);

    if (!task)
        return GBOSE_ENOMEM;
    for (size_t i = 0; i < s->n_todo; i++)
        task[i] = (struct task){s->todo[i], cost_of(s, s->todo[i]),
                                gbose__plan_run_alone(s->study->plan, s->todo[i])};
    qsort(task, s->n_todo, sizeof *task, in_order);
    for (size_t i = 0; i < s->n_todo; i++)
        s->todo[i] = task[i].index;
    free(task);
    return GBOSE_OK;
}

/* The tuning runs that are missing. */
static void list_tuning(struct play *s)
{
    const struct gbose__plan *plan = s->study->plan;
    size_t number = 0;

    s->n_todo = 0;
    for (size_t i = 0; i < s->study->n_runs; i++) {
        if (gbose__plan_run_at(plan, i).rep >= plan->reps)
            continue;
        if (number++ % s->set->shards == s->set->shard && !s->study->result[i].done)
            s->todo[s->n_todo++] = i;
    }
}

static void list_fresh(struct play *s, const size_t *chosen)
{
    const struct gbose__plan *plan = s->study->plan;

    s->n_todo = 0;
    for (size_t w = 0; w < plan->n_worlds; w++)
        for (size_t l = 0; l < plan->n_learners; l++)
            for (size_t r = plan->reps; r < plan->reps + plan->fresh; r++) {
                struct gbose__run_id id = {w, l, chosen[w * plan->n_learners + l], r};
                size_t i = gbose__plan_run_index(plan, id);
                if (!s->study->result[i].done)
                    s->todo[s->n_todo++] = i;
            }
}

/* ---- playing ---- */

static int finished(void *user, size_t index, gbose_error *err)
{
    struct play *s = user;

    s->progress.done++;
    s->progress.cost_left -= cost_of(s, index);
    return s->set->finished ? s->set->finished(s->set->user, s->study, index, err) : GBOSE_OK;
}

static void tick(void *user)
{
    const struct play *s = user;

    if (s->set->tick)
        s->set->tick(s->set->user, &s->progress);
}

static int play_listed(struct play *s, gbose_error *err)
{
    struct gbose__pool pool = {s->set->threads, s->set->stop, s->set->ranks, finished, tick, s};

    if (sort_listed(s))
        return gbose__no_memory(err);
    return gbose__pool_play(&pool, s->study, s->todo, s->n_todo, err);
}

static int play_fresh(struct play *s, gbose_error *err)
{
    const struct gbose__plan *plan = s->study->plan;
    size_t *chosen = calloc(plan->n_worlds * plan->n_learners, sizeof *chosen);
    int rc;

    if (!chosen)
        return gbose__no_memory(err);
    rc = gbose__summary_choose(chosen, s->study, err);
    if (!rc) {
        list_fresh(s, chosen);
        rc = play_listed(s, err);
    }
    free(chosen);
    return rc;
}

static void begin_progress(struct play *s)
{
    const struct gbose__plan *plan = s->study->plan;
    double cost = 0;

    for (size_t i = 0; i < s->n_todo; i++)
        cost += cost_of(s, s->todo[i]);
    for (size_t i = 0; s->set->shards == 1 && i < plan->n_worlds * plan->n_learners; i++)
        cost += s->cost[i] * (double)plan->fresh;
    s->progress.runs = gbose__engine_needed(s->study, s->set->shard, s->set->shards);
    s->progress.done = s->progress.before = gbose__engine_done(s->study);
    s->progress.cost = s->progress.cost_left = cost;
}

/* Are all tuning runs done? */
static int tuned(const struct gbose__study *study)
{
    for (size_t i = 0; i < study->n_runs; i++)
        if (!study->result[i].done && gbose__plan_run_at(study->plan, i).rep < study->plan->reps)
            return 0;
    return 1;
}

int gbose__engine_play(struct gbose__study *study, const struct gbose__engine_settings *settings,
                       gbose_error *err)
{
    struct play s = {.study = study, .set = settings};
    int rc = GBOSE_OK;

    s.todo = calloc(study->n_runs, sizeof *s.todo);
    if (!s.todo || measure_costs(&s))
        rc = gbose__no_memory(err);
    if (!rc) {
        list_tuning(&s);
        begin_progress(&s);
        rc = play_listed(&s, err);
    }
    if (!rc && study->plan->fresh && settings->shards == 1 && tuned(study))
        rc = play_fresh(&s, err);
    free(s.todo);
    free(s.cost);
    return rc;
}
