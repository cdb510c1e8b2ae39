/* gbose evaluate: what other policies would have earned, from a log. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/log_answers.h"
#include "cli/logs.h"
#include "cli/policies.h"
#include "core/error.h"
#include "report/evaluation_page.h"

#define GROUPS_MOST 1000
#define CURVE_STEP 1.04 /* from one point of a curve to the next */

struct evaluating {
    struct logs logs;
    gbose_evaluation_options set;
    struct policy *policy;
    struct gbose__judged *judged;
    const double **pmf;
    size_t n;
    gbose_evaluation *e;
    uint64_t rounds;
    double next;         /* round of the next point of the curves */
    struct names groups; /* values of logs.by */
    gbose_evaluation **group;
    double replay;
};

static int add_point(struct evaluating *v)
{
    for (size_t i = 1; i < v->n; i++) {
        struct gbose__judged *judged = v->judged + i;
        struct gbose__curve_point *grown = realloc(judged->curve, (judged->n_curve + 1) * sizeof *grown);
        gbose_difference d;

        if (!grown || gbose_evaluation_difference(v->e, i, &d))
            return GBOSE_ENOMEM;
        judged->curve = grown;
        judged->curve[judged->n_curve++] = (struct gbose__curve_point){(double)v->rounds, d.phi};
    }
    return GBOSE_OK;
}

/* The evaluation of the record's group. */
static int group_of(struct evaluating *v, const struct gbose__record *r, size_t dim, gbose_evaluation **out,
                    gbose_error *err)
{
    char value[256];
    size_t at, before = v->groups.n;

    logs_by(&v->logs, r, value, sizeof value);
    if (names_find(&v->groups, value, &at))
        return gbose__no_memory(err);
    if (v->groups.n > before) {
        gbose_evaluation **grown = realloc(v->group, v->groups.n * sizeof *grown);

        if (!grown)
            return gbose__no_memory(err);
        v->group = grown;
        v->group[at] = NULL;
        if (v->groups.n > GROUPS_MOST)
            return gbose__fail(err, GBOSE_ESPEC,
                               "'%s' has more than %d values; --by %s:N takes the first N characters",
                               v->logs.by, GROUPS_MOST, v->logs.by);
    }
    if (!v->group[at]) {
        int rc = gbose_evaluation_new(&v->group[at], v->n, dim, &v->set, err);
        if (rc)
            return rc;
    }
    *out = v->group[at];
    return GBOSE_OK;
}

static void count_weight(double *weights, double w)
{
    int k = w > 0 ? 16 + (int)ceil(log2(w)) : 0;

    weights[k < 0 || (k == 0 && w > 0) ? 1 : k > 31 ? 31 : k]++;
}

static int take(void *user, const struct gbose__record *r, gbose_error *err)
{
    struct evaluating *v = user;
    gbose_logged row;
    gbose_evaluation *group = NULL;
    size_t dim = r->partial ? 0 : r->dim;
    int rc;

    if (!r->has_reward) {
        v->logs.missing++;
        return GBOSE_OK;
    }
    rc = logs_row(&v->logs, r, &row, err);
    if (!rc && !v->e)
        rc = gbose_evaluation_new(&v->e, v->n, dim, &v->set, err);
    for (size_t i = 0; i < v->n && !rc; i++) {
        rc = policy_decide(v->policy + i, r, v->logs.schema, err);
        v->pmf[i] = v->policy[i].pmf;
    }
    rc = rc ? rc : gbose_evaluation_add(v->e, &row, v->pmf, err);
    if (!rc && v->logs.by) {
        rc = group_of(v, r, dim, &group, err);
        rc = rc ? rc : gbose_evaluation_add(group, &row, v->pmf, err);
    }
    for (size_t i = 0; i < v->n && !rc; i++) {
        count_weight(v->judged[i].weights, v->pmf[i][r->arm] / r->pmf[r->arm]);
        rc = policy_learn(v->policy + i, r, err);
    }
    if (rc)
        return rc;
    v->rounds++;
    if ((double)v->rounds >= v->next) {
        v->next = fmax(v->next + 1, v->next * CURVE_STEP);
        if (add_point(v))
            return gbose__no_memory(err);
    }
    return GBOSE_OK;
}

