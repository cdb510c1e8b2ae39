#include "report/plot.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/gnuplot.h"
#include "report/printed.h"

#define LONGEST_LABEL 36

/* ---- the page ---- */

void gbose__plot_grid(struct gbose__page *p, size_t n)
{
    p->columns = n < 3 ? n : n == 4 ? 2 : 3;
    p->rows = (n + p->columns - 1) / p->columns;
}

static double width_of(const struct gbose__page *p)
{
    double n = (double)p->columns;

    return p->left + n * (p->panel_width + p->right) + (n - 1) * p->gap;
}

static double height_of(const struct gbose__page *p)
{
    return p->header + (double)p->rows * (p->top + p->panel_height + p->bottom);
}

struct gbose__box gbose__plot_box(const struct gbose__page *p, size_t i, double margin)
{
    double column = (double)(i % p->columns), row = (double)(i / p->columns);
    double left = i % p->columns ? margin : p->left, above = i ? 0 : p->header;
    double height = p->top + p->panel_height + p->bottom;

    return (struct gbose__box){p->left + column * (p->panel_width + p->right + p->gap) - left,
                               p->header - above + row * height, left + p->panel_width + p->right,
                               above + height};
}

void gbose__plot_begin(FILE *to, const struct gbose__page *p, const char *name, const char *title)
{
    double width = ceil(width_of(p)), height = ceil(height_of(p));

    fprintf(to,
            "# Made by gbose %s. To restyle it, edit and run: gnuplot %s.gp\n"
            "if (!exists(\"out\")) out = \"%s\"\n"
            "data = \"%s.dat\"\n"
            "set encoding utf8\n"
            "do for [terminal_number = 1:3] {\n"
            "if (terminal_number == 1) {\n"
            "    set terminal svg size %.0f,%.0f font \"sans-serif,%d\" background rgb \"white\"\n"
            "    set output out.\".svg\"\n"
            "}\n"
            "if (terminal_number == 2) {\n"
            "    set terminal pngcairo size %.0f,%.0f font \"sans-serif,%d\" fontscale 1.5 linewidth 2 "
            "pointscale 2\n"
            "    set output out.\".png\"\n"
            "}\n"
            "if (terminal_number == 3) {\n"
            "    set terminal pdfcairo size %.3fin,%.3fin font \"sans-serif,%d\" fontscale 0.75 linewidth 2\n"
            "    set output out.\".pdf\"\n"
            "}\n"
            "set multiplot\n"
            "unset key\n"
            "set border 3 linecolor rgb \"#808080\"\n"
            "set style fill transparent solid 0.18 noborder\n",
            gbose_version(), name, name, name, width, height, GBOSE__FONT_SIZE, 2 * width, 2 * height,
            GBOSE__FONT_SIZE, width / 72, height / 72, GBOSE__FONT_SIZE);
    if (*title) {
        fprintf(to, "set label 1000 \"{/:Bold %s}\" at screen %.5f, screen %.5f left\n", title, 8 / width,
                1 - p->header / 2 / height);
    }
}

void gbose__plot_end(FILE *to)
{
    fputs("unset multiplot\nset output\nreset\n}\n", to);
}

void gbose__plot_panel(FILE *to, const struct gbose__page *p, size_t i)
{
    double width = ceil(width_of(p)), height = ceil(height_of(p));
    double column = (double)(i % p->columns), row = (double)(i / p->columns);
    double x = p->left + column * (p->panel_width + p->right + p->gap);
    double y = height - p->header - row * (p->top + p->panel_height + p->bottom) - p->top;

    fprintf(to,
            "\n# panel %zu\n"
            "set lmargin at screen %.5f\nset rmargin at screen %.5f\n"
            "set tmargin at screen %.5f\nset bmargin at screen %.5f\n",
            i + 1, x / width, (x + p->panel_width) / width, y / height, (y - p->panel_height) / height);
    if (i == 1)
        fputs("unset label 1000\n", to); /* the page's title is drawn with the first panel */
}

/* ---- titles and labels ---- */

/* v(t) in gnuplot's marked-up text. */
static const char *const marked_formula[] = {
    "{/:Italic v}({/:Italic t}) = 0",
    "{/:Italic v}({/:Italic t}) = log_2({/:Italic t}+1) sin^2({/:Italic t}/2000) + {/:Italic t}^{1/4}",
    "{/:Italic v}({/:Italic t}) = −cos({/:Italic t}/2000) |{/:Italic b}_*'{/:Italic μ}|^{1/2}",
};

