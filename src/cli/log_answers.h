/* What gbose evaluate and gbose effects found, as tables that fit a terminal of 80 columns. */
#ifndef GBOSE_CLI_LOG_ANSWERS_H
#define GBOSE_CLI_LOG_ANSWERS_H

#include <stdio.h>

#include "report/effects_page.h"
#include "report/evaluation_page.h"

/* Differences to the first policy and levels with their intervals; then estimates of the levels without. Rewards were said to be
 * within [low, high]. */
void answers_print_policies(FILE *to, const struct gbose__judgement *j, double low, double high);

/* Differences for each group. */
void answers_print_groups(FILE *to, const struct gbose__judgement *j);

/* A sentence for each effect that is known, one for those that are not, and the table. A trial has no intervals for all times. */
void answers_print_effects(FILE *to, const struct gbose__effect_row *rows, size_t n, double level, int trial);

#endif
