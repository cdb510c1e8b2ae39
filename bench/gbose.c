/* gbose under the clock. Makes the workloads and answers the driver's requests, one a line:
 *     prepare LEARNER ARMS DIM TRAINING FILE    write a workload (workload.h) after TRAINING rounds, and the learner's
 *                                      state to FILE.state  ->  survivors a round, on average, if it is gbose; else 0
 *     LEARNER FILE SECONDS             ->  microseconds of CPU per round: decide and learn
 *     count FILE ROUNDS                ->  0, after that many rounds: for counting instructions
 *     decide FILE SECONDS              ->  the same without learning, from gbose_decide_many
 *     crowded LEARNER ARMS DIM SECONDS ->  microseconds of a fresh learner's decision among unit vectors rounded to 6
 *                                      decimals: all survive, at nearly equal radii
 *     images DIM SECONDS               ->  microseconds of R b for 100 arms
 *     apply|update DIM SECONDS         ->  microseconds of one y = R x, or one rank-one step
 *     bandwidth - SECONDS              ->  Gbyte/s of reading memory that no cache holds
 *     peak - SECONDS                   ->  Gflop/s of multiply-adds on registers, fused where the processor can
 *     learners COUNT SECONDS           ->  microseconds of CPU per round, COUNT learners of dimension 20 in turn
 *     threads wall|cpu COUNT FILE SECONDS  ->  rounds a second, of wall time or of CPU, of gbose_decide_many on COUNT
 *                                      threads that share a learner */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "core/memory.h"
#include "core/rng.h"
#include "gbose.h"
#include "learners/learner.h"
#include "workload.h"

static void die(const char *what)
{
    fprintf(stderr, "gbose_bench: %s\n", what);
    exit(1);
}

static void must(int rc)
{
    if (rc)
        die(gbose_strerror(rc));
}

/* ---- workloads ---- */

static struct gbose__rng rng;

/* A round of a world whose rewards are linear with a trend; zero for a fresh learner. */
static void fill_round(double *contexts, double *rewards, const double *truth, size_t n, size_t dim, size_t t)
{
    for (size_t i = 0; i < n * dim; i++)
        contexts[i] = 2 * gbose__rng_uniform(&rng) - 1;
    for (size_t i = 0; i < n && rewards; i++) {
        rewards[i] = sin((double)t / 100) + 0.1 * gbose__rng_normal(&rng);
        for (size_t k = 0; k < dim; k++)
            rewards[i] += truth[k] * contexts[i * dim + k];
    }
}

/* B = (R'R)^-1, by Gauss and Jordan. */
static void design_matrix(double *B, const struct gbose__ridge *m)
{
    size_t d = m->dim;
    double *V = calloc(d * d, sizeof(double));

    if (!V)
        die("out of memory");
    for (size_t r = 0; r < d; r++) {
        const double *row = m->root + gbose__triangle_row(r);
        for (size_t i = 0; i <= r; i++)
            for (size_t j = 0; j <= r; j++)
                V[i * d + j] += row[i] * row[j];
    }
    for (size_t i = 0; i < d * d; i++)
        B[i] = i % (d + 1) == 0;
    for (size_t k = 0; k < d; k++) {
        double pivot = V[k * d + k];
        for (size_t j = 0; j < d; j++) {
            V[k * d + j] /= pivot;
            B[k * d + j] /= pivot;
        }
        for (size_t i = 0; i < d; i++) {
            double f = V[i * d + k];
            for (size_t j = 0; j < d && i != k; j++) {
                V[i * d + j] -= f * V[k * d + j];
                B[i * d + j] -= f * B[k * d + j];
            }
        }
    }
    free(V);
}

