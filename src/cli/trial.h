/* gbose effects --wcls: the table of a micro-randomised trial. */
#ifndef GBOSE_CLI_TRIAL_H
#define GBOSE_CLI_TRIAL_H

#include "cli/logs.h"
#include "report/effects_page.h"

/* Rows of the table, to be freed with their names; EXIT_FINE, or said why. */
int trial_rows(struct gbose__effect_row **rows, size_t *n, struct logs *logs, struct arg *args, double level);

#endif
