/* report.html: the whole study on one page that needs nothing beside itself, no network and no script. */
#ifndef GBOSE_REPORT_REPORT_H
#define GBOSE_REPORT_REPORT_H

#include <stddef.h>

#include "report/figures.h"
#include "study/plan.h"
#include "study/summary.h"

/* Write DIR/report.html, with the figures (n of them) that are in DIR/figures.
 *   command_line  what the user typed; NULL: not known.
 *   no_figures    why there are no figures, or not all; NULL: they are all there.
 * GBOSE_OK, GBOSE_ENOMEM, GBOSE__EWRITE, GBOSE__EREAD. */
int gbose__report_write(const struct gbose__study *s, const struct gbose__summary *all,
                        const struct gbose__figure *figures, size_t n, const char *no_figures,
                        const char *dir, const char *command_line, gbose_error *err);

#endif
