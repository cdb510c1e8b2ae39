/* States that must not be loaded: bytes that were changed, and forged ones whose checksum is right but whose
 * contents make no sense. */
#include "support/players.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DIM 3
#define EVERY_FLAVOUR (INTERCEPT | FORGET)

static gbose *seasoned(const char *spec)
{
    return seasoned_player(spec, DIM);
}

/* What is said of a change of byte i: a version that cannot be read, or else damage. */
static int code_of_change(const struct bytes *bytes, size_t i)
{
    uint64_t version = word_at(bytes, 8);

    return i / 8 == 1 && (version < 1 || version > 11) ? GBOSE_EVERSION : GBOSE_ESTATE;
}

static void assert_load_refused(const struct bytes *bytes, int code)
{
    gbose *mark = (gbose *)&mark, *g = mark;
    gbose_error err = {77, "untouched"};
    int rc = gbose_load(&g, bytes->at, bytes->size, &err);

    assert_int_equal(rc, code);
    assert_int_equal(err.code, code);
    assert_true(err.text[0] != 0);
    assert_ptr_equal(g, mark);
    assert_int_equal(gbose_load(&g, bytes->at, bytes->size, NULL), code);
    assert_ptr_equal(g, mark);
}

static void missing_arguments_are_refused(void **state)
{
    gbose *g = new_player("gbose", DIM), *mark = (gbose *)&mark, *out = mark;
    struct bytes bytes = saved(g), none = {NULL, 0};
    gbose_error err;

    (void)state;
    assert_load_refused(&none, GBOSE_EINVAL);
    none.size = bytes.size;
    assert_load_refused(&none, GBOSE_EINVAL);
    assert_int_equal(gbose_load(NULL, bytes.at, bytes.size, &err), GBOSE_EINVAL);
    assert_int_equal(err.code, GBOSE_EINVAL);
    assert_int_equal(gbose_load(&out, bytes.at, 0, &err), GBOSE_ESTATE);
    assert_ptr_equal(out, mark);
    bytes_free(&bytes);
    gbose_free(g);
}

static void success_clears_the_error(void **state)
{
    gbose *g = new_player("gbose", DIM), *copy = NULL;
    struct bytes bytes = saved(g);
    gbose_error err = {77, "old"};

    (void)state;
    assert_int_equal(gbose_load(&copy, bytes.at, bytes.size, &err), GBOSE_OK);
    assert_int_equal(err.code, GBOSE_OK);
    assert_string_equal(err.text, "");
    bytes_free(&bytes);
    gbose_free(g);
    gbose_free(copy);
}

/* Bytes, by every change of one bit and some others. */
static void check_flips(const char *spec)
{
    static const unsigned char masks[] = {1, 2, 4, 8, 16, 32, 64, 128, 0xff, 0x55, 0xaa, 0x7f};
    gbose *g = seasoned(spec);
    struct bytes bytes = saved(g);

    for (size_t i = 0; i < bytes.size; i += byte_step(i, bytes.size))
        for (size_t k = 0; k < COUNT(masks); k++) {
            bytes.at[i] ^= masks[k];
            assert_load_refused(&bytes, code_of_change(&bytes, i));
            bytes.at[i] ^= masks[k];
        }
    bytes_free(&bytes);
    gbose_free(g);
}

static void every_changed_byte_is_refused(void **state)
{
    (void)state;
    for_each_spec(check_flips, EVERY_FLAVOUR);
}

static void every_change_of_a_byte_is_refused(void **state)
{
    gbose *g = seasoned("gbose:intercept=1,forget=0.9");
    struct bytes bytes = saved(g);

    (void)state;
    for (size_t i = 0; i < bytes.size; i++)
        for (unsigned mask = 1; mask < 256; mask++) {
            gbose *out = NULL;

            bytes.at[i] ^= (unsigned char)mask;
            assert_int_equal(gbose_load(&out, bytes.at, bytes.size, NULL), code_of_change(&bytes, i));
            assert_null(out);
            bytes.at[i] ^= (unsigned char)mask;
        }
    bytes_free(&bytes);
    gbose_free(g);
}