static void save_to(const char *path, const gbose *g)
{
    char name[600];
    size_t size;
    void *bytes;
    FILE *file;

    gbose_save(g, NULL, 0, &size);
    bytes = malloc(size);
    snprintf(name, sizeof name, "%s.state", path);
    file = fopen(name, "wb");
    if (!bytes || !file || gbose_save(g, bytes, size, &size) || fwrite(bytes, size, 1, file) != 1 ||
        fclose(file))
        die("cannot write the state");
    free(bytes);
}

static gbose *load_from(const char *path)
{
    static char name[600];
    static unsigned char bytes[1 << 25];
    FILE *file;
    size_t size;
    gbose *g;

    snprintf(name, sizeof name, "%s.state", path);
    file = fopen(name, "rb");
    if (!file)
        die("no such state");
    size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    must(gbose_load(&g, bytes, size, NULL));
    return g;
}

static double prepare(const char *spec, size_t n, size_t dim, size_t training, const char *path)
{
    size_t rounds = 4000000 / (n * dim), survivors = 0;
    double *truth = calloc(dim, sizeof(double)), norm = 0;
    struct workload w;
    gbose_decision d;
    gbose *g;

    rounds = rounds < 16 ? 16 : rounds > 512 ? 512 : rounds;
    if (!truth || workload_allocate(&w, rounds, n, dim))
        die("out of memory");
    gbose__rng_init(&rng, 1, 0, GBOSE__WORLD, 0);
    for (size_t i = 0; i < dim; i++) {
        truth[i] = gbose__rng_normal(&rng);
        norm += truth[i] * truth[i];
    }
    for (size_t i = 0; i < dim; i++)
        truth[i] /= sqrt(norm);
    must(gbose_new(&g, spec, dim, NULL));
    for (size_t t = 0; t < training; t++) {
        fill_round(w.contexts, w.rewards, truth, n, dim, t);
        must(gbose_decide(g, &d, w.contexts, n));
        must(gbose_learn(g, d.ticket, d.ticket_size, w.rewards[d.arm]));
    }
    for (size_t t = 0; t < rounds; t++)
        fill_round(w.contexts + t * n * dim, training ? w.rewards + t * n : NULL, truth, n, dim,
                   training + t);
    if (!training)
        memset(w.rewards, 0, rounds * n * sizeof(double));
    memcpy(w.mu, gbose_coef(g), dim * sizeof(double));
    design_matrix(w.B, &g->fit[0]);
    save_to(path, g);
    if (workload_write(&w, path))
        die("cannot write the workload");
    for (size_t t = 0; t < rounds && !strcmp(g->kind->info.name, "gbose"); t++) {
        must(gbose_decide(g, &d, w.contexts + t * n * dim, n));
        survivors += g->scratch.round.n_live;
    }
    workload_clear(&w);
    gbose_free(g);
    free(truth);
    return (double)survivors / (double)rounds;
}

/* ---- rounds ---- */

struct rounds {
    struct workload w;
    gbose *g;
    gbose_scratch *scratch;
    size_t *arm;
    uint64_t done;
};

static void play(void *state, size_t t)
{
    struct rounds *r = state;
    size_t round = t % r->w.n_rounds;
    gbose_decision d;

    must(gbose_decide(r->g, &d, r->w.contexts + round * r->w.n_arms * r->w.dim, r->w.n_arms));
    must(gbose_learn(r->g, d.ticket, d.ticket_size, r->w.rewards[round * r->w.n_arms + d.arm]));
}

/* All rounds of the workload. */
static void decide_all(void *state, size_t t)
{
    struct rounds *r = state;
    gbose_choices out = {.arm = r->arm};

    must(gbose_decide_many(r->g, r->scratch, &out, 1, t * r->w.n_rounds, r->w.contexts, NULL, r->w.n_rounds,
                           r->w.n_arms));
    r->done += r->w.n_rounds;
}

static void rounds_open(struct rounds *r, const char *path)
{
    memset(r, 0, sizeof *r);
    if (workload_read(&r->w, path))
        die("no such workload");
    r->g = load_from(path);
    must(gbose_scratch_new(&r->scratch));
    r->arm = calloc(r->w.n_rounds, sizeof *r->arm);
    if (!r->arm)
        die("out of memory");
}

