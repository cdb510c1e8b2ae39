/* gbose_decide_at(): decisions from a learner that does not change, on any number of threads; the option
 * `floor`; and what is said of inputs that are wrong. */
#include "support/players.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "learners/learner.h"

#define DIM 5
#define ARMS 6
#define ROUNDS 80
#define THREADS 8
#define STREAM 17
#define ROOM 1024

/* What is kept of a decision. */
struct kept {
    size_t arm, n_arms, draws, ticket_size;
    double probability, pmf[ARMS];
    unsigned char ticket[ROOM];
};

static void keep(struct kept *k, const gbose_decision *d)
{
    memset(k, 0, sizeof *k);
    k->arm = d->arm;
    k->n_arms = d->n_arms;
    k->draws = d->draws;
    k->probability = d->probability;
    k->ticket_size = d->ticket_size;
    memcpy(k->pmf, d->pmf, d->n_arms * sizeof *k->pmf);
    memcpy(k->ticket, d->ticket, d->ticket_size < ROOM ? d->ticket_size : ROOM);
}

static double contexts[ROUNDS][ARMS * DIM], features[ROUNDS][2];
static size_t arms_of[ROUNDS];

static void fill_rounds(void)
{
    struct random rng = {161};

    for (size_t t = 0; t < ROUNDS; t++) {
        arms_of[t] = 1 + random_below(&rng, ARMS);
        for (size_t i = 0; i < ARMS * DIM; i++)
            contexts[t][i] = random_normal(&rng);
        features[t][0] = random_normal(&rng);
        features[t][1] = random_normal(&rng);
    }
}

static gbose_input input(size_t t)
{
    return (gbose_input){contexts[t], arms_of[t], features[t]};
}

static gbose *trained(const char *spec)
{
    gbose *g = new_player(spec, DIM);
    struct random rng = {163};

    play(g, 40, &rng, NULL);
    return g;
}

/* ---- threads ---- */

struct share {
    const gbose *g;
    struct kept *kept;
    size_t begin, step;
    int rc;
};

/* Every step-th round, from `begin` on. */
static void *decide_share(void *arg)
{
    struct share *s = arg;
    gbose_scratch *scratch = NULL;

    s->rc = gbose_scratch_new(&scratch);
    for (size_t t = s->begin; t < ROUNDS && !s->rc; t += s->step) {
        gbose_input in = input(t);
        gbose_decision d;

        s->rc = gbose_decide_at(s->g, scratch, &d, &in, STREAM, t);
        if (!s->rc)
            keep(&s->kept[t], &d);
    }
    gbose_scratch_free(scratch);
    return NULL;
}

