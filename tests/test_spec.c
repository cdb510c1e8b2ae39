/* Spec strings: what is accepted, the canonical form, and what is said of a wrong one. */
#include "support/players.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Those that the documentation promises; there may be more. */
static const char *const names[] = {"gbose",   "bose",       "action-ts", "semi-ts",   "lin-ts",
                                    "lin-ucb", "eps-greedy", "uniform",   "gbose-auto"};

static size_t count_learners(void)
{
    size_t n = 0;

    while (gbose_learner_at(n))
        n++;
    return n;
}

static const gbose_info *info_of(const char *name)
{
    const gbose_info *info;

    for (size_t i = 0; (info = gbose_learner_at(i)); i++)
        if (!strcmp(info->name, name))
            return info;
    fail_msg("there is no learner %s", name);
    return NULL;
}

/* ---- what is accepted ---- */

static void every_learner_has_its_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++)
        gbose_free(new_player(names[i], 3));
    for (size_t i = 0; i < count_learners(); i++) {
        const char *name = gbose_learner_at(i)->name;
        gbose *g = new_player(name, 3);

        assert_string_equal(gbose_spec(g), name);
        assert_int_equal(gbose_dim(g), 3);
        assert_int_equal(gbose_rounds(g), 0);
        assert_int_equal(gbose_decisions(g), 0);
        for (int k = 0; k < 3; k++)
            assert_true(gbose_coef(g)[k] == 0);
        gbose_free(g);
    }
    assert_null(gbose_learner_at(count_learners()));
    assert_null(gbose_learner_at(SIZE_MAX));
}

static void assert_canonical(const char *spec, const char *canonical)
{
    gbose *g = new_player(spec, 2), *again;

    assert_string_equal(gbose_spec(g), canonical);
    again = new_player(gbose_spec(g), 2);
    assert_string_equal(gbose_spec(again), canonical);
    gbose_free(g);
    gbose_free(again);
}

static void canonical_form_leaves_out_defaults_and_keeps_the_order_of_the_table(void **state)
{
    (void)state;
    assert_canonical(
        "gbose:gamma=0.1,lambda=1,delta=0.05,horizon=10000,intercept=0,lone=skip,forget=1,seed=1", "gbose");
    assert_canonical("gbose:seed=7,lambda=2,gamma=0.25", "gbose:gamma=0.25,lambda=2,seed=7");
    assert_canonical("gbose:lone=half,gamma=theory,lambda=theory",
                     "gbose:gamma=theory,lambda=theory,lone=half");
    assert_canonical("bose:gamma=lemma1,horizon=500,delta=0.01", "bose:gamma=lemma1,delta=0.01,horizon=500");
    assert_canonical("action-ts:p_max=0.9,p_min=0.1", "action-ts:p_min=0.1,p_max=0.9");
    assert_canonical("lin-ts:intercept=0,draws=1000", "lin-ts:intercept=0");
    assert_canonical("lin-ucb:intercept=1", "lin-ucb");
    assert_canonical("eps-greedy:epsilon=0", "eps-greedy:epsilon=0");
    assert_canonical("uniform:forget=0.999", "uniform:forget=0.999");
}

static void equal_numbers_are_written_the_same(void **state)
{
    (void)state;
    assert_canonical("gbose:gamma=.1", "gbose");
    assert_canonical("gbose:gamma=1e-1", "gbose");
    assert_canonical("gbose:gamma=+0.10", "gbose");
    assert_canonical("gbose:gamma=00.1000000000000000055511151231257827", "gbose");
    assert_canonical("gbose:gamma=25e-2", "gbose:gamma=0.25");
    assert_canonical("gbose:lambda=1E2", "gbose:lambda=100");
    assert_canonical("gbose:seed=0007", "gbose:seed=7");
    assert_canonical("gbose:gamma=0.30000000000000004", "gbose:gamma=0.30000000000000004");
    assert_canonical("gbose:gamma=1e-12,lambda=1e12", "gbose:gamma=1e-12,lambda=1e+12");
    assert_canonical("eps-greedy:epsilon=-0", "eps-greedy:epsilon=0");
}

