#include "core/ridge.h"

#include <math.h>
#include <string.h>

#include "core/kernels.h"
#include "core/memory.h"
#include "core/normal.h"
#include "gbose.h"

/* The bound on R costs as much as a step, and is computed anew when it can be expected to have become a few
 * percent too large: after an eighth more steps than there were, or after REACH_STEPS with `forget`, which
 * makes the bound grow in each step. After REACH_MOST steps at the latest, before their rounding could matter. */
#define REACH_STEPS 32
#define REACH_MOST 1000000

static double *row(const struct gbose__ridge *m, size_t j)
{
    return m->root + gbose__triangle_row(j);
}

static int allocate(struct gbose__ridge *m, size_t dim)
{
    /* far below overflow in the triangle's size, and far above what memory holds */
    const size_t most = (size_t)1 << (sizeof(size_t) * 4 - 4);

    memset(m, 0, sizeof *m);
    if (dim > most)
        return GBOSE_ESIZE;
    m->dim = dim;
    m->stride = gbose__pad(dim);
    m->root = gbose__alloc(gbose__triangle(dim), sizeof(double));
    m->mu = m->root ? gbose__alloc(6 * m->stride, sizeof(double)) : NULL;
    if (!m->mu) {
        gbose__ridge_clear(m);
        return GBOSE_ENOMEM;
    }
    m->prior = m->mu + m->stride;
    m->weight = m->prior + m->stride;
    m->x = m->weight + m->stride;
    m->sum = m->x + m->stride;
    m->unit = m->sum + m->stride;
    return GBOSE_OK;
}

/* Bound the largest singular value of R: for any p > 0 and q = |R| p, its square is at most the largest of
 * (|R|'q)_j / p_j (Schur's test). The nearer p is to the leading singular vector of |R| the better, so
 * |R|'q is the next p. */
static void find_reach(struct gbose__ridge *m)
{
    double *p = m->weight, *next = m->sum, most = 0, largest = 0;
    uint64_t wait = REACH_STEPS;

    memset(next, 0, m->stride * sizeof(double));
    for (size_t j = 0; j < m->dim; j++) {
        const double *r = row(m, j);
        double q = 0;

        for (size_t i = 0; i <= j; i++)
            q += fabs(r[i]) * p[i];
        for (size_t i = 0; i <= j; i++)
            next[i] += fabs(r[i]) * q;
    }
    for (size_t j = 0; j < m->dim; j++) {
        most = next[j] / p[j] > most ? next[j] / p[j] : most;
        largest = next[j] > largest ? next[j] : largest;
    }
    for (size_t j = 0; j < m->dim; j++)
        p[j] = fmax(next[j] / largest, 1e-6);
    m->reach = sqrt(most) * (1 + 1e-9) + 1e-150; /* more than all rounding until the next time */
    if (m->forget == 1 && m->steps / 8 > REACH_STEPS)
        wait = m->steps / 8 < REACH_MOST ? m->steps / 8 : REACH_MOST;
    m->reach_until = m->steps + wait;
}

/* For an R that was not made by steps: the weights that led to the last bound mean nothing for it. */
static void restart_reach(struct gbose__ridge *m)
{
    for (size_t j = 0; j < m->dim; j++)
        m->weight[j] = 1;
    for (int i = 0; i < 4; i++)
        find_reach(m);
}

void gbose__ridge_reset(struct gbose__ridge *m)
{
    memset(m->root, 0, gbose__triangle(m->dim) * sizeof(double));
    for (size_t j = 0; j < m->dim; j++) {
        row(m, j)[j] = 1 / sqrt(m->lambda);
        m->mu[j] = 0;
        m->prior[j] = m->lambda;
        m->weight[j] = 1;
    }
    find_reach(m);
}

void gbose__ridge_multiply(struct gbose__ridge *m, double factor)
{
    double shrink = 1 / sqrt(factor);

    for (size_t i = 0; i < gbose__triangle(m->dim); i++)
        m->root[i] *= shrink;
    restart_reach(m);
}

int gbose__ridge_init(struct gbose__ridge *m, size_t dim, double lambda, double forget)
{
    int rc = allocate(m, dim);

    if (rc)
        return rc;
    m->lambda = lambda;
    m->forget = forget;
    gbose__ridge_reset(m);
    return GBOSE_OK;
}

