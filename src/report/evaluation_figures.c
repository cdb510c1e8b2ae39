#include "report/evaluation_figures.h"

#include <math.h>
#include <string.h>

#include "report/gnuplot.h"
#include "report/plot.h"

#define WIDTH 520                         /* pixels of the drawing: on a phone its letters are still 9 high */
#define LABEL_MOST 28                     /* letters of a policy's name */
#define WEIGHT_LEAST (-6)                 /* smaller weights than 2^this share a place */
#define WEIGHT_PLACES (17 - WEIGHT_LEAST) /* 0, up to 2^WEIGHT_LEAST, and so on to 2^14, and above */
#define ARMS_NAMED 24                     /* more arms than these have no names */

/* A learner has the colour that it has in studies, if no policy before is one of the same name; all others have Okabe and
 * Ito's, which colour-blind readers can tell apart. */
static unsigned colour_of(const struct gbose__judgement *j, size_t i)
{
    static const unsigned colours[] = {0x666666, 0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00, 0x56b4e9};
    unsigned own = gbose__plot_own_colour(j->policy[i].name);

    for (size_t k = 0; k < i; k++)
        if (gbose__plot_own_colour(j->policy[k].name) == own)
            own = 0;
    return own ? own : colours[i % (sizeof colours / sizeof *colours)];
}

/* The key stands above the plot, a line for each of its entries, whatever room names on the left take. */
static void begin(FILE *to, size_t entries)
{
    fprintf(to,
            "set border 3\nset tics nomirror out scale 0.5\nset grid ytics lc rgb \"#dddddd\" lt 1\n"
            "set key at screen 0.01, screen 0.99 left top vertical maxcols 1 Left reverse noenhanced samplen "
            "1.5\n"
            "set tmargin %zu\n",
            entries + 1);
}

/* A name of so many letters at the most; they may have several bytes. */
static void put_name(FILE *to, const char *name)
{
    char buf[4 * LABEL_MOST + 4];
    size_t n = 0, letters = 0;

    for (; name[n] && n + 5 < sizeof buf; n++) {
        letters += ((unsigned char)name[n] & 0xc0) != 0x80;
        if (letters > LABEL_MOST)
            break;
        buf[n] = name[n];
    }
    snprintf(buf + n, sizeof buf - n, "%s", name[n] ? "..." : "");
    gbose__gnuplot_string(to, buf);
}

static void define_names(FILE *to, const struct gbose__judgement *j)
{
    for (size_t i = 0; i < j->n; i++) {
        fprintf(to, "name%zu = ", i);
        put_name(to, j->policy[i].name);
        fputc('\n', to);
    }
}

/* Room for so many entries of the key. */
static double key_height(size_t entries)
{
    return 20 * (double)entries;
}

/* Round numbers 1, 2, 5, 10, ... of the rounds that the curves go over. */
static void round_tics(FILE *to, const struct gbose__judgement *j)
{
    static const double mantissa[] = {1, 2, 5};
    double low = INFINITY, high = 0;
    int n = 0;

    for (size_t i = 1; i < j->n; i++)
        for (size_t k = 0; k < j->policy[i].n_curve; k++)
            if (isfinite(j->policy[i].curve[k].phi.lower)) {
                low = fmin(low, j->policy[i].curve[k].rounds);
                high = fmax(high, j->policy[i].curve[k].rounds);
            }
    fputs("set xtics (", to);
    for (double power = 1; power <= high; power *= 10)
        for (size_t k = 0; k < 3; k++) {
            double x = mantissa[k] * power;

            if (x >= low && x <= high && (k == 0 || high < 100 * low))
                fprintf(to, "%s\"%.0f\" %.0f", n++ ? ", " : "", x, x);
        }
    fputs(")\n", to);
}

static void difference_figure(FILE *to, const struct gbose__judgement *j)
{
    begin(to, j->n - 1);
    fputs("set xlabel \"logged rounds\"\nset ylabel \"difference of reward a round\"\nset logscale x\n"
          "set xrange [*:*] noextend\n",
          to);
    round_tics(to, j);
    define_names(to, j);
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
                "notitle, "
                "$d%zu using 1:2 with lines lw 2 lc rgb '#%06x' title name%zu",
                i, colour_of(j, i), i, colour_of(j, i), i);
    fputs("\"\n", to);
    gbose__gnuplot_outputs(to, WIDTH, 300 + key_height(j->n - 1), "eval draw");
}

/* The place of a bin of `weights`: 0 for none, then powers of two. */
static int place_of(int bin)
{
    int place = bin - 16 - WEIGHT_LEAST + 1;

    return bin == 0 ? 0 : place < 1 ? 1 : place;
}

static void weight_tics(FILE *to, int last)
{
    fputs("set xtics (\"0\" 0", to);
    for (int place = 1; place <= last; place++) {
        int power = place - 1 + WEIGHT_LEAST;

        if (power % 2 && place != last)
            continue;
        if (power < 0)
            fprintf(to, ", \"1/%d\" %d", 1 << -power, place);
        else
            fprintf(to, ", \"%d\" %d", 1 << power, place);
    }
    fputs(")\n", to);
}

