/* Effects as sentences, tables, a forest plot and a page. */
#ifndef GBOSE_REPORT_EFFECTS_PAGE_H
#define GBOSE_REPORT_EFFECTS_PAGE_H

#include <stddef.h>

#include "gbose_log.h"

/* Of a feature of arms, or of a trial: of the treatment itself, or of what its effect depends on. */
enum gbose__effect_kind { GBOSE__EFFECT_FEATURE, GBOSE__EFFECT_TREATMENT, GBOSE__EFFECT_MODERATOR };

struct gbose__effect_row {
    char *name;
    enum gbose__effect_kind kind;
    int known;  /* 0: the log does not identify it */
    char *unit; /* what it is for each of: "unit", "4.8 of action.price"; NULL or "": nothing */
    gbose_effect_value value;
};

struct gbose__effects_table {
    const char *title;
    double level;
    int anytime; /* 0: there are no intervals for all times */
    const struct gbose__effect_row *row;
    size_t n;
};

#define GBOSE__SENTENCE_SIZE 3000 /* of a sentence, names of two columns included */

/* "action.price lowers the reward by 0.12 for each 4.8 of action.price [0.08, 0.16], at one look." The row is known. */
void gbose__effect_sentence(char *buf, size_t size, const struct gbose__effect_row *row);

/* "The log cannot tell about a, b: chance never chose between arms that differ in it." Empty if all are
 * known. In a trial (anytime is 0) it is for want of participants. */
void gbose__effects_unknown(char *buf, size_t size, const struct gbose__effect_row *rows, size_t n,
                            int anytime);

/* effects.csv, forest.svg and others, report.html. GBOSE_OK, GBOSE__EWRITE, GBOSE_ENOMEM; without gnuplot there is
 * no figure, and the page says so; GBOSE__EBADPLOT: it failed, and the rest is there. */
int gbose__effects_write(const struct gbose__effects_table *t, const char *dir, gbose_error *err);

#endif