void gbose__ridge_clear(struct gbose__ridge *m)
{
    gbose__free(m->root);
    gbose__free(m->mu);
    memset(m, 0, sizeof *m);
}

int gbose__ridge_copy(struct gbose__ridge *to, const struct gbose__ridge *from)
{
    int rc = allocate(to, from->dim);

    if (rc)
        return rc;
    to->lambda = from->lambda;
    to->forget = from->forget;
    to->turn = from->turn;
    to->steps = from->steps;
    memcpy(to->root, from->root, gbose__triangle(from->dim) * sizeof(double));
    to->reach = from->reach;
    to->reach_until = from->reach_until;
    memcpy(to->mu, from->mu, 3 * from->stride * sizeof(double)); /* mu, prior and weight */
    return GBOSE_OK;
}

void gbose__ridge_apply(const struct gbose__ridge *m, double *out, const double *x, const size_t *index,
                        size_t n)
{
    gbose__kernels->triangle_apply(out, m->root, m->dim, x, index, n);
}

double gbose__ridge_width(const struct gbose__ridge *m, const double *x, const double *scale, size_t n)
{
    double sum = 0;

    for (size_t j = 0; j < m->dim; j++) {
        const double *r = row(m, j);
        double f = 0;
        for (size_t i = 0; i < n && i <= j; i++)
            f += r[i] * (scale ? scale[i] * x[i] : x[i]);
        sum += f * f;
    }
    return sqrt(sum);
}

/* The step leaves B_old^-1 x in m->sum; divided by the last alpha it is B_new^-1 x. */
void gbose__ridge_correct(struct gbose__ridge *m, const double *x, double w, double miss)
{
    double alpha = gbose__kernels->triangle_step(m->root, m->dim, m->sum, x, w);

    gbose__kernels->axpy(m->mu, miss / alpha, m->sum, m->stride);
}

void gbose__ridge_term(struct gbose__ridge *m, const double *x, double w, double c)
{
    gbose__ridge_correct(m, x, w, c - w * gbose__dot(m->mu, x, m->stride));
}

/* A term whose x is a unit vector. With c = 0 it is evidence that this entry of mu is zero. */
static void unit_term(struct gbose__ridge *m, size_t j, double w, double c)
{
    m->unit[j] = 1;
    gbose__ridge_term(m, m->unit, w, c);
    m->unit[j] = 0;
}

/* How many entries of P a step sets back to lambda. */
static size_t turns_of(const struct gbose__ridge *m)
{
    return (size_t)ceil(fmin(10 * (1 - m->forget), 1) * (double)m->dim);
}

void gbose__ridge_begin(struct gbose__ridge *m)
{
    double grow;
    size_t turns;

    if (m->steps++ >= m->reach_until) /* until then the bound holds: a term can only shorten images */
        find_reach(m);
    if (m->forget == 1)
        return;
    grow = 1 / sqrt(m->forget);
    for (size_t i = 0, n = gbose__triangle(m->dim); i < n; i++)
        m->root[i] *= grow;
    m->reach *= grow;
    for (size_t i = 0; i < m->dim; i++)
        m->prior[i] *= m->forget;
    turns = turns_of(m);
    while (turns--) {
        size_t i = m->turn;

        unit_term(m, i, m->lambda - m->prior[i], 0);
        m->prior[i] = m->lambda;
        m->turn = (i + 1) % m->dim;
    }
}

/* ---- merging: B itself, formed and factored ---- */

/* mu = R'(R y) */
static void solve(struct gbose__ridge *m, const double *y)
{
    memset(m->mu, 0, m->stride * sizeof(double));
    for (size_t j = 0; j < m->dim; j++) {
        const double *r = row(m, j);
        size_t n = gbose__pad(j + 1);

        gbose__kernels->axpy(m->mu, gbose__dot(r, y, n), r, n);
    }
}

/* The evidence of one regression: B += scale (L L' - diag(prior)) and y += scale L (L'mu), with L = R^-1.
 * There is room for L, and for L'mu in `half`. */