/* ---- options ---- */

static int number_of(double *out, const char *command, struct arg *args, const char *name)
{
    struct arg *arg = args_named(args, name);
    char *end;

    if (!arg->given)
        return EXIT_FINE;
    errno = 0;
    *out = strtod(arg->value[0], &end);
    if (end == arg->value[0] || *end || errno || !isfinite(*out))
        return usage_error(command, "--%s must be a number; got '%s'", name, arg->value[0]);
    return EXIT_FINE;
}

static int read_range(struct evaluating *v, struct arg *args)
{
    struct arg *arg = args_named(args, "range");
    char tail;

    if (arg->given && sscanf(arg->value[0], "%lf,%lf%c", &v->set.low, &v->set.high, &tail) != 2)
        return usage_error(v->logs.command,
                           "--range must be LOW,HIGH: what rewards are known to be within; got '%s'",
                           arg->value[0]);
    if (!(v->set.low < v->set.high) || !isfinite(v->set.low) || !isfinite(v->set.high))
        return usage_error(v->logs.command, "--range must be LOW,HIGH with LOW below HIGH; got '%s'",
                           arg->value[0]);
    return EXIT_FINE;
}

static int open_policies(struct evaluating *v, struct arg *args)
{
    const struct arg *policies = args_named(args, "policy"), *learners = args_named(args, "learner");
    size_t n = (size_t)policies->n + (size_t)learners->n, extra = policies->n == 0;

    if (n == 0)
        return usage_error(v->logs.command,
                           "nothing is asked; give --policy uniform, or --learner gbose-auto");
    v->policy = calloc(n + extra, sizeof *v->policy);
    v->judged = calloc(n + extra, sizeof *v->judged);
    v->pmf = calloc(n + extra, sizeof *v->pmf);
    if (!v->policy || !v->judged || !v->pmf) {
        fprintf(stderr, "gbose: out of memory\n");
        return EXIT_BROKEN;
    }
    for (size_t i = 0; i < n + extra; i++) {
        int learner = i >= (size_t)policies->n + extra;
        const char *text = learner ? learners->value[i - (size_t)policies->n - extra]
                           : extra ? "logged"
                                   : policies->value[i];
        int rc = policy_open(v->policy + v->n++, v->logs.command, text, learner);

        if (rc)
            return rc;
        v->policy[i].accept = learner ? v->replay : 0;
        for (size_t k = 0; k < v->policy[i].n_by; k++)
            v->logs.set.keep_features |=
                strchr(v->policy[i].by[k], '.') != NULL; /* a table goes by a feature */
        v->judged[i].name = text;
        v->judged[i].saved = v->policy[i].kind == POLICY_GREEDY || v->policy[i].kind == POLICY_STATE;
    }
    return EXIT_FINE;
}

static int options(struct evaluating *v, struct arg *args)
{
    const char *command = v->logs.command;
    double level = 0.95;
    int rc;

    v->set = gbose_evaluation_defaults();
    v->next = 50;
    rc = number_of(&level, command, args, "level");
    rc = rc ? rc : number_of(&v->set.switch_at, command, args, "switch");
    rc = rc ? rc : number_of(&v->set.shrink, command, args, "shrink");
    rc = rc ? rc : number_of(&v->set.horizon, command, args, "horizon");
    rc = rc ? rc : number_of(&v->replay, command, args, "replay");
    rc = rc ? rc : read_range(v, args);
    if (rc)
        return rc;
    if (!(level > 0 && level < 1))
        return usage_error(command, "--level must be between 0 and 1; got %g", level);
    if (args_named(args, "replay")->given && !(v->replay > 0 && v->replay <= 1))
        return usage_error(command,
                           "--replay must be above 0 and at most 1: the smallest logged probability; got %g",
                           v->replay);
    if (args_named(args, "replay")->given && !args_named(args, "learner")->given)
        return usage_error(command, "--replay is for learners, and there is none; give --learner SPEC");
    if (!(v->set.switch_at > 0) || !(v->set.shrink > 0) || !(v->set.horizon >= 1))
        return usage_error(command, "--switch and --shrink must be above 0, and --horizon at least 1");
    v->set.alpha = 1 - level;
    rc = logs_by_option(&v->logs, args);
    return rc ? rc : open_policies(v, args);
}

