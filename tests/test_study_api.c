/* gbose_study.h as a program outside sees it: worlds stepped by hand, studies, callbacks, results. */
#include "support/check.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "gbose_study.h"

/* ---- worlds ---- */

/* The same rounds as a run of the study meets, reward and regret by their definitions. */
static void a_world_can_be_stepped(void **state)
{
    gbose_world *w, *again;
    gbose_world_round r, s;
    gbose_error err;

    (void)state;
    assert_int_equal(gbose_world_new(&w, "paper:arms=4,dim=3,shift=log-sine", 9, 2, &err), GBOSE_OK);
    assert_int_equal(gbose_world_new(&again, "paper:shift=log-sine,dim=3,arms=4", 9, 2, NULL), GBOSE_OK);
    assert_int_equal(gbose_world_dim(w), 9);
    assert_int_equal(gbose_world_max_arms(w), 4);
    for (int t = 1; t <= 50; t++) {
        double reward, regret, best;
        size_t arm = (size_t)t % 4;

        assert_int_equal(gbose_world_next(w, &r), GBOSE_OK);
        assert_int_equal(gbose_world_next(again, &s), GBOSE_OK);
        assert_int_equal(gbose_world_rounds(w), t);
        assert_memory_equal(r.contexts, s.contexts, r.n_arms * 9 * sizeof(double));
        assert_int_equal(gbose_world_play(w, arm, &reward, &regret), GBOSE_OK);
        best = r.means[0];
        for (size_t i = 1; i < r.n_arms; i++)
            best = fmax(best, r.means[i]);
        assert_close(reward, r.means[arm] + r.shift + r.noise, 1e-12);
        assert_near(regret, best - r.means[arm], 1e-15);
    }
    gbose_world_free(w);
    gbose_world_free(again);
    gbose_world_free(NULL);
}

static void wrong_worlds_are_refused(void **state)
{
    gbose_world *w = NULL;
    gbose_world_round r;
    gbose_error err;
    double reward;

    (void)state;
    assert_int_equal(gbose_world_new(&w, "papper", 1, 0, &err), GBOSE_ESPEC);
    assert_non_null(strstr(err.text, "did you mean 'paper'"));
    assert_int_equal(gbose_world_new(&w, NULL, 1, 0, &err), GBOSE_EINVAL);
    assert_int_equal(gbose_world_new(NULL, "paper", 1, 0, &err), GBOSE_EINVAL);
    assert_null(w);
    assert_int_equal(gbose_world_new(&w, "heartsteps", 1, 0, &err), GBOSE_OK);
    assert_int_equal(gbose_world_play(w, 0, &reward, NULL), GBOSE_EINVAL); /* no round yet */
    assert_int_equal(gbose_world_next(w, NULL), GBOSE_EINVAL);
    assert_int_equal(gbose_world_rounds(w), 0);
    assert_int_equal(gbose_world_next(w, &r), GBOSE_OK);
    assert_int_equal(gbose_world_play(w, r.n_arms, &reward, NULL), GBOSE_EINVAL);
    assert_int_equal(gbose_world_play(w, 0, NULL, NULL), GBOSE_EINVAL);
    gbose_world_free(w);
    assert_string_equal(gbose_world_at(0)->name, "paper");
}

/* ---- callbacks ---- */

/* A learner and a world that wrap the library's own: what they play must come out as if they were not
 * wrapped. */
struct wrapped {
    gbose *g;
    gbose_world *w;
    gbose_decision d;
};

static atomic_int inside, collisions, begun, ended;

static void enter(void)
{
    if (atomic_fetch_add(&inside, 1))
        collisions++;
}

static void leave(void)
{
    atomic_fetch_sub(&inside, 1);
}

static int learner_begin(void **state, void *user, size_t dim, uint64_t seed, uint32_t repetition,
                         gbose_error *err)
{
    struct wrapped *x = calloc(1, sizeof *x);

    assert_non_null(x);
    assert_int_equal(seed, 5);
    if (gbose_new(&x->g, user, dim, err) || gbose_stream(x->g, repetition))
        return GBOSE_EINVAL;
    begun++;
    *state = x;
    return GBOSE_OK;
}

static int learner_decide(void *state, size_t *arm, double *probability, const double *contexts,
                          size_t n_arms, gbose_error *err)
{
    struct wrapped *x = state;
    int rc;

    (void)err;
    enter();
    rc = gbose_decide(x->g, &x->d, contexts, n_arms);
    *arm = x->d.arm;
    *probability = x->d.probability;
    leave();
    return rc;
}

static int learner_learn(void *state, double reward, gbose_error *err)
{
    struct wrapped *x = state;

    (void)err;
    return gbose_learn(x->g, x->d.ticket, x->d.ticket_size, reward);
}

