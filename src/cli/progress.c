#include "cli/progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void gbose__progress_begin(struct gbose__progress_line *line)
{
    line->shown = isatty(STDERR_FILENO);
    line->began = now();
    line->last = 0;
}

void gbose__progress_show(struct gbose__progress_line *line, const struct gbose__progress *p)
{
    double t = now(), spent = t - line->began, finished = p->cost - p->cost_left;

    if (!line->shown || t - line->last < 0.2)
        return;
    line->last = t;
    fprintf(stderr, "\r%zu of %zu runs", p->done, p->runs);
    if (finished > 0 && spent > 1) {
        double seconds = p->cost_left / finished * spent + 0.5;
        unsigned left = seconds < 359999 ? (unsigned)seconds : 359999; /* 99:59:59 and more */
        fprintf(stderr, ", %.3g a second, %.0f%%, ", (double)(p->done - p->before) / spent,
                100 * finished / p->cost);
        if (left >= 3600)
            fprintf(stderr, "%u:%02u:%02u left", left / 3600, left / 60 % 60, left % 60);
        else
            fprintf(stderr, "%u:%02u left", left / 60, left % 60);
    }
    fputs("\033[K", stderr);
    fflush(stderr);
}

void gbose__progress_end(const struct gbose__progress_line *line)
{
    if (line->shown && line->last > 0)
        fputs("\r\033[K", stderr);
}
