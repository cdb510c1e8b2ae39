/* The same rounds as a good C programmer writes them on a BLAS: the inverse of B, updated by rank one
 * (Sherman and Morrison), and the Gram matrix of the arms in its metric. No tickets, no checks, nothing
 * saved.
 *
 *     gbose_bench_blas LIBRARY
 *
 * loads the BLAS (libopenblas.so.0, libblis.so.4) and answers the driver's requests, one a line:
 *     LEARNER WORKLOAD SECONDS  ->  microseconds of CPU per round   (LEARNER: gbose or semi-ts)
 *     images DIM SECONDS        ->  microseconds of bringing 100 arms into the metric of B^-1, by dgemm
 *     apply|update DIM SECONDS  ->  microseconds of one y = A x, A symmetric, or one rank-one step on an inverse */
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workload.h"

enum { ROW_MAJOR = 101, NO_TRANS = 111, TRANS = 112, UPPER = 121 };

/* What is used of the CBLAS interface. */
static struct {
    void (*dgemm)(int order, int transa, int transb, int m, int n, int k, double alpha, const double *a,
                  int lda, const double *b, int ldb, double beta, double *c, int ldc);
    void (*dgemv)(int order, int trans, int m, int n, double alpha, const double *a, int lda, const double *x,
                  int incx, double beta, double *y, int incy);
    void (*dsymv)(int order, int uplo, int n, double alpha, const double *a, int lda, const double *x,
                  int incx, double beta, double *y, int incy);
    void (*dsyr)(int order, int uplo, int n, double alpha, const double *x, int incx, double *a, int lda);
    double (*ddot)(int n, const double *x, int incx, const double *y, int incy);
    void (*daxpy)(int n, double alpha, const double *x, int incx, double *y, int incy);
} blas;

static int load(const char *library)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);

    if (!handle) {
        fprintf(stderr, "gbose_bench_blas: %s\n", dlerror());
        return 0;
    }
#define FIND(name) *(void **)&blas.name = dlsym(handle, "cblas_" #name)
    FIND(dgemm);
    FIND(dgemv);
    FIND(dsymv);
    FIND(dsyr);
    FIND(ddot);
    FIND(daxpy);
#undef FIND
    return blas.dgemm && blas.dgemv && blas.dsymv && blas.dsyr && blas.ddot && blas.daxpy;
}

/* ---- the regression ---- */

struct rounds {
    struct workload w;
    int dim, n;
    double *V;               /* B^-1, upper triangle */
    double *mu, *y, *x, *Vx; /* dim */
    double *full;            /* V with both triangles, for dgemm; n x dim: X V; n x n: the Gram matrix */
    double *XV, *gram, *score, *pmf;
    double *draws, *swing; /* 1000 x n */
    size_t *live;
    uint64_t random;
    double spare;
    int has_spare;
};

#define DRAWS 1000

static double uniform(struct rounds *r)
{
    r->random ^= r->random << 13;
    r->random ^= r->random >> 7;
    r->random ^= r->random << 17;
    return (double)(r->random >> 11) * 0x1p-53;
}

/* Marsaglia's polar method: two at a time. */
static double normal(struct rounds *r)
{
    double a, b, s;

    if (r->has_spare) {
        r->has_spare = 0;
        return r->spare;
    }
    do {
        a = 2 * uniform(r) - 1;
        b = 2 * uniform(r) - 1;
        s = a * a + b * b;
    } while (s >= 1 || s == 0);
    s = sqrt(-2 * log(s) / s);
    r->spare = b * s;
    r->has_spare = 1;
    return a * s;
}

static void invert(double *out, const double *in, size_t n)
{
    double *a = malloc(n * n * sizeof(double));

    memcpy(a, in, n * n * sizeof(double));
    for (size_t i = 0; i < n * n; i++)
        out[i] = i % (n + 1) == 0;
    for (size_t k = 0; k < n; k++) {
        double pivot = a[k * n + k];
        for (size_t j = 0; j < n; j++) {
            a[k * n + j] /= pivot;
            out[k * n + j] /= pivot;
        }
        for (size_t i = 0; i < n; i++) {
            double f = a[i * n + k];
            if (i == k || f == 0)
                continue;
            for (size_t j = 0; j < n; j++) {
                a[i * n + j] -= f * a[k * n + j];
                out[i * n + j] -= f * out[k * n + j];
            }
        }
    }
    free(a);
}

