/* What the terminal can show. */
#ifndef GBOSE_CLI_TERMINAL_H
#define GBOSE_CLI_TERMINAL_H

#include <stddef.h>
#include <stdio.h>

/* Look at the environment's locale; once, at the start. Only the kind of characters is taken from it,
 * never the form of numbers. */
void terminal_begin(void);

/* Can letters beyond ASCII be shown? */
int terminal_utf8(void);

/* Is this a terminal, and may it be coloured: is NO_COLOR not set, and TERM not "dumb"? */
int terminal_colour(FILE *stream);

/* The columns of a terminal; 80 for anything else. */
size_t terminal_width(FILE *stream);

#endif