static void add_evidence(double *B, double *y, double *L, double *half, const struct gbose__ridge *m,
                         double scale)
{
    gbose__dense_invert(L, m->root, m->dim);
    memset(half, 0, m->stride * sizeof(double));
    for (size_t j = 0; j < m->dim; j++)
        gbose__kernels->axpy(half, m->mu[j], L + gbose__triangle_row(j), gbose__pad(j + 1));
    for (size_t j = 0; j < m->dim; j++) {
        const double *Lj = L + gbose__triangle_row(j);
        double *b = B + gbose__triangle_row(j);

        for (size_t i = 0; i <= j; i++)
            b[i] += scale * gbose__dot(Lj, L + gbose__triangle_row(i), gbose__pad(i + 1));
        b[j] -= scale * m->prior[j];
        y[j] += scale * gbose__dot(Lj, half, gbose__pad(j + 1));
    }
}

/* Is all of it finite, with a triangle that has an inverse? */
static int is_sound(const struct gbose__ridge *m)
{
    int fine = 1;

    for (size_t j = 0; j < m->dim; j++) {
        for (size_t i = 0; i <= j; i++)
            fine &= isfinite(row(m, j)[i]) != 0;
        fine &= row(m, j)[j] > 0 && isfinite(m->mu[j]);
    }
    return fine;
}

int gbose__ridge_merge(struct gbose__ridge *out, const struct gbose__ridge *into,
                       const struct gbose__ridge *from, const struct gbose__ridge *common)
{
    size_t size = gbose__triangle(into->dim);
    double *B, *L, *y, *half;
    int rc = gbose__ridge_copy(out, into);

    if (rc)
        return rc;
    B = gbose__alloc(2 * size + 2 * into->stride, sizeof(double));
    if (!B) {
        gbose__ridge_clear(out);
        return GBOSE_ENOMEM;
    }
    L = B + size;
    y = L + size;
    half = y + into->stride;
    for (size_t j = 0; j < into->dim; j++)
        B[gbose__triangle_row(j) + j] = into->prior[j];
    add_evidence(B, y, L, half, into, 1);
    add_evidence(B, y, L, half, from, 1);
    if (common) {
        double steps = (double)(from->steps - common->steps);
        add_evidence(B, y, L, half, common, -gbose__exp(steps * gbose__log(from->forget)));
    }
    /* B = L L' and B^-1 = R'R with R = L^-1 */
    rc = gbose__dense_factor(B, into->dim) ? GBOSE_OK : GBOSE_ENUMERIC;
    if (!rc) {
        gbose__dense_invert(out->root, B, into->dim);
        solve(out, y);
        rc = is_sound(out) ? GBOSE_OK : GBOSE_ENUMERIC;
    }
    gbose__free(B);
    if (rc)
        gbose__ridge_clear(out);
    else
        restart_reach(out);
    return rc;
}

/* ---- growing ---- */

/* Set P and turn to what they are after m->steps steps. Every entry of P is set back within a cycle, so only
 * the steps of the last one matter. */
static void age_prior(struct gbose__ridge *m)
{
    size_t turns = turns_of(m), cycle;
    uint64_t steps = m->steps;

    for (size_t i = 0; i < m->dim; i++)
        m->prior[i] = m->lambda;
    m->turn = 0;
    if (!turns)
        return;
    cycle = m->dim / turns + 1;
    if (steps > cycle) {
        m->turn = (size_t)((steps - cycle) % m->dim * turns % m->dim);
        steps = cycle;
    }
    while (steps--) {
        for (size_t i = 0; i < m->dim; i++)
            m->prior[i] *= m->forget;
        for (size_t k = 0; k < turns; k++) {
            m->prior[m->turn] = m->lambda;
            m->turn = (m->turn + 1) % m->dim;
        }
    }
}

/* `from` with new rows and columns of its own penalty: those of R are zero but for the diagonal. */
static int insert(struct gbose__ridge *out, const struct gbose__ridge *from, size_t at, size_t more)
{
    int rc = gbose__ridge_init(out, from->dim + more, from->lambda, from->forget);

    if (rc)
        return rc;
    for (size_t j = 0; j < from->dim; j++) {
        size_t to = j < at ? j : j + more;

        for (size_t i = 0; i <= j; i++)
            row(out, to)[i < at ? i : i + more] = row(from, j)[i];
        out->mu[to] = from->mu[j];
        out->prior[to] = from->prior[j];
    }
    out->turn = from->turn;
    out->steps = from->steps;
    restart_reach(out);
    return GBOSE_OK;
}