static void check_sizes(const char *spec)
{
    gbose *g = seasoned(spec);
    struct bytes bytes = saved(g);

    for (size_t n = 0; n < bytes.size; n += byte_step(n, bytes.size)) {
        struct bytes part = bytes_copy(bytes.at, n);

        assert_load_refused(&part, GBOSE_ESTATE);
        memcpy(part.at, bytes.at + bytes.size - n, n);
        assert_load_refused(&part, GBOSE_ESTATE);
        if (n >= 24 && n % 8 == 0) { /* truncated by someone who knows the checksum */
            memcpy(part.at, bytes.at, n);
            reseal(&part);
            assert_load_refused(&part, GBOSE_ESTATE);
        }
        bytes_free(&part);
    }
    for (size_t more = 1; more <= 64; more++) {
        struct bytes longer = {calloc(bytes.size + more, 1), bytes.size + more};

        assert_non_null(longer.at);
        memcpy(longer.at, bytes.at, bytes.size);
        assert_load_refused(&longer, GBOSE_ESTATE);
        if (longer.size % 8 == 0) {
            reseal(&longer);
            assert_load_refused(&longer, GBOSE_ESTATE);
        }
        bytes_free(&longer);
    }
    bytes_free(&bytes);
    gbose_free(g);
}

static void every_other_size_is_refused(void **state)
{
    (void)state;
    for_each_spec(check_sizes, EVERY_FLAVOUR);
}

static void garbage_is_refused(void **state)
{
    unsigned char room[400];
    struct bytes bytes = {room, 0};
    struct random rng = {34};

    (void)state;
    for (int k = 0; k < 5000; k++) {
        bytes.size = random_below(&rng, sizeof room + 1);
        for (size_t i = 0; i < bytes.size; i++)
            room[i] = (unsigned char)random_u64(&rng);
        assert_load_refused(&bytes, GBOSE_ESTATE);
    }
    memset(room, 0, sizeof room);
    for (bytes.size = 0; bytes.size <= sizeof room; bytes.size++)
        assert_load_refused(&bytes, GBOSE_ESTATE);
}

static void check_ticket_is_no_state(const char *spec)
{
    gbose *g = seasoned(spec);
    struct random rng = {35};
    struct outcome outcome;
    struct bytes bytes;

    decide_once(g, &outcome, &rng);
    bytes = bytes_copy(outcome.ticket, outcome.size);
    assert_load_refused(&bytes, GBOSE_ESTATE);
    bytes_free(&bytes);
    gbose_free(g);
}

static void a_ticket_is_not_a_state(void **state)
{
    (void)state;
    for_each_spec(check_ticket_is_no_state, PLAIN);
}

/* ---- forged: the checksum is right ---- */

/* A word of the state is replaced. */
static void assert_word_refused(struct bytes *bytes, size_t offset, uint64_t word, int code)
{
    uint64_t right = word_at(bytes, offset);

    set_word(bytes, offset, word);
    reseal(bytes);
    assert_load_refused(bytes, code);
    set_word(bytes, offset, right);
    reseal(bytes);
}

static void assert_double_refused(struct bytes *bytes, size_t offset, double value)
{
    uint64_t word;

    memcpy(&word, &value, sizeof word);
    assert_word_refused(bytes, offset, word, GBOSE_ESTATE);
}

static void check_versions(const char *spec)
{
    static const uint64_t versions[] = {0,         3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 256, UINT64_C(1) << 32,
                                        UINT64_MAX};
    gbose *g = seasoned(spec);
    struct bytes bytes = saved(g);
    struct layout at = layout_of(&bytes, g);

    assert_int_equal(word_at(&bytes, at.version), has_note(spec) ? 11 : 2);
    for (size_t k = 0; k < COUNT(versions); k++)
        if (versions[k] != word_at(&bytes, at.version))
            assert_word_refused(&bytes, at.version, versions[k], GBOSE_EVERSION);
    assert_word_refused(&bytes, 0, ~word_at(&bytes, 0), GBOSE_ESTATE); /* magic */
    bytes_free(&bytes);
    gbose_free(g);
}

static void another_version_is_named_as_such(void **state)
{
    (void)state;
    for_each_spec(check_versions, PLAIN);
}