static void wrapped_end(void *state)
{
    struct wrapped *x = state;

    gbose_free(x->g);
    gbose_world_free(x->w);
    free(x);
    ended++;
}

static int world_begin(void **state, void *user, uint64_t seed, uint32_t repetition, gbose_error *err)
{
    struct wrapped *x = calloc(1, sizeof *x);

    assert_non_null(x);
    if (gbose_world_new(&x->w, user, seed, repetition, err))
        return GBOSE_EINVAL;
    begun++;
    *state = x;
    return GBOSE_OK;
}

static int world_next(void *state, uint64_t round, gbose_world_round *out, gbose_error *err)
{
    struct wrapped *x = state;
    int rc;

    (void)err;
    enter();
    rc = gbose_world_next(x->w, out);
    assert_int_equal(gbose_world_rounds(x->w), round);
    leave();
    return rc;
}

static int world_observe(void *state, size_t arm, double reward, gbose_error *err)
{
    double own;
    (void)err;
    (void)reward;
    return gbose_world_play(((struct wrapped *)state)->w, arm, &own, NULL);
}

static const gbose_study_learner wrapped_learner = {
    "wrapped", "gbose:gamma=0.2,seed=5", learner_begin, learner_decide, learner_learn, wrapped_end};
static const gbose_study_world wrapped_world = {
    "wrapped", "gallery:shift=reward-driven", 10, 10, world_begin, world_next, world_observe, wrapped_end};

static gbose_study *new_study(uint64_t rounds, size_t reps)
{
    gbose_study *s;

    assert_int_equal(gbose_study_new(&s, rounds, reps, 5, NULL), GBOSE_OK);
    return s;
}

static void assert_same_run(const gbose_study_run *a, const gbose_study_run *b, size_t n_points)
{
    assert_true(a->done && b->done);
    assert_true(a->regret == b->regret && a->reward == b->reward && a->lone == b->lone);
    assert_memory_equal(a->curve, b->curve, n_points * sizeof *a->curve);
}

/* Callbacks see what the library's own learners and worlds see, one run at a time, on any number of
 * threads. */
static void callbacks_join_a_study(void **state)
{
    (void)state;
    for (size_t threads = 1; threads <= 4; threads += 3) {
        gbose_study *s = new_study(400, 3);
        gbose_study_world world = wrapped_world;
        gbose_study_run a, b;
        gbose_world *sizes;
        gbose_error err;
        size_t n_points;

        assert_int_equal(gbose_world_new(&sizes, world.user, 1, 0, NULL), GBOSE_OK);
        world.dim = gbose_world_dim(sizes);
        world.max_arms = gbose_world_max_arms(sizes);
        gbose_world_free(sizes);
        begun = ended = inside = collisions = 0;
        assert_int_equal(gbose_study_add_world(s, "gallery:shift=reward-driven", NULL), GBOSE_OK);
        assert_int_equal(gbose_study_join_world(s, &world, NULL), GBOSE_OK);
        assert_int_equal(gbose_study_add_learner(s, "gbose:gamma=0.2", NULL, NULL, NULL, 0, NULL), GBOSE_OK);
        assert_int_equal(gbose_study_join_learner(s, &wrapped_learner, NULL), GBOSE_OK);
        assert_string_equal(gbose_study_learner_name(s, 1), "wrapped");
        assert_that(!gbose_study_play(s, threads, NULL, NULL, &err), "%s", err.text);
        assert_int_equal(gbose_study_done(s), 12);
        gbose_study_points(s, &n_points);
        for (size_t rep = 0; rep < 3; rep++) { /* world-major, then learner, then repetition */
            gbose_study_run_at(s, rep, &a);
            for (size_t k = 1; k < 4; k++) {
                gbose_study_run_at(s, 3 * k + rep, &b);
                assert_int_equal(b.world, k / 2);
                assert_int_equal(b.learner, k % 2);
                assert_same_run(&a, &b, n_points);
            }
        }
        assert_int_equal(begun, 12); /* 6 worlds and 6 learners */
        assert_int_equal(ended, begun);
        assert_int_equal(collisions, 0);
        gbose_study_free(s);
    }
}

/* ---- callbacks that fail ---- */

static int fails_in_round_7(void *state, size_t *arm, double *probability, const double *contexts,
                            size_t n_arms, gbose_error *err)
{
    struct wrapped *x = state;

    if (gbose_rounds(x->g) == 6) {
        strcpy(err->text, "seven is too many");
        return -77;
    }
    return learner_decide(state, arm, probability, contexts, n_arms, err);
}

static int chooses_no_arm(void *state, size_t *arm, double *probability, const double *contexts,
                          size_t n_arms, gbose_error *err)
{
    (void)state;
    (void)contexts;
    (void)err;
    *arm = n_arms;
    *probability = 1;
    return GBOSE_OK;
}

