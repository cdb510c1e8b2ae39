/* Tickets: what a decision will teach, as bytes; and learning from them.
 *
 * A ticket is 8-byte little-endian words: the header, the terms (regression, w, c, offset, then x of dim
 * numbers), the note of a learner that has one, what the round says of the features' units if the learner has
 * units (gauge.h), and a checksum of all words before it. Features are in the caller's units. The last byte of
 * its first word is the version of the format, which is another one for tickets with a note. */
#include "learners/learner.h"

#include <math.h>
#include <string.h>

#include "core/kernels.h"
#include "learners/gauge.h"
#include "learners/lineage.h"

#define MAGIC UINT64_C(0x004b5445534f4247) /* the bytes "GBOSETK"; the eighth is the version */
#define VERSION UINT64_C(0x32)             /* the digit 2 */
#define VERSION_NOTE UINT64_C(0x37)        /* 7: with a note. No flipped bit makes one of the other */
#define VERSION_SHIFT 56

/* The words of the header, and of a term before its x. */
enum { FIRST, FINGERPRINT, SEED, STREAM, NUMBER, DIM, ARMS, ARM, PROBABILITY, TERMS, HEADER_WORDS };
enum { TERM_FIT, TERM_W, TERM_C, TERM_OFFSET, TERM_WORDS };

static uint64_t word_of(double value)
{
    uint64_t word;

    memcpy(&word, &value, sizeof word);
    return word;
}

static double number_of(uint64_t word)
{
    double value;

    memcpy(&value, &word, sizeof value);
    return value;
}

static uint64_t version_of(const gbose *g)
{
    return g->note_words ? VERSION_NOTE : VERSION;
}

static size_t units_words(const gbose *g)
{
    return g->gauge ? gbose__gauge_words(g->dim) : 0;
}

/* ---- writing ---- */

size_t gbose__ticket_words(const gbose *g, size_t terms)
{
    return HEADER_WORDS + terms * (TERM_WORDS + g->dim) + g->note_words + units_words(g) + 1;
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
    const uint64_t words[TERM_WORDS] = {fit, word_of(w), word_of(c), word_of(offset)};

    gbose__put_words(&to->writer, words, TERM_WORDS);
    gbose__put_doubles(&to->writer, x, to->dim);
    to->n_terms++;
}

int gbose__ticket_write(const gbose *g, struct gbose_scratch *scratch, uint32_t stream, uint64_t number,
                        const double *pmf, const double *narrowed, size_t arm)
{
    struct gbose__ticket *to = &scratch->ticket;
    struct gbose__writer *w = &to->writer, again;
    const struct gbose__input *in = &scratch->in;
    uint64_t header[HEADER_WORDS];
    int says_units = g->gauge && gbose__gauge_is_to_say(in, g->learned);
    double scatter = 0;

    header[FIRST] = MAGIC | version_of(g) << VERSION_SHIFT;
    header[FINGERPRINT] = g->fingerprint;
    header[SEED] = g->seed; /* it tells apart the tickets of learners that are otherwise equal */
    header[STREAM] = stream;
    header[NUMBER] = number;
    header[DIM] = g->dim;
    header[ARMS] = in->n;
    header[ARM] = arm;
    header[PROBABILITY] = word_of(pmf[arm]);
    *w = again = (struct gbose__writer){scratch->bytes, 0, scratch->bytes_capacity, 0};
    gbose__writer_next(w, sizeof header);
    to->n_terms = 0;
    to->has_columns = says_units;
    if (says_units)
        scatter = gbose__kernels->columns(in->least, in->most, in->mean, in->context, in->n, in->stride);
    else if (g->totals)
        gbose__kernels->means(in->mean, in->context, in->n, in->stride);
    g->kind->explain(g, in, narrowed, arm, to);
    if (says_units)
        gbose__gauge_say(g->gauge, in, scatter, g->learned ? g->totals : NULL, (double)g->learned, w);
    else if (g->gauge)
        gbose__gauge_say_nothing(g->dim, w);
    header[TERMS] = to->n_terms;
    gbose__put_words(&again, header, HEADER_WORDS);
    gbose__put_u64(w, gbose__checksum(w->at, w->size));
    return w->bad || w->size != 8 * gbose__ticket_words(g, (size_t)to->n_terms) ? GBOSE_EBUFFER : GBOSE_OK;
}

/* ---- reading ---- */

/* What a ticket says, and where its terms begin; checked for damage. GBOSE_OK, GBOSE_EVERSION,
 * GBOSE_ETICKET. */
