/* A line that shows how far a study is, on a terminal only. */
#ifndef GBOSE_STUDY_PROGRESS_H
#define GBOSE_STUDY_PROGRESS_H

#include <stddef.h>

struct gbose__progress {
    int shown;              /* is standard error a terminal? */
    size_t runs, done;      /* of the whole study */
    size_t before;          /* done before this process began */
    double cost, cost_left; /* of what this process has to do */
    double began, last;     /* seconds */
};

void gbose__progress_begin(struct gbose__progress *p, size_t runs, size_t done, double cost);
void gbose__progress_step(struct gbose__progress *p, double cost);
void gbose__progress_show(struct gbose__progress *p);
void gbose__progress_end(struct gbose__progress *p);

#endif