static void random_numbers_survive_the_canonical_form(void **state)
{
    struct random rng = {3};

    (void)state;
    for (int k = 0; k < 500; k++) {
        double gamma = exp(random_between(&rng, -25, 25));
        char spec[SPEC_SIZE];
        gbose *g, *again;

        snprintf(spec, sizeof spec, "gbose:gamma=%.17g", gamma);
        g = new_player(spec, 1);
        again = new_player(gbose_spec(g), 1);
        assert_string_equal(gbose_spec(g), gbose_spec(again));
        assert_true(strtod(strchr(gbose_spec(g), '=') + 1, NULL) == gamma);
        gbose_free(g);
        gbose_free(again);
    }
}

static void seeds_are_whole_64_bit_numbers(void **state)
{
    (void)state;
    assert_canonical("gbose:seed=0", "gbose:seed=0");
    assert_canonical("gbose:seed=18446744073709551615", "gbose:seed=18446744073709551615");
    assert_canonical("gbose:seed=9007199254740993", "gbose:seed=9007199254740993");
}

static void the_ends_of_a_range_belong_to_it(void **state)
{
    (void)state;
    assert_canonical("gbose:delta=0.5,horizon=1,forget=0.5", "gbose:delta=0.5,horizon=1,forget=0.5");
    assert_canonical("gbose:horizon=1000000000000000", "gbose:horizon=1000000000000000");
    assert_canonical("semi-ts:draws=1", "semi-ts:draws=1");
    assert_canonical("semi-ts:draws=1000000", "semi-ts:draws=1000000");
    assert_canonical("action-ts:p_min=0.5,p_max=0.5", "action-ts:p_min=0.5,p_max=0.5");
    assert_canonical("action-ts:p_min=1", "action-ts:p_min=1");
    assert_canonical("eps-greedy:epsilon=1", "eps-greedy:epsilon=1");
}

/* ---- what is said of a wrong one ---- */

#define NAMES "NAMES" /* stands for the names of all learners, as they are listed in a message */