static int open_ticket(gbose_ticket_info *info, struct gbose__lesson *lesson, uint64_t *checksum,
                       const void *ticket, size_t size)
{
    struct gbose__reader r = {ticket, size, 0}, tail = {NULL, 8, 0};
    uint64_t header[HEADER_WORDS], magic = 0;

    if (size >= 8)
        memcpy(&magic, ticket, 8);
    magic = gbose__little_endian(magic);
    if ((magic ^ MAGIC) << (64 - VERSION_SHIFT))
        return GBOSE_ETICKET;
    lesson->version = magic >> VERSION_SHIFT;
    if (lesson->version != VERSION && lesson->version != VERSION_NOTE)
        return GBOSE_EVERSION;
    if (size % 8 || size < 8 * (HEADER_WORDS + 1))
        return GBOSE_ETICKET;
    tail.at = (const unsigned char *)ticket + size - 8;
    *checksum = gbose__get_u64(&tail);
    if (*checksum != gbose__checksum(ticket, size - 8))
        return GBOSE_ETICKET;
    gbose__get_words(&r, header, HEADER_WORDS);
    info->fingerprint = header[FINGERPRINT];
    info->number = header[NUMBER];
    info->stream = (uint32_t)header[STREAM];
    info->dim = (size_t)header[DIM];
    info->n_arms = (size_t)header[ARMS];
    info->arm = (size_t)header[ARM];
    info->probability = number_of(header[PROBABILITY]);
    if (header[STREAM] > UINT32_MAX || !header[DIM] || header[DIM] > SIZE_MAX / 64 ||
        header[ARMS] > SIZE_MAX || header[ARM] >= header[ARMS] ||
        !(info->probability > 0 && info->probability <= 1))
        return GBOSE_ETICKET;
    lesson->number = header[NUMBER];
    lesson->n_terms = header[TERMS];
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
        uint64_t word[TERM_WORDS];
        double w, c, offset;

        gbose__get_words(&r, word, TERM_WORDS);
        w = number_of(word[TERM_W]);
        c = number_of(word[TERM_C]);
        offset = number_of(word[TERM_OFFSET]);
        /* without weight it would move the estimate each time as if there were no evidence yet, without
         * bound */
        fine = word[TERM_FIT] < g->n_fits && w >= 0 && w <= GBOSE__MAX_WEIGHT &&
               fabs(c) <= GBOSE__MAX_WEIGHT && (w > 0 || c == 0) && fabs(offset) <= GBOSE__MAX_OFFSET &&
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
    if (lesson->version != version_of(g))
        return GBOSE_EVERSION;
    if (lesson->n_terms > lesson->terms.left / term_size)
        return GBOSE_ETICKET;
    terms_size = (size_t)lesson->n_terms * term_size;
    if (lesson->terms.left != terms_size + 8 * (g->note_words + units_words(g)))
        return GBOSE_ETICKET;
    lesson->note = (struct gbose__reader){lesson->terms.at + terms_size, 8 * g->note_words, 0};
    lesson->gauge = (struct gbose__reader){lesson->note.at + 8 * g->note_words, 8 * units_words(g), 0};
    if (!terms_are_sane(g, lesson->terms, lesson->n_terms))
        return GBOSE_ETICKET;
    if (g->kind->note_is_sane && !g->kind->note_is_sane(g, lesson->note))
        return GBOSE_ETICKET;
    if (g->gauge && !gbose__gauge_are_sane(lesson->gauge, g->dim))
        return GBOSE_ETICKET;
    return fabs(reward) <= GBOSE_MAX_INPUT ? GBOSE_OK : GBOSE_ENUMERIC;
}

int gbose__ticket_check(const gbose *g, const void *ticket, size_t size, double reward)
{
    struct gbose__lesson lesson;
    uint64_t checksum;

    return examine(g, &lesson, &checksum, ticket, size, reward);
}

/* ---- learning ---- */

void gbose__ticket_apply(gbose *g, const struct gbose__lesson *lesson, double reward)
{
    struct gbose__reader r = lesson->terms;

    for (uint64_t i = 0; i < lesson->n_terms; i++) {
        uint64_t word[TERM_WORDS];
        struct gbose__ridge *fit;

        gbose__get_words(&r, word, TERM_WORDS);
        fit = &g->fit[word[TERM_FIT]];
        gbose__get_doubles(&r, fit->x, g->dim);
        if (fit->dim > g->dim)
            fit->x[g->dim] = 1;
        gbose__ridge_term(fit, fit->x, number_of(word[TERM_W]),
                          number_of(word[TERM_C]) * (reward - number_of(word[TERM_OFFSET])));
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
    if (g->gauge)
        gbose__gauge_learn(g, lesson.gauge);
    if (g->kind->learn) {
        g->kind->learn(g, &lesson, reward);
    } else {
        for (size_t i = 0; i < g->n_fits; i++)
            gbose__ridge_begin(&g->fit[i]);
        gbose__ticket_apply(g, &lesson, reward);
    }
    if (g->gauge)
        gbose__gauge_refresh(g);
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
