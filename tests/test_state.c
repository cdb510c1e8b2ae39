/* Saving and loading: a loaded learner goes on bit for bit, the buffer is used as promised, and bytes that were
 * written by earlier versions can be read. What is refused is in test_state_refusals.c. */
#include "support/players.h"

#include <stdlib.h>
#include <string.h>

#define DIM 3
#define EVERY_FLAVOUR (INTERCEPT | FORGET)

static gbose *seasoned(const char *spec)
{
    return seasoned_player(spec, DIM);
}

static void check_goes_on(const char *spec)
{
    gbose *a = seasoned(spec), *b = duplicate(a);
    struct random rng = {32};
    double x[DIM] = {0.3, -1.5, 2};
    double width_a = gbose_width(a, x), width_b = gbose_width(b, x);

    assert_string_equal(gbose_spec(b), gbose_spec(a));
    assert_int_equal(gbose_dim(b), DIM);
    assert_int_equal(gbose_rounds(b), gbose_rounds(a));
    assert_int_equal(gbose_decisions(b), gbose_decisions(a));
    assert_memory_equal(gbose_coef(b), gbose_coef(a), DIM * sizeof(double));
    assert_memory_equal(&width_b, &width_a, sizeof width_a);
    assert_same_but_lineage(a, b);
    assert_play_alike(a, b, 200, &rng);
    assert_same_but_lineage(a, b);
    gbose_free(a);
    gbose_free(b);
}

static void a_loaded_learner_goes_on_bit_for_bit(void **state)
{
    (void)state;
    for_each_spec(check_goes_on, EVERY_FLAVOUR);
}

/* Also from a learner that has seen nothing, and when every round is played by a copy of the last. */
static void check_every_round(const char *spec)
{
    gbose *a = new_player(spec, DIM), *b = new_player(spec, DIM);
    struct random rng = {33};

    for (int t = 0; t < 40; t++) {
        gbose *next = duplicate(b);

        gbose_free(b);
        b = next;
        assert_same_but_lineage(a, b);
        assert_play_alike(a, b, 1, &rng);
    }
    gbose_free(a);
    gbose_free(b);
}

static void a_learner_may_be_saved_and_loaded_every_round(void **state)
{
    (void)state;
    for_each_spec(check_every_round, EVERY_FLAVOUR);
}

static void check_buffer(const char *spec)
{
    gbose *g = seasoned(spec);
    struct bytes right = saved(g);
    size_t size = 0, room = right.size + 16;
    unsigned char *buf = malloc(room);

    assert_non_null(buf);
    assert_int_equal(gbose_save(g, NULL, 0, &size), GBOSE_OK);
    assert_int_equal(size, right.size);
    for (size_t capacity = 0; capacity < right.size; capacity += byte_step(capacity, right.size)) {
        memset(buf, 0xa5, room);
        size = 0;
        assert_int_equal(gbose_save(g, buf, capacity, &size), GBOSE_EBUFFER);
        assert_int_equal(size, right.size);
        for (size_t i = 0; i < room; i++)
            assert_int_equal(buf[i], 0xa5);
    }
    for (size_t capacity = right.size; capacity <= room; capacity++) {
        memset(buf, 0xa5, room);
        assert_int_equal(gbose_save(g, buf, capacity, &size), GBOSE_OK);
        assert_int_equal(size, right.size);
        assert_memory_equal(buf, right.at, size);
        for (size_t i = size; i < room; i++)
            assert_int_equal(buf[i], 0xa5);
    }
    size = 77;
    assert_int_equal(gbose_save(g, NULL, 8, &size), GBOSE_EINVAL);
    assert_int_equal(gbose_save(NULL, buf, room, &size), GBOSE_EINVAL);
    assert_int_equal(size, 77);
    assert_int_equal(gbose_save(g, buf, room, NULL), GBOSE_EINVAL);
    assert_unchanged(g, &right);
    /* any alignment */
    for (size_t k = 1; k < 8; k++) {
        assert_int_equal(gbose_save(g, buf + k, room - k, &size), GBOSE_OK);
        assert_memory_equal(buf + k, right.at, size);
    }
    free(buf);
    bytes_free(&right);
    gbose_free(g);
}

