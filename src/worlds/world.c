/* The life of a world, and its rounds. */
#include "worlds/world.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "worlds/world_table.h"

/* ---- creation ---- */

/* Everything of a world but the arrays of a round. By its spec, or by its callbacks: the other one is
 * NULL. */
static int begin(struct gbose__world *w, const char *spec, const gbose_study_world *joined, uint64_t seed,
                 uint32_t repetition, gbose_error *err)
{
    size_t which;
    int rc = GBOSE_OK;

    memset(w, 0, sizeof *w);
    if (!joined)
        rc = gbose__spec_parse(&which, w->value, spec, &gbose__worlds, err);
    if (rc)
        return rc;
    w->kind = joined ? &gbose__world_joined : gbose__world_kind_at(which);
    w->joined = joined;
    w->seed = seed;
    w->repetition = repetition;
    w->low = -INFINITY;
    w->high = INFINITY;
    w->own = gbose__alloc(1, w->kind->own_size);
    rc = w->own ? w->kind->init(w, err) : GBOSE_ENOMEM;
    if (rc == GBOSE_ENOMEM)
        gbose__fail(err, rc, "%s", gbose_strerror(rc));
    return rc;
}

/* Also frees a world whose begin() failed. */
static void end(struct gbose__world *w)
{
    if (w->own && w->kind->clear)
        w->kind->clear(w);
    gbose__free(w->own);
    gbose__free(w->contexts);
    gbose__free(w->mean);
}

static int make(struct gbose__world **out, const char *spec, const gbose_study_world *joined, uint64_t seed,
                uint32_t repetition, gbose_error *err)
{
    struct gbose__world *w = gbose__alloc(1, sizeof *w);
    int rc;

    if (!w)
        return gbose__no_memory(err);
    rc = begin(w, spec, joined, seed, repetition, err);
    if (!rc) {
        w->contexts = gbose__alloc(w->max_arms * w->dim, sizeof *w->contexts);
        w->mean = gbose__alloc(w->max_arms, sizeof *w->mean);
        if (!w->contexts || !w->mean)
            rc = gbose__no_memory(err);
    }
    if (rc) {
        gbose__world_free(w);
        return rc;
    }
    *out = w;
    return GBOSE_OK;
}

int gbose__world_new(struct gbose__world **out, const char *spec, uint64_t seed, uint32_t repetition,
                     gbose_error *err)
{
    return make(out, spec, NULL, seed, repetition, err);
}

int gbose__world_join(struct gbose__world **out, const gbose_study_world *joined, uint64_t seed,
                      uint32_t repetition, gbose_error *err)
{
    return make(out, NULL, joined, seed, repetition, err);
}

void gbose__world_free(struct gbose__world *w)
{
    if (!w)
        return;
    end(w);
    gbose__free(w);
}

int gbose__world_canonical(char *buf, const char *spec, gbose_error *err)
{
    struct gbose__world w;
    int rc = begin(&w, spec, NULL, 0, 0, err);

    if (!rc) {
        rc = gbose__spec_write(buf, &w.kind->info, w.value, NULL);
        if (rc)
            gbose__fail(err, rc, "%s", gbose_strerror(rc));
    }
    end(&w);
    return rc;
}

/* ---- rounds ---- */

int gbose__world_next(struct gbose__world *w)
{
    w->round++;
    w->n_arms = w->max_arms;
    w->shift = w->noise = 0;
    w->toss = -1;
    memset(w->contexts, 0, w->max_arms * w->dim * sizeof *w->contexts);
    w->kind->next(w);
    return w->err.code;
}

double gbose__world_best(const struct gbose__world *w)
{
    double best = w->mean[0];

    for (size_t i = 1; i < w->n_arms; i++)
        if (w->mean[i] > best)
            best = w->mean[i];
    return best;
}

double gbose__world_play(struct gbose__world *w, size_t arm, double *regret)
{
    double reward = w->mean[arm] + w->shift + w->noise;

    if (w->toss >= 0)
        reward = w->toss < reward;
    if (reward < w->low)
        reward = w->low;
    if (reward > w->high)
        reward = w->high;
    if (regret)
        *regret = gbose__world_best(w) - w->mean[arm];
    if (w->kind->observe)
        w->kind->observe(w, arm, reward);
    return reward;
}

void gbose__world_rng(const struct gbose__world *w, struct gbose__rng *rng, enum gbose__world_purpose purpose)
{
    gbose__rng_init(rng, w->seed, w->repetition, (unsigned)purpose, w->round);
}

const struct gbose__value *gbose__world_option(const struct gbose__world *w, const char *name)
{
    return &w->value[gbose__option_index(&w->kind->info, name)];
}

/* ---- gbose_world.h ---- */

int gbose_world_new(gbose_world **out, const char *spec, uint64_t seed, uint32_t repetition, gbose_error *err)
{
    if (!out || !spec)
        return gbose__fail_plainly(err, GBOSE_EINVAL);
    gbose__fail(err, GBOSE_OK, "%s", "");
    return gbose__world_new(out, spec, seed, repetition, err);
}

void gbose_world_free(gbose_world *w)
{
    gbose__world_free(w);
}

int gbose_world_next(gbose_world *w, gbose_world_round *out)
{
    if (!w || !out)
        return GBOSE_EINVAL;
    gbose__world_next(w);
    *out = (gbose_world_round){w->n_arms, w->contexts, w->mean, w->shift, w->noise};
    return GBOSE_OK;
}

int gbose_world_play(gbose_world *w, size_t arm, double *reward, double *regret)
{
    if (!w || !reward || !w->round || arm >= w->n_arms)
        return GBOSE_EINVAL;
    *reward = gbose__world_play(w, arm, regret);
    return GBOSE_OK;
}

size_t gbose_world_dim(const gbose_world *w)
{
    return w->dim;
}

size_t gbose_world_max_arms(const gbose_world *w)
{
    return w->max_arms;
}

uint64_t gbose_world_rounds(const gbose_world *w)
{
    return w->round;
}

const gbose_info *gbose_world_at(size_t i)
{
    return gbose__world_at(i);
}
