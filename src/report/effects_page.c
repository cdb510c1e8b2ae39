#include "report/effects_page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/csv.h"
#include "io/file.h"
#include "report/format.h"
#include "report/gnuplot.h"
#include "report/html.h"
#include "report/plot.h"

void gbose__effect_sentence(char *buf, size_t size, const struct gbose__effect_row *row)
{
    const gbose_interval *i = &row->value.fixed;
    double width = i->upper - i->lower;
    char a[GBOSE__NUMBER_SIZE], b[GBOSE__NUMBER_SIZE], c[GBOSE__NUMBER_SIZE];

    const char *what = row->kind == GBOSE__EFFECT_MODERATOR   ? "the effect of treatment"
                       : row->kind == GBOSE__EFFECT_TREATMENT ? "the outcome"
                                                              : "the reward",
               *unit = row->unit ? row->unit : "", *each = *unit ? " for each " : "";

    if (i->lower > 0 || i->upper < 0) {
        int up = i->lower > 0;

        snprintf(buf, size, "%s %s %s by %s%s%s [%s, %s], at one look.", row->name, up ? "raises" : "lowers",
                 what, gbose__format_to_width(a, fabs(i->estimate), width), each, unit,
                 gbose__format_to_width(b, up ? i->lower : -i->upper, width),
                 gbose__format_to_width(c, up ? i->upper : -i->lower, width));
    } else {
        snprintf(buf, size, "%s: no effect%s can be seen; it is between %s and %s%s%s, at one look.",
                 row->name, row->kind == GBOSE__EFFECT_MODERATOR ? " on that of treatment" : "",
                 gbose__format_to_width(b, i->lower, width), gbose__format_to_width(c, i->upper, width), each,
                 unit);
    }
}

void gbose__effects_unknown(char *buf, size_t size, const struct gbose__effect_row *rows, size_t n,
                            int anytime)
{
    size_t used = 0, named = 0, unknown = 0;

    *buf = 0;
    for (size_t i = 0; i < n; i++)
        unknown += !rows[i].known;
    for (size_t i = 0; i < n && used + strlen(rows[i].name) + 200 < size; i++)
        if (!rows[i].known)
            used += (size_t)snprintf(buf + used, size - used, "%s%s",
                                     named++ ? ", " : "The log cannot tell about ", rows[i].name);
    if (named < unknown)
        used += (size_t)snprintf(buf + used, size - used, " and %zu others", unknown - named);
    if (unknown && !anytime)
        snprintf(buf + used, size - used,
                 ": there are too few participants, or columns that others determine.");
    else if (unknown)
        snprintf(buf + used, size - used, ": chance never chose between arms that differ in %s alone.",
                 unknown > 1 ? "one of them" : "it");
}

static void print_csv(FILE *to, const struct gbose__effects_table *t)
{
    char buf[GBOSE__NUMBER_SIZE];

    fputs("effect,estimate,error,lower,upper,anytime_lower,anytime_upper,rounds,units,for_each\n", to);
    for (size_t i = 0; i < t->n; i++) {
        const gbose_effect_value *v = &t->row[i].value;
        const double values[] = {v->estimate,      v->error,         v->fixed.lower,    v->fixed.upper,
                                 v->anytime.lower, v->anytime.upper, (double)v->rounds, (double)v->units};

        gbose__csv_print(to, t->row[i].name);
        for (size_t k = 0; k < 8; k++)
            fprintf(to, ",%s", t->row[i].known ? gbose__format_number(buf, values[k]) : "");
        fputc(',', to);
        gbose__csv_print(to, t->row[i].unit ? t->row[i].unit : "");
        fputc('\n', to);
    }
}

#define WIDTH 520     /* pixels of the drawing: on a phone its letters are still 9 high */
#define NAME_MOST 200 /* letters of a name that the drawing shows; they are broken into lines of LINE */
#define LINE 28
#define TICKS_MOST 4

