/* The figures of gbose evaluate: what each is called, and its gnuplot script. */
#ifndef GBOSE_REPORT_EVALUATION_FIGURES_H
#define GBOSE_REPORT_EVALUATION_FIGURES_H

#include "report/evaluation_page.h"

typedef void gbose__judgement_printer(FILE *to, const struct gbose__judgement *j);

/* Difference over time, weights, support, propensity audit. */
extern const struct gbose__judgement_figure {
    const char *name;
    gbose__judgement_printer *print;
} gbose__judgement_figures[4];

#endif