static int makes_nan(void *state, uint64_t round, gbose_world_round *out, gbose_error *err)
{
    static const double contexts[3] = {1, 2, 3};
    static double means[1];

    (void)state;
    (void)err;
    means[0] = round < 4 ? 1 : NAN;
    *out = (gbose_world_round){1, contexts, means, 0, 0};
    return GBOSE_OK;
}

static int nothing_begins(void **state, void *user, uint64_t seed, uint32_t repetition, gbose_error *err)
{
    (void)user;
    (void)seed;
    (void)repetition;
    (void)err;
    *state = NULL;
    return GBOSE_OK;
}

static void a_failing_callback_ends_the_study(void **state)
{
    gbose_study_learner learner = wrapped_learner;
    gbose_study_world world = {"nan", NULL, 3, 1, nothing_begins, makes_nan, NULL, NULL};
    gbose_study *s = new_study(50, 2);
    gbose_error err;

    (void)state;
    begun = ended = 0;
    learner.decide = fails_in_round_7;
    gbose_study_add_world(s, "paper", NULL);
    assert_int_equal(gbose_study_join_learner(s, &learner, NULL), GBOSE_OK);
    assert_int_equal(gbose_study_play(s, 2, NULL, NULL, &err), -77);
    assert_string_equal(err.text, "round 7: seven is too many");
    assert_true(begun > 0 && ended == begun);
    gbose_study_free(s);

    s = new_study(50, 1);
    learner.decide = chooses_no_arm;
    gbose_study_add_world(s, "paper", NULL);
    gbose_study_join_learner(s, &learner, NULL);
    assert_int_equal(gbose_study_play(s, 1, NULL, NULL, &err), GBOSE_EINVAL);
    assert_string_equal(err.text, "round 1: learner 'wrapped' chose arm 10 of 10");
    gbose_study_free(s);

    s = new_study(50, 1);
    gbose_study_join_world(s, &world, NULL);
    gbose_study_add_learner(s, "gbose", NULL, NULL, NULL, 0, NULL);
    assert_int_equal(gbose_study_play(s, 1, NULL, NULL, &err), GBOSE_ENUMERIC);
    assert_string_equal(err.text, "round 4: world 'nan' made a round with a number that is not finite");
    gbose_study_free(s);
}

/* ---- studies ---- */

static void wrong_things_are_not_added(void **state)
{
    gbose_study *s = new_study(10, 2);
    gbose_study_learner learner = wrapped_learner;
    gbose_study_world world = wrapped_world;
    gbose_study_run run;
    gbose_error err;

    (void)state;
    assert_int_equal(gbose_study_play(s, 1, NULL, NULL, &err), GBOSE_EINVAL);
    assert_string_equal(err.text, "the study has no world");
    assert_int_equal(gbose_study_add_world(s, "paper:arms=1", &err), GBOSE_ESPEC);
    assert_int_equal(gbose_study_add_world(s, "paper", &err), GBOSE_OK);
    assert_int_equal(gbose_study_add_world(s, "paper:arms=10", &err), GBOSE_ESPEC); /* the same */
    assert_null(gbose_study_world_name(s, 1));
    assert_int_equal(gbose_study_add_learner(s, "gbose:gama=1", NULL, NULL, NULL, 0, &err), GBOSE_ESPEC);
    assert_int_equal(gbose_study_add_learner(s, "gbose", NULL, "gamma", (const char *[]){"1", "-2"}, 2, &err),
                     GBOSE_ESPEC);
    assert_null(gbose_study_learner_name(s, 0));
    learner.decide = NULL;
    assert_int_equal(gbose_study_join_learner(s, &learner, &err), GBOSE_EINVAL);
    world.dim = 0;
    assert_int_equal(gbose_study_join_world(s, &world, &err), GBOSE_EINVAL);
    assert_int_equal(gbose_study_run_at(s, 0, &run), GBOSE_EINVAL);
    assert_int_equal(gbose_study_needed(s), 0);
    assert_int_equal(gbose_study_add_learner(s, "gbose", NULL, NULL, NULL, 0, &err), GBOSE_OK);
    assert_int_equal(gbose_study_play(s, 0, NULL, NULL, &err), GBOSE_EINVAL);
    assert_int_equal(gbose_study_play(s, 1, NULL, NULL, &err), GBOSE_OK);
    assert_int_equal(gbose_study_done(s), 2);
    assert_int_equal(gbose_study_add_world(s, "heartsteps", &err), GBOSE_EINVAL);
    assert_int_equal(gbose_study_run_at(s, 2, &run), GBOSE_EINVAL);
    gbose_study_free(s);
    gbose_study_free(NULL);
    assert_int_equal(gbose_study_new(&s, 0, 1, 1, &err), GBOSE_EINVAL);
    assert_int_equal(gbose_study_new(&s, 1, 0, 1, &err), GBOSE_EINVAL);
}

