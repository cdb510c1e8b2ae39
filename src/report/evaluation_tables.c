#include "report/evaluation_tables.h"

#include <math.h>

#include "io/csv.h"
#include "report/format.h"

static void put(FILE *to, double x, const char *end)
{
    char buf[GBOSE__NUMBER_SIZE];

    fprintf(to, "%s%s", gbose__format_number(buf, x), end);
}

static void policies_csv(FILE *to, const struct gbose__judgement *j)
{
    fputs("policy,rounds,difference,difference_lower,difference_upper,paired_lower,paired_upper,level,level_"
          "lower,level_upper,"
          "ips,snips,dm,dr,sndr,switch_dr,dr_os,cressie_read,supported,effective,largest_weight,mean_weight,"
          "mean_weight_lower,"
          "mean_weight_upper,peek,peek_lower,peek_upper\n",
          to);
    for (size_t i = 0; i < j->n; i++) {
        const gbose_policy_value *v = &j->policy[i].value;
        const gbose_difference *d = &j->policy[i].difference;
        const double values[] = {(double)v->rounds,
                                 i ? d->phi.estimate : NAN,
                                 i ? d->phi.lower : NAN,
                                 i ? d->phi.upper : NAN,
                                 i ? d->paired.lower : NAN,
                                 i ? d->paired.upper : NAN,
                                 v->level.estimate,
                                 v->level.lower,
                                 v->level.upper,
                                 v->ips,
                                 v->snips,
                                 v->dm,
                                 v->dr,
                                 v->sndr,
                                 v->switch_dr,
                                 v->dr_os,
                                 v->cressie_read,
                                 v->supported,
                                 v->effective,
                                 v->largest,
                                 v->weight.estimate,
                                 v->weight.lower,
                                 v->weight.upper,
                                 v->peek.estimate,
                                 v->peek.lower,
                                 v->peek.upper};
        size_t n = sizeof values / sizeof *values;

        gbose__csv_print(to, j->policy[i].name);
        fputc(',', to);
        for (size_t k = 0; k < n; k++)
            put(to, values[k], k + 1 < n ? "," : "\n");
    }
}

static void curve_csv(FILE *to, const struct gbose__judgement *j)
{
    fputs("policy,rounds,difference,lower,upper\n", to);
    for (size_t i = 1; i < j->n; i++)
        for (size_t k = 0; k < j->policy[i].n_curve; k++) {
            const struct gbose__curve_point *p = j->policy[i].curve + k;

            gbose__csv_print(to, j->policy[i].name);
            fputc(',', to);
            put(to, p->rounds, ",");
            put(to, p->phi.estimate, ",");
            put(to, p->phi.lower, ",");
            put(to, p->phi.upper, "\n");
        }
}

static void audit_csv(FILE *to, const struct gbose__judgement *j)
{
    fputs("arm,played,expected,standard_errors\n", to);
    for (size_t a = 0; a < j->n_arms; a++) {
        char number[24];

        snprintf(number, sizeof number, "%zu", a);
        gbose__csv_print(to, j->arm_name ? j->arm_name[a] : number);
        fputc(',', to);
        put(to, j->arm[a].played, ",");
        put(to, j->arm[a].expected, ",");
        put(to, j->arm[a].score, "\n");
    }
}

static void groups_csv(FILE *to, const struct gbose__judgement *j)
{
    gbose__csv_print(to, j->by);
    fputs(",policy,rounds,difference,lower,upper\n", to);
    for (size_t g = 0; g < j->n_groups; g++) {
        const struct gbose__judged_group *group = j->group + g;

        gbose__csv_print(to, group->value);
        fputc(',', to);
        gbose__csv_print(to, j->policy[group->policy].name);
        fputc(',', to);
        put(to, (double)group->rounds, ",");
        put(to, group->phi.estimate, ",");
        put(to, group->phi.lower, ",");
        put(to, group->phi.upper, "\n");
    }
}

const struct gbose__judgement_part gbose__judgement_tables[GBOSE__JUDGEMENT_TABLES] = {
    {"policies.csv", policies_csv},
    {"curve.csv", curve_csv},
    {"audit.csv", audit_csv},
    {"groups.csv", groups_csv}};

int gbose__judgement_has_table(const struct gbose__judgement *j, size_t i)
{
    gbose__judgement_printer *print = gbose__judgement_tables[i].print;

    return print == audit_csv ? !j->partial : print == groups_csv ? j->by != NULL : 1;
}