/* ---- what is printed ---- */

static void print_replay(const struct evaluating *v)
{
    for (size_t i = 0; i < v->n; i++)
        if (v->policy[i].accept > 0)
            printf("%s learned from %" PRIu64 " of %" PRIu64
                   " rounds (%.1f%%), those that it could have drawn itself (replay with c = %g). Where "
                   "rewards drift it saw the drift %.3g times as fast: compare learners, not levels.\n",
                   v->policy[i].name, v->policy[i].accepted, v->rounds,
                   100.0 * (double)v->policy[i].accepted / (double)v->rounds, v->policy[i].accept,
                   (double)v->rounds / fmax(1, (double)v->policy[i].accepted));
}

/* Differences for each group. NULL: out of memory. */
static struct gbose__judged_group *fill_groups(struct evaluating *v, size_t *n)
{
    struct gbose__judged_group *out = calloc(v->groups.n * v->n + 1, sizeof *out);

    *n = 0;
    for (size_t g = 0; out && g < v->groups.n; g++)
        for (size_t i = 1; i < v->n && v->group[g]; i++) {
            gbose_difference d;
            gbose_policy_value value;

            if (!gbose_evaluation_difference(v->group[g], i, &d) &&
                !gbose_evaluation_policy(v->group[g], i, &value))
                out[(*n)++] = (struct gbose__judged_group){v->groups.text[g], i, value.rounds, d.phi};
        }
    return out;
}

static int report(struct evaluating *v, const char *dir)
{
    struct gbose__judgement j = {.title = v->logs.path[0],
                                 .alpha = v->set.alpha,
                                 .policy = v->judged,
                                 .n = v->n,
                                 .partial = v->logs.partial};
    struct gbose__judged_group *groups = fill_groups(v, &j.n_groups);
    gbose_arm_audit *arms = NULL;
    gbose_error err = {0, ""};
    char sentence[600], *summary = NULL;
    size_t size, n_arms = v->logs.ids.n, most = n_arms;
    FILE *memory = open_memstream(&summary, &size);
    int rc = memory && groups ? GBOSE_OK : gbose__no_memory(&err);

    if (memory) {
        logs_summary(&v->logs, memory);
        fclose(memory);
        j.summary = summary;
    }
    for (size_t i = 0; i < v->n; i++) {
        gbose_evaluation_policy(v->e, i, &v->judged[i].value);
        if (i)
            gbose_evaluation_difference(v->e, i, &v->judged[i].difference);
    }
    gbose_evaluation_audit(v->e, &j.audit);
    if (!n_arms) { /* arms without ids are called by their places */
        gbose_arm_audit a;
        for (most = 0; most < 100000 && !gbose_evaluation_arm(v->e, most, &a); most++)
            if (a.expected > 0)
                n_arms = most + 1;
    }
    arms = calloc(n_arms + 1, sizeof *arms);
    rc = rc ? rc : arms ? GBOSE_OK : gbose__no_memory(&err);
    for (size_t a = 0; a < n_arms && !rc; a++)
        gbose_evaluation_arm(v->e, a, arms + a);
    j.arm = arms;
    j.n_arms = n_arms;
    j.by = v->logs.by;
    j.group = groups;
    j.arm_name = v->logs.ids.n ? (const char *const *)v->logs.ids.text : NULL;
    if (!rc) {
        fputs(summary, stdout);
        for (size_t i = 1; i < v->n; i++) {
            gbose__judgement_sentence(sentence, sizeof sentence, &j, i);
            puts(sentence);
        }
        gbose__judgement_warnings(stdout, &j);
        print_replay(v);
        answers_print_policies(stdout, &j, v->set.low, v->set.high);
        if (v->logs.by)
            answers_print_groups(stdout, &j);
        if (v->logs.partial)
            puts("Only the played arm's probability is logged: there is no propensity audit, and contexts "
                 "are not used.");
        if (dir)
            rc = gbose__judgement_write(&j, dir, &err);
        if (dir && !rc)
            printf("The report is in %s/report.html\n", dir);
    }
    free(summary);
    free(arms);
    free(groups);
    if (rc)
        fprintf(stderr, "gbose %s: %s\n", v->logs.command, err.text);
    return rc ? EXIT_BROKEN : EXIT_FINE;
}