/* With a sweep: the value of least median regret is played in the fresh repetitions, the others are not. */
static void a_sweep_has_fresh_repetitions(void **state)
{
    static const char *const values[] = {"3", "0.05"};
    gbose_study *s = new_study(600, 3);
    double regret[2][3];
    gbose_study_run run;
    size_t best, n_fresh = 0;

    (void)state;
    gbose_study_add_world(s, "paper:arms=2,dim=3", NULL);
    assert_int_equal(gbose_study_add_learner(s, "gbose", "ours", "gamma", values, 2, NULL), GBOSE_OK);
    assert_int_equal(gbose_study_needed(s), 9);
    assert_int_equal(gbose_study_best(s, 0, 0, &best), GBOSE_EINVAL);
    assert_int_equal(gbose_study_play(s, 2, NULL, NULL, NULL), GBOSE_OK);
    assert_int_equal(gbose_study_done(s), 9);
    assert_int_equal(gbose_study_best(s, 0, 0, &best), GBOSE_OK);
    for (size_t i = 0; gbose_study_run_at(s, i, &run) == GBOSE_OK; i++) {
        if (run.fresh) {
            assert_int_equal(run.done, run.value == best);
            n_fresh += (size_t)run.done;
        } else {
            assert_true(run.done);
            regret[run.value][run.repetition] = run.regret;
        }
    }
    assert_int_equal(n_fresh, 3);
    for (size_t v = 0; v < 2;
         v++) /* of three numbers, the median is what remains without least and largest */
        regret[v][0] = regret[v][0] + regret[v][1] + regret[v][2] -
                       fmin(regret[v][0], fmin(regret[v][1], regret[v][2])) -
                       fmax(regret[v][0], fmax(regret[v][1], regret[v][2]));
    assert_int_equal(best, regret[0][0] <= regret[1][0] ? 0 : 1);
    assert_string_equal(gbose_study_learner_name(s, 0), "ours");
    assert_string_equal(gbose_study_value(s, 0, 1), "0.05");
    assert_null(gbose_study_value(s, 0, 2));
    assert_int_equal(gbose_study_best(s, 1, 0, &best), GBOSE_EINVAL);
    gbose_study_free(s);
}

struct watcher {
    pthread_t thread;
    size_t calls, stop_at, last_done, all;
};

static int look(void *user, size_t done, size_t all)
{
    struct watcher *w = user;

    assert_true(pthread_equal(w->thread, pthread_self()));
    assert_true(done >= w->last_done && done <= all);
    w->last_done = done;
    w->all = all;
    w->calls++;
    return done >= w->stop_at;
}

/* A study that was stopped goes on where it was, and ends as if nothing had happened. */
static void a_study_can_be_stopped(void **state)
{
    struct watcher w = {.thread = pthread_self(), .stop_at = 3};
    gbose_study *s = new_study(2000, 20), *whole = new_study(2000, 20);
    gbose_study_run a, b;
    size_t n_points;

    (void)state;
    gbose_study_add_world(s, "paper:arms=3", NULL);
    gbose_study_add_world(whole, "paper:arms=3", NULL);
    gbose_study_add_learner(s, "lin-ts", NULL, NULL, NULL, 0, NULL);
    gbose_study_add_learner(whole, "lin-ts", NULL, NULL, NULL, 0, NULL);
    assert_int_equal(gbose_study_play(s, 2, look, &w, NULL), GBOSE_OK);
    assert_true(gbose_study_done(s) >= 3 && gbose_study_done(s) < 20);
    assert_int_equal(w.all, 20);
    w.stop_at = 1000;
    assert_int_equal(gbose_study_play(s, 1, look, &w, NULL), GBOSE_OK);
    assert_int_equal(gbose_study_done(s), 20);
    assert_int_equal(w.last_done, 20);
    assert_int_equal(gbose_study_play(whole, 1, NULL, NULL, NULL), GBOSE_OK);
    assert_int_equal(gbose_study_points(s, &n_points)[199], 2000);
    for (size_t i = 0; gbose_study_run_at(s, i, &a) == GBOSE_OK; i++) {
        gbose_study_run_at(whole, i, &b);
        assert_same_run(&a, &b, n_points);
    }
    gbose_study_free(s);
    gbose_study_free(whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_world_can_be_stepped),     cmocka_unit_test(wrong_worlds_are_refused),
        cmocka_unit_test(callbacks_join_a_study),     cmocka_unit_test(a_failing_callback_ends_the_study),
        cmocka_unit_test(wrong_things_are_not_added), cmocka_unit_test(a_sweep_has_fresh_repetitions),
        cmocka_unit_test(a_study_can_be_stopped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
