#include "support/workers.h"

struct outcome event[MAX_EVENTS];
size_t n_events;

void work(gbose *g, size_t rounds, struct random *rng)
{
    assert_true(n_events + rounds <= MAX_EVENTS);
    play(g, rounds, rng, event + n_events);
    n_events += rounds;
}

gbose *witness(const char *spec, const struct bytes *start)
{
    gbose *g = start ? loaded(start) : new_player(spec, WORKER_DIM);

    for (size_t i = 0; i < n_events; i++)
        learn_outcome(g, &event[i]);
    return g;
}

gbose *worker(const struct bytes *start, uint32_t stream)
{
    gbose *g = loaded(start);

    assert_int_equal(gbose_stream(g, stream), GBOSE_OK);
    return g;
}

void assert_merges(gbose *into, const gbose *from)
{
    struct bytes before = saved(from);

    assert_int_equal(gbose_merge(into, from), GBOSE_OK);
    assert_unchanged(from, &before);
    bytes_free(&before);
}

void assert_refuses(gbose *into, const gbose *from, int code)
{
    struct bytes a = saved(into), b = {NULL, 0};

    if (from)
        b = saved(from);
    assert_int_equal(gbose_merge(into, from), code);
    assert_unchanged(into, &a);
    if (from)
        assert_unchanged(from, &b);
    bytes_free(&a);
    bytes_free(&b);
}

void replace(gbose **g, gbose *by)
{
    gbose_free(*g);
    *g = by;
}
