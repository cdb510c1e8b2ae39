/* gbose_study.h: studies for programs outside of gbose. */
#include "gbose_study.h"

#include <stdlib.h>

#include "core/error.h"
#include "io/file.h"
#include "study/engine.h"
#include "study/session.h"
#include "study/summary.h"

/* ---- room for results ---- */

struct gbose__study *gbose__study_new(struct gbose__plan *plan)
{
    struct gbose__study *study = calloc(1, sizeof *study);

    if (!study)
        return NULL;
    study->plan = plan;
    study->n_runs = gbose__plan_runs(plan);
    study->result = calloc(study->n_runs, sizeof *study->result);
    if (!study->result) {
        free(study);
        return NULL;
    }
    return study;
}

void gbose__study_free(struct gbose__study *study)
{
    if (!study)
        return;
    for (size_t i = 0; i < study->n_runs; i++)
        free(study->result[i].curve);
    free(study->result);
    gbose__plan_free(study->plan);
    free(study);
}

/* ---- making ---- */

static int invalid(gbose_error *err)
{
    return gbose__fail_plainly(err, GBOSE_EINVAL);
}

struct gbose_study {
    struct gbose__plan *plan;
    struct gbose__study *played;    /* owns the plan; NULL: neither played nor kept yet */
    struct gbose__session *session; /* where runs are kept; NULL: nowhere */
};

int gbose_study_new(gbose_study **out, uint64_t rounds, size_t repetitions, uint64_t seed, gbose_error *err)
{
    gbose_study *s;

    if (!out || !rounds || !repetitions || repetitions > UINT32_MAX / 2)
        return invalid(err);
    gbose__fail(err, GBOSE_OK, "%s", "");
    s = calloc(1, sizeof *s);
    if (s)
        s->plan = gbose__plan_new("simulate", rounds, repetitions, seed);
    if (!s || !s->plan) {
        free(s);
        return gbose__no_memory(err);
    }
    *out = s;
    return GBOSE_OK;
}

void gbose_study_free(gbose_study *s)
{
    if (!s)
        return;
    gbose__session_close(s->session);
    if (s->played)
        gbose__study_free(s->played);
    else
        gbose__plan_free(s->plan);
    free(s);
}

/* May something be added? */
static int check_open(const gbose_study *s, const void *what, gbose_error *err)
{
    if (!s || !what)
        return invalid(err);
    if (s->played)
        return gbose__fail(err, GBOSE_EINVAL, "the study has begun; nothing can be added to it");
    return gbose__fail(err, GBOSE_OK, "%s", "");
}

int gbose_study_add_world(gbose_study *s, const char *spec, gbose_error *err)
{
    int rc = check_open(s, spec, err);

    return rc ? rc : gbose__plan_add_world(s->plan, spec, err);
}

int gbose_study_add_learner(gbose_study *s, const char *spec, const char *label, const char *option,
                            const char *const *values, size_t n_values, gbose_error *err)
{
    int rc = check_open(s, spec, err);

    if (!rc && option && n_values && !values)
        rc = invalid(err);
    return rc ? rc : gbose__plan_add_learner(s->plan, spec, label, option, values, n_values, err);
}

int gbose_study_join_world(gbose_study *s, const gbose_study_world *world, gbose_error *err)
{
    int rc = check_open(s, world, err);

    return rc ? rc : gbose__plan_join_world(s->plan, world, err);
}

int gbose_study_join_learner(gbose_study *s, const gbose_study_learner *learner, gbose_error *err)
{
    int rc = check_open(s, learner, err);

    return rc ? rc : gbose__plan_join_learner(s->plan, learner, err);
}

/* ---- playing ---- */

_Static_assert((int)GBOSE_STUDY_EWRITE == (int)GBOSE__EWRITE && (int)GBOSE_STUDY_EREAD == (int)GBOSE__EREAD,
               "codes of files are the same inside and outside");

/* Room for the results: from here on nothing can be added. */
static int begin(gbose_study *s, gbose_error *err)
{
    if (!s->plan->n_worlds || !s->plan->n_learners)
        return gbose__fail(err, GBOSE_EINVAL, "the study has no %s", s->plan->n_worlds ? "learner" : "world");
    gbose__fail(err, GBOSE_OK, "%s", "");
    if (s->played)
        return GBOSE_OK;
    gbose__plan_set_fresh(s->plan);
    s->played = gbose__study_new(s->plan);
    return s->played ? GBOSE_OK : gbose__no_memory(err);
}

