/* Studies that are kept in a directory go on from what is there; results as bytes; and directories that do
 * not fit. */
#include "support/check.h"
#include "support/scratch.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gbose_study.h"
#include "io/file.h"
#include "study/journal.h"
#include "study/plan_json.h"
#include "study/result.h"
#include "support/made_study.h"

static char *dir;

static int begin(void **state)
{
    (void)state;
    dir = scratch_new();
    return 0;
}

static int end(void **state)
{
    (void)state;
    scratch_remove(dir);
    return 0;
}

/* ---- a learner of our own, which counts its runs ---- */

static int runs;

static int own_begin(void **state, void *user, size_t dim, uint64_t seed, uint32_t repetition,
                     gbose_error *err)
{
    (void)user;
    (void)dim;
    (void)seed;
    (void)repetition;
    (void)err;
    runs++;
    *state = NULL;
    return GBOSE_OK;
}

static int own_decide(void *state, size_t *arm, double *probability, const double *contexts, size_t n_arms,
                      gbose_error *err)
{
    (void)state;
    (void)contexts;
    (void)err;
    *arm = n_arms - 1;
    *probability = 1;
    return GBOSE_OK;
}

static int own_learn(void *state, double reward, gbose_error *err)
{
    (void)state;
    (void)reward;
    (void)err;
    return GBOSE_OK;
}

static gbose_study *new_study(uint64_t seed, const char *name)
{
    gbose_study_learner own = {name, NULL, own_begin, own_decide, own_learn, NULL};
    gbose_study *s = NULL;
    gbose_error err;

    assert_int_equal(gbose_study_new(&s, 500, 6, seed, &err), GBOSE_OK);
    assert_int_equal(gbose_study_add_world(s, "paper:arms=3", &err), GBOSE_OK);
    assert_int_equal(gbose_study_add_learner(s, "lin-ts", NULL, NULL, NULL, 0, &err), GBOSE_OK);
    assert_int_equal(gbose_study_join_learner(s, &own, &err), GBOSE_OK);
    return s;
}

static int stop_at(void *user, size_t done, size_t all)
{
    (void)all;
    return done >= *(size_t *)user;
}

static void assert_same(const gbose_study *a, const gbose_study *b)
{
    gbose_study_run x, y;
    size_t n;

    gbose_study_points(a, &n);
    for (size_t i = 0; gbose_study_run_at(a, i, &x) == GBOSE_OK; i++) {
        assert_int_equal(gbose_study_run_at(b, i, &y), GBOSE_OK);
        assert_true(x.done && y.done);
        assert_true(x.regret == y.regret && x.reward == y.reward && x.lone == y.lone);
        assert_memory_equal(x.curve, y.curve, n * sizeof *x.curve);
    }
}

/* Stopped, freed, and taken up by another study object: what was done is not played again. */
static void a_study_goes_on_from_its_directory(void **state)
{
    gbose_study *whole = new_study(3, "mine"), *s = new_study(3, "mine");
    const char *deep = scratch_path(dir, "a/b/c");
    size_t few = 4, done;
    gbose_error err;

    (void)state;
    assert_int_equal(gbose_study_play(whole, 1, NULL, NULL, &err), GBOSE_OK);
    assert_that(!gbose_study_keep(s, deep, &err), "%s", err.text);
    assert_int_equal(gbose_study_keep(s, deep, &err), GBOSE_EINVAL);
    assert_int_equal(gbose_study_add_world(s, "heartsteps", &err), GBOSE_EINVAL);
    assert_int_equal(gbose_study_play(s, 1, stop_at, &few, &err), GBOSE_OK);
    done = gbose_study_done(s);
    assert_true(done >= 4 && done < 12);
    gbose_study_free(s);

    s = new_study(3, "mine");
    assert_that(!gbose_study_keep(s, deep, &err), "%s", err.text);
    assert_int_equal(gbose_study_done(s), done);
    assert_int_equal(gbose_study_play(s, 2, NULL, NULL, &err), GBOSE_OK);
    assert_same(whole, s);
    gbose_study_free(s);

    runs = 0;
    s = new_study(3, "mine");
    assert_int_equal(gbose_study_keep(s, deep, &err), GBOSE_OK);
    assert_int_equal(gbose_study_play(s, 2, NULL, NULL, &err), GBOSE_OK);
    assert_int_equal(runs, 0);
    assert_same(whole, s);
    gbose_study_free(s);
    gbose_study_free(whole);
}