static void the_buffer_is_used_as_promised(void **state)
{
    (void)state;
    for_each_spec(check_buffer, EVERY_FLAVOUR);
}

static void check_unaligned(const char *spec)
{
    gbose *a = seasoned(spec), *b = NULL;
    struct bytes bytes = saved(a);
    unsigned char *room = malloc(bytes.size + 8);

    assert_non_null(room);
    for (size_t k = 1; k < 8; k++) {
        memcpy(room + k, bytes.at, bytes.size);
        assert_int_equal(gbose_load(&b, room + k, bytes.size, NULL), GBOSE_OK);
        assert_same_but_lineage(a, b);
        gbose_free(b);
    }
    free(room);
    bytes_free(&bytes);
    gbose_free(a);
}

static void bytes_need_no_alignment(void **state)
{
    (void)state;
    for_each_spec(check_unaligned, PLAIN);
}

/* ---- the format ---- */

/* clang-format off */
static const unsigned char golden_state[] = {
    0x47, 0x42, 0x4f, 0x53, 0x45, 0x53, 0x54, 0x31, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x32, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x75, 0x6e, 0x69, 0x66, 0x6f, 0x72, 0x6d, 0x3a,
    0x6c, 0x61, 0x6d, 0x62, 0x64, 0x61, 0x3d, 0x32, 0x2c, 0x69, 0x6e, 0x74, 0x65, 0x72, 0x63, 0x65,
    0x70, 0x74, 0x3d, 0x31, 0x2c, 0x66, 0x6f, 0x72, 0x67, 0x65, 0x74, 0x3d, 0x30, 0x2e, 0x39, 0x36,
    0x38, 0x37, 0x35, 0x2c, 0x73, 0x65, 0x65, 0x64, 0x3d, 0x37, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x09, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x04, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x76, 0x67, 0xef, 0x33, 0x21, 0x97, 0x8b, 0xd4,
    0x12, 0x21, 0x14, 0xf6, 0x14, 0xb0, 0x3a, 0x0c, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xcb, 0xd5, 0x38, 0xaf, 0x5c, 0xd1, 0x96, 0xef,
    0x7a, 0xd7, 0xe9, 0x03, 0xf7, 0x11, 0xe3, 0x3f, 0xb2, 0xd1, 0xcb, 0xc1, 0x06, 0xfc, 0xcd, 0x3f,
    0x36, 0x11, 0x0e, 0x4e, 0xa1, 0x87, 0xd7, 0x3f, 0x24, 0xf7, 0xc8, 0xb9, 0x85, 0x2d, 0xc7, 0xbf,
    0x92, 0x95, 0x36, 0xba, 0x32, 0x97, 0xce, 0xbf, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xff, 0x3f,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x40, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x04, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x58, 0xd0, 0x35, 0x76, 0x72, 0x3f, 0xe2, 0x3f,
    0x5f, 0x55, 0x59, 0x9e, 0x66, 0xff, 0xc8, 0x3f, 0x7d, 0x20, 0x09, 0x9e, 0x76, 0xc6, 0xd9, 0x3f,
    0xf6, 0x48, 0xa5, 0x40, 0x6f, 0x22, 0xde, 0xbf, 0xd3, 0x2b, 0xd1, 0x74, 0x2a, 0xf7, 0xc0, 0xbf,
    0xe4, 0x86, 0x71, 0xf4, 0x9a, 0x99, 0xe2, 0x3f, 0x08, 0x9a, 0x1c, 0xc2, 0xc9, 0x4f, 0xd1, 0xbf,
    0x58, 0xc8, 0x83, 0xea, 0x35, 0x36, 0xd5, 0xbf, 0x24, 0xdb, 0xe8, 0x3c, 0xe3, 0xdc, 0xa2, 0xbf,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xf0, 0x3f, 0x00, 0x00, 0x00, 0x00, 0x00, 0x08, 0xee, 0x3f,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xef, 0x3f, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x04, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x91, 0x90, 0x97, 0xd6, 0x97, 0xd8, 0x74, 0x1d,
};
/* clang-format on */
#define GOLDEN_COEF_0 -0.18107673236402733
#define GOLDEN_COEF_1 -0.23898920147364017

