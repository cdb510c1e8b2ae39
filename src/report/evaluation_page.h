/* What gbose evaluate found, as files: tables, figures and a page. */
#ifndef GBOSE_REPORT_EVALUATION_PAGE_H
#define GBOSE_REPORT_EVALUATION_PAGE_H

#include <stddef.h>
#include <stdio.h>

#include "gbose_log.h"

/* Where the difference of a policy to the first one stood after so many rounds. */
struct gbose__curve_point {
    double rounds;
    gbose_interval phi;
};

struct gbose__judged {
    const char *name;
    int saved; /* it learned before, and nobody can say from what */
    gbose_policy_value value;
    gbose_difference difference; /* to the first; not for the first */
    struct gbose__curve_point *curve;
    size_t n_curve;
    double weights[32]; /* rounds by weight: none, up to 2^-15, 2^-14, ..., 2^14, above */
};

/* The same of the rounds that have one value of the column that groups go by. */
struct gbose__judged_group {
    const char *value;
    size_t policy;
    uint64_t rounds;
    gbose_interval phi;
};

struct gbose__judgement {
    const char *title;   /* the logs' names */
    const char *summary; /* rounds, and what was left out */
    double alpha;
    struct gbose__judged *policy;
    size_t n;
    int partial; /* only the played arm's probability was logged: there is no audit */
    gbose_audit audit;
    const gbose_arm_audit *arm;
    const char *const *arm_name;
    size_t n_arms;
    const char *by; /* a column of the log; NULL: there are no groups */
    const struct gbose__judged_group *group;
    size_t n_groups;
};

/* A file of the report: what it is called, and what prints it. */
typedef void gbose__judgement_printer(FILE *to, const struct gbose__judgement *j);
struct gbose__judgement_part {
    const char *name;
    gbose__judgement_printer *print;
};

/* One sentence: which is better, by how much; or that it cannot be known, and why. */
void gbose__judgement_sentence(char *buf, size_t size, const struct gbose__judgement *j, size_t i);

/* What is wrong with a policy or the log, and what to do, one line each. Returns how many. */
size_t gbose__judgement_warnings(FILE *to, const struct gbose__judgement *j);

/* policies.csv, curve.csv, audit.csv, groups.csv, the figures and report.html. GBOSE_OK, GBOSE__EWRITE, GBOSE_ENOMEM;
 * without gnuplot there are no figures, and the page says so; GBOSE__EBADPLOT: it failed, and the rest is there. */
int gbose__judgement_write(const struct gbose__judgement *j, const char *dir, gbose_error *err);

#endif
