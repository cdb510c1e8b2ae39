/* A decision: prepare the input, decide, apply the floor, draw an arm, explain it. */
#include "learners/learner.h"

#include <math.h>
#include <string.h>

#include "core/kernels.h"
#include "core/memory.h"
#include "learners/gauge.h"

/* ---- memory ---- */

int gbose_scratch_new(gbose_scratch **out)
{
    gbose_scratch *scratch;

    if (!out)
        return GBOSE_EINVAL;
    scratch = gbose__alloc(1, sizeof *scratch);
    if (!scratch)
        return GBOSE_ENOMEM;
    *out = scratch;
    return GBOSE_OK;
}

void gbose__round_clear(struct gbose_scratch *scratch)
{
    gbose__free(scratch->in.context);
    gbose__free(scratch->in.score);
    gbose__free(scratch->round.matrix);
    gbose__free(scratch->round.live);
    gbose__ball_clear(&scratch->round.ball);
    gbose__free(scratch->bytes);
}

void gbose_scratch_free(gbose_scratch *scratch)
{
    if (!scratch)
        return;
    gbose__round_clear(scratch);
    gbose__free(scratch);
}

/* Doubles in the matrix: n rows, and those of samples, or the arms in tiles. */
static size_t matrix_size(size_t n, size_t sample_rows, size_t stride)
{
    size_t rows = (n + sample_rows) * stride, tiles = gbose__arms_tiles(n, stride) / 2;

    return rows > tiles ? rows : tiles;
}

/* Names for the parts of the blocks. */
static void divide(struct gbose_scratch *scratch, size_t n, size_t image_rows)
{
    struct gbose__input *in = &scratch->in;
    struct gbose__round *round = &scratch->round;
    size_t stride = in->stride;

    round->image = in->context + n * stride;
    round->arms.centre = round->image + image_rows * stride;
    scratch->ticket.centre = round->arms.centre + stride;
    scratch->ticket.x = scratch->ticket.centre + stride;
    in->own_up = scratch->ticket.x + stride;
    in->least = in->own_up + stride;
    in->most = in->least + stride;
    in->mean = in->most + stride;
    scratch->ticket.words = (uint64_t *)(in->mean + stride);

    in->other_score = in->score + n;
    round->pmf = in->other_score + n;
    round->narrowed = round->pmf + n;
    round->first = round->narrowed + n;
    round->second = round->first + n;
    round->lead = round->second + n;
    round->arms.radius = round->lead + n;
    round->arms.square = round->arms.radius + n;

    round->arms.order = round->live + n;
    round->arms.tiles = (float *)round->matrix;
}

/* What is there already stays in use until all of the new memory is at hand. */
int gbose__round_resize(const gbose *g, struct gbose_scratch *scratch, size_t n)
{
    struct gbose_scratch next;
    size_t stride = g->fit[0].stride, row = stride * sizeof(double),
           sample_rows = g->kind->samples ? GBOSE__BATCH : 0;

    if (n > SIZE_MAX / 64 / row)
        return GBOSE_ESIZE;
    memset(&next, 0, sizeof next);
    next.shape = g->fingerprint;
    next.capacity = n;
    next.in.stride = stride;
    next.ticket.dim = g->dim;
    next.bytes_capacity = 8 * gbose__ticket_words(g, g->max_terms + n * g->max_terms_per_arm);
    next.in.context = gbose__alloc(2 * n + sample_rows + 3 + (g->gauge ? 5 : 0), row);
    next.in.score = gbose__alloc(9 * n, sizeof(double));
    next.round.matrix = gbose__alloc(matrix_size(n, sample_rows, stride), sizeof(double));
    next.round.live = gbose__alloc(2 * n, sizeof(size_t));
    gbose__ball_init(&next.round.ball, g->kind->ball ? n : 0, g->fit[0].dim);
    next.bytes = gbose__alloc(next.bytes_capacity, 1);
    if (!next.in.context || !next.in.score || !next.round.matrix || !next.round.live ||
        !next.round.ball.memory || !next.bytes) {
        gbose__round_clear(&next);
        return GBOSE_ENOMEM;
    }
    divide(&next, n, n + sample_rows);
    gbose__round_clear(scratch);
    *scratch = next;
    return GBOSE_OK;
}

/* ---- the steps of a round ---- */

/* The last feature of every arm, which stands for the intercept. */
static void fill_constant(const gbose *g, const struct gbose__input *in, double value)
{
    for (size_t i = 0; i < in->n; i++)
        in->context[i * in->stride + g->dim] = value;
}

static inline int prepare(const gbose *g, struct gbose_scratch *scratch, const gbose_input *given)
{
    const struct gbose__ridge *fit = &g->fit[0];
    struct gbose__input *in = &scratch->in;
    size_t n = given->n_arms;
    int constant = fit->dim > g->dim;

    in->n = n;
    in->round = NULL;
    if (g->round_features) {
        in->round = given->round;
        if (!gbose__kernels->within(given->round, g->round_features, GBOSE_MAX_INPUT))
            return GBOSE_ENUMERIC;
    }
    if (!gbose__kernels->take(in->context, given->contexts, n, g->dim, in->stride, GBOSE_MAX_INPUT,
                              g->gauge ? g->gauge->down : NULL))
        return GBOSE_ENUMERIC;
    if (g->gauge)
        gbose__gauge_meet(g->gauge, in);
    if (constant) /* the same for all arms: in a score it would only cost digits of the leads */
        fill_constant(g, in, 0);
    gbose__kernels->dots(in->score, in->context, fit->mu, n, in->stride);
    if (constant)
        fill_constant(g, in, 1);
    if (!gbose__kernels->within(in->score, n, GBOSE__MAX_SCORE))
        return GBOSE_ENUMERIC;
    return g->kind->prepare ? g->kind->prepare(g, in) : GBOSE_OK;
}

