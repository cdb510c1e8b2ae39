/* Many decisions of one learner that does not change. */
#include "learners/learner.h"

#include <string.h>

#include "core/kernels.h"

/* Round t of the choices, which was just decided. */
static int report(const gbose *g, struct gbose_scratch *scratch, const gbose_choices *out, size_t t,
                  size_t room)
{
    const struct gbose__round *round = &scratch->round;
    size_t n = scratch->in.n, arm = out->arm[t];
    int rc;

    if (out->probability)
        out->probability[t] = round->pmf[arm];
    if (out->draws)
        out->draws[t] = round->draws;
    if (out->pmf)
        memcpy(out->pmf + t * n, round->pmf, n * sizeof(double));
    if (!out->tickets)
        return GBOSE_OK;
    rc = gbose__round_explain(g, scratch, arm);
    if (rc)
        return rc;
    memcpy((unsigned char *)out->tickets + t * room, scratch->bytes, scratch->ticket.writer.size);
    out->ticket_size[t] = scratch->ticket.writer.size;
    return GBOSE_OK;
}

int gbose_decide_many(const gbose *g, gbose_scratch *scratch, const gbose_choices *out, uint32_t stream,
                      uint64_t first, const double *contexts, const double *round, size_t n_rounds,
                      size_t n_arms)
{
    size_t size, room;
    int rc;

    if (!g || !scratch || !out || !out->arm || !out->tickets != !out->ticket_size || !contexts || !n_arms ||
        (g->round_features && !round) || first > GBOSE__MAX_DECISIONS ||
        n_rounds > GBOSE__MAX_DECISIONS - first)
        return GBOSE_EINVAL;
    if (n_arms > SIZE_MAX / sizeof(double) / g->dim ||
        n_rounds > SIZE_MAX / sizeof(double) / (n_arms * g->dim) ||
        n_rounds > SIZE_MAX / sizeof(double) / (g->round_features + 1))
        return GBOSE_ESIZE;
    rc = gbose__round_reserve(g, scratch, n_arms);
    if (rc)
        return rc;
    size = n_arms * g->dim;
    room = gbose_ticket_room(g, n_arms);
    if (!gbose__kernels->within(contexts, n_rounds * size, GBOSE_MAX_INPUT) ||
        (g->round_features && !gbose__kernels->within(round, n_rounds * g->round_features, GBOSE_MAX_INPUT)))
        return GBOSE_ENUMERIC;
    for (size_t t = 0; t < n_rounds && !rc; t++) {
        gbose_input in = {contexts + t * size, n_arms,
                          g->round_features ? round + t * g->round_features : NULL};

        rc = gbose__round_decide(g, scratch, &out->arm[t], &in, stream, first + t);
        if (!rc)
            rc = report(g, scratch, out, t, room);
    }
    return rc;
}