static void weights_figure(FILE *to, const struct gbose__judgement *j)
{
    double share[WEIGHT_PLACES];
    int last = 1 - WEIGHT_LEAST;

    begin(to, j->n);
    for (size_t i = 0; i < j->n; i++)
        for (int bin = 0; bin < 32; bin++)
            if (j->policy[i].weights[bin] > 0 && place_of(bin) > last)
                last = place_of(bin);
    fprintf(to,
            "set xlabel \"weight of the round, up to\"\nset ylabel \"share of rounds\"\nset logscale y\nset "
            "format y \"%%g\"\nset xrange [-0.5:%d.5]\nset yrange [*:1]\n",
            last);
    weight_tics(to, last);
    define_names(to, j);
    for (size_t i = 0; i < j->n; i++) {
        memset(share, 0, sizeof share);
        for (int bin = 0; bin < 32; bin++)
            share[place_of(bin)] += j->policy[i].weights[bin] / (double)j->policy[i].value.rounds;
        fprintf(to, "$d%zu << EOD\n", i);
        for (int place = 0; place <= last; place++) /* an empty place ends a line */
            if (share[place] > 0)
                fprintf(to, "%d %.17g\n", place, share[place]);
            else
                fputc('\n', to);
        fputs("EOD\n", to);
    }
    fputs("draw = \"plot ", to);
    for (size_t i = 0; i < j->n; i++)
        fprintf(to, "%s$d%zu using 1:2 with linespoints pt 7 ps 0.6 lw 1.5 lc rgb '#%06x' title name%zu",
                i ? ", " : "", i, colour_of(j, i), i);
    fputs("\"\n", to);
    gbose__gnuplot_outputs(to, WIDTH, 260 + key_height(j->n), "eval draw");
}

/* Bars that lie, so that long names have room. */
static void support_figure(FILE *to, const struct gbose__judgement *j)
{
    begin(to, 2);
    fprintf(to,
            "set xrange [0:1]\nset yrange [-0.6:%zu.4]\nset border 1\nset style fill solid 0.8 "
            "noborder\nunset grid\n"
            "set grid xtics lc rgb \"#dddddd\" lt 1\nset ytics scale 0 noenhanced\n$d << EOD\n",
            j->n - 1);
    for (size_t i = 0; i < j->n; i++) {
        fprintf(to, "%zu %.17g %.17g ", j->n - 1 - i, j->policy[i].value.supported,
                fmin(1, j->policy[i].value.effective / (double)j->policy[i].value.rounds));
        put_name(to, j->policy[i].name);
        fputc('\n', to);
    }
    fputs("EOD\n", to);
    gbose__gnuplot_outputs(
        to, WIDTH, 100 + 40 * (double)j->n,
        "plot $d using (0.5*$2):1:(0):2:($1+0.02):($1+0.32):ytic(4) with boxxyerrorbars lc rgb '#0072b2' "
        "title \"on arms that "
        "could have been played\", $d using (0.5*$3):1:(0):3:($1-0.32):($1-0.02) with boxxyerrorbars lc rgb "
        "'#e69f00' title "
        "\"effective sample, per round\"");
}

static void audit_figure(FILE *to, const struct gbose__judgement *j)
{
    double most = 3.5;

    begin(to, 0);
    for (size_t a = 0; a < j->n_arms; a++)
        most = fmax(most, 1.1 * fabs(j->arm[a].score));
    fprintf(
        to,
        "set xlabel \"arm\"\nset ylabel \"played less expected,\\nin standard errors\"\nunset key\nset "
        "border "
        "2\n"
        "set xrange [-0.6:%zu.6]\nset yrange [%g:%g]\nset style fill solid 0.8 noborder\nset boxwidth 0.7\n",
        j->n_arms - 1, -most, most);
    if (j->n_arms <= ARMS_NAMED) {
        fputs("set xtics scale 0 noenhanced", to);
        for (size_t a = 0; a < j->n_arms; a++)
            if (j->arm_name && strlen(j->arm_name[a]) > 3) {
                fputs(" rotate by -40", to);
                break;
            }
        for (size_t a = 0; a < j->n_arms; a++) {
            char number[24];

            snprintf(number, sizeof number, "%zu", a);
            fputs(a ? ", " : " (", to);
            put_name(to, j->arm_name ? j->arm_name[a] : number);
            fprintf(to, " %zu", a);
        }
        fputs(")\n", to);
    }
    fputs("$d << EOD\n", to);
    for (size_t a = 0; a < j->n_arms; a++)
        fprintf(to, "%zu %.17g\n", a, j->arm[a].score);
    fputs("EOD\n", to);
    gbose__gnuplot_outputs(
        to, WIDTH, 320,
        "plot $d using 1:2 with boxes lc rgb '#0072b2', 0 lc rgb 'black' lw 0.5, 3 lc rgb '#d55e00' dt 2, -3 "
        "lc rgb '#d55e00' dt 2");
}

const struct gbose__judgement_part gbose__judgement_figures[4] = {{"difference", difference_figure},
                                                                  {"weights", weights_figure},
                                                                  {"support", support_figure},
                                                                  {"audit", audit_figure}};