/* Runs that were played before the directory was named are written there too. */
static void a_study_can_be_kept_after_it_was_played(void **state)
{
    gbose_study *s = new_study(3, "mine"), *other = new_study(3, "mine");
    gbose_error err;

    (void)state;
    assert_int_equal(gbose_study_play(s, 1, NULL, NULL, &err), GBOSE_OK);
    assert_int_equal(gbose_study_keep(s, dir, &err), GBOSE_OK);
    gbose_study_free(s);
    assert_int_equal(gbose_study_keep(other, dir, &err), GBOSE_OK);
    assert_int_equal(gbose_study_done(other), 12);
    gbose_study_free(other);
}

static void directories_that_do_not_fit(void **state)
{
    gbose_study *s = new_study(3, "mine"), *other = new_study(4, "mine"),
                *third = new_study(3, "my \"new\"\\name");
    gbose_error err;

    (void)state;
    assert_int_equal(gbose_study_keep(s, dir, &err), GBOSE_OK);
    /* in use, by this very process */
    assert_int_equal(gbose_study_keep(other, dir, &err), GBOSE_STUDY_EWRITE);
    assert_non_null(strstr(err.text, "in use"));
    gbose_study_free(s);
    /* another seed, another name */
    assert_int_equal(gbose_study_keep(other, dir, &err), GBOSE_EINVAL);
    assert_non_null(strstr(err.text, "holds another study"));
    assert_int_equal(gbose_study_keep(third, dir, &err), GBOSE_EINVAL);
    assert_int_equal(gbose_study_keep(third, scratch_path(dir, "third"), &err), GBOSE_OK);
    scratch_write(dir, "file", "text", 0644);
    assert_int_equal(gbose_study_keep(other, scratch_path(dir, "file"), &err), GBOSE_STUDY_EWRITE);
    assert_int_equal(gbose_study_keep(other, scratch_path(dir, "file/below"), &err), GBOSE_STUDY_EWRITE);
    assert_int_equal(gbose_study_keep(other, "", &err), GBOSE_EINVAL);
    assert_int_equal(gbose_study_keep(NULL, dir, &err), GBOSE_EINVAL);
    gbose_study_free(other);
    gbose_study_free(third);
    s = NULL;
    assert_int_equal(gbose_study_new(&s, 10, 1, 1, &err), GBOSE_OK);
    assert_int_equal(gbose_study_keep(s, dir, &err), GBOSE_EINVAL); /* there is nothing to play */
    gbose_study_free(s);
}

/* A journal that cannot be read is not one that cannot be written. */
static void a_failed_read_is_a_failed_read(void **state)
{
    static const char *const worlds[] = {"paper", NULL}, *const learners[] = {"gbose", NULL};
    struct gbose__study *s = made_study("simulate", worlds, learners, NULL, 100, 2, 0);
    gbose_error err;

    (void)state;
    assert_int_equal(gbose__journal_read(scratch_path(dir, "none"), "plan", s, &err), GBOSE__EREAD);
    assert_that(strstr(err.text, "cannot read") == err.text, "%s", err.text);
    assert_int_equal(mkdir(scratch_path(dir, "journal.bin"), 0777), 0);
    assert_int_equal(gbose__journal_read(dir, "plan", s, &err), GBOSE__EREAD);
    assert_that(strstr(err.text, "cannot read") == err.text, "%s", err.text);
    gbose__study_free(s);
}