static const struct {
    const char *spec, *text;
} wrong[] = {
    /* names */
    {"gbos", "unknown learner 'gbos'; did you mean 'gbose'?"},
    {"GBOSE", "unknown learner 'GBOSE'; did you mean 'gbose'?"},
    {"gbose ", "unknown learner 'gbose '; did you mean 'gbose'?"},
    {"linucb", "unknown learner 'linucb'; did you mean 'lin-ucb'?"},
    {"semi_ts:gamma=1", "unknown learner 'semi_ts'; did you mean 'semi-ts'?"},
    {"epsgreedy", "unknown learner 'epsgreedy'; did you mean 'eps-greedy'?"},
    {"", "unknown learner ''; there are " NAMES},
    {":gamma=1", "unknown learner ''; there are " NAMES},
    {"thompson", "unknown learner 'thompson'; there are " NAMES},
    {"gbose-auto,lin-ts", "unknown learner 'gbose-auto,lin-ts'; give learners one by one: gbose-auto lin-ts"},
    {"gbose,gamma=1", "unknown learner 'gbose,gamma=1'; did you mean 'gbose:gamma=1'?"},
    {"lin-ts;gamma=1,seed=2",
     "unknown learner 'lin-ts;gamma=1,seed=2'; did you mean 'lin-ts:gamma=1,seed=2'?"},
    {"gbose,", "unknown learner 'gbose,'; did you mean 'gbose'?"},
    {"gbose-auto safe=1", "unknown learner 'gbose-auto safe=1'; did you mean 'gbose-auto:safe=1'?"},
    {"gbose,auto", "unknown learner 'gbose,auto'; did you mean 'gbose:auto'?"},
    {"uniform%s%n", "unknown learner 'uniform%s%n'; did you mean 'uniform'?"},
    /* options */
    {"gbose:gama=1", "gbose has no option 'gama'; did you mean 'gamma'?"},
    {"gbose:Gamma=1", "gbose has no option 'Gamma'; did you mean 'gamma'?"},
    {"gbose: gamma=1", "gbose has no option ' gamma'; did you mean 'gamma'?"},
    {"gbose:lamda=1", "gbose has no option 'lamda'; did you mean 'lambda'?"},
    {"uniform:gamma=1", "uniform has no option 'gamma'; it has lambda, intercept, forget, floor, seed"},
    {"action-ts:pmin=0.1", "action-ts has no option 'pmin'; did you mean 'p_min'?"},
    {"gbose:=1",
     "gbose has no option ''; it has gamma, lambda, delta, horizon, intercept, lone, forget, floor, seed"},
    {"gbose:gamma=1,gamma=2", "option 'gamma' is given twice"},
    {"gbose:seed=1,gamma=1,seed=1", "option 'seed' is given twice"},
    {"gbose:", "expected OPTION=VALUE after 'gbose:'; got ''"},
    {"gbose:gamma", "expected OPTION=VALUE after 'gbose:'; got 'gamma'"},
    {"gbose:gamma=1,", "expected OPTION=VALUE after 'gbose:'; got ''"},
    {"gbose:,gamma=1", "expected OPTION=VALUE after 'gbose:'; got ''"},
    {"gbose:gamma=1;lambda=2", "gamma must be a positive number, 'theory' or 'lemma1'; got '1;lambda=2'"},
    /* numbers */
    {"gbose:gamma=x", "gamma must be a positive number, 'theory' or 'lemma1'; got 'x'"},
    {"gbose:gamma=", "gamma must be a positive number, 'theory' or 'lemma1'; got ''"},
    {"gbose:gamma==1", "gamma must be a positive number, 'theory' or 'lemma1'; got '=1'"},
    {"gbose:gamma=0", "gamma must be a positive number, 'theory' or 'lemma1'; got '0'"},
    {"gbose:gamma=-0", "gamma must be a positive number, 'theory' or 'lemma1'; got '-0'"},
    {"gbose:gamma=-1", "gamma must be a positive number, 'theory' or 'lemma1'; got '-1'"},
    {"gbose:gamma=nan", "gamma must be a positive number, 'theory' or 'lemma1'; got 'nan'"},
    {"gbose:gamma=inf", "gamma must be a positive number, 'theory' or 'lemma1'; got 'inf'"},
    {"gbose:gamma=INFINITY", "gamma must be a positive number, 'theory' or 'lemma1'; got 'INFINITY'"},
    {"gbose:gamma=1e999", "gamma must be a positive number, 'theory' or 'lemma1'; got '1e999'"},
    {"gbose:gamma=1e-999", "gamma must be a positive number, 'theory' or 'lemma1'; got '1e-999'"},
    {"gbose:gamma=0x1p3", "gamma must be a positive number, 'theory' or 'lemma1'; got '0x1p3'"},
    {"gbose:gamma=0.1x", "gamma must be a positive number, 'theory' or 'lemma1'; got '0.1x'"},
    {"gbose:gamma=0.1 ", "gamma must be a positive number, 'theory' or 'lemma1'; got '0.1 '"},
    {"gbose:gamma= 0.1", "gamma must be a positive number, 'theory' or 'lemma1'; got ' 0.1'"},
    {"gbose:gamma=1.2.3", "gamma must be a positive number, 'theory' or 'lemma1'; got '1.2.3'"},
    {"gbose:gamma=1e", "gamma must be a positive number, 'theory' or 'lemma1'; got '1e'"},
    {"gbose:gamma=.", "gamma must be a positive number, 'theory' or 'lemma1'; got '.'"},
    {"gbose:gamma=1e13", "gamma must be a number from 1e-12 to 1e+12, 'theory' or 'lemma1'; got '1e13'"},
    {"gbose:gamma=1e-13", "gamma must be a number from 1e-12 to 1e+12, 'theory' or 'lemma1'; got '1e-13'"},
    {"gbose:gamma=Theory", "gamma must be a positive number, 'theory' or 'lemma1'; got 'Theory'"},
    {"gbose:gamma=theory|lemma1",
     "gamma must be a positive number, 'theory' or 'lemma1'; got 'theory|lemma1'"},
    {"gbose:lambda=lemma1", "lambda must be a positive number or 'theory'; got 'lemma1'"},
    {"lin-ts:gamma=theory", "gamma must be a positive number; got 'theory'"},
    {"lin-ts:lambda=0", "lambda must be a positive number; got '0'"},
    {"gbose:delta=0.6", "delta must be a number from 1e-12 to 0.5; got '0.6'"},
    {"gbose:delta=0", "delta must be a number from 1e-12 to 0.5; got '0'"},
    {"gbose:forget=0.49", "forget must be a number from 0.5 to 1; got '0.49'"},
    {"gbose:forget=1.0000001", "forget must be a number from 0.5 to 1; got '1.0000001'"},
    {"eps-greedy:epsilon=1.5", "epsilon must be a number from 0 to 1; got '1.5'"},
    {"eps-greedy:epsilon=-0.1", "epsilon must be a number from 0 to 1; got '-0.1'"},
    {"action-ts:p_min=2", "p_min must be a number from 0 to 1; got '2'"},
    {"action-ts:p_min=0.6,p_max=0.5", "p_max must be at least p_min; got p_min=0.6, p_max=0.5"},
    {"action-ts:p_max=0,p_min=1", "p_max must be at least p_min; got p_min=1, p_max=0"},
    /* words */
    {"gbose:lone=x", "lone must be 'skip' or 'half'; got 'x'"},
    {"gbose:lone=", "lone must be 'skip' or 'half'; got ''"},
    {"gbose:lone=1", "lone must be 'skip' or 'half'; got '1'"},
    /* whole numbers */
    {"gbose:intercept=2", "intercept must be a whole number from 0 to 1; got '2'"},
    {"gbose:intercept=-1", "intercept must be a whole number from 0 to 1; got '-1'"},
    {"gbose:intercept=yes", "intercept must be a whole number from 0 to 1; got 'yes'"},
    {"gbose:intercept=", "intercept must be a whole number from 0 to 1; got ''"},
    {"gbose:horizon=0", "horizon must be a whole number from 1 to 1000000000000000; got '0'"},
    {"gbose:horizon=1e4", "horizon must be a whole number from 1 to 1000000000000000; got '1e4'"},
    {"gbose:horizon=1000000000000001",
     "horizon must be a whole number from 1 to 1000000000000000; got '1000000000000001'"},
    {"lin-ts:draws=0", "draws must be a whole number from 1 to 1000000; got '0'"},
    {"lin-ts:draws=1000001", "draws must be a whole number from 1 to 1000000; got '1000001'"},
    {"lin-ts:draws=10.5", "draws must be a whole number from 1 to 1000000; got '10.5'"},
    {"lin-ts:draws=99999999999999999999999",
     "draws must be a whole number from 1 to 1000000; got '99999999999999999999999'"},
    {"gbose:seed=18446744073709551616",
     "seed must be a whole number from 0 to 2^64 - 1; got '18446744073709551616'"},
    {"gbose:seed=-1", "seed must be a whole number from 0 to 2^64 - 1; got '-1'"},
    {"gbose:seed=+1", "seed must be a whole number from 0 to 2^64 - 1; got '+1'"},
    {"gbose:seed=0x10", "seed must be a whole number from 0 to 2^64 - 1; got '0x10'"},
    {"gbose:seed=1.0", "seed must be a whole number from 0 to 2^64 - 1; got '1.0'"},
};