/* A name for the drawing, in lines of LINE letters at the most, broken behind '*' and spaces if it can be. */
static size_t break_name(char buf[2 * NAME_MOST], const char *name)
{
    size_t n = 0, at = 0, lines = 1, good = 0;

    for (; *name && n + 4 < 2 * NAME_MOST && lines < 7; name++) {
        buf[n++] = *name;
        if (((unsigned char)*name & 0xc0) != 0x80)
            at++;
        if (*name == '*' || *name == ' ')
            good = n;
        if (at > LINE && good) {
            memmove(buf + good + 1, buf + good, n - good);
            buf[good] = '\n';
            at = n++ - good;
            good = 0;
            lines++;
        }
    }
    buf[n] = 0;
    return lines;
}

/* The ends of its line: for all times, or as long as there is no such interval, for one look. */
static double lower_end(const gbose_effect_value *v)
{
    return isfinite(v->anytime.lower) ? v->anytime.lower : v->fixed.lower;
}

static double upper_end(const gbose_effect_value *v)
{
    return isfinite(v->anytime.upper) ? v->anytime.upper : v->fixed.upper;
}

/* A line for each effect: thin for all times, thick for one look. */
static void print_forest(FILE *to, const struct gbose__effects_table *t)
{
    char name[2 * NAME_MOST];
    size_t lines = 1, known = 0;
    double height, low = 0, high = 0;

    for (size_t i = 0; i < t->n; i++)
        if (t->row[i].known) {
            size_t own = break_name(name, t->row[i].name);

            lines = own > lines ? own : lines;
            known++;
            low = fmin(low, lower_end(&t->row[i].value));
            high = fmax(high, upper_end(&t->row[i].value));
        }
    height = 70 + (double)known * fmax(26, 8 + 19 * (double)lines);
    fprintf(to,
            "set border 1\nset xtics nomirror out scale 0.5\nset grid xtics lc rgb \"#dddddd\" lt 1\nunset "
            "key\nset xlabel "
            "\"effect on the %s\"\n",
            t->anytime ? "reward" : "outcome");
    gbose__plot_ticks(to, 'x', low, high, TICKS_MOST);
    fputs("$d << EOD\n", to);
    for (size_t i = 0, at = known; i < t->n; i++) {
        const gbose_effect_value *v = &t->row[i].value;

        if (!t->row[i].known)
            continue;
        fprintf(to, "%zu %.17g %.17g %.17g %.17g %.17g ", at--, v->estimate, v->fixed.lower, v->fixed.upper,
                lower_end(v), upper_end(v));
        break_name(name, t->row[i].name);
        gbose__gnuplot_string(to, name);
        fputc('\n', to);
    }
    fprintf(to,
            "EOD\nset yrange [0.4:%g]\nset ytics scale 0 noenhanced\nset arrow 1 from 0, graph 0 to 0, graph "
            "1 nohead lc rgb \"#777777\" lw 1\n",
            (double)known + 0.6);
    gbose__gnuplot_outputs(
        to, WIDTH, height,
        "plot $d using 2:1:5:6:ytic(7) with xerrorbars lc rgb '#0072b2' lw 1 pt 7 ps 0.01, "
        "$d using 2:1:3:4 with xerrorbars lc rgb '#0072b2' lw 3 pt 7 ps 0.7");
}

static void cell(FILE *to, double x, double width)
{
    char buf[GBOSE__NUMBER_SIZE];

    if (isfinite(x))
        fprintf(to, "<td>%s</td>", gbose__format_to_width(buf, x, width));
    else
        fputs("<td>-</td>", to);
}

