/* The figures of gbose evaluate: what each is called, and its gnuplot script. */
#ifndef GBOSE_REPORT_EVALUATION_FIGURES_H
#define GBOSE_REPORT_EVALUATION_FIGURES_H

#include "report/evaluation_page.h"

/* Difference over time, weights, support, propensity audit. */
extern const struct gbose__judgement_part gbose__judgement_figures[4];

#endif
