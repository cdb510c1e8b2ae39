/* The tables of gbose evaluate as CSV. */
#ifndef GBOSE_REPORT_EVALUATION_TABLES_H
#define GBOSE_REPORT_EVALUATION_TABLES_H

#include "report/evaluation_page.h"

/* A row a policy; the difference over the log; a row an arm; the difference for each group. */
#define GBOSE__JUDGEMENT_TABLES 4
extern const struct gbose__judgement_part gbose__judgement_tables[GBOSE__JUDGEMENT_TABLES];

/* Is there anything in it? Without the probabilities of all arms there is no audit. */
int gbose__judgement_has_table(const struct gbose__judgement *j, size_t i);

#endif
