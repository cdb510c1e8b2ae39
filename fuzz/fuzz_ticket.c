/* Tickets with a right checksum and wrong contents, and any reward: refused with the learner unchanged, or
 * learned with everything finite and the state still one that can be loaded. */
#include "edits.h"

#include <math.h>

/* The learner, as old as the head says. */
static gbose *grown_learner(struct input *head)
{
    gbose *g = choose_learner(head);

    play(g, next_byte(head) % 8);
    return g;
}

static size_t make_ticket(uint8_t *to, struct input *head)
{
    gbose *g = grown_learner(head);
    gbose_decision d;

    if (decide(g, &d, next_byte(head)) != GBOSE_OK || d.ticket_size > MAX_BYTES)
        abort();
    memcpy(to, d.ticket, d.ticket_size);
    gbose_free(g);
    return d.ticket_size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    return mutate_sealed(data, size, max_size, seed, make_ticket);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const double rewards[] = {1, -0.5, 0, 1e30, -1e30, 1e31, NAN, INFINITY};
    struct input in = {data, size};
    uint8_t before[MAX_BYTES], after[MAX_BYTES];
    size_t size_before, size_after;
    gbose *g = grown_learner(&in), *again = NULL;
    double reward = rewards[next_byte(&in) % 8];
    void *bytes = exactly(in.at, in.left);
    int rc;

    if (gbose_save(g, before, sizeof before, &size_before) != GBOSE_OK)
        abort();
    rc = gbose_learn(g, bytes, in.left, reward);
    if (gbose_save(g, after, sizeof after, &size_after) != GBOSE_OK)
        abort();
    if (rc == GBOSE_OK) {
        for (size_t i = 0; i < DIM; i++)
            if (!isfinite(gbose_coef(g)[i]))
                abort();
        if (gbose_load(&again, after, size_after, NULL) != GBOSE_OK)
            abort();
        gbose_free(again);
        for (int k = 0; k < 4; k++) /* the same again, and life goes on */
            gbose_learn(g, bytes, in.left, reward);
        play(g, 4);
    } else if (size_after != size_before || memcmp(before, after, size_after) != 0) {
        abort();
    }
    free(bytes);
    gbose_free(g);
    return 0;
}