static int rounds_open(struct rounds *r, const char *path)
{
    size_t d, n;

    memset(r, 0, sizeof *r);
    r->random = 88172645463325252u;
    if (workload_read(&r->w, path))
        return 0;
    d = r->w.dim;
    n = r->w.n_arms;
    r->dim = (int)d;
    r->n = (int)n;
    r->V = malloc((2 * d * d + 4 * d + 2 * n * d + n * n + 2 * n + 2 * DRAWS * n) * sizeof(double));
    r->live = malloc(n * sizeof *r->live);
    if (!r->V || !r->live)
        return 0;
    r->full = r->V + d * d;
    r->mu = r->full + d * d;
    r->y = r->mu + d;
    r->x = r->y + d;
    r->Vx = r->x + d;
    r->XV = r->Vx + d;
    r->gram = r->XV + 2 * n * d;
    r->score = r->gram + n * n;
    r->pmf = r->score + n;
    r->draws = r->pmf + n;
    r->swing = r->draws + DRAWS * n;
    invert(r->V, r->w.B, d);
    memcpy(r->full, r->V, d * d * sizeof(double));
    memcpy(r->mu, r->w.mu, d * sizeof(double));
    blas.dgemv(ROW_MAJOR, NO_TRANS, r->dim, r->dim, 1, r->w.B, r->dim, r->mu, 1, 0, r->y, 1);
    return 1;
}

static void rounds_close(struct rounds *r)
{
    workload_clear(&r->w);
    free(r->V);
    free(r->live);
}

/* B += w x x', y += c x */
static void learn(struct rounds *r, const double *x, double w, double c)
{
    double q;

    blas.dsymv(ROW_MAJOR, UPPER, r->dim, 1, r->V, r->dim, x, 1, 0, r->Vx, 1);
    q = blas.ddot(r->dim, x, 1, r->Vx, 1);
    blas.dsyr(ROW_MAJOR, UPPER, r->dim, -w / (1 + w * q), r->Vx, 1, r->V, r->dim);
    blas.daxpy(r->dim, c, x, 1, r->y, 1);
}

/* Scores, and the Gram matrix of the arms in the metric of V. */
static void score_arms(struct rounds *r, const double *X)
{
    size_t d = r->w.dim;

    blas.dsymv(ROW_MAJOR, UPPER, r->dim, 1, r->V, r->dim, r->y, 1, 0, r->mu, 1);
    blas.dgemv(ROW_MAJOR, NO_TRANS, r->n, r->dim, 1, X, r->dim, r->mu, 1, 0, r->score, 1);
    for (size_t i = 0; i < d; i++) /* the triangle in use, mirrored */
        for (size_t j = i; j < d; j++)
            r->full[i * d + j] = r->full[j * d + i] = r->V[i * d + j];
    blas.dgemm(ROW_MAJOR, NO_TRANS, NO_TRANS, r->n, r->dim, r->dim, 1, X, r->dim, r->full, r->dim, 0, r->XV,
               r->dim);
    blas.dgemm(ROW_MAJOR, NO_TRANS, TRANS, r->n, r->n, r->dim, 1, r->XV, r->dim, X, r->dim, 0, r->gram, r->n);
}

static void play_gbose(void *state, size_t t)
{
    struct rounds *r = state;
    size_t n = r->w.n_arms, d = r->w.dim, live = 0, k = 0, l = 0, arm, round = t % r->w.n_rounds;
    const double *X = r->w.contexts + round * n * d, *G = r->gram;
    double best = -1;

    score_arms(r, X);
    for (size_t i = 0; i < n; i++) {
        size_t j;
        for (j = 0; j < n; j++) {
            double lead = r->score[j] - r->score[i];
            if (lead > 0 && lead * lead > GAMMA * GAMMA * (G[i * n + i] + G[j * n + j] - 2 * G[i * n + j]))
                break;
        }
        if (j == n)
            r->live[live++] = i;
    }
    if (live < 2)
        return;
    for (size_t a = 0; a < live; a++)
        for (size_t b = a + 1; b < live; b++) {
            size_t i = r->live[a], j = r->live[b];
            double distance = G[i * n + i] + G[j * n + j] - 2 * G[i * n + j];
            if (distance > best) {
                best = distance;
                k = i;
                l = j;
            }
        }
    arm = uniform(r) < 0.5 ? k : l;
    for (size_t c = 0; c < d; c++)
        r->x[c] = X[arm * d + c] - (X[k * d + c] + X[l * d + c]) / 2;
    learn(r, r->x, 1, r->w.rewards[round * n + arm]);
}

/* The scores' covariance as L L', in place of the Gram matrix. */
static void cholesky(double *a, size_t n)
{
    for (size_t j = 0; j < n; j++) {
        double pivot = a[j * n + j];
        for (size_t k = 0; k < j; k++)
            pivot -= a[j * n + k] * a[j * n + k];
        a[j * n + j] = pivot > 1e-14 ? sqrt(pivot) : 0;
        for (size_t i = j + 1; i < n; i++) {
            double s = a[i * n + j];
            for (size_t k = 0; k < j; k++)
                s -= a[i * n + k] * a[j * n + k];
            a[i * n + j] = a[j * n + j] > 0 ? s / a[j * n + j] : 0;
            a[j * n + i] = 0;
        }
    }
}

