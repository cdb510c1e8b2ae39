/* Tickets: what a decision will teach, as bytes; and learning from them.
 *
 * A ticket is 8-byte little-endian words: the header, the terms (regression, w, c, offset, then x of dim numbers), the
 * note of a learner that has one, and a checksum of all words before it. The last byte of its first word is the version
 * of the format. */
#include "learners/learner.h"

#include <math.h>
#include <string.h>

#include "core/kernels.h"
#include "learners/lineage.h"

#define MAGIC UINT64_C(0x004b5445534f4247) /* the bytes "GBOSETK"; the eighth is the version */
#define VERSION UINT64_C(0x32)             /* the digit 2 */
#define VERSION_SHIFT 56

enum { HEADER_WORDS = 10, TERM_WORDS = 4 }; /* x aside */

/* ---- writing ---- */

size_t gbose__ticket_words(const gbose *g, size_t terms)
{
    return HEADER_WORDS + terms * (TERM_WORDS + g->dim) + g->note_words + 1;
}

size_t gbose_ticket_room(const gbose *g, size_t n_arms)
{
    return n_arms < SIZE_MAX / 64 / (g->dim + TERM_WORDS)
               ? 8 * gbose__ticket_words(g, g->max_terms + n_arms * g->max_terms_per_arm)
               : 0;
}

void gbose__ticket_term(struct gbose__ticket *to, size_t fit, double w, double c, double offset,
                        const double *x)
{
    gbose__put_u64(&to->writer, fit);
    gbose__put_double(&to->writer, w);
    gbose__put_double(&to->writer, c);
    gbose__put_double(&to->writer, offset);
    gbose__put_doubles(&to->writer, x, to->dim);
    to->n_terms++;
}

int gbose__ticket_write(const gbose *g, struct gbose_scratch *scratch, uint32_t stream, uint64_t number,
                        const double *pmf, const double *narrowed, size_t arm)
{
    struct gbose__ticket *to = &scratch->ticket;
    struct gbose__writer *w = &to->writer, count;

    *w = (struct gbose__writer){scratch->bytes, 0, scratch->bytes_capacity, 0};
    to->n_terms = 0;
    gbose__put_u64(w, MAGIC | VERSION << VERSION_SHIFT);
    gbose__put_u64(w, g->fingerprint);
    gbose__put_u64(w, g->seed);
    gbose__put_u64(w, stream);
    gbose__put_u64(w, number);
    gbose__put_u64(w, g->dim);
    gbose__put_u64(w, scratch->in.n);
    gbose__put_u64(w, arm);
    gbose__put_double(w, pmf[arm]);
    count = *w;
    gbose__put_u64(w, 0);
    g->kind->explain(g, &scratch->in, narrowed, arm, to);
    if (w->bad || w->size + 8 != 8 * gbose__ticket_words(g, (size_t)to->n_terms))
        return GBOSE_EBUFFER;
    gbose__put_u64(&count, to->n_terms);
    gbose__put_u64(w, gbose__checksum(w->at, w->size));
    return w->bad ? GBOSE_EBUFFER : GBOSE_OK;
}

/* ---- reading ---- */

/* What a ticket says, and where its terms begin; checked for damage. GBOSE_OK, GBOSE_EVERSION, GBOSE_ETICKET. */
static int open_ticket(gbose_ticket_info *info, struct gbose__lesson *lesson, uint64_t *checksum,
                       const void *ticket, size_t size)
{
    struct gbose__reader r = {ticket, size, 0}, tail = {NULL, 8, 0};
    uint64_t magic, stream, dim, n_arms, arm;

    if (size < 8)
        return GBOSE_ETICKET;
    magic = gbose__get_u64(&r);
    if ((magic ^ MAGIC) << (64 - VERSION_SHIFT))
        return GBOSE_ETICKET;
    if (magic >> VERSION_SHIFT != VERSION)
        return GBOSE_EVERSION;
    if (size % 8 || size < 8 * (HEADER_WORDS + 1))
        return GBOSE_ETICKET;
    tail.at = (const unsigned char *)ticket + size - 8;
    *checksum = gbose__get_u64(&tail);
    if (*checksum != gbose__checksum(ticket, size - 8))
        return GBOSE_ETICKET;
    info->fingerprint = gbose__get_u64(&r);
    gbose__get_u64(&r); /* the seed: it tells apart the tickets of learners that are otherwise equal */
    stream = gbose__get_u64(&r);
    info->number = gbose__get_u64(&r);
    dim = gbose__get_u64(&r);
    n_arms = gbose__get_u64(&r);
    arm = gbose__get_u64(&r);
    info->probability = gbose__get_double(&r);
    lesson->n_terms = gbose__get_u64(&r);
    if (stream > UINT32_MAX || !dim || dim > SIZE_MAX / 64 || n_arms > SIZE_MAX || arm >= n_arms ||
        !(info->probability > 0) || !(info->probability <= 1))
        return GBOSE_ETICKET;
    info->stream = (uint32_t)stream;
    info->dim = (size_t)dim;
    info->n_arms = (size_t)n_arms;
    info->arm = (size_t)arm;
    r.left -= 8; /* the checksum */
    lesson->terms = r;
    return GBOSE_OK;
}

int gbose_ticket_read(gbose_ticket_info *out, const void *ticket, size_t size)
{
    gbose_ticket_info info;
    struct gbose__lesson lesson;
    uint64_t checksum;
    int rc;

    if (!out || !ticket)
        return GBOSE_EINVAL;
    rc = open_ticket(&info, &lesson, &checksum, ticket, size);
    if (!rc)
        *out = info;
    return rc;
}