static int run(int argc, char **argv)
{
    struct arg args[] = {LOG_ARGS,
                         {.name = "policy", .most = MANY},
                         {.name = "learner", .most = MANY},
                         {.name = "level", .most = 1},
                         {.name = "range", .most = 1},
                         {.name = "by", .most = 1},
                         {.name = "replay", .most = 1},
                         {.name = "switch", .most = 1},
                         {.name = "shrink", .most = 1},
                         {.name = "horizon", .most = 1},
                         {.name = "out", .most = 1},
                         {.name = NULL}};
    struct evaluating v = {0};
    int rc = args_parse(argc, argv, args);

    if (!rc)
        rc = logs_options(&v.logs, argv[0], args);
    if (!rc)
        rc = options(&v, args);
    if (!rc)
        rc = logs_each(&v.logs, take, &v);
    if (!rc && !v.rounds)
        rc = logs_nothing(&v.logs);
    rc = rc ? rc : logs_by_seen(&v.logs);
    if (!rc)
        rc = report(&v, args_named(args, "out")->given ? args_named(args, "out")->value[0] : NULL);
    for (size_t i = 0; i < v.n; i++) {
        policy_clear(v.policy + i);
        free(v.judged[i].curve);
    }
    for (size_t i = 0; i < v.groups.n; i++)
        gbose_evaluation_free(v.group[i]);
    gbose_evaluation_free(v.e);
    names_clear(&v.groups);
    free(v.group);
    free(v.policy);
    free(v.judged);
    free(v.pmf);
    logs_clear(&v.logs);
    args_clear(args);
    return rc;
}

const struct command cmd_evaluate = {
    "evaluate", "would another policy have earned more? From a log",
    "Usage: gbose evaluate LOG... --policy P... [--learner SPEC...] [--out DIR]\n\n"
    "Says how much more, or less, each policy would have earned than the first one. The intervals hold\n"
    "however often you look, whatever moves the level of the rewards, and whichever policy made the log.\n"
    "Where the log cannot tell, the answer says why.\n\n"
    "  --policy P      logged (what was done), uniform, arm=ID (always this arm), greedy:STATE (the best "
    "arm\n"
    "                  according to a saved learner), state:STATE (a saved learner as it decides),\n"
    "                  column:NAME (probabilities that the log has under 'policies'), table:FILE (a CSV "
    "with\n"
    "                  columns arm and probability, and columns of the log that they depend on)\n"
    "  --learner SPEC  a learner that learns from the log line by line; each line is asked before it is "
    "learned\n"
    "  --replay C      learners learn only from lines that they could have drawn themselves: a line is kept\n"
    "                  with probability C pi/p. C is at most the smallest probability in the log\n"
    "  --range L,H     the interval that all rewards lie in (0,1); levels and the exact difference need it\n"
    "  --level P       the level of confidence (0.95)\n"
    "  --by COLUMN     a result for each value of a column of the log; COLUMN:N takes the first N "
    "characters\n"
    "                  of the value, so that t:10 gives a result for each day\n"
    "  --switch W      Switch-DR uses the regression alone where a weight is above W (10)\n"
    "  --shrink S      by how much DRos shrinks weights (100)\n"
    "  --horizon T     the number of rounds after which intervals are to be narrowest (10000)\n"
    "  --out DIR       where to put report.html with its figures, and the tables as CSV\n" LOG_HELP
    "\nExamples:\n"
    "  gbose evaluate monday.jsonl.gz --policy logged uniform --learner gbose-auto\n"
    "  gbose evaluate random.csv.gz --format obd --arms 34 --policy logged table:bts.csv --by position\n",
    run};
