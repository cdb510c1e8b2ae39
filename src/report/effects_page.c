#include "report/effects_page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/csv.h"
#include "io/file.h"
#include "report/format.h"
#include "report/gnuplot.h"

static const char *say(char buf[32], double x, double width)
{
    int digits = width > 0 && isfinite(width) ? (int)ceil(1.3 - log10(width)) : 4;

    snprintf(buf, 32, "%.*f", digits < 0 ? 0 : digits > 9 ? 9 : digits, x);
    return buf;
}

void gbose__effect_sentence(char *buf, size_t size, const struct gbose__effect_row *row)
{
    const gbose_interval *i = &row->value.fixed;
    double width = i->upper - i->lower;
    char a[32], b[32], c[32];

    if (i->lower > 0 || i->upper < 0) {
        int up = i->lower > 0;

        snprintf(buf, size, "%s %s the reward by %s for each unit [%s, %s].", row->name,
                 up ? "raises" : "lowers", say(a, fabs(i->estimate), width),
                 say(b, up ? i->lower : -i->upper, width), say(c, up ? i->upper : -i->lower, width));
    } else {
        snprintf(buf, size, "%s: no effect can be seen; it is between %s and %s for each unit.", row->name,
                 say(b, i->lower, width), say(c, i->upper, width));
    }
}

void gbose__effects_unknown(char *buf, size_t size, const struct gbose__effect_row *rows, size_t n)
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
    if (unknown)
        snprintf(buf + used, size - used, ": chance never chose between arms that differ in %s alone.",
                 unknown > 1 ? "one of them" : "it");
}

static void print_csv(FILE *to, const struct gbose__effects_table *t)
{
    char buf[GBOSE__NUMBER_SIZE];

    fputs("effect,estimate,error,lower,upper,anytime_lower,anytime_upper,rounds,units\n", to);
    for (size_t i = 0; i < t->n; i++) {
        const gbose_effect_value *v = &t->row[i].value;
        const double values[] = {v->estimate,      v->error,         v->fixed.lower,    v->fixed.upper,
                                 v->anytime.lower, v->anytime.upper, (double)v->rounds, (double)v->units};

        gbose__csv_print(to, t->row[i].name);
        for (size_t k = 0; k < 8; k++)
            fprintf(to, ",%s", t->row[i].known ? gbose__format_number(buf, values[k]) : "");
        fputc('\n', to);
    }
}

/* A line for each effect: thin for all times, thick for one look. */
static void print_forest(FILE *to, const struct gbose__effects_table *t)
{
    double height = 60 + 24 * (double)t->n;

    fputs("set border 1\nset xtics nomirror\nset grid xtics lc rgb \"#dddddd\"\nunset key\nset xlabel "
          "\"effect on the reward, for each unit\"\n$d << EOD\n",
          to);
    for (size_t i = 0; i < t->n; i++) {
        const gbose_effect_value *v = &t->row[i].value;

        if (!t->row[i].known)
            continue;
        fprintf(to, "%zu %.17g %.17g %.17g %.17g %.17g ", t->n - i, v->estimate, v->fixed.lower,
                v->fixed.upper, isfinite(v->anytime.lower) ? v->anytime.lower : v->fixed.lower,
                isfinite(v->anytime.upper) ? v->anytime.upper : v->fixed.upper);
        gbose__gnuplot_string(to, t->row[i].name);
        fputc('\n', to);
    }
    fprintf(to,
            "EOD\nset yrange [0.4:%g]\nset ytics scale 0 noenhanced\nset arrow 1 from 0, graph 0 to 0, graph "
            "1 nohead lc rgb \"black\" lw 0.5\n",
            (double)t->n + 0.6);
    fprintf(
        to,
        "do for [ending in \"svg png pdf\"] {\n"
        "  if (ending eq \"svg\") { set terminal svg size 760,%.0f font \"sans,13\" background \"white\" }\n"
        "  if (ending eq \"png\") { set terminal pngcairo size 1520,%.0f font \"sans,13\" fontscale 2 }\n"
        "  if (ending eq \"pdf\") { set terminal pdfcairo size 7.6in,%.2fin font \"sans,13\" }\n"
        "  set output out.\".\".ending\n"
        "  plot $d using 2:1:5:6:ytic(7) with xerrorbars lc rgb '#0072b2' lw 1 pt 7 ps 0.01, $d using "
        "2:1:3:4 with xerrorbars lc rgb "
        "'#0072b2' lw 3 pt 7 ps 0.7\n  unset output\n}\n",
        height, 2 * height, height / 100);
}