/* The first that differs is named; a stranger to the library need not look it up in this file. */
/* The text, with all names in place of NAMES at its end. */
static const char *with_names(char *buf, size_t size, const char *text)
{
    size_t length = strlen(text), mark = strlen(NAMES), used;

    if (length < mark || strcmp(text + length - mark, NAMES) != 0)
        return text;
    used = (size_t)snprintf(buf, size, "%.*s", (int)(length - mark), text);
    for (size_t i = 0; i < count_learners(); i++)
        used += (size_t)snprintf(buf + used, size - used, "%s%s", i ? ", " : "", gbose_learner_at(i)->name);
    return buf;
}

static void assert_refused(const char *spec, const char *text)
{
    gbose *mark = (gbose *)&mark, *g = mark;
    gbose_error err = {77, "untouched"};
    char expected[sizeof err.text];
    int rc = gbose_new(&g, spec, 3, &err);

    text = with_names(expected, sizeof expected, text);
    if (rc != GBOSE_ESPEC || strcmp(err.text, text))
        fail_msg("spec '%s' gave code %d and '%s', expected '%s'", spec, rc, err.text, text);
    assert_int_equal(err.code, GBOSE_ESPEC);
    assert_ptr_equal(g, mark);
    assert_int_equal(gbose_new(&g, spec, 3, NULL), GBOSE_ESPEC);
    assert_ptr_equal(g, mark);
}

static void wrong_specs_are_refused_in_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(wrong); i++)
        assert_refused(wrong[i].spec, wrong[i].text);
}