/* Break a spec after commas and colons so that lines fit `letters`; the number of lines. */
static size_t wrap(char *buf, size_t room, const char *spec, size_t letters)
{
    size_t lines = 1, line = 0, n = 0;

    while (*spec && n + 2 < room) {
        size_t word = strcspn(spec, ",:");
        word += spec[word] != 0;
        if (line && line + word > letters) {
            buf[n++] = '\n';
            line = 0;
            lines++;
        }
        for (; word && n + 2 < room; word--, line++)
            buf[n++] = *spec++;
    }
    buf[n] = 0;
    return lines;
}

static size_t letters_of(const struct gbose__page *p)
{
    return (size_t)((p->panel_width + p->right) / GBOSE__LETTER);
}

size_t gbose__plot_title_lines(const struct gbose__page *p, const struct gbose__group *g,
                               const struct gbose__plan *plan)
{
    size_t most = 1;
    char buf[1100];

    for (size_t i = 0; i < g->n && !g->paper; i++) {
        size_t lines = wrap(buf, sizeof buf, gbose__groups_label(g, i, plan), letters_of(p));
        if (lines > most)
            most = lines;
    }
    return most;
}

void gbose__plot_title(FILE *to, const struct gbose__page *p, const struct gbose__group *g, size_t i,
                       const struct gbose__plan *plan)
{
    struct gbose__printed_cell cell;
    char buf[1100];

    fputs("set label 1001 ", to);
    if (g->paper && gbose__printed_cell(&cell, plan->world[g->world[i]])) {
        snprintf(buf, sizeof buf, "%s  %s", gbose__printed_shift_numeral(cell.shift),
                 marked_formula[cell.shift]);
        gbose__gnuplot_string(to, buf);
    } else {
        wrap(buf, sizeof buf, gbose__groups_label(g, i, plan), letters_of(p));
        gbose__gnuplot_string(to, buf);
        fputs(" noenhanced", to);
    }
    fprintf(to, " at graph 0, graph %.5f left\n", 1 + (p->top - 0.9 * GBOSE__FONT_SIZE) / p->panel_height);
}

const char *gbose__plot_label(char buf[GBOSE__LABEL_SIZE], const struct gbose__plan *plan, size_t learner)
{
    const char *label = plan->learner[learner].label;
    size_t length = strlen(label);

    /* what tells two long specs apart is often at the end: the middle goes */
    if (length > LONGEST_LABEL)
        snprintf(buf, GBOSE__LABEL_SIZE, "%.*s…%s", LONGEST_LABEL / 2, label,
                 label + length - LONGEST_LABEL / 2);
    else
        snprintf(buf, GBOSE__LABEL_SIZE, "%s", label);
    return buf;
}

double gbose__plot_label_width(const struct gbose__plan *plan)
{
    size_t most = 4;

    for (size_t l = 0; l < plan->n_learners; l++) {
        size_t n = strlen(plan->learner[l].label);
        if (n > most)
            most = n > LONGEST_LABEL ? LONGEST_LABEL + 1 : n;
    }
    return (double)most * GBOSE__LETTER;
}

/* ---- ticks and colours ---- */

/* The smallest of 1, 2, 2.5, 5 times a power of ten that is at least x. */
static double round_up(double x)
{
    static const double steps[] = {1, 2, 2.5, 5, 10};
    double unit = pow(10, floor(log10(x)));

    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (steps[i] * unit >= x * (1 - 1e-9))
            return steps[i] * unit;
    return 10 * unit;
}

/* "12,500", or with the decimals that the step needs. */
static void put_tick(FILE *to, double x, double step)
{
    char digits[64], out[96];
    int decimals = step < 1 ? (int)ceil(-log10(step) - 1e-9) : 0;
    size_t n, whole, used = 0;

    if (decimals > 6 || fabs(x) >= 1e12) {
        snprintf(out, sizeof out, "%g", x);
        gbose__gnuplot_string(to, out);
        return;
    }
    if (step < 1 && fabs(step * pow(10, decimals) - round(step * pow(10, decimals))) > 1e-6)
        decimals++;
    if (fabs(x) < step / 2)
        x = 0;
    snprintf(digits, sizeof digits, "%.*f", decimals, fabs(x));
    n = strlen(digits);
    whole = strcspn(digits, ".");
    if (x < 0)
        used += (size_t)snprintf(out, sizeof out, "−");
    for (size_t i = 0; i < n; i++) {
        if (i && i < whole && (whole - i) % 3 == 0 && whole > 4)
            out[used++] = ',';
        out[used++] = digits[i];
    }
    out[used] = 0;
    gbose__gnuplot_string(to, out);
}