int gbose_study_keep(gbose_study *s, const char *dir, gbose_error *err)
{
    int rc;

    if (!s || !dir || !*dir)
        return invalid(err);
    if (s->session)
        return gbose__fail(err, GBOSE_EINVAL, "the study is kept in a directory already");
    rc = begin(s, err);
    return rc ? rc : gbose__session_open(&s->session, s->played, dir, err);
}

struct watch {
    int (*progress)(void *user, size_t done, size_t all);
    void *user;
    struct gbose__session *session;
    atomic_int stop;
};

static void tick(void *user, const struct gbose__progress *progress)
{
    struct watch *watch = user;

    if (watch->progress && !watch->stop && watch->progress(watch->user, progress->done, progress->runs))
        watch->stop = 1;
}

static int finished(void *user, const struct gbose__study *study, size_t index, gbose_error *err)
{
    struct watch *watch = user;

    return watch->session ? gbose__session_add(watch->session, study, index, err) : GBOSE_OK;
}

int gbose_study_play(gbose_study *s, size_t threads, int (*progress)(void *user, size_t done, size_t all),
                     void *user, gbose_error *err)
{
    struct watch watch = {progress, user, s ? s->session : NULL, 0};
    struct gbose__engine_settings settings = {.threads = threads,
                                              .shards = 1,
                                              .stop = &watch.stop,
                                              .finished = finished,
                                              .tick = tick,
                                              .user = &watch};
    int rc;

    if (!s || !threads)
        return invalid(err);
    rc = begin(s, err);
    return rc ? rc : gbose__engine_play(s->played, &settings, err);
}

/* ---- results ---- */

int gbose_study_run_at(const gbose_study *s, size_t i, gbose_study_run *out)
{
    const struct gbose__result *r;
    struct gbose__run_id id;

    if (!s || !out || !s->played || i >= s->played->n_runs)
        return GBOSE_EINVAL;
    r = &s->played->result[i];
    id = gbose__plan_run_at(s->plan, i);
    *out = (gbose_study_run){r->done,   id.world,  id.learner, id.value, id.rep, id.rep >= s->plan->reps,
                             r->regret, r->reward, r->lone,    r->curve};
    return GBOSE_OK;
}

size_t gbose_study_done(const gbose_study *s)
{
    return s->played ? gbose__engine_done(s->played) : 0;
}

size_t gbose_study_needed(const gbose_study *s)
{
    struct gbose__plan plan = *s->plan;
    struct gbose__study all = {&plan, 0, NULL};

    gbose__plan_set_fresh(&plan);
    all.n_runs = gbose__plan_runs(&plan);
    return gbose__engine_needed(&all, 0, 1);
}

const uint64_t *gbose_study_points(const gbose_study *s, size_t *n)
{
    *n = s->plan->n_points;
    return s->plan->point;
}

int gbose_study_best(const gbose_study *s, size_t world, size_t learner, size_t *value)
{
    size_t *chosen, best;

    if (!s || !value || !s->played || world >= s->plan->n_worlds || learner >= s->plan->n_learners)
        return GBOSE_EINVAL;
    chosen = calloc(s->plan->n_worlds * s->plan->n_learners, sizeof *chosen);
    if (!chosen || gbose__summary_choose(chosen, s->played, NULL)) {
        free(chosen);
        return GBOSE_ENOMEM;
    }
    best = chosen[world * s->plan->n_learners + learner];
    free(chosen);
    if (best == GBOSE__NO_VALUE)
        return GBOSE_EINVAL;
    *value = best;
    return GBOSE_OK;
}

const char *gbose_study_world_name(const gbose_study *s, size_t i)
{
    return i < s->plan->n_worlds ? s->plan->world[i] : NULL;
}

const char *gbose_study_learner_name(const gbose_study *s, size_t i)
{
    return i < s->plan->n_learners ? s->plan->learner[i].label : NULL;
}

const char *gbose_study_value(const gbose_study *s, size_t learner, size_t i)
{
    if (learner >= s->plan->n_learners || i >= s->plan->learner[learner].n_values)
        return NULL;
    return s->plan->learner[learner].value[i];
}
