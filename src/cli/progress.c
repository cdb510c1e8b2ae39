#include "cli/progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "cli/terminal.h"

#define MOST_BAR 40  /* columns */
#define WORDS 46     /* columns beside the bar: " 100%  123456 of 123456 runs, 99:59:59 left" */
#define INTERVAL 0.2 /* seconds between two looks of the bar */

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void gbose__progress_begin(struct gbose__progress_line *line, int wanted)
{
    line->shown = wanted && isatty(STDERR_FILENO);
    line->began = now();
    line->last = 0;
}

/* The bar itself: done and to do. */
static void put_bar(double share)
{
    size_t width = terminal_width(stderr), filled;
    int colour = terminal_colour(stderr), utf8 = terminal_utf8();

    width = width < WORDS + 10 ? 8 : width - WORDS < MOST_BAR ? width - WORDS : MOST_BAR;
    filled = (size_t)(share * (double)width + 0.5);
    fputs(colour ? "\r\033[34m" : utf8 ? "\r" : "\r[", stderr);
    for (size_t i = 0; i < width; i++) {
        if (i == filled && colour)
            fputs("\033[90m", stderr);
        fputs(utf8         ? (i < filled || !colour ? (i < filled ? "━" : "─") : "━")
              : i < filled ? "#"
                           : ".",
              stderr);
    }
    fputs(colour ? "\033[0m" : utf8 ? "" : "]", stderr);
}

static void put_time(double seconds)
{
    unsigned left = seconds < 359999 ? (unsigned)(seconds + 0.5) : 359999; /* 99:59:59 and more */

    if (left >= 3600)
        fprintf(stderr, ", %u:%02u:%02u left", left / 3600, left / 60 % 60, left % 60);
    else
        fprintf(stderr, ", %u:%02u left", left / 60, left % 60);
}

void gbose__progress_show(struct gbose__progress_line *line, const struct gbose__progress *p)
{
    double t = now(), spent = t - line->began, finished = p->cost - p->cost_left;
    double share = p->cost > 0 ? finished / p->cost : 1;

    if (!line->shown || t - line->last < INTERVAL)
        return;
    line->last = t;
    put_bar(share);
    fprintf(stderr, " %3.0f%%  %zu of %zu runs", 100 * share, p->done, p->runs);
    if (finished > 0 && spent > 1)
        put_time(p->cost_left / finished * spent);
    fputs("\033[K", stderr);
    fflush(stderr);
}

void gbose__progress_end(const struct gbose__progress_line *line)
{
    if (line->shown && line->last > 0)
        fputs("\r\033[K", stderr);
}
