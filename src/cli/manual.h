/* Man pages and completions, made from what the commands say about themselves: their help texts, and the
 * options that they parse. */
#ifndef GBOSE_CLI_MANUAL_H
#define GBOSE_CLI_MANUAL_H

#include <stddef.h>
#include <stdio.h>

#include "cli/cli.h"

/* A line of a help text, and what it is. Pointers are into the text; nothing ends with a zero. */
enum line_kind {
    LINE_BLANK,
    LINE_USAGE,   /* under "Usage:" */
    LINE_TEXT,    /* a sentence, from the left margin or as a remark among the items */
    LINE_ITEM,    /* "  --out DIR   meaning", "  check   meaning": has a term */
    LINE_MORE,    /* the item goes on */
    LINE_TITLE,   /* "Examples:" */
    LINE_EXAMPLE, /* what stands under it */
};
struct line {
    enum line_kind kind;
    const char *term, *text;
    size_t term_length, length;
};

/* Reads the lines of a help text one after the other. Zeroed but for `at`, which is the text. */
struct help_reader {
    const char *at;
    enum line_kind last;
    int examples;
};
int help_next(struct help_reader *reader, struct line *line);

/* Print a help text; what is wider than that is folded. */
void help_print(FILE *to, const char *help, size_t width);

/* What help says of option --name: a line, and what its value is called ("DIR"). 0 if help has no item for
 * it. */
int help_option(const struct command *command, const char *name, struct line *meaning, char *value,
                size_t capacity);

/* The words that may stand behind the command's name, such as "check" and "convert", from its usage: at most
 * `most`, each shorter than 16. Returns how many. */
size_t help_verbs(const struct command *command, char verb[][16], size_t most);

/* One man page: of a command, or, if it is NULL, of gbose. */
void man_page(FILE *to, const struct command *command);

void completion_bash(FILE *to);
void completion_zsh(FILE *to);
void completion_fish(FILE *to);

#endif
