/* A world given by callbacks (gbose_world.h). */
#include <math.h>
#include <string.h>

#include "worlds/world_table.h"

struct own {
    void *state;
    int begun;
};

static int init(struct gbose__world *w, gbose_error *err)
{
    struct own *own = w->own;
    int rc;

    w->dim = w->joined->dim;
    w->max_arms = w->joined->max_arms;
    rc = w->joined->begin(&own->state, w->joined->user, w->seed, w->repetition, err);
    own->begun = !rc;
    return rc;
}

static int all_finite(const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return 0;
    return 1;
}

static int is_sane(const struct gbose__world *w, const gbose_world_round *r)
{
    return r->contexts && r->means && all_finite(r->contexts, r->n_arms * w->dim) &&
           all_finite(r->means, r->n_arms) && isfinite(r->shift) && isfinite(r->noise);
}

static void next(struct gbose__world *w)
{
    const struct own *own = w->own;
    gbose_world_round r = {0};

    w->err.code = w->joined->next(own->state, w->round, &r, &w->err);
    if (w->err.code)
        return;
    if (r.n_arms < 1 || r.n_arms > w->max_arms) {
        gbose__fail(&w->err, GBOSE_EINVAL, "world '%s' has %zu arms in a round; its limits are 1 and %zu",
                    w->joined->name, r.n_arms, w->max_arms);
        return;
    }
    if (!is_sane(w, &r)) {
        gbose__fail(&w->err, GBOSE_ENUMERIC, "world '%s' made a round with a number that is not finite",
                    w->joined->name);
        return;
    }
    w->n_arms = r.n_arms;
    memcpy(w->contexts, r.contexts, r.n_arms * w->dim * sizeof *w->contexts);
    memcpy(w->mean, r.means, r.n_arms * sizeof *w->mean);
    w->shift = r.shift;
    w->noise = r.noise;
}

static void observe(struct gbose__world *w, size_t arm, double reward)
{
    const struct own *own = w->own;

    if (w->joined->observe)
        w->err.code = w->joined->observe(own->state, arm, reward, &w->err);
}

static void clear(struct gbose__world *w)
{
    const struct own *own = w->own;

    if (own->begun && w->joined->end)
        w->joined->end(own->state);
}

const struct gbose__world_kind gbose__world_joined = {
    .info = {"joined", "given by callbacks", NULL, 0},
    .own_size = sizeof(struct own),
    .init = init,
    .next = next,
    .observe = observe,
    .clear = clear,
};
