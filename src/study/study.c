#include "study/study.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/spec.h"
#include "study/file.h"
#include "study/journal.h"
#include "study/pool.h"
#include "study/progress.h"
#include "study/run.h"
#include "study/summary.h"

/* ---- the directory ---- */

/* DIR, and what leads to it. */
static int make_directories(const char *dir, gbose_error *err)
{
    char *path = strdup(dir);
    int rc = GBOSE_OK;

    if (!path)
        return gbose__no_memory(err);
    for (char *p = path + 1; *p && !rc; p++)
        if (*p == '/') {
            *p = 0;
            rc = gbose__dir_make(path, err);
            *p = '/';
        }
    free(path);
    return rc ? rc : gbose__dir_make(dir, err);
}

char *gbose__study_plan_text(const char *dir, gbose_error *err)
{
    char *path = gbose__path(dir, "study.json"), *text = NULL;
    size_t size;

    if (!path)
        gbose__no_memory(err);
    else if (gbose__file_read(&text, &size, path, err))
        text = NULL;
    free(path);
    return text;
}

static int write_plan(const char *dir, const char *text, gbose_error *err)
{
    struct gbose__file file;
    int rc = gbose__file_open(&file, dir, "study.json", err);

    if (rc)
        return rc;
    fputs(text, file.to);
    return gbose__file_close(&file, err);
}

/* Write DIR/study.json, or find the same text in it. */
static int claim(const char *dir, const char *text, gbose_error *err)
{
    char *path = gbose__path(dir, "study.json"), *there = NULL;
    size_t size;
    int rc;

    if (!path)
        return gbose__no_memory(err);
    if (access(path, F_OK) && errno == ENOENT)
        rc = write_plan(dir, text, err);
    else
        rc = gbose__file_read(&there, &size, path, err);
    if (!rc && there && strcmp(there, text))
        rc = gbose__fail(
            err, GBOSE__EWRITE,
            "%s holds another study, or one that other code has played; give another --out, or remove it",
            dir);
    free(there);
    free(path);
    return rc;
}

int gbose__study_open(struct gbose__journal **journal, struct gbose__study *study, const char *dir,
                      gbose_error *err)
{
    char *text = gbose__plan_write(study->plan);
    struct gbose__journal *opened = NULL;
    int rc = text ? make_directories(dir, err) : gbose__no_memory(err);

    if (!rc)
        rc = gbose__journal_lock(&opened, dir, study, err);
    if (!rc)
        rc = claim(dir, text, err);
    if (!rc)
        rc = gbose__journal_begin(opened, text, study, err);
    if (rc)
        gbose__journal_close(opened);
    else
        *journal = opened;
    free(text);
    return rc;
}

/* ---- what is to be played ---- */

static size_t fresh_runs(const struct gbose__plan *plan)
{
    return plan->n_worlds * plan->n_learners * plan->fresh;
}

size_t gbose__study_needed(const struct gbose__study *study, size_t shard, size_t shards)
{
    const struct gbose__plan *plan = study->plan;
    size_t tuning = study->n_runs / (plan->reps + plan->fresh) * plan->reps;

    return shards > 1 ? (tuning + shards - 1 - shard) / shards : tuning + fresh_runs(plan);
}

size_t gbose__study_done(const struct gbose__study *study)
{
    size_t n = 0;

    for (size_t i = 0; i < study->n_runs; i++)
        n += (size_t)study->result[i].done;
    return n;
}

/* The state of a study being played. */
struct session {
    struct gbose__study *study;
    const struct gbose__study_settings *set;
    struct gbose__progress progress;
    double *cost; /* of a run, by world and learner */
    size_t *todo; /* room for all runs */
    size_t n_todo;
};

static double cost_of(const struct session *s, size_t index)
{
    struct gbose__run_id id = gbose__run_at(s->study->plan, index);

    return s->cost[id.world * s->study->plan->n_learners + id.learner];
}

