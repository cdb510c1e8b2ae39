/* gbose studies: learners in simulated worlds.
 *
 * A world hands out rounds: the contexts of the arms, what each arm is worth on average, and the
 * confounder and noise that come on top. A study plays every learner in every world, repetition after
 * repetition, and keeps the regret. This is what the command `gbose simulate` does, as a library: the same
 * study has the same results, whatever the number of threads.
 *
 *     gbose_study *s;
 *     gbose_study_run run;
 *
 *     gbose_study_new(&s, 10000, 10, 1, &err);                     rounds, repetitions, seed
 *     gbose_study_add_world(s, "paper:shift=log-sine", &err);
 *     gbose_study_add_learner(s, "gbose", NULL, NULL, NULL, 0, &err);
 *     gbose_study_join_learner(s, &mine, &err);                    one of your own, given by callbacks
 *     gbose_study_play(s, 2, NULL, NULL, &err);                    on 2 threads
 *     for (size_t i = 0; gbose_study_run_at(s, i, &run) == GBOSE_OK; i++)
 *         printf("%zu %zu %g\n", run.world, run.learner, run.done ? run.regret : NAN);
 *     gbose_study_free(s);
 *
 * The functions are in the library gbose_study, which also contains all of gbose: link with it instead. It
 * starts the threads that gbose_study_play() is told to, and otherwise follows the rules of gbose.h: errors
 * are codes, outputs are written only on success, a failing call leaves its objects unchanged, nothing is
 * printed, no environment variable is read, the clock is used only for waiting, and no files are touched
 * unless gbose_study_keep() names a directory. Different objects are independent; calls on one object must not
 * run at the same time, except those that take it as const. */
#ifndef GBOSE_STUDY_H
#define GBOSE_STUDY_H

#include "gbose_world.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- learners of your own -------------------------------------------------------------------------- */

/* A learner given by callbacks. They return GBOSE_OK, or any other code after filling err: the study then
 * ends with that code and text. Callbacks are never called for two runs at the same time (of any learner
 * or world of a study), but perhaps from another thread than that of gbose_study_play(). */
typedef struct {
    const char *name; /* what the study calls it */
    void *user;       /* handed to begin */
    /* A run begins: make the learner's state. dim is the number of features of an arm. Runs of different
     * repetitions should draw different random numbers, so key them by both numbers. */
    int (*begin)(void **state, void *user, size_t dim, uint64_t seed, uint32_t repetition, gbose_error *err);
    /* Choose an arm, and say with which probability it was chosen (or NaN: unknown). The contexts are n_arms
     * rows of dim doubles; they stay where they are until `learn` has returned. */
    int (*decide)(void *state, size_t *arm, double *probability, const double *contexts, size_t n_arms,
                  gbose_error *err);
    /* The reward of the arm just chosen. */
    int (*learn)(void *state, double reward, gbose_error *err);
    /* The run has ended; called whenever begin has succeeded. May be NULL. */
    void (*end)(void *state);
} gbose_study_learner;

/* ---- studies --------------------------------------------------------------------------------------- */

typedef struct gbose_study gbose_study;

/* An empty study of so many rounds and repetitions (each at least 1). `seed` keys the worlds, and the
 * learners whose specs name no seed of their own. GBOSE_EINVAL, GBOSE_ENOMEM. */
GBOSE_API int gbose_study_new(gbose_study **out, uint64_t rounds, size_t repetitions, uint64_t seed,
                              gbose_error *err);

/* NULL is allowed. */
GBOSE_API void gbose_study_free(gbose_study *s);

/* Add a world by its spec. GBOSE_ESPEC if the spec is wrong or is there already; GBOSE_EINVAL if the study
 * has been played (this holds for all four); GBOSE_ENOMEM. */
GBOSE_API int gbose_study_add_world(gbose_study *s, const char *spec, gbose_error *err);

/* Add a learner by its spec.
 *   label             what results call it; NULL: the spec.
 *   option, values    an option to be swept over n_values texts; NULL: none. With more than one value, the one
 *                     with the lowest median regret in a world is played again in as many fresh repetitions. */
GBOSE_API int gbose_study_add_learner(gbose_study *s, const char *spec, const char *label, const char *option,
                                      const char *const *values, size_t n_values, gbose_error *err);

