#include "report/evaluation_page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/csv.h"
#include "io/file.h"
#include "report/format.h"
#include "report/gnuplot.h"

#define FEW 30.0          /* an effective sample below this says little */
#define AUDIT_LEAST 0.001 /* a probability below this is no accident */

/* Numbers in a sentence have as many digits as the interval's width makes sense of. */
static const char *say(char buf[32], double x, double width)
{
    int digits = width > 0 && isfinite(width) ? (int)ceil(1.3 - log10(width)) : 4;

    snprintf(buf, 32, "%.*f", digits < 0 ? 0 : digits > 9 ? 9 : digits, x);
    return buf;
}

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
        snprintf(buf, 200, "the log is worth only %.0f rounds of %s (largest weight %.3g)",
                 policy->value.effective, policy->name, policy->value.largest);
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
    char a[32], b[32], c[32], why[200];

    if (phi->lower > 0 || phi->upper < 0) {
        int better = phi->lower > 0;

        snprintf(buf, size, "%s is %s than %s by %s [%s, %s], valid at any time.", policy->name,
                 better ? "better" : "worse", first->name, say(a, fabs(phi->estimate), width),
                 say(b, better ? phi->lower : -phi->upper, width),
                 say(c, better ? phi->upper : -phi->lower, width));
        return;
    }
    why_unknown(policy, first, why);
    if (isfinite(width))
        snprintf(buf, size, "Whether %s is better than %s cannot be said: %s [%s, %s]; %s.", policy->name,
                 first->name, say(a, phi->estimate, width), say(b, phi->lower, width),
                 say(c, phi->upper, width), why);
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

        fprintf(to, "propensities: arms were not drawn as logged (p = %.2g): by arm %.1f standard errors",
                audit->p, audit->arm);
        if (name)
            fprintf(to, " ('%s')", name);
        fprintf(to,
                ", by size of p %.1f, by score %.1f. No interval below can be trusted; find out which "
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

/* ---- tables ---- */

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

/* ---- figures ---- */

/* Okabe and Ito's, which colour-blind readers can tell apart. */
static unsigned colour_of(size_t i)
{
    static const unsigned colours[] = {0x666666, 0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00, 0x56b4e9};

    return colours[i % (sizeof colours / sizeof *colours)];
}

static void terminals(FILE *to, const char *what)
{
    fprintf(
        to,
        "do for [ending in \"svg png pdf\"] {\n"
        "  if (ending eq \"svg\") { set terminal svg size 760,420 font \"sans,13\" background \"white\" }\n"
        "  if (ending eq \"png\") { set terminal pngcairo size 1520,840 font \"sans,13\" fontscale 2 }\n"
        "  if (ending eq \"pdf\") { set terminal pdfcairo size 7.6in,4.2in font \"sans,13\" }\n"
        "  set output out.\".\".ending\n  %s\n  unset output\n}\n",
        what);
}

static void difference_figure(FILE *to, const struct gbose__judgement *j)
{
    fputs("set xlabel \"logged rounds\"\nset ylabel \"difference of reward a round\"\nset logscale x\nset "
          "xrange [*:*] noextend\nset grid ytics lc rgb \"#dddddd\"\n"
          "set key outside top center horizontal noenhanced\nset border 3\nset tics nomirror\n",
          to);
    for (size_t i = 1; i < j->n; i++) {
        fprintf(to, "$d%zu << EOD\n", i);
        for (size_t k = 0; k < j->policy[i].n_curve; k++) {
            const struct gbose__curve_point *p = j->policy[i].curve + k;

            if (isfinite(p->phi.lower) && isfinite(p->phi.upper))
                fprintf(to, "%.17g %.17g %.17g %.17g\n", p->rounds, p->phi.estimate, p->phi.lower,
                        p->phi.upper);
        }
        fputs("EOD\n", to);
    }
    fputs("draw = \"plot 0 lc rgb 'black' lw 0.5 notitle", to);
    for (size_t i = 1; i < j->n; i++)
        fprintf(to,
                ", $d%zu using 1:3:4 with filledcurves fs transparent solid 0.25 noborder lc rgb '#%06x' "
                "notitle, $d%zu using 1:2 with lines lw 2 lc rgb "
                "'#%06x' title name%zu",
                i, colour_of(i), i, colour_of(i), i);
    fputs("\"\n", to);
    for (size_t i = 1; i < j->n; i++) {
        fprintf(to, "name%zu = ", i);
        gbose__gnuplot_string(to, j->policy[i].name);
        fputc('\n', to);
    }
    terminals(to, "eval draw");
}

static void weights_figure(FILE *to, const struct gbose__judgement *j)
{
    fputs("set xlabel \"weight pi/p of the arm played\"\nset ylabel \"share of rounds\"\nset logscale x "
          "2\nset logscale y\nset grid ytics lc rgb "
          "\"#dddddd\"\nset key outside top center horizontal noenhanced\nset border 3\nset tics "
          "nomirror\nset format y \"%g\"\n",
          to);
    for (size_t i = 0; i < j->n; i++) {
        fprintf(to, "$d%zu << EOD\n", i);
        for (int k = 1; k < 32; k++)
            if (j->policy[i].weights[k] > 0)
                fprintf(to, "%.17g %.17g\n", ldexp(1, k - 16),
                        j->policy[i].weights[k] / (double)j->policy[i].value.rounds);
        fputs("EOD\n", to);
        fprintf(to, "name%zu = ", i);
        gbose__gnuplot_string(to, j->policy[i].name);
        fputc('\n', to);
    }
    fputs("draw = \"plot ", to);
    for (size_t i = 0; i < j->n; i++)
        fprintf(to, "%s$d%zu using 1:2 with linespoints pt 7 ps 0.5 lw 1.5 lc rgb '#%06x' title name%zu",
                i ? ", " : "", i, colour_of(i), i);
    fputs("\"\n", to);
    terminals(to, "eval draw");
}

static void support_figure(FILE *to, const struct gbose__judgement *j)
{
    fputs("set ylabel \"share\"\nset yrange [0:1.05]\nset style data histograms\nset style fill solid 0.8 "
          "noborder\nset boxwidth 0.8\nset grid ytics lc rgb "
          "\"#dddddd\"\nset key outside top center horizontal noenhanced\nset border 3\nset tics "
          "nomirror\nset xtics noenhanced rotate by -20\n$d << EOD\n",
          to);
    for (size_t i = 0; i < j->n; i++) {
        gbose__gnuplot_string(to, j->policy[i].name);
        fprintf(to, " %.17g %.17g\n", j->policy[i].value.supported,
                fmin(1, j->policy[i].value.effective / (double)j->policy[i].value.rounds));
    }
    fputs("EOD\n", to);
    terminals(to, "plot $d using 2:xtic(1) title \"mass on arms that could have been played\" lc rgb "
                  "'#0072b2', $d using 3 title \"effective "
                  "sample, per round\" lc rgb '#e69f00'");
}

static void audit_figure(FILE *to, const struct gbose__judgement *j)
{
    fputs("set xlabel \"arm\"\nset ylabel \"played less expected, in standard errors\"\nset grid ytics lc "
          "rgb \"#dddddd\"\nunset key\nset border 3\nset tics "
          "nomirror\nset style fill solid 0.8 noborder\nset boxwidth 0.8\n$d << EOD\n",
          to);
    for (size_t a = 0; a < j->n_arms; a++)
        fprintf(to, "%zu %.17g\n", a, j->arm[a].score);
    fputs("EOD\n", to);
    terminals(
        to,
        "plot $d using 1:2 with boxes lc rgb '#0072b2', 3 lc rgb '#d55e00' dt 2, -3 lc rgb '#d55e00' dt 2");
}

/* ---- the page ---- */

static void cell(FILE *to, double x, double width)
{
    char buf[32];

    if (isnan(x))
        fputs("<td>-</td>", to);
    else if (isinf(x))
        fputs(x > 0 ? "<td>&infin;</td>" : "<td>-&infin;</td>", to);
    else
        fprintf(to, "<td>%s</td>", say(buf, x, width));
}

static void page_tables(FILE *to, const struct gbose__judgement *j)
{
    fputs("<h2>Policies</h2><table><tr><th>policy</th><th>difference</th><th>from</th><th>to</th><th>level</"
          "th><th>from</th><th>to</th><th>DR</th>"
          "<th>SNDR</th><th>IPS</th><th>SNIPS</th><th>DM</th><th>Switch-DR</th><th>DRos</"
          "th><th>Cressie-Read</th><th>effective sample</th>"
          "<th>largest weight</th><th>supported</th></tr>\n",
          to);
    for (size_t i = 0; i < j->n; i++) {
        const gbose_policy_value *v = &j->policy[i].value;
        const gbose_interval *d = &j->policy[i].difference.phi;
        double width = d->upper - d->lower, wide = v->level.upper - v->level.lower,
               fine = fmin(isfinite(width) && i ? width : 0.01, 0.1);

        fputs("<tr><td class=\"name\">", to);
        gbose__format_html(to, j->policy[i].name);
        fputs("</td>", to);
        cell(to, i ? d->estimate : NAN, width);
        cell(to, i ? d->lower : NAN, width);
        cell(to, i ? d->upper : NAN, width);
        cell(to, v->level.estimate, wide);
        cell(to, v->level.lower, wide);
        cell(to, v->level.upper, wide);
        const double rest[] = {v->dr, v->sndr,      v->ips,   v->snips,
                               v->dm, v->switch_dr, v->dr_os, v->cressie_read};
        for (size_t k = 0; k < sizeof rest / sizeof *rest; k++)
            cell(to, rest[k], fine);
        cell(to, v->effective, 10);
        cell(to, v->largest, 0.1);
        cell(to, v->supported, 0.01);
        fputs("</tr>\n", to);
    }
    fputs("</table><p><i>Difference</i>: reward a round more than the first policy, on average over the log, "
          "with an interval that holds at all "
          "times, also while the level of the rewards moves. <i>Level</i>: what the policy earns a round, "
          "likewise. <i>DR</i> and the others "
          "estimate the level too; they have no interval here. <i>Effective sample</i>: how many rounds of "
          "the policy's own the log is worth. "
          "<i>Supported</i>: share of its choices that the log could have shown.</p>\n",
          to);
}

static void figure(FILE *to, const char *name, const char *text, int there)
{
    if (there)
        fprintf(to, "<figure><img src=\"%s.svg\" alt=\"%s\"><figcaption>%s</figcaption></figure>\n", name,
                text, text);
}

static void page(FILE *to, const struct gbose__judgement *j, const int there[4])
{
    char sentence[600];
    char *warnings = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&warnings, &size);

    fputs("<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" "
          "content=\"width=device-width\"><title>",
          to);
    gbose__format_html(to, j->title);
    fputs("</title><style>body{font:16px/1.5 sans-serif;max-width:72em;margin:2em auto;padding:0 "
          "1em}table{border-collapse:collapse;font-size:13px;display:block;"
          "overflow-x:auto}td,th{padding:.25em .6em;text-align:right;border-bottom:1px solid "
          "#ddd}td.name,th:first-child{text-align:left}.glance{font-size:1.15em}"
          ".warning{background:#fff3e0;border-left:4px solid #d55e00;padding:.5em 1em}figure{margin:2em "
          "0}img{max-width:100%}figcaption{color:#444}</style><h1>",
          to);
    gbose__format_html(to, j->title);
    fputs("</h1>\n<p>", to);
    gbose__format_html(to, j->summary);
    fputs("</p>\n", to);
    for (size_t i = 1; i < j->n; i++) {
        gbose__judgement_sentence(sentence, sizeof sentence, j, i);
        fputs("<p class=\"glance\">", to);
        gbose__format_html(to, sentence);
        fputs("</p>\n", to);
    }
    if (memory) {
        size_t n = gbose__judgement_warnings(memory, j);

        fclose(memory);
        if (n) {
            fputs("<div class=\"warning\"><pre style=\"white-space:pre-wrap\">", to);
            gbose__format_html(to, warnings);
            fputs("</pre></div>\n", to);
        }
        free(warnings);
    }
    page_tables(to, j);
    figure(to, "difference",
           "Difference to the first policy over the log, and the interval that holds at all times", there[0]);
    figure(to, "weights", "How often a weight of each size came: rounds far to the right carry the estimates",
           there[1]);
    figure(to, "support", "What the log can say about each policy: 1 is all", there[2]);
    figure(to, "audit", "Propensity audit: arms beyond the dashed lines were not played as often as logged",
           there[3]);
    if (!there[2])
        fputs("<p>Figures need gnuplot, which was not found or failed.</p>\n", to);
    if (j->partial)
        fputs("<p>Only the played arm's probability is logged, so that there is no propensity audit.</p>\n",
              to);
    else
        fprintf(to,
                "<p>Propensity audit: by arm %.2f standard errors, by size of probability %.2f, by score "
                "%.2f; together p = %.3g.</p>\n",
                j->audit.arm, j->audit.bin, j->audit.score, j->audit.p);
}

