#include "report/evaluation_page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/file.h"
#include "report/evaluation_figures.h"
#include "report/evaluation_tables.h"
#include "report/format.h"
#include "report/gnuplot.h"
#include "report/html.h"

#define FEW 30.0          /* an effective sample below this says little */
#define AUDIT_LEAST 0.001 /* a probability below this is no accident */

/* ---- words ---- */

static const char *why_unknown(const struct gbose__judged *policy, const struct gbose__judged *first,
                               char buf[200])
{
    const gbose_policy_value *v =
        policy->value.supported < first->value.supported ? &policy->value : &first->value;

    if (v->supported < 0.999)
        snprintf(buf, 200, "%.0f%% of the mass of %s is on arms that could not have been played",
                 100 * (1 - v->supported), v == &policy->value ? policy->name : first->name);
    else if (policy->value.effective < FEW)
        snprintf(buf, 200, "the log is worth only %.0f round%s of %s (largest weight %.3g)",
                 policy->value.effective, policy->value.effective < 1.5 ? "" : "s", policy->name,
                 policy->value.largest);
    else if (policy->difference.phi.estimate == 0 && !isfinite(policy->difference.phi.lower))
        snprintf(buf, 200, "no round has told them apart: they do the same, or rewards do not differ");
    else if (!isfinite(policy->difference.phi.lower))
        snprintf(buf, 200, "too few rounds tell them apart (largest weight %.3g)", policy->value.largest);
    else
        snprintf(buf, 200, "the interval holds 0; more rounds would narrow it");
    return buf;
}

void gbose__judgement_sentence(char *buf, size_t size, const struct gbose__judgement *j, size_t i)
{
    const struct gbose__judged *policy = j->policy + i, *first = j->policy;
    const gbose_interval *phi = &policy->difference.phi;
    double width = phi->upper - phi->lower;
    char a[GBOSE__NUMBER_SIZE], b[GBOSE__NUMBER_SIZE], c[GBOSE__NUMBER_SIZE], why[200];

    if (phi->lower > 0 || phi->upper < 0) {
        int better = phi->lower > 0;

        snprintf(buf, size, "%s is %s than %s by %s [%s, %s], valid at any time%s.", policy->name,
                 better ? "better" : "worse", first->name,
                 gbose__format_to_width(a, fabs(phi->estimate), width),
                 gbose__format_to_width(b, better ? phi->lower : -phi->upper, width),
                 gbose__format_to_width(c, better ? phi->upper : -phi->lower, width),
                 policy->saved || first->saved ? " unless it learned from this log" : "");
        return;
    }
    why_unknown(policy, first, why);
    if (isfinite(width))
        snprintf(buf, size, "Whether %s is better than %s cannot be said: %s [%s, %s]; %s.", policy->name,
                 first->name, gbose__format_to_width(a, phi->estimate, width),
                 gbose__format_to_width(b, phi->lower, width), gbose__format_to_width(c, phi->upper, width),
                 why);
    else
        snprintf(buf, size, "Whether %s is better than %s cannot be said: %s.", policy->name, first->name,
                 why);
}

size_t gbose__judgement_warnings(FILE *to, const struct gbose__judgement *j)
{
    const gbose_audit *audit = &j->audit;
    size_t n = 0;

    if (!j->partial && audit->p < AUDIT_LEAST) {
        const char *name = audit->worst_arm < j->n_arms && j->arm_name ? j->arm_name[audit->worst_arm] : NULL;

        fprintf(to, "propensities: arms were not drawn as logged (p = %.2g): by arm %.3g standard errors",
                audit->p, audit->arm);
        if (name)
            fprintf(to, " ('%s')", name);
        fprintf(to,
                ", by size of p %.3g, by score %.3g. No interval below can be trusted; find out which "
                "probabilities were "
                "really used.\n",
                audit->bin, audit->score);
        n++;
    }
    for (size_t i = 0; i < j->n; i++) {
        const gbose_policy_value *v = &j->policy[i].value;

        if (v->peek.lower > 0 || v->peek.upper < 0) {
            fprintf(to,
                    "peek: %s knows which arm was drawn (it gives it %+.3g more than chance would). A policy "
                    "may use only what was "
                    "known before the draw; its numbers mean nothing.\n",
                    j->policy[i].name, v->peek.estimate);
            n++;
        } else if (v->weight.lower > 1 || v->weight.upper < 1) {
            fprintf(to,
                    "weights: the weights of %s average %.4g, and 1 is not in [%.4g, %.4g]: its "
                    "probabilities or the log's are "
                    "wrong.\n",
                    j->policy[i].name, v->weight.estimate, v->weight.lower, v->weight.upper);
            n++;
        }
        if (v->supported < 0.999) {
            fprintf(to,
                    "support: %.1f%% of the mass of %s is on arms that could not have been played: of those "
                    "nothing can be said. Log with "
                    "floor=0.1 or so.\n",
                    100 * (1 - v->supported), j->policy[i].name);
            n++;
        } else if (v->effective < FEW) {
            fprintf(to, "effective sample: the log is worth %.1f rounds of %s; the largest weight is %.3g.\n",
                    v->effective, j->policy[i].name, v->largest);
            n++;
        }
    }
    return n;
}