static void check_threads(const char *spec)
{
    static struct kept alone[ROUNDS], together[ROUNDS];
    gbose *g = trained(spec), *copy = duplicate(g);
    struct bytes before = saved(g);
    struct share one = {g, alone, 0, 1, 0}, share[THREADS];
    pthread_t thread[THREADS];

    memset(alone, 0, sizeof alone);
    memset(together, 0, sizeof together);
    decide_share(&one);
    assert_int_equal(one.rc, GBOSE_OK);
    for (size_t i = 0; i < THREADS; i++) {
        share[i] = (struct share){g, together, i, THREADS, 0};
        assert_int_equal(pthread_create(&thread[i], NULL, decide_share, &share[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
        assert_int_equal(share[i].rc, GBOSE_OK);
    }
    assert_memory_equal(alone, together, sizeof alone);
    assert_unchanged(g, &before);

    /* and they are the decisions of a copy on that stream */
    assert_int_equal(gbose_stream(copy, STREAM), GBOSE_OK);
    for (size_t t = 0; t < ROUNDS; t++) {
        gbose_decision d;
        struct kept k;

        assert_int_equal(gbose_decide_in(copy, &d, contexts[t], arms_of[t], features[t]), GBOSE_OK);
        assert_true(d.ticket_size <= ROOM);
        keep(&k, &d);
        assert_memory_equal(&k, &alone[t], sizeof k);
    }
    bytes_free(&before);
    gbose_free(g);
    gbose_free(copy);
}

static void eight_threads_decide_as_one(void **state)
{
    (void)state;
    fill_rounds();
    for_each_spec(check_threads, INTERCEPT | FORGET);
}

static void what_is_missing_is_refused(void **state)
{
    gbose *g = new_player("gbose", DIM), *knows = new_player("gbose-auto:round=2", DIM);
    gbose_scratch *scratch = NULL;
    gbose_input in, none = {NULL, 2, NULL};
    gbose_decision d;

    (void)state;
    fill_rounds();
    in = input(0);
    assert_int_equal(gbose_scratch_new(&scratch), GBOSE_OK);
    assert_int_equal(gbose_decide_at(NULL, scratch, &d, &in, 0, 0), GBOSE_EINVAL);
    assert_int_equal(gbose_decide_at(g, NULL, &d, &in, 0, 0), GBOSE_EINVAL);
    assert_int_equal(gbose_decide_at(g, scratch, NULL, &in, 0, 0), GBOSE_EINVAL);
    assert_int_equal(gbose_decide_at(g, scratch, &d, NULL, 0, 0), GBOSE_EINVAL);
    assert_int_equal(gbose_decide_at(g, scratch, &d, &none, 0, 0), GBOSE_EINVAL);
    assert_int_equal(gbose_decide_at(g, scratch, &d, &in, 0, UINT64_C(1) << 56), GBOSE_EINVAL);
    assert_int_equal(gbose_decide_at(g, scratch, &d, &in, 0, (UINT64_C(1) << 56) - 1), GBOSE_OK);
    in.round = NULL;
    assert_int_equal(gbose_decide_at(knows, scratch, &d, &in, 0, 0), GBOSE_EINVAL);
    gbose_scratch_free(scratch);
    gbose_free(g);
    gbose_free(knows);
}

/* ---- the floor ---- */

/* With the floor the probabilities are (1 - eps) times those without, and eps spread evenly. Both learners
 * know the same: they have learned the same log. */
static void check_floor(const char *spec)
{
    char floored[SPEC_SIZE];
    gbose *plain = new_player(spec, DIM), *with = new_player(spec_with(floored, spec, "floor=0.3"), DIM);
    gbose_scratch *scratch = NULL;
    struct random rng = {167};
    double most_off = 0;

    assert_int_equal(gbose_scratch_new(&scratch), GBOSE_OK);
    for (size_t t = 0; t < ROUNDS; t++) {
        gbose_input in = input(t);
        gbose_decision d;
        double pmf[ARMS], logged[ARMS], reward = random_normal(&rng);
        const void *ticket;
        size_t size, arm = random_below(&rng, in.n_arms);

        assert_int_equal(gbose_decide_at(plain, scratch, &d, &in, 2, t), GBOSE_OK);
        memcpy(pmf, d.pmf, in.n_arms * sizeof *pmf);
        assert_int_equal(gbose_decide_at(with, scratch, &d, &in, 2, t), GBOSE_OK);
        for (size_t i = 0; i < in.n_arms; i++) {
            assert_near(d.pmf[i], 0.7 * pmf[i] + 0.3 / (double)in.n_arms, 1e-12);
            most_off = fmax(most_off, fabs(d.pmf[i] - pmf[i]));
        }
        assert_true(d.probability == d.pmf[d.arm] && d.probability >= 0.3 / (double)in.n_arms * (1 - 1e-12));
        for (size_t i = 0; i < in.n_arms; i++)
            logged[i] = 1 / (double)in.n_arms;
        assert_int_equal(gbose_ticket_for(plain, scratch, &ticket, &size, &in, logged, arm), GBOSE_OK);
        assert_int_equal(gbose_learn(plain, ticket, size, reward), GBOSE_OK);
        assert_int_equal(gbose_learn(with, ticket, size, reward), GBOSE_EFOREIGN);
        assert_int_equal(gbose_ticket_for(with, scratch, &ticket, &size, &in, logged, arm), GBOSE_OK);
        assert_int_equal(gbose_learn(with, ticket, size, reward), GBOSE_OK);
    }
    assert_true(most_off > 0.1 || !strncmp(spec, "uniform", 7));
    gbose_scratch_free(scratch);
    gbose_free(plain);
    gbose_free(with);
}

static void every_arm_has_its_floor(void **state)
{
    (void)state;
    fill_rounds();
    for_each_spec(check_floor, PLAIN);
}

/* ---- what is wrong, in words ---- */

static void assert_said(const gbose *g, const gbose_input *in, int code, const char *text)
{
    gbose_scratch *scratch = NULL;
    gbose_error err = {77, "untouched"};
    gbose_decision d;

    assert_int_equal(gbose_check_input(g, in, &err), code);
    assert_int_equal(err.code, code);
    assert_string_equal(err.text, text);
    assert_int_equal(gbose_check_input(g, in, NULL), code);
    assert_int_equal(gbose_scratch_new(&scratch), GBOSE_OK);
    assert_int_equal(gbose_decide_at(g, scratch, &d, in, 0, 0), code);
    gbose_scratch_free(scratch);
}

static void a_wrong_input_is_named(void **state)
{
    gbose *g = new_player("lin-ts", DIM), *knows = new_player("gbose-auto:round=2", DIM);
    double context[ARMS * DIM] = {0}, round[2] = {0};
    gbose_input in = {context, 4, round}, none = {NULL, 4, NULL};
    gbose_scratch *scratch = NULL;
    gbose_decision d;
    gbose_error err;

    (void)state;
    assert_said(g, &in, GBOSE_OK, "");
    context[3 * DIM + 4] = NAN;
    assert_said(g, &in, GBOSE_ENUMERIC, "the context of arm 3 has NaN as its feature 4");
    context[2 * DIM] = -INFINITY;
    assert_said(g, &in, GBOSE_ENUMERIC, "the context of arm 2 has -infinity as its feature 0");
    context[1] = 1e130;
    assert_said(g, &in, GBOSE_ENUMERIC,
                "the context of arm 0 has 1e+130 (more than 1e30 in magnitude) as its feature 1");
    round[1] = NAN;
    assert_said(knows, &in, GBOSE_ENUMERIC, "feature 1 of the round is NaN");
    in.round = NULL;
    assert_said(knows, &in, GBOSE_EINVAL, "the learner needs 2 features of the round, and there are none");
    in.n_arms = 0;
    assert_said(g, &in, GBOSE_EINVAL, "a round needs at least one arm");
    assert_said(g, &none, GBOSE_EINVAL, "there are no contexts");
    assert_int_equal(gbose_check_input(NULL, &in, &err), GBOSE_EINVAL);
    assert_int_equal(gbose_check_input(g, NULL, &err), GBOSE_EINVAL);

    /* scores beyond what a double can tell apart */
    memset(context, 0, sizeof context);
    in = (gbose_input){context, 1, round};
    context[0] = 1e-10;
    assert_int_equal(gbose_decide(g, &d, context, 1), GBOSE_OK);
    for (int t = 0; t < 200; t++)
        assert_int_equal(gbose_learn(g, d.ticket, d.ticket_size, t % 2 ? 1e30 : 0.9e30), GBOSE_OK);
    context[0] = 1e30;
    assert_int_equal(gbose_scratch_new(&scratch), GBOSE_OK);
    assert_int_equal(gbose_check_input(g, &in, &err), gbose_decide_at(g, scratch, &d, &in, 0, 0));
    gbose_scratch_free(scratch);
    gbose_free(g);
    gbose_free(knows);
}

static void a_wrong_reward_is_named(void **state)
{
    gbose *g = new_player("gbose", DIM), *other = new_player("gbose:gamma=2", DIM),
          *wide = new_player("gbose", DIM + 1);
    struct random rng = {173};
    struct outcome o;
    struct bytes before;
    gbose_error err;

    (void)state;
    decide_once(g, &o, &rng);
    before = saved(g);
    assert_int_equal(gbose_check_reward(g, o.ticket, o.size, 0.5, &err), GBOSE_OK);
    assert_int_equal(err.code, GBOSE_OK);
    assert_int_equal(gbose_check_reward(g, o.ticket, o.size, NAN, &err), GBOSE_ENUMERIC);
    assert_string_equal(err.text, "the reward is NaN");
    assert_int_equal(gbose_check_reward(g, o.ticket, o.size, -1e31, &err), GBOSE_ENUMERIC);
    assert_string_equal(err.text, "the reward is -1e+31 (more than 1e30 in magnitude)");
    assert_int_equal(gbose_check_reward(wide, o.ticket, o.size, 0.5, &err), GBOSE_EFOREIGN);
    assert_string_equal(err.text, "the ticket is of a decision with 5 features; the learner has 6");
    assert_int_equal(gbose_check_reward(other, o.ticket, o.size, 0.5, &err), GBOSE_EFOREIGN);
    assert_string_equal(err.text, gbose_strerror(GBOSE_EFOREIGN));
    assert_int_equal(gbose_check_reward(g, o.ticket, o.size - 8, 0.5, &err), GBOSE_ETICKET);
    o.ticket[TICKET_VERSION]++;
    assert_int_equal(gbose_check_reward(g, o.ticket, o.size, 0.5, &err), GBOSE_EVERSION);
    assert_int_equal(gbose_check_reward(g, NULL, 0, 0.5, &err), GBOSE_EINVAL);
    assert_int_equal(gbose_check_reward(NULL, o.ticket, o.size, 0.5, NULL), GBOSE_EINVAL);
    assert_unchanged(g, &before);
    bytes_free(&before);
    gbose_free(g);
    gbose_free(other);
    gbose_free(wide);
}

/* ---- a learner that breaks its word ---- */

static size_t terms_to_write, note_words_to_write;

static void write_much(const gbose *g, const struct gbose__input *in, const double *pmf, size_t arm,
                       struct gbose__ticket *to)
{
    (void)g;
    (void)pmf;
    for (size_t i = 0; i < terms_to_write; i++)
        gbose__ticket_term(to, 0, 1, 1, 0, gbose__context(in, arm));
    for (size_t i = 0; i < note_words_to_write; i++)
        gbose__put_u64(&to->writer, 1);
}

/* uniform declares one term and no note. More than that has no room in the ticket, and is not written past
 * its end; the address sanitizer is the judge of that. */
static void a_learner_cannot_write_past_its_ticket(void **state)
{
    struct gbose__learner kind;
    gbose *g = new_player("uniform", DIM);
    double context[3 * DIM] = {1, 2, 3};
    gbose_decision d;

    (void)state;
    kind = *g->kind;
    kind.explain = write_much;
    g->kind = &kind;
    for (terms_to_write = 0; terms_to_write < 40; terms_to_write++)
        for (note_words_to_write = 0; note_words_to_write < 3; note_words_to_write++) {
            int fits = terms_to_write <= 1 && !note_words_to_write;
            uint64_t decisions = gbose_decisions(g);

            assert_int_equal(gbose_decide(g, &d, context, 3), fits ? GBOSE_OK : GBOSE_EBUFFER);
            assert_int_equal(gbose_decisions(g), decisions + (fits ? 1 : 0));
        }
    gbose_free(g);
}

/* ---- options ---- */

/* A spec has room for GBOSE__MAX_OPTIONS of them, and only the right name finds one. */
static void options_are_found_by_their_exact_name(void **state)
{
    const gbose_info *info;

    (void)state;
    for (size_t i = 0; (info = gbose_learner_at(i)); i++) {
        assert_in_range(info->n_options, 1, GBOSE__MAX_OPTIONS);
        for (size_t k = 0; k < info->n_options; k++)
            assert_int_equal(gbose__option_index(info, info->options[k].name), k);
        assert_true(gbose__option_index(info, "lambd") == SIZE_MAX);
        assert_true(gbose__option_index(info, "lambdas") == SIZE_MAX);
        assert_true(gbose__option_index(info, "") == SIZE_MAX);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        spec_test(eight_threads_decide_as_one),
        cmocka_unit_test(what_is_missing_is_refused),
        spec_test(every_arm_has_its_floor),
        cmocka_unit_test(a_wrong_input_is_named),
        cmocka_unit_test(a_wrong_reward_is_named),
        cmocka_unit_test(a_learner_cannot_write_past_its_ticket),
        cmocka_unit_test(options_are_found_by_their_exact_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