static void rounds_close(struct rounds *r)
{
    workload_clear(&r->w);
    gbose_scratch_free(r->scratch);
    gbose_free(r->g);
    free(r->arm);
}

static double time_learner(const char *path, double seconds)
{
    struct rounds r;
    double result;

    rounds_open(&r, path);
    result = time_rounds(play, &r, seconds);
    rounds_close(&r);
    return result;
}

static double play_rounds(const char *path, size_t rounds)
{
    struct rounds r;

    rounds_open(&r, path);
    for (size_t t = 0; t < rounds; t++)
        play(&r, t);
    rounds_close(&r);
    return 0;
}

static double time_decide(const char *path, double seconds)
{
    struct rounds r;
    double result;

    rounds_open(&r, path);
    result = time_rounds(decide_all, &r, seconds) / (double)r.w.n_rounds;
    rounds_close(&r);
    return result;
}

/* ---- arms that are all alike ---- */

struct decision {
    gbose *g;
    double *contexts;
    size_t n;
};

static void decide_again(void *state, size_t t)
{
    struct decision *d = state;
    gbose_decision out;

    (void)t;
    must(gbose_decide(d->g, &out, d->contexts, d->n));
}

static double time_crowded(const char *spec, size_t n, size_t dim, double seconds)
{
    struct decision d = {.contexts = calloc(n * dim, sizeof(double)), .n = n};
    double result;

    if (!d.contexts)
        die("out of memory");
    gbose__rng_init(&rng, 3, 0, GBOSE__WORLD, 0);
    for (size_t i = 0; i < n; i++) {
        double *x = d.contexts + i * dim, norm = 0;

        for (size_t k = 0; k < dim; k++) {
            x[k] = gbose__rng_normal(&rng);
            norm += x[k] * x[k];
        }
        for (size_t k = 0; k < dim; k++)
            x[k] = nearbyint(1e6 * x[k] / sqrt(norm)) / 1e6;
    }
    must(gbose_new(&d.g, spec, dim, NULL));
    result = time_rounds(decide_again, &d, seconds);
    gbose_free(d.g);
    free(d.contexts);
    return result;
}

/* ---- threads ---- */

static double wall_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

struct worker {
    struct rounds r; /* the learner is shared, the rest is the thread's own */
    double seconds;
};

static void *work(void *arg)
{
    struct worker *w = arg;
    double begin = wall_seconds();

    for (size_t t = 0; wall_seconds() - begin < w->seconds; t++)
        decide_all(&w->r, t);
    return NULL;
}

static double time_threads(int cpu, size_t count, const char *path, double seconds)
{
    struct worker worker[64];
    pthread_t thread[64];
    double done = 0, begin;
    gbose *shared = load_from(path);

    if (count > 64)
        die("at most 64 threads");
    for (size_t i = 0; i < count; i++) {
        rounds_open(&worker[i].r, path);
        gbose_free(worker[i].r.g);
        worker[i].r.g = shared;
        worker[i].seconds = seconds;
    }
    begin = cpu ? cpu_seconds() : wall_seconds();
    for (size_t i = 0; i < count; i++)
        if (pthread_create(&thread[i], NULL, work, &worker[i]))
            die("cannot start a thread");
    for (size_t i = 0; i < count; i++)
        pthread_join(thread[i], NULL);
    seconds = (cpu ? cpu_seconds() : wall_seconds()) - begin;
    for (size_t i = 0; i < count; i++) {
        done += (double)worker[i].r.done;
        worker[i].r.g = NULL;
        rounds_close(&worker[i].r);
    }
    gbose_free(shared);
    return done / seconds;
}

/* ---- many learners ---- */

#define CROWD_DIM 20
#define CROWD_ARMS 5

