/* Tickets with a right checksum and wrong contents, and any reward: refused with the learner unchanged, or
 * learned with everything finite and the state still one that can be loaded. */
#include "edits.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    uint8_t ticket[MAX_BYTES], before[MAX_BYTES], after[MAX_BYTES];
    size_t ticket_size, size_before, size_after;
    gbose *g = choose_learner(&in), *again = NULL;
    gbose_decision d;
    gbose_ticket_info info;
    gbose_error err;
    double reward;
    void *bytes;
    int rc, expected, read;

    play(g, next_byte(&in) % 8);
    if (decide(g, &d, next_byte(&in)) != GBOSE_OK || d.ticket_size > sizeof ticket)
        abort();
    memcpy(ticket, d.ticket, d.ticket_size);
    reward = next_byte(&in) % 2 ? next_double(&in) : 1;
    ticket_size = edit(ticket, d.ticket_size, &in);

    if (gbose_save(g, before, sizeof before, &size_before) != GBOSE_OK)
        abort();
    bytes = exactly(ticket, ticket_size);
    expected = gbose_check_reward(g, bytes, ticket_size, reward, &err);
    read = gbose_ticket_read(&info, bytes, ticket_size);
    rc = gbose_learn(g, bytes, ticket_size, reward);
    if (rc != expected || err.code != rc || (rc == GBOSE_OK && read != GBOSE_OK))
        abort();
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
            gbose_learn(g, bytes, ticket_size, reward);
        play(g, 4);
    } else if (size_after != size_before || memcmp(before, after, size_after) != 0) {
        abort();
    }
    free(bytes);
    gbose_free(g);
    return 0;
}