static void play_semi_ts(void *state, size_t t)
{
    struct rounds *r = state;
    size_t n = r->w.n_arms, d = r->w.dim, arm = 0, round = t % r->w.n_rounds;
    const double *X = r->w.contexts + round * n * d;
    double u;

    score_arms(r, X);
    cholesky(r->gram, n);
    for (size_t i = 0; i < DRAWS * n; i++)
        r->draws[i] = normal(r);
    blas.dgemm(ROW_MAJOR, NO_TRANS, TRANS, DRAWS, r->n, r->n, GAMMA, r->draws, r->n, r->gram, r->n, 0,
               r->swing, r->n);
    memset(r->pmf, 0, n * sizeof(double));
    for (size_t m = 0; m < DRAWS; m++) {
        size_t best = 0;
        double top = -INFINITY;
        for (size_t i = 0; i < n; i++)
            if (r->score[i] + r->swing[m * n + i] > top) {
                top = r->score[i] + r->swing[m * n + i];
                best = i;
            }
        r->pmf[best] += 1.0 / DRAWS;
    }
    u = uniform(r);
    for (arm = 0; arm + 1 < n && (u -= r->pmf[arm]) >= 0;)
        arm++;
    blas.dgemv(ROW_MAJOR, TRANS, r->n, r->dim, 1, X, r->dim, r->pmf, 1, 0, r->full, 1); /* bbar */
    for (size_t i = 0; i <= n; i++) {
        size_t a = i ? i - 1 : arm;
        if (i && !(r->pmf[a] > 0))
            continue;
        for (size_t c = 0; c < d; c++)
            r->x[c] = X[a * d + c] - r->full[c];
        learn(r, r->x, i ? 2 * r->pmf[a] : 2, i ? 0 : 4 * r->w.rewards[round * n + arm]);
    }
}

/* ---- one kernel ---- */

static void call_apply(void *state, size_t t)
{
    struct rounds *r = state;

    (void)t;
    blas.dsymv(ROW_MAJOR, UPPER, r->dim, 1, r->V, r->dim, r->x, 1, 0, r->y, 1);
}

static void call_update(void *state, size_t t)
{
    (void)t;
    learn(state, ((struct rounds *)state)->x, 1e-9, 0);
}

#define ARMS 100

static void call_images(void *state, size_t t)
{
    struct rounds *r = state;

    (void)t;
    blas.dgemm(ROW_MAJOR, NO_TRANS, NO_TRANS, ARMS, r->dim, r->dim, 1, r->w.contexts, r->dim, r->V, r->dim, 0,
               r->XV, r->dim);
}

static double time_kernel(char what, size_t dim, double seconds)
{
    struct rounds r = {.dim = (int)dim};
    double result;

    r.V = calloc(dim * dim + (3 + 2 * ARMS) * dim, sizeof(double));
    if (!r.V)
        return -1;
    r.x = r.V + dim * dim;
    r.y = r.x + dim;
    r.Vx = r.y + dim;
    r.w.contexts = r.Vx + dim;
    r.XV = r.w.contexts + ARMS * dim;
    for (size_t i = 0; i < ARMS * dim; i++)
        r.w.contexts[i] = 1 + (double)(i % 97);
    for (size_t i = 0; i < dim; i++)
        r.V[i * (dim + 1)] = 1;
    for (size_t i = 0; i < dim; i++)
        r.x[i] = 1 + (double)i / (double)dim;
    result = time_rounds(what == 'u' ? call_update : what == 'a' ? call_apply : call_images, &r, seconds);
    free(r.V);
    return result;
}

int main(int argc, char **argv)
{
    char what[32], path[512];
    double seconds;

    if (argc != 2 || !load(argv[1]))
        return 1;
    while (scanf("%31s %511s %lf", what, path, &seconds) == 3) {
        struct rounds r;

        if (!strcmp(what, "apply") || !strcmp(what, "update") || !strcmp(what, "images")) {
            printf("%.9g\n", time_kernel(what[0], strtoul(path, NULL, 10), seconds));
        } else {
            if (!rounds_open(&r, path))
                return 1;
            printf("%.9g\n", time_rounds(!strcmp(what, "gbose") ? play_gbose : play_semi_ts, &r, seconds));
            rounds_close(&r);
        }
        fflush(stdout);
    }
    return 0;
}