static int measure_costs(struct session *s)
{
    const struct gbose__plan *plan = s->study->plan;

    s->cost = calloc(plan->n_worlds * plan->n_learners, sizeof *s->cost);
    for (size_t w = 0; s->cost && w < plan->n_worlds; w++)
        for (size_t l = 0; l < plan->n_learners; l++) {
            struct gbose__run_id id = {w, l, 0, 0};
            s->cost[w * plan->n_learners + l] = gbose__run_cost(plan, gbose__run_index(plan, id));
        }
    return s->cost ? GBOSE_OK : GBOSE_ENOMEM;
}

static const struct session *sorting; /* qsort has no argument for it; only the main thread sorts */

static int costlier_first(const void *a, const void *b)
{
    size_t i = *(const size_t *)a, j = *(const size_t *)b;
    double difference = cost_of(sorting, j) - cost_of(sorting, i);

    return difference > 0 ? 1 : difference < 0 ? -1 : i < j ? -1 : 1;
}

/* The tuning runs that are missing, the costly ones first so that the last to finish are short. */
static void list_tuning(struct session *s)
{
    const struct gbose__plan *plan = s->study->plan;
    size_t number = 0;

    s->n_todo = 0;
    for (size_t i = 0; i < s->study->n_runs; i++) {
        if (gbose__run_at(plan, i).rep >= plan->reps)
            continue;
        if (number++ % s->set->shards == s->set->shard && !s->study->result[i].done)
            s->todo[s->n_todo++] = i;
    }
}

static void list_fresh(struct session *s, const size_t *chosen)
{
    const struct gbose__plan *plan = s->study->plan;

    s->n_todo = 0;
    for (size_t w = 0; w < plan->n_worlds; w++)
        for (size_t l = 0; l < plan->n_learners; l++)
            for (size_t r = plan->reps; r < plan->reps + plan->fresh; r++) {
                struct gbose__run_id id = {w, l, chosen[w * plan->n_learners + l], r};
                size_t i = gbose__run_index(plan, id);
                if (!s->study->result[i].done)
                    s->todo[s->n_todo++] = i;
            }
}

/* ---- playing ---- */

static int finished(void *user, size_t index, gbose_error *err)
{
    struct session *s = user;

    gbose__progress_step(&s->progress, cost_of(s, index));
    return s->set->journal ? gbose__journal_append(s->set->journal, s->study, index, err) : GBOSE_OK;
}

static void tick(void *user)
{
    gbose__progress_show(&((struct session *)user)->progress);
}

static int play_listed(struct session *s, gbose_error *err)
{
    struct gbose__pool pool = {s->set->threads, s->set->stop, finished, tick, s};

    sorting = s;
    qsort(s->todo, s->n_todo, sizeof *s->todo, costlier_first);
    return gbose__pool_play(&pool, s->study, s->todo, s->n_todo, err);
}

static int play_fresh(struct session *s, gbose_error *err)
{
    const struct gbose__plan *plan = s->study->plan;
    size_t *chosen = calloc(plan->n_worlds * plan->n_learners, sizeof *chosen);
    int rc;

    if (!chosen)
        return gbose__no_memory(err);
    rc = gbose__choose_values(chosen, s->study, err);
    if (!rc) {
        list_fresh(s, chosen);
        rc = play_listed(s, err);
    }
    free(chosen);
    return rc;
}

static void begin_progress(struct session *s)
{
    const struct gbose__plan *plan = s->study->plan;
    double cost = 0;

    for (size_t i = 0; i < s->n_todo; i++)
        cost += cost_of(s, s->todo[i]);
    for (size_t i = 0; s->set->shards == 1 && i < plan->n_worlds * plan->n_learners; i++)
        cost += s->cost[i] * (double)plan->fresh;
    gbose__progress_begin(&s->progress, gbose__study_needed(s->study, s->set->shard, s->set->shards),
                          gbose__study_done(s->study), cost);
}

/* Are all tuning runs done? */
static int tuned(const struct gbose__study *study)
{
    for (size_t i = 0; i < study->n_runs; i++)
        if (!study->result[i].done && gbose__run_at(study->plan, i).rep < study->plan->reps)
            return 0;
    return 1;
}

int gbose__study_play(struct gbose__study *study, const struct gbose__study_settings *settings,
                      gbose_error *err)
{
    struct session s = {.study = study, .set = settings};
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
    gbose__progress_end(&s.progress);
    free(s.todo);
    free(s.cost);
    return rc;
}