struct crowd {
    size_t count;
    gbose **g;
    double contexts[64 * CROWD_ARMS * CROWD_DIM];
};

static void play_next(void *state, size_t t)
{
    struct crowd *c = state;
    gbose *g = c->g[t % c->count];
    gbose_decision d;

    must(gbose_decide(g, &d, c->contexts + t % 64 * (CROWD_ARMS * CROWD_DIM), CROWD_ARMS));
    must(gbose_learn(g, d.ticket, d.ticket_size, (double)(t % 7)));
}

static double time_crowd(size_t count, double seconds)
{
    static struct crowd c;
    double result;

    c.count = count;
    c.g = calloc(count, sizeof *c.g);
    if (!c.g)
        die("out of memory");
    for (size_t i = 0; i < count; i++)
        must(gbose_new(&c.g[i], "gbose", CROWD_DIM, NULL));
    gbose__rng_init(&rng, 2, 0, GBOSE__WORLD, 0);
    for (size_t i = 0; i < sizeof c.contexts / sizeof *c.contexts; i++)
        c.contexts[i] = 2 * gbose__rng_uniform(&rng) - 1;
    for (size_t i = 0; i < 2 * count; i++) /* scratch is there, and the pages */
        play_next(&c, i);
    result = time_rounds(play_next, &c, seconds);
    for (size_t i = 0; i < count; i++)
        gbose_free(c.g[i]);
    free(c.g);
    return result;
}

/* ---- kernels ---- */

struct kernel {
    struct gbose__ridge m;
    double *x, *y;
};

static void call_apply(void *state, size_t t)
{
    struct kernel *k = state;

    (void)t;
    gbose__ridge_apply(&k->m, k->y, k->x, NULL, 1);
}

static void call_update(void *state, size_t t)
{
    struct kernel *k = state;

    (void)t;
    gbose__ridge_term(&k->m, k->x, 1e-9, 0);
}

#define ARMS 100

static void call_images(void *state, size_t t)
{
    struct kernel *k = state;

    (void)t;
    gbose__ridge_apply(&k->m, k->y, k->x, NULL, ARMS);
}

static double time_kernel(char what, size_t dim, double seconds)
{
    struct kernel k;
    double result;

    must(gbose__ridge_init(&k.m, dim, 1, 1));
    k.x = gbose__alloc(2 * ARMS * k.m.stride, sizeof(double));
    if (!k.x)
        die("out of memory");
    k.y = k.x + ARMS * k.m.stride;
    for (size_t a = 0; a < ARMS; a++)
        for (size_t i = 0; i < dim; i++)
            k.x[a * k.m.stride + i] = 1 + (double)i / (double)dim;
    for (int i = 0; i < 3; i++)
        gbose__ridge_term(&k.m, k.x, 1, 0);
    result = time_rounds(what == 'u' ? call_update : what == 'a' ? call_apply : call_images, &k, seconds);
    gbose__free(k.x);
    gbose__ridge_clear(&k.m);
    return result;
}

/* ---- the peak: ten independent chains of multiply-adds ---- */

#define CHAINS 10
#define CHAIN_LENGTH 4096

/* The body of a function that runs the chains on vectors and returns one number that depends on all of
 * them. */
#define RUN_CHAINS(vector, set, multiply_add, first)                                                         \
    vector chain[CHAINS], factor = set(0.999), term = set(0.001), sum;                                       \
    for (int k = 0; k < CHAINS; k++)                                                                         \
        chain[k] = set(k);                                                                                   \
    for (int i = 0; i < CHAIN_LENGTH; i++)                                                                   \
        for (int k = 0; k < CHAINS; k++)                                                                     \
            chain[k] = multiply_add(chain[k], factor, term);                                                 \
    sum = chain[0];                                                                                          \
    for (int k = 1; k < CHAINS; k++)                                                                         \
        sum = multiply_add(sum, factor, chain[k]);                                                           \
    return first(sum)