static void put_table(FILE *to, const struct gbose__effects_table *t)
{
    fprintf(to,
            "<h2>Effects</h2>\n<div "
            "class=\"wide\"><table><thead><tr><th>effect</th><th>estimate</th><th>standard "
            "error</th><th class=\"edge\">from</th><th>to</th>%s<th "
            "class=\"edge\">rounds</th><th>for each</th></tr></thead><tbody>\n",
            t->anytime ? "<th class=\"edge\">any time: from</th><th>to</th>" : "");
    for (size_t i = 0; i < t->n; i++) {
        const gbose_effect_value *v = &t->row[i].value;
        double width = v->fixed.upper - v->fixed.lower;

        if (!t->row[i].known)
            continue;
        fputs("<tr><td>", to);
        gbose__format_html(to, t->row[i].name);
        fputs("</td>", to);
        cell(to, v->estimate, width);
        cell(to, v->error, width);
        cell(to, v->fixed.lower, width);
        cell(to, v->fixed.upper, width);
        if (t->anytime) {
            cell(to, v->anytime.lower, width);
            cell(to, v->anytime.upper, width);
        }
        cell(to, (double)v->rounds, 100);
        fputs("<td>", to);
        gbose__format_html(to, t->row[i].unit ? t->row[i].unit : "");
        fputs("</td></tr>\n", to);
    }
    fprintf(to,
            "</tbody></table></div>\n<p>Effects are on the %s, <i>for each</i> so much of the "
            "feature; "
            "intervals are at %g%%. "
            "<i>From</i> and <i>to</i> hold for one look at a time that was chosen beforehand, such as the "
            "planned end of a "
            "trial%s. <i>Rounds</i>: %s.</p>\n",
            t->anytime ? "reward of a round" : "outcome", 100 * t->level,
            t->anytime ? "; <i>any time</i> for looks as often as one likes" : "",
            t->anytime ? "those in which chance chose among arms that differ" : "decision points that count");
}

static int put_page(FILE *to, const struct gbose__effects_table *t, const char *dir, int figure,
                    gbose_error *err)
{
    char sentence[GBOSE__SENTENCE_SIZE];
    int rc = GBOSE_OK;

    snprintf(sentence, sizeof sentence, "Effects: %s", t->title);
    gbose__html_begin(to, sentence);
    for (size_t i = 0; i < t->n; i++)
        if (t->row[i].known) {
            gbose__effect_sentence(sentence, sizeof sentence, t->row + i);
            gbose__html_sentence(to, t->n <= 12 ? "found" : NULL, sentence);
        }
    gbose__effects_unknown(sentence, sizeof sentence, t->row, t->n, t->anytime);
    if (*sentence)
        gbose__html_sentence(to, NULL, sentence);
    if (figure)
        rc = gbose__html_single(
            to, dir, "forest", 1,
            t->anytime
                ? "Thick: for one look at a time chosen beforehand. Thin: for looks as often as one likes."
                : "The interval is for one look at a time chosen beforehand.",
            err);
    else
        gbose__html_sentence(to, NULL, "The figure needs gnuplot, which was not found or failed.");
    if (rc)
        return rc;
    put_table(to, t);
    fputs("<h2>Files</h2>\n<ul>\n<li><a href=\"effects.csv\">effects.csv</a>: a row an effect</li>\n</ul>\n",
          to);
    gbose__html_end(to);
    return GBOSE_OK;
}

int gbose__effects_write(const struct gbose__effects_table *t, const char *dir, gbose_error *err)
{
    struct gbose__file f;
    gbose_error drawing = {0, ""};
    int figure = 0, rc = gbose__file_make_dirs(dir, err), drawn = GBOSE_OK;

    rc = rc ? rc : gbose__file_open(&f, dir, "effects.csv", err);
    if (!rc) {
        print_csv(f.to, t);
        rc = gbose__file_close(&f, err);
    }
    rc = rc ? rc : gbose__file_open(&f, dir, "forest.gp", err);
    if (!rc) {
        print_forest(f.to, t);
        rc = gbose__file_close(&f, err);
    }
    for (size_t i = 0; i < t->n && !rc && !figure; i++)
        figure = t->row[i].known;
    if (figure)
        drawn = gbose__gnuplot(dir, "forest", &drawing);
    figure &= !drawn;
    rc = rc ? rc : gbose__file_open(&f, dir, "report.html", err);
    if (rc)
        return rc;
    rc = put_page(f.to, t, dir, figure, err);
    if (rc) {
        gbose__file_abandon(&f);
        return rc;
    }
    rc = gbose__file_close(&f, err);
    return rc ? rc : gbose__gnuplot_missed(drawn, &drawing, err);
}