static void long_specs_are_refused_or_cut(void **state)
{
    char spec[5000], text[300];

    (void)state;
    memset(spec, 'g', sizeof spec);
    spec[sizeof spec - 1] = 0;
    assert_refused(spec, "the spec is longer than 1023 characters");
    spec[1024] = 0;
    assert_refused(spec, "the spec is longer than 1023 characters");
    spec[1023] = 0;
    snprintf(text, sizeof text, "unknown learner '%.40s'; there are " NAMES, spec);
    assert_refused(spec, text);

    memset(spec, '1', sizeof spec);
    memcpy(spec, "gbose:gamma=", 12);
    spec[1023] = 0;
    snprintf(text, sizeof text, "gamma must be a positive number, 'theory' or 'lemma1'; got '%.40s'",
             spec + 12);
    assert_refused(spec, text);

    /* the longest spec that is right: zeros do not count */
    memset(spec, '0', sizeof spec);
    memcpy(spec, "gbose:seed=", 11);
    spec[1022] = '9';
    spec[1023] = 0;
    assert_canonical(spec, "gbose:seed=9");
}

static void every_prefix_of_a_spec_is_read_or_refused(void **state)
{
    static const char whole[] =
        "action-ts:gamma=0.25,p_min=0.125,p_max=0.875,draws=10,seed=18446744073709551615";
    char spec[sizeof whole];

    (void)state;
    for (size_t n = 0; n < sizeof whole; n++) {
        gbose *g = NULL;
        gbose_error err;
        int rc;

        memcpy(spec, whole, n);
        spec[n] = 0;
        rc = gbose_new(&g, spec, 1, &err);
        assert_true(rc == GBOSE_OK || rc == GBOSE_ESPEC);
        assert_int_equal(err.code, rc);
        assert_int_equal(rc == GBOSE_OK, err.text[0] == 0);
        assert_int_equal(rc == GBOSE_OK, g != NULL);
        gbose_free(g);
    }
}

static void missing_arguments_are_refused(void **state)
{
    gbose *mark = (gbose *)&mark, *g = mark;
    gbose_error err = {0, ""};

    (void)state;
    assert_int_equal(gbose_new(NULL, "gbose", 3, &err), GBOSE_EINVAL);
    assert_int_equal(err.code, GBOSE_EINVAL);
    assert_true(err.text[0] != 0);
    assert_int_equal(gbose_new(&g, NULL, 3, &err), GBOSE_EINVAL);
    assert_int_equal(gbose_new(&g, "gbose", 0, &err), GBOSE_EINVAL);
    assert_string_equal(err.text, "dim must be at least 1");
    assert_int_equal(gbose_new(NULL, NULL, 0, NULL), GBOSE_EINVAL);
    assert_ptr_equal(g, mark);
    gbose_free(NULL);
}

static void absurd_dimensions_are_refused(void **state)
{
    const size_t dims[] = {SIZE_MAX,         SIZE_MAX - 1,    SIZE_MAX - 7,    SIZE_MAX / 2, SIZE_MAX / 8,
                           SIZE_MAX / 8 + 1, (size_t)1 << 33, (size_t)1 << 32, 1u << 31,     (1u << 28) + 1};

    (void)state;
    for (size_t i = 0; i < count_learners(); i++)
        for (size_t k = 0; k < COUNT(dims); k++) {
            gbose *mark = (gbose *)&mark, *g = mark;
            gbose_error err = {0, ""};
            int rc = gbose_new(&g, gbose_learner_at(i)->name, dims[k], &err);

            assert_true(rc == GBOSE_ESIZE || rc == GBOSE_ENOMEM);
            assert_int_equal(err.code, rc);
            assert_string_equal(err.text, gbose_strerror(rc));
            assert_ptr_equal(g, mark);
        }
}

static void success_clears_the_error(void **state)
{
    gbose_error err = {77, "old"};
    gbose *g = NULL;

    (void)state;
    assert_int_equal(gbose_new(&g, "gbose", 1, &err), GBOSE_OK);
    assert_int_equal(err.code, GBOSE_OK);
    assert_string_equal(err.text, "");
    gbose_free(g);
}

/* ---- the table ---- */

