#include "report/print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "io/file.h"
#include "report/findings.h"
#include "report/format.h"
#include "report/groups.h"
#include "report/printed.h"
#include "report/tables.h"

#define LONGEST_LINE 96 /* of notes: longer ones are hard to read */

/* Columns that UTF-8 text takes: bytes that begin a character. */
static size_t columns(const char *text)
{
    size_t n = 0;

    for (; *text; text++)
        n += ((unsigned char)*text & 0xC0) != 0x80;
    return n;
}

static void pad(FILE *to, size_t n)
{
    while (n-- > 0)
        putc(' ', to);
}

static void put_left(FILE *to, const char *text, size_t width)
{
    size_t n = columns(text);

    fputs(text, to);
    pad(to, n < width ? width - n : 0);
}

static void put_right(FILE *to, const char *text, size_t width)
{
    size_t n = columns(text);

    pad(to, n < width ? width - n : 0);
    fputs(text, to);
}

static void put_rule(FILE *to, size_t width, const struct gbose__print_style *style)
{
    while (width-- > 0)
        fputs(style->utf8 ? "─" : "-", to);
    putc('\n', to);
}

/* The best of a column, behind a star, stands out where it can. */
static void put_best(FILE *to, const char *text, size_t width, int best,
                     const struct gbose__print_style *style)
{
    fputs(best && style->colour ? "\033[1;32m" : "", to);
    put_right(to, text, width);
    fputs(best && style->colour ? "\033[0m" : "", to);
}

/* Words, broken into lines that begin with two spaces. */
static void wrap(FILE *to, const char *text, size_t width)
{
    size_t at = 0;

    while (*text) {
        size_t bytes = strcspn(text, " "), n = 0;
        for (size_t i = 0; i < bytes; i++)
            n += ((unsigned char)text[i] & 0xC0) != 0x80;
        if (at && at + 1 + n > width) {
            putc('\n', to);
            at = 0;
        }
        fputs(at ? " " : "  ", to);
        at += n + (at ? 1 : 2);
        fwrite(text, 1, bytes, to);
        text += bytes + (text[bytes] == ' ');
    }
}

static size_t label_width(const struct gbose__plan *plan)
{
    size_t width = 9;

    for (size_t l = 0; l < plan->n_learners; l++)
        if (columns(plan->learner[l].label) > width)
            width = columns(plan->learner[l].label);
    return width;
}

/* ---- as Table 1 ---- */

#define PAPER_COLUMN 6 /* a space and a number */

/* Five letters at most, up to 99999. */
static const char *short_number(char buf[GBOSE__NUMBER_SIZE], double x)
{
    if (x >= 999.95 && x < 99999.5)
        snprintf(buf, GBOSE__NUMBER_SIZE, "%.0f", x);
    else
        gbose__format_rounded(buf, x);
    return buf;
}

static void paper_block(FILE *to, const struct gbose__study *s, const struct gbose__summary *all,
                        const struct gbose__group *g, int printed, const struct gbose__print_style *style)
{
    const struct gbose__plan *plan = s->plan;
    size_t label = label_width(plan), numbers = 1u + (plan->fresh > 0) + (printed != 0);
    size_t block = 1 + numbers * PAPER_COLUMN + 1; /* a gap, the numbers, the mark of the best */
    char buf[GBOSE__NUMBER_SIZE];

    putc('\n', to);
    put_left(to, g->title, label);
    for (size_t i = 0; i < g->n; i++) {
        putc(' ', to);
        put_right(to, gbose__groups_label(g, i, plan), PAPER_COLUMN);
        pad(to, i + 1 < g->n ? block - 1 - PAPER_COLUMN : 0);
    }
    putc('\n', to);
    put_left(to, "", label);
    for (size_t i = 0; i < g->n; i++) {
        putc(' ', to);
        put_right(to, "best", PAPER_COLUMN);
        putc(' ', to);
        if (plan->fresh)
            put_right(to, "fresh", PAPER_COLUMN);
        if (printed)
            put_right(to, "paper", PAPER_COLUMN);
    }
    putc('\n', to);
    put_rule(to, label + g->n * block, style);
    for (size_t l = 0; l < plan->n_learners; l++) {
        put_left(to, plan->learner[l].label, label);
        for (size_t i = 0; i < g->n; i++) {
            const struct gbose__summary *u = gbose__summary_of(s, all, g->world[i], l);
            int best = gbose__tables_is_best(s, all, u);

            putc(' ', to);
            put_best(to, short_number(buf, u->tuned.median), PAPER_COLUMN, best, style);
            putc(best ? '*' : ' ', to);
            if (plan->fresh)
                put_right(to, short_number(buf, u->fresh.median), PAPER_COLUMN);
            if (printed)
                put_right(to, short_number(buf, gbose__printed_for(plan, u->world, l)), PAPER_COLUMN);
        }
        putc('\n', to);
    }
}