/* The learner of the golden bytes: a past, a level, forgetting, a mark after each of two points. */
static gbose *golden_learner(void)
{
    static const double contexts[] = {1, 0.5, -0.25, 2, 0.75, -1};
    gbose *g = new_player("uniform:lambda=2,intercept=1,forget=0.96875,seed=7", 2), *next;

    for (int t = 0; t < 4; t++) {
        gbose_decision d;

        assert_int_equal(decide_arms(g, &d, contexts, 3), GBOSE_OK);
        assert_int_equal(gbose_learn(g, d.ticket, d.ticket_size, 0.5 * t - 1), GBOSE_OK);
        if (t == 1) {
            next = duplicate(g);
            gbose_free(g);
            g = next;
            assert_int_equal(gbose_stream(g, 9), GBOSE_OK);
        }
    }
    return g;
}

/* The bytes that version 1 wrote of it are still read: the same but for the version and the word of the
 * schema. */
static void the_bytes_of_version_1_can_be_loaded(void **state)
{
    struct bytes bytes = bytes_copy(golden_state, sizeof golden_state);
    gbose *g = golden_learner(), *old;
    struct layout at = layout_of(&bytes, g);

    (void)state;
    memmove(bytes.at + at.schema, bytes.at + at.stream, bytes.size - at.stream);
    bytes.size -= 8;
    set_word(&bytes, at.version, 1);
    reseal(&bytes);
    old = loaded(&bytes);
    assert_same_but_lineage(old, g);
    bytes_free(&bytes);
    gbose_free(old);
    gbose_free(g);
}

/* What gbose-auto kept beside its regressions has another layout now: it is not damage. */
static void version_1_of_gbose_auto_is_named_as_such(void **state)
{
    gbose *g = new_player("gbose-auto", 3), *old;
    struct bytes bytes = saved(g);

    (void)state;
    set_word(&bytes, 8, 1);
    reseal(&bytes);
    assert_int_equal(gbose_load(&old, bytes.at, bytes.size, NULL), GBOSE_EVERSION);
    bytes_free(&bytes);
    gbose_free(g);
}

/* If this fails, the format has changed: raise STATE_VERSION in src/learners/state.c, keep a reader for the
 * old one, and add new golden bytes beside these. */
static void the_golden_bytes_are_what_is_written(void **state)
{
    gbose *g = golden_learner();
    struct bytes now = saved(g);

    (void)state;
    if (now.size != sizeof golden_state || memcmp(now.at, golden_state, now.size) != 0)
        for (size_t i = 0; i < now.size; i++)
            print_error("0x%02x,%s", now.at[i], i % 16 == 15 ? "\n" : " ");
    assert_int_equal(now.size, sizeof golden_state);
    assert_memory_equal(now.at, golden_state, now.size);
    bytes_free(&now);
    gbose_free(g);
}

static void the_golden_bytes_can_be_loaded(void **state)
{
    gbose *g = NULL;
    gbose_error err;

    (void)state;
    assert_int_equal(gbose_load(&g, golden_state, sizeof golden_state, &err), GBOSE_OK);
    assert_string_equal(gbose_spec(g), "uniform:lambda=2,intercept=1,forget=0.96875,seed=7");
    assert_int_equal(gbose_dim(g), 2);
    assert_int_equal(gbose_rounds(g), 4);
    assert_int_equal(gbose_decisions(g), 2);
    assert_close(gbose_coef(g)[0], GOLDEN_COEF_0, 1e-12);
    assert_close(gbose_coef(g)[1], GOLDEN_COEF_1, 1e-12);
    gbose_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        spec_test(a_loaded_learner_goes_on_bit_for_bit),
        spec_test(a_learner_may_be_saved_and_loaded_every_round),
        spec_test(the_buffer_is_used_as_promised),
        spec_test(bytes_need_no_alignment),
        spec_test(the_golden_bytes_are_what_is_written),
        spec_test(the_golden_bytes_can_be_loaded),
        spec_test(the_bytes_of_version_1_can_be_loaded),
        spec_test(version_1_of_gbose_auto_is_named_as_such),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