static void cell(FILE *to, double x, double width)
{
    char buf[32];

    if (isfinite(x))
        fprintf(to, "<td>%s</td>", say(buf, x, width));
    else
        fputs("<td>-</td>", to);
}

static void print_page(FILE *to, const struct gbose__effects_table *t, int figure)
{
    char sentence[GBOSE__SENTENCE_SIZE];

    fputs("<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" "
          "content=\"width=device-width\"><title>Effects</title><style>"
          "body{font:16px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 "
          "1em}table{border-collapse:collapse;font-size:14px}td,th{padding:.25em "
          ".7em;text-align:right;border-bottom:1px solid "
          "#ddd}td:first-child,th:first-child{text-align:left}img{max-width:100%}</style><h1>Effects: ",
          to);
    gbose__format_html(to, t->title);
    fputs("</h1>\n<ul>\n", to);
    for (size_t i = 0; i <= t->n; i++) {
        if (i < t->n && !t->row[i].known)
            continue;
        if (i < t->n)
            gbose__effect_sentence(sentence, sizeof sentence, t->row + i);
        else
            gbose__effects_unknown(sentence, sizeof sentence, t->row, t->n);
        if (!*sentence)
            continue;
        fputs("<li>", to);
        gbose__format_html(to, sentence);
        fputs("</li>\n", to);
    }
    fputs("</ul>\n", to);
    if (figure)
        fputs("<figure><img src=\"forest.svg\" alt=\"Effects with their intervals\"><figcaption>Thick: for "
              "one look at a time chosen beforehand. Thin: for looks as "
              "often as one likes.</figcaption></figure>\n",
              to);
    fprintf(to, "<table><tr><th>effect</th><th>estimate</th><th>standard "
                "error</th><th>from</th><th>to</th><th>any time: from</th><th>to</th><th>rounds</th></tr>\n");
    for (size_t i = 0; i < t->n; i++) {
        const gbose_effect_value *v = &t->row[i].value;
        double width = v->fixed.upper - v->fixed.lower;

        fputs("<tr><td>", to);
        gbose__format_html(to, t->row[i].name);
        fputs("</td>", to);
        if (t->row[i].known) {
            cell(to, v->estimate, width);
            cell(to, v->error, width);
            cell(to, v->fixed.lower, width);
            cell(to, v->fixed.upper, width);
            cell(to, v->anytime.lower, width);
            cell(to, v->anytime.upper, width);
            cell(to, (double)v->rounds, 100);
        } else {
            fputs("<td colspan=\"7\">not identified</td>", to);
        }
        fputs("</tr>\n", to);
    }
    fprintf(to,
            "</table><p>Intervals are at %g%%. <i>From</i> and <i>to</i> hold for one look at a time that "
            "was chosen beforehand, such as the planned end of a "
            "trial; <i>any time</i> for looks as often as one likes. <i>Rounds</i>: those in which chance "
            "chose among arms that differ.</p>\n",
            100 * t->level);
}

int gbose__effects_write(const struct gbose__effects_table *t, const char *dir, gbose_error *err)
{
    struct gbose__file f;
    gbose_error ignored;
    int figure = 0, rc = gbose__file_make_dirs(dir, err);

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
    if (!rc)
        figure = gbose__gnuplot(dir, "forest", &ignored) == GBOSE_OK;
    rc = rc ? rc : gbose__file_open(&f, dir, "report.html", err);
    if (rc)
        return rc;
    print_page(f.to, t, figure);
    return gbose__file_close(&f, err);
}