static void the_table_describes_what_the_parser_accepts(void **state)
{
    const gbose_info *info;

    (void)state;
    for (size_t i = 0; (info = gbose_learner_at(i)); i++) {
        assert_true(strlen(info->summary) > 0);
        assert_true(has_option(info, "seed"));
        for (size_t k = 0; k < info->n_options; k++) {
            const gbose_option *o = &info->options[k];
            char spec[SPEC_SIZE], accepts[256], expected[512];
            gbose_error err;
            gbose *g;

            assert_true(strlen(o->help) > 0);
            assert_int_equal(o->type == GBOSE_WORD, o->words && o->min == 0 && o->max == 0);
            for (size_t j = 0; j < k; j++)
                assert_string_not_equal(o->name, info->options[j].name);
            /* its default is accepted, and is the default */
            snprintf(spec, sizeof spec, "%s:%s=%s", info->name, o->name, o->value);
            g = new_player(spec, 2);
            assert_string_equal(gbose_spec(g), info->name);
            gbose_free(g);
            /* so is each of its words, and the text names it */
            gbose_option_accepts(accepts, sizeof accepts, o);
            for (const char *w = o->words; w; w = strchr(w, '|') ? strchr(w, '|') + 1 : NULL) {
                char quoted[64];

                snprintf(spec, sizeof spec, "%s:%s=%.*s", info->name, o->name, (int)strcspn(w, "|"), w);
                g = new_player(spec, 2);
                gbose_free(g);
                snprintf(quoted, sizeof quoted, "'%.*s'", (int)strcspn(w, "|"), w);
                assert_non_null(strstr(accepts, quoted));
            }
            /* the error message is made of the same text */
            snprintf(spec, sizeof spec, "%s:%s=?", info->name, o->name);
            assert_int_equal(gbose_new(&g, spec, 2, &err), GBOSE_ESPEC);
            snprintf(expected, sizeof expected, "%s must be %s; got '?'", o->name, accepts);
            assert_string_equal(err.text, expected);
        }
    }
}

static void the_ends_of_the_table_s_ranges_are_accepted(void **state)
{
    const gbose_info *info;

    (void)state;
    for (size_t i = 0; (info = gbose_learner_at(i)); i++)
        for (size_t k = 0; k < info->n_options; k++) {
            const gbose_option *o = &info->options[k];
            const char *format = o->type == GBOSE_INTEGER ? "%s:%s=%.0f" : "%s:%s=%.17g";
            const double ends[] = {o->min, o->max};

            if (o->type == GBOSE_WORD)
                continue;
            for (int e = 0; e < 2; e++) {
                char spec[SPEC_SIZE];
                gbose *g;

                if (o->type == GBOSE_INTEGER && ends[e] > 1e18) /* 2^64 - 1 is not a double */
                    continue;
                if (!strcmp(o->name, "p_max") && e == 0) /* below the default of p_min only for p_min = 0 */
                    assert_true(o->min == 0);
                snprintf(spec, sizeof spec, format, info->name, o->name, ends[e]);
                g = new_player(spec, 2);
                gbose_free(g);
            }
        }
}

static void what_an_option_accepts_is_cut_as_by_snprintf(void **state)
{
    const gbose_option *gamma = &info_of("gbose")->options[0];
    static const char whole[] = "a positive number, 'theory' or 'lemma1'";
    char buf[64];

    (void)state;
    assert_string_equal(gamma->name, "gamma");
    assert_int_equal(gbose_option_accepts(NULL, 0, gamma), strlen(whole));
    for (size_t capacity = 1; capacity <= sizeof buf; capacity++) {
        memset(buf, '#', sizeof buf);
        assert_int_equal(gbose_option_accepts(buf, capacity, gamma), strlen(whole));
        assert_int_equal(strlen(buf), capacity <= strlen(whole) ? capacity - 1 : strlen(whole));
        assert_memory_equal(buf, whole, strlen(buf));
        for (size_t i = strlen(buf) + 1; i < sizeof buf; i++)
            assert_int_equal(buf[i], '#');
    }
}

/* ---- other locales ---- */

/* Switch to a locale with a decimal comma: an installed one, or one that is made for the occasion. The
 * directory it is made in is left in dir. 0: there is none. */
static int use_decimal_comma(char *dir, size_t capacity)
{
    static const char *const installed[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE",       "fr_FR.UTF-8",
                                            "fr_FR.utf8",  "fr_FR",      "ru_RU.UTF-8", "pt_BR.UTF-8"};
    char command[256];

    dir[0] = 0;
    for (size_t i = 0; i < COUNT(installed); i++)
        if (setlocale(LC_ALL, installed[i]) && localeconv()->decimal_point[0] == ',')
            return 1;
    snprintf(dir, capacity, "/tmp/gbose-locale-XXXXXX");
    if (!mkdtemp(dir)) {
        dir[0] = 0;
        return 0;
    }
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1", dir);
    if (system(command) != 0 || setenv("LOCPATH", dir, 1) != 0)
        return 0;
    return setlocale(LC_ALL, "de_DE.UTF-8") && localeconv()->decimal_point[0] == ',';
}

