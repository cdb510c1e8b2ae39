#include <ctype.h>
#include <string.h>

#include "cli/manual.h"
#include "gbose.h"

/* Text as roff takes it: what a command is typed with must be copied as it is. */
static void put(FILE *to, const char *text, size_t length)
{
    if (length && (*text == '.' || *text == '\''))
        fputs("\\&", to);
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\\')
            fputs("\\e", to);
        else if (text[i] == '-')
            fputs("\\-", to);
        else
            fputc(text[i], to);
    }
}

static void put_line(FILE *to, const char *text)
{
    put(to, text, strlen(text));
    fputc('\n', to);
}

static void put_name(FILE *to, const struct command *command)
{
    fprintf(to, "gbose%s%s", command ? "\\-" : "", command ? command->name : "");
}

static void put_exit_codes(FILE *to)
{
    static const struct {
        int code;
        const char *meaning;
    } codes[] = {EXIT_CODES};

    fputs(".SH EXIT STATUS\n", to);
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        fprintf(to, ".TP\n.B %d\n", codes[i].code);
        put_line(to, codes[i].meaning);
    }
}

static void put_others(FILE *to, const struct command *self)
{
    const struct command *other;
    int n = 0;

    fputs(".SH SEE ALSO\n", to);
    if (self) {
        fputs(".BR gbose (1)", to);
        n = 1;
    }
    for (size_t i = 0; (other = command_number(i)); i++)
        if (other != self) {
            fputs(n++ ? ",\n.BR " : ".BR ", to);
            put_name(to, other);
            fputs(" (1)", to);
        }
    fputc('\n', to);
}

/* Usage and examples are shown as they are typed. */
static void put_typed(FILE *to, const char *title, const char *help, enum line_kind kind)
{
    struct help_reader reader = {.at = help};
    struct line line;
    int any = 0;

    while (help_next(&reader, &line)) {
        if (line.kind != kind)
            continue;
        if (!any++)
            fprintf(to, ".SH %s\n.nf\n", title);
        put(to, line.text, line.length);
        fputc('\n', to);
    }
    if (any)
        fputs(".fi\n", to);
}

static void put_description(FILE *to, const char *help)
{
    struct help_reader reader = {.at = help};
    struct line line;
    enum line_kind last = LINE_BLANK;
    int described = 0, options = 0;

    while (help_next(&reader, &line)) {
        int item = line.kind == LINE_ITEM, option = item && !strncmp(line.term, "--", 2);

        if (option && !options)
            fputs(".SH OPTIONS\n", to);
        else if ((item || line.kind == LINE_TEXT) && !described && !options)
            fputs(".SH DESCRIPTION\n", to);
        options |= option;
        described |= item || line.kind == LINE_TEXT;
        if (item) {
            fputs(".TP\n.B ", to);
            put(to, line.term, line.term_length);
            fputc('\n', to);
        } else if (line.kind == LINE_TEXT && last != LINE_TEXT) {
            fputs(".PP\n", to);
        }
        if (item || line.kind == LINE_TEXT || line.kind == LINE_MORE) {
            put(to, line.text, line.length);
            fputc('\n', to);
        }
        last = line.kind;
    }
}

static void put_all_commands(FILE *to)
{
    const struct command *command;

    fputs(".SH SYNOPSIS\n.B gbose\n.I COMMAND\n[...]\n.br\n.B gbose help\n.I COMMAND\n"
          ".SH DESCRIPTION\n"
          "gbose studies contextual bandits whose rewards move for reasons that nobody models, judges other "
          "policies from logs,\nand decides over HTTP. Every command has a page of its own.\n"
          ".SH COMMANDS\n",
          to);
    for (size_t i = 0; (command = command_number(i)); i++) {
        fputs(".TP\n.BR ", to);
        put_name(to, command);
        fputs(" (1)\n", to);
        put_line(to, command->summary);
    }
    fputs(".SH ENVIRONMENT\n"
          ".TP\n.B NO_COLOR\nIf it is set and not empty, nothing is coloured. Only a terminal is, anyway.\n"
          ".TP\n.B LC_ALL, LC_CTYPE, LANG\nIf the characters they name are not UTF\\-8, output is plain "
          "ASCII.\n",
          to);
}

void man_page(FILE *to, const struct command *command)
{
    fputs(".TH GBOSE", to);
    for (const char *c = command ? command->name : ""; *c; c++)
        fprintf(to, "%s%c", c == command->name ? "\\-" : "", toupper((unsigned char)*c));
    fprintf(to, " 1 \"\" \"gbose %s\" \"gbose\"\n.SH NAME\n", gbose_version());
    put_name(to, command);
    fputs(" \\- ", to);
    put_line(to, command ? command->summary : "semiparametric contextual bandits");
    if (command) {
        put_typed(to, "SYNOPSIS", command->help, LINE_USAGE);
        put_description(to, command->help);
        put_typed(to, "EXAMPLES", command->help, LINE_EXAMPLE);
    } else {
        put_all_commands(to);
    }
    put_exit_codes(to);
    put_others(to, command);
}
