/* Deciding from a learner that does not change, and learning closed events. */
#include "serve/service.h"

#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/rng.h"

/* Random numbers for drawing from a capped distribution: a purpose that no learner and no world uses. */
#define PURPOSE 48
#define SEED 0x67626f7365

/* Mix with the uniform distribution just so much that no arm has more than `cap`. Returns 1 if something
 * changed. */
static int apply_cap(double *pmf, size_t n, double cap)
{
    double largest = 0, uniform = 1 / (double)n, share;

    for (size_t i = 0; i < n; i++)
        largest = pmf[i] > largest ? pmf[i] : largest;
    if (largest <= cap || n == 1)
        return 0;
    share = cap > uniform ? (largest - cap) / (largest - uniform) : 1;
    for (size_t i = 0; i < n; i++)
        pmf[i] = (1 - share) * pmf[i] + share * uniform;
    return 1;
}

static size_t draw(const double *pmf, size_t n, uint32_t stream, uint64_t number)
{
    struct gbose__rng rng;
    double u, sum = 0;
    size_t last = 0;

    gbose__rng_init(&rng, SEED, stream, PURPOSE, number);
    u = gbose__rng_uniform(&rng);
    for (size_t i = 0; i < n; i++) {
        if (pmf[i] > 0)
            last = i;
        sum += pmf[i];
        if (u < sum)
            return i;
    }
    return last;
}

int gbose__model_decide(const struct gbose__model *model, struct gbose__desk *desk,
                        const struct gbose__ask *ask, double cap, uint32_t stream, uint64_t number,
                        double *pmf, size_t *arm)
{
    size_t dim = model->encoder->dim, left = 0, at = 0;
    gbose_choices out = {.arm = arm, .pmf = pmf}; /* no ticket: one is written when the outcome is learned */
    int rc;

    if (ask->excluded) /* close the ranks, in place: what was asked is read again from the request when it is needed */
        for (size_t i = 0; i < ask->n_arms; i++)
            if (!ask->excluded[i])
                memmove(ask->rows + dim * left++, ask->rows + dim * i, dim * sizeof *ask->rows);
    rc = gbose_decide_many(model->g, desk->scratch, &out, stream, number, ask->rows, ask->round, 1,
                           ask->n_left);
    if (rc)
        return rc;
    if (apply_cap(pmf, ask->n_left, cap))
        *arm = draw(pmf, ask->n_left, stream, number);
    if (!ask->excluded)
        return GBOSE_OK;
    at = ask->n_left;
    left = *arm;
    for (size_t i = ask->n_arms; i-- > 0;) { /* open them again, from behind */
        if (ask->excluded[i]) {
            pmf[i] = 0;
        } else {
            pmf[i] = pmf[--at];
            if (at == left)
                *arm = i;
        }
    }
    return GBOSE_OK;
}

int gbose__model_learn(gbose *g, const struct gbose__encoder *encoder, struct gbose__desk *desk,
                       const struct gbose__case *it)
{
    struct gbose__field fields[GBOSE__IN_FIELDS];
    struct gbose__problem problem = {0};
    struct gbose__arena arena = {0};
    struct gbose__ask ask;
    const char *message;
    const void *ticket;
    size_t at, size;
    int rc = GBOSE_EINVAL;

    if (it->outcome->why == GBOSE__UNUSED)
        return GBOSE_OK;
    memcpy(fields, gbose__ask_fields, sizeof fields);
    if (!gbose__document_read(&desk->stored, it->event->body, it->event->body_size, &message, &at) &&
        !gbose__fields_read(&desk->stored, 0, fields, GBOSE__IN_FIELDS, "", &problem) &&
        !gbose__ask_read(&ask, encoder, desk, &desk->stored, fields, &arena, 0, "", &problem) &&
        ask.n_arms == it->event->n_arms) {
        gbose_input in = {.contexts = ask.rows, .n_arms = ask.n_arms, .round = ask.round};

        rc = gbose_ticket_for(g, desk->scratch, &ticket, &size, &in, it->event->pmf, it->event->arm);
        if (!rc)
            rc = gbose_learn(g, ticket, size, it->outcome->reward);
    }
    gbose__arena_clear(&arena);
    return rc;
}

void *gbose__model_save(const gbose *g, size_t *size)
{
    void *bytes;

    if (gbose_save(g, NULL, 0, size))
        return NULL;
    bytes = malloc(*size);
    if (bytes && gbose_save(g, bytes, *size, size)) {
        free(bytes);
        return NULL;
    }
    return bytes;
}

struct gbose__model *gbose__model_of(gbose *g, struct gbose__encoder *encoder, uint32_t generation,
                                     uint64_t learned)
{
    struct gbose__model *model = calloc(1, sizeof *model);

    if (!model) {
        gbose_free(g);
        return NULL;
    }
    model->g = g;
    atomic_store(&model->references, 1);
    atomic_fetch_add(&encoder->references, 1);
    model->encoder = encoder;
    model->generation = generation;
    model->learned = learned;
    return model;
}

struct gbose__model *gbose__model_new(const gbose *g, struct gbose__encoder *encoder, uint32_t generation,
                                      uint64_t learned)
{
    size_t size;
    void *bytes = gbose__model_save(g, &size);
    gbose *copy;
    int rc = bytes ? gbose_load(&copy, bytes, size, NULL) : GBOSE_ENOMEM;

    free(bytes);
    return rc ? NULL : gbose__model_of(copy, encoder, generation, learned);
}

void gbose__model_release(struct gbose__model *model)
{
    if (!model || atomic_fetch_sub(&model->references, 1) != 1)
        return;
    gbose__encoder_release(model->encoder);
    gbose_free(model->g);
    free(model);
}

struct gbose__desk *gbose__desk_new(struct gbose__service *service)
{
    struct gbose__desk *desk = calloc(1, sizeof *desk);
    gbose_error err;

    if (!desk)
        return NULL;
    desk->service = service;
    if (gbose_scratch_new(&desk->scratch) ||
        (service && service->store->view(service->store, &desk->view, &err))) {
        gbose__desk_free(desk);
        return NULL;
    }
    return desk;
}

void gbose__desk_free(struct gbose__desk *desk)
{
    if (!desk)
        return;
    if (desk->view)
        desk->view->close(desk->view);
    gbose_scratch_free(desk->scratch);
    gbose__document_clear(&desk->document);
    gbose__document_clear(&desk->stored);
    gbose__text_clear(&desk->text);
    gbose__arena_clear(&desk->spare);
    free(desk->rows);
    free(desk->features);
    free(desk->lists);
    free(desk);
}
