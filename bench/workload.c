#include "workload.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static size_t total(const struct workload *w)
{
    return w->dim * w->dim + w->dim + w->n_rounds * w->n_arms * (w->dim + 1);
}

int workload_allocate(struct workload *w, size_t n_rounds, size_t n_arms, size_t dim)
{
    w->n_rounds = n_rounds;
    w->n_arms = n_arms;
    w->dim = dim;
    w->B = calloc(total(w), sizeof(double));
    if (!w->B)
        return -1;
    w->mu = w->B + dim * dim;
    w->contexts = w->mu + dim;
    w->rewards = w->contexts + n_rounds * n_arms * dim;
    return 0;
}

void workload_clear(struct workload *w)
{
    free(w->B);
}

int workload_read(struct workload *w, const char *path)
{
    FILE *file = fopen(path, "rb");
    int64_t sizes[3];
    int rc = -1;

    if (!file)
        return -1;
    if (fread(sizes, sizeof *sizes, 3, file) == 3 &&
        !workload_allocate(w, (size_t)sizes[0], (size_t)sizes[1], (size_t)sizes[2])) {
        rc = fread(w->B, sizeof(double), total(w), file) == total(w) ? 0 : -1;
        if (rc)
            workload_clear(w);
    }
    fclose(file);
    return rc;
}

int workload_write(const struct workload *w, const char *path)
{
    int64_t sizes[3] = {(int64_t)w->n_rounds, (int64_t)w->n_arms, (int64_t)w->dim};
    FILE *file = fopen(path, "wb");
    int fine;

    if (!file)
        return -1;
    fine = fwrite(sizes, sizeof *sizes, 3, file) == 3;
    fine &= fwrite(w->B, sizeof(double), total(w), file) == total(w);
    fine &= !fclose(file);
    return fine ? 0 : -1;
}

double cpu_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double time_rounds(void (*play)(void *state, size_t t), void *state, double seconds)
{
    size_t done = 0, batch = 1;
    double begin = cpu_seconds(), used = 0;

    while (used < seconds) {
        for (size_t i = 0; i < batch; i++)
            play(state, done++);
        used = cpu_seconds() - begin;
        if (used < seconds / 16) /* ask the clock seldom */
            batch *= 2;
    }
    return 1e6 * used / (double)done;
}