/* ---- files ---- */

typedef void printer(FILE *to, const struct gbose__judgement *j);

static int write_file(const char *dir, const char *name, printer *print, const struct gbose__judgement *j,
                      gbose_error *err)
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
    static const struct {
        const char *name;
        printer *print;
    } tables[] = {{"policies.csv", policies_csv}, {"curve.csv", curve_csv}, {"audit.csv", audit_csv}},
      figures[] = {{"difference", difference_figure},
                   {"weights", weights_figure},
                   {"support", support_figure},
                   {"audit", audit_figure}};
    struct gbose__file f;
    int there[4] = {0}, rc = gbose__file_make_dirs(dir, err);

    for (size_t i = 0; i < 3 && !rc; i++)
        if (i < 2 || !j->partial)
            rc = write_file(dir, tables[i].name, tables[i].print, j, err);
    for (size_t i = 0; i < 4 && !rc; i++) {
        char name[40];
        size_t points = 0;
        gbose_error ignored;

        for (size_t k = 1; k < j->n; k++)
            points += j->policy[k].n_curve && isfinite(j->policy[k].difference.phi.upper);
        if ((i == 0 && !points) || (i == 3 && (j->partial || !j->n_arms)))
            continue;
        snprintf(name, sizeof name, "%s.gp", figures[i].name);
        rc = write_file(dir, name, figures[i].print, j, err);
        there[i] = !rc && gbose__gnuplot(dir, figures[i].name, &ignored) == GBOSE_OK;
    }
    rc = rc ? rc : gbose__file_open(&f, dir, "report.html", err);
    if (rc)
        return rc;
    page(f.to, j, there);
    return gbose__file_close(&f, err);
}
