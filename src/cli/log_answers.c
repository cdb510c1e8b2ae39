#include "cli/log_answers.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/format.h"

#define WIDTH 80
#define NAME_LEAST 12

/* How wide the column of names is, when `others` columns of characters are beside it: as the longest name needs, if there is room. */
static int name_width(size_t longest, int others)
{
    int room = WIDTH - others;

    return longest < NAME_LEAST ? NAME_LEAST : longest < (size_t)room ? (int)longest : room;
}

/* Characters of a text in UTF-8. */
static size_t characters(const char *text)
{
    size_t n = 0;

    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

/* A name in its column; one that is too long has a line of its own. */
static void print_name(FILE *to, const char *name, int width)
{
    int length = (int)characters(name);

    if (length > width)
        fprintf(to, "%s\n%*s", name, width, "");
    else
        fprintf(to, "%s%*s", name, width - length, "");
}

static size_t longest_name(const struct gbose__judgement *j)
{
    size_t most = 0;

    for (size_t i = 0; i < j->n; i++)
        most = characters(j->policy[i].name) > most ? characters(j->policy[i].name) : most;
    return most;
}

static void print_estimates(FILE *to, const struct gbose__judgement *j, int width)
{
    static const char *const heads[] = {"IPS", "SNIPS", "DM", "DR", "SNDR", "Switch", "DRos", "C-Read"};

    fprintf(to, "\n%-*s", width, "estimates");
    for (size_t k = 0; k < sizeof heads / sizeof *heads; k++)
        fprintf(to, " %7s", heads[k]);
    fputc('\n', to);
    for (size_t i = 0; i < j->n; i++) {
        const gbose_policy_value *v = &j->policy[i].value;
        const double value[] = {v->ips,  v->snips,     v->dm,    v->dr,
                                v->sndr, v->switch_dr, v->dr_os, v->cressie_read};

        print_name(to, j->policy[i].name, width);
        for (size_t k = 0; k < sizeof value / sizeof *value; k++)
            if (isnan(value[k]))
                fprintf(to, " %7s", "-");
            else
                fprintf(to, " %7.*g", fabs(value[k]) < 0.01 ? 3 : 4, value[k]);
        fputc('\n', to);
    }
}

/* How wide a column of intervals is: as the longest of them needs. */
static void widen(int *width, const gbose_interval *i)
{
    char text[GBOSE__INTERVAL_SIZE];
    int length = (int)strlen(gbose__format_interval(text, i->estimate, i->lower, i->upper));

    *width = length > *width ? length : *width;
}

void answers_print_policies(FILE *to, const struct gbose__judgement *j, double low, double high)
{
    char text[GBOSE__INTERVAL_SIZE];
    int first = 12, second = 8, name;

    for (size_t i = 0; i < j->n; i++) {
        if (i)
            widen(&first, &j->policy[i].difference.phi);
        widen(&second, &j->policy[i].value.level);
    }
    name = name_width(longest_name(j), first + second + 22);
    fprintf(to, "\n%-*s  %*s  %*s %8s %8s\n", name, "policy", first, "difference", second, "level",
            "worth of", "largest");
    fprintf(to, "%-*s  %*s  %*s %8s %8s\n", name, "", first, "to the first", second, "", "rounds", "weight");
    for (size_t i = 0; i < j->n; i++) {
        const gbose_policy_value *v = &j->policy[i].value;
        const gbose_interval *d = &j->policy[i].difference.phi;

        print_name(to, j->policy[i].name, name);
        fprintf(to, "  %*s", first, i ? gbose__format_interval(text, d->estimate, d->lower, d->upper) : "");
        fprintf(to, "  %*s %8.0f %8.3g\n", second,
                gbose__format_interval(text, v->level.estimate, v->level.lower, v->level.upper), v->effective,
                v->largest);
    }
    if (isnan(j->policy[0].value.level.lower))
        fprintf(to,
                "Levels have no interval: a reward was outside of [%g, %g]; --range LOW,HIGH says\n"
                "what is possible.\n",
                low, high);
    print_estimates(to, j, name_width(longest_name(j), 64));
}

void answers_print_groups(FILE *to, const struct gbose__judgement *j)
{
    char text[GBOSE__INTERVAL_SIZE];
    size_t longest = characters(j->by);
    int value, name, difference = 10;

    for (size_t g = 0; g < j->n_groups; g++) {
        longest = characters(j->group[g].value) > longest ? characters(j->group[g].value) : longest;
        widen(&difference, &j->group[g].phi);
    }
    name = name_width(longest_name(j), difference + 24 + NAME_LEAST);
    value = name_width(longest, difference + 12 + name);
    fprintf(to, "\n%-*s %-*s %8s  %*s\n", value, j->by, name, "policy", "rounds", difference, "difference");
    for (size_t g = 0; g < j->n_groups; g++) {
        const struct gbose__judged_group *group = j->group + g;

        print_name(to, group->value, value);
        fputc(' ', to);
        print_name(to, j->policy[group->policy].name, name);
        fprintf(to, " %8" PRIu64 "  %*s\n", group->rounds, difference,
                gbose__format_interval(text, group->phi.estimate, group->phi.lower, group->phi.upper));
    }
    fputs("Each row's interval holds by itself; among many rows a few may be wrong.\n", to);
}

/* Limits alone, in brackets. */
static void print_limits(FILE *to, const gbose_interval *i, double width)
{
    char a[GBOSE__NUMBER_SIZE], b[GBOSE__NUMBER_SIZE], both[2 * GBOSE__NUMBER_SIZE + 8] = "not yet";

    if (isfinite(i->lower))
        snprintf(both, sizeof both, "[%s, %s]", gbose__format_to_width(a, i->lower, width),
                 gbose__format_to_width(b, i->upper, width));
    fprintf(to, " %20s", both);
}

void answers_print_effects(FILE *to, const struct gbose__effect_row *rows, size_t n, double level, int trial)
{
    char sentence[GBOSE__SENTENCE_SIZE];
    size_t longest = 0;
    int width;

    for (size_t i = 0; i < n; i++)
        if (rows[i].known) {
            gbose__effect_sentence(sentence, sizeof sentence, rows + i);
            fprintf(to, "%s\n", sentence);
            longest = characters(rows[i].name) > longest ? characters(rows[i].name) : longest;
        }
    gbose__effects_unknown(sentence, sizeof sentence, rows, n, !trial);
    if (*sentence)
        fprintf(to, "%s\n", sentence);
    if (!longest)
        return;
    width = name_width(longest, trial ? 43 : 64);
    fprintf(to, "\n%-*s %11s %9s %20s", width, "effect", "estimate", "error", "one look");
    fprintf(to, trial ? "\n" : " %20s\n", "any time");
    for (size_t i = 0; i < n; i++) {
        const gbose_effect_value *v = &rows[i].value;
        double wide = v->fixed.upper - v->fixed.lower;

        if (!rows[i].known)
            continue;
        print_name(to, rows[i].name, width);
        fprintf(to, " %11.5g %9.3g", v->estimate, v->error);
        print_limits(to, &v->fixed, wide);
        if (!trial)
            print_limits(to, &v->anytime, wide);
        fputc('\n', to);
    }
    if (trial)
        fputs("Participants must be independent. Where a learner pooled over them set the\n"
              "probabilities they are not quite.\n",
              to);
    else
        fprintf(to,
                "\"One look\" holds at %g%% at a time that was chosen beforehand, \"any time\" for\n"
                "looks as often as one likes.\n",
                100 * level);
}