/* ---- the page ---- */

static void cell(FILE *to, double x, double width)
{
    char buf[GBOSE__NUMBER_SIZE];

    if (isnan(x))
        fputs("<td>-</td>", to);
    else if (isinf(x))
        fputs(x > 0 ? "<td>&infin;</td>" : "<td>-&infin;</td>", to);
    else
        fprintf(to, "<td>%s</td>", gbose__format_to_width(buf, x, width));
}

static void name_cell(FILE *to, const char *name)
{
    fputs("<tr><td>", to);
    gbose__format_html(to, name);
    fputs("</td>", to);
}

static void put_differences(FILE *to, const struct gbose__judgement *j)
{
    fputs("<h2>Policies</h2>\n<div class=\"wide names\"><table><thead><tr><th>policy</th><th>difference</th>"
          "<th>from</th><th>to</th><th class=\"edge\">level</th><th>from</th><th>to</th>"
          "<th class=\"edge\">effective sample</th><th>largest "
          "weight</th><th>supported</th></tr></thead><tbody>\n",
          to);
    for (size_t i = 0; i < j->n; i++) {
        const gbose_policy_value *v = &j->policy[i].value;
        const gbose_interval *d = &j->policy[i].difference.phi;
        double width = d->upper - d->lower, wide = v->level.upper - v->level.lower;

        name_cell(to, j->policy[i].name);
        cell(to, i ? d->estimate : NAN, width);
        cell(to, i ? d->lower : NAN, width);
        cell(to, i ? d->upper : NAN, width);
        cell(to, v->level.estimate, wide);
        cell(to, v->level.lower, wide);
        cell(to, v->level.upper, wide);
        cell(to, v->effective, 100);
        cell(to, v->largest, 0.2);
        cell(to, 100 * v->supported, 2);
        fputs("</tr>\n", to);
    }
    fputs("</tbody></table></div>\n<p><i>Difference</i>: reward a round more than the first policy, on "
          "average over the "
          "log, with an interval that holds at all "
          "times, also while the level of the rewards moves. <i>Level</i>: what the policy earns a round, "
          "likewise; - where a reward was outside of <code>--range</code>. <i>Effective sample</i>: how many "
          "rounds of "
          "the policy's own the log is worth. <i>Largest weight</i>: how many rounds the one that counts "
          "most stands for. "
          "<i>Supported</i>: per cent of its choices that the log could have shown.</p>\n",
          to);
}

static void put_estimates(FILE *to, const struct gbose__judgement *j)
{
    fputs("<h3>Other estimates of the level</h3>\n<div "
          "class=\"wide\"><table><thead><tr><th>policy</th><th>IPS</th>"
          "<th>SNIPS</th><th>DM</th><th>DR</th><th>SNDR</th><th>Switch-DR</th><th>DRos</th><th>Cressie-Read</"
          "th></tr>"
          "</thead><tbody>\n",
          to);
    for (size_t i = 0; i < j->n; i++) {
        const gbose_policy_value *v = &j->policy[i].value;
        const gbose_interval *d = &j->policy[i].difference.phi;
        double width = d->upper - d->lower, fine = fmin(isfinite(width) && i ? width : 0.01, 0.1);
        const double value[] = {v->ips,  v->snips,     v->dm,    v->dr,
                                v->sndr, v->switch_dr, v->dr_os, v->cressie_read};

        name_cell(to, j->policy[i].name);
        for (size_t k = 0; k < sizeof value / sizeof *value; k++)
            cell(to, value[k], fine);
        fputs("</tr>\n", to);
    }
    fputs("</tbody></table></div>\n<p>They have no interval here, and carry all motion of the level: to "
          "compare policies, "
          "take the difference above. <i>IPS</i> weighs rewards by how much more likely the policy's choice "
          "was; "
          "<i>DM</i> believes a regression; the others combine both.</p>\n",
          to);
}

static void put_groups(FILE *to, const struct gbose__judgement *j)
{
    fputs("<h3>By ", to);
    gbose__format_html(to, j->by);
    fputs("</h3>\n<div class=\"wide\"><table><thead><tr><th>", to);
    gbose__format_html(to, j->by);
    fputs("</th><th>policy</th><th>rounds</th><th class=\"edge\">difference</th><th>from</th><th>to</th></tr>"
          "</thead><tbody>\n",
          to);
    for (size_t g = 0; g < j->n_groups; g++) {
        const struct gbose__judged_group *group = j->group + g;
        double width = group->phi.upper - group->phi.lower;

        name_cell(to, group->value);
        fputs("<td>", to);
        gbose__format_html(to, j->policy[group->policy].name);
        fputs("</td>", to);
        cell(to, (double)group->rounds, 100);
        cell(to, group->phi.estimate, width);
        cell(to, group->phi.lower, width);
        cell(to, group->phi.upper, width);
        fputs("</tr>\n", to);
    }
    fputs("</tbody></table></div>\n<p>Each row's interval holds by itself; among many rows a few may be "
          "wrong.</p>\n",
          to);
}