int gbose__ridge_grow(struct gbose__ridge *out, const struct gbose__ridge *from, size_t at, size_t more,
                      double lambda)
{
    struct gbose__ridge inserted, fresh;
    int rc = insert(&inserted, from, at, more);

    if (rc)
        return rc;
    if (from->forget == 1 && from->lambda == lambda) {
        *out = inserted;
        return GBOSE_OK;
    }
    /* the evidence, on top of the prior that there would be now */
    rc = gbose__ridge_init(&fresh, from->dim + more, lambda, from->forget);
    if (!rc) {
        fresh.steps = from->steps;
        age_prior(&fresh);
        for (size_t j = 0; j < fresh.dim; j++)
            row(&fresh, j)[j] = 1 / sqrt(fresh.prior[j]);
        rc = gbose__ridge_merge(out, &fresh, &inserted, NULL);
        gbose__ridge_clear(&fresh);
    }
    gbose__ridge_clear(&inserted);
    return rc;
}

/* ---- other units ---- */

/* Feature j comes as 1/factor of what it was: with S = diag(.., factor, ..), B becomes S^-1 B S^-1, mu becomes
 * S mu and R becomes R S. With a power of two nothing is rounded. */
static void stretch(struct gbose__ridge *m, size_t j, double factor)
{
    m->mu[j] *= factor;
    for (size_t i = j; i < m->dim; i++)
        row(m, i)[j] *= factor;
}

/* Is there more evidence on mu_j than rounding could make? 1 / (B^-1)_jj is all that is known of it, its prior
 * included. */
static int is_seen(const struct gbose__ridge *m, size_t j)
{
    double variance = 0;

    for (size_t i = j; i < m->dim; i++)
        variance += row(m, i)[j] * row(m, i)[j];
    return 1 / variance > (1 + 1e-12) * m->prior[j];
}

/* Leave mu_j nothing but its prior. */
static void drop(struct gbose__ridge *m, size_t j)
{
    memset(row(m, j), 0, j * sizeof(double));
    for (size_t i = j + 1; i < m->dim; i++)
        row(m, i)[j] = 0;
    row(m, j)[j] = 1 / sqrt(m->prior[j]);
    m->mu[j] = 0;
}

/* Units half as large: the prior has become four times as strong, and three quarters of that are removed, which
 * leaves an alpha of at least 1/4. It makes errors four times as large, too; so evidence that is no more than
 * such errors is dropped before. */
static void halve(struct gbose__ridge *m, size_t j)
{
    stretch(m, j, 0.5);
    unit_term(m, j, -3 * m->prior[j], 0);
}

void gbose__ridge_rescale(struct gbose__ridge *m, const int *shift)
{
    int any = 0;

    for (size_t j = 0; j < m->dim; j++) {
        if (!shift[j] || !is_seen(m, j)) /* the prior is the same in any unit */
            continue;
        any = 1;
        if (shift[j] > 0) { /* the prior has become too weak, and what is missing is added */
            stretch(m, j, ldexp(1, shift[j]));
            unit_term(m, j, (1 - ldexp(1, -2 * shift[j])) * m->prior[j], 0);
        }
        for (int k = shift[j]; k < 0 && is_seen(m, j); k++)
            halve(m, j);
        if (shift[j] < 0 && !is_seen(m, j))
            drop(m, j);
    }
    if (any)
        find_reach(m);
}

/* ---- bytes ---- */

void gbose__ridge_write(const struct gbose__ridge *m, struct gbose__writer *w)
{
    for (size_t j = 0; j < m->dim; j++)
        gbose__put_doubles(w, row(m, j), j + 1);
    gbose__put_doubles(w, m->mu, m->dim);
    gbose__put_doubles(w, m->prior, m->dim);
    gbose__put_u64(w, m->turn);
    gbose__put_u64(w, m->steps);
}

void gbose__ridge_read(struct gbose__ridge *m, struct gbose__reader *r)
{
    int bad = 0;

    for (size_t j = 0; j < m->dim; j++)
        gbose__get_doubles(r, row(m, j), j + 1);
    gbose__get_doubles(r, m->mu, m->dim);
    gbose__get_doubles(r, m->prior, m->dim);
    for (size_t j = 0; j < m->dim; j++)
        bad |= !(m->prior[j] > 0 && m->prior[j] <= m->lambda);
    bad |= !is_sound(m);
    m->turn = (size_t)gbose__get_u64(r);
    bad |= m->turn >= m->dim;
    m->steps = gbose__get_u64(r);
    r->bad |= bad;
    if (!r->bad)
        restart_reach(m);
}