/* ---- world by world ---- */

enum { LEARNER, VALUE, TUNED, FRESH, DIFFERENCE, LONE, PRINTED, N_COLUMNS };

/* The text of a column: of its heading when u is NULL. */
static const char *column_text(char buf[GBOSE__CELL_SIZE], const struct gbose__plan *plan,
                               const struct gbose__summary *u, int best, int column)
{
    char number[GBOSE__NUMBER_SIZE];

    switch (column) {
    case LEARNER:
        snprintf(buf, GBOSE__CELL_SIZE, "%s", u ? plan->learner[u->learner].label : "learner");
        return buf;
    case VALUE:
        return u ? gbose__tables_cell_value(buf, plan, u) : gbose__tables_value_heading(plan);
    case TUNED:
        if (!u)
            return "median [quartiles] ";
        gbose__tables_cell_spread(buf, &u->tuned);
        strncat(buf, best ? "*" : " ", GBOSE__CELL_SIZE - strlen(buf) - 1);
        return buf;
    case FRESH:
        return u ? gbose__tables_cell_spread(buf, &u->fresh) : "fresh [quartiles]";
    case DIFFERENCE:
        if (u)
            return gbose__tables_cell_difference(buf, &u->to_first);
        snprintf(buf, GBOSE__CELL_SIZE, "minus %s [95%% CI]",
                 columns(plan->learner[0].label) > 20 ? "the first's" : plan->learner[0].label);
        return buf;
    case LONE:
        if (!u)
            return "lone";
        snprintf(buf, GBOSE__CELL_SIZE, "%s", gbose__format_rounded(number, u->lone));
        return buf;
    default:
        if (!u)
            return "printed";
        snprintf(buf, GBOSE__CELL_SIZE, "%s",
                 gbose__format_rounded(number, gbose__printed_for(plan, u->world, u->learner)));
        return buf;
    }
}

/* The shown columns from `from` on that fit beside the learners' names; returns where the next ones begin. */
static int fold(const int *shown, const size_t *width, int from, size_t most, size_t *total)
{
    int c = from;

    *total = width[LEARNER];
    for (; c < N_COLUMNS; c++) {
        if (!shown[c])
            continue;
        if (c > from && *total + 2 + width[c] > most && *total > width[LEARNER])
            break;
        *total += 2 + width[c];
    }
    return c;
}

static void world_rows(FILE *to, const struct gbose__study *s, const struct gbose__summary *all, size_t world,
                       const int *shown, const size_t *width, int from, int end, size_t total,
                       const struct gbose__print_style *style)
{
    const struct gbose__plan *plan = s->plan;
    char buf[GBOSE__CELL_SIZE];

    for (size_t l = 0; l <= plan->n_learners; l++) {
        const struct gbose__summary *u = l ? gbose__summary_of(s, all, world, l - 1) : NULL;
        int best = u && gbose__tables_is_best(s, all, u);

        put_left(to, column_text(buf, plan, u, best, LEARNER), width[LEARNER]);
        for (int c = from; c < end; c++) {
            if (!shown[c])
                continue;
            fputs("  ", to);
            put_best(to, column_text(buf, plan, u, best, c), width[c], best && c == TUNED, style);
        }
        putc('\n', to);
        if (!l)
            put_rule(to, total, style);
    }
}