static void check_header(const char *spec)
{
    static const uint64_t huge[] = {
        UINT64_MAX,        UINT64_MAX - 7,    UINT64_C(1) << 63, UINT64_C(1) << 61,
        UINT64_C(1) << 33, UINT64_C(1) << 32, UINT64_C(1) << 28, 1000000};
    gbose *g = seasoned(spec);
    struct bytes bytes = saved(g);
    struct layout at = layout_of(&bytes, g);

    for (size_t k = 0; k < COUNT(huge); k++) {
        assert_word_refused(&bytes, at.dim, huge[k], GBOSE_ESTATE);
        assert_word_refused(&bytes, at.spec, huge[k], GBOSE_ESTATE);
        assert_word_refused(&bytes, at.lineage, huge[k], GBOSE_ESTATE);
        assert_word_refused(&bytes, at.lineage + 24, huge[k], GBOSE_ESTATE); /* marks of the first point */
    }
    assert_word_refused(&bytes, at.dim, 0, GBOSE_ESTATE);
    assert_word_refused(&bytes, at.dim, DIM - 1, GBOSE_ESTATE);
    assert_word_refused(&bytes, at.dim, DIM + 1, GBOSE_ESTATE);
    assert_word_refused(&bytes, at.spec, 0, GBOSE_ESTATE);
    assert_word_refused(&bytes, at.stream, UINT64_C(1) << 32, GBOSE_ESTATE);
    assert_word_refused(&bytes, at.stream, UINT64_MAX, GBOSE_ESTATE);
    assert_word_refused(&bytes, at.lineage, 0, GBOSE_ESTATE);
    assert_word_refused(&bytes, at.lineage, 1, GBOSE_ESTATE);
    assert_word_refused(&bytes, at.lineage, 3, GBOSE_ESTATE);
    assert_word_refused(&bytes, at.lineage, 16, GBOSE_ESTATE);
    assert_word_refused(&bytes, at.lineage, 17, GBOSE_ESTATE);
    assert_word_refused(&bytes, at.lineage + 24, word_at(&bytes, at.lineage + 24) + 1, GBOSE_ESTATE);
    bytes_free(&bytes);
    gbose_free(g);
}

static void forged_sizes_are_refused(void **state)
{
    (void)state;
    for_each_spec(check_header, EVERY_FLAVOUR);
}

/* A point of the past cannot have more rewards behind it than the learner has, nor than a later point:
 * merging subtracts one from the other. */
static void forged_counts_of_rewards_are_refused(void **state)
{
    gbose *g = seasoned("gbose");
    struct bytes bytes = saved(g);
    struct layout at = layout_of(&bytes, g);
    size_t first = at.lineage + 8, second = first + 24 + 8 * (size_t)word_at(&bytes, first + 16);

    (void)state;
    assert_int_equal(word_at(&bytes, at.lineage), 2);
    assert_int_equal(word_at(&bytes, at.learned), 40);
    assert_int_equal(word_at(&bytes, first + 8), 0);
    assert_int_equal(word_at(&bytes, second + 8), 20);
    assert_word_refused(&bytes, at.learned, 19, GBOSE_ESTATE);
    assert_word_refused(&bytes, second + 8, 41, GBOSE_ESTATE);
    assert_word_refused(&bytes, first + 8, 21, GBOSE_ESTATE);
    bytes_free(&bytes);
    gbose_free(g);
}

/* The root's rows, mu, the prior, the turn, the steps. */
static void check_regression(struct bytes *bytes, size_t at, size_t dim, double lambda)
{
    static const double never[] = {NAN, -NAN, INFINITY, -INFINITY};
    size_t mu = at + 8 * (dim * (dim + 1) / 2), prior = mu + 8 * dim, turn = prior + 8 * dim;

    for (size_t offset = at; offset < turn; offset += 8)
        for (size_t k = 0; k < COUNT(never); k++)
            assert_double_refused(bytes, offset, never[k]);
    for (size_t j = 0, diagonal = at; j < dim; j++, diagonal += 8 * (j + 1)) {
        assert_double_refused(bytes, diagonal, 0);
        assert_double_refused(bytes, diagonal, -1);
        assert_double_refused(bytes, prior + 8 * j, 0);
        assert_double_refused(bytes, prior + 8 * j, -lambda);
        assert_double_refused(bytes, prior + 8 * j, lambda * 1.0001);
    }
    assert_word_refused(bytes, turn, dim, GBOSE_ESTATE);
    assert_word_refused(bytes, turn, UINT64_MAX, GBOSE_ESTATE);
    assert_word_refused(bytes, turn + 8, UINT64_MAX, GBOSE_ESTATE); /* more steps than rewards */
}

/* Words from one that is forged to the next: all of the first, and of the long rows of a large state few. */
static size_t step_at(size_t offset, size_t begin, size_t size)
{
    return offset < begin + 8 * 300 ? 1 : 13 + size / 4000;
}

static void check_forged_numbers(const char *spec)
{
    gbose *g = seasoned(spec);
    struct bytes bytes = saved(g);
    struct layout at = layout_of(&bytes, g);
    static const double never[] = {NAN, -NAN, INFINITY, -INFINITY};

    check_regression(&bytes, at.model, at.model_dim, 2.5);
    if (at.level_dim)
        check_regression(&bytes, at.level, at.level_dim, has_note(spec) ? 2.5 : 1);
    for (size_t offset = at.own; offset < at.checksum; offset += 8 * step_at(offset, at.own, bytes.size))
        for (size_t k = 0; k < COUNT(never); k++)
            assert_double_refused(&bytes, offset, never[k]);
    bytes_free(&bytes);
    gbose_free(g);
}