static void remove_locale(const char *dir)
{
    char command[256];

    setlocale(LC_ALL, "C");
    unsetenv("LOCPATH");
    if (!dir[0])
        return;
    snprintf(command, sizeof command, "rm -r %s", dir);
    if (system(command) != 0)
        print_message("could not remove %s\n", dir);
}

static char locale_dir[64];

static int enter_locale(void **state)
{
    (void)state;
    if (use_decimal_comma(locale_dir, sizeof locale_dir))
        return 0;
    print_message(
        "*** SKIPPED: no locale with a decimal comma is installed, and localedef cannot make one\n");
    return 0;
}

static int leave_locale(void **state)
{
    (void)state;
    remove_locale(locale_dir);
    return 0;
}

static void need_decimal_comma(void)
{
    char half[8];

    snprintf(half, sizeof half, "%.1f", 0.5);
    if (strcmp(half, "0,5") != 0)
        skip();
}

static void specs_are_the_same_under_a_decimal_comma(void **state)
{
    (void)state;
    need_decimal_comma();
    assert_canonical("gbose:gamma=0.25,lambda=2.5", "gbose:gamma=0.25,lambda=2.5");
    assert_canonical("gbose:gamma=0.1", "gbose");
    assert_refused("gbose:gamma=0,25", "gamma must be a positive number, 'theory' or 'lemma1'; got '0'");
    assert_refused("gbose:gamma=1,25", "expected OPTION=VALUE after 'gbose:'; got '25'");
    assert_string_equal(localeconv()->decimal_point, ",");
}

static void messages_are_the_same_under_a_decimal_comma(void **state)
{
    const gbose_info *info;

    (void)state;
    need_decimal_comma();
    for (size_t i = 0; i < COUNT(wrong); i++)
        assert_refused(wrong[i].spec, wrong[i].text);
    for (size_t i = 0; (info = gbose_learner_at(i)); i++)
        for (size_t k = 0; k < info->n_options; k++) {
            char under[256], plain[256];

            gbose_option_accepts(under, sizeof under, &info->options[k]);
            setlocale(LC_NUMERIC, "C");
            gbose_option_accepts(plain, sizeof plain, &info->options[k]);
            setlocale(LC_NUMERIC, "de_DE.UTF-8");
            assert_string_equal(under, plain);
        }
}

static void states_are_the_same_under_a_decimal_comma(void **state)
{
    gbose *under, *plain;
    struct bytes bytes;

    (void)state;
    need_decimal_comma();
    under = new_player("lin-ts:gamma=0.25,lambda=2.5", 2);
    bytes = saved(under);
    setlocale(LC_NUMERIC, "C");
    plain = new_player("lin-ts:gamma=0.25,lambda=2.5", 2);
    setlocale(LC_NUMERIC, "de_DE.UTF-8");
    assert_unchanged(plain, &bytes);
    gbose_free(plain);
    plain = loaded(&bytes);
    gbose_free(plain);
    gbose_free(under);
    bytes_free(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_learner_has_its_name),
        cmocka_unit_test(canonical_form_leaves_out_defaults_and_keeps_the_order_of_the_table),
        cmocka_unit_test(equal_numbers_are_written_the_same),
        cmocka_unit_test(random_numbers_survive_the_canonical_form),
        cmocka_unit_test(seeds_are_whole_64_bit_numbers),
        cmocka_unit_test(the_ends_of_a_range_belong_to_it),
        cmocka_unit_test(wrong_specs_are_refused_in_words),
        cmocka_unit_test(long_specs_are_refused_or_cut),
        cmocka_unit_test(every_prefix_of_a_spec_is_read_or_refused),
        cmocka_unit_test(missing_arguments_are_refused),
        cmocka_unit_test(absurd_dimensions_are_refused),
        cmocka_unit_test(success_clears_the_error),
        cmocka_unit_test(the_table_describes_what_the_parser_accepts),
        cmocka_unit_test(the_ends_of_the_table_s_ranges_are_accepted),
        cmocka_unit_test(what_an_option_accepts_is_cut_as_by_snprintf),
    };
    const struct CMUnitTest in_locale[] = {
        cmocka_unit_test(specs_are_the_same_under_a_decimal_comma),
        cmocka_unit_test(messages_are_the_same_under_a_decimal_comma),
        cmocka_unit_test(states_are_the_same_under_a_decimal_comma),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    return failed + cmocka_run_group_tests(in_locale, enter_locale, leave_locale);
}