/* Add one of your own. The struct and its name are copied; `user` must live as long as the study. */
GBOSE_API int gbose_study_join_world(gbose_study *s, const gbose_study_world *world, gbose_error *err);
GBOSE_API int gbose_study_join_learner(gbose_study *s, const gbose_study_learner *learner, gbose_error *err);

/* What can go wrong with the files of a study, in addition to the codes of gbose.h. */
enum gbose_study_status {
    GBOSE_STUDY_EWRITE = -101, /* a file or directory cannot be written, or somebody else is writing there */
    GBOSE_STUDY_EREAD = -102   /* a file cannot be read */
};

/* Keep a study in a directory, so that it can continue after it was stopped or its process died. Call this
 * when everything has been added, before gbose_study_play(): nothing can be added afterwards.
 *   dir  created if it is missing. Runs that the same study has left there are used and not played again;
 *        every run is written there when it ends. Until gbose_study_free() nobody else can use the directory.
 * Your own learners and worlds are identified by their names alone: when you have changed the code of one,
 * give it another name or use another directory. The command `gbose simulate` with the same worlds,
 * learners and numbers takes the directory over, and writes tables, figures and a report from it.
 * GBOSE_EINVAL if there is no world or no learner, if the study is kept already, or if the directory holds
 * another study or one that another version has played; GBOSE_STUDY_EREAD, GBOSE_STUDY_EWRITE,
 * GBOSE_ENOMEM. */
GBOSE_API int gbose_study_keep(gbose_study *s, const char *dir, gbose_error *err);

/* Play what is missing, and return when it is done.
 *   threads   the number of runs to play at once, at least 1. Runs with callbacks go one at a time.
 *   progress  may be NULL. Called on the calling thread, about ten times a second and when runs have ended, with
 *             the number of finished runs and of all runs. If it returns anything but 0, the study stops: this
 *             function returns GBOSE_OK soon, finished runs are kept, and another call plays the rest.
 *   user      handed to progress.
 * GBOSE_EINVAL if there is no world or no learner; GBOSE_ENOMEM; GBOSE_STUDY_EWRITE if a run cannot be
 * saved; or the code that a learner or a callback returned. */
GBOSE_API int gbose_study_play(gbose_study *s, size_t threads,
                               int (*progress)(void *user, size_t done, size_t all), void *user,
                               gbose_error *err);

/* ---- results --------------------------------------------------------------------------------------- */

/* A run: one learner with one value of its swept option in one repetition of one world. The four numbers
 * are indices, in the order in which things were added. Fresh repetitions are done only with the value
 * that came out best. The rest has no meaning if the run is not done. */
typedef struct {
    int done;
    size_t world, learner, value, repetition;
    int fresh;          /* is it one of the fresh repetitions? */
    double regret;      /* at the end */
    double reward;      /* sum */
    double lone;        /* share of rounds in which the arm had probability 1 */
    const float *curve; /* cumulative regret at each of the points of gbose_study_points() */
} gbose_study_run;

/* Run number i, in the order world, learner, value, repetition. GBOSE_EINVAL past the last, or if the
 * study has not been played. What it points to is valid until gbose_study_play() or gbose_study_free(). */
GBOSE_API int gbose_study_run_at(const gbose_study *s, size_t i, gbose_study_run *out);

/* The number of finished runs, and the number that a complete study has. */
GBOSE_API size_t gbose_study_done(const gbose_study *s);
GBOSE_API size_t gbose_study_needed(const gbose_study *s);

/* The rounds at which curves have their points, in increasing order; the last is the study's last round. */
GBOSE_API const uint64_t *gbose_study_points(const gbose_study *s, size_t *n);

/* The value with the lowest median regret of a learner in a world, over the first repetitions; ties go to the
 * first. GBOSE_EINVAL if there is no such pair or none of its runs is done; GBOSE_ENOMEM. */
GBOSE_API int gbose_study_best(const gbose_study *s, size_t world, size_t learner, size_t *value);

/* What was added: canonical spec or name of world i, label of learner i, the text of one of its values.
 * NULL past the last; a learner without a sweep has one value, "". Valid until something is added or
 * gbose_study_free(). */
GBOSE_API const char *gbose_study_world_name(const gbose_study *s, size_t i);
GBOSE_API const char *gbose_study_learner_name(const gbose_study *s, size_t i);
GBOSE_API const char *gbose_study_value(const gbose_study *s, size_t learner, size_t i);

#ifdef __cplusplus
}
#endif
#endif
