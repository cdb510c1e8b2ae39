/* Policies that a log is asked about, by name. */
#ifndef GBOSE_CLI_POLICIES_H
#define GBOSE_CLI_POLICIES_H

#include "cli/logs.h"

enum policy_kind {
    POLICY_LOGGED,
    POLICY_UNIFORM,
    POLICY_ARM,
    POLICY_GREEDY,
    POLICY_STATE,
    POLICY_COLUMN,
    POLICY_TABLE,
    POLICY_LEARNER
};

struct policy {
    enum policy_kind kind;
    const char *name;   /* as it was given */
    const char *detail; /* behind the colon or equals sign */
    gbose *g;           /* GREEDY, STATE, LEARNER; of a learner NULL until the first line */
    gbose_scratch *scratch;
    double *pmf; /* of this round */
    size_t room;
    struct names keys; /* TABLE: an arm and the values of other columns, and their probability */
    double *value;
    size_t n_by;
    char **by;       /* names of the columns that it depends on */
    uint64_t rounds; /* decided */
    /* replay */
    double accept; /* c; 0: no replay */
    uint64_t accepted;
};

/* "logged", "uniform", "arm=ID", "greedy:STATE", "state:STATE", "column:NAME", "table:FILE"; or, with
 * `learner`, the spec of one. EXIT_FINE, or said why. policy_clear() in any case. */
int policy_open(struct policy *p, const char *command, const char *text, int learner);
void policy_clear(struct policy *p);

/* Its probabilities in a round, into p->pmf. GBOSE_OK; GBOSE_EINVAL if the line does not fit; other codes. */
int policy_decide(struct policy *p, const struct gbose__record *r, const gbose_schema *schema,
                  gbose_error *err);

/* What came of it: a learner learns. */
int policy_learn(struct policy *p, const struct gbose__record *r, gbose_error *err);

#endif
