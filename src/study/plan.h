/* A study: which learners play in which worlds, with which parameters, how often, for how long.
 *
 * A run is one learner with one parameter in one repetition of one world. Repetitions 0 to reps - 1 are
 * those on which parameters are compared; those from reps to reps + fresh - 1 are played only with the
 * parameter that came out best, and tell what choosing on the same runs has flattered. */
#ifndef GBOSE_STUDY_PLAN_H
#define GBOSE_STUDY_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "gbose_study.h"
#include "study/result.h"

/* A learner with the values of one option to try. */
struct gbose__entry {
    char *label;                 /* what tables and figures call it */
    char *spec;                  /* canonical, without the swept option */
    char *option;                /* the option that is swept; NULL: none */
    size_t n_values;             /* at least 1 */
    char **value;                /* n_values texts; value[0] is "" when nothing is swept */
    gbose_study_learner *joined; /* given by callbacks, spec is its name; NULL: made from the spec */
};

struct gbose__plan {
    char *name; /* "paper" or "simulate" */
    size_t n_worlds;
    char **world;               /* canonical specs, or names of joined worlds */
    gbose_study_world **joined; /* n_worlds: given by callbacks; NULL: made from the spec */
    size_t n_learners;
    struct gbose__entry *learner;
    uint64_t rounds;
    size_t reps;  /* at least 1 */
    size_t fresh; /* repetitions with the chosen parameter; 0: no second phase */
    uint64_t seed;
    size_t n_points; /* of a regret curve */
    uint64_t *point; /* the rounds they stand at, rising; the last is `rounds` */
};

/* Which run: indices into the plan. */
struct gbose__run_id {
    size_t world, learner, value, rep;
};

/* All runs of a plan: value-major within learner within world, reps + fresh repetitions each. */
struct gbose__study {
    struct gbose__plan *plan;
    size_t n_runs;
    struct gbose__result *result;
};

size_t gbose__plan_run_index(const struct gbose__plan *plan, struct gbose__run_id id);
struct gbose__run_id gbose__plan_run_at(const struct gbose__plan *plan, size_t index);
size_t gbose__plan_runs(const struct gbose__plan *plan);

static inline const struct gbose__result *gbose__result_of(const struct gbose__study *s, size_t world,
                                                           size_t learner, size_t value, size_t rep)
{
    struct gbose__run_id id = {world, learner, value, rep};

    return &s->result[gbose__plan_run_index(s->plan, id)];
}

/* ---- making one ---- */

/* An empty plan, or NULL. */
struct gbose__plan *gbose__plan_new(const char *name, uint64_t rounds, size_t reps, uint64_t seed);
void gbose__plan_free(struct gbose__plan *plan);

/* Add a world or a learner by its spec; both are checked. `label` may be NULL: the spec itself. `option` is
 * what to sweep over n_values texts in `values`, or NULL. GBOSE_OK, GBOSE_ESPEC, GBOSE_ENOMEM. */
int gbose__plan_add_world(struct gbose__plan *plan, const char *spec, gbose_error *err);
int gbose__plan_add_learner(struct gbose__plan *plan, const char *spec, const char *label, const char *option,
                            const char *const *values, size_t n_values, gbose_error *err);

/* The same, with the values in one text: "0.1,0.2,0.5". */
int gbose__plan_sweep_learner(struct gbose__plan *plan, const char *spec, const char *label,
                              const char *option, const char *list, gbose_error *err);

/* Add one that is given by callbacks; the struct is copied. GBOSE_OK, GBOSE_EINVAL, GBOSE_ESPEC,
 * GBOSE_ENOMEM. */
int gbose__plan_join_world(struct gbose__plan *plan, const gbose_study_world *world, gbose_error *err);
int gbose__plan_join_learner(struct gbose__plan *plan, const gbose_study_learner *learner, gbose_error *err);

/* As many fresh repetitions as others if an option is swept, else none. */
void gbose__plan_set_fresh(struct gbose__plan *plan);

/* As JSON text, the same for the same plan: what study.json holds, and what tells studies apart. It also
 * names the version and a hash of the code that results depend on. To be freed with free(); NULL: out of
 * memory. */
char *gbose__plan_text(const struct gbose__plan *plan);

/* Has the run callbacks in it, so that it must not be played beside another one that has? */
int gbose__plan_run_alone(const struct gbose__plan *plan, size_t index);

/* Does the learner of this spec have this option? */
int gbose__plan_learner_has(const char *spec, const char *option);

/* The whole spec of a run's learner, in buf of GBOSE__MAX_SPEC bytes. */
void gbose__plan_run_spec(char *buf, const struct gbose__plan *plan, struct gbose__run_id id);

/* ---- results ---- */

/* All runs, none of them done. The plan is owned from then on. NULL: out of memory. */
struct gbose__study *gbose__study_new(struct gbose__plan *plan);
void gbose__study_free(struct gbose__study *study);

#endif