void gbose__plot_ticks(FILE *to, char axis, double low, double high, int most)
{
    double step = round_up((high - low) / most);
    double first = ceil(low / step - 1e-9);

    fprintf(to, "set %ctics " GBOSE__TICK_STYLE " (", axis);
    for (int i = 0; (first + i) * step <= high + 1e-9 * step; i++) {
        double x = (first + i) * step;
        fputs(i ? ", " : "", to);
        put_tick(to, x, step);
        fprintf(to, " %.10g", x);
    }
    fputs(")\n", to);
}

static const struct {
    const char *name;
    unsigned colour;
} colours[] = {
    {"gbose-auto", GBOSE__HIGHLIGHT},
    {"gbose", 0x0072B2},
    {"bose", 0x009E73},
    {"action-ts", 0xCC79A7},
    {"semi-ts", 0xE69F00},
    {"lin-ts", 0x56B4E9},
    {"lin-ucb", 0x707070},
    {"eps-greedy", 0xD55E00},
    {"uniform", 0x8C6D31},
};

/* For all other learners, by a hash of their names. python/gbose/_palette.py has the same, and a test
 * compares them. */
static const unsigned others[] = {0x332288, 0x44AA99, 0xAA4499, 0x999933, 0x882255, 0x117733};

#define COUNT(array) (sizeof(array) / sizeof *(array))

unsigned gbose__plot_own_colour(const char *spec)
{
    size_t n = strcspn(spec, ":");

    for (size_t i = 0; i < COUNT(colours); i++)
        if (strlen(colours[i].name) == n && !strncmp(colours[i].name, spec, n))
            return colours[i].colour;
    return 0;
}

unsigned gbose__plot_colour(const struct gbose__plan *plan, size_t learner)
{
    const char *spec = plan->learner[learner].spec;
    size_t n = strcspn(spec, ":");
    uint32_t hash = 0;

    if (gbose__plot_own_colour(spec))
        return gbose__plot_own_colour(spec);
    for (size_t i = 0; i < n; i++)
        hash = 31 * hash + (unsigned char)spec[i];
    return others[hash % COUNT(others)];
}

unsigned gbose__plot_dash(const struct gbose__plan *plan, size_t learner)
{
    unsigned before = 0;

    for (size_t l = 0; l < learner; l++)
        before += gbose__plot_colour(plan, l) == gbose__plot_colour(plan, learner);
    return 1 + before % 5;
}

/* ---- labels beside the ends of lines ---- */

void gbose__plot_spread_apart(double *x, size_t n, double gap, double low, double high)
{
    double *mean = calloc(n + 1, sizeof *mean);
    size_t *size = calloc(n + 1, sizeof *size), blocks = 0, k = 0;
    double last = high - gap * (double)(n ? n - 1 : 0);

    if (!mean || !size) {
        for (size_t i = 1; i < n; i++)
            x[i] = x[i] > x[i - 1] + gap ? x[i] : x[i - 1] + gap;
        n = 0;
    }
    /* Subtract i gaps from position i: what must hold then is that they rise. Pool adjacent violators. */
    for (size_t i = 0; i < n; i++) {
        mean[blocks] = x[i] - gap * (double)i;
        size[blocks] = 1;
        while (blocks && mean[blocks - 1] > mean[blocks]) {
            double a = (double)size[blocks - 1], b = (double)size[blocks];
            mean[blocks - 1] = (a * mean[blocks - 1] + b * mean[blocks]) / (a + b);
            size[blocks - 1] += size[blocks];
            blocks--;
        }
        blocks++;
    }
    for (size_t b = 0; b < blocks; b++) {
        double z = mean[b] > last ? last : mean[b];
        z = z < low ? low : z;
        for (size_t i = 0; i < size[b]; i++, k++)
            x[k] = z + gap * (double)k;
    }
    free(mean);
    free(size);
}