static void forged_numbers_are_refused(void **state)
{
    (void)state;
    for_each_spec(check_forged_numbers, EVERY_FLAVOUR);
}

/* As from a version that knows more learners or options than this one. */
static void unknown_specs_are_refused(void **state)
{
    static const char *const specs[] = {"gbosx", "GBOSE", "bose:",   "bose:x",      "bose:g=1",
                                        "",      "lin",   "bos\n",   "bose:seed=x", "bose:gamma=nan",
                                        "bose,", "b%s%n", "\xff\xfe"};
    gbose *g = seasoned("gbose:lambda=1.5,seed=7"); /* a spec longer than any of them */
    struct bytes right = saved(g);

    (void)state;
    for (size_t k = 0; k < COUNT(specs); k++) {
        struct bytes bytes = bytes_copy(right.at, right.size);
        struct layout at = layout_of(&bytes, g);
        size_t length = strlen(specs[k]), words = (length + 7) / 8, begin = at.spec + 8 + 8 * words;

        /* the rest moves up */
        set_word(&bytes, at.spec, length);
        memset(bytes.at + at.spec + 8, 0, 8 * words);
        memcpy(bytes.at + at.spec + 8, specs[k], length);
        memmove(bytes.at + begin, right.at + at.dim, right.size - at.dim);
        bytes.size = begin + right.size - at.dim;
        reseal(&bytes);
        assert_load_refused(&bytes, GBOSE_ESPEC);
        bytes_free(&bytes);
    }
    bytes_free(&right);
    gbose_free(g);
}

/* Whatever single word is forged: refused, or loaded as a learner that can be used. */
static void check_any_word(const char *spec)
{
    static const uint64_t words[] = {0,
                                     1,
                                     2,
                                     16,
                                     UINT64_MAX,
                                     UINT64_C(1) << 63,
                                     UINT64_C(0x7fefffffffffffff),  /* the largest double */
                                     UINT64_C(0x0000000000000001),  /* the smallest */
                                     UINT64_C(0x3ff0000000000000),  /* 1 */
                                     UINT64_C(0x7ff8000000000000)}; /* NaN */
    gbose *g = seasoned(spec);
    struct bytes bytes = saved(g);

    for (size_t offset = 8; offset < bytes.size - 8; offset += 8 * step_at(offset, 8, bytes.size))
        for (size_t k = 0; k < COUNT(words); k++) {
            uint64_t right = word_at(&bytes, offset);
            struct random rng = {36};
            gbose *out = NULL;
            int rc;

            set_word(&bytes, offset, words[k]);
            reseal(&bytes);
            rc = gbose_load(&out, bytes.at, bytes.size, NULL);
            if (rc == GBOSE_OK) {
                struct arms arms;
                gbose_decision d;
                struct bytes again = saved(out);

                random_arms(&arms, gbose_dim(out), &rng);
                rc = decide_arms(out, &d, arms.context, arms.n);
                if (rc == GBOSE_OK)
                    rc = gbose_learn(out, d.ticket, d.ticket_size, 1);
                assert_true(rc == GBOSE_OK || rc == GBOSE_ENUMERIC || rc == GBOSE_ETICKET);
                (void)gbose_merge(out, g);
                gbose_free(out);
                out = loaded(&again);
                gbose_free(out);
                bytes_free(&again);
            } else {
                assert_true(rc < 0);
                assert_null(out);
            }
            set_word(&bytes, offset, right);
        }
    bytes_free(&bytes);
    gbose_free(g);
}

static void any_forged_word_is_refused_or_harmless(void **state)
{
    (void)state;
    for_each_spec(check_any_word, EVERY_FLAVOUR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        spec_test(missing_arguments_are_refused),
        spec_test(success_clears_the_error),
        spec_test(every_changed_byte_is_refused),
        spec_test(every_change_of_a_byte_is_refused),
        spec_test(every_other_size_is_refused),
        spec_test(garbage_is_refused),
        spec_test(a_ticket_is_not_a_state),
        spec_test(another_version_is_named_as_such),
        spec_test(forged_sizes_are_refused),
        spec_test(forged_counts_of_rewards_are_refused),
        spec_test(forged_numbers_are_refused),
        spec_test(unknown_specs_are_refused),
        spec_test(any_forged_word_is_refused_or_harmless),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
