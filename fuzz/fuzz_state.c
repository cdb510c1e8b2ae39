/* Saved states with a right checksum and wrong contents: refused, or a learner that can be used, saved and
 * loaded again. */
#include "edits.h"

/* The questions that do not change it. */
static void ask(const gbose *g)
{
    double x[16], pmf[2] = {0.25, 0.75}, round[64] = {0}, estimate, lower, upper, width;
    gbose_input in = {x, 2, round};
    gbose_diagnosis diagnosis;
    gbose_scratch *scratch;
    gbose_decision d;
    const void *ticket;
    size_t size;

    if (2 * gbose_dim(g) > 16 || gbose_round_features(g) > 64)
        return;
    for (size_t i = 0; i < 16; i++)
        x[i] = (double)(i % 5) - 1.5;
    width = gbose_width(g, x);
    if (width < 0) /* not a number, it may be: a matrix that was forged can be anything */
        abort();
    (void)gbose_diagnose(g, &diagnosis);
    (void)gbose_effect(g, x, 0.9, &estimate, &lower, &upper);
    if (gbose_scratch_new(&scratch) != GBOSE_OK)
        abort();
    if (gbose_decide_at(g, scratch, &d, &in, 1, 2) == GBOSE_OK && d.arm >= d.n_arms)
        abort();
    (void)gbose_ticket_for(g, scratch, &ticket, &size, &in, pmf, 1);
    gbose_scratch_free(scratch);
}

static void use(gbose *g, const gbose *other)
{
    uint8_t state[MAX_BYTES];
    size_t size;
    gbose *again = NULL;
    gbose_decision d;

    ask(g);
    if (gbose_save(g, state, sizeof state, &size) == GBOSE_OK) {
        if (gbose_load(&again, state, size, NULL) != GBOSE_OK)
            abort(); /* what was loaded and saved can be loaded */
        gbose_free(again);
    }
    if (gbose_grow(&again, g, DIM + 2, NULL) == GBOSE_OK)
        gbose_free(again);
    play(g, 8);
    if (decide(g, &d, 4) == GBOSE_OK && d.arm >= d.n_arms)
        abort();
    (void)gbose_merge(g, other);
    ask(g);
    play(g, 2);
}

/* The state of a learner that was itself loaded, and has learned before and after. */
static size_t make_state(uint8_t *to, struct input *head)
{
    gbose *young = choose_learner(head), *g = NULL;
    size_t size;

    play(young, next_byte(head) % 8);
    if (gbose_save(young, to, MAX_BYTES, &size) != GBOSE_OK || gbose_load(&g, to, size, NULL) != GBOSE_OK)
        abort();
    gbose_stream(g, 1);
    play(g, next_byte(head) % 8);
    if (gbose_save(g, to, MAX_BYTES, &size) != GBOSE_OK)
        abort();
    gbose_free(g);
    gbose_free(young);
    return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    return mutate_sealed(data, size, max_size, seed, make_state);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    gbose *young = choose_learner(&in), *forged = NULL;
    void *bytes;
    int rc;

    play(young, next_byte(&in) % 8);
    (void)next_byte(&in);
    bytes = exactly(in.at, in.left);
    rc = gbose_load(&forged, bytes, in.left, NULL);
    free(bytes);
    if ((rc == GBOSE_OK) != (forged != NULL))
        abort();
    if (forged)
        use(forged, young);
    gbose_free(forged);
    gbose_free(young);
    return 0;
}
