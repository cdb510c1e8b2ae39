/* A bar that shows how far a study is, on a terminal only. */
#ifndef GBOSE_CLI_PROGRESS_H
#define GBOSE_CLI_PROGRESS_H

#include "study/engine.h"

struct gbose__progress_line {
    int shown;          /* is standard error a terminal, and is the bar wanted? */
    double began, last; /* seconds */
};

void gbose__progress_begin(struct gbose__progress_line *line, int wanted);
void gbose__progress_show(struct gbose__progress_line *line, const struct gbose__progress *p);
void gbose__progress_end(const struct gbose__progress_line *line);

#endif