#define SET_NUMBER(x) ((double)(x))
#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
#define FIRST_NUMBER(x) (x)

static double chains_of_numbers(void)
{
    RUN_CHAINS(double, SET_NUMBER, MULTIPLY_ADD, FIRST_NUMBER);
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) static double chains_of_4(void)
{
    RUN_CHAINS(__m256d, _mm256_set1_pd, _mm256_fmadd_pd, _mm256_cvtsd_f64);
}

__attribute__((target("avx512f"))) static double chains_of_8(void)
{
    RUN_CHAINS(__m512d, _mm512_set1_pd, _mm512_fmadd_pd, _mm512_cvtsd_f64);
}
#endif

static volatile double sink;

static double time_peak(double seconds)
{
    double (*run)(void) = chains_of_numbers, begin = cpu_seconds(), used, flops = 0;
    size_t width = 1;

#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) {
        run = chains_of_8;
        width = 8;
    } else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        run = chains_of_4;
        width = 4;
    }
#endif
    while ((used = cpu_seconds() - begin) < seconds) {
        sink = run();
        flops += 2.0 * CHAIN_LENGTH * CHAINS * (double)width;
    }
    return 1e-9 * flops / used;
}

#define STREAM_BYTES ((size_t)256 << 20)

static double time_bandwidth(double seconds)
{
    double *memory = malloc(STREAM_BYTES), begin, used, bytes = 0;

    if (!memory)
        die("out of memory");
    memset(memory, 0, STREAM_BYTES);
    begin = cpu_seconds();
    while ((used = cpu_seconds() - begin) < seconds) {
        sink = gbose__kernels->within(memory, STREAM_BYTES / sizeof(double), 1);
        bytes += (double)STREAM_BYTES;
    }
    free(memory);
    return 1e-9 * bytes / used;
}

int main(void)
{
    char line[1024], what[64], path[512];
    size_t n, dim, training;
    double seconds;

    while (fgets(line, sizeof line, stdin)) {
        double answer;

        if (sscanf(line, "prepare %63s %zu %zu %zu %511s", what, &n, &dim, &training, path) == 5)
            answer = prepare(what, n, dim, training, path);
        else if (sscanf(line, "threads %63s %zu %511s %lf", what, &n, path, &seconds) == 4)
            answer = time_threads(!strcmp(what, "cpu"), n, path, seconds);
        else if (sscanf(line, "crowded %63s %zu %zu %lf", what, &n, &dim, &seconds) == 4)
            answer = time_crowded(what, n, dim, seconds);
        else if (sscanf(line, "learners %zu %lf", &n, &seconds) == 2)
            answer = time_crowd(n, seconds);
        else if (sscanf(line, "count %511s %zu", path, &n) == 2)
            answer = play_rounds(path, n);
        else if (sscanf(line, "bandwidth - %lf", &seconds) == 1)
            answer = time_bandwidth(seconds);
        else if (sscanf(line, "peak - %lf", &seconds) == 1)
            answer = time_peak(seconds);
        else if (sscanf(line, "apply %zu %lf", &dim, &seconds) == 2)
            answer = time_kernel('a', dim, seconds);
        else if (sscanf(line, "update %zu %lf", &dim, &seconds) == 2)
            answer = time_kernel('u', dim, seconds);
        else if (sscanf(line, "images %zu %lf", &dim, &seconds) == 2)
            answer = time_kernel('i', dim, seconds);
        else if (sscanf(line, "decide %511s %lf", path, &seconds) == 2)
            answer = time_decide(path, seconds);
        else if (sscanf(line, "%63s %511s %lf", what, path, &seconds) == 3)
            answer = time_learner(path, seconds);
        else {
            die("a request that is not understood");
            return 1;
        }
        printf("%.9g\n", answer);
        fflush(stdout);
    }
    return 0;
}