static void results_come_back_from_bytes(void **state)
{
    float curve[] = {0.5F, 1.25F, 3e30F}, back[3] = {0};
    struct gbose__result a = {1, 17.3, -4.25e-9, 1.0 / 3, curve}, b = {.curve = back};
    unsigned char bytes[8 * 6];
    struct gbose__writer w = {bytes, 0, sizeof bytes, 0};
    struct gbose__reader r = {bytes, sizeof bytes, 0};

    (void)state;
    gbose__result_write(&w, &a, 3);
    assert_int_equal(w.size, gbose__result_size(3));
    assert_int_equal(w.size, sizeof bytes);
    gbose__result_read(&r, &b, 3);
    assert_true(!r.bad && !r.left && a.regret == b.regret && a.reward == b.reward && a.lone == b.lone);
    assert_memory_equal(curve, back, sizeof curve);
}

/* ---- plans ---- */

static void plans_come_back_from_their_text(void **state)
{
    struct gbose__study *s = made_paper_study(4, 4);
    char *text = gbose__plan_text(s->plan), *again;
    struct gbose__plan *plan;
    gbose_error err;

    (void)state;
    assert_non_null(text);
    plan = gbose__plan_json_read(text, &err);
    assert_that(plan != NULL, "%s", err.text);
    again = gbose__plan_text(plan);
    assert_string_equal(text, again);
    gbose__plan_free(plan);
    gbose__study_free(s);
    free(text);
    free(again);
}

static void wrong_plans_are_told_with_a_place(void **state)
{
#define REST "\"rounds\": 5, \"repetitions\": 2, \"fresh\": 0, \"seed\": 1}"
    static const char *const wrong[][2] = {
        {"", "line 1"},
        {"[]", "must be an object, not a list"},
        {"{\"study\": 3}", "'study' must be a text, not a number"},
        {"{\"study\": \"s\", \"worlds\": []}", "'worlds' must have at least 1 entry"},
        {"{\"study\": \"s\", \"worlds\": [\"papr\"], \"learners\": [{}], " REST,
         "worlds[0]: unknown world 'papr'"},
        {"{\"study\": \"s\", \"worlds\": [\"paper\", {\"own\": \"W\"}], \"learners\": [{}], " REST,
         "worlds[1]: 'W' is a program's own"},
        {"{\"study\": \"s\", \"worlds\": [\"paper\"], \"learners\": [{\"label\": \"a\"}], " REST,
         "learners[0]: 'spec' is missing"},
        {"{\"study\": \"s\", \"worlds\": [\"paper\"], \"learners\": [{\"label\": \"a\", \"spec\": "
         "\"gbose:gamma=x\", "
         "\"values\": []}], " REST,
         "learners[0]: gamma must be"},
        {"{\"study\": \"s\", \"worlds\": [\"paper\"], \"learners\": [{\"label\": \"a\", \"spec\": \"gbose\", "
         "\"sweep\": "
         "\"gamma\", \"values\": [1]}], " REST,
         "learners[0]: value 1 must be a text"},
        {"{\"study\": \"s\", \"worlds\": [\"paper\"], \"learners\": [{}], \"rounds\": 0}",
         "'rounds' must be a whole number"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        gbose_error err = {0, ""};

        assert_null(gbose__plan_json_read(wrong[i][0], &err));
        assert_that(strstr(err.text, wrong[i][1]) == err.text, "%s, not %s", err.text, wrong[i][1]);
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_study_goes_on_from_its_directory), TEST(a_study_can_be_kept_after_it_was_played),
        TEST(directories_that_do_not_fit),        TEST(a_failed_read_is_a_failed_read),
        TEST(results_come_back_from_bytes),       TEST(plans_come_back_from_their_text),
        TEST(wrong_plans_are_told_with_a_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