static void put_warnings(FILE *to, const struct gbose__judgement *j)
{
    char *text = NULL, *rest = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);

    if (!memory)
        return;
    if (gbose__judgement_warnings(memory, j) && !fclose(memory)) {
        fputs("<div class=\"warning\">\n", to);
        for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
            gbose__html_sentence(to, NULL, line);
        fputs("</div>\n", to);
    } else if (!text) {
        fclose(memory);
    }
    free(text);
}

static int put_page(FILE *to, const struct gbose__judgement *j, const char *dir, const int there[4],
                    gbose_error *err)
{
    static const char *const captions[] = {
        "Difference to the first policy over the log, and the interval that holds at all times.",
        "How often a weight of each size came, 0 being rounds in which the policy would not have played the "
        "arm: "
        "rounds far to the right carry the estimates.",
        "What the log can say about each policy: 1 is all.",
        "Propensity audit: arms beyond the dashed lines were not played as often as logged."};
    char sentence[600];
    int rc = GBOSE_OK;

    gbose__html_begin(to, j->title);
    gbose__html_sentence(to, NULL, j->summary);
    for (size_t i = 1; i < j->n; i++) {
        gbose__judgement_sentence(sentence, sizeof sentence, j, i);
        gbose__html_sentence(to, "found", sentence);
    }
    put_warnings(to, j);
    for (size_t i = 0; i < 4 && !rc; i++) {
        if (i == 1) {
            put_differences(to, j);
            put_estimates(to, j);
            if (j->by)
                put_groups(to, j);
            fputs("<h2>Can the log answer?</h2>\n", to);
        }
        if (there[i])
            rc = gbose__html_single(to, dir, gbose__judgement_figures[i].name, i + 1, captions[i], err);
    }
    if (!there[2])
        gbose__html_sentence(to, NULL, "Figures need gnuplot, which was not found or failed.");
    if (j->partial)
        gbose__html_sentence(
            to, NULL, "Only the played arm's probability is logged, so that there is no propensity audit.");
    else
        fprintf(to,
                "<p>Propensity audit: by arm %.3g standard errors, by size of probability %.3g, by score "
                "%.3g; together p = %.3g.</p>\n",
                j->audit.arm, j->audit.bin, j->audit.score, j->audit.p);
    fputs("<h2>Files</h2>\n<ul>\n<li><a href=\"policies.csv\">policies.csv</a>: a row a policy, with the "
          "exact paired interval</li>\n"
          "<li><a href=\"curve.csv\">curve.csv</a>: the difference over the log</li>\n",
          to);
    if (!j->partial)
        fputs("<li><a href=\"audit.csv\">audit.csv</a>: a row an arm</li>\n", to);
    if (j->by)
        fputs("<li><a href=\"groups.csv\">groups.csv</a>: the difference for each group</li>\n", to);
    fputs("</ul>\n", to);
    gbose__html_end(to);
    return rc;
}

/* ---- files ---- */

/* Is there anything to draw over time? */
static int has_curve(const struct gbose__judgement *j)
{
    for (size_t k = 1; k < j->n; k++)
        if (j->policy[k].n_curve && isfinite(j->policy[k].difference.phi.upper))
            return 1;
    return 0;
}

static int write_file(const char *dir, const char *name, gbose__judgement_printer *print,
                      const struct gbose__judgement *j, gbose_error *err)
{
    struct gbose__file f;
    int rc = gbose__file_open(&f, dir, name, err);

    if (rc)
        return rc;
    print(f.to, j);
    return gbose__file_close(&f, err);
}

int gbose__judgement_write(const struct gbose__judgement *j, const char *dir, gbose_error *err)
{
    struct gbose__file f;
    gbose_error drawing = {0, ""};
    int there[4] = {0}, rc = gbose__file_make_dirs(dir, err), drawn = GBOSE_OK;

    for (size_t i = 0; i < GBOSE__JUDGEMENT_TABLES && !rc; i++)
        if (gbose__judgement_has_table(j, i))
            rc = write_file(dir, gbose__judgement_tables[i].name, gbose__judgement_tables[i].print, j, err);
    for (size_t i = 0; i < 4 && !rc; i++) {
        char name[40];

        if ((i == 0 && !has_curve(j)) || (i == 3 && (j->partial || !j->n_arms)))
            continue;
        snprintf(name, sizeof name, "%s.gp", gbose__judgement_figures[i].name);
        rc = write_file(dir, name, gbose__judgement_figures[i].print, j, err);
        drawn = rc || drawn ? drawn : gbose__gnuplot(dir, gbose__judgement_figures[i].name, &drawing);
        there[i] = !rc && !drawn;
    }
    rc = rc ? rc : gbose__file_open(&f, dir, "report.html", err);
    if (rc)
        return rc;
    rc = put_page(f.to, j, dir, there, err);
    if (rc) {
        gbose__file_abandon(&f);
        return rc;
    }
    rc = gbose__file_close(&f, err);
    return rc ? rc : gbose__gnuplot_missed(drawn, &drawing, err);
}