int gbose__round_prepare(const gbose *g, struct gbose_scratch *scratch, const gbose_input *given)
{
    return prepare(g, scratch, given);
}

void gbose__round_images(const gbose *g, const struct gbose__input *in, struct gbose__round *round)
{
    gbose__ridge_apply(&g->fit[0], round->image, in->context, NULL, in->n);
}

void gbose__round_rng(const gbose *g, const struct gbose__round *round, struct gbose__rng *rng,
                      unsigned purpose)
{
    gbose__rng_init(rng, g->seed, round->stream, purpose, round->number);
}

int gbose__round_is_distribution(const double *pmf, size_t n)
{
    double sum = 0;
    int fine = 1;

    for (size_t i = 0; i < n; i++) {
        fine &= pmf[i] >= 0;
        sum += pmf[i];
    }
    return fine && fabs(sum - 1) < 1e-9;
}

/* Check the probabilities as gbose__round_is_distribution() does, and find an arm that is certain (n:
 * there is none). A sum that was rounded up may have made it a little more than certain. */
static inline int settle(double *pmf, size_t n, size_t *certain)
{
    double sum = 0, least = 0;

    *certain = n;
    for (size_t i = 0; i < n; i++) {
        if (pmf[i] >= 1) {
            *certain = i;
            if (pmf[i] < 1 + 1e-9)
                pmf[i] = 1;
        }
        least = pmf[i] < least ? pmf[i] : least;
        sum += pmf[i]; /* a NaN shows here */
    }
    return !(least < 0) && fabs(sum - 1) < 1e-9;
}

/* The one place where arms are drawn. An arm of probability zero is never drawn, whatever rounding does. */
static size_t draw(const gbose *g, const struct gbose__round *round, size_t n)
{
    struct gbose__rng rng;
    size_t arm = 0;
    double u;

    gbose__round_rng(g, round, &rng, GBOSE__DRAW);
    u = gbose__rng_uniform(&rng);
    for (size_t i = 0; i < n; i++) {
        if (!(round->pmf[i] > 0))
            continue;
        arm = i;
        u -= round->pmf[i];
        if (u < 0)
            break;
    }
    return arm;
}

int gbose__round_decide(const gbose *g, struct gbose_scratch *scratch, size_t *arm, const gbose_input *in,
                        uint32_t stream, uint64_t number)
{
    struct gbose__round *round = &scratch->round;
    size_t n = in->n_arms, certain;
    int rc = prepare(g, scratch, in);

    if (rc)
        return rc;
    round->stream = stream;
    round->number = number;
    round->draws = 0;
    g->kind->decide(g, &scratch->in, round);
    for (size_t i = 0; i < n && g->floor > 0; i++)
        round->pmf[i] = (1 - g->floor) * round->pmf[i] + g->floor / (double)n;
    if (!settle(round->pmf, n, &certain))
        return GBOSE_ENUMERIC;
    *arm = certain < n ? certain : draw(g, round, n); /* a certain arm needs no random number */
    return GBOSE_OK;
}

int gbose__round_explain(const gbose *g, struct gbose_scratch *scratch, size_t arm)
{
    struct gbose__round *round = &scratch->round;
    const double *narrowed = round->pmf;

    if (g->kind->narrow && !(g->floor > 0))
        narrowed = g->kind->narrow(g, &scratch->in, round, arm);
    return gbose__ticket_write(g, scratch, round->stream, round->number, round->pmf, narrowed, arm);
}

/* ---- the calls ---- */

int gbose_decide_at(const gbose *g, gbose_scratch *scratch, gbose_decision *out, const gbose_input *in,
                    uint32_t stream, uint64_t number)
{
    size_t arm;
    int rc;

    if (!g || !scratch || !out || !in || !in->contexts || !in->n_arms || (g->round_features && !in->round) ||
        number >= GBOSE__MAX_DECISIONS)
        return GBOSE_EINVAL;
    if (in->n_arms > SIZE_MAX / sizeof(double) / g->dim)
        return GBOSE_ESIZE;
    rc = gbose__round_reserve(g, scratch,
                              in->n_arms); /* before contexts are read: an absurd n_arms ends here */
    if (!rc)
        rc = gbose__round_decide(g, scratch, &arm, in, stream, number);
    if (!rc)
        rc = gbose__round_explain(g, scratch, arm);
    if (rc)
        return rc;
    out->arm = arm;
    out->probability = scratch->round.pmf[arm];
    out->n_arms = in->n_arms;
    out->pmf = scratch->round.pmf;
    out->draws = scratch->round.draws;
    out->ticket = scratch->bytes;
    out->ticket_size = scratch->ticket.writer.size;
    return GBOSE_OK;
}

int gbose_decide_in(gbose *g, gbose_decision *out, const double *contexts, size_t n_arms, const double *round)
{
    gbose_input in = {contexts, n_arms, round};
    int rc = g ? gbose_decide_at(g, &g->scratch, out, &in, g->stream, g->decisions) : GBOSE_EINVAL;

    if (!rc)
        g->decisions++;
    return rc;
}

int gbose_decide(gbose *g, gbose_decision *out, const double *contexts, size_t n_arms)
{
    return gbose_decide_in(g, out, contexts, n_arms, NULL);
}