int gbose__ticket_within(struct gbose__reader *r, size_t n, double most)
{
    double part[64];
    int fine = 1;

    for (size_t done = 0; done < n && fine; done += sizeof part / sizeof *part) {
        size_t count = n - done < sizeof part / sizeof *part ? n - done : sizeof part / sizeof *part;

        gbose__get_doubles(r, part, count);
        fine = gbose__kernels->within(part, count, most);
    }
    return fine && !r->bad;
}

/* The terms, before any of them is believed. */
static int terms_are_sane(const gbose *g, struct gbose__reader r, uint64_t terms)
{
    int fine = 1;

    while (terms-- && fine) {
        uint64_t fit = gbose__get_u64(&r);
        double w = gbose__get_double(&r), c = gbose__get_double(&r), offset = gbose__get_double(&r);

        /* without weight it would move the estimate each time as if there were no evidence yet, without bound */
        fine = fit < g->n_fits && w >= 0 && w <= GBOSE__MAX_WEIGHT && fabs(c) <= GBOSE__MAX_WEIGHT &&
               (w > 0 || c == 0) && fabs(offset) <= GBOSE__MAX_OFFSET &&
               gbose__ticket_within(&r, g->dim, GBOSE__MAX_FEATURE);
    }
    return fine && !r.bad;
}

/* Every reason there is not to learn from a ticket; nothing is changed. */
static int examine(const gbose *g, struct gbose__lesson *lesson, uint64_t *checksum, const void *ticket,
                   size_t size, double reward)
{
    gbose_ticket_info info;
    int rc = open_ticket(&info, lesson, checksum, ticket, size);
    size_t term_size = 8 * (TERM_WORDS + g->dim), terms_size;

    if (rc)
        return rc;
    if (info.fingerprint != g->fingerprint || info.dim != g->dim)
        return GBOSE_EFOREIGN;
    if (lesson->n_terms > lesson->terms.left / term_size)
        return GBOSE_ETICKET;
    terms_size = (size_t)lesson->n_terms * term_size;
    if (lesson->terms.left != terms_size + 8 * g->note_words)
        return GBOSE_ETICKET;
    lesson->note = (struct gbose__reader){lesson->terms.at + terms_size, 8 * g->note_words, 0};
    if (!terms_are_sane(g, lesson->terms, lesson->n_terms))
        return GBOSE_ETICKET;
    if (g->kind->note_is_sane && !g->kind->note_is_sane(g, lesson->note))
        return GBOSE_ETICKET;
    return fabs(reward) <= GBOSE_MAX_INPUT ? GBOSE_OK : GBOSE_ENUMERIC;
}

/* ---- learning ---- */

void gbose__ticket_apply(gbose *g, const struct gbose__lesson *lesson, double reward)
{
    struct gbose__reader r = lesson->terms;

    for (uint64_t i = 0; i < lesson->n_terms; i++) {
        struct gbose__ridge *fit = &g->fit[gbose__get_u64(&r)];
        double w = gbose__get_double(&r), c = gbose__get_double(&r), offset = gbose__get_double(&r);

        gbose__get_doubles(&r, fit->x, g->dim);
        if (fit->dim > g->dim)
            fit->x[g->dim] = 1;
        gbose__ridge_term(fit, fit->x, w, c * (reward - offset));
    }
}

int gbose_learn(gbose *g, const void *ticket, size_t ticket_size, double reward)
{
    struct gbose__lesson lesson;
    uint64_t checksum, reward_bits;
    int rc;

    if (!g || !ticket)
        return GBOSE_EINVAL;
    rc = examine(g, &lesson, &checksum, ticket, ticket_size, reward);
    if (rc)
        return rc;
    if (g->kind->learn) {
        g->kind->learn(g, &lesson, reward);
    } else {
        for (size_t i = 0; i < g->n_fits; i++)
            gbose__ridge_begin(&g->fit[i]);
        gbose__ticket_apply(g, &lesson, reward);
    }
    g->learned++;
    memcpy(&reward_bits, &reward, sizeof reward_bits);
    gbose__lineage_learned(g->lineage, gbose__mix(checksum, reward_bits));
    return GBOSE_OK;
}

/* ---- decisions of others ---- */

int gbose_ticket_for(const gbose *g, gbose_scratch *scratch, const void **ticket, size_t *size,
                     const gbose_input *in, const double *pmf, size_t arm)
{
    int rc;

    if (!g || !scratch || !ticket || !size || !in || !in->contexts || !in->n_arms ||
        (g->round_features && !in->round) || !pmf || arm >= in->n_arms)
        return GBOSE_EINVAL;
    if (in->n_arms > SIZE_MAX / sizeof(double) / g->dim)
        return GBOSE_ESIZE;
    rc = gbose__round_reserve(g, scratch, in->n_arms);
    if (rc)
        return rc;
    if (!gbose__round_is_distribution(pmf, in->n_arms) || !(pmf[arm] > 0 && pmf[arm] <= 1))
        return GBOSE_EPMF;
    rc = gbose__round_prepare(g, scratch, in);
    if (!rc)
        rc = gbose__ticket_write(g, scratch, 0, GBOSE_LOGGED, pmf, pmf, arm);
    if (rc)
        return rc;
    *ticket = scratch->bytes;
    *size = scratch->ticket.writer.size;
    return GBOSE_OK;
}