static void world_block(FILE *to, const struct gbose__study *s, const struct gbose__summary *all,
                        size_t world, const int *shown, const struct gbose__print_style *style)
{
    const struct gbose__plan *plan = s->plan;
    size_t width[N_COLUMNS] = {0}, total;
    char buf[GBOSE__CELL_SIZE];

    for (int c = 0; c < N_COLUMNS; c++)
        for (size_t l = 0; l <= plan->n_learners; l++) {
            const struct gbose__summary *u = l ? gbose__summary_of(s, all, world, l - 1) : NULL;
            size_t n = columns(column_text(buf, plan, u, 0, c));
            if (n > width[c])
                width[c] = n;
        }
    fprintf(to, "\n%s\n", plan->world[world]);
    for (int from = LEARNER + 1, end; from < N_COLUMNS; from = end) {
        end = fold(shown, width, from, style->width, &total);
        if (total == width[LEARNER])
            break;
        fputs(from > LEARNER + 1 ? "\n" : "", to);
        world_rows(to, s, all, world, shown, width, from, end, total, style);
    }
}

/* ---- all of it ---- */

static void put_text(FILE *to, const char *text)
{
    fputs(text, to);
}

/* What was found, and what the words mean: a line for each note, to be wrapped. NULL: no memory. */
static char *make_notes(const struct gbose__study *s, const struct gbose__summary *all, int paper, int lone)
{
    char *notes = NULL;
    size_t size;
    FILE *to = open_memstream(&notes, &size);

    if (!to)
        return NULL;
    gbose__findings_say(to, s, all, "\n", put_text);
    fputs("\n\n", to);
    gbose__findings_define(to, s->plan, "", "\n", put_text);
    gbose__tables_explain(to, s->plan, !paper, "", "\n", put_text);
    if (!paper && lone)
        fputs("Lone: the share of rounds in which one arm had probability 1.\n", to);
    fputs("*: the lowest in its column.\n", to);
    if (fclose(to)) {
        free(notes);
        return NULL;
    }
    return notes;
}

static void put_notes(FILE *to, const struct gbose__study *s, const struct gbose__summary *all, int paper,
                      int lone, const struct gbose__print_style *style)
{
    char *notes = make_notes(s, all, paper, lone), *end;
    size_t width = style->width > LONGEST_LINE ? LONGEST_LINE : style->width > 42 ? style->width - 2 : 40;

    putc('\n', to);
    for (char *line = notes; line && *line; line = end + 1) {
        end = line + strcspn(line, "\n");
        *end = '\0';
        wrap(to, line, width);
        putc('\n', to);
    }
    free(notes);
}

void gbose__print_table(FILE *to, const struct gbose__study *s, const struct gbose__summary *all,
                        const struct gbose__print_style *style)
{
    const struct gbose__plan *plan = s->plan;
    int printed = gbose__tables_any_printed(plan);
    int shown[N_COLUMNS] = {
        1, gbose__tables_any_swept(plan), 1, plan->fresh > 0, plan->n_learners > 1, 0, printed};
    struct gbose__group *groups;
    size_t n;

    if (gbose__groups(&groups, &n, plan, NULL)) {
        fputs("out of memory: no table\n", to);
        return;
    }
    for (size_t i = 0; i < plan->n_worlds * plan->n_learners; i++)
        shown[LONE] |= all[i].lone > 0;
    fprintf(to, "Final regret after %" PRIu64 " rounds\n", plan->rounds);
    for (size_t i = 0; i < n; i++) {
        if (groups[i].paper)
            paper_block(to, s, all, &groups[i], printed, style);
        else
            for (size_t k = 0; k < groups[i].n; k++)
                world_block(to, s, all, groups[i].world[k], shown, style);
    }
    if (style->notes)
        put_notes(to, s, all, groups[0].paper, shown[LONE], style);
    free(groups);
}
